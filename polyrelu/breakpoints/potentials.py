"""Affine maps of all regions from one of them and the jumps between neighbouring regions.

Across a cell of codimension 1 the affine map changes by its jump, so a breadth-first search from
region to region computes all maps. A domain is convex, so the search reaches every region. The
integers are added as int64 or modulo primes (`polyrelu.exact.residues`): no map has entries larger
than the first map plus the largest jump for each level of the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.breakpoints.integer_weights import Jumps, fractions_over
from polyrelu.exact import RationalMatrix
from polyrelu.exact.integer_arrays import as_objects, largest
from polyrelu.exact.matrix import integers_over
from polyrelu.exact.residues import Digits, Residues
from polyrelu.support.typing import Indices, Mask, Signs

__all__ = ["RegionMaps", "SearchTree", "TermRows", "checked_region_maps", "region_maps"]

#: Approximate number of entries of temporary arrays, so that they stay in the cache.
_ENTRIES_AT_A_TIME = 1 << 18


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Level:
    """A level of a breadth-first search; arrays with an entry for each region that it finds.

    Attributes
    ----------
    regions
        The regions found.
    sources
        The regions of the level before from which they are found.
    cells
        The positions of the cells of codimension 1 that are crossed.
    signs
        1 if the region found is on the side `plus` of the cell, else -1.
    """

    regions: Indices
    sources: Indices
    cells: Indices
    signs: Signs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SearchTree:
    """A breadth-first search through the regions.

    Attributes
    ----------
    num_regions, root
        The number of regions, and the one where the search starts.
    levels
        The levels after the root.
    cells
        The positions of the cells that are crossed, level by level.
    """

    num_regions: int
    root: int
    levels: list[_Level]
    cells: Indices

    @classmethod
    def from_region(cls, num_regions: int, root: int, plus: Indices, minus: Indices) -> SearchTree:
        """Search from a region; neighbours are visited in the order of the cells between them."""
        levels = _levels(num_regions, root, plus, minus)
        none = np.zeros(0, dtype=np.int64)
        return cls(num_regions, root, levels, np.concatenate([none, *(x.cells for x in levels)]))

    def add_up(self, system: Residues, maps: NDArray[Any], steps: NDArray[Any]) -> None:
        """Write the maps of all regions, shape (K, regions, …); the map of the root is known.

        The steps across `cells` have the shape (K, regions - 1, …), and may be products.
        """
        start = 0
        for level in self.levels:
            stop = start + len(level.cells)
            found = steps[:, start:stop] * level.signs[:, None, None]
            found += np.take(maps, level.sources, axis=1)
            maps[:, level.regions] = system.reduced(found)
            start = stop

    def representatives(self, is_unchanged: Mask) -> Indices:
        """Return for each region the earliest one of the search with the same map.

        Parameters
        ----------
        is_unchanged
            For each of `cells` whether nothing changes across it.

        Returns
        -------
        Indices
            The region from which nothing changes on the way of the search, shape (regions,).
        """
        found = np.arange(self.num_regions)
        start = 0
        for level in self.levels:
            stop = start + len(level.cells)
            same = is_unchanged[start:stop]
            found[level.regions[same]] = found[level.sources[same]]
            start = stop
        return found


def _levels(num_regions: int, root: int, plus: Indices, minus: Indices) -> list[_Level]:
    """Search from a region; neighbours are visited in the order of the cells between them."""
    num_ends = 2 * len(plus)
    ends = np.stack([plus, minus], axis=1).ravel()
    keys = ends * max(num_ends, 1) + np.arange(num_ends)
    keys.sort()
    cells, side = np.divmod(keys % max(num_ends, 1), 2)
    neighbours = np.where(side == 0, minus[cells], plus[cells])
    counts = np.bincount(ends, minlength=num_regions)
    starts = np.cumsum(counts) - counts
    found, first = np.zeros(num_regions, dtype=bool), np.empty(num_regions, dtype=np.int64)
    found[root] = True
    front, levels = np.array([root]), list[_Level]()
    while len(front):
        each = counts[front]
        edges = np.repeat(starts[front] - np.cumsum(each) + each, each)
        edges += np.arange(len(edges))
        sources, fresh = np.repeat(front, each), ~found[neighbours[edges]]
        edges, sources = edges[fresh], sources[fresh]
        new = neighbours[edges]
        # Of several assignments to one place the last one stays: here, the first edge.
        first[new[::-1]] = np.arange(len(new))[::-1]
        chosen = np.flatnonzero(first[new] == np.arange(len(new)))
        front, edges = new[chosen], edges[chosen]
        found[front] = True
        signs = (2 * side[edges] - 1).astype(np.int8)
        levels.append(_Level(front, sources[chosen], cells[edges], signs))
    return levels


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegionMaps:
    """The affine maps [A | c] of all regions.

    Only some columns differ from map to map: on a plane in a space of many dimensions, only three.

    Attributes
    ----------
    system, residues
        The numerators in these columns as residues, shape (K, regions, m, number of columns).
    columns
        The numbers of these columns.
    first
        The numerators of the map of the root, shape (m, n_0 + 1).
    denominator
        The positive denominator of all.
    """

    system: Residues
    residues: NDArray[Any]
    columns: Indices
    first: NDArray[Any]
    denominator: int

    def integers(self) -> NDArray[Any]:
        """Return the numerators in `columns`, shape (regions, m, number of columns)."""
        return self.system.integers(self.residues)

    def of_output(self, regions: Indices, output: int) -> Digits:
        """Return the numerators in `columns` of an output, shape (k, number of columns)."""
        return self.system.digits(self.residues[:, regions, output])

    def rows(self, numerators: Digits, output: int) -> TermRows:
        """Return rows of an output from their numerators in `columns`."""
        return TermRows(numerators, self.columns, self.first[output], self.denominator)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TermRows:
    """Rows of n_0 + 1 fractions that are equal in all but some columns.

    Attributes
    ----------
    numerators
        The numerators in these columns, shape (k, number of columns).
    columns
        The numbers of these columns.
    first
        The numerators in all columns of one row, shape (n_0 + 1,).
    denominator
        The positive denominator of all.
    """

    numerators: Digits
    columns: Indices
    first: NDArray[Any]
    denominator: int

    def __len__(self) -> int:
        return len(self.numerators)

    def integers(self) -> NDArray[np.object_]:
        """Return the numerators of the rows, shape (k, n_0 + 1)."""
        found = np.empty((len(self), len(self.first)), dtype=object)
        found[:] = as_objects(self.first)
        found[:, self.columns] = self.numerators.integers()
        return found

    def fractions(self) -> NDArray[np.object_]:
        """Return the rows, shape (k, n_0 + 1)."""
        found = np.empty((len(self), len(self.first)), dtype=object)
        found[:] = fractions_over(self.first, self.denominator)
        found[:, self.columns] = fractions_over(self.numerators.integers(), self.denominator)
        return found


def region_maps(
    tree: SearchTree, jumps: Jumps, start: RationalMatrix, largest_change: Fraction
) -> RegionMaps:
    """Compute the maps of all regions from one of them, for weights of a function.

    Parameters
    ----------
    tree
        A search from a region.
    jumps
        The changes of the map across the cells of the tree, in their order.
    start
        The rows [A | c] of the map on the root.
    largest_change
        A number that no entry of the difference of two maps exceeds.
    """
    first, jumps = _over_one_denominator(start, jumps)
    bound = largest(first) + math.ceil(largest_change * jumps.denominator)
    bound = max(bound, largest(jumps.factors), largest(jumps.rows))
    maps = _Maps(tree, first, jumps, bound)
    for part, residues in maps.parts(len(jumps)):
        maps.fill(part, residues)
    return maps.result(jumps.denominator)


def checked_region_maps(
    sides: tuple[Indices, Indices], tree: SearchTree, jumps: Jumps, start: RationalMatrix
) -> tuple[RegionMaps, Indices]:
    """Compute the maps of all regions from one of them, and compare them at all cells.

    Parameters
    ----------
    sides
        The regions on the sides `plus` and `minus` of all cells of codimension 1.
    tree
        A search from a region.
    jumps
        The changes of the map across all cells.
    start
        The rows [A | c] of the map on the root.

    Returns
    -------
    tuple
        The maps, and the positions of the cells at which the maps on both sides do not differ by
        the jump.
    """
    first, jumps = _over_one_denominator(start, jumps)
    bound = largest(first) + len(tree.levels) * jumps.largest()
    maps = _Maps(tree, first, jumps.at(tree.cells), 2 * bound + jumps.largest())
    unused = np.ones(len(jumps), dtype=bool)
    unused[tree.cells] = False
    others = np.flatnonzero(unused)
    plus, minus = (side[others] for side in sides)
    wrong = np.zeros(len(others), dtype=bool)
    factors = maps.system.of(jumps.factors[others])
    for part, residues in maps.parts(len(jumps)):
        found = maps.fill(part, residues)
        error = np.take(found, plus, axis=1)
        error -= np.take(found, minus, axis=1)
        error -= maps.steps(part, factors, jumps.which[others])
        wrong |= ~residues.vanish(error).all(axis=(1, 2))
    return maps.result(jumps.denominator), others[wrong]


class _Maps:
    """The residues of the maps of all regions, computed for some of the primes at a time."""

    def __init__(self, tree: SearchTree, first: NDArray[Any], jumps: Jumps, bound: int) -> None:
        self._tree, self._which, self._map = tree, jumps.which, first
        self._columns = np.flatnonzero((jumps.rows != 0).any(axis=0))
        self.system = Residues.for_entries(bound)
        self._first = self.system.of(first[:, self._columns])
        self._factors = self.system.of(jumps.factors)
        self._rows = self.system.of(jumps.rows[:, self._columns])
        shape = (len(self.system), tree.num_regions, *self._first.shape[1:])
        self.found = np.empty(shape, dtype=self._first.dtype)

    def result(self, denominator: int) -> RegionMaps:
        """Return the maps over their denominator, when all primes are done."""
        return RegionMaps(self.system, self.found, self._columns, self._map, denominator)

    def parts(self, num_cells: int) -> Iterator[tuple[slice, Residues]]:
        """Generate the primes in parts that keep temporary arrays small."""
        return self.system.parts(max(num_cells, 1) * self._first[0].size, _ENTRIES_AT_A_TIME)

    def steps(self, part: slice, factors: NDArray[Any], which: Indices) -> NDArray[Any]:
        """Return the changes of the map across cells, from the residues of their factors.

        They are not reduced, and a residue may be added to them.
        """
        rows = np.take(self._rows[part], which, axis=1)
        return np.asarray(factors[part][..., None] * rows[:, :, None])

    def fill(self, part: slice, residues: Residues) -> NDArray[Any]:
        """Compute the maps modulo some of the primes, and return them."""
        maps = self.found[part]
        maps[:, self._tree.root] = self._first[part]
        steps = self.steps(part, self._factors, self._which)
        self._tree.add_up(residues, maps, steps)
        return maps


def _over_one_denominator(start: RationalMatrix, jumps: Jumps) -> tuple[NDArray[Any], Jumps]:
    """Return the first map and the jumps as integers over the denominator of the latter."""
    common = math.lcm(jumps.denominator, start.denominator)
    return integers_over(start, common), jumps.times(common // jumps.denominator)
