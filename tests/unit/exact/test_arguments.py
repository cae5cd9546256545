"""Arguments of exact arithmetic, linear programs and polyhedra: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import ArgumentError, DomainError, NetworkError, PolyreluError
from polyrelu.exact import (
    FLOAT32,
    LinearProgram,
    Polyhedron,
    RationalMatrix,
    SparseMatrix,
    add,
    as_dense,
    as_sparse,
    canonical,
    column_basis,
    decimal_above,
    decimal_below,
    determinant,
    dot,
    dot_sign,
    eliminate_mod,
    exact_root,
    float_prime,
    format_integer,
    format_rational,
    independent_entries,
    integer_product,
    inverse_root,
    irredundant_rows,
    kernel,
    left_kernel,
    meeting_direction,
    multiply,
    nearest_float,
    nonzero_minor,
    parse_rational,
    positive_primitive,
    primitive,
    rank,
    rank_mod,
    row_basis,
    solve,
    stack,
    take_rows,
    to_fraction,
    vanishing_subset,
)
from tests.generators.wrong_arguments import WRONG, calls_with, outcome

SQUARE, COLUMN = RationalMatrix.from_rows([[1, 2], [3, 4]]), RationalMatrix.column([1, "1/2"])
SPARSE = SparseMatrix.identity(2)
BOX = Polyhedron.box([0, 0], [1, 1])
HALF = Fraction(1, 2)


def program() -> LinearProgram:
    """A program of two variables with one row."""
    made = LinearProgram(2, [0, 0], [1, 1])
    made.add_inequalities([[1, 1]], [1])
    return made


#: Functions, constructors and methods with arguments that fit.
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
    "above": (decimal_above, (HALF,)),
    "add": (add, (SQUARE, SPARSE)),
    "below": (decimal_below, (HALF,)),
    "box": (Polyhedron.box, ([0, None], [1, 2])),
    "canonical": (canonical, (SPARSE,)),
    "column": (RationalMatrix.column, ([1, "1/2"],)),
    "column basis": (column_basis, (SQUARE,)),
    "constraints": (Polyhedron.from_constraints, ([[1, 1]], [1], [[1, 0]], [0], 2)),
    "contains": (BOX.contains, ([0, 1],)),
    "dense": (as_dense, (SPARSE,)),
    "determinant": (determinant, ([[1, 2], [3, 4]],)),
    "diagonal": (SparseMatrix.diagonal, (COLUMN,)),
    "entries": (SparseMatrix.from_entries, ((2, 2), [0], [1], [3], 2)),
    "equals": (BOX.equals, (BOX,)),
    "equations": (lambda rows, right: program().add_equations(rows, right), ([[1, 0]], [1])),
    "float prime": (float_prime, (4,)),
    "format rational": (format_rational, (HALF,)),
    "from array": (RationalMatrix.from_array, (np.array([[1.0, 2.0]]),)),
    "from dense": (SparseMatrix.from_dense, (SQUARE,)),
    "from rows": (RationalMatrix.from_rows, ([[1, "1/2"]], 2)),
    "generators": (Polyhedron.from_generators, ([[0, 0]], [[1, 0]], [[0, 1]], 2)),
    "holds": (FLOAT32.holds, (HALF,)),
    "identity": (RationalMatrix.identity, (2,)),
    "image": (BOX.image, ([[1, 1]], [3])),
    "includes": (BOX.includes, (BOX,)),
    "independent": (independent_entries, (RationalMatrix.from_rows([[1, 1]]), SQUARE)),
    "inequalities": (lambda rows, right: program().add_inequalities(rows, right), ([[1, 0]], [1])),
    "intersect": (BOX.intersect, (BOX,)),
    "inverse root": (inverse_root, (HALF, FLOAT32)),
    "irredundant": (irredundant_rows, ([(1, 1), (-2, 0)], [HALF])),
    "kernel": (kernel, (SQUARE,)),
    "left kernel": (left_kernel, (SQUARE,)),
    "maximize": (program().maximize, ([1, 2],)),
    "maximum": (BOX.maximize, ([1, 2],)),
    "maxima": (lambda rows: list(program().maximize_each(rows)), ([[1, 2]],)),
    "minimize": (program().minimize, ([1, 2],)),
    "minor": (nonzero_minor, (SQUARE,)),
    "multiply": (multiply, (SQUARE, SPARSE)),
    "nearest": (FLOAT32.nearest, (HALF,)),
    "orthant": (Polyhedron.orthant, (2,)),
    "parse": (parse_rational, ("1/2",)),
    "polyhedron": (Polyhedron, (1, ((1, 2),), ())),
    "preimage": (BOX.preimage, ([[1], [2]], [0, 1])),
    "program": (LinearProgram, (2, [0, 0], [1, None])),
    "project": (BOX.project, ([0],)),
    "rank": (rank, (SQUARE,)),
    "rank modulo": (rank_mod, (SQUARE, 7)),
    "right": (lambda row, right: program().change_right(row, right), (0, 2)),
    "root": (exact_root, (HALF,)),
    "row basis": (row_basis, (SQUARE,)),
    "rows of both": (take_rows, (SPARSE, np.array([1, -1]))),
    "scale": (SQUARE.scale, (2,)),
    "selection": (SparseMatrix.selection, (np.array([1, -1]), 2)),
    "solve": (solve, (SQUARE, COLUMN)),
    "sparse": (as_sparse, (SQUARE,)),
    "sparse identity": (SparseMatrix.identity, (2,)),
    "stack": (stack, ([SQUARE, SPARSE],)),
    "to fraction": (to_fraction, ("1/2",)),
    "try": (program().try_minimize, ([1, 2],)),
    "universe": (Polyhedron.universe, (2,)),
    "vanishing": (vanishing_subset, (RationalMatrix.from_rows([[1, 1]]), SQUARE)),
    "zeros": (RationalMatrix.zeros, (2, 3)),
}

#: Functions without checks, as other rooms call them for every row, entry or point: a check would
#: cost as much as the work. A wrong type is an error of Python or FLINT, or a harmless answer.
EXEMPT: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
    "dot": (dot, ([1, 2], [3, 4])),
    "dot sign": (dot_sign, ([1, 2], [3, 4])),
    "direction": (meeting_direction, ([[1, 2]],)),
    "eliminate": (eliminate_mod, ([[1, 2]], 1)),
    "format integer": (format_integer, (3,)),
    "from integers": (RationalMatrix.from_integers, ([[1, 2]], 3)),
    "nearest float": (nearest_float, (1, 3)),
    "plus": (SQUARE.__add__, (SQUARE,)),
    "positive": (positive_primitive, ([2, 4],)),
    "primitive": (primitive, ([1, 2],)),
    "product": (integer_product, ([[1]], [[2]])),
    "scale columns": (SQUARE.scale_columns, ([1, 2],)),
    "scale rows": (SQUARE.scale_rows, ([1, 2],)),
    "times": (SQUARE.__matmul__, (SQUARE,)),
}


@pytest.mark.parametrize("name", [*CALLS, *EXEMPT])
def test_one_wrong_argument(name: str) -> None:
    function, good = {**CALLS, **EXEMPT}[name]
    assert outcome(lambda: function(*good)) == ""
    unchecked = (TypeError, ValueError, AttributeError, StopIteration)
    for wrong in WRONG:
        for call in calls_with(function, good, {}, wrong):
            with nullcontext() if name in CALLS else suppress(*unchecked):
                outcome(call)


MATRIX_FUNCTIONS: list[Callable[[Any], object]] = [
    rank,
    kernel,
    left_kernel,
    row_basis,
    column_basis,
    nonzero_minor,
    rank_mod,
    canonical,
    as_dense,
    as_sparse,
    lambda matrix: solve(matrix, COLUMN),
    lambda matrix: solve(SQUARE, matrix),
    lambda matrix: multiply(SQUARE, matrix),
    lambda matrix: add(matrix, SPARSE),
    lambda matrix: stack([SQUARE, matrix]),
    lambda matrix: vanishing_subset(SQUARE, matrix),
]


def test_what_is_no_matrix() -> None:
    for function in MATRIX_FUNCTIONS:
        for wrong in (*WRONG, [[1, 2], [3, 4]], np.eye(2)):
            with pytest.raises(ArgumentError, match=r"expected .*Matrix.*; RationalMatrix.from_ro"):
                function(wrong)


def test_operators_refuse_other_types() -> None:
    matrix: Any = SQUARE
    for wrong in (3, None, "1", [[1, 2]]):
        with pytest.raises(TypeError, match=r"unsupported operand|bad operand"):
            matrix + wrong
        with pytest.raises(TypeError, match=r"unsupported operand|bad operand"):
            matrix - wrong
        with pytest.raises(TypeError, match="unsupported operand"):
            matrix @ wrong


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(NetworkError, match="the matrix has 2 rows, the right-hand side 3"):
        solve(SQUARE, RationalMatrix.zeros(3, 1))
    with pytest.raises(NetworkError, match="2 columns left and 3 rows right"):
        vanishing_subset(SQUARE, RationalMatrix.zeros(3, 1))
    with pytest.raises(NetworkError, match="as many entries in each row as rows"):
        determinant([[1, 2]])
    with pytest.raises(NetworkError, match="a determinant needs integers"):
        determinant([[HALF]])  # type: ignore[list-item]
    with pytest.raises(NetworkError, match="3 factors for 2 columns"):
        SQUARE.scale_columns([1, 2, 3])
    with pytest.raises(NetworkError, match="no matrix to stack"):
        stack([])
    with pytest.raises(DomainError, match=r"rows \[a \| c\] of 2 integers with a ≠ 0"):
        irredundant_rows([(0, 1)], (HALF,))
    with pytest.raises(DomainError, match="rows: expected integers"):
        irredundant_rows([(HALF, 1)], (HALF,))  # type: ignore[list-item]
    for rows in ("12", ["12", [1, 2]]):
        with pytest.raises(NetworkError, match="expected rows of numbers, not a text"):
            RationalMatrix.from_rows(rows)


@pytest.mark.parametrize("wrong", [0, 1, 4, -7, 2**63 + 29, True, "7", None])
def test_what_is_no_prime(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^prime: expected"):
        rank_mod(SQUARE, wrong)


@pytest.mark.parametrize("wrong", [0, -1, 2**51 + 1, 10**100, None])
def test_sums_that_no_float_prime_serves(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^terms: expected"):
        float_prime(wrong)
    assert float_prime(2**51) == 2


def test_numbers_outside_the_domain() -> None:
    with pytest.raises(DomainError, match="a negative number has no root"):
        exact_root(Fraction(-1))
    for number in (0, -1):
        with pytest.raises(DomainError, match="only a positive number has an inverse root"):
            inverse_root(Fraction(number), FLOAT32)
    for digits in (0, -1, None, "6"):
        with pytest.raises(ArgumentError, match="digits: expected"):
            decimal_above(HALF, digits=digits)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="positional"):
        decimal_below(HALF, 3)  # type: ignore[call-arg]


def test_entries_of_sparse_matrices() -> None:
    for rows, columns in (([2], [0]), ([0], [2]), ([-1], [0])):
        with pytest.raises(ArgumentError, match="expected indices from 0 to 1"):
            SparseMatrix.from_entries((2, 2), rows, columns, [1])
    with pytest.raises(ArgumentError, match="lists of the same length"):
        SparseMatrix.from_entries((2, 2), [0], [0], [1, 2])
    with pytest.raises(ArgumentError, match="denominator: expected an integer, at least 1, got 0"):
        SparseMatrix.from_entries((2, 2), [0], [0], [1], 0)
    with pytest.raises(ArgumentError, match=r"shape: expected a pair \(nrows, ncols\), got 3"):
        SparseMatrix.from_entries((2, 2, 2), [0], [0], [1])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="chosen: expected indices from -1 to 1"):
        SparseMatrix.selection(np.array([2]), 2)


def test_other_sets_and_points() -> None:
    for function in (BOX.equals, BOX.includes, BOX.intersect):
        for wrong in WRONG:
            with pytest.raises(ArgumentError, match=r"other: expected Polyhedron"):
                function(wrong)
    for other in (BOX.includes, BOX.intersect):
        with pytest.raises(DomainError, match=r"lies in R\^2, not in R\^1"):
            other(Polyhedron.orthant(1))
    for point in ([0], [0, 0, 0], "00", 3, [0, "x"]):
        with pytest.raises(PolyreluError):
            BOX.contains(point)  # type: ignore[arg-type]
    assert [0, "1/3"] in BOX
    array: Any = np.array([2.0, 0.0])
    assert array not in BOX
    with pytest.raises(DomainError, match="columns must be at least 0 and less than 2"):
        BOX.project([2])


def test_the_number_of_columns_of_a_matrix_without_rows() -> None:
    assert RationalMatrix.from_rows([], ncols=3).shape == (0, 3)
    for wrong in (-1, "x"):
        with pytest.raises(ArgumentError, match="ncols"):
            RationalMatrix.from_rows([], ncols=wrong)  # type: ignore[arg-type]
