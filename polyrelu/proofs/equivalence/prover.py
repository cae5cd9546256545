"""Do two networks compute the same function on a domain? The theorem is in ``equivalence.md``.

`equivalent` tries, in this order:

1. whether both are one expression as they stand (`symmetry.forms`: neurons permuted, scaled, flipped, doubled, merged,
   dead or cancelling);
2. a few points (`witness`), and in many dimensions, after 3, points where a changed neuron is active (`ascent`);
3. for two hidden layers behind a bottleneck, on R^n: whether both have one canonical position, and where they differ if
   not (`bottleneck_tree`, `bottleneck_points`);
4. a split tree (`split_tree`) over the activations of common first layers, taken as coordinates;
5. one tree for each place in which the networks differ (`parts`);
6. one tree for the whole. For one hidden layer it has a single node, where the expressions are the absolute-value
   normal forms.

Only the last one finds out that networks differ when no point did; the ones before give up where they fail.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from polyrelu.certificate import (
    Certificate,
    Hypothesis,
    NodeRecord,
    PairClaim,
    TreeCertificate,
    TreeLog,
)
from polyrelu.errors import DomainError, NetworkError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.outcomes import Equivalent, NotEquivalent, SearchStatistics, Undecided, Witness
from polyrelu.proofs.equivalence.ascent import climbing_points
from polyrelu.proofs.equivalence.bottleneck_parts import hidden_parts
from polyrelu.proofs.equivalence.bottleneck_points import first_layer_rows, places_to_differ
from polyrelu.proofs.equivalence.bottleneck_tree import (
    MOST_SPLITS,
    flipped_atoms,
    hidden_tree,
    own_atoms,
)
from polyrelu.proofs.equivalence.canonical_position import CanonicalPosition, canonical_position
from polyrelu.proofs.equivalence.parts import Part, parts_of
from polyrelu.proofs.equivalence.witness import (
    difference_point,
    random_points,
    simplex_at,
    simplified,
)
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import (
    DomainCoordinates,
    NodePolyhedron,
    Point,
    lifted_polyhedron,
)
from polyrelu.proofs.trees.search import Failure, TreeStatistics, search
from polyrelu.proofs.trees.sparse_forms import integer_row
from polyrelu.support.budget import Budget, CertificateLimit, LimitReached
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.limits import BIT_LIMIT, LINE_LIMIT
from polyrelu.version import __version__

__all__ = ["equivalent"]

#: Points that are tried before a proof.
_POINTS = 48
#: Differing points that are simplified, to keep the shortest.
_CHOICES = 6
#: The share of the time that is left for each attempt that may be given up.
_SHARE = 0.3
#: Nodes after which a proof with lifted coordinates is given up.
_MOST_LIFTED_NODES = 2_000
#: Up to so many coordinates nothing is climbed: a tree finds all that there is.
_FEW_COORDINATES = 8
#: Beyond so many coordinates no parts are looked for.
_MOST_COORDINATES = 64

PairOutcome = Equivalent | NotEquivalent | Undecided
Report = Callable[[SearchStatistics], None]


def equivalent(
    first: Network,
    second: Network,
    domain: Polyhedron | None = None,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Report | None = None,
) -> PairOutcome:
    """Prove that two networks compute the same function on a domain, or find a point where they differ.

    Any architecture, any weights, any polyhedron that is not empty. The statement is about real arithmetic with the
    exact weights, at every point of the domain.

    Parameters
    ----------
    first, second : networks with equally many inputs and outputs.
    domain : R^n if it is not given.
    seed : of the points that are tried; the same seed gives the same answer and the same certificate.
    time_limit : seconds. memory_limit : MiB of the process. When one is reached, and after Ctrl-C, the answer is
        `Undecided`, with what was reached.
    progress : called after each node of the split tree.

    Raises
    ------
    NetworkError : other numbers of inputs or outputs. DomainError : an empty domain, or one of another dimension.

    >>> from polyrelu.network import from_arrays
    >>> hat = from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])])
    >>> other = from_arrays([([[-2], [2], [1], [3]], [0, -2, -2, 0]), ([["1/2", -1, 1, "1/3"]], [0])])
    >>> equivalent(hat, other).witness.x
    (Fraction(-1, 1),)
    >>> equivalent(hat, other, Polyhedron.orthant(1)).status
    'proved'
    """
    question = _Question(first, second, domain, seed, progress)
    with deferred_interrupt() as interrupt:
        try:
            return question.answer(Budget(time_limit, memory_limit, interrupt))
        except LimitReached as limit:
            return Undecided(str(limit), (), question.work("none"))


class _Question:
    """Two networks on a domain, and how much work was done."""

    def __init__(
        self,
        first: Network,
        second: Network,
        domain: Polyhedron | None,
        seed: int,
        progress: Report | None,
    ) -> None:
        self._domain = _comparable(first, second, domain)
        self._first, self._second, self._seed, self._report = first, second, seed, progress
        self._progress, self._programs, self._points = TreeStatistics(), 0, 0

    def work(self, route: str) -> SearchStatistics:
        """The work of the last attempt, the programs and points of all of them."""
        now = self._progress
        return SearchStatistics(
            now.nodes,
            now.leaves,
            now.depth,
            now.signs,
            self._programs + now.programs,
            now.closed,
            route,
            self._points,
        )

    def answer(self, budget: Budget) -> PairOutcome:
        """The cheap routes, then the trees."""
        budget.check()
        self._coordinates = DomainCoordinates.of(self._domain)
        self._root = NodePolyhedron.at_root(self._coordinates)
        budget.check()
        self._joint = JointNetwork(
            self._first, self._second, self._coordinates.inputs, check=budget.check
        )
        if not self._joint.difference:
            return self._same_expressions()
        tried = self._tried(budget)
        differing = (point for point in tried if self._differ(point))
        if (point := next(differing, None)) is not None:
            return self._refuted([point, *itertools.islice(differing, _CHOICES - 1)], "points")
        if (answer := self._by_position(budget.trial(_SHARE))) is not None:
            return answer
        budget.check()
        if (point := self._climbed(budget.trial(_SHARE), tried)) is not None:
            return self._refuted([point], "points")
        for attempt in (self._by_prefix, self._by_parts):
            try:
                proved = attempt(budget.trial(_SHARE), tried)
            except (
                LimitReached,
                _TooManyNodes,
            ):  # of the attempt, or of the whole: then the next check says so
                proved = None
            if proved is not None:
                return proved
            budget.check()
        return self._by_tree(budget)

    def _same_expressions(self) -> Equivalent:
        log = TreeLog()
        log.add(NodeRecord([], None))
        self._progress.nodes = self._progress.leaves = 1
        self._progress.closed = 1.0
        return self._proved(log, "expressions")

    def _tried(self, budget: Budget) -> list[Point]:
        """Some points of the domain."""
        start = self._coordinates.to_coordinates(self._coordinates.inside)
        found = []
        for point in itertools.islice(random_points(self._root, start, self._seed), _POINTS):
            budget.check()
            found.append(point)
        return found

    def _climbed(self, budget: Budget, tried: list[Point]) -> Point | None:
        """A point where the networks differ, found by climbing: in many dimensions, where trees are large."""
        if self._joint.dimension <= _FEW_COORDINATES:
            return None
        starts = [tried[0], tried[-1]]
        try:
            for point in climbing_points(self._joint, self._root, starts, self._seed):
                budget.check()
                if self._differ(point):
                    return point
        except LimitReached:  # of the attempt, or of the whole: then the next check says so
            pass
        return None

    def _differ(self, point: Point) -> bool:
        self._points += 1
        return self._joint.values_at(point)[1]

    # -- proofs ---------------------------------------------------------------------------------------------------

    def _attempt(self, trees: int = 1) -> TreeLog:
        """Begin another proof."""
        self._programs += self._progress.programs
        self._progress = TreeStatistics(trees=trees)
        return TreeLog()

    def _by_position(self, budget: Budget) -> Equivalent | NotEquivalent | None:
        """The answer for two hidden layers behind a bottleneck, on R^n, if their canonical positions tell it."""
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
                return self._by_moves((first, second), budget)
            for x in places_to_differ(first.network, second.network, joint, self._seed):
                budget.check()
                point = self._coordinates.to_coordinates(x)
                if self._differ(point):
                    return self._refuted([point], "bottleneck")
        except LimitReached:  # of the attempt, or of the whole: then the next check says so
            pass
        return None

    def _by_moves(
        self, positions: Sequence[CanonicalPosition], budget: Budget
    ) -> Equivalent | None:
        """A proof where both networks have one canonical position: one tree, or one for each hidden neuron."""
        own, parts = own_atoms(self._joint), list[Part]()
        if len(own) > MOST_SPLITS:
            parts = hidden_parts(self._joint, (self._first, self._second), positions, own)
            if not parts:
                return None
        log = self._attempt(len(parts) or 1)
        flipped = flipped_atoms(self._joint, first_layer_rows(self._second))
        differences = [[integer_row(row) for row in part if row] for part in parts] or [
            self._joint.difference
        ]
        for difference in differences:
            joint = self._joint.part(difference)
            if not hidden_tree(joint, flipped, self._recorder(log), budget, self._progress):
                return None
        return self._proved(log, "bottleneck", parts=parts)

    def _search(
        self,
        joint: JointNetwork,
        path: NodePolyhedron,
        budget: Budget,
        log: TreeLog,
        most: int | None = None,
    ) -> Failure | None:
        """One tree, its records appended to a log; `_TooManyNodes` beyond so many nodes."""
        return search(joint, path, self._recorder(log, most), budget, self._progress)

    def _recorder(self, log: TreeLog, most: int | None = None) -> Callable[[NodeRecord], None]:
        """What appends records to a log."""
        limit = math.inf if most is None else log.nodes + most

        def record(node: NodeRecord) -> None:
            log.add(node)
            if log.longest > LINE_LIMIT:
                raise CertificateLimit(
                    f"a line of the certificate would have more than {LINE_LIMIT} bytes"
                )
            if log.nodes > limit:
                raise _TooManyNodes
            if self._report is not None:
                self._report(self.work("none"))

        return record

    def _by_prefix(self, budget: Budget, _: list[Point]) -> Equivalent | None:
        """A proof for all values that the activations of common first layers could have, taken as coordinates.

        Tried where this takes away a layer; it may fail because not all these values occur.
        """
        common = set(self._joint.common)
        if not any(atom.level > 1 and atom.neuron in common for atom in self._joint.atoms):
            return None
        joint = JointNetwork(
            self._first, self._second, self._coordinates.inputs, self._joint.common, budget.check
        )
        log = self._attempt()
        failed = self._search(
            joint, lifted_polyhedron(joint, self._coordinates), budget, log, _MOST_LIFTED_NODES
        )
        return None if failed else self._proved(log, "prefix", lifted=joint)

    def _by_parts(self, budget: Budget, tried: list[Point]) -> Equivalent | None:
        """One tree for each part of the difference, if it has parts and each of them vanishes."""
        if self._joint.dimension > _MOST_COORDINATES:
            return None
        parts = parts_of(self._joint, simplex_at(self._root, self._root.interior_point()), tried)
        if len(parts) < 2:
            return None
        log = self._attempt(len(parts))
        for part in parts:
            joint = self._joint.part([integer_row(row) for row in part if row])
            if (
                self._search(joint, NodePolyhedron.at_root(self._coordinates), budget, log)
                is not None
            ):
                return None
        return self._proved(log, self._route(), parts=parts)

    def _by_tree(self, budget: Budget) -> Equivalent | NotEquivalent:
        log = self._attempt()
        failure = self._search(self._joint, NodePolyhedron.at_root(self._coordinates), budget, log)
        if failure is None:
            return self._proved(log, self._route())
        point = failure.point
        if point is None:
            known = [sample.point for sample in failure.samples]
            point = difference_point(
                failure.polyhedron, failure.expressions, known, self._differ, self._seed, budget
            )
        return self._refuted([point], self._route())

    def _route(self) -> str:
        return "tree" if self._progress.depth else "signs"

    def _proved(
        self,
        log: TreeLog,
        route: str,
        lifted: JointNetwork | None = None,
        parts: Sequence[Part] = (),
    ) -> Equivalent:
        neurons = lifted.lifted_neurons if lifted else ()
        claim = PairClaim("equivalent", self._first, self._second, self._coordinates.domain)
        unverified = {"tool": f"polyrelu {__version__}"}
        certificate = TreeCertificate(
            claim, self._coordinates.inside, log, neurons, tuple(parts), unverified
        )
        return Equivalent(certificate, self.work(route))

    # -- refutations ----------------------------------------------------------------------------------------------

    def _refuted(self, points: list[Point], route: str) -> NotEquivalent:
        """The simplest of some points where the networks differ, in the domain and exactly."""

        def is_good(point: Point) -> bool:
            return self._root.contains(point) and self._differ(point)

        best = min(
            (self._coordinates.to_inputs(simplified(point, is_good)) for point in points),
            key=_length,
        )
        witness = Witness(best, self._first(best), self._second(best))
        if _bits((*witness.x, *witness.f, *witness.g)) > BIT_LIMIT:
            raise CertificateLimit(
                "the networks differ, but the point that was found, or its outputs, need numbers of more than "
                f"{BIT_LIMIT} bits, which a certificate cannot hold"
            )
        shown = witness.to_json()
        hypotheses = (
            Hypothesis("point", "point", {"x": shown["x"]}),
            Hypothesis("point", "values", {"f": shown["f"], "g": shown["g"]}),
        )
        claim = PairClaim("not-equivalent", self._first, self._second, self._coordinates.domain)
        certificate = Certificate(claim, "point", hypotheses, {"tool": f"polyrelu {__version__}"})
        return NotEquivalent(certificate, witness, self.work(route))


def _comparable(first: Network, second: Network, domain: Polyhedron | None) -> Polyhedron:
    """The domain; errors say why two networks cannot be compared on it."""
    for network in (first, second):
        if not isinstance(network, Network):
            kind = type(network).__name__
            raise PolyreluError(
                f"equivalent takes two Networks, not {kind}; polyrelu.load reads a file"
            )
    sizes = ((first.inputs, second.inputs, "inputs"), (first.outputs, second.outputs, "outputs"))
    for ours, other, what in sizes:
        if ours != other:
            raise NetworkError(
                f"the networks have {ours} and {other} {what}, so they cannot be compared"
            )
    polyhedron = Polyhedron.universe(first.inputs) if domain is None else domain
    if polyhedron.ambient_dimension != first.inputs:
        raise DomainError(
            f"the domain lies in R^{polyhedron.ambient_dimension}, but the networks have {first.inputs} inputs"
        )
    return polyhedron


class _TooManyNodes(Exception):  # noqa: N818 - a route that is given up
    pass


def _length(numbers: tuple[Fraction, ...]) -> tuple[int, int]:
    """How long numbers are to write: the largest denominator, then all numerators together."""
    return max(x.denominator for x in numbers), sum(abs(x.numerator) for x in numbers)


def _bits(numbers: tuple[Fraction, ...]) -> int:
    """The bits of the longest numerator or denominator."""
    return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers)
