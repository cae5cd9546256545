"""Limits of the search for other networks of the same blocks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["SETTINGS"]


@dataclass(frozen=True, slots=True)
class BlockSettings:
    """Limits and sizes of changes.

    Attributes
    ----------
    amounts
        Amounts of weight that duplicate neurons trade; several, because one of them may merely
        exchange the two neurons, or leave a block of zeros.
    shifts
        Changes of the weight on a guard; several, because one of them may leave a block of zeros.
    max_parameters
        Maximum number of parameters, zeros included, of networks whose valid inequalities are made.
    work_of_programs
        Budget of the sample points and linear programs, in the units of `Budget`.
    """

    amounts: tuple[int, ...] = (1, -1, 2)
    shifts: tuple[Fraction, ...] = (Fraction(1), Fraction(3, 2))
    max_parameters: int = 1_000_000
    work_of_programs: float = 10_000


#: The settings of every search.
SETTINGS = BlockSettings()
