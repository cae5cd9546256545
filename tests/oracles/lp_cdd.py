"""Linear programs answered by cddlib in exact arithmetic (GMP).

It needs pycddlib with its module `cdd.gmp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import cdd
import cdd.gmp

from tests.generators.lp_families import Instance, Number, Row
from tests.oracles.lp_certificates import Maximum, Shape, constant_rows

__all__ = ["maximum", "program", "shape", "solve"]


def maximum(instance: Instance) -> Maximum:
    """The maximum of the objective.

    Raises ArithmeticError if cddlib gives up, which it does after many pivots.
    """
    rows = instance.without_bounds().rows
    status, value = _solved(rows, instance.objective)
    if status == cdd.LPStatusType.OPTIMAL:
        return Maximum("optimal", value)
    if status in (cdd.LPStatusType.INCONSISTENT, cdd.LPStatusType.STRUC_INCONSISTENT):
        return Maximum("infeasible")
    # What remains says that the dual program is infeasible; the primal one may be, too.
    feasible = _solved(rows, [0] * instance.columns)[0] == cdd.LPStatusType.OPTIMAL
    return Maximum("unbounded" if feasible else "infeasible")


def shape(instance: Instance) -> Shape:
    """Whether there are points strictly inside, relative to the equations; only others; or none."""
    plain = instance.without_bounds()
    inset = [
        row._replace(coefficients=(*row.coefficients, 0 if is_constant else 1))
        for row, is_constant in zip(plain.rows, constant_rows(plain), strict=True)
    ]
    slack = (*[0] * instance.columns, 1)
    status, value = _solved([*inset, Row(slack, 1)], slack)
    if status != cdd.LPStatusType.OPTIMAL:  # t ≤ 1, so the program is not unbounded
        return "empty"
    return "interior" if value > 0 else "flat" if value == 0 else "empty"


def program(rows: Sequence[Row], objective: Sequence[Number]) -> cdd.gmp.LinProg:
    """The maximisation of the objective, to be solved."""
    if not rows:  # cddlib does not take an empty matrix
        rows = [Row((0,) * len(objective), 1)]
    matrix = cdd.gmp.matrix_from_array(
        [[row.right, *(-a for a in row.coefficients)] for row in rows],
        lin_set=[i for i, row in enumerate(rows) if row.is_equation],
        rep_type=cdd.RepType.INEQUALITY,
        obj_type=cdd.LPObjType.MAX,
        obj_func=[0, *objective],
    )
    return cdd.gmp.linprog_from_matrix(matrix)


def solve(program: cdd.gmp.LinProg) -> None:
    """Let cddlib work."""
    cdd.gmp.linprog_solve(program)


def _solved(rows: Sequence[Row], objective: Sequence[Number]) -> tuple[cdd.LPStatusType, Fraction]:
    asked = program(rows, objective)
    solve(asked)
    if asked.status == cdd.LPStatusType.UNDECIDED:
        raise ArithmeticError("cddlib has given up")
    return asked.status, Fraction(asked.obj_value)
