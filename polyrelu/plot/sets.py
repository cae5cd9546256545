"""Decision boundaries with the classes around them, and level sets with both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import Subcomplex
from polyrelu.errors import DomainError
from polyrelu.plot.canvas import INK, Canvas
from polyrelu.plot.clip import Clipped
from polyrelu.plot.parts import fringe, paint_part
from polyrelu.plot.view import Box, view_of
from polyrelu.topology import OutputSet
from polyrelu.topology.level_sets import largest_outputs, pair_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["classes_of", "draw_boundary", "draw_level_set", "paint_boundary", "paint_level_set"]

_CLASSES = (
    "#9ecae1", "#fdbf85", "#a5d6a7", "#c994c7", "#f7e08b", "#5aa9a3", "#f08a8a", "#b3956b", "#8c8cd1", "#dce8a4",
)  # fmt: skip
_BELOW, _ABOVE, _SURFACE = "#dbe9f6", "#fde3cf", "#e69f00"
#: The label where several outputs are the largest.
TIE = -1


def draw_boundary(
    boundary: OutputSet, outputs: int, ax: Axes | None = None, box: Box | None = None
) -> Axes:
    """A decision boundary; in the plane also the regions of the classes.

    Parameters
    ----------
    boundary : of `polyrelu.topology.decision_boundary`, on a domain of dimension 2 or 3.
    outputs : how many outputs the network has. Of a single one the classes are its signs.
    ax, box : as for `draw_subcomplex`.

    Raises
    ------
    DomainError : another dimension, a number of outputs that does not fit, or no decision boundary at all.
    PolyreluError : matplotlib is not installed.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import decision_boundary
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> draw_boundary(decision_boundary(net), 3).get_title()
    'decision boundary: 3 edges\\nbox [-1, 1] × [-1, 1]'
    """
    return paint_boundary(_canvas(boundary, ax, box), boundary, outputs)


def draw_level_set(
    part: OutputSet, ax: Axes | None = None, box: Box | None = None, name: str = "level set"
) -> Axes:
    """A level set; in the plane also where the output is below and above the level.

    Parameters
    ----------
    part : of `polyrelu.topology.level_set`, on a domain of dimension 2 or 3.
    ax, box : as for `draw_subcomplex`.
    name : for the title.

    Raises
    ------
    As `draw_boundary`.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import level_set
    >>> size = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [0])])    # |x| + |y|
    >>> [draw_level_set(level_set(size, level)).get_title().splitlines()[0] for level in (1, 0)]
    ['level set: 4 edges', 'level set: 1 point']
    """
    return paint_level_set(_canvas(part, ax, box), part, name)


def classes_of(boundary: OutputSet, outputs: int) -> NDArray[np.int64]:
    """The class of every region of the complex of a decision boundary: the largest output, -1 where there are several.

    Of a single output f the classes are 0 for f < 0 and 1 for f > 0.

    Raises
    ------
    DomainError : it is no decision boundary of a network with so many outputs.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import decision_boundary
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> sorted(set(classes_of(decision_boundary(net), 3).tolist()))
    [0, 1, 2]
    """
    wanted = (tuple(map(tuple, pair_rows(outputs))), "level" if outputs == 1 else "boundary")
    if (
        not isinstance(boundary, OutputSet)
        or (boundary.rows, boundary.kind) != wanted
        or any(boundary.levels)
    ):
        raise DomainError(f"this is not the decision boundary of a network with {outputs} outputs")
    largest = largest_outputs(_signs(boundary), outputs)
    found: NDArray[np.int64] = np.where(largest.sum(axis=1) == 1, largest.argmax(axis=1), TIE)
    return found


def paint_boundary(canvas: Canvas, boundary: OutputSet, outputs: int) -> Axes:
    """Room-internal: the picture on a canvas."""
    labels = classes_of(boundary, outputs)
    present = sorted(set(labels.tolist()) - {TIE})
    names = {
        label: f"class {label}" if outputs > 1 else ("f < 0", "f > 0")[label] for label in present
    }
    colours = {label: _CLASSES[label % len(_CLASSES)] for label in present}
    names[TIE], colours[TIE] = "tie" if outputs > 1 else "f = 0", "#bdbdbd"
    _paint(canvas, boundary, labels, TIE, names, colours)
    if _nothing(canvas):
        only = f" (class {present[0]} everywhere)" if outputs > 1 and len(present) == 1 else ""
        canvas.note(f"no decision boundary in this box{only}")
    elif _everything(canvas):
        canvas.note("the whole box is a tie" if outputs > 1 else "f = 0 in the whole box")
    return canvas.finish(f"decision boundary: {canvas.tally()}")


def paint_level_set(canvas: Canvas, part: OutputSet, name: str) -> Axes:
    """Room-internal: the picture on a canvas."""
    if not isinstance(part, OutputSet) or part.kind != "level":
        raise DomainError(
            "this is no level set: polyrelu.topology.level_set makes them, and draw_subcomplex shows other sets"
        )
    signs = _signs(part)[:, 0].astype(np.int64)
    names, colours = {-1: "below", 0: "equal", 1: "above"}, {-1: _BELOW, 0: "#bdbdbd", 1: _ABOVE}
    _paint(canvas, part, signs, 0, names, colours)
    if _nothing(canvas):
        canvas.note("the output does not cross this level in this box")
    elif _everything(canvas):
        canvas.note("the output has this value in the whole box")
    return canvas.finish(f"{name}: {canvas.tally()}")


def _nothing(canvas: Canvas) -> bool:
    """Whether nothing of the set was drawn."""
    return not any(canvas.counts[kind] for kind in canvas.kinds)


def _everything(canvas: Canvas) -> bool:
    """Whether the whole box belongs to the set: it contains something open, and its surface is not seen."""
    if canvas.space:
        return bool(canvas.counts["solids"]) and not canvas.counts["facets"]
    return not canvas.counts["regions around"]


def _signs(part: OutputSet) -> NDArray[np.int8]:
    """The signs of T f - c on all regions."""
    return part.cells.signs(part.cells.dimension)[:, -len(part.rows) :]


def _paint(
    canvas: Canvas,
    part: OutputSet,
    labels: NDArray[np.int64],
    own: int,
    names: dict[int, str],
    colours: dict[int, str],
) -> None:
    """The set; in the plane also the regions by their labels, `own` being that of the regions of the set."""
    if canvas.space:
        paint_part(canvas, part, _SURFACE, "")
        return
    inside = Clipped.for_picture(part.cells, canvas.view)
    for label in sorted(set(labels.tolist())):
        polygons = [
            points for _, points in inside.all_cells(2, np.flatnonzero(labels == label).tolist())
        ]
        kind = "regions" if label == own else "regions around"
        canvas.polygons(
            kind, polygons, colours[label], edge=colours[label], width=0.3, label=names[label]
        )
    paint_part(canvas, fringe(part), INK, "")


def _canvas(part: Subcomplex, ax: Axes | None, box: Box | None) -> Canvas:
    if part.cells.dimension not in (2, 3):
        raise DomainError(
            f"this picture needs a domain of dimension 2 or 3, not {part.cells.dimension}"
        )
    return Canvas(view_of(part.cells, box), ax)
