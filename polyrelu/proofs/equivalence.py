"""Do two networks compute the same function on a domain? The theorem is in ``equivalence.md``.

`equivalent` tries, in this order: whether both are one expression as they stand (permuted, scaled, flipped, doubled,
merged, dead or cancelling neurons; linear in the weights); a few points; a split tree (`split_tree`), which for one
hidden layer has a single node, where the expressions are the absolute-value normal forms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction

from polyrelu.certificate import Certificate, Hypothesis, NodeRecord, PairClaim, TreeCertificate, TreeLog
from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Polyhedron
from polyrelu.interrupts import deferred_interrupt
from polyrelu.limits import BIT_LIMIT
from polyrelu.network import Network
from polyrelu.proofs.limits import Budget, LimitReached
from polyrelu.proofs.outcome import Equivalent, NotEquivalent, Search, Undecided, Witness
from polyrelu.proofs.region import Coordinates, Path, Point
from polyrelu.proofs.split_tree import Failure, Statistics, search
from polyrelu.proofs.witness import difference_point, random_points, simplified
from polyrelu.symmetry.forms import JointNetwork
from polyrelu.version import __version__

__all__ = ["equivalent"]

#: Points that are tried before a proof.
_POINTS = 48
#: Differing points that are simplified, to keep the shortest.
_CHOICES = 6

PairOutcome = Equivalent | NotEquivalent | Undecided
Progress = Callable[[Statistics], None]


def equivalent(
    first: Network,
    second: Network,
    domain: Polyhedron | None = None,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
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
    >>> same = from_arrays([([[-2], [2], [1]], [0, -2, -2]), ([["1/2", -1, 1], [0, 0, 0]], [0, 0])])
    >>> with_a_line = from_arrays([([[-2], [2], [1], [3]], [0, -2, -2, 0]), ([["1/2", -1, 1, 0]], [0])])
    >>> equivalent(hat, with_a_line).witness.x
    (Fraction(-1, 1),)
    >>> equivalent(hat, with_a_line, Polyhedron.box([0], [0])).status
    'proved'
    """
    question = _Question(first, second, domain, seed)
    statistics = Statistics()
    with deferred_interrupt() as interrupt:
        budget = Budget(time_limit, memory_limit, interrupt)
        try:
            return question.answer(budget, statistics, progress)
        except LimitReached as limit:
            return Undecided(f"{limit} was reached", (), question.search("none", statistics))


class _Question:
    """Two networks on a domain."""

    def __init__(self, first: Network, second: Network, domain: Polyhedron | None, seed: int) -> None:
        for ours, other, what in (
            (first.inputs, second.inputs, "inputs"),
            (first.outputs, second.outputs, "outputs"),
        ):
            if ours != other:
                raise NetworkError(
                    f"the networks have {ours} and {other} {what}; they can only be compared with equally many"
                )
        polyhedron = Polyhedron.universe(first.inputs) if domain is None else domain
        if polyhedron.ambient_dimension != first.inputs:
            raise DomainError(
                f"the domain lies in R^{polyhedron.ambient_dimension}, but the networks have {first.inputs} inputs"
            )
        self._first, self._second, self._seed = first, second, seed
        self._coordinates = Coordinates.of(polyhedron)
        self._joint = JointNetwork(first, second, self._coordinates.inputs)
        self._points = 0

    def answer(self, budget: Budget, statistics: Statistics, progress: Progress | None) -> PairOutcome:
        """The cheap routes, then the tree."""
        budget.check()
        log = TreeLog()
        if not self._joint.difference:
            log.add(NodeRecord([], None))
            statistics.nodes = statistics.leaves = 1
            statistics.closed = 1.0
            return self._proved(log, "expressions", statistics)
        path = Path.at_root(self._coordinates)
        differing = (point for point in self._tried(path, budget) if self._differ(point))
        if (point := next(differing, None)) is not None:
            others = itertools.islice(differing, _CHOICES - 1)
            return self._refuted([point, *others], path, "points", statistics)

        def record(node: NodeRecord) -> None:
            log.add(node)
            if progress is not None:
                progress(statistics)

        failure = search(self._joint, Path.at_root(self._coordinates), record, budget, statistics)
        if failure is None:
            return self._proved(log, "tree" if statistics.depth else "signs", statistics)
        return self._refuted(self._points_of(failure), path, "tree" if failure.path.depth else "signs", statistics)

    def _tried(self, path: Path, budget: Budget) -> list[Point]:
        """Some points of the domain."""
        start = self._coordinates.point_of(self._coordinates.inside)
        found = []
        for point in itertools.islice(random_points(path, start, self._seed), _POINTS):
            budget.check()
            found.append(point)
        return found

    def _differ(self, point: Point) -> bool:
        self._points += 1
        return self._joint.values_at(point)[1]

    def _points_of(self, failure: Failure) -> list[Point]:
        if failure.point is not None:
            return [failure.point]
        known = [sample.point for sample in failure.samples]
        return [difference_point(failure.path, failure.expressions, known, self._differ, self._seed)]

    def search(self, route: str, statistics: Statistics) -> Search:
        """How much work it was."""
        return Search(route, **asdict(statistics), points=self._points)

    def _proved(self, log: TreeLog, route: str, statistics: Statistics) -> Equivalent:
        claim = PairClaim("equivalent", self._first, self._second, self._coordinates.domain)
        unverified = {"tool": f"polyrelu {__version__}"}
        certificate = TreeCertificate(claim, self._coordinates.inside, log, unverified=unverified)
        return Equivalent(certificate, self.search(route, statistics))

    def _refuted(
        self, points: list[Point], path: Path, route: str, statistics: Statistics
    ) -> NotEquivalent | Undecided:
        """The simplest of some points where the networks differ, in the domain and exactly."""

        def is_good(point: Point) -> bool:
            return path.contains(point) and self._differ(point)

        best = min((self._coordinates.embedded(simplified(point, is_good)) for point in points), key=_length)
        witness = Witness(best, self._first(best), self._second(best))
        if _length((*witness.x, *witness.f, *witness.g)) > BIT_LIMIT:
            reason = f"the networks differ at a point that needs numbers of more than {BIT_LIMIT} bits"
            return Undecided(reason, (), self.search(route, statistics))
        shown = witness.to_json()
        hypotheses = (
            Hypothesis("point", "point", {"x": shown["x"]}),
            Hypothesis("point", "values", {"f": shown["f"], "g": shown["g"]}),
        )
        claim = PairClaim("not-equivalent", self._first, self._second, self._coordinates.domain)
        certificate = Certificate(claim, "point", hypotheses, {"tool": f"polyrelu {__version__}"})
        return NotEquivalent(certificate, witness, self.search(route, statistics))


def _length(numbers: tuple[Fraction, ...]) -> int:
    """The bits of the longest numerator or denominator."""
    return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers)
