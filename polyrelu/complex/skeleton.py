"""Vertices and edges only, without cells of higher dimension, where the domain is bounded and the complex simple.

**Simple** means that every vertex lies on exactly d of the forms, constraints and neurons. In every region at a vertex
its d forms are independent: taken one after the other, each is affine on the least cell so far that contains the vertex
and lowers its dimension by one at most, and after d of them the dimension is 0. So the cells around the vertex are the
ways of giving signs to these forms (constraints only one), and cells of every dimension are known by the signs of
vertices and edges:

* The 2-faces around an edge give a sign to one of the d - 1 forms that vanish on it. A form that cuts a 2-face meets
  exactly two of its edges; the cut edges are paired by their 2-faces, and every pair is the two ends of a new edge.
* The regions are all ways of giving signs to the d forms at a vertex, for every region has one.

Sign vectors are compared by 64-bit keys, and collisions cannot do harm: a key that stands for two 2-faces has four cut
edges instead of two, and regions must have different keys. Where that fails, or the complex turns out not to be simple,
the whole lattice is built instead. Simplicity is checked once for the vertices of the domain, and after every cut, also
where nothing is cut: the form must vanish at the new vertices and nowhere else. (Unbounded domains are seldom simple at
infinity: where one neuron is on, the forms of the next layer are parallel.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.arrays import Growable, all_in_pairs
from polyrelu.complex.engine.face_lattice import WORD_BITS, Cut, Lattice
from polyrelu.complex.engine.subdivision import Chunk, Subdivision, completed, unpacked
from polyrelu.complex.frame import frame_of
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Indices, Words

__all__ = ["Skeleton", "skeleton"]


_SHIFT = np.uint64(WORD_BITS)
_ONE = np.uint64(1)


def skeleton(
    network: Network, domain: Polyhedron | None = None, progress: Progress | None = None
) -> Skeleton:
    """The vertices and edges of the canonical polyhedral complex.

    Parameters
    ----------
    network, domain : as for `canonical_complex`.
    progress : called after every cut with (layer, neuron, number of edges or top cells so far).

    Returns
    -------
    The skeleton. After Ctrl-C it is that of the neurons done so far, with ``complete`` False.

    Raises
    ------
    DomainError : as `canonical_complex`.

    >>> from polyrelu.network import from_arrays
    >>> found = skeleton(from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])]))
    >>> found.f_vector, [found.vertex(index) for index in range(3)][0]
    ((3, 9), (Fraction(0, 1), Fraction(0, 1)))
    """
    polyhedron = Polyhedron.universe(network.inputs) if domain is None else domain
    frame = frame_of(network, polyhedron)
    if frame.dimension > 2 and polyhedron.is_bounded():
        simple = _SimpleSubdivision(network, frame)
        try:
            return Skeleton(simple, polyhedron, *completed(simple, progress), without_lattice=True)
        except _NotSimpleError:
            pass
    subdivision = Subdivision(network, frame)
    return Skeleton(
        subdivision, polyhedron, *completed(subdivision, progress), without_lattice=False
    )


class Skeleton:
    """Vertices and edges; made by `skeleton`.

    Where the complex has a lineality space of dimension m, these are its cells of dimension m and m + 1.

    Attributes
    ----------
    network, domain : of what, on what.
    neurons : the hidden neurons whose cuts are in, in order; all of them if `complete`.
    complete : False after Ctrl-C.
    edges : the vertices at the ends of each edge, -1 for an end at infinity, shape (number of edges, 2).
    lineality : see `PolyhedralComplex`.
    without_lattice : whether it was built without cells of higher dimension: d > 2, a bounded domain, a simple complex.
    """

    def __init__(
        self,
        subdivision: Subdivision,
        domain: Polyhedron,
        neurons: tuple[NeuronId, ...],
        complete: bool,
        without_lattice: bool,
    ) -> None:
        """Room-internal."""
        self.network, self.domain, self.without_lattice = (
            subdivision.network,
            domain,
            without_lattice,
        )
        self.neurons, self.complete = neurons, complete
        self._frame, self._store, self._words = (
            subdivision.frame,
            subdivision.vertices,
            subdivision.signs,
        )
        self.lineality = self._frame.lineality
        finite = self._store.base_signs.rows[:, 0] > 0
        self._vertices = np.flatnonzero(finite)
        ends = (
            subdivision.lattice.edges.rows
            if self._frame.dimension
            else np.zeros((0, 2), dtype=np.int32)
        )
        self._ends = ends[finite[ends].any(axis=1)].astype(np.int64)
        self.edges: Indices = np.where(finite, np.cumsum(finite) - 1, -1)[self._ends]

    @property
    def f_vector(self) -> tuple[int, int]:
        """The numbers of vertices and edges."""
        return len(self._vertices), len(self.edges)

    def signs(self, dimension: int) -> NDArray[np.int8]:
        """The signs of the neurons on the vertices (0) or edges (1), shape (number of cells, number of neurons)."""
        return self._columns(dimension, hidden=True)[:, : len(self.neurons)]

    def constraint_signs(self, dimension: int) -> NDArray[np.int8]:
        """The signs of c - a·x for the inequalities of the domain, 1 inside and 0 on it."""
        return self._columns(dimension, hidden=False)

    def _columns(self, dimension: int, hidden: bool) -> NDArray[np.int8]:
        if dimension not in (0, 1):
            raise DomainError(f"a skeleton has vertices (0) and edges (1), no cells {dimension}")
        parts = [np.zeros((self.f_vector[dimension], 0), dtype=np.int8)]
        for signs in self._words:
            if (signs.layer > 0) == hidden:
                words = signs.words.rows
                chosen = (
                    words[self._vertices]
                    if dimension == 0
                    else words[self._ends[:, 0]] | words[self._ends[:, 1]]
                )
                parts.append(unpacked(chosen, len(signs.members)))
        return np.concatenate(parts, axis=1)

    def vertex(self, index: int) -> tuple[Fraction, ...]:
        """The exact coordinates of a vertex."""
        if not 0 <= index < len(self._vertices):
            raise DomainError(f"there is no vertex {index}, only {len(self._vertices)} vertices")
        return self._frame.embedded(self._store.exact(int(self._vertices[index])))

    def ray(self, edge: int) -> tuple[int, ...]:
        """The primitive direction in which an edge with one end at infinity goes there."""
        if not 0 <= edge < len(self.edges):
            raise DomainError(f"there is no edge {edge}, only {len(self.edges)} edges")
        at_infinity = self._ends[edge][self.edges[edge] < 0]
        if not len(at_infinity):
            raise DomainError(f"edge {edge} is bounded")
        return self._frame.direction(self._store.exact(int(at_infinity[0])))


class _NotSimpleError(Exception):
    """Some vertex lies on more than d forms (or two keys are equal, which does not happen)."""


@dataclass(frozen=True, slots=True)
class _Faces:
    """The 2-faces of the cut edges: each edge gives a sign to one of its forms.

    Attributes
    ----------
    edges, columns : the position of the edge, and of the form among its forms.
    words : the signs of the 2-face.
    """

    edges: Indices
    columns: Indices
    words: Words


class _SimpleSubdivision(Subdivision):
    """A subdivision of vertices and edges of a bounded domain.

    The signs of a cell are words side by side, in the order of `signs`. A form is known by its slot there: 32·(column)
    + bit. (The base consists of constraints, and nothing is at infinity once the domain has been cut out.)
    """

    _slots: Growable  # of the d - 1 forms that each edge is on
    _region_keys: Words  # of the newest layer, ascending

    def part(self, top: Indices) -> Subdivision:
        """Parts are made of top cells, which are not there."""
        raise AssertionError("a skeleton has no top cells to make parts of")

    # -- overridden steps -----------------------------------------------------------------------------------------

    def _cut_with_constraints(self) -> Iterator[tuple[int, int]]:
        """Cut out the domain with the whole lattice, then forget all but vertices and edges."""
        yield from super()._cut_with_constraints()
        self._region_keys = np.zeros(0, dtype=np.uint64)
        words = self._words_of(np.arange(len(self.vertices))[:, None])
        self._zero_slots(words)  # raises
        self.lattice = Lattice(1, self.lattice.size(0), self.lattice.edges.rows, [[], []])
        self._cell_forms, self._regions = self._cell_forms[:2], self._regions[:2]
        self._slots = Growable(
            self._cell_forms[1].rows.astype(np.int64) - 1
        )  # the constraints follow infinity

    def _cut_with(self, layer: int, members: range) -> Iterator[tuple[int, int]]:
        before = len(self.vertices)
        for step in super()._cut_with(layer, members):
            if layer:
                self._need_simple(step[1], before)
                before = len(self.vertices)
            yield step

    def _need_simple(self, member: int, before: int) -> None:
        """The form that was cut with last must vanish at the vertices made from it, and nowhere else."""
        bit = member % WORD_BITS
        mask = np.uint64(1 << bit | 1 << (bit + WORD_BITS))
        if ((self.lattice.words[0].rows[:before] & mask) == 0).any():
            raise _NotSimpleError

    def _extend_cells(self, chunk: Chunk, bit: int, cut: Cut) -> None:
        """Regions and forms of the second parts of the cut edges, and of the new edges in the cut 2-faces."""
        if self.signs[self._current].layer == 0:
            super()._extend_cells(chunk, bit, cut)
            return
        edges = cut.cells[1]
        regions, forms, slots = (
            part.buffer[edges] for part in (self._regions[1], self._cell_forms[1], self._slots)
        )
        faces = self._faces(self._words_of(cut.ends, bit), slots)
        first, second = _pairs(faces)
        owners, columns = faces.edges[first], faces.columns[first]
        self.lattice.add_edges(cut.sizes[0] + np.stack([owners, faces.edges[second]], axis=1))
        in_regions = self._regions_of(faces.words[first])
        others = np.arange(slots.shape[1]) != columns[:, None]
        last = np.full((len(owners), 1), WORD_BITS * self._current + bit)
        new_slots = np.concatenate([slots[owners][others].reshape(len(owners), -1), last], axis=1)
        self._regions[1].append(np.concatenate([regions, in_regions]))
        self._cell_forms[1].append(np.concatenate([forms, self._forms_at(new_slots, in_regions)]))
        self._slots.append(np.concatenate([slots, new_slots]))

    def _forms_at(self, slots: Indices, regions: Indices) -> NDArray[np.int32]:
        """The numbers of forms on regions of the newest layer, shape (m, k). They are not those on the edges around: at
        a fold the forms of later layers change."""
        columns, bits = slots // WORD_BITS, slots % WORD_BITS
        found = self._global_forms()[slots]
        everywhere = np.broadcast_to(regions[:, None], slots.shape)
        for column, signs in enumerate(self.signs[: self._current + 1]):
            if signs.layer > 1:
                here = columns == column
                ancestors = self.table.ancestors(signs.layer, everywhere[here])
                found[here] = self._chunks[column].numbers(ancestors, bits[here])
        return found

    def _global_forms(self) -> NDArray[np.int32]:
        """The numbers of the forms of constraints and of the first layer, by place."""
        found = np.zeros(WORD_BITS * len(self.signs), dtype=np.int32)
        for column, (signs, chunk) in enumerate(zip(self.signs, self._chunks, strict=True)):
            if signs.layer <= 1:
                bits = np.arange(len(signs.members))
                found[WORD_BITS * column + bits] = chunk.numbers(np.zeros_like(bits), bits)
        return found

    def _enter_layer(self) -> None:
        layer, words = self.table.layers, self._words_of(np.arange(len(self.vertices))[:, None])
        keys, cells = self._all_regions(words)
        columns = [column for column, signs in enumerate(self.signs) if signs.layer == layer]
        active = [
            unpacked(cells[:, column], len(self.signs[column].members)) > 0 for column in columns
        ]
        self.table.add_layer(self._regions_of(cells), np.concatenate(active, axis=1))
        self._region_keys = keys
        ends = self._words_of(self.lattice.edges.rows)
        self._regions = [Growable(self._regions_of(part)) for part in (words, ends)]

    # -- signs as keys --------------------------------------------------------------------------------------------

    def _masks(self) -> list[np.uint64]:
        """For each column the bits that stand for forms."""
        return [np.uint64((1 << len(signs.members)) - 1) for signs in self.signs]

    def _words_of(self, vertices: Indices | NDArray[np.int32], bit: int | None = None) -> Words:
        """The signs of cells given by vertices, shape (m, k); of the current words only the forms before `bit`."""
        stop = len(self.signs) if bit is None else self._current + 1
        every = [signs.words.buffer for signs in self.signs[:stop]]
        words = np.stack(
            [reduce(np.bitwise_or, [word[ends] for ends in vertices.T]) for word in every], axis=1
        )
        if bit is not None:
            done = np.uint64((1 << bit) - 1)
            words[:, -1] &= done | (done << _SHIFT)
        return words

    def _faces(self, words: Words, slots: Indices) -> _Faces:
        """The 2-faces around edges with these signs, on these forms."""
        edges, columns = (part.ravel() for part in np.indices(slots.shape))
        two_sided = np.flatnonzero(self._is_neuron(slots.ravel()))
        bits = _bit(slots.ravel())
        edges, columns = (
            np.concatenate([edges, edges[two_sided]]),
            np.concatenate([columns, columns[two_sided]]),
        )
        found = words[edges]
        signs = np.concatenate([bits, bits[two_sided] << _SHIFT])
        found[np.arange(len(edges)), slots[edges, columns] // WORD_BITS] |= signs
        return _Faces(edges, columns, found)

    def _is_neuron(self, slots: Indices) -> NDArray[np.bool_]:
        layers = np.array([signs.layer for signs in self.signs])
        return np.asarray(layers[slots // WORD_BITS] > 0)

    def _zero_slots(self, words: Words) -> Indices:
        """The slots of the d forms at each vertex."""
        size = self.frame.dimension
        zeros = [
            unpacked(_zeros(words[:, i], mask), WORD_BITS) for i, mask in enumerate(self._masks())
        ]
        row, found = np.nonzero(np.concatenate(zeros, axis=1))
        if not np.array_equal(row, np.repeat(np.arange(len(words)), size)):
            raise _NotSimpleError
        slots: Indices = found.reshape(-1, size)
        return slots

    def _regions_of(self, words: Words) -> Indices:
        """Regions of the newest layer that contain cells: those where all that is 0 becomes positive."""
        if not len(self._region_keys):
            return np.zeros(len(words), dtype=np.int64)
        columns = sum(signs.layer < self.table.layers for signs in self.signs)
        filled = words[:, :columns].copy()
        for column, mask in enumerate(self._masks()[:columns]):
            filled[:, column] |= _zeros(filled[:, column], mask)
        return np.searchsorted(self._region_keys, _keys(filled))

    def _all_regions(self, words: Words) -> tuple[Words, Words]:
        """Keys (ascending) and signs of all top cells, from the signs of the vertices."""
        slots = self._zero_slots(words)
        two_sided, bits = self._is_neuron(slots), _bit(slots)
        parts: list[Words] = []  # at most 2^d for each vertex, most of them equal
        for sides in product((0, 1), repeat=self.frame.dimension):
            possible = np.flatnonzero(two_sided[:, np.array(sides, dtype=bool)].all(axis=1))
            cells, rows = words[possible], np.arange(len(possible))
            for i, side in enumerate(sides):
                cells[rows, slots[possible, i] // WORD_BITS] |= bits[possible, i] << np.uint64(
                    WORD_BITS * side
                )
            parts.append(_distinct(cells)[1])
        return _distinct(np.concatenate(parts))


def _pairs(faces: _Faces) -> tuple[Indices, Indices]:
    """The two cut edges of every 2-face, as positions in the list."""
    keys = _keys(faces.words)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if not all_in_pairs(keys):
        raise _NotSimpleError
    return order[::2], order[1::2]


def _distinct(cells: Words) -> tuple[Words, Words]:
    """Keys (ascending) and signs of the different cells among many."""
    keys, first, same = np.unique(_keys(cells), return_index=True, return_inverse=True)
    if not np.array_equal(cells, cells[first[same]]):
        raise _NotSimpleError
    return keys, cells[first]


def _keys(words: Words) -> Words:
    """A key for each row of words, different for different rows but for bad luck."""
    keys = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        keys = (keys ^ word) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(32)
    return keys


def _bit(slots: Indices) -> Words:
    return _ONE << (slots % WORD_BITS).astype(np.uint64)


def _zeros(words: Words, mask: np.uint64) -> Words:
    """The bits of a mask that are neither positive nor negative."""
    zeros: Words = ~(words | (words >> _SHIFT)) & mask
    return zeros
