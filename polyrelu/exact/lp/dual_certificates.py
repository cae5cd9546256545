"""From coordinates in an active set to multipliers of the rows and bounds as the user gave them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from flint import fmpz

from polyrelu.exact.lp.basis import BasisCoordinates, RationalVector
from polyrelu.exact.lp.bounds import Side
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.pivoting import Infeasibility
from polyrelu.exact.lp.results import Multipliers, Point

__all__ = [
    "crossing_bounds",
    "farkas",
    "integer_multipliers",
    "multipliers",
    "point_of",
    "upper_bound",
]


def point_of(vector: RationalVector) -> Point:
    """The x part of an exact vector."""
    denominator = int(vector.denominator)
    return tuple(Fraction(int(entry), denominator) for entry in vector.numerators[:-1])


def multipliers(model: Model, coordinates: BasisCoordinates, scale: int) -> Multipliers:
    """Multipliers that add up to (the vector with these coordinates) / scale."""
    denominator = int(coordinates.denominator) * scale
    rows = {
        r: Fraction(int(y) * model.scales[r], denominator) for r, y in coordinates.rows.items() if y
    }
    columns = {
        j: Fraction(int(d), denominator)
        for j, d in coordinates.columns.items()
        if d and j < model.columns
    }
    return _by_side(rows, columns)


def integer_multipliers(model: Model, coordinates: BasisCoordinates) -> Multipliers:
    """Multipliers without a common divisor that add up to a positive multiple of the vector."""
    return _primitive(
        _scaled_rows(model, coordinates.rows), _without_slack(model, coordinates.columns)
    )


def farkas(model: Model, proof: Infeasibility) -> Multipliers:
    """Integer multipliers that add up to 0·x ≤ (something negative)."""
    rows = {r: -y for r, y in proof.coordinates.rows.items()}
    columns = {j: -d for j, d in proof.coordinates.columns.items()}
    violation, scale = proof.violation, proof.coordinates.denominator
    if violation.row is None:
        columns[violation.column] = scale * int(violation.side)
    else:
        rows[violation.row] = scale * violation.sign
    return _primitive(_scaled_rows(model, rows), _without_slack(model, columns))


def crossing_bounds(column: int) -> Multipliers:
    """The multipliers of l_j > u_j."""
    return Multipliers({}, {column: Fraction(1)}, {column: Fraction(1)})


def upper_bound(model: Model, coordinates: BasisCoordinates) -> fmpz:
    """A positive multiple of Σ rows_r c_r + Σ columns_j (bound of j): the bound that right signs prove."""
    bounds = model.bounds
    rows = sum((y * model.rows.entries[r][-1] for r, y in coordinates.rows.items()), fmpz(0))
    columns = sum(
        (
            d * bounds.at(j, Side.LOWER if d < 0 else Side.UPPER)
            for j, d in coordinates.columns.items()
            if d
        ),
        fmpz(0),
    )
    return rows * bounds.denominator + columns


def _scaled_rows(model: Model, rows: Mapping[int, fmpz]) -> dict[int, int]:
    return {r: int(y) * model.scales[r] for r, y in rows.items() if y}


def _without_slack(model: Model, columns: Mapping[int, fmpz]) -> dict[int, int]:
    """Without the bound t ≤ 1, which a proof that t ≤ 0 does not need: it only makes the bound larger."""
    return {j: int(d) for j, d in columns.items() if d and j < model.columns}


def _primitive(rows: dict[int, int], columns: dict[int, int]) -> Multipliers:
    content = math.gcd(*rows.values(), *columns.values()) or 1
    return _by_side(
        {r: Fraction(y // content) for r, y in rows.items()},
        {j: Fraction(d // content) for j, d in columns.items()},
    )


def _by_side(rows: Mapping[int, Fraction], columns: Mapping[int, Fraction]) -> Multipliers:
    return Multipliers(
        dict(sorted(rows.items())),
        {j: d for j, d in sorted(columns.items()) if d > 0},
        {j: -d for j, d in sorted(columns.items()) if d < 0},
    )
