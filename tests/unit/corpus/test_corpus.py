"""The shipped corpus: what it holds, that its answers are true, and how it is made."""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from benchmarks import make_corpus
from benchmarks.corpus.answers import Answered, answered
from benchmarks.corpus.degenerate import degenerate
from benchmarks.corpus.examples import example_networks
from benchmarks.corpus.pairs import pairs
from benchmarks.corpus.papers import papers
from benchmarks.corpus.plain import deep, plain, quantised
from benchmarks.corpus.shapes import shapes
from benchmarks.corpus.specimen import Specimen
from benchmarks.corpus.truth import untrue
from polyrelu import checker, load
from polyrelu.corpus import (
    KINDS,
    CorpusEntry,
    corpus_entries,
    corpus_version,
    export_corpus,
    find_entry,
)
from polyrelu.errors import ArgumentError, NetworkFileError, PolyreluError
from polyrelu.formats.corpus_files import corpus_entry, corpus_record
from polyrelu.network import to_document
from tests.generators.campaigns import few_and_all

ENTRIES = corpus_entries()
NAMES = [entry.name for entry in ENTRIES]
#: Networks whose answers are computed again: one of each family, the trained ones last.
AGAIN = ("concurrent-3", "sliver-triangle-60", "pair-half-a", "zero-row-zero", "xor")
SLOW = (
    *("topology-disc", "plain-1-3-1", "puthawala-lemma-1", "sawtooth-2", "ternary-2-4-1"),
    *("digits", "trained-moons-int4", "trained-xor-2-4-1"),
)


def _specimens() -> dict[str, Specimen]:
    """All networks but the trained ones, which take time."""
    families = (example_networks, plain, degenerate, quantised, deep, papers, pairs, shapes)
    return {specimen.name: specimen for family in families for specimen in family()}


# --- What is shipped ------------------------------------------------------------------------------


def test_what_the_corpus_holds() -> None:
    assert len(NAMES) == len({*NAMES}) >= 150
    assert {entry.kind for entry in ENTRIES} == {*KINDS}
    assert len({entry.sha256 for entry in ENTRIES}) >= len(ENTRIES) - 8  # pairs share networks
    assert all(entry.sentence.endswith((".", "]²")) for entry in ENTRIES)
    assert corpus_version() == make_corpus.VERSION
    kinds = [path.name for path in _data().iterdir() if path.name.endswith(".jsonl")]
    assert {*kinds} == {f"{kind}.jsonl" for kind in KINDS}


def test_false_claims_are_there() -> None:
    false = [entry for entry in ENTRIES if any(not claim.holds for claim in entry.claims)]
    assert len(false) >= 10
    assert {entry.name for entry in corpus_entries(tag="false-claim")} <= {e.name for e in false}


