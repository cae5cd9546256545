"""Cheap checks of a finished complex against identities that hold for every network.

`failed_checks` backs the option `--self-check` of the command line and the tests. The checks share
no code with the subdivision. They do not prove a complex right, but nearly every mistake that
loses, duplicates or misplaces a cell violates one of them.
"""

from __future__ import annotations

import numpy as np

from polyrelu.complex.engine.arrays import all_in_pairs
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.exact import LinearProgram, Polyhedron, Unbounded

__all__ = ["failed_checks"]

#: Maximum number of regions at which the network is evaluated, spread evenly over all regions.
_SAMPLED_REGIONS = 100


def failed_checks(cells: PolyhedralComplex) -> list[str]:
    """Return the violated identities of a complex as texts.

    * Euler's relation: Σ (-1)^k f_k is (-1)^m for a domain that is the sum of a polytope and an
      m-dimensional linear space, and 0 for other domains.
    * Diamonds: a face of codimension 2 of a cell lies in exactly two facets of the cell, faces at
      infinity included.
    * At a point inside each of up to 100 regions, the signs of the network are the signs of the
      region, and the value of the network is the value of the affine map of the region (for a
      complete complex).

    Parameters
    ----------
    cells
        A complex, an incomplete one too.

    Returns
    -------
    list of str
        A text for each violated identity; an empty list unless polyrelu has a bug.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> failed_checks(canonical_complex(net))
    []
    """
    cells = expect_complex(cells)
    found = (
        [] if _euler_holds(cells) else [f"the f-vector {cells.f_vector} violates Euler's relation"]
    )
    wrong = _first_wrong_diamond(cells)
    if wrong is not None:
        found.append(
            f"a cell of dimension {wrong} has a face of codimension 2 "
            "that is not in two of its facets"
        )
    step = -(-cells.num_regions // _SAMPLED_REGIONS)
    return found + [
        text for index in range(0, cells.num_regions, step) if (text := _wrong_at(cells, index))
    ]


def _euler_holds(cells: PolyhedralComplex) -> bool:
    is_odd = len(cells.domain.lineality_space()) % 2
    expected = 0 if _has_rays(cells.domain) else 1 - 2 * is_odd
    return sum(-count if k % 2 else count for k, count in enumerate(cells.f_vector)) == expected


def _has_rays(domain: Polyhedron) -> bool:
    """Whether the recession cone of the domain has directions that are no lines.

    That is so if and only if the sum of the slacks of the inequalities can grow in the cone.
    """
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
    """How the network contradicts the complex at a point inside a region; "" if it does not."""
    point = cells.interior_point(index)
    signs, expected = cells.network.sign_vector(point), cells.signs_of_region(index)
    for layer, known in zip(signs.layers, expected.layers, strict=True):
        if layer[: len(known)] != known:  # an incomplete complex knows the first neurons only
            return f"region {index} has other signs than the network at its point"
    if cells.complete and cells.network.affine_map(expected)(point) != cells.network(point):
        return f"region {index} has another affine map than the network"
    return ""
