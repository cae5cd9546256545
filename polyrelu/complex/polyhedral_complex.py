"""The canonical polyhedral complex of a network on a domain: cells of every dimension, and what can be asked of them.

Cells are named by their signs (of the domain's constraints and of the hidden neurons); F is a face of C exactly if its
signs are those of C with some of them replaced by 0. Cells are rows of arrays, and their numbers are the same in every
run. Dimensions are the true ones: where the complex has a lineality space of dimension m, every cell contains
translates of that space, and there are no cells of dimension below m.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.coordinates import frame_of
from polyrelu.complex.engine.subdivision import Subdivision, completed, unpacked
from polyrelu.complex.engine.vertices import SignStatistics
from polyrelu.complex.region import Region, region_of, volume_of
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, Rational, to_fraction
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Indices, Point

__all__ = ["Cell", "PolyhedralComplex", "canonical_complex", "stream_complex"]


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A cell: its dimension, and its number among the cells of that dimension."""

    dimension: int
    index: int


def canonical_complex(
    network: Network, domain: Polyhedron | None = None, progress: Progress | None = None
) -> PolyhedralComplex:
    """All cells of the canonical polyhedral complex.

    Parameters
    ----------
    network : any network, degenerate ones included.
    domain : a nonempty polyhedron in R^{n_0}, of any dimension; None for R^{n_0}.
    progress : called after every cut with (layer, neuron, number of top cells so far); layer 0 means the domain's
        constraints.

    Returns
    -------
    The complex. After Ctrl-C it is the complex of the neurons done so far, with ``complete`` False.

    Raises
    ------
    DomainError : the domain is empty or lies in another space; or a skip connection sees a direction in which the cells
        of the first layer contain lines (`walk_regions` has no such limit); or there are hopelessly many cells.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> cells = canonical_complex(net)
    >>> cells.f_vector, cells.regions, cells.bounded_regions
    ((3, 9, 7), 7, 1)
    """
    polyhedron = Polyhedron.universe(network.inputs) if domain is None else domain
    subdivision = Subdivision(network, frame_of(network, polyhedron))
    neurons, complete = completed(subdivision, progress)
    return PolyhedralComplex(network, polyhedron, subdivision, neurons, complete)


def stream_complex(
    network: Network, domain: Polyhedron | None = None, limit: int = 4096
) -> Iterator[PolyhedralComplex]:
    """The canonical complex in parts, so that it need not be held in memory.

    Parameters
    ----------
    network, domain : as for `canonical_complex`.
    limit : parts grow from at most so many top cells, at least 1; smaller parts take less memory and more time.

    Yields
    ------
    Complexes whose regions are those of the whole one, each of them in exactly one part. Cells of lower dimension on
    the border of a part belong to several.

    Raises
    ------
    DomainError : as `canonical_complex`, when the first part is asked for.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, 1, 1]], [0])])
    >>> sum(part.regions for part in stream_complex(net, limit=2))
    4
    """
    if not isinstance(limit, int) or limit < 1:
        raise DomainError(
            f"parts of at most {limit} cells: the limit must be an integer, at least 1"
        )
    polyhedron = Polyhedron.universe(network.inputs) if domain is None else domain
    neurons = tuple(network.neurons())
    for part in Subdivision(network, frame_of(network, polyhedron)).parts(limit):
        yield PolyhedralComplex(network, polyhedron, part, neurons, complete=True)


