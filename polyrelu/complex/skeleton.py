"""Vertices and edges only, without the face lattice where a bounded complex is simple.

`skeleton` answers questions about vertices and edges where the cells of higher dimension are too
many to list. It shares the signs, forms and vertices of the `engine`, and overrides the steps that
touch cells of dimension 2 and more; where its assumptions fail, it builds the whole lattice.

A complex is *simple* if every vertex lies on exactly d of the forms, constraints and neurons. In
every region at a vertex its d forms are independent: taken one after the other, each of them is
affine on the least cell so far that contains the vertex and lowers its dimension by at most one,
and after d of them the dimension is 0. So the cells around the vertex correspond to the ways of
giving signs to these forms, where a constraint has only one possible sign, and the signs of
vertices and edges determine the cells of every dimension:

* The 2-faces around an edge are the ways of giving a sign to one of the d - 1 forms that vanish on
  it. A form that cuts a 2-face meets exactly two of its edges; cut edges are paired by their
  2-faces, and every pair consists of the two ends of a new edge.
* The regions at a vertex are the ways of giving signs to its d forms; every region has a vertex.

Sign vectors are compared by 64-bit keys, and collisions do no harm: a key that stands for two
2-faces has four cut edges instead of two, and regions must have different keys. Where that fails,
or the complex turns out not to be simple, the whole lattice is built. Simplicity is checked once
for the vertices of the domain, and after every neuron, cut or not: its form must vanish at the new
vertices and nowhere else. (Unbounded domains are seldom simple at infinity: where one neuron is
active, the forms of the next layer are parallel.)
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
from polyrelu.complex.engine.compiled import subdivision_of
from polyrelu.complex.engine.face_lattice import WORD_BITS, Cut, Lattice
from polyrelu.complex.engine.subdivision import Chunk, Subdivision, completed, unpacked
from polyrelu.complex.frame import frame_of
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import NeuronId
from polyrelu.support.arguments import expect_function, expect_integer
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Indices, Words

__all__ = ["Skeleton", "skeleton"]


_SHIFT = np.uint64(WORD_BITS)
_ONE = np.uint64(1)


def skeleton(
    network: NetworkLike, domain: DomainLike = None, *, progress: Progress | None = None
) -> Skeleton:
    """Compute the vertices and edges of the canonical polyhedral complex.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; degenerate networks are included.
    domain
        A nonempty polyhedron in R^{n_0}, of any dimension, or a text such as ``"box:-1,1"``; None
        for R^{n_0}.
    progress
        Called with a `polyrelu.support.ProgressStep` after every cut; the constraints of the domain
        come before the first neuron.

    Returns
    -------
    Skeleton
        The vertices and edges. After Ctrl-C they belong to the complex of the neurons whose cuts
        were done, and `complete` is False.

    Raises
    ------
    DomainError
        As for `canonical_complex`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> found = skeleton(from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])]))
    >>> found.f_vector, found.vertex(0)
    ((3, 9), (Fraction(0, 1), Fraction(0, 1)))
    """
    network = as_network(network)
    polyhedron = as_domain(domain, network.num_inputs)
    expect_function(progress, "progress")
    frame = frame_of(network, polyhedron)
    if frame.dimension > 2 and polyhedron.is_bounded():
        simple = _SimpleSubdivision(network, frame)
        try:
            return Skeleton(simple, polyhedron, *completed(simple, progress), without_lattice=True)
        except _NotSimpleError:
            pass
    subdivision = subdivision_of(network, frame)
    return Skeleton(
        subdivision, polyhedron, *completed(subdivision, progress), without_lattice=False
    )


class Skeleton:
    """The vertices and edges of a canonical polyhedral complex, made by `skeleton`.

    Where the complex has a lineality space of dimension m, these are its cells of dimension m and
    m + 1.

    Attributes
    ----------
    network
        The network whose complex it is.
    domain
        The polyhedron that the cells subdivide.
    neurons
        The hidden neurons whose cuts are done, in order; all hidden neurons if `complete`.
    complete
        Whether all cuts are done; False after Ctrl-C.
    edges
        The vertices at the ends of each edge, -1 for an end at infinity; two per edge.
    lineality
        A basis, in primitive integers, of the directions along which no sign changes.
    without_lattice
        Whether cells of higher dimension were avoided; this takes a bounded domain with d > 2 and a
        simple complex.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> found = skeleton(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> found.edges.tolist(), found.signs(0).tolist()
    ([[-1, 1], [-1, 0], [0, 1]], [[0, -1], [1, 0]])
    """

    def __init__(
        self,
        subdivision: Subdivision,
        domain: Polyhedron,
        neurons: tuple[NeuronId, ...],
        complete: bool,
        without_lattice: bool,
    ) -> None:
        """See `skeleton`."""
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
        self.edges: Indices = read_only(np.where(finite, np.cumsum(finite) - 1, -1)[self._ends])

    def __repr__(self) -> str:
        counts = [(len(self._vertices), "vertex"), (len(self.edges), "edge")]
        end = "" if self.complete else ", incomplete"
        return f"<Skeleton, {count_text(counts)}{end}>"

    @property
    def f_vector(self) -> tuple[int, int]:
        """The number of vertices and the number of edges."""
        return len(self._vertices), len(self.edges)

    def signs(self, dimension: int) -> NDArray[np.int8]:
        """Return the signs of the neurons on the vertices (0) or edges (1).

        The shape is (number of cells, number of neurons), in the order of `neurons`.
        """
        return self._sign_columns(dimension, hidden=True)[:, : len(self.neurons)]

    def constraint_signs(self, dimension: int) -> NDArray[np.int8]:
        """Return the signs of c - a·x for the inequalities of the domain on vertices or edges.

        1 stands for the open side and 0 for the boundary; shape (number of cells, number of
        inequalities).
        """
        return self._sign_columns(dimension, hidden=False)

    def _sign_columns(self, dimension: int, hidden: bool) -> NDArray[np.int8]:
        """The signs of all hidden neurons, or of all constraints of the domain."""
        if expect_integer(dimension, "dimension") not in (0, 1):
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
        """Return the exact coordinates of a vertex."""
        index = expect_integer(index, "index")
        if not 0 <= index < len(self._vertices):
            raise DomainError(f"there is no vertex {index}, only {len(self._vertices)} vertices")
        return self._frame.embedded(self._store.exact(int(self._vertices[index])))

    def ray(self, edge: int) -> tuple[int, ...]:
        """Return the primitive direction in which an edge with an end at infinity is unbounded."""
        edge = expect_integer(edge, "edge")
        if not 0 <= edge < len(self.edges):
            raise DomainError(f"there is no edge {edge}, only {len(self.edges)} edges")
        at_infinity = self._ends[edge][self.edges[edge] < 0]
        if not len(at_infinity):
            raise DomainError(f"edge {edge} is bounded")
        return self._frame.direction(self._store.exact(int(at_infinity[0])))


class _NotSimpleError(Exception):
    """A vertex lies on more than d forms, or, very improbably, two different keys are equal."""


@dataclass(frozen=True, slots=True)
class _Faces:
    """The 2-faces around cut edges: each of them gives a sign to one form of its edge.

    A 2-face is listed once for each of its cut edges.

    Attributes
    ----------
    edges
        The position of the edge among the cut edges.
    columns
        The position, among the forms of the edge, of the form that gets a sign.
    words
        The signs of the 2-face, a row for each.
    """

    edges: Indices
    columns: Indices
    words: Words


class _SimpleSubdivision(Subdivision):
    """A subdivision of the vertices and edges of a bounded domain.

    The signs of a cell are words side by side, in the order of `signs`. A form is named by its
    *slot* there, 32·(column of the word) + (bit). The base consists of constraints, and nothing is
    at infinity once the domain has been cut out.
    """

    #: the slots of the d - 1 forms that vanish on each edge
    _slots: Growable
    #: the keys of the regions of the newest layer, ascending
    _region_keys: Words

    def part(self, top: Indices) -> Subdivision:
        """Not possible: parts are made from regions, which a skeleton does not list."""
        raise AssertionError("a skeleton has no top cells to make parts of")

    # -- overridden steps --------------------------------------------------------------------------

    def _cut_with_constraints(self) -> Iterator[tuple[int, range]]:
        """Cut out the domain with the whole lattice, then drop all but vertices and edges."""
        yield from super()._cut_with_constraints()
        self._region_keys = np.zeros(0, dtype=np.uint64)
        words = self._words_of(np.arange(len(self.vertices))[:, None])
        self._zero_slots(words)  # raises an error unless the domain is simple
        self.lattice = Lattice(1, self.lattice.size(0), self.lattice.edges.rows, [[], []])
        self._cell_forms, self._regions = self._cell_forms[:2], self._regions[:2]
        self._slots = Growable(
            self._cell_forms[1].rows.astype(np.int64) - 1
        )  # the constraints follow infinity

    def _cut_with(self, layer: int, members: range) -> Iterator[tuple[int, range]]:
        before = len(self.vertices)
        for step in super()._cut_with(layer, members):
            if layer:
                self._need_simple(step[1][0], before)
                before = len(self.vertices)
            yield step

    def _need_simple(self, member: int, before: int) -> None:
        """Raise an error unless the newest form vanishes at its new vertices and nowhere else."""
        bit = member % WORD_BITS
        mask = np.uint64(1 << bit | 1 << (bit + WORD_BITS))
        if ((self.lattice.words[0].rows[:before] & mask) == 0).any():
            raise _NotSimpleError

    def _extend_cells(self, chunk: Chunk, bit: int, cut: Cut) -> None:
        """Append regions and forms of the second parts of cut edges, and new edges in 2-faces."""
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
        own = np.full((len(owners), 1), WORD_BITS * self._current + bit)
        new_slots = np.concatenate([slots[owners][others].reshape(len(owners), -1), own], axis=1)
        self._regions[1].append(np.concatenate([regions, in_regions]))
        self._cell_forms[1].append(np.concatenate([forms, self._forms_at(new_slots, in_regions)]))
        self._slots.append(np.concatenate([slots, new_slots]))

    def _forms_at(self, slots: Indices, regions: Indices) -> NDArray[np.int32]:
        """The numbers of the forms in given slots on regions of the newest layer, shape (m, k).

        They can differ from the numbers on the edges around: where a neuron changes its sign, the
        forms of later layers change.
        """
        columns, bits = slots // WORD_BITS, slots % WORD_BITS
        forms = self._global_forms()[slots]
        everywhere = np.broadcast_to(regions[:, None], slots.shape)
        for column, signs in enumerate(self.signs[: self._current + 1]):
            if signs.layer > 1:
                here = columns == column
                ancestors = self.table.ancestors(signs.layer, everywhere[here])
                forms[here] = self._chunks[column].numbers(ancestors, bits[here])
        return forms

    def _global_forms(self) -> NDArray[np.int32]:
        """The numbers of the forms of constraints and of the first layer, by slot."""
        forms = np.zeros(WORD_BITS * len(self.signs), dtype=np.int32)
        for column, (signs, chunk) in enumerate(zip(self.signs, self._chunks, strict=True)):
            if signs.layer <= 1:
                bits = np.arange(len(signs.members))
                forms[WORD_BITS * column + bits] = chunk.numbers(np.zeros_like(bits), bits)
        return forms

    def _enter_layer(self) -> None:
        layer, words = self.table.num_layers, self._words_of(np.arange(len(self.vertices))[:, None])
        keys, cells = self._all_regions(words)
        columns = [column for column, signs in enumerate(self.signs) if signs.layer == layer]
        active = [
            unpacked(cells[:, column], len(self.signs[column].members)) > 0 for column in columns
        ]
        self.table.add_layer(self._regions_of(cells), np.concatenate(active, axis=1))
        self._region_keys = keys
        ends = self._words_of(self.lattice.edges.rows)
        self._regions = [Growable(self._regions_of(part)) for part in (words, ends)]

    # -- signs as keys -----------------------------------------------------------------------------

    def _masks(self) -> list[np.uint64]:
        """For each column of words the bits that belong to forms."""
        return [np.uint64((1 << len(signs.members)) - 1) for signs in self.signs]

    def _words_of(self, vertices: Indices | NDArray[np.int32], bit: int | None = None) -> Words:
        """The signs of cells with given vertices, shape (m, k).

        If `bit` is given, only the words up to the current one, and of it the forms before `bit`.
        """
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
        """The 2-faces around edges with given signs, where the forms in given slots vanish."""
        edges, columns = (part.ravel() for part in np.indices(slots.shape))
        two_sided = np.flatnonzero(self._is_neuron(slots.ravel()))
        bits = _bit(slots.ravel())
        edges, columns = (
            np.concatenate([edges, edges[two_sided]]),
            np.concatenate([columns, columns[two_sided]]),
        )
        face_words = words[edges]
        signs = np.concatenate([bits, bits[two_sided] << _SHIFT])
        face_words[np.arange(len(edges)), slots[edges, columns] // WORD_BITS] |= signs
        return _Faces(edges, columns, face_words)

    def _is_neuron(self, slots: Indices) -> NDArray[np.bool_]:
        layers = np.array([signs.layer for signs in self.signs])
        return np.asarray(layers[slots // WORD_BITS] > 0)

    def _zero_slots(self, words: Words) -> Indices:
        """The slots of the d forms that vanish at each vertex, shape (m, d)."""
        size = self.frame.dimension
        zeros = [
            unpacked(_zeros(words[:, i], mask), WORD_BITS) for i, mask in enumerate(self._masks())
        ]
        rows, columns = np.nonzero(np.concatenate(zeros, axis=1))
        if not np.array_equal(rows, np.repeat(np.arange(len(words)), size)):
            raise _NotSimpleError
        slots: Indices = columns.reshape(-1, size)
        return slots

    def _regions_of(self, words: Words) -> Indices:
        """Regions of the newest layer whose closures contain cells with given signs.

        The region of a cell is the one where all forms that vanish on the cell are positive.
        """
        if not len(self._region_keys):
            return np.zeros(len(words), dtype=np.int64)
        columns = sum(signs.layer < self.table.num_layers for signs in self.signs)
        filled = words[:, :columns].copy()
        for column, mask in enumerate(self._masks()[:columns]):
            filled[:, column] |= _zeros(filled[:, column], mask)
        return np.searchsorted(self._region_keys, _keys(filled))

    def _all_regions(self, words: Words) -> tuple[Words, Words]:
        """Keys (ascending) and signs of all regions, from the signs of the vertices."""
        slots = self._zero_slots(words)
        two_sided, bits = self._is_neuron(slots), _bit(slots)
        parts: list[Words] = []  # at most 2^d regions for each vertex, many of them equal
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
    """The positions in the lists of `faces` of the two cut edges of every 2-face."""
    keys = _keys(faces.words)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if not all_in_pairs(keys):
        raise _NotSimpleError
    return order[::2], order[1::2]


def _distinct(cells: Words) -> tuple[Words, Words]:
    """Keys (ascending) and signs of the distinct rows of signs."""
    keys, first, same = np.unique(_keys(cells), return_index=True, return_inverse=True)
    if not np.array_equal(cells, cells[first[same]]):
        raise _NotSimpleError
    return keys, cells[first]


def _keys(words: Words) -> Words:
    """A 64-bit hash of each row of words."""
    keys = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        keys = (keys ^ word) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(32)
    return keys


def _bit(slots: Indices) -> Words:
    return _ONE << (slots % WORD_BITS).astype(np.uint64)


def _zeros(words: Words, mask: np.uint64) -> Words:
    """The bits of a mask whose forms are neither positive nor negative."""
    zeros: Words = ~(words | (words >> _SHIFT)) & mask
    return zeros
