"""Decision boundaries with the classes around them, and level sets with both sides.

Both are `OutputSet`s of the room topology: subcomplexes of a complex that is refined by the rows
T f - c whose zeros cut out the set. In the plane the regions around the set are filled by the signs
of these rows, which tell the classes, or the two sides of a level; in space only the set is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import Subcomplex
from polyrelu.complex.subcomplex import expect_subcomplex
from polyrelu.errors import DomainError
from polyrelu.plot.canvas import HERE, INK, Canvas
from polyrelu.plot.clip import Clipped
from polyrelu.plot.parts import boundary_in_domain, paint_part
from polyrelu.plot.view import BoxLike, view_of
from polyrelu.support.arguments import expect, expect_count
from polyrelu.topology import OutputSet
from polyrelu.topology.level_sets import largest_outputs, pair_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["classes_of", "draw_boundary", "draw_level_set", "paint_boundary", "paint_level_set"]

_CLASSES = (
    "#9ecae1",
    "#fdbf85",
    "#a5d6a7",
    "#c994c7",
    "#f7e08b",
    "#5aa9a3",
    "#f08a8a",
    "#b3956b",
    "#8c8cd1",
    "#dce8a4",
)
_BELOW, _ABOVE, _SURFACE = "#dbe9f6", "#fde3cf", "#e69f00"
#: The label of regions on which several outputs are the largest.
TIE = -1


def draw_boundary(
    boundary: OutputSet, outputs: int, *, ax: Axes | None = None, box: BoxLike | None = None
) -> Axes:
    """Draw a decision boundary; in the plane also the regions of the classes.

    Parameters
    ----------
    boundary
        The result of `polyrelu.topology.decision_boundary` on a domain of dimension 2 or 3.
    outputs
        The number of outputs of the network. With a single output the classes are its signs.
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
        The set is no decision boundary of a network with this number of outputs, the domain has
        another dimension, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import decision_boundary
    >>> net = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])
    >>> draw_boundary(decision_boundary(net), 3).get_title()
    'decision boundary: 3 edges\\nbox [-1, 1] × [-1, 1]'
    """
    outputs = expect_count(outputs, "outputs", 1)
    return paint_boundary(_canvas(boundary, "boundary", ax, box), boundary, outputs)


def draw_level_set(
    part: OutputSet, *, ax: Axes | None = None, box: BoxLike | None = None, name: str = "level set"
) -> Axes:
    """Draw a level set; in the plane also where the output is below and above the level.

    Parameters
    ----------
    part
        The result of `polyrelu.topology.level_set` on a domain of dimension 2 or 3.
    ax
        Axes to draw on, in space with `projection="3d"`; by default Axes of a new figure.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.
    name
        The name of the set in the title.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The set is no level set, the domain has another dimension, or the box is invalid.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import level_set
    >>> norm = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [0])])
    >>> axes = [draw_level_set(level_set(norm, level)) for level in (1, 0)]  # of |x| + |y|
    >>> [ax.get_title().splitlines()[0] for ax in axes]
    ['level set: 4 edges', 'level set: 1 point']
    """
    name = expect(name, str, "name")
    return paint_level_set(_canvas(part, "part", ax, box), part, name)


def classes_of(boundary: OutputSet, outputs: int) -> NDArray[np.int64]:
    """Return the class of every region of the complex of a decision boundary.

    The class is the index of the largest output, and -1 where several outputs are the largest. With
    a single output f the classes are 0 for f < 0 and 1 for f > 0.

    Raises
    ------
    DomainError
        The set is no decision boundary of a network with this number of outputs.

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
    """Draw a decision boundary on a canvas."""
    labels = classes_of(boundary, outputs)
    present = sorted(set(labels.tolist()) - {TIE})
    names = {
        label: f"class {label}" if outputs > 1 else ("f < 0", "f > 0")[label] for label in present
    }
    colours = {label: _CLASSES[label % len(_CLASSES)] for label in present}
    names[TIE], colours[TIE] = "tie" if outputs > 1 else "f = 0", "#bdbdbd"
    _paint_set(canvas, boundary, labels, TIE, names, colours)
    if _is_empty(canvas):
        only = f":\nclass {present[0]} on all of it" if outputs > 1 and len(present) == 1 else ""
        canvas.note(f"no decision boundary {HERE}{only}")
    elif _fills_box(canvas):
        canvas.note(
            "the whole domain shown is a tie" if outputs > 1 else "f = 0 in the whole domain shown"
        )
    return canvas.finish(f"decision boundary: {canvas.tally()}")


def paint_level_set(canvas: Canvas, part: OutputSet, name: str) -> Axes:
    """Draw a level set on a canvas."""
    if not isinstance(part, OutputSet) or part.kind != "level":
        raise DomainError(
            "this is no level set: polyrelu.topology.level_set makes them, and "
            "draw_subcomplex shows other sets"
        )
    signs = _signs(part)[:, 0].astype(np.int64)
    names, colours = {-1: "below", 0: "equal", 1: "above"}, {-1: _BELOW, 0: "#bdbdbd", 1: _ABOVE}
    _paint_set(canvas, part, signs, 0, names, colours)
    if _is_empty(canvas):
        canvas.note(f"the output does not cross this level {HERE}")
    elif _fills_box(canvas):
        canvas.note("the output has this value in the whole domain shown")
    return canvas.finish(f"{name}: {canvas.tally()}")


def _is_empty(canvas: Canvas) -> bool:
    """Return whether no cell of the set was drawn."""
    return not any(canvas.counts[kind] for kind in canvas.kinds)


def _fills_box(canvas: Canvas) -> bool:
    """Return whether the set contains the whole box.

    In space it does if regions of it meet the box and no surface of it was drawn.
    """
    if canvas.space:
        return bool(canvas.counts["solids"]) and not canvas.counts["facets"]
    return not canvas.counts["regions around"]


def _signs(part: OutputSet) -> NDArray[np.int8]:
    """Return the signs of T f - c on all regions."""
    return part.cells.signs(part.cells.dimension)[:, -len(part.rows) :]


def _paint_set(
    canvas: Canvas,
    part: OutputSet,
    labels: NDArray[np.int64],
    own: int,
    names: dict[int, str],
    colours: dict[int, str],
) -> None:
    """Draw the set; in the plane also the regions, coloured by their labels.

    `own` is the label of the regions that belong to the set.
    """
    if canvas.space:
        paint_part(canvas, part, _SURFACE, "")
        return
    inside = Clipped.for_picture(part.cells, canvas.view, canvas.progress)
    for label in sorted(set(labels.tolist())):
        polygons = [
            points for _, points in inside.cells_in_box(2, np.flatnonzero(labels == label).tolist())
        ]
        kind = "regions" if label == own else "regions around"
        canvas.polygons(
            kind, polygons, colours[label], edge=colours[label], width=0.3, label=names[label]
        )
    paint_part(canvas, boundary_in_domain(part), INK, "")


def _canvas(part: Subcomplex, name: str, ax: Axes | None, box: BoxLike | None) -> Canvas:
    """Return a canvas for a set on a domain of dimension 2 or 3."""
    part = expect_subcomplex(part, name)
    if part.cells.dimension not in (2, 3):
        raise DomainError(
            f"this picture needs a domain of dimension 2 or 3, not {part.cells.dimension}"
        )
    return Canvas(view_of(part.cells, box=box), ax)
