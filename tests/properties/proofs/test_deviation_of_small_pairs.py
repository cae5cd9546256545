"""Exact deviations of small pairs, against all vertices of the stacked network."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import polyrelu
from polyrelu import Network
from polyrelu.outcomes import DeviationBounds
from tests.generators.campaigns import case, few_and_all

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


@pytest.mark.parametrize("number", few_and_all(12, 100))
def test_exact_deviations(number: int, tmp_path: Path) -> None:
    rng = random.Random(20)
    for index in range(number):
        widths = [rng.randint(1, 2), *(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))]
        one = _layers(rng, [*widths, rng.randint(1, 2)])
        two = _copy(rng, one)
        found = polyrelu.deviation(
            polyrelu.from_arrays(one), polyrelu.from_arrays(two), "box:-1,1", seed=index
        )
        with case(index):
            assert isinstance(found, DeviationBounds)
            assert found.at_least == found.at_most == _largest_at_vertices(_stacked(one, two))
            if index % 4 == 0:
                found.save(tmp_path / "pair.cert")
                assert polyrelu.check_file(tmp_path / "pair.cert").verdict == "accepted"


def _largest_at_vertices(stacked: Network) -> Fraction:
    cells = polyrelu.canonical_complex(stacked, "box:-1,1")
    half = stacked.num_outputs // 2
    values = [stacked(cells.vertex(i)) for i in range(cells.f_vector[0])]
    return max(abs(v[k] - v[half + k]) for v in values for k in range(half))
