"""How normal forms and domains of layers show themselves in a terminal."""

from __future__ import annotations

from polyrelu.exact import Polyhedron
from polyrelu.network import from_arrays
from polyrelu.symmetry import LayerDomain, absolute_value_form

ABSOLUTE_VALUE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [3])])


def test_normal_forms() -> None:
    form = absolute_value_form(*ABSOLUTE_VALUE.layers)
    assert repr(form) == str(form) == "<AbsoluteValueForm, 1 term, 1 input, 1 output>"
    wide = from_arrays([([[k, 1] for k in range(50)], range(50)), ([[1] * 50, [2] * 50], [0, 0])])
    assert repr(absolute_value_form(*wide.layers)) == (
        "<AbsoluteValueForm, 50 terms, 2 inputs, 2 outputs>"
    )


def test_domains_of_layers() -> None:
    shown = [
        repr(LayerDomain.whole_space(3)),
        repr(LayerDomain.orthant(2)),
        repr(LayerDomain.of(Polyhedron.box([0, None], [None, None]))),
        repr(LayerDomain.of(Polyhedron.box([0] * 100, [1] * 100))),
    ]
    assert shown == [
        "<LayerDomain, the whole space in R^3>",
        "<LayerDomain, the orthant in R^2>",
        "<LayerDomain, a polyhedron in R^2, 1 ray, 1 line>",
        "<LayerDomain, a polyhedron in R^100, 0 rays, 0 lines>",
    ]
