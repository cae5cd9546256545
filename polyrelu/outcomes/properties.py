"""Answers to the question whether a property of networks holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from polyrelu.certificate import BOUNDS_MEANING, BoundsCertificate, TreeCertificate
from polyrelu.exact import decimal_above, decimal_below
from polyrelu.formats import Counterexample, CounterexampleCheck
from polyrelu.outcomes.answers import Answer, NextStep, answer_text
from polyrelu.outcomes.work import ProofStatistics
from polyrelu.support.arguments import expect_path
from polyrelu.support.display import bracketed, count_text

__all__ = ["ABOUT_EXCESS", "PropertyFails", "PropertyHolds", "PropertyOutcome", "PropertyUndecided"]


@dataclass(frozen=True, slots=True, repr=False)
class PropertyHolds(Answer):
    """No input satisfies the query, so the property holds.

    Attributes
    ----------
    source
        The name of the query.
    certificates
        A certificate for each set of inputs of the query; none if its constraints contradict each
        other, so that there is nothing to certify.
    doubts
        Sentences about what the query says and what it probably means.
    search
        How much work the answer took.
    networks
        The widths of the networks, and the beginnings of their hashes.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> PropertyHolds("query.vnnlib", (), ("line 3: …",), ProofStatistics())
    <PropertyHolds: query.vnnlib, 0 certificates>
    """

    source: str
    certificates: tuple[TreeCertificate | BoundsCertificate, ...]
    doubts: tuple[str, ...]
    search: ProofStatistics
    networks: tuple[str, ...] = field(default=(), kw_only=True)
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)
    status: ClassVar[str] = "proved"

    @property
    def certificate(self) -> TreeCertificate | BoundsCertificate | None:
        """The certificate if there is exactly one; None otherwise."""
        return self.certificates[0] if len(self.certificates) == 1 else None

    @property
    def statement(self) -> str:
        """The sentence that is proved."""
        noun = "network" if len(self.networks) == 1 else "networks"
        names = f" for the {noun} {' and '.join(self.networks)}" if self.networks else ""
        return f"The property holds{names}: no input satisfies the query {self.source}."

    def save(self, path: str | Path) -> list[Path]:
        """Write the certificates, and large networks to files beside them.

        Parameters
        ----------
        path
            The file of the certificate. If there are several, their numbers are put in front of its
            endings: ``proof.1.json``, ``proof.2.json``, ….

        Returns
        -------
        list of Path
            All files that were written.
        """
        targets = self.certificate_paths(path)
        pairs = zip(self.certificates, targets, strict=True)
        return [file for certificate, target in pairs for file in certificate.save(target)]

    def certificate_paths(self, path: str | Path) -> list[Path]:
        """Return the files to which `save` writes the certificates.

        Parameters
        ----------
        path
            As for `save`.

        Returns
        -------
        list of Path
            A file for each certificate.
        """
        target = expect_path(path, "path")
        if len(self.certificates) == 1:
            return [target]
        stem, dot, endings = target.name.partition(".")
        numbers = range(1, len(self.certificates) + 1)
        return [target.with_name(f"{stem}.{number}{dot}{endings}") for number in numbers]

    def with_provenance(self, provenance: dict[str, str]) -> PropertyHolds:
        """Return the same answer with notes on the networks' origin in its certificates.

        Parameters
        ----------
        provenance
            The notes; the checker does not verify them.

        Returns
        -------
        PropertyHolds
            The answer.
        """
        certificates = tuple(
            replace(certificate, unverified={**certificate.unverified, **provenance})
            for certificate in self.certificates
        )
        return replace(self, certificates=certificates)

    def __str__(self) -> str:
        pieces = count_text([(len(self.certificates), "certificate")])
        is_searched = bool(self.certificates or self.search.num_nodes)
        work = f"{pieces}; {self.search}" if is_searched else _NOTHING_SEARCHED
        lines = [f"proved. {self.statement}", work]
        if any(isinstance(certificate, TreeCertificate) for certificate in self.certificates):
            lines.append(ABOUT_EXCESS)
        return answer_text([*lines, *_cautions(self.doubts), BOUNDS_MEANING], self.next)

    def __repr__(self) -> str:
        pieces = count_text([(len(self.certificates), "certificate")])
        return bracketed(f"PropertyHolds: {self.source}, {pieces}")


@dataclass(frozen=True, slots=True, repr=False)
class PropertyFails(Answer):
    """An input satisfies the query, so the property fails.

    Attributes
    ----------
    source
        The name of the query.
    counterexample
        The inputs, and the exact outputs of all networks.
    check
        The exact evaluation of the query there: margins of inputs and outputs.
    doubts
        Sentences about what the query says and what it probably means.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> point = Counterexample("query.vnnlib", {"X_0": Fraction(1), "Y_0": Fraction(3)})
    >>> check = CounterexampleCheck(True, Fraction(2), Fraction(0), ((Fraction(3),),), None, "")
    >>> PropertyFails("query.vnnlib", point, check, ()).statement
    'The property fails: an input satisfies the query query.vnnlib with margin 2.'
    """

    source: str
    counterexample: Counterexample
    check: CounterexampleCheck
    doubts: tuple[str, ...]
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)
    status: ClassVar[str] = "refuted"
    certificate: ClassVar[None] = None

    @property
    def statement(self) -> str:
        """The sentence that is shown by the counterexample."""
        margin = self.check.margin
        text = "" if margin is None else f" with margin {decimal_below(margin)}"
        return f"The property fails: an input satisfies the query {self.source}{text}."

    def __str__(self) -> str:
        values = [f"{name} = {value}" for name, value in self.counterexample.values.items()]
        lines = [f"refuted. {self.statement}", *_shortened(values)]
        return answer_text([*lines, *_cautions(self.doubts), BOUNDS_MEANING], self.next)

    def __repr__(self) -> str:
        return bracketed(f"PropertyFails: {self.source}, {self.check}")


@dataclass(frozen=True, slots=True, repr=False)
class PropertyUndecided(Answer):
    """The question is open: a limit was reached, or the property holds with margin 0 only.

    Attributes
    ----------
    source
        The name of the query.
    reason
        Why there is no answer, in one sentence.
    margin
        Bounds of the largest margin with which an input satisfies the query, negative if none does:
        the margin at a point that was found, and a bound that is proved; None where none is known.
    doubts
        Sentences about what the query says and what it probably means.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> PropertyUndecided("query.vnnlib", "a limit was reached", (Fraction(-1, 8), None), ())
    <PropertyUndecided: query.vnnlib, a limit was reached>
    """

    source: str
    reason: str
    margin: tuple[Fraction | None, Fraction | None]
    doubts: tuple[str, ...]
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)
    status: ClassVar[str] = "undecided"
    certificate: ClassVar[None] = None

    @property
    def statement(self) -> str:
        """The reason why there is no answer."""
        return self.reason

    def __str__(self) -> str:
        low, high = self.margin
        ends = [
            "" if low is None else f"at least {decimal_below(low)}",
            "" if high is None else f"at most {decimal_above(high)}",
        ]
        known = " and ".join(filter(None, ends))
        bounds = (
            [f"the largest margin with which an input satisfies the query is {known}"]
            if known
            else []
        )
        return answer_text(
            [f"undecided: {self.reason}", *bounds, *_cautions(self.doubts)], self.next
        )

    def __repr__(self) -> str:
        return bracketed(f"PropertyUndecided: {self.source}, {self.reason}")


#: The answers of `verify`.
PropertyOutcome: TypeAlias = PropertyHolds | PropertyFails | PropertyUndecided

#: What a certificate is about that is no claim about the networks themselves.
ABOUT_EXCESS = (
    "a split tree shows that the excess of the clauses, a network made of the networks and of the "
    "property, is nowhere positive"
)
#: What is said in place of the work where a query has no case to be proved.
_NOTHING_SEARCHED = "nothing was searched: the query itself rules out all inputs"
#: Maximum number of values that are shown.
_MAX_SHOWN = 24


def _cautions(doubts: Sequence[str]) -> Iterator[str]:
    return (f"caution: {doubt}" for doubt in doubts)


def _shortened(lines: list[Any]) -> list[Any]:
    """Return some lines, the middle left out if they are many."""
    if len(lines) <= _MAX_SHOWN:
        return lines
    half = _MAX_SHOWN // 2
    return [*lines[:half], f"… ({len(lines) - 2 * half} values)", *lines[-half:]]
