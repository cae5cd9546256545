"""What all answers have in common: proved and refuted ones carry a certificate.

The answers to particular questions are derived from `Proved` and `Refuted` in the other modules of
this room.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeAlias, TypeVar

from polyrelu.certificate import (
    COMPLEX_MEANING,
    DIMENSION_MEANING,
    INJECTIVITY_MEANING,
    LIPSCHITZ_MEANING,
    MEANING,
    MEANING_ON_DOMAIN,
    PAIR_MEANING,
    REGIONS_MEANING,
    RUNTIME_MEANING,
    SIZE_MEANING,
    TEACHING_MEANING,
    THEOREMS,
    BoundsCertificate,
    BoundsClaim,
    Certificate,
    Claim,
    ComplexClaim,
    DimensionClaim,
    InjectivityClaim,
    LipschitzClaim,
    PairClaim,
    PartClaim,
    RegionsCertificate,
    RegionsClaim,
    SizeClaim,
    TeachingClaim,
    TreeCertificate,
    VertexCertificate,
)
from polyrelu.errors import ArgumentError
from polyrelu.support.arguments import expect, expect_one_of
from polyrelu.support.display import bracketed
from polyrelu.support.text_files import wrapped

__all__ = [
    "Answer",
    "Attempt",
    "NextStep",
    "Proved",
    "Refuted",
    "answer_text",
    "meaning_of",
    "theorem_lines",
]

_AnyKind: TypeAlias = (
    Certificate | TreeCertificate | RegionsCertificate | VertexCertificate | BoundsCertificate
)
AnyCertificate = TypeVar("AnyCertificate", bound=_AnyKind)


class Answer:
    """Base of the three answers, which refuses to be used as a truth value.

    Attributes
    ----------
    status
        ``proved``, ``refuted`` or ``undecided``.
    certificate
        The certificate; None if the answer is undecided.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.
    """

    __slots__ = ()

    status: ClassVar[str]
    next: tuple[NextStep, ...]

    @property
    def statement(self) -> str:
        """The sentence that is proved or refuted; the reason if the answer is undecided."""
        raise NotImplementedError

    @property
    def theorem(self) -> str | None:
        """The name of the theorem that the certificate uses (FORMAT.md §3.3); None without one."""
        return None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an outcome is not a truth value: test `outcome.status` or use "
            "isinstance(outcome, Proved)"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class _Decided(Answer, Generic[AnyCertificate]):
    """An answer with a certificate.

    Attributes
    ----------
    certificate
        The certificate, which says what is claimed and why it holds.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.
    """

    certificate: AnyCertificate
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        kinds = (
            Certificate,
            TreeCertificate,
            RegionsCertificate,
            VertexCertificate,
            BoundsCertificate,
        )
        expect_one_of(self.certificate, kinds, "certificate")

    def __repr__(self) -> str:
        return bracketed(f"{type(self).__name__}: {self.certificate.claim.summary}")

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificate to a file, and large networks to files beside it.

        Parameters
        ----------
        path
            The file of the certificate.

        Returns
        -------
        list of Path
            All files that were written, the certificate last.
        """
        return self.certificate.save(path)

    @property
    def statement(self) -> str:
        """The sentence that is proved or refuted."""
        return str(self.certificate.claim)

    @property
    def theorem(self) -> str:
        """The name of the theorem that the certificate uses (FORMAT.md §3.3)."""
        return self.certificate.theorem

    def with_provenance(self, provenance: dict[str, str]) -> Self:
        """Return the same answer with notes on where the network came from in its certificate.

        Parameters
        ----------
        provenance
            The notes; the checker does not verify them.

        Raises
        ------
        ArgumentError
            The notes are no texts by key.
        """
        notes = expect(provenance, dict, "provenance")
        if not all(isinstance(text, str) for note in notes.items() for text in note):
            raise ArgumentError("provenance: expected texts by key")
        certificate: Any = self.certificate
        return replace(
            self,
            certificate=replace(certificate, unverified={**certificate.unverified, **provenance}),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Attempt:
    """A theorem that was tried and did not decide.

    Attributes
    ----------
    theorem
        The name of the theorem, or of a kind of refutation.
    reason
        Why it did not decide.
    missing
        Everything that was not found, one entry for each; empty if that is unknown.

    Examples
    --------
    >>> print(Attempt("shallow", "a hidden neuron has outgoing weights 0"))
    shallow: a hidden neuron has outgoing weights 0
    """

    theorem: str
    reason: str
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.theorem}: {self.reason}"

    def __repr__(self) -> str:
        return bracketed(f"Attempt, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class NextStep:
    """Something to try after an answer: a call, and the same as a command.

    Attributes
    ----------
    purpose
        What it is good for, in words.
    call
        The Python expression; `net` and `other` are the networks of the question, `domain` is its
        domain.
    command
        The words of the command line after ``polyrelu``. NET and OTHER stand for the files, SMALL
        for a new one.
    files
        The files of the networks, where the question came from the command line; else empty.

    Examples
    --------
    >>> step = NextStep("walk on", "polyrelu.identify(net, seed=1)", ("identify", "NET"))
    >>> print(step)
    walk on: polyrelu.identify(net, seed=1)
    >>> print(step.with_files(["my net.onnx"], {"--seed": "1"}))
    walk on: polyrelu identify 'my net.onnx' --seed 1
    """

    purpose: str
    call: str
    command: tuple[str, ...]
    files: tuple[str, ...] = ()

    def with_files(
        self, files: Sequence[str], options: Mapping[str, str | list[str] | None]
    ) -> NextStep:
        """Return the step as a command about given files.

        Parameters
        ----------
        files
            The file of the network, and of the other network if there are two.
        options
            Options with their values, None for an option without one, a list for one that is given
            several times. Options that the command has itself are left out.

        Returns
        -------
        NextStep
            The step, whose text is the command line.
        """
        ending = Path(files[0]).suffix.lower()
        small = "small.onnx" if ending == ".onnx" else "small.json"
        names = {"SMALL": small, **dict(zip(("NET", "OTHER"), files, strict=False))}
        words = [names.get(word, word) for word in self.command]
        for option, value in options.items():
            if option in self.command:
                continue
            for one in value if isinstance(value, list) else [value]:
                words += [option] if one is None else [option, one]
        return replace(self, command=tuple(words), files=tuple(files))

    def __str__(self) -> str:
        if not self.files:
            return f"{self.purpose}: {self.call}"
        return f"{self.purpose}: polyrelu {shlex.join(self.command)}"

    def __repr__(self) -> str:
        return bracketed(f"NextStep, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Proved(_Decided[AnyCertificate]):
    """The claim holds.

    Attributes
    ----------
    certificate
        The certificate that says why.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1, 2]], [3])]))
    >>> isinstance(outcome, Proved), outcome.status
    (True, 'proved')
    """

    status: ClassVar[str] = "proved"

    def __str__(self) -> str:
        certificate: _AnyKind = self.certificate
        lines = [f"proved. {self.statement}", *self._remarks()]
        return answer_text(
            [*lines, *theorem_lines(certificate), meaning_of(certificate)], self.next
        )

    def _remarks(self) -> list[str]:
        """Further sentences about the claim, which `__str__` adds to it."""
        return []


@dataclass(frozen=True, slots=True, repr=False)
class Refuted(_Decided[Certificate]):
    """The claim fails.

    Attributes
    ----------
    certificate
        The certificate, which has a counterexample.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> outcome = polyrelu.identify(polyrelu.from_arrays([([[1], [2]], [0, 1]), ([[1, 0]], [0])]))
    >>> isinstance(outcome, Refuted), outcome.theorem
    (True, 'bounded-replacement')
    """

    status: ClassVar[str] = "refuted"


def meaning_of(certificate: _AnyKind) -> str:
    """The sentence that explains the words of a claim."""
    if isinstance(certificate.claim, PairClaim | BoundsClaim):
        return PAIR_MEANING
    if isinstance(certificate.claim, RegionsClaim):
        return REGIONS_MEANING
    if isinstance(certificate.claim, InjectivityClaim):
        return INJECTIVITY_MEANING
    if isinstance(certificate.claim, LipschitzClaim):
        return LIPSCHITZ_MEANING
    if isinstance(certificate.claim, TeachingClaim):
        return TEACHING_MEANING
    if isinstance(certificate.claim, ComplexClaim):
        return COMPLEX_MEANING
    if isinstance(certificate.claim, SizeClaim):
        return SIZE_MEANING
    if isinstance(certificate.claim, DimensionClaim):
        return DIMENSION_MEANING
    if isinstance(certificate.claim, Claim | PartClaim):
        return MEANING if certificate.claim.domain is None else MEANING_ON_DOMAIN
    return RUNTIME_MEANING


def theorem_lines(certificate: _AnyKind) -> list[str]:
    """The theorem and its hypotheses, a line each."""
    theorem = THEOREMS[certificate.theorem]
    lines = [f"theorem: {theorem.title} ({theorem.proof})"]
    return lines + [f"  {hypothesis}" for hypothesis in certificate.hypotheses]


def answer_text(
    lines: Iterable[str], steps: Iterable[NextStep], wrapped_lines: Iterable[str] = ()
) -> str:
    """Return what an answer prints: lines, which are wrapped, lines that are, and next steps.

    The commands of next steps are not broken, so that they can be copied.
    """
    return "\n".join([*map(wrapped, lines), *wrapped_lines, *(f"next: {step}" for step in steps)])
