"""Boxes that a side of the domain cuts off: they need no bound, only a multiple of that side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.certificate import BoundsNode
from polyrelu.proofs.deviation.affine_values import largest_value
from polyrelu.proofs.deviation.problem import ExactPoint, Problem
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule

__all__ = ["outside_node"]


def outside_node(
    problem: Problem,
    rule: RoundedRule,
    leaf: RoundedLeaf,
    box: tuple[ExactPoint, ExactPoint],
    bounds: Sequence[Fraction],
    limits: Sequence[Fraction],
) -> BoundsNode | None:
    """Return the leaf of a box on which an inequality of the domain fails, None if all hold.

    There is a bound for each row, and a limit for each clause.
    """
    if problem.is_box:
        return None
    number = next((n for n, row in enumerate(rule.slacks) if largest_value(row, *box) < 0), None)
    if number is None:
        return None
    largest = largest_value(rule.slacks[number], *box)
    listed = []
    for clause, limit in enumerate(limits):
        row = problem.clauses[clause][0]
        multiple = 2 * max(Fraction(0), bounds[row] - limit) / -largest + 1
        if leaf.upper_bound(problem.rows[row], {number: multiple}) >= limit:
            return None  # the side is too close for the grid
        listed.append((clause, 0, {number: multiple}))
    return BoundsNode("bounded", multiples=listed)
