"""Decision boundaries with the classes around them, and level sets with both sides."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import Subcomplex
from polyrelu.complex.subcomplex import marked_facets
from polyrelu.errors import DomainError
from polyrelu.plot.canvas import INK, Canvas, plural
from polyrelu.plot.clip import Clipped
from polyrelu.plot.parts import maximal, paint_part
from polyrelu.plot.view import Box, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["classes_of", "draw_boundary", "draw_level_set", "fringe", "paint_boundary", "paint_level_set"]

_CLASSES = (
    "#9ecae1", "#fdbf85", "#a5d6a7", "#c994c7", "#f7e08b", "#5aa9a3", "#f08a8a", "#b3956b", "#8c8cd1", "#dce8a4",
)  # fmt: skip
_BELOW, _ABOVE, _SURFACE = "#dbe9f6", "#fde3cf", "#e69f00"
#: The label where several outputs are the largest.
TIE = -1


def draw_boundary(boundary: Subcomplex, outputs: int, ax: Axes | None = None, box: Box | None = None) -> Axes:
    """A decision boundary; in the plane also the regions of the classes.

    Parameters
    ----------
    boundary : of `polyrelu.topology.decision_boundary`, on a domain of dimension 2 or 3.
    outputs : how many outputs the network has. Of a single one the classes are its signs.
    ax, box : as for `draw_subcomplex`.

    Raises
    ------
    DomainError : another dimension, or a number of outputs that does not fit.
    PolyreluError : matplotlib is not installed.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import decision_boundary
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> draw_boundary(decision_boundary(net), 3).get_title()
    'decision boundary: 3 edges\\nbox [-1, 1] × [-1, 1]'
    """
    return paint_boundary(_canvas(boundary, ax, box), boundary, outputs)


def draw_level_set(part: Subcomplex, ax: Axes | None = None, box: Box | None = None, name: str = "level set") -> Axes:
    """A level set; in the plane also where the output is below and above the level.

    Parameters
    ----------
    part : of `polyrelu.topology.level_set`, on a domain of dimension 2 or 3.
    ax, box : as for `draw_subcomplex`.
    name : for the title.

    Raises
    ------
    As `draw_boundary`.
    """
    return paint_level_set(_canvas(part, ax, box), part, name)


def classes_of(boundary: Subcomplex, outputs: int) -> NDArray[np.int64]:
    """The class of every region of the complex of a decision boundary: the largest output, -1 where there are several.

    The last neurons of this complex are the differences of the outputs, f_i - f_j for i < j; of a single output f they
    are f, and the classes are 0 for f < 0 and 1 for f > 0.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import decision_boundary
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> sorted(set(classes_of(decision_boundary(net), 3).tolist()))
    [0, 1, 2]
    """
    pairs = list(combinations(range(outputs), 2)) or [(1, 0)]
    cells = boundary.cells
    if cells.network.outputs != len(pairs):
        raise DomainError(f"this is not the decision boundary of a network with {outputs} outputs")
    signs = cells.all_signs[cells.dimension][:, -len(pairs) :]
    largest = np.ones((len(signs), max(outputs, 2)), dtype=bool)
    for column, (i, j) in enumerate(pairs):
        largest[:, i] &= signs[:, column] >= 0
        largest[:, j] &= signs[:, column] <= 0
    found: NDArray[np.int64] = np.where(largest.sum(axis=1) == 1, largest.argmax(axis=1), TIE)
    return found


def paint_boundary(canvas: Canvas, boundary: Subcomplex, outputs: int) -> Axes:
    """Room-internal: the picture on a canvas."""
    labels = classes_of(boundary, outputs)
    present = sorted(set(labels.tolist()) - {TIE})
    if canvas.space:
        paint_part(canvas, boundary, _SURFACE, "decision boundary")
    else:
        names = {label: f"class {label}" if outputs > 1 else ("f < 0", "f > 0")[label] for label in present}
        colours = {label: _CLASSES[label % len(_CLASSES)] for label in present}
        names[TIE], colours[TIE] = "tie" if outputs > 1 else "f = 0", "#d0d0d0"
        _paint_regions(canvas, boundary, labels, names, colours)
        paint_part(canvas, fringe(boundary), INK, "")
    found = canvas.counts["facets" if canvas.space else "edges"]
    if not found:
        only = f" (class {present[0]} everywhere)" if outputs > 1 and len(present) == 1 else ""
        canvas.note(f"no decision boundary in this box{only}")
    noun = "facet" if canvas.space else "edge"
    return canvas.finish(f"decision boundary: {plural([(found, noun)])}")


def paint_level_set(canvas: Canvas, part: Subcomplex, name: str) -> Axes:
    """Room-internal: the picture on a canvas."""
    if canvas.space:
        paint_part(canvas, part, _SURFACE, "")
    else:
        signs = part.cells.all_signs[part.cells.dimension][:, -1].astype(np.int64)
        names, colours = {-1: "below", 0: "equal", 1: "above"}, {-1: _BELOW, 0: "#bdbdbd", 1: _ABOVE}
        _paint_regions(canvas, part, signs, names, colours)
        paint_part(canvas, fringe(part), INK, "")
    found = canvas.counts["facets" if canvas.space else "edges"]
    if not found and not canvas.counts["points"]:
        canvas.note("the output does not cross this level in this box")
    noun = "facet" if canvas.space else "edge"
    return canvas.finish(f"{name}: {plural([(found, noun)])}")


def _paint_regions(
    canvas: Canvas, part: Subcomplex, labels: NDArray[np.int64], names: dict[int, str], colours: dict[int, str]
) -> None:
    """The regions of the complex of a subcomplex, by their labels."""
    inside = Clipped.for_picture(part.cells, canvas.view)
    for label in sorted(set(labels.tolist())):
        polygons = [points for _, points in inside.all_cells(2, np.flatnonzero(labels == label).tolist())]
        canvas.polygons("regions", polygons, colours[label], edge=colours[label], width=0.3, label=names[label])


def fringe(part: Subcomplex) -> Subcomplex:
    """The cells of lower dimension, without those inside open regions that belong to the set.

    >>> import numpy as np
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import level_set
    >>> corner = level_set(from_arrays([([[1, 0], [0, 1], [1, 2]], [0, 0, 1]), ([[1, 1, 0]], [0])]), 0)    # x, y ≤ 0
    >>> corner.f_vector, fringe(corner).f_vector
    ((3, 5, 2), (3, 4, 0))
    """
    cells, top = part.cells, part.cells.dimension
    beside = part.masks[top - 1] & marked_facets(cells, top, ~part.masks[top])
    found = Subcomplex.closure(cells, {top - 1: beside})
    lower = [np.zeros_like(mask) for mask in part.masks]
    for k in range(cells.lineality_dim, top - 1):
        lower[k][maximal(part, k)] = True
    return found | Subcomplex.closure(cells, dict(enumerate(lower)))


def _canvas(part: Subcomplex, ax: Axes | None, box: Box | None) -> Canvas:
    if part.cells.dimension not in (2, 3):
        raise DomainError(f"this picture needs a domain of dimension 2 or 3, not {part.cells.dimension}")
    return Canvas(view_of(part.cells, box), ax)
