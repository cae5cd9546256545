"""Points where chosen neurons are active: where a difference may show that random points do not see.

Two large networks that differ in one weight differ only where the neuron of that weight and the neuron it comes from
are both active, which may be nowhere near a random point. Floats climb: the gradient of the wanted forms that are still
negative gives a direction, rounded to small integers; exact arithmetic moves along it, inside the polyhedron, and
evaluates. Nothing is concluded from a climb that fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from polyrelu.proofs.equivalence.witness import Mover, along
from polyrelu.proofs.trees.bounds import ScaledForms
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import NodePolyhedron, Point, homogeneous
from polyrelu.proofs.trees.sparse_forms import SparseForm

__all__ = ["climbing_points", "suspects"]

#: Steps of a climb, their sizes (a direction has entries up to 8), and terms that are looked at.
_STEPS, _SCALES, _TERMS = 8, tuple(Fraction(4) ** k for k in range(-4, 2)), 12
#: Two forms that differ in more columns than this are not the same neuron with changed weights.
_FEW = 8


def suspects(joint: JointNetwork) -> list[list[int]]:
    """Sets of atoms that should be active together for a difference to show, by symbol: an atom of the difference, and
    those in its form whose coefficients differ from the same neuron's in the other network."""
    forms = {atom.symbol: atom.form for atom in joint.atoms}
    last = [
        atom.symbol
        for atom in joint.atoms
        if any(atom.symbol in row.columns for row in joint.difference)
    ]
    found = []
    for symbol in last[:_TERMS]:
        partners = [_changed(forms[symbol], forms[other]) for other in last if other != symbol]
        changed = min((columns for columns in partners if columns), key=len, default=[])
        found.append([symbol, *(column for column in changed if column > joint.dimension)])
    return found


def _changed(form: SparseForm, other: SparseForm) -> list[int]:
    """The columns in which a form is not the multiple of another one that it is elsewhere; none if there are many."""
    theirs = dict(zip(*other, strict=True))
    if len(set(form.columns) ^ theirs.keys()) > _FEW:
        return []
    ratios = {c: Fraction(x, theirs[c]) for c, x in zip(*form, strict=True) if c in theirs}
    if not ratios:
        return []
    usual = Counter(ratios.values()).most_common(1)[0][0]
    changed = [c for c in sorted({*form.columns, *theirs}) if ratios.get(c) != usual]
    return changed if len(changed) <= _FEW else []


def climbing_points(
    joint: JointNetwork, path: NodePolyhedron, starts: Sequence[Point], seed: int
) -> Iterator[Point]:
    """Points of a polyhedron on the way to where suspects are active, from the given ones."""
    if not ScaledForms.is_affordable(joint):
        return
    climb = _Climb(joint, path, seed)
    for wanted in suspects(joint):
        for start in starts:
            yield from climb.points(wanted, start)


class _Climb:
    def __init__(self, joint: JointNetwork, path: NodePolyhedron, seed: int) -> None:
        self._joint, self._path, self._sides = joint, path, path.sides()
        self._scaled, self._mover = ScaledForms(joint), Mover(path.constraints(), seed)

    def points(self, wanted: list[int], start: Point) -> Iterator[Point]:
        """Points on the way from one point to where some atoms are active."""
        point = start
        for _ in range(_STEPS):
            values, _ = self._joint.values_at(point)
            missing = [symbol for symbol in wanted if values[symbol] <= 0]
            active = {symbol for symbol, value in values.items() if value > 0}
            direction = _direction(self._scaled.gradient(missing, active)) if missing else []
            if not any(direction):
                return
            point = max(
                self._steps(point, direction), key=lambda other: self._height(wanted, other)
            )
            yield point

    def _steps(self, point: Point, direction: list[int]) -> list[Point]:
        """Steps of several lengths, coordinates stopping at their sides."""
        found = [_stopped(along(point, direction, step), self._sides) for step in _SCALES]
        room = self._mover.room(point, direction)
        inside = [along(point, direction, room * Fraction(7, 8))] if room is not None else []
        return [*filter(self._path.contains, found), *inside]

    def _height(self, wanted: list[int], point: Point) -> tuple[int, float]:
        """How many of the wanted atoms are active at a point, and the lowest of their forms."""
        values, _ = self._joint.values_at(point)
        lowest = min(
            self._scaled.scaled_value(symbol, Fraction(values[symbol], point[0])) for symbol in wanted
        )
        return sum(values[symbol] > 0 for symbol in wanted), lowest


def _direction(gradient: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    """A gradient in integers from -8 to 8."""
    size = float(np.max(np.abs(gradient), initial=0.0))
    if not (np.isfinite(size) and size > 0):
        return [0] * len(gradient)
    return [int(entry) for entry in np.round(8 * gradient / size)]


def _stopped(point: Point, sides: Mapping[tuple[int, int], Fraction]) -> Point:
    """The nearest point of the box of the sides."""
    values = []
    for j, entry in enumerate(point[1:], 1):
        value, low, high = Fraction(entry, point[0]), sides.get((j, 1)), sides.get((j, -1))
        value = value if low is None else max(value, low)
        values.append(value if high is None else min(value, high))
    return homogeneous(values)
