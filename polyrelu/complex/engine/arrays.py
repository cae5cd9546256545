"""Arrays that grow at the end, and lists of integers stored in one array.

A subdivision appends cells, vertices and forms thousands of times; `Growable` and `Ragged` make
that take time proportional to what is appended. Their buffers have room for more rows than are in
use, and views of them are invalid after the next `append`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.support.typing import Indices

__all__ = ["Growable", "Ragged", "all_in_pairs", "concatenated_ranges", "segment_or"]


class Growable:
    """An array whose first axis grows; appending costs constant time per row on average.

    Attributes
    ----------
    buffer
        The rows, followed by unused room for more.
    size
        The number of rows in use.
    """

    __slots__ = ("buffer", "size")

    def __init__(self, rows: NDArray[Any]) -> None:
        self.buffer, self.size = rows, len(rows)

    @property
    def rows(self) -> NDArray[Any]:
        """A view of the rows in use; it is invalid after the next `append`."""
        return self.buffer[: self.size]

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        self.append_empty(len(rows))[:] = rows

    def append_empty(self, count: int) -> NDArray[Any]:
        """Add rows at the end for the caller to fill; a view, invalid after the next `append`."""
        size = self.size + count
        if size > len(self.buffer):
            self._move_to(size + size // 2 + 16)
        self.size = size
        return self.buffer[size - count : size]

    def extend(self, count: int) -> NDArray[Any]:
        """Add many rows for the caller to fill, and leave no unused room; a view."""
        self._move_to(self.size + count)
        self.size += count
        return self.buffer[self.size - count :]

    def _move_to(self, capacity: int) -> None:
        larger = np.empty((capacity, *self.buffer.shape[1:]), self.buffer.dtype)
        larger[: self.size] = self.rows
        self.buffer = larger

    def restricted(self, marked: NDArray[np.bool_]) -> Growable:
        """Return a copy of the marked rows."""
        return Growable(self.rows[marked])


class Ragged:
    """Lists of integers in one heap.

    A rewritten list goes to the end of the heap; `compact` drops the entries that are out of use.

    Attributes
    ----------
    heap
        The entries of all lists.
    starts
        The position in the heap where each list begins.
    counts
        The number of entries of each list.
    """

    __slots__ = ("counts", "heap", "starts")

    def __init__(self, lists: list[list[int]]) -> None:
        counts = np.array([len(entries) for entries in lists], dtype=np.int64)
        self.counts = Growable(counts)
        self.starts = Growable(np.cumsum(counts) - counts)
        self.heap = Growable(
            np.array([entry for entries in lists for entry in entries], dtype=np.int32)
        )

    @classmethod
    def of_arrays(
        cls, heap: NDArray[np.int32], counts: NDArray[np.int32], starts: Indices
    ) -> Ragged:
        """Return the lists heap[starts[i] : starts[i] + counts[i]], without copying the arrays."""
        lists = cls.__new__(cls)
        lists.heap, lists.counts, lists.starts = Growable(heap), Growable(counts), Growable(starts)
        return lists

    def __len__(self) -> int:
        return self.counts.size

    def gather(self, indices: Indices) -> tuple[NDArray[np.int32], Indices]:
        """Return the lists with given indices, joined, and the number of entries of each."""
        counts = self.counts.buffer[indices]
        return self.heap.buffer[concatenated_ranges(self.starts.buffer[indices], counts)], counts

    def append(self, entries: NDArray[np.int32], counts: Indices) -> None:
        """Append lists, which are given joined together."""
        self.starts.append(np.cumsum(counts) - counts + self.heap.size)
        self.counts.append(counts)
        self.heap.append(entries)

    def rewrite(self, indices: Indices, entries: NDArray[np.int32], counts: Indices) -> None:
        """Replace the lists with given indices by others, which are given joined together."""
        self.starts.buffer[indices] = np.cumsum(counts) - counts + self.heap.size
        self.counts.buffer[indices] = counts
        self.heap.append(entries)

    def compact(self) -> None:
        """Rewrite the heap so that it has the lists in order, without gaps."""
        counts = self.counts.rows
        self.heap = Growable(self.heap.buffer[concatenated_ranges(self.starts.rows, counts)])
        self.starts = Growable(np.cumsum(counts) - counts)


def concatenated_ranges(starts: Indices, counts: Indices) -> Indices:
    """Return the ranges starts[i], …, starts[i] + counts[i] - 1, one after the other.

    >>> concatenated_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    offsets = np.cumsum(counts) - counts
    return np.repeat(starts - offsets, counts) + np.arange(int(counts.sum()))


def segment_or(words: NDArray[np.uint64], counts: Indices) -> NDArray[np.uint64]:
    """Return the bitwise or over consecutive segments, none of them empty.

    >>> segment_or(np.array([1, 2, 4], dtype=np.uint64), np.array([2, 1])).tolist()
    [3, 4]
    """
    if not len(counts):
        return np.zeros(0, dtype=np.uint64)
    return np.bitwise_or.reduceat(words, np.cumsum(counts) - counts)


def all_in_pairs(ordered: NDArray[Any]) -> bool:
    """Return whether every value of an ordered array occurs exactly twice.

    >>> all_in_pairs(np.array([1, 1, 4, 4])), all_in_pairs(np.array([1, 1, 1, 1]))
    (True, False)
    """
    if len(ordered) % 2:
        return False
    return bool((ordered[::2] == ordered[1::2]).all() and (ordered[1:-1:2] != ordered[2::2]).all())
