"""The command `polyrelu runtime-error`, and the options for reading network files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from polyrelu.formats import load
from tests.cli.commands import run, run_json
from tests.generators.onnx_files import constant, model, node, write

_WEIGHTS = np.array([[1, -2], [0.5, 0.25]], np.float32)


@pytest.fixture
def net(tmp_path: Path) -> str:
    """Return the name of a file with nodes Gemm, Relu, Gemm."""
    nodes = [
        node("Gemm", "xwb", "h", transB=1),
        node("Relu", "h", "r"),
        node("Gemm", "rwb", "y", transB=1),
    ]
    content = model(nodes, [constant("w", _WEIGHTS), constant("b", [0.1, -0.2])])
    return str(write(tmp_path, "net.onnx", content))


def test_bound_and_certificate(
    net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = str(tmp_path / "cert.json")
    status, out, _ = run(capsys, "runtime-error", net, "--domain", "box:-1,1", "-o", certificate)
    assert status == 0
    assert "|float32 runtime - exact function| is at most" in out
    assert "output 1:" in out
    assert out.count("assumed: ") == 3
    status, out, _ = run(capsys, "check", certificate)
    assert status == 0
    assert "has a runtime-error of at most" in out
    status, out, _ = run(capsys, "show", certificate)
    assert "at any float32 input in [-1, 1]^2" in " ".join(out.split())
    assert "transformed convolution" in out
    status, out, _ = run(capsys, "show", certificate, "--latex")
    assert r"\gamma_{n+2}" in out


def test_json_is_exact(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, "runtime-error", net, "--domain", "box:-1,1;0,1/3")
    assert (status, found["status"], found["certificate"]) == (0, "proved", None)
    assert Fraction(found["worst"]) == max(map(Fraction, found["bounds"])) < Fraction(1, 10**5)
    assert all(
        Fraction(low) <= Fraction(high)
        for low, high in zip(found["low"], found["high"], strict=True)
    )
    status, double = run_json(
        capsys, "runtime-error", net, "--domain", "box:-1,1;0,1/3", "--arithmetic", "float64"
    )
    assert Fraction(double["worst"]) * 10**8 < Fraction(found["worst"])


def test_a_polyhedron_counts_as_the_box_around_it(
    net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    triangle = write(
        tmp_path, "triangle.json", json.dumps({"A": [[-1, 0], [0, -1], [1, 1]], "c": [0, 0, 1]})
    )
    _, first = run_json(capsys, "runtime-error", net, "--domain", str(triangle))
    _, second = run_json(capsys, "runtime-error", net, "--domain", "box:0,1")
    assert first["bounds"] == second["bounds"]


@pytest.mark.parametrize(
    ("domain", "says"),
    [
        ("R^n", "bounded domains only"),
        ("orthant", "bounded domains only"),
        ("box:1", "every side is two numbers"),
        ("box:0,1;0,1;0,1", "3 sides"),
    ],
)
def test_domains_without_a_bound(
    domain: str, says: str, net: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "runtime-error", net, "--domain", domain)
    assert (status, out) == (2, "")
    assert says in err


def test_an_empty_domain(net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = write(tmp_path, "empty.json", json.dumps({"A": [[1, 0], [-1, 0]], "c": [0, -1]}))
    status, _, err = run(capsys, "runtime-error", net, "--domain", str(empty))
    assert status == 2
    assert "empty set" in err


def test_possible_overflow_is_undecided(
    net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = tmp_path / "cert.json"
    status, out, _ = run(
        capsys, "runtime-error", net, "--domain", "box:0,3e38", "-o", str(certificate)
    )
    assert status == 3
    assert "might overflow" in out
    assert not certificate.exists()
    status, found = run_json(capsys, "runtime-error", net, "--domain", "box:0,3e38")
    assert (status, found["status"], found["worst"]) == (3, "undecided", None)


def test_files_with_other_operations_have_a_bound_without_a_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leaky = str(write(tmp_path, "leaky.onnx", model([node("LeakyRelu", "x", "y", alpha=0.1)])))
    assert run(capsys, "runtime-error", leaky, "--domain", "box:-1,1")[0] == 0
    status, out, _ = run(
        capsys, "runtime-error", leaky, "--domain", "box:-1,1", "-o", str(tmp_path / "cert.json")
    )
    assert status == 3
    assert "no certificate was written" in out
    assert not (tmp_path / "cert.json").exists()


@pytest.mark.parametrize("command", ["info", "identify", "complex"])
def test_every_command_takes_the_options(
    command: str, net: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--no-compare",
        "--rounding",
        "batchnorm=float32",
        "--strip-tail",
        "--normalisation",
        "none",
    ]
    assert run(capsys, command, net, *options)[0] in (0, 1, 3)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--rounding", "text=float16"], "choose from exact, float64, float32"),
        (["--rounding", "x"], "expected rule=value"),
        (["--input-shape", "1,x"], "expected sizes"),
        (["--input-shape", "0"], "expected positive sizes"),
        (["--normalisation", "all"], "invalid choice"),
        (["--input-shape", "1,3"], "the file says [1, 2]"),
    ],
)
def test_bad_options(
    options: list[str], says: str, net: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "info", net, *options)
    assert (status, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_info_reports_what_was_compared(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run_json(capsys, "info", net)
    assert found["compared"]["runtime"].startswith("onnxruntime")
    assert (found["compared"]["points"], found["compared"]["values"], found["numbers"]) == (7, 3, 6)
    assert 0 <= found["compared"]["worst"] < 1
    _, found = run_json(capsys, "info", net, "--no-compare")
    assert found["compared"] == {"runtime": None, "reason": "not asked for"}


def test_rounding_rules_reach_the_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    constants = [
        constant(name, values)
        for name, values in zip("sbmv", ([1, 1], [0, 0], [0, 0], [2, 3]), strict=True)
    ]
    nodes = [
        node("BatchNormalization", "xsbmv", "h", epsilon=0.0),
        node("Relu", "h", "r"),
        node("Gemm", "rw", "y"),
    ]
    path = write(tmp_path, "net.onnx", model(nodes, [*constants, constant("w", [[1], [2]])]))
    certificate = tmp_path / "cert.json"
    status, _, _ = run(
        capsys, "identify", str(path), "-o", str(certificate), "--rounding", "batchnorm=float32"
    )
    assert status == 0
    assert json.loads(certificate.read_text())["unverified"]["rounding"] == "batchnorm: float32"
    about = ["check", str(certificate), "--about", str(path)]
    assert run(capsys, *about, "--rounding", "batchnorm=float32")[0] == 0
    assert run(capsys, *about)[0] == 1
    assert load(path) != load(path, rounding="batchnorm=float32")


def test_input_shapes_that_the_file_leaves_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(
        write(tmp_path, "net.onnx", model([node("Relu", "x", "y")], shape=("batch", "size")))
    )
    status, _, err = run(capsys, "info", path)
    assert status == 2
    assert "say it with --input-shape" in err
    status, found = run_json(capsys, "info", path, "--input-shape", "1,3")
    assert (status, found["architecture"]) == (0, [3, 3])


def test_every_answer_reports_what_was_stripped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        node("Gemm", "xw", "h"),
        node("Relu", "h", "r"),
        node("Gemm", "rw", "g"),
        node("Softmax", "g", "y"),
    ]
    path = str(write(tmp_path, "net.onnx", model(nodes, [constant("w", _WEIGHTS)])))
    certificate = tmp_path / "cert.json"
    commands = {
        "info": [],
        "complex": [],
        "identify": ["-o", str(certificate)],
        "runtime-error": ["--domain", "box:0,1"],
    }
    for command, options in commands.items():
        assert run(capsys, command, path, *options)[0] == 2
        _, out, _ = run(capsys, command, path, *options, "--strip-tail")
        assert "the Softmax after the last layer was stripped" in out
        _, found = run_json(capsys, command, path, *options, "--strip-tail")
        assert found["caveats"] == [
            "the Softmax after the last layer was stripped: outputs are its inputs"
        ]
        assert found["rounding"] == "none"
    assert "Softmax" in json.loads(certificate.read_text())["unverified"]["caveats"]
