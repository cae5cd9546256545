"""Points in the relative interiors of cells: of one cell, and of all regions at once.

`interior_points` returns the same points as `PolyhedralComplex.interior_point`, but treats a block
of regions with a few array operations: the mean of the generators of each region is rounded to few
binary digits and compared with the forms of the facets, in floats with a rigorous bound and exactly
where floats leave a sign open. Regions for which no rounded point is found, and points with large
coordinates, are left to the method for one region.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.complex.cell import Cell
from polyrelu.complex.engine.affine_forms import signs_of_values
from polyrelu.complex.engine.cells import CellArrays
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.complex.region import BINARY_DIGITS, float_bounds
from polyrelu.exact import UNDECIDED, RationalMatrix, dot_sign
from polyrelu.support.arguments import expect
from polyrelu.support.arrays import sorted_distinct
from polyrelu.support.typing import Floats, Indices, Mask, Point, Signs

__all__ = ["interior_points", "point_in"]


#: Number of regions per block; between blocks Ctrl-C takes effect.
_REGIONS_PER_BLOCK = 1024


def point_in(cells: PolyhedralComplex, cell: Cell) -> tuple[Fraction, ...]:
    """Return a point in the relative interior of a cell.

    Parameters
    ----------
    cells
        A complex, an incomplete one too.
    cell
        One of its cells.

    Returns
    -------
    tuple of Fraction
        For a region a point with few binary digits where possible. For other cells the mean of the
        vertices plus the sum of the ray directions; as every generator has a positive weight, this
        point lies on no proper face.

    Raises
    ------
    DomainError
        The complex has no such cell.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 2]], [0, -1]), ([[1, 1]], [0])]))
    >>> point = point_in(cells, Cell(0, 0))
    >>> point, cells.locate(point)
    ((Fraction(0, 1), Fraction(1, 2)), Cell(dimension=0, index=0))
    """
    cells, cell = expect_complex(cells), expect(cell, Cell, "cell")
    if cell.dimension == cells.dimension:
        return cells.interior_point(cell.index)
    points, rays = cells.vertices_and_rays(cell)
    columns = list(zip(*points, strict=True))
    return tuple(
        sum(column, Fraction()) / len(points) + sum(ray[j] for ray in rays)
        for j, column in enumerate(columns)
    )


def interior_points(cells: PolyhedralComplex) -> Iterator[Point]:
    """Yield the interior point of each region in order, of an incomplete complex too.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> cells = canonical_complex(net)
    >>> all(cells.locate(point).index == i for i, point in enumerate(interior_points(cells)))
    True
    """
    arrays = cells._arrays
    for start in range(0, cells.num_regions, _REGIONS_PER_BLOCK):
        indices = np.arange(start, min(start + _REGIONS_PER_BLOCK, cells.num_regions))
        known = _rounded_points(arrays, indices) if arrays.dimension else {}
        for index in indices.tolist():
            yield known[index] if index in known else cells.interior_point(index)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The facets, not at infinity, of the regions of a block; all arrays have an entry per facet.

    Attributes
    ----------
    owners
        The position in the block of the region to which the facet belongs.
    numbers
        The number of the form that vanishes on the facet.
    inside
        The sign of this form inside the region.
    """

    owners: Indices
    numbers: Indices
    inside: Signs


@np.errstate(all="ignore")
def _rounded_points(arrays: CellArrays, indices: Indices) -> dict[int, Point]:
    """The rounded means of generators that lie inside, for the regions where one of them does."""
    means, sides = _means(arrays, indices), _sides(arrays, indices)
    points: dict[int, list[int]] = {}
    for digits in BINARY_DIGITS:
        missing = np.array([index not in points for index in indices.tolist()])
        y = np.column_stack([np.rint(means * 2.0**digits), np.full(len(means), 2.0**digits)])
        # Both comparisons are False for NaN.
        small = (np.abs(means).max(axis=1) < 2.0**60) & (np.abs(y).max(axis=1) <= 2.0**53)
        for position in _inside(arrays, sides, y, missing & small).tolist():
            points[int(indices[position])] = [int(entry) for entry in y[position].tolist()]
    return _embedded(arrays, points)


def _inside(arrays: CellArrays, sides: _Sides, y: Floats, wanted: Mask) -> Indices:
    """The positions of the wanted regions that contain their points (y, t), given as floats."""
    chosen = wanted[sides.owners]
    owners, numbers, inside = sides.owners[chosen], sides.numbers[chosen], sides.inside[chosen]
    rows, errors = arrays.table.rows.buffer[numbers], arrays.table.errors.buffer[numbers]
    points = y[owners]
    signs = (
        signs_of_values((rows * points).sum(axis=1), float_bounds(rows, errors, points)) * inside
    )
    good = wanted.copy()
    good[owners[signs == -1]] = False
    for pair in np.flatnonzero((np.abs(signs) == UNDECIDED) & good[owners]).tolist():
        point = [int(entry) for entry in points[pair].tolist()]
        if dot_sign(arrays.table.exact_row(int(numbers[pair])), point) * int(inside[pair]) <= 0:
            good[owners[pair]] = False
    return np.flatnonzero(good)


def _means(arrays: CellArrays, indices: Indices) -> Floats:
    """Approximate means of the vertices plus the sums of the directions, shape (regions, d)."""
    owners, numbers = np.arange(len(indices)), arrays.finite[-1][indices]
    for k in range(arrays.dimension, 0, -1):
        facets, counts = arrays.lattice.facets_of(k, numbers)
        stride = max(arrays.lattice.size(0), arrays.lattice.size(k - 1))
        owners, numbers = np.divmod(
            sorted_distinct(np.repeat(owners, counts) * stride + facets), stride
        )
    floats = arrays.vertices.coordinates.buffer[numbers]
    points = floats[:, -1] != 0
    counts = np.bincount(owners[points], minlength=len(indices))

    def sums(part: Mask) -> Floats:
        """The sums of the coordinates of some generators, for each region."""
        columns = (
            np.bincount(owners[part], column[part], len(indices)) for column in floats[:, :-1].T
        )
        return np.stack(list(columns), axis=1)

    return np.asarray(sums(points) / counts[:, None] + sums(~points))


def _sides(arrays: CellArrays, indices: Indices) -> _Sides:
    size = arrays.dimension
    facets, counts = arrays.lattice.facets_of(size, arrays.finite[size][indices])
    owners, forms = np.repeat(np.arange(len(indices)), counts), arrays.facet_forms[facets]
    known, which = np.unique(forms, return_inverse=True)
    which = which.ravel()
    known_columns = [arrays.column_of_form(number) for number in known.tolist()]
    is_finite = [
        column >= 0 or not arrays.is_at_infinity(number)
        for number, column in zip(known.tolist(), known_columns, strict=True)
    ]
    columns, finite = np.array(known_columns)[which], np.array(is_finite)[which]
    signs = arrays.signs(size)[indices[owners], columns] if arrays.neurons else 1
    inside = np.where(columns < 0, 1, signs).astype(np.int8)
    return _Sides(owners[finite], forms[finite].astype(np.int64), inside[finite])


def _embedded(arrays: CellArrays, points: dict[int, list[int]]) -> dict[int, Point]:
    """The points x of homogeneous coordinates (y, t), t > 0, all with one matrix product."""
    if not points:
        return {}
    columns = RationalMatrix.from_integers(list(points.values())).transpose()
    *x, t = (arrays.frame.embedding @ columns).integer_rows()
    entries = zip(
        *([Fraction(a, b) for a, b in zip(row, t, strict=True)] for row in x), strict=True
    )
    return dict(zip(points, entries, strict=True))
