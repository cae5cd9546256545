"""Sparse matrices against dense ones, and networks that hold them: only the memory differs."""

from __future__ import annotations

import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import (
    RationalMatrix,
    SparseMatrix,
    add,
    as_dense,
    as_sparse,
    canonical,
    multiply,
    num_products,
    sparse,
    stack,
    take_rows,
)
from polyrelu.formats import save
from polyrelu.network import Block, Layer, Network, from_document, to_document


def _random(chance: random.Random, rows: int, columns: int, density: float = 0.4) -> RationalMatrix:
    table = [
        [
            Fraction(chance.randint(-9, 9), chance.choice([1, 2, 3]))
            if chance.random() < density
            else 0
            for _ in range(columns)
        ]
        for _ in range(rows)
    ]
    return RationalMatrix.from_rows(table, ncols=columns)


@pytest.mark.parametrize("seed", range(40))
def test_every_operation_is_that_of_dense_matrices(seed: int) -> None:
    chance = random.Random(seed)
    m, n, k = (chance.randint(1, 6) for _ in range(3))
    density = chance.choice([0, 0.2, 0.5, 1])
    a, b, c = (
        _random(chance, m, n, density),
        _random(chance, n, k, density),
        _random(chance, m, n, density),
    )
    chosen = np.array([chance.randint(-1, m - 1) for _ in range(chance.randint(1, 8))])
    picked = RationalMatrix.from_rows(
        [[0] * n if i < 0 else a.row(int(i)) for i in chosen], ncols=n
    )
    factors = [Fraction(chance.randint(-3, 3), 2) for _ in range(m)]
    x, y, z = as_sparse(a), as_sparse(b), as_sparse(c)
    assert as_dense(x) == a
    assert (x.shape, x.denominator, x.bits, x.is_zero()) == (
        a.shape,
        a.denominator,
        a.bits,
        a.is_zero(),
    )
    assert x.integer_rows() == a.integer_rows()
    for left in (a, x):
        for right in (b, y):
            assert as_dense(multiply(left, right)) == a @ b
        for other in (c, z):
            assert as_dense(add(left, other)) == a + c
            assert as_dense(stack([left, other])) == a.over(c)
        assert as_dense(take_rows(left, chosen)) == picked
    assert as_dense(-x) == -a
    assert as_dense(x.transpose()) == a.transpose()
    assert as_dense(x.scale_rows(factors)) == a.scale_rows(factors)
    assert (x == z) == (a == c)
    assert x == pickle.loads(pickle.dumps(x))
    assert hash(x) == hash(as_sparse(as_dense(x)))
    assert x.to_floats().tolist() == [v for v in a.to_floats().ravel().tolist() if v]


def test_entries_at_one_place_add_up() -> None:
    matrix = SparseMatrix.from_entries((2, 2), [1, 0, 1, 1], [0, 1, 0, 1], [1, 2, 3, 0], 2)
    assert matrix.to_dense() == RationalMatrix.from_integers([[0, 1], [2, 0]])
    assert (matrix.num_nonzeros, matrix.denominator) == (2, 1)
    assert SparseMatrix.from_entries((1, 1), [0, 0], [0, 0], [1, -1]).is_zero()


def test_shapes_that_do_not_fit() -> None:
    one, two = SparseMatrix.identity(1), SparseMatrix.identity(2)
    with pytest.raises(NetworkError, match="cannot multiply"):
        one.times_sparse(two)
    with pytest.raises(NetworkError, match="cannot multiply"):
        one.times_dense(RationalMatrix.identity(2))
    with pytest.raises(NetworkError, match="2 factors for 1 rows"):
        one.scale_rows([1, 2])


def test_the_entries_decide_the_container() -> None:
    small, large = SparseMatrix.identity(10), SparseMatrix.identity(200)
    assert canonical(small) == RationalMatrix.identity(10)
    assert canonical(RationalMatrix.identity(200)) == large
    assert isinstance(canonical(RationalMatrix.from_integers([[1] * 200] * 200)), RationalMatrix)


