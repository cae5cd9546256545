"""Exact numbers and linear algebra against plain Fraction loops and SymPy."""

from __future__ import annotations

import math
import pickle
import random
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import flint
import ml_dtypes
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, strategies as st

from polyrelu.errors import NetworkError
from polyrelu.exact import (
    PRIMES,
    RationalMatrix,
    determinant,
    format_integer,
    format_rational,
    independent_entries,
    kernel,
    left_kernel,
    nonzero_minor,
    parse_rational,
    rank,
    rank_mod,
    solve,
    to_fraction,
    vanishing_subset,
)
from polyrelu.exact.floats import integers_from_floats
from tests.generators.campaigns import examples
from tests.generators.strategies import (
    AWKWARD,
    ranked_rows,
    rationals,
    shaped_rows,
    small_rationals,
)
from tests.oracles.plain import Matrix

THOUSAND = 10**1000

# --- Scalars -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, Fraction(7)),
        (-(10**400), Fraction(-(10**400))),
        (Fraction(4, -6), Fraction(-2, 3)),
        (0.1, Fraction(3602879701896397, 2**55)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(1, 2**1074)),
        (1.7976931348623157e308, Fraction((2**53 - 1) * 2**971)),
        (np.float16(0.1), Fraction(819, 8192)),
        (np.float16(6e-8), Fraction(1, 2**24)),
        (np.float32(0.1), Fraction(13421773, 2**27)),
        (np.float32(1e-45), Fraction(1, 2**149)),
        (np.float64(-2.5), Fraction(-5, 2)),
        (np.longdouble(1) / 3, Fraction(*(np.longdouble(1) / 3).as_integer_ratio())),
        (np.int8(-128), Fraction(-128)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (flint.fmpz(-12), Fraction(-12)),
        (flint.fmpq(6, -4), Fraction(-3, 2)),
        ("0", Fraction(0)),
        ("-2/3", Fraction(-2, 3)),
        ("9" * 1000, Fraction(THOUSAND - 1)),
        ("-" + hex(THOUSAND), Fraction(-THOUSAND)),
        ("1/" + hex(THOUSAND), Fraction(1, THOUSAND)),
    ],
)
def test_to_fraction_is_exact(value: object, expected: Fraction) -> None:
    found = to_fraction(value)
    assert type(found) is Fraction
    assert found == expected


REFUSED: list[object] = [
    float("nan"), float("inf"), -math.inf,
    np.float32("nan"), np.float16("inf"), np.longdouble("inf"),
    True, False, np.True_, None, 1j, b"1", [1], (1, 2), np.array([1.0]),
    "", " ", "1e5", "1.5", " 1", "1 ", "1\n", "\t1", "１", "१",
    "+1", "--1", "-0", "00", "01", "-01", "1_0", "0x", "x",
    "2/4", "1/1", "0/1", "0/5", "3/0", "1/-2", "1/", "/2", "1//2", "1/2/3", "1 / 2",
    "-1/02", "nan", "inf", "1/+2",
    "١/2", "1" + "0" * 1000, "-1" + "0" * 1000, "1/1" + "0" * 1000, "9" * 5000,
    "0x1f", "-0x10", hex(THOUSAND - 1), "-" + hex(THOUSAND - 1), "1/" + hex(THOUSAND - 1),
    hex(THOUSAND).upper(),
    "0x0" + hex(THOUSAND)[2:], hex(THOUSAND).replace("0x", "0X"), "0x1" + "0" * 250_000,
]  # fmt: skip


@pytest.mark.parametrize(
    "value", REFUSED, ids=lambda value: f"{type(value).__name__} {str(value)[:12]!a}"
)
def test_to_fraction_refuses_in_one_short_line(value: object) -> None:
    with pytest.raises(NetworkError) as caught:
        to_fraction(value)
    message = str(caught.value)
    assert message
    assert message.isprintable(), message
    assert len(message) < 200


@given(rationals())
def test_rationals_survive_text(value: Fraction) -> None:
    text = format_rational(value)
    assert text.isascii()
    assert parse_rational(text) == value
    assert to_fraction(text) == value


