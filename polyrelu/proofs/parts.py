"""Parts of a difference that vanish one by one.

Where two networks differ in several places, the difference is a sum of groups of terms that have nothing in common, each
of which vanishes with an affine form of its own. One tree for the sum would multiply the trees of the groups; one tree
for each adds them up. The affine forms are guesses, interpolated at a simplex of points and tried at others; that the
parts add up to the difference and vanish is proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx

from polyrelu.exact import RationalMatrix, solve
from polyrelu.proofs.region import Point
from polyrelu.symmetry.forms import JointNetwork, Row

__all__ = ["Part", "parts_of"]

Part = tuple[dict[int, Fraction], ...]


def parts_of(joint: JointNetwork, simplex: Sequence[Point], others: Sequence[Point]) -> list[Part]:
    """Parts that add up to the difference, each a row for each of its rows; the whole as one part if nothing is found.

    Parameters
    ----------
    simplex : 1 + d points in general position, d the number of coordinates.
    others : points at which a part must vanish.
    """
    groups = _groups(joint)
    whole = tuple({c: Fraction(x) for c, x in zip(*row, strict=True)} for row in joint.difference)
    if len(groups) < 2:
        return [whole]
    table = RationalMatrix.from_integers([list(point) for point in simplex])
    values = [_values(joint, point) for point in [*simplex, *others]]
    found: list[Part] = []
    rest = [dict(row) for row in whole]
    for group in groups:
        part = _part(joint, group, table, values)
        if part is not None:
            found.append(part)
            for left, row in zip(rest, part, strict=True):
                for column, entry in row.items():
                    left[column] = left.get(column, Fraction()) - entry
    remainder = tuple({column: x for column, x in row.items() if x} for row in rest)
    if any(remainder):
        found.append(remainder)
    return found if len(found) > 1 else [whole]


def _groups(joint: JointNetwork) -> list[set[int]]:
    """The atoms of the difference, those together that need a common atom."""
    graph = nx.Graph()
    first = 1 + joint.dimension
    for atom in joint.atoms:
        graph.add_edges_from((atom.symbol, column) for column in atom.form.columns if column >= first)
    graph.add_nodes_from(column for row in joint.difference for column in row.columns if column >= first)
    groups = [set(component) for component in nx.connected_components(graph)]
    return sorted(groups, key=min)


@dataclass(frozen=True, slots=True)
class _Values:
    """All symbols at a point in homogeneous integers, the unit first."""

    symbols: dict[int, int]

    def of(self, row: Row, group: set[int]) -> Fraction:
        """The terms of a group in a row."""
        total = sum(self.symbols[c] * x for c, x in zip(*row, strict=True) if c in group)
        return Fraction(total, self.symbols[0])


def _values(joint: JointNetwork, point: Point) -> _Values:
    forms, _ = joint.values_at(point)
    return _Values(dict(enumerate(point)) | {symbol: max(value, 0) for symbol, value in forms.items()})


def _part(joint: JointNetwork, group: set[int], table: RationalMatrix, values: list[_Values]) -> Part | None:
    """The group with the affine forms that make it vanish at the simplex; None if it does not vanish at other points."""
    size = table.nrows
    rows: list[dict[int, Fraction]] = []
    for row in joint.difference:
        terms = {c: Fraction(x) for c, x in zip(*row, strict=True) if c in group}
        sums = [value.of(row, group) for value in values]
        right = RationalMatrix.column(
            [-total * value.symbols[0] for total, value in zip(sums[:size], values, strict=False)]
        )
        affine = solve(table, right)
        if affine is None:
            return None
        form = list(affine.entries())
        for total, value in zip(sums[size:], values[size:], strict=True):
            point = [Fraction(value.symbols[c], value.symbols[0]) for c in range(size)]
            if total + sum(a * b for a, b in zip(form, point, strict=True)):
                return None
        rows.append(terms | {c: x for c, x in enumerate(form) if x})
    return tuple(rows)
