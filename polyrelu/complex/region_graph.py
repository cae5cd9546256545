"""Regions and their neighbours in any dimension, found by walks through facets, without a lattice.

`walk_regions` visits the regions breadth first and `region_graph` collects them. Memory grows with
the number of regions, whereas the face lattice grows with the number of cells of all dimensions.
But every region takes many exact linear programs, so that `canonical_complex` is faster wherever
its lattice fits into memory: 825 regions in the plane took 0.04 s there and 5 s here, 2,058 regions
in R^6 0.08 s and 24 s. In R^12 4,096 regions, with 531,441 cells, took 11 s and 581 MiB there, 50 s
and 95 MiB here. So a walk is the way where the lattice is too large, which begins with some ten
inputs, and for the first regions of a large complex, which it yields at once.

A region is determined by the signs of the neurons on it. Its facets lie on the irredundant ones
among the inequalities sign·z ≥ 0 and the inequalities of the domain; linear programs find them,
exactly. Across a facet inside the domain lies exactly one region. Let the facet lie on the zero set
of a form r, r > 0 on the known side. The signs of the neurons across the facet follow layer by
layer, without a point there:

* A neuron whose form on the known side is not a multiple of r keeps its sign, because the form is
  not 0 in the relative interior of the facet.
* A neuron whose form on the known side is a multiple of r (0 included) vanishes on the facet. Forms
  are continuous, so that its form across the facet is κ r for some κ, and has the sign of -κ there.

Every region is found: the domain is convex, and whatever separates its regions in codimension 1 are
facets.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain

import networkx as nx
import numpy as np

from polyrelu.complex.frame import Frame, frame_of
from polyrelu.complex.region import Region, polyhedron_in_x, region_index
from polyrelu.errors import DomainError
from polyrelu.exact import (
    InteriorPoint,
    LinearProgram,
    Polyhedron,
    RationalMatrix,
    irredundant_rows,
    positive_primitive,
)
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.support.arguments import expect_function, expect_integer
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Indices, IntegerRow, Signs

__all__ = ["RegionGraph", "RegionVisit", "region_graph", "walk_regions"]

#: Returns the signs of the neurons of a layer, given its number and its forms on the region.
SignDecision = Callable[[int, list[IntegerRow]], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class RegionVisit:
    """A region on a walk, with its neighbours.

    Attributes
    ----------
    region
        The region; regions are numbered in the order in which the walk finds them.
    neighbours
        For each inequality of the region's polyhedron the number of the region across this facet,
        -1 where the facet lies on the boundary of the domain.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> visit = next(walk_regions(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])))
    >>> str(visit.region.signs), visit.region.polyhedron.inequalities, visit.neighbours
    ('+-', ((1, 1), (-1, 0)), (1, 2))
    """

    region: Region
    neighbours: tuple[int, ...]

    def __repr__(self) -> str:
        found = sum(number >= 0 for number in self.neighbours)
        return f"<RegionVisit, region {self.region.index}, {count_text([(found, 'neighbour')])}>"


def walk_regions(network: NetworkLike, domain: DomainLike = None) -> Iterator[RegionVisit]:
    """Visit all regions with their neighbours, breadth first, each of them once.

    Only the signs of the regions are kept in memory.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; degenerate networks and skip connections are
        included.
    domain
        A nonempty polyhedron in R^{n_0}, of any dimension, or a text such as ``"box:-1,1"``; None
        for R^{n_0}.

    Returns
    -------
    Iterator of RegionVisit
        The regions in the order of their numbers. Neighbours can be regions that are visited later.

    Raises
    ------
    DomainError
        The domain lies in another space; or it is empty, which shows when the first region is
        asked for.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> [(str(visit.region.signs), visit.neighbours) for visit in walk_regions(net)][:2]
    [('++|-', (1, 2, 3)), ('++|+', (4, 5, 0))]
    """
    network = as_network(network)
    return _visits(network, as_domain(domain, network.num_inputs))


def _visits(network: Network, polyhedron: Polyhedron) -> Iterator[RegionVisit]:
    """The visits of `walk_regions`."""
    walk = _Walk(network, polyhedron)
    index = 0
    while index < len(walk.sign_vectors):
        yield walk.visit(index)
        index += 1


class RegionGraph:
    """Regions and the pairs of them with a common facet, made by `region_graph`.

    Iteration gives the regions, and `len` their number.

    Attributes
    ----------
    network
        The network whose regions they are.
    domain
        The polyhedron that the regions subdivide.
    all_regions
        The regions, by their numbers.
    neurons
        All hidden neurons, in order.
    bounded
        Whether each region is bounded, shape (regions,).
    complete
        Whether all regions are listed; False after Ctrl-C, when regions and pairs are missing.
    lineality_dim
        The dimension of the lineality space of the complex.
    dimension
        The dimension of the domain.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> found = region_graph(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> found.signs().tolist(), found.adjacency().tolist(), found.num_bounded_regions
    ([[1, -1], [1, 1], [-1, -1]], [[0, 1], [0, 2]], 1)
    """

    def __init__(
        self,
        network: Network,
        domain: Polyhedron,
        visits: list[RegionVisit],
        seen: int,
        frame: Frame,
    ) -> None:
        """`seen` is the number of regions that the walk has found; see `region_graph`."""
        self.network, self.domain = network, domain
        self.neurons: tuple[NeuronId, ...] = network.neurons
        self.all_regions = [visit.region for visit in visits]
        signs = [list(chain(*region.signs.layers)) for region in self.all_regions]
        self._signs: Signs = np.array(signs, dtype=np.int8)
        pairs = {
            (i, j)
            for i, visit in enumerate(visits)
            for j in visit.neighbours
            if i < j < len(visits)
        }
        self._adjacency: Indices = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        bounded = [region.bounded for region in self.all_regions]
        self.bounded = read_only(np.array(bounded, dtype=bool))
        self.complete = len(visits) == seen
        self.lineality_dim, self.dimension = len(frame.lineality), frame.true_dimension
        self._signs.flags.writeable = self._adjacency.flags.writeable = False

    def __repr__(self) -> str:
        counts = [(self.num_regions, "region"), (len(self._adjacency), "pair")]
        end = "" if self.complete else ", incomplete"
        return f"<RegionGraph, {count_text(counts)} of neighbours{end}>"

    def __len__(self) -> int:
        return self.num_regions

    def __iter__(self) -> Iterator[Region]:
        return iter(self.all_regions)

    @property
    def num_regions(self) -> int:
        """The number of regions."""
        return len(self.all_regions)

    @property
    def num_bounded_regions(self) -> int:
        """The number of bounded regions."""
        return int(self.bounded.sum())

    def signs(self, dimension: int | None = None) -> Signs:
        """Return the signs of the neurons on the regions, in the order of `neurons`.

        The shape is (regions, number of neurons), as in `PolyhedralComplex.signs`.

        Raises
        ------
        DomainError
            The dimension is not the one of the regions, which are the only cells here.
        """
        if dimension is not None and expect_integer(dimension, "dimension") != self.dimension:
            raise DomainError(
                f"a region graph has regions ({self.dimension}), no cells of dimension "
                f"{dimension}; canonical_complex has all of them"
            )
        return self._signs

    def adjacency(self) -> Indices:
        """Return the pairs of neighbouring regions, the smaller index first, shape (pairs, 2)."""
        return self._adjacency

    def neighbours(self, index: int) -> tuple[int, ...]:
        """Return the numbers of the regions next to a region, in ascending order.

        Raises
        ------
        DomainError
            There is no such region.
        """
        return tuple(sorted(self.graph.neighbors(region_index(index, self.num_regions))))

    def region(self, index: int) -> Region:
        """Return a region by its number.

        Raises
        ------
        DomainError
            There is no such region.
        """
        return self.all_regions[region_index(index, self.num_regions)]

    @cached_property
    def graph(self) -> nx.Graph:
        """The graph of neighbouring regions; nodes have the attributes of `dual_graph`."""
        graph = nx.Graph()
        for index, (region, bounded) in enumerate(
            zip(self.all_regions, self.bounded.tolist(), strict=True)
        ):
            graph.add_node(index, signs=str(region.signs), bounded=bounded)
        graph.add_edges_from(self._adjacency.tolist())
        return graph


def region_graph(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    progress: Progress | None = None,
) -> RegionGraph:
    """List the regions and their neighbours, without cells of lower dimension.

    This takes little memory and much time; `canonical_complex` is faster where all cells fit into
    memory, which is so for less than about ten inputs.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; degenerate networks and skip connections are
        included.
    domain
        A nonempty polyhedron in R^{n_0}, of any dimension, or a text such as ``"box:-1,1"``; None
        for R^{n_0}.
    progress
        Called with a `polyrelu.support.ProgressStep` after every visit; its total is the number of
        regions that are known so far.

    Returns
    -------
    RegionGraph
        The regions. After Ctrl-C they are the regions visited so far, with `complete` False.

    Raises
    ------
    DomainError
        The domain is empty or lies in another space.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> found = region_graph(net)
    >>> found.num_regions, found.num_bounded_regions, len(found.adjacency())
    (7, 1, 9)
    """
    network = as_network(network)
    polyhedron = as_domain(domain, network.num_inputs)
    expect_function(progress, "progress")
    walk = _Walk(network, polyhedron)
    visits: list[RegionVisit] = []
    with deferred_interrupt() as interrupt:
        while len(visits) < len(walk.sign_vectors) and not (interrupt.requested and visits):
            visits.append(walk.visit(len(visits)))
            known = len(walk.sign_vectors)
            report(progress, "walking from region to region", len(visits), known, "regions")
    return RegionGraph(network, polyhedron, visits, len(walk.sign_vectors), walk.frame)


class _Walk:
    """The regions found so far. Forms are rows [a | b] over (y, 1), y the coordinates of the frame.

    Attributes
    ----------
    sign_vectors
        The signs of the regions, by their numbers.
    """

    def __init__(self, network: Network, domain: Polyhedron) -> None:
        self._network, self._domain = network, domain
        self.frame = frame_of(network, domain)
        self._size = self.frame.dimension
        self._inputs = self.frame.embedding.take(rows=range(network.num_inputs))
        self._boundary = {row for row in _primitive_forms(self.frame.constraints) if any(row[:-1])}
        self._all_bounded = domain.is_bounded()
        self.sign_vectors: list[SignVector] = []
        self._numbers: dict[SignVector, int] = {}
        point = _point_inside([_inequality(row) for row in self._boundary], self._size)
        self._number(self._signs_and_forms(_signs_beside(point))[0])

    def _number(self, signs: SignVector) -> int:
        """The number of the region with these signs; a new region gets the next number."""
        if signs not in self._numbers:
            self._numbers[signs] = len(self.sign_vectors)
            self.sign_vectors.append(signs)
        return self._numbers[signs]

    def _signs_and_forms(self, decide: SignDecision) -> tuple[SignVector, list[list[IntegerRow]]]:
        """Signs decided layer by layer, and the primitive forms of each layer that follow."""
        activations, signs, forms = [self._inputs], [], []
        for number, layer in enumerate(self._network.layers[: self._network.num_hidden_layers], 1):
            form = RationalMatrix.zeros(layer.width, self._size).beside(layer.bias)
            for block in layer.blocks:
                form = form + block @ activations[block.source]
            forms.append(_primitive_forms(form))
            signs.append(decide(number, forms[-1]))
            activations.append(form.scale_rows([int(sign > 0) for sign in signs[-1]]))
        return SignVector(tuple(signs)), forms

    def visit(self, index: int) -> RegionVisit:
        """The region with a number, and the numbers of its neighbours."""
        signs = self.sign_vectors[index]
        _, forms = self._signs_and_forms(lambda number, _: signs.layers[number - 1])
        positive = {
            _signed(row, sign)
            for row, sign in zip(chain(*forms), chain(*signs.layers), strict=True)
        }
        candidates = self._boundary | {row for row in positive if any(row[:-1])}
        rows = [_inequality(row) for row in sorted(candidates)]
        point = _point_inside(rows, self._size)
        facets = irredundant_rows(rows, tuple(Fraction(entry, point[-1]) for entry in point[:-1]))
        inside = [_inequality(facet) for facet in facets]
        neighbours = tuple(
            -1 if facet in self._boundary else self._neighbour_across(facet, signs, forms)
            for facet in inside
        )
        return RegionVisit(self._region(index, inside, point), neighbours)

    def _neighbour_across(
        self, facet: IntegerRow, signs: SignVector, forms: list[list[IntegerRow]]
    ) -> int:
        """The number of the region across a facet; the form `facet` is > 0 on this side."""
        pivot = next(j for j, entry in enumerate(facet) if entry)
        opposite = _signed(facet, -1)

        def decide(number: int, rows: list[IntegerRow]) -> tuple[int, ...]:
            """The signs across the facet, by the rule in the text of the module."""
            found = []
            for row, before, sign in zip(
                rows, forms[number - 1], signs.layers[number - 1], strict=True
            ):
                vanishes = before in (facet, opposite) or not any(before)
                found.append(-_sign(row[pivot] * facet[pivot]) if vanishes else sign)
            return tuple(found)

        return self._number(self._signs_and_forms(decide)[0])

    def _region(self, index: int, inside: list[IntegerRow], point: list[int]) -> Region:
        signs = self.sign_vectors[index]
        polyhedron = polyhedron_in_x(self.frame, self._domain, inside)
        bounded = self._all_bounded or (len(inside) > self._size and polyhedron.is_bounded())
        return Region(
            index,
            signs,
            polyhedron,
            self._network.affine_map(signs),
            self.frame.embedded(point),
            bounded,
        )


def _signs_beside(point: list[int]) -> SignDecision:
    """Decides the signs at y + (ε, ε², …) for all small ε > 0, beside a point (y, t)."""

    def decide(_: int, rows: list[IntegerRow]) -> tuple[int, ...]:
        """The sign of the first nonzero number among the value and the coefficients."""
        values = (sum(map(operator.mul, row, point)) for row in rows)
        return tuple(
            _sign(next(filter(None, (value, *row[:-1])), 0))
            for row, value in zip(rows, values, strict=True)
        )

    return decide


def _point_inside(rows: list[IntegerRow], size: int) -> list[int]:
    """A point (y, t), t > 0, strictly inside inequalities [a | c] that have an interior."""
    program = LinearProgram(size)
    program.add_inequalities([row[:-1] for row in rows], [row[-1] for row in rows])
    found = program.interior_point()
    if not isinstance(found, InteriorPoint):
        raise AssertionError("regions have an interior")
    return RationalMatrix.column([*found.point, 1]).transpose().integer_rows()[0]


def _primitive_forms(forms: RationalMatrix) -> list[IntegerRow]:
    return [positive_primitive(row) for row in forms.integer_rows()]


def _inequality(row: IntegerRow) -> IntegerRow:
    """The inequality [-a | b] that means a·y + b ≥ 0, from the form [a | b]; its own inverse."""
    return (*(-entry for entry in row[:-1]), row[-1])


def _signed(row: IntegerRow, sign: int) -> IntegerRow:
    return tuple(sign * entry for entry in row)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