@given(
    st.integers(-5, 5),
    st.sampled_from([-1, 1]),
    st.sampled_from([0, 1, 999, 1000, 1001, 4300, 4900]),
)
def test_integers_around_the_limit_have_one_spelling(offset: int, sign: int, exponent: int) -> None:
    number = sign * (10**exponent + offset)
    text = format_integer(number)
    assert text.lstrip("-").startswith("0x") == (abs(number) >= THOUSAND)
    assert len(text) <= 1001 or text.lstrip("-").startswith("0x")
    assert parse_rational(text) == number
    # The other spelling is refused.
    other = hex(number) if abs(number) < THOUSAND else _decimal(number)
    with pytest.raises(NetworkError):
        parse_rational(other)


def _decimal(number: int) -> str:
    """Decimal text beyond Python's limit of 4,300 digits, by halves."""
    if number < 0:
        return "-" + _decimal(-number)
    if number < 10**4000:
        return str(number)
    high, low = divmod(number, 10**4000)
    return _decimal(high) + str(low).zfill(4000)


def test_numbers_have_at_most_16384_bits() -> None:
    number = 2**16_384 - 1
    assert parse_rational(format_integer(-number)) == -number
    assert parse_rational("1/" + hex(number)) == Fraction(1, number)
    for text in (hex(number + 1), "-" + hex(number + 1), "1/" + hex(number + 1)):
        with pytest.raises(NetworkError):
            parse_rational(text)
    with pytest.raises(NetworkError, match="16385 bits"):
        format_integer(number + 1)


# --- Floats in bulk -----------------------------------------------------------------------------

_FLOATS: dict[str, tuple[Any, Any]] = {
    "float16": (np.float16, np.uint16),
    "bfloat16": (ml_dtypes.bfloat16, np.uint16),
    "float32": (np.float32, np.uint32),
    "float64": (np.float64, np.uint64),
}


def _check_integers(array: Any) -> None:
    integers, denominator = integers_from_floats(array)
    expected = [Fraction(float(entry)) for entry in array.ravel()]
    assert [Fraction(number, denominator) for number in integers] == expected
    assert all(type(number) is int for number in integers)
    assert denominator & (denominator - 1) == 0
    assert math.gcd(denominator, *integers) == 1


@pytest.mark.parametrize("name", _FLOATS)
def test_integers_from_floats_of_random_bits(name: str) -> None:
    dtype, bits = _FLOATS[name]
    generator = np.random.default_rng(7)
    for size in (1, 2, 3, 5, 64):
        for _ in range(40):
            raw = generator.integers(0, np.iinfo(bits).max, size, dtype=bits, endpoint=True).view(
                dtype
            )
            with np.errstate(invalid="ignore"):
                array = np.where(np.isfinite(raw.astype(np.float64)), raw, np.zeros_like(raw))
            assert array.dtype == dtype
            _check_integers(array)


@pytest.mark.parametrize("name", _FLOATS)
def test_integers_from_floats_of_every_exponent(name: str) -> None:
    """Least and largest numbers together, subnormal ones, zeros of both signs."""
    dtype = _FLOATS[name][0]
    information: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    edges = [
        information.smallest_subnormal,
        information.tiny,
        information.max,
        information.min,
        0.0,
        -0.0,
        1.0,
        -1.0,
    ]
    for chosen in [*combinations(edges, 1), *combinations(edges, 2), edges]:
        _check_integers(np.array(chosen, dtype=dtype))


def test_integers_from_floats_with_extreme_spread() -> None:
    _check_integers(np.array([5e-324, 1e308, -0.0, 0.0, -1.7976931348623157e308, 2.0**-1022]))
    _check_integers(np.array([[1.0, 2.0**62], [2.0**63, -(2.0**61)]]))
    _check_integers(np.array([2.0**9, 2.0**-53 + 1 - 1, 1 - 2.0**-53]))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_integers_from_floats_of_any_doubles(numbers: list[float]) -> None:
    _check_integers(np.array(numbers))


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=4), st.integers(-40, 40))
def test_integers_from_floats_near_the_int64_switch(mantissas: list[int], exponent: int) -> None:
    _check_integers(
        np.array([math.ldexp(m, exponent if i else 0) for i, m in enumerate(mantissas)])
    )


