"""The search for a point where the active rows of a layer do not span, or for a proof of none.

A node is a pair (U, P): signs P of some neurons, and a subspace U that the active rows contain at
every generic point with these signs. One system of signs (`SignSystem`) asks for a point with the
signs P where every neuron outside U is negative. A point ends the search. A dependence says that
one of the *new* rows, those that are in it and not in P, is active wherever P holds:

* if there are no new rows, no generic point has the signs P: the node is *pruned*;
* if all new rows are on one line modulo U, then U *grows* by it;
* near full rank several disjoint dependences are *packed*: if every choice of one new row from each
  is independent modulo U, the active rows span;
* otherwise the node is *split*: the first active one of the new rows, in some order, joins U.

Dependences should have few new rows and empty nodes should be seen early, so new rows are costly
and rows of P are not. The proof is in docs/theory/injectivity.md, the records in FORMAT.md §3.10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import Dependence, RationalMatrix, SignSystem, primitive, rank
from polyrelu.proofs.injectivity.compiled_search import CompiledSearch, compiled_search
from polyrelu.proofs.injectivity.independence import Quotient
from polyrelu.proofs.injectivity.layer_system import LayerSystem
from polyrelu.support.budget import LimitReached
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import packed, understood, unpacked

__all__ = ["LayerTree", "NodeSearch", "OpenNode", "PointFound", "Record"]

#: The kind of a node, and the rows of its dependence or, of packed ones, of several.
Record: TypeAlias = tuple[str, list[int]] | tuple[str, list[list[int]]]

#: A node that is still to be visited, as JSON has it: members of U in order, the signs of all
#: neurons, its share of the tree, and its depth.
OpenNode: TypeAlias = tuple[list[int], list[int], float, int]
#: This process, without a checkpoint.
_ALONE = Execution()


@dataclass(frozen=True, slots=True)
class NodeSearchSettings:
    """Limits of the search.

    Attributes
    ----------
    max_packed
        Maximum number of dependences that are packed.
    max_choices
        Maximum number of choices of one row from each of them.
    nodes_per_call
        Number of nodes that the compiled core visits in one call.
    calls_per_part
        Number of calls in a part, after which a search can go on in another process.
    """

    max_packed: int = 3
    max_choices: int = 5_000
    nodes_per_call: int = 64
    calls_per_part: int = 32


_SETTINGS = NodeSearchSettings()


class PointFound(Exception):  # noqa: N818 - not an error: the search has found what it looks for
    """The end of the search: a point where all neurons outside a subspace are negative."""

    def __init__(self, place: Sequence[Fraction]) -> None:
        super().__init__()
        self.place = tuple(place)


class _Node(NamedTuple):
    """A node that is still to be visited, and the share of the tree that it stands for."""

    quotient: Quotient
    signs: NDArray[np.int8]
    share: float
    depth: int


@dataclass(slots=True)
class LayerTree:
    """The nodes of a tree in prefix order.

    Attributes
    ----------
    records
        A record for each node.
    num_leaves
        Number of nodes and branches without nodes below them.
    depth
        Largest depth of a node.
    closed
        Share of the tree that is finished, if every split divides what is left evenly.
    num_programs
        Number of systems of signs that were solved.
    """

    records: list[Record] = field(default_factory=list)
    num_leaves: int = 0
    depth: int = 0
    closed: float = 0.0
    num_programs: int = 0


class NodeSearch:
    """The search on one layer.

    Parameters
    ----------
    system
        The layer.
    prime
        The prime modulo which rows are independent.
    spend
        Called before each system of signs.

    Attributes
    ----------
    tree
        What is finished.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron, RationalMatrix
    >>> from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
    >>> plane = DomainCoordinates.of(Polyhedron.universe(2))
    >>> weight = RationalMatrix.from_rows([[1, 0], [0, 1], [-1, 0], [0, -1]])
    >>> system = LayerSystem.of(weight, RationalMatrix.zeros(4, 1), plane)
    >>> search = NodeSearch(system, 2**31 - 1)
    >>> search.run()
    >>> search.tree.records
    [('grow', [0, 2]), ('grow', [1, 3])]
    """

    def __init__(
        self, system: LayerSystem, prime: int, spend: Callable[[], None] = lambda: None
    ) -> None:
        self._system, self._prime, self._spend = system, prime, spend
        self._size, self._dimension = len(system.neurons), system.dimension
        self._inside = np.ones(len(system.limits), dtype=np.int8)
        self._rounded = system.rounded()[: self._size]
        self._signs = SignSystem(system.rows)
        self._note: Callable[[], None] = lambda: None
        self._num_parts = 0
        self.tree = LayerTree()

    def run(
        self,
        note: Callable[[], None] = lambda: None,
        execution: Execution = _ALONE,
        name: str = "",
    ) -> None:
        """Finish the tree; raise `PointFound` if there is a point.

        Parameters
        ----------
        note
            Called after some nodes each.
        execution
            A checkpoint of it keeps the search, part by part. Each part begins where the one before
            it ends, so that workers are of no use.
        name
            What is searched, in a checkpoint of several searches.
        """
        self._note = note
        linear = [row[:-1] for row in self._system.neurons]
        root = self._without_opposite_rows(Quotient.of(linear, self._dimension, self._prime))
        waiting: list[OpenNode] = [(list(root.members), [0] * self._size, 1.0, 0)]
        with execution.stream(_searched, (self, root), name) as stream:
            while waiting:
                if execution.checkpoint is None:
                    waiting = self.visit(root, waiting)
                    continue
                before = self._num_parts
                stream.add(packed(waiting))
                part = _Part.unpacked(stream.take())
                if self._num_parts == before:  # it comes from the checkpoint
                    self._know(root, waiting, part)
                waiting = part.left

    def visit(self, root: Quotient, waiting: Sequence[OpenNode]) -> list[OpenNode]:
        """Visit some of the nodes that are left, and what is below them; return the nodes left.

        What is found depends on nothing else, so that a search can go on in another process.
        """
        self._num_parts += 1
        self._signs = SignSystem(self._system.rows)
        core = compiled_search(
            self._signs,
            sum(row.count(0) for row in self._system.rows),
            root,
            self._rounded,
            self._system.names,
            (_SETTINGS.max_packed, _SETTINGS.max_choices),
            spend=self._pay,
            solve=self._solve,
            is_line=self._is_line_exactly,
        )
        if core is None:
            return self._nodes(root, waiting)
        with understood():
            core.set_open_nodes(waiting)
        return self._nodes_of_core(core)

    def _pay(self) -> None:
        """Pay for a system, and count it."""
        self._spend()
        self.tree.num_programs += 1

    def _know(self, root: Quotient, waiting: Sequence[OpenNode], part: _Part) -> None:
        """Take a part from a checkpoint, and pay for it.

        Where the budget ends within the part, it is searched again up to there.
        """
        tree, paid = self.tree, 0
        try:
            while paid < part.num_programs - tree.num_programs:
                self._spend()
                paid += 1
        except LimitReached as error:
            self._spend = _spend_until(paid, error)
            self.visit(root, waiting)
        self.tree = LayerTree(
            tree.records + part.records,
            part.num_leaves,
            part.depth,
            part.closed,
            part.num_programs,
        )
        self._note()

    def _nodes_of_core(self, core: CompiledSearch) -> list[OpenNode]:
        """Let the compiled core visit some nodes."""
        tree = self.tree
        leaves, closed, is_left = tree.num_leaves, tree.closed, True
        for _ in range(_SETTINGS.calls_per_part):
            try:
                is_left = core.visit(_SETTINGS.nodes_per_call)
            finally:
                tree.records += core.take_records()
                tree.num_leaves, tree.depth = leaves + core.num_leaves, max(tree.depth, core.depth)
                tree.closed = closed + core.closed
            self._note()
            if not is_left:
                break
        return core.open_nodes()

    def _nodes(self, root: Quotient, waiting: Sequence[OpenNode]) -> list[OpenNode]:
        """Visit some nodes."""
        nodes, count = [self._node(root, entry) for entry in waiting], 0
        while nodes and count < _SETTINGS.calls_per_part * _SETTINGS.nodes_per_call:
            node = nodes.pop()
            self.tree.depth = max(self.tree.depth, node.depth)
            if node.quotient.rank == self._dimension:
                self._close(node.share)
            else:
                nodes += reversed(list(self._children(node)))
            count += 1
            self._note()
        return [(list(q.members), signs.tolist(), share, depth) for q, signs, share, depth in nodes]

    def _node(self, root: Quotient, entry: OpenNode) -> _Node:
        """Return the node of an entry."""
        members, signs, share, depth = entry
        quotient = root
        with understood():
            for row in members[root.rank :]:
                quotient = quotient.grown(row)
            return _Node(quotient, np.array(signs, dtype=np.int8), share, depth)

    def _close(self, share: float) -> None:
        self.tree.num_leaves += 1
        self.tree.closed += share

    def _record(self, kind: str, rows: list[int]) -> None:
        self.tree.records.append((kind, self._named(rows)))

    def _named(self, rows: Sequence[int]) -> list[int]:
        return [self._system.names[row] for row in rows]

    def _without_opposite_rows(self, quotient: Quotient) -> Quotient:
        """Grow by rows r_i and -μ r_i + (0, c), c ≥ 0: one of them is positive everywhere."""
        places = dict[tuple[int, ...], list[int]]()
        for index, row in enumerate(self._system.neurons):
            places.setdefault(_line(row[:-1]), []).append(index)
        for i, row in enumerate(self._system.neurons):
            for j in places[_line(row[:-1])]:
                if i < j and quotient.is_outside[i] and (used := self._cover(i, j)):
                    self._record("grow", used)
                    quotient = quotient.grown(i)
        return quotient

    def _cover(self, i: int, j: int) -> list[int]:
        """Return the rows of the dependence of two opposite rows, one of which is active."""
        one, two = self._system.neurons[i], self._system.neurons[j]
        column = next(k for k, entry in enumerate(one) if entry)
        if one[column] * two[column] > 0:
            return []
        constant = abs(two[column]) * one[-1] + abs(one[column]) * two[-1]
        last = self._size + len(self._system.limits) - 1
        return [] if constant < 0 else [i, j, last] if constant else [i, j]

    def _children(self, node: _Node) -> Iterator[_Node]:
        """Yield the nodes below a node in order, and record what was done there."""
        supports = list[list[int]]()
        skipped = np.zeros(self._size, dtype=bool)
        needed = self._dimension - node.quotient.rank
        while len(supports) < (needed if needed <= _SETTINGS.max_packed else 1):
            support = self._dependence(node, skipped, is_first=not supports)
            if support is None:
                break
            supports.append(support)
            skipped[self._new_rows(node, support)] = True
            if not self._new_rows(node, support):
                self._record("prune", support)
                self._close(node.share)
                return
        new = [self._new_rows(node, support) for support in supports]
        if len(supports) == needed > 1 and self._is_packed(node, new):
            self.tree.records.append(("pack", [self._named(support) for support in supports]))
            self._close(node.share)
            return
        best = min(range(len(new)), key=lambda k: len(new[k]))
        yield from self._grown_or_split(node, supports[best], new[best])

    def _grown_or_split(self, node: _Node, support: list[int], new: list[int]) -> Iterator[_Node]:
        """Yield the node with a larger U, or the nodes of a split."""
        quotient = node.quotient
        if self._is_line(quotient, new):
            self._record("grow", support)
            yield node._replace(quotient=quotient.grown(new[0]))
            return
        ordered = self._in_order(node, new)
        self._record("split", [*ordered, *(row for row in support if row not in new)])
        signs = node.signs
        for row in ordered:
            active, signs = signs.copy(), signs.copy()
            active[row], signs[row] = 1, -1
            share, depth = node.share / len(new), node.depth + 1
            yield _Node(quotient.grown(row), active, share, depth)

    def _dependence(
        self, node: _Node, skipped: NDArray[np.bool_], *, is_first: bool
    ) -> list[int] | None:
        """Return the rows of a dependence that avoids the skipped ones; None if there is none."""
        self._pay()
        is_free = node.quotient.is_outside & ~skipped & (node.signs == 0)
        signs = np.concatenate([np.where(is_free, np.int8(-1), node.signs), self._inside])
        costly = np.concatenate([is_free, np.zeros(len(self._inside), dtype=bool)])
        return self._solve(signs, costly, is_first)

    def _solve(
        self, signs: NDArray[np.int8], costly: NDArray[np.bool_], is_first: bool
    ) -> list[int] | None:
        """Return the rows of a dependence; without any, raise `PointFound` for a first system."""
        found = self._signs.solve(signs, costly)
        if isinstance(found, Dependence):
            return list(found.multipliers)
        if is_first:
            raise PointFound(found)
        return None

    def _new_rows(self, node: _Node, support: Sequence[int]) -> list[int]:
        return [row for row in support if row < self._size and not node.signs[row]]

    def _is_line(self, quotient: Quotient, new: Sequence[int]) -> bool:
        """Whether U and new rows have one dimension more than U."""
        if len(new) == 1 or quotient.rank == self._dimension - 1:
            return True
        return quotient.is_line(new) and self._is_line_exactly(quotient.members, new)

    def _is_line_exactly(self, members: Sequence[int], new: Sequence[int]) -> bool:
        """Whether new rows and a basis of U have one dimension more than U."""
        rows = [self._system.neurons[row][:-1] for row in (*members, *new)]
        return rank(RationalMatrix.from_integers(rows)) == len(members) + 1

    def _is_packed(self, node: _Node, sets: Sequence[Sequence[int]]) -> bool:
        """Whether every choice of one row from each set is independent modulo U."""
        num_choices = 1
        for rows in sets:
            num_choices *= len(rows)
        return num_choices <= _SETTINGS.max_choices and node.quotient.are_independent(sets)

    def _in_order(self, node: _Node, new: Sequence[int]) -> list[int]:
        """Return new rows, the one least aligned with the sum of all rows outside U first."""
        outside = self._rounded[node.quotient.is_outside]
        alignment = self._rounded[new] @ outside.sum(axis=0)
        return [row for _, row in sorted(zip(alignment.tolist(), new, strict=True))]


class _Part(NamedTuple):
    """The records of a part of a search, the nodes that it leaves, and the numbers of the tree.

    The numbers are about the whole tree so far.
    """

    records: list[Record]
    left: list[OpenNode]
    num_leaves: int
    depth: int
    closed: float
    num_programs: int

    @classmethod
    def unpacked(cls, data: bytes) -> _Part:
        """Return the part of `_searched`."""
        entries = unpacked(data)
        with understood():
            records, left, leaves, depth, closed, programs = entries
            return cls(
                [(str(kind), rows) for kind, rows in records],
                [(members, signs, float(share), int(at)) for members, signs, share, at in left],
                int(leaves),
                int(depth),
                float(closed),
                int(programs),
            )


def _searched(shared: tuple[NodeSearch, Quotient], task: bytes) -> bytes:
    """Search a part, as a function of a task."""
    search, root = shared
    tree, before = search.tree, len(search.tree.records)
    left = search.visit(root, unpacked(task))
    new = tree.records[before:]
    return packed([new, left, tree.num_leaves, tree.depth, tree.closed, tree.num_programs])


def _spend_until(number: int, error: LimitReached) -> Callable[[], None]:
    """Return what lets a number of systems pass, and then raises an error."""
    left = iter(range(number))

    def spend() -> None:
        """Count a system."""
        if next(left, None) is None:
            raise error

    return spend


def _line(row: Sequence[int]) -> tuple[int, ...]:
    """Return the primitive row on the line of a row."""
    return primitive(row)[0]
