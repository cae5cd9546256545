"""Public functions and types of the room with wrong arguments."""

from __future__ import annotations

import gc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from polyrelu import ArgumentError, CertificateError, Polyhedron
from polyrelu.certificate import (
    BoundsCertificate,
    BoundsNode,
    Certificate,
    CertificateText,
    Claim,
    ComplexClaim,
    DecisionsClaim,
    DeviationClaim,
    DimensionClaim,
    HoldsClaim,
    Hypothesis,
    InjectivityClaim,
    LinearRow,
    LipschitzBoundClaim,
    LipschitzClaim,
    NodeRecord,
    OutputRange,
    PairClaim,
    PartClaim,
    RangeClaim,
    RegionsCertificate,
    RegionsClaim,
    RuntimeClaim,
    SizeClaim,
    SubBox,
    TeachingClaim,
    TreeCertificate,
    TreeLog,
    VertexCertificate,
    describe,
    describe_latex,
    domain_text,
    hypothesis_statement,
    layers_text,
    number_text,
    part_text,
    read_certificate,
    vector_text,
)
from polyrelu.network import from_arrays
from tests.generators.wrong_arguments import WRONG, calls_with, outcome

NET = from_arrays([([[1, 2]], [3])])
PLANE = Polyhedron.universe(2)
CLAIM = Claim("identifiable", NET, "all")
CERTIFICATE = Certificate(CLAIM, "affine", ())
TEXT = CertificateText("identifiable", "0" * 64, None, "net", "all", "R^n", "affine", (), {})
PAIR = PairClaim("equivalent", NET, NET, PLANE)
REGIONS = RegionsClaim(NET, PLANE, 1)
ONE, ZEROS = (Fraction(1),), (Fraction(0), Fraction(0))
PAIR_OF_ONES = (Fraction(1), Fraction(1))
RANGE = RangeClaim(NET, PLANE, ())

