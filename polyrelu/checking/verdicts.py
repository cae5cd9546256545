"""Verdicts, and the check of a certificate that is one JSON value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from polyrelu.checking.claims import (
    CLAIMS,
    OF_ANY_NETWORKS,
    TRUSTED_OF_MINORS,
    Search,
    check_notes,
    read_reference,
    sentence,
)
from polyrelu.checking.membership import check_membership
from polyrelu.checking.meter import Meter, quote, require, well_formed
from polyrelu.checking.networks import Network
from polyrelu.checking.text import CERTIFICATE_BYTES, fit, parse
from polyrelu.checking.theorems import THEOREMS, Case, Theorem

# ==== 4. Verdicts ====

FORMAT_PAGE = "polyrelu/certificate/FORMAT.md"
#: The exit status of the command is the place in this list.
VERDICTS = ("accepted", "rejected", "unreadable")
CERTIFICATE = {
    "format": "polyrelu-certificate",
    "version": 1,
    "unverified": object,
    "claim": CLAIMS,
    "proof": {"theorem": str, "hypotheses": list},
}


class CheckReport(NamedTuple):
    """The answer. What was claimed is stated only when the certificate is accepted."""

    verdict: str
    step: str = ""
    expected: str = ""
    got: str = ""
    statement: str = ""
    theorem: str = ""
    hypotheses: Sequence[Mapping[str, str]] = ()  # id, statement, status
    trusted: Sequence[str] = ()
    networks: Sequence[str] = ()
    assumed: Sequence[str] = ()
    cost: int = 0  # units of section 3.6

    def __repr__(self) -> str:
        if self.verdict != "accepted":
            fact = f"  step: {self.step}\n  expected: {self.expected}\n  got: {self.got}"
            return f"{self.verdict}\n{fact}"
        lines = [
            f"accepted: {self.statement}",
            f"theorem: {self.theorem}",
            *(f"{h['id']}: {h['statement']}" for h in self.hypotheses),
            "assumed: none",
            f"trusted: {'; '.join(self.trusted)}",
            *(f"network: {sha256}" for sha256 in self.networks),
            f"cost: {self.cost} units",
        ]
        return "\n  ".join(lines)


class Contents(NamedTuple):
    """What a file states: it has the shape of the format, and nothing else is known."""

    theorem: str
    claim: Any
    evidence: Mapping[str, Any]  # by hypothesis; of a tree file, what its header has
    notes: Mapping[str, str]


def read_certificate(data: bytes, meter: Meter) -> Contents:
    """What a certificate states that is one JSON value (section 3)."""
    document = parse(data, "certificate", CERTIFICATE_BYTES, meter)
    is_network = type(document) is dict and document.get("format") == "polyrelu-network"
    well_formed(not is_network, "a network file, where a certificate is wanted", "certificate")
    fit(document, CERTIFICATE, "certificate")
    check_notes(document["unverified"], "certificate.unverified")
    claim, name = document["claim"], document["proof"]["theorem"]
    well_formed(name in THEOREMS, f"unknown theorem {quote(name)}", "certificate.proof.theorem")
    evidence = read_evidence(document["proof"]["hypotheses"], THEOREMS[name])
    return Contents(name, claim, evidence, document["unverified"])


def check_certificate(data: bytes, search: Search, meter: Meter) -> CheckReport:
    """Check a certificate that is one JSON value."""
    name, claim, evidence, _ = read_certificate(data, meter)
    del data
    theorem = THEOREMS[name]
    keys = [key for key in ("network", "other") if key in claim]
    networks = [read_reference(claim[key], key, search, meter) for key in keys]
    check_claim(claim, theorem, networks)
    case = Case(networks, claim, evidence, meter)
    theorem.rule(case)
    status = ""
    if "membership" in evidence:
        own = case.hypothesis("membership")
        status = own["status"]
        check_membership(theorem.kind, claim["among"], networks[-1], own, meter)
    return accepted(case, name, list(evidence), status)


def read_evidence(hypotheses: Any, theorem: Theorem) -> dict[str, Any]:
    """The evidence by hypothesis; they are the theorem's, in their order."""
    listed = [entry.get("id") for entry in hypotheses if type(entry) is dict]
    shapes = tuple(
        {"id": key, "status": "proved", "evidence": shape}
        for key, shape in theorem.evidence.items()
        if key not in theorem.optional or key in listed
    )
    fit(hypotheses, shapes, "certificate.proof.hypotheses")
    return {entry["id"]: entry["evidence"] for entry in hypotheses}


def check_claim(claim: Any, theorem: Theorem, networks: Sequence[Network]) -> None:
    """The theorem is about claims of this kind, among this class, and about such networks."""
    kind, among = claim["kind"], claim.get("among", "")
    require(kind == theorem.kind, f"a claim {theorem.kind}", kind, "claim")
    if theorem.among:
        require(among in theorem.among, f"among {' or '.join(theorem.among)}", among, "claim")
    named = claim.get("architecture", {}).get("kind", "")
    fact = theorem.architecture or "plain stacks"
    require(named == theorem.architecture, f"the architecture {fact}", named or "none", "claim")
    if kind not in OF_ANY_NETWORKS and not named:
        plain = all(network.is_plain() for network in networks)
        well_formed(plain, f"only plain stacks have claims of the kind {kind}", "claim")


def accepted(case: Case, name: str, hypotheses: Sequence[str], status: str = "") -> CheckReport:
    """The report on an accepted certificate."""
    theorem, claim, networks = THEOREMS[name], case.claim, [case.network, case.other]
    among = claim.get("among", "")
    says = {
        **theorem.says,
        "membership": f"membership of network {case.other.sha256[:12]} in the class {among}: "
        f"{status}",
    }
    trusted = [f"theorem {name} as proved in {theorem.page}", FORMAT_PAGE]
    trusted.append("Python's integers, json, hashlib" + (", zlib" if case.lines else ""))
    if status == "verified" and among in TRUSTED_OF_MINORS:
        trusted.append(TRUSTED_OF_MINORS[among])
    return CheckReport(
        "accepted",
        statement=sentence(name, claim, networks[0], networks[1], status, case.meter),
        theorem=name,
        hypotheses=[{"id": key, "statement": says[key], "status": "proved"} for key in hypotheses],
        trusted=trusted,
        networks=tuple(network.sha256 for network in networks[: 2 if "other" in claim else 1]),
        cost=case.meter.cost,
    )
