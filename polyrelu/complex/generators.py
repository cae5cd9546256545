"""`Generators`: vertices and ray directions of a complex, by which its cells are V-represented.

The closure of a cell is the convex hull of its vertices plus the cone of its ray directions, plus
the lineality space of the complex. Pictures, meshes, signs of outputs and balancing need both kinds
in one list: in homogeneous coordinates (y, t) a vertex has t > 0 and a direction has t = 0, and the
cell becomes the cone over its generators.

Exact coordinates are computed when they are asked for and kept; that costs one linear system of
the size of the domain's dimension for each generator.
"""

from __future__ import annotations

import numpy as np

from polyrelu.complex.cell import Cell
from polyrelu.complex.engine.cells import CellArrays
from polyrelu.errors import DomainError
from polyrelu.support.arguments import expect_index
from polyrelu.support.display import count_text
from polyrelu.support.typing import BigIntegers, IntegerRow, Mask, Words

__all__ = ["Generators"]


class Generators:
    """The vertices and ray directions of a complex, in one list; see `PolyhedralComplex`.

    Vertices stand in the order of their indices among the cells of the least dimension, with
    directions between them. Where the complex has a lineality space, a "vertex" is one point of
    each minimal cell, and cells of dimension `lineality_dim` + 2 have their generators modulo that
    space.

    Attributes
    ----------
    is_vertex
        Whether each generator is a vertex; the others are directions. One entry per generator.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 2]], [0, -1]), ([[1, 1]], [0])]))
    >>> len(cells.generators), int(cells.generators.is_vertex.sum())
    (5, 1)
    >>> [cells.generators.in_inputs(number) for number in cells.generators.of(Cell(2, 0))]
    [(0, 1, 2), (0, 1, 0), (1, 0, 0)]
    """

    def __init__(self, arrays: CellArrays) -> None:
        self.is_vertex: Mask = arrays.is_point
        self._arrays = arrays
        self._embedding = arrays.frame.embedding.integer_rows()
        self._known: dict[int, IntegerRow] = {}

    def __len__(self) -> int:
        return len(self.is_vertex)

    def __repr__(self) -> str:
        vertices = int(self.is_vertex.sum())
        counts = [(vertices, "vertex"), (len(self) - vertices, "direction")]
        return f"<Generators, {count_text(counts)}>"

    # -- coordinates -------------------------------------------------------------------------------

    def exact(self, number: int) -> list[int]:
        """Return primitive integers (y, t) in the coordinates of the complex's `Frame`, t ≥ 0."""
        return self._arrays.vertices.exact(self._checked(number))

    def in_inputs(self, number: int) -> IntegerRow:
        """Return a positive multiple of (x, 1) for a vertex x, of (x, 0) for a direction x.

        The entries are integers; x are coordinates of the input space.
        """
        if number not in self._known:
            y = self.exact(number)
            self._known[number] = tuple(
                sum(a * b for a, b in zip(row, y, strict=True)) for row in self._embedding
            )
        return self._known[number]

    def approximate(self, number: int) -> tuple[list[float], float]:
        """Return floats (y, t), and a bound on the distance of every float from its exact number.

        The exact numbers are (y, 1) for a vertex and some positive multiple of the row of `exact`
        for a direction. The bound is infinite where floats are not known to be good.
        """
        number, vertices = self._checked(number), self._arrays.vertices
        return vertices.coordinates.rows[number].tolist(), float(vertices.radii.rows[number])

    def _checked(self, number: int) -> int:
        """The number of a generator, or an error."""
        return expect_index(number, len(self), "number")

    # -- generators of cells -----------------------------------------------------------------------

    def of(self, cell: Cell) -> list[int]:
        """Return the numbers of the generators of a cell, ascending."""
        return self._arrays.vertices_of(self._arrays.inner_dimension_of(cell), cell.index)

    def cycle(self, cell: Cell) -> list[int]:
        """Return the numbers of the generators of a polygon in cyclic order.

        A polygon is a cell of dimension `lineality_dim` + 2, bounded or not.

        Neighbours in the list, and the last and the first, are joined by an edge of the cell or by
        an edge at infinity.

        Raises
        ------
        DomainError
            The complex has no such cell, or the cell has another dimension.
        """
        if self._arrays.inner_dimension_of(cell) != 2:
            raise DomainError(
                f"the generators of a cell of dimension {cell.dimension} are no cycle"
            )
        lattice = self._arrays.lattice
        neighbours: dict[int, list[int]] = {}
        edges, _ = lattice.facets_of(2, self._arrays.finite[2][[cell.index]])
        for one, other in lattice.edges.rows[edges].tolist():
            neighbours.setdefault(one, []).append(other)
            neighbours.setdefault(other, []).append(one)
        start = min(neighbours)
        cycle = [start, min(neighbours[start])]
        while len(cycle) < len(neighbours):
            before, last = cycle[-2:]
            one, other = neighbours[last]
            cycle.append(other if one == before else one)
        return cycle

    def spread(self, marks: Words) -> list[Words]:
        """Return the bitwise or of the marks of each cell's generators, by dimension from 0 on.

        `marks` has one unsigned 64-bit integer for each generator; the results have one for each
        cell, shape (f_k,).
        """
        none = [np.zeros(0, dtype=np.uint64)] * self._arrays.lineality_dim
        return none + self._arrays.spread(marks)

    def points_inside(self, dimension: int) -> BigIntegers:
        """Return a point (y, t) in the relative interior of each cell of a dimension, in integers.

        The point is a sum of the exact generators, each with a positive multiplicity; shape
        (f_dimension, d + 1), entries of any size.
        """
        return self._arrays.points_inside(self._arrays.inner_dimension(dimension))
