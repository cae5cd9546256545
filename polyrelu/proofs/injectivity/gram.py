"""The least number by which squared lengths shrink under some rows: a certified lower bound.

For symmetric matrices G ≥ 0 and B > 0 the least λ with det(G - λ B) = 0 is algebraic. A float
proposes a bound with few bits, and an exact elimination shows that G - q B has no negative
eigenvalue.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import RationalMatrix
from polyrelu.proofs.injectivity.settings import SETTINGS

__all__ = ["bound_above", "bound_below", "float_gram", "is_semidefinite", "least_vector"]


def is_semidefinite(matrix: RationalMatrix) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by elimination on the diagonal.

    >>> is_semidefinite(RationalMatrix.from_rows([[1, 1], [1, 1]]))
    True
    >>> is_semidefinite(RationalMatrix.from_rows([[0, 1], [1, 2]]))
    False
    """
    rest, last = matrix.integer_rows(), 1
    while rest:
        place = next((k for k, row in enumerate(rest) if row[k]), None)
        if place is None:
            return not any(map(any, rest))
        pivot = rest[place]
        if pivot[place] < 0:
            return False
        kept = [k for k in range(len(rest)) if k != place]
        rest = [
            [(pivot[place] * rest[k][c] - rest[k][place] * pivot[c]) // last for c in kept]
            for k in kept
        ]
        last = pivot[place]
    return True


def float_gram(matrix: RationalMatrix) -> NDArray[np.float64]:
    """The nearest floats of a symmetric matrix."""
    floats: NDArray[np.float64] = matrix.to_floats()
    return (floats + floats.T) / 2


def least_vector(
    gram: NDArray[np.float64], lengths: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the least λ of G v = λ B v with its v, in floats."""
    lower = np.linalg.cholesky(lengths)
    inverse = np.linalg.inv(lower)
    values, vectors = np.linalg.eigh(inverse @ gram @ inverse.T)
    return float(values[0]), inverse.T @ vectors[:, 0]


def bound_below(grams: Sequence[RationalMatrix], lengths: RationalMatrix) -> Fraction:
    """Return q ≥ 0 with G ≥ q B for all G, near the largest one.

    >>> one = RationalMatrix.identity(2)
    >>> bound_below([RationalMatrix.from_rows([[2, 1], [1, 2]]), one.scale(3)], one)
    Fraction(1, 1)
    """
    floats = float_gram(lengths)
    guess = min(least_vector(float_gram(gram), floats)[0] for gram in grams)
    size = max(float(np.abs(float_gram(gram)).max()) for gram in grams)
    candidates = [_rounded(guess, 1 << 20)] if guess > 0 else []
    error = 2.0**-SETTINGS.bound_bits
    while guess > 0 and error < 1:
        candidates.append(_rounded(guess * (1 - error), None))
        error *= 16
    for bound in candidates:
        if size > 0 and all(is_semidefinite(gram - lengths.scale(bound)) for gram in grams):
            return bound
    return Fraction(0)


def bound_above(gram: RationalMatrix, lengths: RationalMatrix) -> Fraction:
    """Return q with G ≤ q B, near the least one.

    >>> bound_above(RationalMatrix.from_rows([[2, 1], [1, 2]]), RationalMatrix.identity(2))
    Fraction(3, 1)
    """
    lower = np.linalg.inv(np.linalg.cholesky(float_gram(lengths)))
    guess = float(np.linalg.eigvalsh(lower @ float_gram(gram) @ lower.T)[-1])
    candidates, error = [_rounded(guess, 1 << 20)], 2.0**-SETTINGS.bound_bits
    while True:
        for bound in candidates:
            if is_semidefinite(lengths.scale(bound) - gram):
                return bound
        candidates, error = [_rounded(guess * (1 + error), None)], 16 * error


def _rounded(value: float, denominator: int | None) -> Fraction:
    """Return a nearby fraction with a small denominator, or one below with few bits."""
    if denominator is not None:
        return Fraction(value).limit_denominator(denominator)
    exponent = SETTINGS.bound_bits - math.frexp(value)[1]
    return Fraction(math.floor(Fraction(value) * Fraction(2) ** exponent)) / Fraction(2) ** exponent
