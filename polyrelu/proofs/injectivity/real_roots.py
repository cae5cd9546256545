"""The least root of a polynomial of degree at most 3 that has real roots only, exactly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["LeastRoot", "characteristic_polynomial"]


def characteristic_polynomial(rows: Sequence[Sequence[Fraction]]) -> list[int]:
    """Return the primitive multiple of det(t - S) of a symmetric matrix of size 1 to 3.

    Coefficients are in ascending order, the last one positive.

    >>> characteristic_polynomial([[Fraction(1, 2), Fraction(1)], [Fraction(1), Fraction(2)]])
    [0, -5, 2]
    """
    size = len(rows)
    trace = sum((rows[k][k] for k in range(size)), Fraction())
    coefficients = [-trace, Fraction(1)]
    if size > 1:
        minors = sum(
            (
                rows[i][i] * rows[j][j] - rows[i][j] * rows[j][i]
                for i in range(size)
                for j in range(i)
            ),
            Fraction(),
        )
        coefficients.insert(0, minors)
    if size == 3:
        (a, b, c), (d, e, f), (g, h, i) = rows
        determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
        coefficients.insert(0, -determinant)
    scale = math.lcm(*(entry.denominator for entry in coefficients))
    integers = [int(entry * scale) for entry in coefficients]
    divisor = math.gcd(*integers)
    return [entry // divisor for entry in integers]


class LeastRoot:
    """The least root λ of a polynomial with real roots only, of degree at most 3.

    Attributes
    ----------
    polynomial
        Integers in ascending order, the last one positive.
    low, high
        Numbers with low < λ ≤ high, or low = λ = high if λ is rational.

    Examples
    --------
    >>> root = LeastRoot([1, -3, 1], 0.38)   # (3 - √5)/2
    >>> root.is_rational, root.sign([Fraction(-3), Fraction(2)]), root.sign([1, -3, 1])
    (False, -1, 0)
    >>> LeastRoot([3, -7, 2], 0.5).high
    Fraction(1, 2)
    """

    def __init__(self, polynomial: Sequence[int], guess: float) -> None:
        self.polynomial = list(polynomial)
        size = len(polynomial) - 1
        step = Fraction(1, 2**40) * max(1, math.ceil(abs(guess)))
        self.low = Fraction(guess) - step
        while self._num_above(self.low) < size:
            self.low, step = self.low - step, 2 * step
        self.high, step = Fraction(guess) + step, 2 * step
        while self._num_above(self.high) == size:
            self.high, step = self.high + step, 2 * step
        self._find_rational()
        while not self.is_rational and self._num_above(self.high) != size - 1:
            self.refine()

    @property
    def is_rational(self) -> bool:
        """Whether λ is known to be rational."""
        return self.low == self.high

    def refine(self) -> None:
        """Halve the interval."""
        if self.is_rational:
            return
        middle = (self.low + self.high) / 2
        if self._num_above(middle) == len(self.polynomial) - 1:
            self.low = middle
        else:
            self.high = middle

    def sign(self, coefficients: Sequence[Fraction | int]) -> int:
        """Return the sign of another polynomial at λ, exactly."""
        if self._is_zero(coefficients):
            return 0
        while True:
            low, high = _range(coefficients, self.low, self.high)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            self.refine()

    def approximation(self, bits: int) -> Fraction:
        """Return a number at most 2^-bits from λ."""
        while self.high - self.low > Fraction(1, 2**bits):
            self.refine()
        return self.high

    def _find_rational(self) -> None:
        """Look for a root p/q; q divides the leading coefficient."""
        leading = self.polynomial[-1]
        while self.high - self.low >= Fraction(1, 2 * leading):
            self.refine()
        candidate = Fraction(math.floor(self.high * leading), leading)
        if candidate > self.low and _value(self.polynomial, candidate) == 0:
            self.low = self.high = candidate

    def _num_above(self, place: Fraction) -> int:
        """Return the number of roots above a place, by the rule of Descartes."""
        signs = [x for x in _shifted(self.polynomial, place) if x]
        return sum((x > 0) != (y > 0) for x, y in itertools.pairwise(signs))

    def _is_zero(self, coefficients: Sequence[Fraction | int]) -> bool:
        """Whether λ is a root of both polynomials."""
        if self.is_rational:
            return _value(coefficients, self.high) == 0
        common = _common_divisor(self.polynomial, coefficients)
        if len(common) < 2:
            return len(common) == 0
        # Roots of the divisor are roots of the first polynomial, of which the interval has one.
        return _value(common, self.low) * _value(common, self.high) <= 0


def _value(coefficients: Sequence[Fraction | int], place: Fraction) -> Fraction:
    total = Fraction()
    for entry in reversed(coefficients):
        total = total * place + entry
    return total


def _shifted(coefficients: Sequence[int], place: Fraction) -> list[int]:
    """Return a positive multiple of the coefficients of p(place + y)."""
    p, q = place.numerator, place.denominator
    degree = len(coefficients) - 1
    entries = [c * q ** (degree - k) for k, c in enumerate(coefficients)]
    for start in range(degree):
        for k in range(degree - 1, start - 1, -1):
            entries[k] += p * entries[k + 1]
    return entries


def _range(
    coefficients: Sequence[Fraction | int], low: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """Return bounds of a polynomial on an interval."""
    below = above = Fraction()
    for entry in reversed(coefficients):
        products = [x * y for x in (below, above) for y in (low, high)]
        below, above = min(products) + entry, max(products) + entry
    return below, above


def _common_divisor(
    one: Sequence[Fraction | int], two: Sequence[Fraction | int]
) -> list[Fraction | int]:
    """Return a greatest common divisor by the algorithm of Euclid."""
    first, second = _trimmed(one), _trimmed(two)
    while second:
        rest = list(first)
        while len(rest) >= len(second):
            factor = Fraction(rest[-1]) / second[-1]
            shift = len(rest) - len(second)
            for k, entry in enumerate(second):
                rest[shift + k] -= factor * entry
            rest = _trimmed(rest[:-1])
        first, second = second, rest
    return first


def _trimmed(coefficients: Sequence[Fraction | int]) -> list[Fraction | int]:
    found = list(coefficients)
    while found and not found[-1]:
        found.pop()
    return found
