"""What a prover answers: proved, refuted or undecided. Undecided is never False, and none of the three is a truth
value.

`Proved` and `Refuted` carry a certificate that an independent checker re-derives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeAlias, TypeVar

from polyrelu.certificate import (
    MEANING,
    PAIR_MEANING,
    REGIONS_MEANING,
    RUNTIME_MEANING,
    THEOREMS,
    Certificate,
    Claim,
    Hypothesis,
    PairClaim,
    PartClaim,
    RegionsCertificate,
    RegionsClaim,
    TreeCertificate,
    number_text,
    vector_text,
)
from polyrelu.exact import format_rational
from polyrelu.network import Network
from polyrelu.support.text_files import wrapped

__all__ = [
    "Attempt",
    "Equivalent",
    "Identifiable",
    "NotEquivalent",
    "NotIdentifiable",
    "Outcome",
    "PartlyIdentifiable",
    "ProofStatistics",
    "Proved",
    "Refuted",
    "RegionsListed",
    "SearchStatistics",
    "Undecided",
    "Witness",
]


AnyCertificate = TypeVar("AnyCertificate", bound=Certificate | TreeCertificate | RegionsCertificate)


class _Answer:
    """What the three answers share: they print well, and refuse to be used as a truth value."""

    __slots__ = ()

    status: ClassVar[str]

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an outcome is not a truth value: test `outcome.status` or use isinstance(outcome, Proved)"
        )

    def __repr__(self) -> str:
        return str(self)  # what a terminal shows; the fields would fill pages

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class _Decided(_Answer, Generic[AnyCertificate]):
    """An answer with a certificate."""

    certificate: AnyCertificate

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificate, and large networks beside it; the files, the certificate last."""
        return self.certificate.save(path)

    @property
    def theorem(self) -> str:
        """The name of the theorem (FORMAT.md §3.3)."""
        return self.certificate.theorem

    def with_provenance(self, provenance: dict[str, str]) -> Self:
        """The same answer, its certificate telling (unverified) where the network came from."""
        certificate: Any = self.certificate
        return replace(
            self,
            certificate=replace(certificate, unverified={**certificate.unverified, **provenance}),
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """A theorem that was tried and did not decide, and why; `missing` has all that was not found, if that is known."""

    theorem: str
    reason: str
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.theorem}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class Proved(_Decided[AnyCertificate]):
    """The claim holds; the certificate says why."""

    status: ClassVar[str] = "proved"

    def __str__(self) -> str:
        certificate: Certificate | TreeCertificate | RegionsCertificate = self.certificate
        lines = [f"proved. {certificate.claim}", *self._remarks()]
        return _wrapped([*lines, *_theorem_lines(certificate), _meaning(certificate)])

    def _remarks(self) -> list[str]:
        """What else is to be said about the claim."""
        return []


@dataclass(frozen=True, slots=True, repr=False)
class Identifiable(Proved[Certificate]):
    """The function determines the parameters, among the competitors that the claim names.

    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))
    >>> outcome.status, outcome.theorem, outcome.membership
    ('proved', 'shallow', 'verified')
    """

    @property
    def membership(self) -> str:
        """What is known of the network's own membership in the class: verified, refuted or open."""
        found = next(
            (h.evidence["status"] for h in self.certificate.hypotheses if h.id == "membership"),
            "verified",
        )
        return str(found)

    def _remarks(self) -> list[str]:
        among = self.certificate.claim.among
        return [_MEMBERSHIP[self.membership].format(among=among)] if among != "all" else []


@dataclass(frozen=True, slots=True, repr=False)
class Refuted(_Decided[Certificate]):
    """The claim fails, and the certificate has a counterexample."""

    status: ClassVar[str] = "refuted"


@dataclass(frozen=True, slots=True, repr=False)
class PartlyIdentifiable(Proved[Certificate]):
    """The function determines a part of the parameters, as the claim says (`PartClaim`)."""


@dataclass(frozen=True, slots=True, repr=False)
class NotIdentifiable(Refuted):
    """Not identifiable: `other` is another network with the same function, `explanation` says why.

    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])]))
    >>> outcome.explanation, outcome.other.weight(2).rows() == [(1, 0)]
    ('neuron 1 of layer 1 has outgoing weights 0, so its row is free', True)
    """

    other: Network
    explanation: str

    def __str__(self) -> str:
        lines = [
            f"refuted. {self.certificate.claim}",
            f"why: {self.explanation}",
            f"the other network: {self.other}",
        ]
        return _wrapped([*lines, *_theorem_lines(self.certificate), MEANING])


@dataclass(slots=True)
class ProofStatistics:
    """How much a proof by split trees took, as far as it got.

    Attributes
    ----------
    nodes, leaves, depth : of the trees.
    signs : signs and bounds that were proved in them.
    programs : linear programs.
    closed : the share of the trees that is done, when every split halves one.
    """

    nodes: int = 0
    leaves: int = 0
    depth: int = 0
    signs: int = 0
    programs: int = 0
    closed: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.nodes} nodes, {self.leaves} leaves, depth {self.depth}, {self.signs} signs, "
            f"{self.programs} linear programs"
        )


