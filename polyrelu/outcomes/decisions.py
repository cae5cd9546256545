"""Answers to the question whether two classifiers choose the same class."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from polyrelu.certificate import BoundsCertificate, Choice, DecisionsClaim, TreeCertificate
from polyrelu.exact import decimal_below, format_rational
from polyrelu.outcomes.answers import Answer, NextStep, Proved, answer_text
from polyrelu.outcomes.points import Witness
from polyrelu.outcomes.properties import ABOUT_EXCESS
from polyrelu.outcomes.work import ProofStatistics
from polyrelu.support.display import bracketed

__all__ = ["DecisionsOutcome", "DecisionsUndecided", "DifferentDecisions", "SameDecisions"]


#: What a certificate shows about differences of outputs.
_MULTIPLES = "outputs of the second network differ from each other by {} as much as in the first"
_ABOUT_DIFFERENCES = (
    "the certificate is about the differences of outputs from output 0, made from the last layers "
    "of both networks"
)


@dataclass(frozen=True, slots=True, repr=False)
class SameDecisions(Proved[BoundsCertificate | TreeCertificate]):
    """Wherever the first network chooses one class, the second one chooses the same.

    Attributes
    ----------
    certificate
        The certificate.
    margin
        The first network chooses a class where its output differs from all others by more than
        this.
    classes
        The classes that the first network chose at points that were tried. Where several classes
        meet there are ties, about which nothing is said. Empty if the certificate shows that both
        networks compute the same function, or that differences of outputs are multiples.
    search
        How much work the answer took.
    claim
        What is proved; None if the certificate claims equality of both networks, or just this.
    choose
        Whether networks choose the largest or the smallest output.
    factor
        A positive number: the certificate is about the differences of outputs from output 0, of the
        first network times this factor and of the second one, and shows that they are equal. None
        for all other certificates.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1], [-1]], [0, 1])])
    >>> other = polyrelu.from_arrays([([[1], [-2]], [0, 1])])
    >>> outcome = polyrelu.same_decisions(net, other, "box:1,2")
    >>> outcome.status, outcome.classes
    ('proved', (0,))
    """

    margin: Fraction
    classes: tuple[int, ...]
    search: ProofStatistics
    claim: DecisionsClaim | None = field(default=None, kw_only=True)
    choose: Choice = field(default="largest", kw_only=True)
    factor: Fraction | None = field(default=None, kw_only=True)

    @property
    def statement(self) -> str:
        """The sentence that is proved."""
        claim: Any = self.claim or self.certificate.claim
        if isinstance(claim, DecisionsClaim):
            return str(claim)
        pair = claim.network, claim.other
        return str(DecisionsClaim(*pair, claim.domain, self.margin, choose=self.choose))

    def _remarks(self) -> list[str]:
        if self.factor is not None:
            times = f"{format_rational(self.factor)} times" if self.factor != 1 else "exactly"
            same = f"the certificate shows more: {_MULTIPLES.format(times)}"
            return [same, str(self.search), _ABOUT_DIFFERENCES]
        if not self.classes:
            same = "the certificate shows more: both networks compute the same function"
            return [same, str(self.search)]
        shown = ", ".join(map(str, self.classes))
        which = f"class {shown}" if len(self.classes) == 1 else f"the classes {shown}"
        ties = "; where they meet there are ties" if len(self.classes) > 1 else ""
        tried = f"at the points that were tried the first network chose {which}{ties}"
        is_tree = isinstance(self.certificate, TreeCertificate)
        return [tried, str(self.search), *([ABOUT_EXCESS] if is_tree else [])]

    def __repr__(self) -> str:
        number = len(self.classes)
        return bracketed(f"SameDecisions: {number} {'class' if number == 1 else 'classes'} seen")


@dataclass(frozen=True, slots=True, repr=False)
class DifferentDecisions(Answer):
    """At a point the first network chooses one class, and the second one does not.

    Attributes
    ----------
    witness
        The point, with the exact outputs of both networks.
    margin
        The margin of the question.
    choose
        Whether networks choose the largest or the smallest output.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> one = polyrelu.from_arrays([([[1], [-1]], [0, 1])])
    >>> two = polyrelu.from_arrays([([[1], [-1]], [0, 2])])
    >>> outcome = polyrelu.same_decisions(one, two, "box:0,1")
    >>> outcome.first_best, outcome.second_best
    ((0,), (0, 1))
    """

    witness: Witness
    margin: Fraction
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)
    choose: Choice = field(default="largest", kw_only=True)
    status: ClassVar[str] = "refuted"
    certificate: ClassVar[None] = None

    @property
    def first_best(self) -> tuple[int, ...]:
        """The class that the first network chooses at the point."""
        return _best(self.witness.f, self.choose)

    @property
    def second_best(self) -> tuple[int, ...]:
        """The classes of the second network at the point, several at a tie."""
        return _best(self.witness.g, self.choose)

    @property
    def lead(self) -> Fraction:
        """By how much the class of the first network differs from its next best one."""
        f = sorted(self.witness.f, reverse=self.choose == "largest")
        return abs(f[0] - f[1])

    @property
    def statement(self) -> str:
        """The sentence that is shown by the point."""
        second = ", ".join(map(str, self.second_best))
        theirs = f"class {second}" if len(self.second_best) == 1 else f"a tie of {second}"
        lead = decimal_below(self.lead)
        what = ", the smallest output," if self.choose == "smallest" else ""
        return (
            f"At a point the first network chooses class {self.first_best[0]}{what} by {lead}, and "
            f"the second one {theirs}."
        )

    def __str__(self) -> str:
        return answer_text(
            [f"refuted. {self.statement}", *str(self.witness).split("\n")], self.next
        )

    def __repr__(self) -> str:
        return bracketed(f"DifferentDecisions: {self.first_best} and {self.second_best}")


@dataclass(frozen=True, slots=True, repr=False)
class DecisionsUndecided(Answer):
    """The question is open.

    Attributes
    ----------
    reason
        Why there is no answer, in one sentence.
    margin
        The margin of the question.
    next
        What to try next, the most promising first.

    Examples
    --------
    >>> DecisionsUndecided("the time limit of 1 seconds was reached", Fraction(0))
    <DecisionsUndecided: the time limit of 1 seconds was reached>
    """

    reason: str
    margin: Fraction
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)
    status: ClassVar[str] = "undecided"
    certificate: ClassVar[None] = None

    @property
    def statement(self) -> str:
        """The reason why there is no answer."""
        return self.reason

    def __str__(self) -> str:
        return answer_text([f"undecided: {self.reason}"], self.next)

    def __repr__(self) -> str:
        return bracketed(f"DecisionsUndecided: {self.reason}")


#: The answers of `same_decisions`.
DecisionsOutcome: TypeAlias = SameDecisions | DifferentDecisions | DecisionsUndecided


def _best(outputs: tuple[Fraction, ...], choose: Choice) -> tuple[int, ...]:
    """Return the indices of the largest, or of the smallest, outputs."""
    best = min(outputs) if choose == "smallest" else max(outputs)
    return tuple(i for i, value in enumerate(outputs) if value == best)
