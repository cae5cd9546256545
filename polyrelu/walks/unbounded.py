"""Cells that are unbounded ahead of a walk, decided mostly in floats.

No neuron vanishes ahead on a line if the form of every neuron that is not 0 on the cell is constant
there or grows in absolute value. The bounds of `float_forms` decide most slopes. A form is constant
if its row of C is, and all forms of the active neurons that it reads are; this is known layer by
layer. The few slopes that remain are computed exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import dot_sign
from polyrelu.support.typing import Floats
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.exact_line import CellOnLine
from polyrelu.walks.float_forms import LocalForms
from polyrelu.walks.float_weights import SLACK, UNDERFLOW, UNIT_ROUNDOFF

__all__ = ["UnboundedCell"]

#: Factor of what is rounded in a slope: two products and their sum, doubled.
_ROUNDING = 6 * UNIT_ROUNDOFF
#: Maximum number of slopes of a layer that are computed exactly.
_MOST_EXACT = 8


class UnboundedCell:
    """Decides whether a cell is unbounded ahead.

    Attributes
    ----------
    is_certain
        Whether it is certain that no neuron vanishes on the line ahead.
    is_exact
        Whether exact arithmetic was needed.
    """

    def __init__(self, affine_slice: AffineSlice, forms: LocalForms, cell: CellOnLine) -> None:
        self._slice, self._cell, self.is_exact = affine_slice, cell, False
        with np.errstate(all="ignore"):
            grows = _growing(forms, cell)
        self.is_certain = grows is not None and self._are_decided(grows)

    def _are_decided(self, grows: NDArray[np.bool_]) -> bool:
        """Return whether all forms that do not certainly grow are constant, or grow exactly."""
        signs = self._cell.signs
        undecided = (signs != 0) & ~grows
        if not undecided.any():
            return True
        constant = np.zeros(len(signs), dtype=bool)
        for number in range(1, len(self._slice.offsets)):
            places = self._slice.layer_slice(number)
            constant[places] = self._reads_constants_only(number, constant)
            left = np.flatnonzero(undecided[places] & ~constant[places]) + places.start
            if len(left) > _MOST_EXACT:
                return False
            for place in left.tolist():
                slope = self._exact_slope(place)
                if slope * int(signs[place]) < 0:
                    return False
                constant[place] = slope == 0
        return True

    def _reads_constants_only(self, number: int, constant: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which forms of a layer are constant because all that they read is."""
        layer = self._slice.layers[number - 1]
        for block in layer.blocks:
            places = self._slice.layer_slice(block.source)
            if ((self._cell.signs[places] > 0) & ~constant[places]).any():
                return np.zeros(layer.constant.nrows, dtype=bool)
        return np.asarray(~layer.constant.signs()[:, :-1].any(axis=1))

    def _exact_slope(self, place: int) -> int:
        """Return the sign of the exact slope of a form in the direction ahead."""
        self.is_exact = True
        (row,) = self._slice.rows(self._cell.signs, [place])
        return dot_sign(row[:-1], self._cell.exact_line(self._slice).heading)


def _growing(forms: LocalForms, cell: CellOnLine) -> NDArray[np.bool_] | None:
    """Return which forms certainly grow in absolute value; None if the heading is not certain."""
    heading = _heading(forms, cell)
    if heading is None:
        return None
    slopes, bounds = _slopes(forms, *heading)
    return (slopes * cell.signs > bounds * SLACK + UNDERFLOW) & np.isfinite(slopes)


def _heading(forms: LocalForms, cell: CellOnLine) -> tuple[Floats, Floats] | None:
    """Return the direction ahead and its errors, shape (k,); None if the bounds leave it open."""
    if cell.carrier is None:
        return np.ones(1), np.zeros(1)
    row, errors = forms.columns[:2, cell.carrier], forms.errors[:2, cell.carrier]
    heading, off = np.array([-row[1], row[0]]), np.array([errors[1], errors[0]])
    if cell.ray is not None:
        x, y = cell.ray
        size = max(abs(x), abs(y))
        ray = np.array([x / size, y / size])
        ahead, bound = heading @ ray, (off + 4 * UNIT_ROUNDOFF * np.abs(heading)) @ np.abs(ray)
        ahead, bound = float(ahead), float(bound) + UNDERFLOW * float(np.abs(heading).sum())
    else:
        assert cell.back is not None
        slopes, bounds = _slopes(forms, heading, off)
        ahead = float(slopes[cell.back] * cell.signs[cell.back])
        bound = float(bounds[cell.back])
    if not (abs(ahead) > bound * SLACK + UNDERFLOW and np.isfinite(ahead)):
        return None
    return (heading if ahead > 0 else -heading), off


def _slopes(forms: LocalForms, heading: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Return the slopes of all forms in a direction with errors, and bounds on their errors."""
    slopes, bounds = np.zeros(forms.columns.shape[1]), np.zeros(forms.columns.shape[1])
    for c in range(len(heading)):
        sizes, errors = np.abs(forms.columns[c]), forms.errors[c]
        slopes += forms.columns[c] * heading[c]
        of_heading = abs(heading[c])
        bounds += sizes * (off[c] + _ROUNDING * of_heading) + errors * (of_heading + off[c])
    return slopes, bounds
