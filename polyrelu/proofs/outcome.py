"""What a prover answers: proved, refuted or undecided. Undecided is never False, and none of the three is a truth
value.

`Proved` and `Refuted` carry a certificate that an independent checker re-derives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import ClassVar, NoReturn, Self, TypeAlias

from polyrelu.certificate import MEANING, RUNTIME_MEANING, THEOREMS, Certificate, Claim, Hypothesis
from polyrelu.network import Network
from polyrelu.textfiles import wrapped

__all__ = ["Attempt", "Outcome", "Proved", "Refuted", "Undecided"]


class _Answer:
    """What the three answers share: they print well, and refuse to be used as a truth value."""

    __slots__ = ()

    status: ClassVar[str]

    def __bool__(self) -> NoReturn:
        raise TypeError("an outcome is not a truth value: test `outcome.status` or use isinstance(outcome, Proved)")

    def __repr__(self) -> str:
        return str(self)  # what a terminal shows; the fields would fill pages

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class _Decided(_Answer):
    """An answer with a certificate."""

    certificate: Certificate

    def save(self, path: str | Path, also: Mapping[Path, Network] | None = None) -> list[Path]:
        """Write the certificate (see `Certificate.save`)."""
        return self.certificate.save(path, also)

    @property
    def theorem(self) -> str:
        """The name of the theorem (FORMAT.md §3.3)."""
        return self.certificate.theorem

    def with_provenance(self, provenance: dict[str, str]) -> Self:
        """The same answer, its certificate telling (unverified) where the network came from."""
        unverified = {**self.certificate.unverified, **provenance}
        return replace(self, certificate=replace(self.certificate, unverified=unverified))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A theorem that was tried and did not decide, and why."""

    theorem: str
    reason: str

    def __str__(self) -> str:
        return f"{self.theorem}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class Proved(_Decided):
    """The claim holds; the certificate says why, and among which competitors.

    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))
    >>> outcome.status, outcome.theorem, outcome.membership
    ('proved', 'shallow', 'verified')
    """

    status: ClassVar[str] = "proved"

    @property
    def membership(self) -> str:
        """What is known of the network's own membership in the class: verified, refuted or open."""
        found = next((h.evidence["status"] for h in self.certificate.hypotheses if h.id == "membership"), "verified")
        return str(found)

    def __str__(self) -> str:
        certificate = self.certificate
        lines = [f"proved. {certificate.claim}"]
        if certificate.claim.among == "generic":
            lines.append(_MEMBERSHIP[self.membership])
        return _wrapped([*lines, *_theorem_lines(certificate), _meaning(certificate)])


@dataclass(frozen=True, slots=True, repr=False)
class Refuted(_Decided):
    """The claim fails; `other` is another network with the same function, `story` says why.

    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])]))
    >>> outcome.story, outcome.other.weight(2).rows() == [(1, 0)]
    ('neuron 1 of layer 1 has outgoing weights 0, so its row is free', True)
    """

    other: Network
    story: str
    status: ClassVar[str] = "refuted"

    def __str__(self) -> str:
        lines = [f"refuted. {self.certificate.claim}", f"why: {self.story}", f"the other network: {self.other}"]
        return _wrapped([*lines, *_theorem_lines(self.certificate), MEANING])


@dataclass(frozen=True, slots=True, repr=False)
class Undecided(_Answer):
    """No theorem applied; `attempts` lists what was tried and which hypothesis failed."""

    reason: str
    attempts: tuple[Attempt, ...] = field(default=())
    status: ClassVar[str] = "undecided"

    def __str__(self) -> str:
        return _wrapped([f"undecided: {self.reason}", *(f"  tried {attempt}" for attempt in self.attempts)])


Outcome: TypeAlias = Proved | Refuted | Undecided

_MEMBERSHIP = {
    "verified": "The network itself is generic (verified).",
    "refuted": "The network itself is not generic (verified): the theorem says that no generic parameter computes its "
    "function.",
    "open": "Whether the network itself is generic is left open; if not, no generic parameter computes its function.",
}


def _meaning(certificate: Certificate) -> str:
    return MEANING if isinstance(certificate.claim, Claim) else RUNTIME_MEANING


def _theorem_lines(certificate: Certificate) -> list[str]:
    theorem = THEOREMS[certificate.theorem]
    lines = [f"theorem: {theorem.title} ({theorem.proof})"]
    return lines + [f"  [{_mark(h)}] {h.id}: {h.statement}" for h in certificate.hypotheses]


def _wrapped(lines: list[str]) -> str:
    return "\n".join(wrapped(line) for line in lines)


def _mark(hypothesis: Hypothesis) -> str:
    """Membership is reported, in either direction or open; everything else is proved."""
    return str(hypothesis.evidence.get("status", hypothesis.status))
