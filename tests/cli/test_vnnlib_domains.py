"""The inputs of VNN-LIB queries as domains of commands."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.commands import run, run_json

DECLARED = "".join(f"(declare-const {name} Real)\n" for name in ("X_0", "X_1", "Y_0"))
BOX = "".join(f"(assert (<= X_{j} 1)) (assert (>= X_{j} -1))\n" for j in range(2))


@pytest.fixture
def query(tmp_path: Path) -> str:
    path = tmp_path / "query.vnnlib"
    path.write_text(f"{DECLARED}{BOX}(assert (>= Y_0 3))\n")
    return str(path)


def test_the_same_answer_as_on_the_box(
    query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "query.vnnlib.gz"
    packed.write_bytes(gzip.compress(Path(query).read_bytes()))
    answers = [
        run_json(capsys, "complex", "example:xor", "--domain", domain)[1]
        for domain in (query, str(packed), "box:-1,1")
    ]
    for answer in answers:
        del answer["domain"], answer["seconds"]
    assert answers[0] == answers[1] == answers[2]


def test_a_domain_of_an_equivalence(
    query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = str(tmp_path / "same.cert")
    arguments = ("equivalent", "example:xor", "example:xor", "--domain", query, "-o", certificate)
    assert run(capsys, *arguments)[0] == 0
    assert run(capsys, "check", certificate)[0] == 0


def test_a_union_is_refused(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Path(query).open("a") as file:
        file.write("(assert (or (>= X_0 0.5) (<= X_0 -0.5)))\n")
    status, _, err = run(capsys, "complex", "example:xor", "--domain", query)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{query}: line 7: the inputs lie in a union of 2 sets; a domain is one poly" in err
