"""The affine maps of a network on all regions, from one of them and the jumps between regions.

No map of a region is computed from the weights of the layers but the first one. The network may be
any one with the hidden neurons of the complex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.breakpoints.facet_products import largest_change, numerators, output_layer
from polyrelu.breakpoints.integer_weights import IntegerWeights, Jumps
from polyrelu.breakpoints.potentials import RegionMaps, SearchTree, TermRows, region_maps
from polyrelu.complex import PolyhedralComplex
from polyrelu.network import Network

__all__ = ["NetworkMaps"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NetworkMaps:
    """The maps of a network on the regions of a complex, modulo the equations of its affine hull.

    Attributes
    ----------
    tree
        A search through the regions.
    jumps
        The changes of the map across the cells of the tree, in their order.
    maps
        The maps.
    """

    tree: SearchTree
    jumps: Jumps
    maps: RegionMaps

    @classmethod
    def of(cls, cells: PolyhedralComplex, network: Network) -> NetworkMaps:
        """Return the maps of a network with the hidden neurons of a complete complex."""
        crossings, layer = cells.crossings, output_layer(network)
        found = network.affine_map(cells.activations.pattern(0))
        start = found.matrix.beside(found.offset) @ cells.frame.on_hull
        tree = SearchTree.from_region(cells.num_regions, 0, crossings.plus, crossings.minus)
        positions = np.sort(tree.cells)
        weights = IntegerWeights.of_crossings(
            crossings.at(positions), *numerators(cells, layer, positions)
        )
        jumps = weights.jumps().at(np.searchsorted(positions, tree.cells))
        return cls(tree, jumps, region_maps(tree, jumps, start, largest_change(cells, layer)))

    def rows(self, output: int) -> TermRows:
        """Return the affine function of an output on each region."""
        regions = np.arange(self.tree.num_regions)
        return self.maps.rows(self.maps.of_output(regions, output), output)
