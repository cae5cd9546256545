"""Points where chosen neurons are active, found by ascent, to show rarely visible differences.

Two large networks that differ in one weight differ only where the neuron of this weight and the
neuron that it comes from are both active, which may be far from all random points. Floats choose
directions and exact arithmetic takes the steps: the gradient of the wanted forms that are still
negative is rounded to small integers, and the best of some steps along it inside the polyhedron is
taken. The points are only candidates, and nothing is concluded from an ascent that fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.proofs.equivalence.witness import Mover, along
from polyrelu.proofs.trees.bounds import ScaledForms
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import HomogeneousPoint, NodePolyhedron, homogeneous
from polyrelu.proofs.trees.sparse_forms import SparseForm

__all__ = ["ascent_points", "atoms_to_activate"]


@dataclass(frozen=True, slots=True)
class AscentSettings:
    """Limits of the ascents.

    Attributes
    ----------
    max_steps
        Maximum number of steps of one ascent.
    step_sizes
        The multiples of a direction that one step tries.
    direction_size
        Largest absolute value of an entry in a direction; the entries are integers.
    boundary_share
        One more step that is tried goes this share of the way to the boundary of the polyhedron.
    max_atoms
        Maximum number of atoms of the difference for which an ascent is made.
    max_changed_columns
        Maximum number of columns in which the forms of one neuron before and after a change of its
        weights differ; forms that differ in more columns are taken for different neurons.
    """

    max_steps: int = 8
    step_sizes: tuple[Fraction, ...] = tuple(Fraction(4) ** k for k in range(-4, 2))
    direction_size: int = 8
    boundary_share: Fraction = Fraction(7, 8)
    max_atoms: int = 12
    max_changed_columns: int = 8


SETTINGS = AscentSettings()


def atoms_to_activate(joint: JointNetwork) -> list[list[int]]:
    """Return sets of atoms, by symbol, that should be active together to show a difference.

    Each set consists of an atom of the difference and of those atoms in its form whose coefficients
    differ from the coefficients of the same neuron in the other network.
    """
    forms = {atom.symbol: atom.form for atom in joint.atoms}
    last = [
        atom.symbol
        for atom in joint.atoms
        if any(atom.symbol in row.columns for row in joint.difference)
    ]
    found = []
    for symbol in last[: SETTINGS.max_atoms]:
        partners = [
            _changed_columns(forms[symbol], forms[other]) for other in last if other != symbol
        ]
        changed = min((columns for columns in partners if columns), key=len, default=[])
        found.append([symbol, *(column for column in changed if column > joint.dimension)])
    return found


def _changed_columns(form: SparseForm, other: SparseForm) -> list[int]:
    """Return the few columns in which two otherwise proportional forms are not proportional.

    The list is empty if there are too many such columns.
    """
    entries = dict(zip(*other, strict=True))
    if len(set(form.columns) ^ entries.keys()) > SETTINGS.max_changed_columns:
        return []
    ratios = {c: Fraction(x, entries[c]) for c, x in zip(*form, strict=True) if c in entries}
    if not ratios:
        return []
    usual = Counter(ratios.values()).most_common(1)[0][0]
    changed = [c for c in sorted({*form.columns, *entries}) if ratios.get(c) != usual]
    return changed if len(changed) <= SETTINGS.max_changed_columns else []


def ascent_points(
    joint: JointNetwork, polyhedron: NodePolyhedron, starts: Sequence[HomogeneousPoint], seed: int
) -> Iterator[HomogeneousPoint]:
    """Yield points on the ways from given points to where chosen atoms are active."""
    if not ScaledForms.is_affordable(joint):
        return
    ascent = _Ascent(joint, polyhedron, seed)
    for wanted in atoms_to_activate(joint):
        for start in starts:
            yield from ascent.points(wanted, start)


class _Ascent:
    def __init__(self, joint: JointNetwork, polyhedron: NodePolyhedron, seed: int) -> None:
        self._joint, self._polyhedron, self._sides = joint, polyhedron, polyhedron.sides()
        self._scaled, self._mover = ScaledForms(joint), Mover(polyhedron.constraints(), seed)

    def points(self, wanted: list[int], start: HomogeneousPoint) -> Iterator[HomogeneousPoint]:
        """Yield the points of an ascent from one point to where some atoms are active."""
        point = start
        for _ in range(SETTINGS.max_steps):
            values, _ = self._joint.values_at(point)
            missing = [symbol for symbol in wanted if values[symbol] <= 0]
            active = {symbol for symbol, value in values.items() if value > 0}
            if not missing:
                return
            direction = _integer_direction(self._scaled.gradient(missing, active))
            if not any(direction):
                return
            point = max(
                self._candidates(point, direction), key=lambda other: self._rank(wanted, other)
            )
            yield point

    def _candidates(self, point: HomogeneousPoint, direction: list[int]) -> list[HomogeneousPoint]:
        """Return the ends of steps of several lengths, with coordinates clamped to their sides."""
        found = [
            _clamped(along(point, direction, step), self._sides) for step in SETTINGS.step_sizes
        ]
        limit = self._mover.distance_to_boundary(point, direction)
        inside = [] if limit is None else [along(point, direction, limit * SETTINGS.boundary_share)]
        return [*filter(self._polyhedron.contains, found), *inside]

    def _rank(self, wanted: list[int], point: HomogeneousPoint) -> tuple[int, float]:
        """Return the number of wanted atoms that are active, and the lowest of their forms."""
        values, _ = self._joint.values_at(point)
        lowest = min(
            self._scaled.scaled_value(symbol, Fraction(values[symbol], point[0]))
            for symbol in wanted
        )
        return sum(values[symbol] > 0 for symbol in wanted), lowest


def _integer_direction(gradient: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    """Return small integers that are nearly proportional to a gradient."""
    size = float(np.max(np.abs(gradient), initial=0.0))
    if not (np.isfinite(size) and size > 0):
        return [0] * len(gradient)
    return [int(entry) for entry in np.round(SETTINGS.direction_size * gradient / size)]


def _clamped(
    point: HomogeneousPoint, sides: Mapping[tuple[int, int], Fraction]
) -> HomogeneousPoint:
    """Return the nearest point of the box of the sides."""
    values = []
    for j, entry in enumerate(point[1:], 1):
        value, low, high = Fraction(entry, point[0]), sides.get((j, 1)), sides.get((j, -1))
        value = value if low is None else max(value, low)
        values.append(value if high is None else min(value, high))
    return homogeneous(values)
