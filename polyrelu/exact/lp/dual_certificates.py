"""Multipliers of the rows and bounds as the user gave them, from coordinates in a basis.

The simplex methods work with integer rows that are positive multiples of the user's rows; the
multipliers of a certificate refer to the user's rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from flint import fmpz

from polyrelu.exact.lp.basis import BasisCoordinates, RationalVector
from polyrelu.exact.lp.bounds import Side
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.pivoting import ExactInfeasibility, ViolatedBound
from polyrelu.exact.lp.results import Multipliers, Point

__all__ = [
    "crossing_bounds",
    "dual_multipliers",
    "dual_upper_bound",
    "farkas_multipliers",
    "integer_multipliers",
    "rational_point",
]


def rational_point(vector: RationalVector) -> Point:
    """Return the coordinates x of an exact vector (x, t)."""
    denominator = int(vector.denominator)
    return tuple(Fraction(int(entry), denominator) for entry in vector.numerators[:-1])


def dual_multipliers(model: Model, coordinates: BasisCoordinates, scale: int) -> Multipliers:
    """Return multipliers whose normals add up to (the vector with these coordinates) / scale."""
    denominator = int(coordinates.denominator) * scale
    rows = {
        r: Fraction(int(y) * model.scales[r], denominator)
        for r, y in coordinates.tight_rows.items()
        if y
    }
    columns = {
        j: Fraction(int(d), denominator)
        for j, d in coordinates.nonbasic.items()
        if d and j < model.columns
    }
    return _by_side(rows, columns)


def integer_multipliers(model: Model, coordinates: BasisCoordinates) -> Multipliers:
    """Return integer multipliers whose normals add up to a positive multiple of the vector.

    They have no common divisor.
    """
    return _without_common_divisor(
        _scaled_rows(model, coordinates.tight_rows), _without_slack(model, coordinates.nonbasic)
    )


def farkas_multipliers(model: Model, proof: ExactInfeasibility) -> Multipliers:
    """Return integer multipliers with which the constraints add up to 0·x ≤ γ, γ < 0."""
    rows = {r: -y for r, y in proof.coordinates.tight_rows.items()}
    columns = {j: -d for j, d in proof.coordinates.nonbasic.items()}
    violation, scale = proof.violation, proof.coordinates.denominator
    if isinstance(violation, ViolatedBound):
        columns[violation.column] = scale * int(violation.side)
    else:
        rows[violation.row] = scale * violation.sign
    return _without_common_divisor(_scaled_rows(model, rows), _without_slack(model, columns))


def crossing_bounds(column: int) -> Multipliers:
    """Return the Farkas multipliers of a column whose bounds contradict: l_j > u_j."""
    return Multipliers({}, {column: Fraction(1)}, {column: Fraction(1)})


def dual_upper_bound(model: Model, coordinates: BasisCoordinates) -> fmpz:
    """Return a positive multiple of Σ y_r c_r + Σ d_j (bound of column j) for coordinates (y, d).

    If the coordinates are dual feasible, this sum is an upper bound for the maximum.
    """
    bounds = model.bounds
    rows = sum((y * model.rows.entries[r][-1] for r, y in coordinates.tight_rows.items()), fmpz(0))
    columns = sum(
        (
            d * bounds.at(j, Side.LOWER if d < 0 else Side.UPPER)
            for j, d in coordinates.nonbasic.items()
            if d
        ),
        fmpz(0),
    )
    return rows * bounds.denominator + columns


def _scaled_rows(model: Model, rows: Mapping[int, fmpz]) -> dict[int, int]:
    """Return multipliers of the user's rows for multipliers of the integer rows."""
    return {r: int(y) * model.scales[r] for r, y in rows.items() if y}


def _without_slack(model: Model, columns: Mapping[int, fmpz]) -> dict[int, int]:
    """Return the multipliers of the bounds without t ≤ 1, which only weakens a proof that t ≤ 0."""
    return {j: int(d) for j, d in columns.items() if d and j < model.columns}


def _without_common_divisor(rows: dict[int, int], columns: dict[int, int]) -> Multipliers:
    """Return the multipliers divided by the greatest common divisor of all."""
    content = math.gcd(*rows.values(), *columns.values()) or 1
    return _by_side(
        {r: Fraction(y // content) for r, y in rows.items()},
        {j: Fraction(d // content) for j, d in columns.items()},
    )


def _by_side(rows: Mapping[int, Fraction], columns: Mapping[int, Fraction]) -> Multipliers:
    """Return the multipliers with the columns sorted into upper (> 0) and lower bounds (< 0)."""
    return Multipliers(
        dict(sorted(rows.items())),
        {j: d for j, d in sorted(columns.items()) if d > 0},
        {j: -d for j, d in sorted(columns.items()) if d < 0},
    )
