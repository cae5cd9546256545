"""Piece-wise linear surfaces by the orders of their pieces, and their dependency graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrelu.complex import Subcomplex
from polyrelu.foldsets import PiecewiseLinearSurface, dependency_graph
from polyrelu.foldsets.dependency import Edges
from polyrelu.foldsets.surfaces import expect_surface
from polyrelu.plot.canvas import INK, Canvas, layer_colour, new_figure
from polyrelu.plot.parts import paint_part
from polyrelu.plot.view import BoxLike, view_of
from polyrelu.support.display import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_dependency_graph", "draw_pieces"]


def draw_pieces(
    surface: PiecewiseLinearSurface, *, ax: Axes | None = None, box: BoxLike | None = None
) -> Axes:
    """Draw the pieces of a surface in the colours of their orders.

    Parameters
    ----------
    surface
        A surface in canonical form, in a complex of dimension 2 or 3.
    ax
        Axes to draw on; by default Axes of a new figure.
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
    >>> from polyrelu.foldsets import canonical_surface, unit_fold_sets
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> surface = canonical_surface(unit_fold_sets(canonical_complex(net)))
    >>> draw_pieces(surface, box=[-2, 2]).get_title()
    '5 pieces of orders 1 to 2\\nbox [-2, 2] × [-2, 2]'
    """
    surface = expect_surface(surface)
    canvas = Canvas(view_of(surface.cells, box=box), ax)
    drawn = Subcomplex.closure(surface.cells, {})
    for order in range(1, surface.order + 1):
        part = surface.box(order)
        paint_part(canvas, part, layer_colour(order), f"order {order}", without=drawn)
        drawn = part
    pieces = count_text([(len(surface), "piece")])
    return canvas.finish(f"{pieces} of orders 1 to {surface.order}")


def draw_dependency_graph(
    surface: PiecewiseLinearSurface, *, edges: Edges = "meeting", ax: Axes | None = None
) -> Axes:
    """Draw the dependency graph of a surface, a row for each order.

    Parameters
    ----------
    surface
        A surface in canonical form, of any dimension.
    edges
        The version of an edge, see `dependency_graph`.
    ax
        Axes to draw on; by default Axes of a new figure.

    Returns
    -------
    Axes
        The Axes with the picture. Vertices have the numbers of the pieces, and the colours of their
        orders.

    Raises
    ------
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.foldsets import canonical_surface, unit_fold_sets
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> surface = canonical_surface(unit_fold_sets(canonical_complex(net)))
    >>> draw_dependency_graph(surface).get_title()
    '5 pieces, 4 edges'
    """
    surface = expect_surface(surface)
    graph = dependency_graph(surface, edges=edges)
    ax = new_figure().add_subplot() if ax is None else ax
    rows: dict[int, list[int]] = {}
    for number, piece in enumerate(surface.pieces):
        rows.setdefault(piece.order, []).append(number)
    places = {
        number: ((2 * column + 1) / (2 * len(row)), -order)
        for order, row in rows.items()
        for column, number in enumerate(row)
    }
    arrow = {"arrowstyle": "-|>", "color": INK, "shrinkA": 11, "shrinkB": 11}
    for one, other in graph.edges:
        ax.annotate("", places[other], places[one], arrowprops=arrow)
    for number, (x, y) in places.items():
        colour = layer_colour(surface.pieces[number].order)
        ax.plot([x], [y], "o", color=colour, markersize=20)
        ax.annotate(str(number), (x, y), ha="center", va="center", color="white")
    ax.set_xlim(0, 1)
    ax.set_ylim(-surface.order - 0.5, -0.5)
    ax.set_yticks(range(-surface.order, 0), [f"order {-y}" for y in range(-surface.order, 0)])
    ax.set_xticks([])
    counts = [(len(surface), "piece"), (graph.number_of_edges(), "edge")]
    ax.set_title(count_text(counts), fontsize=10)
    return ax
