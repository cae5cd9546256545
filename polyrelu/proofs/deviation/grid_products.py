"""Exact products of integer matrices, by floats where the integers are short.

A table of integers below 2^61 is split into digits of L bits, and so is a matrix. The products of
matrices of digits are sums of fewer than 2^(53 - 2 L) products below 2^(2 L), so that floats have
them exactly; they are put together, and shifted, in int64. Longer integers are Python numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import RationalMatrix
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Check, no_check

__all__ = ["LONGEST", "GridMatrix", "Table", "shifted_product"]

#: int64, or Python integers.
Table: TypeAlias = NDArray[Any]
#: Integers with at most this many bits are int64.
LONGEST = 56
#: Bits of a sum that floats hold exactly.
_EXACT_BITS = 53


class GridMatrix:
    """A rational matrix times 2^S, rounded down.

    Attributes
    ----------
    rows
        The integers, shape (n, k).
    norm
        The largest sum of absolute values in a row.
    is_rounded
        Whether any entry was rounded.
    """

    def __init__(self, matrix: RationalMatrix, grid: int) -> None:
        numerators = matrix.integer_array().astype(object)
        scaled = numerators << grid
        self.rows: Table = scaled // matrix.denominator
        self.is_rounded = bool((self.rows * matrix.denominator != scaled).any())
        self.norm = int(np.abs(self.rows).sum(axis=1).max()) if self.rows.size else 0
        self._digits: dict[int, NDArray[np.float64]] = {}

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[1])

    @cached_property
    def _int64(self) -> NDArray[np.int64] | None:
        """The integers as int64, if they are short."""
        return self.rows.astype(np.int64) if self.norm.bit_length() <= LONGEST else None

    @property
    def is_short(self) -> bool:
        """Whether the integers are int64."""
        return self._int64 is not None

    @cached_property
    def _sizes(self) -> NDArray[np.float64]:
        """The absolute values, rounded."""
        return np.abs(self.rows).astype(np.float64)

    def largest_product(self, table: Table) -> int:
        """Return a number that no sum of absolute values in a row of the product exceeds."""
        if table.dtype.hasobject or not self.is_short:
            return self.norm * int(np.abs(table).sum(axis=1).max())
        sums = np.abs(table).sum(axis=1, dtype=np.float64)
        return 1 + int(float((self._sizes @ sums).max()) * (1 + 2**-20))

    def digits(self, num_bits: int) -> NDArray[np.float64]:
        """Return the digits, one matrix below the other, shape (number of digits, n, k)."""
        if num_bits not in self._digits:
            assert self._int64 is not None
            self._digits[num_bits] = _digits_of(self._int64, num_bits)
        return self._digits[num_bits]

    def error(self, error: int, sizes: int, grid: int) -> int:
        """Return the error of a product with forms that have an error (FORMAT.md, section 5.8)."""
        own = -(-sizes >> grid) if self.is_rounded else 0
        return -(-self.norm * error >> grid) + own


def _digits_of(table: NDArray[np.int64], num_bits: int) -> NDArray[np.float64]:
    """Return digits in base 2^num_bits as floats; the last one has the sign."""
    longest = int(np.abs(table).max()).bit_length() if table.size else 0
    count = max(1, -(-longest // num_bits))
    mask = (1 << num_bits) - 1
    parts = [table >> num_bits * k & mask for k in range(count - 1)]
    return np.array([*parts, table >> num_bits * (count - 1)], dtype=np.float64)


def shifted_product(
    terms: Sequence[tuple[GridMatrix, Table]], grid: int, check: Check = no_check
) -> tuple[Table, bool]:
    """Return the sum of products of matrices with tables, over 2^grid, rounded down.

    The second value says whether nothing was rounded. The tables are int64 if all results have at
    most `LONGEST` bits; the caller knows. `check` is called now and then, and may raise.
    """
    if any(table.dtype == object for _, table in terms):
        total = np.sum([_product(matrix.rows, table, check) for matrix, table in terms], axis=0)
        is_exact = not (total & (1 << grid) - 1).any()
        return np.asarray(total >> grid, dtype=object), is_exact
    widest = max(matrix.width for matrix, _ in terms)
    num_bits = (_EXACT_BITS - widest.bit_length()) // 2
    levels: dict[int, NDArray[np.int64]] = {}
    for matrix, table in terms:
        check()
        left, right = matrix.digits(num_bits), _digits_of(table, num_bits)
        (a, n, k), (b, _, c) = left.shape, right.shape
        both = left.reshape(a * n, k) @ right.transpose(1, 0, 2).reshape(k, b * c)
        parts = both.astype(np.int64).reshape(a, n, b, c)
        for i in range(a):
            for j in range(b):
                found = parts[i, :, j]
                levels[i + j] = levels[i + j] + found if i + j in levels else found
    return _over_power(levels, num_bits, grid)


def _product(matrix: Table, table: Table, check: Check) -> Table:
    """Return a product of tables of long integers, in parts of some tenths of a second."""
    step = max(1, SETTINGS.products_per_check // max(1, table.size))
    parts = [matrix[:0].dot(table)]
    for start in range(0, len(matrix), step):
        check()
        parts.append(matrix[start : start + step].dot(table))
    return np.concatenate(parts)


def _over_power(
    levels: dict[int, NDArray[np.int64]], num_bits: int, grid: int
) -> tuple[Table, bool]:
    """Return the sum of all levels times 2^(num_bits level), over 2^grid, rounded down.

    The second value says whether nothing was rounded. int64 wraps around, which cancels since the
    result is short.
    """
    total, position, is_exact, later = levels[0], 0, True, list[int]()
    for level in range(1, max(levels) + 1):
        if num_bits * level > grid:
            later.append(level)
            continue
        is_exact = is_exact and not (total & (1 << num_bits) - 1).any()
        total = (total >> num_bits) + levels[level]
        position = num_bits * level
    rest = grid - position
    is_exact = is_exact and not (total & (1 << min(rest, 62)) - 1).any()
    total = total >> min(rest, 63)
    for level in later:
        total = total + (levels[level] << num_bits * level - grid)
    return total, is_exact
