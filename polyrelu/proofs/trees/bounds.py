"""Bounds of all forms of a joint network over a box, so that neurons whose sign is clear are never split.

Floats guess: one backward pass of linear relaxation (`relaxation`) for each level of atoms gives an interval for every
form, and from these the slopes. What the guesses say is proved, exactly and only where it is needed: the sign of an
atom by the relaxation of its form, with exact bounds of the atoms in it, and so on down. The records of these steps are
what a certificate shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from polyrelu.certificate import SignRecord
from polyrelu.exact import nearest_float
from polyrelu.exact.form_bounds import FormBounds, RelaxationSlopes
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.relaxation import chosen_slopes, relaxed
from polyrelu.support.typing import Floats

__all__ = ["BoxBounds", "ScaledForms", "Sides"]

#: Sides of a polyhedron that bound one coordinate, by (coordinate, 1 for lower and -1 for upper).
Sides = Mapping[tuple[int, int], Fraction]

_SHORT = 16  # significant bits of recorded bounds
_MOST_ENTRIES = 20_000_000  # of a table of floats


class BoxBounds:
    """Bounds over the box of the sides; nothing is known if a coordinate has no side.

    Attributes
    ----------
    signs : the signs of atoms, by symbol, that the floats claim.
    slopes : the slopes of atoms, by symbol, that they suggest.
    """

    def __init__(self, joint: JointNetwork, sides: Sides) -> None:
        self._joint, self._sides = joint, sides
        self._forms = {atom.symbol: atom.form for atom in joint.atoms}
        self.slopes: dict[int, RelaxationSlopes] = {}
        self._bounds: dict[int, FormBounds] = {}
        self.signs: dict[int, int] = {}
        size = range(1, 1 + joint.dimension)
        if all((j, side) in sides for j in size for side in (1, -1)) and ScaledForms.fit(joint):
            self._guess()

    # -- guesses --------------------------------------------------------------------------------------------------

    def _guess(self) -> None:
        scaled = ScaledForms(self._joint)
        width = 1 + self._joint.dimension
        low, high = np.ones(width), np.ones(width)
        for j in range(1, width):
            low[j], high[j] = float(self._sides[j, 1]), float(self._sides[j, -1])
        with np.errstate(all="ignore"):
            lower, upper, slopes = scaled.intervals(low, high)
        for atom, bottom, top, below, above in zip(
            self._joint.atoms, lower, upper, *slopes, strict=True
        ):
            if math.isfinite(bottom) and math.isfinite(top):
                self.slopes[atom.symbol] = RelaxationSlopes(Fraction(below), Fraction(above))
                if bottom >= 0 or top <= 0:
                    self.signs[atom.symbol] = 1 if bottom >= 0 else -1

    def bounds_of(self, symbol: int) -> FormBounds:
        """What was proved about an atom's form."""
        return self._bounds.get(symbol, FormBounds())

    # -- proofs ---------------------------------------------------------------------------------------------------

    def proved(self, symbol: int, sign: int) -> list[SignRecord] | None:
        """The records that prove the sign of an atom's form, or None if it does not follow."""
        records: list[SignRecord] = []
        before = dict(self._bounds)
        value, slopes = self._value(symbol, sign, records)
        if value is None or value < 0:
            self._bounds = before  # their records are dropped
            return None
        records.append(self._record(symbol, sign, Fraction(), slopes))
        return records

    def _value(
        self, symbol: int, sign: int, records: list[SignRecord]
    ) -> tuple[Fraction | None, Mapping[int, Fraction]]:
        """A lower bound of sign · form, and the slopes it takes; records of the bounds that it needs are appended."""
        for inner in self._forms[symbol].columns:
            if inner > self._joint.dimension and inner not in self._bounds:
                self._bound(inner, records)
        found = relaxed(
            self._forms[symbol], sign, self._forms, self._joint.dimension, self._bounds, self.slopes
        )
        if found is None:
            return None, {}
        value = found.coefficients.get(0, Fraction())
        for column, entry in found.coefficients.items():
            if column:
                side = self._sides.get((column, 1 if entry > 0 else -1))
                if side is None:
                    return None, {}
                value += entry * side
        return value, found.slopes

    def _bound(self, symbol: int, records: list[SignRecord]) -> None:
        """Exact bounds of an atom's form, rounded outwards to short numbers."""
        ends: list[Fraction | None] = []
        for sign in (1, -1):
            value, slopes = self._value(symbol, sign, records)
            if value is not None:
                value = _rounded_down(value) if value < 0 else Fraction(0)
                records.append(self._record(symbol, sign, value, slopes))
                value *= sign
            ends.append(value)
        self._bounds[symbol] = FormBounds(*ends)

    def _record(
        self, symbol: int, sign: int, value: Fraction, slopes: Mapping[int, Fraction]
    ) -> SignRecord:
        number = self._joint.number
        return SignRecord(
            number(symbol),
            sign,
            value,
            {},
            {number(other): slope for other, slope in slopes.items()},
        )


