"""The decision by cells: different points of one cell, then of each pair of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import (
    exact_numbers,
    exact_texts,
    packed,
    understood,
    unpacked,
)
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
    execution
        Who compares pairs of cells.
    """

    network: Network
    coordinates: DomainCoordinates
    work: InjectivityStatistics
    progress: Progress | None
    execution: Execution

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
        price = price_of_sign_system(self.network.num_outputs, size)
        for answer in self._answers(cells, num_pairs):
            budget.spend(price)
            with understood():
                if isinstance(answer, dict):
                    one, two = map(exact_numbers, answer["points"])
                    return self._to_inputs(one), self._to_inputs(two)
                found.append(answer)
            self.work.closed = len(found) / num_pairs
            if len(found) % SETTINGS.pairs_per_report == 0:
                report(self.progress, "comparing cells", len(found), num_pairs, "pairs")
        self.work.closed = 1.0
        return found

    def _answers(self, cells: Sequence[Cell], num_pairs: int) -> Iterator[Any]:
        """Yield the answers of `compare_cells` for all pairs in order; some pairs are a task."""
        size = SETTINGS.pairs_per_task
        starts = iter(range(0, num_pairs, size))
        with self.execution.stream(_compared, list(cells), "pairs of cells") as stream:
            for start in range(0, num_pairs, size):
                while stream.num_waiting < SETTINGS.tasks_ahead:
                    if (begin := next(starts, None)) is None:
                        break
                    stream.add(packed([begin, min(begin + size, num_pairs)]))
                answers = unpacked(stream.take())
                with understood():
                    is_end = bool(answers) and isinstance(answers[-1], dict)
                    if len(answers) != min(size, num_pairs - start) and not is_end:
                        raise ValueError("another number of pairs")
                yield from answers

    def _to_inputs(self, y: Sequence[Fraction]) -> tuple[Fraction, ...]:
        image = self.coordinates.inputs @ RationalMatrix.column([1, *y])
        return tuple(image.entries())

    def _has_full_rank(self, cell: Cell, prime: int) -> bool:
        size = self.coordinates.dimension
        rows = [row[:-1] for row in cell.outputs]
        return rank_mod(RationalMatrix.from_integers(rows, ncols=size), prime) == size


def _compared(cells: Sequence[Cell], task: bytes) -> bytes:
    """Compare some pairs of cells up to one that collides, as a function of a task."""
    first, last = unpacked(task)
    answers = list[Any]()
    for pair in range(first, last):
        answer = compare_cells(*_pair(cells, pair))
        if isinstance(answer, tuple):
            answers.append({"points": list(map(exact_texts, answer))})
            break
        answers.append(answer)
    return packed(answers)


def _pair(cells: Sequence[Cell], number: int) -> tuple[Cell, Cell]:
    """Return a pair in the order (0, 1), (0, 2), (1, 2), (0, 3), …"""
    j = (1 + math.isqrt(1 + 8 * number)) // 2
    return cells[number - j * (j - 1) // 2], cells[j]
