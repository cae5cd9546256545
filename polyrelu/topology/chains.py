"""The cellular chain complex of a subcomplex: which of its cells count, and their incidence numbers ±1.

**Which cells count.** Let K be a set of closed cells that contains the faces of its cells, |K| their union, L the
lineality space of the whole complex. Every cell is a sum C + L with C in a complement of L and without lines, so
|K| ≅ (|K| ∩ complement) × L, and L is contractible: let L = 0, and every cell a polyhedron without lines. Then **the
union |B| of the bounded cells of K is a deformation retract of |K|, up to homotopy: the inclusion |B| ⊂ |K| is a
homotopy equivalence.**

*Proof.* Faces of bounded cells are bounded, so B is a subcomplex. Let K_k and B_k be the cells of dimension at most k.
Relative interiors of different cells are disjoint, so a cell C of dimension k meets |K_{k-1}| in its relative boundary
∂C, and |K_k| is |K_{k-1}| with the cells of dimension k glued in along their boundaries (finitely many closed sets, so
the topologies agree). ∂C ⊂ C is a cofibration, as C can be triangulated with ∂C as a subcomplex.

* An unbounded C of dimension k ≥ 1 changes nothing: C and ∂C are contractible, so gluing C in along ∂C is a homotopy
  equivalence. C is convex. As for ∂C: let R be the cone of its directions to infinity, R ≠ 0, and p a point of the
  relative interior. The ray from p in the direction u of the unit sphere S^{k-1} meets ∂C once if u ∉ R and never if
  u ∈ R, and so ∂C is homeomorphic to S^{k-1} \\ R. Take a unit vector r in R. For u ∉ R and 0 ≤ t < 1 the vector
  (1 - t) u - t r is not in R, since otherwise (1 - t) u, the sum of it and t r, were in R; nor is it 0, which is in
  R; and -r is not in R, because C has no lines. So u ↦ (1 - t) u - t r, divided by its length, contracts S^{k-1} \\ R
  to the point -r.
* Suppose |B_{k-1}| ⊂ |K_{k-1}| is a homotopy equivalence. Glue the bounded cells of dimension k to both sides: again
  one, |B_k| ⊂ |K_{k-1}| ∪ |B_k|, by the gluing lemma. Gluing in the unbounded cells is one as well. For k = 0 all cells
  are bounded. ∎

A bounded cell of dimension k is a ball that is glued in along its boundary sphere, so |B| is a regular CW complex, and
its homology is that of the chain complex with one generator for each cell of B and ∂C = Σ [C : F] F over the facets F
of C, [C : F] = ±1.

**Incidence numbers** of a regular CW complex are, up to the orientation of cells, the only numbers ±1 with
[e : v] + [e : w] = 0 for the ends of an edge, and [C : F] [F : R] + [C : F'] [F' : R] = 0 for the two facets F, F'
of C that contain a face R of codimension 2 (Massey, *A Basic Course in Algebraic Topology*, chapter IX, theorem 7.2).
Any two facets of a polytope of dimension at least 2 are joined by a chain of facets that share such faces, so one sign
for each cell determines the others.

**Bounded, without coordinates.** An edge is bounded iff it has two vertices. A polyhedron of dimension at least 2
without lines is bounded iff its facets are: if it is not, an extreme ray of its cone of directions is the direction of
one of its unbounded edges, which lies in a facet.
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
    """The boundary map from the cells of one dimension to those of the dimension below.

    Attributes
    ----------
    rows : the number of cells of the dimension below; 0 for the lowest dimension.
    offsets : the facets of cell i are at the places offsets[i] to offsets[i + 1], shape (number of cells + 1,).
    facets, signs : the facets F of the cells C, and [C : F], shape (offsets[-1],).
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
    """The boundary maps of the cells that are bounded up to lines, in ascending order of their dimension.

    Parameters
    ----------
    part : a subcomplex, of a complex with lines or without.

    Returns
    -------
    One map for each dimension from `lineality_dim` to `dimension` of the whole complex, the first of them to nothing.

    Raises
    ------
    DomainError : the faces of a cell are missing.

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
    """The position of every marked cell among the marked ones, -1 for the others."""
    return np.where(mask, np.cumsum(mask) - 1, -1)


def _bounded(k: int, offsets: Indices, facet_is_bounded: Mask) -> Mask:
    """Which cells of inner dimension k are bounded; each has a facet that is not at infinity."""
    if k == 1:
        two: Mask = np.diff(offsets) == 2
        return two
    all_of_them: Mask = np.logical_and.reduceat(facet_is_bounded, offsets[:-1])
    return all_of_them


def _oriented(below: Boundary, offsets: Indices, facets: Indices) -> Boundary:
    """The incidence numbers of bounded cells with these facets, from those of the facets."""
    if not len(below.facets):  # of edges: their ends are vertices
        signs = np.tile(np.array([-1, 1], dtype=np.int8), len(facets) // 2)
        return Boundary(below.columns, offsets, facets, signs)
    signs = np.zeros(len(facets), dtype=np.int8)
    signs[offsets[:-1]] = 1
    _propagate(signs, *_diamonds(below, offsets, facets))
    return Boundary(below.columns, offsets, facets, signs)


def _diamonds(below: Boundary, offsets: Indices, facets: Indices) -> tuple[Indices, Indices, Signs]:
    """For every cell C and every face R of codimension 2 of it: the places of the two facets F, F' between them, and
    [C : F] [C : F'] = -[F : R] [F' : R]."""
    counts = np.diff(below.offsets)[facets]
    places = np.repeat(np.arange(len(facets)), counts)
    starts = below.offsets[facets] - (np.cumsum(counts) - counts)
    steps = np.repeat(starts, counts) + np.arange(len(places))
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.argsort(owners[places] * below.rows + below.facets[steps], kind="stable")
    places, signs = places[order], below.signs[steps[order]]
    return places[::2], places[1::2], -signs[::2] * signs[1::2]


def _propagate(signs: Signs, first: Indices, second: Indices, products: Signs) -> None:
    """Fill in the signs that are 0 from those that are not, given the products of pairs of them."""
    while len(first):
        known = signs[first], signs[second]
        forward, backward = known[0] != 0, known[1] != 0
        signs[second[forward]] = known[0][forward] * products[forward]
        signs[first[backward]] = known[1][backward] * products[backward]
        rest = ~(forward | backward)
        if rest.all():
            raise AssertionError("the facets of a polytope are connected")
        first, second, products = first[rest], second[rest], products[rest]
