"""What the public objects of the room look like in a terminal and in a notebook."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from polyrelu import Polyhedron
from polyrelu.certificate import (
    THEOREMS,
    Certificate,
    CertificateText,
    Claim,
    Hypothesis,
    NodeRecord,
    PairClaim,
    PartClaim,
    RegionsCertificate,
    RegionsClaim,
    RuntimeClaim,
    SignRecord,
    TreeCertificate,
    TreeLog,
    describe_latex,
)
from polyrelu.network import from_arrays

NET = from_arrays([([[1]], [0]), ([[1]], [0])])
NAME = NET.sha256[:12]
LINE = Polyhedron.universe(1)
ONE = (Fraction(1),)


def test_claims() -> None:
    claims: list[Any] = [
        Claim("identifiable", NET, "all"),
        PartClaim(NET, 1),
        RuntimeClaim(NET, ONE, ONE, "float32", ONE),
        PairClaim("equivalent", NET, NET, LINE),
        RegionsClaim(NET, LINE, 2),
    ]
    assert list(map(repr, claims)) == [
        f"<Claim: 1-1-1 network {NAME}… is identifiable among all parameters>",
        f"<PartClaim: 1-1-1 network {NAME}… is determined in layer 1 up to signs of rows [W|b]>",
        f"<RuntimeClaim: 1-1-1 network {NAME}… in float32, error at most 1>",
        f"<PairClaim: (1, 1, 1) {NAME}… and (1, 1, 1) {NAME}… are equivalent on R^n>",
        f"<RegionsClaim: 2 regions of (1, 1, 1) {NAME}… on R^n>",
    ]
    assert claims[0].summary == f"1-1-1 network {NAME}… is identifiable among all parameters"
    assert str(RegionsClaim(NET, LINE, 2)) == (
        f"The canonical complex of the network (1, 1, 1) {NAME}… on R^n has exactly 2 regions, and "
        "a point inside each of them is listed."
    )


def test_hypotheses() -> None:
    hypothesis = Hypothesis("bottleneck", "rank", {"method": "minor", "rows": [0]})
    assert str(hypothesis) == "[proved] rank: rank W[1] = n_1"
    assert repr(hypothesis) == "<Hypothesis 'rank' of 'bottleneck', 2 entries>"
    assert repr(THEOREMS["bottleneck"]) == (
        f"<TheoremText, {THEOREMS['bottleneck'].title}: docs/theory/bottleneck.md>"
    )


def test_a_certificate() -> None:
    claim = Claim("identifiable", NET, "all")
    certificate = Certificate(
        claim, "bottleneck", (Hypothesis("bottleneck", "rank"),), {"source": "<b>&.npz"}
    )
    assert str(certificate) == f"Certificate by 'bottleneck': {claim}"
    assert repr(certificate) == (
        f"<Certificate by 'bottleneck': 1-1-1 network {NAME}… is identifiable among all parameters>"
    )
    assert certificate._repr_html_() == (
        f"<table><tr><th>claim</th><td>{claim}</td></tr>"
        f"<tr><th>theorem</th><td>{THEOREMS['bottleneck'].title} (docs/theory/bottleneck.md)</td>"
        "</tr><tr><th>hypothesis</th><td>[proved] rank: rank W[1] = n_1</td></tr>"
        "<tr><th>unverified: source</th><td>&lt;b&gt;&amp;.npz</td></tr></table>"
    )


def test_trees() -> None:
    log = TreeLog()
    log.add(NodeRecord([[SignRecord(0, 1, Fraction(0), {}, {})]], 0))
    assert (repr(log), len(log)) == ("<TreeLog, 1 node, 49 bytes>", 1)
    tree = TreeCertificate(PairClaim("equivalent", NET, NET, LINE), ONE, log)
    assert repr(tree) == (
        f"<Certificate by 'tree', 1 node: (1, 1, 1) {NAME}… and (1, 1, 1) {NAME}… are equivalent…>"
    )
    assert tree._repr_html_().startswith(f"<table><tr><th>claim</th><td>{tree.claim}</td></tr>")
    regions = RegionsCertificate(RegionsClaim(NET, LINE, 2), log)
    assert str(regions) == f"Certificate by 'regions', 1 node: {regions.claim}"
    assert regions._repr_html_().count("<th>hypothesis</th>") == 2


def test_records() -> None:
    records = [
        SignRecord(3, -1, Fraction(-1, 2), {0: Fraction(1)}, {}),
        SignRecord(0, 1, Fraction(10**60), {}, {}),
        NodeRecord([[], []], None),
        NodeRecord([[SignRecord(0, 1, Fraction(0), {}, {})]], 4),
    ]
    assert list(map(repr, records)) == [
        "<SignRecord, -form of atom 3 ≥ -1/2>",
        "<SignRecord, form of atom 0 ≥ about 1e+60>",
        "<NodeRecord, 0 signs, leaf>",
        "<NodeRecord, 1 sign, split by atom 4>",
    ]


def test_the_text_of_a_file() -> None:
    """Names come from files, so they are escaped wherever they are shown."""
    text = CertificateText(
        "identifiable",
        "0" * 64,
        None,
        "network in <b>_\\input{x}.json",
        "all",
        "R^n",
        "affine",
        (("id", "a < b"),),
        {"<i>": "x & y"},
    )
    assert repr(text) == (
        "<CertificateText, identifiable by 'affine': network in <b>_\\input{x}.json>"
    )
    html = text._repr_html_()
    assert html.startswith(
        "<table><tr><th>claim</th><td>the network in &lt;b&gt;_\\input{x}.json with SHA-256 000"
    )
    assert html.endswith(
        "<tr><th>theorem</th><td>no hidden layer (docs/theory/shallow.md)</td></tr>"
        "<tr><th>hypothesis</th><td>id: a &lt; b</td></tr>"
        "<tr><th>unverified: &lt;i&gt;</th><td>x &amp; y</td></tr></table>"
    )
    assert r"in $<$b$>$\_\textbackslash{}input\{x\}.json" in describe_latex(text)
