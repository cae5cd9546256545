"""The cellular chain complex of a subcomplex: its bounded cells and their incidence numbers ±1.

Up to the lineality space of the whole complex, the union of the bounded cells of a subcomplex K is
homotopy equivalent to the union of all cells of K, so the unbounded cells are left out. The bounded
cells form a regular CW complex, and its homology is the homology of the chain complex with one
generator for each bounded cell and ∂C = Σ [C : F] F over the facets F of C.

Incidence numbers are determined, up to the orientation of cells, by [e : v] + [e : w] = 0 for the
ends of an edge and [C : F] [F : R] + [C : F'] [F' : R] = 0 for the two facets F, F' of C that
contain a face R of codimension 2. So one sign for each cell determines the others.

Boundedness needs no coordinates: an edge is bounded iff it has two vertices, and a polyhedron of
dimension at least 2 without lines is bounded iff its facets are. The proofs stand in
docs/theory/topology.md, sections "Bounded cells suffice" and "Incidence numbers".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.complex import Subcomplex
from polyrelu.errors import DomainError
from polyrelu.support.typing import Indices, Mask, Signs

__all__ = ["Boundary", "cellular_chains"]


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """The boundary map from the cells of one dimension to the cells of the dimension below.

    Attributes
    ----------
    rows
        The number of cells of the dimension below; 0 for the lowest dimension.
    offsets
        The facets of cell i have the positions offsets[i] to offsets[i + 1], shape (columns + 1,).
    facets
        The facets F of the cells C, one cell after the other, shape (offsets[-1],).
    signs
        The incidence numbers [C : F], shape (offsets[-1],).
    """

    rows: int
    offsets: Indices
    facets: Indices
    signs: Signs

    @property
    def columns(self) -> int:
        """The number of cells."""
        return len(self.offsets) - 1


def cellular_chains(part: Subcomplex) -> list[Boundary]:
    """Compute the boundary maps of the cells that are bounded up to lines, by ascending dimension.

    Parameters
    ----------
    part
        A subcomplex, of a complex with or without lines.

    Returns
    -------
    list of Boundary
        One map for each dimension from `lineality_dim` to `dimension` of the whole complex; the
        first map goes to zero.

    Raises
    ------
    DomainError
        The subcomplex lacks a face of one of its cells.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> points, edges = cellular_chains(Subcomplex.closure(cells, {1: np.ones(3, dtype=bool)}))
    >>> points.columns, edges.columns, sorted(edges.signs.tolist())
    (2, 1, [-1, 1])
    """
    cells, lowest = part.cells, part.cells.lineality_dim
    count = int(part.masks[lowest].sum())
    nothing = np.zeros(0, dtype=np.int64)
    chains = [Boundary(0, np.zeros(count + 1, dtype=np.int64), nothing, nothing.astype(np.int8))]
    numbers = _numbers(part.masks[lowest])
    for k in range(lowest + 1, cells.dimension + 1):
        offsets, entries = cells.facets(k)
        mask = part.masks[k]
        inside = np.repeat(mask, np.diff(offsets))
        if not part.masks[k - 1][entries[inside]].all():
            raise DomainError(
                "no subcomplex: a cell without one of its faces; Subcomplex.closure adds the faces"
            )
        mask = mask & _bounded(k - lowest, offsets, numbers[entries] >= 0)
        inside = np.repeat(mask, np.diff(offsets))
        starts = np.concatenate([[0], np.cumsum(np.diff(offsets)[mask])])
        chains.append(_oriented(chains[-1], starts, numbers[entries[inside]]))
        numbers = _numbers(mask)
    return chains


def _numbers(mask: Mask) -> Indices:
    """The position of every marked cell among the marked ones, and -1 for the others."""
    return np.where(mask, np.cumsum(mask) - 1, -1)


def _bounded(k: int, offsets: Indices, facet_is_bounded: Mask) -> Mask:
    """Return which cells are bounded.

    Parameters
    ----------
    k
        The dimension of the cells modulo lines.
    offsets
        The facets of cell i have the positions offsets[i] to offsets[i + 1].
    facet_is_bounded
        Whether the facet at each position is bounded. Each cell has at least one facet.
    """
    if k == 1:
        two: Mask = np.diff(offsets) == 2
        return two
    all_of_them: Mask = np.logical_and.reduceat(facet_is_bounded, offsets[:-1])
    return all_of_them


def _oriented(below: Boundary, offsets: Indices, facets: Indices) -> Boundary:
    """The boundary map of bounded cells with these facets, from the boundary map of the facets."""
    if not len(below.facets):  # the cells are edges, and their facets are vertices
        signs = np.tile(np.array([-1, 1], dtype=np.int8), len(facets) // 2)
        return Boundary(below.columns, offsets, facets, signs)
    signs = np.zeros(len(facets), dtype=np.int8)
    signs[offsets[:-1]] = 1
    _propagate(signs, *_diamonds(below, offsets, facets))
    return Boundary(below.columns, offsets, facets, signs)


def _diamonds(below: Boundary, offsets: Indices, facets: Indices) -> tuple[Indices, Indices, Signs]:
    """Return the pairs of facets F, F' of a cell C that contain a face R of codimension 2.

    Returns
    -------
    tuple
        The positions of F, the positions of F', and the products
        [C : F] [C : F'] = -[F : R] [F' : R].
    """
    counts = np.diff(below.offsets)[facets]
    places = np.repeat(np.arange(len(facets)), counts)
    starts = below.offsets[facets] - (np.cumsum(counts) - counts)
    steps = np.repeat(starts, counts) + np.arange(len(places))
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.argsort(owners[places] * below.rows + below.facets[steps], kind="stable")
    places, signs = places[order], below.signs[steps[order]]
    return places[::2], places[1::2], -signs[::2] * signs[1::2]


def _propagate(signs: Signs, first: Indices, second: Indices, products: Signs) -> None:
    """Fill in the signs that are 0 from the others, given the products of pairs of signs."""
    while len(first):
        known = signs[first], signs[second]
        forward, backward = known[0] != 0, known[1] != 0
        signs[second[forward]] = known[0][forward] * products[forward]
        signs[first[backward]] = known[1][backward] * products[backward]
        rest = ~(forward | backward)
        if rest.all():
            raise AssertionError("the facets of a polytope are connected")
        first, second, products = first[rest], second[rest], products[rest]
