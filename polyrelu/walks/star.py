"""The star of a point of a plane: the sectors and rays of the network around it, exactly.

Walks need the star where more than two neurons vanish at once. Around a point s the forms that are
not 0 at s keep their sign, and the others are linear in the direction on every cone on which the
neurons of earlier layers have constant signs. So the cones are cut layer by layer by the linear
forms of the neurons that vanish at s.

The computation starts with the four quadrants. Neighbouring cones with equal signs are merged at
the end, so the auxiliary cuts along the axes disappear: a cell is convex and determined by its
signs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from polyrelu.exact import dot_sign, positive_primitive
from polyrelu.support.arguments import expect_index
from polyrelu.support.display import count_text, shortened
from polyrelu.support.typing import IntegerRow, Signs
from polyrelu.walks.affine_slice import AffineSlice

__all__ = ["Ray", "Star", "star_around"]


@dataclass(frozen=True, slots=True)
class Ray:
    """A cell of dimension 1 that ends at the point.

    Attributes
    ----------
    direction
        The primitive integer direction in plane coordinates.
    signs
        The signs of all hidden neurons on the ray, a flat array of shape (num_neurons,).

    Examples
    --------
    >>> Ray((1, 1), np.array([1, 0], dtype=np.int8)).direction
    (1, 1)
    """

    direction: IntegerRow
    signs: Signs

    def __repr__(self) -> str:
        zeros = count_text([(int((self.signs == 0).sum()), "neuron")])
        return f"<Ray in direction {shortened(str(self.direction))}, {zeros} of sign 0>"


@dataclass(frozen=True, slots=True)
class Star:
    """The cells around a point, counterclockwise; ray i is the first ray of sector i.

    Attributes
    ----------
    sectors
        The signs of each cell of dimension 2, flat arrays of shape (num_neurons,).
    rays
        The cells of dimension 1, one for each sector; none if there is only one sector.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0]], [0]), ([[1]], [0])])
    >>> plane = AffineSlice(net, [0, 0], [[1, 0], [0, 1]])
    >>> star = star_around(plane, plane.signs_at([0, 0]))
    >>> [ray.direction for ray in star.rays_of(0)]
    [(0, 1), (0, -1)]
    """

    sectors: tuple[Signs, ...]
    rays: tuple[Ray, ...]

    def __repr__(self) -> str:
        return f"<Star, {count_text([(len(self.sectors), 'sector'), (len(self.rays), 'ray')])}>"

    def rays_of(self, place: int) -> list[Ray]:
        """Return the rays that belong to the bent hyperplane of a neuron.

        These are the rays on which the neuron vanishes and beside which it has a sign ≠ 0 on at
        least one sector.
        """
        place = expect_index(place, len(self.sectors[0]), "place")
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
    """The directions between two directions whose angle is less than 180 degrees.

    Attributes
    ----------
    first, last
        The bounding directions, counterclockwise.
    signs
        The signs of all hidden neurons inside the cone; layers that have not cut yet have the signs
        at the point.
    forms
        Place and linear form of every neuron that vanishes at the point, for the layers that have
        cut.
    """

    first: IntegerRow
    last: IntegerRow
    signs: Signs
    forms: tuple[tuple[int, IntegerRow], ...]

    def cut(self, form: IntegerRow) -> list[_Cone]:
        """Return the parts of the cone on both sides of the line where a linear form is 0."""
        one, other = (
            sum(a * r for a, r in zip(form, ray, strict=True)) for ray in (self.first, self.last)
        )
        if (one > 0) == (other > 0) or not one or not other:
            return [self]
        x, y = (abs(other) * a + abs(one) * b for a, b in zip(self.first, self.last, strict=True))
        between = positive_primitive((x, y))
        return [replace(self, last=between), replace(self, first=between)]

    def signed(self, forms: dict[int, IntegerRow]) -> _Cone:
        """Return the cone with the signs of one layer; no form may change its sign inside."""
        inside = [a + b for a, b in zip(self.first, self.last, strict=True)]
        signs = self.signs.copy()
        for place, form in forms.items():
            signs[place] = dot_sign(form, inside)
        return replace(self, signs=signs, forms=(*self.forms, *forms.items()))


def star_around(plane: AffineSlice, at: Signs) -> Star:
    """Compute the star of the point of a plane at which the neurons have the given signs.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])
    >>> plane = AffineSlice(net, [0, 0], [[1, 0], [0, 1]])
    >>> star = star_around(plane, plane.signs_at([0, 0]))
    >>> pairs = zip(star.sectors, star.rays)
    >>> [(str(plane.sign_vector(signs)), ray.direction) for signs, ray in pairs]
    [('++|+', (1, 0)), ('++|-', (1, 1)), ('-+|-', (0, 1)), ('--|0', (-1, 0)), ('+-|+', (0, -1))]
    """
    corners = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 0)]
    cones = [_Cone(first, last, at, ()) for first, last in pairwise(corners)]
    for layer in range(1, plane.network.num_hidden_layers + 1):
        zeros = plane.zeros_of_layer(at, layer)
        if zeros:
            cones = [piece for cone in cones for piece in _refined(plane, cone, zeros)]
    return _merged(cones)


def _refined(plane: AffineSlice, cone: _Cone, zeros: list[int]) -> list[_Cone]:
    """Cut a cone by the neurons of one layer that vanish at the point."""
    rows = plane.rows(cone.signs, zeros)
    forms = {place: row[:-1] for place, row in zip(zeros, rows, strict=True)}
    pieces = [cone]
    for form in forms.values():
        pieces = [half for piece in pieces for half in piece.cut(form)]
    return [piece.signed(forms) for piece in pieces]


def _merged(cones: list[_Cone]) -> Star:
    """Return the star of the point, in which neighbouring cones with equal signs are merged."""
    starts = [
        i for i, cone in enumerate(cones) if not np.array_equal(cones[i - 1].signs, cone.signs)
    ]
    if not starts:
        return Star((cones[0].signs,), ())
    rays = []
    for i in starts:
        signs = cones[i].signs.copy()
        # The forms are continuous, so they also hold on the border of the cone.
        for place, form in cones[i].forms:
            signs[place] = dot_sign(form, cones[i].first)
        rays.append(Ray(cones[i].first, signs))
    return Star(tuple(cones[i].signs for i in starts), tuple(rays))
