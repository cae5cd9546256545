"""`polyrelu equivalent` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from polyrelu import from_arrays, save
from polyrelu.fibers import hidden_hyperplane
from polyrelu.network import Network
from polyrelu.symmetry import permute, rescale
from tests.cli.commands import run, run_json
from tests.generators.equivalent_pairs import hinges
from tests.generators.files import NETS, ROOT
from tests.generators.onnx_files import constant, model, node, write

WEIGHTS = np.array([[1, -2], [0.5, 0.25]], np.float32)


def net() -> Network:
    return from_arrays(
        [(WEIGHTS, np.array([0.5, -1], np.float32)), (WEIGHTS, np.array([0, 1], np.float32))]
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """The network in ONNX, permuted and rescaled in .json, with one weight changed in .npz."""
    nodes = [
        node("Gemm", "xwb", "h", transB=1),
        node("Relu", "h", "r"),
        node("Gemm", "rwc", "y", transB=1),
    ]
    content = model(
        nodes, [constant("w", WEIGHTS), constant("b", [0.5, -1]), constant("c", [0, 1])]
    )
    made = {"onnx": str(write(tmp_path, "net.onnx", content)), "same": str(tmp_path / "same.json")}
    save(rescale(permute(net(), 1, [1, 0]), 1, [3, Fraction(1, 7)]), made["same"])
    made["other"] = str(tmp_path / "other.npz")
    changed = WEIGHTS.copy()
    changed[1, 1] = np.nextafter(np.float32(0.25), np.float32(1))
    np.savez(
        made["other"],
        W1=WEIGHTS,
        b1=np.array([0.5, -1], np.float32),
        W2=changed,
        b2=np.array([0, 1], np.float32),
    )
    return made


def test_proved(files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("cert.json", "cert.json.gz"):
        certificate = str(tmp_path / name)
        status, out, _ = run(capsys, "equivalent", files["onnx"], files["same"], "-o", certificate)
        assert status == 0
        assert "compute the same function on R^n" in " ".join(out.split())
        status, out, _ = run(capsys, "check", certificate, "--about", files["same"])
        assert status == 0
        assert run(capsys, "check", certificate, "--about", files["onnx"])[0] == 0
        assert run(capsys, "check", certificate, "--about", files["other"])[0] == 1
        status, out, _ = run(capsys, "show", certificate)
        assert "compute the same function on R^n" in " ".join(out.split())
        assert "Unverified: other-source: same.json" in out
        assert run(capsys, "show", certificate, "--latex")[0] == 0


def test_refuted_with_what_the_runtimes_say(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = str(tmp_path / "cert.json")
    status, found = run_json(capsys, "equivalent", files["onnx"], files["other"], "-o", certificate)
    assert (status, found["status"], found["route"]) == (1, "refuted", "points")
    x = [Fraction(t) for t in found["witness"]["x"]]
    assert [Fraction(t) for t in found["witness"]["f"]] == list(net()(x))
    assert found["witness"]["g"] != found["witness"]["f"]
    for name, runtime in (("f", "onnxruntime"), ("g", "numpy float32")):
        floats = found["floats"][name]
        assert floats["runtime"].startswith(runtime) or "layer by layer" in floats["runtime"]
        exact = [float(Fraction(t)) for t in found["witness"][name]]
        assert np.allclose(floats["values"], exact, rtol=1e-5, atol=1e-6)
    assert run(capsys, "check", certificate)[0] == 0
    status, out, _ = run(capsys, "equivalent", files["onnx"], files["other"])
    assert "f(x) in floats" in out


def test_domains(files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For small x the neuron with the changed weight is dead, so the networks are equal there."""
    for domain in ("box:-1,1", "box:-1,1/2;-1,1"):
        assert (
            run_json(capsys, "equivalent", files["onnx"], files["other"], "--domain", domain)[0]
            == 0
        )
    polyhedron = write(
        tmp_path,
        "p.json",
        json.dumps({"A": [[1, 0], [0, 1]], "c": [1, "1/2"], "E": [[1, 1]], "e": [0]}),
    )
    status, found = run_json(
        capsys, "equivalent", files["onnx"], files["other"], "--domain", str(polyhedron)
    )
    assert (status, found["status"]) == (0, "proved")
    assert (
        run_json(capsys, "equivalent", files["onnx"], files["other"], "--domain", "orthant")[0] == 1
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["{onnx}"], "required"),
        (["{onnx}", "missing.onnx"], "missing.onnx"),
        (["{onnx}", "{same}", "--domain", "box:1,0"], "side 0 is empty"),
        (["{onnx}", "{same}", "--domain", "empty.json"], "empty.json"),
        (["{onnx}", "{same}", "-o", "{onnx}"], "would overwrite"),
        (["{onnx}", "{same}", "-o", "{same}"], "would overwrite"),
        (["{onnx}", "{same}", "-o", "missing/cert.json"], "no such folder"),
        (["{onnx}", "{same}", "-o", f"{'x' * 300}.json"], "cannot write"),
        (["{onnx}", "{same}", "--time-limit", "-1"], "--time-limit"),
        (["{onnx}", "{same}", "--time-limit", "nan"], "--time-limit"),
        (["{onnx}", "{same}", "--memory-limit", "-1"], "--memory-limit"),
        (["{onnx}", "{same}", "--prefix", "actor"], "--prefix"),
        (["{onnx}", "example:digits"], "2 and 64 inputs"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], says: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "equivalent", *(text.format(**files) for text in arguments))
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert says in err