class PolyhedralComplex:
    """The cells of all dimensions; made by `canonical_complex`.

    Attributes
    ----------
    network, domain : of what, on what.
    neurons : the hidden neurons whose cuts are in, in order; all of them if `complete`.
    complete : False after Ctrl-C.
    dimension : of the domain.
    lineality : primitive integer directions along which nothing changes, a basis.
    statistics : how many signs were decided, and how many exactly.
    """

    def __init__(
        self,
        network: Network,
        domain: Polyhedron,
        subdivision: Subdivision,
        neurons: tuple[NeuronId, ...],
        complete: bool,
    ) -> None:
        """Room-internal; see `canonical_complex`."""
        self.network, self.domain, self.neurons, self.complete = network, domain, neurons, complete
        frame = subdivision.frame
        self.dimension, self.lineality = frame.true_dimension, frame.lineality
        self.statistics: SignStatistics = subdivision.vertices.statistics
        self.frame, self.lattice, self.vertex_store = (
            frame,
            subdivision.lattice,
            subdivision.vertices,
        )
        self.table, self._words = subdivision.table, subdivision.signs
        self.facet_forms = subdivision.facet_forms()
        at_points = (self.vertex_store.base_signs.rows[:, 0] > 0).astype(np.uint64)
        #: of each inner dimension: which cells are not at infinity, and their numbers among all
        finite = [words > 0 for words in self.lattice.spread(at_points)]
        self.inner = [np.flatnonzero(mark) for mark in finite]
        self._outer = [np.where(mark, np.cumsum(mark) - 1, -1) for mark in finite]

    # -- counts ---------------------------------------------------------------------------------------------------

    @property
    def lineality_dim(self) -> int:
        """The dimension of the lineality space."""
        return len(self.lineality)

    @property
    def f_vector(self) -> tuple[int, ...]:
        """The numbers of cells of dimension 0, 1, …, those on the boundary of the domain included."""
        return (*[0] * self.lineality_dim, *(len(cells) for cells in self.inner))

    @property
    def regions(self) -> int:
        """The number of cells of full dimension; a neuron may be identically 0 on one."""
        return self.f_vector[-1]

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Which cells of full dimension are bounded, shape (regions,)."""
        if self.lineality:
            return np.zeros(self.regions, dtype=bool)
        at_infinity = (self.vertex_store.base_signs.rows[:, 0] == 0).astype(np.uint64)
        marked: NDArray[np.bool_] = self.lattice.spread(at_infinity)[-1][self.inner[-1]] == 0
        return marked

    @property
    def bounded_regions(self) -> int:
        """The number of bounded cells of full dimension."""
        return int(self.bounded.sum())

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays: of cells, vertices and forms."""
        arrays = [
            *self.inner,
            *self._outer,
            *self.lattice.arrays(),
            *self.vertex_store.arrays(),
            self.facet_forms,
        ]
        words = sum(signs.words.rows.nbytes for signs in self._words)
        return sum(array.nbytes for array in arrays) + words + self.table.nbytes

    def size(self, dimension: int) -> int:
        """The number of cells of a dimension."""
        return self.f_vector[dimension] if 0 <= dimension <= self.dimension else 0

    def cells(self, dimension: int) -> Iterator[Cell]:
        """The cells of a dimension."""
        return (Cell(dimension, index) for index in range(self.size(dimension)))

    # -- signs ----------------------------------------------------------------------------------------------------

    def signs(self, dimension: int) -> NDArray[np.int8]:
        """The signs of the neurons on the cells of a dimension, shape (number of cells, number of neurons)."""
        columns = self._sign_columns(dimension, hidden=True)
        return columns[:, : len(self.neurons)]

    def constraint_signs(self, dimension: int) -> NDArray[np.int8]:
        """The signs of c - a·x for the inequalities of the domain on the cells of a dimension: 1 inside, 0 on it."""
        return self._sign_columns(dimension, hidden=False)

    def inside(self, dimension: int) -> NDArray[np.bool_]:
        """Which cells of a dimension lie in the relative interior of the domain, shape (number of cells,).

        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])]), Polyhedron.box([-1], [1]))
        >>> int(cells.inside(0).sum()), cells.f_vector
        (1, (3, 2))
        """
        proper = self.constraint_signs(self.dimension).any(
            axis=0
        )  # the others are 0 on the whole domain
        marked: NDArray[np.bool_] = (self.constraint_signs(dimension)[:, proper] != 0).all(axis=1)
        return marked

    def _sign_columns(self, dimension: int, hidden: bool) -> NDArray[np.int8]:
        inner = self.inner_dimension(dimension)
        parts = [np.zeros((self.size(dimension), 0), dtype=np.int8)]
        for signs in self._words:
            if (signs.layer > 0) == hidden:
                words = self.lattice.spread(signs.words.rows)[inner][self.inner[inner]]
                parts.append(unpacked(words, len(signs.members)))
        return np.concatenate(parts, axis=1)

    def sign_vector(self, cell: Cell) -> SignVector:
        """The signs of the neurons on a cell, layer by layer."""
        self._check(cell)
        row = self.all_signs[cell.dimension][cell.index].tolist()
        layers: list[list[int]] = [[] for _ in range(self.network.hidden_layers)]
        for neuron, sign in zip(self.neurons, row, strict=True):
            layers[neuron.layer - 1].append(sign)
        return SignVector(tuple(map(tuple, layers)))

    @cached_property
    def all_signs(self) -> list[NDArray[np.int8]]:
        """`signs` of every dimension from 0 on, kept."""
        return [
            self.signs(k)
            if k >= self.lineality_dim
            else np.zeros((0, len(self.neurons)), dtype=np.int8)
            for k in range(self.dimension + 1)
        ]

    def locate(self, point: Sequence[Rational]) -> Cell | None:
        """The cell that contains a point in its relative interior; None outside the domain.

        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])]))
        >>> cells.locate([0]), cells.locate([-3]).dimension
        (Cell(dimension=0, index=0), 1)
        """
        if not self.domain.contains(point):
            return None
        signs = self.network.sign_vector(point)
        key = [signs.layers[neuron.layer - 1][neuron.index] for neuron in self.neurons]
        x = [to_fraction(entry) for entry in point]
        for row in self.domain.inequalities:
            key.append(int(sum(a * c for a, c in zip(row[:-1], x, strict=True)) != row[-1]))
        return self._by_signs[bytes(entry + 1 for entry in key)]

    @cached_property
    def _by_signs(self) -> dict[bytes, Cell]:
        found: dict[bytes, Cell] = {}
        for k in range(self.lineality_dim, self.dimension + 1):
            rows = np.concatenate([self.all_signs[k], self.constraint_signs(k)], axis=1) + 1
            found |= {row.tobytes(): Cell(k, i) for i, row in enumerate(rows.astype(np.uint8))}
        return found

    # -- incidence ------------------------------------------------------------------------------------------------

    def facets(self, dimension: int) -> tuple[Indices, Indices]:
        """The facets of the cells of a dimension k > 0.

        Returns
        -------
        offsets, entries : the facets of cell i are the cells entries[offsets[i]:offsets[i + 1]] of dimension k - 1;
            faces at infinity are left out.
        """
        k = self.inner_dimension(dimension)
        if k == 0:
            return np.zeros(self.size(dimension) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        entries, counts = self._inner_facets(k)
        numbers = self._outer[k - 1][entries]
        owner = np.repeat(np.arange(len(counts)), counts)[numbers >= 0]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(counts)))])
        return offsets, numbers[numbers >= 0]

    def _inner_facets(self, k: int) -> tuple[Indices, Indices]:
        """The facets of the finite cells of inner dimension k, by the numbers of the lattice."""
        cells = self.inner[k]
        if k == 1:
            return self.lattice.edges.rows[cells].ravel().astype(np.int64), np.full(len(cells), 2)
        entries, counts = self.lattice.facets[k].gather(cells)
        return entries.astype(np.int64), counts

    def adjacency(self) -> NDArray[np.int64]:
        """Pairs of neighbouring regions and the cell of codimension 1 between them, shape (number of pairs, 3)."""
        offsets, entries = self.facets(self.dimension)
        owner = np.repeat(np.arange(self.regions), np.diff(offsets))
        order = np.argsort(entries, kind="stable")
        entries, owner = entries[order], owner[order]
        same = np.flatnonzero(entries[1:] == entries[:-1])
        return np.stack([owner[same], owner[same + 1], entries[same]], axis=1)

    def neighbours(self, index: int) -> list[tuple[int, Cell]]:
        """The regions next to a region, each with the cell of codimension 1 between.

        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
        >>> sorted(len(cells.neighbours(index)) for index in range(3))
        [1, 1, 2]
        """
        self._check(self.region_cell(index))
        return self._neighbours.get(index, [])

    @cached_property
    def _neighbours(self) -> dict[int, list[tuple[int, Cell]]]:
        found: dict[int, list[tuple[int, Cell]]] = {}
        for one, other, facet in self.adjacency().tolist():
            between = Cell(self.dimension - 1, facet)
            found.setdefault(one, []).append((other, between))
            found.setdefault(other, []).append((one, between))
        return found

    # -- regions --------------------------------------------------------------------------------------------------

    def region(self, index: int) -> Region:
        """A cell of full dimension: its polyhedron, affine map, a point inside.

        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[2, 0], [0, 1]], [-1, 0]), ([[1, 3]], [0])]))
        >>> region = cells.region(cells.locate([1, 1]).index)
        >>> sorted(region.polyhedron.inequalities), str(region.affine_map.matrix)
        ([(-2, 0, -1), (0, -1, 0)], '[2 3]')
        """
        return region_of(self, index)

    def volume(self, index: int) -> Fraction:
        """The exact volume of a bounded region; the domain must have full dimension.

        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 1]], [-1]), ([[1]], [0])])
        >>> cells = canonical_complex(net, Polyhedron.box([0, 0], [1, 1]))
        >>> cells.volume(0), cells.volume(1)
        (Fraction(1, 2), Fraction(1, 2))
        """
        return volume_of(self, index)

    def region_cell(self, index: int) -> Cell:
        """A region as a cell."""
        return Cell(self.dimension, index)

    def signs_of_region(self, index: int) -> SignVector:
        """The signs of the neurons on a region."""
        return self.sign_vector(Cell(self.dimension, index))

    def lattice_facets(self, index: int) -> list[int]:
        """Room-internal: the lattice numbers of the facets of a region."""
        return self.lattice_faces(self.frame.dimension, int(self.inner[-1][index]))

    @cached_property
    def neuron_positions(self) -> dict[tuple[int, int], int]:
        """Room-internal: the column of each neuron (layer, index) in the arrays of signs."""
        return {(neuron.layer, neuron.index): i for i, neuron in enumerate(self.neurons)}

    # -- coordinates ----------------------------------------------------------------------------------------------

    def vertex(self, index: int) -> Point:
        """The exact coordinates of a vertex; of a point of the cell of dimension `lineality_dim` in general."""
        self._check(Cell(self.lineality_dim, index))
        y = self.vertex_store.exact(int(self.inner[0][index]))
        return self.frame.embedded(y)

    def vertices_and_rays(self, cell: Cell) -> tuple[list[Point], list[tuple[int, ...]]]:
        """The vertices of a cell (points on its minimal faces, if there is a lineality space) and its rays."""
        self._check(cell)
        points: list[Point] = []
        rays: list[tuple[int, ...]] = []
        for vertex in self.vertices_of(self.inner_dimension(cell.dimension), cell.index):
            y = self.vertex_store.exact(vertex)
            if y[-1]:
                points.append(self.frame.embedded(y))
            else:
                rays.append(self.frame.direction(y))
        return points, rays

    def homogeneous(self, vertex: int) -> tuple[int, ...]:
        """Room-internal: a positive multiple of (x, 1) at a vertex of the lattice, or of (x, 0) at a direction."""
        if vertex not in self._homogeneous:
            y = self.vertex_store.exact(vertex)
            rows = self._integer_embedding
            self._homogeneous[vertex] = tuple(
                sum(a * b for a, b in zip(row, y, strict=True)) for row in rows
            )
        return self._homogeneous[vertex]

    @cached_property
    def _integer_embedding(self) -> list[list[int]]:
        return self.frame.embedding.integer_rows()

    @cached_property
    def _homogeneous(self) -> dict[int, tuple[int, ...]]:
        return {}

    def vertices_of(self, k: int, index: int) -> list[int]:
        """Room-internal: the lattice numbers of the vertices of a finite cell of inner dimension k."""
        return self.lattice_vertices(k, int(self.inner[k][index]))

    def lattice_vertices(self, k: int, number: int) -> list[int]:
        """Room-internal: the vertices of a cell of the lattice."""
        cells = np.array([number], dtype=np.int64)
        while k > 1:
            cells = np.unique(self.lattice.facets[k].gather(cells)[0]).astype(np.int64)
            k -= 1
        if k == 1:
            cells = np.unique(self.lattice.edges.rows[cells])
        return [int(vertex) for vertex in cells]

    def lattice_faces(self, k: int, number: int) -> list[int]:
        """Room-internal: the facets of a cell of the lattice of inner dimension k > 0."""
        if k == 1:
            return [int(vertex) for vertex in self.lattice.edges.rows[number]]
        return [int(face) for face in self.lattice.facets[k].gather(np.array([number]))[0]]

    def _check(self, cell: Cell) -> None:
        self.inner_dimension(cell.dimension)
        if not 0 <= cell.index < self.size(cell.dimension):
            raise DomainError(
                f"there is no cell {cell.index} of dimension {cell.dimension}, only {self.size(cell.dimension)}"
            )

    def inner_dimension(self, dimension: int) -> int:
        """Room-internal: the dimension of a cell without the lineality space."""
        if not self.lineality_dim <= dimension <= self.dimension:
            raise DomainError(
                f"there are no cells of dimension {dimension}, only of {self.lineality_dim} to {self.dimension}"
            )
        return dimension - self.lineality_dim
