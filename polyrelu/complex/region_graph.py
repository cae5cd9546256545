"""Regions and their neighbours only, in any dimension: from region to region through facets, no lattice.

A region is known by the signs of the neurons on it. Its facets are the needed ones among the inequalities sign·z ≥ 0
and those of the domain; linear programs find them, exactly. Behind a facet in a neuron's facet r = 0 (r > 0 inside) lies
exactly one region, and its signs need no point: a neuron whose form is not a multiple of r keeps its sign, for it is
not 0 inside the facet; the form of another one is, behind the facet too, a multiple κ r, because forms are continuous,
and has the sign of -κ there. Layer by layer all is known (neurons that are 0 on one side included).

Every region is found: the domain is convex, and what separates its regions in codimension 1 are facets. Time and memory
are those of the regions alone, where the lattice grows with the number of cells of all dimensions.
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
from numpy.typing import NDArray

from polyrelu.complex.frame import Frame, frame_of
from polyrelu.complex.region import Region, polyhedron_in_x
from polyrelu.exact import (
    InteriorPoint,
    LinearProgram,
    Polyhedron,
    RationalMatrix,
    irredundant_rows,
    positive_primitive,
)
from polyrelu.network import Network, SignVector
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.typing import IntegerRow

__all__ = ["RegionGraph", "RegionVisit", "region_graph", "walk_regions"]

#: Signs of the neurons of a layer, given its number and its forms on the region.
Decide = Callable[[int, list[IntegerRow]], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class RegionVisit:
    """A region on the walk.

    Attributes
    ----------
    region : the region; regions are numbered in the order in which they are seen first.
    neighbours : the numbers of the regions behind its facets, in the order of the inequalities of its polyhedron, -1
        where the facet lies on the boundary of the domain.
    """

    region: Region
    neighbours: tuple[int, ...]


def walk_regions(network: Network, domain: Polyhedron | None = None) -> Iterator[RegionVisit]:
    """All regions with their neighbours, breadth first, each once; only their signs are kept in memory.

    Parameters
    ----------
    network : any network, degenerate ones and skip connections included.
    domain : a nonempty polyhedron in R^{n_0}, of any dimension; None for R^{n_0}.

    Yields
    ------
    A `RegionVisit` for every region; neighbours can have numbers that are still to come.

    Raises
    ------
    DomainError : the domain is empty or lies in another space; raised when the first region is asked for.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> [(str(visit.region.signs), visit.neighbours) for visit in walk_regions(net)][:2]
    [('++|-', (1, 2, 3)), ('++|+', (4, 5, 0))]
    """
    polyhedron = Polyhedron.universe(network.inputs) if domain is None else domain
    walk = _Walk(network, polyhedron)
    index = 0
    while index < len(walk.found):
        yield walk.visit(index)
        index += 1


class RegionGraph:
    """Regions and which of them have a facet in common; made by `region_graph`.

    Attributes
    ----------
    network, domain : of what, on what.
    all_regions : the regions themselves.
    signs : of all hidden neurons, shape (regions, neurons).
    adjacency : pairs of neighbours i < j, shape (number of pairs, 2).
    bounded : which regions are bounded, shape (regions,).
    complete : False after Ctrl-C; then regions are missing, and so are pairs.
    lineality_dim, dimension : of the complex, and of the domain.
    """

    def __init__(
        self,
        network: Network,
        domain: Polyhedron,
        visits: list[RegionVisit],
        seen: int,
        frame: Frame,
    ) -> None:
        """Room-internal."""
        self.network, self.domain = network, domain
        self.all_regions = [visit.region for visit in visits]
        signs = [list(chain(*region.signs.layers)) for region in self.all_regions]
        self.signs: NDArray[np.int8] = np.array(signs, dtype=np.int8)
        pairs = {
            (i, j)
            for i, visit in enumerate(visits)
            for j in visit.neighbours
            if i < j < len(visits)
        }
        self.adjacency = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        self.bounded = np.array([region.bounded for region in self.all_regions], dtype=bool)
        self.complete = len(visits) == seen
        self.lineality_dim, self.dimension = len(frame.lineality), frame.true_dimension

    @property
    def regions(self) -> int:
        """The number of regions."""
        return len(self.signs)

    @property
    def bounded_regions(self) -> int:
        """The number of bounded regions."""
        return int(self.bounded.sum())

    @cached_property
    def graph(self) -> nx.Graph:
        """The regions as nodes with the attributes ``signs`` and ``bounded``, neighbours joined; see `dual_graph`."""
        graph = nx.Graph()
        for index, (region, bounded) in enumerate(
            zip(self.all_regions, self.bounded.tolist(), strict=True)
        ):
            graph.add_node(index, signs=str(region.signs), bounded=bounded)
        graph.add_edges_from(self.adjacency.tolist())
        return graph


def region_graph(
    network: Network,
    domain: Polyhedron | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RegionGraph:
    """The regions and their neighbours, without cells of lower dimension: for domains of many dimensions.

    Parameters
    ----------
    network, domain : see `walk_regions`.
    progress : called with the numbers of regions visited and seen.

    >>> from polyrelu.network import from_arrays
    >>> found = region_graph(from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])]))
    >>> found.regions, found.bounded_regions, len(found.adjacency)
    (7, 1, 9)
    """
    polyhedron = Polyhedron.universe(network.inputs) if domain is None else domain
    walk = _Walk(network, polyhedron)
    visits: list[RegionVisit] = []
    with deferred_interrupt() as interrupt:
        while len(visits) < len(walk.found) and not (interrupt.requested and visits):
            visits.append(walk.visit(len(visits)))
            if progress is not None:
                progress(len(visits), len(walk.found))
    return RegionGraph(network, polyhedron, visits, len(walk.found), walk.frame)


class _Walk:
    """The regions seen so far; y are the coordinates of the frame, forms rows [a | b] over (y, 1).

    Attributes
    ----------
    found : their signs, in order.
    """

    def __init__(self, network: Network, domain: Polyhedron) -> None:
        self._network, self._domain = network, domain
        self.frame = frame_of(network, domain)
        self._size = self.frame.dimension
        self._inputs = self.frame.embedding.take(rows=range(network.inputs))
        self._boundary = {row for row in _primitive(self.frame.constraints) if any(row[:-1])}
        self._all_bounded = domain.is_bounded()
        self.found: list[SignVector] = []
        self._numbers: dict[SignVector, int] = {}
        point = _point_inside([_inequality(row) for row in self._boundary], self._size)
        self._number(self._through(_signs_beside(point))[0])

    def _number(self, signs: SignVector) -> int:
        if signs not in self._numbers:
            self._numbers[signs] = len(self.found)
            self.found.append(signs)
        return self._numbers[signs]

    def _through(self, decide: Decide) -> tuple[SignVector, list[list[IntegerRow]]]:
        """The signs that are decided layer by layer, and the forms that they lead to."""
        activations, signs, forms = [self._inputs], [], []
        for number, layer in enumerate(self._network.layers[: self._network.hidden_layers], 1):
            form = RationalMatrix.zeros(layer.width, self._size).beside(layer.bias)
            for block in layer.blocks:
                form = form + block @ activations[block.source]
            forms.append(_primitive(form))
            signs.append(decide(number, forms[-1]))
            activations.append(form.scale_rows([int(sign > 0) for sign in signs[-1]]))
        return SignVector(tuple(signs)), forms

    def visit(self, index: int) -> RegionVisit:
        """A region that was seen, and the numbers of its neighbours."""
        signs = self.found[index]
        _, forms = self._through(lambda number, _: signs.layers[number - 1])
        facet_inequalities = {
            _times(row, sign) for row, sign in zip(chain(*forms), chain(*signs.layers), strict=True)
        }
        rows = [
            _inequality(row)
            for row in sorted(self._boundary | {row for row in facet_inequalities if any(row[:-1])})
        ]
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
        """The number of the region behind a facet, facet > 0 on this side."""
        pivot = next(j for j, entry in enumerate(facet) if entry)
        opposite = _times(facet, -1)

        def decide(number: int, rows: list[IntegerRow]) -> tuple[int, ...]:
            """Signs behind the facet, by the rule of the module's text."""
            found = []
            for row, before, sign in zip(
                rows, forms[number - 1], signs.layers[number - 1], strict=True
            ):
                vanishes = before in (facet, opposite) or not any(before)
                found.append(-_sign(row[pivot] * facet[pivot]) if vanishes else sign)
            return tuple(found)

        return self._number(self._through(decide)[0])

    def _region(self, index: int, inside: list[IntegerRow], point: list[int]) -> Region:
        signs = self.found[index]
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


def _signs_beside(point: list[int]) -> Decide:
    """Signs in a region at a point (y, t): those at y + (ε, ε², …) for every small ε > 0."""

    def decide(_: int, rows: list[IntegerRow]) -> tuple[int, ...]:
        """The sign of the first number that is not 0 among the value and the coefficients."""
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


def _primitive(forms: RationalMatrix) -> list[IntegerRow]:
    return [positive_primitive(row) for row in forms.integer_rows()]


def _inequality(row: IntegerRow) -> IntegerRow:
    """The form [a | b], meaning a·y + b ≥ 0, as the inequality [-a | b], and back."""
    return (*(-entry for entry in row[:-1]), row[-1])


def _times(row: IntegerRow, sign: int) -> IntegerRow:
    return tuple(sign * entry for entry in row)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
