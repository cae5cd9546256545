"""Affine bounds of forms that contain atoms, by linear relaxation.

On a polyhedron where an atom's form h is known to lie between l and u, and for any s in [0, 1],

    s·h ≤ max(h, 0)   and   max(h, 0) ≤ s·h + max(-s·l, (1 - s)·u),

the second because max(h, 0) - s·h is convex in h, with its largest value at an end. Replacing the atoms of a form one
by one, the latest first, by the side that their coefficient asks for gives an affine form below it. Slopes s are chosen
freely; whatever they are, the bound is valid. (In floating point this backward pass is known as CROWN or DeepPoly.)
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from polyrelu.exact.form_bounds import FormBounds, RelaxationSlopes
from polyrelu.proofs.trees.sparse_forms import SparseForm
from polyrelu.support.typing import Floats

__all__ = ["Relaxed", "chosen_slopes", "relaxed"]


#: Slopes are multiples of 1/16, to keep numbers short.
_STEPS = 16


def chosen_slopes(bottom: Floats, top: Floats) -> tuple[Floats, Floats]:
    """The slopes below and above atoms whose forms are thought to run from bottom to top, multiples of 1/16.

    Below 0 or 1, whichever cuts off the smaller triangle; above the chord from (bottom, 0) to (top, top), nearly; both
    1 or both 0 where the form has one sign.

    >>> chosen_slopes(np.array([-1.0, 0.0]), np.array([3.0, 2.0]))
    (array([1., 1.]), array([0.75, 1.  ]))
    """
    chord = np.clip(
        np.round(_STEPS * top / np.maximum(top - bottom, np.finfo(np.float64).tiny)) / _STEPS, 0, 1
    )
    stable = (bottom >= 0) | (top <= 0)
    return np.where(stable, bottom >= 0, top > -bottom).astype(np.float64), np.where(
        stable, bottom >= 0, chord
    )


class Relaxed(NamedTuple):
    """An affine form below another form.

    Attributes
    ----------
    coefficients : of 1 and the coordinates that occur, by column.
    slopes : the slopes that are not 0, by the symbol of the atom.
    """

    coefficients: dict[int, Fraction]
    slopes: dict[int, Fraction]


def relaxed(
    form: SparseForm,
    sign: int,
    forms: Mapping[int, SparseForm],
    dimension: int,
    bounds: Mapping[int, FormBounds],
    slopes: Mapping[int, RelaxationSlopes],
) -> Relaxed | None:
    """An affine form below sign · form; None if an atom would need an upper bound that is not known.

    Parameters
    ----------
    form : over 1, the coordinates and atoms.
    dimension : the number of coordinates.
    forms, bounds, slopes : of the atoms, by symbol; slopes are 0 where none are given.

    >>> bounds, slopes = {2: FormBounds(Fraction(-1), Fraction(1))}, {2: RelaxationSlopes(Fraction(0), Fraction(1, 2))}
    >>> below = relaxed(SparseForm((0, 2), (3, -1)), 1, {2: SparseForm((1,), (1,))}, 1, bounds, slopes)
    >>> below.coefficients  # 3 - max(y, 0)
    {0: Fraction(5, 2), 1: Fraction(-1, 2)}
    """
    left = {column: Fraction(sign * entry) for column, entry in zip(*form, strict=True)}
    taken: dict[int, Fraction] = {}
    waiting = [
        -column for column in reversed(form.columns) if column > dimension
    ]  # a heap, the latest first
    while waiting:
        symbol = -heapq.heappop(waiting)
        factor = left.pop(symbol)
        if not factor:
            continue
        chosen, known = slopes.get(symbol, _FLAT), bounds.get(symbol, _UNKNOWN)
        slope = chosen.lower if factor > 0 else chosen.upper
        if factor < 0:
            if known.upper is None or (slope and known.lower is None):
                return None
            left[0] = left.get(0, Fraction()) + factor * _offset(known, slope)
        if slope:
            taken[symbol] = slope
            for column, entry in zip(*forms[symbol], strict=True):
                if column > dimension and column not in left:
                    heapq.heappush(waiting, -column)
                left[column] = left.get(column, Fraction()) + factor * slope * entry
    return Relaxed({column: value for column, value in left.items() if value}, taken)


_UNKNOWN, _FLAT = FormBounds(), RelaxationSlopes(Fraction(0), Fraction(0))


def _offset(known: FormBounds, slope: Fraction) -> Fraction:
    """How far the upper side of a slope lies above slope · form."""
    lower, upper = known.lower or Fraction(0), known.upper or Fraction(0)
    return max((1 - slope) * upper, -slope * lower, Fraction(0))
