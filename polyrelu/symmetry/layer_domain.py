"""The set that a hidden layer acts on: R^n for the first one, the orthant u ≥ 0 for later ones, or a polyhedron.

What a neuron [w | b] does there depends on the sign of w·u + b: if it has both signs, its hyperplane meets the
interior, and the neuron bends. Which linear forms w can be made ≥ 0 by a bias is told by the recession cone, generated
by rays and lines: w·u is bounded below iff w·ray ≥ 0 for all rays and w·line = 0 for all lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import DomainError
from polyrelu.exact import (
    Infeasible,
    LinearProgram,
    Optimal,
    Polyhedron,
    RationalMatrix,
    kernel,
    row_basis,
)
from polyrelu.support.typing import IntegerRow, Vector

__all__ = ["LayerDomain"]


@dataclass(frozen=True, slots=True)
class LayerDomain:
    """A full-dimensional polyhedron with the generators of its recession cone.

    Attributes
    ----------
    polyhedron : the set.
    rays, lines : of its recession cone.
    kind : ``"space"``, ``"orthant"`` or ``"polyhedron"``; the first two need no linear programs.

    >>> LayerDomain.orthant(2).sign((1, 0, 3)), LayerDomain.whole_space(2).sign((1, 0, 3))
    (1, 0)
    """

    polyhedron: Polyhedron
    rays: tuple[IntegerRow, ...]
    lines: tuple[IntegerRow, ...]
    kind: str

    @classmethod
    def whole_space(cls, dimension: int) -> LayerDomain:
        """R^n."""
        return cls(Polyhedron.universe(dimension), (), _units(dimension), "space")

    @classmethod
    def orthant(cls, dimension: int) -> LayerDomain:
        """{u : u ≥ 0}."""
        return cls(Polyhedron.orthant(dimension), _units(dimension), (), "orthant")

    @classmethod
    def of(cls, polyhedron: Polyhedron) -> LayerDomain:
        """A polyhedron with interior.

        Raises
        ------
        DomainError : it is empty or flat.

        >>> LayerDomain.of(Polyhedron.box([0], [2])).sign((1, -1)), LayerDomain.of(Polyhedron.box([0], [2])).rays
        (0, ())
        """
        size = polyhedron.ambient_dimension
        if not polyhedron.inequalities and not polyhedron.equations:
            return cls.whole_space(size)
        if polyhedron == Polyhedron.orthant(size):
            return cls.orthant(size)
        if polyhedron.interior_point() is None:
            raise DomainError("the domain has no interior; give one of full dimension")
        if polyhedron.is_bounded():
            return cls(polyhedron, (), (), "polyhedron")
        found = _recession_cone(
            polyhedron
        ).generators()  # of the polyhedron itself there may be very many
        kind = "polyhedron" if len(found.lines) < size else "space"
        return cls(polyhedron, found.rays, found.lines, kind)

    @property
    def dimension(self) -> int:
        """n."""
        return self.polyhedron.ambient_dimension

    @property
    def bounded_dimension(self) -> int:
        """The dimension of the space of the linear forms that are bounded below."""
        return self.dimension - len(self.lines)

    def sign(self, row: Sequence[int | Fraction]) -> int:
        """The sign of w·u + b on the domain for a row [w | b]: 1 if it is ≥ 0 everywhere, and > 0 somewhere; -1 if it
        is ≤ 0 everywhere; 0 if it takes both signs."""
        if not any(row[:-1]):
            return 1 if row[-1] > 0 else -1
        if self.kind == "space":
            return 0
        if self.kind == "orthant":
            return 1 if min(row) >= 0 else -1 if max(row) <= 0 else 0
        least = self.least_bias(row[:-1])
        if least is not None and row[-1] >= least:
            return 1
        least = self.least_bias([-entry for entry in row[:-1]])
        return -1 if least is not None and -row[-1] >= least else 0

    def least_bias(self, form: Sequence[int | Fraction]) -> Fraction | None:
        """The least b with form·u + b ≥ 0 everywhere, or None if there is none.

        >>> LayerDomain.of(Polyhedron.box([-1, 0], [2, 1])).least_bias([1, -1])
        Fraction(2, 1)
        """
        if not self.allows(form):
            return None
        if self.kind != "polyhedron":
            return Fraction(0)
        best = self.polyhedron.maximize([-Fraction(entry) for entry in form])
        if not isinstance(best, Optimal):
            raise ArithmeticError(
                "a form that is bounded on the recession cone is unbounded"
            )  # pragma: no cover
        return best.value

    def allows(self, form: Sequence[int | Fraction]) -> bool:
        """Whether form·u is bounded below."""
        return all(_dot(form, ray) >= 0 for ray in self.rays) and not any(
            _dot(form, line) for line in self.lines
        )

    def positive_form(self) -> Vector:
        """A form that is > 0 on all rays and 0 on all lines: inside the cone of the forms that are bounded below.

        >>> LayerDomain.orthant(2).positive_form()
        (Fraction(1, 1), Fraction(1, 1))
        """
        size = self.dimension
        if self.kind == "orthant":
            return (Fraction(1),) * size
        if not self.rays:
            return (Fraction(0),) * size
        program = LinearProgram(size)
        program.add_inequalities(
            [[-entry for entry in ray] for ray in self.rays], [-1] * len(self.rays)
        )
        program.add_equations(self.lines, [0] * len(self.lines))
        found = program.feasible_point()
        if isinstance(found, Infeasible):
            raise ArithmeticError("a pointed cone has no positive form")  # pragma: no cover
        return found

    def forms_within(self, rows: RationalMatrix) -> tuple[RationalMatrix, Vector]:
        """The forms y·rows, for independent rows, that are bounded below: a basis, of forms like that, of the space
        that they span, and one of them from the relative interior.

        >>> basis, inside = LayerDomain.orthant(2).forms_within(RationalMatrix.from_rows([[1, -1]]))
        >>> basis.shape, inside
        ((0, 2), (Fraction(0, 1), Fraction(0, 1)))
        """
        count = rows.nrows
        on_rays = [tuple(-_dot(row, ray) for row in rows.rows()) for ray in self.rays]
        on_lines = [tuple(_dot(row, line) for row in rows.rows()) for line in self.lines]
        cone = Polyhedron.from_constraints(
            on_rays, [0] * len(on_rays), on_lines, [0] * len(on_lines), count
        )
        found = cone.relative_interior()
        if found is None:  # pragma: no cover - it contains 0
            raise ArithmeticError("a cone is empty")
        equations, inside = found
        multipliers = _around(cone, equations, inside)
        forms = RationalMatrix.from_rows(multipliers, ncols=count) @ rows
        return forms, (RationalMatrix.from_rows([inside], ncols=count) @ rows).row(0)


def _recession_cone(polyhedron: Polyhedron) -> Polyhedron:
    rows = [
        [(*row[:-1], 0) for row in part] for part in (polyhedron.inequalities, polyhedron.equations)
    ]
    return Polyhedron(polyhedron.ambient_dimension, tuple(rows[0]), tuple(rows[1]))


def _around(cone: Polyhedron, equations: Sequence[IntegerRow], inside: Vector) -> list[Vector]:
    """Independent points of a cone near a point of its relative interior, as many as its dimension."""
    size = len(inside)
    hull = RationalMatrix.from_integers([list(row[:-1]) for row in equations], ncols=size)
    points: list[Vector] = []
    for direction in kernel(hull).transpose().rows():
        step = _safe_step(cone, inside, direction)
        for sign in (1, -1):
            points.append(
                tuple(x + sign * step * d for x, d in zip(inside, direction, strict=True))
            )
    chosen = row_basis(RationalMatrix.from_rows(points, ncols=size)) if points else ()
    return [points[k] for k in chosen]


def _safe_step(cone: Polyhedron, inside: Vector, direction: Vector) -> Fraction:
    """A step along a direction of the affine hull that stays inside, both ways."""
    step = Fraction(1)
    for row in cone.inequalities:
        slope = abs(_dot(direction, row[:-1]))
        if slope:
            step = min(step, (row[-1] - _dot(inside, row[:-1])) / slope / 2)
    return step


def _units(size: int) -> tuple[IntegerRow, ...]:
    return tuple(tuple(int(i == j) for j in range(size)) for i in range(size))


def _dot(left: Sequence[int | Fraction], right: Sequence[int | Fraction]) -> Fraction:
    return sum((Fraction(a) * b for a, b in zip(left, right, strict=True)), Fraction())
