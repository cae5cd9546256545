"""Tropical numerators and denominators of a plain stack as lists of terms, by brute force.

Only exact duplicates are removed from sums and unions of terms, so the lists are long: for the
smallest networks only. Values at points are right whatever is kept, because terms that are never
the largest do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from tests.oracles.plain import Network

__all__ = ["LIMIT", "TooManyTermsError", "numerators_and_denominators", "value"]

Term = tuple[Fraction, ...]
Terms = set[Term]

#: Maximum number of terms of one function.
LIMIT = 20_000


class TooManyTermsError(Exception):
    """The lists grow beyond the limit."""


def value(terms: Terms, x: Sequence[Fraction]) -> Fraction:
    """The maximum of the terms [a | c] at a point."""
    point = [*x, Fraction(1)]
    return max(sum((a * b for a, b in zip(term, point, strict=True)), Fraction()) for term in terms)


def numerators_and_denominators(layers: Network) -> list[tuple[Terms, Terms]]:
    """The terms of p and q with f = p - q, for every output."""
    size = len(layers[0][0][0])
    zero = (Fraction(),) * (size + 1)
    values: list[tuple[Terms, Terms]] = [
        ({tuple(Fraction(int(i == j)) for i in range(size + 1))}, {zero}) for j in range(size)
    ]
    for number, (weight, bias) in enumerate(layers, 1):
        sums = [
            _affine(row, b, values, zero, number == 1) for row, b in zip(weight, bias, strict=True)
        ]
        values = sums if number == len(layers) else [(n | m, m) for n, m in sums]
    return values


def _affine(
    row: Sequence[Fraction],
    bias: Fraction,
    values: list[tuple[Terms, Terms]],
    zero: Term,
    first: bool,
) -> tuple[Terms, Terms]:
    n, m = {(*zero[:-1], Fraction(bias))}, {zero}
    for w, (p, q) in zip(row, values, strict=True):
        if first:
            n = _sum(n, _scaled(p, w))
        elif w > 0:
            n, m = _sum(n, _scaled(p, w)), _sum(m, _scaled(q, w))
        elif w < 0:
            n, m = _sum(n, _scaled(q, -w)), _sum(m, _scaled(p, -w))
    return n, m


def _scaled(terms: Terms, factor: Fraction) -> Terms:
    return {tuple(factor * entry for entry in term) for term in terms}


def _sum(one: Terms, other: Terms) -> Terms:
    if len(one) * len(other) > LIMIT:
        raise TooManyTermsError
    return {tuple(a + b for a, b in zip(*pair, strict=True)) for pair in product(one, other)}
