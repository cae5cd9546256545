"""Subcomplexes: sets of cells that contain all faces of their cells, so that their union is closed.

Bent hyperplanes, level sets and decision boundaries are subcomplexes; homology, meshes and pictures
take them. A subcomplex stores a mask of cells for every dimension and keeps the complex alive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.cell import Cell
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.display import svg_of
from polyrelu.support.typing import Mask

__all__ = ["Subcomplex", "expect_subcomplex", "faces_of_regions", "marked_facets"]


@dataclass(frozen=True, slots=True, eq=False)
class Subcomplex:
    """A set of cells of a complex that contains the faces of its cells.

    Subcomplexes of the same complex can be joined (`|`), intersected (`&`) and compared; cells can
    be tested for membership (`in`), counted (`len`) and iterated over, by dimension and index.

    Attributes
    ----------
    cells
        The complex.
    masks
        For every dimension k = 0, 1, … of the complex, whether each cell belongs to the subcomplex;
        shape (f_k,).

    Examples
    --------
    >>> from polyrelu.complex import bent_hyperplane, canonical_complex
    >>> from polyrelu.network import NeuronId, from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> bent = bent_hyperplane(canonical_complex(net), NeuronId(2, 0))
    >>> bent, bent.dimension, (bent | bent) == bent
    (<Subcomplex, cells by dimension (2, 3, 0)>, 1, True)
    """

    cells: PolyhedralComplex
    masks: tuple[Mask, ...]

    @classmethod
    def closure(cls, cells: PolyhedralComplex, masks: Mapping[int, Mask]) -> Subcomplex:
        """Return the smallest subcomplex that contains some marked cells.

        Parameters
        ----------
        cells
            The complex.
        masks
            For some dimensions whether each cell is marked; in other dimensions no cell is.

        Returns
        -------
        Subcomplex
            The marked cells and all their faces.

        Raises
        ------
        DomainError
            A mask has a wrong length, or the complex has no cells of its dimension.

        Examples
        --------
        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
        >>> Subcomplex.closure(cells, {1: np.array(cells.bounded)}).f_vector
        (2, 1)
        """
        cells = expect_complex(cells)
        if not isinstance(masks, Mapping):
            raise ArgumentError("masks: expected a mapping from dimensions to arrays")
        found = [np.zeros(cells.size(k), dtype=bool) for k in range(cells.dimension + 1)]
        for k in masks.keys() - range(cells.dimension + 1):
            raise DomainError(
                f"a mask for cells of dimension {k}, "
                f"but the complex has dimension {cells.dimension}"
            )
        for k in range(cells.dimension, -1, -1):
            if k in masks:
                mask = np.asarray(masks[k])
                if mask.dtype != bool:
                    raise ArgumentError(
                        f"masks: expected truth values for dimension {k}, got {mask.dtype}"
                    )
                if mask.shape != found[k].shape:
                    raise DomainError(
                        f"a mask of shape {mask.shape} for the {len(found[k])} cells "
                        f"of dimension {k}"
                    )
                found[k] |= mask
            if k > cells.lineality_dim:
                found[k - 1] |= marked_facets(cells, k, found[k])
        return cls(cells, tuple(found))

    @property
    def f_vector(self) -> tuple[int, ...]:
        """The numbers of cells of dimension 0, 1, …, up to the dimension of the complex."""
        return tuple(int(mask.sum()) for mask in self.masks)

    @property
    def dimension(self) -> int:
        """The largest dimension of a cell of the subcomplex; -1 if it is empty."""
        return max((k for k, mask in enumerate(self.masks) if mask.any()), default=-1)

    def indices(self, dimension: int) -> NDArray[np.int64]:
        """Return the indices of the cells of a dimension that belong to the subcomplex."""
        if not 0 <= expect_integer(dimension, "dimension") < len(self.masks):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.masks[dimension])

    def __iter__(self) -> Iterator[Cell]:
        for k in range(len(self.masks)):
            yield from (Cell(k, int(index)) for index in self.indices(k))

    def __len__(self) -> int:
        return sum(self.f_vector)

    def __contains__(self, cell: object) -> bool:
        if not isinstance(cell, Cell) or cell not in self.cells:
            return False
        return bool(self.masks[cell.dimension][cell.index])

    def __or__(self, other: object) -> Subcomplex:
        if not isinstance(other, Subcomplex):
            return NotImplemented
        self._check_other(other)
        return Subcomplex(
            self.cells, tuple(a | b for a, b in zip(self.masks, other.masks, strict=True))
        )

    def __and__(self, other: object) -> Subcomplex:
        if not isinstance(other, Subcomplex):
            return NotImplemented
        self._check_other(other)
        return Subcomplex(
            self.cells, tuple(a & b for a, b in zip(self.masks, other.masks, strict=True))
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subcomplex):
            return NotImplemented
        pairs = zip(self.masks, other.masks, strict=False)
        return self.cells is other.cells and all(bool((a == b).all()) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def _check_other(self, other: Subcomplex) -> None:
        if self.cells is not other.cells:
            raise DomainError(
                "subcomplexes of two complexes: only those of one complex can be joined or compared"
            )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, cells by dimension {self.f_vector}>"

    def _repr_svg_(self) -> str | None:
        return svg_of(self)


def expect_subcomplex(part: object, name: str = "part") -> Subcomplex:
    """Return an argument that is a subcomplex; the error names functions that make one."""
    remedy = "bent_hyperplane, level_set and decision_boundary make subcomplexes"
    return expect(part, Subcomplex, name, remedy)


def marked_facets(cells: PolyhedralComplex, dimension: int, marked: Mask) -> Mask:
    """Whether each cell is a facet of a marked cell of the given dimension."""
    offsets, entries = cells.facets(dimension)
    is_facet = np.zeros(cells.size(dimension - 1), dtype=bool)
    is_facet[entries[np.repeat(marked, np.diff(offsets))]] = True
    return is_facet


def faces_of_regions(cells: PolyhedralComplex, regions: Mask) -> list[Mask]:
    """For every dimension k = 0, 1, … whether each cell is a face of a marked region.

    Regions count as faces of themselves.
    """
    masks = [np.zeros(cells.size(k), dtype=bool) for k in range(cells.dimension + 1)]
    masks[-1] = regions
    for k in range(cells.dimension, cells.lineality_dim, -1):
        masks[k - 1] = marked_facets(cells, k, masks[k])
    return masks
