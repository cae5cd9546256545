"""Answers to questions on different inputs: whether outputs differ, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polyrelu.certificate import INJECTIVITY_MEANING, Certificate, LipschitzClaim
from polyrelu.network import Network, from_document
from polyrelu.outcomes.answers import Proved, Refuted, answer_text
from polyrelu.outcomes.points import Collision, NearPair
from polyrelu.outcomes.work import InjectivityStatistics

__all__ = ["Injective", "InverseLipschitz", "NotInjective"]


@dataclass(frozen=True, slots=True, repr=False)
class Injective(Proved[Certificate]):
    """No two points of the domain have equal outputs.

    Attributes
    ----------
    certificate
        The certificate that says why.
    search
        How much work the answer took.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> layer = polyrelu.from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> polyrelu.injective(layer).theorem
    'active-rows'
    >>> polyrelu.proofs.left_inverse(layer).inverse((3, 0))
    (Fraction(3, 1),)
    """

    search: InjectivityStatistics

    @property
    def inverse(self) -> Network | None:
        """A network g with g(f(x)) = x on the domain; None if another theorem was used."""
        if self.theorem != "left-inverse":
            return None
        return from_document(self.certificate.hypotheses[0].evidence["network"])

    def _remarks(self) -> list[str]:
        return [str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class NotInjective(Refuted):
    """Two points of the domain have equal outputs.

    Attributes
    ----------
    certificate
        The certificate, which has the points.
    witness
        The points.
    search
        How much work the answer took.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> layer = polyrelu.from_arrays([([[1, 0], [0, 1], [-1, 0]], [0, 0, 0])], last="relu")
    >>> outcome = polyrelu.injective(layer)
    >>> layer(outcome.witness.x) == layer(outcome.witness.y)
    True
    """

    witness: Collision
    search: InjectivityStatistics

    def __str__(self) -> str:
        lines = [f"refuted. {self.statement}", *str(self.witness).splitlines()]
        return answer_text([*lines, INJECTIVITY_MEANING], self.next)


@dataclass(frozen=True, slots=True, repr=False)
class InverseLipschitz(Proved[Certificate]):
    """Bounds of the inverse Lipschitz constant κ, where |f(x) - f(y)| ≥ κ |x - y|.

    Attributes
    ----------
    certificate
        The certificate that says why.
    witness
        Two points with |f(x) - f(y)|² = `at_most` |x - y|².
    search
        How much work the answer took.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> layer = polyrelu.from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> found = polyrelu.inverse_lipschitz(layer)
    >>> found.at_least, found.at_most
    (Fraction(1, 2), Fraction(1, 2))
    """

    witness: NearPair
    search: InjectivityStatistics

    @property
    def at_least(self) -> Fraction:
        """A lower bound of κ²."""
        claim: LipschitzClaim = self._claim()
        return claim.at_least

    @property
    def at_most(self) -> Fraction:
        """An upper bound of κ²."""
        claim: LipschitzClaim = self._claim()
        return claim.at_most

    def _claim(self) -> Any:
        return self.certificate.claim

    def _remarks(self) -> list[str]:
        low, high = (float(number) ** 0.5 for number in (self.at_least, self.at_most))
        return [
            f"in decimals: κ is about {low:.6g} to {high:.6g}",
            *str(self.witness).splitlines(),
        ]
