"""Transparency on a domain: at every point each hidden layer has a neuron with z ≥ 0.

Source: Phuong and Lampert (2020), Definition A.12, for open domains. The condition that all
neurons of a layer are negative is open, and a polyhedron is the closure of its relative interior,
so it suffices to check the regions, and the boundary of the domain makes no difference. On a
domain of lower dimension the points of the domain count. With skip connections or a ReLU at the
end the definition is literally the same (for a ReLU at the end all layers are hidden).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.conditions.condition import Condition, as_complex, point_text
from polyrelu.support.display import bracketed

__all__ = ["OpaqueRegion", "transparency"]


@dataclass(frozen=True, slots=True, repr=False)
class OpaqueRegion:
    """A region on which all neurons of a layer are negative.

    Attributes
    ----------
    region
        The number of the region.
    layer
        The number of the layer, from 1.
    point
        A point inside the region.

    Examples
    --------
    >>> print(OpaqueRegion(2, 1, (Fraction(-1),)))
    all neurons of layer 1 are negative on region 2, at (-1)
    """

    region: int
    layer: int
    point: tuple[Fraction, ...]

    def __str__(self) -> str:
        place = f"region {self.region}, at {point_text(self.point)}"
        return f"all neurons of layer {self.layer} are negative on {place}"

    def __repr__(self) -> str:
        return bracketed(f"OpaqueRegion, {self}")


def transparency(cells: PolyhedralComplex) -> Condition[OpaqueRegion]:
    """Check whether at every point of the domain each hidden layer has a neuron with z ≥ 0.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.

    Returns
    -------
    Condition
        The condition "transparent"; its evidence is a region and a layer that violate it, its
        count is the number of regions.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: Phuong and Lampert (2020), Definition A.12.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> print(transparency(canonical_complex(net)))
    transparent: holds, 2 regions
    >>> net = from_arrays([([[1], [-1]], [0, -2]), ([[1, 1]], [0])])
    >>> print(transparency(canonical_complex(net)).evidence)
    all neurons of layer 1 are negative on region 2, at (-1)
    """
    cells = as_complex(cells)
    require_complete(cells, "transparency")
    signs = cells.signs(cells.dimension)
    layer_of = np.array([neuron.layer for neuron in cells.neurons], dtype=np.int64)
    layers = range(1, cells.network.num_hidden_layers + 1)
    opaque = np.zeros((cells.num_regions, len(layers)), dtype=bool)
    for layer in layers:
        opaque[:, layer - 1] = (signs[:, layer_of == layer] < 0).all(axis=1)
    clear = cells.num_regions - int(opaque.any(axis=1).sum())
    if clear == cells.num_regions:
        return Condition("transparent", "holds", clear, "regions")
    region, layer = np.argwhere(opaque)[0].tolist()
    evidence = OpaqueRegion(region, layer + 1, cells.interior_point(region))
    return Condition("transparent", "fails", clear, "regions", evidence)
