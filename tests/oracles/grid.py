"""Exact comparison of plain stacks, and all parameters on a finite grid with a given function."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations, product
from math import lcm
from random import Random

import numpy as np
from numpy.typing import NDArray

from tests.oracles.cells import affine_map, cells
from tests.oracles.plain import Matrix, Network, Vector, evaluate, input_dimension

# --- Equality of functions ----------------------------------------------------------------------


def same_function(first: Network, second: Network) -> bool:
    """Whether both networks, with at least one hidden layer, are the same function.

    It is decided on all common cells.
    """
    if input_dimension(first) != input_dimension(second) or len(first[-1][1]) != len(second[-1][1]):
        raise ValueError("networks with different input or output dimensions")
    difference = _difference(first, second)
    # Open cells are dense and both functions are continuous, so they suffice.
    open_cells = cells(difference, full_dimensional_only=True)
    return not any(v for signs in open_cells for row in affine_map(difference, signs) for v in row)


def _difference(first: Network, second: Network) -> Network:
    """The network x -> first(x) - second(x), with the hidden layers of both side by side."""
    depth = max(len(first), len(second))
    first, second = _deepened(first, depth), _deepened(second, depth)
    (w1, b1), (w2, b2) = first[0], second[0]
    hidden = [_side_by_side(*layers) for layers in zip(first[1:-1], second[1:-1], strict=True)]
    return [(w1 + w2, b1 + b2), *hidden, _subtracted(first[-1], second[-1])]


def _deepened(layers: Network, depth: int) -> Network:
    """The same function with `depth` layers.

    Identity layers repeat the activations of the last hidden layer.
    """
    if len(layers) < 2:
        raise ValueError("a network without hidden layers")
    width = len(layers[-2][1])
    identity = [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
    padding = [(identity, [Fraction(0)] * width)] * (depth - len(layers))
    return [*layers[:-1], *padding, layers[-1]]


def _side_by_side(
    first: tuple[Matrix, Vector], second: tuple[Matrix, Vector]
) -> tuple[Matrix, Vector]:
    """The layer with the block diagonal matrix of both."""
    (w1, b1), (w2, b2) = first, second
    zeros1, zeros2 = [Fraction(0)] * len(w1[0]), [Fraction(0)] * len(w2[0])
    return [row + zeros2 for row in w1] + [zeros1 + row for row in w2], b1 + b2


def _subtracted(
    first: tuple[Matrix, Vector], second: tuple[Matrix, Vector]
) -> tuple[Matrix, Vector]:
    """The output layer first - second on the two inputs side by side."""
    (w1, b1), (w2, b2) = first, second
    rows = [upper + [-v for v in lower] for upper, lower in zip(w1, w2, strict=True)]
    return rows, [u - v for u, v in zip(b1, b2, strict=True)]


# --- Permutations and positive scalings --------------------------------------------------------

# A hidden neuron as (layer, index). Inputs, outputs and the constant 1 of the biases cannot be
# scaled and share one node.
_Node = tuple[int, int]
_FIXED: _Node = (-1, 0)


def related(first: Network, second: Network) -> bool:
    """Whether permuting hidden neurons and scaling them positively turns `first` into `second`.

    Scaling a neuron by s > 0 multiplies its incoming row and bias by s and divides its outgoing
    column by s. All permutations are tried, so this is for small widths.
    """
    shapes = [[(len(w), len(w[0])) for w, _ in layers] for layers in (first, second)]
    if shapes[0] != shapes[1]:
        return False
    return any(_related_by_scaling(permuted, second) for permuted in _permuted_networks(first))


def _permuted_networks(layers: Network) -> Iterator[Network]:
    """The network with its hidden neurons in every order."""
    input_order, output_order = (
        tuple(range(input_dimension(layers))),
        tuple(range(len(layers[-1][1]))),
    )
    hidden_orders = [list(permutations(range(len(bias)))) for _, bias in layers[:-1]]
    for orders in product([input_order], *hidden_orders, [output_order]):
        yield [
            ([[weights[i][j] for j in columns] for i in rows], [bias[i] for i in rows])
            for (weights, bias), (columns, rows) in zip(layers, pairwise(orders), strict=True)
        ]


def _related_by_scaling(first: Network, second: Network) -> bool:
    """Whether positive scalings alone turn `first` into `second`.

    Each non-zero weight from neuron j to neuron i demands s_i / s_j = (second weight) / (first
    weight) > 0. The demands are edges of a graph; they can be met iff they agree along every
    cycle. In a component without the fixed node (a neuron with zero rows or columns may cause one)
    any start value will do.
    """
    ratios: dict[_Node, list[tuple[_Node, Fraction]]] = {_FIXED: []}
    for source, target, u, v in _weight_pairs(first, second):
        if u == v == 0:
            continue
        if u * v <= 0:
            return False
        ratios.setdefault(source, []).append((target, v / u))
        ratios.setdefault(target, []).append((source, u / v))
    return _consistent(ratios)


def _weight_pairs(
    first: Network, second: Network
) -> Iterator[tuple[_Node, _Node, Fraction, Fraction]]:
    """All corresponding weights and biases, as (source node, target node, first's, second's)."""
    for layer, ((w1, b1), (w2, b2)) in enumerate(zip(first, second, strict=True)):
        for i in range(len(b1)):
            target = (layer, i) if layer < len(first) - 1 else _FIXED
            yield _FIXED, target, b1[i], b2[i]
            for j in range(len(w1[i])):
                source = (layer - 1, j) if layer > 0 else _FIXED
                yield source, target, w1[i][j], w2[i][j]


def _consistent(ratios: dict[_Node, list[tuple[_Node, Fraction]]]) -> bool:
    """Whether scales exist with scale(target) = scale(source) * ratio on all edges."""
    scales: dict[_Node, Fraction] = {}
    for root in ratios:
        if root in scales:
            continue
        scales[root] = Fraction(1)
        pending = [root]
        while pending:
            node = pending.pop()
            for neighbour, ratio in ratios[node]:
                demanded = scales[node] * ratio
                if neighbour not in scales:
                    scales[neighbour] = demanded
                    pending.append(neighbour)
                elif scales[neighbour] != demanded:
                    return False
    return True


# --- All parameters on a grid ------------------------------------------------------------------

IntArray = NDArray[np.int64]
_SAMPLE_POINTS = 40
_CHUNK = 1 << 15
_MAX_GRID = 10**7
_LIMIT = 2**62


def members_on_grid(layers: Network, values: Iterable[Fraction | int]) -> list[Network]:
    """All parameters with the architecture and function of `layers` and entries in `values`.

    A frequent function (zero, for example) has very many members; then `member_indices_on_grid` is
    the better choice.
    """
    table = grid_table(_architecture(layers), _normalised(values))
    return [table.network(int(index)) for index in member_indices_on_grid(layers, values)]


def member_indices_on_grid(layers: Network, values: Iterable[Fraction | int]) -> IntArray:
    """The indices of `members_on_grid` in the `grid_table` of the architecture, ascending."""
    table = grid_table(_architecture(layers), _normalised(values))
    candidates = table.candidates(layers)
    if not len(candidates):
        return candidates
    # Many candidates differ only in weights without influence; one of each kind is compared.
    reduced, kind = np.unique(table.reduced_entries(candidates), axis=0, return_inverse=True)
    # A candidate with few non-zero entries makes the faster reference, if it is the same function.
    simplest = table.network_of(reduced[np.count_nonzero(reduced, axis=1).argmin()])
    reference = simplest if same_function(layers, simplest) else layers
    accepted = np.array(
        [same_function(reference, table.network_of(row)) for row in reduced], dtype=bool
    )
    members: IntArray = candidates[accepted[kind.reshape(-1)]]
    return members


def _architecture(layers: Network) -> tuple[int, ...]:
    return (input_dimension(layers), *(len(bias) for _, bias in layers))


def _normalised(values: Iterable[Fraction | int]) -> tuple[Fraction, ...]:
    return tuple(sorted({Fraction(v) for v in values}))


@dataclass(frozen=True, eq=False)
class GridTable:
    """All parameters of an architecture with entries in `values`, by a hash of sampled outputs.

    The index of a parameter, written in base len(values), lists its entries: layer by layer the
    rows of W, then b. Everything is computed in int64. Let d be the common denominator of the
    values; weights are multiplied by d and points by 2, so outputs come multiplied by
    `output_scale`.
    """

    architecture: tuple[int, ...]
    values: tuple[Fraction, ...]
    doubled_points: IntArray
    hashes: NDArray[np.uint64]
    order: IntArray

    @property
    def output_scale(self) -> int:
        """The factor between outputs in the table and the true outputs."""
        return _output_scale(self.architecture, self.values)

    def network(self, index: int) -> Network:
        """The network with this index."""
        return self.network_of(_entries(self.architecture, self.values, np.array([index]))[0])

    def network_of(self, entries: IntArray) -> Network:
        """The network with these entries, which are multiplied by the common denominator."""
        d = _denominator(self.values)
        layers = _split_entries(self.architecture, entries[np.newaxis])
        return [
            ([_fractions(row, d) for row in weights[0]], _fractions(bias[0], d))
            for weights, bias in layers
        ]

    def candidates(self, layers: Network) -> IntArray:
        """Indices, ascending, of all parameters whose sampled outputs have the hash of `layers`."""
        points = [[Fraction(int(v), 2) for v in column] for column in self.doubled_points.T]
        outputs = (
            np.array([evaluate(layers, x) for x in points], dtype=object).T * self.output_scale
        )
        # No parameter of the grid has outputs off the grid's lattice or too large.
        if any(v.denominator != 1 or abs(v) >= _LIMIT for v in outputs.flat):
            return np.zeros(0, dtype=np.int64)
        wanted = _hashes(outputs.astype(np.int64)[np.newaxis])[0]
        start, stop = (
            np.searchsorted(self.hashes, wanted, side=side) for side in ("left", "right")
        )
        return np.sort(self.order[start:stop])

    def reduced_entries(self, indices: IntArray) -> IntArray:
        """Entries of the parameters, with 0 for the weights into neurons that no layer reads.

        Their rows and biases are 0 then. This does not change the function and makes many
        parameters equal.
        """
        entries = _entries(self.architecture, self.values, indices)
        layers = _split_entries(self.architecture, entries)
        for (weights, bias), (next_weights, _) in reversed(list(pairwise(layers))):
            unused = ~next_weights.any(axis=1)
            # These are views, so this changes `entries`.
            weights[unused] = 0
            bias[unused] = 0
        return entries


@lru_cache(maxsize=8)
def grid_table(architecture: tuple[int, ...], values: tuple[Fraction, ...]) -> GridTable:
    """The table of all parameters; cached, because it takes seconds and serves all functions."""
    size = len(values) ** _parameter_count(architecture)
    if size > _MAX_GRID:
        raise ValueError(f"a grid of {size} parameters")
    doubled_points = _doubled_sample_points(architecture[0])
    _check_int64(architecture, values, doubled_points)
    chunks = [np.arange(start, min(start + _CHUNK, size)) for start in range(0, size, _CHUNK)]
    hashes = np.concatenate(
        [_hashes(_outputs(architecture, values, doubled_points, chunk)) for chunk in chunks]
    )
    order = np.argsort(hashes, kind="stable")
    return GridTable(architecture, values, doubled_points, hashes[order], order)


def _fractions(numerators: IntArray, denominator: int) -> Vector:
    return [Fraction(int(v), denominator) for v in numerators]


def _parameter_count(architecture: tuple[int, ...]) -> int:
    return sum(rows * (columns + 1) for columns, rows in pairwise(architecture))


def _denominator(values: tuple[Fraction, ...]) -> int:
    return lcm(*(v.denominator for v in values))


def _output_scale(architecture: tuple[int, ...], values: tuple[Fraction, ...]) -> int:
    return int(2 * _denominator(values) ** (len(architecture) - 1))


def _doubled_sample_points(dimension: int) -> IntArray:
    """Twice the integer and half-integer sample points, as columns.

    They are a fixed sample of [-10, 10]^n.
    """
    random = Random(0)
    points: set[tuple[int, ...]] = set()
    while len(points) < _SAMPLE_POINTS:
        # Networks with small entries bend close to 0, so about half of the points lie there.
        radius = random.choice((4, 20))
        points.add(tuple(random.randint(-radius, radius) for _ in range(dimension)))
    return np.array(sorted(points), dtype=np.int64).T


def _check_int64(
    architecture: tuple[int, ...], values: tuple[Fraction, ...], doubled_points: IntArray
) -> None:
    """Refuse grids whose outputs could overflow."""
    d = _denominator(values)
    largest = max(abs(int(v * d)) for v in values)
    bound, scale = int(abs(doubled_points).max()), 2
    for columns in architecture[:-1]:
        bound = largest * (columns * bound + scale)
        scale *= d
    if bound >= _LIMIT:
        raise ValueError("outputs on this grid may not fit into 64 bits")


def _entries(
    architecture: tuple[int, ...], values: tuple[Fraction, ...], indices: IntArray
) -> IntArray:
    """One row of entries, times the common denominator, for every index."""
    d = _denominator(values)
    count = _parameter_count(architecture)
    result = np.empty((len(indices), count), dtype=np.int64)
    scaled_values = np.array([int(v * d) for v in values], dtype=np.int64)
    remaining = indices
    for position in reversed(range(count)):
        remaining, digit = np.divmod(remaining, len(values))
        result[:, position] = scaled_values[digit]
    return result


def _split_entries(
    architecture: tuple[int, ...], entries: IntArray
) -> list[tuple[IntArray, IntArray]]:
    """Layers (W, b) with one more axis in front for the parameters; they are views of `entries`."""
    layers = []
    start = 0
    for columns, rows in pairwise(architecture):
        bias_start, end = start + rows * columns, start + rows * (columns + 1)
        weights = entries[:, start:bias_start].reshape(-1, rows, columns)
        layers.append((weights, entries[:, bias_start:end]))
        start = end
    return layers


def _outputs(
    architecture: tuple[int, ...],
    values: tuple[Fraction, ...],
    doubled_points: IntArray,
    indices: IntArray,
) -> IntArray:
    """Outputs times the output scale, with axes parameter, output, point."""
    scale = 2
    activations = z = doubled_points[np.newaxis]
    for weights, bias in _split_entries(architecture, _entries(architecture, values, indices)):
        z = weights @ activations + scale * bias[:, :, np.newaxis]
        scale *= _denominator(values)
        activations = np.maximum(z, 0)
    return z


def _hashes(outputs: IntArray) -> NDArray[np.uint64]:
    """A linear hash modulo 2^64 of each parameter's outputs; collisions only cost time."""
    flat = outputs.reshape(len(outputs), -1).view(np.uint64)
    random = Random(1)
    multipliers = np.array(
        [random.getrandbits(64) | 1 for _ in range(flat.shape[1])], dtype=np.uint64
    )
    return flat @ multipliers
