"""The polyhedra of a split tree: a domain in coordinates of its own, and the polyhedron of a node.

Proofs by split trees work in coordinates in which the domain has an interior, so that no form
vanishes on it by accident. `NodePolyhedron` follows the search from node to node and proves signs
of affine forms by linear programming. Inequalities are numbered as in certificates (FORMAT.md §5),
and multipliers refer to the certificate's inequalities, not to the scaled rows that are kept here.

A domain {A x ≤ c, E x = e} may have no interior. Its equations, including those implied by the
inequalities, are solved for the pivot columns of their reduced echelon form; the other columns are
the *coordinates* y. In them the domain has an interior, networks are expressions in y
(`expressions`), and equality on the domain is equality for all y.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from polyrelu.errors import DomainError
from polyrelu.exact import (
    Infeasible,
    InteriorPoint,
    LinearProgram,
    Polyhedron,
    RationalMatrix,
    Unbounded,
    rank,
    solve_integers,
)
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.sparse_forms import SparseForm, sparse_row
from polyrelu.support.budget import CertificateLimit
from polyrelu.support.limits import DEPTH_LIMIT_OF_TREES

__all__ = [
    "DomainCoordinates",
    "HomogeneousPoint",
    "NodePolyhedron",
    "NonnegativityProof",
    "homogeneous",
    "lifted_polyhedron",
    "value_sign",
]

#: A point y in homogeneous integers: (t, t y_1, …, t y_d), t > 0, in the order of the symbols.
HomogeneousPoint = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DomainCoordinates:
    """A nonempty domain with coordinates on its affine hull.

    Attributes
    ----------
    domain
        The domain of the claim: the inequalities as given, and the equations of the affine hull in
        echelon form.
    inputs
        The inputs x as affine forms in the coordinates y, shape (n, 1 + d), the constant in front.
    inequalities
        The domain's inequalities as sparse rows over (1, y), each meaning row ≥ 0; None where a row
        is constant.
    scales
        Row i is scales[i] · (c - a·x) for the domain's inequality i.
    inside
        A point x of the relative interior.
    """

    domain: Polyhedron
    inputs: RationalMatrix
    inequalities: tuple[SparseForm | None, ...]
    scales: tuple[int, ...]
    inside: tuple[Fraction, ...]

    @classmethod
    def of(cls, polyhedron: Polyhedron) -> DomainCoordinates:
        """Return the coordinates of a domain; raise `DomainError` if it is empty.

        >>> slanted = Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 0], [[1, 1]], [1])
        >>> print(DomainCoordinates.of(slanted).inputs)
        [1 -1]
        [0 1]
        """
        found = polyhedron.relative_interior()
        if found is None:
            raise DomainError("the domain is empty, so there is nothing to prove on it")
        equations, inside = found
        domain = Polyhedron(polyhedron.ambient_dimension, polyhedron.inequalities, equations)
        inputs = _solved(equations, polyhedron.ambient_dimension)
        forms = _over_coordinates(domain, inputs)
        rows = tuple(row if row.columns[-1:] > (0,) else None for row, _ in forms)
        return cls(domain, inputs, rows, tuple(scale for _, scale in forms), inside)

    @property
    def dimension(self) -> int:
        """The dimension d of the domain."""
        return self.inputs.ncols - 1

    @property
    def is_whole_space(self) -> bool:
        """Whether the domain is R^n, so that y is x."""
        return self.dimension == self.inputs.nrows and not self.inequalities

    def to_inputs(self, point: HomogeneousPoint) -> tuple[Fraction, ...]:
        """Return the inputs x at a point y."""
        if not self.domain.equations:
            return tuple(Fraction(entry, point[0]) for entry in point[1:])
        image = self.inputs @ RationalMatrix.from_integers([[entry] for entry in point], point[0])
        return tuple(image.entries())

    def to_coordinates(self, x: Sequence[Fraction]) -> HomogeneousPoint:
        """Return the coordinates y of a point x of the domain."""
        free = _free_columns(self.domain)
        common = math.lcm(*(x[j].denominator for j in free))
        return (common, *(x[j].numerator * (common // x[j].denominator) for j in free))


def _free_columns(domain: Polyhedron) -> list[int]:
    """Return the columns without a pivot of the domain's equations."""
    pivots = {next(j for j, entry in enumerate(row) if entry) for row in domain.equations}
    return [j for j in range(domain.ambient_dimension) if j not in pivots]


