"""Proof that a list of cells is complete: the vertices, with the cells around each.

At a vertex with as many zeros as the dimension all signs of the zeros occur around it, so that the
zeros are enough. Elsewhere the cells of one dimension more are listed, with the cells around them
where these are not clear either. The theorem is in docs/theory/vertices.md, the file format in
FORMAT.md §5.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import RationalMatrix, rank
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.typing import Indices, Signs

__all__ = ["VertexList"]

#: Maximum depth of lists of cells at a vertex, by the format.
_MAX_LISTS = 7

#: The cells around a cell as the format has them: positive zeros, zeros, perhaps cells around it.
Listed = list[list[Any]]


class VertexList:
    """The vertices of a complete complex as the format lists them.

    Attributes
    ----------
    cells
        The complex.
    coordinates
        The domain, in coordinates of its affine hull.
    """

    def __init__(self, cells: PolyhedralComplex) -> None:
        self.cells, self.coordinates = cells, DomainCoordinates.of(cells.domain)
        self._lowest, self._dimension = cells.lineality_dim, cells.dimension
        self._constraints = [
            i for i, form in enumerate(self.coordinates.inequalities) if form is not None
        ]
        self._known_signs: dict[int, Signs] = {}
        self._known_above: dict[int, tuple[Indices, Indices]] = {}
        self._known_ranks: dict[tuple[int, ...], int] = {}

    def signs(self, dimension: int) -> Signs:
        """The signs of inequalities and neurons on the cells of a dimension."""
        if dimension not in self._known_signs:
            cells = self.cells
            constraints = cells.constraint_signs(dimension)[:, self._constraints]
            signs = np.concatenate([constraints, cells.signs(dimension)], axis=1)
            self._known_signs[dimension] = signs
        return self._known_signs[dimension]

    def records(self) -> Iterator[list[Any]]:
        """Yield the entries of all vertices."""
        signs, codimension = self.signs(self._lowest), self._dimension - self._lowest
        masks = np.packbits(signs > 0, axis=1, bitorder="little")
        for vertex in self._order():
            zeros = np.flatnonzero(signs[vertex] == 0).tolist()
            record = [str(int.from_bytes(masks[vertex].tobytes(), "little")), zeros]
            if len(zeros) > codimension > 0:
                record.append(self._around(self._lowest, vertex, zeros, _MAX_LISTS))
            yield record

    def _order(self) -> list[int]:
        """The vertices in the order of a depth-first search along the edges.

        The checker keeps the forms of the second layer for the neurons of the first layer that are
        on; from a vertex to its neighbour few of them change.
        """
        num_vertices = self.cells.size(self._lowest)
        neighbours: list[list[int]] = [[] for _ in range(num_vertices)]
        for one, other in self._edges().tolist():
            neighbours[one].append(other)
            neighbours[other].append(one)
        order, is_seen, waiting = list[int](), bytearray(num_vertices), [0]
        while waiting:
            vertex = waiting.pop()
            if not is_seen[vertex]:
                is_seen[vertex] = 1
                order.append(vertex)
                waiting += neighbours[vertex]
        return order

    def _edges(self) -> Indices:
        """The pairs of vertices with an edge between them, shape (pairs, 2)."""
        if self._lowest == self._dimension:
            return np.zeros((0, 2), dtype=np.int64)
        offsets, entries = self.cells.facets(self._lowest + 1)
        starts = offsets[:-1][np.diff(offsets) == 2]
        return np.stack([entries[starts], entries[starts + 1]], axis=1)

    def _above(self, dimension: int, index: int) -> list[int]:
        """The cells of one dimension more of which a cell is a facet."""
        if dimension not in self._known_above:
            offsets, entries = self.cells.facets(dimension + 1)
            owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            order = np.argsort(entries, kind="stable")
            counts = np.bincount(entries, minlength=self.cells.size(dimension))
            starts = np.concatenate([[0], np.cumsum(counts)])
            self._known_above[dimension] = starts, owners[order]
        starts, owners = self._known_above[dimension]
        found: list[int] = owners[starts[index] : starts[index + 1]].tolist()
        return found

    def _around(self, dimension: int, index: int, zeros: list[int], depth: int) -> Listed:
        """The cells of one dimension more around a cell with more zeros than its codimension."""
        if depth == 0:
            raise ValueError("too deep")
        signs, above = self.signs(dimension + 1), self._above(dimension, index)
        rows, listed = signs[above][:, zeros], Listed()
        is_frame = self._is_frame(self._dimension - dimension, zeros, rows)
        for cell, row in zip(above, rows.tolist(), strict=True):
            positive = [n for n, sign in zip(zeros, row, strict=True) if sign > 0]
            own = [n for n, sign in zip(zeros, row, strict=True) if sign == 0]
            entry: list[Any] = [positive, own]
            if not is_frame and len(own) > self._dimension - dimension - 1 > 0:
                entry.append(self._around(dimension + 1, cell, own, depth - 1))
            listed.append(entry)
        return listed

    def _is_frame(self, codimension: int, zeros: Sequence[int], rows: Signs) -> bool:
        """Whether each of the cells moves along one of independent zeros, and no others are there.

        The zeros are independent in order, as the checker finds them: on the set where the ones
        before vanish, some cell has a sign. For the inequalities this is true only if all of them
        are independent.
        """
        num_constraints = len(self._constraints)
        tight = tuple(n for n in zeros if n < num_constraints)
        if self._rank(tight) < len(tight):
            return False
        basis, is_left = list(range(len(tight))), np.ones(len(rows), dtype=bool)
        is_left &= ~(rows[:, : len(tight)] != 0).any(axis=1)
        for place in range(len(tight), len(zeros)):
            moves = rows[:, place] != 0
            if (moves & is_left).any():
                basis.append(place)
                is_left &= ~moves
        expected = 2 * len(basis) - len(tight)
        moved = (rows[:, basis] != 0).sum(axis=1)
        return len(basis) == codimension and len(rows) == expected and bool((moved == 1).all())

    def _rank(self, constraints: tuple[int, ...]) -> int:
        """The rank of the linear parts of some inequalities."""
        if constraints not in self._known_ranks:
            rows = [self._linear_parts[n] for n in constraints]
            found = rank(RationalMatrix.from_integers(rows)) if rows else 0
            self._known_ranks[constraints] = found
        return self._known_ranks[constraints]

    @cached_property
    def _linear_parts(self) -> list[list[int]]:
        rows = self.cells.frame.constraints.integer_rows()
        return [rows[i][:-1] for i in self._constraints]
