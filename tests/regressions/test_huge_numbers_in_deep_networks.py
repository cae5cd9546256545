"""`identify` failed on weights or biases of 1e300 in networks with several hidden layers.

It raised TypeError (a linear program without columns) or ValueError (NaN in a direction), and NumPy
warned of overflow.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest

from polyrelu import Network, NeuronId, from_arrays, identify
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.refutations.valid_inequalities import ValidInequalities
from tests.generators.campaigns import case, few_and_all

Rows = list[tuple[list[list[Any]], list[Any]]]

HUGE = 10**300
#: Widths, factors of weights and biases, competitors, and seeds.
CASES = [
    *product(
        [(2, 2, 2, 1), (2, 3, 3, 1), (3, 3, 3, 3, 2)],
        [(HUGE, HUGE), (1, HUGE), (HUGE, 1)],
        [None, "transversal"],
        range(3),
    )
]


def gaussian(widths: tuple[int, ...], seed: int, weight: int, bias: int) -> Network:
    random = Random(seed)
    layers: Rows = [
        (
            [[Fraction(random.gauss(0, 1)) * weight for _ in range(n)] for _ in range(m)],
            [Fraction(random.gauss(0, 1)) * bias for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    return from_arrays(layers)


@pytest.mark.parametrize("cases", few_and_all(CASES[::29], CASES))
def test_huge_numbers_are_searched_like_others(cases: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for widths, (weight, bias), among, seed in cases:
            sizes = [f"{number:.0e}" for number in (weight, bias)]
            with case(widths, *sizes, among, seed):
                identify(gaussian(widths, seed, weight, bias), among=among, budget=300)


def test_a_search_sees_a_scaled_network_as_it_is() -> None:
    """Scaled by 1e300, a network has the same zeros, and the search proves the same."""
    corners: Rows = [([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])]
    for powers in ((300, 0), (0, 300), (300, 300)):
        rows: Rows = [
            (
                [[w * 10**power for w in row] for row in weight],
                [b * 10 ** sum(powers[: i + 1]) for b in bias],
            )
            for i, ((weight, bias), power) in enumerate(zip(corners, (*powers, 0), strict=True))
        ]
        assert not DeepSearch(from_arrays(rows)).run(rounds=20).missing


def test_no_linear_program_is_asked_about_the_first_layer() -> None:
    inequalities = ValidInequalities(
        from_arrays([([[1, 0], [0, 1]], [HUGE, 0]), ([[1, 1]], [0]), ([[1]], [0])])
    )
    assert inequalities.lower_bound(inequalities.preactivation(NeuronId(1, 0)), 1) is None
