"""The forms in which a tool lists regions.

Each form is a type with one table or a few, so that a list of 10^5 regions takes little memory.
`audit_regions` compares any of them with the exact regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from polyrelu.audit.tables import as_integers, as_numbers
from polyrelu.errors import ArgumentError
from polyrelu.support.arguments import expect_count
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
_Rows: TypeAlias = Sequence[object] | Array


@dataclass(frozen=True, slots=True, eq=False)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", as_numbers(self.rows, 2, "signs"))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<SignVectors, {len(self)} regions>"


@dataclass(frozen=True, slots=True, eq=False)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", as_numbers(self.rows, 2, "activations"))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<ActivationPatterns, {len(self)} regions>"


@dataclass(frozen=True, slots=True, eq=False)
class LocalMaps:
    """Regions as interior points, with the affine map A x + b around each point if it is given.

    Attributes
    ----------
    points
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

    points: Array
    matrices: Array | None = None
    offsets: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", as_numbers(self.points, 2, "points"))
        if self.matrices is None and self.offsets is None:
            return
        if self.matrices is None:
            raise ArgumentError("offsets: give matrices with them")
        object.__setattr__(self, "matrices", as_numbers(self.matrices, 3, "matrices"))
        if self.offsets is not None:
            object.__setattr__(self, "offsets", as_numbers(self.offsets, 2, "offsets"))
        if any(len(t) != len(self.points) for t in (self.matrices, self.offsets) if t is not None):
            raise ArgumentError("matrices and offsets: give one for each point")

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<LocalMaps, {len(self)} region{'s' * (len(self) != 1)}>"


@dataclass(frozen=True, slots=True, eq=False)
class _Ragged:
    """Rows of numbers that belong to regions, several to each."""

    rows: Array
    owners: Array
    size: int

    def __post_init__(self) -> None:
        rows = as_numbers(self.rows, 2, "rows")
        owners = as_integers(self.owners, 1, "owners")
        size = expect_count(self.size, "size")
        if len(rows) != len(owners):
            raise ArgumentError("owners: give the number of a region for each row")
        if len(owners) and owners.max() >= size:
            raise ArgumentError(f"owners: there are {size} regions, numbered from 0")
        order = np.argsort(owners, kind="stable")
        object.__setattr__(self, "rows", rows[order])
        object.__setattr__(self, "owners", owners[order])
        object.__setattr__(self, "size", size)

    def __len__(self) -> int:
        return self.size

    @property
    def starts(self) -> Array:
        """The place of the first row of each region, and the number of rows at the end."""
        return np.searchsorted(self.owners, np.arange(self.size + 1))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {self.size} regions, {len(self.rows)} rows>"


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
    <HalfSpaces, 1 regions, 2 rows>
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
    def of(cls, regions: Iterable[_Rows]) -> VertexLists:
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