#: Each public function and type with good arguments.
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
    "Claim": (Claim, ("not-identifiable", NET, "all", NET)),
    "PartClaim": (PartClaim, (NET, 1, (0,), "determined", "regular")),
    "RuntimeClaim": (RuntimeClaim, (NET, ZEROS, ZEROS, "float32", ONE)),
    "PairClaim": (PairClaim, ("equivalent", NET, NET, PLANE)),
    "LipschitzClaim": (LipschitzClaim, (NET, (1, 1), PLANE, ONE[0], ONE[0])),
    "InjectivityClaim": (InjectivityClaim, ("injective", NET, (1, 1), PLANE)),
    "SizeClaim": (SizeClaim, (NET, "neurons", 1, "all")),
    "DimensionClaim": (DimensionClaim, (NET, PLANE, 1, 2)),
    "TeachingClaim": (TeachingClaim, (NET, 4, "function")),
    "ComplexClaim": (ComplexClaim, (NET, PLANE, (1,))),
    "RegionsClaim": (RegionsClaim, (NET, PLANE, 1)),
    "DeviationClaim": (DeviationClaim, (NET, NET, PLANE, (0,), ONE[0], ONE[0], ())),
    "RangeClaim": (RangeClaim, (NET, PLANE, (OutputRange(0, PAIR_OF_ONES, PAIR_OF_ONES),))),
    "HoldsClaim": (HoldsClaim, (NET, PLANE, ((LinearRow(),),))),
    "DecisionsClaim": (DecisionsClaim, (NET, NET, PLANE, ONE[0], (), "smallest")),
    "LipschitzBoundClaim": (LipschitzBoundClaim, (NET, PLANE, (0,), "1", ONE[0], ONE[0])),
    "LinearRow": (LinearRow, ({}, {}, {}, ONE[0])),
    "OutputRange": (OutputRange, (0, PAIR_OF_ONES, PAIR_OF_ONES)),
    "SubBox": (SubBox, (ONE, ONE)),
    "BoundsNode": (BoundsNode, ("cut", 0)),
    "BoundsCertificate": (BoundsCertificate, (RANGE, 44, (), TreeLog(), ())),
    "Certificate": (Certificate, (CLAIM, "affine", ())),
    "Certificate.save": (CERTIFICATE.save, ("cert.json",)),
    "TreeCertificate": (TreeCertificate, (PAIR, ZEROS, TreeLog())),
    "TreeCertificate.save": (TreeCertificate(PAIR, ZEROS, TreeLog()).save, ("cert.gz",)),
    "RegionsCertificate": (RegionsCertificate, (REGIONS, TreeLog())),
    "VertexCertificate": (VertexCertificate, (REGIONS, TreeLog())),
    "TreeLog.add": (TreeLog().add, (NodeRecord([], None),)),
    "CertificateText": (CertificateText, ("", "", None, "", "", "", "affine", (), {})),
    "describe": (describe, (TEXT,)),
    "describe_latex": (describe_latex, (TEXT,)),
    "domain_text": (domain_text, ({"inequalities": ["1 0"], "equations": []},)),
    "hypothesis_statement": (hypothesis_statement, ("bottleneck", "rank")),
    "layers_text": (layers_text, (1, 2)),
    "number_text": (number_text, ("1/3",)),
    "part_text": (part_text, (1, (0,))),
    "read_certificate": (read_certificate, ("cert.json",)),
    "vector_text": (vector_text, (["1", "2"],)),
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(
    name: str, wrong: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, arguments = CALLS[name]
    for call in calls_with(function, arguments, {}, wrong):
        outcome(call)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: Claim("identifiable", "net.onnx", "all"),  # type: ignore[arg-type]
            "network: expected Network, got str 'net.onnx'; polyrelu.load reads one",
        ),
        (
            lambda: Claim("identifiable", NET, "every"),  # type: ignore[arg-type]
            "among: choose from 'all', 'regular', 'sparse', 'transversal', 'generic', "
            "got str 'every'",
        ),
        (
            lambda: PairClaim("equivalent", NET, NET, "R^n"),  # type: ignore[arg-type]
            "domain: expected Polyhedron, got str 'R^n'",
        ),
        (lambda: PartClaim(NET, 0), "layers: expected an integer, at least 1, got 0"),
        (
            lambda: RuntimeClaim(NET, ZEROS, ZEROS, "float32", ()),
            "at_most: expected a tuple of at least one Fraction",
        ),
        (
            lambda: describe("cert.json"),  # type: ignore[arg-type]
            "certificate: expected CertificateText, got str 'cert.json'; read_certificate makes "
            "one from a file",
        ),
        (
            lambda: hypothesis_statement("bottleneck", "ranks"),
            "identifier: choose from 'rank', ",
        ),
        (lambda: Hypothesis("theorem", "id").statement, "theorem: choose from 'affine', "),
        (
            lambda: domain_text({"inequalities": []}),
            "domain: expected a mapping with texts of rows under 'equations'",
        ),
        (
            lambda: CERTIFICATE.save(NET),  # type: ignore[arg-type]
            "path: expected the name of a file, got Network",
        ),
        (
            lambda: TreeLog().add("leaf"),  # type: ignore[arg-type]
            "record: expected TreeRecord, got str 'leaf'",
        ),
    ],
)
def test_errors(call: Callable[[], object], text: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert str(error.value).startswith(text)


def test_a_header_with_a_backslash_is_no_certificate(tmp_path: Path) -> None:
    """The format knows no backslash; one would bring control characters into what is shown."""
    log = TreeLog()
    log.add(NodeRecord([], None))
    made = TreeCertificate(PAIR, ZEROS, log, unverified={"source": "net.npz"})
    (path,) = made.save(tmp_path / "tree.cert")
    assert read_certificate(path).unverified == {"source": "net.npz"}
    path.write_bytes(path.read_bytes().replace(b"net.npz", b"net\\u001b"))
    with pytest.raises(CertificateError, match="not a polyrelu certificate"):
        read_certificate(path)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"^path: expected the name of a file, got str ''$"):
        read_certificate("")
    for name in ("nosuch", "x" * 300):
        with pytest.raises(CertificateError, match="there is no such file; expected a certificate"):
            read_certificate(tmp_path / name)
    with pytest.raises(CertificateError, match=r"not a regular file; expected a certificate$"):
        read_certificate(tmp_path)


@pytest.mark.filterwarnings("error")
def test_a_log_closes_its_file() -> None:
    log = TreeLog()
    log.add(NodeRecord([], None))
    file = log._file
    del log
    gc.collect()
    assert file.closed
