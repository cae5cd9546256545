"""Networks g with g(f(x)) = x on a domain, with certificates.

A search looks for an affine g, or for one that undoes the layers of f one by one. For a layer this
is an affine map of its outputs, and of max(f_j - c, 0) where neurons i and j have opposite rows and
are both active on a strip. The map is fitted to points, and a split tree proves the equation, or
gives a point where it fails, which joins the points (docs/theory/injectivity.md, claim 10).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from polyrelu.certificate import NodeRecord
from polyrelu.exact import Polyhedron, RationalMatrix, dot, solve
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported, as_network
from polyrelu.network import Network, from_arrays, to_document
from polyrelu.outcomes import Attempt, Injective, InjectivityStatistics, Undecided
from polyrelu.proofs.equivalence.witness import difference_point
from polyrelu.proofs.injectivity.claims import injectivity_certificate
from polyrelu.proofs.injectivity.composition import composed
from polyrelu.proofs.injectivity.next_steps import after_limit
from polyrelu.proofs.injectivity.parts import layer_range, part_of
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates, NodePolyhedron
from polyrelu.proofs.trees.search import TreeStatistics, search
from polyrelu.support.arguments import expect_count
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.prices import price_of_table
from polyrelu.support.typing import Point

__all__ = ["left_inverse"]


@dataclass(frozen=True, slots=True)
class LeftInverseSettings:
    """Limits of the search.

    Attributes
    ----------
    num_rounds
        Maximum number of maps that are fitted, each to one point more than the one before.
    extra_points
        Number of points beyond twice the number of unknowns of an output.
    size
        Largest coordinate of a direction.
    """

    num_rounds: int = 8
    extra_points: int = 8
    size: int = 16


_SETTINGS = LeftInverseSettings()


def left_inverse(
    network: NetworkLike,
    domain: DomainLike = None,
    *,
    inverse: NetworkLike | None = None,
    layers: int | tuple[int, int] | None = None,
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> Injective | Undecided:
    """Prove that a network is injective by a network g with g(f(x)) = x, given or searched.

    Parameters
    ----------
    network
        A network f of any architecture, or what `polyrelu.load` takes.
    domain
        Any nonempty polyhedron of inputs of the first of the layers, or the text of one; R^n by
        default.
    inverse
        The network g, which reads the outputs of the layers; by default one is searched.
    layers
        The number of a layer, or of the first and the last one of a part; all layers by default.
    seed
        Seed of the points to which maps are fitted.
    budget
        Units of work, or a `Budget` with all limits; None for no limit.
    time_limit
        Seconds; no limit by default.
    memory_limit
        MiB of the process; no limit by default.

    Returns
    -------
    Injective or Undecided
        A proof whose `inverse` is the network g; or the reason why none was found, or where the
        given one fails. Injective networks need not have a left inverse of the kinds that are
        searched.

    Raises
    ------
    NetworkError
        A network cannot be read or has other sizes, or the layers read activations from before.
    DomainError
        The domain is not understood, is empty or has another dimension.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> strip = from_arrays([([[1], [-2]], [0, 3])], last="relu")   # both are active on (0, 3/2)
    >>> found = left_inverse(strip)
    >>> found.status, found.theorem, found.inverse(strip([Fraction(-5, 7)]))
    ('proved', 'left-inverse', (Fraction(-5, 7),))
    >>> left_inverse([([[1, 0], [0, 1], [-1, -1]], [0, 0, 0])]).inverse.num_parameters
    8
    """
    imported = as_imported(network)
    ends = layer_range(layers, imported.network.depth)
    part = part_of(imported.network, *ends)
    question = _Question(
        imported.network,
        ends,
        part,
        DomainCoordinates.of(as_domain(domain, part.num_inputs)),
        Random(expect_count(seed, "seed")),
    )
    limits = as_budget(budget, time_limit, memory_limit)
    given = None if inverse is None else as_network(inverse)
    with deferred_interrupt() as interrupt:
        limits = limits.with_interrupt(interrupt)
        try:
            outcome = question.answer(given, limits)
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None:
                raise
            outcome = Undecided(why, (), InjectivityStatistics(), next=after_limit(limits))
    return with_sources(outcome, imported)


@dataclass(slots=True)
class _Question:
    """Some layers of a network on a domain."""

    network: Network
    layers: tuple[int, int]
    part: Network
    coordinates: DomainCoordinates
    random: Random

    def answer(self, given: Network | None, budget: Budget) -> Injective | Undecided:
        """Try a given inverse, or look for one."""
        budget.check()
        if given is not None:
            if not given.is_plain:
                return _undecided("an inverse whose layers read activations of several others")
            records = _proof(self.part, given, self.coordinates, budget)
            if isinstance(records, list):
                return self._proved(given, records)
            x = ", ".join(map(str, records))
            return _undecided(f"the inverse maps the outputs at ({x}) to another point")
        for find in (self._affine, self._layer_by_layer):
            found = find(budget)
            if found is not None:
                records = _proof(self.part, found, self.coordinates, budget)
                if isinstance(records, list):
                    return self._proved(found, records)
        return _undecided("no left inverse was found, neither an affine one nor one of each layer")

    def _affine(self, budget: Budget) -> Network | None:
        return _fitted(self.part, [], self.coordinates, self.random, budget)

    def _layer_by_layer(self, budget: Budget) -> Network | None:
        """Return a network that undoes the last layer first."""
        if not self.part.is_plain:
            return None
        back: Network | None = None
        for number in range(self.part.depth, 0, -1):
            layer, here = part_of(self.part, number, number), self.coordinates
            if number > 1:
                here = DomainCoordinates.of(Polyhedron.orthant(layer.num_inputs))
            hinges = _hinges(layer) if layer.num_hidden_layers else []
            found = _fitted(layer, hinges, here, self.random, budget)
            if found is None:
                return None
            back = found if back is None else composed(back, found)
        return back

    def _proved(self, inverse: Network, records: Sequence[NodeRecord]) -> Injective:
        nodes = [record.to_json() for record in records]
        certificate = injectivity_certificate(
            "injective",
            self.network,
            self.layers,
            self.coordinates,
            "left-inverse",
            {"inverse": {"network": to_document(inverse)}, "identity": {"nodes": nodes}},
        )
        leaves = sum(record.split is None for record in records)
        work = InjectivityStatistics(num_nodes=len(records), num_leaves=leaves, closed=1.0)
        return Injective(certificate, work)


def _undecided(reason: str) -> Undecided:
    return Undecided(reason, (Attempt("left-inverse", reason),), InjectivityStatistics())


def _proof(
    network: Network, inverse: Network, coordinates: DomainCoordinates, budget: Budget
) -> list[NodeRecord] | Point:
    """Return the tree that proves inverse(network(x)) = x, or a point x where it is wrong."""
    size = network.num_inputs
    rows = [[int(i == j) for j in range(size)] for i in range(size)]
    joint = JointNetwork(
        composed(network, inverse), from_arrays([(rows, [0] * size)]), coordinates.inputs
    )
    records = list[NodeRecord]()
    if not joint.difference:
        return [NodeRecord([], None)]
    root, work = NodePolyhedron.at_root(coordinates), TreeStatistics()
    found = search(joint, root, records.append, budget, work)
    if found is None:
        return records
    point = found.point or difference_point(
        found.polyhedron,
        found.expressions,
        [sample.point for sample in found.samples],
        lambda point: _is_wrong(network, inverse, coordinates.to_inputs(point)),
        0,
        budget,
    )
    return coordinates.to_inputs(point)


def _is_wrong(network: Network, inverse: Network, x: Point) -> bool:
    return inverse(network(x)) != x


def _fitted(
    network: Network,
    hinges: Sequence[tuple[int, Fraction]],
    coordinates: DomainCoordinates,
    random: Random,
    budget: Budget,
) -> Network | None:
    """Return a map of the outputs f_j, and of max(f_j - c, 0) for hinges (j, c), that is proved."""
    num_unknowns = 1 + network.widths[-1] + len(hinges)
    stream = _points(coordinates, random)
    points = list(itertools.islice(stream, 2 * num_unknowns + _SETTINGS.extra_points))
    for _ in range(_SETTINGS.num_rounds):
        budget.spend(price_of_table(len(points) * num_unknowns**2))
        values = network.evaluate(points)
        features = [
            [*f, *(max(f[j] - c, Fraction(0)) for j, c in hinges), Fraction(1)] for f in values
        ]
        matrix = solve(RationalMatrix.from_rows(features), RationalMatrix.from_rows(points))
        if matrix is None:
            return None
        found = _network_of(matrix.transpose(), hinges, network.widths[-1])
        wrong = _proof(network, found, coordinates, budget)
        if isinstance(wrong, list):
            return found
        points += [wrong, *itertools.islice(stream, num_unknowns)]
    return None


def _network_of(
    matrix: RationalMatrix, hinges: Sequence[tuple[int, Fraction]], num_outputs: int
) -> Network:
    """Return the network of a fitted map; its inputs are not negative where there are hinges."""
    rows = [list(row) for row in matrix.rows()]
    last = ([row[:-1] for row in rows], [row[-1] for row in rows])
    if not hinges:
        return from_arrays([last])
    unit = [[int(i == j) for j in range(num_outputs)] for i in range(num_outputs)]
    first = [*unit, *(unit[j] for j, _ in hinges)]
    return from_arrays([(first, [*[0] * num_outputs, *(-c for _, c in hinges)]), last])


def _hinges(layer: Network) -> list[tuple[int, Fraction]]:
    """Return (j, c) where a row is -μ w_i, μ > 0, and z_j < c if and only if z_i > 0.

    Then w_i·x + b_i = f_i - max(f_j - c, 0)/μ, if c ≥ 0; c = 0 needs no new neuron.
    """
    rows = [list(row) for row in layer.weight(1).rows()]
    bias, found = list(layer.bias(1).entries()), list[tuple[int, Fraction]]()
    for i, j in itertools.permutations(range(len(rows)), 2):
        factors = {-y / x if x else None for x, y in zip(rows[i], rows[j], strict=True) if x or y}
        factor = factors.pop() if len(factors) == 1 else None
        if factor is not None and factor > 0 and bias[j] + factor * bias[i] > 0:
            found.append((j, bias[j] + factor * bias[i]))
    return sorted({*found})


def _points(coordinates: DomainCoordinates, random: Random) -> Iterator[tuple[Fraction, ...]]:
    """Yield points of the domain, far ones and near ones, none of them on its boundary."""
    scale, *entries = coordinates.to_coordinates(coordinates.inside)
    inside = [Fraction(entry, scale) for entry in entries]
    size = len(inside)
    rows = list[list[int]]()
    for form in coordinates.inequalities:
        if form is not None:
            row = [0] * (size + 1)
            for column, entry in zip(*form, strict=True):
                row[column] = entry
            rows.append(row)
    while True:
        direction = [random.randint(-_SETTINGS.size, _SETTINGS.size) for _ in range(size)]
        step = Fraction(2) ** random.randint(-6, 4)
        for row in rows:
            slope, value = dot(row[1:], direction), row[0] + dot(row[1:], inside)
            if slope < 0:
                step = min(step, value / -slope * Fraction(random.randint(1, 7), 8))
        y = [a + step * b for a, b in zip(inside, direction, strict=True)]
        yield tuple((coordinates.inputs @ RationalMatrix.column([1, *y])).entries())
