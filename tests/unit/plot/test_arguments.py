"""Public functions of `polyrelu.plot` with arguments of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from polyrelu import from_arrays, save
from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import bent_hyperplane, canonical_complex, region_graph
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import NeuronId
from polyrelu.plot import (
    draw_boundary,
    draw_cells,
    draw_graph,
    draw_layers,
    draw_level_set,
    draw_subcomplex,
    draw_surface,
    draw_weights,
    draw_zero_sets,
    mesh_of,
    picture,
    save_figure,
    save_mesh,
    surface,
    view_of,
)
from polyrelu.topology import decision_boundary, level_set
from tests.generators.wrong_arguments import WRONG, Unrelated, outcome

PAIRS: Any = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]
NETWORK = from_arrays(PAIRS)
CELLS = canonical_complex(NETWORK, "box:-2,2")
LINE = canonical_complex([([[1]], [0]), ([[1]], [0])])
BREAKPOINTS = breakpoint_complex(CELLS)
PART = bent_hyperplane(CELLS, NeuronId(2, 0))
LEVEL, BOUNDARY = level_set(NETWORK, 1), decision_boundary(NETWORK)

#: Functions that draw, with the object that they take.
DRAWN: dict[str, tuple[Callable[..., Any], Any]] = {
    "draw_cells": (draw_cells, CELLS),
    "draw_graph": (draw_graph, LINE),
    "draw_layers": (draw_layers, CELLS),
    "draw_level_set": (draw_level_set, LEVEL),
    "draw_boundary": (lambda part, **options: draw_boundary(part, 1, **options), BOUNDARY),
    "draw_subcomplex": (draw_subcomplex, PART),
    "draw_surface": (draw_surface, CELLS),
    "draw_weights": (draw_weights, BREAKPOINTS),
    "draw_zero_sets": (draw_zero_sets, CELLS),
}
OBJECTS = [*WRONG, NETWORK, region_graph(NETWORK)]


def test_networks_and_domains_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(NETWORK, "net.json")
    expected = picture(NETWORK, Polyhedron.box([-2, -2], [2, 2]), what="zeros").counts
    for network in (PAIRS, "net.json", tmp_path / "net.json"):
        assert picture(network, "box:-2,2", what="zeros").counts == expected
    part = surface(PAIRS, "box:-2,2", what="level", level=1)
    assert part.f_vector == surface(NETWORK, what="level", level=1, box=[-2, 2]).f_vector


def test_a_slice_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "line.json"
    file.write_text('{"points": [[0, 1], [2, 1]]}')
    assert picture(NETWORK, f"slice:{file}").view.names == ("s",)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_networks_domains_kinds_and_numbers(wrong: Any) -> None:
    calls: list[Callable[[Any], object]] = [
        picture,
        lambda value: surface(value, what="zeros"),
        lambda value: surface(NETWORK, what=value),
        lambda value: picture(NETWORK, output=value),
        lambda value: surface(NETWORK, what="weights", output=value),
        lambda value: picture(NETWORK, what="level", level="no number"),
    ]
    assert all(outcome(lambda call=call: call(wrong)) for call in calls)  # type: ignore[misc]
    if wrong is not None:
        assert outcome(lambda: picture(NETWORK, wrong))
        assert outcome(lambda: picture(NETWORK, what=wrong))
        assert outcome(lambda: picture(NETWORK, box=wrong))
        assert outcome(lambda: view_of(CELLS, box=wrong))
        assert outcome(lambda: surface(NETWORK, wrong, what="zeros"))
        assert outcome(lambda: mesh_of(PART, names=wrong))


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("wrong", OBJECTS, ids=lambda wrong: repr(wrong)[:20])
def test_something_else_in_place_of_what_is_drawn(name: str, wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"expected (PolyhedralC|Subc|BreakpointC)omplex, got"):
        DRAWN[name][0](wrong)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("wrong", [3, "no such axes", Unrelated(), Figure(), []], ids=repr)
def test_wrong_axes_and_boxes(name: str, wrong: Any) -> None:
    draw, thing = DRAWN[name]
    option = "figure" if name == "draw_layers" else "ax"
    if not (option == "figure" and isinstance(wrong, Figure)):
        with pytest.raises(ArgumentError, match=rf"{option}: expected "):
            draw(thing, **{option: wrong})
    assert outcome(lambda: draw(thing, box=wrong))


def test_axes_of_the_wrong_kind() -> None:
    with pytest.raises(DomainError, match="this picture needs Axes with projection='3d'"):
        draw_surface(CELLS, ax=Figure().add_subplot())
    with pytest.raises(DomainError, match="this picture needs plane Axes"):
        draw_cells(CELLS, ax=Figure().add_subplot(projection="3d"))


def test_boxes_that_do_not_fit() -> None:
    for box in ([1], [0, 1, 2], [[0, 1]], [[0, 1], 2], ["0", "x"], [1, 0], [0, float("nan")]):
        assert "box" in outcome(lambda box=box: view_of(CELLS, box=box))  # type: ignore[misc]
    view = view_of(CELLS, box=np.array([[0, 1], [2, 3]]))  # type: ignore[arg-type]
    assert list(view.lower) == [0, 2]


def test_wrong_outputs() -> None:
    for output in (-1, 1, "0", None, 0.0):
        for call in (
            lambda output=output: draw_graph(LINE, output=output),
            lambda output=output: draw_surface(CELLS, output=output),
            lambda output=output: draw_weights(BREAKPOINTS, output=output),
            lambda output=output: picture(NETWORK, what="surface", output=output),
        ):
            assert "output" in outcome(call)
    for outputs in (0, -1, "1", None, 2):
        assert outcome(lambda outputs=outputs: draw_boundary(BOUNDARY, outputs))  # type: ignore[misc]


def test_colours_labels_and_names() -> None:
    with pytest.raises(ArgumentError, match="'no colour' is no colour of matplotlib"):
        draw_subcomplex(PART, colour="no colour")
    with pytest.raises(ArgumentError, match="label: expected str, got int 3"):
        draw_subcomplex(PART, label=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="name: expected str"):
        draw_level_set(LEVEL, name=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", OBJECTS, ids=lambda wrong: repr(wrong)[:20])
def test_wrong_files_figures_and_meshes(wrong: Any) -> None:
    assert outcome(lambda: save_figure(wrong, "a.png"))
    assert outcome(lambda: save_figure(Figure(), wrong))
    assert outcome(lambda: save_mesh(PART, wrong))
    assert outcome(lambda: save_mesh(wrong, "a.ply"))
    assert outcome(lambda: mesh_of(wrong))
    assert outcome(lambda: view_of(wrong))


def test_names_of_coordinates_stand_on_one_line() -> None:
    """They stand in a comment of the file, where a line break would begin something else."""
    cube = canonical_complex([([[1, 0, 0]], [0]), ([[1]], [0])], "box:-1,1")
    part = bent_hyperplane(cube, NeuronId(1, 0))
    assert mesh_of(part, names=("s", "t", "u")).axes == ("s", "t", "u")
    for names in (("s", "t"), ("s", "t", "u\nf 1 2 3"), "stuv"):
        with pytest.raises(ArgumentError, match="names: expected"):
            mesh_of(part, names=names)  # type: ignore[arg-type]


def test_options_are_named() -> None:
    for call in (
        lambda: draw_cells(CELLS, None),  # type: ignore[call-arg]
        lambda: view_of(CELLS, [0, 1]),  # type: ignore[call-arg]
        lambda: picture(NETWORK, None, "complex"),  # type: ignore[call-arg]
        lambda: mesh_of(PART, ("s", "t", "u")),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match="positional"):
            call()
