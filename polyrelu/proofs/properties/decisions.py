"""Whether two classifiers choose the same class on a domain.

A network chooses class i at x, by more than a margin, where its output i exceeds all others by more
than the margin; at a tie it chooses none. The claim is that where f chooses i, g chooses i as well,
with margin 0: for all i ≠ j, an output f_k with k ≠ i is at least f_i - margin, or g_j < g_i. These
are clauses as properties have them (`prover`), so that points are looked for, and proofs made, in
the same way. Networks may choose the smallest output instead: then -f and -g are compared, which
changes the sign of all differences in the clauses, and leaves the networks as they are.

Networks that are one function are found first, by `equivalence`: their decisions are the same at
ties too. Where f exceeds the other outputs by more than all |(g_i - g_j) - (f_i - f_j)|, the
decisions are the same; the rows of a clause follow from this on each box where it is so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np

from polyrelu.certificate import Choice, DecisionsClaim
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
from polyrelu.proofs.equivalence.prover import equivalent_within
from polyrelu.proofs.larger_limits import larger_limits, limits_after
from polyrelu.proofs.properties.prover import SETTINGS, Decisions, PartQuestion
from polyrelu.support.arguments import expect_choice, expect_count, expect_function
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.parallel import Execution, Workers
from polyrelu.support.parallel.wire import exact_texts
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point
from polyrelu.version import __version__

__all__ = ["same_decisions"]

#: Maximum number of outputs: there are that many clauses squared, each with as many rows.
_MAX_OUTPUTS = 64
#: The margin that is proposed where the first network has ties at all points that were tried.
_LEAST_MARGIN = Fraction(1, 1024)


def same_decisions(
    first: NetworkLike,
    second: NetworkLike,
    domain: DomainLike = None,
    *,
    margin: Fraction | int | str = 0,
    choose: Choice = "largest",
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
        `polyrelu.load` takes.
    domain
        Any nonempty polyhedron, or the text of one such as ``"box:-1,1"``; R^n by default.
    margin
        The question is about points where the chosen output of the first network differs from all
        others by more than this; a number that is not negative, or its text such as ``"1/100"``.
    choose
        The class that a network chooses is its ``"largest"`` output, the one that is larger than
        all others, or its ``"smallest"`` one, as where outputs are costs.
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
    >>> same_decisions(one, two, "box:0,1", choose="smallest").first_best
    (1,)
    """
    networks = as_network(first), as_network(second)
    _check_sizes(*networks)
    place = as_domain(domain, networks[0].num_inputs)
    least = to_fraction(margin)
    if least < 0:
        raise ArgumentError(f"margin: {format_rational(least)[:40]} must be 0 or more")
    seed = expect_count(seed, "seed")
    expect_choice(choose, get_args(Choice), "choose")
    expect_function(progress, "progress")
    asked = Decisions(least, choose)
    limits = as_budget(budget, time_limit, memory_limit)
    entries = _entries(networks, place, asked, seed)
    with (
        np.errstate(all="ignore"),
        Execution.opened(workers, checkpoint, entries) as execution,
        deferred_interrupt() as interrupt,
    ):
        within = limits.with_interrupt(interrupt)
        try:
            return _answer(networks, place, asked, seed, within, progress, execution)
        except ENDINGS as error:
            if (why := within.reason_of(error)) is None:
                raise
            return DecisionsUndecided(why, least, next=_longer(larger_limits(within), asked))


def _entries(
    networks: tuple[Network, Network], domain: Polyhedron, asked: Decisions, seed: int
) -> dict[str, str]:
    """Return what a checkpoint compares."""
    return {
        "question": "same decisions",
        "version": __version__,
        "first network": networks[0].sha256,
        "second network": networks[1].sha256,
        "domain": domain.sha256,
        "margin": exact_texts([asked.margin])[0],
        "choose": asked.choose,
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
    asked: Decisions,
    seed: int,
    budget: Budget,
    progress: Progress | None,
    execution: Execution,
) -> DecisionsOutcome:
    """Return the answer, if no limit is reached."""
    trial = budget.trial(SETTINGS.equality_share)
    same = equivalent_within(*networks, domain, seed, SETTINGS.max_nodes_of_equality, trial)
    budget.check()
    margin, choose = asked
    if isinstance(same, Equivalent):
        return SameDecisions(same.certificate, margin, (), same.search, choose=choose)
    part = PropertyPart(domain, _clauses(networks[0].num_outputs, asked))
    question = PartQuestion(part, networks, seed, asked, execution)
    point = question.point_by_ascent(budget)
    if point is not None:
        return _different(networks, point, asked)
    answer = question.proof(budget, progress)
    if answer.point is not None:
        return _different(networks, answer.point, asked)
    if answer.certificate is None:
        steps = _longer(limits_after(budget, answer.reason), asked)
        steps = steps or _clearer(networks[0], question.points, asked)
        return DecisionsUndecided(answer.reason, margin, next=steps)
    seen = tuple(sorted({_class_at(networks[0], x, choose) for x in question.points} - {-1}))
    claim = DecisionsClaim(*networks, answer.certificate.claim.domain, margin, choose=choose)
    return SameDecisions(
        answer.certificate, margin, seen, answer.search, claim=claim, choose=choose
    )


