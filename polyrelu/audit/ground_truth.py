"""`GroundTruth`: the exact complex of a network with the tables that comparisons look things up in.

All tables are made on first use and kept, so that several audits of one network share them. Their
size is linear in the number of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from polyrelu.audit.float_signs import FloatSigns
from polyrelu.audit.judging import judged
from polyrelu.audit.measures import with_float32_weights
from polyrelu.audit.tables import entry, floats_of
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import UNDECIDED, Polyhedron, RationalMatrix, nearest_float
from polyrelu.formats import DomainLike, NetworkLike
from polyrelu.network import Network, affine_map_table
from polyrelu.support.arguments import expect_index
from polyrelu.support.arrays import read_only, sorted_distinct
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import exact_numbers, exact_texts, understood
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Array, BigIntegers, Floats, Indices, Mask, Point, Signs
from polyrelu.topology import UnfinishedError

__all__ = ["GroundTruth", "NetworkOrTruth", "ground_truth", "truth_of"]

#: Number of points whose signs are computed at a time.
_POINTS_PER_BLOCK = 2048


def ground_truth(
    network: NetworkLike, domain: DomainLike = None, *, progress: Progress | None = None
) -> GroundTruth:
    """Compute the exact complex that audits of a network on a domain compare with.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole input space.
    progress
        Called with a `polyrelu.support.ProgressStep` after each cut, as by `canonical_complex`.

    Returns
    -------
    GroundTruth
        The complex with its tables. Every function of this room takes it in place of a network.

    Raises
    ------
    DomainError
        As for `canonical_complex`.
    UnfinishedError
        Ctrl-C interrupted the computation.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> ground_truth(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]), "box:-1,2")
    <GroundTruth, 3 regions>
    """
    return GroundTruth(canonical_complex(network, domain, progress=progress))


class GroundTruth:
    """The exact regions, vertices and affine maps of a network, for comparisons.

    Attributes
    ----------
    network
        The network.
    domain
        The domain of the complex.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> truth = ground_truth(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]), "box:-1,2")
    >>> truth.vertex_floats[:, 0].tolist()
    [-1.0, 2.0, 0.0, 1.0]
    """

    def __init__(self, cells: PolyhedralComplex) -> None:
        if not cells.complete:
            raise UnfinishedError("the complex is incomplete: nothing can be compared with it")
        self.cells = cells
        self.network: Network = cells.network
        self.domain: Polyhedron = cells.domain

    def __getstate__(self) -> tuple[Network, Polyhedron]:
        """Return what other processes compute the complex from; its tables are longer."""
        return self.network, self.domain

    def __setstate__(self, state: tuple[Network, Polyhedron]) -> None:
        self.network, self.domain = state

    @cached_property
    def cells(self) -> PolyhedralComplex:
        """The complex: the same one in every process."""
        return canonical_complex(self.network, self.domain)

    def __repr__(self) -> str:
        number = self.cells.num_regions
        return f"<GroundTruth, {number} region{'s' * (number != 1)}>"

    @property
    def num_regions(self) -> int:
        """The number of regions."""
        return self.cells.num_regions

    @cached_property
    def with_float32_weights(self) -> Network | None:
        """The network with its weights rounded to float32; None if nothing changes."""
        return with_float32_weights(self.network)

    @property
    def region_signs(self) -> Signs:
        """The signs of the neurons on the regions, shape (regions, neurons)."""
        return self.cells.signs()

    @cached_property
    def region_of_signs(self) -> dict[bytes, int]:
        """The number of each region, by its signs as bytes of int8."""
        return {row.tobytes(): number for number, row in enumerate(self.region_signs)}

    # -- vertices ----------------------------------------------------------------------------------

    @cached_property
    def vertices(self) -> list[Point]:
        """The exact vertices, in the order of the cells of dimension 0."""
        return list(map(self.cells.vertex, range(self.cells.size(0))))

    def know_vertices(self, execution: Execution, progress: Progress | None = None) -> None:
        """Compute the exact vertices in parts that are tasks; `vertices` has them then."""
        if "vertices" not in self.__dict__ and not execution.is_plain:
            found = judged(_Vertices(self), execution, progress)
            with understood():
                self.__dict__["vertices"] = list(map(exact_numbers, found))

    @cached_property
    def vertex_floats(self) -> Floats:
        """The nearest float64 of each coordinate of each vertex, shape (vertices, n_0)."""
        rows = [[nearest_float(x.numerator, x.denominator) for x in v] for v in self.vertices]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), self.network.num_inputs)
        return read_only(table)

    @cached_property
    def vertices_of_regions(self) -> tuple[Indices, Indices]:
        """Offsets and entries: the vertices of each region, ascending."""
        cells = self.cells
        count = cells.num_regions
        if cells.lineality_dim:  # cells that contain lines have no vertices
            return np.zeros(count + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        owners, numbers = np.arange(count), np.arange(count)
        for dimension in range(cells.dimension, 0, -1):
            offsets, entries = cells.facets(dimension)
            sizes = np.diff(offsets)[numbers]
            places = _ranges(offsets[numbers], sizes)
            stride = max(cells.size(dimension - 1), 1)
            pairs = sorted_distinct(np.repeat(owners, sizes) * stride + entries[places])
            owners, numbers = np.divmod(pairs, stride)
        return np.searchsorted(owners, np.arange(count + 1)), numbers

    def vertices_of(self, region: int) -> Indices:
        """Return the numbers of the vertices of a region, ascending."""
        offsets, entries = self.vertices_of_regions
        number = expect_index(region, self.num_regions, "region")
        return entries[offsets[number] : offsets[number + 1]]

    @cached_property
    def edges(self) -> dict[tuple[int, int], int]:
        """The number of each bounded edge, by the numbers of its vertices, the smaller first."""
        offsets, entries = self.cells.facets(1)
        bounded = np.flatnonzero(np.diff(offsets) == 2)
        ends = np.sort(entries[offsets[bounded][:, None] + [0, 1]], axis=1)
        return {(a, b): int(k) for (a, b), k in zip(ends.tolist(), bounded, strict=True)}

    # -- maps --------------------------------------------------------------------------------------

    @cached_property
    def maps(self) -> tuple[int, BigIntegers]:
        """A common denominator, and the maps [A | c] of the regions times it."""
        return affine_map_table(self.network, self.region_signs > 0)

    def maps_of(self, regions: Indices | Sequence[int]) -> tuple[int, BigIntegers]:
        """Return a common denominator, and the maps [A | c] of some regions times it."""
        return affine_map_table(self.network, self.region_signs[np.asarray(regions, int)] > 0)

    # -- points ------------------------------------------------------------------------------------

    def signs_at(self, points: Array) -> Signs:
        """Return the exact signs of the hidden neurons at points of numbers, shape (k, n_0)."""
        if not self.network.is_plain:
            return self._exact_signs(points)
        found = self._float_signs.at(floats_of(points))
        unclear = np.flatnonzero((found == UNDECIDED).any(axis=1))
        found[unclear] = self._exact_signs(points[unclear])
        return found

    @cached_property
    def _float_signs(self) -> FloatSigns:
        return FloatSigns(self.network)

    def _exact_signs(self, points: Array) -> Signs:
        """Return signs at points by exact arithmetic."""
        parts = [np.zeros((0, len(self.network.neurons)), dtype=np.int8)]
        for start in range(0, len(points), _POINTS_PER_BLOCK):
            block = points[start : start + _POINTS_PER_BLOCK]
            layers = self.network.preactivations(_exact_rows(block))
            hidden = layers[: self.network.num_hidden_layers]
            empty = np.zeros((0, len(block)), dtype=np.int8)
            parts.append(np.concatenate([empty, *(z.signs() for z in hidden)]).T)
        return np.concatenate(parts)

    def in_domain(self, points: Array) -> Mask:
        """Return whether each of several points of numbers lies in the domain."""
        return self.contained(self.domain, points)

    @staticmethod
    def contained(domain: Polyhedron, points: Array) -> Mask:
        """Return whether each of several points of numbers lies in a polyhedron."""
        inside = np.ones(len(points), dtype=bool)
        if not len(points):
            return inside
        x = RationalMatrix.from_rows(_exact_rows(points)).transpose()
        for rows, good in ((domain.inequalities, (-1, 0)), (domain.equations, (0,))):
            if rows:
                a = RationalMatrix.from_integers([row[:-1] for row in rows])
                c = RationalMatrix.from_rows([[row[-1]] * len(points) for row in rows])
                inside &= np.isin((a @ x - c).signs(), good).all(axis=0)
        return inside

    def regions_at(self, points: Array) -> tuple[Indices, Signs]:
        """Return the number of the region with each point inside, -1 if none, and its signs."""
        signs = self.signs_at(points)
        known = self.region_of_signs
        numbers = np.array([known.get(row.tobytes(), -1) for row in signs], dtype=np.int64)
        numbers[~self.in_domain(points)] = -1
        return numbers, signs

    def point_in(self, region: int) -> Point:
        """Return a point inside a region."""
        return self.cells.interior_point(region)

    def num_zeros(self, vertex: int) -> int:
        """Return how many neurons and constraints of the domain vanish at a vertex."""
        index = expect_index(vertex, self.cells.size(0), "vertex")
        signs, constraints = self.cells.signs(0)[index], self.cells.constraint_signs(0)[index]
        return int((signs == 0).sum() + (constraints == 0).sum())


class _Vertices:
    """The exact vertices, which are computed like the verdicts of a judge."""

    subject, items_per_task = "exact vertices", 1024

    def __init__(self, truth: GroundTruth) -> None:
        self._truth = truth

    def __len__(self) -> int:
        return self._truth.cells.size(0)

    def judge(self, items: range) -> list[list[str]]:
        """Return the coordinates of some vertices."""
        return [exact_texts(self._truth.cells.vertex(number)) for number in items]


def _exact_rows(points: Array) -> list[list[Fraction]] | Array:
    """Return points as lists of exact numbers; floats stay floats, which are read exactly."""
    if points.dtype != object:
        return points
    return [list(map(entry, row)) for row in points]


def _ranges(starts: Indices, sizes: Indices) -> Indices:
    """Return the numbers start, …, start + size - 1 for each pair, one after the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - sizes), sizes))


#: A network in any form, or the exact answers about it.
NetworkOrTruth: TypeAlias = NetworkLike | GroundTruth


def truth_of(
    network: NetworkOrTruth, domain: DomainLike = None, progress: Progress | None = None
) -> GroundTruth:
    """Return the argument itself if it is a ground truth, else compute it."""
    if isinstance(network, GroundTruth):
        if domain is not None:
            raise DomainError("domain: the ground truth has a domain already; leave this one out")
        return network
    return ground_truth(network, domain, progress=progress)
