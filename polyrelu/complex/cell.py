"""`Cell`: the name of one cell of a polyhedral complex.

A name is a pair of numbers, so that it can be compared, hashed and written to files; everything
about the cell is asked from the complex. The numbers are the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell"]


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """The name of a cell of a polyhedral complex.

    Attributes
    ----------
    dimension
        The dimension of the cell, its directions of lineality included.
    index
        The number of the cell among the cells of its dimension, from 0 on.

    Examples
    --------
    >>> sorted([Cell(1, 0), Cell(0, 2), Cell(0, 1)])
    [Cell(dimension=0, index=1), Cell(dimension=0, index=2), Cell(dimension=1, index=0)]
    """

    dimension: int
    index: int
