"""The subdivision with the compiled core: the same cells, in the same order, as with numpy.

`CompiledSubdivision` keeps what is exact or done once per layer in Python: the frame, the table of
forms, exact vertices and signs. The core in C++ (`polyrelu/_core`) has the cells, the vertices in
floats and the signs while the cuts are made, and asks here for each sign that its floats leave
open. `finish` takes its arrays, without copying them, into the same `Lattice` and `Vertices`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyrelu._core import chosen_engine, num_threads
from polyrelu.complex.engine.arrays import Growable, Ragged
from polyrelu.complex.engine.face_lattice import WORD_BITS, Lattice
from polyrelu.complex.engine.subdivision import SignWords, Subdivision
from polyrelu.complex.frame import Frame
from polyrelu.network import Network
from polyrelu.support.typing import Indices, Signs, Words

if TYPE_CHECKING:
    from polyrelu._core.compiled import Core

__all__ = ["CompiledSubdivision", "subdivision_of"]

#: What a finished lattice has instead of facets of vertices and of words.
_NO_LISTS, _NO_WORDS = Ragged([]), Growable(np.zeros(0, dtype=np.uint64))
#: The largest dimension that the core's arrays of fixed size allow (`vertices.hpp`).
_LARGEST_DIMENSION = 24


def subdivision_of(network: Network, frame: Frame) -> Subdivision:
    """Return a subdivision by the engine that `chosen_engine` names."""
    if chosen_engine().name == "compiled" and 0 < frame.dimension <= _LARGEST_DIMENSION:
        return CompiledSubdivision(network, frame)
    return Subdivision(network, frame)


class CompiledLattice(Lattice):
    """A finished lattice, of which no form is known, from arrays of the core."""

    def __init__(
        self,
        vertices: int,
        edges: NDArray[np.int32],
        facets: Sequence[tuple[NDArray[np.int32], NDArray[np.int32], Indices]],
    ) -> None:
        """Take the arrays without copying them.

        For k = 2, …, d, `facets` has the heap, the counts and the starts of a `Ragged`.
        """
        self.dimension, self._vertices, self.edges = len(facets) + 1, vertices, Growable(edges)
        self.facets = [_NO_LISTS, _NO_LISTS, *(Ragged.of_arrays(*arrays) for arrays in facets)]
        self.words = [_NO_WORDS] * (len(facets) + 2)

    def words_of_cells(self, vertex_words: Words) -> list[Words]:
        """See `Lattice`."""
        from polyrelu._core.compiled import words_of_cells

        arrays = [(cells.heap.rows, cells.counts.rows, cells.starts.rows) for cells in self.facets]
        return [vertex_words, *words_of_cells(vertex_words, self.edges.rows, arrays[2:])]


class CompiledSubdivision(Subdivision):
    """A subdivision whose cuts the compiled core makes.

    Until `finish` there is no `lattice`, and `vertices` and `signs` are empty.
    """

    _core: Core

    def _make_first_cells(self) -> None:
        from polyrelu._core.compiled import Core

        #: the layer and the members of each chunk of the core
        self._members: list[tuple[int, range]] = []
        #: the largest number of cuts between two yields of `steps`
        self._cuts_per_step = WORD_BITS
        self._core = Core(
            np.array([len(signs) == 2 for signs in self._sides()], dtype=np.uint8),
            self._base_numbers(),
            self.vertices.base_rows,
            self.table.rows.rows,
            self.table.errors.rows,
            num_threads(),
        )

    # -- overridden steps --------------------------------------------------------------------------

    def num_cells(self, k: int) -> int:
        """See `Subdivision`."""
        return self._core.size(k)

    @property
    def has_regions(self) -> bool:
        """See `Subdivision`."""
        return True

    def steps(self, one_by_one: bool = False) -> Iterator[tuple[int, range]]:
        """See `Subdivision`."""
        self._cuts_per_step = 1 if one_by_one else WORD_BITS
        return super().steps(one_by_one)

    def _cut_with_constraints(self) -> Iterator[tuple[int, range]]:
        count = self.frame.constraints.nrows
        for start in range(0, count, WORD_BITS):
            members = range(start, min(start + WORD_BITS, count))
            self._begin(0, members)
            for bit, end in self._bits(members):
                next_bit = bit
                while next_bit < end:
                    done, has_dropped = self._core.cut_off(next_bit, end, self._exact_signs)
                    if has_dropped:
                        self.vertices.forget_exact()
                    next_bit += done
                yield 0, members[bit:end]

    def _cut_with(self, layer: int, members: range) -> Iterator[tuple[int, range]]:
        self._begin(layer, members)
        for bit, end in self._bits(members):
            while bit < end:
                done = self._core.cut(bit, end, self._exact_signs)
                yield layer, members[bit : bit + done]
                bit += done

    def _bits(self, members: range) -> Iterator[tuple[int, int]]:
        """Return the first bit, and the one after the last, of the cuts between two yields."""
        count, size = len(members), self._cuts_per_step
        return ((bit, min(bit + size, count)) for bit in range(0, count, size))

    def _begin(self, layer: int, members: range) -> None:
        """Make the forms of a word the current ones of the core."""
        if layer > self.table.num_layers:
            self._enter_layer()
        if all(of != layer for of, _ in self._members):
            self._decide(layer)
        self._core.begin(self._members.index((layer, members)), self._exact_signs)

    def _enter_layer(self) -> None:
        layer = self.table.num_layers
        chunks = [i for i, (of, _) in enumerate(self._members) if of == layer]
        active = self._core.positive(chunks).view(np.bool_)
        self.table.add_layer(self._core.regions(), active)
        self._core.number_regions()
        self._share_forms()
        if not self.table.is_dense(layer + 1):
            self._core.set_last_layer(self.table.last_layer_arrays())

    def _decide(self, layer: int) -> None:
        width = self.network.layers[layer - 1].width if layer else self.frame.constraints.nrows
        is_last = layer > 0 and not self.table.is_dense(layer)
        first = 1 if layer == 0 else self.table.first_number(layer)
        stride = width if layer > 1 else 0
        starts = range(0, width, WORD_BITS)
        ranges = [range(start, min(start + WORD_BITS, width)) for start in starts]
        chunks = [(len(part), is_last, part.start, first + part.start, stride) for part in ranges]
        self._core.decide(chunks, self._known_columns(layer, width), self._exact_signs)
        self._members += [(layer, part) for part in ranges]

    def _known_columns(self, layer: int, width: int) -> list[tuple[int, int, int]]:
        """Return (chunk, bit, base sign) for the forms of a layer that belong to the base."""
        if layer > 1:
            return []
        first = 0 if layer == 0 else self.frame.constraints.nrows
        return [
            (*divmod(index - first, WORD_BITS), position)
            for position, index in enumerate(self.frame.base, 1)
            if first <= index < first + width
        ]

    def part(self, top: Indices) -> Subdivision:
        """Return an independent copy that has the given top cells and their faces only."""
        self._count_decisions()
        part = copy.copy(self)
        part.table = self.table.copy()
        part._core = self._core.part(top)
        part._members = list(self._members)
        part.vertices = self.vertices.emptied(part.table)
        return part

    def finish(self) -> None:
        """Take the arrays of the core; nothing can be cut afterwards."""
        self._count_decisions()
        found = self._core.take(self.table.num_last_forms)
        self.table.append_last_forms(*found["last_forms"])
        self._newest_regions = found["regions"]
        edges, *higher = found["facets"]
        self.lattice = CompiledLattice(len(found["radii"]), edges[0], higher)
        self.vertices.coordinates = Growable(found["coordinates"])
        self.vertices.radii = Growable(found["radii"])
        self.vertices.forms = Growable(found["forms"])
        self.vertices.base_signs = Growable(found["base_signs"])
        self._facet_forms = found["facet_forms"]
        self.signs = [
            SignWords(layer, tuple(members), Growable(words))
            for (layer, members), words in zip(self._members, found["signs"], strict=True)
        ]
        del self._core

    def facet_forms(self) -> NDArray[np.int32]:
        """See `Subdivision`."""
        return self._facet_forms

    def newest_regions(self) -> Indices:
        """See `Subdivision`."""
        return self._newest_regions

    # -- what the core asks for and hands over -----------------------------------------------------

    def _share_forms(self) -> None:
        self._core.share_forms(self.table.rows.rows, self.table.errors.rows)

    def _take_last_forms(self) -> None:
        """Append the forms that the core has made since the last call to the table."""
        self.table.append_last_forms(*self._core.last_forms(self.table.num_last_forms))

    def _count_decisions(self) -> None:
        decided, exactly = self._core.take_decisions()
        self.vertices.statistics.num_decisions += decided
        self.vertices.statistics.num_exact_decisions += exactly

    def _exact_signs(
        self, vertices: Indices, forms: Indices, lies_on: NDArray[np.int32], base_signs: Signs
    ) -> Signs:
        """Return the exact signs that the core asks for, see `compiled.pyi`."""
        self._take_last_forms()
        signs = np.empty(len(vertices), dtype=np.int8)
        asked: list[Any] = [vertices.tolist(), forms.tolist(), lies_on.tolist()]
        for i, (vertex, form, numbers) in enumerate(zip(*asked, strict=True)):
            self.vertices.know_exact(vertex, numbers, base_signs[i])
            signs[i] = self.vertices.exact_sign(vertex, form)
        return signs
