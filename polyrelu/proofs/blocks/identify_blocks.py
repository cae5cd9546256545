"""Whether the function of a network of blocks determines its parameters: refutations.

No theorem shows that it does, so that the answer is another network, or it is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polyrelu.certificate import Certificate, Claim, Hypothesis
from polyrelu.outcomes import Attempt, NotIdentifiable, Outcome, Undecided
from polyrelu.proofs.blocks.block_move import BlockMove
from polyrelu.proofs.blocks.duplicates import duplicate_moves
from polyrelu.proofs.blocks.moves import block_moves
from polyrelu.proofs.blocks.one_sided_blocks import one_sided_block_moves
from polyrelu.proofs.blocks.settings import SETTINGS
from polyrelu.proofs.next_steps import OTHER, OTHER_ON_DOMAIN, Question, after_skipping
from polyrelu.support.budget import Budget
from polyrelu.version import __version__

__all__ = ["NOT_PLAIN", "identify_blocks", "refuted_by"]

#: The reason why nothing is proved for networks that are no plain stacks.
NOT_PLAIN = (
    "no theorem here proves that networks are identifiable whose layers read more than the layer "
    "before (through skip connections, max pooling and the like), except stacks of leaky ReLUs of "
    "one slope"
)
_NO_MOVE = (
    "none was found by looking, layer by layer, for neurons that nothing reads, for duplicate "
    "neurons and, by interval bounds and linear programs, for neurons of one sign, or of one sign "
    "wherever a neuron that they read is on; other networks with the same function may exist all "
    "the same"
)


def identify_blocks(question: Question, limits: Budget) -> Outcome:
    """Answer a question about a network, among all networks whose layers read the same layers.

    A `LimitReached` says that a limit of time or memory ended the search.

    >>> from polyrelu.exact import RationalMatrix
    >>> from polyrelu.network import Block, Layer, Network
    >>> one = RationalMatrix.from_rows([[1]])
    >>> hidden = Layer((Block(0, RationalMatrix.from_rows([[0]])),), RationalMatrix.column([-2]))
    >>> output = Layer((Block(0, one), Block(1, one)), RationalMatrix.column([0]))
    >>> question = Question(Network(1, (hidden, output)), None, 0, None, None, None)
    >>> identify_blocks(question, Budget()).explanation
    'neuron 0 of layer 1 is dead on R^n'
    """
    if question.among not in (None, "all"):
        return Undecided(
            f"the class of {question.among} parameters is not defined for networks whose layers "
            "read more than the layer before; they have the class all",
            next=after_skipping(question.network),
        )
    move = next(_moves(question, limits), None)
    if move is not None:
        return refuted_by(question, move)
    attempt = Attempt("other networks", _NO_MOVE)
    return Undecided(NOT_PLAIN, (attempt,), next=after_skipping(question.network))


def _moves(question: Question, limits: Budget) -> Iterator[BlockMove]:
    """Yield moves, cheap ones first."""
    network, domain = question.network, question.domain
    yield from block_moves(network, limits, domain)
    yield from duplicate_moves(network, limits, domain)
    budget = limits.part(SETTINGS.work_of_programs)
    yield from one_sided_block_moves(network, budget, domain, question.seed)


def refuted_by(question: Question, move: BlockMove) -> NotIdentifiable:
    """Return the answer with another network, and its certificate."""
    evidence: dict[str, dict[str, Any]] = {
        "architecture": {},
        "same-function": dict(move.evidence),
        "not-related": dict(move.difference),
        "membership": {"status": "verified", "method": "every"},
    }
    hypotheses = tuple(Hypothesis(move.theorem, key, value) for key, value in evidence.items())
    claim = Claim(
        "not-identifiable",
        question.network,
        "all",
        move.other,
        question.domain,
        has_blocks=True,
    )
    certificate = Certificate(claim, move.theorem, hypotheses, {"tool": f"polyrelu {__version__}"})
    step = OTHER if question.domain is None else OTHER_ON_DOMAIN
    return NotIdentifiable(certificate, move.other, move.explanation, next=(step,))
