"""A proved bound on what a float runtime adds to the exact function of a graph.

**Model.** Each operation of the graph is done in one binary format with unit roundoff u (float32: 2^-24), to nearest,
sums and products of an affine map in any order, with or without fused multiply-adds; inputs are numbers of the format.
Any number below the normal range may be taken for 0, so that up to `tiny` is lost. Nothing is said about a runtime that
fuses several nodes, computes in a shorter format (TF32, bfloat16) or transforms convolutions (Winograd, FFT).

**Bound.** For an affine map with n nonzero weights in a row, any such order gives the exact value of slightly changed
numbers: every product is off by a factor 1 + θ, |θ| ≤ γ_k = ku/(1 - ku), k = n + 2 + extra roundings (n products and
sums, the bias, and a weight that the format does not hold). With e the error of the inputs and m a bound on their size,
the error of the result is at most |W|e + γ_k(|W|(m + e) + |b|) + 3(n + 2)·tiny·(1 + max(m + e)); Higham, Accuracy and
Stability of Numerical Algorithms, §3.1 and §4.2. The last term is what n weights, products and sums lose to 0, and
what γ makes of it (ku < 1/4). ReLU, maximum, minimum and clip do not round and are 1-Lipschitz. Sizes come from
intervals for the exact values. `docs/theory/rounding.md` has the proof.

The bound itself is computed in float64. Every quantity here is nonnegative, so that a float64 result is short by a
factor of at most 1 + (n + 2)·2^-53 before `_up` multiplies by 1 + (n + 4)·2^-52 and adds 2^-1000 for what underflowed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    FLOAT32,
    FLOAT64,
    AnyMatrix,
    FloatFormat,
    RationalMatrix,
    SparseMatrix,
    as_sparse,
)
from polyrelu.formats.graph.operations import (
    Add,
    Clip,
    Constant,
    Input,
    Join,
    LeakyRelu,
    Linear,
    Maximum,
    Minimum,
    Operation,
    Relu,
    Take,
)
from polyrelu.formats.graph.values import Graph, Node
from polyrelu.support.typing import Floats

__all__ = ["BOUNDED", "Arithmetic", "Box", "Floats", "Range", "float_arithmetic", "ranges"]

Box: TypeAlias = tuple[Sequence[Fraction], Sequence[Fraction]]

_EPS, _TINY = 2.0**-52, 2.0**-1000


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The float format of a runtime: unit roundoff, what may underflow to 0, largest finite number."""

    format: FloatFormat
    unit: float
    tiny: float
    largest: float


_ARITHMETICS = {
    "float32": Arithmetic(FLOAT32, 2.0**-24, 2.0**-126, float(FLOAT32.largest)),
    "float64": Arithmetic(FLOAT64, 2.0**-53, 2.0**-1000, float(FLOAT64.largest)),
}


#: The arithmetics that have a bound.
BOUNDED = frozenset(_ARITHMETICS)


def float_arithmetic(name: str, bounded: Collection[str] = BOUNDED) -> Arithmetic:
    """The arithmetic of a number type, for a graph whose rounding is bounded in these arithmetics (`Draft.bounded`)."""
    if name not in _ARITHMETICS:
        raise NetworkError(
            f"no rounding bound is known for {name or 'mixed'} arithmetic, only for float32 and float64"
        )
    if name not in bounded:
        raise NetworkError(
            f"no rounding bound is known for {name}: numbers were computed from constants, or rounded by a rule, and "
            "are further away from the runtime's than its operations round"
        )
    return _ARITHMETICS[name]


