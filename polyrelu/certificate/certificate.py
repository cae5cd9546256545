"""Certificates as values and as files: the writing side of FORMAT.md, section 3.

A certificate states a claim, a theorem, the hypotheses of the theorem with evidence, and remarks on
the origin of the network that nothing verifies. Small networks stand in the certificate itself; a
large one is written to a file beside it, which the certificate names with its hash. The keys and
their order are part of the format, so a change here changes every certificate.
"""

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

#: Maximum number of parameters of a network that stands in the certificate itself.
INLINE_PARAMETERS = 5_000


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim about the parameters of a network among competitors on a domain.

    Attributes
    ----------
    kind
        `identifiable`: every competitor with the same function equals the network up to permutation
        and positive scaling of neurons; `not-identifiable`: some competitor does not.
    network
        The network that the claim is about.
    among
        The class of competitors.
    other
        The competitor that refutes identifiability; only for `not-identifiable`.
    domain
        The domain on which the functions agree, in words.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> claim = Claim("identifiable", from_arrays([([[1, 2]], [3])]), "all")
    >>> claim.terms()
    {'domain': 'R^n', 'among': 'all'}
    """

    kind: Kind
    network: Network
    among: Among
    other: Network | None = None
    domain: str = "R^n"

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network} | ({} if self.other is None else {"other": self.other})

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": self.domain, "among": self.among}

    def __str__(self) -> str:
        shape = f"The {self.network.architecture} network {self.network.sha256[:12]}…"
        members = "every parameter" if self.among == "all" else f"every {self.among} parameter"
        if self.kind == "identifiable":
            return (
                f"{shape} is identifiable among {self.among} parameters on {self.domain}: "
                f"{members} of its architecture with the same function is this one up to "
                "permutation and positive scaling of neurons."
            )
        member = "another" if self.among == "all" else f"a {self.among}"
        return (
            f"{shape} is not identifiable among {self.among} parameters on {self.domain}: {member} "
            "parameter of its architecture, not related to it by permutation and positive scaling, "
            "computes the same function."
        )


@dataclass(frozen=True, slots=True)
class PartClaim:
    """The claim that the function determines a part of the parameters (FORMAT.md, section 3.2).

    Attributes
    ----------
    network
        The network that the claim is about.
    layers
        M: the rows [W|b] of the hidden layers 1 to M are determined. The rows of layer M are
        determined up to their signs if `neurons` is empty.
    neurons
        Indices of neurons of layer M + 1, ascending; their rows are determined up to signs.
    kind
        Always `determined`.
    among
        The class of competitors, `transversal` or `regular`.
    domain
        The domain on which the functions agree, in words.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> PartClaim(net, 1).terms()
    {'domain': 'R^n', 'among': 'transversal', 'layers': 1, 'neurons': []}
    """

    network: Network
    layers: int
    neurons: tuple[int, ...] = ()
    kind: Literal["determined"] = "determined"
    among: Among = "transversal"
    domain: str = "R^n"

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": self.domain,
            "among": self.among,
            "layers": self.layers,
            "neurons": list(self.neurons),
        }

    def __str__(self) -> str:
        return (
            f"The {self.network.architecture} network {self.network.sha256[:12]}… is determined "
            f"among {self.among} parameters on {self.domain} in "
            f"{part_text(self.layers, self.neurons)}: every {self.among} parameter of its "
            "architecture with the same function agrees with it there after permutation and "
            "positive scaling of neurons."
        )


@dataclass(frozen=True, slots=True)
class RuntimeClaim:
    """The claim that a float runtime stays close to the exact function on a box.

    FORMAT.md, section 3.7, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    lower
        The lower corner of the box, one number for each input.
    upper
        The upper corner of the box, one number for each input.
    arithmetic
        The format of the runtime, `float32` or `float64`, which computes layer by layer.
    at_most
        A bound of the absolute error of each output.
    kind
        Always `runtime-error`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, one = from_arrays([([[1]], [0])]), Fraction(1)
    >>> claim = RuntimeClaim(net, (-one,), (one,), "float32", (Fraction(1, 2**20),))
    >>> claim.terms()["at-most"]
    ['1/1048576']
    """

    network: Network
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    arithmetic: str
    at_most: tuple[Fraction, ...]
    kind: Literal["runtime-error"] = "runtime-error"
    among: ClassVar[str] = ""  # there are no competitors

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
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
            f"The {self.network.architecture} network {self.network.sha256[:12]}…, computed layer "
            f"by layer in {self.arithmetic}, differs from its exact function by at most "
            f"{decimal_above(max(self.at_most))} on the box."
        )


@dataclass(frozen=True, slots=True)
class PairClaim:
    """The claim that two networks compute the same function on a domain, or do not.

    FORMAT.md, section 3.8, has the details.

    Attributes
    ----------
    kind
        `equivalent` or `not-equivalent`.
    network
        The first network.
    other
        The second network.
    domain
        A polyhedron whose equations are in reduced echelon form.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, line = from_arrays([([[1]], [0])]), Polyhedron.universe(1)
    >>> PairClaim("equivalent", net, net, line).terms()
    {'domain': {'inequalities': [], 'equations': []}}
    """

    kind: Literal["equivalent", "not-equivalent"]
    network: Network
    other: Network
    domain: Polyhedron
    among: ClassVar[str] = ""  # there are no competitors

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": _domain_terms(self.domain)}

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
    """The claim that a canonical complex has a number of cells of full dimension.

    FORMAT.md, section 5.1, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    domain
        A polyhedron whose equations, implied ones included, are in reduced echelon form.
    count
        The number of cells of full dimension, called regions.
    kind
        Always `regions`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> RegionsClaim(net, Polyhedron.universe(1), 2).terms()
    {'domain': {'inequalities': [], 'equations': []}, 'count': 2}
    """

    network: Network
    domain: Polyhedron
    count: int
    kind: Literal["regions"] = "regions"
    among: ClassVar[str] = ""  # there are no competitors

    @property
    def networks(self) -> dict[str, Network]:
        """The network by its key in the certificate."""
        return {"network": self.network}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": _domain_terms(self.domain), "count": self.count}

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        name = f"{self.network.widths} {self.network.sha256[:12]}…"
        return (
            f"The canonical complex of the network {name} on {place} has exactly {self.count} "
            "regions, and a point inside each of them is listed."
        )


def _domain_terms(domain: Polyhedron) -> dict[str, list[str]]:
    """Return a domain as it stands in claims (FORMAT.md, section 3.8)."""
    parts = {"inequalities": domain.inequalities, "equations": domain.equations}
    return {
        key: [" ".join(map(format_integer, row)) for row in rows] for key, rows in parts.items()
    }


@dataclass(frozen=True, slots=True)
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

    def save(self, path: str | Path, also: Mapping[Path, Network] | None = None) -> list[Path]:
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
        target = Path(path)
        document, beside = self.to_document(target)
        others = [(file, layout(to_document(network))) for file, network in (also or {}).items()]
        return write_all([*others, *beside.items(), (target, layout(document))])

    def __str__(self) -> str:
        return f"Certificate by '{self.theorem}': {self.claim}"

    def __repr__(self) -> str:
        return f"<{self}>"


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