def test_limits_are_undecided_and_write_nothing(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = tmp_path / "cert.json"
    for limit in (["--time-limit", "0"], ["--memory-limit", "1"]):
        arguments = ["equivalent", files["onnx"], files["same"], "-o", str(certificate), *limit]
        status, found = run_json(capsys, *arguments)
        assert (status, found["status"], found.get("certificate")) == (3, "undecided", None)
        assert "limit" in found["reason"]
        assert not certificate.exists()
        status, out, _ = run(capsys, *arguments)
        assert "no certificate was written" in out


def test_ctrl_c(tmp_path: Path) -> None:
    """In the middle of a long tree: status 3, what was reached, nothing half-written."""
    one, two = hinges(13)  # one tree of 2^13 leaves
    names = [str(tmp_path / f"{name}.json") for name in ("one", "two")]
    for network, name in zip((one, two), names, strict=True):
        save(network, name)
    code = (
        "import signal, sys\n"
        "from dataclasses import replace\n"
        "from polyrelu.proofs.equivalence import prover\n"
        "from polyrelu.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background
        "search = prover.search_by_tasks\n"
        "def told(*arguments):\n"
        "    print('started', file=sys.stderr, flush=True)\n"
        "    return search(*arguments)\n"
        "prover.SETTINGS = replace(prover.SETTINGS, max_coordinates_of_parts=0)\n"
        "prover.search_by_tasks = told\n"
        "prover.canonical_position = lambda network: None\n"
        "sys.exit(main())"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "equivalent",
        *names,
        "-o",
        str(tmp_path / "cert.json"),
        "--json",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3, (out, err)
    found = json.loads(out)
    assert (found["status"], found["certificate"]) == ("undecided", None)
    assert "interrupted" in found["reason"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "two.json"]
    assert "Traceback" not in err


def _nnet(folder: Path, mean: float, size: float, weight: str = "1.0") -> str:
    """max(x, 0) as a .nnet file with a normalisation of its input."""
    lines = ["// x", "2,1,1,1,", "1,1,1,", "0,", "-9.0,", "9.0,", f"{mean},0.0,", f"{size},1.0,"]
    path = folder / f"{mean}-{size}-{weight}.nnet"
    path.write_text("\n".join([*lines, f"{weight},", "0.0,", "1.0,", "0.0,", ""]))
    return str(path)


@pytest.mark.parametrize(
    ("mean", "size", "weight", "options", "hint"),
    [
        (0.0, 2.0, "0.5", [], "has a normalisation, which is no part of the network"),
        (0.0, 2.0, "1.0", ["--normalisation", "inputs"], "--normalisation none leaves it out"),
        (0.0, 2.0, "1.0000001", [], "decimal text was read exactly"),
        (0.0, 1.0, "1.1", [], "decimal text was read exactly"),
    ],
)
def test_a_hint_at_the_reason_of_a_difference(
    mean: float,
    size: float,
    weight: str,
    options: list[str],
    hint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    save(from_arrays([([[1]], [0]), ([[1]], [0])]), tmp_path / "net.json")
    names = [_nnet(tmp_path, mean, size, weight), str(tmp_path / "net.json")]
    status, out, _ = run(capsys, "equivalent", *names, *options)
    (line,) = (line for line in out.splitlines() if line.startswith("hint:"))
    assert status == 1
    assert hint in line


@pytest.mark.skipif(not NETS.is_dir(), reason="the shared networks are not here")
@pytest.mark.parametrize(
    ("one", "two", "options", "status"),
    [
        ("arch_single_pendulum.onnx", "arch_single_pendulum.h5", [], 0),
        ("vcas_pra01_20hu.onnx", "vcas_pra01_20hu.h5", [], 0),
        ("acasxu_1_1.nnet", "acasxu_1_1_marabou.onnx", ["--rounding", "text=float32"], 0),
        ("acasxu_1_1.nnet", "acasxu_1_1_marabou.onnx", [], 1),
        ("acasxu_1_1.nnet", "acasxu_1_1_marabou.onnx", ["--normalisation", "inputs"], 1),
        ("marabou_cnn_max_mnist2.onnx", "marabou_cnn_max_mnist2.h5", [], 0),
        ("nnet_testnetwork2.nnet", "nnet_testnetwork2.onnx", ["--rounding", "text=float32"], None),
    ],
)
def test_real_networks(
    one: str,
    two: str,
    options: list[str],
    status: int | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    certificate = str(tmp_path / "cert.json")
    arguments = [str(NETS / one), str(NETS / two), *options, "--no-compare", "-o", certificate]
    got, found = run_json(capsys, "equivalent", *arguments)
    assert got == (got if status is None else status), found
    assert got in (0, 1)
    assert os.path.getsize(certificate) > 0
    if "cnn" not in one:  # its 18 million weights take minutes to check
        assert run(capsys, "check", certificate)[0] == 0


def test_a_pair_behind_a_bottleneck(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A hidden hyperplane moved and the others flipped."""
    first = from_arrays([([[1, 2], [1, -1]], [1, 3]), ([[2, -3]], [-2]), ([[1]], [0])])
    found = hidden_hyperplane(first, 1)
    assert found is not None
    names = [str(tmp_path / f"{name}.json") for name in ("one", "two")]
    for network, name in zip((first, found.member(flipped=[1], shift="-1/2")), names, strict=True):
        save(network, name)
    status, shown = run_json(capsys, "equivalent", *names)
    assert (status, shown["route"]) == (0, "bottleneck")
