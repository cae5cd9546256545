"""From a point with a positive slack to a short rational point strictly inside.

Floats only propose; the point is checked against the integer rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from polyrelu.exact.floats import nearest_float
from polyrelu.exact.lp.basis import RationalVector
from polyrelu.exact.lp.float_filter import certain_signs
from polyrelu.exact.lp.model import Model
from polyrelu.exact.lp.results import Point

__all__ = ["floats_of", "moved_inside", "rounded", "shortened"]

_LONGEST = 1000  # bits of a rounded coordinate


def floats_of(point: RationalVector) -> list[float]:
    """The nearest floats of an exact point."""
    denominator = int(point.denominator)
    return [nearest_float(int(entry), denominator) for entry in point.numerators]


def rounded(model: Model, values: list[float]) -> Point | None:
    """The point, rounded to as few binary digits as its slack t > 0 (the last value) allows; None if that fails.

    With equations it usually fails, as it must.
    """
    *point, slack = values
    if not (all(map(math.isfinite, point)) and 0 < slack <= 2):
        return None
    if model.bounds.any():
        point, margin = _off_the_bounds(model, np.array(point), slack)
        slack = min(slack, margin)
    if not (
        slack > 0 and all(map(math.isfinite, point))
    ):  # bounds near the ends of the range of floats
        return None
    digits = max(
        0, math.frexp(2 * max(len(point), 1))[1] - math.frexp(slack)[1] + 1
    )  # 2^-digits ≤ slack / 2n
    size = math.frexp(max(map(abs, point), default=0.0))[1]
    if digits + max(0, size) > _LONGEST:
        return None
    integers = [round(math.ldexp(value, digits)) for value in point]
    if size + digits < 52:  # the rounded point is a point of floats
        signs = certain_signs(
            model.table(), [*(math.ldexp(value, -digits) for value in integers), 0.0]
        )
        if (signs < 0).all() and not any(model.rows.is_equation):
            return _within_bounds(model, integers, digits)
    return _checked(model, integers, digits)


def _off_the_bounds(
    model: Model, point: NDArray[np.float64], slack: float
) -> tuple[list[float], float]:
    """A point further inside the bounds, and a distance by which it may be moved: the rows lose at most half of t."""
    lower, upper = (bounds[:-1] for bounds in model.bounds.to_floats())
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.where(
            np.isfinite(lower),
            np.where(np.isfinite(upper), (lower + upper) / 2, np.maximum(point, lower + 1)),
            np.where(np.isfinite(upper), np.minimum(point, upper - 1), point),
        )
        step = min(0.5, slack / (4 * float(np.abs(middle - point).sum()) + 1e-300))
        inside = point + step * (middle - point)
        room = min(float((inside - lower).min()), float((upper - inside).min()))
    return inside.tolist(), room


def shortened(model: Model, point: RationalVector) -> Point | None:
    """An exact point with positive slack, rounded like `rounded`."""
    slack = point.numerators[-1]
    columns = max(len(point.numerators) - 1, 1)
    digits = max(0, (2 * columns * point.denominator // slack).bit_length())
    scaled = [
        ((entry << (digits + 1)) + point.denominator) // (2 * point.denominator)
        for entry in point.numerators
    ]
    return _checked(model, [int(entry) for entry in scaled[:-1]], digits)


def moved_inside(model: Model, point: RationalVector) -> Point:
    """An exact point with positive slack t, moved off the bounds by as much as the rows allow."""
    bounds, t = model.bounds, Fraction(int(point.numerators[-1]), int(point.denominator))
    exact = [Fraction(int(entry), int(point.denominator)) for entry in point.numerators[:-1]]
    steps = [bounds.middle(j, x) - x for j, x in enumerate(exact)]
    length = sum(abs(step) for step in steps)
    # A row loses at most (largest coefficient) · length · factor < s · t.
    factor = min(Fraction(1, 2), t / (2 * length)) if length else Fraction(0)
    return tuple(x + factor * step for x, step in zip(exact, steps, strict=True))


def _checked(model: Model, integers: list[int], digits: int) -> Point | None:
    """The point integers / 2^digits if it lies strictly inside."""
    power = 1 << digits
    rows = model.rows
    excess: list[fmpz] = rows.products([*integers, 0, -power], range(len(rows)))
    for i, value in enumerate(excess):
        if rows.is_equation[i]:
            if value != 0:
                return None
        elif value > 0 or (value == 0 and rows.entries[i][-2]):
            return None
    return _within_bounds(model, integers, digits)


def _within_bounds(model: Model, integers: list[int], digits: int) -> Point | None:
    power = 1 << digits
    point = tuple(Fraction(entry, power) for entry in integers)
    return point if model.bounds.strictly_inside(point) else None
