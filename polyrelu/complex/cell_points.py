"""An exact point in the relative interior of a cell of any dimension."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex
from polyrelu.complex.regions import interior_point

__all__ = ["point_in"]


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
        sum(column, Fraction()) / len(points) + sum(ray[j] for ray in rays) for j, column in enumerate(columns)
    )
