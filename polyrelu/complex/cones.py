"""The cells of a complex as cones in homogeneous coordinates, faces at infinity included.

A cell of dimension k without lines becomes the cone of dimension k + 1 over its generators: rows
(x, 1) for vertices and (x, 0) for directions. Its faces at infinity, where the last coordinate is
0, are cones too, though no cells of the complex. Fingerprints of functions need all of them.
"""

from __future__ import annotations

import numpy as np

from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.errors import DomainError
from polyrelu.support.typing import Indices

__all__ = ["Cones"]


class Cones:
    """The cones over the cells of a complex without lineality space, and over their faces.

    Attributes
    ----------
    dimension
        The dimension d of the regions. Cones of rank k = 0, …, d have dimension k + 1; cones of
        rank 0 are the generators.
    regions
        The numbers of the cones of rank d over the regions, in their order.

    Raises
    ------
    DomainError
        The cells contain lines.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cones = Cones(canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])])))
    >>> cones, [cones.generators(1, number) for number in cones.regions.tolist()]
    (<Cones of dimension 1 over 2 regions>, [[0, 1], [0, 2]])
    """

    def __init__(self, cells: PolyhedralComplex) -> None:
        cells = expect_complex(cells)
        if cells.lineality_dim:
            raise DomainError("the cells contain lines, so that their cones are not pointed")
        arrays = cells._arrays
        self._lattice = arrays.lattice
        self.dimension = cells.dimension
        self.regions: Indices = arrays.finite[-1]
        self._facets = [
            self._lattice.facets_of(k, np.arange(self._lattice.size(k)))
            for k in range(1, self.dimension + 1)
        ]
        self._offsets = [np.concatenate([[0], np.cumsum(counts)]) for _, counts in self._facets]

    def __repr__(self) -> str:
        return f"<Cones of dimension {self.dimension} over {len(self.regions)} regions>"

    def facets(self, rank: int, number: int) -> list[int]:
        """Return the numbers of the facets, cones of rank k - 1, of a cone of rank k ≥ 1."""
        offsets, (entries, _) = self._offsets[rank - 1], self._facets[rank - 1]
        found: list[int] = entries[offsets[number] : offsets[number + 1]].tolist()
        return found

    def generators(self, rank: int, number: int) -> list[int]:
        """Return the numbers of the generators of a cone of rank k."""
        return self._lattice.vertices_of(rank, number)
