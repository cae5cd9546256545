"""The integer rows [a | s | c] of a program, meaning a·x + s·t ≤ c or a·x + s·t = c.

Rows are appended and removed at the end. They exist as Python integers and, as far as products have
needed them, as FLINT blocks; both must stay equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz, fmpz_mat

__all__ = ["ProgramRows"]

#: Maximum number of FLINT blocks; more blocks are merged, since each block costs one call for every
#: product.
_BLOCK_LIMIT = 16
#: If a product needs fewer than one in this number of rows, these rows alone are converted for it.
_CONVERSION_SHARE = 8


class ProgramRows:
    """Rows of Python integers, and the same numbers as FLINT blocks for products with many rows.

    Attributes
    ----------
    entries
        The rows [a | s | c].
    is_equation
        Whether each row is an equation.
    columns
        Number of variables, the slack variable t included.
    """

    __slots__ = ("_blocks", "_unconverted", "columns", "entries", "is_equation")

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.entries: list[list[int]] = []
        self.is_equation: list[bool] = []
        self._blocks: list[fmpz_mat] = []
        # The number of rows at the end that are in no block yet: many questions need no product.
        self._unconverted = 0

    def __len__(self) -> int:
        return len(self.entries)

    def extend(self, rows: list[list[int]], is_equation: bool) -> None:
        """Append rows [a | s | c]."""
        self.entries += rows
        self.is_equation += [is_equation] * len(rows)
        self._unconverted += len(rows)

    def pop(self) -> None:
        """Remove the last row."""
        self.entries.pop()
        self.is_equation.pop()
        if self._unconverted:
            self._unconverted -= 1
            return
        self._unconverted = self._blocks.pop().nrows() - 1

    def replace(self, index: int, row: list[int]) -> None:
        """Replace the row of an index."""
        self.entries[index] = row
        for block in self._blocks:
            if index < block.nrows():
                for j, entry in enumerate(row):
                    block[index, j] = entry
                return
            index -= block.nrows()

    def bits(self, index: int) -> int:
        """Return the bit length of the largest coefficient of a row, up to one bit."""
        row = self.entries[index]
        slack = row[-2]  # of the size of the largest coefficient, if it is not 0
        if slack:
            return slack.bit_length()
        return max((abs(entry).bit_length() for entry in row[:-2]), default=0)

    def products(self, vector: Sequence[int | fmpz], indices: Sequence[int]) -> list[fmpz]:
        """Compute the products row · vector for some rows.

        Parameters
        ----------
        vector
            A factor for each column and one for c, shape (columns + 1,).
        indices
            The numbers of the rows.

        Returns
        -------
        list of fmpz
            The products, in the order of the indices.
        """
        if not indices:
            return []
        column = fmpz_mat(self.columns + 1, 1, list(vector))
        if len(indices) * _CONVERSION_SHARE < len(self):
            # To convert all rows would take longer than their products.
            chosen: list[fmpz] = (fmpz_mat([self.entries[i] for i in indices]) * column).entries()
            return chosen
        entries = [entry for block in self._converted() for entry in (block * column).entries()]
        return [entries[i] for i in indices]

    def _converted(self) -> list[fmpz_mat]:
        """Return all rows as FLINT blocks."""
        if self._unconverted:
            blocks = [*self._blocks, fmpz_mat(self.entries[-self._unconverted :])]
            if len(blocks) > _BLOCK_LIMIT:
                blocks = [fmpz_mat(self.entries)]
            # In one assignment, which Ctrl-C does not interrupt.
            self._blocks, self._unconverted = blocks, 0
        return self._blocks
