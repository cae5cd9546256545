"""Fibers: all parameters that compute one function, with dimensions, equations and members.

`fiber` describes the fiber of a network, `layer_fiber` the fiber of one hidden layer, and
`simplify` finds a network with narrow layers in a fiber. `identify` decides whether a fiber is a
single point up to permutation and scaling; here the question is what the fiber looks like if it is
not. Every list of components says how complete it is, because whole fibers are known for few
architectures only.
"""

from polyrelu.fibers.assignments import NeuronAssignment
from polyrelu.fibers.equations import Conditions, conditions_of, hidden_conditions
from polyrelu.fibers.hidden import HiddenHyperplane, flip_matrix, hidden_hyperplane, normalised
from polyrelu.fibers.identifiable_fraction import (
    has_identifiable_signs,
    identifiable_fraction,
    identifiable_fraction_bounds,
)
from polyrelu.fibers.layer import Component, LayerFiber, layer_fiber
from polyrelu.fibers.layer_neurons import LayerNeurons
from polyrelu.fibers.linear_part import AvailableNeurons, LinearPart, Realisation
from polyrelu.fibers.minimal_layer import (
    SimplifiedLayers,
    SmallestLayer,
    simplify_layers,
    smallest_layer,
)
from polyrelu.fibers.network import Fiber, FiberComponent, HiddenComponent, LayerComponent, fiber
from polyrelu.fibers.nonnegative_rank import NonnegativeRank, nonnegative_column_rank
from polyrelu.fibers.not_localizable import NotLocalizable, not_localizable

__all__ = [
    "AvailableNeurons",
    "Component",
    "Conditions",
    "Fiber",
    "FiberComponent",
    "HiddenComponent",
    "HiddenHyperplane",
    "LayerComponent",
    "LayerFiber",
    "LayerNeurons",
    "LinearPart",
    "NeuronAssignment",
    "NonnegativeRank",
    "NotLocalizable",
    "Realisation",
    "SimplifiedLayers",
    "SmallestLayer",
    "conditions_of",
    "fiber",
    "flip_matrix",
    "has_identifiable_signs",
    "hidden_conditions",
    "hidden_hyperplane",
    "identifiable_fraction",
    "identifiable_fraction_bounds",
    "layer_fiber",
    "nonnegative_column_rank",
    "normalised",
    "not_localizable",
    "simplify_layers",
    "smallest_layer",
]
