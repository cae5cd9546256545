"""The command `polyrelu examples`, and the networks that the package ships."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from benchmarks import make_examples
from polyrelu.complex import canonical_complex
from polyrelu.fibers import fiber
from polyrelu.fibers.report import fiber_text
from polyrelu.formats import Example, examples, load
from polyrelu.network import Network
from polyrelu.outcomes import Equivalent, NotIdentifiable
from polyrelu.proofs import equivalent, identify
from polyrelu.proofs.membership import generic_membership
from polyrelu.symmetry import related
from tests.cli.commands import run, run_json

EXAMPLES = examples()


def network(name: str) -> Network:
    """A shipped network."""
    return load(f"example:{name}")


# --- The networks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_list_tells_the_truth(example: Example) -> None:
    shipped = network(example.name)
    assert shipped.widths == example.architecture
    assert make_examples.verdict(identify(shipped)) == example.identify
    assert example.sentence.endswith(".")


def test_every_file_is_in_the_list() -> None:
    folder = files("polyrelu") / "examples"
    assert {entry.name for entry in folder.iterdir()} == {
        "index.json",
        *(example.file for example in EXAMPLES if ":" not in example.file),
    }


def test_some_examples_are_networks_of_the_corpus() -> None:
    names = {example.name: example.file for example in EXAMPLES if ":" in example.file}
    assert {"sliver", "sawtooth", "torus"} == {*names}
    assert all(network(name) == load(file) for name, file in names.items())


def test_the_script_writes_the_same_bytes(tmp_path: Path) -> None:
    folder = make_examples.FOLDER
    make_examples.write(tmp_path, folder / "digits.npz")
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_xor_is_the_network_of_the_paper() -> None:
    """Equation (3) of Sattelberg et al. (2023), and its three regions."""
    xor = network("xor")
    for point in ["0 0", "1 2", "-1 1/2", "-1/4 -1/4", "-3 1", "-1 0"]:
        x, y = map(Fraction, point.split())
        (value,), total = xor([x, y]), x + y
        expected = 1 - 2 * total if total >= 0 else 1 + 2 * total if total >= -1 else -1
        assert value == expected
    assert canonical_complex(xor).num_regions == 3


def test_bends_has_bounded_regions() -> None:
    cells = canonical_complex(network("bends"))
    assert (cells.num_regions, cells.num_bounded_regions) == (11, 3)


def test_hidden_is_refuted_and_its_fiber_has_translations_and_flips() -> None:
    hidden = network("hidden")
    outcome = identify(hidden)
    assert isinstance(outcome, NotIdentifiable)
    assert "hides neuron 0 of layer 1" in outcome.explanation
    lines = fiber_text(fiber(hidden)).splitlines()
    components = [line for line in lines if line.startswith("  ")]
    assert len(components) == 2
    assert all("hyperplane of neuron 0 translated" in line for line in components)
    assert ["flipped" in line for line in components] == [False, True]
    assert generic_membership(hidden)["status"] == "verified"


def test_twins_have_one_function_and_are_not_related() -> None:
    first, second = network("twins-a"), network("twins-b")
    assert isinstance(equivalent(first, second), Equivalent)
    assert not related(first, second)
    assert first([2, "-1/3"]) == (Fraction(2),)
    assert second([-5, "-1/3"]) == (Fraction(-1, 3),)


# --- The command ----------------------------------------------------------------------------------


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "examples")
    assert (status, err) == (0, "")
    words = " ".join(out.split())
    for example in EXAMPLES:
        widths = "-".join(map(str, example.architecture))
        entry = f"example:{example.name} {widths} {example.sentence} identify: {example.identify}"
        assert entry in words
    assert len(EXAMPLES) >= 4


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, "examples")
    assert (status, found["output"]) == (0, None)
    assert [entry["name"] for entry in found["examples"]] == [example.name for example in EXAMPLES]
    _, one = run_json(capsys, "examples", "hidden")
    assert one["examples"] == [entry for entry in found["examples"] if entry["name"] == "hidden"]
    assert one["examples"][0]["architecture"] == [2, 2, 1, 1]


@pytest.mark.parametrize("ending", [".json", ".onnx", ".npz", ".nnet"])
@pytest.mark.parametrize("name", [example.name for example in EXAMPLES])
def test_files_hold_the_exact_network(
    name: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"net{ending}"
    assert run(capsys, "examples", f"example:{name}", "-o", str(path))[0] == 0
    assert load(path) == network(name)
    first = path.read_bytes()
    status, found = run_json(capsys, "examples", name, "-o", str(path))
    assert (status, found["output"]) == (0, str(path))
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "a.json"], "-o writes one example; give its NAME"),
        (["xor", "-o", "a.txt"], "-o a.txt: networks are written as .json, .onnx, .npz"),
        (["xor", "-o", "missing/a.json"], "there is no such folder"),
        (["twin"], "example:twin: no such example; did you mean example:twins-"),
        (["index"], "example:index: no such example; there are: example:digits, example:xor"),
        (["../digits"], "no such example"),
    ],
)
def test_errors(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "examples", *arguments, "--json")
    assert (status, err.count("\n"), json.loads(out)["status"]) == (2, 1, "error")
    assert message in err
    assert not list(tmp_path.iterdir())


def test_examples_open_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_json(capsys, "info", "example:twins-a")[1]["architecture"] == [2, 3, 1]
    assert run_json(capsys, "complex", "example:xor")[1]["regions"] == 3
    found = run_json(capsys, "equivalent", "example:twins-a", "example:twins-b")[1]
    assert found["status"] == "proved"
