"""The names of network files beside a certificate."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from polyrelu import checker
from polyrelu.certificate import Certificate, Claim, PairClaim
from polyrelu.certificate.beside import network_references
from polyrelu.exact import Polyhedron
from polyrelu.formats import load
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Equivalent
from polyrelu.proofs import equivalent


def large(number: int) -> Network:
    """An affine network with more than 5,000 parameters."""
    return from_arrays([([[number] + [1] * 5000], [0])])


def save(folder: Path, name: str, *networks: Network) -> list[str]:
    """Save a certificate about one network, or about two, and return the names of all files."""
    if len(networks) == 1:
        claim: Claim | PairClaim = Claim("identifiable", networks[0], "all")
    else:
        domain = Polyhedron.universe(networks[0].num_inputs)
        claim = PairClaim("not-equivalent", networks[0], networks[1], domain)
    Certificate(claim, "affine", ()).save(folder / name)
    return names(folder)


def names(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_one_network(tmp_path: Path) -> None:
    assert save(tmp_path, "cert.json", large(1)) == ["cert.json", "cert.network.json"]


def test_long_texts_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name says so; the same command writes the same bytes; others' files stay."""
    monkeypatch.setattr("polyrelu.certificate.beside.PACKED_CHARACTERS", 10_000)
    expected = ["cert.json", "cert.network.json.gz"]
    for number in (1, 2):
        assert save(tmp_path, "cert.json", large(number)) == expected
    packed = (tmp_path / expected[1]).read_bytes()
    assert load(tmp_path / expected[1]) == large(2)
    assert save(tmp_path, "cert.json", large(2)) == expected
    assert (tmp_path / expected[1]).read_bytes() == packed
    report = checker.check_file(tmp_path / "cert.json")
    assert (report.verdict, report.networks) == ("accepted", (large(2).sha256,))
    for content in (b"precious", packed[:-5], b""):
        (tmp_path / "free.network.json.gz").write_bytes(content)
        save(tmp_path, "free.json", large(1))
        assert (tmp_path / "free.network.json.gz").read_bytes() == content


def test_small_networks_have_no_file(tmp_path: Path) -> None:
    assert save(tmp_path, "cert.json", from_arrays([([[1]], [0])])) == ["cert.json"]


def test_pair(tmp_path: Path) -> None:
    expected = ["cert.f.network.json", "cert.g.network.json", "cert.json"]
    assert save(tmp_path, "cert.json", large(1), large(2)) == expected


def test_equal_networks_share_a_file(tmp_path: Path) -> None:
    assert save(tmp_path, "cert.json", large(1), large(1)) == ["cert.json", "cert.network.json"]


def test_pair_with_a_small_network(tmp_path: Path) -> None:
    small = from_arrays([([[0]], [0])])
    assert save(tmp_path, "c.json", small, large(2)) == ["c.g.network.json", "c.json"]


@pytest.mark.parametrize("name", ["equal.cert", "equal.cert.gz", "digits.cert.json"])
def test_other_endings_stay(name: str, tmp_path: Path) -> None:
    expected = f"{name.removesuffix('.json')}.network.json"
    assert save(tmp_path, name, large(1)) == sorted([name, expected])


def test_two_runs_write_the_same_files(tmp_path: Path) -> None:
    """Another network under the same name replaces the older one."""
    for number in (1, 1, 2, 3):
        assert save(tmp_path, "cert.json", large(number)) == ["cert.json", "cert.network.json"]
        text = (tmp_path / "cert.network.json").read_text()
        assert f'"{number} 1 1' in text
    for number in (1, 2):
        save(tmp_path, "pair.json", large(number), large(7))
    assert [name for name in names(tmp_path) if name.startswith("pair")] == [
        "pair.f.network.json",
        "pair.g.network.json",
        "pair.json",
    ]


def test_packed_certificates_are_read_for_names(tmp_path: Path) -> None:
    for number in (1, 2):
        rows = [[i % 7 - 3, i % 5] for i in range(2000)]
        network = from_arrays([(rows, [number] * 2000), ([[1] * 2000], [0])])
        outcome = equivalent(network, network)
        assert isinstance(outcome, Equivalent)
        outcome.save(tmp_path / "cert.gz")
        assert names(tmp_path) == ["cert.gz", "cert.gz.network.json"]
        assert checker.check_file(tmp_path / "cert.gz").verdict == "accepted"


def test_files_of_others_stay(tmp_path: Path) -> None:
    """A file that no older certificate of this name mentions is kept; one other name is enough."""
    (tmp_path / "cert.network.json").write_text("precious")
    first = save(tmp_path, "cert.json", large(1))
    assert (tmp_path / "cert.network.json").read_text() == "precious"
    (other,) = set(first) - {"cert.json", "cert.network.json"}
    assert len(other) == len("cert-12345678.network.json")
    assert save(tmp_path, "cert.json", large(1)) == first
    assert save(tmp_path, "cert.json", large(2)) == first
    assert '"2 1 1' in (tmp_path / other).read_text()


def test_a_broken_older_certificate_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "cert.gz").write_bytes(b"\x1f\x8b\x08garbage")
    (tmp_path / "cert.gz.network.json").write_text("precious")
    save(tmp_path, "cert.gz", large(1))
    assert (tmp_path / "cert.gz.network.json").read_text() == "precious"


@pytest.mark.parametrize("name", ["der Beweis é.json", ".hidden.json", "ü.json", "x" * 200])
def test_names_that_the_format_does_not_allow(name: str, tmp_path: Path) -> None:
    """One short hash, whatever happens; the names are those that FORMAT.md allows."""
    beside: dict[Path, str] = {}
    target = tmp_path / name
    reference = network_references({"network": large(1)}, target, beside)["network"]
    assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", reference["file"])
    assert len(re.findall(r"-[0-9a-f]{8}\.", reference["file"])) == 1
    assert [path.name for path in beside] == [reference["file"]]
    (tmp_path / reference["file"]).write_text("precious")
    again = network_references({"network": large(1)}, target, {})["network"]["file"]
    assert again != reference["file"]
    assert len(re.findall(r"-[0-9a-f]{8}\.", again)) == 1


def test_references_name_what_is_written(tmp_path: Path) -> None:
    save(tmp_path, "cert.json", large(1), large(2))
    claim = json.loads((tmp_path / "cert.json").read_text())["claim"]
    assert claim["network"]["file"] == "cert.f.network.json"
    assert claim["other"]["file"] == "cert.g.network.json"
