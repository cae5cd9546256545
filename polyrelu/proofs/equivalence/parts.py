"""Parts of a difference that vanish one by one.

Where two networks differ in several places, the difference is a sum of parts that have nothing in common, each of which
vanishes with an affine form of its own. One tree for the sum would multiply the trees of the parts; one tree for each
adds them up. The parts are guessed from values at points, as follows; that they add up to the difference and vanish is
proved.

Terms that need a common atom form a *group*. From each group an affine form is taken away so that it vanishes at a
simplex of points; what is left of it at further points is a vector. The vectors of all groups add up to 0 if the
networks agree there. They fall into the finest families that are independent of each other (the connected components of
the matroid of the vectors), and then those of each family add up to 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import networkx as nx

from polyrelu.exact import RationalMatrix, kernel, solve
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import Point

__all__ = ["Part", "parts_of"]

#: For each row of a difference its entries by symbol.
Part = tuple[dict[int, Fraction], ...]


def parts_of(joint: JointNetwork, simplex: Sequence[Point], others: Sequence[Point]) -> list[Part]:
    """Parts that add up to the difference; only one, the whole, if nothing is found.

    Parameters
    ----------
    simplex : 1 + d points in general position, d the number of coordinates.
    others : points at which the difference vanishes.
    """
    whole = tuple({c: Fraction(x) for c, x in zip(*row, strict=True)} for row in joint.difference)
    groups = _groups(joint)
    if len(groups) < 2:
        return [whole]
    affine = _Affine(joint, simplex)
    made = [affine.vanishing(group) for group in groups]
    values = [_values(joint, point) for point in others]
    families = _families([_vector(part, values) for part in made])
    if len(families) < 2:
        return [whole]
    parts = [_sum([made[i] for i in family]) for family in families]
    rest = _sum([whole, *(_scaled(part, -1) for part in parts)])
    return [*parts, rest] if any(rest) else parts


def _groups(joint: JointNetwork) -> list[set[int]]:
    """The atoms of the difference, those together that need a common atom."""
    graph = nx.Graph()
    first = 1 + joint.dimension
    graph.add_nodes_from(
        column for row in joint.difference for column in row.columns if column >= first
    )
    for atom in joint.atoms:
        graph.add_edges_from(
            (atom.symbol, column) for column in atom.form.columns if column >= first
        )
    return sorted((set(component) for component in nx.connected_components(graph)), key=min)


def _families(vectors: list[list[Fraction]]) -> list[list[int]]:
    """The connected components of the matroid of some vectors: of the supports of a basis of their dependences, each of
    which is minimal because the basis is reduced. A vector that depends on no others is in no family."""
    graph = nx.Graph()
    dependences = kernel(RationalMatrix.from_rows(vectors).transpose())
    for dependence in dependences.transpose().rows():
        support = [i for i, entry in enumerate(dependence) if entry]
        graph.add_nodes_from(support)
        graph.add_edges_from(pairwise(support))
    return sorted(sorted(component) for component in nx.connected_components(graph))


class _Affine:
    """A joint network and a simplex, at which affine forms are interpolated."""

    def __init__(self, joint: JointNetwork, simplex: Sequence[Point]) -> None:
        self._joint = joint
        self._table = RationalMatrix.from_rows(
            [[Fraction(x, point[0]) for x in point] for point in simplex]
        )
        self._values = [_values(joint, point) for point in simplex]

    def vanishing(self, group: set[int]) -> Part:
        """The terms of a group, minus the affine forms that they are equal to at the simplex."""
        rows: list[dict[int, Fraction]] = []
        for row in self._joint.difference:
            terms = {c: x for c, x in zip(*row, strict=True) if c in group}
            right = [
                Fraction(-sum(x * value[c] for c, x in terms.items()), value[0])
                for value in self._values
            ]
            form = solve(self._table, RationalMatrix.column(right))
            if form is None:
                raise AssertionError("the points of a simplex are in general position")
            affine = {c: x for c, x in enumerate(form.entries()) if x}
            rows.append({c: Fraction(x) for c, x in terms.items()} | affine)
        return tuple(rows)


def _vector(part: Part, values: Sequence[dict[int, int]]) -> list[Fraction]:
    """The values of all rows of a part at all points."""
    found = []
    for row in part:
        common = math.lcm(*(entry.denominator for entry in row.values()))
        integers = [
            (c, entry.numerator * (common // entry.denominator)) for c, entry in row.items()
        ]
        found += [
            Fraction(sum([x * value[c] for c, x in integers]), common * value[0])
            for value in values
        ]
    return found


def _values(joint: JointNetwork, point: Point) -> dict[int, int]:
    """All symbols at a point, times the point's first entry."""
    forms, _ = joint.values_at(point)
    return dict(enumerate(point)) | {symbol: max(value, 0) for symbol, value in forms.items()}


def _sum(parts: list[Part]) -> Part:
    rows: list[dict[int, Fraction]] = [{} for _ in parts[0]]
    for part in parts:
        for total, row in zip(rows, part, strict=True):
            for column, entry in row.items():
                total[column] = total.get(column, Fraction()) + entry
    return tuple({column: entry for column, entry in row.items() if entry} for row in rows)


def _scaled(part: Part, factor: int) -> Part:
    return tuple({column: factor * entry for column, entry in row.items()} for row in part)
