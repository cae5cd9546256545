"""How matrices, linear programs, their results and polyhedra show themselves in a terminal."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.exact import (
    FLOAT32,
    LinearProgram,
    Minor,
    Multipliers,
    Optimal,
    Polyhedron,
    RationalMatrix,
    SparseMatrix,
    SubsetSumSearch,
)


def test_matrices() -> None:
    matrix = RationalMatrix.from_rows([[1, "1/2"], [0, 3]])
    assert repr(matrix) == "<RationalMatrix 2×2 over 2>"
    assert str(matrix) == "[1 1/2]\n[0 3]"
    assert repr(matrix.scale(Fraction(1, 10**50))) == "<RationalMatrix 2×2 over …>"
    assert repr(SparseMatrix.identity(3)) == "<SparseMatrix 3×3, 3 entries>"
    assert repr(SparseMatrix.identity(1)) == "<SparseMatrix 1×1, 1 entry>"


def test_polyhedra() -> None:
    box = Polyhedron.box([0, 0], [1, 1])
    assert repr(box) == str(box) == "<Polyhedron in R^2, 4 inequalities, 0 equations>"
    line = Polyhedron.from_constraints([], [], [[1, 1]], [0])
    assert repr(line) == "<Polyhedron in R^2, 0 inequalities, 1 equation>"
    assert repr(box.generators()) == "<Generators, 4 points, 0 rays, 0 lines>"
    assert repr(line.generators()) == "<Generators, 1 point, 0 rays, 1 line>"


def test_programs_and_their_results() -> None:
    program = LinearProgram(2, lower=[0, 0])
    assert repr(program) == "<LinearProgram, 2 variables, 0 rows>"
    assert repr(program.maximize([0, 1])) == "<Unbounded, from (0, 0) along (0, 1)>"
    program.add_inequalities([[1, 2]], [3])
    assert repr(program) == "<LinearProgram, 2 variables, 1 row>"
    best = program.maximize([0, 1])
    assert isinstance(best, Optimal)
    assert repr(best) == "<Optimal, 3/2 at (0, 3/2)>"
    assert repr(best.multipliers) == "<Multipliers of 1 row, 0 upper bounds, 1 lower bound>"
    assert repr(program.interior_point()).startswith("<InteriorPoint (")
    program.add_inequalities([[-1, -2]], [-3])
    flat = repr(program.interior_point())
    assert flat.startswith("<FlatSet, contains (")
    assert repr(LinearProgram(1, lower=[1], upper=[0]).interior_point()) == (
        "<Infeasible, by multipliers of 0 rows, 1 upper bound, 1 lower bound>"
    )


def test_results_of_many_digits() -> None:
    third = Fraction(10**40, 3)
    long = Optimal(third, (third, Fraction(0)), Multipliers())
    assert repr(long) == "<Optimal, 1000000000…00000000/3 at (1000000000…00000000/3, 0)>"
    huge = Fraction(2) ** 10**6
    shown = repr(Optimal(huge, (huge,) * 784, Multipliers()))
    assert shown.startswith("<Optimal, ")
    assert len(shown) <= 100
    ones = Optimal(Fraction(1), (Fraction(1),) * 7, Multipliers())
    assert repr(ones) == "<Optimal, 1 at (1, 1, 1, 1, 1, 1, …)>"


def test_evidence_and_formats() -> None:
    assert repr(Minor(7, (0, 2))) == "<Minor of 2 columns, nonzero modulo 7>"
    assert repr(SubsetSumSearch()) == "<SubsetSumSearch, open>"
    assert repr(SubsetSumSearch(subset=(0, 2))) == "<SubsetSumSearch, a subset of 2 matrices>"
    assert repr(SubsetSumSearch(evidence={"method": "subset-sums"})) == (
        "<SubsetSumSearch, no subset, by subset-sums>"
    )
    assert repr(FLOAT32) == "<FloatFormat float32>"
