"""The line that a walk follows through a cell, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.exact import dot_sign, nearest_float
from polyrelu.support.typing import Floats, IntegerRow, Point, Signs
from polyrelu.walks.affine_slice import AffineSlice

__all__ = ["CellOnLine", "ExactLine", "floats_of"]


@dataclass(frozen=True, slots=True)
class CellOnLine:
    """A cell, the line that a walk follows through it, and which way on the line is ahead.

    Attributes
    ----------
    signs
        The signs on the cell, a flat array of shape (num_neurons,).
    carrier
        The place of the carrier, whose form vanishes on the line and is not constant; None for
        k = 1.
    back
        The place of a neuron that is not 0 on the cell and vanishes at its back end; None if no
        such neuron is known.
    ray
        A direction that points ahead, k integers. It can be None if `back` is known.
    """

    signs: Signs
    carrier: int | None
    back: int | None
    ray: IntegerRow | None

    def exact_line(self, affine_slice: AffineSlice) -> ExactLine:
        """Return the exact line, whose heading points ahead."""
        if self.carrier is None:
            return ExactLine((0,), 1, (1,))
        (row,) = affine_slice.rows(self.signs, [self.carrier])
        a, b, c = row
        heading = (-b, a)
        if self.ray is not None:
            ahead = dot_sign(heading, self.ray)
        else:
            assert self.back is not None
            (back_row,) = affine_slice.rows(self.signs, [self.back])
            ahead = dot_sign(heading, back_row[:-1]) * int(self.signs[self.back])
        return ExactLine((-c * a, -c * b), a * a + b * b, (ahead * heading[0], ahead * heading[1]))


@dataclass(frozen=True, slots=True)
class ExactLine:
    """A line as the set of its points origin / weight + τ heading, with a parameter τ.

    Attributes
    ----------
    origin
        An integer vector, k entries.
    weight
        A positive integer.
    heading
        The integer direction, k entries.
    """

    origin: IntegerRow
    weight: int
    heading: IntegerRow

    def zero_of(self, row: IntegerRow) -> Fraction:
        """Return the parameter τ of the zero of a form [a | b] that is not constant on the line."""
        slope = sum(a * r for a, r in zip(row[:-1], self.heading, strict=True))
        value = sum(a * p for a, p in zip(row, (*self.origin, self.weight), strict=True))
        return Fraction(-value, slope * self.weight)

    def point_at(self, tau: Fraction) -> Point:
        """Return the point with parameter τ."""
        return tuple(
            Fraction(p, self.weight) + tau * r
            for p, r in zip(self.origin, self.heading, strict=True)
        )

    def tau_at(self, coordinate: int, value: float) -> Fraction:
        """Return the parameter τ of the point with a given value of one coordinate."""
        return (Fraction(value) - Fraction(self.origin[coordinate], self.weight)) / self.heading[
            coordinate
        ]


def floats_of(numbers: Point | IntegerRow) -> Floats:
    """Return the nearest floats of exact numbers."""
    return np.array(
        [nearest_float(number.numerator, number.denominator) for number in numbers],
        dtype=np.float64,
    )