def _network(dense: bool) -> Network:
    eye = RationalMatrix.identity(200) if dense else SparseMatrix.identity(200)
    twice = eye.scale_rows([Fraction(i, 3) for i in range(200)])
    zero = RationalMatrix.zeros(200, 1)
    return Network(
        200, (Layer((Block(0, eye),), zero), Layer((Block(0, twice), Block(1, eye)), zero))
    )


def test_networks_are_equal_whatever_they_were_made_of() -> None:
    one, other = _network(True), _network(False)
    assert one == other
    assert hash(one) == hash(other)
    assert one.sha256 == other.sha256
    assert to_document(one) == to_document(other)
    assert from_document(to_document(other)) == one
    x = [Fraction(i - 100, 7) for i in range(200)]
    assert list(other(x)) == [Fraction(i, 3) * v + max(v, Fraction(0)) for i, v in enumerate(x)]
    assert other.layers[1].weight == RationalMatrix.identity(200)
    assert other.num_parameters == 3 * 200 * 200 + 400


def test_what_no_file_holds_is_refused_only_when_it_is_written(tmp_path: object) -> None:
    size = 6000
    network = Network(
        size, (Layer((Block(0, SparseMatrix.identity(size)),), RationalMatrix.zeros(size, 1)),)
    )
    assert len(network.sha256) == 64
    with pytest.raises(NetworkError, match="36006000 weights and biases with the zeros"):
        save(network, f"{tmp_path}/net.json")


