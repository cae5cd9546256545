"""Echelon forms modulo a prime in floats, for matrices whose rows come block by block.

All entries are integers from 0 to p - 1 in floats. The prime is so small that sums of products are
exact (`polyrelu.exact.float_prime`). A form holds at most as many rows as there are columns, so
that the rank of any number of rows takes the memory of a square matrix.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyrelu.support.parallel.wire import understood

__all__ = ["BLOCK", "Echelon", "Floats", "Group", "left_kernel", "rank_in_floats"]

Floats = NDArray[np.float64]
#: Indices of rows, pivot columns, and a basis.
_Reduced = tuple[list[int], NDArray[np.int64], Floats]

#: Rows that are eliminated at a time; products of this many terms have to be exact.
BLOCK = 256
#: Rows that are eliminated one by one.
_SINGLE = 8


class Group(NamedTuple):
    """Rows of a form that came together.

    Attributes
    ----------
    kept
        The indices of the rows, among those that were looked at, that no earlier rows span.
    pivots
        Their pivot columns.
    rows
        The rows, the identity at the pivots and 0 at those of the groups before.
    """

    kept: list[int]
    pivots: NDArray[np.int64]
    rows: Floats


class Echelon:
    """Rows modulo a prime in groups, each the identity at its own pivot columns.

    Rows of a group are 0 at the pivots of the groups before it.

    Attributes
    ----------
    rank
        The number of rows.
    """

    def __init__(self, prime: int) -> None:
        self.prime, self.rank = prime, 0
        self._groups: list[tuple[NDArray[np.int64], Floats]] = []

    def add(self, rows: Floats) -> list[int]:
        """Let rows join; return the indices of those that no earlier rows span."""
        return self.join(self.reduced(rows))

    def reduced(self, rows: Floats) -> list[Group]:
        """Return what rows would add to the form."""
        found = list[Group]()
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK].copy()
            for pivots, group in [*self._groups, *(new[1:] for new in found)]:
                block = mod(block - mod(block[:, pivots] @ group, self.prime), self.prime)
            kept, pivots, group = _reduced(block, self.prime)
            if kept:
                found.append(Group([start + i for i in kept], pivots, group))
        return found

    def join(self, groups: Sequence[Group]) -> list[int]:
        """Let the groups of `reduced` join; return the indices of their rows."""
        self._groups += [(group.pivots, group.rows) for group in groups]
        self.rank += sum(len(group.kept) for group in groups)
        return [index for group in groups for index in group.kept]

    def packed(self, groups: Sequence[Group], width: int) -> bytes:
        """Return groups of `reduced` as bytes: entries in four bytes, without those that are known.

        Parameters
        ----------
        groups
            The groups.
        width
            The number of columns.
        """
        is_open = self._open_columns(width)
        head, parts = list[list[list[int]]](), list[bytes]()
        for kept, pivots, rows in groups:
            is_open[pivots] = False
            head.append([kept, pivots.tolist()])
            parts.append(rows[:, is_open].astype("<u4").tobytes())
        return json.dumps(head).encode("ascii") + b"\n" + b"".join(parts)

    def unpacked(self, data: bytes, width: int) -> list[Group]:
        """Return the groups of `packed`, for the form that they were made for.

        Raises
        ------
        PolyreluError
            The bytes are of another form.
        """
        is_open, found = self._open_columns(width), list[Group]()
        with understood():
            end = data.index(b"\n") + 1
            for kept, pivots in json.loads(data[:end]):
                columns = np.array(pivots, dtype=np.int64)
                if len(set(pivots)) != len(kept) or not is_open[columns].all():
                    raise ValueError("other pivots")
                is_open[columns] = False
                shape = (len(kept), int(is_open.sum()))
                entries = np.frombuffer(data, "<u4", shape[0] * shape[1], end).reshape(shape)
                rows = np.zeros((len(kept), width))
                rows[:, is_open] = entries
                rows[np.arange(len(kept)), columns] = 1
                found.append(Group(list(map(int, kept)), columns, rows))
                end += entries.nbytes
        return found

    def _open_columns(self, width: int) -> NDArray[np.bool_]:
        """Return which columns are the pivot of no row."""
        is_open = np.ones(width, dtype=np.bool_)
        for pivots, _ in self._groups:
            is_open[pivots] = False
        return is_open


def rank_in_floats(blocks: Iterable[Floats], prime: int) -> int:
    """Return the rank of stacked rows modulo a prime."""
    form = Echelon(prime)
    for block in blocks:
        form.add(block)
    return form.rank


def left_kernel(matrix: Floats, prime: int) -> Floats:
    """Return a basis of the rows x with x A = 0 modulo a prime."""
    size, width = matrix.shape
    rows = np.concatenate([matrix, np.eye(size)], axis=1)
    form, found = Echelon(prime), list[Floats]()
    for start in range(0, size, BLOCK):
        form.add(rows[start : start + BLOCK])
    for pivots, group in form._groups:
        found.append(group[pivots >= width][:, width:])
    return np.concatenate([np.zeros((0, size)), *found])


def _reduced(block: Floats, prime: int) -> _Reduced:
    """The rows that no earlier ones span, pivot columns, and a basis that is the identity there.

    Both halves of the rows are reduced, and then each by the other one.
    """
    if len(block) <= _SINGLE:
        return _one_by_one(block, prime)
    half = len(block) // 2
    kept, first, top = _reduced(block[:half], prime)
    rest = block[half:]
    if kept:
        rest = mod(rest - mod(rest[:, first] @ top, prime), prime)
    more, second, bottom = _reduced(rest, prime)
    if kept and more:
        top = mod(top - mod(top[:, second] @ bottom, prime), prime)
    kept = [*kept, *(half + i for i in more)]
    return kept, np.concatenate([first, second]), np.concatenate([top, bottom])


def _one_by_one(block: Floats, prime: int) -> _Reduced:
    """The same for few rows, in place."""
    pivots, kept = list[int](), list[int]()
    for i, row in enumerate(block):
        nonzero = row != 0
        column = int(nonzero.argmax())
        if not nonzero[column]:
            continue
        row[:] = mod(row * pow(int(row[column]), -1, prime), prime)
        factors = block[:, column].copy()
        factors[i] = 0
        for j in np.flatnonzero(factors).tolist():
            block[j] = mod(block[j] - mod(factors[j] * row, prime), prime)
        pivots.append(column)
        kept.append(i)
    return kept, np.array(pivots, dtype=np.int64), block[kept]


def mod(entries: Floats, prime: int) -> Floats:
    """Integers in floats modulo a prime; faster than `np.mod`.

    The quotient can be wrong by one, because the inverse of the prime is rounded.
    """
    rest: Floats = entries - prime * np.floor(entries * (1 / prime))
    rest += prime * (rest < 0)
    rest -= prime * (rest >= prime)
    return rest
