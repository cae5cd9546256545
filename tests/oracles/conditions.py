"""Conditions on networks by brute force, from all cells with a point in each.

All values at these points are exact. The cells are found by `cells_on_domain` and cut by the
outputs as well; without the signs of the outputs they are the cells of the canonical complex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.oracles.cells_on_domain import Domain, Key, Layer, Point, cells_on_domain, sign_key
from tests.oracles.plain import Network, apply_affine

__all__ = [
    "Stars",
    "collinear_pairs",
    "crossing_ridges",
    "extrema",
    "invisible_facets",
    "opaque_cells",
    "pieces",
    "stars",
    "wrong_cells",
]

#: A unit: its layer, from 1, and its index; a pair of neurons.
Unit = tuple[int, int]
Pair = tuple[Unit, Unit]


class _Cells(NamedTuple):
    """Cells with signs, shape (cells, signs), dimensions and points, and their faces.

    Entry (i, j) of `face_of`, shape (cells, cells), says whether cell i is a face of cell j; every
    cell is a face of itself.
    """

    keys: list[Key]
    dimensions: list[int]
    points: list[Point]
    face_of: NDArray[np.bool_]

    def around(self, cell: int, dimension: int) -> list[int]:
        return [
            int(i)
            for i in np.flatnonzero(self.face_of[cell])
            if self.dimensions[int(i)] == dimension
        ]


class Stars(NamedTuple):
    """A network on a domain, its layers (the output last) and its cells.

    Attributes
    ----------
    layers
        All layers.
    hidden
        The number of hidden layers.
    domain
        The domain.
    refined
        The cells cut by the outputs as well.
    cells
        The cells of the canonical complex.
    inside
        Which of these are not on the boundary of the domain.
    dimension
        The dimension of the domain.
    """

    layers: Sequence[Layer]
    hidden: int
    domain: Domain
    refined: _Cells
    cells: _Cells
    inside: list[bool]
    dimension: int


def stars(layers: Sequence[Layer], hidden: int, domain: Domain) -> Stars:
    """All cells of a network, of whose layers the first `hidden` ones are followed by a ReLU."""
    found = cells_on_domain(layers, domain)
    dimension = max(cell.dimension for cell in found.values())
    length = len(domain.inequalities) + sum(len(bias) for _, bias in layers[:hidden])
    largest: dict[Key, tuple[int, Point]] = {}
    for key, cell in found.items():
        known = largest.get(key[:length])
        if known is None or cell.dimension > known[0]:
            largest[key[:length]] = (cell.dimension, cell.point)
    cells = _cells(largest)
    refined = _cells({key: (cell.dimension, cell.point) for key, cell in found.items()})
    rows = range(len(domain.inequalities))
    proper = [any(key[row] for key in cells.keys) for row in rows]
    inside = [all(key[row] or not proper[row] for row in rows) for key in cells.keys]
    return Stars(layers, hidden, domain, refined, cells, inside, dimension)


def _cells(found: dict[Key, tuple[int, Point]]) -> _Cells:
    keys = list(found)
    signs = np.array(keys, dtype=np.int8).reshape(len(keys), -1)
    lower, upper = signs[:, None], signs[None]
    face_of = ((lower == 0) | (lower == upper)).all(axis=2)
    return _Cells(keys, [found[key][0] for key in keys], [found[key][1] for key in keys], face_of)


def values(layers: Sequence[Layer], x: Sequence[Fraction]) -> list[list[Fraction]]:
    """The preactivations of all layers."""
    activations, found = [list(x)], []
    for blocks, bias in layers:
        z = list(bias)
        for source, weights in blocks:
            z = apply_affine(weights, z, activations[source])
        found.append(z)
        activations.append([max(value, Fraction(0)) for value in z])
    return found


def _outputs(known: Stars, x: Sequence[Fraction]) -> list[Fraction]:
    last = values(known.layers, x)[-1]
    return (
        [max(value, Fraction(0)) for value in last] if known.hidden == len(known.layers) else last
    )


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


# --- Conditions on cells -----------------------------------------------------------------------


def wrong_cells(known: Stars) -> set[Key]:
    """The cells with more or fewer zeros than their codimension."""
    pairs = zip(known.cells.keys, known.cells.dimensions, strict=True)
    return {key for key, dimension in pairs if key.count(0) != known.dimension - dimension}


def opaque_cells(known: Stars) -> set[tuple[Key, int]]:
    """Cells of all dimensions, and layers all of whose neurons are negative at the cell's point."""
    return {
        (key, layer)
        for key, point in zip(known.cells.keys, known.cells.points, strict=True)
        for layer, z in enumerate(values(known.layers, point)[: known.hidden], 1)
        if all(value < 0 for value in z)
    }


def invisible_facets(known: Stars) -> tuple[set[Key], set[Key]]:
    """The facets inside the domain across which the affine function continues, and all facets.

    The affine function on one side is extrapolated to a point of the other side along the line
    between two points.
    """
    invisible, facets = set(), set()
    for cell, (key, dimension) in enumerate(
        zip(known.cells.keys, known.cells.dimensions, strict=True)
    ):
        if dimension == known.dimension - 1 and known.inside[cell]:
            facets.add(key)
            one, other = known.cells.around(cell, known.dimension)
            start, end = known.cells.points[one], known.cells.points[other]
            if _continued(known, known.cells.keys[one], start, end) == _outputs(known, end):
                invisible.add(key)
    return invisible, facets


