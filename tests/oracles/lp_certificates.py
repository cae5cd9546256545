"""Re-verify every answer of a linear program in plain integers and fractions.

Only the answers' data classes are imported from the product. An empty list of objections means
that the answer is right: optimality, unboundedness and emptiness by their certificates, an
interior point by what it satisfies, flatness by multipliers that add up to a consequence of the
equations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from polyrelu.exact.lp.results import (
    FlatSet,
    Infeasible,
    InteriorPoint,
    Multipliers,
    Optimal,
    Unbounded,
)
from tests.generators.lp_families import Instance, Number

__all__ = [
    "EquationSpan",
    "Maximum",
    "Shape",
    "as_maximum",
    "as_shape",
    "constant_rows",
    "interior_objections",
    "maximum_objections",
    "minimum_objections",
]

Vector = Sequence[Number]
Shape = Literal["interior", "flat", "empty"]


class Maximum(NamedTuple):
    """How a maximisation ends; the value is there if the status is "optimal"."""

    status: Literal["optimal", "unbounded", "infeasible"]
    value: Fraction | None = None


def as_maximum(answer: Optimal | Unbounded | Infeasible) -> Maximum:
    """An answer without its evidence, for comparisons."""
    if isinstance(answer, Optimal):
        return Maximum("optimal", answer.value)
    return Maximum("unbounded" if isinstance(answer, Unbounded) else "infeasible")


def as_shape(answer: InteriorPoint | FlatSet | Infeasible) -> Shape:
    """An answer to the question of an interior point without its evidence."""
    return (
        "interior"
        if isinstance(answer, InteriorPoint)
        else "flat"
        if isinstance(answer, FlatSet)
        else "empty"
    )


# --- Questions ---------------------------------------------------------------------------------


def maximum_objections(instance: Instance, answer: Optimal | Unbounded | Infeasible) -> list[str]:
    """Arguments against an answer of `maximize(instance.objective)`."""
    return list(_extremum(instance, answer, 1))


def minimum_objections(instance: Instance, answer: Optimal | Unbounded | Infeasible) -> list[str]:
    """Arguments against an answer of `minimize(instance.objective)`."""
    return list(_extremum(instance, answer, -1))


def interior_objections(
    instance: Instance, answer: InteriorPoint | FlatSet | Infeasible
) -> list[str]:
    """Arguments against an answer of `interior_point()`."""
    if isinstance(answer, Infeasible):
        return list(_emptiness(instance, answer))
    if isinstance(answer, InteriorPoint):
        return list(_interior(instance, answer.point))
    return list(_flatness(instance, answer))


def _extremum(
    instance: Instance, answer: Optimal | Unbounded | Infeasible, sign: int
) -> Iterator[str]:
    if isinstance(answer, Infeasible):
        yield from _emptiness(instance, answer)
        return
    yield from _outside(instance, answer.point)
    if len(answer.point) != instance.columns:
        return
    objective = [sign * entry for entry in instance.objective]
    if isinstance(answer, Unbounded):
        yield from _ray(instance, answer.ray, objective)
        return
    if type(answer.value) is not Fraction or _dot(instance.objective, answer.point) != answer.value:
        yield f"the value at the point is not {answer.value}"
    yield from _malformed(instance, answer.multipliers)
    if _added_up(instance, answer.multipliers) != (
        [Fraction(c) for c in objective],
        sign * answer.value,
    ):
        yield "the multipliers do not add up to objective · x ≤ value"


# --- Points and rays ---------------------------------------------------------------------------


def _outside(instance: Instance, point: Vector) -> Iterator[str]:
    """Constraints that the point does not satisfy."""
    if len(point) != instance.columns or any(type(x) is not Fraction for x in point):
        yield "the point is not a vector of fractions, one for each column"
        return
    for i, (row, excess) in enumerate(zip(instance.rows, _excesses(instance, point), strict=True)):
        if excess > 0 or (row.is_equation and excess != 0):
            yield f"row {i} is not satisfied"
    for j, (x, low, up) in enumerate(zip(point, instance.lower, instance.upper, strict=True)):
        if (low is not None and x < low) or (up is not None and x > up):
            yield f"column {j} is out of its bounds"


def _excesses(instance: Instance, point: Vector) -> list[int]:
    """For each row a positive multiple of a·x - c, computed in integers."""
    common = math.lcm(*(x.denominator for x in point))
    numerators = [x.numerator * (common // x.denominator) for x in point]
    found = []
    for row in instance.rows:
        entries = [*row.coefficients, row.right]
        scale = math.lcm(*(entry.denominator for entry in entries))
        *integers, right = (entry.numerator * (scale // entry.denominator) for entry in entries)
        found.append(
            sum(a * x for a, x in zip(integers, numerators, strict=True) if a) - right * common
        )
    return found


def _ray(instance: Instance, ray: Vector, objective: Vector) -> Iterator[str]:
    if len(ray) != instance.columns or any(type(x) is not Fraction for x in ray):
        yield "the ray is not a vector of fractions, one for each column"
        return
    for i, row in enumerate(instance.rows):
        rate = _dot(row.coefficients, ray)
        if rate > 0 or (row.is_equation and rate != 0):
            yield f"the ray leaves row {i}"
    for j, (step, low, up) in enumerate(zip(ray, instance.lower, instance.upper, strict=True)):
        if (step < 0 and low is not None) or (step > 0 and up is not None):
            yield f"the ray leaves the bounds of column {j}"
    if _dot(objective, ray) <= 0:
        yield "the objective does not grow along the ray"


def _interior(instance: Instance, point: Vector) -> Iterator[str]:
    yield from _outside(instance, point)
    if len(point) != instance.columns:
        return
    span = EquationSpan(instance)
    for i, (row, excess) in enumerate(zip(instance.rows, _excesses(instance, point), strict=True)):
        if not row.is_equation and excess == 0 and not span.holds_constant(row.coefficients):
            yield f"row {i} is tight"
    for j, (x, low, up) in enumerate(zip(point, instance.lower, instance.upper, strict=True)):
        if x in (low, up) and not span.holds_constant(_unit(j, instance.columns)):
            yield f"column {j} is at a bound"


# --- Multipliers -------------------------------------------------------------------------------


def _malformed(instance: Instance, multipliers: Multipliers) -> Iterator[str]:
    for i, y in multipliers.rows.items():
        if not 0 <= i < len(instance.rows) or (y < 0 and not instance.rows[i].is_equation):
            yield f"row {i} has the multiplier {y}"
    for name, bounds, given in _both_sides(instance, multipliers):
        for j, y in given.items():
            if not 0 <= j < instance.columns or bounds[j] is None or y < 0:
                yield f"the {name} bound of column {j} has the multiplier {y}"
    if any(type(y) is not Fraction for part in _parts(multipliers) for y in part.values()):
        yield "a multiplier is not a fraction"


def _parts(multipliers: Multipliers) -> tuple[Mapping[int, Fraction], ...]:
    return multipliers.rows, multipliers.upper, multipliers.lower


def _both_sides(
    instance: Instance, multipliers: Multipliers
) -> list[tuple[str, tuple[Number | None, ...], Mapping[int, Fraction]]]:
    return [
        ("upper", instance.upper, multipliers.upper),
        ("lower", instance.lower, multipliers.lower),
    ]


def _added_up(instance: Instance, multipliers: Multipliers) -> tuple[list[Fraction], Fraction]:
    """(g, γ) as in the documentation of `Multipliers`.

    Multipliers without a constraint do not count.
    """
    normal, bound = [Fraction()] * instance.columns, Fraction()
    for i, y in multipliers.rows.items():
        if 0 <= i < len(instance.rows):
            row = instance.rows[i]
            normal = [g + y * a if a else g for g, a in zip(normal, row.coefficients, strict=True)]
            bound += y * row.right
    for sign, (_, bounds, given) in zip((1, -1), _both_sides(instance, multipliers), strict=True):
        for j, y in given.items():
            side = bounds[j] if 0 <= j < instance.columns else None
            if side is not None:
                normal[j] += sign * y
                bound += sign * y * side
    return normal, bound


def _emptiness(instance: Instance, answer: Infeasible) -> Iterator[str]:
    yield from _malformed(instance, answer.multipliers)
    yield from _not_integers(answer.multipliers)
    normal, bound = _added_up(instance, answer.multipliers)
    if any(normal) or bound >= 0:
        yield "the multipliers do not add up to 0 · x ≤ something negative"


def _flatness(instance: Instance, answer: FlatSet) -> Iterator[str]:
    yield from _outside(instance, answer.point)
    yield from _malformed(instance, answer.multipliers)
    yield from _not_integers(answer.multipliers)
    span = EquationSpan(instance)
    if not span.implies(*_added_up(instance, answer.multipliers)):
        yield "the multipliers do not add up to a consequence of the equations"
    rows = any(
        y > 0
        and not instance.rows[i].is_equation
        and not span.holds_constant(instance.rows[i].coefficients)
        for i, y in answer.multipliers.rows.items()
    )
    bounds = any(
        y > 0 and not span.holds_constant(_unit(j, instance.columns))
        for part in (answer.multipliers.upper, answer.multipliers.lower)
        for j, y in part.items()
    )
    if not rows and not bounds:
        yield "no multiplier is positive on a constraint that is not constant on the equations"


def _not_integers(multipliers: Multipliers) -> Iterator[str]:
    if any(y.denominator != 1 for part in _parts(multipliers) for y in part.values()):
        yield "the multipliers are not integers"


# --- What the equations imply ------------------------------------------------------------------


class EquationSpan:
    """The equations and the fixed columns (l = u), in echelon form."""

    def __init__(self, instance: Instance) -> None:
        # By pivot: the row [a | c] with a 1 at the pivot and 0 before it.
        self._echelon: dict[int, list[Fraction]] = {}
        for j, (low, up) in enumerate(zip(instance.lower, instance.upper, strict=True)):
            if low is not None and low == up:
                self._insert([*_unit(j, instance.columns), low])
        for row in instance.equations:
            self._insert([*row.coefficients, row.right])

    def holds_constant(self, normal: Vector) -> bool:
        """Whether normal · x is constant where the equations hold."""
        return not any(self._reduced([*normal, 0])[:-1])

    def implies(self, normal: Vector, bound: Number) -> bool:
        """Whether normal · x = bound is a combination of the equations."""
        return not any(self._reduced([*normal, bound]))

    def _insert(self, row: Vector) -> None:
        rest = self._reduced(row)
        pivot = next((j for j, entry in enumerate(rest[:-1]) if entry), None)
        if pivot is not None:
            self._echelon[pivot] = [entry / rest[pivot] for entry in rest]

    def _reduced(self, row: Vector) -> list[Fraction]:
        rest = [Fraction(entry) for entry in row]
        for pivot in sorted(self._echelon):
            if factor := rest[pivot]:
                rest = [
                    r - factor * e if e else r
                    for r, e in zip(rest, self._echelon[pivot], strict=True)
                ]
        return rest


def constant_rows(instance: Instance) -> list[bool]:
    """For each row whether it is constant where the equations and the fixed columns hold."""
    span = EquationSpan(instance)
    return [span.holds_constant(row.coefficients) for row in instance.rows]


def _unit(column: int, columns: int) -> list[int]:
    return [int(i == column) for i in range(columns)]


def _dot(left: Vector, right: Vector) -> Fraction:
    return Fraction(sum(a * b for a, b in zip(left, right, strict=True) if a and b))
