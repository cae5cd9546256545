"""The forms in which a tool lists regions.

Each form is a type with one table or a few, so that a list of 10^5 regions takes little memory.
`audit_regions` compares any of them with the exact regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from polyrelu.audit.tables import as_integers, as_numbers
from polyrelu.errors import ArgumentError
from polyrelu.support.arguments import expect_count
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.typing import Array

__all__ = [
    "ActivationPatterns",
    "HalfSpaces",
    "LocalMaps",
    "RegionClaims",
    "SignVectors",
    "VertexLists",
]


#: Lists or an array of numbers.
TableLike: TypeAlias = Sequence[Any] | Array


def _table(values: TableLike, axes: int, name: str) -> Array:
    """Return an array of numbers that cannot be changed."""
    return read_only(as_numbers(values, axes, name))


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class SignVectors:
    """Regions as sign vectors.

    Attributes
    ----------
    rows
        Signs -1, 0 or 1 of the hidden neurons, layer by layer, shape (regions, neurons).

    Examples
    --------
    >>> len(SignVectors([[1, -1], [1, 1]]))
    2
    """

    rows: Array

    def __init__(self, rows: TableLike) -> None:
        object.__setattr__(self, "rows", _table(rows, 2, "signs"))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<SignVectors, {count_text([(len(self), 'region')])}>"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ActivationPatterns:
    """Regions as activation patterns, which do not tell the signs 0 and -1 apart.

    Attributes
    ----------
    rows
        1 for each active hidden neuron and 0 for the others, shape (regions, neurons).

    Examples
    --------
    >>> len(ActivationPatterns([[True, False]]))
    1
    """

    rows: Array

    def __init__(self, rows: TableLike) -> None:
        object.__setattr__(self, "rows", _table(rows, 2, "activations"))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<ActivationPatterns, {count_text([(len(self), 'region')])}>"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class LocalMaps:
    """Regions as interior points, with the affine map A x + b around each point if it is given.

    Attributes
    ----------
    interior_points
        A point inside each region, shape (regions, n_0).
    matrices
        The matrix A on each region, shape (regions, n_L, n_0); None if there are no maps.
    offsets
        The vector b on each region, shape (regions, n_L); None if there are no maps.

    Examples
    --------
    >>> LocalMaps([[0.5]], [[[2]]], [[1]])
    <LocalMaps, 1 region>
    """

    interior_points: Array
    matrices: Array | None
    offsets: Array | None

    def __init__(
        self,
        interior_points: TableLike,
        matrices: TableLike | None = None,
        offsets: TableLike | None = None,
    ) -> None:
        points = _table(interior_points, 2, "interior_points")
        if matrices is None and offsets is not None:
            raise ArgumentError("offsets: give matrices with them")
        a = None if matrices is None else _table(matrices, 3, "matrices")
        b = None if offsets is None else _table(offsets, 2, "offsets")
        if any(len(table) != len(points) for table in (a, b) if table is not None):
            raise ArgumentError("matrices and offsets: give one for each point")
        for name, table in (("interior_points", points), ("matrices", a), ("offsets", b)):
            object.__setattr__(self, name, table)

    def __len__(self) -> int:
        return len(self.interior_points)

    def __repr__(self) -> str:
        return f"<LocalMaps, {count_text([(len(self), 'region')])}>"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class _Ragged:
    """Rows of numbers that belong to regions, several to each."""

    rows: Array
    owners: Array
    size: int

    def __init__(self, rows: TableLike, owners: TableLike, size: int) -> None:
        table, numbers = as_numbers(rows, 2, "rows"), as_integers(owners, 1, "owners")
        count = expect_count(size, "size")
        if len(table) != len(numbers):
            raise ArgumentError("owners: give the number of a region for each row")
        if len(numbers) and numbers.max() >= count:
            raise ArgumentError(f"owners: there are {count} regions, numbered from 0")
        order = np.argsort(numbers, kind="stable")
        object.__setattr__(self, "rows", read_only(table[order]))
        object.__setattr__(self, "owners", read_only(numbers[order]))
        object.__setattr__(self, "size", count)

    def __len__(self) -> int:
        return self.size

    @property
    def starts(self) -> Array:
        """The place of the first row of each region, and the number of rows at the end."""
        return read_only(np.searchsorted(self.owners, np.arange(self.size + 1)))

    def __repr__(self) -> str:
        counts = count_text([(self.size, "region"), (len(self.rows), "row")])
        return f"<{type(self).__name__}, {counts}>"


class HalfSpaces(_Ragged):
    """Regions as solutions of inequalities A x ≤ c.

    Attributes
    ----------
    rows
        Rows [a | c], meaning a·x ≤ c, shape (rows, n_0 + 1).
    owners
        The number of the region of each row, shape (rows,).
    size
        Number of regions.

    Examples
    --------
    >>> HalfSpaces.of([([[1.0], [-1.0]], [1.0, 0.0])])
    <HalfSpaces, 1 region, 2 rows>
    """

    __slots__ = ()

    @classmethod
    def of(
        cls, regions: Iterable[tuple[Sequence[object] | Array, Sequence[object] | Array]]
    ) -> HalfSpaces:
        """Collect pairs (A, c), one for each region."""
        tables = []
        for number, (matrix, right) in enumerate(regions):
            a = as_numbers(matrix, 2, f"A of region {number}")
            c = as_numbers(right, 1, f"c of region {number}")
            if len(a) != len(c):
                raise ArgumentError(f"region {number}: {len(a)} rows in A, {len(c)} entries in c")
            tables.append(np.concatenate([a, c[:, None]], axis=1))
        return cls(*_stacked(tables))


class VertexLists(_Ragged):
    """Bounded regions as lists of their vertices, in any order.

    Attributes
    ----------
    rows
        Vertices, shape (rows, n_0).
    owners
        The number of the region of each row, shape (rows,).
    size
        Number of regions.

    Examples
    --------
    >>> VertexLists.of([[[0.0], [1.0]], [[1.0], [2.0]]])
    <VertexLists, 2 regions, 4 rows>
    """

    __slots__ = ()

    @classmethod
    def of(cls, regions: Iterable[TableLike]) -> VertexLists:
        """Collect lists of vertices, one for each region."""
        tables = [as_numbers(r, 2, f"vertices of region {i}") for i, r in enumerate(regions)]
        return cls(*_stacked(tables))


def _stacked(tables: list[Array]) -> tuple[Array, Array, int]:
    """Return the rows of all tables, the number of the table of each, and how many there are."""
    filled = [table for table in tables if len(table)]
    if len({table.shape[1] for table in filled}) > 1:
        raise ArgumentError("regions: rows have different lengths")
    rows = np.concatenate(filled) if filled else np.zeros((0, 0))
    return rows, np.repeat(np.arange(len(tables)), list(map(len, tables))), len(tables)


#: A list of regions in any of its forms.
RegionClaims: TypeAlias = SignVectors | ActivationPatterns | LocalMaps | HalfSpaces | VertexLists
