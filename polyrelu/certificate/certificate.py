"""Certificates as values and as files: the writing side of FORMAT.md, section 3.

A certificate states a claim, a theorem, the hypotheses of the theorem with evidence, and remarks on
the origin of the network that nothing verifies. Small networks stand in the certificate itself; a
large one is written to a file beside it, which the certificate names with its hash. The keys and
their order are part of the format, so a change here changes every certificate.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from polyrelu.certificate.claims import Claim, PairClaim, PartClaim, RuntimeClaim
from polyrelu.certificate.theorems import THEOREMS, hypothesis_statement
from polyrelu.network import Network, to_document
from polyrelu.support.arguments import expect, expect_choice, expect_one_of, expect_path
from polyrelu.support.display import bracketed, html_table
from polyrelu.support.text_files import layout, write_all

__all__ = ["Certificate", "Hypothesis"]

FORMAT, VERSION = "polyrelu-certificate", 1

#: Maximum number of parameters of a network that stands in the certificate itself.
INLINE_PARAMETERS = 5_000


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
        return f"[{self.status}] {self.id}: {self.statement}"

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

    claim: Claim | PartClaim | RuntimeClaim | PairClaim
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    unverified: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect_one_of(self.claim, (Claim, PartClaim, RuntimeClaim, PairClaim), "claim")
        expect_choice(self.theorem, THEOREMS, "theorem")
        expect(self.hypotheses, tuple, "hypotheses")
        expect(self.unverified, dict, "unverified")

    def to_document(self, target: Path | None = None) -> tuple[dict[str, Any], dict[Path, str]]:
        """Return the JSON document, and the text of the network files that belong beside it.

        Without `target`, the path of the certificate, every network stands in the document.
        """
        beside: dict[Path, str] = {}
        claim: dict[str, Any] = {"kind": self.claim.kind}
        claim |= network_references(self.claim.networks, target, beside)
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
        return bracketed(str(self))

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


def network_references(
    networks: Mapping[str, Network], target: Path | None, beside: dict[Path, str]
) -> dict[str, Any]:
    """Return references to networks by key (FORMAT.md, section 3); equal networks share one.

    The texts of the files that the references name are added to `beside`.
    """
    made: dict[str, dict[str, Any]] = {}
    for key, network in networks.items():
        if network.sha256 not in made:
            made[network.sha256] = _reference(network, key, target, beside)
    return {key: made[network.sha256] for key, network in networks.items()}


def _reference(
    network: Network, key: str, target: Path | None, beside: dict[Path, str]
) -> dict[str, Any]:
    """Return the reference to one network, inline or as a file beside the certificate."""
    if target is None or network.parameters <= INLINE_PARAMETERS:
        return {"sha256": network.sha256, "inline": to_document(network)}
    text = layout(to_document(network))
    path = target.parent / f"{_file_stem(target)}.{key}.json"
    if path.exists() and not _has_content(path, text):  # a file with other content stays
        path = path.with_name(f"{_file_stem(target)}.{key}-{network.sha256[:12]}.json")
    beside[path] = text
    return {"sha256": network.sha256, "file": path.name}


def _has_content(path: Path, text: str) -> bool:
    """Return whether a file holds a text followed by a newline."""
    try:
        return path.stat().st_size == len(text) + 1 and path.read_bytes() == f"{text}\n".encode(
            "ascii"
        )
    except OSError:
        return False


def _file_stem(target: Path) -> str:
    """Return the stem of the names of network files: `cert` for `cert.json`.

    FORMAT.md allows few characters in names. Where one has to be replaced, or the name does not end
    in .json, a digest keeps the files of two certificates apart.
    """
    stem = target.name.removesuffix(".json")
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in stem)[
        :150
    ].lstrip(".")
    if kept == stem and target.name.endswith(".json"):
        return stem
    return f"{kept or 'certificate'}-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}"


def printable_remarks(unverified: Mapping[str, str]) -> dict[str, str]:
    """Return the `unverified` part of a certificate, in the characters that the format allows."""
    return {key: _plain_ascii(value) for key, value in sorted(unverified.items())}


def _plain_ascii(text: str) -> str:
    """Return printable ASCII without quotes and backslashes: the format knows no escapes."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in text)[:1000]
