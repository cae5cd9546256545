"""Certificates as values and as files: the writing side of FORMAT.md, section 3.

A certificate states a claim, a theorem, the hypotheses of the theorem with evidence, and remarks on
the origin of the network that nothing verifies. Small networks stand in the certificate itself; a
large one is written to a file beside it, which the certificate names with its hash. The keys and
their order are part of the format, so a change here changes every certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from polyrelu.certificate.beside import network_references
from polyrelu.certificate.claims import (
    Claim,
    DimensionClaim,
    InjectivityClaim,
    LipschitzClaim,
    PairClaim,
    PartClaim,
    RuntimeClaim,
    SizeClaim,
    TeachingClaim,
)
from polyrelu.certificate.theorems import THEOREMS, hypothesis_statement
from polyrelu.network import Network, to_document
from polyrelu.support.arguments import expect, expect_choice, expect_one_of, expect_path
from polyrelu.support.display import bracketed, html_table
from polyrelu.support.text_files import layout, write_all

__all__ = ["Certificate", "Hypothesis"]

FORMAT, VERSION = "polyrelu-certificate", 1
#: The claims of certificates that are one JSON value.
AnyClaim: TypeAlias = (
    Claim
    | PartClaim
    | RuntimeClaim
    | PairClaim
    | InjectivityClaim
    | LipschitzClaim
    | SizeClaim
    | DimensionClaim
    | TeachingClaim
)


@dataclass(frozen=True, slots=True, repr=False)
class Hypothesis:
    """A hypothesis of a theorem with its evidence.

    Attributes
    ----------
    theorem
        The name of the theorem, a key of `THEOREMS`.
    id
        The name of the hypothesis within the theorem.
    evidence
        The data from which the checker re-derives the hypothesis, as JSON.
    status
        Always `proved`: certificates hold no assumptions.

    Examples
    --------
    >>> Hypothesis("bottleneck", "rank").statement
    'rank W[1] = n_1'
    """

    theorem: str
    id: str
    evidence: dict[str, Any] = field(default_factory=dict)
    status: Literal["proved"] = "proved"

    @property
    def statement(self) -> str:
        """The hypothesis in words."""
        return hypothesis_statement(self.theorem, self.id)

    def to_json(self) -> dict[str, Any]:
        """Return the hypothesis as `--json` prints it."""
        return {
            "id": self.id,
            "statement": self.statement,
            "status": self.status,
            "evidence": self.evidence,
        }

    def __str__(self) -> str:
        status = self.evidence.get("status", self.status)  # a membership has a status of its own
        return f"[{status}] {self.id}: {self.statement}"

    def __repr__(self) -> str:
        return bracketed(
            f"Hypothesis '{self.id}' of '{self.theorem}', {len(self.evidence)} entries"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """A claim with its proof, ready to be written.

    Attributes
    ----------
    claim
        The statement that is proved.
    theorem
        The name of the theorem that proves it, a key of `THEOREMS`.
    hypotheses
        The hypotheses of the theorem, with evidence.
    unverified
        Remarks for people, by key; no verdict depends on them.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> claim = Claim("identifiable", from_arrays([([[1, 2]], [3])]), "all")
    >>> document, beside = Certificate(claim, "affine", ()).to_document()
    >>> list(document), beside
    (['format', 'version', 'claim', 'proof', 'unverified'], {})
    """

    claim: AnyClaim
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    unverified: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect_one_of(self.claim, get_args(AnyClaim), "claim")
        expect_choice(self.theorem, THEOREMS, "theorem")
        expect(self.hypotheses, tuple, "hypotheses")
        expect(self.unverified, dict, "unverified")

    def to_document(self, target: Path | None = None) -> tuple[dict[str, Any], dict[Path, str]]:
        """Return the JSON document, and the text of the network files that belong beside it.

        Without `target`, the path of the certificate, every network stands in the document.
        """
        beside: dict[Path, str] = {}
        claim: dict[str, Any] = {"kind": self.claim.kind}
        is_pair = isinstance(self.claim, PairClaim)
        claim |= network_references(self.claim.networks, target, beside, pair=is_pair)
        claim |= self.claim.terms()
        hypotheses = [
            {"id": h.id, "status": h.status, "evidence": h.evidence} for h in self.hypotheses
        ]
        document = {
            "format": FORMAT,
            "version": VERSION,
            "claim": claim,
            "proof": {"theorem": self.theorem, "hypotheses": hypotheses},
            "unverified": printable_remarks(self.unverified),
        }
        return document, beside

    def save(self, path: str | Path, *, also: Mapping[Path, Network] | None = None) -> list[Path]:
        """Write the certificate and the large networks it names.

        All files appear, or none.

        Parameters
        ----------
        path
            The path of the certificate.
        also
            Networks that are written to native files in the same step, by path.

        Returns
        -------
        list of Path
            The files that were written, the certificate last.

        Raises
        ------
        PolyreluError
            A file cannot be written.
        """
        target = expect_path(path, "path")
        document, beside = self.to_document(target)
        others = [(file, layout(to_document(network))) for file, network in (also or {}).items()]
        return write_all([*others, *beside.items(), (target, layout(document))])

    def __str__(self) -> str:
        return f"Certificate by '{self.theorem}': {self.claim}"

    def __repr__(self) -> str:
        return bracketed(f"Certificate by '{self.theorem}': {self.claim.summary}")

    def _repr_html_(self) -> str:
        return certificate_table(self.claim, self.theorem, self.hypotheses, self.unverified)


def certificate_table(
    claim: object,
    theorem: str,
    hypotheses: Iterable[Hypothesis],
    unverified: Mapping[str, str],
) -> str:
    """Return a certificate as a table in HTML: claim, theorem, hypotheses, and remarks."""
    return html_table(
        [
            ("claim", str(claim)),
            ("theorem", f"{THEOREMS[theorem].title} ({THEOREMS[theorem].proof})"),
            *(("hypothesis", str(hypothesis)) for hypothesis in hypotheses),
            *((f"unverified: {key}", value) for key, value in unverified.items()),
        ]
    )


def printable_remarks(unverified: Mapping[str, str]) -> dict[str, str]:
    """Return the `unverified` part of a certificate, in the characters that the format allows."""
    return {key: _plain_ascii(value) for key, value in sorted(unverified.items())}


def _plain_ascii(text: str) -> str:
    """Return printable ASCII without quotes and backslashes: the format knows no escapes."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in text)[:1000]
