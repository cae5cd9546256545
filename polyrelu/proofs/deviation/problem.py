"""What is bounded: the maximum over a box of a combination of rows of outputs of two networks.

A clause is a set of rows, and stands for the least of them; the objective is the largest clause.
For the deviation there is a clause with one row for each output and sign. A property of a network
fails where all rows of a clause are positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from polyrelu.certificate import LinearRow
from polyrelu.exact import RationalMatrix
from polyrelu.network import Network
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.symmetry.matching import AlignedPair

__all__ = ["Clause", "ExactPoint", "Problem", "deviation_rows", "objective_of"]

ExactPoint: TypeAlias = tuple[Fraction, ...]
#: Indices of rows; the value is the least of them.
Clause: TypeAlias = tuple[int, ...]


_Number = TypeVar("_Number", int, float, Fraction)


@dataclass(frozen=True)
class Problem:
    """The maximum of an objective over a domain.

    Attributes
    ----------
    first, second
        The networks as they were given; the second one is None if there is only one.
    pair
        The same functions as aligned stacks of layers.
    rows, clauses
        The rows of outputs and the clauses.
    coordinates
        Where the maximum is taken: a bounded polyhedron with coordinates y.
    lower, upper
        The corners of the box around the domain, in the coordinates.
    chosen, constants
        Which row of another problem this is about, and the constants of its rows if they were
        changed (`changed`).
    """

    first: Network
    second: Network | None
    pair: AlignedPair
    rows: tuple[LinearRow, ...]
    clauses: tuple[Clause, ...]
    coordinates: DomainCoordinates
    lower: ExactPoint
    upper: ExactPoint
    chosen: int | None = None
    constants: tuple[Fraction, ...] | None = None

    def changed(
        self, chosen: int | None = None, constants: Sequence[Fraction] | None = None
    ) -> Problem:
        """Return the problem of one of the rows, or with other constants of all rows."""
        rows, clauses = self.rows, self.clauses
        if constants is not None:
            pairs = zip(rows, constants, strict=True)
            rows = tuple(replace(row, constant=constant) for row, constant in pairs)
        if chosen is not None:
            rows, clauses = (rows[chosen],), ((0,),)
        listed = None if constants is None else tuple(constants)
        return replace(self, rows=rows, clauses=clauses, chosen=chosen, constants=listed)

    @property
    def is_box(self) -> bool:
        """Whether the domain is the box, in the coordinates."""
        forms = (form for form in self.coordinates.inequalities if form is not None)
        return all(len(form.columns) <= 1 + (form.columns[0] == 0) for form in forms)

    @cached_property
    def double(self) -> FloatPair:
        """The layers and rows in float64, as functions of the coordinates."""
        return self.floats(np.float64)

    def floats(self, dtype: DTypeLike) -> FloatPair:
        """Return the layers and rows in floats, as functions of the coordinates."""
        return FloatPair(self.pair, self.rows, self.coordinates.inputs, dtype)

    @cached_property
    def float_sides(self) -> tuple[Floats, Floats]:
        """The inequalities of the domain in its coordinates, as rows a·y ≤ c in floats.

        Rows are divided by their largest entries. Shapes (inequalities, coordinates) and
        (inequalities,).
        """
        forms = [form for form in self.coordinates.inequalities if form is not None]
        table = np.zeros((len(forms), len(self.lower) + 1))
        for row, form in zip(table, forms, strict=True):
            size = max(map(abs, form.numerators))
            for column, entry in zip(*form, strict=True):
                row[column] = float(Fraction(entry, size))
        return -table[:, 1:], table[:, 0]

    def meets(self, low: Floats, high: Floats) -> NDArray[np.bool_]:
        """Return which boxes no side of the domain cuts off, in floats."""
        if self.is_box:
            return np.ones(len(low), dtype=bool)
        matrix, right = self.float_sides
        least = low @ np.maximum(matrix, 0).T + high @ np.minimum(matrix, 0).T
        return np.asarray((least <= right).all(axis=1))

    def to_inputs(self, y: ExactPoint) -> ExactPoint:
        """Return the inputs at a point of the coordinates."""
        if not self.coordinates.domain.equations:
            return y
        column = RationalMatrix.column([Fraction(1), *y])
        return tuple((self.coordinates.inputs @ column).entries())

    @cached_property
    def size(self) -> int:
        """Number of weights and biases of the networks."""
        networks = (self.first,) if self.second is None else (self.first, self.second)
        return sum(network.num_parameters for network in networks)

    def exact_objective(self, rows: Sequence[Fraction]) -> Fraction:
        """Return the objective for exact values or bounds of the rows."""
        return objective_of(rows, self.clauses)

    def values(self, points: Sequence[ExactPoint]) -> list[Fraction]:
        """Return the exact objective at points."""
        ours = self.first.evaluate(points)
        theirs = [()] * len(points) if self.second is None else self.second.evaluate(points)
        found = []
        for x, f, g in zip(points, ours, theirs, strict=True):
            rows = [row_value(row, x, f, g) for row in self.rows]
            found.append(self.exact_objective(rows))
        return found

    def objective(self, rows: Floats) -> Floats:
        """Return the objective for values or bounds of the rows, shape (…, rows)."""
        if all(len(clause) == 1 for clause in self.clauses):
            best: Floats = rows[..., [clause[0] for clause in self.clauses]].max(axis=-1)
            return best
        least: Floats = np.stack([rows[..., list(c)].min(axis=-1) for c in self.clauses])
        largest: Floats = least.max(axis=0)
        return largest

    def open_rows(self, rows: Floats, limit: float) -> NDArray[np.bool_]:
        """Return which rows belong to clauses that exceed a limit, for rows of shape (k, rows)."""
        is_open = np.zeros(rows.shape, dtype=bool)
        for clause in map(list, self.clauses):
            least = rows[:, clause].min(axis=1)
            is_open[:, clause] |= (least > np.float64(limit))[:, None]  # not rounded to float32
        return is_open

    def deciding_rows(self, rows: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Return the index of the row that decides the objective, for rows of shape (k, rows)."""
        if all(len(clause) == 1 for clause in self.clauses):
            alone = np.array([clause[0] for clause in self.clauses], dtype=np.intp)
            largest: np.ndarray[tuple[int], np.dtype[np.intp]] = alone[
                rows[:, alone].argmax(axis=1)
            ]
            return largest
        least = np.stack([rows[:, list(c)].min(axis=1) for c in self.clauses], axis=1)
        worst = least.argmax(axis=1)
        found = [
            self.clauses[c][int(values[list(self.clauses[c])].argmin())]
            for c, values in zip(worst, rows, strict=True)
        ]
        return np.array(found, dtype=np.intp)


def deviation_rows(num_outputs: int, outputs: Sequence[int] | None = None) -> tuple[LinearRow, ...]:
    """Return the rows f_i - g_i and g_i - f_i of some outputs, all by default."""
    one = Fraction(1)
    found = []
    for i in range(num_outputs) if outputs is None else outputs:
        found += [LinearRow({i: one}, {i: -one}), LinearRow({i: -one}, {i: one})]
    return tuple(found)


def objective_of(rows: Sequence[_Number], clauses: Sequence[Sequence[int]]) -> _Number:
    """Return the largest value of a clause, which is the least one of its rows.

    >>> objective_of([3, 1, 2], [(0, 1), (2,)])
    2
    """
    return max(min(rows[i] for i in clause) for clause in clauses)


def row_value(
    row: LinearRow, x: Sequence[Fraction], f: Sequence[Fraction], g: Sequence[Fraction]
) -> Fraction:
    """Return the value of a row at a point with the outputs of both networks there."""
    pairs = ((row.x, x), (row.f, f), (row.g, g))
    return row.constant + sum(a * values[i] for part, values in pairs for i, a in part.items())
