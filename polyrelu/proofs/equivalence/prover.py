"""Whether two networks compute the same function on a domain.

`equivalent` answers with a split tree that proves the equality, or with a point where the networks
differ; the theorem is in docs/theory/equivalence.md. Routes are tried in a fixed order, cheap ones
first, and a route that fails is given up without an answer. The order and the random points decide
which certificate is found, so a change of either changes certificates.

1. Equal networks are not looked at any further. Others are evaluated at few points, the first of
   which is 0; if they differ there, nothing else is computed.
2. The joint expression of both networks (`trees.expressions`) is 0 as it stands: neurons are
   permuted, scaled, flipped, doubled, merged, dead or cancelling.
3. More points are evaluated (`witness`).
4. For two hidden layers behind a bottleneck, on R^n, the canonical positions are compared. If they
   agree, a tree is known (`bottleneck_tree`); otherwise points of difference are looked for
   (`bottleneck_points`).
5. In many dimensions, points where a changed neuron is active are evaluated (`ascent`).
6. A split tree (`trees.search`) over the activations of common first layers, taken as coordinates.
7. One tree for each place in which the networks differ (`parts`).
8. One tree for the whole difference. For one hidden layer it has a single node, where the
   expressions are the absolute-value normal forms.

Only the last route is complete: it ends with a proof or a point of difference, given time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyrelu.certificate import (
    NodeRecord,
    PairClaim,
    TreeCertificate,
    TreeLog,
)
from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network
from polyrelu.outcomes import (
    Equivalent,
    NextStep,
    NotEquivalent,
    SearchStatistics,
    Undecided,
)
from polyrelu.proofs.equivalence.bottleneck_parts import hidden_parts
from polyrelu.proofs.equivalence.bottleneck_points import difference_candidates, first_layer_rows
from polyrelu.proofs.equivalence.bottleneck_tree import (
    fits_one_tree,
    flipped_atoms,
    hidden_tree,
    unshared_atoms,
)
from polyrelu.proofs.equivalence.canonical_position import CanonicalPosition, canonical_position
from polyrelu.proofs.equivalence.comparison import Comparison
from polyrelu.proofs.equivalence.next_steps import after_limit
from polyrelu.proofs.equivalence.parts import DifferencePart, parts_of
from polyrelu.proofs.equivalence.witness import (
    difference_point,
    simplex_around,
)
from polyrelu.proofs.provenance import with_sources
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import (
    HomogeneousPoint,
    NodePolyhedron,
    lifted_polyhedron,
)
from polyrelu.proofs.trees.search import Difference, TreeStatistics, search
from polyrelu.proofs.trees.sparse_forms import integer_row
from polyrelu.proofs.trees.subtrees import search_by_tasks
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.budget import (
    ENDINGS,
    Budget,
    BudgetLike,
    CertificateLimit,
    LimitReached,
    as_budget,
)
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.progress import Progress, report
from polyrelu.version import __version__

__all__ = ["equivalent", "equivalent_within"]


@dataclass(frozen=True, slots=True)
class EquivalenceSettings:
    """Limits of the routes that `equivalent` tries.

    Attributes
    ----------
    trial_share
        Share of the remaining work for each attempt that may be given up.
    max_lifted_nodes
        Number of nodes after which a tree over lifted coordinates is given up.
    max_coordinates_of_trees
        Maximum dimension of a domain on which no ascents are made, because a tree is small there.
    max_coordinates_of_parts
        Maximum dimension of a domain on which the difference is divided into parts.
    """

    trial_share: float = 0.3
    max_lifted_nodes: int = 2_000
    max_coordinates_of_trees: int = 8
    max_coordinates_of_parts: int = 64


SETTINGS = EquivalenceSettings()

PairOutcome = Equivalent | NotEquivalent | Undecided


def equivalent(
    first: NetworkLike,
    second: NetworkLike,
    domain: DomainLike = None,
    *,
    seed: int = 0,
    budget: BudgetLike = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
) -> PairOutcome:
    """Prove that two networks compute the same function on a domain, or find where they differ.

    Parameters
    ----------
    first, second
        Networks of any architecture, or what `polyrelu.load` takes, with equally many inputs and
        outputs.
    domain
        Any nonempty polyhedron, or the text of one such as ``"box:-1,1"``; R^n by default.
    seed
        Seed of the points that are tried. The same seed and budget give the same answer and the
        same certificate, on every machine.
    budget
        Units of work, or a `Budget` with all limits; no limit by default. A unit is about a
        millisecond. Each attempt that may be given up has a share of the work.
    time_limit
        Seconds, after which the answer is `Undecided`; no limit by default.
    memory_limit
        Limit of the memory of the process in MiB; no limit by default.
    progress
        Called with a `polyrelu.support.ProgressStep` after each node of a split tree. The
        number of nodes to come is unknown; "percent closed" says how much of the tree is done.
    workers
        Who searches large split trees (`polyrelu.support.parallel`); None for this process. The
        answer and the certificate do not depend on it.
    checkpoint
        A file that keeps the parts of trees that are done; a later search, also one with a larger
        budget, goes on from there.

    Returns
    -------
    Equivalent or NotEquivalent or Undecided
        A proof, a point of difference, or the reason why neither was found: a limit was reached, or
        Ctrl-C was pressed. Each answer says how far the search went.

    Raises
    ------
    NetworkError
        A network cannot be read, or the networks have different numbers of inputs or outputs.
    DomainError
        The domain is not understood, is empty or has another dimension; or the checkpoint belongs
        to another question.
    ArgumentError
        An argument has a wrong type, or lies outside its range.
    PolyreluError
        The checkpoint cannot be used.

    Notes
    -----
    The statement is about real arithmetic with the exact weights, at every point of the domain. No
    weights are excluded.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> hat = from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])])
    >>> rows, bias = [[-2], [2], [1], [3]], [0, -2, -2, 0]
    >>> other = from_arrays([(rows, bias), ([["1/2", -1, 1, "1/3"]], [0])])
    >>> equivalent(hat, other).witness.x
    (Fraction(-1, 1),)
    >>> equivalent(hat, other, Polyhedron.orthant(1)).status
    'proved'
    """
    read = as_imported(first), as_imported(second)
    one, two = (entry.network for entry in read)
    _check_sizes(one, two)
    seed = expect_count(seed, "seed")
    expect_function(progress, "progress")
    polyhedron = as_domain(domain, one.num_inputs)
    limits = as_budget(budget, time_limit, memory_limit)
    entries = {} if checkpoint is None else _entries(one, two, polyhedron, seed)
    with Execution.opened(workers, checkpoint, entries) as execution:
        question = _Question(one, two, polyhedron, seed, progress, execution=execution)
        answer = _answer(question, limits)
    return with_sources(answer, *read)


def _entries(first: Network, second: Network, domain: Polyhedron, seed: int) -> dict[str, str]:
    """Return what a checkpoint compares."""
    return {
        "question": "equivalent",
        "version": __version__,
        "first network": first.sha256,
        "second network": second.sha256,
        "domain": domain.sha256,
        "seed": str(seed),
    }


def equivalent_within(
    first: Network,
    second: Network,
    domain: DomainLike,
    seed: int,
    max_nodes: int | None,
    budget: Budget,
    progress: Progress | None = None,
) -> PairOutcome:
    """Answer as `equivalent` does, unless all attempts together need more than some nodes.

    Ctrl-C is not deferred: it ends what needs the answer as well.
    """
    polyhedron = as_domain(domain, first.num_inputs)
    question = _Question(first, second, polyhedron, seed, progress, max_nodes)
    return _answer_within(question, budget)


def _answer(question: _Question, budget: Budget) -> PairOutcome:
    with deferred_interrupt() as interrupt:
        return _answer_within(question, budget.with_interrupt(interrupt))


def _answer_within(question: _Question, budget: Budget) -> PairOutcome:
    """Return the answer; `Undecided` if a limit is reached."""
    try:
        return question.answer(budget)
    except ENDINGS as error:
        if (why := budget.reason_of(error)) is None:
            raise
        return Undecided(why, (), question.work("none"), next=question.steps_after_limit(budget))


class _Question:
    """Two networks on a domain, and the work that was done to compare them."""

    def __init__(
        self,
        first: Network,
        second: Network,
        domain: Polyhedron,
        seed: int,
        progress: Progress | None = None,
        max_nodes: int | None = None,
        execution: Execution | None = None,
    ) -> None:
        self._first, self._second, self._domain = first, second, domain
        self._execution = execution
        self._comparison = Comparison(first, second, seed)
        self._seed, self._progress = seed, progress
        self._max_nodes, self._num_nodes = max_nodes, 0
        self._statistics, self._programs = TreeStatistics(), 0

    def steps_after_limit(self, budget: Budget) -> tuple[NextStep, ...]:
        """Return what to try after a limit was reached."""
        is_whole_space = not self._domain.inequalities and not self._domain.equations
        return after_limit(budget, self._first.num_inputs, is_whole_space)

    def work(self, route: str) -> SearchStatistics:
        """Return the work of the last attempt, with all attempts' linear programs and points."""
        now = self._statistics
        return SearchStatistics(
            now.num_nodes,
            now.num_leaves,
            now.depth,
            now.num_signs,
            self._programs + now.num_programs,
            now.closed,
            route,
            self._comparison.num_points,
        )

    def answer(self, budget: Budget) -> PairOutcome:
        """Try the routes of the module docstring in their order."""
        budget.check()
        comparison = self._comparison
        comparison.set_domain(self._domain)
        self._coordinates = comparison.coordinates
        budget.check()
        if self._first == self._second:
            return self._same_expressions()
        if points := comparison.among_first_points(budget):
            return self._refuted(points, "points")
        self._joint = JointNetwork(
            self._first, self._second, self._coordinates.inputs, check=budget.check
        )
        comparison.use(self._joint)
        if not self._joint.difference:
            return self._same_expressions()
        tried = comparison.tested_points(budget)
        if points := comparison.among_later_points(tried):
            return self._refuted(points, "points")
        if (answer := self._by_canonical_position(budget.trial(SETTINGS.trial_share))) is not None:
            return answer
        budget.check()
        if (point := self._point_by_ascent(budget.trial(SETTINGS.trial_share), tried)) is not None:
            return self._refuted([point], "points")
        for attempt in (self._by_prefix, self._by_parts):
            try:
                proved = attempt(budget.trial(SETTINGS.trial_share), tried)
            except (LimitReached, _TooManyNodes):  # if the limit is global, the next check raises
                proved = None
            if proved is not None:
                return proved
            budget.check()
        return self._by_tree(budget)

    def _same_expressions(self) -> Equivalent:
        log = TreeLog()
        log.add(NodeRecord([], None))
        self._statistics.num_nodes = self._statistics.num_leaves = 1
        self._statistics.closed = 1.0
        return self._proved(log, "expressions")

    def _point_by_ascent(
        self, budget: Budget, tried: list[HomogeneousPoint]
    ) -> HomogeneousPoint | None:
        """Return a point of difference found by ascent, or None."""
        if self._joint.dimension <= SETTINGS.max_coordinates_of_trees:
            return None
        return self._comparison.by_ascent(self._joint, [tried[0], tried[-1]], budget)

    # -- proofs ------------------------------------------------------------------------------------

    def _new_attempt(self, trees: int = 1) -> TreeLog:
        """Begin another proof: restart the statistics and return an empty log."""
        self._programs += self._statistics.num_programs
        self._statistics = TreeStatistics(num_trees=trees)
        return TreeLog()

    def _by_canonical_position(self, budget: Budget) -> Equivalent | NotEquivalent | None:
        """Return the answer for two hidden layers on R^n if the canonical positions give one."""
        if not self._coordinates.is_whole_space:
            return None
        first, second = canonical_position(self._first), canonical_position(self._second)
        if first is None or second is None:
            return None
        try:
            joint = JointNetwork(
                first.network, second.network, self._coordinates.inputs, check=budget.check
            )
            if not joint.difference:
                return self._by_hidden_neurons((first, second), budget)
            for x in difference_candidates(first.network, second.network, joint, self._seed):
                point = self._coordinates.to_coordinates(x)
                if self._comparison.differ_if_paid(point, budget):
                    return self._refuted([point], "bottleneck")
        except LimitReached:  # if the limit is the global one, the next check raises
            pass
        return None

    def _by_hidden_neurons(
        self, positions: Sequence[CanonicalPosition], budget: Budget
    ) -> Equivalent | None:
        """Return a proof for two networks with one canonical position, or None.

        It has one tree, or one tree for each hidden neuron.
        """
        unshared, parts = unshared_atoms(self._joint), list[DifferencePart]()
        if not fits_one_tree(unshared):
            parts = hidden_parts(self._joint, (self._first, self._second), positions, unshared)
            if not parts:
                return None
        log = self._new_attempt(len(parts) or 1)
        flipped = flipped_atoms(self._joint, first_layer_rows(self._second))
        differences = [[integer_row(row) for row in part if row] for part in parts] or [
            self._joint.difference
        ]
        for difference in differences:
            joint = self._joint.part(difference)
            if not hidden_tree(joint, flipped, self._recorder(log), budget, self._statistics):
                return None
        return self._proved(log, "bottleneck", parts=parts)

    def _search(self, joint: JointNetwork, budget: Budget, log: TreeLog) -> Difference | None:
        """Search one tree over the domain and append its records to a log."""
        record, done, where = self._recorder(log), self._statistics, self._coordinates
        if self._execution is None:
            return search(joint, NodePolyhedron.at_root(where), record, budget, done)
        return search_by_tasks(joint, where, record, budget, done, self._execution)

    def _recorder(self, log: TreeLog, max_nodes: int | None = None) -> Callable[[NodeRecord], None]:
        """Return the function that appends records to a log."""
        limit = math.inf if max_nodes is None else log.nodes + max_nodes

        def record(node: NodeRecord) -> None:
            """Append a node; raise if the tree or a line of the file becomes too long."""
            log.add(node)
            if log.longest > LINE_LIMIT:
                raise CertificateLimit(
                    f"a line of the certificate would have more than {LINE_LIMIT} bytes"
                )
            if log.nodes > limit:
                raise _TooManyNodes
            self._count_node()

        return record

    def _count_node(self) -> None:
        """Count a node of any attempt, and report it."""
        self._num_nodes += 1
        if self._max_nodes is not None and self._num_nodes > self._max_nodes:
            raise LimitReached(f"a proof with {self._max_nodes} nodes was not found")
        done = self._statistics
        details = {"depth": done.depth, "percent closed": 100 * float(done.closed)}
        report(self._progress, "proving equality", done.num_nodes, None, "nodes", details)

    def _by_prefix(self, budget: Budget, _: list[HomogeneousPoint]) -> Equivalent | None:
        """Return a proof over the activations of common first layers as coordinates, or None.

        The statement is then proved for all values of these coordinates, and may fail because not
        all of them occur. So this is tried only where it removes a layer.
        """
        common = set(self._joint.common)
        if not any(atom.level > 1 and atom.neuron in common for atom in self._joint.atoms):
            return None
        joint = JointNetwork(
            self._first, self._second, self._coordinates.inputs, self._joint.common, budget.check
        )
        log = self._new_attempt()
        polyhedron = lifted_polyhedron(joint, self._coordinates)
        record = self._recorder(log, SETTINGS.max_lifted_nodes)
        difference = search(joint, polyhedron, record, budget, self._statistics)
        return self._proved(log, "prefix", lifted=joint) if difference is None else None

    def _by_parts(self, budget: Budget, tried: list[HomogeneousPoint]) -> Equivalent | None:
        """Return a proof with one tree for each part, or None if there is no such proof."""
        if self._joint.dimension > SETTINGS.max_coordinates_of_parts:
            return None
        root = self._comparison.root
        parts = parts_of(self._joint, simplex_around(root, root.interior_point()), tried)
        if len(parts) < 2:
            return None
        log = self._new_attempt(len(parts))
        for part in parts:
            joint = self._joint.part([integer_row(row) for row in part if row])
            if self._search(joint, budget, log) is not None:
                return None
        return self._proved(log, self._route(), parts=parts)

    def _by_tree(self, budget: Budget) -> Equivalent | NotEquivalent:
        """Return the answer of one tree for the whole difference."""
        log = self._new_attempt()
        difference = self._search(self._joint, budget, log)
        if difference is None:
            return self._proved(log, self._route())
        point = difference.point
        if point is None:
            known = [sample.point for sample in difference.samples]
            point = difference_point(
                difference.polyhedron,
                difference.expressions,
                known,
                self._comparison.differ,
                self._seed,
                budget,
            )
        return self._refuted([point], self._route())

    def _route(self) -> str:
        return "tree" if self._statistics.depth else "signs"

    def _proved(
        self,
        log: TreeLog,
        route: str,
        lifted: JointNetwork | None = None,
        parts: Sequence[DifferencePart] = (),
    ) -> Equivalent:
        neurons = lifted.lifted_neurons if lifted else ()
        claim = PairClaim("equivalent", self._first, self._second, self._coordinates.domain)
        unverified = {"tool": f"polyrelu {__version__}"}
        certificate = TreeCertificate(
            claim, self._coordinates.inside, log, neurons, tuple(parts), unverified
        )
        return Equivalent(certificate, self.work(route))

    def _refuted(self, points: list[HomogeneousPoint], route: str) -> NotEquivalent:
        """Return the refutation by the simplest of some points where the networks differ."""
        certificate, witness = self._comparison.refutation(points)
        return NotEquivalent(certificate, witness, self.work(route))


def _check_sizes(first: Network, second: Network) -> None:
    """Raise an error if the networks cannot be compared."""
    sizes = (
        (first.num_inputs, second.num_inputs, "inputs"),
        (first.num_outputs, second.num_outputs, "outputs"),
    )
    for size, other, what in sizes:
        if size != other:
            raise NetworkError(
                f"the networks have {size} and {other} {what}, so they cannot be compared"
            )


class _TooManyNodes(Exception):  # noqa: N818 - no error: it ends a route
    """Raised to give up a route whose tree is too large."""
