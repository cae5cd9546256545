"""Is a network transparent on a domain: has every point in every hidden layer a neuron with z ≥ 0?

Source: Phuong and Lampert (2020), Definition A.12, for open domains. That all neurons of a layer are negative is an
open condition, and a polyhedron is the closure of its relative interior, so it is enough to look at the regions, and
the boundary of the domain makes no difference. On a domain of lower dimension the points of the domain are meant, and
with skip connections or a ReLU at the end the definition is the same, word by word (for a ReLU at the end all layers
are hidden).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.conditions.condition import Condition, point_text

__all__ = ["OpaqueRegion", "transparency"]


@dataclass(frozen=True, slots=True)
class OpaqueRegion:
    """A region on which all neurons of a layer are negative.

    Attributes
    ----------
    region, layer : their numbers, layers from 1.
    point : a point inside the region.
    """

    region: int
    layer: int
    point: tuple[Fraction, ...]

    def __str__(self) -> str:
        return f"all neurons of layer {self.layer} are negative on region {self.region}, at {point_text(self.point)}"


def transparency(cells: PolyhedralComplex) -> Condition[OpaqueRegion]:
    """Whether every point of the domain has in every hidden layer a neuron with z ≥ 0.

    Parameters
    ----------
    cells : a complete complex, of any network on any domain.

    Returns
    -------
    The condition "transparent": a region and a layer that violate it, or the number of regions.

    Raises
    ------
    DomainError : the complex is incomplete or a part.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> print(transparency(canonical_complex(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))))
    transparent: holds, 2 regions
    >>> print(transparency(canonical_complex(from_arrays([([[1], [-1]], [0, -2]), ([[1, 1]], [0])]))))
    transparent: fails, all neurons of layer 1 are negative on region 2, at (-1)
    """
    require_complete(cells, "transparency")
    signs = cells.signs(cells.dimension)
    layer_of = np.array([neuron.layer for neuron in cells.neurons], dtype=np.int64)
    layers = range(1, cells.network.hidden_layers + 1)
    opaque = np.zeros((cells.regions, len(layers)), dtype=bool)
    for layer in layers:
        opaque[:, layer - 1] = (signs[:, layer_of == layer] < 0).all(axis=1)
    clear = cells.regions - int(opaque.any(axis=1).sum())
    if clear == cells.regions:
        return Condition("transparent", "holds", clear, "regions")
    region, layer = np.argwhere(opaque)[0].tolist()
    evidence = OpaqueRegion(region, layer + 1, cells.interior_point(region))
    return Condition("transparent", "fails", clear, "regions", evidence)
