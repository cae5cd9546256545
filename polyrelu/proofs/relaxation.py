"""Affine bounds of forms that contain atoms, by linear relaxation.

On a polyhedron where an atom's form h is known to lie between l and u, and for any s in [0, 1],

    s·h ≤ max(h, 0)   and   max(h, 0) ≤ s·h + max(-s·l, (1 - s)·u),

the second because max(h, 0) - s·h is convex in h, with its largest value at an end. Replacing the atoms of a form one by
one, the latest first, by the side that their coefficient asks for gives an affine form below it. Slopes s are chosen
freely; whatever they are, the bound is valid. (In floating point this is the backward pass known as CROWN or DeepPoly.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.symmetry.forms import Row

__all__ = ["Bounds", "Relaxed", "affine_below"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """lower ≤ form ≤ upper on a polyhedron; None where nothing is known."""

    lower: Fraction | None = None
    upper: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Relaxed:
    """An affine form below another form.

    Attributes
    ----------
    coefficients : of 1 and the coordinates that occur, by column.
    slopes : the slopes that are not 0, by the symbol of the atom.
    """

    coefficients: dict[int, Fraction]
    slopes: dict[int, Fraction]


def affine_below(
    form: Row, sign: int, forms: Mapping[int, Row], dimension: int, bounds: Mapping[int, Bounds]
) -> Relaxed | None:
    """An affine form below sign · form; None if an atom would need an upper bound that is not known.

    Parameters
    ----------
    form : over 1, the coordinates and atoms.
    forms, bounds : of the atoms, by symbol.
    dimension : the number of coordinates.

    >>> below = affine_below(Row((0, 2), (3, -1)), 1, {2: Row((1,), (1,))}, 1, {2: Bounds(Fraction(-1), Fraction(1))})
    >>> below.coefficients  # 3 - max(y, 0)
    {0: Fraction(5, 2), 1: Fraction(-1, 2)}
    """
    left = {column: Fraction(sign * entry) for column, entry in zip(*form, strict=True)}
    slopes: dict[int, Fraction] = {}
    first = 1 + dimension
    while (symbol := max(left, default=0)) >= first:
        factor = left.pop(symbol)
        if not factor:
            continue
        known = bounds.get(symbol, _UNKNOWN)
        if factor > 0:
            slope = _lower_slope(known)
        else:
            if known.upper is None:
                return None
            slope = _upper_slope(known)
            left[0] = left.get(0, Fraction()) + factor * _offset(known, slope)
        if slope:
            slopes[symbol] = slope
            for column, entry in zip(*forms[symbol], strict=True):
                left[column] = left.get(column, Fraction()) + factor * slope * entry
    return Relaxed({column: value for column, value in left.items() if value}, slopes)


_UNKNOWN = Bounds()
#: Slopes are multiples of 1/16, to keep numbers short.
_STEPS = 16


def _lower_slope(known: Bounds) -> Fraction:
    """0 or 1, whichever cuts off the smaller triangle."""
    if known.lower is None or known.upper is None:
        return Fraction()
    return Fraction(int(known.upper > -known.lower))


def _upper_slope(known: Bounds) -> Fraction:
    """The slope of the chord from (l, 0) to (u, u), nearly."""
    if known.lower is None or known.upper is None:
        return Fraction()
    return Fraction(round(_STEPS * known.upper / (known.upper - known.lower)), _STEPS)


def _offset(known: Bounds, slope: Fraction) -> Fraction:
    upper = (1 - slope) * (known.upper or 0)
    return max(upper, -slope * known.lower) if slope and known.lower is not None else max(upper, Fraction())
