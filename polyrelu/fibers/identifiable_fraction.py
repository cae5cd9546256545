"""The exact fraction of generic bottleneck parameters that are identifiable.

Here are the exact fraction for two hidden layers with n_0 ≥ n_1 ≥ 2, the published bounds on it,
and the test on sign patterns that it counts. They tell how often a random network is identifiable,
and they check `identify` against a known frequency. All three rest on Theorem 5 of the three-layer
paper (arXiv 2605.18319), whose hypothesis n_1 ≥ 2 is needed.

By Theorem 5 a generic parameter is identifiable if and only if, in the signs of [W[2] | b[2]], no
row is all negative, no row is all positive, and no column j is positive while every other entry of
the table is negative. A row that is neither all negative nor all positive has one of 2^(n_1+1) - 2
sign patterns. Among all tables of n_2 such rows exactly n_1 hide a hyperplane, one table for each
j. So under every distribution that is symmetric in each sign the identifiable parameters have
measure

    ((2^(n_1+1) - 2)^n_2 - n_1) / 2^((n_1+1) n_2).

The paper only bounds this number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.support.arguments import expect_integer

__all__ = ["has_identifiable_signs", "identifiable_fraction", "identifiable_fraction_bounds"]


def identifiable_fraction(n1: int, n2: int) -> Fraction:
    """Compute the measure of the identifiable parameters among the generic ones.

    The measure is the same for every number of inputs n_0 ≥ n_1 and every number of outputs.

    Parameters
    ----------
    n1
        Width of the first hidden layer, at least 2.
    n2
        Width of the second hidden layer, at least 1.

    Returns
    -------
    Fraction
        The probability that a generic parameter is identifiable, under any distribution that is
        symmetric in the sign of each weight and bias.

    Raises
    ------
    NetworkError
        The width n_1 is below 2, where the theorem fails, or n_2 is below 1.

    Notes
    -----
    Source: the three-layer paper (2026), Theorem 5, arXiv 2605.18319, which bounds the
    fraction; the module derives the exact value.

    Examples
    --------
    >>> identifiable_fraction(2, 1), identifiable_fraction(2, 2)
    (Fraction(1, 2), Fraction(17, 32))
    """
    n1, n2 = _checked_widths(n1, n2)
    return Fraction((2 ** (n1 + 1) - 2) ** n2 - n1, 2 ** ((n1 + 1) * n2))


def identifiable_fraction_bounds(n1: int, n2: int) -> tuple[Fraction, Fraction]:
    """Compute the paper's lower and upper bound on the identifiable fraction.

    Parameters
    ----------
    n1
        Width of the first hidden layer, at least 2.
    n2
        Width of the second hidden layer, at least 1.

    Returns
    -------
    tuple of two Fractions
        The lower bound 1 - 2 n_2 2^-(n_1+1) - n_1 2^-(n_1+1)n_2 and the upper bound
        (1 - 2^-(n_1+1))^n_2.

    Raises
    ------
    NetworkError
        The width n_1 is below 2 or n_2 is below 1.

    Notes
    -----
    Source: the three-layer paper (2026), corollary of Theorem 5, arXiv 2605.18319.

    Examples
    --------
    >>> low, high = identifiable_fraction_bounds(4, 3)
    >>> low < identifiable_fraction(4, 3) < high
    True
    """
    n1, n2 = _checked_widths(n1, n2)
    row = Fraction(1, 2 ** (n1 + 1))
    return 1 - 2 * n2 * row - n1 * row**n2, (1 - row) ** n2


def has_identifiable_signs(signs: Sequence[Sequence[int]]) -> bool:
    """Decide whether generic parameters with these signs of [W[2] | b[2]] are identifiable.

    Parameters
    ----------
    signs
        The signs of the second layer, shape (n_2, n_1 + 1), the last column for the biases; every
        entry is 1 or -1.

    Returns
    -------
    bool
        True if no row is constant and the second layer hides no hyperplane of the first one.

    Raises
    ------
    ArgumentError
        The argument is no table of the signs 1 and -1 with a row for each neuron.

    Notes
    -----
    Source: the three-layer paper (2026), Theorem 5, arXiv 2605.18319.

    Examples
    --------
    >>> has_identifiable_signs([[1, -1, 1]]), has_identifiable_signs([[1, -1, -1]])
    (True, False)
    """
    table = _table_of_signs(signs)
    if any(len(set(row)) == 1 for row in table):
        return False
    width = len(table[0]) - 1
    hiding = ([1 if k == j else -1 for k in range(width + 1)] for j in range(width))
    return not any(all(row == pattern for row in table) for pattern in hiding)


def _table_of_signs(signs: Sequence[Sequence[int]]) -> list[list[int]]:
    """The rows of a table of signs, or an error for anything else."""
    problem = "signs: expected rows of 1 and -1, equally long, with at least two entries"
    try:
        table = [[int(sign) for sign in row] for row in signs]
    except (TypeError, ValueError):
        raise ArgumentError(problem) from None
    entries = {entry for row in signs for entry in row}
    if not table or len(set(map(len, table))) > 1 or len(table[0]) < 2 or not entries <= {1, -1}:
        raise ArgumentError(problem)
    return table


def _checked_widths(n1: int, n2: int) -> tuple[int, int]:
    """Return the widths as Python integers, or raise an error for widths without a theorem."""
    widths = expect_integer(n1, "n1"), expect_integer(n2, "n2")
    if widths[0] < 2 or widths[1] < 1:
        raise NetworkError(
            "the fraction is known for first layers of at least two neurons and second ones of at "
            "least one"
        )
    return widths
