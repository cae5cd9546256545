"""Linear programs answered by PPL: its exact simplex method and, for small ones, its polyhedra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tests.generators.lp_families import Instance, Number
from tests.oracles.lp_certificates import Maximum, Shape, constant_rows
from tests.oracles.parma import C_Polyhedron, Constraint, Linear_Expression, MIP_Problem

__all__ = ["dimensions", "maximum", "polyhedron", "problem", "shape", "shape_by_dimension"]


def problem(instance: Instance) -> MIP_Problem:
    """The maximisation of the objective, to be solved."""
    found = MIP_Problem(instance.columns)
    for constraint in _constraints(instance):
        found.add_constraint(constraint)
    found.set_objective_function(_expression([*instance.objective, 0])[0])
    return found


def maximum(instance: Instance) -> Maximum:
    """The maximum of the objective."""
    asked = problem(instance)
    status = asked.solve()["status"]
    if status != "optimized":
        return Maximum("unbounded" if status == "unbounded" else "infeasible")
    value, (_, scale) = asked.optimal_value(), _expression([*instance.objective, 0])
    return Maximum("optimal", Fraction(int(value.numerator), int(value.denominator)) / scale)


def shape(instance: Instance) -> Shape:
    """Whether there are points strictly inside, relative to the equations; only others; or none.

    It depends on the largest t ≤ 1 that fits as a slack into every constraint that is not constant
    on the equations.
    """
    asked = MIP_Problem(instance.columns + 1)
    for constraint in _inset(instance):
        asked.add_constraint(constraint)
    asked.set_objective_function(_expression([*[0] * instance.columns, 1, 0])[0])
    if asked.solve()["status"] == "unfeasible":
        return "empty"
    value = asked.optimal_value()
    return "interior" if value > 0 else "flat" if value == 0 else "empty"


def _inset(instance: Instance) -> list[Constraint]:
    """a·x + t ≤ c, or a·x ≤ c where that is constant, equations, and t ≤ 1."""
    plain, found = instance.without_bounds(), []
    for row, is_constant in zip(plain.rows, constant_rows(plain), strict=True):
        t = 0 if is_constant else 1
        found.append(_constraint([*row.coefficients, t], row.right, row.is_equation))
    return [*found, _constraint([*[0] * instance.columns, 1], 1, False)]


def shape_by_dimension(instance: Instance) -> Shape:
    """The shape by counting dimensions, without a notion of constant rows; for small instances."""
    found, hull = dimensions(instance)
    return "empty" if found < 0 else "interior" if found == hull else "flat"


def dimensions(instance: Instance) -> tuple[int, int]:
    """Dimensions of the feasible set and of the equations' solutions, -1 if empty."""
    sets = (
        _constraints(instance),
        [_constraint(*row) for row in instance.without_bounds().equations],
    )
    first, second = (_dimension(instance.columns, constraints) for constraints in sets)
    return first, second


def polyhedron(instance: Instance) -> C_Polyhedron:
    """The feasible set; PPL works when it is asked something."""
    return _polyhedron(instance.columns, _constraints(instance))


def _dimension(columns: int, constraints: list[Constraint]) -> int:
    found = _polyhedron(columns, constraints)
    return -1 if found.is_empty() else int(found.affine_dimension())


def _polyhedron(columns: int, constraints: list[Constraint]) -> C_Polyhedron:
    found = C_Polyhedron(columns, "universe")
    for constraint in constraints:
        found.add_constraint(constraint)
    return found


def _constraints(instance: Instance) -> list[Constraint]:
    return [_constraint(*row) for row in instance.without_bounds().rows]


def _constraint(coefficients: Sequence[Number], right: Number, is_equation: bool) -> Constraint:
    expression, _ = _expression([*(-a for a in coefficients), right])
    return expression == 0 if is_equation else expression >= 0


def _expression(entries: Sequence[Number]) -> tuple[Linear_Expression, int]:
    """Coefficients and constant as an integer expression, and the positive factor."""
    scale = math.lcm(*(entry.denominator for entry in entries))
    *coefficients, constant = (entry.numerator * (scale // entry.denominator) for entry in entries)
    return Linear_Expression(coefficients, constant), scale
