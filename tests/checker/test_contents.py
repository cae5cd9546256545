"""What a file states, read for `polyrelu show`: the shapes and the limits are those of a check."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polyrelu.certificate import describe, describe_latex, read_certificate
from polyrelu.errors import CertificateError
from tests.generators.campaigns import case, some_and_all
from tests.generators.certificates import INVALID, MALFORMED, VALID, altered, name
from tests.generators.checker_bombs import BOMBS
from tests.generators.files import ROOT

#: Seconds of the processor that a small bomb may take on a machine under load, and characters.
SECONDS, CHARACTERS = 20, 200_000

#: Describes a file; prints the seconds of the processor and the most memory, in kB.
PROGRAM = """
import sys, time, pathlib
from polyrelu.certificate import describe, describe_latex, read_certificate
from polyrelu.errors import PolyreluError
started = time.process_time()
try:
    found = read_certificate(sys.argv[1])
    describe(found), describe_latex(found)
except PolyreluError as error:
    assert len(str(error)) < 1000
status = pathlib.Path("/proc/self/status").read_text()
print(time.process_time() - started, status.split("VmHWM:")[1].split()[0])
"""


#: A box with sides that no network has: refused, as there is no box to describe.
NOT_DESCRIBED = {"rounding-one-side"}


def refusal(path: Path) -> str:
    """The error of the description of a file; empty if the file is described."""
    try:
        found = read_certificate(path)
    except CertificateError as error:
        return str(error)
    assert max(len(describe(found)), len(describe_latex(found))) < CHARACTERS
    return ""


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=name)
def test_files_in_the_format_are_described(path: Path) -> None:
    """A false certificate is described as well."""
    if path.stem in NOT_DESCRIBED:
        assert refusal(path)
        return
    found, claim = read_certificate(path), json.loads(path.read_text())["claim"]
    assert (found.kind, found.sha256) == (claim["kind"], claim["network"]["sha256"])
    assert found.sha256 in "".join(describe(found).split())


def test_files_of_another_shape_are_refused_with_the_place() -> None:
    """What the numbers of a network mean is seen by the check alone."""
    refused = {path.stem: refusal(path) for path in MALFORMED}
    for stem in ("duplicate-key", "float-index", "plus-sign", "extra-key", "truncated"):
        assert f"{stem}.json: not a polyrelu certificate: " in refused[stem]
        assert "\n" not in refused[stem]
    described = {stem for stem, error in refused.items() if not error}
    assert described < {*refused}
    assert len(described) < len(refused) / 3, described


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_bomb_is_described_or_refused(bomb: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.json"
    path.write_bytes(BOMBS[bomb].make(BOMBS[bomb].small))
    started = time.process_time()
    assert len(refusal(path)) < 1_000
    assert time.process_time() - started < SECONDS


#: Bombs of a megabyte; all of them, and some whose reading takes most time or memory.
LARGE = ["lists", "numbers", "remarks", "sides", "inequalities", "long inequalities"]
SOME_LARGE = ["lists", "remarks", "long inequalities"]


@pytest.mark.parametrize("bombs", some_and_all(SOME_LARGE, LARGE))
def test_bombs_of_a_megabyte_are_described_or_refused(bombs: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bomb.json"
    for bomb in bombs:
        with case(bomb):
            path.write_bytes(BOMBS[bomb].make(BOMBS[bomb].full))
            command = [sys.executable, "-c", PROGRAM, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            seconds, kilobytes = map(float, done.stdout.split())
            assert seconds < 60
            assert kilobytes < 10**6


def test_values_are_counted_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    path.write_bytes(BOMBS["lists"].make(30_000_000))
    with pytest.raises(CertificateError, match=r"the file (costs|needs) more than"):
        read_certificate(path)


def test_long_remarks_are_cut(tmp_path: Path) -> None:
    document = altered("affine")
    document["unverified"] = {"source": "x" * 10**6}
    path = tmp_path / "cert.json"
    path.write_text(json.dumps(document))
    assert read_certificate(path).unverified["source"] == "x" * 1_000 + " …"
