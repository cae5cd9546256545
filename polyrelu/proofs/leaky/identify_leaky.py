"""Whether the function of a leaky ReLU stack determines its parameters.

The theorem for one hidden layer comes first, then other stacks with the same function, then the
theorem on chains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrelu.certificate import Among, Certificate, Claim, Hypothesis
from polyrelu.network import LeakyStack, Network, leaky_stack
from polyrelu.outcomes import Attempt, Identifiable, NotIdentifiable, Outcome, Undecided
from polyrelu.proofs.leaky.moves import leaky_moves
from polyrelu.proofs.leaky.prover import CHAINS, SHALLOW, prove_chains, prove_shallow
from polyrelu.proofs.next_steps import OTHER, OTHER_ON_DOMAIN, Question, after_skipping
from polyrelu.proofs.refutations.moves import Move
from polyrelu.support.budget import Budget
from polyrelu.version import __version__

__all__ = ["decidable_stack", "identify_leaky"]


@dataclass(frozen=True, slots=True)
class LeakySettings:
    """How much work the parts of a question get.

    Attributes
    ----------
    share_of_moves
        Work of the search for other stacks, as a share of the budget, which does not pay for it.
    """

    share_of_moves: float = 1 / 6


SETTINGS = LeakySettings()


def decidable_stack(network: Network) -> LeakyStack | None:
    """Return the leaky ReLU stack that a network is, if its slope is positive; else None.

    >>> from fractions import Fraction
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [0, 2]), ([[1, 1]], [1])])
    >>> slopes = (Fraction(1, 2), Fraction(-1))
    >>> [decidable_stack(LeakyStack(slope, stack).network()) is not None for slope in slopes]
    [True, False]
    """
    if network.is_plain:
        return None
    leaky = leaky_stack(network)
    return leaky if leaky is not None and leaky.slope > 0 else None


def identify_leaky(leaky: LeakyStack, question: Question, limits: Budget) -> Outcome:
    """Answer a question about a leaky ReLU stack, among such stacks of the same slope and widths.

    A `LimitReached` says that a limit of time or memory, or the work, ended the search.

    >>> from fractions import Fraction
    >>> from polyrelu.network import from_arrays
    >>> stack = from_arrays([([[1], [2]], [0, 2]), ([[1, 1]], [1])])
    >>> leaky = LeakyStack(Fraction(1, 2), stack)
    >>> question = Question(leaky.network(), None, 0, None, None, None)
    >>> identify_leaky(leaky, question, Budget()).status
    'proved'
    """
    among, domain = question.among, question.domain
    if among in ("transversal", "generic"):
        return Undecided(
            f"the class of {among} parameters is defined for plain stacks only; stacks of leaky "
            "ReLUs have the classes all and regular",
            next=after_skipping(question.network),
        )
    attempts = list[Attempt]()
    if leaky.stack.depth == 2:
        proof = prove_shallow(leaky, limits, domain)
        if isinstance(proof, list):
            return _proved(leaky, question, SHALLOW, "all", proof)
        attempts.append(proof)
    if among != "regular":
        work = limits.total_work
        budget = limits.apart(None if work is None else work * SETTINGS.share_of_moves)
        move = next(leaky_moves(leaky, question.seed, budget, domain), None)
        if move is not None:
            return _refuted(leaky, question, move)
        attempts.append(Attempt("other networks", _NO_MOVE))
    if among != "all":
        found = prove_chains(leaky, question.seed, limits, domain)
        if isinstance(found, list):
            return _proved(leaky, question, CHAINS, "regular", found)
        attempts.append(found)
    return Undecided(
        "no theorem on leaky ReLUs applied, and no other network with the same function was found",
        tuple(attempts),
        next=after_skipping(question.network),
    )


_NO_MOVE = (
    "none was found by looking, layer by layer, for unused, constant and duplicate neurons, for "
    "sets of neurons that can be flipped and, on a domain, for neurons of one sign by interval "
    "bounds; other networks with the same function may exist all the same"
)


def _proved(
    leaky: LeakyStack, question: Question, theorem: str, among: Among, proof: list[Hypothesis]
) -> Identifiable:
    claim = Claim(
        "identifiable", question.network, among, domain=question.domain, slope=leaky.slope
    )
    return Identifiable(_certificate(claim, theorem, proof))


def _refuted(leaky: LeakyStack, question: Question, move: Move) -> NotIdentifiable:
    evidence: dict[str, dict[str, Any]] = {
        "architecture": {},
        "same-function": move.evidence,
        "not-related": {"layer": move.difference},
        "membership": {"status": "verified", "method": "every"},
    }
    hypotheses = [Hypothesis(move.theorem, key, value) for key, value in evidence.items()]
    claim = Claim(
        "not-identifiable", question.network, "all", move.other, question.domain, leaky.slope
    )
    step = OTHER if question.domain is None else OTHER_ON_DOMAIN
    certificate = _certificate(claim, move.theorem, hypotheses)
    return NotIdentifiable(certificate, move.other, move.explanation, next=(step,))


def _certificate(claim: Claim, theorem: str, hypotheses: list[Hypothesis]) -> Certificate:
    return Certificate(claim, theorem, tuple(hypotheses), {"tool": f"polyrelu {__version__}"})
