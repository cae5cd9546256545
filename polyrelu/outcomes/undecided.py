"""The answer to a question that is left open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from polyrelu.outcomes.answers import Answer, Attempt, NextStep, answer_text
from polyrelu.outcomes.deviation import DeviationBounds, LipschitzBounds, RangeBounds
from polyrelu.outcomes.identifiability import (
    Identifiable,
    NotIdentifiable,
    PartlyIdentifiable,
)
from polyrelu.outcomes.sizes import DimensionBound, dimension_lines
from polyrelu.outcomes.work import ProofStatistics
from polyrelu.support.display import bracketed

__all__ = ["Outcome", "Undecided"]


@dataclass(frozen=True, slots=True, repr=False)
class Undecided(Answer):
    """The question is open: no theorem applied, or a limit was reached.

    Attributes
    ----------
    reason
        Why there is no answer, in one sentence.
    attempts
        The theorems that were tried, each with the hypothesis that failed.
    search
        How much work was done before a limit was reached; None without a limit.
    part
        What could be proved in part; None if that is nothing.
    bounds
        Bounds that were proved, although they are not close enough; None if there are none.
    next
        What to try next, the most promising first.
    dimension
        Bounds of the functional dimension, if they were asked for.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1], [1]], [0, 0]), ([[1, 1]], [0])])
    >>> outcome = polyrelu.identify(net, among="regular")
    >>> outcome.status, outcome.attempts[0].theorem
    ('undecided', 'shallow')
    >>> print(outcome.next[0])
    refute the claim among all parameters: polyrelu.identify(net, among="all")
    """

    reason: str
    attempts: tuple[Attempt, ...] = field(default=())
    search: ProofStatistics | None = None
    part: PartlyIdentifiable | None = None
    next: tuple[NextStep, ...] = ()
    dimension: DimensionBound | None = None
    bounds: DeviationBounds | LipschitzBounds | RangeBounds | None = None
    status: ClassVar[str] = "undecided"
    certificate: ClassVar[None] = None

    def __repr__(self) -> str:
        return bracketed(f"Undecided: {self.reason}")

    def __str__(self) -> str:
        tried = [f"  tried {attempt}" for attempt in self.attempts]
        lines = [f"undecided: {self.reason}", *tried, *self._reached()]
        part = self.bounds if self.part is None else self.part
        heading = "these bounds were proved:" if self.part is None else "this part was proved:"
        proved = [] if part is None else [heading, str(part).removeprefix("proved. ")]
        return answer_text([*lines, *dimension_lines(self.dimension)], self.next, proved)

    def _reached(self) -> list[str]:
        """Return how much work was done; bounds tell that by themselves."""
        if self.search is None or self.bounds is not None:
            return []
        work = str(self.search).removeprefix("route none: ")
        return [f"reached: {work}, {100 * self.search.closed:.3g} % of the tree"]

    @property
    def statement(self) -> str:
        """The reason why there is no answer."""
        return self.reason


#: The answers of `identify`.
Outcome: TypeAlias = Identifiable | NotIdentifiable | Undecided
