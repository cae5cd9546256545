"""Parts of a difference that vanish independently of each other.

Where two networks differ in several places, their difference is a sum of parts without common
atoms, and each part vanishes together with an affine form of its own. One tree for the sum would
have as many leaves as the product of the trees of the parts; one tree for each part adds up. The
parts are guessed from values at points. That they add up to the difference holds by construction,
and that each part vanishes is proved by its tree.

Terms that need a common atom form a *group*. From each group an affine form is subtracted so that
the group vanishes at the points of a simplex; the values of the result at further points are a
vector. The vectors of all groups add up to 0 if the networks agree at these points. They fall into
the finest independent families, which are the connected components of the matroid of the vectors,
and the vectors of each family add up to 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import networkx as nx

from polyrelu.exact import RationalMatrix, kernel, solve
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import HomogeneousPoint

__all__ = ["DifferencePart", "parts_of"]

#: A part of a difference: for each row its entries by symbol.
DifferencePart = tuple[dict[int, Fraction], ...]


def parts_of(
    joint: JointNetwork, simplex: Sequence[HomogeneousPoint], others: Sequence[HomogeneousPoint]
) -> list[DifferencePart]:
    """Return parts that add up to the difference, or the whole difference as the only part.

    Parameters
    ----------
    joint
        The joint network.
    simplex
        Points in general position, one more than there are coordinates.
    others
        Points at which the difference vanishes.
    """
    total = tuple({c: Fraction(x) for c, x in zip(*row, strict=True)} for row in joint.difference)
    groups = _groups(joint)
    if len(groups) < 2:
        return [total]
    affine = _AffineInterpolation(joint, simplex)
    vanishing = [affine.vanishing(group) for group in groups]
    values = [_symbol_values(joint, point) for point in others]
    families = _independent_families([_values_of_part(part, values) for part in vanishing])
    if len(families) < 2:
        return [total]
    parts = [_sum_of_parts([vanishing[i] for i in family]) for family in families]
    rest = _sum_of_parts([total, *(_multiple(part, -1) for part in parts)])
    return [*parts, rest] if any(rest) else parts


def _groups(joint: JointNetwork) -> list[set[int]]:
    """Return the atoms of the difference in groups that need a common atom."""
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


def _independent_families(vectors: list[list[Fraction]]) -> list[list[int]]:
    """Return the connected components of the matroid of some vectors, as lists of indices.

    They are the components of the supports of a reduced basis of the linear dependences, each of
    which is minimal. A vector that occurs in no dependence is in no family.
    """
    graph = nx.Graph()
    dependences = kernel(RationalMatrix.from_rows(vectors).transpose())
    for dependence in dependences.transpose().rows():
        support = [i for i, entry in enumerate(dependence) if entry]
        graph.add_nodes_from(support)
        graph.add_edges_from(pairwise(support))
    return sorted(sorted(component) for component in nx.connected_components(graph))


class _AffineInterpolation:
    """A joint network and a simplex, at whose points affine forms are interpolated."""

    def __init__(self, joint: JointNetwork, simplex: Sequence[HomogeneousPoint]) -> None:
        self._joint = joint
        self._table = RationalMatrix.from_rows(
            [[Fraction(x, point[0]) for x in point] for point in simplex]
        )
        self._symbol_values = [_symbol_values(joint, point) for point in simplex]

    def vanishing(self, group: set[int]) -> DifferencePart:
        """Return the terms of a group minus the affine forms that agree with them there."""
        rows: list[dict[int, Fraction]] = []
        for row in self._joint.difference:
            terms = {c: x for c, x in zip(*row, strict=True) if c in group}
            right = [
                Fraction(-sum(x * value[c] for c, x in terms.items()), value[0])
                for value in self._symbol_values
            ]
            form = solve(self._table, RationalMatrix.column(right))
            if form is None:
                raise AssertionError("the points of a simplex are in general position")
            affine = {c: x for c, x in enumerate(form.entries()) if x}
            rows.append({c: Fraction(x) for c, x in terms.items()} | affine)
        return tuple(rows)


def _values_of_part(part: DifferencePart, values: Sequence[dict[int, int]]) -> list[Fraction]:
    """Return the values of all rows of a part at all points."""
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


def _symbol_values(joint: JointNetwork, point: HomogeneousPoint) -> dict[int, int]:
    """Return the values of all symbols at a point, times the first entry of the point."""
    forms, _ = joint.values_at(point)
    return dict(enumerate(point)) | {symbol: max(value, 0) for symbol, value in forms.items()}


def _sum_of_parts(parts: list[DifferencePart]) -> DifferencePart:
    rows: list[dict[int, Fraction]] = [{} for _ in parts[0]]
    for part in parts:
        for total, row in zip(rows, part, strict=True):
            for column, entry in row.items():
                total[column] = total.get(column, Fraction()) + entry
    return tuple({column: entry for column, entry in row.items() if entry} for row in rows)


def _multiple(part: DifferencePart, factor: int) -> DifferencePart:
    return tuple({column: factor * entry for column, entry in row.items()} for row in part)
