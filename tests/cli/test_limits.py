"""Limits, Ctrl-C and unexpected errors, the same for every command."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu.cli import main as cli_main
from polyrelu.cli.main import main
from tests.cli.commands import run, run_json

#: Every command, with arguments that need no file but {cert}, {query}, a property, and {data}.
COMMANDS = {
    "info": ["example:xor"],
    "convert": ["example:xor", "xor.json"],
    "complex": ["example:bends", "--domain", "box:-2,2"],
    "regions": ["example:bends"],
    "topology": ["example:bends", "--boundary", "--domain", "box:-2,2"],
    "fiber": ["example:hidden"],
    "plot": ["example:bends", "-o", "bends.svg", "--domain", "box:-2,2"],
    "report": ["example:bends", "-o", "bends.html", "--budget", "100"],
    "identify": ["example:digits"],
    "runtime-error": ["example:xor", "--domain", "box:0,1"],
    "equivalent": ["example:twins-a", "example:twins-b"],
    "deviation": ["example:twins-a", "example:twins-b", "--domain", "box:-1,1"],
    "range": ["example:xor", "--domain", "box:0,1"],
    "verify": ["example:xor", "{query}"],
    "same-decisions": ["example:digits", "example:digits"],
    "injective": ["example:xor"],
    "recover": ["--oracle", "example:twins-a"],
    "simplify": ["example:digits"],
    "audit": ["example:xor", "--against", "torch", "--domain", "box:0,1"],
    "attributes": ["example:xor", "--data", "{data}"],
    "minimal": ["example:bends"],
    "dimension": ["example:bends"],
    "fingerprint": ["example:twins-a", "example:twins-b"],
    "check": ["{cert}"],
    "show": ["{cert}"],
    "examples": ["xor"],
    "corpus": ["get", "xor"],
}


def _network(*widths: int) -> polyrelu.Network:
    """Return a network with the given widths and random weights that are not 0."""
    rng = Random(1)
    layers = [
        (
            [[rng.choice((-1, 1)) * rng.randint(1, 99) for _ in range(n)] for _ in range(m)],
            [rng.randint(-99, 99) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    return polyrelu.from_arrays(layers)


#: The commands that take limits of time and memory.
LIMITED = (
    *("complex", "regions", "topology", "fiber", "plot", "identify", "runtime-error", "equivalent"),
    *("deviation", "range", "simplify", "injective", "recover", "audit", "minimal", "dimension"),
    *("fingerprint", "verify", "same-decisions", "attributes", "report"),
)

_SLOW = pytest.mark.slow


def _each(*fast: str) -> list[Any]:
    """All commands, those that are not named as slow tests."""
    return [pytest.param(name, marks=() if name in fast else _SLOW) for name in COMMANDS]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("certificates") / "cert.json"
    polyrelu.identify(polyrelu.load("example:xor")).certificate.save(path)  # type: ignore[union-attr]
    names = ("X_0", "X_1", "Y_0")
    path.with_name("query.vnnlib").write_text(
        "".join(f"(declare-const {name} Real)" for name in names) + "(assert (>= Y_0 9))"
    )
    np.savez(path.with_name("data.npz"), x=np.eye(2)[[0, 1, 0, 1, 1]])
    return path


def _arguments(command: str, certificate: Path) -> list[str]:
    names = {"query": "query.vnnlib", "data": "data.npz"}
    files = {"cert": certificate} | {k: certificate.with_name(v) for k, v in names.items()}
    return [command, *(word.format(**files) for word in COMMANDS[command])]


# -- Ctrl-C ----------------------------------------------------------------------------------------

#: A program that presses Ctrl-C at the first import of something that most commands need, and that
#: swallows KeyboardInterrupt there for ever, as long as Python code can.
_IN_IMPORT = """
import hashlib, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
swallows, *arguments = sys.argv[1:]

class Finder:
    pressed = False
    def find_spec(self, name, path=None, target=None):
        heavy = ("numpy", "polyrelu.checker", "polyrelu.certificate", "polyrelu.formats")
        if name not in heavy or Finder.pressed:
            return None
        Finder.pressed = True
        if swallows == "compiled":  # minutes in one call, which no handler interrupts
            press = lambda: os.kill(os.getpid(), signal.SIGINT)
            for seconds in (0.3, 0.6)[: int(os.environ["PRESSES"])]:
                threading.Timer(seconds, press).start()
            hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
        while True:
            try:
                os.kill(os.getpid(), signal.SIGINT) if not Finder.pressed == 2 else None
                Finder.pressed = 2
                time.sleep(0.05)
            except KeyboardInterrupt:
                if swallows == "no":
                    raise

