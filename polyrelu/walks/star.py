"""The cells of a plane around one of its points, exactly: sectors, and the rays between them.

Around a point s the forms that are not 0 there keep their sign, and the others are linear in the direction on every
cone on which the neurons before have constant signs. So, layer by layer, cones are cut by the linear forms of the
neurons that vanish at s. It starts with the four quadrants; cones next to each other with the same signs are put
together at the end (a cell is convex, and known by its signs), so that what was cut for convenience leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from polyrelu.exact import dot_sign, positive_primitive
from polyrelu.support.typing import IntegerRow, Signs
from polyrelu.walks.affine_slice import AffineSlice

__all__ = ["Ray", "Star", "star_around"]


@dataclass(frozen=True, slots=True)
class Ray:
    """A cell of dimension 1 that ends at the point: its primitive direction in plane coordinates, and its signs."""

    direction: IntegerRow
    signs: Signs


@dataclass(frozen=True, slots=True)
class Star:
    """The cells around a point, counterclockwise: ray i lies before sector i.

    Attributes
    ----------
    sectors : signs of the cells of dimension 2.
    rays : as many as sectors; none if there is one sector only.
    """

    sectors: tuple[Signs, ...]
    rays: tuple[Ray, ...]

    def rays_of(self, place: int) -> list[Ray]:
        """The rays on which a neuron vanishes next to a sector on which it does not."""
        beside = [
            (self.sectors[i - 1][place], self.sectors[i][place]) for i in range(len(self.rays))
        ]
        return [
            ray
            for ray, both in zip(self.rays, beside, strict=True)
            if ray.signs[place] == 0 and any(both)
        ]


@dataclass(frozen=True, slots=True)
class _Cone:
    """The directions between two rays, less than half a turn; signs inside; the forms that vanish at the point."""

    first: IntegerRow
    last: IntegerRow
    signs: Signs
    forms: tuple[tuple[int, IntegerRow], ...]

    def cut(self, form: IntegerRow) -> list[_Cone]:
        """The parts on both sides of the line on which a linear form vanishes."""
        one, other = (
            sum(a * r for a, r in zip(form, ray, strict=True)) for ray in (self.first, self.last)
        )
        if (one > 0) == (other > 0) or not one or not other:
            return [self]
        x, y = (abs(other) * a + abs(one) * b for a, b in zip(self.first, self.last, strict=True))
        between = positive_primitive((x, y))
        return [replace(self, last=between), replace(self, first=between)]

    def signed(self, forms: dict[int, IntegerRow]) -> _Cone:
        """The cone with the signs of the neurons of one layer; no form changes its sign inside."""
        inside = [a + b for a, b in zip(self.first, self.last, strict=True)]
        signs = self.signs.copy()
        for place, form in forms.items():
            signs[place] = dot_sign(form, inside)
        return replace(self, signs=signs, forms=(*self.forms, *forms.items()))


def star_around(part: AffineSlice, at: Signs) -> Star:
    """The cells of a plane around the point with the given signs.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])
    >>> plane = AffineSlice(net, [0, 0], [[1, 0], [0, 1]])
    >>> star = star_around(plane, plane.signs_at([0, 0]))
    >>> [(str(plane.sign_vector(signs)), ray.direction) for signs, ray in zip(star.sectors, star.rays)]
    [('++|+', (1, 0)), ('++|-', (1, 1)), ('-+|-', (0, 1)), ('--|0', (-1, 0)), ('+-|+', (0, -1))]
    """
    corners = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 0)]
    cones = [_Cone(first, last, at, ()) for first, last in pairwise(corners)]
    for layer in range(1, part.network.hidden_layers + 1):
        zeros = (np.flatnonzero(at[part.part(layer)] == 0) + part.offsets[layer - 1]).tolist()
        if zeros:
            cones = [piece for cone in cones for piece in _refined(part, cone, zeros)]
    return _merged(cones)


def _refined(part: AffineSlice, cone: _Cone, zeros: list[int]) -> list[_Cone]:
    """A cone cut by the neurons of one layer that vanish at the point."""
    rows = part.rows(cone.signs, zeros)
    forms = {place: row[:-1] for place, row in zip(zeros, rows, strict=True)}
    pieces = [cone]
    for form in forms.values():
        pieces = [piece for whole in pieces for piece in whole.cut(form)]
    return [piece.signed(forms) for piece in pieces]


def _merged(cones: list[_Cone]) -> Star:
    starts = [
        i for i, cone in enumerate(cones) if not np.array_equal(cones[i - 1].signs, cone.signs)
    ]
    if not starts:
        return Star((cones[0].signs,), ())
    rays = []
    for i in starts:
        signs = cones[i].signs.copy()
        for place, form in cones[i].forms:  # continuous, so that they hold on the border as well
            signs[place] = dot_sign(form, cones[i].first)
        rays.append(Ray(cones[i].first, signs))
    return Star(tuple(cones[i].signs for i in starts), tuple(rays))
