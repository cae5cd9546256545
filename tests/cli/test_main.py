"""The command line as a user meets it: exit statuses, errors of one line, objects, files."""

from __future__ import annotations

import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu.cli.main import main
from polyrelu.formats import load, save
from polyrelu.network import from_arrays
from tests.generators.campaigns import case, few_and_all
from tests.generators.files import ROOT as _ROOT
from tests.oracles import grid
from tests.unit.formats.test_load import BAD_FILES

Pairs = Sequence[tuple[Any, Any]]

#: The network of |x|.
_ABSOLUTE: Pairs = [([[1], [-1]], [0, 0]), ([[1, 1]], [0])]
#: A network with the same neuron twice.
_DUPLICATE: Pairs = [([[1], [1], [-1]], [0, 0, 1]), ([[1, 2, 1]], [0])]
#: A network with two hidden layers wider than the input: no theorem applies, and no other network
#: with its function is known.
_OPEN: Pairs = [
    ([[1, 1], [-3, -1], [2, 1]], [1, -1, 1]),
    ([[-1, 2, -2], [2, -2, -1], [-2, -3, 2]], [-1, 2, 3]),
    ([[2, -2, -1]], [-3]),
]
#: A network with two hidden layers that is proved among generic parameters.
_GENERIC: Pairs = [
    ([[60, -89, -44], [24, -65, -5], [11, -53, -84]], [12, 64, -41]),
    ([[-21, 105, -36], [-33, 154, -98]], [51, -128]),
    ([[-38, 96]], [78]),
]