def test_integers_from_floats_reads_other_byte_orders_and_strides() -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
    expected = integers_from_floats(values)
    assert integers_from_floats(values.astype(">f4")) == expected
    assert integers_from_floats(np.asfortranarray(values)) == expected
    assert integers_from_floats(values.T.copy().T) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_integers_from_floats_names_the_entry_that_is_not_finite(bad: float) -> None:
    array = np.zeros((2, 3))
    array[1, 2] = bad
    with pytest.raises(NetworkError, match=r"\[1, 2\]"):
        integers_from_floats(array)


@pytest.mark.parametrize("dtype", ["bool", "complex128", "longdouble", "U3", "M8[s]", "V2"])
def test_integers_from_floats_refuses_other_types(dtype: str) -> None:
    with pytest.raises(NetworkError, match="not supported"):
        integers_from_floats(np.zeros((1, 1), dtype=dtype))


# --- Matrices -----------------------------------------------------------------------------------


def _product(a: Matrix, b: Matrix) -> Matrix:
    return [
        [
            sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*b, strict=True)
        ]
        for row in a
    ]


def _table(matrix: RationalMatrix) -> Matrix:
    return [list(row) for row in matrix.rows()]


@st.composite
def _three_matrices(draw: st.DrawFn) -> tuple[Matrix, Matrix, Matrix]:
    """Two of one shape, and a third that the first can be multiplied by."""
    m, n, k = (draw(st.integers(1, 4)) for _ in range(3))
    entries = draw(st.sampled_from([small_rationals(), rationals()]))
    return (
        draw(shaped_rows(m, n, entries)),
        draw(shaped_rows(m, n, entries)),
        draw(shaped_rows(n, k, entries)),
    )


@given(_three_matrices())
@examples(60)
def test_arithmetic_is_that_of_fractions(case: tuple[Matrix, Matrix, Matrix]) -> None:
    a, b, c = case
    p, q, r = (RationalMatrix.from_rows(rows) for rows in case)
    assert _table(p + q) == [
        [x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)
    ]
    assert _table(p - q) == [
        [x - y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)
    ]
    assert _table(-p) == [[-x for x in row] for row in a]
    assert _table(p @ r) == _product(a, c)
    assert _table(p.relu()) == [[max(x, Fraction(0)) for x in row] for row in a]
    assert _table(p.transpose()) == [list(column) for column in zip(*a, strict=True)]
    assert _table(p.beside(q)) == [[*x, *y] for x, y in zip(a, b, strict=True)]
    assert p.signs().tolist() == [[(x > 0) - (x < 0) for x in row] for row in a]
    assert p.is_zero() == (not any(x for row in a for x in row))
    assert p[0, len(a[0]) - 1] == a[0][-1]
    assert p.row(len(a) - 1) == tuple(a[-1])
    assert list(p.entries()) == [x for row in a for x in row]
    assert (p @ r).denominator == math.lcm(*(x.denominator for row in _product(a, c) for x in row))
    assert p.to_numpy().tolist() == a


@given(_three_matrices(), small_rationals())
@examples(40)
def test_scaling_and_taking(case: tuple[Matrix, Matrix, Matrix], factor: Fraction) -> None:
    a = case[0]
    p = RationalMatrix.from_rows(a)
    by_row = [factor + i for i in range(len(a))]
    by_column = [factor - j for j in range(len(a[0]))]
    assert _table(p.scale(factor)) == [[x * factor for x in row] for row in a]
    assert _table(p.scale_rows(by_row)) == [
        [x * f for x in row] for row, f in zip(a, by_row, strict=True)
    ]
    assert _table(p.scale_columns(by_column)) == [
        [x * f for x, f in zip(row, by_column, strict=True)] for row in a
    ]
    rows, columns = list(range(len(a)))[::-1], [*range(len(a[0])), 0]
    assert _table(p.take(rows, columns)) == [[a[i][j] for j in columns] for i in rows]
    assert p.take([], None).shape == (0, len(a[0]))
    assert p.take(None, []).shape == (len(a), 0)


