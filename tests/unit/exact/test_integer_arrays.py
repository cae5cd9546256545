"""Arrays of integers: int64 gives what Python integers give, and is left where it would not."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.exact import integer_arrays as arrays
from polyrelu.exact.floats import SMALL_BITS, nearest_float


def _array(entries: list[int]) -> NDArray[Any]:
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found


def _entries(chance: random.Random, bits: int, number: int = 20) -> list[int]:
    return [chance.randint(-(2**bits), 2**bits) for _ in range(number)]


@pytest.mark.parametrize("bits", [3, 30, 31, 32, 52, 61, 62, 63, 64, 200])
def test_every_operation_is_that_of_python_integers(bits: int) -> None:
    chance = random.Random(bits)
    for _ in range(20):
        left, right = _entries(chance, bits), _entries(chance, chance.choice([1, bits]))
        x, y = arrays.shortened(_array(left)), arrays.shortened(_array(right))
        assert arrays.longest(x) == max(abs(entry).bit_length() for entry in left)
        assert (x.dtype == np.int64) == (arrays.longest(x) <= SMALL_BITS)
        assert arrays.products(x, y).tolist() == [a * b for a, b in zip(left, right, strict=True)]
        starts = np.array([0, 1, 7])
        assert arrays.sums_of_runs(x, starts).tolist() == [left[0], sum(left[1:7]), sum(left[7:])]
        for denominator in (1, 2, 6, 2**40, 2**80, 3**50):
            multiples = arrays.shortened(_array([6 * entry for entry in left]))
            common = arrays.common_divisor(denominator, multiples)
            assert common == math.gcd(denominator, *(6 * entry for entry in left))
            assert arrays.quotients(multiples, common).tolist() == [
                6 * entry // common for entry in left
            ]


@pytest.mark.parametrize("bits", [3, 30, 31, 32, 33, 61, 62])
def test_high_and_low_parts(bits: int) -> None:
    chance = random.Random(bits)
    for shift in (1, 20, 31):
        high, low = _entries(chance, bits), _entries(chance, 61)
        found = arrays.joined(np.array(high), np.array(low), shift)
        assert found.tolist() == [(a << shift) + b for a, b in zip(high, low, strict=True)]


@pytest.mark.parametrize("sizes", [(3, 3), (31, 31), (60, 20), (40, 45), (20, 52), (62, 53)])
def test_products_of_tables_in_floats(sizes: tuple[int, int]) -> None:
    """The products are exact, or there are none: with long entries on the right."""
    chance = random.Random(sum(sizes))
    left, right = (np.array(_entries(chance, size, 30)) for size in sizes)
    left[0], right[0] = -(2 ** sizes[0]) + 1, 2 ** sizes[1] - 1
    found = arrays.product_in_floats(left.reshape(5, 6), right.reshape(6, 5))
    exact = left.astype(object).reshape(5, 6) @ right.astype(object).reshape(6, 5)
    assert (found is None) == (sizes[1] > 40)
    assert found is None or found.tolist() == exact.tolist()
    assert arrays.product_in_floats(left.astype(object).reshape(5, 6), exact) is None


@pytest.mark.parametrize("denominator", [1, 3, 2**10, 2**53, 2**53 + 1, 2**900, 2**1074, 10**400])
@pytest.mark.parametrize("bits", [10, 53, 54, 62, 100, 1100, 1500])
def test_floats_are_the_nearest_ones(bits: int, denominator: int) -> None:
    chance = random.Random(bits)
    entries = [*_entries(chance, bits), 0, 2**bits - 1, 1 - 2**bits]
    floats = arrays.nearest_floats(arrays.shortened(_array(entries)), denominator).tolist()
    assert floats == [nearest_float(entry, denominator) for entry in entries]
    for entry, found in zip(entries, floats, strict=True):
        if 2.0**-1000 < abs(found) < 2.0**1000:
            assert abs(Fraction(found) - Fraction(entry, denominator)) <= math.ulp(found) / 2


def test_zero_and_no_entries() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert (arrays.longest(none), arrays.common_divisor(12, none)) == (0, 12)
    zeros = np.zeros(3, dtype=np.int64)
    assert arrays.common_divisor(2**70, zeros) == 2**70
    assert arrays.quotients(zeros, 2**70).tolist() == [0, 0, 0]


def test_the_least_int64_has_a_size() -> None:
    least = np.array([-(2**63), 1], dtype=np.int64)
    assert arrays.longest(least) == 64
    assert arrays.products(least, least).tolist() == [2**126, 1]


def test_distinct_entries() -> None:
    entries = _array([2**90, -1, 2**90, 5])
    found, codes = arrays.distinct(entries)
    assert found.tolist() == [2**90, -1, 5]
    assert found[codes].tolist() == entries.tolist()


def test_factors_that_are_cut_once() -> None:
    rng = np.random.default_rng(7)
    for bits in (3, 26, 27, 52, 53, 62):
        left = rng.integers(-(1 << bits), 1 << bits, (5, 9))
        factor = arrays.FactorInFloats(left)
        for of_right in (1, 12, 31, 62, 200):
            right = (left.T % 5 - 2).astype(object) * 2**of_right - 1
            found = factor.times(arrays.shortened(right))
            assert (found == left.astype(object) @ right).all()
    empty = arrays.FactorInFloats(np.zeros((2, 3), dtype=np.int64))
    assert empty.times(np.full((3, 1), -(1 << 62))).tolist() == [[0], [0]]


def test_sums() -> None:
    for left, right in ((1, 2), (1 << 62, 1 << 62), (-(1 << 62), -(1 << 62)), (1 << 90, -1)):
        found = arrays.sums(arrays.as_integers(left), arrays.as_integers(right))
        assert found.tolist() == [left + right]


def test_short_entries_on_the_left_of_long_ones() -> None:
    """Their products need more bits than float64 has, however short the pieces are."""
    for left in ([[1]], [[3]], [[-1, 1]]):
        right = np.full((len(left[0]), 1), (1 << 60) + 1)
        assert arrays.product_in_floats(np.array(left), right) is None
