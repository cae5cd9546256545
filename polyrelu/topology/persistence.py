"""Persistent homology of the sublevel and superlevel sets of an output on a bounded domain.

An output is affine on every cell of the canonical complex of a bounded domain, so the lower-star
filtration of the complex (a cell enters at the largest value at its vertices) has the persistent
homology of the sublevel sets. gudhi computes it on the *pulling triangulations* of the cells, which
join the first vertex of a cell with the triangulations of the facets that do not contain it.

Births and deaths are exact, because gudhi receives only the rank of each value among the values at
all vertices, a small integer, and the results are translated back. The superlevel sets of f are
the sublevel sets of -f. The proofs stand in docs/theory/topology.md, section "Persistent
homology".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import format_rational
from polyrelu.formats.arguments import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import affine_map_table
from polyrelu.support.display import bracketed
from polyrelu.support.progress import Progress
from polyrelu.topology.homology import is_characteristic
from polyrelu.topology.level_sets import UnfinishedError, output_row

__all__ = ["PersistenceInterval", "sublevel_persistence", "superlevel_persistence"]

#: The vertices of a simplex.
Simplex = tuple[int, ...]

#: The largest characteristic of a field of coefficients that gudhi accepts.
_LARGEST_PRIME = 46337


@dataclass(frozen=True, slots=True, repr=False)
class PersistenceInterval:
    """The interval of levels at which a class of persistent homology exists.

    Attributes
    ----------
    dimension
        The dimension of the homology group.
    birth
        The level at which the class appears.
    death
        The level at which the class becomes a sum of older ones; None if it never does.

    Examples
    --------
    >>> PersistenceInterval(0, Fraction(-2), None)
    <PersistenceInterval, H_0 from -2 on>
    """

    dimension: int
    birth: Fraction
    death: Fraction | None

    def __str__(self) -> str:
        end = "on" if self.death is None else f"to {format_rational(self.death)}"
        return f"H_{self.dimension} from {format_rational(self.birth)} {end}"

    def __repr__(self) -> str:
        return bracketed(f"PersistenceInterval, {self}")


def sublevel_persistence(
    network: NetworkLike,
    domain: DomainLike,
    *,
    output: int = 0,
    characteristic: int = 2,
    progress: Progress | None = None,
) -> tuple[PersistenceInterval, ...]:
    """Compute persistent homology of the sets where an output is at most t, for ascending t.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    domain
        A bounded polyhedron in R^{n_0}, or text like "box:-1,1".
    output
        The number of the output, from 0.
    characteristic
        The characteristic of the field of coefficients GF(p), a prime of at most 46337 (the
        largest that gudhi accepts).
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    tuple of PersistenceInterval
        The nonempty intervals [birth, death), by dimension, birth and death; intervals without a
        death come last.

    Raises
    ------
    DomainError
        The domain is unbounded, or there is no such output or field.
    UnfinishedError
        Ctrl-C interrupted the computation.
    PolyreluError
        The package gudhi is not installed.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("gudhi")
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [1]], [2, 0, -1]), ([[1, -3, 4]], [-2])])
    >>> for interval in sublevel_persistence(net, "box:-3,3"):
    ...     print(interval.dimension, interval.birth, interval.death)
    0 -2 0
    0 -2 None
    """
    return _persistence(network, domain, output, characteristic, progress, 1)


def superlevel_persistence(
    network: NetworkLike,
    domain: DomainLike,
    *,
    output: int = 0,
    characteristic: int = 2,
    progress: Progress | None = None,
) -> tuple[PersistenceInterval, ...]:
    """Compute persistent homology of the sets where an output is at least t, for descending t.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    domain
        A bounded polyhedron in R^{n_0}, or text like "box:-1,1".
    output
        The number of the output, from 0.
    characteristic
        The characteristic of the field of coefficients GF(p), a prime of at most 46337 (the
        largest that gudhi accepts).
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    tuple of PersistenceInterval
        The nonempty intervals [birth, death), by dimension, birth and death; intervals without a
        death come last. Births descend, and every birth is above its death.

    Raises
    ------
    DomainError
        The domain is unbounded, or there is no such output or field.
    UnfinishedError
        Ctrl-C interrupted the computation.
    PolyreluError
        The package gudhi is not installed.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("gudhi")
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])  # |x|
    >>> for interval in superlevel_persistence(net, "box:-3,3"):
    ...     print(interval.dimension, interval.birth, interval.death)
    0 3 0
    0 3 None
    """
    return _persistence(network, domain, output, characteristic, progress, -1)


def _persistence(
    source: NetworkLike,
    domain: DomainLike,
    output: int,
    characteristic: int,
    progress: Progress | None,
    sign: int,
) -> tuple[PersistenceInterval, ...]:
    """The intervals of `sign` times the output, with births and deaths of the output itself."""
    network = as_network(source)
    polyhedron = as_domain(domain, network.num_inputs)
    output_row(network, output)
    tree = _empty_tree(characteristic)
    if not polyhedron.is_bounded():
        raise DomainError(
            "persistent homology: needs a bounded polyhedron as domain, such as a box from -1000 "
            "to 1000"
        )
    cells = canonical_complex(network, polyhedron, progress=progress)
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
    """An empty simplex tree of gudhi; an error without gudhi or for a field that it rejects."""
    try:
        import gudhi
    except ImportError:
        raise PolyreluError(
            "persistent homology needs the package gudhi (the extra [topology]): pip install "
            "'polyrelu[topology]'"
        ) from None
    if (
        characteristic == 0
        or not is_characteristic(characteristic)
        or characteristic > _LARGEST_PRIME
    ):
        raise DomainError(
            f"persistent homology: {str(characteristic)[:40]} is not a prime of at most "
            f"{_LARGEST_PRIME}"
        )
    return gudhi.SimplexTree()


def _at_vertices(cells: PolyhedralComplex, output: int) -> list[Fraction]:
    """The values of an output at all vertices, each by the affine map of a region around it."""
    regions = np.arange(cells.num_regions)
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
    """The full-dimensional simplices of the pulling triangulations of a bounded complex."""
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
