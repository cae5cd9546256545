"""The commands that README and documentation show run, on small networks in the place of yours."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from polyrelu import from_arrays, load, save
from polyrelu.cli.main import main
from tests.generators.campaigns import few_fast
from tests.generators.damaged_files import good_file
from tests.generators.files import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Networks that pages only name. The one of three inputs is `space`.
NAMES = ["net", "pruned", "deep", "a", "b", "old", "new", "f", "g"]
QUERY = (
    "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)\n"
    + "".join(f"(assert (>= X_{i} -1))(assert (<= X_{i} 1))\n" for i in (0, 1))
    + "(assert (>= Y_0 99))"
)
PAIR = (
    "(vnnlib-version <2.0>)"
    "(declare-network f (declare-input A real [2]) (declare-output P real [1]))"
    "(declare-network g (declare-input B real [2]) (declare-output Q real [1]))"
    "(assert (and (== A[0] B[0]) (== A[1] B[1]) (<= A[0] 1) (>= A[0] -1) (<= A[1] 1) (>= A[1] -1)))"
    "(assert (> Q[0] (+ P[0] 1)))"
)


def commands(page: Path) -> list[list[str]]:
    """The lines with `polyrelu` in blocks of shell commands, without what follows a pipe."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    parts = [part for line in lines for part in re.split(r" && | \|\|? | > ", line)]
    return [shlex.split(part)[1:] for part in parts if part.startswith("polyrelu ")]


def shown_on(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that pages name."""
    for library in ("onnx", "h5py", "matplotlib", "pyarrow"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        save(load("example:bends"), f"{name}.onnx")
    save(from_arrays([(np.eye(3), [0, 0, 0]), ([[1, 1, 1]], [0])]), "space.onnx")
    np.savez("data.npz", x=[[-1, -1], [1, -1], [-1, 1], [1, 1], [0, 1]], y=[0, 1, 1, 0, 1])
    axes = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    save(from_arrays([(axes, [0] * 4)], last="relu"), "encoder.onnx")
    save(from_arrays([(np.transpose(axes), [0, 0])]), "decoder.onnx")
    Path("net.h5").write_bytes(good_file(".h5"))
    save(from_arrays([([[Fraction(1, 3)]], [0])]), "thirds.json")
    Path("images.json").write_text('{"points": [[0, 0], [1, 0], [0, 1]]}')
    Path("query.vnnlib").write_text(QUERY)
    Path("pair.vnnlib").write_text(PAIR)
    Path("pair.vnnlib.gz").write_bytes(gzip.compress(PAIR.encode()))
    return tmp_path


WITH_COMMANDS = [page for page in reversed(PAGES) if commands(page)]


def test_there_are_commands() -> None:
    assert len(WITH_COMMANDS) > 12


@pytest.mark.parametrize("page", few_fast(WITH_COMMANDS, 3), ids=shown_on)
def test_commands(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each ends with an answer: proved or refuted; weights alone are no network to prove it of."""
    for arguments in commands(page):
        if "*" in " ".join(arguments):
            Path("proofs").mkdir()
            shutil.copy("digits.cert.json", "proofs/digits.cert.json")
            arguments = ["proofs/digits.cert.json" if "*" in a else a for a in arguments]
        about = arguments[arguments.index("--about") + 1] if "--about" in arguments else None
        if about is not None and "digits.cert.json" in arguments:
            save(load("example:digits"), about)
        statuses = (3,) if arguments[:2] == ["recover", "weights.json"] else (0, 1)
        assert main(arguments) in statuses, (arguments, capsys.readouterr())
