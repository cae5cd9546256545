"""The command `polyrelu verify`: answers, files in VNN-COMP's form, and others' counterexamples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polyrelu import from_arrays, save
from tests.cli.commands import run, run_json

HEAD = "".join(f"(declare-const {name} Real)\n" for name in ("X_0", "X_1", "Y_0"))
BOX = "".join(f"(assert (<= X_{j} 1)) (assert (>= X_{j} -1))\n" for j in range(2))
PAIR = """(vnnlib-version <2.0>)
(declare-network f (declare-input A real [2]) (declare-output P real [1]))
(declare-network g (declare-input B real [2]) (declare-output Q real [1]))
(assert (== A[0] B[0])) (assert (== A[1] B[1]))
(assert (and (<= A[0] 1) (>= A[0] -1) (<= A[1] 1) (>= A[1] -1)))
"""
SHARED = os.environ.get("POLYRELU_SHARED")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with |x_0| + |x_1|, and with the same function plus 1/8."""
    monkeypatch.chdir(tmp_path)
    rows, zeros = [[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4
    save(from_arrays([(rows, zeros), ([[1] * 4], [0])]), "f.json")
    save(from_arrays([(rows, zeros), ([[1] * 4], ["1/8"])]), "g.json")
    Path("high.vnnlib").write_text(HEAD + BOX + "(assert (>= Y_0 2.5))")
    Path("corner.vnnlib").write_text(HEAD + BOX + "(assert (>= Y_0 2))")
    return tmp_path


def test_a_property_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["verify", "f.json", "high.vnnlib", "-o", "proof.cert", "--result", "result.txt"]
    status, found = run_json(capsys, *arguments)
    assert (status, found["status"], found["certificate"]) == (0, "proved", "proof.cert")
    assert run(capsys, "check", "proof.cert")[0] == 0
    assert Path("result.txt").read_text() == "unsat\n"
    _, out, _ = run(capsys, *arguments)
    assert out.startswith("proved. The property holds for the network 2-4-1 6db4d2332551…: no")
    assert "real-arithmetic functions of the exact weights" in out


def test_a_counterexample_at_a_corner(capsys: pytest.CaptureFixture[str]) -> None:
    """The largest value is the bound itself, which is reached at exact corners only."""
    arguments = ["verify", "f.json", "corner.vnnlib", "--result", "result.txt"]
    status, found = run_json(capsys, *arguments)
    assert (status, found["status"], found["margin"]) == (1, "refuted", ["0", None])
    assert {abs(int(x)) for x in found["counterexample"].values()} == {1, 2}
    status, out, _ = run(capsys, "verify", "f.json", "corner.vnnlib", "--against", "result.txt")
    assert status == 1
    assert "result.txt: a counterexample with margin 0" in out


def test_a_union_of_inputs_has_several_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    union = "(assert (or (<= X_0 0) (>= X_0 0.5))) (assert (>= Y_0 2.5))"
    Path("union.vnnlib").write_text(HEAD + BOX + union)
    status, out, _ = run(capsys, "verify", "f.json", "union.vnnlib", "-o", "proof.cert.gz")
    names = "proof.1.cert.gz proof.2.cert.gz"
    assert (status, f"certificates: {names} (check them: " in out) == (0, True)
    assert "network file" not in out
    assert run(capsys, "check", *names.split())[0] == 0


def test_inputs_that_contradict_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to be proved about networks, and no work is counted."""
    Path("empty.vnnlib").write_text(HEAD + BOX + "(assert (>= X_0 9)) (assert (>= Y_0 2.5))")
    status, out, _ = run(capsys, "verify", "f.json", "empty.vnnlib", "-o", "proof.cert")
    assert status == 0
    assert "nothing was searched: the query itself rules out all inputs" in out
    assert "0 certificates" not in out
    assert "0 nodes" not in out
    assert not Path("proof.cert").exists()


def test_a_property_in_the_place_of_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "verify", "high.vnnlib", "f.json")
    assert (status, "name the network files first" in err) == (2, True)


def test_two_networks(capsys: pytest.CaptureFixture[str]) -> None:
    for bound, expected in (("0.125", 0), ("0.12", 1)):
        text = f"(assert (or (> Q[0] (+ P[0] {bound})) (< Q[0] (- P[0] {bound}))))"
        Path("pair.vnnlib").write_text(PAIR + text)
        arguments = ["verify", "f.json", "g.json", "pair.vnnlib", "--result", "result.txt"]
        status, found = run_json(capsys, *arguments)
        assert (status, len(found["reading"])) == (expected, 2)
    assert Path("result.txt").read_text().startswith("sat\nA real [2]\n")
    arguments = ["verify", "f.json", "g.json", "pair.vnnlib", "--against", "result.txt"]
    assert run_json(capsys, *arguments)[1]["margin"] == "1/200"


def test_the_published_counterexample_outside_of_its_box(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A coordinate of a counterexample that was published exceeds its bound."""
    bounds = "(assert (>= X_0 0.0082591306418180)) (assert (<= X_0 0.0082597080618143))\n"
    Path("query.vnnlib").write_text(HEAD + bounds + "(assert (<= Y_0 100))")
    Path("result.txt").write_text("sat\n((X_0 0.008319346369826038)\n (X_1 0.5)\n (Y_0 0.5))\n")
    arguments = ["verify", "f.json", "query.vnnlib", "--against", "result.txt"]
    status, found = run_json(capsys, *arguments)
    assert (status, found["is_counterexample"]) == (3, False)
    assert found["input_margin"] == "-29819154005869/500000000000000000"
    assert found["failures"] == [
        "line 4: X_0 = 0.008319346369826038 is 0.0000596384 above the bound 0.0082597080618143"
    ]
    assert "inputs: outside, margin -0.0000596384" in run(capsys, *arguments)[1]


def test_sets_of_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each of two boxes has a certificate; a third one is empty, which is said."""
    boxes = "".join(
        f"(and (>= X_0 {low}) (<= X_0 {high}) (>= X_1 0) (<= X_1 1))"
        for low, high in ((-1, 0), (1, 2), (3, 2))
    )
    Path("boxes.vnnlib").write_text(HEAD + f"(assert (or {boxes}))\n(assert (>= Y_0 3.5))")
    _, found = run_json(capsys, "verify", "f.json", "boxes.vnnlib", "-o", "proof.json.gz")
    assert found["files"] == ["proof.1.json.gz", "proof.2.json.gz"]
    assert found["cautions"][0].startswith("1 of 3 sets of inputs are empty")
    assert run(capsys, "check", *found["files"])[0] == 0


@pytest.mark.parametrize(
    ("text", "status", "caution"),
    [
        (
            PAIR + "(assert (and (> Q[0] (+ P[0] 1))\n(< Q[0] (- P[0] 1))))",
            0,
            "lines 6, 7: the constraints contradict each other whatever the networks compute",
        ),
        (
            PAIR + "(assert (and (<= Q[0] (+ P[0] 1)) (>= Q[0] (- P[0] 1))))",
            1,
            "the query holds at all points that were tried",
        ),
        (PAIR + "(assert (>= A[0] 3))", 0, "no input satisfies the constraints on inputs"),
    ],
    ids=["a contradiction", "the property itself", "exchanged bounds"],
)
def test_what_a_file_probably_means(
    text: str, status: int, caution: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pair.vnnlib").write_text(text)
    found = run_json(capsys, "verify", "f.json", "g.json", "pair.vnnlib")
    assert found[0] == status
    assert caution in found[1]["cautions"][0]


@pytest.mark.parametrize(
    ("assertion", "message"),
    [
        ("(and " * 300, "more than 200 parentheses in each other"),
        ("(and " + "(or (<= Y_0 0) (>= Y_0 1) (<= X_0 0)) " * 40 + ")", "too many to count cases"),
        ("(<= Z_0 1)", "'Z_0' is not declared"),
        ("(<= X_0 nan)", "'nan' is not declared"),
        ("(<= X_0 1e999999)", "'1e999999' is not a number of at most 400 digits"),
        ("(<= (* X_0 X_1) 1)", "a product of two variables is not linear"),
    ],
)
def test_hostile_files(assertion: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("query.vnnlib").write_text(HEAD + f"(assert {assertion})")
    status, out, err = run(capsys, "verify", "f.json", "query.vnnlib", "-o", "proof.cert")
    assert (status, out, err.count("\n"), Path("proof.cert").exists()) == (2, "", 1, False)
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("f.json g.json high.vnnlib", "high.vnnlib is about 1 network, 2 given"),
        ("high.vnnlib f.json", "f.json"),
        ("f.json high.vnnlib --against x.txt -o c.json", "--against searches for nothing"),
        ("f.json high.vnnlib --result no/such.txt", "there is no such folder"),
        ("f.json high.vnnlib --against high.vnnlib", "expected a pair such as (X_0 0.5)"),
    ],
)
def test_errors(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "verify", *arguments.split())
    assert (status, err.count("\n")) == (2, 1)
    assert message in err


def test_limits(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["verify", "f.json", "high.vnnlib", "--budget", "0.1", "--result", "result.txt"]
    status, found = run_json(capsys, *arguments)
    assert (status, found["status"]) == (3, "undecided")
    assert found["next"][0].endswith(
        "polyrelu verify f.json high.vnnlib --budget 60000 --result result.txt"
    )
    assert Path("result.txt").read_text() == "unknown\n"


@pytest.mark.skipif(SHARED is None, reason="needs the networks that POLYRELU_SHARED names")
def test_files_of_a_competition(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(SHARED or "") / "nets"
    for network, query in (
        ("vnn_test_nano.onnx", "test_nano"),
        ("rl_cartpole.onnx", "cartpole_case_unsafe_0"),
    ):
        names = [str(folder / network), str(folder / "vnnlib" / f"{query}.vnnlib")]
        assert run(capsys, "verify", *names)[0] == 0
    pair = [str(folder / "pairs" / f"acasxu_1_1{end}.onnx") for end in ("", "_perturbed")]
    status, found = run_json(capsys, "verify", *pair, str(folder / "pairs" / "instance_0.vnnlib"))
    assert status == 0
    assert "lines 30, 31, 32, 33, 34: the constraints contradict" in found["cautions"][0]
