"""The format's own suite, network files, and where the checker finds files.

The files in tests/certificates are written by hand, with numbers that can be checked on paper. The
note in `unverified` describes each file, and for invalid files it begins with the step that must
fail.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import pytest

from polyrelu import checker
from tests.generators.campaigns import few_and_all
from tests.generators.certificates import (
    INVALID,
    MALFORMED,
    VALID,
    name,
    run_checker,
)
from tests.generators.files import CERTIFICATES, ROOT


def test_every_theorem_has_a_valid_certificate() -> None:
    used = {json.loads(path.read_text())["proof"]["theorem"] for path in VALID}
    kinds = {name: entry.kind for name, entry in checker.THEOREMS.items()}
    assert used == {name for name in kinds if kinds[name] not in checker.TREE_CLAIMS}


@pytest.mark.parametrize("path", VALID, ids=name)
def test_valid(path: Path) -> None:
    report = checker.check_file(path)
    assert report.verdict == "accepted", report
    document = json.loads(path.read_text())
    assert report.networks[0] == document["claim"]["network"]["sha256"]
    assert report.theorem == document["proof"]["theorem"]
    assert [h["id"] for h in report.hypotheses] == [
        h["id"] for h in document["proof"]["hypotheses"]
    ]
    assert all(
        set(h) == {"id", "statement", "status"} and h["status"] == "proved"
        for h in report.hypotheses
    )
    assert len(report.assumed) == 0
    assert document["claim"]["kind"] in report.statement
    assert "assumed: none" in str(report)
    assert all(line.isascii() and line.isprintable() for line in str(report).splitlines())


@pytest.mark.parametrize("path", INVALID, ids=name)
def test_invalid(path: Path) -> None:
    step = json.loads(path.read_text())["unverified"]["note"].split(":")[0]
    report = checker.check_file(path)
    assert (report.verdict, report.step) == ("rejected", step), report
    assert report.expected
    assert report.got
    assert report.statement == ""


@pytest.mark.parametrize("path", MALFORMED, ids=name)
def test_malformed(path: Path) -> None:
    report = checker.check_file(path)
    assert report.verdict == "unreadable", report
    assert report.statement == ""
    assert report.step
    assert len(report.got) < 400


def by_file(folder: Path, reference: str = "two.network.json") -> Path:
    document = json.loads((CERTIFICATES / "valid" / "shallow-by-file.json").read_text())
    document["claim"]["network"]["file"] = reference
    path = folder / "c.json"
    path.write_text(json.dumps(document))
    return path


def test_network_file_by_hand_or_renamed(tmp_path: Path) -> None:
    path, network = by_file(tmp_path), CERTIFICATES / "valid" / "two.network.json"
    missing = checker.check_file(path)
    assert missing.verdict == "unreadable"
    assert "two.network.json" in missing.got
    assert checker.check_file(path, [network]).verdict == "accepted"
    assert run_checker("--network", network, path).returncode == 0
    (tmp_path / "renamed.network.json").write_bytes(network.read_bytes())
    assert checker.check_file(path).verdict == "unreadable"  # files beside it are not searched
    assert checker.check_file(path, [tmp_path / "renamed.network.json"]).verdict == "accepted"
    (tmp_path / "garbage.network.json").write_text("[")
    assert checker.check_file(path, [tmp_path / "garbage.network.json"]).verdict == "unreadable"
    (tmp_path / "two.network.json").write_text("[")
    assert checker.check_file(path, [network]).verdict == "unreadable"


def test_network_file_with_the_wrong_hash(tmp_path: Path) -> None:
    path = by_file(tmp_path)
    network = json.loads((CERTIFICATES / "valid" / "two.network.json").read_text())
    network["layers"][1]["bias"] = "6"
    (tmp_path / "two.network.json").write_text(json.dumps(network))
    report = checker.check_file(path)
    assert (report.verdict, report.step) == ("rejected", "hash")
    in_memory = {"two.network.json": (CERTIFICATES / "valid" / "two.network.json").read_bytes()}
    assert checker.check_bytes(path.read_bytes(), in_memory).verdict == "accepted"
    assert (
        checker.check_bytes(path.read_bytes(), {"other": in_memory["two.network.json"]}).verdict
        == "accepted"
    )
    assert checker.check_bytes(path.read_bytes()).verdict == "unreadable"


PACKED = gzip.compress((CERTIFICATES / "valid" / "two.network.json").read_bytes(), mtime=0)


def test_packed_network_files(tmp_path: Path) -> None:
    """A packed file is found by its name or by hand, whatever its name says."""
    path = by_file(tmp_path, "two.network.json.gz")
    (tmp_path / "two.network.json.gz").write_bytes(PACKED)
    assert checker.check_file(path).verdict == "accepted"
    assert run_checker("--about", tmp_path / "two.network.json.gz", path).returncode == 0
    (tmp_path / "two.network.json.gz").rename(tmp_path / "other")
    assert checker.check_file(path).verdict == "unreadable"
    assert checker.check_file(path, [tmp_path / "other"]).verdict == "accepted"
    assert checker.check_bytes(path.read_bytes(), {"x": PACKED}).verdict == "accepted"


def test_what_is_unpacked_is_paid(tmp_path: Path) -> None:
    """A packed file costs 8 units more for each byte; the memory is given back."""
    plain = (CERTIFICATES / "valid" / "two.network.json").read_bytes() + b" " * (3 << 20)
    certificate, meters = by_file(tmp_path).read_bytes(), []
    for data in (plain, gzip.compress(plain)):
        meters.append(checker.Meter())
        search = {"two.network.json": [("", data)]}.__getitem__
        report = checker.check_certificate(certificate, search, meters[-1])
        assert report.verdict == "accepted"
    assert meters[1].work - meters[0].work == 8 * len(plain)
    assert meters[1].cells == meters[0].cells


def test_bombs_of_network_files(tmp_path: Path) -> None:
    """Files of a few kilobytes that hold too much, are damaged, or are packed twice."""
    path, blanks = by_file(tmp_path), gzip.compress(b" " * (1 << 24), mtime=0)
    refused = {
        "beyond the limits": blanks * 10,  # members one after the other
        "EOFError": PACKED[:-4],
        "incorrect header": PACKED + b"more",
        "unknown header flags": PACKED[:3] + b"\x20" + PACKED[4:],
        "header crc": PACKED[:3] + b"\2" + PACKED[4:10] + b"\0\0" + PACKED[10:],
        "ASCII": gzip.compress(PACKED),
        "not JSON": gzip.compress(b""),
    }
    for why, data in refused.items():
        started = time.process_time()
        found = checker.check_bytes(path.read_bytes(), {"two.network.json": data}, budget=2**30)
        assert time.process_time() - started < 2
        assert (found.verdict, why in found.got) == ("unreadable", True), (why, found)


def test_no_more_is_unpacked_than_a_network_file_may_have() -> None:
    data = gzip.compress(b" " * 3_000_000)
    with pytest.raises(checker.Stop, match="2000000 bytes unpacked"):
        checker.unpacked(data, "net", 2_000_000, checker.Meter())
    assert len(checker.unpacked(data, "net", 3_000_000, checker.Meter())) == 3_000_000


def test_zeros_take_less_memory() -> None:
    meter = checker.Meter()
    assert checker.integers("0 0 7 0 0 0 0 0 0 0", meter) == [0, 0, 7, *[0] * 7]
    assert meter.cells == 10 - 7 * 9 // 8


def test_canonical_bytes() -> None:
    """The hash of FORMAT.md is computed step by step for one network."""
    lines = [
        "polyrelu-network 1",
        "inputs 2",
        "layer 2 1",
        "bias 0 -1",
        "from 0",
        "1 0",
        "0 1",
        "layer 1 1",
        "bias 5",
        "from 1",
        "2 3",
        "last affine",
    ]
    expected = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    assert checker.check_file(CERTIFICATES / "valid" / "shallow-by-file.json").networks == (
        expected,
    )


def test_unreadable_paths(tmp_path: Path) -> None:
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (
        tmp_path,
        loop,
        fifo,
        tmp_path / "missing.json",
        "/dev/zero",
        "nul\0byte",
        "",
        "x" * 10_000,
    ):
        assert checker.check_file(path).verdict == "unreadable"
    result = run_checker(Path("/missing/a\nb.json"))  # short: long names are cut off
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert "a\\nb" in result.stderr


@pytest.mark.parametrize("megabytes", few_and_all(1, checker.CERTIFICATE_BYTES >> 20))
def test_too_large(megabytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "CERTIFICATE_BYTES", megabytes << 20)
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(checker.CERTIFICATE_BYTES + 1)
    assert checker.check_file(path).verdict == "unreadable"


def test_the_checker_stands_alone() -> None:
    """One file, standard library only, no assert: `python -O` would leave asserts out."""
    source = (ROOT / "polyrelu" / "checker.py").read_text()
    tree = ast.parse(source)
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    modules |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(tree))
