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
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from polyrelu.exact.integer_arrays import longest
from polyrelu.support.typing import Floats

__all__ = ["Digits", "Residues"]

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
        """Return residues for products entry by entry, to each of which a residue may be added.

        If no prime is needed, the entries are int64, and no product may exceed `bound`.
        """
        if bound <= _LARGEST_INT64:
            return cls(bound, (), np.int64)
        return cls(bound, _enough(bound, 2), np.float64)

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
        if bound > _LARGEST_INT64:
            return self.digits(residues, bound).integers()
        remainders = _Remainders.modulo(_first(self.primes, bound))
        found = np.empty(math.prod(shape), dtype=np.int64)
        for part, coefficients in remainders.parts(residues):
            found[part] = remainders.short(*coefficients)
        return found.reshape(shape)

    def digits(self, residues: NDArray[Any], bound: int | None = None) -> Digits:
        """Return what `integers` returns, before Python integers are made."""
        if not self.primes:
            integers = np.ascontiguousarray(residues[0].astype("<i8"))
            return Digits(integers[..., None].view("<u2"))
        bound = self.bound if bound is None else bound
        remainders = _Remainders.modulo(_first(self.primes, bound))
        shape = residues.shape[1:]
        table = np.empty((math.prod(shape), remainders.num_digits), dtype="<u2")
        for part, coefficients in remainders.parts(residues):
            table[part] = remainders.long(*coefficients).T
        return Digits(table.reshape(*shape, remainders.num_digits))

    @cached_property
    def _moduli(self) -> Floats:
        return np.array(self.primes, dtype=np.float64)

    @cached_property
    def _inverses(self) -> Floats:
        return 1.0 / self._moduli


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Digits:
    """Integers as digits to the base 2^16, in two's complement.

    They are compared and chosen with much less work than Python integers.

    Attributes
    ----------
    table
        The digits, the lowest one first, shape (*shape, number of digits).
    """

    table: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.table)

    def integers(self) -> NDArray[np.object_]:
        """Return Python integers of the same shape."""
        *shape, count = self.table.shape
        numbers = np.ascontiguousarray(self.table).view(f"V{2 * count}").ravel().tolist()
        integers = np.empty(math.prod(shape), dtype=object)
        integers[:] = [int.from_bytes(number, "little", signed=True) for number in numbers]
        return integers.reshape(shape)

    def distinct_rows(self) -> tuple[Digits, NDArray[np.int64]]:
        """Return the different rows of an array of shape (k, n), ascending, and the place of each.

        >>> system = Residues.for_entries(2**99)
        >>> rows = np.array([[2**70, 0], [-1, 5], [2**70, 0], [-1, -(2**80)]], dtype=object)
        >>> found, places = system.digits(system.of(rows)).distinct_rows()
        >>> found.integers().tolist() == [[-1, -(2**80)], [-1, 5], [2**70, 0]], places.tolist()
        (True, [2, 1, 2, 0])
        """
        num_rows = len(self)
        if not self.table.size:  # no rows, or rows without entries
            return Digits(self.table[:1]), np.zeros(num_rows, dtype=np.int64)
        order = self._order()
        ascending = self.table[order].reshape(num_rows, -1)
        is_new = np.concatenate([[True], (ascending[1:] != ascending[:-1]).any(axis=1)])
        places = np.empty(num_rows, dtype=np.int64)
        places[order] = np.cumsum(is_new) - 1
        return Digits(self.table[order[is_new]]), places

    def _order(self) -> NDArray[np.int64]:
        """Return the order of the rows of an array of shape (k, n)."""
        if self.table.shape[2] * _DIGIT_BITS == 64:
            return np.lexsort(np.ascontiguousarray(self.table).view("<i8")[..., 0].T[::-1])
        keys = self.table[..., ::-1].astype(">u2", order="C")
        keys[..., 0] ^= 0x8000  # now negative numbers come first
        keys = keys.reshape(len(self), -1)
        return np.argsort(keys.view(f"S{keys.itemsize * keys.shape[1]}").ravel(), kind="stable")


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

    def parts(self, residues: NDArray[Any]) -> Iterator[tuple[slice, tuple[Floats, Floats]]]:
        """Generate `coefficients` of residues of any shape, in parts that fit into the cache."""
        flat = residues[: len(self.primes)].reshape(len(self.primes), -1)
        for start in range(0, flat.shape[1], _INTEGERS_AT_A_TIME):
            part = slice(start, start + _INTEGERS_AT_A_TIME)
            yield part, self.coefficients(flat[:, part])

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

    @property
    def num_digits(self) -> int:
        """The number of digits of x that `long` returns."""
        return int(self._factor_digits.shape[1])

    def long(self, coefficients: Floats, quotients: Floats) -> NDArray[np.int64]:
        """Return the digits of x, the lowest first: the digits of the sum after all carries."""
        table = self._factor_digits
        rows = np.concatenate([coefficients, quotients[None]])
        digits = np.zeros((self.num_digits, len(quotients)), dtype=np.int64)
        for start in range(0, len(rows), _TERMS_AT_A_TIME):
            part = slice(start, start + _TERMS_AT_A_TIME)
            digits += (table[part].T @ rows[part]).astype(np.int64)
        for low, high in pairwise(digits):
            high += low >> _DIGIT_BITS
        digits &= 2**_DIGIT_BITS - 1
        return digits

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
