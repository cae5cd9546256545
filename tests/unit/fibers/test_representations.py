"""How fibers and their parts show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.fibers import NeuronAssignment, fiber, layer_fiber
from polyrelu.network import from_arrays

ABSOLUTE_VALUE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])


def test_fibers_are_collections() -> None:
    found = fiber(ABSOLUTE_VALUE)
    assert list(found) == list(found.components)
    assert len(found) == 1
    assert found.components[0] in found


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


def test_long_assignments() -> None:
    many = NeuronAssignment(((1, 0),) * 20, (), 0, 0)
    assert str(many) == f"neurons on the hyperplanes: {'1+0 ' * 16}and 4 more"
    assert repr(many) == f"<NeuronAssignment, neurons on the hyperplanes: {'1+0 ' * 12}1+0…>"
