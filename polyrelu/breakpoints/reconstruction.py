"""The function of a network from its breakpoint complex, the weights, and one affine map.

Across a cell of codimension 1 the affine map changes by ω [n | β] (`tropical_weights`), so a search
from region to region computes all maps (`potentials`). The weights belong to a function if and only
if the changes along every closed path add up to 0. This is checked at every cell of codimension 1.

Source: the three-layer paper (arXiv 2605.18319), Theorem 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, overload

from numpy.typing import NDArray

from polyrelu.breakpoints.potentials import RegionMaps, SearchTree, checked_region_maps
from polyrelu.breakpoints.tropical_weights import BreakpointComplex, expect_breakpoints
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix
from polyrelu.exact.integer_arrays import as_objects
from polyrelu.network import AffineMap
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.display import count_text

__all__ = ["AffineMaps", "reconstruct"]


def reconstruct(breakpoints: BreakpointComplex, region: int, affine_map: AffineMap) -> AffineMaps:
    """Compute the affine maps of all regions from the weights and one affine map.

    Parameters
    ----------
    breakpoints
        Cells and weights; no other information on the network is used.
    region
        The number of a region.
    affine_map
        The map on this region. On a domain of lower dimension the results agree with the maps of
        the network on the domain if this map does.

    Returns
    -------
    AffineMaps
        The map on each region, in the order of the regions.

    Raises
    ------
    DomainError
        There is no such region, the map has another shape, or the weights belong to no function;
        or the complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Theorem 1.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [0])]))
    >>> start = cells.locate([-1]).index
    >>> maps = reconstruct(breakpoint_complex(cells), start, cells.region(start).affine_map)
    >>> sorted(str(found.matrix) for found in maps)
    ['[-1]', '[0]', '[1]']
    """
    breakpoints = expect_breakpoints(breakpoints)
    region = expect_integer(region, "region")
    affine_map = expect(
        affine_map, AffineMap, "affine_map", "cells.region(number).affine_map is one"
    )
    cells = breakpoints.cells
    require_complete(cells, "reconstruction")
    integers = breakpoints.integers
    shape = (integers.numerators.shape[1], cells.network.num_inputs)
    if affine_map.matrix.shape != shape or not 0 <= region < cells.num_regions:
        got = f"region {region} with a map of shape {affine_map.matrix.shape}"
        raise DomainError(
            f"a map of shape {shape} on one of the {cells.num_regions} regions is needed, not {got}"
        )
    sides, start = (
        (breakpoints.plus, breakpoints.minus),
        affine_map.matrix.beside(affine_map.offset),
    )
    tree = SearchTree.from_region(cells.num_regions, region, *sides)
    maps, wrong = checked_region_maps(sides, tree, integers.jumps(), start)
    if len(wrong):
        plus, minus = (int(side[wrong[0]]) for side in sides)
        raise DomainError(
            f"no function has these weights: they do not add up around the cell "
            f"{breakpoints.facets[wrong[0]]} between the regions {plus} and {minus}"
        )
    return AffineMaps(maps)


class AffineMaps(Sequence[AffineMap]):
    """The affine maps of all regions, by their numbers, each made when it is read.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [0])]))
    >>> maps = reconstruct(breakpoint_complex(cells), 0, cells.region(0).affine_map)
    >>> maps, maps[0] == cells.region(0).affine_map
    (<AffineMaps of 3 regions>, True)
    """

    def __init__(self, maps: RegionMaps) -> None:
        """Room-internal; use `reconstruct`."""
        self._maps = maps

    def __repr__(self) -> str:
        return f"<AffineMaps of {count_text([(len(self), 'region')])}>"

    def __len__(self) -> int:
        return int(self._maps.residues.shape[1])

    @overload
    def __getitem__(self, index: int) -> AffineMap: ...

    @overload
    def __getitem__(self, index: slice) -> list[AffineMap]: ...

    def __getitem__(self, index: int | slice) -> AffineMap | list[AffineMap]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        rows = as_objects(self._maps.first).copy()
        rows[:, self._maps.columns] = self._integers[index]
        augmented = RationalMatrix.from_integers(rows.tolist(), self._maps.denominator)
        inputs = augmented.ncols - 1
        return AffineMap(augmented.take(columns=range(inputs)), augmented.take(columns=[inputs]))

    @cached_property
    def _integers(self) -> NDArray[Any]:
        return self._maps.integers()
