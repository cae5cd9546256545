"""Elementary divisors of sparse integer matrices: entries ±1 first, then a dense algorithm.

Homology needs the ranks and the elementary divisors of boundary maps, whose entries are mostly ±1.
In a chain complex an entry ±1 of ∂_k at row a and column b can be removed together with its row and
its column, and the row of b in ∂_{k+1} as well: only a divisor 1 of ∂_k and zeros are lost. So the
maps are read from low dimensions to high ones, each without the rows that were columns of units in
the map below, and what remains is small. The proof stands in docs/theory/topology.md, section
"Homology from elementary divisors".
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush

from polyrelu.topology.chains import Boundary

__all__ = ["Divisors", "chain_divisors", "elementary_divisors"]

#: The number of elementary divisors 1 of a map, and the others, each a divisor of the next.
Divisors = tuple[int, tuple[int, ...]]
#: The nonzero entries of a row or column, by index.
Column = dict[int, int]


def chain_divisors(chains: list[Boundary]) -> list[Divisors]:
    """Compute the elementary divisors of the maps of a chain complex, lowest dimension first.

    >>> import numpy as np
    >>> nothing = np.zeros(0, dtype=np.int64)
    >>> start = Boundary(0, np.zeros(3, dtype=np.int64), nothing, nothing.astype(np.int8))
    >>> signs = np.array([-1, 1], dtype=np.int8)
    >>> chain_divisors([start, Boundary(2, np.array([0, 2]), np.array([0, 1]), signs)])
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
    """The nonzero columns of a boundary map without the given rows, by their numbers."""
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
    """Remove pairs of a row and a column with an entry ±1 as long as there are any.

    A shortest column goes first, with its row of fewest entries, so that little is added to other
    columns; a column with one entry adds nothing. The columns that remain are left in `columns`.

    Returns
    -------
    set of int
        The columns that were removed.
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
        if len(column) != length or not units:  # a changed column is in the heap again
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
    """Add a multiple of a column to another one so that its entry at the pivot becomes 0."""
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
    """Compute the elementary divisors of a matrix given by the nonzero entries of its rows.

    The vectors may be the columns as well. In each step division with remainder by the smallest
    entry either clears the rest of its row and column or leaves a smaller entry. Once the entry is
    alone in its row and column and divides all others, it is an elementary divisor, and row and
    column are removed.

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
    """Subtract multiples of a row from the others; whether column i is then 0 outside it."""
    pivot = matrix[row][i]
    for other, vector in enumerate(matrix):
        if other != row and i in vector:
            _subtract(vector, matrix[row], vector[i] // pivot)
    return all(other == row or i not in vector for other, vector in enumerate(matrix))


def _reduce_row(matrix: list[Column], row: int, i: int) -> bool:
    """Subtract multiples of column i from the other columns; column i is 0 outside the given row.

    Returns
    -------
    bool
        Whether the row is then 0 outside column i.
    """
    pivot = matrix[row][i]
    rest = {c: entry % pivot for c, entry in matrix[row].items() if c != i and entry % pivot}
    matrix[row] = {i: pivot, **rest}
    return not rest


def _divides_all(matrix: list[Column], row: int, i: int) -> bool:
    """Return whether an entry that is alone in its row and column divides all other entries.

    If it does not, a row with an entry that it does not divide is added to its row.
    """
    pivot = matrix[row][i]
    for other, vector in enumerate(matrix):
        if other != row and any(entry % pivot for entry in vector.values()):
            matrix[row] |= vector
            return False
    return True


def _subtract(vector: Column, other: Column, factor: int) -> None:
    """Subtract a multiple of one sparse vector from another one, in place."""
    for c, entry in other.items():
        value = vector.get(c, 0) - factor * entry
        if value:
            vector[c] = value
        else:
            vector.pop(c, None)