sys.meta_path.insert(0, Finder())
sys.argv = ["polyrelu", *arguments]
from polyrelu.__main__ import entry
entry()
"""


def _ended(
    swallows: str, arguments: list[str], folder: Path, presses: int = 1
) -> tuple[int, str, float]:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _IN_IMPORT, swallows, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        env={**os.environ, "PRESSES": str(presses)},
    )
    return done.returncode, done.stderr, time.monotonic() - started


@pytest.mark.parametrize("command", _each("identify", "check"))
def test_ctrl_c_in_an_import(command: str, certificate: Path, tmp_path: Path) -> None:
    status, err, _ = _ended("no", _arguments(command, certificate), tmp_path)
    assert (status, err) == (3, "polyrelu: interrupted; nothing was written\n")


@pytest.mark.parametrize("command", _each("identify"))
def test_ctrl_c_that_is_swallowed(command: str, certificate: Path, tmp_path: Path) -> None:
    """The process ends all the same, soon."""
    status, err, seconds = _ended("yes", _arguments(command, certificate), tmp_path)
    assert (status, err) == (3, "polyrelu: interrupted; nothing was written\n")
    assert seconds < 30  # 2 s after Ctrl-C; the start may take long on a busy machine


@pytest.mark.parametrize("presses", [pytest.param(1, marks=_SLOW), 2])
def test_ctrl_c_in_compiled_code(presses: int, certificate: Path, tmp_path: Path) -> None:
    """A handler of Python would wait until the call returns."""
    arguments = _arguments("identify", certificate)
    status, err, seconds = _ended("compiled", arguments, tmp_path, presses)
    assert (status, err) == (3, "polyrelu: interrupted; nothing was written\n")
    assert seconds < 30


#: A network whose search of ridges goes on for hours, and whose complex does.
LONG = _network(6, 24, 24, 24, 3)


def _started(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    # tests in the background ignore Ctrl-C, and the command would inherit that
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "polyrelu", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "widths", "seconds"),
    [
        ("identify --budget inf", LONG.widths, 6),
        ("complex", LONG.widths, 6),
        ("topology --boundary", LONG.widths, 6),
        ("fiber --sample 9999", LONG.widths, 6),
        ("plot -o picture.svg", (2, 300, 300, 300, 3), 6),
        ("simplify --budget inf --domain box:0,1/1000", (20, *[120] * 4, 10), 6),
    ],
)
def test_ctrl_c_ends_a_long_computation(
    command: str, widths: tuple[int, ...], seconds: float, tmp_path: Path
) -> None:
    name, *options = command.split()
    polyrelu.save(_network(*widths), tmp_path / "net.json")
    process = _started([name, "net.json", *options], tmp_path)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "interrupted" in out + err
    assert time.monotonic() - pressed < 8  # 2 s on a machine that does nothing else


@pytest.mark.slow
def test_ctrl_c_after_the_answer_changes_nothing(tmp_path: Path) -> None:
    """Python resets its handlers while it ends: a late signal would end the process by itself."""
    ends = (
        "import atexit, os, signal, sys; "
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); "
        "sys.argv = ['polyrelu', 'info', 'example:xor']; "
        "from polyrelu.__main__ import entry; entry()"
    )
    done = subprocess.run(
        [sys.executable, "-c", ends], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    polyrelu.save(LONG, tmp_path / "net.json")
    process = _started(["complex", "net.json"], tmp_path)
    time.sleep(6)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    process.communicate(timeout=20)
    assert process.returncode == 3


# -- stopping and continuing -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_stopped_process_writes_the_same_bytes(tmp_path: Path) -> None:
    """SIGSTOP takes seconds from a search, and changes nothing."""
    polyrelu.save(_network(3, 6, 6, 6, 1), tmp_path / "net.json")
    written = []
    for number in range(2):
        output = f"cert{number}.json"
        options = ["--budget", "3000", "--among", "transversal", "-o", output, "--json"]
        process = _started(["identify", "net.json", *options], tmp_path)
        for _ in range(3 * number):
            time.sleep(1)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1)
            process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=120)
        answer = json.loads(out)
        del answer["seconds"], answer["certificate"], answer["files"]
        text = (tmp_path / output).read_bytes() if (tmp_path / output).exists() else b""
        written.append((process.returncode, json.dumps(answer).replace(output, ""), text))
    assert written[0] == written[1]


# -- limits ----------------------------------------------------------------------------------------


def _parsers() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all commands."""
    actions = cli_main._parser()._subparsers._group_actions  # type: ignore[union-attr]
    return dict(actions[0].choices)  # type: ignore[arg-type]


