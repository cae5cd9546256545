"""`polyrelu fiber`: the report in three forms, members as files, errors in one line."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from polyrelu import fiber, load
from polyrelu.cli.main import main
from polyrelu.formats import save
from polyrelu.network import from_arrays
from polyrelu.outcomes import Undecided
from polyrelu.symmetry import related
from tests.cli.commands import run, run_json

UNIT = ([[1, 0], [0, 1]], [0, 0])
NETWORKS = {
    "linear": from_arrays([UNIT, ([[1, -1], [2, 1], [-1, -2]], [1, 0, 3]), ([[1, 1, 2]], [0])]),
    "hidden": from_arrays([([[1, 2], [1, -1]], [1, 3]), ([[2, -3]], [-2]), ([[1]], [0])]),
    "absolute": from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]),
    "deep": from_arrays(
        [UNIT, ([[1, -2], [-1, 1]], [1, 2]), ([[1, 1], [2, 1]], [1, 2]), ([[1, 1]], [0])]
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with networks, to work in."""
    monkeypatch.chdir(tmp_path)
    for name, network in NETWORKS.items():
        save(network, f"{name}.json")
    return tmp_path


def validate(name: str, found: object) -> None:
    schema = json.loads((files("polyrelu") / "schemas" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)


@pytest.mark.parametrize(
    ("name", "dimension", "complete", "components", "membership"),
    [
        ("linear", 1, "generic", 3, "refuted"),
        ("hidden", 1, "generic", 2, "verified"),
        ("absolute", 0, "all", 1, None),
        ("deep", 4, "part", 5, None),
    ],
)
def test_the_object(
    name: str,
    dimension: int,
    complete: str,
    components: int,
    membership: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, found = run_json(capsys, "fiber", f"{name}.json", "-o", "report.json")
    validate("output", found)
    assert status == 0
    assert (found["dimension"], found["complete"], found["count"], found["membership"]) == (
        dimension,
        complete,
        components,
        membership,
    )
    assert len(found["components"]) == components
    report = json.loads(Path("report.json").read_text())
    validate("fiber", report)
    assert report["network"] == NETWORKS[name].sha256
    assert report["components"] == found["components"]


def test_members_as_files(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Native files have the exact function, and the same seed gives the same files."""
    arguments = ("fiber", "hidden.json", "--sample", "3", "--to", ".", "--onnx", "--seed", "5")
    _, found = run_json(capsys, *arguments)
    validate("output", found)
    assert [member["same_function"] for member in found["members"]] == ["proved"] * 3
    contents = {}
    for number, member in enumerate(found["members"]):
        assert member["files"] == [f"member-{number}.json", f"member-{number}.onnx"]
        other = load(f"member-{number}.json")
        assert other.sha256 == member["sha256"]
        assert member["related"] == related(other, NETWORKS["hidden"])
        assert other([3, "1/7"]) == NETWORKS["hidden"]([3, "1/7"])
        if member["onnx_rounding"] == "0":
            assert load(f"member-{number}.onnx") == other
        contents[number] = Path(f"member-{number}.json").read_bytes()
    assert not all(member["related"] for member in found["members"])
    run_json(capsys, *arguments)
    assert contents == {number: Path(f"member-{number}.json").read_bytes() for number in contents}


def test_a_chosen_component(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run_json(capsys, "fiber", "hidden.json", "--member", "1")
    assert [(member["component"], member["related"]) for member in found["members"]] == [(1, False)]
    _, found = run_json(capsys, "fiber", "hidden.json", "--member", "1", "--sample", "4")
    assert [member["component"] for member in found["members"]] == [1] * 4


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "fiber", "hidden.json", "--sample", "1", "-o", "report.txt")
    assert status == 0
    assert "layer 2 hides neuron 0 of layer 1: its bias may be raised by every t ≥ -1" in out
    assert "the same function, proved" in out
    assert Path("report.txt").read_text() in out
    assert "open: the network itself is not generic" in run(capsys, "fiber", "linear.json")[1]


def test_latex(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fiber", "linear.json", "-o", "report.tex")
    text = Path("report.tex").read_text()
    assert text.count(r"\subsection*") == 3
    assert r"u_{0,0} \geq 0" in text


def test_a_rounded_onnx_file_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    save(from_arrays([([["1/3"], [1]], [0, 1]), ([[1, "1/7"]], [0])]), "thirds.json")
    out = run(capsys, "fiber", "thirds.json", "--sample", "1", "--to", ".", "--onnx")[1]
    assert "the ONNX file is rounded" in out
    assert "permuted and scaled" in out


def test_a_half_plane(capsys: pytest.CaptureFixture[str]) -> None:
    """A report with an unknown dimension is complete otherwise."""
    save(from_arrays([([[0, 1], [0, 1]], [0, 0]), ([[1, 2]], [0])]), "twins.json")
    Path("half.json").write_text('{"A": [[1, 0]], "c": [1]}')
    status, found = run_json(
        capsys, "fiber", "twins.json", "--domain", "half.json", "-o", "report.tex"
    )
    assert (status, found["dimension"]) == (0, None)
    text = Path("report.tex").read_text()
    assert "domain: half.json" in text
    assert r"\dots" in text


def test_a_domain(capsys: pytest.CaptureFixture[str]) -> None:
    """On a box where the second neuron is linear, the fiber has a larger dimension."""
    _, found = run_json(capsys, "fiber", "absolute.json", "--domain", "box:1,2")
    assert (found["domain"], found["dimension"]) == ("box:1,2", 3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["linear.json", "-o", "report.pdf"], ".txt, .json, .tex"),
        (["linear.json", "-o", "linear.json"], "would overwrite linear.json"),
        (["linear.json", "--member", "3"], "numbered 0 to 2"),
        (["linear.json", "--sample", "-1"], "must be 0 to 10000"),
        (["linear.json", "--to", "."], "ask for some with"),
        (["linear.json", "--onnx"], "give --to as well"),
        (["linear.json", "--sample", "1", "--to", "nowhere"], "there is no such folder"),
        (["member-0.json", "--sample", "1", "--to", "."], "would overwrite member-0.json"),
        (["linear.json", "--domain", "box:0,1"], "affine output only"),
        (["linear.json", "--sample", "1000000"], "must be 0 to 10000"),
        (
            ["absolute.json", "--sample", "1", "--to", ".", "-o", "member-0.json"],
            "would overwrite member-0.json",
        ),
        (
            ["absolute.json", "--sample", "1", "--to", ".", "--domain", "member-0.json"],
            "would overwrite member-0.json",
        ),
        (["absolute.json", "--domain", "box:1,1"], "no interior"),
    ],
)
def test_errors(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    save(NETWORKS["linear"], "member-0.json")
    before = sorted(path.name for path in Path().iterdir())
    status, _, err = run(capsys, "fiber", *arguments)
    assert (status, len(err.strip().splitlines())) == (2, 1)
    assert says in err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_proof_that_takes_too_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The member is written, and the output says that its function is not proved equal."""
    monkeypatch.setattr("polyrelu.proofs.equivalent", lambda *_, **__: Undecided("time limit"))
    status, found = run_json(capsys, "fiber", "hidden.json", "--sample", "1", "--to", ".")
    assert (status, found["members"][0]["same_function"], found["members"][0]["route"]) == (
        0,
        "undecided",
        None,
    )
    validate("output", found)


def test_ctrl_c_keeps_the_members_that_are_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from polyrelu.cli import fiber

    done: list[int] = []
    shown = fiber._prove_and_write

    def interrupting(*arguments: Any) -> dict[str, Any]:
        if done:
            import signal

            signal.raise_signal(signal.SIGINT)
        done.append(1)
        return shown(*arguments)

    monkeypatch.setattr(fiber, "_prove_and_write", interrupting)
    assert main(["fiber", "hidden.json", "--sample", "5", "--to", ".", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    validate("output", found)
    assert (found["status"], len(found["members"])) == ("undecided", 2)
    assert Path("member-1.json").exists()
    assert not Path("member-2.json").exists()


def test_what_is_known_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    """A part has a lower bound of the dimension; files are named, and what has none is told."""
    _, out, _ = run(capsys, "fiber", "deep.json", "-o", "report.tex")
    assert "dimension at least 4, 5 known components, up to permutation and scaling:" in out
    assert "report: report.tex\nnext: look for another network" in out
    assert out.endswith("polyrelu identify deep.json\n")
    assert "Dimension at least 4" in Path("report.tex").read_text()
    assert "dimension at least 4" in repr(fiber(NETWORKS["deep"]))
    _, out, _ = run(capsys, "fiber", "hidden.json", "--sample", "2")
    assert "dimension 1, 2 components" in out
    assert "if the network is generic dimension 1" in " ".join(out.split())
    assert out.endswith(
        "no member was written: --to FOLDER writes them (--to . into this folder)\n"
    )
    _, out, _ = run(capsys, "fiber", "hidden.json")
    assert "no member was written" not in out
    assert "next:" not in out


def test_latex_is_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    """LaTeX compiles the file as it is, and remarks are paragraphs."""
    run(capsys, "fiber", "hidden.json", "--sample", "1", "-o", "report.tex")
    lines = Path("report.tex").read_text().splitlines()
    assert lines[:4] == [
        r"\documentclass{article}",
        r"\usepackage{amsmath}",
        r"\allowdisplaybreaks",
        r"\begin{document}",
    ]
    assert lines[-1] == r"\end{document}"
    member = next(i for i, line in enumerate(lines) if line.startswith("member 0"))
    assert lines[member - 1] == ""
