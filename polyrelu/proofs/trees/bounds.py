"""Bounds of all forms of a joint network over a box, which make many splits unnecessary.

Floats guess and exact arithmetic proves. One backward pass of linear relaxation (`relaxation`) in
floats for each level of atoms gives an interval for every form, and from these intervals the
slopes. A sign that the floats claim is proved exactly, and only where it is needed: by the
relaxation of the atom's form, with exact bounds of the atoms in this form, which are proved in the
same way. The records of these steps go into the certificate, so a record must come after the
records that it uses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from polyrelu.certificate import SignRecord
from polyrelu.exact import nearest_float
from polyrelu.exact.form_bounds import FormBounds, RelaxationSlopes, rounded_down
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.relaxation import affine_lower_bound, chosen_slopes
from polyrelu.proofs.trees.settings import SETTINGS
from polyrelu.support.typing import Floats

__all__ = ["BoxBounds", "ScaledForms", "Sides"]

#: Bounds of single coordinates, by coordinate and side: 1 for the lower bound, -1 for the upper.
Sides = Mapping[tuple[int, int], Fraction]


class BoxBounds:
    """Bounds over a box; nothing is known unless every coordinate has a side at both ends.

    Attributes
    ----------
    signs
        The signs of atoms that the floats claim, by symbol.
    slopes
        The slopes of atoms that the floats suggest, by symbol.
    """

    def __init__(self, joint: JointNetwork, sides: Sides) -> None:
        self._joint, self._sides = joint, sides
        self._forms = {atom.symbol: atom.form for atom in joint.atoms}
        self.slopes: dict[int, RelaxationSlopes] = {}
        self._bounds: dict[int, FormBounds] = {}
        self.signs: dict[int, int] = {}
        size = range(1, 1 + joint.dimension)
        if all((j, side) in sides for j in size for side in (1, -1)) and ScaledForms.is_affordable(
            joint
        ):
            self._bound_in_floats()

    def _bound_in_floats(self) -> None:
        """Fill `signs` and `slopes` from bounds in floats."""
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
        """Return what was proved about the form of an atom."""
        return self._bounds.get(symbol, FormBounds())

    def prove_sign(self, symbol: int, sign: int) -> list[SignRecord] | None:
        """Return records that prove the sign of an atom's form, or None if it does not follow."""
        records: list[SignRecord] = []
        before = dict(self._bounds)
        value, slopes = self._prove_lower_bound(symbol, sign, records)
        if value is None or value < 0:
            self._bounds = before  # the records of the new bounds are dropped
            return None
        records.append(self._record(symbol, sign, Fraction(), slopes))
        return records

    def _prove_lower_bound(
        self, symbol: int, sign: int, records: list[SignRecord]
    ) -> tuple[Fraction | None, Mapping[int, Fraction]]:
        """Return a lower bound of sign · form and the slopes that it uses, or (None, {}).

        Records of the bounds of inner atoms that it needs are appended to `records`.
        """
        for inner in self._forms[symbol].columns:
            if inner > self._joint.dimension and inner not in self._bounds:
                self._prove_bounds(inner, records)
        lower = affine_lower_bound(
            self._forms[symbol], sign, self._forms, self._joint.dimension, self._bounds, self.slopes
        )
        if lower is None:
            return None, {}
        value = lower.coefficients.get(0, Fraction())
        for column, entry in lower.coefficients.items():
            if column:
                side = self._sides.get((column, 1 if entry > 0 else -1))
                if side is None:
                    return None, {}
                value += entry * side
        return value, lower.slopes

    def _prove_bounds(self, symbol: int, records: list[SignRecord]) -> None:
        """Prove exact bounds of an atom's form on both sides, rounded outwards to short numbers."""
        ends: list[Fraction | None] = []
        for sign in (1, -1):
            value, slopes = self._prove_lower_bound(symbol, sign, records)
            if value is not None:
                value = rounded_down(value, SETTINGS.significant_bits) if value < 0 else Fraction(0)
                records.append(self._record(symbol, sign, value, slopes))
                value *= sign
            ends.append(value)
        self._bounds[symbol] = FormBounds(*ends)

    def _record(
        self, symbol: int, sign: int, value: Fraction, slopes: Mapping[int, Fraction]
    ) -> SignRecord:
        """Return the record of a bound, which names atoms by their numbers."""
        number = self._joint.atom_number
        return SignRecord(
            number(symbol),
            sign,
            value,
            {},
            {number(other): slope for other, slope in slopes.items()},
        )


class ScaledForms:
    """The forms in floats, each divided by a power of two so that its entries are at most about 1.

    With e_k the exponent of atom k, its form over 2^e_k is a row over the coordinates and the
    scaled atoms max(form_j, 0) / 2^e_j. So numbers beyond the range of floats do no harm.
    """

    @staticmethod
    def is_affordable(joint: JointNetwork) -> bool:
        """Return whether the table of a joint network takes at most 160 MB."""
        return (
            len(joint.atoms) * (1 + joint.dimension + len(joint.atoms))
            <= SETTINGS.max_table_entries
        )

    def __init__(self, joint: JointNetwork) -> None:
        self._first = 1 + joint.dimension
        exponents = self._exponents = [0] * self._first
        width = self._first + len(joint.atoms)
        self._columns = {
            atom.symbol: self._first + number for number, atom in enumerate(joint.atoms)
        }
        self.table = np.zeros((len(joint.atoms), width))
        for number, atom in enumerate(joint.atoms):
            columns = [self._columns.get(column, column) for column in atom.form.columns]
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

    def scaled_value(self, symbol: int, form: Fraction) -> float:
        """Return a value of an atom's form in the scale of the form."""
        exponent = self._exponents[self._columns[symbol]]
        return nearest_float(form.numerator, form.denominator << exponent)

    def gradient(self, symbols: Iterable[int], active: set[int]) -> Floats:
        """Return the sum of some scaled forms' gradients, where only the given atoms are active."""
        is_active = np.array([symbol in active for symbol in self._columns], dtype=float)
        row = sum(
            (self.table[self._columns[symbol] - self._first] for symbol in symbols),
            np.zeros(self.table.shape[1]),
        )
        for below in reversed(self._levels):
            factors = row[self._first + below] * is_active[below]
            row[self._first + below] = 0
            row += factors @ self.table[below]
        return np.asarray(row[1 : self._first])

    def intervals(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Return lower and upper bounds of the scaled forms over a box, and the slopes (2, atoms).

        `low` and `high` are the ends of the coordinates, shape (1 + d,), with entry 0 equal to 1.
        """
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