def _clauses(num_outputs: int, asked: Decisions) -> tuple[Clause, ...]:
    """Return the clauses, in the order of FORMAT.md, section 5.8."""
    one = Fraction(-1 if asked.choose == "smallest" else 1)
    found = []
    for i in range(num_outputs):
        unclear = [
            ClauseRow(tuple(sorted(((i, -one), (k, one)))), asked.margin, is_strict=False, line=0)
            for k in range(num_outputs)
            if k != i
        ]
        for j in range(num_outputs):
            if j != i:
                places = (num_outputs + i, one), (num_outputs + j, -one)
                follows = ClauseRow(tuple(sorted(places)), Fraction(), is_strict=True, line=0)
                found.append(Clause((*unclear, follows)))
    return tuple(found)


def _class_at(network: Network, x: Point, choose: Choice) -> int:
    """Return the class that a network chooses at a point; -1 at a tie."""
    values = network(x)
    best = min(values) if choose == "smallest" else max(values)
    return values.index(best) if values.count(best) == 1 else -1


def _different(networks: tuple[Network, Network], x: Point, asked: Decisions) -> DifferentDecisions:
    """Return the answer of a point."""
    witness = Witness(x, *(network(x) for network in networks))
    found = DifferentDecisions(witness, asked.margin, choose=asked.choose)
    return replace(found, next=(_with_margin(_above(found.lead), asked.choose),))


def _clearer(network: Network, points: Sequence[Point], asked: Decisions) -> tuple[NextStep]:
    """Return what to try where the decisions agree, but no certificate shows it at ties."""
    if asked.margin:
        return (_with_margin(2 * asked.margin, asked.choose),)
    outputs = (sorted(network(x), reverse=asked.choose == "largest") for x in points)
    lead = max((abs(f[0] - f[1]) for f in outputs), default=Fraction())
    margin = _above(lead / 128) if lead else _LEAST_MARGIN
    return (_with_margin(margin, asked.choose),)


def _with_margin(margin: Fraction, choose: Choice) -> NextStep:
    """Return the same question with another margin."""
    given, own = _arguments(Decisions(margin, choose))
    return NextStep(
        "ask where the first network decides more clearly",
        f"polyrelu.same_decisions(net, other, domain{given})",
        ("same-decisions", "NET", "OTHER", *own),
    )


def _above(gap: Fraction) -> Fraction:
    """Return a short number that is larger than a positive one.

    >>> _above(Fraction(1, 8)), _above(Fraction(3))
    (Fraction(1, 4), Fraction(4, 1))
    """
    exponent = gap.numerator.bit_length() - gap.denominator.bit_length() + 1
    return Fraction(2) ** exponent


def _longer(limits: tuple[list[str], str, list[str]], asked: Decisions) -> tuple[NextStep, ...]:
    """Return the same question with larger limits, if there are some."""
    texts, arguments, options = limits
    if not texts:
        return ()
    given, own = _arguments(asked)
    return (
        NextStep(
            f"allow {' and '.join(texts)}",
            f"polyrelu.same_decisions(net, other, domain{given}{arguments})",
            ("same-decisions", "NET", "OTHER", *own, *options),
        ),
    )


def _arguments(asked: Decisions) -> tuple[str, tuple[str, ...]]:
    """Return the arguments of a question that are no defaults, for Python and for the command.

    >>> _arguments(Decisions(Fraction(1, 4), "smallest"))
    (", margin='1/4', choose='smallest'", ('--margin', '1/4', '--choose', 'smallest'))
    """
    given, own = "", tuple[str, ...]()
    if asked.margin:
        text = format_rational(asked.margin)
        given, own = f", margin={text!r}", ("--margin", text)
    if asked.choose == "smallest":
        given, own = f"{given}, choose={asked.choose!r}", (*own, "--choose", asked.choose)
    return given, own
