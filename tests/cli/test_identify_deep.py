"""`polyrelu identify` on deep networks: stored searches, certificates in part, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import polyrelu
from polyrelu import Network, checker
from polyrelu.cli.output import EXIT
from polyrelu.outcomes import Undecided
from tests.cli.commands import run, run_json
from tests.generators.campaigns import few_fast
from tests.generators.files import ROOT

#: No search can prove it, because a weight of layer 2 is free. Layer 1 is determined with its
#: signs, and so is neuron (2, 0).
OPEN = polyrelu.from_arrays(
    [
        ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
        ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
        ([[-1, 3]], [-2]),
    ]
)
PROVED = polyrelu.from_arrays(
    [
        ([[-2, -1], [3, 2], [1, 1]], [0, -2, 0]),
        ([[-1, 1, 3], [1, 1, -2]], [1, 1]),
        ([[-1, 3]], [-1]),
    ]
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    polyrelu.save(OPEN, tmp_path / "open.json")
    polyrelu.save(PROVED, tmp_path / "proved.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- --checkpoint ----------------------------------------------------------------------------------


def test_keeping(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second run tells the same, and one with a larger budget goes on from there."""
    arguments = "identify open.json --among transversal --checkpoint kept -o part.json --budget"
    texts, files = [], []
    for budget in ("300", "300", "600"):
        status, out, _ = run(capsys, *arguments.split(), budget)
        assert status == EXIT["undecided"]
        assert "with a larger budget, goes on from there" in " ".join(out.split())
        texts.append(out)
        files.append((folder / "part.json").read_bytes())
    assert texts[0] == texts[1] != texts[2]
    assert files[0] == files[1]
    assert run(capsys, *arguments.replace("--checkpoint kept ", "").split(), "600")[0] == 3
    assert (folder / "part.json").read_bytes() == files[2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("open.json", "this would overwrite"),
        ("none/kept", "there is no such folder"),
        (".", "it is not a regular file"),
        ("", "there is no such folder"),
    ],
)
def test_where_nothing_can_be_kept(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    before = (folder / "open.json").read_bytes()
    status, out, err = run(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "0",
        f"--checkpoint={name}",
    )
    assert (status, out) == (2, "")
    assert text in err
    assert err.count("\n") == 1
    assert (folder / "open.json").read_bytes() == before


@pytest.mark.parametrize("option", ["-o", "--other"])
def test_one_name_for_two_things(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    status, _, err = run(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "0",
        "--checkpoint",
        "same",
        option,
        "./same",
    )
    assert status == 2
    assert err.count("\n") == 1
    assert not (folder / "same").exists()


@pytest.mark.parametrize(
    ("network", "seed", "text"),
    [
        (
            "proved.json",
            "0",
            "(another network); name another file, or give what this one was made",
        ),
        ("open.json", "1", "(seed: 0 in place of 1); name another file"),
        ("proved.json", "1", "(another network; seed: 0 in place of 1)"),
    ],
)
def test_the_search_of_something_else(
    folder: Path, capsys: pytest.CaptureFixture[str], network: str, seed: str, text: str
) -> None:
    run(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "100",
        "--checkpoint",
        "kept",
    )
    before = (folder / "kept").read_bytes()
    arguments = (
        "identify",
        network,
        "--seed",
        seed,
        "--among",
        "transversal",
        "--checkpoint",
        "kept",
        "--budget",
        "0",
    )
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("polyrelu: kept: ")
    assert text in err
    status, found = run_json(capsys, *arguments)
    assert (status, found["status"]) == (2, "error")
    assert (folder / "kept").read_bytes() == before


@pytest.mark.parametrize("network", ["example:xor", "example:digits", "open.json"])
def test_files_are_checked_before_an_answer(
    folder: Path, capsys: pytest.CaptureFixture[str], network: str
) -> None:
    """Questions that are answered without a search refuse the wrong file as well."""
    (folder / "letter").write_text("a letter\n")
    run(capsys, "regions", "open.json", "--domain", "box:-1,1", "--checkpoint", "regions")
    texts = {"letter": "not a checkpoint", "regions": "of other work (question: regions in place"}
    for name, text in texts.items():
        before = (folder / name).read_bytes()
        status, out, err = run(capsys, "identify", network, "--checkpoint", name, "--budget", "0")
        assert (status, out) == (2, "")
        assert err.startswith(f"polyrelu: {name}: ")
        assert text in err
        assert (folder / name).read_bytes() == before
    run(capsys, "identify", "example:xor", "--checkpoint", "new", "--budget", "0")
    assert not (folder / "new").exists()


def test_a_file_that_is_no_search(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "precious").write_text("a letter\n")
    status, _, err = run(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "0",
        "--checkpoint",
        "precious",
    )
    assert status == 2
    assert "precious: not a checkpoint" in err
    assert (folder / "precious").read_text() == "a letter\n"


# -- in part ---------------------------------------------------------------------------------------


def test_a_certificate_in_part(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "2000",
        "-o",
        "part.json",
    )
    assert status == EXIT["undecided"]
    assert out.startswith("undecided")
    text = " ".join(out.split())
    assert "part.json" in text
    assert "no certificate was written" not in text
    assert run(capsys, "check", "part.json", "--about", "open.json")[0] == 0
    assert checker.check_file(folder / "part.json").verdict == "accepted"
    document = json.loads((folder / "part.json").read_text())
    assert (document["claim"]["kind"], document["proof"]["theorem"]) == ("determined", "deep-part")
    assert (document["claim"]["layers"], document["claim"]["neurons"]) == (1, [0])


@pytest.mark.slow
def test_what_is_proved_in_part_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = polyrelu.identify(OPEN, among="transversal", budget=2000)
    assert isinstance(outcome, Undecided)
    assert outcome.part is not None
    sentence = str(outcome.part.certificate.claim)
    _, out, _ = run(capsys, "identify", "open.json", "--among", "transversal", "--budget", "2000")
    assert " ".join(sentence.split()) in " ".join(out.split())
    _, found = run_json(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "2000",
        "-o",
        "part.json",
    )
    assert found["status"] == "undecided"
    assert found["part"] == {
        "theorem": "deep-part",
        "competitors": "transversal",
        "layers": 1,
        "neurons": [0],
        "statement": sentence,
    }
    assert found["certificate"] == "part.json"
    attempts = {attempt["theorem"]: attempt for attempt in found["attempts"]}
    assert attempts["deep"]["missing"] == ["(1, 2) is active at no known piece of (2, 1)"]
    shown = run(capsys, "show", "part.json")
    assert shown[0] == 0


def test_nothing_in_part(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(
        capsys,
        "identify",
        "open.json",
        "--among",
        "transversal",
        "--budget",
        "0",
        "-o",
        "part.json",
    )
    assert (status, found["part"], found["certificate"]) == (EXIT["undecided"], None, None)
    (deep,) = (attempt for attempt in found["attempts"] if attempt["theorem"] == "deep")
    assert deep["missing"][0] == "(1, 0) has no piece"
    assert len(deep["missing"]) == 6
    assert not (folder / "part.json").exists()


def test_nothing_in_part_among_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A proof in part among transversal competitors does not answer a question about all."""
    rows = ([[1, 2], [2, 4]], [1, 1]), ([[1, -2], [-3, 1]], [1, 2]), ([[1, 1]], [0])
    polyrelu.save(polyrelu.from_arrays(list(rows)), folder / "parallel.json")
    status, found = run_json(
        capsys, "identify", "parallel.json", "--among", "all", "--checkpoint", "kept"
    )
    assert (status, found["part"]) == (EXIT["undecided"], None)
    assert not (folder / "kept").exists()


# -- Ctrl-C ----------------------------------------------------------------------------------------


#: A process of its own, because Ctrl-C is one's own; it comes when 30 ridges are there.
PRESS = """
import signal
# processes in the background ignore Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)
from polyrelu.cli.main import main
from polyrelu.proofs.deep.findings import Findings
add = Findings.add
def press(findings, ridge, location):
    before = len(findings.ridges)
    add(findings, ridge, location)
    if before == 29 and len(findings.ridges) == 30:
        signal.raise_signal(signal.SIGINT)
Findings.add = press
raise SystemExit(main())
"""


def large() -> Network:
    """A network whose search takes long."""
    rng = Random(1)
    return polyrelu.from_arrays(
        [
            (
                [[rng.randint(-99, 99) or 1 for _ in range(n)] for _ in range(m)],
                [rng.randint(-99, 99) for _ in range(m)],
            )
            for n, m in pairwise((6, 8, 8, 8, 2))
        ]
    )


@pytest.mark.parametrize("options", few_fast([["--json"], []], 1))
def test_interrupted(folder: Path, options: list[str]) -> None:
    """What was found is printed, and the search is kept."""
    polyrelu.save(large(), folder / "large.json")
    arguments = ["identify", "large.json", "--budget", "100000", "--checkpoint", "kept", *options]
    found = subprocess.run(
        [sys.executable, "-c", PRESS, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == EXIT["undecided"], found.stderr
    assert "interrupted; keeping what is done" in found.stderr
    (num_ridges,) = re.findall(r"not found, with (\d+) ridges", " ".join(found.stdout.split()))
    assert int(num_ridges) >= 30
    with closing(sqlite3.connect(folder / "kept")) as checkpoint:
        assert checkpoint.execute("SELECT count(*) FROM results").fetchone()[0] > 0
    if options:
        printed = json.loads(found.stdout)
        assert printed["status"] == "undecided"
    else:
        assert found.stdout.startswith("undecided")


# -- workers and kills -----------------------------------------------------------------------------


def test_jobs_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, text in {
        "--jobs 0": "--jobs 0: must be 1 or more",
        "--jobs 2 --dask tcp://127.0.0.1:1": (
            "--dask: the cluster decides how many jobs there are; leave out --jobs"
        ),
    }.items():
        found = run(capsys, "identify", "open.json", *options.split())
        assert found[::2] == (2, f"polyrelu: {text}\n")
    assert not list(folder.glob("*.db"))