_STATUS = {"abs.npz": 0, "duplicate.npz": 1, "open.npz": 3, "generic.npz": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the networks above as .npz files."""
    for name, pairs in [
        ("abs", _ABSOLUTE),
        ("duplicate", _DUPLICATE),
        ("open", _OPEN),
        ("generic", _GENERIC),
    ]:
        arrays: dict[str, Any] = {}
        for number, (weight, bias) in enumerate(pairs, 1):
            arrays |= {
                f"W{number}": np.array(weight, dtype=np.float32),
                f"b{number}": np.array(bias, dtype=np.float32),
            }
        np.savez(tmp_path / f"{name}.npz", **arrays)
    return tmp_path


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        status = main(list(arguments))
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def _run_process(
    folder: Path, *arguments: str, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m polyrelu` in the folder."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1", **(variables or {})}
    return subprocess.run(
        [sys.executable, "-m", "polyrelu", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _check_error(status: int, out: str, err: str, as_json: bool) -> str:
    """Check the form of an error, and return its message.

    The exit status is 2, stderr has exactly one line, and with --json stdout has one object.
    """
    assert status == 2
    assert err.startswith("polyrelu: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    message = err.removeprefix("polyrelu: ").rstrip("\n")
    if as_json:
        found = json.loads(out)
        assert found["status"] == "error"
        assert found["error"] == message
    else:
        assert out == ""
    return message


# --- The commands ---------------------------------------------------------------------------------


def test_help_and_version(folder: Path) -> None:
    shown = _run_process(folder, "--help")
    assert shown.returncode == 0
    assert all(command in shown.stdout for command in ("info", "identify", "check", "show"))
    assert "3 undecided" in shown.stdout
    for command in ("info", "identify", "check", "show"):
        assert _run_process(folder, command, "--help").stdout.startswith(
            f"usage: polyrelu {command}"
        )
    version = _run_process(folder, "--version")
    assert version.stdout == f"polyrelu {polyrelu.__version__}\n"
    assert version.stderr == ""


def test_wrong_usage_is_an_error(folder: Path) -> None:
    for arguments in (
        ["--seed", "1"],
        ["fly"],
        ["identify"],
        ["identify", "abs.npz", "--among", "some"],
        ["identify", "abs.npz", "--seed", "x"],
        ["info", "abs.npz", "extra"],
    ):
        found = _run_process(folder, *arguments)
        assert found.returncode == 2
        assert found.stdout == ""
        assert "Traceback" not in found.stderr
        assert "polyrelu" in found.stderr


def test_info(folder: Path) -> None:
    shown = _run(folder, "info", "abs.npz")
    assert shown.returncode == 0
    assert shown.stderr == ""
    network = load(folder / "abs.npz")
    lines = dict(line.split(maxsplit=1) for line in shown.stdout.splitlines())
    assert lines["architecture"] == "1-2-1"
    assert lines["parameters"] == "7"
    assert lines["sha256"] == network.sha256
    assert lines["weights"] == "float32"
    found = _run(folder, "info", "--json", "abs.npz")
    document = json.loads(found.stdout)
    assert found.stdout.count("\n") == 1
    assert document["status"] == "ok"
    assert document["command"] == "info"
    assert document["architecture"] == [1, 2, 1]
    assert document["last"] == "affine"
    assert document["parameters"] == 7
    assert document["sha256"] == network.sha256
    assert document["dtypes"] == ["float32"]


def test_info_of_an_example(folder: Path) -> None:
    found = _run(folder, "info", "example:digits", "--json")
    assert json.loads(found.stdout)["architecture"] == [64, 32, 16, 10]


def test_proved(folder: Path) -> None:
    found = _run_process(folder, "identify", "abs.npz", "-o", "proof.json", "--json")
    assert found.returncode == 0
    assert found.stderr == ""
    document = json.loads(found.stdout)
    assert document["status"] == "proved"
    assert document["theorem"] == "shallow"
    assert document["competitors"] == "all"
    assert document["assumed"] == []
    assert document["certificate"] == "proof.json"
    assert [h["id"] for h in document["hypotheses"]] == ["visible", "unique"]
    certificate = json.loads((folder / "proof.json").read_text("ascii"))
    assert certificate["claim"]["kind"] == "identifiable"
    assert certificate["claim"]["network"]["sha256"] == load(folder / "abs.npz").sha256
    assert certificate["unverified"]["source"] == "abs.npz"


def test_refuted(folder: Path) -> None:
    found = _run(folder, "identify", "duplicate.npz", "-o", "proof.json", "--other", "other.json")
    assert found.returncode == 1
    assert found.stdout.startswith("refuted")
    network, other = load(folder / "duplicate.npz"), load(folder / "other.json")
    assert other.widths == network.widths
    batch = [[Fraction(k, 3)] for k in range(-30, 31)]
    assert other.evaluate(batch) == network.evaluate(batch)
    forms = [
        [
            ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
            for layer in n.layers
        ]
        for n in (network, other)
    ]
    assert grid.same_function(*forms)
    assert not grid.related(*forms)
    certificate = json.loads((folder / "proof.json").read_text("ascii"))
    assert certificate["claim"]["kind"] == "not-identifiable"
    assert certificate["claim"]["other"]["sha256"] == other.sha256


def test_undecided_writes_nothing(folder: Path) -> None:
    before = _names(folder)
    found = _run(
        folder,
        "identify",
        "open.npz",
        "--budget",
        "0",
        "-o",
        "proof.json",
        "--other",
        "other.json",
    )
    assert found.returncode == 3
    assert found.stdout.startswith("undecided")
    assert "no certificate was written" in found.stdout
    as_json = _run(folder, "identify", "open.npz", "--budget", "0", "-o", "proof.json", "--json")
    assert as_json.returncode == 3
    document = json.loads(as_json.stdout)
    assert document["status"] == "undecided"
    assert document["certificate"] is None
    assert document["attempts"]
    assert _names(folder) == before


def test_old_certificate_survives_an_undecided_run(folder: Path) -> None:
    (folder / "proof.json").write_text("precious")
    assert _run(folder, "identify", "open.npz", "--budget", "0", "-o", "proof.json").returncode == 3
    assert (folder / "proof.json").read_text() == "precious"


def test_a_certificate_is_accepted_by_check(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands run in this process."""
    for name in ("abs.npz", "duplicate.npz", "generic.npz"):
        path = str(folder / "proof.json")
        assert main(["identify", str(folder / name), "-o", path]) == _STATUS[name]
        capsys.readouterr()
        assert main(["check", path]) == 0
        assert capsys.readouterr().out.startswith("accepted")


@pytest.mark.slow
def test_certificates_of_other_processes(folder: Path) -> None:
    """The checker accepts them, and they have equal bytes where the seed is equal."""
    for name in ("abs.npz", "duplicate.npz", "generic.npz"):
        assert (
            _run_process(folder, "identify", name, "-o", "proof.json").returncode == _STATUS[name]
        )
        checked = _run_process(folder, "check", "proof.json")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        text = (folder / "proof.json").read_text("ascii")
        digest = load(folder / name).sha256
        (folder / "forged.json").write_text(text.replace(digest, digest[::-1]))
        assert _run_process(folder, "check", "forged.json").returncode in (1, 2)
    for name in ("generic.npz", "duplicate.npz"):
        contents = []
        for run, hash_seed in enumerate(["0", "1"]):
            found = _run_process(
                folder,
                "identify",
                name,
                "--seed",
                "5",
                "-o",
                f"{run}.json",
                variables={"PYTHONHASHSEED": hash_seed},
            )
            assert found.returncode == _STATUS[name]
            contents.append((folder / f"{run}.json").read_bytes())
        assert len(set(contents)) == 1
        assert contents[0].isascii()
        assert contents[0].endswith(b"}\n")


def test_among(folder: Path) -> None:
    assert _run(folder, "identify", "generic.npz", "--among", "generic").returncode == 0
    assert _run(folder, "identify", "generic.npz", "--among", "all").returncode == 3


def test_same_seed_same_bytes_in_one_process(folder: Path) -> None:
    for name in ("generic.npz", "duplicate.npz"):
        contents = []
        for path in (folder / "0.json", folder / "1.json"):
            arguments = ["identify", str(folder / name), "--seed", "5", "-o", str(path)]
            assert main(arguments) == _STATUS[name]
            contents.append(path.read_bytes())
        assert len(set(contents)) == 1


def test_large_networks_stand_beside_their_certificate(folder: Path) -> None:
    generator = np.random.default_rng(3)
    network = from_arrays(
        [
            (generator.normal(size=(60, 100)), generator.normal(size=60)),
            (generator.normal(size=(2, 60)), [0, 0]),
        ]
    )
    save(network, folder / "large.json")
    (folder / "out").mkdir()
    found = _run(folder, "identify", "large.json", "-o", "out/proof.json")
    assert found.returncode == 0
    assert _names(folder / "out") == {"proof.json", "proof.network.json"}
    assert load(folder / "out" / "proof.network.json") == network
    assert _run(folder, "check", "out/proof.json").returncode == 0


# --- Writing --------------------------------------------------------------------------------------


_TARGETS = ["missing/proof.json", "abs.npz/proof.json", "."]


@pytest.mark.parametrize("name", ["abs.npz", "duplicate.npz"])
@pytest.mark.parametrize("target", _TARGETS)
def test_unwritable_targets(
    folder: Path, target: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _names(folder)
    status = main(["identify", str(folder / name), "--json", "--output", str(folder / target)])
    captured = capsys.readouterr()
    assert "cannot write" in _check_error(status, captured.out, captured.err, True)
    assert _names(folder) == before


@pytest.mark.parametrize("targets", few_and_all(_TARGETS[:1], _TARGETS))
def test_unwritable_targets_in_a_process_of_their_own(folder: Path, targets: list[str]) -> None:
    before = _names(folder)
    for target in targets:
        for name in ("abs.npz", "duplicate.npz")[: len(targets)]:
            with case(target, name):
                found = _run_process(folder, "identify", name, "-o", target)
                message = _check_error(found.returncode, found.stdout, found.stderr, False)
                assert "cannot write" in message
                assert _names(folder) == before


def test_read_only_folder(folder: Path) -> None:
    locked = folder / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    if os.access(locked, os.W_OK):
        pytest.skip("this user may write everywhere")
    found = _run(folder, "identify", "abs.npz", "-o", "locked/proof.json")
    assert "cannot write" in _check_error(found.returncode, found.stdout, found.stderr, False)
    assert _names(locked) == set()


def test_nothing_is_written_if_the_other_network_cannot_be(folder: Path) -> None:
    before = _names(folder)
    found = _run(
        folder, "identify", "duplicate.npz", "-o", "proof.json", "--other", "missing/other.json"
    )
    _check_error(found.returncode, found.stdout, found.stderr, False)
    assert _names(folder) == before


def test_failed_write_leaves_old_files_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old files survive when the disk is full half-way."""
    (folder / "proof.json").write_text("precious")
    before = _names(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main(["identify", str(folder / "abs.npz"), "-o", str(folder / "proof.json")]) == 2
    assert (folder / "proof.json").read_text() == "precious"
    assert _names(folder) == before


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_line_and_one_object(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every bad file gives one line and one object in every command.

    The commands run in this process, where an exception would be a traceback.
    """
    path = BAD_FILES[name].write(tmp_path)
    before = _names(tmp_path)
    messages = set()
    for command in (["info"], ["identify", "-o", str(tmp_path / "proof.json")]):
        for options in ([], ["--json"]):
            status = main([*command, *options, str(path)])
            captured = capsys.readouterr()
            message = _check_error(status, captured.out, captured.err, bool(options))
            # Numpy quotes objects with their address.
            messages.add(re.sub("0x[0-9a-f]+", "", message))
    assert len(messages) == 1
    assert _names(tmp_path) == before


_SOME_BAD_FILES = [
    "onnx: sigmoid",
    "file: missing .onnx",
    "file: directory .npz",
    "npz: a pickled object",
    "npz: far too large",
    "json: deep nesting",
    "json: non-ASCII",
]


@pytest.mark.parametrize("names", few_and_all(_SOME_BAD_FILES[:1], _SOME_BAD_FILES))
def test_bad_files_in_a_process_of_their_own(names: list[str], tmp_path: Path) -> None:
    for number, name in enumerate(names):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = BAD_FILES[name].write(folder)
        command = ("info", "identify")[number % 2]
        with case(name, command):
            found = _run_process(folder, command, path.name, "--json")
            message = _check_error(found.returncode, found.stdout, found.stderr, True)
            assert message.startswith(f"{path.name}: ")


def test_domains_without_interior_are_an_error(folder: Path) -> None:
    before = _names(folder)
    for options in ([], ["--json"]):
        found = _run(
            folder, "identify", "--domain", "box:1,1", "abs.npz", "-o", "proof.json", *options
        )
        assert "the domain has no interior" in _check_error(
            found.returncode, found.stdout, found.stderr, bool(options)
        )
    assert _run(folder, "identify", "abs.npz", "--domain", "R^n").returncode == 0
    assert _names(folder) == before


def test_names_that_start_with_a_dash(folder: Path) -> None:
    (folder / "abs.npz").rename(folder / "-abs.npz")
    found = _run(folder, "info", "--json", "--", "-abs.npz")
    assert json.loads(found.stdout)["architecture"] == [1, 2, 1]
    assert _run(folder, "identify", "--output=-proof.json", "--", "-abs.npz").returncode == 0
    assert "-proof.json" in _names(folder)
    assert _run(folder, "check", "--", "-proof.json").returncode == 0
    assert "identifiable" in _run(folder, "show", "--", "-proof.json").stdout
    missing = _run(folder, "info", "--", "-missing.npz")
    assert _check_error(missing.returncode, missing.stdout, missing.stderr, False).startswith(
        "-missing.npz: "
    )


def test_names_with_blanks_and_letters(folder: Path) -> None:
    (folder / "abs.npz").rename(folder / "mein Netz é.npz")
    assert _run(folder, "identify", "mein Netz é.npz", "-o", "der Beweis é.json").returncode == 0
    certificate = (folder / "der Beweis é.json").read_bytes()
    assert certificate.isascii()
    assert b"\\" not in certificate
    assert _run_process(folder, "check", "der Beweis é.json").returncode == 0


def test_interruption(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _interrupt(monkeypatch)
    assert main(["identify", str(folder / "abs.npz"), "-o", str(folder / "proof.json")]) == 3
    captured = capsys.readouterr()
    assert captured.err.startswith("polyrelu: interrupted")
    assert captured.err.count("\n") == 1
    assert "proof.json" not in _names(folder)


def test_ctrl_c_before_the_command_line_has_taken_over() -> None:
    """Python would print a traceback."""
    program = """
import polyrelu.cli.main
def interrupted():
    raise KeyboardInterrupt
polyrelu.cli.main.entry = interrupted
from polyrelu.__main__ import entry
entry()
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (3, b"")


def test_interruption_with_json(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _interrupt(monkeypatch)
    assert main(["identify", "--json", str(folder / "abs.npz")]) == 3
    assert json.loads(capsys.readouterr().out)["command"] == "identify"


def _interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("polyrelu.proofs.identify", interrupted)


def test_reader_that_has_left(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    found = subprocess.run(
        [sys.executable, "-m", "polyrelu", "info", "abs.npz"],
        cwd=folder,
        env=environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert found.returncode == 2
    assert found.stderr == ""


def test_terminals_that_know_only_ascii(folder: Path) -> None:
    found = _run_process(folder, "identify", "abs.npz", variables={"PYTHONIOENCODING": "ascii"})
    assert "Traceback" not in found.stderr
    assert found.returncode == 0


@pytest.mark.parametrize("prime", [2**31 - 1, (2**31 - 1) * (2**61 - 1)])
def test_certificates_for_a_bias_over_the_primes(folder: Path, prime: int) -> None:
    save(from_arrays([([[1, 2], [3, 1]], [f"1/{prime}", 0]), ([[1, 2]], [0])]), folder / "net.json")
    assert _run(folder, "identify", "net.json", "-o", "proof.json").returncode == 0
    assert _run(folder, "check", "proof.json").returncode == 0


# --- show -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["abs.npz", "duplicate.npz", "generic.npz"])
def test_show(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "proof.json")
    assert main(["identify", str(folder / name), "-o", path]) == _STATUS[name]
    capsys.readouterr()
    digest = load(folder / name).sha256
    text = _run(folder, "show", "proof.json")
    assert text.returncode == 0
    assert text.stderr == ""
    assert digest in text.stdout
    assert ("not identifiable" in text.stdout) == (name == "duplicate.npz")
    assert "checks nothing" in text.stdout
    assert f"Unverified: source: {name}" in text.stdout
    assert main(["show", "--latex", path]) == 0
    latex = capsys.readouterr().out
    assert latex.startswith("% needs")
    assert r"\begin{proposition}" in latex
    assert "\nThe " in latex
    assert r"on all of $\mathbb{R}^n$. Class of competitors" in latex
    assert digest in latex
    for environment in ("proposition", "proof", "remark", "description"):
        assert (
            latex.count(rf"\begin{{{environment}}}") == latex.count(rf"\end{{{environment}}}") == 1
        )
    assert latex.count("{") == latex.count("}")
    assert latex.count("$") % 2 == 0
    assert main(["show", "--json", path]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "ok"
    assert found["text"] == text.stdout.rstrip("\n")


def _first_layer(document: Any) -> Any:
    return document["claim"]["network"]["inline"]["layers"][0]


def _first_hypothesis(document: Any) -> Any:
    return document["proof"]["hypotheses"][0]


_DAMAGED: dict[str, Callable[[Any], object]] = {
    "no claim": lambda d: d.pop("claim"),
    "claim a list": lambda d: d.update(claim=[]),
    "another format": lambda d: d.update(format="polyrelu-network"),
    "unknown theorem": lambda d: d["proof"].update(theorem="Fermat"),
    "theorem a list": lambda d: d["proof"].update(theorem=[]),
    "unknown hypothesis": lambda d: _first_hypothesis(d).update(id="luck"),
    "hypotheses a number": lambda d: d["proof"].update(hypotheses=1),
    "no network": lambda d: d["claim"].pop("network"),
    "no evidence": lambda d: _first_hypothesis(d).pop("evidence"),
    "evidence a number": lambda d: _first_hypothesis(d).update(evidence=1),
    "witnesses a number": lambda d: _first_hypothesis(d).update(evidence={"witnesses": 1}),
    "witness a number": lambda d: _first_hypothesis(d).update(evidence={"witnesses": [1]}),
    "unverified a list": lambda d: d.update(unverified=[]),
    "bias a number": lambda d: _first_layer(d).update(bias=5),
    "inline a list": lambda d: d["claim"]["network"].update(inline=[1]),
    "half a character": lambda d: d["unverified"].update(tool="\ud800"),
    "escape sequences": lambda d: d["unverified"].update(tool="\x1b[2J"),
}


@pytest.fixture(scope="module")
def certificate() -> Any:
    """The document of a valid certificate."""
    outcome = polyrelu.identify(from_arrays(_ABSOLUTE))
    assert isinstance(outcome, polyrelu.Proved)
    return outcome.certificate.to_document()[0]


@pytest.mark.parametrize("name", _DAMAGED)
def test_show_refuses_what_is_no_certificate(
    name: str, tmp_path: Path, certificate: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(json.dumps(certificate))
    _DAMAGED[name](document)
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(document))
    for options in ([], ["--latex"], ["--json"]):
        status = main(["show", str(path), *options])
        captured = capfd.readouterr()
        assert str(path) in _check_error(status, captured.out, captured.err, options == ["--json"])


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"a":1}', b"9" * 5000]
)
def test_show_refuses_other_files(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "proof.json"
    path.write_bytes(content)
    for target in (path, tmp_path, tmp_path / "missing.json"):
        status = main(["show", str(target)])
        captured = capsys.readouterr()
        assert str(target) in _check_error(status, captured.out, captured.err, False)


@pytest.mark.slow
def test_show_never_raises_on_damaged_certificates(
    tmp_path: Path, certificate: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """One byte is changed at random."""
    random_ = random.Random(2)
    content = json.dumps(certificate).encode()
    path = tmp_path / "proof.json"
    statuses = set()
    for _ in range(400):
        damaged = bytearray(content)
        damaged[random_.randrange(len(damaged))] = random_.choice(b'0a{}[]",: ')
        path.write_bytes(damaged)
        status = main(["show", str(path)])
        statuses.add(status)
        captured = capsys.readouterr()
        assert status == 0 or _check_error(status, captured.out, captured.err, False)
    assert statuses == {0, 2}


# --- What is imported -----------------------------------------------------------------------------

_MATHEMATICS = ("numpy", "flint", "sympy", "onnx", "ppl", "networkx", "highspy")


def _loaded_by(code: str) -> set[str]:
    """Return the modules of `_MATHEMATICS` that are loaded after the code has run."""
    program = (
        f"import sys\n{code}\nprint(*(name for name in {_MATHEMATICS!r} if name in sys.modules))"
    )
    return set(_printed_by(program).splitlines()[-1].split())


def _printed_by(program: str) -> str:
    """Return what a program prints in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


_HELP = (
    "from polyrelu.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
)


def test_help_and_the_checker_load_no_mathematics() -> None:
    assert _loaded_by("import polyrelu") == set()
    assert _loaded_by("import polyrelu.checker") == set()
    assert _loaded_by(_HELP) == set()
    assert "numpy" in _loaded_by("from polyrelu import load")


def test_the_checker_loads_nothing_of_the_package() -> None:
    program = (
        "import sys, polyrelu.checker\nprint(*sorted(n for n in sys.modules if "
        "n.startswith('polyrelu')))"
    )
    assert set(_printed_by(program).split()) <= {"polyrelu", "polyrelu.checker", "polyrelu.version"}


def test_show_and_check_need_no_onnx(folder: Path) -> None:
    assert _run(folder, "identify", "abs.npz", "-o", "proof.json").returncode == 0
    path = str(folder / "proof.json")
    code = f"from polyrelu.cli.main import main\nassert main(['check', {path!r}]) == 0"
    assert _loaded_by(code) == set()
    assert "onnx" not in _loaded_by(
        f"from polyrelu.cli.main import main\nassert main(['show', {path!r}]) == 0"
    )


def test_outputs_that_are_no_regular_files(folder: Path) -> None:
    fifo = folder / "pipe.json"
    os.mkfifo(fifo)
    for arguments in (["identify", "abs.npz", "-o", "pipe.json"], ["info", "pipe.json"]):
        found = _run(folder, *arguments)
        assert "regular file" in _check_error(found.returncode, found.stdout, found.stderr, False)
    assert fifo.is_fifo()


def test_loops_of_symbolic_links(folder: Path) -> None:
    """They are no unexpected error; a file takes the place of a link, as of any other output."""
    loop = folder / "loop.json"
    loop.symlink_to("loop.json")
    found = _run(folder, "recover", "--oracle", "abs.npz", "--checkpoint", "loop.json")
    error = _check_error(found.returncode, found.stdout, found.stderr, False)
    assert "loop.json: cannot read: Too many levels of symbolic links" in error
    assert _run(folder, "identify", "abs.npz", "-o", "loop.json").returncode == 0
    assert loop.is_file()


def test_nothing_is_overwritten(folder: Path) -> None:
    """No output overwrites the input, another output, or a file with the network file's name."""
    before = (folder / "abs.npz").read_bytes()
    found = _run(folder, "identify", "abs.npz", "-o", "abs.npz")
    assert "would overwrite" in _check_error(found.returncode, found.stdout, found.stderr, False)
    assert (folder / "abs.npz").read_bytes() == before
    found = _run(folder, "identify", "duplicate.npz", "-o", "same.json", "--other", "same.json")
    assert "choose two names" in _check_error(found.returncode, found.stdout, found.stderr, False)
    rng = np.random.default_rng(0)
    for name in ("big.npz", "other.npz"):
        np.savez(
            folder / name,
            W1=rng.normal(size=(80, 80)),
            b1=rng.normal(size=80),
            W2=rng.normal(size=(1, 80)),
            b2=[0.0],
        )
    (folder / "big.network.json").write_text("precious")
    assert _run(folder, "identify", "big.npz", "-o", "big.json").returncode == 0
    assert (folder / "big.network.json").read_text() == "precious"
    assert _run(folder, "check", "big.json", "--about", "big.npz").returncode == 0
    assert _run(folder, "check", "big.json", "--about", "other.npz").returncode == 1


def test_small_archives_of_large_arrays_are_refused(folder: Path) -> None:
    np.savez_compressed(
        folder / "bomb.npz", W1=np.zeros((6000, 6000), dtype=np.float16), b1=np.zeros(6000)
    )
    found = _run(folder, "info", "bomb.npz")
    assert "unpacked bytes, too many" in _check_error(
        found.returncode, found.stdout, found.stderr, False
    )


@pytest.mark.parametrize(("closed", "status"), [("1", 2), ("2", 0)])
def test_closed_streams(closed: str, status: int, tmp_path: Path) -> None:
    """Closed standard output gives an error and no verdict; standard error is not needed."""
    save(from_arrays([([[1]], [0]), ([[1]], [0])]), tmp_path / "net.json")
    command = f"{shlex.quote(sys.executable)} -m polyrelu complex net.json {closed}>&-"
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert ("standard output is closed" in done.stderr) == (closed == "1")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "certificate: there is no such file"),
        (b"{\xc3\xa9}", "certificate: a byte that is not ASCII, so the file is not in the format"),
        (b"\\section{}", "certificate: a backslash, so the file is not in the format"),
        (
            b'{"format": "polyrelu-network", "version": 1}',
            "certificate: a network file, where a certificate is wanted",
        ),
    ],
)
def test_check_names_the_cause(
    content: bytes | None,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The file once, and the one thing that is wrong with it."""
    monkeypatch.chdir(tmp_path)  # long names are shortened
    name = "c.json"
    if content is not None:
        Path(name).write_bytes(content)
    assert main(["check", name]) == 2
    assert capsys.readouterr().err == f"polyrelu: {name!a}: {says}\n"
    assert main(["check", "."]) == 2
    assert capsys.readouterr().err.endswith(": certificate: not a regular file\n")
