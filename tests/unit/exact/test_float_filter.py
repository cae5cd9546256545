"""Signs in floating point that are called certain, against fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from polyrelu.exact.floats import UNDECIDED, nearest_float
from polyrelu.exact.lp import LinearProgram
from polyrelu.exact.lp.float_filter import certain_signs
from polyrelu.exact.lp.highs import exponent_of
from tests.generators.campaigns import examples
from tests.generators.strategies import dyadic_rationals, rationals, small_rationals

Point = Sequence[Fraction]


def exact_signs(rows: Sequence[Sequence[int]], point: Point) -> list[int]:
    """Exact signs of a·x + s t - c with the float table's s, a power of two of the size of a."""
    found = []
    for *a, c in rows:
        slack = 1 << exponent_of([*a, c]) if any(a) else 0
        value = sum((e * x for e, x in zip([*a, slack], point, strict=True)), Fraction()) - c
        found.append((value > 0) - (value < 0))
    return found


def float_table(rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """The float rows [a | s | c] of a program with these rows [a | c]."""
    program = LinearProgram(len(rows[0]) - 1)
    program.add_inequalities([row[:-1] for row in rows], [row[-1] for row in rows])
    return program._model.table()


def filtered(
    rows: Sequence[Sequence[int]], point: Point
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """The certain signs, and the signs of the float products, certain or not."""
    table = float_table(rows)
    floats = [nearest_float(x.numerator, x.denominator) for x in point]
    with np.errstate(over="ignore", invalid="ignore"):
        return certain_signs(table, floats), np.sign(table @ np.array([*floats, -1.0]))


def wrong(signs: NDArray[Any], exact: list[int]) -> int:
    """The number of signs that are wrong; undecided signs are not."""
    return sum(
        int(sign not in (UNDECIDED, truth))
        for sign, truth in zip(signs.tolist(), exact, strict=True)
    )


def hard_case(rng: Random, columns: int, bits: int) -> tuple[list[list[int]], list[Fraction]]:
    """Rows that vanish at the point up to a relative error of 2^-40 to 2^-70, by cancellation."""
    point = [
        Fraction(rng.getrandbits(60) - 2**59, 1 << rng.randint(50, 62)) for _ in range(columns)
    ]
    t = Fraction(rng.getrandbits(60) - 2**59, 1 << 62) if rng.random() < 0.5 else Fraction()
    rows = []
    for _ in range(6):
        a = [rng.getrandbits(bits) - (1 << bits >> 1) for _ in range(columns)]
        slack = 1 << exponent_of([*a, 0])
        value = sum((e * x for e, x in zip([*a, slack], [*point, t], strict=True)), Fraction())
        error = (1 << bits) * Fraction(rng.randint(-9, 9), 1 << rng.randint(40, 70))
        common = value.denominator * error.denominator
        rows.append([e * common for e in a] + [int((value + error) * common)])
    return rows, [*point, t]


def test_cancellation_never_makes_a_wrong_sign_certain() -> None:
    rng = Random(1)
    wrong_in_floats = certain = total = 0
    for case in range(300):
        rows, point = hard_case(rng, 1 + case % 20, rng.choice([8, 30, 53, 64, 500]))
        signs, naive = filtered(rows, point)
        exact = exact_signs(rows, point)
        assert wrong(signs, exact) == 0
        wrong_in_floats += int(np.count_nonzero((naive != exact) & (naive != 0)))
        certain += int((signs != UNDECIDED).sum())
        total += len(rows)
    assert wrong_in_floats > 50, "the cases are too easy to show anything"
    assert total / 10 < certain < 0.9 * total, "the cases do not straddle the bound"


def test_the_bound_is_not_vacuous() -> None:
    """Rows that are off by a relative 2^-40 are certain, up to a thousand columns."""
    rng = np.random.default_rng(2)
    for columns in (1, 10, 100, 1000):
        a = rng.integers(-(2**30), 2**30, (50, columns))
        x = rng.integers(-(2**20), 2**20, columns)
        size, value = np.abs(a) @ np.abs(x), a @ x
        gap = (size >> 36) + 1
        for shift, sign in ((-1, 1), (1, -1)):
            rows = [[*row, int(c)] for row, c in zip(a.tolist(), value + shift * gap, strict=True)]
            signs, _ = filtered(rows, [*(Fraction(int(v)) for v in x), Fraction(0)])
            assert (signs == sign).all()


@pytest.mark.parametrize("size", [2**99, 2**101, 2**1000, 2**1023])
def test_large_coordinates_and_right_hand_sides_are_right_or_in_doubt(size: int) -> None:
    """Right-hand sides beyond 1e19 are clamped; coordinates beyond 2^100 make signs uncertain."""
    for rows, point in [
        ([[1, size]], [Fraction(size - 1), Fraction(0)]),
        ([[1, size]], [Fraction(0), Fraction(0)]),
        ([[1, -size]], [Fraction(-size, 2), Fraction(0)]),
        ([[1, -size]], [Fraction(-2 * size), Fraction(0)]),
        ([[size, 1]], [Fraction(1, size), Fraction(0)]),
        ([[size, 0], [-size, 1]], [Fraction(1, 2**70), Fraction(-1, 2**75)]),
    ]:
        signs, _ = filtered(rows, point)
        assert wrong(signs, exact_signs(rows, point)) == 0


def test_subnormal_numbers_are_right_or_in_doubt() -> None:
    tiny = Fraction(1, 2**1074)
    rng = Random(3)
    for _ in range(300):
        rows = [
            [1 << rng.randint(0, 1023), rng.randint(-3, 3), rng.randint(-3, 3)] for _ in range(4)
        ]
        point = [
            rng.randint(-3, 3) * tiny,
            rng.randint(-3, 3) * tiny / 3,
            rng.randint(-1, 1) * tiny / 2,
        ]
        signs, _ = filtered(rows, point)
        assert wrong(signs, exact_signs(rows, point)) == 0


def test_points_that_are_not_numbers_are_in_doubt() -> None:
    table = float_table([[1, 1], [1, -1]])
    for value in (float("nan"), float("inf"), -float("inf")):
        assert certain_signs(table, [value, 0.0]).tolist() == [UNDECIDED] * 2


@st.composite
def rows_and_point(draw: st.DrawFn) -> tuple[list[list[int]], list[Fraction]]:
    """Integers of any size and a point of any rationals, now and then near a row."""
    columns = draw(st.integers(1, 4))
    integers = st.one_of(
        st.integers(-3, 3), st.integers(-(2**70), 2**70), st.integers(-(2**1100), 2**1100)
    )
    rows = draw(
        st.lists(
            st.lists(integers, min_size=columns + 1, max_size=columns + 1), min_size=1, max_size=4
        )
    )
    numbers = st.one_of(small_rationals(), dyadic_rationals(), rationals())
    point = draw(st.lists(numbers, min_size=columns, max_size=columns))
    t = draw(st.one_of(st.just(Fraction(0)), numbers))
    for row in rows:
        if draw(st.booleans()):
            row[-1] = round(sum(a * x for a, x in zip(row[:-1], point, strict=True)))
    return rows, [*point, t]


@given(rows_and_point())
@examples(300)
@pytest.mark.slow
def test_certain_signs_are_right(case: tuple[list[list[int]], list[Fraction]]) -> None:
    rows, point = case
    signs, _ = filtered(rows, point)
    assert wrong(signs, exact_signs(rows, point)) == 0