def _solved(equations: Sequence[tuple[int, ...]], size: int) -> RationalMatrix:
    """Return x in the free columns of equations in reduced echelon form, the constant in front."""
    if not equations:
        return RationalMatrix.zeros(size, 1).beside(RationalMatrix.identity(size))
    pivots = {next(j for j, entry in enumerate(row) if entry): row for row in equations}
    free = [j for j in range(size) if j not in pivots]
    table = []
    for j in range(size):
        if j not in pivots:
            table.append([Fraction(), *(Fraction(int(k == j)) for k in free)])
            continue
        row = pivots[j]
        table.append([Fraction(row[-1], row[j]), *(Fraction(-row[k], row[j]) for k in free)])
    return RationalMatrix.from_rows(table, ncols=1 + len(free))


def _over_coordinates(domain: Polyhedron, inputs: RationalMatrix) -> list[tuple[SparseForm, int]]:
    """Return c - a·x over (1, y) for each inequality, with the factor that makes it integer."""
    if not domain.equations:  # then y is x
        return [
            (sparse_row([row[-1], *(-entry for entry in row[:-1])]), 1)
            for row in domain.inequalities
        ]
    found = []
    for row in domain.inequalities:
        image = (
            RationalMatrix.from_integers([[-entry for entry in row[:-1]]], ncols=inputs.nrows)
            @ inputs
        )
        (form,), scale = image.integer_rows(), image.denominator
        found.append((sparse_row([form[0] + row[-1] * scale, *form[1:]]), scale))
    return found


def value_sign(form: SparseForm, point: HomogeneousPoint) -> int:
    """Return the sign of an affine form at a point."""
    value = sum(entry * point[column] for column, entry in zip(*form, strict=True))
    return (value > 0) - (value < 0)


class NonnegativityProof(NamedTuple):
    """Nonnegative multipliers of inequalities that prove a form to be nonnegative.

    Attributes
    ----------
    multipliers
        The multipliers that are not 0, by the number of the inequality in the certificate.
    """

    multipliers: dict[int, Fraction]


