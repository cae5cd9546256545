"""Other networks with the same function: moves along the fiber, and invariants that tell networks apart."""

from polyrelu.symmetry.absolute_value import AbsoluteValueForm, absolute_value_form, absolute_value_form_on
from polyrelu.symmetry.domain import LayerDomain
from polyrelu.symmetry.hiding import flip, hidden_neurons, translate
from polyrelu.symmetry.invariants import first_difference
from polyrelu.symmetry.moves import Move, moves

__all__ = [
    "AbsoluteValueForm",
    "LayerDomain",
    "Move",
    "absolute_value_form",
    "absolute_value_form_on",
    "first_difference",
    "flip",
    "hidden_neurons",
    "moves",
    "translate",
]
