"""One picture of a network, by the name of what it shows.

The module joins the room for the command `polyrelu plot` and for users who want one call: it
computes what a picture needs, inside the frame only, and hands it to the painters. Everything that
can be refused is refused before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.breakpoints.hull import Hull
from polyrelu.complex import PolyhedralComplex, Subcomplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, Rational
from polyrelu.formats import DomainLike, NetworkLike, Slice, as_network, as_point
from polyrelu.network import Network
from polyrelu.plot.canvas import Canvas, check_view, new_figure, save_figure, svg_text
from polyrelu.plot.parts import (
    paint_cells,
    paint_layers,
    paint_zero_sets,
    zero_set,
    zero_sets_title,
)
from polyrelu.plot.sets import paint_boundary, paint_level_set
from polyrelu.plot.slices import SLICE_NAMES, on_axes, slice_or_domain
from polyrelu.plot.values import paint_graph, paint_surface
from polyrelu.plot.view import BoxLike, View, window
from polyrelu.plot.weights import paint_weights
from polyrelu.support.arguments import expect_function, expect_integer
from polyrelu.support.display import count_text, shortened
from polyrelu.support.progress import Progress
from polyrelu.topology import OutputSet, UnfinishedError, decision_boundary, level_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "KINDS",
    "Picture",
    "boundary_picture",
    "in_frame",
    "picture",
    "picture_of",
    "surface",
]

#: The kinds of pictures, with the dimensions in which there is such a picture.
KINDS = {
    "graph": (1,),
    "complex": (2,),
    "layers": (2, 3),
    "zeros": (2, 3),
    "weights": (2, 3),
    "boundary": (2, 3),
    "level": (2, 3),
    "surface": (2,),
}
_DEFAULT_KINDS = {1: "graph", 2: "layers", 3: "layers"}


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture, with counts of what it shows.

    Attributes
    ----------
    what
        One of `KINDS`.
    view
        The frame.
    figure
        The figure of matplotlib.
    counts
        The number of things that were drawn, by kind.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> drawn = picture(from_arrays([([[1, 1]], [0]), ([[1]], [0])]), what="complex")
    >>> drawn.what, drawn.counts, drawn.view.caption
    ('complex', {'regions': 2, 'edges': 1}, 'box [-1, 1] × [-1, 1]')
    """

    what: str
    view: View
    figure: Figure
    counts: dict[str, int]

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {count}" for name, count in self.counts.items() if count)
        return f"<Picture of {self.what}, {shortened(counts, 80)}>"

    def _repr_svg_(self) -> str:
        return svg_text(self.figure)

    def save(self, name: str | Path) -> Path:
        """Write the picture as .png, .svg or .pdf; see `save_figure`."""
        return save_figure(self.figure, name)


def picture(
    network: NetworkLike,
    domain: DomainLike | Slice = None,
    *,
    what: str | None = None,
    box: BoxLike | None = None,
    output: int = 0,
    level: Rational = 0,
    progress: Progress | None = None,
) -> Picture:
    """Compute what a picture needs, in the part of the domain inside its frame, and draw it.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; with more than three inputs it needs a slice as
        domain.
    domain
        A polyhedron or slice of dimension 1 to 3, or a text such as ``"box:-1,1"``; None for R^n.
        The axes are inputs, or the coordinates of a slice (see `polyrelu.formats.parse_slice`);
        the frame is in these.
    what
        What is shown: `graph` in 1 dimension; `complex` or `surface` in 2; `layers` (a panel for
        each), `zeros` (all layers in one), `weights` (breakpoint facets), `boundary` (between
        classes) or `level` in 2 or 3. By default `graph`, and
        `layers` in 2 and 3.
    box
        The frame, see `view_of`.
    output
        Index of an output, for graph, surface, weights and level.
    level
        The value of the output, for level.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, and after each cell that is
        drawn.

    Returns
    -------
    Picture
        The figure with its view and counts.

    Raises
    ------
    DomainError
        The dimension does not fit, there is no such output, or the frame shows nothing.
    UnfinishedError
        The computation was interrupted by Ctrl-C.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> picture(net, what="weights", box=[-2, 2]).counts
    {'invisible facets': 4, 'visible facets': 5}
    """
    network = as_network(network)
    _check(network, what, output)
    expect_function(progress, "progress")
    level = as_point([level], 1, "the level")[0]
    new_figure(1, 1)  # raises an error before any work if matplotlib is missing
    network, polyhedron, view = in_frame(network, slice_or_domain(domain, network.num_inputs), box)
    check_view(view)
    what = what or _DEFAULT_KINDS[view.dimension]
    if view.dimension not in KINDS[what]:
        fitting = ", ".join(
            name for name, dimensions in KINDS.items() if view.dimension in dimensions
        )
        raise DomainError(
            f"{what} is no picture of {view.dimension} dimensions; choose one of {fitting}"
        )
    if what == "boundary":
        return boundary_picture(
            decision_boundary(network, polyhedron, progress=progress),
            network.num_outputs,
            view,
            progress,
        )
    if what == "level":
        canvas = Canvas(view, progress=progress)
        name = f"level set: output {output} = {level}"
        part = level_set(network, level, polyhedron, output=output, progress=progress)
        paint_level_set(canvas, part, name)
        return Picture(what, view, canvas.ax.figure, dict(canvas.counts))
    cells = require_complete(canonical_complex(network, polyhedron, progress=progress))
    return picture_of(cells, what, view, output=output, progress=progress)


def boundary_picture(
    boundary: OutputSet, num_outputs: int, view: View, progress: Progress | None = None
) -> Picture:
    """Return the picture of a decision boundary in a view of its complex."""
    canvas = Canvas(view, progress=progress)
    paint_boundary(canvas, boundary, num_outputs)
    return Picture("boundary", view, canvas.ax.figure, dict(canvas.counts))


