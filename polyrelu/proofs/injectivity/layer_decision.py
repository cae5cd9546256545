"""The decision about one layer: a tree of records, or two points with equal outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, rank_mod
from polyrelu.network import Layer
from polyrelu.outcomes import InjectivityStatistics
from polyrelu.proofs.injectivity.collisions import PointPair, colliding_points
from polyrelu.proofs.injectivity.layer_system import LayerSystem
from polyrelu.proofs.injectivity.least_active import LeastActive
from polyrelu.proofs.injectivity.node_search import NodeSearch, PointFound, Record
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import Execution
from polyrelu.support.prices import price_of_sign_system
from polyrelu.support.progress import Progress, report

__all__ = ["LayerSearch", "UnluckyPrime"]


class UnluckyPrime(Exception):  # noqa: N818 - a control flow
    """Rows are independent, but not modulo the prime that was used."""


@dataclass(frozen=True, slots=True)
class LayerSearch:
    """What the decisions about the layers of one question share.

    Attributes
    ----------
    seed
        Seed of the local search.
    prime
        The prime modulo which rows are independent.
    work
        The work that was done, which grows.
    progress
        Called after each node, if it is not None.
    execution
        Keeps the parts of trees in a checkpoint, if there is one.
    """

    seed: int
    prime: int
    work: InjectivityStatistics
    progress: Progress | None
    execution: Execution

    def decide(
        self,
        number: int,
        layer: Layer,
        coordinates: DomainCoordinates,
        is_affine: bool,
        budget: Budget,
    ) -> list[Record] | PointPair:
        """Return a tree, or two points with equal outputs, for the layer with a number.

        Raises
        ------
        LimitReached
            The budget is used up.
        UnluckyPrime
            Another prime may prove that the layer is injective.
        """
        if is_affine:
            return self._decide_affine(layer, coordinates)
        system = LayerSystem.of(layer.weight, layer.bias, coordinates)
        price = price_of_sign_system(len(system.rows), system.dimension)
        walk = LeastActive(system, self.seed, lambda: budget.spend(SETTINGS.line_share * price))
        try:
            if (points := walk.run()) is not None:
                return points
        finally:
            self.work.num_active = walk.num_active
        search = NodeSearch(system, self.prime, lambda: budget.spend(price))
        return self._searched(system, search, f"layer {number} modulo {self.prime}")

    def _decide_affine(
        self, layer: Layer, coordinates: DomainCoordinates
    ) -> list[Record] | PointPair:
        """Return no records for an affine map of full rank, or two points with equal values.

        The layer of W x + b and of -W x - b has the same collisions.
        """
        weight, bias = layer.weight, layer.bias
        system = LayerSystem.of(weight.over(-weight), bias.over(-bias), coordinates)
        inside = coordinates.to_coordinates(coordinates.inside)
        points = colliding_points(system, [*inside[1:], inside[0]])
        if points is not None:
            return points
        linear = [row[:-1] for row in system.neurons]
        rank = rank_mod(RationalMatrix.from_integers(linear, ncols=system.dimension), self.prime)
        if rank < system.dimension:
            raise UnluckyPrime
        return []

    def _searched(
        self, system: LayerSystem, search: NodeSearch, name: str
    ) -> list[Record] | PointPair:
        """Run the search in nodes, and note its work."""
        work, before = self.work, InjectivityStatistics(**_numbers(self.work))

        def note() -> None:
            """Add the work of this search so far to the work before it."""
            tree = search.tree
            work.num_nodes = before.num_nodes + len(tree.records)
            work.num_leaves = before.num_leaves + tree.num_leaves
            work.num_programs = before.num_programs + tree.num_programs
            work.depth = max(before.depth, tree.depth)
            work.closed = min(tree.closed, 1.0)

        def step() -> None:
            """Note the work, and report it."""
            note()
            report(
                self.progress,
                "search for a point where the active rows do not span",
                work.num_nodes,
                None,
                "nodes",
                {"percent closed": 100 * work.closed},
            )

        try:
            search.run(step, self.execution, name)
        except PointFound as found:
            points = colliding_points(system, _homogeneous(found.place))
            if points is None:
                raise UnluckyPrime from None
            return points
        finally:
            note()
        return search.tree.records


def _numbers(work: InjectivityStatistics) -> dict[str, int]:
    """Return the numbers that add up over several searches."""
    names = ("num_nodes", "num_leaves", "depth", "num_programs")
    return {name: getattr(work, name) for name in names}


def _homogeneous(place: Sequence[Fraction]) -> list[int]:
    """Return a positive multiple in integers."""
    scale = math.lcm(*(entry.denominator for entry in place))
    return [int(entry * scale) for entry in place]
