"""Graphs of an output: a broken line over one input, a folded surface over two.

Heights are exact values of the output's affine maps at the corners of clipped regions; they become
floats only in the canvas. A range of heights that floats would round too coarsely is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.breakpoints.network_maps import NetworkMaps
from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import DomainError
from polyrelu.exact import nearest_float
from polyrelu.plot.canvas import INK, Canvas, check_interval, layer_colour
from polyrelu.plot.clip import Clipped
from polyrelu.plot.view import BoxLike, view_of
from polyrelu.support.arguments import expect_integer
from polyrelu.support.display import count_text
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_graph", "draw_surface", "lifted_regions", "paint_graph", "paint_surface"]


def draw_graph(
    cells: PolyhedralComplex, *, ax: Axes | None = None, box: BoxLike | None = None, output: int = 0
) -> Axes:
    """Draw the graph of an output over a complex of dimension 1, with its breakpoints.

    Parameters
    ----------
    cells
        A complete complex of dimension 1.
    ax
        Plane Axes to draw on; by default Axes of a new figure.
    box
        The frame along the input, see `view_of`.
    output
        Index of the output.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The complex has another dimension, there is no such output, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1], [1]], [0, 0, 2]), ([[1, 1, 0]], [0])])
    >>> draw_graph(canonical_complex(net), box=[-3, 3]).get_title()
    'output 0: 2 pieces, 1 breakpoint\\nbox [-3, 3]'
    """
    _check(cells, 1, output)
    return paint_graph(Canvas(view_of(cells, box=box), ax), cells, output)


def draw_surface(
    cells: PolyhedralComplex, *, ax: Axes | None = None, box: BoxLike | None = None, output: int = 0
) -> Axes:
    """Draw the graph of an output over a complex of dimension 2, as a surface.

    Colours show the height.

    Parameters
    ----------
    cells
        A complete complex of dimension 2.
    ax
        Axes with `projection="3d"` to draw on; by default Axes of a new figure.
    box
        The frame along the two inputs, see `view_of`.
    output
        Index of the output.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The complex has another dimension, there is no such output, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1]], [0]), ([[1]], [0])])
    >>> draw_surface(canonical_complex(net)).get_title()
    'graph of output 0: 2 regions\\nbox [-1, 1] × [-1, 1]'
    """
    _check(cells, 2, output)
    return paint_surface(Canvas(view_of(cells, box=box), ax, space=True), cells, output)


def lifted_regions(cells: PolyhedralComplex, inside: Clipped, output: int) -> list[list[Point]]:
    """Return the graph of an output over the regions that meet the frame, exactly.

    The points of each region have the coordinates along the axes, followed by the value.
    """
    maps = NetworkMaps.of(cells, cells.network).rows(output)
    rows, denominator, found = maps.integers(), maps.denominator, []
    for index, points in inside.cells_in_box(cells.dimension, range(cells.num_regions)):
        row = rows[index].tolist()
        slopes, constant = [row[axis] for axis in inside.view.axes], row[-1]
        values = [
            sum((a * x for a, x in zip(slopes, point, strict=True)), Fraction(constant))
            / denominator
            for point in points
        ]
        found.append([(*point, value) for point, value in zip(points, values, strict=True)])
    return found


def paint_graph(canvas: Canvas, cells: PolyhedralComplex, output: int) -> Axes:
    """Draw the graph over one input on a canvas."""
    inside = Clipped.for_picture(cells, canvas.view, canvas.progress)
    pieces = lifted_regions(cells, inside, output)
    known = {point[:-1]: point for piece in pieces for point in piece}
    bends = []
    for facet in breakpoint_complex(cells):
        points = inside.cell(0, facet.facet.index)
        if points and facet.weight[output] and points[0] in known:
            bends.append(known[points[0]])
    values = _range(pieces)
    canvas.segments("regions", pieces, layer_colour(1), width=1.8)
    canvas.points("breakpoints", bends, INK, label="breakpoint", size=4.0)
    (low,), (high,) = canvas.view.lower, canvas.view.upper
    inner = sum(low < bend[0] < high for bend in bends)
    # Pieces of the function are counted, not regions: several regions can share a piece.
    title = count_text([(inner + 1, "piece"), (len(bends), "breakpoint")])
    canvas.ax.grid(visible=True, alpha=0.3)
    return canvas.finish(f"output {output}: {title}", values, f"output {output}")


def paint_surface(canvas: Canvas, cells: PolyhedralComplex, output: int) -> Axes:
    """Draw the graph over two inputs on a canvas."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    pieces = lifted_regions(cells, Clipped.for_picture(cells, canvas.view, canvas.progress), output)
    low, high = _range(pieces)
    heights = [float(np.mean([_float(point[-1]) for point in piece])) for piece in pieces]
    scale = ScalarMappable(Normalize(low, high if high > low else low + 1), colormaps["viridis"])
    colours = [tuple(row) for row in scale.to_rgba(np.array(heights)).tolist()]
    canvas.polygons("regions", pieces, colours, edge=INK, width=0.2, shaded=False)
    canvas.colour_bar(scale, f"output {output} (mean over the corners of a region)")
    title = f"graph of output {output}: {count_text([(len(pieces), 'region')])}"
    return canvas.finish(title, (low, high), f"output {output}")


def _range(pieces: Sequence[Sequence[Point]]) -> tuple[float, float]:
    """Return the least and the largest value; raise `DomainError` if they cannot be drawn."""
    values = [point[-1] for piece in pieces for point in piece]
    low, high = min(values), max(values)
    check_interval(
        "the range of the output in this box,",
        low,
        high,
        "give another box, or scale the last layer",
    )
    return _float(low), _float(high)


def _float(number: Fraction) -> float:
    """Return the float nearest to an exact number."""
    return nearest_float(number.numerator, number.denominator)


def _check(cells: PolyhedralComplex, dimension: int, output: int) -> None:
    """Raise `DomainError` if the dimension or the output does not fit, or cells are missing."""
    cells, output = expect_complex(cells), expect_integer(output, "output")
    require_complete(cells, "graphs")
    if cells.dimension != dimension:
        raise DomainError(
            f"this graph needs a domain of dimension {dimension}, not {cells.dimension}"
        )
    if not 0 <= output < cells.network.num_outputs:
        raise DomainError(f"there is no output {output}, only 0 to {cells.network.num_outputs - 1}")
