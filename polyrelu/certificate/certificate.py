"""Certificates as values and as files (FORMAT.md §3): the writing side.

A certificate states the claim, the theorem, its hypotheses with evidence, and what is unverified
about where the network came from. Small networks stand in it; a large one is written beside it and
found by its hash. Files appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

from polyrelu.certificate.text import domain_text, part_text
from polyrelu.certificate.theorems import hypothesis_statement
from polyrelu.exact import Polyhedron, decimal_above, format_integer, format_rational
from polyrelu.network import Network, to_document
from polyrelu.support.text_files import layout, write_all

__all__ = [
    "Among",
    "Certificate",
    "Claim",
    "Hypothesis",
    "PairClaim",
    "PartClaim",
    "RegionsClaim",
    "RuntimeClaim",
]

FORMAT, VERSION = "polyrelu-certificate", 1
Among = Literal["all", "regular", "transversal", "generic"]
Kind = Literal["identifiable", "not-identifiable"]

#: Networks with more parameters than this go to a file of their own.
INLINE_PARAMETERS = 5_000


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed of a network, among which competitors, on which domain; `other` only for
    ``not-identifiable``."""

    kind: Kind
    network: Network
    among: Among
    other: Network | None = None
    domain: str = "R^n"

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys."""
        return {"network": self.network} | ({} if self.other is None else {"other": self.other})

    def terms(self) -> dict[str, Any]:
        """The rest of the claim, as it stands in a certificate."""
        return {"domain": self.domain, "among": self.among}

    def __str__(self) -> str:
        shape = f"The {self.network.architecture} network {self.network.sha256[:12]}…"
        members = "every parameter" if self.among == "all" else f"every {self.among} parameter"
        if self.kind == "identifiable":
            return (
                f"{shape} is identifiable among {self.among} parameters on {self.domain}: "
                f"{members} of its "
                "architecture with the same function is this one up to permutation and "
                "positive scaling of neurons."
            )
        member = "another" if self.among == "all" else f"a {self.among}"
        return (
            f"{shape} is not identifiable among {self.among} parameters on {self.domain}: "
            f"{member} parameter of its "
            "architecture, not related to it by permutation and positive scaling, computes "
            "the same function."
        )


@dataclass(frozen=True, slots=True)
class PartClaim:
    """That the function determines a part of the parameters among transversal or regular ones
    (FORMAT.md §3.2).

    Attributes ---------- layers : M; the rows [W|b] of the hidden layers 1 … M are determined,
    those of the layer M up to their signs if
        `neurons` is empty.
    neurons : indices of neurons of the layer M+1, ascending; their rows are determined up to signs.
    """

    network: Network
    layers: int
    neurons: tuple[int, ...] = ()
    kind: Literal["determined"] = "determined"
    among: Among = "transversal"
    domain: str = "R^n"

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """The rest of the claim, as it stands in a certificate."""
        return {
            "domain": self.domain,
            "among": self.among,
            "layers": self.layers,
            "neurons": list(self.neurons),
        }

    def __str__(self) -> str:
        return (
            f"The {self.network.architecture} network {self.network.sha256[:12]}… is "
            f"determined among {self.among} "
            f"parameters on {self.domain} in {part_text(self.layers, self.neurons)}: every "
            f"{self.among} parameter of "
            "its architecture with the same function agrees with it there after permutation "
            "and positive scaling of "
            "neurons."
        )


@dataclass(frozen=True, slots=True)
class RuntimeClaim:
    """That a float runtime, layer by layer, stays within `at_most` of the exact function on a box
    (FORMAT.md §3.7)."""

    network: Network
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    arithmetic: str
    at_most: tuple[Fraction, ...]
    kind: Literal["runtime-error"] = "runtime-error"
    among: ClassVar[str] = ""  # there are no competitors

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """The rest of the claim, as it stands in a certificate."""
        lower, upper, at_most = (
            list(map(format_rational, part)) for part in (self.lower, self.upper, self.at_most)
        )
        return {
            "domain": {"lower": lower, "upper": upper},
            "arithmetic": self.arithmetic,
            "at-most": at_most,
        }

    def __str__(self) -> str:
        return (
            f"The {self.network.architecture} network {self.network.sha256[:12]}…, computed "
            "layer by layer in "
            f"{self.arithmetic}, differs from its exact function by at most "
            f"{decimal_above(max(self.at_most))} on "
            "the box."
        )


@dataclass(frozen=True, slots=True)
class PairClaim:
    """That two networks compute the same function on a domain, or do not (FORMAT.md §3.8).

    Attributes
    ----------
    domain : its equations in reduced echelon form.
    """

    kind: Literal["equivalent", "not-equivalent"]
    network: Network
    other: Network
    domain: Polyhedron
    among: ClassVar[str] = ""  # there are no competitors

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys."""
        return {"network": self.network, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """The rest of the claim, as it stands in a certificate."""
        return {"domain": _domain(self.domain)}

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        names = " and ".join(
            f"{network.widths} {network.sha256[:12]}…" for network in self.networks.values()
        )
        if self.network == self.other:
            same = f"{self.network.widths} {self.network.sha256[:12]}…"
            return f"Both are one network, {same}, so they compute the same function on {place}."
        if self.kind == "equivalent":
            return f"The networks {names} compute the same function on {place}."
        return f"The networks {names} do not compute the same function on {place}."


@dataclass(frozen=True, slots=True)
class RegionsClaim:
    """That the canonical complex of a network on a domain has so many cells of full dimension
    (FORMAT.md §5.1).

    Attributes
    ----------
    domain : its equations, implied ones included, in reduced echelon form.
    """

    network: Network
    domain: Polyhedron
    count: int
    kind: Literal["regions"] = "regions"
    among: ClassVar[str] = ""  # there are no competitors

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """The rest of the claim, as it stands in a certificate."""
        return {"domain": _domain(self.domain), "count": self.count}

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        name = f"{self.network.widths} {self.network.sha256[:12]}…"
        return (
            f"The canonical complex of the network {name} on {place} has exactly {self.count} "
            "regions, and a point "
            "inside each of them is listed."
        )


def _domain(domain: Polyhedron) -> dict[str, list[str]]:
    """A domain as claims have it (FORMAT.md §3.8)."""
    parts = {"inequalities": domain.inequalities, "equations": domain.equations}
    return {
        key: [" ".join(map(format_integer, row)) for row in rows] for key, rows in parts.items()
    }


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis of a theorem with its evidence."""

    theorem: str
    id: str
    evidence: dict[str, Any] = field(default_factory=dict)
    status: Literal["proved"] = "proved"

    @property
    def statement(self) -> str:
        """The hypothesis in words."""
        return hypothesis_statement(self.theorem, self.id)

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "id": self.id,
            "statement": self.statement,
            "status": self.status,
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """A claim with its proof, ready to be written.

    Attributes
    ----------
    claim, theorem, hypotheses : what is proved, and how.
    unverified : remarks for people that no verdict depends on.
    """

    claim: Claim | PartClaim | RuntimeClaim | PairClaim
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    unverified: dict[str, str] = field(default_factory=dict)

    def to_document(self, target: Path | None = None) -> tuple[dict[str, Any], dict[Path, str]]:
        """The JSON document, and the text of the network files that belong beside it.

        Without `target`, the certificate's path, every network stands inline.
        """
        beside: dict[Path, str] = {}
        claim: dict[str, Any] = {"kind": self.claim.kind}
        claim |= references(self.claim.networks, target, beside)
        claim |= self.claim.terms()
        hypotheses = [
            {"id": h.id, "status": h.status, "evidence": h.evidence} for h in self.hypotheses
        ]
        document = {
            "format": FORMAT,
            "version": VERSION,
            "claim": claim,
            "proof": {"theorem": self.theorem, "hypotheses": hypotheses},
            "unverified": remarks(self.unverified),
        }
        return document, beside

    def save(self, path: str | Path, also: Mapping[Path, Network] | None = None) -> list[Path]:
        """Write the certificate and the large networks it speaks of; return the files, the
        certificate last.

        Networks in `also` are written to the given native files in the same step. Raises
        `PolyreluError` if a file cannot be written; then nothing new is left behind."""
        target = Path(path)
        document, beside = self.to_document(target)
        others = [(file, layout(to_document(network))) for file, network in (also or {}).items()]
        return write_all([*others, *beside.items(), (target, layout(document))])

    def __str__(self) -> str:
        return f"Certificate by '{self.theorem}': {self.claim}"

    def __repr__(self) -> str:
        return f"<{self}>"


def references(
    networks: Mapping[str, Network], target: Path | None, beside: dict[Path, str]
) -> dict[str, Any]:
    """Network references by key (FORMAT.md §3), equal ones of equal networks; the text of files
    that they name is added to `beside`."""
    made: dict[str, dict[str, Any]] = {}
    for key, network in networks.items():
        if network.sha256 not in made:
            made[network.sha256] = _reference(network, key, target, beside)
    return {key: made[network.sha256] for key, network in networks.items()}


def _reference(
    network: Network, key: str, target: Path | None, beside: dict[Path, str]
) -> dict[str, Any]:
    if target is None or network.parameters <= INLINE_PARAMETERS:
        return {"sha256": network.sha256, "inline": to_document(network)}
    text = layout(to_document(network))
    path = target.parent / f"{_file_stem(target)}.{key}.json"
    if path.exists() and not _holds(path, text):  # somebody else's file stays
        path = path.with_name(f"{_file_stem(target)}.{key}-{network.sha256[:12]}.json")
    beside[path] = text
    return {"sha256": network.sha256, "file": path.name}


def _holds(path: Path, text: str) -> bool:
    try:
        return path.stat().st_size == len(text) + 1 and path.read_bytes() == f"{text}\n".encode(
            "ascii"
        )
    except OSError:
        return False


def _file_stem(target: Path) -> str:
    """The stem of the network files: ``cert`` for ``cert.json``.

    FORMAT.md allows few characters in names. Where one had to be replaced, or the name does not end
    in .json, a digest keeps the files of two certificates apart."""
    stem = target.name.removesuffix(".json")
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in stem)[
        :150
    ].lstrip(".")
    if kept == stem and target.name.endswith(".json"):
        return stem
    return f"{kept or 'certificate'}-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}"


def remarks(unverified: Mapping[str, str]) -> dict[str, str]:
    """The `unverified` part of a certificate."""
    return {key: _plain_ascii(value) for key, value in sorted(unverified.items())}


def _plain_ascii(text: str) -> str:
    """Printable ASCII without quotes and backslashes: the format knows no escapes."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in text)[:1000]