def test_what_is_kept_in_memory_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros of sparse blocks do not count."""
    monkeypatch.setattr("polyrelu.network.network.PARAMETER_LIMIT", 1000)
    with pytest.raises(NetworkError, match="1056 weights and biases to keep in memory"):
        Network(32, (Layer((Block(0, RationalMatrix.identity(32)),), RationalMatrix.zeros(32, 1)),))
    assert Network(200, _network(False).layers[:1]).num_parameters == 40_200


@pytest.mark.parametrize("size", [1, 2, 3])
def test_only_the_identity_is_the_identity(size: int) -> None:
    """All matrices of zeros and ones."""
    for number in range(2 ** (size * size)):
        rows = [[number >> (size * i + j) & 1 for j in range(size)] for i in range(size)]
        dense = RationalMatrix.from_integers(rows)
        assert as_sparse(dense).is_identity() == (dense == RationalMatrix.identity(size))
        for other in (dense, as_sparse(dense)):
            assert as_dense(multiply(other, as_sparse(dense))) == dense @ dense
            assert as_dense(multiply(as_sparse(dense), other)) == dense @ dense
    assert not SparseMatrix.identity(2).scale_rows([2, 2]).is_identity()


def test_sums_and_stacks_of_other_shapes() -> None:
    with pytest.raises(NetworkError, match="cannot add"):
        add(SparseMatrix.identity(1), SparseMatrix.identity(2))
    with pytest.raises(NetworkError, match="cannot stack"):
        stack([SparseMatrix.identity(1), SparseMatrix.identity(2)])


@pytest.mark.parametrize("seed", range(30))
def test_coded_entries(seed: int) -> None:
    """Matrices of few values, whose products are computed once for each pair of values."""
    chance = random.Random(seed)
    m, n = chance.randint(1, 5), chance.randint(1, 60)
    values = RationalMatrix.column([Fraction(chance.randint(-3, 3), 2) for _ in range(3)])

    def coded(rows: int, columns: int) -> SparseMatrix:
        places = [(i, j) for i in range(rows) for j in range(columns) if chance.random() < 0.7]
        places += chance.choices(places, k=2) if places and chance.random() < 0.3 else []
        codes = np.array([chance.randrange(3) for _ in places], dtype=np.int64)
        over, below = (np.array([p[k] for p in places], dtype=np.int64) for k in (0, 1))
        found = SparseMatrix.from_codes((rows, columns), over, below, codes, values)
        entries = [values[int(code), 0] for code in codes]
        table = [[Fraction(0)] * columns for _ in range(rows)]
        for (i, j), entry in zip(places, entries, strict=True):
            table[i][j] += entry
        assert as_dense(found) == RationalMatrix.from_rows(table, ncols=columns)
        return found

    x, y = coded(m, n), coded(n, m)
    factors = [Fraction(chance.randint(-2, 2), 3) for _ in range(n)]
    scaled = SparseMatrix.diagonal(RationalMatrix.column(factors))
    for left, right in ((x, y), (y, x), (x, scaled), (scaled, y)):
        product = left.times_sparse(right)
        assert as_dense(product) == as_dense(left) @ as_dense(right)
        assert len(product.values) <= max(product.num_nonzeros, 0)
        assert num_products(left, right) >= product.num_nonzeros or left.is_identity()
    assert as_dense(SparseMatrix.sum((m, n), [x, x, -x])) == as_dense(x)
    placed = x.placed((m + 2, n + 3), 1, 2)
    assert as_dense(placed).take(range(1, m + 1), range(2, n + 2)) == as_dense(x)
    assert placed.num_nonzeros == x.num_nonzeros
    assert pickle.loads(pickle.dumps(x)) == x


def test_large_products_are_computed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(0)
    a, b = as_sparse(_random(chance, 30, 20)), as_sparse(_random(chance, 20, 25))
    whole = a.times_sparse(b)
    for size in (1, 7, 100):
        monkeypatch.setattr(sparse, "_CHUNK", size)
        assert a.times_sparse(b) == whole


def _filters(chance: random.Random, windows: int, filters: int, columns: int) -> SparseMatrix:
    """Return a matrix in which the rows `windows` apart have entries in the same columns."""
    places = [sorted(chance.sample(range(columns), chance.randint(1, 6))) for _ in range(windows)]
    rows = np.array([i for i, line in enumerate(places) for _ in line])
    below = np.array([place for line in places for place in line])
    codes = np.array([j for line in places for j in range(len(line))])
    values = RationalMatrix.column(
        [Fraction(chance.randint(1, 2**30), 8) for _ in range(6 * filters)]
    )
    shape = (windows * filters, columns)
    return SparseMatrix.from_codes(shape, rows, below, codes, values, filters, 6)


@pytest.mark.parametrize("seed", range(10))
def test_rows_with_entries_in_the_same_columns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of such rows are those of dense matrices, in any order of the rows."""
    chance = random.Random(seed)
    windows, filters = chance.randint(1, 7), chance.randint(4, 6)
    matrix = _filters(chance, windows, filters, 12)
    tables = matrix.rows_by_columns()
    assert sum(table.size for table in tables) == matrix.nrows
    for line in (line for table in tables for line in table):
        assert len(line) >= filters
        columns = [matrix.columns[matrix.starts[i] : matrix.starts[i + 1]].tolist() for i in line]
        assert columns == columns[:1] * len(line)
    right = _filters(chance, 3, 4, 9)
    mixed = as_sparse(take_rows(matrix, np.random.default_rng(seed).permutation(matrix.nrows)))
    monkeypatch.setattr(sparse, "_SHARED_PAIRS", 0)
    for left in (matrix, mixed, matrix.scale_rows(range(1, matrix.nrows + 1))):
        assert as_dense(left.times_sparse(right)) == as_dense(left) @ as_dense(right)
    big = right.scale_rows([2**60 + i for i in range(12)])
    assert as_dense(matrix.times_sparse(big)) == as_dense(matrix) @ as_dense(big)


def test_copies_of_entries() -> None:
    values = RationalMatrix.column([1, 0, 3, 4])
    rows, columns, codes = np.array([1, 0]), np.array([0, 2]), np.array([0, 1])
    found = SparseMatrix.from_codes((4, 3), rows, columns, codes, values, 2, 2)
    expected = RationalMatrix.from_rows([[0, 0, 0], [1, 0, 0], [0, 0, 4], [3, 0, 0]])
    assert found.to_dense() == expected
    for wrong in ((4, 1), (3, 2), (2, 3)):  # a code, the shape, and both lie outside
        with pytest.raises(ArgumentError):
            SparseMatrix.from_codes((4, 3), rows, columns, codes, values, *wrong)
    with pytest.raises(ArgumentError, match="one entry at a place"):
        SparseMatrix.from_codes((4, 3), np.zeros(2, int), np.zeros(2, int), codes, values, 2, 2)
