"""Weights, balancing, reconstruction and maximal terms by slow routes, in fractions.

Weights are differences of the affine maps of neighbouring regions; balancing orients the normals
around a ridge by exact coordinates; reconstruction walks from region to region. Nothing here uses
residues, or activations packed into bits, or anything else of `polyrelu.breakpoints`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from fractions import Fraction

from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import RationalMatrix, positive_primitive
from polyrelu.network import Network, affine_map_table
from polyrelu.support.typing import BigIntegers

__all__ = ["SlowFacet", "maps_on_hull", "maximal_terms", "slow_facets", "unbalanced", "walked_maps"]

#: Rows [A | c], one for each output.
Rows = list[list[Fraction]]


class SlowFacet:
    """A cell of codimension 1 between the regions `plus` and `minus`, with its form and weight."""

    def __init__(self, cell: int, plus: int, minus: int, form: Sequence[int]) -> None:
        self.cell, self.plus, self.minus = cell, plus, minus
        self.form, self.divisor = tuple(form), math.gcd(*form[:-1])
        self.weight: tuple[Fraction, ...] = ()


def maps_on_hull(cells: PolyhedralComplex, network: Network) -> list[Rows]:
    """Return the affine maps of all regions, modulo the equations of the domain's affine hull."""
    denominator, table = affine_map_table(network, cells.signs() > 0)
    maps = []
    for rows in table.tolist():
        matrix = RationalMatrix.from_integers(rows, denominator) @ cells.frame.on_hull
        maps.append([list(row) for row in matrix.rows()])
    return maps


def slow_facets(cells: PolyhedralComplex) -> list[SlowFacet]:
    """Return all cells of codimension 1 between two regions, with weights."""
    pairs, facets = cells.adjacency(), cells.common_facets()
    maps = maps_on_hull(cells, cells.network)
    forms = cells.facet_forms(facets)
    rows = RationalMatrix.from_integers(forms.rows, ncols=cells.frame.dimension + 1)
    over_inputs = (rows @ cells.frame.coordinates).integer_rows()
    signs, found = cells.signs(), []
    for (one, other), facet, which in zip(
        pairs.tolist(), facets.tolist(), forms.which.tolist(), strict=True
    ):
        is_plus = signs[one, forms.columns[which]] > 0
        plus, minus = (one, other) if is_plus else (other, one)
        slow = SlowFacet(facet, plus, minus, positive_primitive(over_inputs[which]))
        pivot = next(j for j, entry in enumerate(slow.form[:-1]) if entry)
        slow.weight = tuple(
            (above[pivot] - below[pivot]) * slow.divisor / slow.form[pivot]
            for above, below in zip(maps[plus], maps[minus], strict=True)
        )
        found.append(slow)
    return found


def unbalanced(cells: PolyhedralComplex, facets: list[SlowFacet]) -> list[int]:
    """Return the ridges inside the domain around which the weighted normals do not cancel."""
    around: dict[int, list[SlowFacet]] = {}
    k = cells.dimension - 1
    if k <= cells.lineality_dim:
        return []
    offsets, ridges = cells.facets(k)
    inside = cells.inside(k - 1)
    for facet in facets:
        for ridge in ridges[offsets[facet.cell] : offsets[facet.cell + 1]].tolist():
            if inside[ridge]:
                around.setdefault(ridge, []).append(facet)
    points = cells.generators.points_inside(k)
    return [r for r, fan in sorted(around.items()) if any(map(any, _sum(cells, fan, points)))]


def _sum(cells: PolyhedralComplex, fan: list[SlowFacet], points: BigIntegers) -> Rows:
    """Return the sum of ω [n | β] with normals oriented by the points inside the facets.

    Two of the forms that are not multiples of each other are coordinates u, v of the plane across
    the ridge, in which a form a u + b v is positive to the left of the ray of its facet or not.
    """
    to_y = cells.frame.embedding
    forms = [RationalMatrix.from_integers([facet.form]) @ to_y for facet in fan]
    rows = [form.row(0)[:-1] for form in forms]
    u = rows[0]
    v = next(row for row in rows if _minors(u, row))
    i, j = _minors(u, v)[0]
    m = u[i] * v[j] - u[j] * v[i]
    place = next(position for position, row in enumerate(rows) if row is v)
    total = [[Fraction()] * len(fan[0].form) for _ in fan[0].weight]
    for facet, row in zip(fan, rows, strict=True):
        a, b = (row[i] * v[j] - row[j] * v[i]) / m, (u[i] * row[j] - u[j] * row[i]) / m
        at = [
            sum(c * int(x) for c, x in zip(forms[p].row(0), points[facet.cell], strict=True))
            for p in (0, place)
        ]
        left = b * at[0] - a * at[1]
        sign = (left > 0) - (left < 0)
        for output, weight in enumerate(facet.weight):
            for column, entry in enumerate(facet.form):
                total[output][column] += sign * weight * entry / facet.divisor
    return total


def _minors(u: Sequence[Fraction], v: Sequence[Fraction]) -> list[tuple[int, int]]:
    """Return the pairs of columns in which two rows have a minor that is not 0."""
    size = range(len(u))
    return [(i, j) for i in size for j in size if u[i] * v[j] != u[j] * v[i]]


def walked_maps(
    num_regions: int, facets: list[SlowFacet], root: int, start: Rows
) -> list[Rows] | int:
    """Return the maps of all regions, or the first cell where they contradict each other.

    The walk visits regions in the order in which they are found, and the neighbours of each in the
    order of the cells between them.
    """
    neighbours: list[list[tuple[int, SlowFacet]]] = [[] for _ in range(num_regions)]
    for facet in facets:
        neighbours[facet.plus].append((facet.minus, facet))
        neighbours[facet.minus].append((facet.plus, facet))
    maps, waiting = {root: start}, deque([root])
    while waiting:
        here = waiting.popleft()
        for new, facet in neighbours[here]:
            if new not in maps:
                maps[new] = _changed(maps[here], facet, 1 if new == facet.plus else -1)
                waiting.append(new)
    for facet in facets:
        if _changed(maps[facet.minus], facet, 1) != maps[facet.plus]:
            return facet.cell
    return [maps[region] for region in range(num_regions)]


def _changed(rows: Rows, facet: SlowFacet, sign: int) -> Rows:
    """Return the map on the other side of a cell."""
    return [
        [a + sign * weight * b / facet.divisor for a, b in zip(row, facet.form, strict=True)]
        for row, weight in zip(rows, facet.weight, strict=True)
    ]


def maximal_terms(maps: list[Rows], output: int) -> tuple[list[tuple[Fraction, ...]], list[int]]:
    """Return the different rows of an output, ascending, and the number of each region's row."""
    rows = [tuple(region[output]) for region in maps]
    terms = sorted(set(rows))
    return terms, [terms.index(row) for row in rows]
