"""Planes with few digits that meet ridges near given points, three ridges a plane.

A point of a ridge that floats found is rounded; a plane through three rounded points still meets
the three ridges nearby. Whether it does is decided here in floats, and exactly before a ridge goes
into a certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from polyrelu.proofs.deep.orthant import Orthant
from polyrelu.proofs.deep.planes import Plane
from polyrelu.proofs.deep.sight import Judge, RidgePoint
from polyrelu.support.typing import Floats, Indices

__all__ = ["PlaneOfRidges", "plane_of_corners", "planes_of_ridges", "rounded_corners"]


@dataclass(frozen=True, slots=True)
class PlaneSettings:
    """How planes are laid.

    Attributes
    ----------
    digits
        Binary digits of the coordinates that are tried, one number after the other.
    per_plane
        Number of ridges that a plane is laid through, at most three.
    passes
        Number of times that planes are laid through what was missed.
    tries
        Number of times that the signs at a point are replaced.
    least_share
        Preactivations below this share of the largest one are too near to 0.
    """

    digits: tuple[int, ...] = (10, 12, 15, 19, 25, 32)
    per_plane: int = 3
    passes: int = 3
    tries: int = 6
    least_share: float = 1e-8


SETTINGS = PlaneSettings()


@dataclass(frozen=True, slots=True, eq=False)
class PlaneOfRidges:
    """A plane, and for each ridge that it meets a point of it and the coordinates (s, t)."""

    plane: Plane
    ridges: list[tuple[RidgePoint, tuple[float, float]]]


def planes_of_ridges(
    orthant: Orthant, points: Sequence[RidgePoint], judge: Judge
) -> Iterator[PlaneOfRidges]:
    """Yield planes that meet ridges; a ridge that no plane is found for is left out.

    Parameters
    ----------
    orthant
        The coordinates of the points.
    points
        Points of ridges. If not all signs matter at a point, another ridge may take its place, at
        which the needed neurons are active.
    judge
        Decides which ridges are good.
    """
    inputs = orthant.inputs(np.array([point.point for point in points])) if points else np.empty(0)
    left = list(range(len(points)))
    for _ in range(SETTINGS.passes):
        missed = list[int]()
        for start in range(0, len(left), SETTINGS.per_plane):
            wanted = left[start : start + SETTINGS.per_plane]
            others = [(wanted[-1] + k) % len(points) for k in range(1, 4 - len(wanted))]
            best = PlaneOfRidges(Plane((), ((), ())), [])
            places = list[int]()
            for digits in SETTINGS.digits:
                corners, exponent = rounded_corners(inputs[[*wanted, *others]], digits)
                met = _met(orthant, corners, exponent, [points[i] for i in wanted])
                is_good = judge([point for point, _ in met.values()])
                good = [place for place, yes in zip(met, is_good, strict=True) if yes]
                if len(good) > len(places):
                    ridges, places = [met[place] for place in good], good
                    best = PlaneOfRidges(plane_of_corners(corners, exponent), ridges)
                if len(good) == len(wanted):
                    break
            missed += [i for place, i in enumerate(wanted) if place not in places]
            if places:
                yield best
        left = missed


def rounded_corners(corners: Floats, digits: int) -> tuple[Indices, int]:
    """Return three points rounded to integers times a power of 2, and its exponent."""
    exponent = int(np.frexp(np.abs(corners).max())[1]) - digits
    return np.rint(np.ldexp(corners, -exponent)).astype(np.int64), exponent


def plane_of_corners(corners: Indices, exponent: int) -> Plane:
    """Return the plane through three points."""
    unit, zero, first = Fraction(2) ** exponent, Fraction(0), corners[0].tolist()
    one, other = ((corner - corners[0]).tolist() for corner in corners[1:])
    return Plane(tuple(x * unit if x else zero for x in first), (tuple(one), tuple(other)))


def _met(
    orthant: Orthant, corners: Indices, exponent: int, points: Sequence[RidgePoint]
) -> dict[int, tuple[RidgePoint, tuple[float, float]]]:
    """Return the ridges that the plane of three points meets, in floats, with (s, t).

    The keys are the places of the points. Where not all signs matter, the signs at the point that
    is met replace the given ones.
    """
    unit = float(np.ldexp(1.0, exponent))
    vectors = np.array([unit * corners[0], *(corners[1:] - corners[0])], dtype=np.float64)
    found, left = dict[int, tuple[RidgePoint, tuple[float, float]]](), dict(enumerate(points))
    for _ in range(SETTINGS.tries):
        forms = orthant.forms(vectors, np.array([point.active for point in left.values()]))
        again = dict[int, RidgePoint]()
        for (place, point), on_plane in zip(left.items(), forms, strict=True):
            zeros = [orthant.number(*neuron) for neuron in point.neurons]
            at = _zero(on_plane[:, zeros], unit)
            if at is None:
                continue
            values = on_plane[0] + at[0] * on_plane[1] + at[1] * on_plane[2]
            values[zeros] = 0.0
            is_near = np.abs(values) <= SETTINGS.least_share * np.abs(values).max()
            active = values > 0
            if np.array_equal(active, point.active):
                if np.count_nonzero(is_near) == len(zeros):
                    found[place] = point, at
            elif point.needed is not None and not (point.needed & ~active).any():
                again[place] = replace(point, active=active)
        left = again
        if not left:
            break
    return found


def _zero(forms: Floats, unit: float) -> tuple[float, float] | None:
    """Return the common zero of two forms on a plane; None if there is not exactly one."""
    constant, *slopes = forms
    matrix = unit * np.stack(slopes, axis=1)
    if abs(np.linalg.det(matrix)) < np.finfo(np.float64).tiny:
        return None
    s, t = (unit * np.linalg.solve(matrix, -constant)).tolist()
    return s, t
