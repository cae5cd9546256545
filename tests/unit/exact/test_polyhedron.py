"""Constructors, errors and edge cases of polyhedra."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Generators, Infeasible, Optimal, Polyhedron, RationalMatrix, Unbounded

ONE, HALF = Fraction(1), Fraction(1, 2)


def _empty(columns: int) -> Polyhedron:
    return Polyhedron(columns, ((*[0] * columns, -1),))


def _matrix(*rows: list[object]) -> RationalMatrix:
    return RationalMatrix.from_rows(rows)


SQUARE = Polyhedron.box([0, 0], [1, 1])


# --- Constructors -------------------------------------------------------------------------------


def test_rows_are_primitive_and_keep_their_order() -> None:
    found = Polyhedron.from_constraints(
        [[2, 4], [0, 0], [0, 0], [-3, 0]], [6, 7, -5, 0], [[0, -2], [0, 0]], [4, 0]
    )
    assert found.inequalities == ((1, 2, 3), (0, 0, 1), (0, 0, -1), (-1, 0, 0))
    assert found.equations == ((0, -1, 2), (0, 0, 0))
    assert found.ambient_dimension == 2


@pytest.mark.parametrize(
    ("matrix", "right"),
    [
        ([[0.5, -0.25], [0.0, 1.0]], [0.75, -1.0]),
        ([["1/2", "-1/4"], ["0", "1"]], ["3/4", "-1"]),
        (
            [[Fraction(1, 2), Fraction(-1, 4)], [Fraction(0), Fraction(1)]],
            [Fraction(3, 4), Fraction(-1)],
        ),
        ([[2, -1], [0, 1]], [3, -1]),
        ([["1/2", -0.25], [0, Fraction(1)]], [np.float32(0.75), np.int64(-1)]),
        (_matrix([HALF, Fraction(-1, 4)], [0, 1]), ["3/4", -1]),
        (((0.5, -0.25), (0, 1)), (0.75, -1)),
    ],
)
def test_exact_numbers_of_all_kinds(matrix: Any, right: Any) -> None:
    expected = ((2, -1, 3), (0, 1, -1))
    assert Polyhedron.from_constraints(matrix, right).inequalities == expected
    assert Polyhedron.from_constraints([], [], matrix, right).equations == expected
    assert Polyhedron.from_constraints(matrix, right, matrix, right, 2) == Polyhedron(
        2, expected, expected
    )


def test_arrays_are_read_like_lists() -> None:
    matrix, right = np.array([[0.5, -0.25]]), np.array([0.75])
    made = Polyhedron.from_constraints(matrix, right)  # type: ignore[arg-type]
    assert made.inequalities == ((2, -1, 3),)
    corners = np.array([[0.0, 0.5], [1.0, 0.0]])
    rays: Any = np.array([[0, 1]])
    lines: Any = np.zeros((0, 2))
    found = Polyhedron.from_generators(corners, rays, lines)  # type: ignore[arg-type]
    assert found.equals(Polyhedron.from_generators([[0, HALF], [1, 0]], [[0, 1]]))


def test_a_float_is_the_dyadic_number_that_it_is() -> None:
    point = Polyhedron.from_constraints([[10]], [1], [[1]], [0.1])
    assert point.is_empty()  # 0.1 is more than 1/10
    assert not Polyhedron.from_constraints([[10]], [1], [[1]], ["1/10"]).is_empty()


def test_the_ambient_dimension_is_that_of_the_rows() -> None:
    assert Polyhedron.from_constraints([], [], [[1, 2, 3]], [0]).ambient_dimension == 3
    assert Polyhedron.from_constraints(RationalMatrix.zeros(0, 4), []).ambient_dimension == 4
    assert Polyhedron.from_constraints([], [], ambient_dimension=2) == Polyhedron.universe(2)
    assert Polyhedron.from_constraints([[]], [1]).ambient_dimension == 0


def test_box() -> None:
    box = Polyhedron.box([None, "1/3", 0.5, 2], [1, "1/3", None, "5/2"])
    assert box.inequalities == (
        (1, 0, 0, 0, 1),
        (0, -3, 0, 0, -1),
        (0, 3, 0, 0, 1),
        (0, 0, -2, 0, -1),
        (0, 0, 0, -1, -2),
        (0, 0, 0, 2, 5),
    )
    assert (box.dimension, box.is_bounded(), box.is_empty()) == (3, False, False)
    assert box.affine_hull() == ((0, 3, 0, 0, 1),)
    assert Polyhedron.box([None] * 3, [None] * 3) == Polyhedron.universe(3)
    assert Polyhedron.box([0, 0], [None, None]) == Polyhedron.orthant(2)


@pytest.mark.parametrize(
    ("lower", "upper"), [([1], [0]), ([0, "1/2"], [1, "1/3"]), ([2**70 + 1, None], [2**70, None])]
)
def test_a_box_with_crossing_bounds_is_empty(lower: list[object], upper: list[object]) -> None:
    box = Polyhedron.box(lower, upper)
    assert box.is_empty()
    assert box.irredundant() == _empty(len(lower))
    assert isinstance(box.maximize([0] * len(lower)), Infeasible)


def test_from_generators() -> None:
    """Superfluous, repeated and zero generators do no harm; a line is two opposite rays."""
    found = Polyhedron.from_generators(
        [[0, "1/2"], [0.5, 0], ["1/4", "1/4"], [0, HALF]],
        rays=[["1/3", "2/3"], [0, 0], [2, 4]],
        lines=[[0, 0]],
    )
    assert found.irredundant().inequalities == ((-4, 2, 1), (-2, -2, -1), (2, -1, 1))
    opposite = Polyhedron.from_generators([[1, 1]], rays=[[1, 2], [-1, -2]])
    assert opposite.equals(Polyhedron.from_generators([[1, 1]], lines=[["1/2", 1]]))
    assert opposite.generators() == Generators(opposite.generators().points, (), ((1, 2),))
    assert Polyhedron.from_generators([[0, 0]], lines=[[1, 0], [0, 1]]).equals(
        Polyhedron.universe(2)
    )
    assert Polyhedron.from_generators([], ambient_dimension=3) == _empty(3)
    assert Polyhedron.from_generators([[0]], rays=[[1]], ambient_dimension=1).equals(
        Polyhedron.orthant(1)
    )


def test_polyhedra_are_values() -> None:
    again = pickle.loads(pickle.dumps(SQUARE))
    assert again == SQUARE
    assert hash(again) == hash(SQUARE)
    assert len({SQUARE, again, Polyhedron.orthant(2)}) == 2
    with pytest.raises(AttributeError):
        SQUARE.equations = ()  # type: ignore[misc]


def test_equal_sets_may_have_unequal_rows() -> None:
    other = SQUARE.intersect(Polyhedron.from_constraints([[1, 1]], [2]))
    assert other != SQUARE
    assert other.equals(SQUARE)
    assert not SQUARE.equals(Polyhedron.universe(3))


# --- Errors -------------------------------------------------------------------------------------

_POINT, _NAN = [[0, 0]], float("nan")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: Polyhedron.from_constraints([[1, 2]], [1, 2]), ["1 rows", "got 2"]),
        (
            lambda: Polyhedron.from_constraints([[1, 2], [1]], [1, 2]),
            ["row 1", "1 entries", "2 variables"],
        ),
        (
            lambda: Polyhedron.from_constraints([[1, 2]], [1], ambient_dimension=3),
            ["2 entries", "3 variables"],
        ),
        (
            lambda: Polyhedron.from_constraints([[1, 2]], [1], [[1]], [1]),
            ["row 0", "1 entries", "2 variables"],
        ),
        (lambda: Polyhedron.from_constraints([[1, 2]], [1], [[1, 1]], []), ["1 rows", "got 0"]),
        (lambda: Polyhedron.from_constraints(RationalMatrix.identity(2), [1]), ["2 rows", "got 1"]),
        (lambda: Polyhedron.from_constraints([], []), ["ambient dimension must be given"]),
        (lambda: Polyhedron.universe(-1), ["0 or more", "-1"]),
        (lambda: Polyhedron.box([0, 0], [1]), ["2 variables", "got 1"]),
        (lambda: Polyhedron.from_generators([[1, 2], [1]]), ["row 1", "1 entries", "2 variables"]),
        (lambda: Polyhedron.from_generators(_POINT, rays=[[1]]), ["1 entries", "2 variables"]),
        (
            lambda: Polyhedron.from_generators(_POINT, lines=[[1, 2, 3]]),
            ["3 entries", "2 variables"],
        ),
        (
            lambda: Polyhedron.from_generators(_POINT, ambient_dimension=1),
            ["2 entries", "1 variables"],
        ),
        (lambda: Polyhedron.from_generators([], rays=[[1, 0]]), ["without a point", "add a point"]),
        (
            lambda: Polyhedron.from_generators([], lines=[[1, 0]]),
            ["without a point", "add a point"],
        ),
        (lambda: Polyhedron.from_generators([]), ["ambient dimension must be given"]),
        (lambda: SQUARE.contains([1]), ["1 coordinates", "R^2"]),
        (lambda: SQUARE.contains([1, 0, 0]), ["3 coordinates", "R^2"]),
        (lambda: SQUARE.maximize([1]), ["1 entries", "2 variables"]),
        (lambda: SQUARE.project([0, 2]), ["less than 2", "[0, 2]"]),
        (lambda: SQUARE.project([-1]), ["at least 0", "[-1]"]),
        (lambda: Polyhedron.universe(0).project([0]), ["less than 0", "[0]"]),
        (lambda: SQUARE.image(RationalMatrix.identity(3)), ["R^2", "R^3"]),
        (lambda: SQUARE.image(RationalMatrix.identity(2), [1]), ["offset has 1", "matrix 2"]),
        (lambda: SQUARE.image(RationalMatrix.identity(2), []), ["offset has 0", "matrix 2"]),
        (lambda: SQUARE.preimage(RationalMatrix.identity(1)), ["R^2", "R^1"]),
        (
            lambda: SQUARE.preimage(RationalMatrix.identity(2), [1, 2, 3]),
            ["offset has 3", "matrix 2"],
        ),
        (lambda: SQUARE.intersect(Polyhedron.universe(3)), ["R^2", "R^3"]),
        (lambda: SQUARE.includes(Polyhedron.universe(3)), ["R^2", "R^3"]),
        (lambda: SQUARE.includes(_empty(1)), ["R^2", "R^1"]),
        (lambda: Polyhedron.universe(2).includes(Polyhedron.universe(1)), ["R^2", "R^1"]),
        (lambda: _empty(2).affine_hull(), ["empty set"]),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(
    action: Callable[[], object], words: list[str]
) -> None:
    with pytest.raises(DomainError) as error:
        action()
    text = str(error.value)
    assert "\n" not in text
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    "bad", [_NAN, float("inf"), -np.inf, np.float32("nan"), "x", "1.5", "2/4", True, None, 1j]
)
def test_what_is_not_an_exact_number_is_refused_everywhere(bad: Any) -> None:
    actions: list[Callable[[], object]] = [
        lambda: Polyhedron.from_constraints([[bad, 1]], [1]),
        lambda: Polyhedron.from_constraints([[1, 1]], [bad]),
        lambda: Polyhedron.from_constraints([], [], [[1, bad]], [1]),
        lambda: Polyhedron.from_constraints([], [], [[1, 1]], [bad]),
        lambda: Polyhedron.from_generators([[0, bad]]),
        lambda: Polyhedron.from_generators(_POINT, rays=[[bad, 1]]),
        lambda: Polyhedron.from_generators(_POINT, lines=[[bad, 1]]),
        lambda: SQUARE.contains([0, bad]),
        lambda: SQUARE.maximize([0, bad]),
        lambda: SQUARE.image(RationalMatrix.identity(2), [0, bad]),
        lambda: SQUARE.preimage(RationalMatrix.identity(2), [bad, 0]),
    ]
    if bad is not None:  # where None means that there is no bound
        actions += [
            lambda: Polyhedron.box([bad, 0], [1, 1]),
            lambda: Polyhedron.box([0, 0], [1, bad]),
        ]
    for action in actions:
        with pytest.raises(PolyreluError) as error:
            action()
        assert "\n" not in str(error.value)


# --- R^0, the empty set, R^n --------------------------------------------------------------------


def test_the_point_of_dimension_zero() -> None:
    zero = Polyhedron.universe(0)
    assert (zero.dimension, zero.is_empty(), zero.is_bounded()) == (0, False, True)
    assert zero.contains([])
    assert (zero.relative_interior_point(), zero.interior_point()) == ((), ())
    assert (zero.affine_hull(), zero.lineality_space()) == ((), ())
    assert zero.generators() == Generators(((),), (), ())
    assert zero.irredundant() == zero
    assert Polyhedron.from_generators([[]]).equals(zero)
    assert Polyhedron.box([], []) == Polyhedron.orthant(0) == zero
    assert zero.project([]).equals(zero)
    assert isinstance(zero.maximize([]), Optimal)
    satisfied = Polyhedron.from_constraints([[], []], [0, 5], [[]], [0])
    assert satisfied.equals(zero)
    assert satisfied.includes(zero)


def test_nothing_in_dimension_zero() -> None:
    for nothing in (
        Polyhedron.from_constraints([[]], [-1]),
        Polyhedron.from_constraints([], [], [[]], [1], 0),
        Polyhedron.from_generators([], ambient_dimension=0),
    ):
        assert (nothing.dimension, nothing.is_empty(), nothing.is_bounded()) == (-1, True, True)
        assert not nothing.contains([])
        assert nothing.generators() == Generators((), (), ())
        assert nothing.irredundant() == Polyhedron(0, ((-1,),))
        assert not nothing.equals(Polyhedron.universe(0))


def test_maps_from_and_to_dimension_zero() -> None:
    zero = Polyhedron.universe(0)
    point = zero.image(RationalMatrix.zeros(2, 0), [1, "1/2"])
    assert point.generators().points == ((Fraction(1), HALF),)
    assert SQUARE.image(RationalMatrix.zeros(0, 2)).equals(zero)
    assert SQUARE.project([]).equals(zero)
    assert zero.preimage(RationalMatrix.zeros(0, 3)) == Polyhedron.universe(3)
    assert SQUARE.preimage(RationalMatrix.zeros(2, 0), [1, "1/2"]).equals(zero)
    assert SQUARE.preimage(RationalMatrix.zeros(2, 0), [1, 2]).is_empty()
    assert _empty(2).project([]).is_empty()


_EMPTY_SETS = [
    _empty(2),
    Polyhedron.box([0, 1], [1, 0]),
    Polyhedron.from_constraints([], [], [[1, 1], [2, 2]], [0, 1]),
    Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [-1, 0, 0]),
    Polyhedron.from_constraints([[0, 0]], [-(2**80)]),
    Polyhedron.from_constraints([], [], [[0, 0]], ["1/7"]),
    Polyhedron.from_generators([], ambient_dimension=2),
]


@pytest.mark.parametrize("empty", _EMPTY_SETS)
def test_the_empty_set(empty: Polyhedron) -> None:
    assert (empty.dimension, empty.is_empty(), empty.is_bounded()) == (-1, True, True)
    assert (empty.relative_interior_point(), empty.interior_point()) == (None, None)
    assert not any(empty.contains(point) for point in product((-1, 0, HALF, 1), repeat=2))
    assert empty.generators() == Generators((), (), ())
    assert empty.irredundant() == _empty(2)
    assert isinstance(empty.maximize([1, 0]), Infeasible)
    assert isinstance(empty.maximize([0, 0]), Infeasible)
    assert all(empty.equals(other) for other in _EMPTY_SETS)
    assert SQUARE.includes(empty)
    assert empty.includes(empty)
    assert not empty.includes(SQUARE)
    assert empty.intersect(SQUARE).is_empty()
    assert empty.project([1]).irredundant() == _empty(1)
    assert empty.image(_matrix([1, 2], [0, 0], [1, 1])).irredundant() == _empty(3)
    assert empty.preimage(_matrix([1], [2])).is_empty()
    with pytest.raises(DomainError, match="empty set"):
        empty.affine_hull()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_whole_space(n: int) -> None:
    everything = Polyhedron.universe(n)
    assert (everything.dimension, everything.is_empty(), everything.is_bounded()) == (
        n,
        False,
        False,
    )
    assert everything.contains([10**40] * n)
    assert everything.affine_hull() == ()
    assert len(everything.lineality_space()) == n
    found = everything.generators()
    assert (len(found.points), found.rays, len(found.lines)) == (1, (), n)
    assert everything.irredundant() == everything
    assert Polyhedron.from_constraints([[0] * n], [0], [[0] * n], [0]).irredundant() == everything
    assert everything.includes(Polyhedron.orthant(n))
    assert not Polyhedron.orthant(n).includes(everything)
    assert everything.project([0] * n).dimension == 1
    assert isinstance(everything.maximize([1] * n), Unbounded)
    assert isinstance(everything.maximize([0] * n), Optimal)


# --- Questions ----------------------------------------------------------------------------------


def test_contains_counts_the_boundary_and_nothing_beyond_it() -> None:
    tiny = Fraction(1, 2**200)
    flat = Polyhedron.from_constraints([[3, 0]], [1], [[1, 1]], [1])
    assert flat.contains(["1/3", "2/3"])
    assert flat.contains([0, 1.0])
    assert not flat.contains([0, 1 + tiny])
    assert not flat.contains([Fraction(1, 3) + tiny, Fraction(2, 3) - tiny])


def test_maximize() -> None:
    triangle = Polyhedron.from_constraints([[-1, 0], [0, -1], [2, 3]], [0, 0, "1/2"])
    best = triangle.maximize(["1/3", 0.25])
    assert isinstance(best, Optimal)
    assert (best.value, best.point) == (Fraction(1, 12), (Fraction(1, 4), Fraction(0)))
    answer = Polyhedron.orthant(2).maximize([-1, 1])
    assert isinstance(answer, Unbounded)
    assert answer.ray[1] > answer.ray[0] >= 0
    assert Polyhedron.orthant(2).contains(answer.point)


def test_program_has_first_the_inequalities_and_then_the_equations() -> None:
    polyhedron = Polyhedron.from_constraints([[1, 0], [0, 1]], [1, 2], [[1, -1]], ["1/2"])
    program = polyhedron.program()
    assert (program.num_variables, len(program)) == (2, 3)
    best = program.maximize([0, 1])
    assert isinstance(best, Optimal)
    assert (best.point, dict(best.multipliers.rows)) == ((ONE, HALF), {0: ONE, 2: -HALF})
    program.add_inequalities([[1, 1]], [0])
    assert len(polyhedron.program()) == 3, "each program is a new one"
    assert polyhedron.contains([1, HALF])
    empty = Polyhedron.universe(3).program()
    assert (empty.num_variables, len(empty)) == (3, 0)


def test_relative_interior_and_affine_hull_of_flat_sets() -> None:
    """Flat in two steps: the first equality makes the second one visible."""
    flat = Polyhedron.from_constraints(
        [[1, 0, 0], [-1, 0, 0], [1, 1, 0], [-2, -1, 0], [0, 0, 1]], [0, 0, 1, -1, 4]
    )
    assert flat.affine_hull() == ((1, 0, 0, 0), (0, 1, 0, 1))
    point = flat.relative_interior_point()
    assert point is not None
    assert point[:2] == (0 * ONE, ONE)
    assert point[2] < 4
    assert flat.interior_point() is None
    assert flat.dimension == 1
    assert flat.irredundant() == Polyhedron(3, ((0, 0, 1, 4),), ((1, 0, 0, 0), (0, 1, 0, 1)))


@pytest.mark.parametrize(
    ("low", "high", "hull"),
    [
        ([0, -1], [2, 1], ()),
        ([None, None], [None, None], ()),
        ([5, None], [None, -5], ()),
        ([0, 1], [2, 1], ((0, 1, 1),)),
        ([1, 1], [1, 1], ((1, 0, 1), (0, 1, 1))),
        ([0, Fraction(1, 2**90)], [1, Fraction(2, 2**90)], ()),
    ],
)
def test_relative_interior_of_boxes(low: list[Any], high: list[Any], hull: tuple[Any, ...]) -> None:
    """Boxes need no linear program; with one more row the general method finds the same hull."""
    box = Polyhedron.box(low, high)
    found = box.relative_interior()
    assert found is not None
    assert found[0] == hull
    for a, x, b in zip(low, found[1], high, strict=True):
        assert a is None or a < x or a == b == x
        assert b is None or x < b or a == b == x
    general = Polyhedron(2, (*box.inequalities, (1, 1, 1000))).relative_interior()
    assert general is not None
    assert general[0] == hull


@pytest.mark.parametrize("sides", [([1, 0], [0, 1]), ([0, 0], [-1, -1])])
def test_relative_interior_of_empty_boxes(sides: tuple[list[int], list[int]]) -> None:
    assert Polyhedron.box(*sides).relative_interior() is None


def test_thin_but_not_flat() -> None:
    """A slab of width 2^-100 has interior, and with the sides exchanged it is empty."""
    width = Fraction(1, 2**100)
    thin = Polyhedron.box([0, 0], [1, width])
    assert (thin.dimension, thin.is_empty()) == (2, False)
    inner = thin.interior_point()
    assert inner is not None
    assert 0 < inner[1] < width
    assert len(thin.irredundant().inequalities) == 4
    assert Polyhedron.box([0, 0], [1, -width]).is_empty()


@pytest.mark.parametrize(
    ("polyhedron", "bounded"),
    [
        (SQUARE, True),
        (Polyhedron.orthant(2), False),
        (Polyhedron.from_constraints([[1, 1], [-1, -1]], [1, 0]), False),
        (Polyhedron.from_constraints([[1, 0], [-1, 2**60], [-1, -(2**60)]], [1, 0, 0]), True),
        (Polyhedron.from_constraints([[-1, 2**60], [-1, -(2**60)]], [0, 0]), False),
        (Polyhedron.from_constraints([], [], [[1, 0], [0, 1]], [3, 4]), True),
        (Polyhedron.from_constraints([], [], [[1, 0]], [3]), False),
        (Polyhedron.from_constraints([[0, 1]], [-1], [[0, 1]], [0]), True),
    ],
)
def test_is_bounded(polyhedron: Polyhedron, bounded: bool) -> None:
    assert polyhedron.is_bounded() is bounded


# --- Maps ---------------------------------------------------------------------------------------


def test_intersect_drops_repeated_rows() -> None:
    both = SQUARE.intersect(Polyhedron.from_constraints([[1, 0]], [1], [[1, 1]], [1]))
    assert both.inequalities == SQUARE.inequalities
    assert both.equations == ((1, 1, 1),)
    assert both.dimension == 1


def test_project_in_any_order_and_with_repetition() -> None:
    box = Polyhedron.box([0, 2, 4], [1, 3, 5])
    assert box.project([2, 0]).equals(Polyhedron.box([4, 0], [5, 1]))
    diagonal = box.project([1, 1])
    assert (diagonal.dimension, diagonal.affine_hull()) == (1, ((1, -1, 0),))
    assert box.project((0, 1, 2)).equals(box)
    assert box.project(np.array([1])).equals(Polyhedron.box([2], [3]))  # type: ignore[arg-type]


def test_image_and_preimage() -> None:
    sheared = SQUARE.image(_matrix([1, HALF], [0, 1]), ["1/4", 0])
    corners = [(0.25, 0), (1.25, 0), (0.75, 1), (1.75, 1)]
    assert sheared.generators().points == tuple(
        sorted((Fraction(x), Fraction(y)) for x, y in corners)
    )
    back = sheared.preimage(_matrix([1, HALF], [0, 1]), [0.25, 0])
    assert back.equals(SQUARE)
    onto_a_line = SQUARE.image(_matrix([1, 1], [2, 2]))
    assert onto_a_line.generators().points == ((0 * ONE, 0 * ONE), (2 * ONE, 4 * ONE))
    assert SQUARE.preimage(_matrix([1, 1], [1, 1])).lineality_space() == ((1, -1),)
    assert Polyhedron.orthant(2).image(_matrix([1, -1])).equals(Polyhedron.universe(1))


@pytest.mark.parametrize("row", [(1,), [1, 2], (1.0, 2), (Fraction(1), 2), (True, 1), "12"])
def test_rows_must_be_integers_of_the_right_number(row: Any) -> None:
    for rows in ({"inequalities": (row,)}, {"equations": (row,)}):
        with pytest.raises(DomainError, match="a row must be a tuple of 2 integers"):
            Polyhedron(1, **rows)


def test_images_by_lists() -> None:
    square = Polyhedron.box([0, 0], [1, 1])
    matrix = [["1/2", 1]]
    assert square.image(matrix) == square.image(RationalMatrix.from_rows(matrix))
    assert Polyhedron.box([0], [1]).preimage(matrix) == Polyhedron.box([0], [1]).preimage(
        RationalMatrix.from_rows(matrix)
    )
    for wrong in ([[1], [1, 2]], [1, 2], [["a", 1]], 3):
        with pytest.raises(DomainError, match="expected a matrix"):
            square.image(wrong)  # type: ignore[arg-type]


def test_the_empty_set_has_no_lineality_space() -> None:
    with pytest.raises(DomainError, match="no lineality space"):
        Polyhedron(1, ((1, 0), (-1, -1))).lineality_space()
