"""A network with two hidden layers, put together from what surfaces show.

f = Σ_j V_j σ(z_j) + D h + c, where h are the outputs of layer 1. The last but one part, the
*direct* part, is 0 if every neuron of layer 2 vanishes somewhere. A neuron of layer 2 that is on at
all inputs is not seen as a neuron; it adds to the direct part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from polyrelu.exact import RationalMatrix, dot, rank, solve
from polyrelu.exact.vectors import add_multiple
from polyrelu.network import Network, from_arrays
from polyrelu.recovery.inner_layer import InnerLayer
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.oracle import Oracle, scaled
from polyrelu.recovery.outer_layer import outer_layer
from polyrelu.support.typing import Point, Vector

__all__ = ["TwoLayers", "assembled"]

#: The largest number of neurons whose orientations are all tried with a direct part.
_MAX_TRIED = 10


@dataclass(frozen=True)
class TwoLayers:
    """A network with two hidden layers, perhaps without some of the weights of layer 2.

    Attributes
    ----------
    planes
        The preactivations of layer 1.
    rows, biases
        The weights and biases of layer 2; unknown weights are 0.
    outgoing
        The output weights of each neuron of layer 2.
    direct
        For each output the weights of its direct part, on the neurons of layer 1.
    output_bias
        The biases of the outputs.
    unknown
        The weights that are not known, as pairs (neuron of layer 2, neuron of layer 1).
    """

    planes: tuple[Hyperplane, ...]
    rows: tuple[Vector, ...]
    biases: Vector
    outgoing: tuple[Vector, ...]
    direct: tuple[Vector, ...]
    output_bias: Vector
    unknown: tuple[tuple[int, int], ...]

    @property
    def has_direct_part(self) -> bool:
        """Whether a part of the network is linear in the outputs of layer 1."""
        return any(map(any, self.direct))

    def activations(self, x: Point) -> Vector:
        """Return the outputs of layer 1."""
        return tuple(max(plane.at(x), Fraction(0)) for plane in self.planes)

    def network(self) -> Network:
        """Return the network, with neurons that are always on for the direct part."""
        biases = list(self.biases)
        used = [
            k for k in range(len(self.planes)) if any(row[k] for row in (*self.rows, *self.direct))
        ]
        rows = [tuple(row[k] for k in used) for row in self.rows]
        outgoing = list(zip(*self.outgoing, strict=True)) or [()] * len(self.output_bias)
        weights = [list(row) for row in outgoing]
        for o, whole in enumerate(self.direct):
            row = tuple(whole[k] for k in used)
            for sign in (1, -1):
                part = tuple(max(sign * entry, Fraction(0)) for entry in row)
                if any(part):
                    rows.append(part)
                    biases.append(Fraction(0))
                    for k, entries in enumerate(weights):
                        entries.append(Fraction(sign * (k == o)))
        planes = [self.planes[k] for k in used]
        first = ([p.normal for p in planes], [-p.offset for p in planes])
        return from_arrays([first, (rows, biases), (weights, self.output_bias)])


def assembled(
    oracle: Oracle,
    inner: InnerLayer,
    weights: Sequence[Vector],
    points: Sequence[Point],
    limit: int,
) -> list[TwoLayers]:
    """Return the networks with given layers 1 and 2 that have the right values at some points.

    Parameters
    ----------
    oracle
        The function.
    inner
        Layer 1, and layer 2 up to orientations.
    weights
        The output weights of layer 2.
    points
        Points at which the neurons with unknown weights are off.
    limit
        How many networks are wanted at most.

    Returns
    -------
    list of TwoLayers
        The networks. If there is none without a direct part, one with a small one.
    """
    size, num_outputs = len(inner.planes), len(oracle(points[0]))
    nothing = ((Fraction(0),) * size,) * num_outputs
    found = outer_layer(oracle, inner.preactivations, weights, points, limit)
    if found.choices.solutions:
        return [
            _oriented(inner, weights, r, nothing, bias)
            for r, bias in zip(found.choices.solutions, found.biases, strict=True)
        ]
    direct = _direct_part(oracle, inner, weights, points)
    return [] if direct is None else [_least(inner, weights, *direct)]


def _oriented(
    inner: InnerLayer,
    weights: Sequence[Vector],
    turned: Sequence[int],
    direct: tuple[Vector, ...],
    bias: Vector,
) -> TwoLayers:
    """Return a network with some neurons of layer 2 turned around."""
    signs = [Fraction(1 - 2 * r) for r in turned]
    return TwoLayers(
        inner.planes,
        tuple(scaled(row, s) for row, s in zip(inner.rows, signs, strict=True)),
        tuple(s * b for s, b in zip(signs, inner.biases, strict=True)),
        tuple(weights),
        direct,
        bias,
        inner.unknown,
    )


def _direct_part(
    oracle: Oracle, inner: InnerLayer, weights: Sequence[Vector], points: Sequence[Point]
) -> tuple[tuple[Vector, ...], Vector] | None:
    """Return D and c with f = Σ V_j σ(z_j) + D h + c at the points; None if there are none."""
    rows, right = list[Vector](), list[Vector]()
    for x in points:
        h, rest = inner.activations(x), oracle(x)
        for row, b, weight in zip(inner.rows, inner.biases, weights, strict=True):
            rest = add_multiple(rest, weight, -max(dot(row, h) + b, Fraction(0)))
        rows.append((*h, Fraction(1)))
        right.append(rest)
    unknown = {k for _, k in inner.unknown}
    matrix = RationalMatrix.from_rows(rows)
    if rank(matrix) < len(inner.planes) + 1 - len(unknown) or len(rows) <= rank(matrix):
        return None
    if not oracle.is_exact:
        transposed = matrix.transpose()
        found = solve(transposed @ matrix, transposed @ RationalMatrix.from_rows(right))
    else:
        found = solve(matrix, RationalMatrix.from_rows(right))
    if found is None:
        return None
    *direct, bias = found.rows()
    return tuple(zip(*direct, strict=True)), bias


def _least(
    inner: InnerLayer, weights: Sequence[Vector], direct: tuple[Vector, ...], bias: Vector
) -> TwoLayers:
    """Return the network whose direct part needs the fewest neurons."""
    size = len(weights) if len(weights) <= _MAX_TRIED else 0
    best: TwoLayers | None = None
    for turned in product((0, 1), repeat=size):
        turned = (*turned, *(0,) * (len(weights) - size))
        found, constant = direct, bias
        for r, weight, row, b in zip(turned, weights, inner.rows, inner.biases, strict=True):
            if r:
                found = tuple(add_multiple(d, row, v) for d, v in zip(found, weight, strict=True))
                constant = add_multiple(constant, weight, b)
        network = _oriented(inner, weights, turned, found, constant)
        if best is None or _num_always_on(network) < _num_always_on(best):
            best = network
    assert best is not None
    return best


def _num_always_on(layers: TwoLayers) -> int:
    """Return how many neurons the direct part needs."""
    return sum(
        any(entry > 0 for entry in row) + any(entry < 0 for entry in row) for row in layers.direct
    )
