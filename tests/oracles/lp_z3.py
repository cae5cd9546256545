"""Linear programs answered by Z3's exact simplex method, with strict inequalities of its own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import z3

from tests.generators.lp_families import Instance, Number, Row
from tests.oracles.lp_certificates import Maximum, Shape, constant_rows

__all__ = ["maximum", "problem", "shape"]


def problem(instance: Instance) -> tuple[z3.Optimize, z3.OptimizeObjective]:
    """The maximisation of the objective, to be checked, and the handle of its value."""
    variables = _variables(instance)
    optimizer = z3.Optimize()
    optimizer.add([_formula(row, variables) for row in instance.without_bounds().rows])
    return optimizer, optimizer.maximize(_sum(instance.objective, variables))


def maximum(instance: Instance) -> Maximum:
    """The maximum of the objective."""
    optimizer, goal = problem(instance)
    if optimizer.check() != z3.sat:
        return Maximum("infeasible")
    infinite, value, infinitesimal = optimizer.upper_values(goal)
    if _fraction(infinite) != 0:
        return Maximum("unbounded")
    if _fraction(infinitesimal) != 0:
        raise AssertionError("a maximum over closed constraints is attained")
    return Maximum("optimal", _fraction(value))


def shape(instance: Instance) -> Shape:
    """Whether there are points strictly inside, relative to the equations; only others; or none."""
    plain = instance.without_bounds()
    variables = _variables(instance)
    strict = [
        _formula(row, variables, not is_constant)
        for row, is_constant in zip(plain.rows, constant_rows(plain), strict=True)
    ]
    if _satisfiable(strict):
        return "interior"
    return "flat" if _satisfiable([_formula(row, variables) for row in plain.rows]) else "empty"


def _satisfiable(formulas: list[z3.BoolRef]) -> bool:
    solver = z3.Solver()
    solver.add(formulas)
    return bool(solver.check() == z3.sat)


def _variables(instance: Instance) -> list[z3.ArithRef]:
    return [z3.Real(f"x{j}") for j in range(instance.columns)]


def _formula(row: Row, variables: list[z3.ArithRef], is_strict: bool = False) -> z3.BoolRef:
    left, right = _sum(row.coefficients, variables), z3.RealVal(str(row.right))
    if row.is_equation:
        return left == right
    return left < right if is_strict else left <= right


def _sum(coefficients: Sequence[Number], variables: list[z3.ArithRef]) -> z3.ArithRef:
    terms = [z3.RealVal(str(a)) * x for a, x in zip(coefficients, variables, strict=True) if a]
    return z3.Sum([z3.RealVal(0), *terms])


def _fraction(value: z3.RatNumRef) -> Fraction:
    return (
        Fraction(value.as_fraction())
        if isinstance(value, z3.RatNumRef)
        else Fraction(value.as_long())
    )