def picture_of(
    cells: PolyhedralComplex,
    what: str,
    view: View,
    *,
    output: int = 0,
    progress: Progress | None = None,
) -> Picture:
    """Return the picture of a complete complex, of a kind that shows all of its cells."""
    if what == "layers":
        figure, counts = paint_layers(cells, view, None, progress)
        return Picture(what, view, figure, counts)
    canvas = Canvas(view, space=True if what == "surface" else None, progress=progress)
    _PAINTERS[what](canvas, cells, output)
    return Picture(what, view, canvas.ax.figure, dict(canvas.counts))


def in_frame(
    network: Network, domain: Polyhedron | Slice, box: BoxLike | None
) -> tuple[Network, Polyhedron, View]:
    """Return network and domain in the coordinates of the axes, inside the box, and the view.

    Fewer inputs make everything that follows faster.
    """
    flat = on_axes(network, domain)
    # The box [-1, 2] contains all points of a slice, whose coordinates are 0 and 1.
    default = (-1, 2) if flat.axes[:1] == SLICE_NAMES[:1] else (-1, 1)
    polyhedron, view = window(flat.domain, box, default)
    return (
        flat.network,
        polyhedron,
        replace(view, num_inputs=network.num_inputs, names=flat.axes, linear=flat.linear),
    )


def surface(
    network: NetworkLike,
    domain: DomainLike | Slice = None,
    *,
    what: str,
    box: BoxLike | None = None,
    output: int = 0,
    level: Rational = 0,
    progress: Progress | None = None,
) -> Subcomplex:
    """Return the surface that `zeros`, `weights`, `boundary` or `level` show, for `save_mesh`.

    On a slice the surface lies in the space of its coordinates s, t, u.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; with more than three inputs it needs a slice as
        domain.
    domain
        A polyhedron or slice, or a text such as ``"box:-1,1"``; None for R^n.
    what
        One of `zeros`, `weights` (the facets across which the output bends), `boundary`, `level`.
    box
        The part of the domain that is taken, see `view_of`; by default the whole domain.
    output
        Index of an output, for weights and level.
    level
        The value of the output, for level.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    Subcomplex
        The surface, in a complex of the network on the domain.

    Raises
    ------
    DomainError
        There is no such surface or output, or the box shows nothing of the domain.
    UnfinishedError
        The computation was interrupted by Ctrl-C.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> surface(net, what="zeros", box=[-1, 1]).f_vector
    (19, 30, 12, 0)
    """
    network = as_network(network)
    _check(network, what, output)
    expect_function(progress, "progress")
    level = as_point([level], 1, "the level")[0]
    polyhedron = slice_or_domain(domain, network.num_inputs)
    if isinstance(polyhedron, Slice):
        network, polyhedron, _, _ = on_axes(network, polyhedron)
    if box is not None:
        polyhedron = window(polyhedron, box)[0]
    if what == "boundary":
        return decision_boundary(network, polyhedron, progress=progress)
    if what == "level":
        return level_set(network, level, polyhedron, output=output, progress=progress)
    if what not in ("zeros", "weights"):
        raise DomainError(f"{what} is no surface; choose one of zeros, weights, boundary, level")
    cells = require_complete(canonical_complex(network, polyhedron, progress=progress))
    if what == "weights":
        return breakpoint_complex(cells).bends_of(output)
    layers = range(1, network.num_hidden_layers + 1)
    return reduce(or_, (zero_set(cells, layer) for layer in layers), Subcomplex.closure(cells, {}))


def require_complete(cells: PolyhedralComplex) -> PolyhedralComplex:
    """Return the complex if it is complete; raise `UnfinishedError` otherwise."""
    if not cells.complete:
        raise UnfinishedError("the complex is incomplete: there is nothing to draw yet")
    return cells


def _check(network: Network, what: str | None, output: int) -> None:
    """Raise `DomainError` for an unknown kind of picture or output."""
    if what is not None and (not isinstance(what, str) or what not in KINDS):
        shown = str(what)[:40]
        raise DomainError(f"there is no picture {shown!r}; choose one of {', '.join(KINDS)}")
    if not 0 <= expect_integer(output, "output") < network.num_outputs:
        raise DomainError(
            f"there is no output {str(output)[:40]}, only 0 to {network.num_outputs - 1}"
        )


def _draw_complex(canvas: Canvas, cells: PolyhedralComplex, _: int) -> None:
    paint_cells(canvas, cells)
    canvas.finish(
        count_text([(canvas.counts["regions"], "region"), (canvas.counts["edges"], "edge")])
    )


def _draw_zeros(canvas: Canvas, cells: PolyhedralComplex, _: int) -> None:
    paint_zero_sets(canvas, cells)
    canvas.finish(zero_sets_title(canvas))


def _draw_weights(canvas: Canvas, cells: PolyhedralComplex, output: int) -> None:
    breakpoints, linear = breakpoint_complex(cells), canvas.view.linear
    if linear is not None:
        breakpoints = replace(breakpoints, hull=Hull.spanned_by(linear, in_its_coordinates=True))
    paint_weights(canvas, breakpoints, output)


def _draw_graph(canvas: Canvas, cells: PolyhedralComplex, output: int) -> None:
    paint_graph(canvas, cells, output)


def _draw_surface(canvas: Canvas, cells: PolyhedralComplex, output: int) -> None:
    paint_surface(canvas, cells, output)


_PAINTERS: dict[str, Callable[[Canvas, PolyhedralComplex, int], None]] = {
    "complex": _draw_complex,
    "zeros": _draw_zeros,
    "weights": _draw_weights,
    "graph": _draw_graph,
    "surface": _draw_surface,
}