def test_the_tests_know_every_command() -> None:
    assert {*COMMANDS} == {*_parsers()}
    assert {*LIMITED} == {n for n, p in _parsers().items() if "--time-limit" in p.format_help()}


@pytest.mark.parametrize("command", LIMITED)
@pytest.mark.parametrize("limit", ["0", pytest.param("2", marks=_SLOW)])
def test_a_time_limit_that_ends_before_anything_is_done(
    command: str,
    limit: str,
    certificate: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It ends every command that takes it within a tenth and one step, with an answer."""
    monkeypatch.chdir(tmp_path)
    module = command.replace("-", "_")
    monkeypatch.setattr(f"polyrelu.cli.{module}.read_network", _endless)
    arguments = [*_arguments(command, certificate), "--time-limit", limit]
    started = time.monotonic()
    status, answer = run_json(capsys, *arguments)
    assert time.monotonic() - started < 1.1 * float(limit) + 5  # the machine may be busy
    reason = f"the time limit of {limit} seconds was reached; nothing was written"
    step = f"allow more: polyrelu {shlex.join([*arguments[:-1], '60', '--json'])}"
    assert (status, answer) == (
        3,
        {"command": command, "status": "undecided", "reason": reason, "next": [step]},
    )
    if limit == "0":
        status, out, err = run(capsys, *arguments)
        step = step.removesuffix(" --json")
        assert (status, out, err) == (3, f"undecided: {reason}\nnext: {step}\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--time-limit=0.5", "--time-l=0.5", "--memory-limit=0"])
def test_the_next_step_replaces_the_option(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("polyrelu.cli.identify.read_network", _endless)
    name = "memory-limit 1024" if "memory" in option else "time-limit 60"
    out = run(capsys, "identify", "example:xor", option, "--seed", "3")[1]
    assert out.endswith(f"next: allow more: polyrelu identify example:xor --{name} --seed 3\n")


def _endless(*_: object) -> None:
    while True:
        time.sleep(0.01)


def test_an_interrupt_that_becomes_another_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Imports of compiled modules turn KeyboardInterrupt into an ImportError."""

    def imports(*_: object) -> None:
        try:
            _endless()
        except KeyboardInterrupt:
            raise ImportError("numpy") from None

    monkeypatch.setattr("polyrelu.cli.identify.read_network", imports)
    status, out, _ = run(capsys, "identify", "example:xor", "--time-limit", "0")
    assert status == 3
    assert out.startswith("undecided: the time limit of 0 seconds was reached")


@pytest.mark.parametrize("limit", ["0", "0.1"])
def test_the_time_limit_of_identify_names_itself(
    limit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    polyrelu.save(LONG, tmp_path / "net.json")
    started = time.monotonic()
    status, answer = run_json(
        capsys, "identify", str(tmp_path / "net.json"), "--time-limit", limit, "--budget", "inf"
    )
    assert (status, answer["status"]) == (3, "undecided")
    assert answer["reason"].startswith(f"the time limit of {limit} seconds was reached")
    assert "--time-limit 60" in answer["next"][0]
    assert time.monotonic() - started < 15


@pytest.mark.parametrize(
    "command", ["complex", "topology --boundary", pytest.param("fiber --sample 400", marks=_SLOW)]
)
def test_a_time_limit_within_a_computation(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer names the limit and says how to go on, whatever is done by then."""
    polyrelu.save(LONG, tmp_path / "net.json")
    name, *options = command.split()
    arguments = [name, str(tmp_path / "net.json"), *options, "--time-limit", "0.7"]
    status, answer = run_json(capsys, *arguments)
    assert (status, answer["status"]) == (3, "undecided")
    assert "the time limit of 0.7 seconds was reached" in answer["reason"]
    assert answer["next"][0] == f"allow more: polyrelu {shlex.join([*arguments[:-1], '60'])} --json"


def test_the_memory_limit_of_identify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    polyrelu.save(LONG, tmp_path / "net.json")
    arguments = ["identify", str(tmp_path / "net.json"), "--memory-limit", "1"]
    status, answer = run_json(capsys, *arguments)
    assert status == 3
    assert answer["reason"].startswith("the memory limit of 1 MiB was reached")


def test_the_time_limit_keeps_the_cells_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    polyrelu.save(_network(2, 12, 12, 1), tmp_path / "net.json")
    monkeypatch.setattr(
        "polyrelu.complex.engine.subdivision.report", lambda *_, **__: time.sleep(0.1)
    )
    arguments = ["complex", str(tmp_path / "net.json"), "--time-limit", "0.5"]
    status, answer = run_json(capsys, *arguments)
    assert (status, answer["complete"], answer["status"]) == (3, False, "undecided")
    assert 2 <= answer["neurons"] < 24
    assert answer["reason"] == (
        "the time limit of 0.5 seconds was reached: this is the complex of the neurons done so far"
    )


@pytest.mark.parametrize("option", ["--budget", "--time-limit", "--memory-limit"])
def test_limits_below_zero(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "identify", "example:xor", option, "-1")
    assert status == 2
    assert f"{option} -1" in err
    assert "must be 0 or more" in err


# -- errors that nobody foresaw --------------------------------------------------------------------


def _fails(error: BaseException) -> Callable[..., int]:
    def command(*_: object) -> int:
        raise error

    return command


@pytest.mark.parametrize(
    "error",
    [
        RecursionError("maximum recursion depth exceeded"),
        ImportError("libflint.so: cannot open"),
        ZeroDivisionError("division\nby zero"),
        AssertionError(),
        UnicodeDecodeError("utf-8", b"", 0, 1, "bad"),
        FileNotFoundError(2, "No such file", "gone.bin"),
    ],
)
def test_an_unexpected_error_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has status 2 and never 1, which means refuted."""
    monkeypatch.setattr("polyrelu.cli.identify.read_network", _fails(error))
    status, out, err = run(capsys, "identify", "example:xor")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"polyrelu: unexpected {type(error).__name__}: ")
    assert "please report it" in err
    assert "--debug" in err


def test_debug_prints_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("polyrelu.cli.identify.read_network", _fails(ZeroDivisionError("here")))
    status, _, err = run(capsys, "identify", "example:xor", "--debug", "--json")
    assert status == 2
    assert "Traceback" in err
    assert "ZeroDivisionError: here" in err


@pytest.mark.parametrize(("command", "expected"), [("identify", 3), ("info", 2)])
def test_memory_that_runs_out(
    command: str,
    expected: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is undecided where something was searched, and an error elsewhere."""
    monkeypatch.setattr(f"polyrelu.cli.{command}.read_network", _fails(MemoryError()))
    status, out, err = run(capsys, command, "example:xor")
    assert status == expected
    assert (out if expected == 3 else err).split(": ")[1].startswith("the memory ran out")


def test_memory_that_runs_out_in_a_proof(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was tried before is in the answer."""
    module = sys.modules["polyrelu.proofs.identify"]
    monkeypatch.setattr(module, "moves", _fails(MemoryError()))
    status, answer = run_json(capsys, "identify", "example:hidden")
    assert (status, answer["reason"]) == (3, "the memory ran out")
    assert answer["attempts"]


def test_an_import_error_at_the_start(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['argparse'] = None\nfrom polyrelu.__main__ import entry\nentry()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("polyrelu: cannot start: ")


# -- output that cannot be printed -----------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("command", [*_each("identify", "check"), "--help", "--version"])
@pytest.mark.parametrize("is_closed", [pytest.param(True, marks=_SLOW), False])
def test_a_full_disk_and_a_closed_pipe(
    command: str, is_closed: bool, certificate: Path, tmp_path: Path
) -> None:
    arguments = _arguments(command, certificate) if command in COMMANDS else [command]
    words = [sys.executable, "-m", "polyrelu", *arguments]
    if is_closed:
        reader, writer = os.pipe()
        os.close(reader)
        target: Any = os.fdopen(writer, "w")
    else:
        target = open("/dev/full", "w")  # noqa: SIM115 - closed below
    with target:
        done = subprocess.run(
            words,
            check=False,
            stdout=target,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            timeout=60,
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    expected = "" if is_closed else "polyrelu: cannot print: No space left on device\n"
    assert done.stderr == expected


def test_errors_that_cannot_be_printed() -> None:
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "polyrelu", "identify", "no.onnx"]
        assert subprocess.run(words, check=False, stderr=full, timeout=60).returncode == 2


def test_the_library_leaves_signals_alone() -> None:
    """The command line puts handlers back when it ends."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    assert main(["identify", "example:xor", "--time-limit", "60"]) == 0
    assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM))
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
