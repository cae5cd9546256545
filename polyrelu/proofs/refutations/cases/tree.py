"""The search for a tree of cases.

A case is open if the relaxation allows sign · z < 0. Then the sign of one more neuron is fixed, in
both ways: of the neuron whose signs raise the least value of sign · z over a cone most, by product.
A proof of one side that does not use the new sign is a proof of the case itself, so that
the tree keeps only the splits that some proof uses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import numpy as np

from polyrelu.proofs.refutations.cases.cone import Cone, ConeAnswer
from polyrelu.proofs.refutations.cases.leaf import ExactCases, Leaf
from polyrelu.proofs.refutations.cases.relaxation import CaseAnswer, Relaxation
from polyrelu.proofs.refutations.cases.scope import Scope
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_case

__all__ = ["CaseSearch", "CaseTree", "Split"]


@dataclass(frozen=True, slots=True)
class CaseSettings:
    """Limits of the search.

    Attributes
    ----------
    num_trials
        Number of neurons that are tried at each split.
    least_share
        What a sign counts at least that shows nothing new.
    price_of_start
        Number of cases whose price is paid for the numbers of a candidate.
    max_depth
        Maximum number of splits one below the other.
    max_leaves
        Maximum number of leaves of a tree.
    """

    num_trials: int = 8
    least_share: float = 1e-4
    price_of_start: int = 10
    max_depth: int = 60
    max_leaves: int = 20_000


SETTINGS = CaseSettings()


@dataclass(frozen=True, slots=True)
class Split:
    """A neuron, and the trees of the cases where it is active and inactive."""

    neuron: int
    active: CaseTree
    inactive: CaseTree


CaseTree: TypeAlias = Split | Leaf

#: The sign of a neuron that is split, and how far the case is from its end.
_Side: TypeAlias = tuple[int, ConeAnswer]


class GiveUp(Exception):  # noqa: N818
    """A candidate is false, or too hard."""


class CaseSearch:
    """A search for a tree that proves one candidate.

    Parameters
    ----------
    scope
        The candidate and the neurons that matter.
    budget
        The work for linear programs.

    Attributes
    ----------
    is_false
        Whether a point was met that contradicts the candidate.
    """

    def __init__(self, scope: Scope, budget: Budget) -> None:
        self._scope, self._budget = scope, budget
        self._relaxation = Relaxation(scope)
        self._cone = Cone(scope, self._relaxation)
        self._exact = ExactCases(scope)
        self._price = price_of_case(self._relaxation.num_entries)
        budget.spend(SETTINGS.price_of_start * self._price)
        self._signs: dict[int, int] = {} if scope.guard is None else {scope.guard: 1}
        self._leaves = 0
        self.is_false = False

    def estimate(self, rng: Random, num_probes: int) -> float | None:
        """Return about how many cases there are, by random ways down; None if it gives up."""
        try:
            sizes = [self._probe(rng) for _ in range(num_probes)]
        except GiveUp:
            return None
        return sum(sizes) / len(sizes)

    def tree(self) -> CaseTree | None:
        """Return a tree that proves the candidate, or None."""
        try:
            return self._prove(self._measure(), 0)[0]
        except GiveUp:
            return None

    # -- one case --------------------------------------------------------------------------------

    def _look(self) -> CaseAnswer:
        """Return what the relaxation says of the current case."""
        self._budget.spend(self._price)
        answer = self._relaxation.answer()
        if answer.is_real:
            self.is_false = True
            raise GiveUp
        return answer

    def _measure(self) -> ConeAnswer:
        """Return how far the current case is from its end."""
        self._budget.spend(self._price)
        answer = self._cone.answer()
        if answer.is_real:
            self.is_false = True
            raise GiveUp
        return answer

    def _fix(self, neuron: int, sign: int) -> None:
        self._relaxation.fix(neuron, sign)
        self._cone.fix(neuron, sign)
        if sign:
            self._signs[neuron] = sign
        else:
            del self._signs[neuron]

    def _sides(self, neuron: int) -> list[_Side]:
        """Return how far both sides of a neuron are from their ends."""
        sides = []
        for sign in (1, -1):
            self._fix(neuron, sign)
            try:
                sides.append((sign, self._measure()))
            finally:
                self._fix(neuron, 0)
        return sides

    def _best_split(self, answer: ConeAnswer) -> tuple[int, list[_Side]]:
        """Return the neuron whose sign brings both sides nearest to their ends."""
        order = np.argsort(-answer.gaps, kind="stable")
        tried = [int(k) for k in order[: SETTINGS.num_trials] if answer.gaps[k] > 0]
        if not tried:
            raise GiveUp
        best: tuple[float, int, list[_Side]] | None = None
        for k in tried:
            sides = self._sides(k)
            worth = math.prod(_share_done(answer.value, side.value) for _, side in sides)
            if best is None or worth > best[0]:
                best = worth, k, sides
            if not any(side.value for _, side in sides):
                break
        assert best is not None
        return best[1:]

    # -- all cases -------------------------------------------------------------------------------

    def _prove(self, answer: ConeAnswer, depth: int) -> tuple[CaseTree, frozenset[int]]:
        """Return a tree for the current case, and the neurons whose known signs it uses."""
        closer = None if answer.value and answer.gaps.any() else self._look()
        if closer is not None and not closer.is_open:
            leaf = self._exact.leaf(self._signs, closer)
            if leaf is not None:
                self._leaves += 1
                if self._leaves > SETTINGS.max_leaves:
                    raise GiveUp
                return leaf, leaf.used
        if depth == SETTINGS.max_depth:
            raise GiveUp
        neuron, sides = self._best_split(answer) if closer is None else self._split_of(closer)
        sides.sort(key=lambda side: (side[1].value < 0, side[0]))
        trees: dict[int, CaseTree] = {}
        used = frozenset[int]()
        for sign, side in sides:
            self._fix(neuron, sign)
            try:
                tree, needed = self._prove(side, depth + 1)
            finally:
                self._fix(neuron, 0)
            if neuron not in needed:
                return tree, needed
            trees[sign], used = tree, used | needed
        return Split(neuron, trees[1], trees[-1]), used - {neuron}

    def _split_of(self, answer: CaseAnswer) -> tuple[int, list[_Side]]:
        """Return the next neuron where the cone shows none; any one if floats see no reason."""
        if answer.is_open:
            return self._best_split(ConeAnswer(-1.0, answer.gaps, False))
        unknown = [k for k in range(self._scope.num_neurons) if k not in self._signs]
        first = 0 if self._scope.reads_inputs else self._scope.starts[1]
        for k in reversed(unknown):
            if k >= first and answer.slopes[k]:
                return k, self._sides(k)
        raise GiveUp

    def _probe(self, rng: Random) -> float:
        """Return the size of a tree in which all ways down are like a random one."""
        answer, weight, size, path = self._measure(), 1.0, 1.0, list[int]()
        try:
            while answer.value and len(path) < SETTINGS.max_depth:
                if not answer.gaps.any():
                    break
                neuron = int(np.argmax(answer.gaps))
                still = [side for side in self._sides(neuron) if side[1].value]
                size += 2 * weight
                if not still:
                    break
                weight *= len(still)
                sign, answer = still[rng.randrange(len(still))]
                self._fix(neuron, sign)
                path.append(neuron)
        finally:
            for neuron in path:
                self._fix(neuron, 0)
        return size


def _share_done(before: float, after: float) -> float:
    """Return the share of what was left to be shown that a sign shows, not below a small number.

    Both are the values of the cone, which are at most 0.
    """
    return max(min((after - before) / -before, 1.0), SETTINGS.least_share)