@given(_three_matrices())
@examples(40)
def test_equality_hash_and_pickle(case: tuple[Matrix, Matrix, Matrix]) -> None:
    a, b, _ = case
    p, q = RationalMatrix.from_rows(a), RationalMatrix.from_rows(b)
    again = RationalMatrix.from_integers(
        [[int(x * p.denominator * 6) for x in row] for row in a], p.denominator * 6
    )
    assert again == p
    assert hash(again) == hash(p)
    assert (p == q) == (a == b)
    assert pickle.loads(pickle.dumps(p)) == p
    assert hash(pickle.loads(pickle.dumps(p))) == hash(p)
    assert p != a


def test_empty_matrices_keep_their_shapes() -> None:
    for shape in [(0, 3), (3, 0), (0, 0)]:
        matrix = RationalMatrix.zeros(*shape)
        assert matrix.shape == shape
        assert pickle.loads(pickle.dumps(matrix)) == matrix
        assert matrix.transpose().shape == shape[::-1]
        assert (matrix @ matrix.transpose()).shape == (shape[0], shape[0])
        assert matrix.to_numpy().shape == shape
        assert matrix.signs().shape == shape
        assert matrix.integer_rows() == [[]] * shape[0]
    assert RationalMatrix.zeros(0, 3) != RationalMatrix.zeros(0, 2)
    assert (RationalMatrix.zeros(2, 0) @ RationalMatrix.zeros(0, 2)).is_zero()


def test_denominators_are_positive_and_least() -> None:
    assert RationalMatrix.from_integers([[2, 4]], -6) == RationalMatrix.from_rows(
        [["-1/3", "-2/3"]]
    )
    assert RationalMatrix.from_integers([[2, 4]], -6).denominator == 3
    assert RationalMatrix.from_integers([[0, 0]], 12).denominator == 1
    assert RationalMatrix.from_rows([["1/2", "1/3"]]).scale(0) == RationalMatrix.zeros(1, 2)


def test_matrices_do_not_change_through_what_they_hand_out() -> None:
    matrix = RationalMatrix.from_rows([[1, 2], [3, 4]])
    before = hash(matrix)
    matrix.integer_rows()[0][0] = 99
    matrix.to_numpy()[0, 0] = Fraction(99)
    matrix.signs()[0, 0] = -1
    source = np.array([[1.0, 2.0]])
    copied = RationalMatrix.from_array(source)
    source[0, 0] = 5
    assert hash(matrix) == before
    assert copied[0, 0] == 1
    with pytest.raises(AttributeError):
        matrix.denominator = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        matrix[0, 0] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: RationalMatrix.from_rows([[1, 2], [3]]),
        lambda: RationalMatrix.from_integers([[1], [2, 3]]),
        lambda: RationalMatrix.zeros(2, 3) @ RationalMatrix.zeros(2, 3),
        lambda: RationalMatrix.zeros(2, 3) + RationalMatrix.zeros(3, 2),
        lambda: RationalMatrix.zeros(1, 3) - RationalMatrix.zeros(2, 3),
        lambda: RationalMatrix.zeros(1, 3).beside(RationalMatrix.zeros(2, 3)),
        lambda: RationalMatrix.from_array(np.zeros((1, 1, 1))),
        lambda: RationalMatrix.from_array(np.array(1.0)),
        lambda: RationalMatrix.from_array(np.array([[True]])),
        lambda: RationalMatrix.from_array(np.array([[1, None]], dtype=object)),
    ],
)
def test_matrices_refuse_what_does_not_fit(wrong: Callable[[], object]) -> None:
    with pytest.raises(NetworkError):
        wrong()


def test_matrices_refuse_the_denominator_zero() -> None:
    with pytest.raises(NetworkError):
        RationalMatrix.from_integers([[0]], 0)


def test_from_array_takes_integers_objects_and_floats() -> None:
    assert RationalMatrix.from_array(np.array([[2**64 - 1]], dtype=np.uint64))[0, 0] == 2**64 - 1
    assert RationalMatrix.from_array(np.array([-128], dtype=np.int8))[0, 0] == -128
    mixed = np.array([["1/3", Fraction(1, 2), 0.25, 10**30]], dtype=object)
    assert _table(RationalMatrix.from_array(mixed)) == [
        [Fraction(1, 3), Fraction(1, 2), Fraction(1, 4), 10**30]
    ]
    assert RationalMatrix.from_array(np.array([0.1, 0.2], dtype=np.float32)).shape == (2, 1)


