"""Rows of sparse matrices with entries in the same columns.

All filters of a convolution read the same window, so that the rows of a window have their entries
in the same columns, whatever the order of rows and columns is. What depends on columns only is then
computed once for all of them.
"""

from __future__ import annotations

import numpy as np

from polyrelu.support.typing import Indices

__all__ = ["rows_by_columns"]


def rows_by_columns(starts: Indices, columns: Indices, num_columns: int) -> list[Indices]:
    """Return the rows that have entries, as tables whose lines have entries in the same columns.

    Parameters
    ----------
    starts
        Place of the first entry of each row, and last the number of entries, shape (rows + 1,).
    columns
        The column of each entry, ascending in a row.
    num_columns
        Number of columns.

    Returns
    -------
    list of Indices
        Tables of shape (lines, rows of a line), one for each number of rows of a line.

    Examples
    --------
    >>> rows_by_columns(np.array([0, 2, 3, 5]), np.array([0, 4, 1, 0, 4]), 5)
    [array([[1]]), array([[0, 2]])]
    """
    rows = np.flatnonzero(np.diff(starts))
    if not rows.size:
        return []
    marks = np.random.default_rng(0).integers(2**63, size=num_columns)
    sums = np.add.reduceat(marks[columns], starts[rows])  # int64 wraps around, as hashes may
    order = np.argsort(sums, kind="stable")
    firsts = np.flatnonzero(np.concatenate(([True], np.diff(sums[order]) != 0)))
    sizes = np.diff(firsts, append=len(rows))
    tables = []
    for size in np.unique(sizes).tolist():
        lines = rows[order[firsts[sizes == size, None] + np.arange(size)]]
        tables.append(lines[np.argsort(lines[:, 0])])
    agree = all(_agree(starts, columns, table) for table in tables)
    return tables if agree else [rows[:, None]]


def _agree(starts: Indices, columns: Indices, table: Indices) -> bool:
    """Return whether the rows of each line of a table have entries in the same columns."""
    lengths = np.diff(starts)[table]
    if (lengths != lengths[:, :1]).any():
        return False
    first, *others = (_entries(starts, table[:, place]) for place in range(table.shape[1]))
    return all(np.array_equal(columns[first], columns[other]) for other in others)


def _entries(starts: Indices, rows: Indices) -> Indices | slice:
    """Return the places of the entries of rows, one row after the other."""
    if (np.diff(rows) == 1).all():
        return slice(int(starts[rows[0]]), int(starts[rows[-1] + 1]))
    lengths = np.diff(starts)[rows]
    shifts = np.repeat(starts[rows] - np.cumsum(lengths) + lengths, lengths)
    return np.asarray(np.arange(len(shifts)) + shifts)
