"""Rational polyhedra {x : A x ≤ c, E x = e} by their constraints.

Polyhedra may be unbounded, empty, of any dimension, and contain lines. Questions about one point or
one direction are linear programs. Vertices, projections and images are conversions between the
H-representation and the V-representation by PPL, whose cost is exponential in the worst case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact.linalg import kernel
from polyrelu.exact.lp import FlatSet, Infeasible, LinearProgram, Optimal, Unbounded
from polyrelu.exact.lp.parsing import Numbers, read_bounds, read_index, read_number, read_rows
from polyrelu.exact.lp.results import Point
from polyrelu.exact.matrix import RationalMatrix
from polyrelu.exact.ppl.client import constraints_of, generators_of
from polyrelu.exact.rational import format_integer, primitive
from polyrelu.exact.redundancy import (
    irredundant_rows,
    positive_primitive,
    reduced_equations,
    reduced_inequality,
)
from polyrelu.exact.vectors import dot
from polyrelu.support.arguments import expect, expect_count, expect_list
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import IntegerRow

__all__ = ["Generators", "Polyhedron"]


@dataclass(frozen=True, slots=True, repr=False)
class Generators:
    """A minimal V-representation conv(points) + cone(rays) + span(lines).

    Attributes
    ----------
    points
        The vertices, if there are no lines; otherwise one point of each minimal face. The empty set
        has no points.
    rays
        Primitive integer vectors, unique up to the lines.
    lines
        Primitive integer vectors, a basis of the lineality space.

    Examples
    --------
    >>> Polyhedron.orthant(1).generators()
    <Generators, 1 point, 1 ray, 0 lines>
    """

    points: tuple[Point, ...]
    rays: tuple[IntegerRow, ...]
    lines: tuple[IntegerRow, ...]

    def __repr__(self) -> str:
        counts = [(len(self.points), "point"), (len(self.rays), "ray"), (len(self.lines), "line")]
        return bracketed(f"Generators, {count_text(counts)}")


@dataclass(frozen=True, slots=True, repr=False)
class Polyhedron:
    """The set {x ∈ R^n : A x ≤ c, E x = e} by its constraints.

    Polyhedra are equal (==) if their rows are; `equals` compares the sets.

    Attributes
    ----------
    ambient_dimension
        The dimension n of the space.
    inequalities
        Primitive integer rows [a | c], meaning a·x ≤ c, in the given order.
    equations
        Primitive integer rows [a | c], meaning a·x = c, in the given order.

    Raises
    ------
    DomainError
        A row is not a tuple of n + 1 integers; `from_constraints` takes other numbers and lists.

    Examples
    --------
    >>> triangle = Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [0, 0, "1/2"])
    >>> triangle.inequalities
    ((-1, 0, 0), (0, -1, 0), (2, 2, 1))
    >>> triangle.generators().points[1:]
    ((Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 2), Fraction(0, 1)))
    """

    ambient_dimension: int
    inequalities: tuple[IntegerRow, ...] = ()
    equations: tuple[IntegerRow, ...] = ()

    def __post_init__(self) -> None:
        if type(self.ambient_dimension) is not int or self.ambient_dimension < 0:
            raise DomainError(
                f"the ambient dimension must be 0 or more, got {self.ambient_dimension!r}"
            )
        if not (isinstance(self.inequalities, tuple) and isinstance(self.equations, tuple)):
            raise DomainError(
                "inequalities and equations must be tuples; "
                "Polyhedron.from_constraints takes any lists"
            )
        for row in (*self.inequalities, *self.equations):
            if (
                not isinstance(row, tuple)
                or len(row) != self.ambient_dimension + 1
                or not set(map(type, row)) <= {int}
            ):
                raise DomainError(
                    f"a row must be a tuple of {self.ambient_dimension + 1} integers (a, c), "
                    f"not {str(row)[:60]}; Polyhedron.from_constraints takes any numbers"
                )

    # -- construction -----------------------------------------------------------------------------

    @classmethod
    def from_constraints(
        cls,
        matrix: Sequence[Numbers] | RationalMatrix,
        right: Numbers,
        equations: Sequence[Numbers] | RationalMatrix = (),
        equations_right: Numbers = (),
        ambient_dimension: int | None = None,
    ) -> Polyhedron:
        """Build the polyhedron {x : matrix x ≤ right, equations x = equations_right}.

        Parameters
        ----------
        matrix
            Coefficients of the inequalities, exact numbers, shape (m, n).
        right
            Right-hand sides of the inequalities, shape (m,).
        equations
            Coefficients of the equations, shape (k, n).
        equations_right
            Right-hand sides of the equations, shape (k,).
        ambient_dimension
            The dimension n, needed only if there are no rows.

        Returns
        -------
        Polyhedron
            The polyhedron.

        Raises
        ------
        DomainError
            The shapes do not fit, or an entry is not an exact number.
        """
        size = _width(ambient_dimension, matrix, equations)
        return cls(
            size,
            _primitive_rows(matrix, right, size),
            _primitive_rows(equations, equations_right, size),
        )

    @classmethod
    def universe(cls, ambient_dimension: int) -> Polyhedron:
        """Return the space R^n."""
        return cls(ambient_dimension)

    @classmethod
    def orthant(cls, ambient_dimension: int) -> Polyhedron:
        """Return the orthant {x : x ≥ 0}."""
        size = expect_count(ambient_dimension, "ambient_dimension")
        return cls.box([0] * size, [None] * size)

    @classmethod
    def box(cls, lower: Sequence[object], upper: Sequence[object]) -> Polyhedron:
        """Build the box {x : lower ≤ x ≤ upper}.

        Parameters
        ----------
        lower
            Lower bounds, None where there is no bound, shape (n,).
        upper
            Upper bounds, None where there is no bound, shape (n,).

        Returns
        -------
        Polyhedron
            The box; it may be empty or unbounded.

        Examples
        --------
        >>> Polyhedron.box([0, None], [1, 3]).inequalities
        ((-1, 0, 0), (1, 0, 1), (0, 1, 3))
        """
        lower, upper = expect_list(lower, "lower"), expect_list(upper, "upper")
        size = len(lower)
        rows: list[IntegerRow] = []
        for j, (low, up) in enumerate(
            zip(read_bounds(lower, size), read_bounds(upper, size), strict=True)
        ):
            for sign, bound in ((-1, low), (1, up)):
                if bound is not None:
                    row = [0] * (size + 1)
                    row[j], row[-1] = sign * bound.denominator, sign * bound.numerator
                    rows.append(tuple(row))
        return cls(size, tuple(rows))

    @classmethod
    def from_generators(
        cls,
        points: Sequence[Numbers],
        rays: Sequence[Numbers] = (),
        lines: Sequence[Numbers] = (),
        ambient_dimension: int | None = None,
    ) -> Polyhedron:
        """Build the polyhedron conv(points) + cone(rays) + span(lines).

        Parameters
        ----------
        points
            Points, shape (p, n); without points the set is empty.
        rays
            Directions, shape (r, n); zero rows are ignored.
        lines
            Directions of lines, shape (l, n); zero rows are ignored.
        ambient_dimension
            The dimension n, needed only if there are no rows.

        Returns
        -------
        Polyhedron
            The polyhedron with a minimal set of constraints.

        Raises
        ------
        DomainError
            The shapes do not fit, or there are rays or lines without a point.

        Examples
        --------
        >>> Polyhedron.from_generators([[0, 0]], rays=[[1, 0], [1, 1]]).inequalities
        ((-1, 1, 0), (0, -1, 0))
        """
        points, rays = expect_list(points, "points"), expect_list(rays, "rays")
        lines = expect_list(lines, "lines")
        size = _width(ambient_dimension, points, rays, lines)
        if not len(points):
            if len(rays) or len(lines):
                raise DomainError(
                    "rays and lines without a point generate nothing; "
                    "add a point, such as the origin"
                )
            return _empty(size)
        vertices, scales = read_rows(points, [0] * len(points), size)
        cleared = [[*row[:-1], scale] for row, scale in zip(vertices, scales, strict=True)]
        inequalities, equations = constraints_of(
            size, cleared, _directions(rays, size), _directions(lines, size)
        )
        return cls(size, _as_rows(inequalities), _as_rows(equations))

    # -- points and directions --------------------------------------------------------------------

    @property
    def sha256(self) -> str:
        """Hash of the dimension and the rows; equal polyhedra (==) have the same one.

        >>> Polyhedron.box([0], [1]).sha256 == Polyhedron.box([0], [2]).sha256
        False
        """
        parts = "\n=\n".join(
            "\n".join(" ".join(map(format_integer, row)) for row in rows)
            for rows in (self.inequalities, self.equations)
        )
        return hashlib.sha256(f"{self.ambient_dimension}\n{parts}".encode("ascii")).hexdigest()

    def program(self) -> LinearProgram:
        """Return a new linear program with the inequalities first, then the equations."""
        program = LinearProgram(self.ambient_dimension)
        program.add_inequalities(*_split(self.inequalities))
        program.add_equations(*_split(self.equations))
        return program

    def contains(self, point: Numbers) -> bool:
        """Return whether a point satisfies all constraints.

        >>> Polyhedron.orthant(2).contains([0, "1/3"])
        True
        """
        if not isinstance(point, tuple | list):
            point = expect_list(point, "point")
        if len(point) != self.ambient_dimension:
            raise DomainError(
                f"the point has {len(point)} coordinates, "
                f"the polyhedron lies in R^{self.ambient_dimension}"
            )
        x = [read_number(entry, f"coordinate {j}") for j, entry in enumerate(point)]
        return all(_excess(row, x) <= 0 for row in self.inequalities) and not any(
            _excess(r, x) for r in self.equations
        )

    def __contains__(self, point: Numbers) -> bool:
        return self.contains(point)

    def __repr__(self) -> str:
        counts = [(len(self.inequalities), "inequality"), (len(self.equations), "equation")]
        return bracketed(f"Polyhedron in R^{self.ambient_dimension}, {count_text(counts)}")

    def maximize(self, objective: Numbers) -> Optimal | Unbounded | Infeasible:
        """Maximise a linear form over the polyhedron: see `LinearProgram.maximize`."""
        return self.program().maximize(objective)

    def is_empty(self) -> bool:
        """Return whether the polyhedron has no point."""
        return self._middle() is None and isinstance(self.program().feasible_point(), Infeasible)

    def interior_point(self) -> Point | None:
        """Return a point of the interior in R^n, or None if the interior is empty."""
        interior = self.relative_interior()
        return None if interior is None or interior[0] else interior[1]

    def relative_interior_point(self) -> Point | None:
        """Return a point of the relative interior, or None if the polyhedron is empty."""
        interior = self.relative_interior()
        return None if interior is None else interior[1]

    def affine_hull(self) -> tuple[IntegerRow, ...]:
        """Return the affine hull of a polyhedron that is not empty.

        Returns
        -------
        tuple of IntegerRow
            Equations [a | c] in reduced echelon form.

        Raises
        ------
        DomainError
            The polyhedron is empty.

        Examples
        --------
        >>> Polyhedron.box([0, 1], [2, 1]).affine_hull()
        ((0, 1, 1),)
        """
        interior = self.relative_interior()
        if interior is None:
            raise DomainError("the empty set has no affine hull")
        return interior[0]

    def relative_interior(self) -> tuple[tuple[IntegerRow, ...], Point] | None:
        """Return the affine hull and a point of the relative interior; None for the empty set.

        >>> Polyhedron.box([0, 1], [2, 1]).relative_interior()[1]
        (Fraction(1, 1), Fraction(1, 1))
        """
        middle = self._middle()
        return _implicit_equations(self) if middle is None else ((), middle)

    def _middle(self) -> Point | None:
        """Find a point strictly inside without linear programs; None if that does not apply.

        It applies if there are no equations and every inequality bounds a single coordinate.
        """
        sides = None if self.equations else self._sides()
        if sides is None:
            return None
        point = []
        for j in range(self.ambient_dimension):
            low, high = sides.get((j, -1)), sides.get((j, 1))
            if low is not None and high is not None and low >= high:
                return None
            low = low if low is not None else Fraction(-1) if high is None else high - 2
            high = high if high is not None else low + 2
            point.append((low + high) / 2)
        return tuple(point)

    @property
    def dimension(self) -> int:
        """The dimension of the set; -1 if it is empty."""
        interior = self.relative_interior()
        return -1 if interior is None else self.ambient_dimension - len(interior[0])

    def lineality_space(self) -> tuple[IntegerRow, ...]:
        """Return a basis of the lineality space {d : x + R d inside for every point x inside}.

        Returns
        -------
        tuple of IntegerRow
            Primitive integer vectors.

        Raises
        ------
        DomainError
            The polyhedron is empty.

        Examples
        --------
        >>> Polyhedron.from_constraints([[1, 1]], [0]).lineality_space()
        ((1, -1),)
        """
        if self.is_empty():
            raise DomainError("the empty set has no lineality space")
        return self._lines()

    def _lines(self) -> tuple[IntegerRow, ...]:
        """Return the lineality space of a set that is not empty: the kernel of all normals."""
        rows = [row[:-1] for row in (*self.inequalities, *self.equations)]
        basis = kernel(RationalMatrix.from_integers(rows, ncols=self.ambient_dimension)).transpose()
        return tuple(primitive(row)[0] for row in basis.rows())

    def is_bounded(self) -> bool:
        """Return whether the polyhedron is bounded; the empty set is."""
        if self.is_empty():
            return True
        if self._lines():
            return False
        cone = Polyhedron(
            self.ambient_dimension,
            tuple((*row[:-1], 0) for row in self.inequalities),
            tuple((*row[:-1], 0) for row in self.equations),
        )
        # The recession cone {d : A d ≤ 0, E d = 0}, which is pointed, is {0} if and only if the sum
        # of its slacks cannot grow.
        objective = [
            -sum(column) for column in zip(*(row[:-1] for row in self.inequalities), strict=True)
        ]
        return isinstance(cone.maximize(objective or [0] * self.ambient_dimension), Optimal)

    def bounding_box(self) -> tuple[Point, Point] | None:
        """Compute the smallest box around a polyhedron that is not empty.

        Returns
        -------
        tuple of two points, or None
            The least and the greatest corner; None if the polyhedron is unbounded.

        Raises
        ------
        DomainError
            The polyhedron is empty.

        Examples
        --------
        >>> Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 2]], [0, 0, 1]).bounding_box()
        ((Fraction(0, 1), Fraction(0, 1)), (Fraction(1, 1), Fraction(1, 2)))
        """
        if self.is_empty():
            raise DomainError("there is no box around the empty set")
        sides = self._sides()
        if sides is None:
            sides = {}
            program = self.program()
            for j in range(self.ambient_dimension):
                for sign in (-1, 1):
                    best = program.maximize(
                        [sign if i == j else 0 for i in range(self.ambient_dimension)]
                    )
                    if isinstance(best, Optimal):
                        sides[j, sign] = sign * best.value
        if len(sides) < 2 * self.ambient_dimension:
            return None
        lower, upper = (
            tuple(sides[j, sign] for j in range(self.ambient_dimension)) for sign in (-1, 1)
        )
        return lower, upper

    def _sides(self) -> dict[tuple[int, int], Fraction] | None:
        """Find the tightest bounds by column and sign, if each constraint bounds one coordinate."""
        sides: dict[tuple[int, int], Fraction] = {}
        rows = [(row, (1,)) for row in self.inequalities] + [
            (row, (1, -1)) for row in self.equations
        ]
        for row, directions in rows:
            places = [j for j, entry in enumerate(row[:-1]) if entry]
            if len(places) != 1:
                return None
            (j,) = places
            for direction in directions:
                sign = direction if row[j] > 0 else -direction
                bound = Fraction(row[-1], row[j])
                best = sides.get((j, sign))
                if best is None or (bound < best if sign > 0 else bound > best):
                    sides[j, sign] = bound
        return sides

    # -- other descriptions -----------------------------------------------------------------------

    def irredundant(self) -> Polyhedron:
        """Return the same set by its canonical constraints: equal sets have equal canonical rows.

        The canonical constraints are the equations of the affine hull in reduced echelon form, and
        one inequality for each facet with zeros in the pivot columns, in lexicographic order. The
        canonical constraint of the empty set is 0 ≤ -1.

        Returns
        -------
        Polyhedron
            The polyhedron with its canonical constraints.

        Examples
        --------
        >>> Polyhedron.from_constraints([[1], [1], [-2]], [1, 5, 0]).irredundant().inequalities
        ((-1, 0), (1, 1))
        """
        interior = self.relative_interior()
        if interior is None:
            return _empty(self.ambient_dimension)
        equations, point = interior
        reduced = {reduced_inequality(row, equations) for row in self.inequalities}
        facets = irredundant_rows(sorted(row for row in reduced if any(row[:-1])), point)
        return Polyhedron(self.ambient_dimension, tuple(sorted(facets)), equations)

    def equals(self, other: Polyhedron) -> bool:
        """Return whether two polyhedra are the same set."""
        other = expect(other, Polyhedron, "other", "parse_domain reads texts")
        return self.irredundant() == other.irredundant()

    def includes(self, other: Polyhedron) -> bool:
        """Return whether every point of another polyhedron belongs to this one.

        >>> Polyhedron.orthant(2).includes(Polyhedron.box([1, 0], [2, 3]))
        True
        """
        other = expect(other, Polyhedron, "other", "parse_domain reads texts")
        self._need_dimension(other.ambient_dimension)
        if other.is_empty():
            return True
        program = other.program()
        rows = [
            *self.inequalities,
            *self.equations,
            *(tuple(-entry for entry in row) for row in self.equations),
        ]
        for row in rows:
            best = program.maximize(row[:-1])
            if not isinstance(best, Optimal) or best.value > row[-1]:
                return False
        return True

    def generators(self) -> Generators:
        """Compute the V-representation, which is exponentially long in the worst case.

        Returns
        -------
        Generators
            Vertices (or points of the minimal faces), rays and lines, in lexicographic order.

        Examples
        --------
        >>> Polyhedron.orthant(2).generators().rays
        ((0, 1), (1, 0))
        """
        points, rays, lines = generators_of(
            self.ambient_dimension, self.inequalities, self.equations
        )
        return Generators(
            tuple(sorted(tuple(Fraction(entry, row[-1]) for entry in row[:-1]) for row in points)),
            _as_rows(rays),
            _as_rows(lines),
        )

    def intersect(self, other: Polyhedron) -> Polyhedron:
        """Return the intersection with another polyhedron, given by the rows of both."""
        other = expect(other, Polyhedron, "other", "parse_domain reads texts")
        self._need_dimension(other.ambient_dimension)
        return Polyhedron(
            self.ambient_dimension,
            tuple(dict.fromkeys(self.inequalities + other.inequalities)),
            tuple(dict.fromkeys(self.equations + other.equations)),
        )

    # -- maps -------------------------------------------------------------------------------------

    def project(self, columns: Sequence[int]) -> Polyhedron:
        """Return the image under the projection to some coordinates.

        Parameters
        ----------
        columns
            Indices of coordinates, from 0, in the order of the result.

        Returns
        -------
        Polyhedron
            The image, by minimal constraints.

        Raises
        ------
        DomainError
            There is no coordinate of an index.

        Examples
        --------
        >>> triangle = Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [3, 0, -1])
        >>> triangle.project([0]).inequalities
        ((-1, 0), (1, 2))
        """
        size = self.ambient_dimension
        chosen = [read_index(j, "column") for j in expect_list(columns, "columns")]
        if any(not 0 <= j < size for j in chosen):
            raise DomainError(f"columns must be at least 0 and less than {size}, got {chosen}")
        unit = [[int(i == j) for i in range(size)] for j in chosen]
        return self.image(RationalMatrix.from_integers(unit, ncols=size))

    def image(
        self, matrix: RationalMatrix | Sequence[Numbers], offset: Numbers | None = None
    ) -> Polyhedron:
        """Return the image {matrix x + offset : x in the polyhedron}.

        Parameters
        ----------
        matrix
            The linear part, shape (k, n).
        offset
            The constant part, shape (k,); None for 0.

        Returns
        -------
        Polyhedron
            The image in R^k, by minimal constraints.

        Raises
        ------
        DomainError
            The shapes do not fit.
        """
        matrix = _as_matrix(matrix)
        self._need_dimension(matrix.ncols)
        shift = _offset(offset, matrix)
        generators = self.generators()
        rows = matrix.rows()
        points = [
            [dot(row, point) + s for row, s in zip(rows, shift, strict=True)]
            for point in generators.points
        ]
        if not points:
            return _empty(matrix.nrows)
        rays = [[dot(row, ray) for row in rows] for ray in generators.rays]
        lines = [[dot(row, line) for row in rows] for line in generators.lines]
        return Polyhedron.from_generators(points, rays, lines, matrix.nrows)

    def preimage(
        self, matrix: RationalMatrix | Sequence[Numbers], offset: Numbers | None = None
    ) -> Polyhedron:
        """Return the preimage {x : matrix x + offset in the polyhedron}.

        Parameters
        ----------
        matrix
            The linear part, shape (n, k).
        offset
            The constant part, shape (n,); None for 0.

        Returns
        -------
        Polyhedron
            The preimage in R^k.

        Raises
        ------
        DomainError
            The shapes do not fit.

        Examples
        --------
        >>> Polyhedron.orthant(1).preimage([[1, -1]], [2]).inequalities
        ((-1, 1, 2),)
        """
        matrix = _as_matrix(matrix)
        self._need_dimension(matrix.nrows)
        shift = RationalMatrix.column(_offset(offset, matrix))

        def pulled(rows: tuple[IntegerRow, ...]) -> tuple[IntegerRow, ...]:
            """Return the rows a·(M x + s) ≤ c as (a M) x ≤ c - a·s."""
            coefficients = RationalMatrix.from_integers(
                [row[:-1] for row in rows], ncols=self.ambient_dimension
            )
            right = RationalMatrix.column([row[-1] for row in rows]) - coefficients @ shift
            return _primitive_rows(
                coefficients @ matrix, [entry for (entry,) in right.rows()], matrix.ncols
            )

        return Polyhedron(matrix.ncols, pulled(self.inequalities), pulled(self.equations))

    def _need_dimension(self, size: int) -> None:
        if size != self.ambient_dimension:
            raise DomainError(f"the polyhedron lies in R^{self.ambient_dimension}, not in R^{size}")


def _as_matrix(matrix: RationalMatrix | Sequence[Numbers]) -> RationalMatrix:
    """Return the matrix of exact numbers; other input raises `DomainError`."""
    if isinstance(matrix, RationalMatrix):
        return matrix
    try:
        return RationalMatrix.from_rows([list(row) for row in matrix])
    except (NetworkError, TypeError) as error:
        raise DomainError(f"expected a matrix: {error}") from None


def _implicit_equations(polyhedron: Polyhedron) -> tuple[tuple[IntegerRow, ...], Point] | None:
    """Return the affine hull and a point of the relative interior; None for the empty set.

    As long as the linear program proves that the set is flat, the inequalities with multipliers in
    that proof hold with equality and join the equations. Each round lowers the dimension.
    """
    inequalities, equations = polyhedron.inequalities, list(polyhedron.equations)
    while True:
        result = (
            Polyhedron(polyhedron.ambient_dimension, inequalities, tuple(equations))
            .program()
            .interior_point()
        )
        if isinstance(result, Infeasible):
            return None
        if not isinstance(result, FlatSet):
            return reduced_equations(equations, polyhedron.ambient_dimension), result.point
        tight = {row for row in result.multipliers.rows if row < len(inequalities)}
        equations += [inequalities[row] for row in sorted(tight)]
        inequalities = tuple(row for i, row in enumerate(inequalities) if i not in tight)


def _empty(size: int) -> Polyhedron:
    return Polyhedron(size, ((*[0] * size, -1),))


def _width(size: int | None, *tables: Sequence[Numbers] | RationalMatrix) -> int:
    """Return the given dimension, or the length of the rows of the first table that has rows."""
    if size is not None:
        return expect_count(size, "ambient_dimension")
    for table in tables:
        if isinstance(table, RationalMatrix):
            return table.ncols
        rows = expect_list(table, "rows")
        if rows:
            return len(expect_list(rows[0], "row 0"))
    raise DomainError("without rows the ambient dimension must be given")


def _primitive_rows(
    matrix: Sequence[Numbers] | RationalMatrix, right: Numbers, size: int
) -> tuple[IntegerRow, ...]:
    rows, _ = read_rows(matrix, right, size)
    return tuple(positive_primitive(row) for row in rows)


def _directions(vectors: Sequence[Numbers], size: int) -> list[list[int]]:
    """Return positive integer multiples of the vectors that are not 0."""
    rows, _ = read_rows(vectors, [0] * len(vectors), size)
    return [row[:-1] for row in rows if any(row)]


def _split(rows: Iterable[IntegerRow]) -> tuple[list[IntegerRow], list[int]]:
    """Return the coefficients a and the right-hand sides c of rows [a | c]."""
    listed = list(rows)
    return [row[:-1] for row in listed], [row[-1] for row in listed]


def _offset(offset: Numbers | None, matrix: RationalMatrix) -> list[Fraction]:
    if offset is None:
        return [Fraction()] * matrix.nrows
    offset = expect_list(offset, "offset")
    if len(offset) != matrix.nrows:
        raise DomainError(f"the offset has {len(offset)} entries, the matrix {matrix.nrows} rows")
    return [read_number(entry, "offset") for entry in offset]


def _as_rows(rows: Iterable[Sequence[int]]) -> tuple[IntegerRow, ...]:
    return tuple(tuple(row) for row in rows)


def _excess(row: IntegerRow, point: Sequence[Fraction]) -> Fraction:
    """Return the left side of a row minus its right side."""
    return dot(point, row[:-1]) - row[-1]
