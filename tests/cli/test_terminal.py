"""Colours and progress on terminals, and the absence of both elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest

from polyrelu.cli.main import main
from polyrelu.cli.output import show
from polyrelu.formats import load, save
from polyrelu.network import from_arrays
from polyrelu.outcomes import Identifiable
from polyrelu.proofs import identify
from polyrelu.support import progress
from polyrelu.support.progress import ProgressLine, ProgressStep
from tests.generators.campaigns import case, few_and_all
from tests.generators.files import ROOT

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def environment(**variables: str) -> dict[str, str]:
    """The variables of a process: a terminal with colours, unless they say otherwise."""
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "TERM": "xterm", **variables}


def on_terminal(*arguments: str, **variables: str) -> tuple[int, str]:
    """The exit status of a command, and what a terminal shows as its stdout and stderr."""
    own, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "polyrelu", *arguments],
        stdout=other,
        stderr=other,
        env=environment(**variables),
    )
    os.close(other)
    shown = b""
    while True:
        try:
            piece = os.read(own, 1 << 16)
        except OSError:  # the process has ended
            break
        if not piece:
            break
        shown += piece
    os.close(own)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")


def in_pipes(*arguments: str) -> tuple[int, str, str]:
    """The exit status of a command in this process, and its texts, which no terminal shows."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(arguments))
    return status, out.getvalue(), err.getvalue()


# --- Colours --------------------------------------------------------------------------------------


#: Commands, and a word of theirs as a terminal shows it.
COLOURED = [
    (["identify", "example:hidden"], "\x1b[1;31mrefuted\x1b[0m"),
    (["identify", "open.json", "--budget", "0"], "\x1b[1;33mundecided\x1b[0m"),
    (["check", "cert.json"], "\x1b[1;32maccepted\x1b[0m"),
    (["info", "missing.json"], "\x1b[1;31mpolyrelu:\x1b[0m"),
    (["examples"], "\x1b[36mexample:digits\x1b[0m"),
    (["info", "cert.network.json"], "\x1b[36msha256\x1b[0m"),
]


@pytest.mark.parametrize("cases", few_and_all(COLOURED[4:5], COLOURED))
def test_words_have_colours_on_terminals(
    cases: list[tuple[list[str], str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only colours are added: without them the text is what a pipe gets."""
    monkeypatch.chdir(tmp_path)
    network = load("example:xor")
    outcome = identify(network)
    assert isinstance(outcome, Identifiable)
    outcome.save("cert.json")
    save(network, "cert.network.json")
    rows = [([[1, 1], [-3, -1], [2, 1]], [1, -1, 1]), ([[-1, 2, -2], [2, -2, -1]], [-1, 2])]
    save(from_arrays([*rows, ([[2, -2]], [-3])]), "open.json")
    for arguments, coloured in cases:
        with case(*arguments):
            status, shown = on_terminal(*arguments)
            wanted, out, err = in_pipes(*arguments)
            assert status == wanted
            assert coloured in shown
            assert _ESCAPE.sub("", shown) == out + err


WITHOUT_COLOURS = [{"NO_COLOR": "1"}, {"TERM": "dumb"}]


@pytest.mark.parametrize("cases", few_and_all(WITHOUT_COLOURS[:1], WITHOUT_COLOURS))
def test_terminals_without_colours(cases: list[dict[str, str]]) -> None:
    for variables in cases:
        with case(*variables):
            status, shown = on_terminal("identify", "example:hidden", **variables)
            assert status == 1
            assert shown == in_pipes("identify", "example:hidden")[1]


def test_pipes_get_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte the text of the outcome, whatever the variables say of colours.

    Only the next step is a command here, and a call of Python there.
    """
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.setenv(name, "1")
    _, out, err = in_pipes("identify", "example:hidden")
    text = str(identify(load("example:hidden")))
    assert out == text.replace("polyrelu.fiber(net)", "polyrelu fiber example:hidden\n")
    assert err == ""


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_texts_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long lines are not wrapped; markup and names of emojis in them mean nothing."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = f"note: [bold]x[/bold] :smile: [0, 1] {'long ' * 100}end  \nrefuted"
    terminal = Terminal()
    show(text, "proved", stream=terminal)
    assert _ESCAPE.sub("", terminal.getvalue()) == f"{text}\nproved\n"
    assert "\x1b[1;31mrefuted\x1b[0m" in terminal.getvalue()


# --- Progress -------------------------------------------------------------------------------------


def neurons(num_done: int, details: Mapping[str, float] | None = None) -> ProgressStep:
    return ProgressStep("cutting cells", num_done, 2, "neurons", details or {})


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text replaces the one before, and nothing is left at the end."""
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_DELAY", 0)
    monkeypatch.setattr(progress, "_PAUSE", 0)
    with ProgressLine() as line:
        line.show(neurons(0, {"regions": 1}))
        line.show(neurons(1, {"layer": 1, "regions": 2}))
        print("interrupted", file=sys.stderr)
        line.show(neurons(2, {"layer": 2, "regions": 3}))
    text = terminal.getvalue()
    assert "cutting cells: 0 of 2 neurons, regions 1" in text
    assert "cutting cells: 2 of 2 neurons, layer 2, regions 3" in text
    assert "interrupted\n" in _ESCAPE.sub("", text)
    assert text.endswith("\x1b[2K")
    assert sys.stderr is terminal


def test_a_new_stage_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of one stage that follow each other quickly are left out."""
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_DELAY", 0)
    monkeypatch.setattr(progress, "_PAUSE", 1000)
    with ProgressLine() as line:
        line.show(neurons(0))
        line.show(neurons(1))
        line.show(ProgressStep("writing a.png", 0, 1, "files"))
    assert "0 of 2 neurons" in terminal.getvalue()
    assert "1 of 2 neurons" not in terminal.getvalue()
    assert "writing a.png: 0 of 1 files" in terminal.getvalue()


@pytest.mark.slow
def test_a_picture_in_space_shows_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing and writing take longer there than the complex."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    rng = Random(1)
    rows = [[[rng.randint(-9, 9) for _ in range(3)] for _ in range(24)], list(range(-12, 12))]
    save(from_arrays([(rows[0], rows[1]), ([[1] * 24], [0])]), "net.json")
    status, shown = on_terminal("plot", "net.json", "-o", "a.png")
    assert status == 0
    assert re.search(r"drawing: \d+ of \d+ cells", shown)
    assert "writing a.png: 0 of 1 files" in shown
    assert Path("a.png").exists()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with ProgressLine() as line:
        line.show(neurons(1))
    assert terminal.getvalue() == ""


def test_pipes_see_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_DELAY", 0)
    with ProgressLine() as line:
        line.show(neurons(1))
    assert capsys.readouterr() == ("", "")
