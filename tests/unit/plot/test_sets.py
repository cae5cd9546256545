"""Decision boundaries and level sets of every dimension: counts and pictures agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from polyrelu.complex import bent_hyperplane, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.plot import (
    draw_boundary,
    draw_cells,
    draw_layers,
    draw_level_set,
    draw_subcomplex,
    draw_zero_sets,
    picture,
)
from polyrelu.topology import decision_boundary, level_set, sublevel_set

FOUR = [[1, 0], [-1, 0], [0, 1], [0, -1]]
SIX = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
ZERO = from_arrays([([[0, 0]], [0]), ([[0]], [0])])
POINT = from_arrays([(FOUR, [0] * 4), ([[1] * 4], [0])])
TWO = from_arrays([(FOUR, [0] * 4), ([[1] * 4, [0] * 4], [0, 0])])
#: The function max(x, 0) + max(y, 0), which is 0 on a quadrant.
QUADRANT = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
#: The function | |x| + |y| - 1 | + |z|, which is 0 on four edges.
RING = from_arrays(
    [
        (SIX, [0] * 6),
        ([[1, 1, 1, 1, 0, 0], [-1, -1, -1, -1, 0, 0], [0, 0, 0, 0, 1, 1]], [-1, 1, 0]),
        ([[1] * 3], [0]),
    ]
)
OCTANT = from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
NOTHING = from_arrays([([[0, 0, 0]], [0]), ([[0]], [0])])
OUTSIDE = from_arrays([([[1, 0]], [3]), ([[1]], [1])])


def notes(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def first_line(ax: Any) -> str:
    return str(ax.get_title()).splitlines()[0]


@pytest.mark.parametrize(
    ("network", "tally", "says"),
    [
        (ZERO, "1 region", ["whole domain"]),
        (POINT, "1 point", []),
        (TWO, "1 point", []),
        (QUADRANT, "1 region, 2 edges", []),
        (RING, "4 edges", []),
        (OCTANT, "1 solid, 3 facets", []),
        (NOTHING, "1 solid", ["whole domain"]),
        (OUTSIDE, "empty", ["no decision boundary", "does not cross"]),
    ],
)
def test_cells_of_all_dimensions(network: Network, tally: str, says: Sequence[str]) -> None:
    for what in ("boundary", "level")[: 3 - network.num_outputs]:
        found = picture(network, what=what, box=[-2, 2])
        (ax, *_) = found.figure.axes
        assert first_line(ax).endswith(f": {tally}")
        assert len(notes(ax)) == bool(says)
        assert all(any(part in text for part in says) for text in notes(ax))
        words = tally.replace(",", "").split()
        drawn = {
            noun.rstrip("s"): int(count)
            for count, noun in zip(words[::2], words[1::2], strict=False)
        }
        kinds = ("solids", "regions", "facets", "edges", "points")
        assert {kind[:-1]: found.counts[kind] for kind in kinds if found.counts.get(kind)} == drawn


def test_a_smaller_box_than_the_complex() -> None:
    """Counts are about the box: inside the quadrant, beside it, around its corner."""
    part, solid = level_set(QUADRANT, 0), level_set(OCTANT, 0)
    for box, tally, count in (
        ([-3, -1], "1 region", 1),
        ([1, 2], "empty", 1),
        ([-1, 1], "1 region, 2 edges", 0),
    ):
        ax = draw_level_set(part, box=box)
        assert (first_line(ax), len(notes(ax))) == (f"level set: {tally}", count)
    boxes: list[tuple[Any, str]] = [
        ([-3, -1], "1 solid"),
        ([1, 2], "empty"),
        ([-1, 1], "1 solid, 3 facets"),
        ([(0, 1), (0, 1), (-1, 0)], "empty"),  # box and quadrant only touch
        ([("-1/9", 8), ("-1/9", 8), (-1, 8)], "1 solid, 3 facets"),
    ]
    for sides, tally in boxes:
        assert first_line(draw_level_set(solid, box=sides)) == f"level set: {tally}"
        assert first_line(draw_subcomplex(solid, box=sides)) == f"subcomplex: {tally}"


def test_other_sets_are_refused() -> None:
    bent: Any = bent_hyperplane(canonical_complex(QUADRANT), NeuronId(1, 0))
    for part in (bent, sublevel_set(QUADRANT, 1), decision_boundary(TWO)):
        with pytest.raises(DomainError, match="no level set"):
            draw_level_set(part)
    with pytest.raises(DomainError, match="not the decision boundary of a network with 2 outputs"):
        draw_boundary(bent, 2)
    for part in (
        level_set(QUADRANT, 1),
        level_set(TWO, 0, output=1),
        decision_boundary(TWO),
        sublevel_set(QUADRANT, 0),
    ):
        with pytest.raises(
            DomainError, match="not the decision boundary of a network with 1 outputs"
        ):
            draw_boundary(part, 1)
    assert (
        draw_boundary(level_set(QUADRANT, 0), 1)
        .get_title()
        .startswith("decision boundary: 1 region")
    )


# --- Neurons that are 0 on regions ----------------------------------------------------------------


def test_regions_where_a_neuron_is_zero_are_filled() -> None:
    """The second layer is 0 for x, y ≤ 0."""
    network = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
    zeros = picture(network, what="zeros")
    assert (zeros.counts["regions where a neuron is 0"], zeros.counts["edges"]) == (1, 4)
    title = first_line(zeros.figure.axes[0])
    assert title == "zero sets of the neurons, by layer: 4 edges; a neuron is 0 on 1 region"
    layers = picture(network, what="layers")
    assert layers.counts == {"layer 1": 4, "layer 2": 2, "layer 2, regions where a neuron is 0": 1}
    assert (
        layers.figure.axes[1].get_title() == "layer 2: 1 neuron, 2 edges\na neuron is 0 on 1 region"
    )


def test_a_panel_without_anything_says_so() -> None:
    for network in (ZERO, NOTHING):
        (ax, *_) = picture(network, what="layers").figure.axes
        assert notes(ax) == ["no neuron changes its sign in the domain shown,\nbut some are 0"]
        assert "a neuron is 0 on 1 region" in ax.get_title()
        assert notes(picture(network, what="zeros").figure.axes[0]) == notes(ax)
    assert notes(draw_layers(canonical_complex(OUTSIDE)).axes[0]) == [
        "no neuron changes its sign in the domain shown"
    ]
    point = from_arrays([(FOUR, [0] * 4), ([[1] * 4], [0]), ([[1]], [0])])
    ax = draw_layers(canonical_complex(point)).axes[1]
    assert (ax.get_title(), notes(ax)) == ("layer 2: 1 neuron, 1 point", [])
    assert picture(point, what="layers").counts == {
        "layer 1": 4,
        "layer 2": 0,
        "layer 2, points": 1,
    }


def test_every_cell_is_counted_once() -> None:
    """The line of the first layer is also the line of the second layer."""
    network = from_arrays([([[1, 0], [-1, 0]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])
    assert picture(network, what="zeros").counts["edges"] == 1
    assert first_line(draw_zero_sets(canonical_complex(network))).endswith(": 1 edge")


@pytest.mark.parametrize("side", [2.0, 4.0, 9.0])
def test_a_legend_is_below_the_name_of_the_axis(side: float) -> None:
    """The distance is in points, since letters have the same size on small and large Axes."""
    net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    figure = Figure(figsize=(side, side))
    ax = draw_cells(canonical_complex(net, "box:-1,1"), ax=figure.subplots())
    FigureCanvasAgg(figure).draw()
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0


def test_where_the_domain_ends() -> None:
    """The triangle has two sides on the frame and one inside, which is drawn and not counted."""
    triangle = Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [1, 0, 0])
    network = from_arrays([([[1, 0], [0, 1]], [9, 9]), ([[1, 1]], [0])])
    for what, box, num_sides in (
        ("layers", [0, 1], 1),
        ("weights", [-1, 2], 3),
        ("zeros", None, 1),
    ):
        found = picture(network, triangle, what=what, box=box)
        ax: Any = found.figure.axes[0]
        assert [len(lines.get_segments()) for lines in ax.collections] == [num_sides]
        assert sum(found.counts.values()) == 0
        assert notes(ax)[0].endswith("in the domain shown")


def test_a_narrow_picture_has_few_numbers() -> None:
    narrow, wide = (
        picture(OUTSIDE, f"box:0,{width};-1,1", what="zeros").figure.axes[0].get_xticks()
        for width in ("1/2", "2")
    )
    assert 2 <= len(narrow) < len(wide)