# --- Linear algebra against SymPy ---------------------------------------------------------------


def _sympy(rows: Sequence[Sequence[Fraction]]) -> Any:
    """A SymPy domain matrix over QQ."""
    entries = [[sympy.QQ(x.numerator, x.denominator) for x in row] for row in rows]
    return sympy.polys.matrices.DomainMatrix(entries, (len(rows), len(rows[0])), sympy.QQ)


def _sympy_rank(rows: Sequence[Sequence[Fraction]]) -> int:
    return int(_sympy(rows).rank()) if rows and rows[0] else 0


@given(ranked_rows())
@examples(150)
def test_rank_and_kernels(rows: Matrix) -> None:
    matrix, expected = RationalMatrix.from_rows(rows), _sympy_rank(rows)
    assert rank(matrix) == expected
    assert all(rank_mod(matrix, prime) <= expected for prime in PRIMES)
    right, left = kernel(matrix), left_kernel(matrix)
    assert right.shape == (len(rows[0]), len(rows[0]) - expected)
    assert left.shape == (len(rows), len(rows) - expected)
    assert not any(x for row in _product(rows, _table(right)) for x in row)
    assert not any(x for row in _product(_table(left.transpose()), rows) for x in row)
    assert _sympy_rank(_table(right)) == right.ncols
    assert _sympy_rank(_table(left)) == left.ncols


@given(ranked_rows(4), st.data())
@examples(150)
def test_solve(rows: Matrix, data: st.DataObject) -> None:
    matrix = RationalMatrix.from_rows(rows)
    columns = data.draw(st.integers(1, 2))
    chosen = data.draw(shaped_rows(len(rows[0]), columns))
    solution = solve(matrix, RationalMatrix.from_rows(_product(rows, chosen)))
    assert solution is not None
    assert _product(rows, _table(solution)) == _product(rows, chosen)
    right = data.draw(shaped_rows(len(rows), columns))
    found = solve(matrix, RationalMatrix.from_rows(right))
    consistent = _sympy_rank([[*a, *b] for a, b in zip(rows, right, strict=True)]) == _sympy_rank(
        rows
    )
    assert (found is not None) == consistent
    if found is not None:
        assert _product(rows, _table(found)) == right


_FOUR_PRIMES = (2**31 - 1) * (2**61 - 1) * (2**63 - 25) * (2**62 - 57)


def test_rank_and_kernel_survive_primes_that_all_fail() -> None:
    matrix = RationalMatrix.from_rows([[_FOUR_PRIMES, 0, _FOUR_PRIMES], [0, 1, 1]])
    assert rank(matrix) == 2
    assert kernel(matrix).shape == (3, 1)
    assert (matrix @ kernel(matrix)).is_zero()


def test_solve_survives_primes_that_all_fail() -> None:
    matrix = RationalMatrix.from_rows([[_FOUR_PRIMES, 0], [0, 1]])
    assert solve(matrix, RationalMatrix.column([1, 1])) == RationalMatrix.column(
        [Fraction(1, _FOUR_PRIMES), 1]
    )


@given(st.integers(1, 5).flatmap(lambda n: shaped_rows(n, n, st.integers(-9, 9).map(Fraction))))
@examples(50)
def test_determinant(rows: Matrix) -> None:
    integers = _integers(rows)
    assert determinant(integers) == _exact_determinant(integers)


def _rank_modulo(rows: Sequence[Sequence[int]], prime: int) -> int:
    """Gaussian elimination modulo a prime, with Python integers."""
    table = [[entry % prime for entry in row] for row in rows]
    found = 0
    for column in range(len(table[0]) if table else 0):
        pivot = next((i for i in range(found, len(table)) if table[i][column]), None)
        if pivot is None:
            continue
        table[found], table[pivot] = table[pivot], table[found]
        inverse = pow(table[found][column], -1, prime)
        for i in range(found + 1, len(table)):
            factor = table[i][column] * inverse % prime
            table[i] = [
                (x - factor * y) % prime for x, y in zip(table[i], table[found], strict=True)
            ]
        found += 1
    return found


