"""Open neurons of a node, each with its partner, and the corners of what is known of them.

A group is relaxed as a whole: a multiple of max(z, 0) plus a multiple of max(z', 0), z of a neuron
of the first network and z' of one of the second. Both are bounded on a polygon by any affine
function and its largest distance at the corners (FORMAT.md, section 5.8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from polyrelu.proofs.deviation.grid_layers import Neuron, PairEnds
from polyrelu.proofs.deviation.relu_bands import Interval
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule

__all__ = ["OpenGroup", "RowEvidence", "Slopes", "open_groups"]

#: The slope of z, and in a group with a neuron of the second network the one of z'.
Slopes: TypeAlias = tuple[Fraction, ...]


class OpenGroup(NamedTuple):
    """An open neuron of the first network, or one of the second with its partner.

    Attributes
    ----------
    layer
        The layer, from 1.
    first, second
        The neuron of each network, -1 if there is none.
    scale
        The number by which forms of the second neuron are divided.
    corners
        All corners (z, z'/scale), over the grid.
    """

    layer: int
    first: int
    second: int
    scale: Fraction
    corners: tuple[tuple[int, int], ...]

    @property
    def neuron(self) -> Neuron:
        """The neuron that names the group."""
        return (0, self.layer, self.first) if self.second < 0 else (1, self.layer, self.second)

    def largest(self, weights: tuple[Fraction, Fraction], slopes: Slopes, grid: int) -> Fraction:
        """Return the largest s max(z, 0) + t max(z', 0) - P z - Q z' at the corners.

        The weights are s and t, the slopes P and Q. Corners have z'/scale in the place of z'.
        """
        by_second = slopes[1] if len(slopes) > 1 else Fraction(0)
        numbers = weights[0], self.scale * weights[1], slopes[0], self.scale * by_second
        common = math.lcm(*(x.denominator for x in numbers))
        s, t, p, q = (x.numerator * (common // x.denominator) for x in numbers)
        best = max(s * max(z, 0) + t * max(y, 0) - p * z - q * y for z, y in self.corners)
        return Fraction(best, common << grid)


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """What proves a bound of a row on a node.

    Attributes
    ----------
    multiples
        Multiples of inequalities of the domain and of cuts by sign, by number.
    slopes
        The slopes of each group, by its neuron.
    """

    multiples: Mapping[int, Fraction] = field(default_factory=dict)
    slopes: Mapping[Neuron, Slopes] = field(default_factory=dict)


def open_groups(rule: RoundedRule, leaf: RoundedLeaf) -> list[OpenGroup]:
    """Return the groups of a node, layer by layer: those with neurons of the second network first.

    A neuron of the first network that is in no group then has one of its own.
    """
    found = list[OpenGroup]()
    for number, (own, other) in enumerate(leaf.signs, 1):
        seen = set[int]()
        for m, sign in enumerate(other):
            place = rule.partner(number, m)
            if sign == 0 or (place >= 0 and own[place] == 0):
                seen.add(place)
                corners = _corners(leaf.pair_ends[number - 1][m])
                scale = rule.scale((1, number, m))
                found.append(OpenGroup(number, place, m, scale, corners))
        for i, sign in enumerate(own):
            if sign == 0 and i not in seen:
                corners = tuple((z, 0) for z in sorted({*leaf.ends[number - 1][i], 0}))
                found.append(OpenGroup(number, i, -1, Fraction(1), corners))
    return found


def _corners(ends: PairEnds) -> tuple[tuple[int, int], ...]:
    """Return the corners of the polygon of z, y and y - z, cut at z = 0 and at y = 0."""

    def is_inside(x: int, among: Interval) -> bool:
        """Whether a number lies in an interval."""
        return among[0] <= x <= among[1]

    z, d, y = ends
    found = {(x, t) for x in (*z, 0) for t in (*y, 0, x + d[0], x + d[1])}
    found |= {(t - d[k], t) for t in (*y, 0) for k in (0, 1)}
    return tuple(
        sorted(
            (x, t) for x, t in found if is_inside(x, z) and is_inside(t, y) and is_inside(t - x, d)
        )
    )
