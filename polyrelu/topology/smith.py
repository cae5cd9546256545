"""Elementary divisors of sparse integer matrices: entries ±1 first, what is left densely.

**A chain complex loses nothing with a unit.** Let [b : a] = ±1 be an entry of ∂_k at row a, column b. Adding multiples
of column b to the others makes row a zero outside b; then row a and column b can be left out: they contribute the
elementary divisor 1 to ∂_k. Row a of ∂_k ∂_{k+1} = 0 says that the row of b in ∂_{k+1} is an integer combination of the
other rows, so it can be left out there, and no elementary divisor but zeros is lost. This stays true when further units
are left out of ∂_k. So, from low dimensions to high ones, each map is read without the rows that were columns of units
in the map below, and what remains is small.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush

from polyrelu.topology.chains import Boundary

__all__ = ["Divisors", "chain_divisors", "elementary_divisors"]

#: The number of elementary divisors of a map that are 1, and the others, each a divisor of the next.
Divisors = tuple[int, tuple[int, ...]]
Column = dict[int, int]


def chain_divisors(chains: list[Boundary]) -> list[Divisors]:
    """The elementary divisors of the maps of a chain complex that starts in the lowest dimension.

    >>> import numpy as np
    >>> start = Boundary(0, np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8))
    >>> edge = Boundary(2, np.array([0, 2]), np.array([0, 1]), np.array([-1, 1], dtype=np.int8))
    >>> chain_divisors([start, edge])
    [(0, ()), (1, ())]
    """
    found: list[Divisors] = []
    done: set[int] = set()
    for boundary in chains:
        columns = _columns(boundary, done)
        done = _eliminate_units(columns)
        ones, others = elementary_divisors(list(columns.values()))
        found.append((len(done) + ones, others))
    return found


def _columns(boundary: Boundary, left_out: set[int]) -> dict[int, Column]:
    offsets, rows, signs = (
        boundary.offsets.tolist(),
        boundary.facets.tolist(),
        boundary.signs.tolist(),
    )
    columns = {}
    for j in range(boundary.columns):
        places = range(offsets[j], offsets[j + 1])
        column = {rows[t]: signs[t] for t in places if rows[t] not in left_out}
        if column:
            columns[j] = column
    return columns


def _eliminate_units(columns: dict[int, Column]) -> set[int]:
    """Leave out pairs of a row and a column with entry ±1 as long as there are any; the columns that were left out.

    A shortest column goes first, with its row of fewest entries, so that little is added to others: a column with one
    entry adds nothing.
    """
    rows: defaultdict[int, set[int]] = defaultdict(set)
    for j, column in columns.items():
        for i in column:
            rows[i].add(j)
    heap = [(len(column), j) for j, column in columns.items()]
    heapify(heap)
    done = set()
    while heap:
        length, j = heappop(heap)
        column = columns.get(j, {})
        units = [i for i, entry in column.items() if entry in (1, -1)]
        if len(column) != length or not units:  # a column that changes is looked at again
            continue
        pivot = min(units, key=lambda i: len(rows[i]))
        del columns[j]
        done.add(j)
        for i in column:
            rows[i].discard(j)
        for other in rows.pop(pivot):
            _clear(columns, rows, other, column, pivot)
            if other in columns:
                heappush(heap, (len(columns[other]), other))
    return done


def _clear(
    columns: dict[int, Column], rows: dict[int, set[int]], other: int, column: Column, pivot: int
) -> None:
    """Add the multiple of a column to another one that makes its entry at the pivot 0."""
    changed = columns[other]
    factor = -changed.pop(pivot) * column[pivot]
    for i, entry in column.items():
        if i == pivot:
            continue
        value = changed.get(i, 0) + factor * entry
        if value:
            changed[i] = value
            rows[i].add(other)
        else:
            del changed[i]
            rows[i].discard(other)
    if not changed:
        del columns[other]


def elementary_divisors(vectors: list[Column]) -> Divisors:
    """The elementary divisors of the matrix with these rows (or columns), each given by its nonzero entries.

    The smallest entry is brought to divide its row and its column by division with remainder, which makes a smaller one
    or clears both; once it divides all other entries it is an elementary divisor, and its row and column are left out.

    >>> elementary_divisors([{0: 2, 1: 4}, {0: 2, 1: 10}, {1: 9}])
    (1, (6,))
    """
    matrix = [dict(vector) for vector in vectors if vector]
    divisors = []
    while matrix:
        row, i = min(
            ((r, c) for r, vector in enumerate(matrix) for c in vector),
            key=lambda p: abs(matrix[p[0]][p[1]]),
        )
        if (
            _reduce_column(matrix, row, i)
            and _reduce_row(matrix, row, i)
            and _divides_all(matrix, row, i)
        ):
            divisors.append(abs(matrix.pop(row)[i]))
        matrix = [vector for vector in matrix if vector]
    ones = divisors.count(1)
    return ones, tuple(divisors[ones:])


def _reduce_column(matrix: list[Column], row: int, i: int) -> bool:
    """Subtract multiples of a row from the others; whether column i is 0 outside of it then."""
    pivot = matrix[row][i]
    for other, vector in enumerate(matrix):
        if other != row and i in vector:
            _subtract(vector, matrix[row], vector[i] // pivot)
    return all(other == row or i not in vector for other, vector in enumerate(matrix))


def _reduce_row(matrix: list[Column], row: int, i: int) -> bool:
    """Subtract multiples of column i, 0 outside the row, from the others; whether the row is 0 outside of it then."""
    pivot = matrix[row][i]
    rest = {c: entry % pivot for c, entry in matrix[row].items() if c != i and entry % pivot}
    matrix[row] = {i: pivot, **rest}
    return not rest


def _divides_all(matrix: list[Column], row: int, i: int) -> bool:
    """Whether the entry, alone in its row and column, divides all others; if not, add a row with one that it does not
    divide to its own."""
    pivot = matrix[row][i]
    for other, vector in enumerate(matrix):
        if other != row and any(entry % pivot for entry in vector.values()):
            matrix[row] |= vector
            return False
    return True


def _subtract(vector: Column, other: Column, factor: int) -> None:
    for c, entry in other.items():
        value = vector.get(c, 0) - factor * entry
        if value:
            vector[c] = value
        else:
            vector.pop(c, None)
