"""Cells of a complex and subcomplexes as pictures, in the plane and in space.

The `draw_…` functions make Axes of their own or take some; the `paint_…` functions of the same
names draw on a canvas and serve `picture` as well. Both draw each cell once: a subcomplex shows its
polygons, and those edges and points that are faces of no other cell of it.

A cell of codimension 1 has the colour of the first layer that bends there, that is the first layer
with a neuron whose bent hyperplane contains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import PolyhedralComplex, Subcomplex, bent_hyperplane
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.complex.subcomplex import expect_subcomplex, marked_facets
from polyrelu.errors import DomainError
from polyrelu.plot.canvas import (
    GREY,
    HERE,
    INK,
    Canvas,
    check_colour,
    expect_figure,
    layer_colour,
    new_figure,
    pale_colour,
)
from polyrelu.plot.clip import Clipped
from polyrelu.plot.view import BoxLike, View, view_of
from polyrelu.support.arguments import expect
from polyrelu.support.display import count_text
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The name of the edges at which the domain ends, for legends and counts.
DOMAIN = "boundary of the domain"
#: The name by which regions on which a neuron is 0 throughout are counted.
VANISHING = "regions where a neuron is 0"

__all__ = [
    "VANISHING",
    "boundary_in_domain",
    "domain_ends",
    "draw_cells",
    "draw_layers",
    "draw_subcomplex",
    "draw_zero_sets",
    "edge_layers",
    "maximal",
    "paint_domain",
    "paint_part",
    "separating_numbers",
    "vanishing_regions",
    "zero_set",
]


def draw_cells(
    cells: PolyhedralComplex, *, ax: Axes | None = None, box: BoxLike | None = None
) -> Axes:
    """Draw all regions and edges of a complex of dimension 2.

    Edges have the colour of the first layer that bends there.

    Parameters
    ----------
    cells
        A complex of dimension 2, of any network.
    ax
        Axes to draw on; by default Axes of a new figure, `ax.figure`.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The complex has another dimension, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> draw_cells(canonical_complex(net), box=[-2, 2]).get_title()
    '7 regions, 9 edges\\nbox [-2, 2] × [-2, 2]'
    """
    canvas = Canvas(_view(cells, (2,), box), ax)
    paint_cells(canvas, cells)
    return canvas.finish(
        count_text([(canvas.counts["regions"], "region"), (canvas.counts["edges"], "edge")])
    )


def draw_subcomplex(
    part: Subcomplex,
    *,
    ax: Axes | None = None,
    box: BoxLike | None = None,
    colour: str = "#0072b2",
    label: str = "",
) -> Axes:
    """Draw a subcomplex of a complex of dimension 2 or 3.

    The picture shows its polygons, and the edges and points that are faces of no other cell of it.

    Parameters
    ----------
    part
        A subcomplex, such as a bent hyperplane, a level set or the breakpoint complex.
    ax
        Axes to draw on, in space with `projection="3d"`; by default Axes of a new figure.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.
    colour
        A colour of matplotlib.
    label
        The name of the subcomplex in the legend.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The complex has another dimension, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import bent_hyperplane, canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> cells = canonical_complex(net)
    >>> part = bent_hyperplane(cells, cells.neurons[-1])
    >>> draw_subcomplex(part, box=[-2, 2], label="second layer").get_title()
    'second layer: 3 edges\\nbox [-2, 2] × [-2, 2]'
    """
    part, label = expect_subcomplex(part), expect(label, str, "label")
    canvas = Canvas(_view(part.cells, (2, 3), box), ax)
    check_colour(colour)
    paint_part(canvas, part, colour, label)
    if not any(canvas.counts.values()):
        canvas.note(f"nothing of it lies {HERE}")
    return canvas.finish(f"{label or 'subcomplex'}: {canvas.tally()}")


def draw_zero_sets(
    cells: PolyhedralComplex, *, ax: Axes | None = None, box: BoxLike | None = None
) -> Axes:
    """Draw the bent hyperplanes of all neurons, a colour for each layer.

    A cell that belongs to bent hyperplanes of several layers has the colour of the first of them.
    Regions on which a neuron is 0 throughout are filled in a light colour; in space the title gives
    their number instead.

    Parameters
    ----------
    cells
        A complex of dimension 2 or 3.
    ax
        Axes to draw on, in space with `projection="3d"`; by default Axes of a new figure.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The complex has another dimension, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> draw_zero_sets(canonical_complex(net), box=[-2, 2]).get_title()
    'zero sets of the neurons, by layer: 9 edges\\nbox [-2, 2] × [-2, 2]'
    """
    canvas = Canvas(_view(cells, (2, 3), box), ax)
    paint_zero_sets(canvas, cells)
    return canvas.finish(zero_sets_title(canvas))


def draw_layers(
    cells: PolyhedralComplex, *, figure: Figure | None = None, box: BoxLike | None = None
) -> Figure:
    """Draw a panel for each hidden layer.

    A panel shows the bent hyperplanes of its layer in colour, and the bent hyperplanes of earlier
    layers in grey. Regions on which a neuron of the layer is 0 throughout are filled in a light
    colour; in space the title gives their number instead.

    Parameters
    ----------
    cells
        A complex of dimension 2 or 3.
    figure
        An empty figure to draw in; by default a new one.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.

    Returns
    -------
    Figure
        The figure of matplotlib, with one Axes for each layer.

    Raises
    ------
    DomainError
        The complex has another dimension, the network has no hidden layer, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> [ax.get_title() for ax in draw_layers(canonical_complex(net), box=[-2, 2]).axes]
    ['layer 1: 2 neurons, 6 edges', 'layer 2: 1 neuron, 3 edges']
    """
    view = _view(cells, (2, 3), box)
    return paint_layers(cells, view, None if figure is None else expect_figure(figure))[0]


def paint_layers(
    cells: PolyhedralComplex, view: View, figure: Figure | None, progress: Progress | None = None
) -> tuple[Figure, dict[str, int]]:
    """Return the figure of `draw_layers`, and the number of facets drawn in colour, by layer."""
    count = cells.network.num_hidden_layers
    if not count:
        raise DomainError("the network has no hidden layer, so there are no zero sets to draw")
    columns = min(count, 4 if count > 6 else 3)
    rows = -(-count // columns)
    if figure is None:
        figure = new_figure(max(4.1 * columns, 5.0), 4.3 * rows + 0.3)
    parts = [zero_set(cells, layer) for layer in range(1, count + 1)]
    found, ends = dict[str, int](), domain_ends(cells, view)
    for layer, part in enumerate(parts, 1):
        kind = {"projection": "3d"} if view.dimension == 3 else {}
        ax = figure.add_subplot(rows, columns, layer, **kind)
        canvas = Canvas(view, ax, progress=progress)
        if layer > 1:
            paint_part(canvas, reduce(or_, parts[: layer - 1]), GREY, "", faint=True)
        canvas.segments(DOMAIN, ends, INK, width=1.6)
        canvas.counts.clear()
        found |= _paint_layer(canvas, part, layer)
        canvas.finish("")
    black = f"\nblack: {DOMAIN}" if ends else ""
    title = f"zero sets of the neurons; grey: earlier layers{black}\n{view.caption}"
    figure.suptitle(title, fontsize=10)
    return figure, found


def _paint_layer(canvas: Canvas, part: Subcomplex, layer: int) -> dict[str, int]:
    """Draw the panel of a layer, and return its number of facets.

    Cells of other kinds are counted too, where there are any.
    """
    paint_vanishing(canvas, part.cells, layer)
    vanishing = canvas.counts.pop(VANISHING, 0)
    paint_part(canvas, part, layer_colour(layer), "")
    if not any(canvas.counts.values()):
        canvas.note(_empty_note(vanishing))
    tally = f"{count_text([(part.cells.network.widths[layer], 'neuron')])}, {canvas.tally()}"
    zero = f"\na neuron is 0 on {count_text([(vanishing, 'region')])}" if vanishing else ""
    canvas.ax.set_title(f"layer {layer}: {tally}{zero}", size=10)
    main = "facets" if canvas.space else "edges"
    others = {kind: canvas.counts[kind] for kind in canvas.kinds if kind != main} | {
        VANISHING: vanishing
    }
    named = {f"layer {layer}, {kind}": count for kind, count in others.items() if count}
    return {f"layer {layer}": canvas.counts[main]} | named


def paint_zero_sets(canvas: Canvas, cells: PolyhedralComplex) -> None:
    """Draw the bent hyperplanes of all layers, each cell once, in the colour of its first layer."""
    drawn = Subcomplex.closure(cells, {})
    for layer in range(1, cells.network.num_hidden_layers + 1):
        paint_vanishing(canvas, cells, layer)
        part = zero_set(cells, layer)
        paint_part(canvas, part, layer_colour(layer), f"layer {layer}", without=drawn)
        drawn = drawn | part
    if not any(count for name, count in canvas.counts.items() if name != VANISHING):
        canvas.note(_empty_note(canvas.counts[VANISHING]))
    paint_domain(canvas, cells)


def zero_sets_title(canvas: Canvas) -> str:
    """Return the title of a picture of `paint_zero_sets`."""
    zero = (
        f"; a neuron is 0 on {count_text([(canvas.counts[VANISHING], 'region')])}"
        if canvas.counts[VANISHING]
        else ""
    )
    return f"zero sets of the neurons, by layer: {canvas.tally()}{zero}"


def _empty_note(vanishing: int) -> str:
    """Return the remark for a picture without zero sets."""
    return f"no neuron changes its sign {HERE}" + (",\nbut some are 0" if vanishing else "")


def paint_vanishing(canvas: Canvas, cells: PolyhedralComplex, layer: int) -> None:
    """Fill the regions on which a neuron of a layer is 0; in space only count them."""
    inside = Clipped.for_picture(cells, canvas.view, canvas.progress)
    regions = vanishing_regions(cells, layer).tolist()
    if canvas.space:
        canvas.counts[VANISHING] += sum(map(inside.has_region, inside.reported(regions)))
        return
    polygons = [points for _, points in inside.cells_in_box(2, regions)]
    label = f"layer {layer}: a neuron is 0"
    canvas.polygons(VANISHING, polygons, layer_colour(layer), alpha=0.2, label=label, order=0.5)


def paint_cells(canvas: Canvas, cells: PolyhedralComplex) -> None:
    """Draw regions and edges of a complex of dimension 2."""
    inside = Clipped.for_picture(cells, canvas.view, canvas.progress)
    regions = list(inside.cells_in_box(2, range(cells.num_regions)))
    shades = [pale_colour(number) for number in separating_numbers(cells)]
    canvas.polygons(
        "regions", [points for _, points in regions], [shades[index] for index, _ in regions]
    )
    layers = edge_layers(cells)
    border = domain_ends(cells, canvas.view)
    canvas.segments("edges", border, INK, width=1.6, label=DOMAIN)
    for layer in range(1, cells.network.num_hidden_layers + 1):
        found = [
            points for _, points in inside.cells_in_box(1, np.flatnonzero(layers == layer).tolist())
        ]
        canvas.segments("edges", found, layer_colour(layer), width=1.1, label=f"layer {layer}")


def paint_domain(canvas: Canvas, cells: PolyhedralComplex) -> None:
    """Draw where the domain ends inside the frame, uncounted; in space nothing is drawn."""
    canvas.segments(DOMAIN, domain_ends(cells, canvas.view), INK, width=1.6, label=DOMAIN)
    canvas.counts.pop(DOMAIN)


def domain_ends(cells: PolyhedralComplex, view: View) -> list[list[Point]]:
    """Return the edges inside a frame at which a domain in the plane ends; none in space."""
    if view.dimension != 2:
        return []
    around = np.bincount(cells.facets(2)[1], minlength=cells.size(1))
    exact = Clipped(cells, view)  # floats do not decide whether an edge lies on a side
    border = [points for _, points in exact.cells_in_box(1, np.flatnonzero(around == 1).tolist())]
    return [points for points in border if not exact.is_on_side(points)]


def paint_part(
    canvas: Canvas,
    part: Subcomplex,
    colour: str,
    label: str,
    faint: bool = False,
    without: Subcomplex | None = None,
) -> None:
    """Draw the polygons of a subcomplex, and its edges and points that are faces of no other cell.

    In space a cell of dimension 3 is shown by its surface, where the subcomplex ends there. Cells
    of `without` are left out.
    """
    cells, inside = part.cells, Clipped.for_picture(part.cells, canvas.view, canvas.progress)

    def clipped(dimension: int, indices: NDArray[np.int64]) -> list[Any]:
        """Return the polygons of cells inside the frame."""
        if without is not None:
            indices = indices[~without.masks[dimension][indices]]
        return [points for _, points in inside.cells_in_box(dimension, indices.tolist())]

    if cells.dimension == 3:
        solids = inside.reported(part.indices(3).tolist())
        canvas.counts["solids"] += sum(map(inside.has_region, solids))
        shown = (
            {"alpha": 0.12, "edge": "none"} if faint else {"alpha": 0.8, "edge": INK, "width": 0.25}
        )
        polygons = clipped(2, boundary_in_domain(part).indices(2))
        canvas.polygons("facets", polygons, colour, label=label, **shown)  # type: ignore[arg-type]
    else:
        canvas.polygons(
            "regions",
            clipped(2, part.indices(2)),
            colour,
            alpha=0.15 if faint else 0.35,
            label=label,
        )
    thin: dict[str, Any] = {"width": 0.6, "order": 1.5} if faint else {"width": 1.5}
    canvas.segments("edges", clipped(1, maximal(part, 1)), colour, label=label, **thin)
    alone = [points[0] for points in clipped(0, maximal(part, 0))]
    canvas.points("points", alone, colour, label=label, size=2.5 if faint else 5.0)


def zero_set(cells: PolyhedralComplex, layer: int) -> Subcomplex:
    """Return the union of the bent hyperplanes of the neurons of a layer; layers count from 1.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> cells = canonical_complex(net)
    >>> zero_set(cells, 1).f_vector, zero_set(cells, 2).f_vector
    ((3, 6, 0), (2, 3, 0))
    """
    none = Subcomplex.closure(cells, {})
    neurons = [neuron for neuron in cells.neurons if neuron.layer == layer]
    return reduce(or_, (bent_hyperplane(cells, neuron) for neuron in neurons), none)


def vanishing_regions(cells: PolyhedralComplex, layer: int) -> NDArray[np.int64]:
    """Return the indices of the regions on which some neuron of a layer is 0 throughout.

    The second layer below reads (0, 0) where x, y < 0:

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
    >>> cells = canonical_complex(net)
    >>> [len(vanishing_regions(cells, layer)) for layer in (1, 2)]
    [0, 1]
    """
    columns = [column for column, neuron in enumerate(cells.neurons) if neuron.layer == layer]
    return np.flatnonzero((cells.signs(cells.dimension)[:, columns] == 0).any(axis=1))


def edge_layers(cells: PolyhedralComplex) -> NDArray[np.int64]:
    """Return the first layer that bends at each cell of codimension 1, and 0 where none does.

    A layer bends at a cell if the bent hyperplane of a neuron of it contains the cell. The cells
    with 0 lie on the boundary of the domain.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> np.bincount(edge_layers(canonical_complex(net))).tolist()
    [0, 6, 3]
    """
    found = np.zeros(cells.size(cells.dimension - 1), dtype=np.int64)
    offsets, facets = cells.facets(cells.dimension)
    owners = np.repeat(np.arange(cells.num_regions), np.diff(offsets))
    layers = np.array([neuron.layer for neuron in cells.neurons], dtype=np.int64)
    for layer in range(cells.network.num_hidden_layers, 0, -1):
        columns = layers == layer
        zero = cells.signs(cells.dimension - 1)[:, columns][facets] == 0
        bends = zero & (cells.signs(cells.dimension)[:, columns][owners] != 0)
        found[facets[bends.any(axis=1)]] = layer
    return found


def maximal(part: Subcomplex, dimension: int) -> NDArray[np.int64]:
    """Return the cells of a dimension that are faces of no other cell of the subcomplex."""
    cells = part.cells
    if not cells.lineality_dim <= dimension <= cells.dimension:
        return np.zeros(0, dtype=np.int64)
    mask = part.masks[dimension]
    if dimension < cells.dimension:
        mask = mask & ~marked_facets(cells, dimension + 1, part.masks[dimension + 1])
    return np.flatnonzero(mask)


def boundary_in_domain(part: Subcomplex) -> Subcomplex:
    """Return the topological boundary of a subcomplex in the domain.

    It consists of the facets with a region beside them that does not belong to the subcomplex, and
    of all cells of lower dimension that are faces of no other cell of it.

    >>> import numpy as np
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import level_set
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 2]], [0, 0, 1]), ([[1, 1, 0]], [0])])
    >>> corner = level_set(net, 0)  # x, y ≤ 0
    >>> corner.f_vector, boundary_in_domain(corner).f_vector
    ((3, 5, 2), (3, 4, 0))
    """
    cells, top = part.cells, part.cells.dimension
    beside = part.masks[top - 1] & marked_facets(cells, top, ~part.masks[top])
    found = Subcomplex.closure(cells, {top - 1: beside})
    lower = [np.zeros_like(mask) for mask in part.masks]
    for k in range(cells.lineality_dim, top - 1):
        lower[k][maximal(part, k)] = True
    return found | Subcomplex.closure(cells, dict(enumerate(lower)))


def separating_numbers(cells: PolyhedralComplex) -> list[int]:
    """Return small numbers for the regions, different for neighbours."""
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.num_regions))
    graph.add_edges_from(cells.adjacency().tolist())
    numbers = nx.greedy_color(graph, strategy="largest_first")
    return [numbers[index] for index in range(cells.num_regions)]


def _view(cells: PolyhedralComplex, dimensions: Sequence[int], box: BoxLike | None) -> View:
    """Return the view of a complex, whose dimension must be one of some."""
    cells = expect_complex(cells)
    if cells.dimension not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        raise DomainError(
            f"this picture needs a domain of dimension {wanted}, not {cells.dimension}; give a "
            "slice through points of "
            "it (--domain slice:FILE)"
        )
    return view_of(cells, box=box)
