"""`polyrelu injective`: what it prints and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu.formats import save
from polyrelu.network import from_arrays
from tests.cli.commands import run, run_json

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1]]


@pytest.fixture
def layer(tmp_path: Path) -> str:
    """A translate of an injective layer, and an affine map that forgets it."""
    name = str(tmp_path / "layer.json")
    save(from_arrays([(AXES, [1, 1, -1, -1]), ([[1, 1, 1, 1]], [0])]), name)
    return name


def test_proved(layer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = str(tmp_path / "cert.json")
    status, out, err = run(capsys, "injective", layer, "--layer", "1", "-o", certificate)
    assert (status, err) == (0, "")
    assert out.startswith("proved. The map of layer 1 of the network 2-4-1 ")
    assert "is injective on R^n: no two points have equal activations" in " ".join(out.split())
    assert run(capsys, "check", certificate, "--about", layer)[0] == 0
    status, out, _ = run(capsys, "show", certificate)
    assert status == 0
    assert "in layer 1, on R^n, has no two inputs with equal outputs" in " ".join(out.split())


def test_refuted(layer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = str(tmp_path / "cert.json")
    status, found = run_json(capsys, "injective", layer, "--layer", "2", "-o", certificate)
    assert (status, found["status"], found["theorem"]) == (1, "refuted", "collision")
    assert found["witness"]["x"] != found["witness"]["y"]
    assert run(capsys, "check", certificate)[0] == 0
    assert run(capsys, "injective", layer, "--layer", "2")[1].count("f(x) = f(y): ") == 1


def test_undecided(layer: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(
        capsys, "injective", layer, "--layer", "1", "--domain", "orthant", "--budget", "0"
    )
    assert (status, found["status"], found["layers"]) == (3, "undecided", [1, 1])
    assert found["next"] == [
        f"allow 60 units of work: polyrelu injective {layer} --budget 60 --layer 1 --domain orthant"
    ]


def test_lipschitz(layer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = str(tmp_path / "cert.json")
    status, found = run_json(
        capsys, "injective", layer, "--layer", "1", "--lipschitz", "-o", certificate
    )
    assert (status, found["theorem"]) == (0, "inverse-lipschitz")
    assert (found["at_least"], found["at_most"]) == ("1/2", "1/2")
    assert run(capsys, "check", certificate)[0] == 0
    _, out, _ = run(capsys, "show", certificate)
    assert "in layer 1, on R^n, between 1/2 and 1/2" in " ".join(out.split())


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("0", "layers: expected a layer from 1 to 2"),
        ("2-1", "layers: expected a layer from 1 to 2"),
        ("first", "--layer 'first': expected a layer such as 2, or 1-3 for a part"),
    ],
)
def test_wrong_layers(
    option: str, text: str, layer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "injective", layer, "--layer", option)
    assert status == 2
    assert text in err


def test_left_inverse(layer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, back = str(tmp_path / "cert.json"), str(tmp_path / "back.json")
    question = ("injective", layer, "--layer", "1", "--left-inverse")
    status, found = run_json(capsys, *question, "-o", certificate)
    assert (status, found["theorem"]) == (0, "left-inverse")
    assert run(capsys, "check", certificate)[0] == 0
    save(from_arrays([([[1, 0, -1, 0], [0, 1, 0, -1]], [-1, -1])]), back)
    assert run(capsys, *question, back)[0] == 0
    save(from_arrays([([[1, 0, -1, 0], [0, 1, 0, -1]], [-1, 0])]), back)
    assert run_json(capsys, *question, back)[1]["status"] == "undecided"
    assert run(capsys, *question, back, "--lipschitz")[0] == 2


def test_exact_constants(layer: str, capsys: pytest.CaptureFixture[str]) -> None:
    question = ("injective", layer, "--layer", "1", "--lipschitz", "--exact")
    assert run_json(capsys, *question)[1]["exact"] == {
        "polynomial": ["-1", "2"],
        "low": "1/2",
        "high": "1/2",
    }
    assert "inverse Lipschitz constant is 1/2" in " ".join(run(capsys, *question)[1].split())
    for wrong in ((*question, "--domain", "orthant"), (*question[:4], "--exact")):
        assert run(capsys, *wrong)[0] == 2