def _exact_determinant(rows: Sequence[Sequence[int]]) -> int:
    return int(sympy.Matrix(len(rows), len(rows), [x for row in rows for x in row]).det())


def _integers(rows: Matrix) -> list[list[int]]:
    common = math.lcm(*(x.denominator for row in rows for x in row))
    return [[int(x * common) for x in row] for row in rows]


@given(ranked_rows())
@examples(150)
def test_nonzero_minor_evidence(rows: Matrix) -> None:
    matrix = RationalMatrix.from_rows(rows)
    found = nonzero_minor(matrix)
    numerators = matrix.primitive_rows()
    if found is None:
        assert all(_rank_modulo(numerators, prime) < len(rows) for prime in PRIMES)
        return
    assert found.prime in PRIMES
    assert list(found.columns) == sorted(set(found.columns))
    assert len(found.columns) == len(rows)
    minor = _exact_determinant([[row[j] for j in found.columns] for row in numerators])
    assert minor % found.prime != 0
    assert _exact_determinant([[row[j] for j in found.columns] for row in _integers(rows)]) != 0


def test_second_prime_and_no_prime() -> None:
    first, second = AWKWARD
    found = nonzero_minor(RationalMatrix.from_rows([[first, 0], [0, 1]]))
    assert found is not None
    assert found.prime == second
    found = nonzero_minor(RationalMatrix.from_rows([[second, 0], [0, 1]]))
    assert found is not None
    assert found.prime == first
    assert nonzero_minor(RationalMatrix.from_rows([[first * second, 0], [0, 1]])) is None


@st.composite
def _factors(
    draw: st.DrawFn, largest_count: int, largest: int = 2
) -> tuple[list[list[int]], list[list[int]]]:
    """Integer matrices left (m × q) and right (q × n)."""
    m, n, q = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, largest_count))
    entry = st.integers(-largest, largest)

    def matrix(nrows: int, ncols: int) -> list[list[int]]:
        return draw(
            st.lists(
                st.lists(entry, min_size=ncols, max_size=ncols), min_size=nrows, max_size=nrows
            )
        )

    return matrix(m, q), matrix(q, n)


