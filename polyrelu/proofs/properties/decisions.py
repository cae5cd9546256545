"""Whether two classifiers choose the same class on a domain.

A network chooses class i at x, by more than a margin, where its output i exceeds all others by more
than the margin; at a tie it chooses none. The claim is that where f chooses i, g chooses i as well,
with margin 0: for all i ≠ j, an output f_k with k ≠ i is at least f_i - margin, or g_j < g_i. These
are clauses as properties have them (`prover`), so that points are looked for, and proofs made, in
the same way.

Networks that are one function are found first, by `equivalence`: their decisions are the same at
ties too. Where f exceeds the other outputs by more than all |(g_i - g_j) - (f_i - f_j)|, the
decisions are the same; the rows of a clause follow from this on each box where it is so.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from polyrelu.certificate import DecisionsClaim
from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import Polyhedron, format_rational, to_fraction
from polyrelu.formats import (
    Clause,
    ClauseRow,
    DomainLike,
    NetworkLike,
    PropertyPart,
    as_domain,
    as_network,
)
from polyrelu.network import Network
from polyrelu.outcomes import (
    DecisionsOutcome,
    DecisionsUndecided,
    DifferentDecisions,
    Equivalent,
    NextStep,
    SameDecisions,
    Witness,
)
from polyrelu.proofs.deviation.tree_tasks import domain_hash
from polyrelu.proofs.deviation.wire import exact_texts
from polyrelu.proofs.equivalence.prover import equivalent_within
from polyrelu.proofs.larger_limits import larger_limits
from polyrelu.proofs.properties.prover import SETTINGS, PartQuestion
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.budget import Budget, BudgetLike, LimitReached, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point
from polyrelu.version import __version__

__all__ = ["same_decisions"]

#: Maximum number of outputs: there are that many clauses squared, each with as many rows.
_MAX_OUTPUTS = 64


def same_decisions(
    first: NetworkLike,
    second: NetworkLike,
    domain: DomainLike = None,
    *,
    margin: Fraction | int | str = 0,
    seed: int = 0,
    budget: BudgetLike = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> DecisionsOutcome:
    """Prove that a network chooses a class wherever another one chooses it, or find where not.

    Parameters
    ----------
    first, second
        Networks with equally many inputs, and equally many outputs, two or more; or what
        `polyrelu.load` takes. The class is the output that is larger than all others.
    domain
        Any nonempty polyhedron, or the text of one such as ``"box:-1,1"``; R^n by default.
    margin
        The question is about points where the largest output of the first network exceeds all
        others by more than this; a number that is not negative, or its text such as ``"1/100"``.
    seed
        Seed of the points that are tried. The same seed and budget give the same answer.
    budget
        Units of work, or a `Budget` with all limits; no limit by default. A unit is about a
        millisecond.
    time_limit
        Seconds, after which the answer is undecided; no limit by default.
    memory_limit
        Limit of the memory of the process in MiB; no limit by default.
    workers
        Who does the tasks into which a long search is divided (`polyrelu.support.parallel`); None
        for this process alone. The answer is the same.
    checkpoint
        A file that keeps what is done; if it exists, the work goes on from there, also with a
        larger budget.
    progress
        Called with a `polyrelu.support.ProgressStep` after each node of a proof.

    Returns
    -------
    SameDecisions or DifferentDecisions or DecisionsUndecided
        A proof, a point where the decisions differ, or the reason why neither was found.

    Raises
    ------
    NetworkError
        A network cannot be read, or the networks have different numbers of inputs or outputs, or
        one output, or more than 64.
    DomainError
        The domain is not understood, is empty or has another dimension; or the checkpoint belongs
        to another question.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Notes
    -----
    Nothing is said about points where the first network has a tie. A tie of the second network,
    where the first one has none, is a difference.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> one, two = from_arrays([([[1], [-1]], [0, 1])]), from_arrays([([[1], [-1]], [0, "9/8"])])
    >>> same_decisions(one, two, "box:1,2").status
    'proved'
    >>> print(same_decisions(one, two, "box:0,1").witness)
    x: 17/32
    f(x): 17/32, 15/32
    g(x): 17/32, 19/32
    >>> same_decisions(one, two, "box:0,1", margin="1/4").status
    'proved'
    """
    networks = as_network(first), as_network(second)
    _check_sizes(*networks)
    place = as_domain(domain, networks[0].num_inputs)
    least = to_fraction(margin)
    if least < 0:
        raise ArgumentError(f"margin: {format_rational(least)[:40]} must be 0 or more")
    seed = expect_count(seed, "seed")
    expect_function(progress, "progress")
    limits = as_budget(budget, time_limit, memory_limit)
    entries = _entries(networks, place, least, seed)
    with (
        np.errstate(all="ignore"),
        Execution.opened(workers, checkpoint, entries) as execution,
        deferred_interrupt() as interrupt,
    ):
        within = limits.with_interrupt(interrupt)
        try:
            return _answer(networks, place, least, seed, within, progress, execution)
        except (LimitReached, KeyboardInterrupt, MemoryError) as error:
            if (why := within.reason_of(error)) is None:
                raise
            return DecisionsUndecided(why, least, next=_steps(within, least))


def _entries(
    networks: tuple[Network, Network], domain: Polyhedron, margin: Fraction, seed: int
) -> dict[str, str]:
    """Return what a checkpoint compares."""
    return {
        "question": "same decisions",
        "version": __version__,
        "first network": networks[0].sha256,
        "second network": networks[1].sha256,
        "domain": domain_hash(domain),
        "margin": exact_texts([margin])[0],
        "seed": str(seed),
    }


def _check_sizes(first: Network, second: Network) -> None:
    """Raise an error if the decisions of two networks cannot be compared."""
    for size, other, what in (
        (first.num_inputs, second.num_inputs, "inputs"),
        (first.num_outputs, second.num_outputs, "outputs"),
    ):
        if size != other:
            raise NetworkError(
                f"the networks have {size} and {other} {what}, so their decisions cannot be "
                "compared"
            )
    if not 2 <= first.num_outputs <= _MAX_OUTPUTS:
        raise NetworkError(
            f"the networks have {first.num_outputs} output{'s' * (first.num_outputs != 1)}; "
            f"decisions are compared for 2 to {_MAX_OUTPUTS}"
        )


def _answer(
    networks: tuple[Network, Network],
    domain: Polyhedron,
    margin: Fraction,
    seed: int,
    budget: Budget,
    progress: Progress | None,
    execution: Execution,
) -> DecisionsOutcome:
    """Return the answer, if no limit is reached."""
    trial = budget.trial(SETTINGS.equality_share)
    same = equivalent_within(*networks, domain, seed, SETTINGS.max_nodes_of_equality, trial)
    budget.check()
    if isinstance(same, Equivalent):
        return SameDecisions(same.certificate, margin, (), same.search)
    clauses = _clauses(networks[0].num_outputs, margin)
    question = PartQuestion(PropertyPart(domain, clauses), networks, seed, margin, execution)
    point = question.point_by_ascent(budget)
    if point is not None:
        return _different(networks, point, margin)
    answer = question.proof(budget, progress)
    if answer.point is not None:
        return _different(networks, answer.point, margin)
    if answer.certificate is None:
        return DecisionsUndecided(answer.reason, margin, next=_steps(budget, margin))
    classes = sorted({_class_at(networks[0], x) for x in question.points} - {-1})
    claim = DecisionsClaim(*networks, answer.certificate.claim.domain, margin)
    return SameDecisions(answer.certificate, margin, tuple(classes), answer.search, claim=claim)


def _clauses(num_outputs: int, margin: Fraction) -> tuple[Clause, ...]:
    """Return the clauses, in the order of FORMAT.md, section 5.8."""
    one = Fraction(1)
    found = []
    for i in range(num_outputs):
        unclear = [
            ClauseRow(tuple(sorted(((i, -one), (k, one)))), margin, is_strict=False, line=0)
            for k in range(num_outputs)
            if k != i
        ]
        for j in range(num_outputs):
            if j != i:
                places = (num_outputs + i, one), (num_outputs + j, -one)
                follows = ClauseRow(tuple(sorted(places)), Fraction(), is_strict=True, line=0)
                found.append(Clause((*unclear, follows)))
    return tuple(found)


def _class_at(network: Network, x: Point) -> int:
    """Return the class that a network chooses at a point; -1 at a tie."""
    values = network(x)
    largest = max(values)
    return values.index(largest) if values.count(largest) == 1 else -1


def _different(networks: tuple[Network, Network], x: Point, margin: Fraction) -> DifferentDecisions:
    """Return the answer of a point."""
    f, g = (network(x) for network in networks)
    gap = sorted(f)[-1] - sorted(f)[-2]
    step = NextStep(
        "ask where the first network decides more clearly",
        f"polyrelu.same_decisions(net, other, domain, margin='{_above(gap)}')",
        ("same-decisions", "NET", "OTHER", "--margin", _above(gap)),
    )
    return DifferentDecisions(Witness(x, f, g), margin, next=(step,))


def _above(gap: Fraction) -> str:
    """Return a short number that is larger than a positive one.

    >>> _above(Fraction(1, 8)), _above(Fraction(3))
    ('1/4', '4')
    """
    exponent = gap.numerator.bit_length() - gap.denominator.bit_length() + 1
    return format_rational(Fraction(2) ** exponent)


def _steps(budget: Budget, margin: Fraction) -> tuple[NextStep, ...]:
    """Return what to try after a limit."""
    texts, arguments, options = larger_limits(budget)
    if not texts:
        return ()
    own = [] if not margin else ["--margin", format_rational(margin)]
    given = f", margin={format_rational(margin)!r}" if margin else ""
    return (
        NextStep(
            f"allow {' and '.join(texts)}",
            f"polyrelu.same_decisions(net, other, domain{given}{arguments})",
            ("same-decisions", "NET", "OTHER", *own, *options),
        ),
    )
