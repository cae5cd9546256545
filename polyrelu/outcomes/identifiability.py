"""Answers to the question whether a function determines the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

from polyrelu.certificate import Certificate, Claim
from polyrelu.network import Network
from polyrelu.outcomes.answers import Proved, Refuted, answer_text, meaning_of, theorem_lines
from polyrelu.outcomes.sizes import DimensionBound, dimension_lines

__all__ = ["Identifiable", "NotIdentifiable", "PartlyIdentifiable"]

#: What the membership of the network says, by its status.
_MEMBERSHIP = {
    "verified": "The network itself is {among}{there} (verified).",
    "refuted": (
        "The network itself is not {among}{there} (verified): the theorem says that no {among} "
        "parameter computes its function{there}."
    ),
    "open": (
        "Whether the network itself is {among}{there} is left open; if not, no {among} parameter "
        "computes its function{there}."
    ),
}


@dataclass(frozen=True, slots=True, repr=False)
class Identifiable(Proved[Certificate]):
    """The function determines the parameters, among the competitors that the claim names.

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.
    dimension
        Bounds of the functional dimension, if they were asked for.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))
    >>> outcome.status, outcome.theorem, outcome.membership
    ('proved', 'shallow', 'verified')
    """

    dimension: DimensionBound | None = field(default=None, kw_only=True)

    @property
    def membership(self) -> str:
        """Whether the network itself is in the class of competitors: verified, refuted or open."""
        found = next(
            (h.evidence["status"] for h in self.certificate.hypotheses if h.id == "membership"),
            "verified",
        )
        return str(found)

    def _remarks(self) -> list[str]:
        claim = self.certificate.claim
        is_everywhere = not isinstance(claim, Claim) or claim.domain is None
        there = "" if is_everywhere else " there"
        text = _MEMBERSHIP[self.membership].format(among=claim.among, there=there)
        return [*([] if claim.among == "all" else [text]), *dimension_lines(self.dimension)]


@dataclass(frozen=True, slots=True, repr=False)
class PartlyIdentifiable(Proved[Certificate]):
    """The function determines a part of the parameters, as the claim says (`PartClaim`).

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    A weight of the second layer is free, so no proof of identifiability exists. What is determined
    is the field `part` of the answer.

    >>> import polyrelu
    >>> first = ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3])
    >>> second = ([[-3, 2, -3], [1, -3, -2]], [2, -3])
    >>> net = polyrelu.from_arrays([first, second, ([[-1, 3]], [-2])])
    >>> outcome = polyrelu.identify(net, among="transversal", budget=None)
    >>> outcome.status, outcome.part.certificate.claim.num_layers
    ('undecided', 1)
    """


@dataclass(frozen=True, slots=True, repr=False)
class NotIdentifiable(Refuted):
    """The function does not determine the parameters.

    Attributes
    ----------
    certificate
        The certificate, which has the other network.
    other
        Another network with the same function, not equal to the given one up to order and scale.
    explanation
        A sentence on how the other network arises.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.
    dimension
        Bounds of the functional dimension, if they were asked for.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])]))
    >>> outcome.explanation, outcome.other.weight(2).rows() == [(1, 0)]
    ('neuron 1 of layer 1 has outgoing weights 0, so its row is free', True)
    """

    other: Network
    explanation: str
    dimension: DimensionBound | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        lines = [
            f"refuted. {self.statement}",
            f"why: {self.explanation}",
            f"the other network: {self.other}",
            *dimension_lines(self.dimension),
        ]
        meaning = meaning_of(self.certificate)
        return answer_text([*lines, *theorem_lines(self.certificate), meaning], self.next)