def _primitive(rows: list[list[int]]) -> list[list[int]]:
    content = math.gcd(*(entry for row in rows for entry in row)) or 1
    return [[entry // content for entry in row] for row in rows]


def test_submatrices_count_from_0() -> None:
    """Python's indices would read -1 as the last row, which `take_rows` reads as a zero row."""
    matrix = RationalMatrix.from_rows([[1, 2], [3, 4]])
    assert matrix.take(rows=[1], columns=[1, 0]).integer_rows() == [[4, 3]]
    for wrong in (-1, 2):
        with pytest.raises(IndexError):
            matrix.take(rows=[0, wrong])
        with pytest.raises(IndexError):
            matrix.take(columns=[wrong])
        with pytest.raises(IndexError):
            matrix[wrong, 0]


def _products(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """X_i = left[:, i] right[i, :] as flat lists."""
    return [[row[i] * a for row in left for a in right[i]] for i in range(len(right))]


@given(
    _factors(6), st.sampled_from([1, *AWKWARD]), st.sampled_from([1, *AWKWARD]), st.integers(0, 5)
)
@examples(150)
def test_independent_entries_evidence(
    case: tuple[list[list[int]], list[list[int]]], left_factor: int, right_factor: int, where: int
) -> None:
    left, right = case
    left[where % len(left)] = [x * left_factor for x in left[where % len(left)]]
    right[where % len(right)] = [x * right_factor for x in right[where % len(right)]]
    found = independent_entries(RationalMatrix.from_rows(left), RationalMatrix.from_rows(right))
    products = _products(_primitive(left), _primitive(right))
    if found is None:
        assert all(_rank_modulo(products, prime) < len(right) for prime in PRIMES)
        return
    prime, entries = found
    assert prime in PRIMES
    assert list(entries) == sorted(set(entries))
    assert len(entries) == len(right)
    block = [[x[o * len(right[0]) + k] for o, k in entries] for x in products]
    assert _exact_determinant(block) % prime != 0


def _vanishing_by_brute_force(products: list[list[int]]) -> list[tuple[int, ...]]:
    count = len(products)
    return [
        subset
        for size in range(1, count + 1)
        for subset in combinations(range(count), size)
        if not any(sum(products[i][e] for i in subset) for e in range(len(products[0])))
    ]


@given(_factors(10, 3))
@examples(120)
def test_vanishing_subset_against_brute_force(
    case: tuple[list[list[int]], list[list[int]]],
) -> None:
    left, right = case
    products = _products(left, right)
    found = vanishing_subset(RationalMatrix.from_rows(left), RationalMatrix.from_rows(right))
    vanishing = _vanishing_by_brute_force(products)
    if vanishing:
        assert found.evidence is None
        assert found.subset in vanishing
        return
    assert found.subset is None
    assert found.evidence is not None
    _check_subset_evidence(left, right, found.evidence)


def _check_subset_evidence(
    left: list[list[int]], right: list[list[int]], evidence: dict[str, Any]
) -> None:
    """The rules of FORMAT.md §3.3, spelled out again."""
    products = _products(left, right)
    if evidence["method"] == "independent":
        assert set(evidence) == {"method", "prime", "entries"}
        block = [[x[o * len(right[0]) + k] for o, k in evidence["entries"]] for x in products]
        assert _exact_determinant(block) % int(evidence["prime"]) != 0
        return
    assert set(evidence) == {"method", "multiplier"}
    assert evidence["method"] == "subset-sums"
    prime, r, m = 2**61 - 1, int(evidence["multiplier"]), len(left)
    scalars = [
        sum(row[i] * r**o for o, row in enumerate(left))
        * sum(a * r ** (m * k) for k, a in enumerate(right[i]))
        % prime
        for i in range(len(right))
    ]
    sums = [0]
    for scalar in scalars:
        sums += [(value + scalar) % prime for value in sums]
    assert 0 not in sums[1:]


def test_vanishing_subset_beyond_the_bound_is_open_unless_independent() -> None:
    generator = random.Random(3)
    right = [[generator.randint(1, 10**9)] for _ in range(41)]
    found = vanishing_subset(RationalMatrix.from_rows([[1] * 41]), RationalMatrix.from_rows(right))
    assert found.subset is None
    assert found.evidence is None
    wide = RationalMatrix.identity(41)
    evidence = vanishing_subset(RationalMatrix.from_rows([[1] * 41]), wide).evidence
    assert evidence is not None
    assert evidence["method"] == "independent"


@given(_factors(6, 2), st.sampled_from(AWKWARD))
@examples(60)
def test_vanishing_subset_is_not_fooled_by_a_prime(
    case: tuple[list[list[int]], list[list[int]]], prime: int
) -> None:
    left, right = case
    right = [[x * prime + (x > 0) * (i == 0) for x in row] for i, row in enumerate(right)]
    assume(any(any(row) for row in right))
    found = vanishing_subset(RationalMatrix.from_rows(left), RationalMatrix.from_rows(right))
    vanishing = _vanishing_by_brute_force(_products(left, right))
    assert found.subset is None or found.subset in vanishing
    assert found.evidence is None or not vanishing


def test_subnormal_bits_round_trip_through_a_matrix() -> None:
    """Every float64 with a single bit set, as one array."""
    numbers = [struct.unpack("<d", struct.pack("<Q", 1 << bit))[0] for bit in range(62)]
    matrix = RationalMatrix.from_array(np.array([numbers]))
    assert list(matrix.entries()) == [Fraction(number) for number in numbers]
    assert matrix.to_floats().tolist() == [numbers]


@pytest.mark.parametrize("text", ["0.5", "2/4", "1/0", "", "1e3", "+1"])
def test_text_that_is_not_exact_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(
        NetworkError, match=r"is not exact text: write an integer or a fraction in lowest terms"
    ):
        to_fraction(text)
