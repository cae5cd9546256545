"""The face lattice of a complex of polyhedra, and how a form splits all its cells at once.

`Lattice` stores which cells are facets of which; where the vertices lie and which signs forms have
there is known to `Vertices`. A subdivision packs the signs of the vertices into words and calls
`split` for one form after the other; the order in which new cells are numbered is part of the
contract (see `Cut`), because regions and forms of cells are kept in arrays beside the lattice.

A cell of dimension k ≥ 2 is the list of its facets, which are cells of dimension k - 1; an edge is
a pair of vertices. Points at infinity, the directions of rays, are vertices like all others, so
that every cell is the hull of its vertices.

The signs of up to 32 affine forms are packed into a 64-bit word for each cell: bit j is set if form
j is positive somewhere on the cell, and bit 32 + j if it is negative somewhere. The word of a cell
is the bitwise or of the words of its facets, and form j cuts a cell if and only if both its bits
are set. A form is affine on every cell, but need not be the same affine function on all cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.arrays import Growable, Ragged, segment_or
from polyrelu.support.typing import Indices, Words

__all__ = ["WORD_BITS", "Cut", "Lattice"]

#: Number of forms per word; each of them has a bit for "positive" and a bit for "negative".
WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class Cut:
    """The cells that one form cuts, and the numbers that new cells get.

    Attributes
    ----------
    cells
        For k = 1, …, d the numbers cells[k] of the cut cells of dimension k. The positive part of a
        cut cell keeps its number. The negative parts get the numbers sizes[k], sizes[k] + 1, …;
        after them come, in the same order, the cells of dimension k where the form is 0 on the cut
        cells of dimension k + 1.
    sizes
        For k = 0, …, d the number of cells of dimension k before the cut.
    ends
        For each cut edge the end where the form is positive, and the other end; shape (number of
        cut edges, 2).
    """

    cells: list[Indices]
    sizes: list[int]
    ends: NDArray[np.int32]


class Lattice:
    """The cells of all dimensions with their facets and the words of the current forms.

    Attributes
    ----------
    dimension
        The largest dimension d of a cell.
    edges
        The vertices at the ends of each edge, shape (f_1, 2).
    facets
        For k = 2, …, d the facets facets[k] of the cells of dimension k. The entries 0 and 1 of the
        list are not used.
    words
        For k = 0, …, d the words words[k] of the cells of dimension k, shape (f_k,).
    """

    def __init__(
        self, dimension: int, vertices: int, edges: NDArray[np.int32], facets: list[list[list[int]]]
    ) -> None:
        """Make a lattice; `facets[k]` lists the facets of cells of dimension k ≥ 2."""
        self.dimension = dimension
        self.edges = Growable(edges)
        self.facets = [Ragged(lists if k >= 2 else []) for k, lists in enumerate(facets)]
        self._vertices = vertices
        self.words = [
            Growable(np.zeros(self.size(k), dtype=np.uint64)) for k in range(dimension + 1)
        ]
        self._slots: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * (dimension + 1)

    def size(self, k: int) -> int:
        """Return the number of cells of dimension k."""
        if k == 0:
            return self._vertices
        return self.edges.size if k == 1 else len(self.facets[k])

    def facets_of(self, k: int, cells: Indices) -> tuple[NDArray[np.int32], Indices]:
        """Return the facets of cells of dimension k ≥ 1, joined, and the number for each cell."""
        if k == 1:
            return self.edges.rows[cells].ravel(), np.full(len(cells), 2)
        return self.facets[k].gather(cells)

    def two_facets(self, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return two different facets of each cell of dimension k ≥ 1, shape (f_k,) each."""
        if k == 1:
            ends = self.edges.rows
            return ends[:, 0], ends[:, 1]
        starts, heap = self.facets[k].starts.rows, self.facets[k].heap.buffer
        return heap[starts], heap[starts + 1]

    def vertices_of(self, k: int, cell: int) -> list[int]:
        """Return the vertices of a cell of dimension k, ascending."""
        cells = np.array([cell], dtype=np.int64)
        for j in range(k, 0, -1):
            cells = np.unique(self.facets_of(j, cells)[0]).astype(np.int64)
        return [int(vertex) for vertex in cells]

    def words_of_cells(self, vertex_words: Words) -> list[Words]:
        """Return the words of all cells by dimension, each the bitwise or over its vertices."""
        words = [vertex_words]
        for k in range(1, self.dimension + 1):
            if k == 1:
                ends = self.edges.rows
                words.append(vertex_words[ends[:, 0]] | vertex_words[ends[:, 1]])
            else:
                entries, counts = self.facets[k].gather(np.arange(self.size(k)))
                words.append(segment_or(words[-1][entries], counts))
        return words

    def set_words(self, vertex_words: Words) -> None:
        """Take new forms in place of the current ones, given their signs at the vertices."""
        for ragged in self.facets[2:]:
            ragged.compact()
        self.words = [Growable(words) for words in self.words_of_cells(vertex_words)]

    def add_edges(self, ends: Indices) -> None:
        """Append edges, shape (m, 2)."""
        self.edges.append(ends.astype(np.int32))
        self.words[1].append(self.words[0].buffer[ends[:, 0]] | self.words[0].buffer[ends[:, 1]])

    # -- splitting ---------------------------------------------------------------------------------

    def split(self, bit: int, add_vertices: Callable[[Cut], Words]) -> Cut | None:
        """Split all cells on which form `bit` of the words has both signs; None if there are none.

        `add_vertices` takes the cut and returns the words of the new vertices, one for each cut
        edge.
        """
        mask = np.uint64((1 << bit) | (1 << (bit + WORD_BITS)))
        both = [(words.rows & mask) == mask for words in self.words[1:]]
        cells = [np.zeros(0, dtype=np.int64), *(np.flatnonzero(marked) for marked in both)]
        if not len(cells[-1]):
            return None
        sizes = [self.size(k) for k in range(self.dimension + 1)]
        cut = Cut(cells, sizes, self._ends_by_sign(cells[1], np.uint64(1 << bit)))
        self._split_edges(cut, add_vertices(cut))
        touches = bool(((self.words[0].rows[: sizes[0]] & mask) == 0).any())
        for k in range(2, self.dimension + 1):
            self._split_cells(k, cut, bit, touches)
        for k in range(1, self.dimension + 1):
            self._slots[k][cells[k]] = -1
        return cut

    def _ends_by_sign(self, edges: Indices, positive: np.uint64) -> NDArray[np.int32]:
        """Return the ends of cut edges, the one with the bit `positive` first."""
        ends: NDArray[np.int32] = self.edges.buffer[edges]
        swapped = (self.words[0].buffer[ends[:, 0]] & positive) == 0
        ends[swapped] = ends[swapped, ::-1]
        return ends

    def _split_edges(self, cut: Cut, new_words: Words) -> None:
        new = np.arange(cut.sizes[0], cut.sizes[0] + len(new_words), dtype=np.int32)
        self._vertices += len(new)
        self.words[0].append(new_words)
        ends, edges, words = cut.ends, cut.cells[1], self.words[0].buffer
        self.edges.buffer[edges, 0], self.edges.buffer[edges, 1] = ends[:, 0], new
        self.edges.append(np.stack([ends[:, 1], new], axis=1))
        self.words[1].buffer[edges] = words[ends[:, 0]] | new_words
        self.words[1].append(words[ends[:, 1]] | new_words)
        self._number(1, edges)

    def _split_cells(self, k: int, cut: Cut, bit: int, touches: bool) -> None:
        """Split the cut cells of dimension k.

        First the cells of dimension k - 1 where the form is 0 are appended, then the two parts of
        each cut cell are written. `touches` tells whether the form is 0 at old vertices.
        """
        cells = cut.cells[k]
        if not len(cells):
            self._number(k, cells)
            return
        facets, counts = self.facets[k].gather(cells)
        owner = np.repeat(np.arange(len(cells)), counts)
        slots = self._slots[k - 1][facets]
        is_cut = slots >= 0
        words = self.words[k - 1].buffer[facets]
        positive = (words & np.uint64(1 << bit)) != 0  # of a cut facet this is its positive part
        negative = ((words & np.uint64(1 << (bit + WORD_BITS))) != 0) | is_cut
        zero, zero_owner = self._zero_facets(k, cut, slots, owner, is_cut)
        if touches:
            inside = np.flatnonzero(positive & ~is_cut)
            extra, extra_owner = self._zero_faces(k, facets[inside], owner[inside], bit)
            zero, zero_owner = _merged(zero, zero_owner, extra, extra_owner)
        separators = cut.sizes[k - 1] + len(cut.cells[k - 1]) + np.arange(len(cells))
        self._append_zero_cells(k - 1, zero, np.bincount(zero_owner, minlength=len(cells)))
        other_side = np.where(is_cut, slots + cut.sizes[k - 1], facets)
        self._write_parts(k, cells, (facets, positive), (other_side, negative), owner, separators)
        self._number(k, cells)

    def _zero_facets(
        self, k: int, cut: Cut, slots: Indices, owner: Indices, is_cut: NDArray[np.bool_]
    ) -> tuple[Indices, Indices]:
        """Return the cells of dimension k - 2 where the form is 0 on cut facets, with owners.

        An owner is the position of a cell in the list of the cut cells of dimension k.
        """
        return slots[is_cut] + (cut.sizes[k - 2] + len(cut.cells[k - 2])), owner[is_cut]

    def _zero_faces(
        self, k: int, facets: NDArray[np.int32], owner: Indices, bit: int
    ) -> tuple[Indices, Indices]:
        """Find faces of dimension k - 2 of uncut positive facets where the form is 0, with owners.

        Such a face lies in two facets of its cell, one on either side, so that none is found twice.
        """
        faces, counts = self.facets_of(k - 1, facets.astype(np.int64))
        face_owner = np.repeat(owner, counts)
        mask = np.uint64((1 << bit) | (1 << (bit + WORD_BITS)))
        zero = (self.words[k - 2].buffer[faces] & mask) == 0
        return faces[zero].astype(np.int64), face_owner[zero]

    def _append_zero_cells(self, k: int, facets: Indices, counts: Indices) -> None:
        entries = facets.astype(np.int32)
        self.words[k].append(segment_or(self.words[k - 1].buffer[entries], counts))
        if k == 1:
            self.edges.append(entries.reshape(-1, 2))
        else:
            self.facets[k].append(entries, counts)

    def _write_parts(
        self,
        k: int,
        cells: Indices,
        positive: tuple[NDArray[np.int32], NDArray[np.bool_]],
        negative: tuple[Indices, NDArray[np.bool_]],
        owner: Indices,
        separators: Indices,
    ) -> None:
        """Write the positive parts in the place of the cut cells, and append the negative parts."""
        lower = self.words[k - 1].buffer
        entries, counts = _with_last(*positive, owner, separators)
        self.facets[k].rewrite(cells, entries, counts)
        self.words[k].buffer[cells] = segment_or(lower[entries], counts)
        entries, counts = _with_last(*negative, owner, separators)
        self.facets[k].append(entries, counts)
        self.words[k].append(segment_or(lower[entries], counts))

    def _number(self, k: int, cells: Indices) -> None:
        """Store the position of each cut cell in their list, for the cells of dimension k + 1."""
        if len(self._slots[k]) < self.size(k):
            grown = np.full(self.size(k) * 2, -1, dtype=np.int64)
            self._slots[k] = grown
        self._slots[k][cells] = np.arange(len(cells))

    def arrays(self) -> list[NDArray[Any]]:
        """Return the arrays of all cells, with their unused room, for counts of bytes."""
        ragged = [
            part.buffer
            for facets in self.facets[2:]
            for part in (facets.counts, facets.starts, facets.heap)
        ]
        return [self.edges.buffer, *ragged, *(words.buffer for words in self.words)]

    # -- parts -------------------------------------------------------------------------------------

    def closure(self, top: Indices) -> list[NDArray[np.bool_]]:
        """Mark the faces of given cells of dimension d, in every dimension."""
        marked = [np.zeros(self.size(k), dtype=bool) for k in range(self.dimension + 1)]
        marked[-1][top] = True
        for k in range(self.dimension, 0, -1):
            cells = np.flatnonzero(marked[k])
            marked[k - 1][self.facets_of(k, cells)[0]] = True
        return marked

    def restricted(self, marked: list[NDArray[np.bool_]]) -> Lattice:
        """Return a copy with the marked cells, renumbered; their faces must be marked."""
        numbers = [np.cumsum(mark) - 1 for mark in marked]
        edges = self.edges.rows[marked[1]] if self.dimension else self.edges.rows
        part = Lattice(
            self.dimension,
            int(marked[0].sum()),
            numbers[0][edges].astype(np.int32),
            [[]] * len(marked),
        )
        for k in range(2, self.dimension + 1):
            entries, counts = self.facets[k].gather(np.flatnonzero(marked[k]))
            part.facets[k].append(numbers[k - 1][entries].astype(np.int32), counts)
        part.words = [
            words.restricted(mark) for words, mark in zip(self.words, marked, strict=True)
        ]
        return part


def _merged(
    first: Indices, first_owner: Indices, second: Indices, second_owner: Indices
) -> tuple[Indices, Indices]:
    """Merge two lists into one that is ordered by owner."""
    owner = np.concatenate([first_owner, second_owner])
    order = np.argsort(owner, kind="stable")
    return np.concatenate([first, second])[order], owner[order]


def _with_last(
    entries: NDArray[np.int32] | Indices, chosen: NDArray[np.bool_], owner: Indices, last: Indices
) -> tuple[NDArray[np.int32], Indices]:
    """Group the chosen entries by owner, with the owner's last entry after each group."""
    index = np.flatnonzero(chosen)
    owners = owner[index]
    counts = np.bincount(owners, minlength=len(last)) + 1
    ends = np.cumsum(counts)
    joined = np.empty(len(index) + len(last), dtype=np.int32)
    joined[np.arange(len(index)) + owners] = entries[index]
    joined[ends - 1] = last
    return joined, counts
