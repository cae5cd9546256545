"""Other networks with the same function: moves along the fiber, and invariants that tell networks apart."""

from polyrelu.symmetry.absolute_value import AbsoluteValueForm, absolute_value_form, absolute_value_form_on
from polyrelu.symmetry.box import Interval, image_box
from polyrelu.symmetry.domain import LayerDomain
from polyrelu.symmetry.hiding import flip, hidden_neurons, translate
from polyrelu.symmetry.invariants import first_difference
from polyrelu.symmetry.moves import Move, moves

__all__ = [
    "AbsoluteValueForm",
    "Interval",
    "LayerDomain",
    "Move",
    "absolute_value_form",
    "absolute_value_form_on",
    "first_difference",
    "flip",
    "hidden_neurons",
    "image_box",
    "moves",
    "translate",
]
