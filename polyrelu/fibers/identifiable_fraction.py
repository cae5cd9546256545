"""How many generic parameters with two hidden layers, n_0 ≥ n_1 ≥ 2, are identifiable: an exact fraction.

By Theorem 5 of the three-layer paper a generic parameter is identifiable iff, in the signs of [W[2] | b[2]], no row is
all negative, none is all positive, and no column j is positive with everything else negative. A row that is neither
all negative nor all positive has 2^(n_1+1) - 2 patterns; of all tables of such rows, n_1 hide a hyperplane, one for
each j. So under every distribution that is symmetric in each sign the identifiable parameters have measure

    ((2^(n_1+1) - 2)^n_2 - n_1) / 2^((n_1+1) n_2).

The paper has bounds for this number only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.errors import NetworkError

__all__ = ["has_identifiable_signs", "identifiable_fraction", "identifiable_fraction_bounds"]


def identifiable_fraction(n1: int, n2: int) -> Fraction:
    """The measure of the identifiable parameters among the generic ones, for any n_0 ≥ n_1 and any number of outputs.

    Raises
    ------
    NetworkError : n_1 < 2, where the theorem fails, or n_2 < 1.

    >>> identifiable_fraction(2, 1), identifiable_fraction(2, 2)
    (Fraction(1, 2), Fraction(17, 32))
    """
    _check(n1, n2)
    return Fraction((2 ** (n1 + 1) - 2) ** n2 - n1, 2 ** ((n1 + 1) * n2))


def identifiable_fraction_bounds(n1: int, n2: int) -> tuple[Fraction, Fraction]:
    """The paper's bounds: 1 - 2 n_2 2^-(n_1+1) - n_1 2^-(n_1+1)n_2 from below, (1 - 2^-(n_1+1))^n_2 from above.

    >>> low, high = identifiable_fraction_bounds(4, 3)
    >>> low < identifiable_fraction(4, 3) < high
    True
    """
    _check(n1, n2)
    row = Fraction(1, 2 ** (n1 + 1))
    return 1 - 2 * n2 * row - n1 * row**n2, (1 - row) ** n2


def has_identifiable_signs(signs: Sequence[Sequence[int]]) -> bool:
    """Whether the signs (1 or -1) of the rows [W[2] | b[2]] are those of identifiable generic parameters.

    >>> has_identifiable_signs([[1, -1, 1]]), has_identifiable_signs([[1, -1, -1]])
    (True, False)
    """
    if any(len(set(row)) == 1 for row in signs):
        return False
    width = len(signs[0]) - 1
    hiding = ([1 if k == j else -1 for k in range(width + 1)] for j in range(width))
    return not any(all(list(row) == pattern for row in signs) for pattern in hiding)


def _check(n1: int, n2: int) -> None:
    if n1 < 2 or n2 < 1:
        raise NetworkError(
            "the fraction is known for first layers of at least two neurons and second ones of at least one"
        )
