"""`CellGenerators`: the vertices and ray directions of a complex, which generate its cells.

Vertices and directions are the V-representation of the cells: the closure of a cell is the convex
hull of its vertices plus the cone of its ray directions, plus the lineality space of the complex.
Pictures, meshes, signs of outputs and balancing need both kinds
in one list: in homogeneous coordinates (y, t) a vertex has t > 0 and a direction has t = 0, and the
cell becomes the cone over its generators.

The exact coordinates of a generator are computed on first use and cached. The computation solves
one linear system in as many unknowns as the domain has dimensions.
"""

from __future__ import annotations

import numpy as np

from polyrelu.complex.cell import Cell
from polyrelu.complex.engine.cells import CellArrays
from polyrelu.errors import DomainError
from polyrelu.support.arguments import expect_index
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.typing import BigIntegers, IntegerRow, Mask, Words

__all__ = ["CellGenerators"]


class CellGenerators:
    """The vertices and ray directions of a complex, in one list (`PolyhedralComplex.generators`).

    Generators are named by their numbers in this list. The vertices are in the order of the cells
    of least dimension, and directions come between them. If the complex has a lineality space, the
    list has generators modulo that space: one point of each minimal cell, and directions.

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
    >>> numbers = cells.generators.numbers_of(Cell(2, 0))
    >>> [cells.generators.input_coordinates(number) for number in numbers]
    [(0, 1, 2), (0, 1, 0), (1, 0, 0)]
    """

    def __init__(self, arrays: CellArrays) -> None:
        self.is_vertex: Mask = read_only(arrays.is_point)
        self._arrays = arrays
        self._embedding = arrays.frame.embedding.integer_rows()
        self._known: dict[int, IntegerRow] = {}

    def __len__(self) -> int:
        return len(self.is_vertex)

    def __repr__(self) -> str:
        vertices = int(self.is_vertex.sum())
        counts = [(vertices, "vertex"), (len(self) - vertices, "direction")]
        return f"<CellGenerators, {count_text(counts)}>"

    # -- coordinates -------------------------------------------------------------------------------

    def exact(self, number: int) -> list[int]:
        """Return primitive integers (y, t) in the coordinates of the complex's `Frame`, t ≥ 0."""
        return self._arrays.vertices.exact(self._checked(number))

    def input_coordinates(self, number: int) -> IntegerRow:
        """Return integers: a positive multiple of (x, 1) for a vertex x, of (x, 0) for a direction.

        Here x are coordinates of the input space.
        """
        number = self._checked(number)
        if number not in self._known:
            y = self.exact(number)
            self._known[number] = tuple(
                sum(a * b for a, b in zip(row, y, strict=True)) for row in self._embedding
            )
        return self._known[number]

    def approximate(self, number: int) -> tuple[list[float], float]:
        """Return floats (y, t), and a bound on the error of each of them.

        The error is the distance from the exact (y, 1) for a vertex, and from some positive
        multiple of the exact direction for a direction. The bound is infinite if no error bound is
        known.
        """
        number, vertices = self._checked(number), self._arrays.vertices
        return vertices.coordinates.rows[number].tolist(), float(vertices.radii.rows[number])

    def _checked(self, number: int) -> int:
        """The number of a generator, or an error."""
        return expect_index(number, len(self), "number")

    # -- generators of cells -----------------------------------------------------------------------

    def numbers_of(self, cell: Cell) -> list[int]:
        """Return the numbers of the generators of a cell, ascending."""
        return self._arrays.vertices_of(self._arrays.inner_dimension_of(cell), cell.index)

    def numbers_in_cyclic_order(self, cell: Cell) -> list[int]:
        """Return the numbers of the generators of a polygon in cyclic order.

        A polygon is a cell of dimension `lineality_dim` + 2, bounded or not. Consecutive generators
        of the list, and the last and the first one, are joined by an edge of the cell or by an edge
        at infinity.

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
            first, second = neighbours[last]
            cycle.append(second if first == before else first)
        return cycle

    def marks_of_cells(self, marks: Words) -> list[Words]:
        """Return the bitwise or of the marks of the generators of each cell.

        Parameters
        ----------
        marks
            An unsigned 64-bit integer for each generator.

        Returns
        -------
        list of Array
            For each dimension k, from 0 on, the marks of the cells of this dimension, shape (f_k,).
        """
        none = [np.zeros(0, dtype=np.uint64)] * self._arrays.lineality_dim
        return none + self._arrays.marks_of_cells(marks)

    def points_inside(self, dimension: int) -> BigIntegers:
        """Return a point (y, t) in the relative interior of each cell of a dimension, in integers.

        The point is a sum of the exact generators, each with a positive multiplicity; shape
        (f_dimension, d + 1), entries of any size.
        """
        return self._arrays.points_inside(self._arrays.inner_dimension(dimension))
