"""Answers to the question whether two networks compute one function."""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.certificate import PAIR_MEANING, TreeCertificate
from polyrelu.outcomes.answers import Proved, Refuted, answer_text
from polyrelu.outcomes.points import Witness
from polyrelu.outcomes.work import SearchStatistics

__all__ = ["Equivalent", "NotEquivalent"]


@dataclass(frozen=True, slots=True, repr=False)
class Equivalent(Proved[TreeCertificate]):
    """The two networks compute the same function on the domain.

    Attributes
    ----------
    certificate
        The certificate that says why.
    search
        How the answer was found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[2], [3]], [0, 1]), ([[1, 1]], [0])])
    >>> scaled = polyrelu.from_arrays([([[3], [1]], [1, 0]), ([[1, 2]], [0])])
    >>> outcome = polyrelu.equivalent(net, scaled)
    >>> type(outcome).__name__, outcome.search.route
    ('Equivalent', 'expressions')
    """

    search: SearchStatistics

    def _remarks(self) -> list[str]:
        return [str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class NotEquivalent(Refuted):
    """The two networks compute different functions on the domain.

    Attributes
    ----------
    certificate
        The certificate, which has the point.
    witness
        A point at which the outputs differ.
    search
        How the answer was found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> one, other = polyrelu.from_arrays([([[1]], [0])]), polyrelu.from_arrays([([[1]], [2])])
    >>> polyrelu.equivalent(one, other).witness.difference()
    'output 0 differs most: f(x) - g(x) = -2'
    """

    witness: Witness
    search: SearchStatistics

    def __str__(self) -> str:
        lines = [f"refuted. {self.statement}", str(self.search)]
        lines += [*str(self.witness).splitlines(), self.witness.difference()]
        return answer_text([*lines, PAIR_MEANING], self.next)
