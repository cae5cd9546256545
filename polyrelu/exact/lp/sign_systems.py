"""Systems of strict inequalities with prescribed signs, and proofs that there is no solution.

Given rows r_0, …, r_{k-1} and signs s_i in {-1, 0, 1}, exactly one of the following holds (Gordan's
theorem): there is a point x with s_i r_i·x > 0 for all i with s_i ≠ 0; or there is a *dependence*,
multipliers λ ≥ 0, not all 0, with Σ λ_i s_i r_i = 0. Searches ask for many sign vectors of the same
rows. HiGHS guesses the support of a dependence, a kernel over the integers verifies it, and an
exact linear program decides wherever the guess fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from polyrelu.errors import ArgumentError
from polyrelu.exact.lp.highs import SilentHighs, exponent_of, to_floats
from polyrelu.exact.lp.linear_program import LinearProgram
from polyrelu.exact.lp.results import InteriorPoint
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Point

__all__ = ["Dependence", "SignSystem"]

#: Multipliers above this number are taken for positive; what is guessed so is verified.
_POSITIVE = 1e-9
_BASIC = highspy.HighsBasisStatus.kBasic


@dataclass(frozen=True, slots=True, repr=False)
class Dependence:
    """A proof that no point has the signs: a dependence with positive multipliers.

    Attributes
    ----------
    multipliers
        Positive integers by row, with Σ λ_i s_i r_i = 0. They are the only ones on these rows, up
        to a common factor.

    Examples
    --------
    >>> SignSystem([[1, 0], [-2, 0]]).solve([1, 1]).multipliers
    {0: 2, 1: 1}
    """

    multipliers: dict[int, int]

    def __repr__(self) -> str:
        return bracketed(f"Dependence of {count_text([(len(self.multipliers), 'row')])}")


class SignSystem:
    """Rows whose signs at a point are prescribed, again and again.

    Parameters
    ----------
    rows
        Rows of integers, shape (k, d), d ≥ 1.

    Attributes
    ----------
    num_programs
        Number of systems that were solved.
    unit_rows
        The rows divided by their lengths, in floats, shape (k, d). Each row is a positive multiple
        of the exact one up to relative errors of 2^-52 in its entries, unless they underflow.
    small_costs
        Small costs of the rows, shape (k,). They choose one of several dependences with equally
        little weight on the costly rows, so that it does not depend on the way to it.

    Examples
    --------
    >>> system = SignSystem([[1, 0], [0, 1], [-1, -1]])
    >>> system.solve([1, 1, 0])
    (Fraction(2, 1), Fraction(2, 1))
    >>> system.solve([1, 1, 1])
    <Dependence of 3 rows>
    """

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self._rows = [list(row) for row in rows]
        if not self._rows or len({len(row) for row in self._rows} | {0}) != 2:
            raise ArgumentError("rows: expected rows of equally many integers, at least one")
        self.num_programs = 0
        self.small_costs = _small_costs(len(self._rows))
        self._highs = SilentHighs()
        self._load()

    def __repr__(self) -> str:
        sizes = count_text([(len(self._rows), "row"), (len(self._rows[0]), "variable")])
        return bracketed(f"SignSystem of {sizes}")

    def _load(self) -> None:
        """Give HiGHS the columns λ_i^+ and λ_i^-, with Σ (λ_i^+ - λ_i^-) r_i = 0 and Σ λ = 1."""
        size, dimension = len(self._rows), len(self._rows[0])
        padded = [[*row, 0] for row in self._rows]
        floats = to_floats(padded, [exponent_of(row) for row in padded])[:, :-1]
        norms = np.sqrt((floats * floats).sum(axis=1))
        floats /= np.where(norms > 0, norms, 1)[:, None]
        self.unit_rows = floats
        floats.flags.writeable = False
        columns = np.hstack([np.vstack([floats, -floats]), np.ones((2 * size, 1))])
        num_columns, num_rows = columns.shape
        side = np.zeros(num_rows)
        side[-1] = 1
        self._all = np.arange(num_columns, dtype=np.int32)
        self._zeros = np.zeros(num_columns)
        self._highs.passModel(
            num_columns,
            num_rows,
            columns.size,
            1,
            1,
            0.0,
            self._zeros,
            self._zeros,
            self._zeros,
            side,
            side,
            np.arange(0, columns.size + 1, num_rows, dtype=np.int32),
            np.tile(np.arange(num_rows, dtype=np.int32), num_columns),
            columns.ravel(),
            np.zeros(num_columns, dtype=np.int32),
        )
        self._dimension = dimension

    def solve(
        self,
        signs: Sequence[int] | NDArray[np.int8],
        costly: Sequence[bool] | NDArray[np.bool_] | None = None,
    ) -> Point | Dependence:
        """Find a point with the signs, or a proof that there is none.

        Parameters
        ----------
        signs
            The sign -1 or 1 of each row, 0 for a row that may have any.
        costly
            Rows that a dependence should avoid; all by default.

        Returns
        -------
        Point or Dependence
            A point, shape (d,), or a dependence with little weight on the costly rows.
        """
        wanted = np.asarray(signs, dtype=np.int8)
        if wanted.shape != (len(self._rows),):
            raise ArgumentError(f"signs: expected {len(self._rows)} of them")
        self.num_programs += 1
        for support in self._guesses(wanted, costly):
            if (found := self._dependence(wanted, support)) is not None:
                return found
        return self._exact(wanted)

    def _guesses(
        self, signs: NDArray[np.int8], costly: Sequence[bool] | NDArray[np.bool_] | None
    ) -> list[list[int]]:
        """Return supports that HiGHS proposes: the positive multipliers, then the basic ones."""
        upper = np.where(np.concatenate([signs > 0, signs < 0]), highspy.kHighsInf, 0.0)
        cost = np.ones(len(signs)) if costly is None else np.asarray(costly, dtype=np.float64)
        cost = cost + self.small_costs
        size, highs = self._all.size, self._highs
        highs.changeColsBounds(size, self._all, self._zeros, upper)
        highs.changeColsCost(size, self._all, np.concatenate([cost, cost]))
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return []
        values = np.array(highs.getSolution().col_value)
        positive = np.flatnonzero(values > _POSITIVE) % len(signs)
        basis = highs.getBasis()
        basic = [
            j % len(signs)
            for j, state in enumerate(basis.col_status)
            if state == _BASIC and upper[j] > 0
        ]
        return [sorted(positive.tolist()), sorted({*basic})]

    def _dependence(self, signs: NDArray[np.int8], support: list[int]) -> Dependence | None:
        """Return the dependence on a support if its signed rows have exactly one, and it is ≥ 0."""
        if not support:
            return None
        columns = [self._rows[i] for i in support]
        kernel, nullity = fmpz_mat(columns).transpose().nullspace()
        if nullity != 1:
            return None
        entries = [int(kernel[k, 0]) * int(signs[i]) for k, i in enumerate(support)]
        divisor = math.gcd(*entries) * (-1 if min(entries) < 0 else 1)
        entries = [entry // divisor for entry in entries]
        if min(entries) < 0:
            return None
        return Dependence({i: entry for i, entry in zip(support, entries, strict=True) if entry})

    def _exact(self, signs: NDArray[np.int8]) -> Point | Dependence:
        """Let an exact linear program decide."""
        used = np.flatnonzero(signs).tolist()
        if (zero := next((i for i in used if not any(self._rows[i])), None)) is not None:
            return Dependence({zero: 1})
        program = LinearProgram(self._dimension)
        if used:
            normals = [[-int(signs[i]) * entry for entry in self._rows[i]] for i in used]
            program.add_inequalities(normals, [0] * len(used))
        result = program.interior_point()
        if isinstance(result, InteriorPoint):
            return result.point
        multipliers = {used[row]: value for row, value in result.multipliers.rows.items() if value}
        return self._minimal(signs, multipliers)

    def _minimal(self, signs: NDArray[np.int8], multipliers: dict[int, Fraction]) -> Dependence:
        """Remove rows from a dependence until the rest has only one (Carathéodory)."""
        while True:
            support = sorted(multipliers)
            if (found := self._dependence(signs, support)) is not None:
                return found
            kernel, nullity = fmpz_mat([self._rows[i] for i in support]).transpose().nullspace()
            for column in range(int(nullity)):
                move = [int(kernel[k, column]) * int(signs[i]) for k, i in enumerate(support)]
                if max(move) <= 0:
                    move = [-entry for entry in move]
                step = min(
                    multipliers[i] / entry
                    for i, entry in zip(support, move, strict=True)
                    if entry > 0
                )
                left = {
                    i: multipliers[i] - step * entry for i, entry in zip(support, move, strict=True)
                }
                left = {i: value for i, value in left.items() if value}
                if left:  # not a multiple of the dependence itself
                    multipliers = left
                    break


def _small_costs(count: int) -> NDArray[np.float64]:
    """Return numbers between 0 and 2^-13 without a pattern, different ones for up to 2^16 rows."""
    powers = [pow(3, row, 65_537) for row in range(count)]  # 3 is a primitive root
    costs = np.array(powers, dtype=np.float64) / 2.0**29
    costs.flags.writeable = False
    return costs