def _rounded_down(value: Fraction) -> Fraction:
    """A short number not above a negative one."""
    shift = value.numerator.bit_length() - value.denominator.bit_length() - _SHORT
    step = Fraction(2) ** shift
    return math.floor(value / step) * step


class ScaledForms:
    """The forms in floats, each divided by a power of two so that its entries are of size 1 at most.

    With e_k the exponent of atom k, its form over 2^e_k is a row over the coordinates and max(form_j, 0) / 2^e_j.
    """

    @staticmethod
    def fit(joint: JointNetwork) -> bool:
        """Whether the table of a joint network is small enough to be made (160 MB)."""
        return len(joint.atoms) * (1 + joint.dimension + len(joint.atoms)) <= _MOST_ENTRIES

    def __init__(self, joint: JointNetwork) -> None:
        self._first = 1 + joint.dimension
        exponents = self._exponents = [0] * self._first
        width = self._first + len(joint.atoms)
        self._place = {atom.symbol: self._first + number for number, atom in enumerate(joint.atoms)}
        self.table = np.zeros((len(joint.atoms), width))
        for number, atom in enumerate(joint.atoms):
            columns = [self._place.get(column, column) for column in atom.form.columns]
            sizes = [
                exponents[column] + entry.bit_length()
                for column, entry in zip(columns, atom.form.numerators, strict=True)
            ]
            exponents.append(max(sizes))
            for column, entry in zip(columns, atom.form.numerators, strict=True):
                shift = exponents[column] - exponents[-1]
                self.table[number, column] = nearest_float(
                    entry << max(shift, 0), 1 << max(-shift, 0)
                )
        levels = [atom.level for atom in joint.atoms]
        self._levels = [np.flatnonzero(np.array(levels) == level) for level in sorted(set(levels))]

    def value(self, symbol: int, form: Fraction) -> float:
        """A value of a form, scaled."""
        exponent = self._exponents[self._place[symbol]]
        return nearest_float(form.numerator, form.denominator << exponent)

    def gradient(self, symbols: Iterable[int], active: set[int]) -> Floats:
        """The sum of the gradients of some scaled forms in the coordinates, where the given atoms are active."""
        on = np.array([symbol in active for symbol in self._place], dtype=float)
        row = sum(
            (self.table[self._place[symbol] - self._first] for symbol in symbols),
            np.zeros(self.table.shape[1]),
        )
        for below in reversed(self._levels):
            factors = row[self._first + below] * on[below]
            row[self._first + below] = 0
            row += factors @ self.table[below]
        return np.asarray(row[1 : self._first])

    def intervals(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Lower and upper bounds of the scaled forms where the coordinates run through a box, entry 0 being 1, and the
        slopes, shape (2, atoms)."""
        first, count = self._first, len(self.table)
        lower, upper = np.full(count, -np.inf), np.full(count, np.inf)
        slopes, offsets = np.zeros((2, count)), np.zeros(count)
        for level, atoms in enumerate(self._levels):
            for sign, target in ((1.0, lower), (-1.0, upper)):
                rows = sign * self.table[atoms]
                for below in reversed(self._levels[:level]):
                    factors = rows[:, first + below]
                    chosen = np.where(factors > 0, slopes[0, below], slopes[1, below])
                    rows[:, first + below] = 0
                    rows += (factors * chosen) @ self.table[below]
                    rows[:, 0] += np.minimum(factors, 0) @ offsets[below]
                ends = np.maximum(rows[:, :first], 0) @ low + np.minimum(rows[:, :first], 0) @ high
                target[atoms] = sign * ends
            bottom, top = lower[atoms], upper[atoms]
            under, over = chosen_slopes(bottom, top)
            slopes[0, atoms], slopes[1, atoms] = under, over
            offsets[atoms] = np.maximum(np.maximum((1 - over) * top, -over * bottom), 0)
        return lower, upper, slopes
