"""What does the tasks of searches, in this process or in another one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from polyrelu.certificate import LinearRow
from polyrelu.proofs.deviation.box_search import search_boxes
from polyrelu.proofs.deviation.certified import close_boxes
from polyrelu.proofs.deviation.compiled_rule import CompiledRule
from polyrelu.proofs.deviation.inherited_tree import close_subtrees
from polyrelu.proofs.deviation.problem import Problem
from polyrelu.proofs.deviation.rounded import LayerPartners, RoundedRule
from polyrelu.proofs.deviation.sign_search import cut_signs
from polyrelu.support.parallel import Execution, TaskStream
from polyrelu.support.parallel.wire import exact_numbers, exact_texts, packed, understood, unpacked

__all__ = ["tree_tasks"]

_T = TypeVar("_T")


def tree_tasks(
    problem: Problem, partners: Sequence[LayerPartners], execution: Execution
) -> TaskStream:
    """Return a stream of tasks of searches about a problem, and about what is made from it.

    Parameters
    ----------
    problem
        The problem.
    partners
        The partners of neurons by which the rule of certificates compares two networks.
    execution
        Who does the tasks.
    """
    return execution.stream(do_task, _Context(problem, partners), _name(problem, partners))


def do_task(context: _Context, data: bytes) -> bytes:
    """Do a task."""
    task = unpacked(data)
    with understood():
        kind, constants = task["kind"], task["constants"]
        numbers = None if constants is None else exact_numbers(constants)
    problem = context.problem(task["row"], numbers)
    with np.errstate(all="ignore"):
        if kind == "boxes":
            return search_boxes(problem, task)
        rule = context.rule(task["grid"])
        if kind == "leaves":
            return close_boxes(problem, rule, task)
        if kind == "subtrees":
            core = CompiledRule.of(rule, problem.rows)
            assert core is not None  # there would be no such task without it
            return close_subtrees(problem, core, task)
        return cut_signs(problem, rule, task)


@dataclass(slots=True)
class _Context:
    """What all tasks share, and what was made from it before."""

    base: Problem
    partners: Sequence[LayerPartners]
    _made: dict[Any, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[_Context], tuple[Any, ...]]:
        return _Context, (self.base, self.partners)

    def problem(self, row: int | None, constants: tuple[Fraction, ...] | None) -> Problem:
        """Return the problem of a task."""
        return self._kept(("problem", row, constants), lambda: self.base.changed(row, constants))

    def rule(self, grid: int) -> RoundedRule:
        """Return the rule on a grid."""
        base = self.base
        return self._kept(
            ("rule", grid),
            lambda: RoundedRule(base.first, base.second, base.coordinates, self.partners, grid),
        )

    def _kept(self, name: tuple[Any, ...], make: Callable[[], _T]) -> _T:
        """Return what was made before, or make it; there are few of these."""
        if name not in self._made:
            if len(self._made) >= 64:
                self._made.clear()
            self._made[name] = make()
        found: _T = self._made[name]
        return found


def _name(problem: Problem, partners: Sequence[LayerPartners]) -> str:
    """Return a hash of what all tasks share."""
    networks = [problem.first] if problem.second is None else [problem.first, problem.second]
    entries = {
        "networks": [network.sha256 for network in networks],
        "domain": problem.coordinates.domain.sha256,
        "rows": [_row_texts(row) for row in problem.rows],
        "clauses": problem.clauses,
        "partners": [
            [None if entry is None else [entry[0], *exact_texts([entry[1]])] for entry in layer]
            for layer in partners
        ],
    }
    return hashlib.sha256(packed(entries)).hexdigest()


def _row_texts(row: LinearRow) -> list[Any]:
    """Return a row as lists and texts."""
    parts: Iterable[Mapping[int, Fraction]] = (row.f, row.g, row.x)
    return [
        *([list(part), exact_texts(part.values())] for part in parts),
        exact_texts([row.constant]),
        row.is_strict,
    ]
