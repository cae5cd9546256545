"""Cheap checks of a finished complex against itself: what must hold for every network, by other means than its making.

They do not prove a complex right, but nearly every mistake that loses, doubles or misplaces a cell breaks one of them.
"""

from __future__ import annotations

import numpy as np

from polyrelu.complex.engine.arrays import all_in_pairs
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.exact import LinearProgram, Polyhedron, Unbounded

__all__ = ["failed_checks"]

#: Regions at which the network is evaluated, spread over all.
_SAMPLES = 100


def failed_checks(cells: PolyhedralComplex) -> list[str]:
    """What is wrong with a complex, in words; nothing, unless there is a bug.

    * Euler: Σ (-1)^k f_k is (-1)^m for a domain that is bounded up to its m lines, and 0 for others.
    * Diamonds: two faces of a cell have dimension k - 1 and contain a given face of dimension k - 2 (faces at infinity
      included).
    * Up to 100 regions: the signs of the network at a point inside are those of the region, and the network's value
      there is that of its affine map (for a complete complex).

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> failed_checks(canonical_complex(from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])))
    []
    """
    found = (
        [] if _euler_holds(cells) else [f"the f-vector {cells.f_vector} violates Euler's relation"]
    )
    wrong = _first_wrong_diamond(cells)
    if wrong is not None:
        found.append(
            f"a cell of dimension {wrong} has a face of codimension 2 that is not in two of its facets"
        )
    step = -(-cells.regions // _SAMPLES)
    return found + [
        text for index in range(0, cells.regions, step) if (text := _wrong_at(cells, index))
    ]


def _euler_holds(cells: PolyhedralComplex) -> bool:
    expected: int = (
        0 if _has_rays(cells.domain) else 1 - 2 * (len(cells.domain.lineality_space()) % 2)
    )
    return sum(-count if k % 2 else count for k, count in enumerate(cells.f_vector)) == expected


def _has_rays(domain: Polyhedron) -> bool:
    """Whether the domain goes to infinity otherwise than along lines: whether a slack grows in its recession cone."""
    size = domain.ambient_dimension
    cone = LinearProgram(size)
    cone.add_inequalities([row[:-1] for row in domain.inequalities], [0] * len(domain.inequalities))
    cone.add_equations([row[:-1] for row in domain.equations], [0] * len(domain.equations))
    slack = [-sum(row[j] for row in domain.inequalities) for j in range(size)]
    return isinstance(cone.maximize(slack), Unbounded)


def _first_wrong_diamond(cells: PolyhedralComplex) -> int | None:
    """The dimension of cells where a face of codimension 2 is not in exactly two facets."""
    lattice = cells._arrays.lattice
    for k in range(2, lattice.dimension + 1):
        facets, counts = lattice.facets_of(k, np.arange(lattice.size(k)))
        owners = np.repeat(np.arange(len(counts)), counts)
        faces, face_counts = lattice.facets_of(k - 1, facets.astype(np.int64))
        codes = np.repeat(owners, face_counts) * np.int64(lattice.size(k - 2)) + faces
        codes.sort()
        if not all_in_pairs(codes):
            return k + cells.lineality_dim
    return None


def _wrong_at(cells: PolyhedralComplex, index: int) -> str:
    """What the network says about a region otherwise than the complex."""
    point = cells.interior_point(index)
    signs, expected = cells.network.sign_vector(point), cells.signs_of_region(index)
    for layer, known in zip(signs.layers, expected.layers, strict=True):
        if layer[: len(known)] != known:  # of an incomplete complex some signs are known
            return f"region {index} has other signs than the network at its point"
    if cells.complete and cells.network.affine_map(expected)(point) != cells.network(point):
        return f"region {index} has another affine map than the network"
    return ""
