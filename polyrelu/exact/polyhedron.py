"""Rational polyhedra {x : A x ≤ c, E x = e}, bounded or not, of any dimension, with lines or without, empty or not.

Questions about one point or one direction are linear programs; vertices, projections and images go through PPL.
"""

from __future__ import annotations

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
from polyrelu.exact.rational import primitive, to_fraction
from polyrelu.exact.redundancy import (
    irredundant_rows,
    positive_primitive,
    reduced_equations,
    reduced_inequality,
)
from polyrelu.support.typing import IntegerRow

__all__ = ["Generators", "Polyhedron"]


@dataclass(frozen=True, slots=True)
class Generators:
    """conv(points) + cone(rays) + span(lines), none of them superfluous; no points if the set is empty.

    Attributes
    ----------
    points : the vertices, if there are no lines; otherwise one point of each minimal face.
    rays, lines : primitive integer vectors; rays are unique up to the lines.
    """

    points: tuple[Point, ...]
    rays: tuple[IntegerRow, ...]
    lines: tuple[IntegerRow, ...]


@dataclass(frozen=True, slots=True)
class Polyhedron:
    """{x ∈ R^n : A x ≤ c, E x = e}.

    Polyhedra are equal (==) if their rows are; `equals` compares the sets.

    Attributes
    ----------
    ambient_dimension : n.
    inequalities, equations : primitive integer rows [a | c] for a·x ≤ c and a·x = c, in the order given.

    >>> triangle = Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [0, 0, "1/2"])
    >>> triangle.inequalities
    ((-1, 0, 0), (0, -1, 0), (2, 2, 1))
    >>> triangle.generators().points
    ((Fraction(0, 1), Fraction(0, 1)), (Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 2), Fraction(0, 1)))
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
                "inequalities and equations must be tuples; Polyhedron.from_constraints takes any lists"
            )
        for row in (*self.inequalities, *self.equations):
            if (
                not isinstance(row, tuple)
                or len(row) != self.ambient_dimension + 1
                or not set(map(type, row)) <= {int}
            ):
                raise DomainError(
                    f"a row must be a tuple of {self.ambient_dimension + 1} integers (a, c), not {str(row)[:60]}; "
                    "Polyhedron.from_constraints takes any numbers"
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
        """{x : matrix x ≤ right, equations x = equations_right}.

        Parameters
        ----------
        matrix, right : shapes (m, n) and (m,).
        equations, equations_right : shapes (k, n) and (k,).
        ambient_dimension : n, needed only if there are no rows.

        Raises
        ------
        DomainError : shapes that do not fit.
        """
        size = ambient_dimension if ambient_dimension is not None else _width(matrix, equations)
        return cls(
            size,
            _primitive_rows(matrix, right, size),
            _primitive_rows(equations, equations_right, size),
        )

    @classmethod
    def universe(cls, ambient_dimension: int) -> Polyhedron:
        """R^n."""
        return cls(ambient_dimension)

    @classmethod
    def orthant(cls, ambient_dimension: int) -> Polyhedron:
        """{x : x ≥ 0}."""
        return cls.box([0] * ambient_dimension, [None] * ambient_dimension)

    @classmethod
    def box(cls, lower: Sequence[object], upper: Sequence[object]) -> Polyhedron:
        """{x : lower ≤ x ≤ upper}; None where there is no bound.

        >>> Polyhedron.box([0, None], [1, 3]).inequalities
        ((-1, 0, 0), (1, 0, 1), (0, 1, 3))
        """
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
        """conv(points) + cone(rays) + span(lines) by minimal constraints; empty without points.

        >>> Polyhedron.from_generators([[0, 0]], rays=[[1, 0], [1, 1]]).inequalities
        ((-1, 1, 0), (0, -1, 0))
        """
        size = (
            ambient_dimension if ambient_dimension is not None else _width(points, (*rays, *lines))
        )
        if not len(points):
            if len(rays) or len(lines):
                raise DomainError(
                    "rays and lines without a point generate nothing; add a point, such as the origin"
                )
            return _empty(size)
        vertices, scales = read_rows(points, [0] * len(points), size)
        cleared = [[*row[:-1], scale] for row, scale in zip(vertices, scales, strict=True)]
        inequalities, equations = constraints_of(
            size, cleared, _directions(rays, size), _directions(lines, size)
        )
        return cls(size, _as_rows(inequalities), _as_rows(equations))

    # -- points and directions --------------------------------------------------------------------

    def program(self) -> LinearProgram:
        """A new linear program over this polyhedron: first its inequalities, then its equations."""
        program = LinearProgram(self.ambient_dimension)
        program.add_inequalities(*_split(self.inequalities))
        program.add_equations(*_split(self.equations))
        return program

    def contains(self, point: Numbers) -> bool:
        """Whether a point satisfies all constraints.

        >>> Polyhedron.orthant(2).contains([0, "1/3"])
        True
        """
        if len(point) != self.ambient_dimension:
            raise DomainError(
                f"the point has {len(point)} coordinates, the polyhedron lies in R^{self.ambient_dimension}"
            )
        x = [read_number(entry, f"coordinate {j}") for j, entry in enumerate(point)]
        return all(_excess(row, x) <= 0 for row in self.inequalities) and not any(
            _excess(r, x) for r in self.equations
        )

    def maximize(self, objective: Numbers) -> Optimal | Unbounded | Infeasible:
        """See `LinearProgram.maximize`."""
        return self.program().maximize(objective)

    def is_empty(self) -> bool:
        """Whether there is no point."""
        return isinstance(self.program().feasible_point(), Infeasible)

    def interior_point(self) -> Point | None:
        """A point with a ball around it inside the polyhedron, or None if there is none."""
        found = self.relative_interior()
        return None if found is None or found[0] else found[1]

    def relative_interior_point(self) -> Point | None:
        """A point of the relative interior, or None if the polyhedron is empty."""
        found = self.relative_interior()
        return None if found is None else found[1]

    def affine_hull(self) -> tuple[IntegerRow, ...]:
        """Equations [a | c] of the smallest affine space around a polyhedron that is not empty, in echelon form.

        >>> Polyhedron.box([0, 1], [2, 1]).affine_hull()
        ((0, 1, 1),)
        """
        found = self.relative_interior()
        if found is None:
            raise DomainError("the empty set has no affine hull")
        return found[0]

    def relative_interior(self) -> tuple[tuple[IntegerRow, ...], Point] | None:
        """The affine hull and a point of the interior relative to it; None for the empty set.

        >>> Polyhedron.box([0, 1], [2, 1]).relative_interior()[1]
        (Fraction(1, 1), Fraction(1, 1))
        """
        middle = self._middle()
        return _implicit_equations(self) if middle is None else ((), middle)

    def _middle(self) -> Point | None:
        """A point strictly inside, without linear programs, if there are no equations and every inequality bounds a
        single coordinate."""
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
        found = self.relative_interior()
        return -1 if found is None else self.ambient_dimension - len(found[0])

    def lineality_space(self) -> tuple[IntegerRow, ...]:
        """A basis of the directions d with x + R d inside for every point x; of a set that is not empty.

        >>> Polyhedron.from_constraints([[1, 1]], [0]).lineality_space()
        ((1, -1),)
        """
        if self.is_empty():
            raise DomainError("the empty set has no lineality space")
        return self._lines()

    def _lines(self) -> tuple[IntegerRow, ...]:
        rows = [row[:-1] for row in (*self.inequalities, *self.equations)]
        basis = kernel(RationalMatrix.from_integers(rows, ncols=self.ambient_dimension)).transpose()
        return tuple(primitive(row)[0] for row in basis.rows())

    def is_bounded(self) -> bool:
        """Whether the polyhedron is bounded: whether its recession cone {d : A d ≤ 0, E d = 0} is {0}; or empty."""
        if self.is_empty():
            return True
        if self._lines():
            return False
        cone = Polyhedron(
            self.ambient_dimension,
            tuple((*row[:-1], 0) for row in self.inequalities),
            tuple((*row[:-1], 0) for row in self.equations),
        )
        # A pointed cone is {0} iff the sum of its slacks cannot grow.
        objective = [
            -sum(column) for column in zip(*(row[:-1] for row in self.inequalities), strict=True)
        ]
        return isinstance(cone.maximize(objective or [0] * self.ambient_dimension), Optimal)

    def bounding_box(self) -> tuple[Point, Point] | None:
        """The corners of the smallest box around the polyhedron; None if it is unbounded. The empty set has none.

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
                    found = program.maximize(
                        [sign if i == j else 0 for i in range(self.ambient_dimension)]
                    )
                    if isinstance(found, Optimal):
                        sides[j, sign] = sign * found.value
        if len(sides) < 2 * self.ambient_dimension:
            return None
        lower, upper = (
            tuple(sides[j, sign] for j in range(self.ambient_dimension)) for sign in (-1, 1)
        )
        return lower, upper

    def _sides(self) -> dict[tuple[int, int], Fraction] | None:
        """The sides of a nonempty set whose every constraint bounds a single coordinate, without linear programs."""
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
                best = sides.setdefault((j, sign), bound)
                sides[j, sign] = sign * min(sign * best, sign * bound)
        return sides

    # -- other descriptions -----------------------------------------------------------------------

    def irredundant(self) -> Polyhedron:
        """The same set by its canonical constraints: equal sets give equal rows.

        The equations of the affine hull in reduced echelon form; one inequality for each facet, with zeros in the
        pivot columns; sorted. The empty set is 0 ≤ -1.

        >>> Polyhedron.from_constraints([[1], [1], [-2]], [1, 5, 0]).irredundant().inequalities
        ((-1, 0), (1, 1))
        """
        found = self.relative_interior()
        if found is None:
            return _empty(self.ambient_dimension)
        equations, point = found
        reduced = {reduced_inequality(row, equations) for row in self.inequalities}
        facets = irredundant_rows(sorted(row for row in reduced if any(row[:-1])), point)
        return Polyhedron(self.ambient_dimension, tuple(sorted(facets)), equations)

    def equals(self, other: Polyhedron) -> bool:
        """Whether two polyhedra are the same set."""
        return self.irredundant() == other.irredundant()

    def includes(self, other: Polyhedron) -> bool:
        """Whether every point of the other polyhedron belongs to this one.

        >>> Polyhedron.orthant(2).includes(Polyhedron.box([1, 0], [2, 3]))
        True
        """
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
        """Vertices (or points of the minimal faces), rays and lines; exponentially many in the worst case.

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
        """The common points, by the rows of both."""
        self._need_dimension(other.ambient_dimension)
        return Polyhedron(
            self.ambient_dimension,
            tuple(dict.fromkeys(self.inequalities + other.inequalities)),
            tuple(dict.fromkeys(self.equations + other.equations)),
        )

    # -- maps -------------------------------------------------------------------------------------

    def project(self, columns: Sequence[int]) -> Polyhedron:
        """The image under x ↦ (x_j for j in columns).

        >>> Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [3, 0, -1]).project([0]).inequalities
        ((-1, 0), (1, 2))
        """
        size = self.ambient_dimension
        chosen = [read_index(j, "column") for j in columns]
        if any(not 0 <= j < size for j in chosen):
            raise DomainError(f"columns must be at least 0 and less than {size}, got {chosen}")
        unit = [[int(i == j) for i in range(size)] for j in chosen]
        return self.image(RationalMatrix.from_integers(unit, ncols=size))

    def image(
        self, matrix: RationalMatrix | Sequence[Numbers], offset: Numbers | None = None
    ) -> Polyhedron:
        """{matrix x + offset : x in the polyhedron}, by minimal constraints; matrix of shape (k, n), offset (k,)."""
        matrix = _as_matrix(matrix)
        self._need_dimension(matrix.ncols)
        shift = _offset(offset, matrix)
        old = self.generators()
        rows = matrix.rows()
        points = [
            [_dot(row, point) + s for row, s in zip(rows, shift, strict=True)]
            for point in old.points
        ]
        if not points:
            return _empty(matrix.nrows)
        rays = [[_dot(row, ray) for row in rows] for ray in old.rays]
        lines = [[_dot(row, line) for row in rows] for line in old.lines]
        return Polyhedron.from_generators(points, rays, lines, matrix.nrows)

    def preimage(
        self, matrix: RationalMatrix | Sequence[Numbers], offset: Numbers | None = None
    ) -> Polyhedron:
        """{x : matrix x + offset in the polyhedron}; matrix of shape (n, k), offset (n,).

        >>> Polyhedron.orthant(1).preimage([[1, -1]], [2]).inequalities
        ((-1, 1, 2),)
        """
        matrix = _as_matrix(matrix)
        self._need_dimension(matrix.nrows)
        shift = RationalMatrix.column(_offset(offset, matrix))

        def pulled(
            rows: tuple[IntegerRow, ...],
        ) -> tuple[IntegerRow, ...]:  # a·(M x + s) ≤ c as (a M) x ≤ c - a·s
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
    if isinstance(matrix, RationalMatrix):
        return matrix
    try:
        return RationalMatrix.from_rows([list(row) for row in matrix])
    except (NetworkError, TypeError) as error:
        raise DomainError(f"expected a matrix: {error}") from None


def _implicit_equations(polyhedron: Polyhedron) -> tuple[tuple[IntegerRow, ...], Point] | None:
    """The affine hull in reduced echelon form and a point of the relative interior; None for the empty set.

    While a proof of flatness is found, the inequalities in it hold with equality and join the equations. Each round
    lowers the dimension.
    """
    inequalities, equations = polyhedron.inequalities, list(polyhedron.equations)
    while True:
        answer = (
            Polyhedron(polyhedron.ambient_dimension, inequalities, tuple(equations))
            .program()
            .interior_point()
        )
        if isinstance(answer, Infeasible):
            return None
        if not isinstance(answer, FlatSet):
            return reduced_equations(equations, polyhedron.ambient_dimension), answer.point
        tight = {row for row in answer.multipliers.rows if row < len(inequalities)}
        equations += [inequalities[row] for row in sorted(tight)]
        inequalities = tuple(row for i, row in enumerate(inequalities) if i not in tight)


def _empty(size: int) -> Polyhedron:
    return Polyhedron(size, ((*[0] * size, -1),))


def _width(*tables: Sequence[Numbers] | RationalMatrix) -> int:
    for table in tables:
        if isinstance(table, RationalMatrix):
            return table.ncols
        if len(table):  # arrays have no truth value
            return len(table[0])
    raise DomainError("without rows the ambient dimension must be given")


def _primitive_rows(
    matrix: Sequence[Numbers] | RationalMatrix, right: Numbers, size: int
) -> tuple[IntegerRow, ...]:
    rows, _ = read_rows(matrix, right, size)
    return tuple(positive_primitive(row) for row in rows)


def _directions(vectors: Sequence[Numbers], size: int) -> list[list[int]]:
    rows, _ = read_rows(vectors, [0] * len(vectors), size)
    return [row[:-1] for row in rows if any(row)]


def _split(rows: Iterable[IntegerRow]) -> tuple[list[IntegerRow], list[int]]:
    listed = list(rows)
    return [row[:-1] for row in listed], [row[-1] for row in listed]


def _offset(offset: Numbers | None, matrix: RationalMatrix) -> list[Fraction]:
    if offset is None:
        return [Fraction()] * matrix.nrows
    if len(offset) != matrix.nrows:
        raise DomainError(f"the offset has {len(offset)} entries, the matrix {matrix.nrows} rows")
    return [to_fraction(entry) for entry in offset]


def _as_rows(rows: Iterable[Sequence[int]]) -> tuple[IntegerRow, ...]:
    return tuple(tuple(row) for row in rows)


def _dot(left: Sequence[Fraction], right: Sequence[Fraction | int]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction())


def _excess(row: IntegerRow, point: Sequence[Fraction]) -> Fraction:
    return _dot(point, row[:-1]) - row[-1]