@dataclass(frozen=True, slots=True)
class Range:
    """What is known of a value on some boxes, arrays of shape (entries, boxes): bounds of the exact entries, and of the
    error of the runtime's."""

    low: Floats
    high: Floats
    error: Floats

    @property
    def size(self) -> Floats:
        """A bound on |exact value|."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def ranges(graph: Graph, boxes: Sequence[Box], runtime: Arithmetic) -> list[Range]:
    """For each node of a graph: the ranges of its value when the input runs through each of the boxes.

    >>> from polyrelu.formats.graph.operations import Linear
    >>> graph = Graph()
    >>> (x,) = graph.inputs([(2,)])
    >>> weight = RationalMatrix.from_rows([[3, 5]])
    >>> graph.finish([graph.add(Linear(weight), [x], (1,))])
    >>> found = ranges(graph, [([Fraction(0)] * 2, [Fraction(1)] * 2)], float_arithmetic("float32"))[-1]
    >>> bool(8 <= found.high[0, 0] < 8.001), bool(0 < found.error[0, 0] < 1e-5)
    (True, True)
    """
    with np.errstate(over="ignore"):
        low = np.stack([_below(corner) for corner, _ in boxes], axis=1)
        high = np.stack([_above(corner) for _, corner in boxes], axis=1)
    found: list[Range] = []
    for node in graph.nodes:
        operation, inputs = _with_bias(graph, node)
        with np.errstate(over="ignore", invalid="ignore"):
            result = _range(operation, [found[i] for i in inputs], (low, high), runtime)
        found.append(_without_nan(result))
    return found


def _with_bias(graph: Graph, node: Node) -> tuple[Operation, tuple[int, ...]]:
    """An operation and its inputs; the addition of a bias to products is one sum with them, in any order."""
    operation = node.operation
    if isinstance(operation, Linear) and operation.offset is not None and _is_sum(operation):
        before = graph.nodes[node.inputs[0]]
        products = before.operation
        if (
            isinstance(products, Linear)
            and products.offset is None
            and as_sparse(operation.matrix).is_identity()
        ):
            return replace(products, offset=operation.offset), before.inputs
    return operation, node.inputs


def _is_sum(operation: Linear) -> bool:
    return operation.spread is None and not operation.extra_roundings


def _without_nan(found: Range) -> Range:
    """Nothing is known where infinities met."""
    low, high = (
        np.where(np.isnan(bound), limit, bound)
        for bound, limit in ((found.low, -np.inf), (found.high, np.inf))
    )
    return Range(low, high, np.where(np.isnan(found.error), np.inf, found.error))


def _range(
    operation: Any, x: list[Range], box: tuple[Floats, Floats], runtime: Arithmetic
) -> Range:
    match operation:
        case Input(first, size, _):
            low, high = (corners[first : first + size] for corners in box)
            return Range(low, high, np.full(low.shape, runtime.tiny))
        case Constant(column):
            return _constant(column, box[0].shape[1], runtime)
        case Linear():
            return _linear(operation, x[0], runtime)
        case Take(chosen):
            absent = (chosen < 0)[:, None]
            return Range(
                *(np.where(absent, 0.0, part[chosen]) for part in (x[0].low, x[0].high, x[0].error))
            )
        case Join():
            return Range(
                *(
                    np.concatenate(parts)
                    for parts in zip(*((r.low, r.high, r.error) for r in x), strict=True)
                )
            )
        case Add(sign):
            return _sum(
                x[0], x[1] if sign > 0 else Range(-x[1].high, -x[1].low, x[1].error), runtime
            )
        case Relu():
            return _relu(x[0], runtime)
        case Maximum():
            return Range(
                np.maximum(x[0].low, x[1].low),
                np.maximum(x[0].high, x[1].high),
                _larger_error(x, runtime),
            )
        case Minimum():
            return Range(
                np.minimum(x[0].low, x[1].low),
                np.minimum(x[0].high, x[1].high),
                _larger_error(x, runtime),
            )
        case LeakyRelu(slopes):
            return _leaky(RationalMatrix.column(slopes).to_floats(), x[0], runtime)
        case Clip(low, high):
            return _clip(low, high, x[0], runtime)
    raise NetworkError(f"no rounding bound is known for {type(operation).__name__}")


def _larger_error(x: list[Range], runtime: Arithmetic) -> Floats:
    return _up(np.maximum(x[0].error, x[1].error) + runtime.tiny, 1)


def _constant(column: RationalMatrix, boxes: int, runtime: Arithmetic) -> Range:
    entries = list(column.entries())
    held = np.array([[runtime.format.holds(entry)] * boxes for entry in entries])
    low, high = (np.repeat(bound(entries)[:, None], boxes, axis=1) for bound in (_below, _above))
    size = np.maximum(np.abs(low), np.abs(high))
    error = np.where(held & (size >= runtime.tiny), 0.0, _up(runtime.unit * size + runtime.tiny, 2))
    return Range(low, high, np.where(size < runtime.largest, error, np.inf))


def _linear(operation: Linear, x: Range, runtime: Arithmetic) -> Range:
    weights = _FloatMatrix(operation.matrix)
    offset = (
        np.zeros((weights.rows, 1)) if operation.offset is None else operation.offset.to_floats()
    )
    spread = operation.spread if operation.spread is not None else operation.offset
    bias = np.zeros((weights.rows, 1)) if spread is None else _up(_sizes(spread.to_floats()), 1)
    # The exact values: weights, centre and offset are float64 here, each off by a factor 1 + 2^-53 at most.
    centre = x.low / 2 + x.high / 2
    radius = _up(np.maximum(x.high - centre, centre - x.low), 1)
    slack = (weights.terms + 6) * _EPS
    blur = _up(
        weights.absolute(radius) + slack * (weights.absolute(np.abs(centre)) + bias),
        weights.terms + 2,
    )
    middle = weights.times(centre) + offset
    # The runtime's: see the module.
    count = weights.terms + 2 + operation.extra_roundings
    gamma = count * runtime.unit / (1 - count * runtime.unit)
    reach = _up(x.size + x.error, 1)
    sums = _up(weights.absolute(reach) + bias, weights.terms + 1)
    stretch = operation.stretch
    underflow = (
        3 * stretch * (weights.terms + 2) * runtime.tiny * (1 + np.max(reach, axis=0, initial=0.0))
    )
    error = _up(weights.absolute(x.error) + gamma * sums + underflow, weights.terms + 4)
    sizes = np.maximum(
        _up(sums * (1 + gamma), 2), np.max(1 + reach, axis=0, initial=weights.largest)
    )
    fits = stretch * sizes < runtime.largest / 2
    error = np.where((count * runtime.unit < 0.25) & fits, error, np.inf)
    return Range(_down_from(middle, blur), _up_from(middle, blur), error)


def _sum(x: Range, y: Range, runtime: Arithmetic) -> Range:
    sums = _up(x.size + y.size + x.error + y.error, 4)
    error = _up(x.error + y.error + runtime.unit * sums + 4 * runtime.tiny, 5)
    error = np.where(sums * (1 + 2 * runtime.unit) < runtime.largest, error, np.inf)
    return Range(_down_from(x.low, -y.low), _up_from(x.high, y.high), error)


def _relu(x: Range, runtime: Arithmetic) -> Range:
    """Where the exact value is not positive, the float one exceeds 0 by at most high + error."""
    error = np.where(
        x.high <= 0, np.minimum(x.error, np.maximum(_up_from(x.high, x.error), 0.0)), x.error
    )
    return Range(np.maximum(x.low, 0.0), np.maximum(x.high, 0.0), _up(error + runtime.tiny, 1))


def _leaky(slopes: Floats, x: Range, runtime: Arithmetic) -> Range:
    sizes = _up(_sizes(slopes), 1)
    ends = [np.where(end < 0, slopes * end, end) for end in (x.low, x.high)]
    blur = _up(_EPS * np.maximum(np.abs(ends[0]), np.abs(ends[1])), 2)
    crosses = (x.low < 0) & (x.high > 0)
    low = _down_from(np.minimum(*ends), blur)
    high = _up_from(np.maximum(*ends), blur)
    reach = _up(np.maximum(-x.low, 0.0) + x.error, 1)
    rounding = 2.5 * runtime.unit * sizes * reach + 4 * runtime.tiny * (1 + reach)
    error = _up(np.maximum(sizes, 1.0) * x.error + rounding, 5)
    error = np.where(sizes * (1 + reach) < runtime.largest / 2, error, np.inf)
    return Range(
        np.where(crosses, np.minimum(low, 0.0), low),
        np.where(crosses, np.maximum(high, 0.0), high),
        error,
    )


def _clip(low: Fraction | None, high: Fraction | None, x: Range, runtime: Arithmetic) -> Range:
    bottom, top, error = x.low, x.high, _up(x.error + runtime.tiny, 1)
    for limit in (low, high):
        if limit is not None and not runtime.format.holds(limit):
            size = max(abs(_below([limit])[0]), abs(_above([limit])[0]))
            moved = runtime.unit * size + runtime.tiny if size < runtime.largest else np.inf
            error = _up(error + moved, 2)
    if low is not None:
        bottom, top = np.maximum(bottom, _below([low])[0]), np.maximum(top, _above([low])[0])
    if high is not None:
        bottom, top = np.minimum(bottom, _below([high])[0]), np.minimum(top, _above([high])[0])
    return Range(bottom, top, error)


# --- Directed rounding -----------------------------------------------------------------------------------


def _up(values: Floats, terms: Any) -> Floats:
    """An upper bound of nonnegative sums of that many products that were computed in float64."""
    result: Floats = values * (1 + (terms + 4) * _EPS) + _TINY
    return result


def _up_from(middle: Floats, more: Floats) -> Floats:
    return np.nextafter(middle + more, np.inf)


def _down_from(middle: Floats, less: Floats) -> Floats:
    return np.nextafter(middle - less, -np.inf)


def _above(entries: Sequence[Fraction]) -> Floats:
    """Floats at or above exact numbers."""
    return np.nextafter(RationalMatrix.column(entries).to_floats()[:, 0], np.inf)


def _below(entries: Sequence[Fraction]) -> Floats:
    return np.nextafter(RationalMatrix.column(entries).to_floats()[:, 0], -np.inf)


def _sizes(floats: Floats) -> Floats:
    """Absolute values of nearest floats; the largest float stands for anything from there on."""
    sizes = np.abs(floats)
    return np.where(sizes == np.finfo(np.float64).max, np.inf, sizes)


class _FloatMatrix:
    """A matrix in float64: W and |W| times a vector, the nonzero entries of each row, and a bound on all sizes."""

    def __init__(self, matrix: AnyMatrix) -> None:
        self.rows = matrix.nrows
        if isinstance(matrix, SparseMatrix):
            self._starts, self._columns = matrix.starts, matrix.columns
            self.terms = np.diff(matrix.starts).astype(np.float64)[:, None]
        else:
            self.terms = (matrix.signs() != 0).sum(axis=1).astype(np.float64)[:, None]
        self._entries: Floats = matrix.to_floats()
        self._sizes = _up(_sizes(self._entries), 1)  # zeros become 2^-1000, which harms nobody
        self._dense = not isinstance(matrix, SparseMatrix)
        self.largest = float(self._sizes.max(initial=0.0))

    def times(self, x: Floats) -> Floats:
        """W x."""
        return self._product(self._entries, x)

    def absolute(self, x: Floats) -> Floats:
        """Upper bounds of |W| times x, before rounding."""
        return self._product(self._sizes, x)

    def _product(self, entries: Floats, x: Floats) -> Floats:
        if self._dense:
            product: Floats = entries @ x
            return product
        sums = np.zeros((self.rows, x.shape[1]))
        filled = np.flatnonzero(self.terms)
        if filled.size:
            sums[filled] = np.add.reduceat(
                entries[:, None] * x[self._columns], self._starts[filled]
            )
        return sums
