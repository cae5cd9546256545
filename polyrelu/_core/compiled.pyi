"""The compiled core; the sources stand beside this file.

Names, numbers and order of cells, vertices and forms are those of `polyrelu.complex.engine`. Long
calls release the lock of the interpreter.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from polyrelu.support.typing import Floats, Indices, Signs, Words

class ExactSigns(Protocol):
    """Decides the signs of forms[i] at vertices[i] exactly, one for each i."""

    def __call__(
        self,
        vertices: Indices,
        forms: Indices,
        lies_on: NDArray[np.int32],
        base_signs: Signs,
        /,
    ) -> Signs:
        """Return the signs; vertex i lies on the forms lies_on[i] and has the given base signs."""

class SourceArrays(TypedDict):
    """What the last layer reads from an earlier layer, see `FormTable.last_layer_arrays`."""

    rows: Floats
    errors: Floats
    norms: Floats
    uncertainties: Floats
    regions: Indices
    active_rows: Indices
    active: NDArray[np.uint8]
    weights: Floats
    magnitudes: Floats

class LastLayerArrays(TypedDict):
    """The last layer, see `FormTable.last_layer_arrays`."""

    bias: Floats
    bias_magnitudes: Floats
    least_errors: Floats
    no_bias: NDArray[np.uint8]
    no_form: NDArray[np.uint8]
    is_exact: bool
    sources: list[SourceArrays]

class Results(TypedDict):
    """All arrays of a finished subdivision."""

    last_forms: tuple[Floats, Floats, Indices]
    regions: Indices
    signs: list[Words]
    facets: list[tuple[NDArray[np.int32], NDArray[np.int32], Indices]]
    facet_forms: NDArray[np.int32]
    forms: NDArray[np.int32]
    coordinates: Floats
    radii: Floats
    base_signs: Signs

def words_of_cells(
    vertex_words: Words,
    edges: NDArray[np.int32],
    facets: Sequence[tuple[NDArray[np.int32], NDArray[np.int32], Indices]],
) -> list[Words]:
    """Return the words of the cells of dimension 1, 2, …, each the bitwise or over its vertices.

    For k = 2, 3, …, `facets` has the facets of all cells, and their counts and starts there.
    """

class Core:
    """A complex that is being subdivided: lattice, vertices, forms and signs."""

    def __init__(
        self,
        two_sided: NDArray[np.uint8],
        base_forms: NDArray[np.int32],
        base_rows: Floats,
        rows: Floats,
        errors: Floats,
        num_threads: int,
    ) -> None:
        """Make the first cells, see `arrangement.orthants`.

        For each base form `two_sided` says whether both of its signs are wanted. `base_forms` has
        the numbers of t and of the base forms, `base_rows` their rows as in `Vertices`. `rows` and
        `errors` are those of `share_forms`.
        """

    def size(self, k: int) -> int:
        """Return the number of cells of dimension k."""

    def share_forms(self, rows: Floats, errors: Floats) -> None:
        """Take all forms so far; the core keeps the arrays and does not copy them."""

    def set_last_layer(self, layer: LastLayerArrays) -> None:
        """Take the layer whose forms are made on demand; its arrays are kept, not copied."""

    def decide(
        self,
        chunks: Sequence[tuple[int, bool, int, int, int]],
        known: Sequence[tuple[int, int, int]],
        exact: ExactSigns,
    ) -> None:
        """Append the chunks of a layer, and decide their signs at the vertices so far.

        A chunk is (number of members, whether the layer is the last, its first neuron, number of
        its first form on region 0, forms per region). `known` lists (chunk, bit, base sign) for
        forms of the base.
        """

    def begin(self, chunk: int, exact: ExactSigns) -> None:
        """Make a chunk the current one, with one sign or 0 for each form at each vertex."""

    def cut(self, first: int, end: int, exact: ExactSigns) -> int:
        """Cut with the forms first, …, end - 1 of the current chunk; return how many were done.

        Long work ends early, at least one form later, so that Python can look for Ctrl-C.
        """

    def cut_off(self, first: int, end: int, exact: ExactSigns) -> tuple[int, bool]:
        """Cut with the forms first, …, end - 1, and drop the cells where they are negative.

        The call ends where cells are dropped, because vertices and cells get other numbers. Return
        the number of forms that were done, and whether cells are dropped.
        """

    def number_regions(self) -> None:
        """Make the top cells the regions of the next layer."""

    def regions(self) -> Indices:
        """Return the region of the newest layer that contains each top cell, copied."""

    def positive(self, chunks: Sequence[int]) -> NDArray[np.uint8]:
        """Return which forms of the given chunks are positive on each top cell."""

    def last_forms(self, first: int) -> tuple[Floats, Floats, Indices]:
        """Return rows, errors and pairs (region, neuron) of the last layer's forms, copied.

        `first` is the number of those forms that are left out.
        """

    def part(self, top: Indices) -> Core:
        """Return an independent copy with the given top cells and their faces only."""

    def take_decisions(self) -> tuple[int, int]:
        """Return how many signs were decided since the last call, and how many exactly in the core.

        Signs that Python was asked for are among the first only.
        """

    def take(self, num_last_forms: int) -> Results:
        """Hand all arrays over without copying them; the core is empty afterwards.

        The first `num_last_forms` forms of the last layer are left out.
        """

class SpanSearch:
    """The search in one layer of `polyrelu.proofs.injectivity.node_search`."""

    num_nodes: int
    num_leaves: int
    depth: int
    num_programs: int
    closed: float

    def __init__(
        self,
        rows: Floats,
        small: Floats,
        residues: NDArray[np.uint32],
        is_outside: NDArray[np.uint8],
        members: Sequence[int],
        rounded: NDArray[np.int64],
        names: Sequence[int],
        limits: tuple[int, int],
        spend: Callable[[], None],
        solve: Callable[[Signs, NDArray[np.bool_], bool], list[int] | None],
        is_line: Callable[[list[int], list[int]], bool],
    ) -> None:
        """Start at a root, see `compiled_search`. Exceptions of the functions pass through."""

    def visit(self, count: int) -> bool:
        """Visit some nodes; return whether any is left."""

    def take_records(self) -> list[tuple[str, list[int]] | tuple[str, list[list[int]]]]:
        """Hand the records of the nodes over."""
