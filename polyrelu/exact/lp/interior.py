"""Short rational points strictly inside, from a point whose slack t is positive.

A slack t > 0 leaves room to round the coordinates to few binary digits, which keeps later
computations with the point fast. Floats propose the point, and the integer rows decide whether it
lies inside.
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

__all__ = ["float_point", "point_off_bounds", "rounded_point", "shortened_point"]

#: Maximum number of bits of a rounded coordinate.
_COORDINATE_BITS = 1000


def float_point(point: RationalVector) -> list[float]:
    """Return the nearest floats of the coordinates of an exact point."""
    denominator = int(point.denominator)
    return [nearest_float(int(entry), denominator) for entry in point.numerators]


def rounded_point(model: Model, values: list[float]) -> Point | None:
    """Round a float point to as few binary digits as its slack allows.

    Parameters
    ----------
    model
        The constraints.
    values
        Floats x and t, the slack t > 0 last.

    Returns
    -------
    Point or None
        A point strictly inside; None if the rounded point is not, as is usual with equations.
    """
    *point, slack = values
    if not (all(map(math.isfinite, point)) and 0 < slack <= 2):
        return None
    if model.bounds.has_bounds():
        point, margin = _moved_off_bounds(model, np.array(point), slack)
        slack = min(slack, margin)
    # Bounds near the ends of the range of floats can leave no slack, or overflow.
    if not (slack > 0 and all(map(math.isfinite, point))):
        return None
    # Rounding moves the point by at most 2^-digits ≤ slack / 2n in each of its n coordinates.
    digits = max(0, math.frexp(2 * max(len(point), 1))[1] - math.frexp(slack)[1] + 1)
    size = math.frexp(max(map(abs, point), default=0.0))[1]
    if digits + max(0, size) > _COORDINATE_BITS:
        return None
    integers = [round(math.ldexp(value, digits)) for value in point]
    if size + digits < 52:  # the rounded coordinates are floats
        signs = certain_signs(
            model.table(), [*(math.ldexp(value, -digits) for value in integers), 0.0]
        )
        if (signs < 0).all() and not any(model.rows.is_equation):
            return _within_bounds(model, integers, digits)
    return _checked(model, integers, digits)


def _moved_off_bounds(
    model: Model, point: NDArray[np.float64], slack: float
) -> tuple[list[float], float]:
    """Return a point further inside the bounds, and its least distance from them.

    The step is so short that the rows lose at most half of the slack t.
    """
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


def shortened_point(model: Model, point: RationalVector) -> Point | None:
    """Round an exact point with positive slack as `rounded_point` does; None if that fails."""
    slack = point.numerators[-1]
    columns = max(len(point.numerators) - 1, 1)
    digits = max(0, (2 * columns * point.denominator // slack).bit_length())
    scaled = [
        ((entry << (digits + 1)) + point.denominator) // (2 * point.denominator)
        for entry in point.numerators
    ]
    return _checked(model, [int(entry) for entry in scaled[:-1]], digits)


def point_off_bounds(model: Model, point: RationalVector) -> Point:
    """Move an exact point with positive slack t off the bounds, as far as the rows allow."""
    bounds, t = model.bounds, Fraction(int(point.numerators[-1]), int(point.denominator))
    exact = [Fraction(int(entry), int(point.denominator)) for entry in point.numerators[:-1]]
    steps = [bounds.middle(j, x) - x for j, x in enumerate(exact)]
    length = sum(abs(step) for step in steps)
    # The left side of a row grows by at most (largest coefficient) · length · factor < s · t.
    factor = min(Fraction(1, 2), t / (2 * length)) if length else Fraction(0)
    return tuple(x + factor * step for x, step in zip(exact, steps, strict=True))


def _checked(model: Model, integers: list[int], digits: int) -> Point | None:
    """Return the point integers / 2^digits if rows and bounds hold strictly, else None."""
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
    """Return the point integers / 2^digits if it lies strictly inside the bounds, else None."""
    power = 1 << digits
    point = tuple(Fraction(entry, power) for entry in integers)
    return point if model.bounds.is_strictly_inside(point) else None
