"""Subsets of matrices of rank at most 1 whose sum vanishes.

The question is whether there is a nonempty set S with Σ_{i∈S} X_i = 0, where X_i = left[:, i]
right[i, :]. It is NP-hard in general, so that the work is bounded: linear independence settles most
cases at once; otherwise all subset sums of the two halves are compared (meet in the middle) for at
most 40 matrices; beyond that the question stays open. The evidence is a part of certificates, whose
method and multipliers must not change (FORMAT.md §3.3).

The sums are sums modulo p = 2^61 - 1 of the scalars x_i = (Σ_o left_oi r^o)(Σ_k right_ik r^(mk)). A
sum of matrices whose scalars do not vanish modulo p does not vanish. A set whose scalars vanish is
verified exactly before it is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polyrelu.exact.matrix import RationalMatrix
from polyrelu.exact.modular import independent_entries, need_factors
from polyrelu.support.display import bracketed
from polyrelu.support.limits import SUBSET_LIMIT

__all__ = ["SubsetSumSearch", "vanishing_subset"]

#: The modulus p of the scalars.
_PRIME = 2**61 - 1
#: The numbers r to try in turn, in case scalars vanish by accident.
_MULTIPLIERS = (1_000_003, 2_147_483_659, 998_244_353_987)


@dataclass(frozen=True, slots=True, repr=False)
class SubsetSumSearch:
    """The result of `vanishing_subset`; if both fields are None, the question is open.

    Attributes
    ----------
    subset
        A nonempty set of indices with vanishing sum, or None.
    evidence
        The evidence for a certificate that there is no such set, or None.

    Examples
    --------
    >>> SubsetSumSearch(subset=(0, 2)).evidence is None
    True
    """

    subset: tuple[int, ...] | None = None
    evidence: dict[str, object] | None = None

    def __repr__(self) -> str:
        if self.subset is not None:
            return bracketed(f"SubsetSumSearch, a subset of {len(self.subset)} matrices")
        if self.evidence is not None:
            return bracketed(f"SubsetSumSearch, no subset, by {self.evidence.get('method')}")
        return "<SubsetSumSearch, open>"


def vanishing_subset(
    left: RationalMatrix,
    right: RationalMatrix,
    *,
    before_sums: Callable[[], object] | None = None,
) -> SubsetSumSearch:
    """Search a nonempty set S with Σ_{i∈S} left[:, i] right[i, :] = 0.

    Parameters
    ----------
    left
        The left factors as columns, shape (m, q).
    right
        The right factors as rows, shape (q, n).
    before_sums
        Called before all sums of subsets are compared, which takes time 2^(q/2).

    Returns
    -------
    SubsetSumSearch
        A set, or evidence that there is none, or neither if the bounded search does not decide.

    Examples
    --------
    >>> column = RationalMatrix.column([1, 2, -3])
    >>> vanishing_subset(RationalMatrix.from_rows([[1, 1, 1]]), column).subset
    (0, 1, 2)
    >>> vanishing_subset(RationalMatrix.from_rows([[1, 1]]), column.take(rows=[0, 1])).evidence
    {'method': 'subset-sums', 'multiplier': '1000003'}
    """
    need_factors(left, right)
    single = _vanishing_single(left, right)
    if single is not None:
        return SubsetSumSearch(subset=(single,))
    independent = independent_entries(left, right)
    if independent is not None:
        prime, entries = independent
        listed = [list(entry) for entry in entries]
        return SubsetSumSearch(
            evidence={"method": "independent", "prime": str(prime), "entries": listed}
        )
    if right.nrows > SUBSET_LIMIT:
        return SubsetSumSearch()
    if before_sums is not None:
        before_sums()
    return _meet_in_the_middle(left, right)


def _vanishing_single(left: RationalMatrix, right: RationalMatrix) -> int | None:
    """Return the index of a matrix that is 0, or None."""
    columns = left.transpose().integer_rows()
    for i, (v, a) in enumerate(zip(columns, right.integer_rows(), strict=True)):
        if not any(v) or not any(a):
            return i
    return None


def _meet_in_the_middle(left: RationalMatrix, right: RationalMatrix) -> SubsetSumSearch:
    """Return the result of comparing all subset sums of the scalars."""
    for multiplier in _MULTIPLIERS:
        scalars = _scalars(left, right, multiplier)
        subset = _vanishing_scalars(scalars)
        if subset is None:
            return SubsetSumSearch(
                evidence={"method": "subset-sums", "multiplier": str(multiplier)}
            )
        if _sum_vanishes(left, right, subset):
            return SubsetSumSearch(subset=subset)
    return SubsetSumSearch()  # pragma: no cover - accidental collisions for every multiplier


def _scalars(left: RationalMatrix, right: RationalMatrix, multiplier: int) -> list[int]:
    """Return the scalars x_i modulo p for a multiplier r."""
    step = pow(multiplier, left.nrows, _PRIME)
    heads = [_horner(column, multiplier) for column in left.transpose().primitive_rows()]
    tails = [_horner(row, step) for row in right.primitive_rows()]
    return [head * tail % _PRIME for head, tail in zip(heads, tails, strict=True)]


def _horner(coefficients: Sequence[int], point: int) -> int:
    """Return the value modulo p of a polynomial, its constant coefficient first."""
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * point + coefficient) % _PRIME
    return value


def _vanishing_scalars(scalars: Sequence[int]) -> tuple[int, ...] | None:
    """Return a nonempty set of indices whose scalars add up to 0 modulo p, or None."""
    half = len(scalars) // 2
    low, high = _all_sums(scalars[:half]), _all_sums(scalars[half:])
    mask_of_sum = {value: mask for mask, value in reversed(list(enumerate(low)))}
    for mask, value in enumerate(high):
        low_mask = mask_of_sum.get(-value % _PRIME)
        if low_mask is not None and (mask or low_mask):
            return _members(low_mask | mask << half)
    nonempty = next((mask for mask, value in enumerate(low) if mask and value == 0), None)
    return None if nonempty is None else _members(nonempty)


def _all_sums(scalars: Sequence[int]) -> list[int]:
    """Return the sum of every subset, indexed by its bit mask."""
    sums = [0]
    for scalar in scalars:
        sums += [(value + scalar) % _PRIME for value in sums]
    return sums


def _members(mask: int) -> tuple[int, ...]:
    """Return the indices of the bits of a mask."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def _sum_vanishes(left: RationalMatrix, right: RationalMatrix, subset: tuple[int, ...]) -> bool:
    """Return whether the matrices of a set add up to 0, exactly."""
    return (left.take(columns=subset) @ right.take(rows=subset)).is_zero()
