"""Integers as residues modulo primes, in floats, so that matrix products are exact and fast.

BLAS multiplies matrices of floats some hundred times faster than Python multiplies matrices of long
integers. Products and sums of integers below 2^53 are exact in floats, whatever the order of the
operations; so a computation with long integers runs modulo several primes, each so small that no
sum of products reaches 2^52, and the Chinese remainder theorem gives the integers back. The number
of primes follows from a bound on the results that is known before the computation.

docs/theory/weights.md, section 2, proves that the residues and the integers are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from polyrelu.exact.integer_arrays import longest
from polyrelu.support.typing import Floats

__all__ = ["Residues"]

#: Every sum of products of residues is at most this number.
_LARGEST_SUM = 2**52
#: Integers at most this large are int64, and so is the difference of two of them.
_LARGEST_INT64 = 2**62
#: A reduced residue modulo p is at most p / 2 plus this number.
_EXCESS = 2
#: Bits of the digits in which long integers enter and leave.
_DIGIT_BITS = 16
#: Number of digits, or of multiples of digits, that are added up in floats.
_TERMS_AT_A_TIME = 256
#: Number of integers that are computed from their residues together.
_INTEGERS_AT_A_TIME = 1 << 12


class Residues:
    """Integers up to a bound, each as a column of residues modulo K primes.

    An array of integers of some shape becomes an array of shape (K, *shape). Sums, differences and
    products of these arrays, entry by entry or as matrices of at most `terms` terms, belong to the
    sums, differences and products of the integers; `reduced` makes the entries small again.

    If the bound is small, K is 1 and the entries are the integers themselves: floats, or int64
    where entries are multiplied one by one.

    Attributes
    ----------
    bound
        The largest absolute value of an integer that `integers` can return.
    primes
        The primes, descending; empty if the entries are the integers themselves.
    """

    def __init__(self, bound: int, primes: tuple[int, ...], dtype: type[Any]) -> None:
        self.bound, self.primes, self._dtype = bound, primes, dtype

    @classmethod
    def for_matrices(cls, bound: int, terms: int) -> Residues:
        """Return residues for products of matrices with at most `terms` terms in a sum.

        If no prime is needed, all sums of absolute values of terms must be at most `bound`.

        >>> system = Residues.for_matrices(10**30, 2)
        >>> matrix, vector = np.array([[10**14, 1], [3, -2]]), np.array([[10**15], [7]])
        >>> found = system.reduced(system.of(matrix) @ system.of(vector))
        >>> system.integers(found).tolist() == [[10**29 + 7], [3 * 10**15 - 14]]
        True
        """
        if bound <= _LARGEST_SUM:
            return cls(bound, (), np.float64)
        return cls(bound, _enough(bound, terms + 1), np.float64)

    @classmethod
    def for_entries(cls, bound: int) -> Residues:
        """Return residues for products entry by entry.

        If no prime is needed, the entries are int64, and no product may exceed `bound`.
        """
        if bound <= _LARGEST_INT64:
            return cls(bound, (), np.int64)
        return cls(bound, _enough(bound, 1), np.float64)

    def __len__(self) -> int:
        return max(1, len(self.primes))

    def parts(self, entries: int, most: int) -> Iterator[tuple[slice, Residues]]:
        """Generate residues modulo some of the primes, whose arrays have at most `most` entries.

        Parameters
        ----------
        entries
            Number of entries of the largest array, for each prime.
        most
            Maximum number of entries of the arrays of a part; a part has at least one prime.
        """
        step = max(1, most // max(entries, 1))
        for start in range(0, len(self), step):
            primes = self.primes[start : start + step]
            yield slice(start, start + step), Residues(self.bound, primes, self._dtype)

    def of(self, integers: NDArray[Any]) -> NDArray[Any]:
        """Return the residues of int64 or Python integers, shape (K, *shape)."""
        if not self.primes:
            return integers.astype(self._dtype)[None]
        digits = _digits(integers, _num_digits(integers))
        powers = self._powers(len(digits))
        found = np.zeros((len(self.primes), integers.size))
        for start in range(0, len(digits), _TERMS_AT_A_TIME):
            part = slice(start, start + _TERMS_AT_A_TIME)
            found += powers[:, part] @ digits[part]
            self.reduced(found)
        return found.reshape(len(self.primes), *integers.shape)

    def _powers(self, count: int) -> Floats:
        """Return the residues of the powers of the base, shape (K, count)."""
        powers = np.ones((len(self.primes), count))
        for number in range(1, count):
            powers[:, number] = self.reduced(powers[:, number - 1] * 2.0**_DIGIT_BITS)
        return powers

    def reduced(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Reduce sums of absolute value at most 2^52 modulo the primes, in place; return them."""
        if self.primes:
            shape = (-1,) + (1,) * (sums.ndim - 1)
            quotients = sums * self._inverses.reshape(shape)
            np.rint(quotients, out=quotients)
            quotients *= self._moduli.reshape(shape)
            sums -= quotients
        return sums

    def vanish(self, sums: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which integers up to the bound are 0, given sums as for `reduced`.

        The sums are reduced in place; the shape loses its first axis.
        """
        return np.asarray((self.reduced(sums) == 0).all(axis=0))

    def integers(self, residues: NDArray[Any], bound: int | None = None) -> NDArray[Any]:
        """Return the integers of absolute value at most a bound that have the given residues.

        They are int64 if the bound allows it, else Python integers; the shape loses its first axis.

        Parameters
        ----------
        residues
            Reduced residues, shape (K, *shape).
        bound
            A bound on these integers, at most the bound of the system, which is the default.
        """
        shape = residues.shape[1:]
        if not self.primes:
            return np.asarray(residues[0].astype(np.int64))
        bound = self.bound if bound is None else bound
        remainders = _Remainders.modulo(_first(self.primes, bound))
        flat = residues[: len(remainders.primes)].reshape(len(remainders.primes), -1)
        is_short = bound <= _LARGEST_INT64
        found = np.empty(flat.shape[1], dtype=np.int64 if is_short else object)
        for start in range(0, flat.shape[1], _INTEGERS_AT_A_TIME):  # arrays that fit into the cache
            part = slice(start, start + _INTEGERS_AT_A_TIME)
            coefficients = remainders.coefficients(flat[:, part])
            found[part] = (remainders.short if is_short else remainders.long)(*coefficients)
        return found.reshape(shape)

    @cached_property
    def _moduli(self) -> Floats:
        return np.array(self.primes, dtype=np.float64)

    @cached_property
    def _inverses(self) -> Floats:
        return 1.0 / self._moduli


class _Remainders:
    """The Chinese remainder theorem for some primes with the product M.

    The integer x with residues r_i is Σ y_i M / p_i - q M, where y_i is r_i (M / p_i)^{-1} modulo
    p_i, and q is the integer next to Σ y_i / p_i, since that sum is q + x / M and |x| ≤ M / 4.
    """

    def __init__(self, primes: tuple[int, ...]) -> None:
        self.primes = primes
        self._system = Residues(0, primes, np.float64)
        self._moduli = np.array(primes, dtype=np.float64)[:, None]
        product = math.prod(primes)
        #: M / p_i for each prime, then -M
        self._factors = [*(product // p for p in primes), -product]
        inverses = [
            _centred(pow(factor % p, -1, p), p)
            for factor, p in zip(self._factors, primes, strict=False)
        ]
        self._inverses = np.array(inverses)[:, None]

    @staticmethod
    @cache
    def modulo(primes: tuple[int, ...]) -> _Remainders:
        """Return the object for these primes, made once."""
        return _Remainders(primes)

    def coefficients(self, residues: Floats) -> tuple[Floats, Floats]:
        """Return the y_i, shape (K, N), and q, shape (N,)."""
        found = self._system.reduced(residues * self._inverses)
        return found, np.rint((found / self._moduli).sum(axis=0))

    def short(self, coefficients: Floats, quotients: Floats) -> NDArray[np.int64]:
        """Return x as int64: the sum modulo 2^64, since arithmetic with int64 wraps around."""
        total = np.zeros(quotients.shape, dtype=np.uint64)
        for row, factor in zip([*coefficients, quotients], self._factors, strict=True):
            total += row.astype(np.int64).view(np.uint64) * np.uint64(factor % 2**64)
        return total.view(np.int64)

    def long(self, coefficients: Floats, quotients: Floats) -> NDArray[np.object_]:
        """Return x as Python integers: digits of the sum, carried from one to the next."""
        table = self._factor_digits
        rows = np.concatenate([coefficients, quotients[None]])
        digits = np.zeros((table.shape[1], len(quotients)), dtype=np.int64)
        for start in range(0, len(rows), _TERMS_AT_A_TIME):
            part = slice(start, start + _TERMS_AT_A_TIME)
            digits += (table[part].T @ rows[part]).astype(np.int64)
        for low, high in pairwise(digits):
            high += low >> _DIGIT_BITS
        return _from_digits(digits)

    @cached_property
    def _factor_digits(self) -> Floats:
        """The digits of all factors, as many as the product has; shape (K + 1, digits)."""
        factors = np.array(self._factors, dtype=object)
        return _digits(factors, _num_digits(factors)).T.copy()


def _num_digits(integers: NDArray[Any]) -> int:
    """Return a number of signed digits to the base 2^16 that is enough for all integers."""
    return 4 if integers.dtype != object else longest(integers) // _DIGIT_BITS + 1


def _digits(integers: NDArray[Any], count: int) -> Floats:
    """Return the digits of integers to the base 2^16, the last one signed; shape (count, N)."""
    flat, size = integers.ravel(), 2 * count
    if flat.dtype == object:
        data = b"".join([entry.to_bytes(size, "little", signed=True) for entry in flat.tolist()])
    else:
        data = flat.astype("<i8").tobytes()
    table = np.frombuffer(data, dtype="<u2").reshape(len(flat), count)
    digits = table.T.astype(np.float64)
    digits[-1] = table[:, -1].view("<i2")
    return digits


def _from_digits(digits: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return Python integers from digits that are correct modulo 2^16, the last one signed."""
    data = np.ascontiguousarray(digits.T).astype("<u2").tobytes()
    size, read = 2 * len(digits), int.from_bytes
    integers = np.empty(digits.shape[1], dtype=object)
    integers[:] = [
        read(data[start : start + size], "little", signed=True)
        for start in range(0, len(data), size)
    ]
    return integers


def _centred(integer: int, prime: int) -> float:
    """Return the residue of least absolute value."""
    residue = integer % prime
    return float(residue - prime if 2 * residue > prime else residue)


def _enough(bound: int, terms: int) -> tuple[int, ...]:
    """Return the largest primes for sums of `terms` products, until their product is 4 bounds."""
    half = math.isqrt(_LARGEST_SUM // terms) - _EXCESS
    primes: list[int] = []
    product, candidate = 1, 2 * half
    while product < 4 * bound:
        candidate = _prime_up_to(candidate)
        primes.append(candidate)
        product, candidate = product * candidate, candidate - 1
    return tuple(primes)


@cache
def _prime_up_to(number: int) -> int:
    """Return the largest prime up to a number."""
    while not fmpz(number).is_prime():
        number -= 1
    return number


def _first(primes: tuple[int, ...], bound: int) -> tuple[int, ...]:
    """Return the first of the primes whose product is at least 4 times a bound."""
    product = 1
    for count, prime in enumerate(primes, 1):
        product *= prime
        if product >= 4 * bound:
            return primes[:count]
    raise AssertionError("the bound is larger than the bound of the system")
