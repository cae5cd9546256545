"""Affine lower bounds of forms that contain atoms, by linear relaxation.

The bounds prove signs of neurons without splits, both on the box of a domain (`bounds`) and on the
polyhedron of a node (`search`). A certificate records the slopes, so the order in which atoms are
replaced and the formula of the offset below must agree with FORMAT.md §5. Any slopes in [0, 1] give
a valid bound; better ones give a tighter bound.

On a polyhedron where the form h of an atom lies between l and u, and for any s in [0, 1],

    s·h ≤ max(h, 0)   and   max(h, 0) ≤ s·h + max(-s·l, (1 - s)·u).

The second inequality holds because max(h, 0) - s·h is convex in h and so has its largest value at
an end of [l, u]. The atoms of a form are replaced one by one, the latest first, by the side that
the sign of their coefficient requires; an affine form below the given one is left. In floating
point this backward pass is known as CROWN (Zhang, Weng, Chen, Hsieh, Daniel 2018, arXiv 1811.00866)
or DeepPoly (Singh, Gehr, Püschel, Vechev 2019, DOI 10.1145/3290354).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from polyrelu.exact.form_bounds import SETTINGS, FormBounds, RelaxationSlopes
from polyrelu.proofs.trees.sparse_forms import SparseForm
from polyrelu.support.typing import Floats

__all__ = ["AffineLowerBound", "affine_lower_bound", "chosen_slopes"]


def chosen_slopes(bottom: Floats, top: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper slopes for atoms whose forms run from bottom to top.

    The lower slope is 0 or 1, whichever cuts off the smaller triangle. The upper slope is near the
    slope of the chord from (bottom, 0) to (top, top). Both are 1 or both are 0 where the form has
    one sign. All slopes are multiples of 1/16. The ends may be estimates: any slopes are valid.

    >>> chosen_slopes(np.array([-1.0, 0.0]), np.array([3.0, 2.0]))
    (array([1., 1.]), array([0.75, 1.  ]))
    """
    length = np.maximum(top - bottom, np.finfo(np.float64).tiny)
    steps = SETTINGS.slope_steps
    chord = np.clip(np.round(steps * top / length) / steps, 0, 1)
    stable = (bottom >= 0) | (top <= 0)
    lower = np.where(stable, bottom >= 0, top > -bottom).astype(np.float64)
    return lower, np.where(stable, bottom >= 0, chord)


class AffineLowerBound(NamedTuple):
    """An affine form below another form.

    Attributes
    ----------
    coefficients
        The coefficients of 1 and of the coordinates that occur, by column.
    slopes
        The slopes that were used and are not 0, by the symbol of the atom.
    """

    coefficients: dict[int, Fraction]
    slopes: dict[int, Fraction]


def affine_lower_bound(
    form: SparseForm,
    sign: int,
    forms: Mapping[int, SparseForm],
    dimension: int,
    bounds: Mapping[int, FormBounds],
    slopes: Mapping[int, RelaxationSlopes],
) -> AffineLowerBound | None:
    """Return an affine form below sign · form, or None if an atom lacks a bound that is needed.

    Parameters
    ----------
    form
        A form over 1, the coordinates and atoms.
    sign
        1 or -1.
    forms
        The forms of the atoms, by symbol.
    dimension
        The number of coordinates.
    bounds
        Bounds of the atoms' forms, by symbol; nothing is known of other atoms.
    slopes
        The slopes of the atoms, by symbol; other atoms have the slopes 0.

    Examples
    --------
    >>> bounds = {2: FormBounds(Fraction(-1), Fraction(1))}
    >>> slopes = {2: RelaxationSlopes(Fraction(0), Fraction(1, 2))}
    >>> atoms = {2: SparseForm((1,), (1,))}
    >>> below = affine_lower_bound(SparseForm((0, 2), (3, -1)), 1, atoms, 1, bounds, slopes)
    >>> below.coefficients  # 3 - max(y, 0)
    {0: Fraction(5, 2), 1: Fraction(-1, 2)}
    """
    left = {column: Fraction(sign * entry) for column, entry in zip(*form, strict=True)}
    taken: dict[int, Fraction] = {}
    # a heap of negated symbols, so that the latest atom is replaced first
    waiting = [-column for column in reversed(form.columns) if column > dimension]
    while waiting:
        symbol = -heapq.heappop(waiting)
        factor = left.pop(symbol)
        if not factor:
            continue
        chosen, known = slopes.get(symbol, _ZERO_SLOPES), bounds.get(symbol, _NO_BOUNDS)
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
    return AffineLowerBound({column: value for column, value in left.items() if value}, taken)


_NO_BOUNDS, _ZERO_SLOPES = FormBounds(), RelaxationSlopes(Fraction(0), Fraction(0))


def _offset(known: FormBounds, slope: Fraction) -> Fraction:
    """Return the least number known to be at least max(h, 0) - slope · h."""
    lower, upper = known.lower or Fraction(0), known.upper or Fraction(0)
    return max((1 - slope) * upper, -slope * lower, Fraction(0))
