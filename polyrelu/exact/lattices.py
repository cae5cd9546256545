"""Short vectors of lattices, for equations with the unknowns 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mat

__all__ = ["binary_solution"]


def binary_solution(rows: Sequence[Sequence[int]], right: Sequence[int]) -> tuple[int, ...] | None:
    """Find numbers 0 and 1 that solve integer equations, by a reduced basis of a lattice.

    The method is Lagarias and Odlyzko's (1985) for subset sums. It finds the solution if there are
    few others and the integers are long; it never returns a wrong one.

    Parameters
    ----------
    rows
        The coefficients, shape (k, n).
    right
        The right sides, shape (k,).

    Returns
    -------
    tuple of int or None
        A solution, shape (n,); None if none was found.

    Examples
    --------
    >>> binary_solution([[123457, 314159, 271828, 161803]], [123457 + 271828])
    (1, 0, 1, 0)
    """
    size = len(rows[0]) if rows else 0
    if not size:
        return None
    weight = 1 << (size + 2)
    basis = [
        [2 * (i == j) for j in range(size)] + [weight * row[i] for row in rows] for i in range(size)
    ]
    basis.append([-1] * size + [-weight * entry for entry in right])
    reduced = fmpz_mat(len(basis), len(basis[0]), [entry for row in basis for entry in row]).lll()
    for vector in reduced.tolist():
        entries = [int(entry) for entry in vector]
        if any(entries[size:]) or any(abs(entry) != 1 for entry in entries[:size]):
            continue
        for sign in (1, -1):
            found = tuple((1 + sign * entry) // 2 for entry in entries[:size])
            if all(
                sum(a * t for a, t in zip(row, found, strict=True)) == r
                for row, r in zip(rows, right, strict=True)
            ):
                return found
    return None
