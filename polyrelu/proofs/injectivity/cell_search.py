"""The decision by cells: different points of one cell, then of each pair of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polyrelu.complex import canonical_complex
from polyrelu.complex.payment import PaidCuts
from polyrelu.exact import PRIMES, RationalMatrix, rank_mod
from polyrelu.network import Network
from polyrelu.outcomes import InjectivityStatistics
from polyrelu.proofs.injectivity.cell_pairs import compare_cells
from polyrelu.proofs.injectivity.cells import Cell, CellTree, pair_in_region
from polyrelu.proofs.injectivity.collisions import PointPair
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_sign_system
from polyrelu.support.progress import Progress, report

__all__ = ["CellSearch"]

Evidence = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CellSearch:
    """A network on a domain, whose cells are compared.

    Attributes
    ----------
    network
        The network.
    coordinates
        The domain.
    work
        The work that was done, which grows.
    progress
        Called after each step, if it is not None.
    """

    network: Network
    coordinates: DomainCoordinates
    work: InjectivityStatistics
    progress: Progress | None

    def run(self, budget: Budget) -> Evidence | PointPair | None:
        """Return evidence, two points with equal outputs, or None if the primes are unlucky.

        Raises
        ------
        LimitReached
            A limit of the budget is reached.
        DomainError
            The cells cannot be listed.
        """
        paid = PaidCuts(budget, self.coordinates.dimension, self.progress)
        cells = canonical_complex(self.network, self.coordinates.domain, progress=paid)
        budget.check()
        for index in range(cells.num_regions):
            if (points := pair_in_region(cells, index, self.coordinates.inputs)) is not None:
                return points
        tree = CellTree.of(cells, budget, budget.check)
        self.work.num_nodes += len(tree.nodes)
        self.work.num_leaves += len(tree.cells)
        compared = self._compared(tree.cells, budget)
        if isinstance(compared, tuple):
            return compared
        for prime in PRIMES:
            if all(self._has_full_rank(cell, prime) for cell in tree.cells):
                nodes = {"prime": str(prime), "nodes": tree.nodes}
                return {"cells": nodes, "pairs": {"pairs": compared}}
        return None

    def _compared(self, cells: Sequence[Cell], budget: Budget) -> list[list[list[int]]] | PointPair:
        """Return the dependences of all pairs, or two points with equal outputs."""
        found, size = list[list[list[int]]](), 2 * self.coordinates.dimension + 1
        num_pairs = len(cells) * (len(cells) - 1) // 2
        for j, two in enumerate(cells):
            for one in cells[:j]:
                budget.spend(price_of_sign_system(len(one.outputs), size))
                answer = compare_cells(one, two)
                if isinstance(answer, tuple):
                    return self._to_inputs(answer[0]), self._to_inputs(answer[1])
                found.append(answer)
                self.work.closed = len(found) / num_pairs
                if len(found) % SETTINGS.pairs_per_report == 0:
                    report(self.progress, "comparing cells", len(found), num_pairs, "pairs")
        self.work.closed = 1.0
        return found

    def _to_inputs(self, y: Sequence[Fraction]) -> tuple[Fraction, ...]:
        image = self.coordinates.inputs @ RationalMatrix.column([1, *y])
        return tuple(image.entries())

    def _has_full_rank(self, cell: Cell, prime: int) -> bool:
        size = self.coordinates.dimension
        rows = [row[:-1] for row in cell.outputs]
        return rank_mod(RationalMatrix.from_integers(rows, ncols=size), prime) == size
