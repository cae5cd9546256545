"""The canonical polyhedral complex of a network on a domain, with its cells of every dimension.

`canonical_complex` computes it, `stream_complex` computes it in parts, and `PolyhedralComplex`
answers questions about signs, incidences, regions and coordinates. The arrays themselves stand in
`engine.cells.CellArrays`; this class only translates dimensions and checks arguments, and other
rooms use nothing but its public members.

Cells are named by their signs: of the constraints of the domain and of the hidden neurons. A cell F
is a face of a cell C exactly if the signs of F are the signs of C, some of them replaced by 0. The
numbers of the cells are the same in every run. Dimensions are true dimensions: where the complex
has a lineality space of dimension m, every cell contains translates of that space, and no cell has
a dimension below m.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import overload

import numpy as np

from polyrelu.complex.activations import RegionActivations
from polyrelu.complex.cell import Cell
from polyrelu.complex.crossings import Crossings
from polyrelu.complex.engine.cells import CellArrays
from polyrelu.complex.engine.compiled import subdivision_of
from polyrelu.complex.engine.subdivision import completed
from polyrelu.complex.engine.vertices import SignStatistics
from polyrelu.complex.facet_forms import FacetForms, forms_of_facets
from polyrelu.complex.frame import Frame, frame_of, need_few_cells
from polyrelu.complex.generators import CellGenerators
from polyrelu.complex.region import (
    Region,
    point_inside,
    region_index,
    region_polyhedron,
    region_volume,
)
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network, as_points
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.network.points import NumberArray, OnePoint, Points
from polyrelu.support.arguments import expect, expect_function, expect_integer
from polyrelu.support.arrays import read_only
from polyrelu.support.display import svg_of
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Indices, IntegerRow, Mask, Point, Signs

__all__ = [
    "Cell",
    "PolyhedralComplex",
    "canonical_complex",
    "expect_complex",
    "stream_complex",
]


def canonical_complex(
    network: NetworkLike, domain: DomainLike = None, *, progress: Progress | None = None
) -> PolyhedralComplex:
    """Compute all cells of the canonical polyhedral complex of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; degenerate networks are included.
    domain
        A nonempty polyhedron in R^{n_0}, of any dimension, or a text such as ``"box:-1,1"``; None
        for R^{n_0}.
    progress
        Called with a `polyrelu.support.ProgressStep` after every cut; the constraints of the domain
        come before the first neuron.

    Returns
    -------
    PolyhedralComplex
        The complex. After Ctrl-C it is the complex of the neurons whose cuts were done, with
        `complete` False.

    Raises
    ------
    DomainError
        The domain is empty or lies in another space; or a skip connection reads a direction in
        which the cells of the first layer contain lines (`walk_regions` has no such limit); or
        there are too many cells to list.

    Notes
    -----
    Source: Grigsby and Lindsey (2022), arXiv 2008.09052.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> cells = canonical_complex(net)
    >>> cells.f_vector, cells.num_regions, cells.num_bounded_regions
    ((3, 9, 7), 7, 1)
    """
    network = as_network(network)
    polyhedron = as_domain(domain, network.num_inputs)
    expect_function(progress, "progress")
    need_few_cells(network, polyhedron)
    subdivision = subdivision_of(network, frame_of(network, polyhedron))
    neurons, complete = completed(subdivision, progress)
    arrays = CellArrays(subdivision, neurons)
    return PolyhedralComplex(network, polyhedron, arrays, complete)


def stream_complex(
    network: NetworkLike, domain: DomainLike = None, *, limit: int = 4096
) -> Iterator[PolyhedralComplex]:
    """Compute the canonical complex in parts, so that it need not be held in memory.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, as for `canonical_complex`.
    domain
        A nonempty polyhedron in R^{n_0}, or a text such as ``"box:-1,1"``; None for R^{n_0}.
    limit
        Maximum number of regions from which a part starts to be cut further, at least 1. Smaller
        parts take less memory and more time.

    Returns
    -------
    Iterator of PolyhedralComplex
        The parts. Every region of the complex is a region of exactly one part. Cells of lower
        dimension on the border between parts belong to several of them.

    Raises
    ------
    DomainError
        `limit` is no positive integer; or as for `canonical_complex`, some of them when the first
        part is asked for.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, 1, 1]], [0])])
    >>> sum(part.num_regions for part in stream_complex(net, limit=2))
    4
    """
    if not isinstance(limit, int) or limit < 1:
        raise DomainError(
            f"parts of at most {limit} cells: the limit must be an integer, at least 1"
        )
    network = as_network(network)
    return _parts(network, as_domain(domain, network.num_inputs), limit)


def _parts(network: Network, polyhedron: Polyhedron, limit: int) -> Iterator[PolyhedralComplex]:
    """The parts of `stream_complex`."""
    neurons = network.neurons
    need_few_cells(network, polyhedron)
    for part in subdivision_of(network, frame_of(network, polyhedron)).parts(limit):
        yield PolyhedralComplex(network, polyhedron, CellArrays(part, neurons), complete=True)


class PolyhedralComplex:
    """The cells of all dimensions of a canonical polyhedral complex, made by `canonical_complex`.

    A cell is named by its dimension and its index (`Cell`); tables of cells have a row for each
    index. Iteration gives all cells, by dimension and index, and `len` their number. Regions are
    the cells of full dimension. `f_k` is the number of cells of dimension k.

    Attributes
    ----------
    network
        The network whose complex it is.
    domain
        The polyhedron that the cells subdivide.
    neurons
        The hidden neurons whose cuts are done, in order; all hidden neurons if `complete`.
    complete
        Whether all cuts are done; False after Ctrl-C.
    dimension
        The dimension of the domain.
    lineality
        A basis, in primitive integers, of the directions along which no sign changes.
    frame
        The coordinates y of the domain in which `facet_forms` and `generators` are given.
    generators
        The vertices and ray directions of the cells, in one list.
    statistics
        The number of signs that were decided, and how many of them exactly.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> cells = canonical_complex(net)
    >>> cells.f_vector, [str(cells.sign_vector(cell)) for cell in cells.cells(0)]
    ((3, 9, 7), ['00|-', '0+|0', '+0|0'])
    """

    def __init__(
        self, network: Network, domain: Polyhedron, arrays: CellArrays, complete: bool
    ) -> None:
        self.network, self.domain, self.complete = network, domain, complete
        self.neurons: tuple[NeuronId, ...] = arrays.neurons
        self.frame: Frame = arrays.frame
        self.dimension, self.lineality = self.frame.true_dimension, self.frame.lineality
        self.generators = CellGenerators(arrays)
        self.statistics: SignStatistics = arrays.vertices.statistics
        self._arrays = arrays  # for the modules of this room

    def __repr__(self) -> str:
        end = "" if self.complete else ", incomplete"
        return f"<PolyhedralComplex, cells by dimension {self.f_vector}{end}>"

    def _repr_svg_(self) -> str | None:
        return svg_of(self)

    def __len__(self) -> int:
        return sum(self.f_vector)

    def __iter__(self) -> Iterator[Cell]:
        return chain.from_iterable(self.cells(k) for k in range(self.dimension + 1))

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, Cell) and 0 <= cell.index < self.size(cell.dimension)

    # -- counts ------------------------------------------------------------------------------------

    @property
    def lineality_dim(self) -> int:
        """The dimension of the lineality space, which is the least dimension of a cell."""
        return len(self.lineality)

    @property
    def f_vector(self) -> tuple[int, ...]:
        """The numbers of cells of dimension 0, 1, …, with cells on the boundary of the domain."""
        return (*[0] * self.lineality_dim, *self._arrays.num_finite)

    @property
    def num_regions(self) -> int:
        """The number of cells of full dimension; a neuron may be identically 0 on one."""
        return self.f_vector[-1]

    @cached_property
    def activations(self) -> RegionActivations:
        """Which neurons are active on each region of a complete complex, packed into bits."""
        if not self.complete:
            raise DomainError("the complex is incomplete: activations vary on its cells")
        return RegionActivations.of_regions(self._arrays)

    @cached_property
    def crossings(self) -> Crossings:
        """The neurons that change their activation between the pairs of `adjacency`.

        The complex must be complete.
        """
        return Crossings.between(self.network, self.frame, self.activations, self.adjacency())

    @cached_property
    def bounded(self) -> Mask:
        """Whether each cell of full dimension is bounded, shape (regions,)."""
        if self.lineality:
            return read_only(np.zeros(self.num_regions, dtype=bool))
        return read_only(self._arrays.bounded())

    @property
    def num_bounded_regions(self) -> int:
        """The number of bounded cells of full dimension."""
        return int(self.bounded.sum())

    @property
    def nbytes(self) -> int:
        """The number of bytes of all arrays of cells, vertices and forms."""
        return self._arrays.nbytes

    def size(self, dimension: int) -> int:
        """Return the number of cells of a dimension, 0 where there are none."""
        dimension = expect_integer(dimension, "dimension")
        return self.f_vector[dimension] if 0 <= dimension <= self.dimension else 0

    def cells(self, dimension: int) -> Iterator[Cell]:
        """Iterate over the cells of a dimension."""
        return (Cell(dimension, index) for index in range(self.size(dimension)))

    # -- signs -------------------------------------------------------------------------------------

    def signs(self, dimension: int | None = None) -> Signs:
        """Return the signs of the neurons on the cells of a dimension, in the order of `neurons`.

        By default the cells are the regions. The table has the shape (f_dimension, number of
        neurons), is computed once, and is read only. Below `lineality_dim` it has no rows.

        Raises
        ------
        DomainError
            The dimension is negative or above the dimension of the domain.
        """
        if dimension is None:
            dimension = self.dimension
        if 0 <= expect_integer(dimension, "dimension") < self.lineality_dim:
            return np.zeros((0, len(self.neurons)), dtype=np.int8)
        return self._arrays.signs(self._arrays.inner_dimension(dimension))

    def constraint_signs(self, dimension: int) -> Signs:
        """Return the signs of c - a·x for the inequalities of the domain on cells of a dimension.

        1 stands for the open side and 0 for the boundary; shape (f_dimension, number of
        inequalities).

        Raises
        ------
        DomainError
            No cell has this dimension.
        """
        return self._arrays.constraint_signs(self._arrays.inner_dimension(dimension))

    def inside(self, dimension: int) -> Mask:
        """Return whether each cell of a dimension lies in the relative interior of the domain.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
        >>> cells = canonical_complex(net, Polyhedron.box([-1], [1]))
        >>> int(cells.inside(0).sum()), cells.f_vector
        (1, (3, 2))
        """
        # Constraints that are 0 on the whole domain bound nothing.
        proper = self.constraint_signs(self.dimension).any(axis=0)
        mask: Mask = (self.constraint_signs(dimension)[:, proper] != 0).all(axis=1)
        return mask

    def sign_vector(self, cell: Cell) -> SignVector:
        """Return the signs of the neurons on a cell, layer by layer."""
        self._arrays.inner_dimension_of(cell)
        row = self.signs(cell.dimension)[cell.index].tolist()
        layers: list[list[int]] = [[] for _ in range(self.network.num_hidden_layers)]
        for neuron, sign in zip(self.neurons, row, strict=True):
            layers[neuron.layer - 1].append(sign)
        return SignVector(tuple(map(tuple, layers)))

    def signs_of_region(self, index: int) -> SignVector:
        """Return the signs of the neurons on a region, layer by layer."""
        return self.sign_vector(Cell(self.dimension, index))

    @overload
    def locate(self, point: OnePoint) -> Cell | None: ...  # type: ignore[overload-overlap]

    @overload
    def locate(self, point: Sequence[OnePoint | NumberArray]) -> list[Cell | None]: ...

    @overload
    def locate(self, point: NumberArray) -> Cell | list[Cell | None] | None: ...

    def locate(self, point: OnePoint | Points) -> Cell | list[Cell | None] | None:
        """Find the cell whose relative interior contains a point; None outside the domain.

        For points of shape (k, n_0) the result is a list.

        Raises
        ------
        DomainError
            A point has not one exact number for each input.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])]))
        >>> cells.locate([0]), cells.locate([-3]).dimension
        (Cell(dimension=0, index=0), 1)
        """
        points, is_one = as_points(point, self.network.num_inputs, "point")
        found = [self._cell_at(x) for x in points]
        return found[0] if is_one else found

    def _cell_at(self, x: Point) -> Cell | None:
        """The cell whose relative interior contains a point."""
        if not self.domain.contains(x):
            return None
        signs = self.network.sign_vector(x)
        key = [signs.layers[neuron.layer - 1][neuron.index] for neuron in self.neurons]
        for row in self.domain.inequalities:
            key.append(int(sum(a * c for a, c in zip(row[:-1], x, strict=True)) != row[-1]))
        return self._cell_by_signs[bytes(entry + 1 for entry in key)]

    @cached_property
    def _cell_by_signs(self) -> dict[bytes, Cell]:
        """Every cell by its signs plus 1, as bytes; the signs of the constraints come last."""
        cells: dict[bytes, Cell] = {}
        for k in range(self.lineality_dim, self.dimension + 1):
            rows = np.concatenate([self.signs(k), self.constraint_signs(k)], axis=1) + 1
            cells |= {row.tobytes(): Cell(k, i) for i, row in enumerate(rows.astype(np.uint8))}
        return cells

    # -- incidence ---------------------------------------------------------------------------------

    def facets(self, dimension: int) -> tuple[Indices, Indices]:
        """Return the facets of all cells of a dimension k > 0, in two arrays.

        Returns
        -------
        offsets, entries
            The facets of cell i are the cells entries[offsets[i]:offsets[i + 1]] of dimension
            k - 1. Faces at infinity are left out.

        Raises
        ------
        DomainError
            No cell has this dimension.
        """
        return self._arrays.facets(self._arrays.inner_dimension(dimension))

    def facet_forms(self, indices: Indices) -> FacetForms:
        """Return the affine forms that vanish on cells of codimension 1, given by their indices.

        Raises
        ------
        ArgumentError
            The indices are no array of integers, or there are no such cells.
        """
        numbers, size = np.asarray(indices), self.size(self.dimension - 1)
        if numbers.ndim != 1 or (
            len(numbers)
            and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= size)
        ):
            raise ArgumentError(f"indices: expected an array of integers from 0 to {size - 1}")
        return forms_of_facets(self._arrays, numbers.astype(np.int64))

    def adjacency(self) -> Indices:
        """Return the pairs of neighbouring regions, the smaller index first, shape (pairs, 2).

        `common_facets` tells the cells between them.
        """
        return self._adjacency[0]

    def common_facets(self) -> Indices:
        """Return the cell of codimension 1 between each pair of `adjacency`, by ascending index.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])]))
        >>> cells.adjacency().tolist(), cells.common_facets().tolist()
        ([[0, 1]], [0])
        """
        return self._adjacency[1]

    @cached_property
    def _adjacency(self) -> tuple[Indices, Indices]:
        offsets, entries = self.facets(self.dimension)
        owners = np.repeat(np.arange(self.num_regions), np.diff(offsets))
        # Owners ascend, and of several assignments to one place the last one stays.
        first = np.full(self.size(self.dimension - 1), -1, dtype=np.int64)
        last = first.copy()
        first[entries[::-1]], last[entries] = owners[::-1], owners
        facets = np.flatnonzero(first != last)
        pairs = np.stack([first[facets], last[facets]], axis=1)
        pairs.flags.writeable = facets.flags.writeable = False
        return pairs, facets

    def neighbours(self, index: int) -> tuple[int, ...]:
        """Return the numbers of the regions next to a region, in the order of `adjacency`.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
        >>> sorted(len(cells.neighbours(index)) for index in range(3))
        [1, 1, 2]
        """
        return tuple(other for other, _ in self._neighbours[region_index(index, self.num_regions)])

    def facets_to_neighbours(self, index: int) -> tuple[Cell, ...]:
        """Return the cell of codimension 1 between a region and each of its `neighbours`."""
        return tuple(facet for _, facet in self._neighbours[region_index(index, self.num_regions)])

    @cached_property
    def _neighbours(self) -> list[list[tuple[int, Cell]]]:
        neighbours: list[list[tuple[int, Cell]]] = [[] for _ in range(self.num_regions)]
        pairs, facets = self._adjacency
        for (one, other), facet in zip(pairs.tolist(), facets.tolist(), strict=True):
            between = Cell(self.dimension - 1, facet)
            neighbours[one].append((other, between))
            neighbours[other].append((one, between))
        return neighbours

    # -- regions -----------------------------------------------------------------------------------

    def region(self, index: int) -> Region:
        """Return a cell of full dimension with its polyhedron, affine map and a point inside.

        Raises
        ------
        DomainError
            There is no such region; or the complex is incomplete, and then the network is not
            affine on its cells.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[2, 0], [0, 1]], [-1, 0]), ([[1, 3]], [0])]))
        >>> region = cells.region(cells.locate([1, 1]).index)
        >>> sorted(region.polyhedron.inequalities), str(region.affine_map.matrix)
        ([(-2, 0, -1), (0, -1, 0)], '[2 3]')
        """
        if not self.complete:
            raise DomainError("the complex is incomplete: the network is not affine on its cells")
        index = region_index(index, self.num_regions)
        polyhedron, point = self.region_polyhedron(index), self.interior_point(index)
        signs = self.signs_of_region(index)
        affine_map, bounded = self.network.affine_map(signs), bool(self.bounded[index])
        return Region(index, signs, polyhedron, affine_map, point, bounded)

    def region_polyhedron(self, index: int) -> Polyhedron:
        """Return the closure of a region as a polyhedron, of an incomplete complex too."""
        return region_polyhedron(self._arrays, self.domain, region_index(index, self.num_regions))

    def interior_point(self, index: int) -> Point:
        """Return a point strictly inside a region, of an incomplete complex too.

        Its coordinates have few binary digits where possible.
        """
        return point_inside(self._arrays, region_index(index, self.num_regions))

    def volume(self, index: int) -> Fraction:
        """Return the exact volume of a bounded region; the domain must have full dimension.

        Raises
        ------
        DomainError
            There is no such region, the region is unbounded, or the domain has a lower dimension
            than its space.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 1]], [-1]), ([[1]], [0])])
        >>> cells = canonical_complex(net, Polyhedron.box([0, 0], [1, 1]))
        >>> cells.volume(0), cells.volume(1)
        (Fraction(1, 2), Fraction(1, 2))
        """
        if self.dimension != self.network.num_inputs:
            raise DomainError("regions of a lower-dimensional domain have no rational volume")
        index = region_index(index, self.num_regions)
        if not self.bounded[index]:
            raise DomainError(f"region {index} is unbounded")
        return region_volume(self._arrays, index)

    # -- coordinates -------------------------------------------------------------------------------

    def vertex(self, index: int) -> Point:
        """Return the exact coordinates of a vertex.

        Where the complex has a lineality space, it is a point of the cell `index` of dimension
        `lineality_dim`.
        """
        (number,) = self.generators.numbers_of(Cell(self.lineality_dim, index))
        return self.frame.embedded(self.generators.exact(number))

    def vertices_and_rays(self, cell: Cell) -> tuple[list[Point], list[IntegerRow]]:
        """Return the vertices and the ray directions of a cell, its V-representation.

        Where the complex has a lineality space, the vertices are points of the minimal faces, and
        the cell is the hull of vertices and rays plus that space.
        """
        rows = [self.generators.exact(number) for number in self.generators.numbers_of(cell)]
        points = [self.frame.embedded(row) for row in rows if row[-1]]
        return points, [self.frame.direction(row) for row in rows if not row[-1]]


def expect_complex(cells: object, name: str = "cells") -> PolyhedralComplex:
    """Return an argument that is a complex; the error names the function that makes one."""
    return expect(
        cells, PolyhedralComplex, name, "canonical_complex(network, domain) makes a complex"
    )