class NodePolyhedron:
    """The inequalities of the root, and form ≥ 0 for each split between the root and a node.

    Inequalities are numbered as in certificates: first the inequalities at the root, then the
    splits from the root down.
    """

    def __init__(
        self,
        dimension: int,
        rows: Sequence[SparseForm | None],
        scales: Sequence[int | Fraction],
        used: Sequence[int] | None = None,
    ) -> None:
        """Start at the root.

        Parameters
        ----------
        dimension
            The number of coordinates.
        rows, scales
            The inequalities at the root, as in `DomainCoordinates`.
        used
            The coordinates, from 1 on, that forms will contain; all of them by default. Rows that
            contain other coordinates are left out, and the other coordinates of points are 0.
        """
        self._size, self._root = dimension, len(rows)
        self._columns = list(range(1, 1 + dimension)) if used is None else list(used)
        present = {0, *self._columns}
        self._program: LinearProgram | None = None  # built on first use
        self._rows: list[SparseForm] = []  # meaning row ≥ 0
        self._numbers: list[int] = []  # of these rows
        self._scales: list[int | Fraction] = []  # row i is this multiple of the certificate's
        for number, (row, scale) in enumerate(zip(rows, scales, strict=True)):
            if row is not None and present.issuperset(row.columns):
                self._add(row, number, scale)
        self._base = len(self._numbers)

    @classmethod
    def at_root(cls, coordinates: DomainCoordinates) -> NodePolyhedron:
        """Return the polyhedron of the root, which is the domain itself."""
        return cls(coordinates.dimension, coordinates.inequalities, coordinates.scales)

    def _add(self, row: SparseForm, number: int, scale: int | Fraction) -> None:
        """Add an inequality with its number, and the scale of its multiplier in certificates."""
        if self._program is not None:
            self._program.add_inequalities(*self._inequalities([row]))
        self._rows.append(row)
        self._numbers.append(number)
        self._scales.append(scale)

    def _inequalities(self, rows: Sequence[SparseForm]) -> tuple[list[list[int]], list[int]]:
        """Return rows ≥ 0 as a·y ≤ c over the used coordinates."""
        left, right = [], []
        for row in rows:
            entries = dict(zip(*row, strict=True))
            right.append(entries.pop(0, 0))
            left.append([-entries.get(j, 0) for j in self._columns])
        return left, right

    def _linear_program(self) -> LinearProgram:
        if self._program is None:
            self._program = LinearProgram(len(self._columns))
            self._program.add_inequalities(*self._inequalities(self._rows))
        return self._program

    @property
    def depth(self) -> int:
        """The number of splits between the root and the node."""
        return len(self._numbers) - self._base

    def go_to(self, depth: int, cut: tuple[SparseForm, int] | None) -> None:
        """Go to the next node of a tree that is visited in prefix order.

        `depth` is the depth of the node; `cut` is the form and the factor of its own inequality
        (`push`), None at the root. Raises `CertificateLimit` beyond the depth that a certificate
        may have.
        """
        if depth > DEPTH_LIMIT_OF_TREES:
            raise CertificateLimit(f"the tree would have more than {DEPTH_LIMIT_OF_TREES} levels")
        while self.depth and self.depth >= depth:
            self.pop()
        if cut is not None:
            self.push(*cut)

    def push(self, form: SparseForm, factor: int) -> None:
        """Go down to the side form ≥ 0 of a split.

        Certificates speak of factor · form ≥ 0, factor > 0.
        """
        number = self._root + self.depth
        self._add(form, number, Fraction(1, factor))

    def pop(self) -> None:
        """Go up to the parent."""
        if self._program is not None:
            self._program.remove_last()
        self._rows.pop()
        self._numbers.pop()
        self._scales.pop()

    def sides(self) -> dict[tuple[int, int], Fraction]:
        """Return the bounds of coordinates at the root: lower at (j, 1), upper at (j, -1)."""
        found: dict[tuple[int, int], Fraction] = {}
        for row in self._rows[: self._base]:
            entries = dict(zip(*row, strict=True))
            constant = entries.pop(0, 0)
            if len(entries) == 1:
                ((j, entry),) = entries.items()
                sign, bound = (1 if entry > 0 else -1), Fraction(-constant, entry)
                known = found.get((j, sign), bound)
                found[j, sign] = max(known, bound) if sign > 0 else min(known, bound)
        return found

    def constraints(self) -> list[SparseForm]:
        """Return the rows over (1, y), each meaning row ≥ 0."""
        return list(self._rows)

    def numbered_constraints(self) -> list[tuple[int, SparseForm]]:
        """Return the rows over (1, y) with their numbers in certificates."""
        return list(zip(self._numbers, self._rows, strict=True))

    def prove_nonnegative(
        self, form: Mapping[int, int | Fraction]
    ) -> NonnegativityProof | HomogeneousPoint:
        """Prove that an affine form is nonnegative on the polyhedron, or return a counterexample.

        The form is given by columns. The polyhedron must not be empty.
        """
        row = [form.get(column, 0) for column in range(1 + self._size)]
        answer = self._linear_program().maximize([-row[j] for j in self._columns])
        if isinstance(answer, Infeasible):
            raise AssertionError("the polyhedron of a node has an interior")
        if isinstance(answer, Unbounded):
            return self._point_from(
                _point_on_ray(answer, [row[0], *(row[j] for j in self._columns)])
            )
        if answer.value > row[0]:
            return self._point_from(answer.point)
        return self.proof(answer.multipliers.rows)

    def prove_nonnegative_by(
        self, form: SparseForm, root: Collection[int], splits: Collection[int]
    ) -> NonnegativityProof | None:
        """Prove that a form is nonnegative by as many inequalities as there are coordinates.

        Parameters
        ----------
        form
            The form.
        root, splits
            The numbers of inequalities at the root, and of splits from the root down.

        Returns
        -------
        NonnegativityProof or None
            None if the inequalities are more or fewer, or dependent, or no proof.
        """
        numbers = {*root, *(self._root + split for split in splits)}
        places = [i for i, number in enumerate(self._numbers) if number in numbers]
        if len(places) != len(self._columns):
            return None
        (right,), (constant,) = self._inequalities([form])
        left, constants = self._inequalities([self._rows[i] for i in places])
        found = solve_integers(list(zip(*left, strict=True)), right)
        if found is None:
            return None
        numerators, denominator = found
        below = sum(a * b for a, b in zip(numerators, constants, strict=True))
        if min(numerators) < 0 or below > constant * denominator:
            return None
        multipliers = [Fraction(numerator, denominator) for numerator in numerators]
        return self.proof(dict(zip(places, multipliers, strict=True)))

    def proof(self, multipliers: Mapping[int, Fraction]) -> NonnegativityProof:
        """Return multipliers of the rows of `constraints` as multipliers in a certificate."""
        return NonnegativityProof(
            {
                self._numbers[i]: entry * self._scales[i]
                for i, entry in sorted(multipliers.items())
                if entry
            }
        )

    def are_independent(self, proof: NonnegativityProof) -> bool:
        """Whether the inequalities of a proof have independent linear parts."""
        place = {number: i for i, number in enumerate(self._numbers)}
        used = [self._rows[place[number]] for number in proof.multipliers]
        left, _ = self._inequalities(used)
        return not used or rank(RationalMatrix.from_integers(left)) == len(used)

    def interior_point(self) -> HomogeneousPoint:
        """Return a point strictly inside the polyhedron."""
        found = self._linear_program().interior_point()
        if not isinstance(found, InteriorPoint):
            raise AssertionError("the polyhedron of a node has an interior")
        return self._point_from(found.point)

    def _point_from(self, values: Sequence[Fraction]) -> HomogeneousPoint:
        """Return the point with the given values of the used coordinates."""
        entries = dict(zip(self._columns, values, strict=True))
        return homogeneous([entries.get(j, Fraction()) for j in range(1, 1 + self._size)])

    def contains(self, point: HomogeneousPoint) -> bool:
        """Return whether a point belongs to the polyhedron."""
        return all(value_sign(row, point) >= 0 for row in self._rows)


