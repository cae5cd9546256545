"""Exact decisions about a few integer rows: where hyperplanes meet, on which side a point lies.

Complexes make these decisions millions of times, so that they work on plain lists of integers and
build no matrix type.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mat

__all__ = ["dot_sign", "meeting_direction"]


def meeting_direction(rows: Sequence[Sequence[int]]) -> list[int]:
    """Compute a primitive integer vector that is orthogonal to d independent rows.

    Parameters
    ----------
    rows
        Integer rows, shape (d, d + 1).

    Returns
    -------
    list of int
        The vector of d + 1 entries, unique up to its sign.

    Raises
    ------
    ValueError
        The rows are dependent.

    Examples
    --------
    >>> meeting_direction([[2, 0, -1], [0, 1, 1]])
    [-1, 2, -2]
    """
    size = len(rows) + 1
    if size == 1:
        return [1]
    basis, nullity = fmpz_mat([list(row) for row in rows]).nullspace()
    if nullity != 1:
        raise ValueError("the rows are dependent")
    entries = [basis[i, 0] for i in range(size)]
    content = entries[0]
    for entry in entries[1:]:
        content = content.gcd(entry)
    return [int(entry // content) for entry in entries]


def dot_sign(left: Sequence[int], right: Sequence[int]) -> int:
    """Compute the sign of a scalar product.

    Parameters
    ----------
    left
        Integers.
    right
        As many integers.

    Returns
    -------
    int
        The sign -1, 0 or 1.

    Examples
    --------
    >>> dot_sign([1, -2], [2, 1])
    0
    """
    value = sum(a * b for a, b in zip(left, right, strict=True))
    return (value > 0) - (value < 0)
