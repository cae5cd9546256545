"""Exact solutions of square systems, lifted digit by digit, against FLINT's own solver."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from flint import fmpq_mat, fmpz, fmpz_mat

from polyrelu.exact import dixon
from polyrelu.exact.dixon import solve_integer


def random_matrix(rng: Random, rows: int, columns: int, bits: int) -> fmpz_mat:
    """A matrix whose entries have up to `bits` bits and both signs."""
    entries = [rng.getrandbits(bits) - (1 << bits >> 1) for _ in range(rows * columns)]
    return fmpz_mat(rows, columns, entries)


def regular_matrix(rng: Random, size: int, bits: int) -> fmpz_mat:
    """A square matrix with a determinant that is not 0."""
    while not (matrix := random_matrix(rng, size, size, bits)).det():
        pass
    return matrix


def check(matrix: fmpz_mat, right: fmpz_mat) -> None:
    """The solution is exact, its denominator positive, and FLINT's solution is the same."""
    solution, denominator = solve_integer(matrix, right)
    assert denominator > 0
    assert (solution.nrows(), solution.ncols()) == (right.nrows(), right.ncols())
    assert matrix * solution == right * denominator
    assert fmpq_mat(solution) / denominator == matrix.solve(right)


@pytest.fixture
def always_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No system is left to FLINT."""
    always = dixon.DixonSettings(flint_work=-1.0, flint_unknowns=0)
    monkeypatch.setattr(dixon, "SETTINGS", always)


@pytest.mark.parametrize("size", [1, 2, 11, 12, 13, 40])
def test_small_systems(size: int) -> None:
    rng = Random(size)
    for bits in (3, 30, 200):
        check(regular_matrix(rng, size, bits), random_matrix(rng, size, 1 + size % 3, bits))


@pytest.mark.usefixtures("always_lifted")
@pytest.mark.parametrize("size", [1, 2, 5, 13, 30])
@pytest.mark.parametrize("bits", [2, 30, 300])
def test_lifted_systems(size: int, bits: int) -> None:
    rng = Random(f"{size} {bits}")
    for columns in (1, 2, 5):
        matrix = regular_matrix(rng, size, bits)
        check(matrix, random_matrix(rng, size, columns, bits))
        check(matrix, fmpz_mat(size, columns))


@pytest.mark.slow
def test_a_system_over_the_limit_is_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least once with the limits as they are."""
    lifted = []
    lift = dixon._lift

    def counted(*arguments: Any) -> tuple[fmpz_mat, fmpz]:
        lifted.append(1)
        return lift(*arguments)

    monkeypatch.setattr(dixon, "_lift", counted)
    rng = Random(7)
    matrix, right = random_matrix(rng, 40, 40, 1800), random_matrix(rng, 40, 1, 20)
    check(matrix, right)
    assert lifted


@pytest.mark.usefixtures("always_lifted")
def test_integer_solutions_and_solutions_with_a_large_denominator() -> None:
    rng = Random(3)
    matrix, solution = random_matrix(rng, 20, 20, 40), random_matrix(rng, 20, 3, 90)
    assert solve_integer(matrix, matrix * solution) == (solution, fmpz(1))
    hilbert = fmpz_mat(9, 9, [fmpz(24504480) // (i + j + 1) for i in range(9) for j in range(9)])
    check(hilbert, random_matrix(rng, 9, 2, 30))


@pytest.mark.usefixtures("always_lifted")
def test_matrices_that_are_singular_modulo_some_of_the_primes() -> None:
    rng = Random(4)
    right = random_matrix(rng, 6, 2, 50)
    for count in range(1, len(dixon.SETTINGS.primes) + 1):
        matrix = random_matrix(rng, 6, 6, 30)
        table = [[int(entry) for entry in row] for row in matrix.tolist()]
        for prime in dixon.SETTINGS.primes[:count]:
            table[0] = [entry * prime for entry in table[0]]
        check(fmpz_mat(table), right)


@pytest.mark.parametrize("size", [1, 2, 12, 13, 120])
def test_singular_matrices(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(size)
    table = [[int(entry) for entry in row] for row in random_matrix(rng, size, size, 62).tolist()]
    table[-1] = [2 * entry for entry in table[0]] if size > 1 else [0]
    right = random_matrix(rng, size, 1, 20)
    with pytest.raises(ZeroDivisionError):
        solve_integer(fmpz_mat(table), right)
    always = dixon.DixonSettings(flint_work=-1.0, flint_unknowns=0)
    monkeypatch.setattr(dixon, "SETTINGS", always)
    with pytest.raises(ZeroDivisionError):
        solve_integer(fmpz_mat(table), right)
