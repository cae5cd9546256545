"""The largest value of an affine function of the outputs over a polyhedron: exact, or enclosed.

Where the number of regions has a small bound, the exact complex gives the maximum at a vertex or
along a ray. Elsewhere interval arithmetic with proved bounds gives an upper bound, and points of
the domain, which floats propose and exact arithmetic evaluates, give a lower one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.complex import canonical_complex
from polyrelu.exact import Polyhedron, RationalMatrix, nearest_vector
from polyrelu.formats import runtime_error
from polyrelu.network import AffineMap, Network, from_arrays
from polyrelu.support.typing import Floats, Point

__all__ = ["Extreme", "has_few_regions", "largest", "region_bound"]

#: Maximum number of regions, by a bound from the widths, for which the complex is computed.
REGION_LIMIT = 200_000
#: Maximum number of inputs for which the complex is computed.
INPUT_LIMIT = 6
#: Number of points that are evaluated where there is no complex, and steps of each ascent.
_STARTS, _STEPS = 16, 24


@dataclass(frozen=True, slots=True)
class Extreme:
    """What is known of a supremum.

    Attributes
    ----------
    value
        The largest value that was found; None if the function is unbounded or no point is known.
    point
        A point with this value, or with a value larger than any bound asked for.
    upper
        A proved upper bound; None if there is none.
    slope
        For an unbounded function the direction in which it grows from `point`, else None.

    Examples
    --------
    >>> Extreme(Fraction(1), (Fraction(0),), Fraction(1)).is_exact
    True
    """

    value: Fraction | None
    point: Point | None
    upper: Fraction | None
    slope: tuple[int, ...] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the supremum is known."""
        return self.slope is not None or (self.value is not None and self.value == self.upper)


def region_bound(widths: Sequence[int]) -> int:
    """Return an upper bound on the number of regions of a plain stack of hidden layers.

    Each layer of n neurons divides each region of the layers before into at most Σ_{j≤d} C(n, j).

    >>> region_bound([2, 3])
    7
    """
    size, *hidden = widths
    return math.prod(sum(math.comb(n, j) for j in range(size + 1)) for n in hidden)


def has_few_regions(network: Network) -> bool:
    """Return whether the exact complex is sure to be small."""
    hidden = network.widths[: network.num_hidden_layers + 1]
    return network.num_inputs <= INPUT_LIMIT and region_bound(hidden) <= REGION_LIMIT


def largest(
    network: Network, functionals: Sequence[Sequence[int]], domain: Polyhedron
) -> list[Extreme]:
    """Return what is known of the suprema of functionals u·f over a polyhedron, one for each u."""
    if not has_few_regions(network):
        return [_enclosed(network, row, domain) for row in functionals]
    best: list[Extreme | None] = [None] * len(functionals)
    for map_, points, rays in _pieces(network, domain):
        for k, row in enumerate(functionals):
            known = best[k]
            if known is None or known.slope is None:
                best[k] = _better(known, map_, row, points, rays)
    return [entry or Extreme(None, None, None) for entry in best]


def _pieces(
    network: Network, domain: Polyhedron
) -> Iterator[tuple[AffineMap, list[Point], list[tuple[int, ...]]]]:
    """Yield the affine maps of all regions with vertices and directions that generate them."""
    from polyrelu.complex import Cell

    cells = canonical_complex(network, domain)
    lines = [d for line in cells.lineality for d in (line, tuple(-x for x in line))]
    regions = range(cells.num_regions)
    maps = network.affine_maps(cells.signs_of_region(k) for k in regions)
    for k, map_ in zip(regions, maps, strict=True):
        points, rays = cells.vertices_and_rays(Cell(cells.dimension, k))
        yield map_, [tuple(point) for point in points], [*map(tuple, rays), *lines]


def _better(
    known: Extreme | None,
    map_: AffineMap,
    row: Sequence[int],
    points: list[Point],
    rays: list[tuple[int, ...]],
) -> Extreme | None:
    """Return the better one of a known extreme and the extreme of a region."""
    functional = RationalMatrix.from_integers([list(row)])
    slope = (functional @ map_.matrix).row(0)
    offset = (functional @ map_.offset)[0, 0]
    for point in points:
        value = offset + sum((a * x for a, x in zip(slope, point, strict=True)), Fraction())
        if known is None or known.value is None or value > known.value:
            known = Extreme(value, point, value)
    for ray in rays:
        if sum(a * x for a, x in zip(slope, ray, strict=True)) > 0:
            return Extreme(None, points[0], None, ray)
    return known


def _enclosed(network: Network, row: Sequence[int], domain: Polyhedron) -> Extreme:
    """Return an upper bound by interval arithmetic, and the best point of a float search."""
    combined = _combined(network, row)
    box = domain.bounding_box()
    if box is None:
        return Extreme(None, domain.relative_interior_point(), None)
    upper = runtime_error(combined, box, arithmetic="float64").high[0]
    points = [point for point in _proposals(combined, domain, box) if domain.contains(point)]
    values = combined.evaluate(points)
    if not values:
        return Extreme(None, None, upper)
    k = max(range(len(values)), key=lambda i: values[i][0])
    return Extreme(values[k][0], points[k], upper)


def _combined(network: Network, row: Sequence[int]) -> Network:
    """Return the network whose output is a linear functional of the outputs."""
    if not network.is_plain or network.last == "relu":
        return _with_functional_layer(network, row)
    functional = RationalMatrix.from_integers([list(row)])
    layers = [
        (network.weight(k).rows(), list(network.bias(k).entries())) for k in range(1, network.depth)
    ]
    weight = functional @ network.weight(network.depth)
    bias = functional @ network.bias(network.depth)
    return from_arrays([*layers, (weight.rows(), list(bias.entries()))])


def _with_functional_layer(network: Network, row: Sequence[int]) -> Network:
    """Return a network that ends in ReLUs, followed by a linear functional."""
    from polyrelu.errors import NetworkError

    if not network.is_plain:
        raise NetworkError("bounds without a complex need a plain stack of layers")
    layers = [
        (network.weight(k).rows(), list(network.bias(k).entries()))
        for k in range(1, network.depth + 1)
    ]
    return from_arrays([*layers, ([list(row)], [0])])


def _proposals(network: Network, domain: Polyhedron, box: tuple[Point, Point]) -> list[Point]:
    """Return points where the output may be large: corners and ends of ascents in floats."""
    low, high = (nearest_vector(corner) for corner in box)
    inside = domain.relative_interior_point()
    draw = np.random.default_rng(0)
    starts = low + (high - low) * draw.random((_STARTS, len(low)))
    found = [] if inside is None else [inside]
    for start in starts:
        x = start
        for step in range(_STEPS):
            x = np.nan_to_num(x)
            found_map = network.affine_map_at(x.tolist())
            slope = found_map.matrix.to_floats()[0]
            target = np.where(slope > 0, high, np.where(slope < 0, low, x))
            x = x + (target - x) / (1 + step // 4)
            x = np.clip(x, low, high)
            if np.array_equal(x, target):
                break
        found.append(_clipped(x, box))
    return found


def _clipped(x: Floats, box: tuple[Point, Point]) -> Point:
    """Return a float point as exact numbers inside the box."""
    return tuple(
        min(max(Fraction(float(value)), low), high)
        for value, low, high in zip(np.nan_to_num(x), *box, strict=True)
    )
