"""Persistent homology: known functions, exact values, and Betti numbers of the sets themselves."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from polyrelu.complex import Subcomplex
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.support.progress import ProgressStep
from polyrelu.topology import (
    PersistenceInterval,
    UnfinishedError,
    betti_numbers,
    sublevel_persistence,
    sublevel_set,
    superlevel_persistence,
    superlevel_set,
)
from tests.generators.campaigns import few_fast
from tests.generators.quantised_networks import KINDS, quantised_network, random_domain

#: | |x| + |y| - 2 |
RING = from_arrays(
    [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4, [-1] * 4], [-2, 2]), ([[1, 1]], [0])]
)
SQUARE = Polyhedron.box([-3, -3], [3, 3])


def test_without_gudhi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gudhi", None)
    with pytest.raises(PolyreluError, match=r"pip install 'polyrelu\[topology\]'"):
        sublevel_persistence(RING, SQUARE)


def test_a_ring() -> None:
    """The circle |x| + |y| = 2 has the level 0; the middle has the value 2, the corners have 4."""
    pytest.importorskip("gudhi")
    zero, two = Fraction(0), Fraction(2)
    assert sublevel_persistence(RING, SQUARE) == (
        PersistenceInterval(0, zero, None),
        PersistenceInterval(1, zero, two),
    )
    found = superlevel_persistence(RING, SQUARE)
    corners = [PersistenceInterval(0, Fraction(4), Fraction(1))] * 3
    assert found == (
        *corners,
        PersistenceInterval(0, Fraction(4), None),
        PersistenceInterval(0, two, zero),
        PersistenceInterval(1, Fraction(1), zero),
    )


def test_exact_values_that_no_float_tells_apart() -> None:
    """Minima at heights 1/3 and 1/3 + 2^-80, with a bump of 2^-70 between them."""
    pytest.importorskip("gudhi")
    third, low, bump = Fraction(1, 3), Fraction(1, 2**80), Fraction(1, 2**70)
    # linear between (-2, 1/3 + 1), (-1, 1/3), (0, 1/3 + bump), (1, 1/3 + low), (2, 1/3 + 1)
    slopes = [Fraction(-1), bump, low - bump, 1 - low]
    steps = [b - a for a, b in pairwise(slopes)]
    bias = third - 1
    net = from_arrays(
        [
            ([[1], [-1], [1], [1], [1]], [0, 0, 1, 0, -1]),
            ([[slopes[0], -slopes[0], *steps]], [bias]),
        ]
    )
    domain = Polyhedron.box([-2], [2])
    assert [net([x])[0] - third for x in (-2, -1, 0, 1, 2)] == [1, 0, bump, low, 1]
    assert sublevel_persistence(net, domain) == (
        PersistenceInterval(0, third, None),
        PersistenceInterval(0, third + low, third + bump),
    )


def test_several_outputs_fields_and_points() -> None:
    pytest.importorskip("gudhi")
    two = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1], [1, -1]], [0, 0])])
    box = Polyhedron.box([-1], [2])
    assert sublevel_persistence(two, box) == (PersistenceInterval(0, Fraction(0), None),)
    assert sublevel_persistence(two, box, output=1) == (PersistenceInterval(0, Fraction(-1), None),)
    assert sublevel_persistence(two, box, characteristic=11) == sublevel_persistence(two, box)
    point = Polyhedron.box([2], [2])
    assert sublevel_persistence(two, point, output=1) == (
        PersistenceInterval(0, Fraction(2), None),
    )


def test_errors() -> None:
    pytest.importorskip("gudhi")
    with pytest.raises(DomainError, match="needs a bounded polyhedron as domain, such as a box"):
        sublevel_persistence(RING, Polyhedron.orthant(2))
    with pytest.raises(DomainError, match="the domain is empty"):
        sublevel_persistence(RING, Polyhedron.from_constraints([[1, 0], [-1, 0]], [0, -1]))
    with pytest.raises(DomainError, match="no output 1, only 0 to 0"):
        superlevel_persistence(RING, SQUARE, output=1)
    for wrong in (0, 4, -2, 46349, 2**70):
        with pytest.raises(DomainError, match="is not a prime of at most 46337"):
            sublevel_persistence(RING, SQUARE, characteristic=wrong)


def test_interrupted() -> None:
    pytest.importorskip("gudhi")
    import signal

    def press(step: ProgressStep) -> None:
        if step.num_done == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(UnfinishedError, match="incomplete"):
        sublevel_persistence(RING, SQUARE, progress=press)


def alive(intervals: tuple[PersistenceInterval, ...], level: Fraction, sign: int) -> Counter[int]:
    """The number of classes that exist at a level, by dimension."""
    found: Counter[int] = Counter()
    for interval in intervals:
        born = sign * interval.birth <= sign * level
        found[interval.dimension] += born and (
            interval.death is None or sign * level < sign * interval.death
        )
    return found


def check(network: Network, domain: Polyhedron, rng: Random) -> int:
    """Compare with the Betti numbers over GF(2) at and between the ends of the intervals.

    Both filtrations are compared, upwards and downwards.
    """
    output, count = rng.randrange(network.num_outputs), 0
    methods: list[
        tuple[Callable[..., tuple[PersistenceInterval, ...]], Callable[..., Subcomplex], int]
    ] = [
        (sublevel_persistence, sublevel_set, 1),
        (superlevel_persistence, superlevel_set, -1),
    ]
    for persistence, level_set, sign in methods:
        intervals = persistence(network, domain, output=output)
        values = {interval.birth for interval in intervals} | {
            interval.death for interval in intervals
        }
        ordered = sorted(value for value in values if value is not None)
        between = [(a + b) / 2 for a, b in pairwise(ordered)]
        levels = [ordered[0] - 1, ordered[-1] + 1, *rng.sample(ordered, min(3, len(ordered)))]
        for level in levels + rng.sample(between, min(3, len(between))):
            betti = betti_numbers(
                level_set(network, level, domain, output=output), characteristic=2
            )
            assert {k: n for k, n in alive(intervals, level, sign).items() if n} == {
                k: b for k, b in enumerate(betti) if b
            }
        count += len(intervals)
    return count


@pytest.mark.parametrize("kind", few_fast(KINDS, 5))
def test_sets_at_all_levels(kind: str) -> None:
    pytest.importorskip("gudhi")
    count = 0
    for seed in range(3):
        rng = Random(f"persistence {kind} {seed}")
        network = quantised_network(kind, rng)
        domain = random_domain(
            rng.choice(["box", "bounded", "redundant rows", "polytope"]), network.num_inputs, rng
        )
        count += check(network, domain, rng)
    assert count >= 6


def test_a_function_with_many_extrema() -> None:
    pytest.importorskip("gudhi")
    rng = Random("many extrema")
    layers = [
        (
            [[rng.randint(-9, 9) for _ in range(n)] for _ in range(m)],
            [rng.randint(-9, 9) for _ in range(m)],
        )
        for n, m in pairwise((2, 12, 8, 1))
    ]
    assert check(from_arrays(layers), Polyhedron.box([-2, -2], [2, 2]), rng) >= 10
