"""The integer rows [a | s | c] of a program, meaning a·x + s·t ≤ c or = c, appended and removed at the end."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz, fmpz_mat

__all__ = ["Rows"]

#: More blocks than this are merged: each block costs one call per product.
_BLOCK_LIMIT = 16
#: Fewer than one row in so many is converted anew for a product instead of all rows once and for all.
_FEW = 8


class Rows:
    """Rows of Python integers, and the same numbers as FLINT blocks for products with all rows at once.

    Attributes
    ----------
    entries : the rows [a | s | c].
    is_equation : whether row i means "=".
    columns : number of variables, the slack variable t included.
    """

    __slots__ = ("_blocks", "_waiting", "columns", "entries", "is_equation")

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.entries: list[list[int]] = []
        self.is_equation: list[bool] = []
        self._blocks: list[fmpz_mat] = []
        self._waiting = 0  # rows at the end that are in no block yet: many questions are answered without products

    def __len__(self) -> int:
        return len(self.entries)

    def extend(self, rows: list[list[int]], is_equation: bool) -> None:
        """Append rows [a | s | c]."""
        self.entries += rows
        self.is_equation += [is_equation] * len(rows)
        self._waiting += len(rows)

    def pop(self) -> None:
        """Remove the last row."""
        self.entries.pop()
        self.is_equation.pop()
        if self._waiting:
            self._waiting -= 1
            return
        self._waiting = self._blocks.pop().nrows() - 1

    def replace(self, index: int, row: list[int]) -> None:
        """Put another row in the place of row `index`."""
        self.entries[index] = row
        for block in self._blocks:
            if index < block.nrows():
                for j, entry in enumerate(row):
                    block[index, j] = entry
                return
            index -= block.nrows()

    def bits(self, index: int) -> int:
        """The bit length of the largest coefficient of a row."""
        row = self.entries[index]
        slack = row[-2]  # of that size, except in rows without slack
        return (
            slack.bit_length()
            if slack
            else max((abs(entry).bit_length() for entry in row[:-2]), default=0)
        )

    def products(self, vector: Sequence[int | fmpz], indices: Sequence[int]) -> list[fmpz]:
        """The numbers row · vector for some rows; `vector` has one entry more than there are columns, for c."""
        if not indices:
            return []
        column = fmpz_mat(self.columns + 1, 1, list(vector))
        if len(indices) * _FEW < len(
            self
        ):  # converting a row costs more than a product with a converted one
            chosen: list[fmpz] = (fmpz_mat([self.entries[i] for i in indices]) * column).entries()
            return chosen
        entries = [entry for block in self._converted() for entry in (block * column).entries()]
        return [entries[i] for i in indices]

    def _converted(self) -> list[fmpz_mat]:
        if self._waiting:
            blocks = [*self._blocks, fmpz_mat(self.entries[-self._waiting :])]
            if len(blocks) > _BLOCK_LIMIT:
                blocks = [fmpz_mat(self.entries)]
            self._blocks, self._waiting = blocks, 0  # together: Ctrl-C cannot come in between
        return self._blocks
