"""Symmetries of networks: moves along the fiber, normal forms and invariants.

Every move keeps the function of a network exactly. Layers are numbered from 1 and neurons from 0,
as in `polyrelu.network`.
"""

from polyrelu.symmetry.absolute_value import (
    AbsoluteValueForm,
    absolute_value_form,
    absolute_value_form_on,
)
from polyrelu.symmetry.hidden_hyperplanes import flip, hidden_neurons, translate
from polyrelu.symmetry.invariants import first_difference
from polyrelu.symmetry.layer_domain import LayerDomain
from polyrelu.symmetry.matching import Matching, match
from polyrelu.symmetry.normal_form import canonical_form, permute, related, rescale

__all__ = [
    "AbsoluteValueForm",
    "LayerDomain",
    "Matching",
    "absolute_value_form",
    "absolute_value_form_on",
    "canonical_form",
    "first_difference",
    "flip",
    "hidden_neurons",
    "match",
    "permute",
    "related",
    "rescale",
    "translate",
]