def _continued(known: Stars, key: Key, start: Point, end: Point) -> list[Fraction]:
    """The values at `end` of the affine function of the region of `start`."""
    step = Fraction(1)
    while True:
        step /= 2
        near = [a + step * (b - a) for a, b in zip(start, end, strict=True)]
        if sign_key(known.layers[: known.hidden], known.domain, near) == key:
            return [
                a + (b - a) / step
                for a, b in zip(_outputs(known, start), _outputs(known, near), strict=True)
            ]


def extrema(known: Stars) -> dict[Unit, dict[Key, bool]]:
    """For every unit and every cell inside the domain on which it is 0, whether it has extrema.

    The units include the outputs.
    """
    found: dict[Unit, dict[Key, bool]] = {}
    at_points = [values(known.layers, point) for point in known.refined.points]
    length = len(known.cells.keys[0])
    parts: dict[Key, list[int]] = {}
    for number, key in enumerate(known.refined.keys):
        parts.setdefault(key[:length], []).append(number)
    for layer, (_, bias) in enumerate(known.layers, 1):
        for index in range(len(bias)):
            here = found[layer, index] = {}
            for cell, key in enumerate(known.cells.keys):
                if known.inside[cell] and all(
                    at_points[part][layer - 1][index] == 0 for part in parts[key]
                ):
                    regions = known.refined.around(parts[key][0], known.dimension)
                    signs = {_sign(at_points[region][layer - 1][index]) for region in regions}
                    here[key] = not {-1, 1} <= signs
    return found


#: The signs of (u, v) on the way around a crossing, starting in a region.
_TURN = ((1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0))


def crossing_ridges(known: Stars) -> dict[Pair, set[Key]]:
    """For each pair of neurons in adjacent hidden layers the ridges around which they cross.

    Their signs turn once around such a ridge, and neither of them is 0 on a region.
    """
    units = [
        (layer, i)
        for layer, (_, bias) in enumerate(known.layers[: known.hidden], 1)
        for i in range(len(bias))
    ]
    found: dict[Pair, set[Key]] = {
        (u, v): set() for u, v in product(units, units) if v[0] == u[0] + 1
    }
    for cell, (key, dimension) in enumerate(
        zip(known.cells.keys, known.cells.dimensions, strict=True)
    ):
        if dimension == known.dimension - 2 and known.inside[cell]:
            at = [values(known.layers, known.cells.points[other]) for other in _circle(known, cell)]
            for (u, v), ridges in found.items():
                signs = [(_sign(z[u[0] - 1][u[1]]), _sign(z[v[0] - 1][v[1]])) for z in at]
                if _turns_once(signs) and all(all(sign) for sign in signs[1::2]):
                    ridges.add(key)
    return found


def _circle(known: Stars, ridge: int) -> list[int]:
    """The cells of codimension 1 and the regions around a cell of codimension 2, in turn."""
    cells = known.cells
    facets = cells.around(ridge, known.dimension - 1)
    circle = [facets[0]]
    while True:
        ahead = [
            region for region in cells.around(circle[-1], known.dimension) if region not in circle
        ]
        if not ahead:
            break
        circle.append(ahead[0])
        following = [
            facet for facet in facets if cells.face_of[facet, ahead[0]] and facet not in circle
        ]
        if not following:
            break
        circle.append(following[0])
    if len(circle) != 2 * len(facets):
        raise AssertionError("the way around a cell of codimension 2 does not close")
    return circle


def _turns_once(signs: list[tuple[int, int]]) -> bool:
    """Whether the signs, equal neighbours merged, are the signs around a crossing.

    Both directions are allowed.
    """
    merged = [sign for i, sign in enumerate(signs) if sign != signs[i - 1]]
    if len(merged) != len(_TURN) or (1, 1) not in merged:
        return False
    start = merged.index((1, 1))
    turned = merged[start:] + merged[:start]
    return tuple(turned) in (_TURN, (_TURN[0], *_TURN[:0:-1]))


# --- Affine pieces -----------------------------------------------------------------------------

#: A unit and a mask (a number in binary) for each layer before it.
Index = tuple[int, int, tuple[int, ...]]


def pieces(layers: Network) -> dict[Index, list[Fraction]]:
    """[w | b] of all units for all nonempty masks of a plain stack, by the definition."""
    found = {}
    for layer, (weights, _) in enumerate(layers, 1):
        widths = [len(bias) for _, bias in layers[: layer - 1]]
        for masks in product(*(range(1, 2**width) for width in widths)):
            for i in range(len(weights)):
                found[layer, i, masks] = _piece(layers, layer, i, masks)
    return found


def _piece(layers: Network, layer: int, index: int, masks: Sequence[int]) -> list[Fraction]:
    """The piece, computed from the unit back to the input.

    The row is e_i W_l I_{l-1} … W_k, and b_{k-1} is added for the neurons that it keeps.
    """
    row, offset = list(layers[layer - 1][0][index]), layers[layer - 1][1][index]
    for k in range(layer - 1, 0, -1):
        weights, bias = layers[k - 1]
        kept = [entry if masks[k - 1] >> j & 1 else Fraction(0) for j, entry in enumerate(row)]
        offset += sum((a * b for a, b in zip(kept, bias, strict=True)), Fraction(0))
        row = [
            sum((a * w[j] for a, w in zip(kept, weights, strict=True)), Fraction(0))
            for j in range(len(weights[0]))
        ]
    return [*row, offset]


def collinear_pairs(vectors: dict[Index, list[Fraction]]) -> Iterator[tuple[Index, Index]]:
    """All pairs whose 2 × 2 minors are all 0."""
    for one, other in combinations(vectors, 2):
        a, b = vectors[one], vectors[other]
        if all(a[j] * b[k] == a[k] * b[j] for j, k in combinations(range(len(a)), 2)):
            yield one, other