def lifted_polyhedron(joint: JointNetwork, coordinates: DomainCoordinates) -> NodePolyhedron:
    """Return the polyhedron of a joint network with lifted coordinates.

    Each lifted coordinate is at least 0 and at least the form of its atom. The polyhedron contains
    the point (y, activations at y) for every y in the domain.
    """
    rows, scales = list(coordinates.inequalities), list[int | Fraction](coordinates.scales)
    for atom in joint.lifted:
        columns = (*atom.form.columns, atom.symbol)
        above = SparseForm(columns, (*(-entry for entry in atom.form.numerators), 1))
        rows += [SparseForm((atom.symbol,), (1,)), above]
        scales += [1, 1]
    forms = [*joint.difference, *(atom.form for atom in joint.atoms)]
    used = {column for form in forms for column in form.columns if 0 < column <= joint.dimension}
    return NodePolyhedron(joint.dimension, rows, scales, sorted(used))


def homogeneous(point: Sequence[Fraction]) -> HomogeneousPoint:
    """Return a point y in homogeneous integers."""
    common = math.lcm(*(entry.denominator for entry in point))
    return (common, *(entry.numerator * (common // entry.denominator) for entry in point))


def _point_on_ray(answer: Unbounded, row: Sequence[int | Fraction]) -> list[Fraction]:
    """Return a point on an unbounded program's ray where the form is negative."""
    start, slope = (
        _value(row, answer.point),
        sum(a * b for a, b in zip(row[1:], answer.ray, strict=True)),
    )
    distance = max(math.ceil(-start / slope) + 1, 1)
    return [p + distance * r for p, r in zip(answer.point, answer.ray, strict=True)]


def _value(row: Sequence[int | Fraction], point: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row[1:], point, strict=True)), Fraction(row[0]))
