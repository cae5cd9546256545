"""Breakpoint facets, coloured by their tropical weights.

A weight ω belongs to the primitive integer normal n of its facet, whose length says nothing about
the function. So weights of different facets are compared, and drawn, as ω·‖n‖: this is the signed
length of the jump of the gradient, that is the weight for the normal of length 1. The output is
convex across the facet where it is positive. On a slice the lengths are measured along the slice
in the space of all inputs, whatever the axes are.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from polyrelu.breakpoints import BreakpointComplex, TropicalWeight
from polyrelu.breakpoints.tropical_weights import expect_breakpoints
from polyrelu.errors import DomainError
from polyrelu.exact import nearest_float
from polyrelu.plot.canvas import GREY, HERE, INK, Canvas, check_interval
from polyrelu.plot.clip import Clipped
from polyrelu.plot.parts import paint_domain
from polyrelu.plot.view import BoxLike, view_of
from polyrelu.support.arguments import expect_integer
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_weights", "paint_weights", "unit_weight"]


#: The quantile of the sizes of weights where colours end, if the largest one is more than twice it.
_QUANTILE = 0.95


def draw_weights(
    breakpoints: BreakpointComplex,
    *,
    ax: Axes | None = None,
    box: BoxLike | None = None,
    output: int = 0,
) -> Axes:
    """Draw breakpoint facets: red where the output is convex across them, blue where concave.

    Parameters
    ----------
    breakpoints
        The breakpoint complex of a complex of dimension 2 or 3. Facets across which this output
        does not bend are dashed and grey.
    ax
        Axes to draw on, in space with `projection="3d"`; by default Axes of a new figure.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.
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
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[3, -1]], [0])])
    >>> draw_weights(breakpoint_complex(canonical_complex(net))).get_title()
    'tropical weights of output 0: 4 of 4 facets visible\\nbox [-1, 1] × [-1, 1]'
    """
    breakpoints = expect_breakpoints(breakpoints)
    if breakpoints.cells.dimension not in (2, 3):
        raise DomainError(
            f"weights are drawn in dimension 2 or 3, not {breakpoints.cells.dimension}"
        )
    canvas = Canvas(view_of(breakpoints.cells, box=box), ax)
    return paint_weights(canvas, breakpoints, output)


def unit_weight(facet: TropicalWeight, output: int) -> float:
    """Return ω·‖n‖ of an output, to float precision; on a slice ‖n‖ is measured along it.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[3, 4]], [1]), ([[-2]], [0])])
    >>> (facet,) = breakpoint_complex(canonical_complex(net))
    >>> unit_weight(facet, 0)
    -10.0
    """
    weight = facet.weight[output]
    square = weight * weight * facet.squared_norm
    # The square may be beyond the range of floats, so an integer root of a multiple is taken.
    root = math.isqrt((square.numerator << 256) // square.denominator)
    size = nearest_float(root, 1 << 128)
    return size if weight > 0 else -size


def paint_weights(canvas: Canvas, breakpoints: BreakpointComplex, output: int) -> Axes:
    """Draw the breakpoint facets of an output on a canvas."""
    output = expect_integer(output, "output")
    if not 0 <= output < breakpoints.weights.shape[1]:
        raise DomainError(
            f"there is no output {output}, only 0 to {breakpoints.weights.shape[1] - 1}"
        )
    inside = Clipped.for_picture(breakpoints.cells, canvas.view, canvas.progress)
    visible: list[list[Point]] = []
    invisible: list[list[Point]] = []
    weights = []
    for facet in inside.reported(breakpoints):
        points = inside.cell(facet.facet.dimension, facet.facet.index)
        if points and facet.weight[output]:
            visible.append(points)
            weights.append(unit_weight(facet, output))
        elif points:
            invisible.append(points)
    _paint_invisible(canvas, invisible)
    if visible:
        _paint_visible(canvas, visible, weights, output)
    else:
        canvas.note(f"output {output} has no breakpoints {HERE}")
    paint_domain(canvas, breakpoints.cells)
    title = (
        f"tropical weights of output {output}: "
        f"{len(visible)} of {len(visible) + len(invisible)} facets visible"
    )
    return canvas.finish(title)


def _paint_invisible(canvas: Canvas, facets: list[list[Point]]) -> None:
    """Draw the facets across which the output does not bend."""
    label = "invisible (weight 0)"
    if canvas.space:
        canvas.polygons(
            "invisible facets", facets, "#d9d9d9", GREY, alpha=0.12, label=label, dashed=True
        )
    else:
        canvas.segments(
            "invisible facets", facets, GREY, width=0.9, dashed=True, label=label, order=1.8
        )


def _paint_visible(
    canvas: Canvas, facets: list[list[Point]], weights: list[float], output: int
) -> None:
    """Draw the facets across which the output bends, coloured by their weights."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import CenteredNorm

    largest = float(np.abs(weights).max())
    remedy = "scale the last layer (complex --breakpoints FILE writes them exactly)"
    check_interval(
        f"the scale of the weights of output {output},",
        Fraction(-largest),
        Fraction(largest),
        remedy,
    )
    usual = float(np.quantile(np.abs(weights), _QUANTILE))
    limit = usual if 0 < usual < largest / 2 else largest
    scale = ScalarMappable(CenteredNorm(0.0, limit), _diverging_map(colormaps))
    # The largest weights are drawn last, in front.
    order = sorted(range(len(weights)), key=lambda place: abs(weights[place]))
    facets = [facets[place] for place in order]
    colours = [
        tuple(row) for row in scale.to_rgba(np.array([weights[place] for place in order])).tolist()
    ]
    if canvas.space:
        canvas.polygons(
            "visible facets", facets, colours, INK, width=0.25, alpha=0.85, shaded=False
        )
    else:
        canvas.segments("visible facets", facets, colours, width=1.8)
    label = f"weight ω·‖n‖ of output {output} (concave < 0 < convex)"
    canvas.colour_bar(scale, label, "both" if limit < largest else "neither")


def _diverging_map(colormaps: Any) -> Any:
    """Return matplotlib's colour map from blue to red."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = colormaps["coolwarm"]
    return LinearSegmentedColormap.from_list("weights", colours(np.linspace(0, 1, 256)))
