"""The limits of network and certificate files (FORMAT.md §1, §2, §3.6) for code that writes them.

The checker has its own copy of these numbers, since it shares no code with the package; a change
here needs a change there and in FORMAT.md, and a test compares them. Evidence that exceeds a limit
is not written: the prover looks for other evidence, or answers "undecided".
"""

from __future__ import annotations

import re

__all__ = [
    "BIT_LIMIT",
    "COMPUTATION_LIMIT",
    "DEPTH_LIMIT",
    "DEPTH_LIMIT_OF_TREES",
    "DETERMINANT_LIMIT",
    "LINE_LIMIT",
    "LIST_LIMIT",
    "MINOR_LIMIT",
    "NUMBER",
    "PAIR_LIMIT",
    "PARAMETER_LIMIT",
    "SCALE_BIT_LIMIT",
    "SUBSET_LIMIT",
    "SUM_BIT_LIMIT",
    "SUM_LIMIT",
    "WIDTH_LIMIT",
    "cost",
    "is_affordable",
]

#: Maximum number of bits of any number in a file.
BIT_LIMIT = 16_384

#: Maximum numbers of layers, of neurons in a layer, and of weights and biases of a network.
DEPTH_LIMIT, WIDTH_LIMIT, PARAMETER_LIMIT = 10_000, 10**6, 3 * 10**7

#: Maximum number of rows of a determinant modulo a prime, and of terms of a subset-sum problem.
DETERMINANT_LIMIT, SUBSET_LIMIT = 1_024, 40

#: Maximum number of pairs (D, ε) in the evidence `assignments`.
PAIR_LIMIT = 2**16

#: Maximum numbers of minors, of sums, and of bits of all sums in the evidence `membership`.
MINOR_LIMIT, SUM_LIMIT, SUM_BIT_LIMIT = 5_000, 2**16, 2**26

#: Maximum number of bits of numbers that a check carries from layer to layer, such as the scales of
#: §3.5 over their common denominator.
SCALE_BIT_LIMIT = 2**16

#: Maximum number of levels of a split tree, somewhat less than FORMAT.md §5.2 allows.
DEPTH_LIMIT_OF_TREES = 4_000

#: Maximum number of lists of cells in each other at a vertex.
LIST_LIMIT = 7

#: Maximum number of bytes of a line of a split tree.
LINE_LIMIT = 1 << 26

#: The units of FORMAT.md §3.6 for a product of short numbers with an addition.
_COST_OF_OPERATION = 100

#: Maximum number of units of one computation of the checker: half of the default budget of a file.
COMPUTATION_LIMIT = 2**34

#: Numbers as people write them: an integer, a decimal or a fraction. The bounded number of digits
#: keeps the conversion fast.
NUMBER = re.compile(
    r"-?[0-9]{1,400}(/[1-9][0-9]{0,399}|(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?)", re.ASCII
)


def cost(operations: int, bits: int) -> int:
    """Return the units of products of numbers of equal length: the operation P of FORMAT.md §3.6.

    Parameters
    ----------
    operations
        Number of products, each with an addition.
    bits
        Bound on the bits of the numbers.

    Returns
    -------
    int
        operations · (100 + ⌊bits / 8⌋ + ⌊s / 1024⌋), s = bits² or, for long numbers, less: three
        products of numbers of half the length take the place of one, down to 2,048 bits.

    Examples
    --------
    >>> cost(2, 36)
    210
    """
    halvings = ((bits - 1) >> 11).bit_length() if bits else 0
    size: int = bits * bits * 3**halvings >> 2 * halvings
    return operations * (_COST_OF_OPERATION + (2 * bits >> 4) + (size >> 10))


def is_affordable(operations: int, bits: int) -> bool:
    """Decide whether a computation of the checker costs at most half of its default budget.

    Parameters
    ----------
    operations
        Number of arithmetic operations.
    bits
        Bound on the bits of the numbers.

    Returns
    -------
    bool
        Whether the cost is within the limit.

    Examples
    --------
    >>> is_affordable(10**6, 60), is_affordable(10**9, 60)
    (True, False)
    """
    return cost(operations, bits) <= COMPUTATION_LIMIT