@pytest.mark.parametrize("step", few_and_all(7, 1))
def test_networks_and_answers_are_as_listed(step: int) -> None:
    schema = json.loads((files("polyrelu") / "schemas" / "corpus.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for entry in ENTRIES[::step]:
        network, answers = entry.network, entry.answers
        assert (network.widths, network.last) == (entry.architecture, entry.last)
        assert network.sha256 == entry.sha256
        validator.validate(answers)
        named = {part["certificate"] for part in _dicts(answers) if "certificate" in part}
        assert named == {*entry.certificates}


def test_it_adds_little_to_the_wheel() -> None:
    """A wheel compresses each file as zlib does."""
    sizes = [len(zlib.compress(path.read_bytes())) for path in _data().iterdir()]
    assert sum(sizes) < 500_000


def _data() -> Any:
    return files("polyrelu") / "corpus" / "data"


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _dicts(part)


# --- How it is made -------------------------------------------------------------------------------


@pytest.mark.parametrize("names", few_and_all(AGAIN, SLOW))
def test_the_script_writes_the_same_bytes(names: tuple[str, ...]) -> None:
    every = {s.name: s for s in make_corpus.specimens()} if names is SLOW else _specimens()
    networks = {name: specimen.network for name, specimen in every.items()}
    for name in names:
        specimen = every[name]
        found = answered(specimen, networks)
        assert make_corpus.index_entry(specimen, found) == corpus_entry(name)
        with (_data() / f"{specimen.kind}.jsonl").open("rb") as lines:
            assert f"{make_corpus.pack_line(specimen, found)}\n".encode() in list(lines)
        assert list(untrue(specimen, found, networks)) == []
        assert all(
            checker.check_bytes(x).verdict == "accepted" for x in found.certificates.values()
        )


def _change(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(answers: dict[str, Any]) -> None:
        place: Any = answers
        for key in path[:-1]:
            place = place[key]
        assert place[path[-1]] != to
        place[path[-1]] = to

    return change


_MUTANTS = {
    "f_vector": _change("complexes", 1, "f_vector", 0, to=0),
    "bounded": _change("complexes", 0, "regions", 0, "bounded", to=True),
    "vertex": _change("complexes", 1, "vertices", 0, 0, to="-2000000001/1000000000"),
    "gradient": _change("complexes", 0, "regions", 2, "gradient", 0, 1, to="7"),
    "signs": _change("complexes", 0, "regions", 0, "signs", to="+-+"),
    "point": _change("complexes", 0, "regions", 0, "point", 0, to="-1000"),
    "volume": _change("complexes", 1, "regions", 0, "volume", to="1"),
    "weight": _change("complexes", 1, "bends", 0, "weight", 0, to="3"),
    "bend": _change("complexes", 0, "bends", 0, "regions", 1, to=5),
    "linear regions": _change("complexes", 1, "num_linear_regions", to=5),
    "range": _change("outputs", 0, "upper", to="6"),
    "argmin": _change("outputs", 0, "argmin", 0, to="1"),
    "lipschitz": _change("outputs", 0, "lipschitz_linf", to="100"),
    "betti": _change("level_sets", 0, "level_set", 0, to=2),
    "identifiability": _change("fiber", "dimension", to=1),
    "injectivity": _change("injectivity", 0, "witness", "x", 0, to="1/3"),
}


@pytest.mark.parametrize("name", _MUTANTS)
def test_brute_force_finds_wrong_answers(name: str) -> None:
    specimen = _specimens()["concurrent-3"]
    record = corpus_record("concurrent-3")
    answers = copy.deepcopy(record["answers"])
    assert list(untrue(specimen, Answered(answers), {})) == []
    _MUTANTS[name](answers)
    assert list(untrue(specimen, Answered(answers), {}))


def test_brute_force_finds_wrong_pairs_and_certificates() -> None:
    every = _specimens()
    networks = {name: specimen.network for name, specimen in every.items()}
    record = corpus_record("pair-half-a")
    answers = record["answers"]
    answers["equivalence"][0]["status"] = "proved"
    answers["equivalence"][1]["related"] = True
    broken = {"identify": record["certificates"]["identify"].replace("all", "regular").encode()}
    found = list(untrue(every["pair-half-a"], Answered(answers, broken), networks))
    assert len(found) == 3


# --- Functions ------------------------------------------------------------------------------------


def test_choosing() -> None:
    chosen = corpus_entries("degenerate", max_inputs=2, tag="sliver", max_regions=6)
    assert len(chosen) > 5
    assert all(e.kind == "degenerate" and e.architecture[0] <= 2 for e in chosen)
    assert all(e.num_regions is not None and e.num_regions <= 6 for e in chosen)
    assert find_entry("corpus:xor") == find_entry("xor")
    assert load("corpus:xor") == load("example:xor")
    for wrong in ({"kind": "nice"}, {"tag": "nice"}, {"max_inputs": "2"}, {"kind": 3}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            corpus_entries(**wrong)
    with pytest.raises(NetworkFileError, match="did you mean concurrent-3"):
        find_entry("concurent-3")
    assert repr(find_entry("xor")).startswith("<CorpusEntry xor, example, 2-2-1: The XOR")


def _small() -> list[CorpusEntry]:
    return [*islice(ENTRIES, 1, 3), find_entry("puthawala-lemma-1"), find_entry("sliver-strip-60")]


def test_export(tmp_path: Path) -> None:
    """Files hold the exact weights, and can be read without the package."""
    folder = export_corpus(tmp_path / "corpus", _small())
    assert (folder / "README.md").read_text().startswith("# The corpus")
    index = json.loads((folder / "index.json").read_text("utf-8"))
    assert [entry["name"] for entry in index["entries"]] == [entry.name for entry in _small()]
    for entry in _small():
        place = folder / entry.kind / entry.name
        assert json.loads((place / "answers.json").read_text("utf-8")) == entry.answers
        for name, data in entry.certificates.items():
            assert (place / f"{name}.cert.json").read_bytes() == data
        endings = ["json", "onnx", *(["npz"] if entry.last == "affine" else [])]
        assert all(load(place / f"network.{ending}") == entry.network for ending in endings)
    arrays = np.load(folder / "degenerate" / "sliver-strip-60" / "network.npz")
    assert arrays["b1"].tolist() == [0, -(2.0**-60), 0]
    again = export_corpus(tmp_path / "again", _small())
    for path in folder.rglob("*.*"):
        assert (again / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_export_writes_everything_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for target, formats, message in (
        ("full", ["json"], "it is no empty folder; choose another name"),
        ("missing/corpus", ["json"], "there is no folder"),
        ("corpus", ["json", "xml"], "'xml' is none of json, onnx, npz"),
        ("corpus", "json", "formats"),
    ):
        with pytest.raises(PolyreluError, match=message):
            export_corpus(tmp_path / target, _small(), formats=formats)
    for entries in ([], ["xor"]):
        with pytest.raises(ArgumentError, match=r"no network was chosen|find_entry"):
            export_corpus(tmp_path / "corpus", entries)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    (tmp_path / "empty").mkdir()
    export_corpus(tmp_path / "empty", _small()[:1] * 2, formats=["json"])
    assert to_document(load(tmp_path / "empty" / "example" / "xor" / "network.json"))
