"""The domain of a hidden layer: R^n for the first layer, the orthant for later ones, or another.

A neuron [w | b] with both signs on the domain has its hyperplane meet the interior and is nonlinear
there; a neuron with one sign is affine. Provers of statements about one layer ask a `LayerDomain`
which case holds, and which linear forms a bias can make nonnegative.

A linear form w·u is bounded below on the domain if and only if it is nonnegative on the recession
cone: w·ray ≥ 0 for all of its rays and w·line = 0 for all of its lines.
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
    dot,
    kernel,
    row_basis,
)
from polyrelu.support.arguments import expect, expect_choice, expect_count, expect_list
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import IntegerRow, Vector

__all__ = ["LayerDomain"]


@dataclass(frozen=True, slots=True, repr=False)
class LayerDomain:
    """A full-dimensional polyhedron with the generators of its recession cone.

    Attributes
    ----------
    polyhedron
        The set.
    rays
        Rays of its recession cone, primitive integer vectors.
    lines
        A basis of its lineality space, primitive integer vectors.
    kind
        One of "space", "orthant" and "polyhedron"; the first two need no linear programs.

    Examples
    --------
    >>> LayerDomain.orthant(2).sign((1, 0, 3)), LayerDomain.whole_space(2).sign((1, 0, 3))
    (1, 0)
    """

    polyhedron: Polyhedron
    rays: tuple[IntegerRow, ...]
    lines: tuple[IntegerRow, ...]
    kind: str

    def __post_init__(self) -> None:
        expect(self.polyhedron, Polyhedron, "polyhedron", "LayerDomain.of makes a domain of it")
        expect_choice(self.kind, ("space", "orthant", "polyhedron"), "kind")

    @classmethod
    def whole_space(cls, dimension: int) -> LayerDomain:
        """Return the domain R^n."""
        dimension = expect_count(dimension, "dimension")
        return cls(Polyhedron.universe(dimension), (), _units(dimension), "space")

    @classmethod
    def orthant(cls, dimension: int) -> LayerDomain:
        """Return the domain {u : u ≥ 0}."""
        dimension = expect_count(dimension, "dimension")
        return cls(Polyhedron.orthant(dimension), _units(dimension), (), "orthant")

    @classmethod
    def of(cls, polyhedron: Polyhedron) -> LayerDomain:
        """Return the domain of a polyhedron with interior.

        Parameters
        ----------
        polyhedron
            A full-dimensional polyhedron.

        Returns
        -------
        LayerDomain
            The domain.

        Raises
        ------
        DomainError
            The polyhedron is empty or flat.

        Examples
        --------
        >>> domain = LayerDomain.of(Polyhedron.box([0], [2]))
        >>> domain.sign((1, -1)), domain.rays
        (0, ())
        """
        polyhedron = expect(polyhedron, Polyhedron, "polyhedron", "parse_domain reads texts")
        size = polyhedron.ambient_dimension
        if not polyhedron.inequalities and not polyhedron.equations:
            return cls.whole_space(size)
        if polyhedron == Polyhedron.orthant(size):
            return cls.orthant(size)
        if polyhedron.interior_point() is None:
            raise DomainError("the domain has no interior; give one of full dimension")
        if polyhedron.is_bounded():
            return cls(polyhedron, (), (), "polyhedron")
        # The polyhedron itself may have very many vertices.
        cone = _recession_cone(polyhedron).generators()
        kind = "polyhedron" if len(cone.lines) < size else "space"
        return cls(polyhedron, cone.rays, cone.lines, kind)

    @property
    def dimension(self) -> int:
        """The dimension n of the space and of the domain."""
        return self.polyhedron.ambient_dimension

    @property
    def bounded_dimension(self) -> int:
        """The dimension of the cone of linear forms that are bounded below."""
        return self.dimension - len(self.lines)

    def sign(self, row: Sequence[int | Fraction]) -> int:
        """Return the sign of an affine form on the domain.

        Parameters
        ----------
        row
            The form w·u + b as [w | b], shape (n + 1,).

        Returns
        -------
        int
            1 if the form is ≥ 0 everywhere and > 0 somewhere; -1 if it is ≤ 0 everywhere; 0 if it
            takes both signs.

        Raises
        ------
        DomainError
            The form has more or fewer than n + 1 entries.
        """
        self._need_length(row, self.dimension + 1)
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
        """Return the least b with form·u + b ≥ 0 everywhere, or None if there is none.

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
        """Return whether the linear form form·u is bounded below."""
        self._need_length(form, self.dimension)
        return all(dot(form, ray) >= 0 for ray in self.rays) and not any(
            dot(form, line) for line in self.lines
        )

    def positive_form(self) -> Vector:
        """Return a linear form that is > 0 on all rays and 0 on all lines.

        It lies in the relative interior of the cone of forms that are bounded below.

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
        form = program.feasible_point()
        if isinstance(form, Infeasible):
            raise ArithmeticError("a pointed cone has no positive form")  # pragma: no cover
        return form

    def forms_within(self, rows: RationalMatrix) -> tuple[RationalMatrix, Vector]:
        """Describe the cone of the forms y·rows that are bounded below on the domain.

        Parameters
        ----------
        rows
            Independent linear forms, shape (k, n).

        Returns
        -------
        tuple of RationalMatrix and Vector
            Forms of the cone that are a basis of its linear span, as rows; and a form in the
            relative interior of the cone.

        Examples
        --------
        >>> basis, inside = LayerDomain.orthant(2).forms_within(RationalMatrix.from_rows([[1, -1]]))
        >>> basis.shape, inside
        ((0, 2), (Fraction(0, 1), Fraction(0, 1)))
        """
        rows = expect(rows, RationalMatrix, "rows", "RationalMatrix.from_rows makes one")
        if rows.ncols != self.dimension:
            raise DomainError(
                f"rows: {rows.ncols} columns, but the domain lies in R^{self.dimension}"
            )
        count = rows.nrows
        on_rays = [tuple(-dot(row, ray) for row in rows.rows()) for ray in self.rays]
        on_lines = [tuple(dot(row, line) for row in rows.rows()) for line in self.lines]
        cone = Polyhedron.from_constraints(
            on_rays, [0] * len(on_rays), on_lines, [0] * len(on_lines), count
        )
        interior = cone.relative_interior()
        if interior is None:  # pragma: no cover - the cone contains 0
            raise ArithmeticError("a cone is empty")
        equations, inside = interior
        multipliers = _spanning_points(cone, equations, inside)
        forms = RationalMatrix.from_rows(multipliers, ncols=count) @ rows
        return forms, (RationalMatrix.from_rows([inside], ncols=count) @ rows).row(0)

    def _need_length(self, form: Sequence[int | Fraction], size: int) -> None:
        """Raise an error unless a form has that many entries."""
        if not isinstance(form, tuple | list):
            expect_list(form, "form")
        if len(form) != size:
            raise DomainError(
                f"a form of {len(form)} entries on a domain in R^{self.dimension}; give {size}"
            )

    def __repr__(self) -> str:
        if self.kind != "polyhedron":
            name = "whole space" if self.kind == "space" else self.kind
            return bracketed(f"LayerDomain, the {name} in R^{self.dimension}")
        counts = [(len(self.rays), "ray"), (len(self.lines), "line")]
        return bracketed(f"LayerDomain, a polyhedron in R^{self.dimension}, {count_text(counts)}")


def _recession_cone(polyhedron: Polyhedron) -> Polyhedron:
    """The cone of the directions in which the polyhedron is unbounded."""
    rows = [
        [(*row[:-1], 0) for row in part] for part in (polyhedron.inequalities, polyhedron.equations)
    ]
    return Polyhedron(polyhedron.ambient_dimension, tuple(rows[0]), tuple(rows[1]))


def _spanning_points(
    cone: Polyhedron, equations: Sequence[IntegerRow], inside: Vector
) -> list[Vector]:
    """Independent points of a cone, as many as its dimension, near a relative interior point."""
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
    """A step along a direction of the affine hull that stays inside the cone in both senses."""
    step = Fraction(1)
    for row in cone.inequalities:
        slope = abs(dot(direction, row[:-1]))
        if slope:
            step = min(step, (row[-1] - dot(inside, row[:-1])) / slope / 2)
    return step


def _units(size: int) -> tuple[IntegerRow, ...]:
    """The unit vectors."""
    return tuple(tuple(int(i == j) for j in range(size)) for i in range(size))
