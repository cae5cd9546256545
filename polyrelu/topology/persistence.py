"""Persistent homology of the sublevel and superlevel sets of an output on a bounded domain, with exact values.

Let f be an output, affine on every cell of the canonical complex K of a bounded domain; all cells are polytopes. Let
K_t be the cells on all of which f ≤ t, that is, at all of whose vertices: the *lower-star filtration*.

**The inclusions |K_t| ⊂ {f ≤ t} are homotopy equivalences.** *Proof.* {f ≤ t} is the union of the polytopes
C_t = C ∩ {f ≤ t} over the cells C. A point x of it in the relative interior of C is in |K_t| if max f|C ≤ t. Otherwise
f is not constant on C and takes its minimum at no inner point, so min f|C < f(x) ≤ t < max f|C: call such a cell *cut*.
For a cut C of dimension k, T_C = C ∩ {f = t} has dimension k - 1 and is a facet of C_t, and inner points of it are
inner points of C. Go through the cut cells from high dimensions to low ones and remove the relative interiors of C_t
and T_C. When it is the turn of C, T_C is a face of C_t and otherwise of polytopes D_t and T_D for cells D that contain
C only; f is above and below t on these, so they are cut, and D_t and T_D are gone. So T_C is a free face of C_t, and
removing both is an elementary collapse, a deformation retraction. In the end |K_t| is left. ∎

For s ≤ t these inclusions commute with |K_s| ⊂ |K_t| and {f ≤ s} ⊂ {f ≤ t}, so both filtrations have the same
persistent homology.

**Simplices.** gudhi wants simplices. Number the vertices; the *pulling triangulation* of a cell joins its first vertex
v with the triangulations of the facets that do not contain v. On a face it is the pulling triangulation of the face,
so the triangulations fit together, and they have no new vertices. f is affine on the simplices, so that the theorem
holds for them too, with the same sets {f ≤ t}.

**Exact values.** Persistence depends on the order of the values alone. gudhi is given floats: the rank of each value
among all values at vertices, a small integer. Births and deaths are translated back.

f ≥ t is -f ≤ -t: the superlevel filtration runs from high values to low ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, affine_map_table
from polyrelu.support.progress import Progress
from polyrelu.topology.homology import is_characteristic
from polyrelu.topology.level_sets import UnfinishedError, output_row

__all__ = ["PersistenceInterval", "sublevel_persistence", "superlevel_persistence"]

Simplex = tuple[int, ...]

#: The largest field of coefficients that gudhi takes.
_LARGEST_PRIME = 46337


@dataclass(frozen=True, slots=True)
class PersistenceInterval:
    """A class of persistent homology.

    Attributes
    ----------
    dimension : of the homology group.
    birth : the level at which the class appears.
    death : the level at which it becomes a sum of older ones; None if it never does.
    """

    dimension: int
    birth: Fraction
    death: Fraction | None


def sublevel_persistence(
    network: Network,
    domain: Polyhedron,
    output: int = 0,
    characteristic: int = 2,
    progress: Progress | None = None,
) -> tuple[PersistenceInterval, ...]:
    """Persistent homology of the sets where an output is at most t, for ascending t.

    Parameters
    ----------
    network : any network.
    domain : a bounded polyhedron.
    output : which output, from 0.
    characteristic : of the field of coefficients GF(p), a prime p of at most 46337 (the largest that gudhi takes).
    progress : as for `canonical_complex`.

    Returns
    -------
    The intervals that are not empty, [birth, death), by dimension, birth and death, those without death last.

    Raises
    ------
    DomainError : the domain is unbounded, or there is no such output or field; `UnfinishedError` after Ctrl-C.
    PolyreluError : the package gudhi is missing.

    >>> import pytest
    >>> _ = pytest.importorskip("gudhi")
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [1]], [2, 0, -1]), ([[1, -3, 4]], [-2])])
    >>> for interval in sublevel_persistence(net, Polyhedron.box([-3], [3])):
    ...     print(interval.dimension, interval.birth, interval.death)
    0 -2 0
    0 -2 None
    """
    return _persistence(network, domain, output, characteristic, progress, 1)


def superlevel_persistence(
    network: Network,
    domain: Polyhedron,
    output: int = 0,
    characteristic: int = 2,
    progress: Progress | None = None,
) -> tuple[PersistenceInterval, ...]:
    """Persistent homology of the sets where an output is at least t, for descending t: births are above deaths.

    Parameters, results and errors are those of `sublevel_persistence`; births descend.
    """
    return _persistence(network, domain, output, characteristic, progress, -1)


def _persistence(
    network: Network,
    domain: Polyhedron,
    output: int,
    characteristic: int,
    progress: Progress | None,
    sign: int,
) -> tuple[PersistenceInterval, ...]:
    output_row(network, output)
    tree = _empty_tree(characteristic)
    if not isinstance(domain, Polyhedron) or not domain.is_bounded():
        raise DomainError(
            "persistent homology: needs a bounded polyhedron as domain, such as a box from -1000 to 1000"
        )
    cells = canonical_complex(network, domain, progress)
    if not cells.complete:
        raise UnfinishedError("the complex is incomplete: the outputs are not affine on its cells")
    values = [sign * value for value in _at_vertices(cells, output)]
    known = sorted(set(values))
    ranks = {value: rank for rank, value in enumerate(known)}
    _fill(tree, _simplices(cells), [ranks[value] for value in values])
    pairs = tree.persistence(
        homology_coeff_field=characteristic, min_persistence=0, persistence_dim_max=True
    )
    found = [
        (k, int(birth), None if death == float("inf") else int(death))
        for k, (birth, death) in pairs
    ]
    found.sort(key=lambda pair: (pair[0], pair[1], len(known) if pair[2] is None else pair[2]))
    return tuple(
        PersistenceInterval(
            dimension, sign * known[birth], None if death is None else sign * known[death]
        )
        for dimension, birth, death in found
    )


def _empty_tree(characteristic: int) -> Any:
    """A simplex tree of gudhi, if that is installed and takes the field."""
    try:
        import gudhi
    except ImportError:
        raise PolyreluError(
            "persistent homology needs the package gudhi (the extra [topology]): pip install 'polyrelu[topology]'"
        ) from None
    if (
        characteristic == 0
        or not is_characteristic(characteristic)
        or characteristic > _LARGEST_PRIME
    ):
        raise DomainError(
            f"persistent homology: {str(characteristic)[:40]} is not a prime of at most {_LARGEST_PRIME}"
        )
    return gudhi.SimplexTree()


def _at_vertices(cells: PolyhedralComplex, output: int) -> list[Fraction]:
    """The values of an output at all vertices, each by the affine map of a region around it."""
    regions = np.arange(cells.regions)
    for k in range(cells.dimension, 0, -1):
        offsets, facets = cells.facets(k)
        below = np.zeros(cells.size(k - 1), dtype=np.int64)
        below[facets] = np.repeat(regions, np.diff(offsets))
        regions = below
    denominator, maps = affine_map_table(cells.network, cells.signs(cells.dimension) > 0)
    values = []
    for index, (*row, constant) in enumerate(maps[regions, output].tolist()):
        total = sum(
            (a * x for a, x in zip(row, cells.vertex(index), strict=True)), Fraction(constant)
        )
        values.append(total / denominator)
    return values


def _simplices(cells: PolyhedralComplex) -> list[Simplex]:
    """The simplices of full dimension of the pulling triangulations of the regions of a bounded complex."""
    first = np.arange(cells.size(0))
    below: list[list[Simplex]] = [[(vertex,)] for vertex in first.tolist()]
    for k in range(1, cells.dimension + 1):
        offsets, facets = cells.facets(k)
        least = np.minimum.reduceat(first[facets], offsets[:-1])
        apart = first[facets] != np.repeat(
            least, np.diff(offsets)
        )  # the facets without the first vertex
        below = [
            [
                (vertex, *simplex)
                for facet in facets[start:end][apart[start:end]].tolist()
                for simplex in below[facet]
            ]
            for vertex, start, end in zip(
                least.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True
            )
        ]
        first = least
    return [simplex for simplices in below for simplex in simplices]


def _fill(tree: Any, simplices: list[Simplex], ranks: list[int]) -> None:
    """Insert simplices and their faces, each with the largest rank of its vertices."""
    vertices = np.array(simplices, dtype=np.int32).T
    tree.insert_batch(vertices, np.full(vertices.shape[1], -1.0))
    for vertex, rank in enumerate(ranks):
        tree.assign_filtration([vertex], float(rank))
    tree.make_filtration_non_decreasing()
