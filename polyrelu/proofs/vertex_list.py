"""Proof that a list of cells is complete: the vertices, with the cells around each.

At a vertex with as many zeros as the dimension all signs of the zeros occur around it, so that the
zeros are enough. Elsewhere the cells of one dimension more are listed, and those around them where
these are not clear either. The theorem is in docs/theory/vertices.md, the file format in FORMAT.md
§5.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyrelu.certificate import TreeLog, VertexRecord
from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import RationalMatrix, rank
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget, CertificateLimit
from polyrelu.support.limits import LINE_LIMIT, LIST_LIMIT, SCALE_BIT_LIMIT
from polyrelu.support.prices import price_of_vertex
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Indices, Signs

__all__ = ["SETTINGS", "VertexList", "VertexListSettings", "is_short"]


@dataclass(frozen=True, slots=True)
class VertexListSettings:
    """When vertices are listed, and how much of them.

    Attributes
    ----------
    max_listed
        Maximum number of cells that are listed around vertices with dependent zeros.
    few_cells
        Number of cells around all vertices up to which the vertices are listed always.
    cells_per_region
        Number of cells around all vertices, for each region, up to which they are listed.
    cells_of_vertex
        Number of cells around a vertex that take as long as the vertex itself.
    """

    max_listed: int = 2**22
    few_cells: int = 2**20
    cells_per_region: int = 2**11
    cells_of_vertex: int = 2**8


SETTINGS = VertexListSettings()

#: The cells around a cell as the format has them: positive zeros, zeros, perhaps cells around it.
_Listed = list[list[Any]]


def is_short(cells: PolyhedralComplex) -> bool:
    """Whether vertices prove the list of regions with less work than a split tree.

    A cube of many dimensions has too many vertices.
    """
    codimension = cells.dimension - cells.lineality_dim
    num_cells = cells.size(cells.lineality_dim) * (SETTINGS.cells_of_vertex + 2**codimension)
    return int(num_cells) <= max(SETTINGS.few_cells, SETTINGS.cells_per_region * cells.num_regions)


class VertexList:
    """The vertices of a complete complex as the format lists them.

    Attributes
    ----------
    coordinates
        The domain, in coordinates of its affine hull.
    """

    def __init__(self, cells: PolyhedralComplex) -> None:
        self.coordinates = DomainCoordinates.of(cells.domain)
        self._cells, self._lowest, self._dimension = cells, cells.lineality_dim, cells.dimension
        self._constraints = [
            i for i, form in enumerate(self.coordinates.inequalities) if form is not None
        ]
        self._known_signs: dict[int, Signs] = {}
        self._known_above: dict[int, tuple[Indices, Indices]] = {}
        self._known_ranks: dict[tuple[int, ...], int] = {}
        self._num_listed = 0

    def log(self, budget: Budget, progress: Progress | None) -> TreeLog:
        """Return the lines of all vertices; `LimitReached` is raised at a limit."""
        self._check_denominators()
        found, price = TreeLog(), price_of_vertex(self._signs(self._lowest).shape[1])
        total = self._cells.size(self._lowest)
        for record in self._records():
            budget.spend(price)
            found.add(record)
            if found.longest > LINE_LIMIT:
                raise CertificateLimit(
                    f"a line of the certificate would have more than {LINE_LIMIT} bytes"
                )
            report(progress, "certificate", found.nodes, total, "vertices")
        return found

    def _check_denominators(self) -> None:
        """The checker brings the hidden layers over a common denominator."""
        network, common = self._cells.network, 1
        for layer in network.layers[: network.num_hidden_layers]:
            weights = (block.weight.denominator for block in layer.blocks)
            common *= math.lcm(layer.bias.denominator, *weights)
            if common.bit_length() > SCALE_BIT_LIMIT:
                raise CertificateLimit(
                    "the common denominator of all hidden layers would have more than "
                    f"{SCALE_BIT_LIMIT} bits"
                )

    def _records(self) -> Iterator[VertexRecord]:
        signs, codimension = self._signs(self._lowest), self._dimension - self._lowest
        masks = np.packbits(signs > 0, axis=1, bitorder="little")
        rows, places = np.nonzero(signs == 0)
        ends = np.searchsorted(rows, np.arange(len(signs) + 1)).tolist()
        for vertex in self._order():
            zeros = places[ends[vertex] : ends[vertex + 1]].tolist()
            positive = int.from_bytes(masks[vertex].tobytes(), "little")
            around = None
            if len(zeros) > codimension > 0:
                around = self._around(self._lowest, vertex, zeros, LIST_LIMIT)
            yield VertexRecord(positive, zeros, around)

    def _signs(self, dimension: int) -> Signs:
        """The signs of inequalities and neurons on the cells of a dimension."""
        if dimension not in self._known_signs:
            constraints = self._cells.constraint_signs(dimension)[:, self._constraints]
            signs = np.concatenate([constraints, self._cells.signs(dimension)], axis=1)
            self._known_signs[dimension] = signs
        return self._known_signs[dimension]

    def _order(self) -> list[int]:
        """The vertices in the order of a depth-first search along the edges.

        The checker keeps the forms of the second layer for the neurons of the first layer that are
        on; from a vertex to its neighbour few of them change.
        """
        num_vertices = self._cells.size(self._lowest)
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
        if len(order) != num_vertices:
            raise AssertionError("vertices and edges are connected")
        return order

    def _edges(self) -> Indices:
        """The pairs of vertices with an edge between them, shape (pairs, 2)."""
        if self._lowest == self._dimension:
            return np.zeros((0, 2), dtype=np.int64)
        offsets, entries = self._cells.facets(self._lowest + 1)
        starts = offsets[:-1][np.diff(offsets) == 2]
        return np.stack([entries[starts], entries[starts + 1]], axis=1)

    def _above(self, dimension: int, index: int) -> list[int]:
        """The cells of one dimension more of which a cell is a facet."""
        if dimension not in self._known_above:
            offsets, entries = self._cells.facets(dimension + 1)
            owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            order = np.argsort(entries, kind="stable")
            counts = np.bincount(entries, minlength=self._cells.size(dimension))
            starts = np.concatenate([[0], np.cumsum(counts)])
            self._known_above[dimension] = starts, owners[order]
        starts, owners = self._known_above[dimension]
        found: list[int] = owners[starts[index] : starts[index + 1]].tolist()
        return found

    def _around(self, dimension: int, index: int, zeros: list[int], num_lists: int) -> _Listed:
        """The cells of one dimension more around a cell with more zeros than its codimension."""
        above = self._above(dimension, index)
        self._num_listed += len(above)
        if num_lists == 0 or self._num_listed > SETTINGS.max_listed:
            raise CertificateLimit(
                "the cells around vertices with dependent zeros are more than a certificate by "
                f"vertices may list ({LIST_LIMIT} dimensions, {SETTINGS.max_listed} cells)"
            )
        rows, listed = self._signs(dimension + 1)[above][:, zeros], _Listed()
        codimension = self._dimension - dimension
        is_frame = self._is_frame(codimension, zeros, rows)
        for cell, row in zip(above, rows.tolist(), strict=True):
            pairs = list(zip(zeros, row, strict=True))
            own = [n for n, sign in pairs if sign == 0]
            entry: list[Any] = [[n for n, sign in pairs if sign > 0], own]
            if not is_frame and len(own) > codimension - 1 > 0:
                entry.append(self._around(dimension + 1, cell, own, num_lists - 1))
            listed.append(entry)
        return listed

    def _is_frame(self, codimension: int, zeros: Sequence[int], rows: Signs) -> bool:
        """Whether each of the cells moves along one of independent zeros, and no others are there.

        The independent zeros are those that the checker finds: where the ones before vanish, a cell
        has a sign. In the presence of inequalities this is right if all of them are independent.
        """
        tight = tuple(n for n in zeros if n < len(self._constraints))
        if self._rank(tight) < len(tight):
            return False
        basis = list(range(len(tight)))
        is_left = (rows[:, basis] == 0).all(axis=1)
        for place in range(len(tight), len(zeros)):
            moves = rows[:, place] != 0
            if (moves & is_left).any():
                basis.append(place)
                is_left &= ~moves
        moved = (rows[:, basis] != 0).sum(axis=1)
        num_sides = 2 * len(basis) - len(tight)
        return len(basis) == codimension and len(rows) == num_sides and bool((moved == 1).all())

    def _rank(self, constraints: tuple[int, ...]) -> int:
        """The rank of the linear parts of some inequalities."""
        if constraints not in self._known_ranks:
            rows = [self._linear_parts[n] for n in constraints]
            found = rank(RationalMatrix.from_integers(rows)) if rows else 0
            self._known_ranks[constraints] = found
        return self._known_ranks[constraints]

    @cached_property
    def _linear_parts(self) -> list[list[int]]:
        """The linear parts of the inequalities that are not constant."""
        rows = self._cells.frame.constraints.integer_rows()
        return [rows[i][:-1] for i in self._constraints]
