"""The limits of network and certificate files (FORMAT.md §1, §2, §3.6), as the writing side respects them.

The checker has its own copy of these numbers: it shares no code with the package. What exceeds a limit is not
written: the prover looks for other evidence, or answers undecided.
"""

from __future__ import annotations

import re

__all__ = [
    "BIT_LIMIT",
    "DEPTH_LIMIT",
    "DEPTH_LIMIT_OF_TREES",
    "DETERMINANT_LIMIT",
    "LINE_LIMIT",
    "MINOR_LIMIT",
    "NUMBER",
    "PAIR_LIMIT",
    "PARAMETER_LIMIT",
    "SCALE_BIT_LIMIT",
    "SUBSET_LIMIT",
    "SUM_BIT_LIMIT",
    "SUM_LIMIT",
    "TREE_COST_LIMIT",
    "WIDTH_LIMIT",
    "is_affordable",
]

#: No number in a file has more bits.
BIT_LIMIT = 16_384

#: Layers, neurons of a layer, weights and biases of a network.
DEPTH_LIMIT, WIDTH_LIMIT, PARAMETER_LIMIT = 10_000, 10**6, 3 * 10**7

#: The size of a determinant modulo a prime, and of a subset-sum problem.
DETERMINANT_LIMIT, SUBSET_LIMIT = 1_024, 40

#: Pairs (D, ε) of `assignments`; minors, sums and their bits of `membership`; bits of a scale of §3.5.
PAIR_LIMIT, MINOR_LIMIT, SUM_LIMIT, SUM_BIT_LIMIT, SCALE_BIT_LIMIT = (
    2**16,
    5_000,
    2**16,
    2**26,
    2**16,
)

#: Levels of a split tree, and half of the cost that its check may have (FORMAT.md §5).
DEPTH_LIMIT_OF_TREES, TREE_COST_LIMIT = 4_000, 2**39

#: Bytes of a line of a split tree.
LINE_LIMIT = 1 << 26

_COST_LIMIT = 2**34

#: Numbers as people write them: an integer, a decimal or a fraction, of a length that is read quickly.
NUMBER = re.compile(
    r"-?[0-9]{1,400}(/[1-9][0-9]{0,399}|(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?)", re.ASCII
)


def is_affordable(operations: int, bits: int) -> bool:
    """Whether so many operations on numbers of so many bits are within the cost limit of FORMAT.md §3.6.

    >>> is_affordable(10**6, 60), is_affordable(10**9, 60)
    (True, False)
    """
    return operations * (64 + bits) * (1 + bits // 2048) <= _COST_LIMIT
