"""A large split tree in tasks: its first nodes in one process, then parts of it in many.

The search begins as `search` does. After some work the nodes that are still open become tasks
(`polyrelu.support.parallel`). A task visits some neighbouring open nodes and what is below them, in
prefix order, until it has done a fixed amount of work. It returns the records of the nodes that it
has visited and the nodes that are left open, which go into further tasks.

Which nodes form a task is decided from the results of tasks that lie a fixed number of tasks back,
and the records are put together in prefix order. So the tree does not depend on the workers.

An open node is sent as the splits above it, from which its forms are computed again, and some of
its known points. Points only spare linear programs.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from polyrelu.certificate import NodeRecord, SignRecord
from polyrelu.exact import parse_rational
from polyrelu.proofs.trees.bounds import BoxBounds
from polyrelu.proofs.trees.expressions import JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates, NodePolyhedron
from polyrelu.proofs.trees.search import (
    Difference,
    OpenNode,
    Sample,
    Step,
    TreeSearch,
    TreeStatistics,
)
from polyrelu.proofs.trees.settings import SETTINGS
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import Execution, TaskStream
from polyrelu.support.parallel.wire import packed, understood, unpacked, work_of

__all__ = ["do_task", "search_by_tasks"]


def search_by_tasks(
    joint: JointNetwork,
    coordinates: DomainCoordinates,
    record: Callable[[NodeRecord], None],
    budget: Budget,
    statistics: TreeStatistics,
    execution: Execution,
) -> Difference | None:
    """Search a tree as `search` does, after some work by tasks.

    Parameters
    ----------
    joint, record, budget, statistics
        As for `search`.
    coordinates
        The domain, which is the polyhedron of the root.
    execution
        Who does the tasks.

    Returns
    -------
    Difference or None
        Where the networks differ; None if the tree is complete.

    Raises
    ------
    PolyreluError
        The result of a task, from a checkpoint or a worker, is not understood.
    """
    counted, waiting, before = budget.part(None), [OpenNode()], statistics.num_nodes
    search = TreeSearch(joint, NodePolyhedron.at_root(coordinates), counted, statistics)

    def is_large() -> bool:
        """Whether the search has taken as long as a task, and a task would visit several nodes."""
        nodes = statistics.num_nodes - before
        return len(waiting) > 1 and 1 <= counted.spent / SETTINGS.task_work <= nodes

    found = search.run(record, waiting, is_large)
    if found is not None or not waiting:
        return found
    context = _Context(joint, coordinates, search.bounds)
    name = hashlib.sha256(packed([_row_texts(row) for row in joint.difference])).hexdigest()
    with execution.stream(do_task, context, name) as tasks:
        rest = _Rest([_entry(node) for node in reversed(waiting)], record)
        differing = rest.close(tasks, budget, statistics)
    if differing is None:
        return None
    with understood():
        found = search.run(lambda _: None, [context.node(differing)])
        if found is None:
            raise ValueError("the networks do not differ there")
    return found


def _row_texts(row: SparseForm) -> list[Any]:
    return [row.columns, [f"{entry:x}" for entry in row.numerators]]


# -- the process that decides ----------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class _Part:
    """Neighbouring nodes that are open, or a task; or the records of such nodes."""

    nodes: list[Any]
    is_begun: bool = False
    records: list[NodeRecord] | None = None


class _Rest:
    """What is left of a tree, in prefix order.

    Parameters
    ----------
    nodes
        The open nodes, as entries of `_entry`.
    record
        Takes the records in prefix order.
    """

    def __init__(self, nodes: list[Any], record: Callable[[NodeRecord], None]) -> None:
        self._parts, self._begun, self._record = [_Part(nodes)], deque[_Part](), record

    def close(self, tasks: TaskStream, budget: Budget, statistics: TreeStatistics) -> Any | None:
        """Visit all nodes by tasks; return the entry of one where the networks differ, or None."""
        try:
            while self._parts:
                while len(self._begun) < SETTINGS.num_ahead and (nodes := self._next_nodes()):
                    tasks.add(packed({"work": SETTINGS.task_work, "nodes": nodes}))
                result = unpacked(tasks.take())
                budget.spend(work_of(result))
                with understood():
                    _count(statistics, result["counts"])
                    if result["differs"] is not None:
                        return result["differs"]
                    self._finish(self._begun.popleft(), result)
                self._hand_out()
        finally:
            tasks.forget()
        return None

    def _next_nodes(self) -> list[Any]:
        """Return the nodes of the next task, the first ones that are open; none if none are."""
        waiting = [part for part in self._parts if not part.is_begun]
        if not waiting:
            return []
        share = sum(len(part.nodes) for part in waiting) // SETTINGS.num_ahead
        size, part = min(max(share, 1), SETTINGS.nodes_per_task), waiting[0]
        if len(part.nodes) > size:
            self._parts.insert(self._parts.index(part) + 1, _Part(part.nodes[size:]))
            del part.nodes[size:]
        part.is_begun = True
        self._begun.append(part)
        return part.nodes

    def _finish(self, part: _Part, result: Any) -> None:
        """Take the result of a task."""
        part.records = [_node_record(entry) for entry in result["records"]]
        if left := list(result["left"]):
            self._parts.insert(self._parts.index(part) + 1, _Part(left))

    def _hand_out(self) -> None:
        """Hand out the records that come next in prefix order."""
        while self._parts and (records := self._parts[0].records) is not None:
            for record in records:
                self._record(record)
            del self._parts[0]


def _count(statistics: TreeStatistics, counts: Any) -> None:
    """Add the counts of a task."""
    nodes, leaves, depth, signs, programs = map(int, counts[:5])
    statistics.num_nodes += nodes
    statistics.num_leaves += leaves
    statistics.depth = max(statistics.depth, depth)
    statistics.num_signs += signs
    statistics.num_programs += programs
    statistics.closed += float(counts[5]) / statistics.num_trees


# -- tasks -----------------------------------------------------------------------------------------


def do_task(context: _Context, data: bytes) -> bytes:
    """Visit some open nodes and what is below them, until the work of the task is done."""
    task = unpacked(data)
    budget, statistics, records = Budget(), TreeStatistics(), list[Any]()
    polyhedron = NodePolyhedron.at_root(context.coordinates)
    search = TreeSearch(context.joint, polyhedron, budget, statistics, context.bounds)
    with understood():
        left, work = deque(task["nodes"]), float(task["work"])
    found: Difference | None = None
    while left and budget.spent < work and found is None:
        with understood():
            waiting = [context.node(left.popleft())]
        found = search.run(
            lambda node: records.append(node.to_json()), waiting, lambda: budget.spent >= work
        )
        left.extendleft(map(_entry, waiting))
    counts = [
        statistics.num_nodes,
        statistics.num_leaves,
        statistics.depth,
        statistics.num_signs,
        statistics.num_programs,
        statistics.closed,
    ]
    return packed(
        {
            "records": records,
            "left": list(left),
            "differs": None if found is None else _entry(found.node, found.samples),
            "counts": counts,
            "work": budget.spent,
        }
    )


@dataclass(slots=True)
class _Context:
    """What all tasks share, and the signs after the splits that were met before.

    Attributes
    ----------
    joint, coordinates
        As for `search_by_tasks`.
    bounds
        The bounds at the root.
    """

    joint: JointNetwork
    coordinates: DomainCoordinates
    bounds: BoxBounds
    _met: dict[tuple[Step, ...], OpenNode] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[_Context], tuple[Any, ...]]:
        return _Context, (self.joint, self.coordinates, self.bounds)

    def node(self, entry: Any) -> OpenNode:
        """Return the node of an entry."""
        steps = tuple(
            (tuple(tuple((atom, sign) for atom, sign in group) for group in rounds), split, side)
            for rounds, split, side in entry[0]
        )
        points = [tuple(int(text, 16) for text in texts) for texts in entry[1]]
        samples = [Sample(self.joint, point) for point in points]
        return replace(self._after(steps), samples=samples)

    def _after(self, steps: tuple[Step, ...]) -> OpenNode:
        """Return the node below some splits, without samples."""
        known = next(k for k in range(len(steps), -1, -1) if not k or steps[:k] in self._met)
        node = self._met[steps[:known]] if known else OpenNode()
        if len(self._met) + len(steps) > SETTINGS.remembered_nodes:
            self._met.clear()
        for step in steps[known:]:
            node = self._below(node, step)
            self._met[node.steps] = node
        return node

    def _below(self, node: OpenNode, step: Step) -> OpenNode:
        """Return the node after one more split."""
        rounds, split, side = step
        known = node.known
        for group in rounds:
            terms = self._terms(known)
            known = known.extended((terms[atom], sign) for atom, sign in group)
        term = self._terms(known)[split]
        cut = term.form if side > 0 else negated(term.form), term.factor
        return OpenNode((*node.steps, step), (*node.cuts, cut), known.extended([(term, side)]))

    def _terms(self, known: KnownSigns) -> dict[int, Term]:
        """Return the terms that are left where some signs are known, by the number of the atom."""
        terms = self.joint.expressions(known).terms
        return {self.joint.atom_number(term.symbol): term for term in terms}


# -- texts -----------------------------------------------------------------------------------------


def _entry(node: OpenNode, samples: Sequence[Sample] | None = None) -> list[Any]:
    """Return a node for a task: the splits above it, and some points of its polyhedron."""
    chosen = node.samples if samples is None else samples
    sent = sorted(chosen[-SETTINGS.samples_sent :], key=lambda sample: not sample.differs)
    return [node.steps, [[f"{entry:x}" for entry in sample.point] for sample in sent]]


def _node_record(entry: Any) -> NodeRecord:
    """Return the record that `NodeRecord.to_json` wrote."""
    rounds = [[_sign_record(*values) for values in group] for group in entry["signs"]]
    return NodeRecord(rounds, entry.get("split"))


def _sign_record(atom: int, mark: str, value: str, rows: Any, slopes: Any) -> SignRecord:
    sign = 1 if mark == "+" else -1
    return SignRecord(atom, sign, parse_rational(value), _multiples(rows), _multiples(slopes))


def _multiples(pairs: Iterable[tuple[int, str]]) -> dict[int, Fraction]:
    return {number: parse_rational(text) for number, text in pairs}