@dataclass(slots=True)
class SearchStatistics(ProofStatistics):
    """How a question about two networks was answered: the work of the last attempt, the linear programs of all.

    Attributes
    ----------
    route : what decided: ``expressions`` (both networks are one expression, once neurons are permuted, scaled, flipped,
        merged and left out where their signs show it), ``signs`` (after signs proved by linear programs), ``tree``
        (after splits), ``prefix`` (a tree over the activations of common first layers), ``bottleneck`` (the canonical
        positions of two networks with two hidden layers), ``points`` (a point that was tried), or ``none``.
    points : points at which both networks were compared.
    """

    route: str = "none"
    points: int = 0

    def __str__(self) -> str:
        return f"route {self.route}: {ProofStatistics.__str__(self)}, {self.points} points"


@dataclass(frozen=True, slots=True, repr=False)
class Equivalent(Proved[TreeCertificate]):
    """The two networks compute the same function on the domain."""

    search: SearchStatistics

    def _remarks(self) -> list[str]:
        return [str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class RegionsListed(Proved[RegionsCertificate]):
    """The regions of a network on a domain, each with a point inside, and none missing."""

    work: ProofStatistics

    def _remarks(self) -> list[str]:
        return [f"tree: {self.work}"]


@dataclass(frozen=True, slots=True)
class Witness:
    """A point x and the exact outputs of both networks there."""

    x: tuple[Fraction, ...]
    f: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    def difference(self) -> str:
        """Where the outputs differ most, in words."""
        differences = [a - b for a, b in zip(self.f, self.g, strict=True)]
        i = max(range(len(differences)), key=lambda k: abs(differences[k]))
        return (
            f"output {i} differs most: f(x) - g(x) = {number_text(format_rational(differences[i]))}"
        )

    def to_json(self) -> dict[str, list[str]]:
        """The numbers as text, as certificates and `--json` have them."""
        return {key: list(map(format_rational, getattr(self, key))) for key in ("x", "f", "g")}


@dataclass(frozen=True, slots=True, repr=False)
class NotEquivalent(Refuted):
    """The two networks differ at `witness`."""

    witness: Witness
    search: SearchStatistics

    def __str__(self) -> str:
        shown = self.witness.to_json()
        lines = [f"refuted. {self.certificate.claim}", str(self.search)]
        lines += [
            f"{name}: {vector_text(shown[key])}"
            for name, key in (("x", "x"), ("f(x)", "f"), ("g(x)", "g"))
        ]
        lines.append(self.witness.difference())
        return _wrapped([*lines, PAIR_MEANING])


@dataclass(frozen=True, slots=True, repr=False)
class Undecided(_Answer):
    """No theorem applied, and `attempts` lists what was tried and which hypothesis failed; or a limit was reached, and
    `search` says how far. `part` is what could be proved of the question, if something could."""

    reason: str
    attempts: tuple[Attempt, ...] = field(default=())
    search: ProofStatistics | None = None
    part: PartlyIdentifiable | None = None
    status: ClassVar[str] = "undecided"

    def __str__(self) -> str:
        work = str(self.search).removeprefix("route none: ")
        reached = (
            [f"reached: {work}, {100 * self.search.closed:.3g} % of the tree"]
            if self.search
            else []
        )
        tried = [f"  tried {attempt}" for attempt in self.attempts]
        in_part = [] if self.part is None else ["in part:", str(self.part)]
        return "\n".join([_wrapped([f"undecided: {self.reason}", *tried, *reached]), *in_part])


Outcome: TypeAlias = Identifiable | NotIdentifiable | Undecided

_MEMBERSHIP = {
    "verified": "The network itself is {among} (verified).",
    "refuted": "The network itself is not {among} (verified): the theorem says that no {among} parameter computes its "
    "function.",
    "open": "Whether the network itself is {among} is left open; if not, no {among} parameter computes its function.",
}


def _meaning(certificate: Certificate | TreeCertificate | RegionsCertificate) -> str:
    if isinstance(certificate.claim, PairClaim):
        return PAIR_MEANING
    if isinstance(certificate.claim, RegionsClaim):
        return REGIONS_MEANING
    return MEANING if isinstance(certificate.claim, Claim | PartClaim) else RUNTIME_MEANING


def _theorem_lines(certificate: Certificate | TreeCertificate | RegionsCertificate) -> list[str]:
    theorem = THEOREMS[certificate.theorem]
    lines = [f"theorem: {theorem.title} ({theorem.proof})"]
    return lines + [f"  [{_mark(h)}] {h.id}: {h.statement}" for h in certificate.hypotheses]


def _wrapped(lines: list[str]) -> str:
    return "\n".join(wrapped(line) for line in lines)


def _mark(hypothesis: Hypothesis) -> str:
    """Membership is reported, in either direction or open; everything else is proved."""
    return str(hypothesis.evidence.get("status", hypothesis.status))
