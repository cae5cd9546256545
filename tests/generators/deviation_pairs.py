"""Small pairs of networks, and the largest difference at the vertices of the stacked network."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import polyrelu
from polyrelu import Network

__all__ = ["largest_at_vertices", "small_pair"]

Rows = list[list[Fraction]]
Layers = list[tuple[Rows, list[Fraction]]]


def _layers(rng: random.Random, widths: list[int]) -> Layers:
    def number() -> Fraction:
        return Fraction(rng.randint(-6, 6), rng.choice([1, 2, 3]))

    return [
        ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
        for n, m in pairwise(widths)
    ]


def _copy(rng: random.Random, layers: Layers) -> Layers:
    """Return the layers with some weights changed a little, or replaced by 0."""

    def changed(w: Fraction) -> Fraction:
        return rng.choice([w, w, w + Fraction(rng.randint(-2, 2), 16), Fraction(0)])

    return [([[changed(w) for w in row] for row in rows], bias) for rows, bias in layers]


def _stacked(one: Layers, two: Layers) -> Network:
    """Return a network with the outputs of both."""
    layers = [(one[0][0] + two[0][0], one[0][1] + two[0][1])]
    for (W, b), (V, c) in zip(one[1:], two[1:], strict=True):
        zeros = [Fraction(0)] * len(W[0])
        rows = [row + zeros for row in W] + [zeros + row for row in V]
        layers.append((rows, b + c))
    return polyrelu.from_arrays(layers)


def small_pair(rng: random.Random) -> tuple[Layers, Layers]:
    """Return layers and a changed copy, with one or two inputs and up to two hidden layers."""
    widths = [rng.randint(1, 2), *(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))]
    one = _layers(rng, [*widths, rng.randint(1, 2)])
    return one, _copy(rng, one)


def largest_at_vertices(one: Layers, two: Layers) -> Fraction:
    """Return the largest difference on [-1, 1]^n, by all cells of the stacked network."""
    stacked = _stacked(one, two)
    cells = polyrelu.canonical_complex(stacked, "box:-1,1")
    half = stacked.num_outputs // 2
    values = [stacked(cells.vertex(i)) for i in range(cells.f_vector[0])]
    return max(abs(v[k] - v[half + k]) for v in values for k in range(half))
