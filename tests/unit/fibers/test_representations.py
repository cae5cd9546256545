"""How fibers and their parts show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.exact import RationalMatrix
from polyrelu.fibers import (
    AvailableNeurons,
    LinearPart,
    NeuronAssignment,
    fiber,
    hidden_hyperplane,
    layer_fiber,
    nonnegative_column_rank,
    not_localizable,
)
from polyrelu.network import from_arrays
from polyrelu.symmetry import LayerDomain

ABSOLUTE_VALUE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
HIDING = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])


def test_fibers() -> None:
    found = fiber(ABSOLUTE_VALUE)
    assert repr(found) == "<Fiber, 1-2-1, dimension 0, 1 component, complete among all parameters>"
    assert repr(fiber(HIDING)) == (
        "<Fiber, 2-2-1-1, dimension 1, 2 components, complete if generic, among generic parameters>"
    )
    assert list(found) == list(found.components)
    assert len(found) == 1
    assert found.components[0] in found


def test_fibers_in_a_notebook() -> None:
    found = fiber(ABSOLUTE_VALUE)
    assert found._repr_html_() == (
        "<p>Fiber, 1-2-1, dimension 0, 1 component, complete among all parameters</p>"
        "<table><tr><th>component</th><th>layer</th><th>parameters</th><th>dimension</th></tr>"
        "<tr><td>0</td><td>1</td><td>neurons on the hyperplanes: 1+1</td><td>0</td></tr></table>"
    )
    part = found.components[0]
    shown = found._repr_latex_()
    assert shown is not None
    latex = part._repr_latex_()  # type: ignore[attr-defined]
    assert shown == f"\\[\\text{{component 0}}\\]\n{latex}"
    assert "\\begin{gather*}" in shown


def test_long_fibers_in_a_notebook() -> None:
    rows = [[k + 1, 1] for k in range(5)]
    wide = from_arrays([(rows, [1, 2, 3, 4, 5]), ([[1, 1, 1, 1, 1]], [0])])
    found = fiber(from_arrays([([[1]] * 30, list(range(30))), ([[1] * 30], [0])]))
    assert found._repr_latex_() is None
    assert len(fiber(wide)) == 1
    components = layer_fiber(wide, 1).components()
    many = type(found)(wide, tuple(fiber(wide).components) * 30, "part", "")
    assert "<td>…</td><td></td><td>6 more</td><td></td>" in many._repr_html_()
    assert "empty, neurons on the hyperplanes" in " ".join(map(repr, components))


def test_components() -> None:
    (part,) = fiber(ABSOLUTE_VALUE).components
    assert repr(part) == ("<LayerComponent, layer 1: neurons on the hyperplanes: 1+1, dimension 0>")
    parts = fiber(HIDING).components
    assert repr(parts[1]) == (
        "<HiddenComponent, layer 1: hyperplane of neuron 0 translated, neuron 1 flipped, "
        "dimension 1>"
    )
    latex = parts[0]._repr_latex_()  # type: ignore[attr-defined]
    assert "t \\geq -2" in latex
    assert repr(parts[0].conditions()) == "<Conditions, 1 unknown, 0 equations, 1 inequalities>"


def test_layers() -> None:
    found = layer_fiber(ABSOLUTE_VALUE, 1)
    assert repr(found) == "<LayerFiber, width 2, 1 visible hyperplane, 1 input, 1 output>"
    assert repr(found.given_assignment) == "<NeuronAssignment, neurons on the hyperplanes: 1+1>"
    component = found.component(found.given_assignment)
    assert repr(component) == "<Component, neurons on the hyperplanes: 1+1>"
    assert repr(component.member()) == "<LayerNeurons, 2 neurons, 1 input, 1 output>"


def test_assignments() -> None:
    assert str(NeuronAssignment((), ((1, 1),), 2, 1)) == (
        "no visible hyperplane, 1+1 that cancel on one more hyperplane, 2 linear, 1 dead"
    )
    many = NeuronAssignment(((1, 0),) * 20, (), 0, 0)
    assert str(many) == f"neurons on the hyperplanes: {'1+0 ' * 16}and 4 more"
    assert repr(many) == f"<NeuronAssignment, neurons on the hyperplanes: {'1+0 ' * 12}1+0…>"


def test_linear_parts() -> None:
    remainder = RationalMatrix.from_rows([[1, -1]])
    available = AvailableNeurons(RationalMatrix.zeros(0, 2), num_pairs=0, num_linear=2)
    part = LinearPart(remainder, available, LayerDomain.orthant(2))
    assert repr(available) == "<AvailableNeurons, 0 doubled hyperplanes, 0 pairs, 2 linear neurons>"
    assert repr(part) == (
        "<LinearPart, R of shape (1, 2), 0 doubled hyperplanes, 0 pairs, 2 linear neurons>"
    )
    assert repr(part.realisation()) == (
        "<Realisation, 0 doubled hyperplanes, 0 pairs, 2 linear neurons>"
    )
    assert repr(nonnegative_column_rank(remainder)) == (
        "<NonnegativeRank, 2 for a matrix of shape (1, 2) and rank 1>"
    )


def test_others() -> None:
    assert repr(hidden_hyperplane(HIDING, 1)) == (
        "<HiddenHyperplane, neuron 0 of layer 1, shift at least -2, 2 components>"
    )
    assert repr(not_localizable((2, 2, 2, 2, 1))) == (
        "<NotLocalizable, a network of widths 2-2-2-2-1>"
    )
