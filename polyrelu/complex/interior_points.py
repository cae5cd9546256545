"""Points inside all regions, those of `regions.interior_point`, for many regions at a time.

A mean of vertices is rounded to few digits, and tried at the forms of the facets: in floats with a rigorous bound, for
all regions together, and exactly where floats leave a sign open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.affine_forms import certain_sign
from polyrelu.complex.region import DIGITS, float_bounds, interior_point
from polyrelu.exact import RationalMatrix, dot_sign
from polyrelu.support.typing import Floats, Indices, Point

if TYPE_CHECKING:
    from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex

__all__ = ["interior_points", "point_in"]


#: Regions at a time, so that Ctrl-C is heard.
_BLOCK = 1024


def point_in(cells: PolyhedralComplex, cell: Cell) -> tuple[Fraction, ...]:
    """The mean of the vertices plus the sum of the rays of a cell; for a region a point with few digits.

    Every vertex and every ray has a positive weight, so that the point lies on no smaller face.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 2]], [0, -1]), ([[1, 1]], [0])]))
    >>> {point_in(cells, cell): cells.locate(point_in(cells, cell)) == cell for cell in cells.cells(0)}
    {(Fraction(0, 1), Fraction(1, 2)): True}
    """
    if cell.dimension == cells.dimension:
        return interior_point(cells, cell.index)
    points, rays = cells.vertices_and_rays(cell)
    columns = list(zip(*points, strict=True))
    return tuple(
        sum(column, Fraction()) / len(points) + sum(ray[j] for ray in rays)
        for j, column in enumerate(columns)
    )


def interior_points(cells: PolyhedralComplex) -> Iterator[Point]:
    """The point inside each region, of an incomplete complex too.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])]))
    >>> all(cells.locate(point).index == index for index, point in enumerate(interior_points(cells)))
    True
    """
    for start in range(0, cells.regions, _BLOCK):
        indices = np.arange(start, min(start + _BLOCK, cells.regions))
        known = _rounded_points(cells, indices) if cells.frame.dimension else {}
        for index in indices.tolist():
            yield known[index] if index in known else interior_point(cells, index)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The facets of regions that are not at infinity: which region of the block, form, and its sign inside."""

    owners: Indices
    numbers: Indices
    inside: NDArray[np.int8]


@np.errstate(all="ignore")
def _rounded_points(cells: PolyhedralComplex, indices: Indices) -> dict[int, Point]:
    """The points that are means of vertices rounded to few digits, of those regions that have one."""
    means, sides = _means(cells, indices), _sides(cells, indices)
    found: dict[int, list[int]] = {}
    for digits in DIGITS:
        waiting = np.array([index not in found for index in indices.tolist()])
        q = np.column_stack([np.rint(means * 2.0**digits), np.full(len(means), 2.0**digits)])
        small = (
            waiting & (np.abs(means).max(axis=1) < 2.0**60) & (np.abs(q).max(axis=1) <= 2.0**53)
        )  # not NaN either
        for place in _inside(cells, sides, q, small).tolist():
            found[int(indices[place])] = [int(entry) for entry in q[place].tolist()]
    return _embedded(cells, found)


def _inside(
    cells: PolyhedralComplex, sides: _Sides, q: Floats, wanted: NDArray[np.bool_]
) -> Indices:
    """Which of the wanted regions have their points (y, t), exact floats, inside."""
    chosen = wanted[sides.owners]
    owners, numbers, inside = sides.owners[chosen], sides.numbers[chosen], sides.inside[chosen]
    rows, errors, points = (
        cells.table.rows.buffer[numbers],
        cells.table.errors.buffer[numbers],
        q[owners],
    )
    signs = certain_sign((rows * points).sum(axis=1), float_bounds(rows, errors, points)) * inside
    good = wanted.copy()
    good[owners[signs == -1]] = False
    for pair in np.flatnonzero((np.abs(signs) == 2) & good[owners]).tolist():
        point = [int(entry) for entry in points[pair].tolist()]
        if dot_sign(cells.table.exact_row(int(numbers[pair])), point) * int(inside[pair]) <= 0:
            good[owners[pair]] = False
    return np.flatnonzero(good)


def _means(cells: PolyhedralComplex, indices: Indices) -> Floats:
    """About the mean of the vertices plus the directions of each region, shape (regions, d)."""
    owners, numbers, size = np.arange(len(indices)), cells.inner[-1][indices], cells.lattice.size(0)
    for k in range(cells.frame.dimension, 0, -1):
        if k == 1:
            below, counts = cells.lattice.edges.rows[numbers].ravel(), np.full(len(numbers), 2)
        else:
            below, counts = cells.lattice.facets[k].gather(numbers)
        stride = max(size, cells.lattice.size(k - 1))
        owners, numbers = np.divmod(np.unique(np.repeat(owners, counts) * stride + below), stride)
    floats = cells.vertex_store.coordinates.buffer[numbers]
    points = floats[:, -1] != 0
    counts = np.bincount(owners[points], minlength=len(indices))

    def sums(part: NDArray[np.bool_]) -> Floats:
        columns = (
            np.bincount(owners[part], column[part], len(indices)) for column in floats[:, :-1].T
        )
        return np.stack(list(columns), axis=1)

    return np.asarray(sums(points) / counts[:, None] + sums(~points))


def _sides(cells: PolyhedralComplex, indices: Indices) -> _Sides:
    numbers = cells.inner[-1][indices]
    if cells.frame.dimension == 1:
        entries, counts = cells.lattice.edges.rows[numbers].ravel(), np.full(len(numbers), 2)
    else:
        entries, counts = cells.lattice.facets[cells.frame.dimension].gather(numbers)
    owners, forms = np.repeat(np.arange(len(indices)), counts), cells.facet_forms[entries]
    known, which = np.unique(forms, return_inverse=True)
    sources = [cells.table.source(number) for number in known.tolist()]
    columns = np.array(
        [-1 if layer == 0 else cells.neuron_positions[layer, i] for layer, i in sources]
    )[which.ravel()]
    finite = np.array([source != (0, -1) for source in sources])[which.ravel()]
    signs = cells.all_signs[cells.dimension][indices[owners], columns] if len(cells.neurons) else 1
    inside = np.where(columns < 0, 1, signs).astype(np.int8)
    return _Sides(owners[finite], forms[finite].astype(np.int64), inside[finite])


def _embedded(cells: PolyhedralComplex, points: dict[int, list[int]]) -> dict[int, Point]:
    """The points x of homogeneous coordinates (y, t), t > 0."""
    if not points:
        return {}
    columns = RationalMatrix.from_integers(list(points.values())).transpose()
    *x, t = (cells.frame.embedding @ columns).integer_rows()
    entries = zip(
        *([Fraction(a, b) for a, b in zip(row, t, strict=True)] for row in x), strict=True
    )
    return dict(zip(points, entries, strict=True))
