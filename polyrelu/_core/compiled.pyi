"""The compiled core; the sources stand beside this file.

Names, numbers and order of cells, vertices and forms are those of `polyrelu.complex.engine`, and
the floats of walks are those of `polyrelu.walks`, bit for bit. Long calls release the lock of the
interpreter.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypedDict

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

class WalkWeights:
    """The weights of hidden layers on hidden layers, for walks in any number of planes."""

    def __init__(
        self,
        layers: Sequence[tuple[int, Sequence[tuple[int, Floats, Floats]]]],
        rounding: Sequence[float],
    ) -> None:
        """Take the layers; the arrays are kept, not copied.

        For each layer, its width and blocks: the source, counted from 0; the transposed weights,
        shape (n_source, n); and the largest |w|' of each neuron of the source. `rounding` has the
        number 2 (N + 4) u of each layer.
        """

class Walker:
    """The float forms on a cell of a line or plane, and the steps of a walk from there.

    The arrays belong to Python, have the shape (k + 1, num_neurons), `signs` (num_neurons,), and
    are read and written in place. See `polyrelu.walks.float_forms` and `float_steps`.
    """

    def __init__(
        self,
        weights: WalkWeights,
        constants: Floats,
        constant_errors: Floats,
        columns: Floats,
        errors: Floats,
        signs: Signs,
    ) -> None: ...
    @property
    def num_flips(self) -> int:
        """Number of flips since all forms were computed afresh."""

    def refresh(self, layer: int) -> None:
        """Compute the forms of a layer, counted from 0, and of all later ones afresh."""

    def flip(self, place: int) -> None:
        """Give a neuron the opposite sign, and change the forms of later layers accordingly."""

    def next(
        self,
        carrier: int,
        back: int,
        ray: Sequence[float],
        position: Sequence[float],
        scales: Sequence[float],
    ) -> tuple[int, list[float], list[float]] | None:
        """Return the neuron at the end of the cell, a point beyond it, and the end, nearly.

        A place of -1 stands for no neuron. None if the bounds leave the end open.
        """

    def run(
        self,
        carrier: int,
        back: int,
        position: Sequence[float],
        scales: Sequence[float],
        most: int,
        target: int,
        watched: NDArray[np.uint8] | None,
        first: Signs | None,
    ) -> tuple[Indices, Floats, Floats, bool]:
        """Make steps; return the neurons switched, near ends, points beyond, and if it closed."""

class Derivatives:
    """Derivatives modulo a prime at many ridges of a plain stack."""

    def __init__(self, weights: Sequence[Floats], prime: float) -> None:
        """Take the transposed weights modulo the prime of all layers after the first one.

        The arrays are kept, not copied. The prime is so small that sums of products are exact.
        """

    def jumps(self, pairs: Indices, active: NDArray[np.uint8]) -> tuple[Floats, Floats, Floats]:
        """Return, for ridges (u, v), the derivatives of z_v by u, and of the outputs by u and by v.

        `active` has a row of bits for each ridge, which mark the active neurons; u and v count as
        inactive.
        """

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

class BoxBounder:
    """Rows of one or two networks, for bounds on boxes: `proofs.deviation.compiled_bounds`."""

    def __init__(
        self,
        num_inputs: int,
        is_single: bool,
        layers: Sequence[tuple[NDArray[Any] | None, ...]],
        rows: tuple[NDArray[Any], ...],
        num_threads: int,
    ) -> None:
        """Take W, b, V, c, the changes of both and the partners (or None) of each hidden layer.

        `rows` are the tables of `FloatRows`. Arrays are copied, for each thread. The threads divide
        the boxes of a call, and the bounds are the same with any number of them.
        """

    def bound(
        self,
        low: NDArray[Any],
        high: NDArray[Any],
        table: NDArray[Any],
        wanted: NDArray[np.uint8],
        is_joint: bool,
        signs: Signs | None,
    ) -> tuple[
        NDArray[Any],
        NDArray[Any],
        NDArray[Any],
        NDArray[Any],
        NDArray[np.int32],
        NDArray[np.uint8],
    ]:
        """Bound rows on boxes, see `bound_boxes`; better bounds replace those in the table.

        Return the bounds by joint relaxations and by relaxations alone of all rows; slopes, scores
        and worst neurons of the wanted ones; and which boxes have open neurons.
        """

class ShortBoxBounder(BoxBounder):
    """The same in float32."""

class GridRule:
    """The rule of certificates of bounds for some rows: `proofs.deviation.compiled_rule`."""

    def __init__(
        self,
        grid: int,
        num_inputs: int,
        is_single: bool,
        layers: Sequence[tuple[Any, ...]],
        rows: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
        num_threads: int,
    ) -> None:
        """Take integers over 2^S, which are copied for each thread, and weights of rows.

        A layer has W, b, the changes of weights, V, the changes of biases and c, each with a bool
        that says whether it was rounded; the partners; whether it has ReLUs, and is the last layer
        with some. Rows are weights of inputs, of the outputs of the first network, and of the
        differences of the second one. Raise ValueError if 128 bits do not suffice.
        """

    def bound(
        self,
        centers: NDArray[np.int64],
        radii: NDArray[np.int64],
        signs: Signs | None,
        kind: int,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        """Apply the rule of leaves of a kind (0 to 2) to boxes on the grid, with signs of neurons.

        Return states (1: no point of the box has the signs, 2: numbers are too long), numbers of
        new generators, and upper and lower halves of the bounds of rows by forms, over 2^S, and
        backward, of each network and of both, over 2^(2S). Shape (boxes, 3, rows).
        """

    def bound_inherited(
        self,
        centers: NDArray[np.int64],
        radii: NDArray[np.int64],
        signs: Signs | None,
        known: NDArray[np.int64],
        is_known: NDArray[np.uint8],
        wanted: NDArray[np.uint8],
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        """Apply the rule of leaves `inherited` to boxes on the grid, with signs of neurons.

        `known` has the intervals that hold on each box already, shape (boxes, num_ends), where
        `is_known` is 1. Return states, as `bound` does; the intervals found; and upper and lower
        halves of the bounds of the wanted rows, over 2^(2S), shape (boxes, rows).
        """

    @property
    def num_ends(self) -> int:
        """Number of integers of all intervals of a box."""

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

    def open_nodes(self) -> list[tuple[list[int], list[int], float, int]]:
        """Return members of U, signs, share and depth of each node that is left, the next last."""

    def set_open_nodes(self, nodes: Sequence[tuple[list[int], list[int], float, int]]) -> None:
        """Let other nodes be left; raise ValueError for nodes of another search."""
