"""Bands around ReLUs in integers: a chord, and the distance from it (FORMAT.md, section 5.8).

`neuron_band` is about one neuron, and `pair_band` about the difference of a neuron of the second
network from its partner. Numbers are integers on the grid of the rule, slopes integers over 2^16.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

__all__ = [
    "ONE",
    "SLOPE_BITS",
    "Interval",
    "PairBand",
    "chord_slope",
    "neuron_band",
    "pair_band",
    "pair_lines",
    "sign_of",
]

#: The least and the largest value.
Interval: TypeAlias = tuple[int, int]
#: Slopes are integers over 2^16.
SLOPE_BITS = 16
ONE = 1 << SLOPE_BITS


def sign_of(low: int, high: int) -> int:
    """Return the sign of a neuron, 0 if it is open."""
    return 1 if low >= 0 else -1 if high <= 0 else 0


def chord_slope(low: int, high: int) -> int:
    """Return the slope of the chord of a ReLU, over 2^16."""
    if low >= 0:
        return ONE
    return 0 if high <= 0 else (high << SLOPE_BITS) // (high - low)


def neuron_band(low: int, high: int) -> tuple[int, int]:
    """Return the slope of a ReLU, and half of the width of its band."""
    slope = chord_slope(low, high)
    if slope in (0, ONE) and sign_of(low, high):
        return slope, 0
    gap = max(-slope * low, (ONE - slope) * high)
    return slope, -(-gap // (2 * ONE))


class PairBand(NamedTuple):
    """The difference of two ReLUs is near p z + q D: slopes, the band, the size."""

    p: int
    q: int
    center: int
    radius: int
    size: int


def pair_band(z: Interval, d: Interval, y: Interval, is_last: bool) -> PairBand:
    """Return the relaxation of max(z + D, 0) - max(z, 0), perhaps in the last layer with a ReLU.

    Where the signs differ, it lies between 0 and D. Before the last layer that is better than the
    affine function that it is, if D has the shorter interval.
    """
    own, other, size = sign_of(*z), sign_of(*y), max(-d[0], d[1])
    if own * other < 0 and not is_last and d[1] - d[0] < z[1] - z[0]:
        return PairBand(0, ONE // 2, 0, -(-size // 2), size)
    if own and other:
        q = ONE if other > 0 else 0
        return PairBand(q - (ONE if own > 0 else 0), q, 0, 0, size)
    chord, upper = chord_slope(*z), chord_slope(*y)
    slopes = [(0, ONE // 2)]
    if d[0] < 0 < d[1]:
        slopes.append((0, (d[1] << SLOPE_BITS) // (d[1] - d[0])))
    slopes += [(upper - chord, upper), (0, upper)]
    points = _corners(z, d)
    values = [ONE * (_relu(x + t, other) - max(x, 0)) for x, t in points]
    best: tuple[int, int, int, int, int] | None = None
    for p, q in slopes:
        rest = [v - p * x - q * t for v, (x, t) in zip(values, points, strict=True)]
        low, high = min(rest), max(rest)
        if best is None or high - low < best[0]:
            best = high - low, p, q, low, high
    assert best is not None
    _, p, q, low, high = best
    center = (low + high) // (2 * ONE)
    radius = max(-(-high // ONE) - center, center - low // ONE)
    return PairBand(p, q, center, radius, size)


def pair_lines(
    z: Interval, d: Interval, y: Interval
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return p, q and r of affine functions above and below 2^16 (max(z + D, 0) - max(z, 0)).

    Of two candidates the one that is closer in the middle is taken: by the sign of D alone, and by
    the slopes of both neurons.
    """
    points, other = _corners(z, d), sign_of(*y)
    values = [ONE * (_relu(x + t, other) - max(x, 0)) for x, t in points]
    chord = chord_slope(*d)
    above = [(0, chord), (chord_slope(*y) - _lower_slope(*z), chord_slope(*y))]
    below = [(0, ONE - chord), (_lower_slope(*y) - chord_slope(*z), _lower_slope(*y))]
    line = partial(_nearest_line, values=values, points=points, z=z, d=d)
    return line(1, above), line(-1, below)


def _nearest_line(
    side: int,
    slopes: Sequence[tuple[int, int]],
    values: Sequence[int],
    points: Sequence[tuple[int, int]],
    z: Interval,
    d: Interval,
) -> tuple[int, int, int]:
    """Return the affine function above (1) or below (-1) values that is least far in the middle."""
    found = list[tuple[int, int, int]]()
    for p, q in slopes:
        rest = [v - p * x - q * t for v, (x, t) in zip(values, points, strict=True)]
        found.append((p, q, max(rest) if side > 0 else min(rest)))
    heights = [side * (p * (z[0] + z[1]) + q * (d[0] + d[1]) + 2 * r) for p, q, r in found]
    return found[heights.index(min(heights))]


def _lower_slope(low: int, high: int) -> int:
    """Return the slope of the better line below a ReLU."""
    return ONE if low >= 0 or (high > 0 and high > -low) else 0


def _relu(y: int, sign: int) -> int:
    """Return max(y, 0), or what it is by the sign."""
    return y if sign > 0 else 0 if sign < 0 else max(y, 0)


def _corners(z: Interval, d: Interval) -> list[tuple[int, int]]:
    """Return the vertices of a rectangle that is cut by z = 0 and z + D = 0, and more points."""

    def clipped(x: int, ends: Interval) -> int:
        """The number of an interval that is next to x."""
        return min(max(x, ends[0]), ends[1])

    middle = clipped(0, z)
    found = [(x, t) for t in d for x in (z[0], z[1], middle, clipped(-d[0], z), clipped(-d[1], z))]
    return found + [(x, clipped(-x, d)) for x in (z[0], z[1], middle)]
