"""Integers modulo primes in floats, at the very bounds that the proofs allow."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from polyrelu.exact.residues import Residues
from polyrelu.support.typing import BigIntegers

#: Bits of bounds around every change of representation.
BITS = (1, 51, 52, 53, 60, 61, 62, 63, 64, 65, 200, 1_000, 5_000)
TERMS = (1, 16, 255, 4_000)


def objects(integers: list[int]) -> BigIntegers:
    """An array of Python integers."""
    found = np.empty(len(integers), dtype=object)
    found[:] = integers
    return found


@pytest.mark.parametrize("bits", BITS)
def test_integers_up_to_the_bound_come_back(bits: int) -> None:
    """The largest integers of both signs, and random ones, for any bound below the system's."""
    rng = Random(bits)
    for bound in (1 << bits, (1 << bits) - 1):
        near = [bound, -bound, bound - 1, 1 - bound, 0, 1, -1]
        integers = objects(near + [rng.randint(-bound, bound) for _ in range(20)])
        for system in (Residues.for_matrices(bound, 16), Residues.for_entries(bound)):
            residues = system.of(integers)
            assert system.integers(residues).tolist() == integers.tolist()
            assert system.vanish(residues.copy()).tolist() == [x == 0 for x in integers.tolist()]
            for smaller in (1 << k for k in (5, 53, 61, 62, 63, 90, 333) if k <= bits):
                some = objects([smaller, -smaller, smaller - 1, 1])
                assert system.integers(system.of(some), smaller).tolist() == some.tolist()


@pytest.mark.parametrize("bits", BITS)
def test_rows_of_digits_are_ordered_like_integers(bits: int) -> None:
    """Equal rows, rows whose last digits are 0, and rows next to each other."""
    rng, bound = Random(bits), 1 << bits
    some = [bound, -bound, 0, 1, -1, bound >> 1, -(bound >> 1), *(-(1 << k) for k in range(bits))]
    rows = [[rng.choice(some) for _ in range(3)] for _ in range(60)]
    rows += [[rng.randint(-bound, bound) for _ in range(3)] for _ in range(20)]
    system = Residues.for_entries(bound)
    integers = objects([x for row in rows for x in row]).reshape(-1, 3)
    digits, places = system.digits(system.of(integers)).distinct_rows()
    found = digits.integers().tolist()
    assert found == [list(row) for row in sorted(set(map(tuple, rows)))]
    assert [found[place] for place in places.tolist()] == rows
    for part in (integers[:, :0], integers[:0]):
        digits, places = system.digits(system.of(part)).distinct_rows()
        assert (len(digits), places.tolist()) == (min(len(part), 1), [0] * len(part))


def test_a_residue_may_be_added_to_a_product_of_entries() -> None:
    for bits in (63, 64, 200, 1_000):
        assert 2 * (Residues.for_entries(1 << bits).primes[0] / 2 + 2) ** 2 <= 2**52


def test_primes_are_enough_and_small_enough() -> None:
    """The product is at least 4 bounds without a prime to spare; no sum exceeds 2^52."""
    for bits, terms in ((bits, terms) for bits in BITS for terms in TERMS):
        primes = Residues.for_matrices(1 << bits, terms).primes
        if not primes:
            assert bits <= 52
            continue
        assert math.prod(primes) >= 4 << bits > math.prod(primes[:-1])
        assert len(set(primes)) == len(primes)
        assert (terms + 1) * (primes[0] / 2 + 2) ** 2 <= 2**52


@pytest.mark.parametrize("terms", TERMS)
def test_products_of_the_largest_residues(terms: int) -> None:
    """Rows and columns with the residues ±(p - 1)/2 modulo all primes, so that sums are largest."""
    rng, bound = Random(terms), 1 << 400
    system = Residues.for_matrices(bound, terms)
    extreme = _with_residues(system.primes, [(p - 1) // 2 for p in system.primes])
    assert all(abs(r) == (p - 1) // 2 for r, p in zip(system.of(objects([extreme])),
                                                       system.primes, strict=True))  # fmt: skip
    extreme %= 1 << 190  # so that products stay below the bound
    for left, right in ((extreme, extreme), (extreme, -extreme)):
        row = objects([left] * terms)
        for column in (objects([right] * terms), objects([rng.choice([-right, right])] * terms)):
            residues = system.reduced(system.of(row)[:, None] @ system.of(column)[:, :, None])
            (found,) = system.integers(residues).ravel().tolist()
            assert found == sum(row * column)
    for sign in (1, -1):  # sums of residues themselves, and the numbers next to multiples of primes
        sums = np.array([[sign * 2.0**52], [sign * (2.0**52 - 1)]] * len(system.primes))
        sums = sums.reshape(len(system.primes), 2)
        expected = [[int(x) % p for x in row] for row, p in zip(sums, system.primes, strict=True)]
        reduced = system.reduced(sums.copy())
        for row, wanted, p in zip(reduced, expected, system.primes, strict=True):
            assert [int(x) % p for x in row] == wanted
            assert all(abs(x) <= p / 2 + 2 for x in row)


def _with_residues(primes: tuple[int, ...], residues: list[int]) -> int:
    """The least nonnegative integer with these residues."""
    product = math.prod(primes)
    total = sum(
        residue * (product // p) * pow(product // p, -1, p)
        for residue, p in zip(residues, primes, strict=True)
    )
    return total % product


def test_parts_have_some_of_the_primes() -> None:
    system = Residues.for_entries(1 << 500)
    parts = list(system.parts(10, 30))
    assert [part.primes for _, part in parts] == [
        system.primes[i : i + 3] for i in range(0, 19, 3)
    ][: len(parts)]
    assert tuple(p for _, part in parts for p in part.primes) == system.primes
    integers = objects([1 << 499, -7])
    for place, part in system.parts(10**9, 1):
        assert part.of(integers).tolist() == system.of(integers)[place].tolist()


def test_int64_wraps_around_but_the_results_do_not() -> None:
    """Residues below 2^64 as int64, in the way from the largest short integers to long ones."""
    for bound in (2**62, 2**62 + 1):
        system = Residues.for_entries(bound)
        assert bool(system.primes) == (bound > 2**62)
        factors = np.array([2**31, -(2**31)])
        found = system.integers(system.reduced(system.of(factors) * system.of(factors[::-1])))
        assert found.tolist() == [-(2**62)] * 2
