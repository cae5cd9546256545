"""Weights from layer 1 to layer 2 that bend no surface, from the jumps at the planes of layer 1.

At a point of the hyperplane of neuron k of layer 1 the gradient jumps by Σ V_j a_jk times its
normal, the sum over the neurons j of layer 2 that are on there. Where it is known which ones these
are, that is a linear equation in the weights a_jk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from polyrelu.exact import RationalMatrix, dot, rank, solve
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.geometry import tangents
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.recovery.two_layers import TwoLayers
from polyrelu.support.typing import Point, Vector

__all__ = ["with_unseen_weights"]

#: How many places of a hyperplane are tried for an equation.
_NUM_PLACES = 60


def with_unseen_weights(oracle: Oracle, layers: TwoLayers) -> TwoLayers:
    """Return the layers with all unknown weights that the jumps at layer 1 determine."""
    while layers.unknown:
        columns = sorted({k for _, k in layers.unknown})
        for k in columns:
            found = _column(oracle, layers, k)
            if found is not None:
                layers = found
                break
        else:
            break
    return layers


def _column(oracle: Oracle, layers: TwoLayers, k: int) -> TwoLayers | None:
    """Return the layers with the weights from neuron k; None if the jumps do not show them."""
    wanted = [j for j, i in layers.unknown if i == k]
    others = [pair for pair in layers.unknown if pair[1] != k]
    outputs = range(len(layers.output_bias))
    rows, right = list[Vector](), list[Fraction]()
    for _ in range(_NUM_PLACES):
        place = _random_place(oracle, layers.planes, k)
        h = () if place is None else layers.activations(place)
        if place is None or any(h[i] for _, i in others):
            continue
        on = [dot(r, h) + b > 0 for r, b in zip(layers.rows, layers.biases, strict=True)]
        more = [_equation(layers, wanted, on, o) for o in outputs]
        if rows and rank(RationalMatrix.from_rows([*rows, *more])) == len(rows):
            continue
        jump = _jump(oracle, layers.planes[k], place)
        if jump is None:
            continue
        rows += more
        right += [entry - _known_part(layers, k, on, o) for o, entry in enumerate(jump)]
    matrix = RationalMatrix.from_rows(
        rows, ncols=len(wanted) + len(outputs) * layers.has_direct_part
    )
    if rank(matrix) < matrix.ncols:
        return None
    found = solve(matrix, RationalMatrix.column(right))
    return None if found is None else _filled(layers, k, [row[0] for row in found.rows()])


def _equation(layers: TwoLayers, wanted: list[int], on: list[bool], o: int) -> Vector:
    """Return the coefficients of the unknown weights, and of the direct part if there is one."""
    direct = range(len(layers.output_bias)) if layers.has_direct_part else ()
    return (
        *(layers.outgoing[j][o] if on[j] else Fraction(0) for j in wanted),
        *(Fraction(i == o) for i in direct),
    )


def _known_part(layers: TwoLayers, k: int, on: list[bool], o: int) -> Fraction:
    """Return what the known weights from neuron k add to the jump of output o."""
    parts = zip(layers.outgoing, layers.rows, on, strict=True)
    return sum((v[o] * row[k] for v, row, is_on in parts if is_on), Fraction(0))


def _filled(layers: TwoLayers, k: int, found: list[Fraction]) -> TwoLayers:
    """Return the layers with all weights from neuron k."""
    wanted = [j for j, i in layers.unknown if i == k]
    values = dict(zip(wanted, found, strict=False))
    rows = tuple(
        (*row[:k], values.get(j, row[k]), *row[k + 1 :]) for j, row in enumerate(layers.rows)
    )
    direct = layers.direct
    if layers.has_direct_part:
        more = found[len(wanted) :]
        direct = tuple(
            (*row[:k], entry, *row[k + 1 :]) for row, entry in zip(direct, more, strict=True)
        )
    unknown = tuple(pair for pair in layers.unknown if pair[1] != k)
    return replace(layers, rows=rows, direct=direct, unknown=unknown)


def _random_place(oracle: Oracle, planes: Sequence[Hyperplane], k: int) -> Point | None:
    """Return a random point of hyperplane k, often between the others."""
    plane = planes[k]
    start = scaled(plane.normal, plane.offset / dot(plane.normal, plane.normal))
    direction: Vector = (Fraction(0),) * oracle.num_inputs
    for vector in tangents([plane], oracle.num_inputs):
        direction = add_multiple(direction, vector, oracle.entry())
    if not any(direction):
        return start
    crossings = [
        -p.at(start) / slope for p in planes if (slope := dot(p.normal, direction)) and p != plane
    ] or [Fraction(0)]
    t = oracle.random.choice(crossings) + oracle.entry() * oracle.random.choice((1, 4, 1 / 8))
    low, high = oracle.reach(start, direction)
    if (low is not None and t < low) or (high is not None and t > high):
        return None
    return add_multiple(start, direction, Fraction(t))


def _jump(oracle: Oracle, plane: Hyperplane, x: Point) -> Vector | None:
    """Return by how much of the normal the gradient jumps at a point of a hyperplane."""
    step = Fraction(1, 2**8)
    square = dot(plane.normal, plane.normal)
    last: Vector | None = None
    for _ in range(12 if oracle.is_exact else 3):
        ahead, back = (oracle(add_multiple(x, plane.normal, t)) for t in (step, -step))
        twice = scaled(oracle(x), Fraction(2))
        found = scaled(
            difference(add_multiple(ahead, back, Fraction(1)), twice), 1 / (step * square)
        )
        if last is not None and all(
            oracle.is_small(a - b, 1 + abs(a)) for a, b in zip(last, found, strict=True)
        ):
            return found
        last, step = found, step / 16
    return None
