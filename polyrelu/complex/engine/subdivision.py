"""The subdivision of a domain by all neurons: constraint by constraint, then neuron by neuron.

`Subdivision` joins lattice, vertices and forms and does the cuts in order; `completed` runs it to
the end or to Ctrl-C. `skeleton` overrides the steps that touch cells of dimension 2 and more.

First, d independent constraints and neurons of layer 1 cut out the first cells (`arrangement`).
Then every constraint and every neuron makes one cut: signs at the vertices, new vertices on the cut
edges, new cells (`Lattice.split`). Signs are packed into words of up to 32 forms, and the lattice
holds one word at a time. The signs of all forms of a layer at the vertices so far are decided
together, when the first word of the layer begins. A vertex that is made later takes over the signs
of its edge; where a form changes its sign on the edge, the sign at the vertex is decided when the
word of that form begins.

Each cell also knows a region of the newest layer that contains it, and the d - k forms on which it
lies; both are arrays in the order of the lattice, and every change of the lattice must change them
alike.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.affine_forms import FormTable
from polyrelu.complex.engine.arrangement import orthants
from polyrelu.complex.engine.arrays import Growable
from polyrelu.complex.engine.face_lattice import WORD_BITS, Cut
from polyrelu.complex.engine.vertices import SignTables, Vertices
from polyrelu.complex.frame import Frame, refuse_cells
from polyrelu.errors import DomainError
from polyrelu.exact import UNDECIDED, RationalMatrix, solve
from polyrelu.network import Network, NeuronId
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Floats, Indices, Words

__all__ = ["Chunk", "SignWords", "Subdivision", "completed", "packed", "unpacked"]


_LOW = np.uint64((1 << WORD_BITS) - 1)
_SHIFT = np.uint64(WORD_BITS)
_BITS = np.arange(WORD_BITS, dtype=np.uint64)
_BIT = np.uint64(1) << _BITS


@dataclass(frozen=True, slots=True)
class SignWords:
    """The signs of up to 32 forms at all vertices.

    Attributes
    ----------
    layer
        The layer of the neurons; 0 for constraints of the domain.
    members
        The indices of the neurons or constraints, in the order of the bits.
    words
        The words of the vertices, see `Lattice`; shape (f_0,).
    """

    layer: int
    members: tuple[int, ...]
    words: Growable


class Chunk(Protocol):
    """The forms that belong to the bits of a word: up to 32 neurons or constraints."""

    def numbers(self, regions: Indices, bits: Indices | int) -> Indices:
        """Return the numbers of the forms of the given bits on the given regions, pair by pair."""

    def copy(self, table: FormTable) -> Chunk:
        """Return a copy that reads, and adds forms to, a copy of the table."""


@dataclass(frozen=True, slots=True)
class _DenseChunk:
    """Forms that all have rows: the form of bit b on region r has the number first + b + r·stride.

    Attributes
    ----------
    first
        The number of the form of bit 0 on region 0.
    stride
        The number of forms per region; 0 for forms that are the same everywhere.
    """

    first: int
    stride: int

    def numbers(self, regions: Indices, bits: Indices | int) -> Indices:
        """See `Chunk`."""
        numbers: Indices = self.first + regions * self.stride + bits
        return numbers

    def copy(self, table: FormTable) -> Chunk:
        """See `Chunk`."""
        return self


class _SparseChunk:
    """Neurons of the last layer, whose forms are computed on first use."""

    def __init__(self, table: FormTable, first: int, known: NDArray[np.int32]) -> None:
        """Make a chunk; `known[r, b]` is the number of the form of neuron first + b, or -1."""
        self._table, self._first, self._known = table, first, known

    def numbers(self, regions: Indices, bits: Indices | int) -> Indices:
        """See `Chunk`."""
        known = self._known[regions, bits]
        missing = np.flatnonzero(known < 0)
        if len(missing):
            bits = np.broadcast_to(bits, regions.shape)
            pairs = np.unique(regions[missing] * WORD_BITS + bits[missing])
            new_regions, new_bits = np.divmod(pairs, WORD_BITS)
            self._known[new_regions, new_bits] = self._table.add_forms(
                new_regions, new_bits + self._first
            )
            known = self._known[regions, bits]
        numbers: Indices = known.astype(np.int64)
        return numbers

    def copy(self, table: FormTable) -> Chunk:
        """See `Chunk`."""
        return _SparseChunk(table, self._first, self._known.copy())


class Subdivision:
    """A complex that is being subdivided.

    Attributes
    ----------
    network
        The network whose neurons cut.
    frame
        The coordinates of the domain.
    lattice
        The cells, those at infinity included.
    vertices
        The vertices of the lattice.
    table
        The forms of all layers that have been entered.
    signs
        The signs, at the vertices, of all constraints and of the neurons of these layers.
    """

    def __init__(self, network: Network, frame: Frame) -> None:
        _need_vertices(frame)
        _need_few_cells(frame)
        self.network, self.frame = network, frame
        self.table = FormTable(network, frame)
        self.table.add_first_layer()
        self.signs: list[SignWords] = []
        self.vertices = Vertices(self.table, [[0] * frame.dimension + [1], *frame.base_rows()])
        self._make_first_cells()

    def _make_first_cells(self) -> None:
        """Make lattice and vertices, and the regions and forms of the cells."""
        self.lattice, base_signs, cell_forms = orthants(self._sides())
        numbers = self._base_numbers()
        base = RationalMatrix.from_integers(self.frame.base_rows(), ncols=self.frame.dimension + 1)
        self.vertices.append(
            _orthant_vertices(base, base_signs), numbers[cell_forms[0]], base_signs
        )
        #: for every k the numbers of the d - k forms that vanish on each cell of dimension k
        self._cell_forms = [
            self.vertices.forms,
            *(Growable(numbers[forms]) for forms in cell_forms[1:]),
        ]
        #: for every k a region of the newest layer that contains each cell of dimension k
        self._regions = [
            Growable(np.zeros(self.lattice.size(k), dtype=np.int64))
            for k in range(self.frame.dimension + 1)
        ]
        #: the forms of each entry of `signs`
        self._chunks: list[Chunk] = []
        #: the entry of `signs` whose words are in the lattice
        self._current = 0

    def _sides(self) -> list[tuple[int, ...]]:
        """Return the signs that are wanted of each base form."""
        count = self.frame.constraints.nrows
        return [(1,) if i < count else (1, -1) for i in self.frame.base]

    def _base_numbers(self) -> NDArray[np.int32]:
        """Return the numbers of the form t and of the base forms."""
        return np.array([0, *(1 + index for index in self.frame.base)], dtype=np.int32)

    # -- steps -------------------------------------------------------------------------------------

    def num_cells(self, k: int) -> int:
        """Return the number of cells of dimension k, those at infinity included."""
        return self.lattice.size(k)

    def finish(self) -> None:
        """Get the attributes ready to be read, after the last cut."""

    @property
    def has_regions(self) -> bool:
        """Whether the lattice has cells of all dimensions, and not only vertices and edges."""
        return self.lattice.dimension == self.frame.dimension

    @property
    def least_neurons(self) -> int:
        """Number of neurons after which the subdivision may be left.

        Neurons of the base cut from the start, so that they must be done.
        """
        return max(self.frame.base, default=-1) + 1 - self.frame.constraints.nrows

    def steps(self, one_by_one: bool = False) -> Iterator[tuple[int, range]]:
        """Do all cuts; yield (layer, members) after some of them, layer 0 for constraints.

        At a yield the lattice is consistent, so that the subdivision can be left there once
        `least_neurons` neurons are done. `one_by_one` asks for a yield after every cut.
        """
        yield from self._cut_with_constraints()
        for layer, members in self._tasks():
            yield from self._cut_with(layer, members)

    def parts(self, limit: int) -> Iterator[Subdivision]:
        """Do all cuts in parts; yield the finished parts one after the other.

        A part that has more than `limit` top cells before a word of forms is divided into parts
        with at most `limit` of them. Every top cell of the complex belongs to exactly one part;
        other cells can belong to several.
        """
        yield from self.finished_parts(self.undivided(limit), limit)

    def undivided(self, limit: int) -> list[tuple[int, range]]:
        """Do the cuts of all words before which there are at most `limit` top cells.

        Returns
        -------
        list of (layer, range)
            The words that are left, for `finished_parts`.
        """
        for _ in self._cut_with_constraints():
            pass
        return self.cut_while_small(self._tasks(), limit)

    def finished_parts(self, left: list[tuple[int, range]], limit: int) -> Iterator[Subdivision]:
        """Yield the finished parts when the cuts of some words are left, see `parts`."""
        left = self.cut_while_small(left, limit)
        if not left:
            self.finish()
            yield self
            return
        for top in self.slices(limit):
            yield from self.part(top).finished_parts(left, limit)

    def cut_while_small(self, left: list[tuple[int, range]], limit: int) -> list[tuple[int, range]]:
        """Do the cuts of the words before which there are at most `limit` top cells.

        Parameters
        ----------
        left
            The words whose cuts are to be done.

        Returns
        -------
        list of (layer, range)
            The words that are left; none if all cuts are done, and `finish` may be called.
        """
        for position, (layer, members) in enumerate(left):
            if self.num_cells(self.frame.dimension) > limit:
                return left[position:]
            for _ in self._cut_with(layer, members):
                pass
        return []

    def slices(self, size: int) -> list[Indices]:
        """Return the top cells in slices of at most `size`."""
        count = self.num_cells(self.frame.dimension)
        return [np.arange(start, min(start + size, count)) for start in range(0, count, size)]

    def _tasks(self) -> list[tuple[int, range]]:
        """Return the words of neurons in order: layers, and ranges of up to 32 neurons."""
        widths = self.network.widths[1 : self.network.num_hidden_layers + 1]
        return [
            (layer, range(start, min(start + WORD_BITS, width)))
            for layer, width in enumerate(widths, 1)
            for start in range(0, width, WORD_BITS)
        ]

    def _cut_with_constraints(self) -> Iterator[tuple[int, range]]:
        count = self.frame.constraints.nrows
        for start in range(0, count, WORD_BITS):
            for layer, members in self._cut_with(0, range(start, min(start + WORD_BITS, count))):
                self._drop_negative(members[0] - start)
                yield layer, members

    def _cut_with(self, layer: int, members: range) -> Iterator[tuple[int, range]]:
        """Cut with the constraints or neurons of one word; yield after each of them."""
        if layer > self.table.num_layers:
            self._enter_layer()
        self._current = self._position(layer, members)
        words = self.signs[self._current].words.rows
        self.lattice.set_words(
            self._settled(words, 0, self._chunks[self._current], self._regions[0].rows)
        )
        self._share_words()
        chunk = self._chunks[self._current]
        for bit, member in enumerate(members):
            cut = self.lattice.split(bit, partial(self._new_vertices, bit))
            if cut is not None:
                self._extend_cells(chunk, bit, cut)
            yield layer, range(member, member + 1)

    def _position(self, layer: int, members: range) -> int:
        """Return the entry of `signs` for these forms; the first call decides the layer's signs."""
        if all(signs.layer != layer for signs in self.signs):
            self._decide(layer)
        return next(
            i
            for i, signs in enumerate(self.signs)
            if (signs.layer, signs.members[0]) == (layer, members[0])
        )

    def _share_words(self) -> None:
        """Let the current entry of `signs` use the words of the lattice, which grow with it."""
        if not self.signs:
            return
        self.signs[self._current] = replace(self.signs[self._current], words=self.lattice.words[0])

    def _decide(self, layer: int) -> None:
        """Decide the signs of all forms of a layer at the vertices so far.

        Vertices that are made later get their signs in `_new_vertices`.
        """
        width = self.network.widths[layer] if layer else self.frame.constraints.nrows
        ranges = [
            range(start, min(start + WORD_BITS, width)) for start in range(0, width, WORD_BITS)
        ]
        chunks = [self._chunk(layer, members) for members in ranges]
        signs = self._signs_at_vertices(layer, chunks, width)
        for members in ranges:
            words = packed(signs[:, members.start : members.stop])
            self.signs.append(SignWords(layer, tuple(members), Growable(words)))
        self._chunks += chunks

    def _chunk(self, layer: int, members: range) -> Chunk:
        """Return the forms of one word of a layer."""
        if layer == 0:  # the constraints follow infinity in the table
            return _DenseChunk(1 + members.start, 0)
        if self.table.is_dense(layer):
            return _DenseChunk(
                self.table.first_number(layer) + members.start, self.network.widths[layer]
            )
        unknown = np.full((self.table.regions(layer), len(members)), -1, dtype=np.int32)
        return _SparseChunk(self.table, members.start, unknown)

    def _enter_layer(self) -> None:
        """Append the next layer to the table of forms, with the top cells as its regions."""
        top = self.frame.dimension
        layer = self.table.num_layers
        active = self.positive(layer, top)
        self.table.add_layer(self._regions[top].rows.copy(), active)
        regions = np.arange(self.lattice.size(top))
        self._regions[top] = Growable(regions)
        for k in range(top, 0, -1):
            below = np.zeros(self.lattice.size(k - 1), dtype=np.int64)
            facets, counts = self.lattice.facets_of(k, np.arange(self.lattice.size(k)))
            below[facets] = np.repeat(regions, counts)
            self._regions[k - 1] = Growable(below)
            regions = below

    def positive(self, layer: int, k: int) -> NDArray[np.bool_]:
        """Return which neurons of a layer are positive on cells of dimension k, shape (f_k, n)."""
        parts = []
        for signs in self.signs:
            if signs.layer == layer:
                words = self.lattice.words_of_cells(signs.words.rows)[k]
                low = (
                    np.ascontiguousarray(words, dtype="<u8")
                    .view(np.uint8)
                    .reshape(-1, 8)[:, : WORD_BITS // 8]
                )
                parts.append(
                    np.unpackbits(low, axis=1, count=len(signs.members), bitorder="little")
                )
        return np.concatenate(parts, axis=1).astype(bool)

    def facet_forms(self) -> NDArray[np.int32]:
        """Return the number of the form that vanishes on each cell of codimension 1."""
        if self.frame.dimension == 0:
            return np.zeros(0, dtype=np.int32)
        forms: NDArray[np.int32] = self._cell_forms[self.frame.dimension - 1].rows[:, 0]
        return forms

    def newest_regions(self) -> Indices:
        """Return for each top cell the region of the newest layer that contains it."""
        regions: Indices = self._regions[self.frame.dimension].rows
        return regions

    # -- signs -------------------------------------------------------------------------------------

    def _signs_at_vertices(self, layer: int, chunks: list[Chunk], width: int) -> NDArray[np.int8]:
        """Return the signs of all forms of a layer at the vertices, shape (f_0, width)."""
        regions = self._regions[0].rows
        if layer == 0 or self.table.is_dense(layer):
            signs = self.vertices.certain_sign_table(self._sign_tables(layer), regions)
        else:
            signs = self.vertices.certain_signs_of_last_layer(width, regions)
            for start, chunk in zip(range(0, width, WORD_BITS), chunks, strict=True):
                here = signs[:, start : start + WORD_BITS]
                vertices, bits = np.nonzero(here == UNDECIDED)
                here[vertices, bits] = self.vertices.certain_signs(
                    vertices, chunk.numbers(regions[vertices], bits)
                )
        first = 0 if layer == 0 else self.frame.constraints.nrows
        if layer <= 1:  # the signs of the base are known from the start
            for position, index in enumerate(self.frame.base, 1):
                if first <= index < first + width:
                    signs[:, index - first] = self.vertices.base_signs.rows[:, position]
        for vertex, member in np.argwhere(signs == UNDECIDED).tolist():
            number = chunks[member // WORD_BITS].numbers(
                regions[vertex : vertex + 1], member % WORD_BITS
            )[0]
            signs[vertex, member] = self.vertices.exact_sign(vertex, int(number))
        return signs

    def _sign_tables(self, layer: int) -> SignTables:
        if layer:
            return SignTables(
                self.table.layer_rows(layer),
                self.table.layer_errors(layer),
                self.table.layer_norms(layer),
            )
        numbers = slice(1, 1 + self.frame.constraints.nrows)
        rows = self.table.rows.rows[None, numbers]
        with np.errstate(over="ignore"):
            norms = np.abs(rows).sum(axis=2)
        return SignTables(rows, self.table.errors.rows[None, numbers], norms)

    @np.errstate(all="ignore")
    def _new_vertices(self, bit: int, cut: Cut) -> Words:
        """Append the points where a form vanishes on the cut edges; return their words.

        A form of an earlier cut has the same sign on the whole edge, which the new vertex takes
        over. A form whose cut is still to come can have both signs on the edge; then the new vertex
        gets both, until `_settled` decides: at once for forms of the current word, and for others
        when their word begins.
        """
        edges, (positive, negative) = cut.cells[1], cut.ends.T
        regions = self._regions[1].buffer[edges]
        forms = self._chunks[self._current].numbers(regions, bit)
        rows, coordinates = self.table.rows.buffer[forms], self.vertices.coordinates.buffer
        ends = coordinates[positive], coordinates[negative]
        values = [np.abs(np.einsum("mi,mi->m", rows, end))[:, None] for end in ends]
        base_signs = self.vertices.base_signs.buffer
        lies_on = [self._cell_forms[1].buffer[edges], forms[:, None].astype(np.int32)]
        self.vertices.append(
            values[1] * ends[0] + values[0] * ends[1],
            np.concatenate(lies_on, axis=1),
            # 0 | s = s | s = s; the ends never have opposite signs.
            base_signs[positive] | base_signs[negative],
        )
        self._regions[0].append(regions)
        bits = np.uint64(1 << bit | 1 << (bit + WORD_BITS))
        for position, signs in enumerate(self.signs):
            words = signs.words.buffer[positive] | signs.words.buffer[negative]
            if position == self._current:
                first = len(self.vertices) - len(words)
                new_words = self._settled(words & ~bits, first, self._chunks[position], regions)
            else:
                signs.words.append(words)
        return new_words

    def _settled(self, words: Words, first: int, chunk: Chunk, regions: Indices) -> Words:
        """Return the words of the vertices from `first` on, with one sign or 0 for every form.

        Parameters
        ----------
        words
            Words that have both signs where the sign must be decided.
        first
            The number of the vertex of the first word.
        chunk
            The forms of the words.
        regions
            Regions that contain the vertices.
        """
        both = words & (words >> _SHIFT) & _LOW
        if not both.any():
            return words
        rows, bits = np.nonzero((both[:, None] >> _BITS) & np.uint64(1))
        forms = chunk.numbers(regions[rows], bits)
        signs = self.vertices.certain_signs(first + rows, forms)
        for position in np.flatnonzero(signs == UNDECIDED).tolist():
            signs[position] = self.vertices.exact_sign(
                first + int(rows[position]), int(forms[position])
            )
        words = words & ~(both | (both << _SHIFT))
        decided = np.where(
            signs > 0, _BIT[bits], np.where(signs < 0, _BIT[bits] << _SHIFT, np.uint64(0))
        )
        np.bitwise_or.at(words, rows, decided)
        return words

    # -- cells -------------------------------------------------------------------------------------

    def _extend_cells(self, chunk: Chunk, bit: int, cut: Cut) -> None:
        """Append regions and forms of the new cells of dimension ≥ 1, in the order of `Cut`."""
        top = self.frame.dimension
        parents = [
            None,
            *(
                (self._regions[k].buffer[cut.cells[k]], self._cell_forms[k].buffer[cut.cells[k]])
                for k in range(1, top + 1)
            ),
        ]
        for k in range(1, top + 1):
            cut_cells = parents[k]
            assert cut_cells is not None
            self._regions[k].append(cut_cells[0])
            self._cell_forms[k].append(cut_cells[1])
            if k < top:
                above = parents[k + 1]
                assert above is not None
                forms = chunk.numbers(above[0], bit)[:, None].astype(np.int32)
                self._regions[k].append(above[0])
                self._cell_forms[k].append(np.concatenate([above[1], forms], axis=1))

    def _drop_negative(self, bit: int) -> None:
        """Drop the cells on which the constraint of a bit is violated."""
        negative = np.uint64(1 << (bit + WORD_BITS))
        marked = [(words.rows & negative) == 0 for words in self.lattice.words]
        if all(mark.all() for mark in marked):
            return
        self._restrict(marked)

    def _restrict(self, marked: list[NDArray[np.bool_]]) -> None:
        """Keep the marked cells only, in new arrays; the old arrays stay as they are."""
        self.lattice = self.lattice.restricted(marked)
        self.vertices = self.vertices.restricted(marked[0])
        self._regions = [
            regions.restricted(mark) for regions, mark in zip(self._regions, marked, strict=True)
        ]
        higher = [
            forms.restricted(mark)
            for forms, mark in zip(self._cell_forms[1:], marked[1:], strict=True)
        ]
        self._cell_forms = [self.vertices.forms, *higher]
        self.signs = [
            replace(signs, words=signs.words.restricted(marked[0])) for signs in self.signs
        ]
        self._share_words()

    def part(self, top: Indices) -> Subdivision:
        """Return an independent copy that has the given top cells and their faces only."""
        part = copy.copy(self)
        part.table = self.table.copy()
        part._chunks = [chunk.copy(part.table) for chunk in self._chunks]
        part._restrict(self.lattice.closure(top))
        part.vertices.set_table(part.table)
        return part


def completed(
    subdivision: Subdivision, progress: Progress | None
) -> tuple[tuple[NeuronId, ...], bool]:
    """Do all cuts, or the cuts until Ctrl-C.

    Returns
    -------
    neurons
        The neurons whose cuts are done, in order.
    complete
        Whether these are all hidden neurons.
    """
    neurons = subdivision.network.neurons
    num_done = 0
    with deferred_interrupt() as interrupt:
        for layer, members in subdivision.steps(one_by_one=progress is not None):
            if layer:
                num_done += len(members)
            if progress is not None:
                _report_cut(progress, subdivision, layer, num_done, len(neurons))
            if interrupt.requested and layer and num_done >= subdivision.least_neurons:
                break
        subdivision.finish()
    return neurons[:num_done], num_done == len(neurons)


def _report_cut(
    progress: Progress, subdivision: Subdivision, layer: int, num_done: int, num_neurons: int
) -> None:
    """Report the neurons that have cut, and the number of regions (or of edges)."""
    dimension = subdivision.frame.dimension if subdivision.has_regions else 1
    cells = {"regions" if subdivision.has_regions else "edges": subdivision.num_cells(dimension)}
    details = {"layer": layer, **cells} if layer else cells
    report(progress, "cutting cells", num_done, num_neurons, "neurons", details)


def _need_vertices(frame: Frame) -> None:
    """Raise an error if the cells of the first cuts have no vertices to build on."""
    if len(frame.base) < frame.dimension:
        raise DomainError(
            "a skip connection reads the input in a direction that layer 1 does not see, so that "
            "the cells of the first layers contain lines; use a bounded domain such as "
            "box:-1000,1000, or walk from region to region (`polyrelu complex "
            "--regions-only`, walk_regions)"
        )


def _need_few_cells(frame: Frame) -> None:
    """Raise an error where the first cells alone would take all memory."""
    one_sided = sum(index < frame.constraints.nrows for index in frame.base)
    two_sided = frame.dimension - one_sided
    refuse_cells(one_sided, two_sided)


def _orthant_vertices(base: RationalMatrix, signs: NDArray[np.int8]) -> Floats:
    """Compute approximate coordinates (y, t) of the apex and the directions of `orthants`."""
    dimension = base.nrows
    columns = range(dimension)
    right = (-base.take(columns=[dimension])).beside(RationalMatrix.identity(dimension))
    solution = solve(base.take(columns=columns), right)
    if solution is None:
        raise AssertionError("the base forms are independent")
    table = solution.to_floats()
    points = np.where(signs[:, :1] > 0, table[:, 0], signs[:, 1:] @ table[:, 1:].T)
    return np.concatenate([points, signs[:, :1]], axis=1)


def packed(signs: NDArray[np.int8]) -> Words:
    """Return the words of m rows of c ≤ 32 signs each."""
    bits = np.zeros((len(signs), 2 * WORD_BITS), dtype=bool)
    bits[:, : signs.shape[1]] = signs > 0
    bits[:, WORD_BITS : WORD_BITS + signs.shape[1]] = signs < 0
    words: Words = np.packbits(bits, axis=1, bitorder="little").view("<u8")[:, 0].astype(np.uint64)
    return words


def unpacked(words: Words, count: int) -> NDArray[np.int8]:
    """Return the signs of the first `count` forms of m words, shape (m, count)."""
    bits = np.arange(count, dtype=np.uint64)
    positive = (words[:, None] >> bits) & np.uint64(1)
    negative = (words[:, None] >> (bits + _SHIFT)) & np.uint64(1)
    return positive.astype(np.int8) - negative.astype(np.int8)
