"""The command `attributes`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polyrelu
from polyrelu.attributes import dual_map, float_maps
from tests.cli.commands import run, run_json

CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])


@pytest.fixture
def data(tmp_path: Path) -> str:
    """The four points of XOR, in a square of side 510, with their classes."""
    path = tmp_path / "corners.npz"
    np.savez(path, x=255 * CORNERS, y=[0, 1, 1, 0], x_test=255 * CORNERS, y_test=[0, 1, 1, 1])
    return str(path)


def test_the_answer(capsys: pytest.CaptureFixture[str], data: str) -> None:
    status, found = run_json(
        *(capsys, "attributes", "example:xor", "--data", data, "--divide", "255"),
        *("--clusters", "1,3", "--map-to", "example:xor"),
    )
    assert status == 0
    (network,) = found["networks"]
    assert (found["num_training"], found["num_test"], found["labels"]) == (4, 4, "data")
    assert network["num_right"] == 3
    assert [row["num_right"] for row in network["clusters"]] == [4, 3]
    assert network["uncertified"] == {
        "training": 2,
        "test": 2,
    }  # the line x + y = 0 has two corners
    assert network["shared_patterns"]["num_patterns"] == 2
    (relation,) = found["maps"]
    maps = float_maps(polyrelu.load("example:xor"), CORNERS)
    assert relation["ranks"] == list(dual_map(maps, maps).ranks)
    assert relation["num_right"] == 3


def test_lines_for_people(capsys: pytest.CaptureFixture[str], data: str) -> None:
    status, out, _ = run(
        *(capsys, "attributes", "example:xor", "--data", data, "--divide", "255"),
        *("--clusters", "1", "--map-to", "example:xor"),
    )
    assert status == 0
    assert "  1 cluster       4 of 4\n" in out
    assert "uncertified     2 training points, 2 test points" in out
    assert "map               example:xor to example:xor: 3 of 4, rank 2" in out


def test_without_classes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np.save(tmp_path / "points.npy", np.linspace(-2, 2, 20).reshape(10, 2))
    _, found = run_json(capsys, "attributes", "example:xor", "--data", str(tmp_path / "points.npy"))
    assert found["labels"] == "network"
    assert found["networks"][0]["num_right"] == found["num_test"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--clusters", "1,x"], "expected numbers such as 1,10,100"),
        (["--clusters", "0"], "numbers from 1"),
        (["--clusters", "5"], "got 5 (number of points: 4)"),
        (["--divide", "0"], "a number other than 0"),
        (["--seed", "-1"], "an integer from 0"),
        (["--map-to", "example:digits"], "example:digits: 64 inputs"),
        (["--data", "nothing.npz"], "nothing.npz: cannot read"),
    ],
)
def test_errors(
    capsys: pytest.CaptureFixture[str], data: str, options: list[str], message: str
) -> None:
    status, out, err = run(capsys, "attributes", "example:xor", "--data", data, *options)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_maps_beyond_floats(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """Points with huge maps are left out and counted; a network with no others is refused."""
    huge = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[10**300, 1], [1, 2]], [0, 1])])
    names = [str(tmp_path / "huge.json"), str(tmp_path / "data.npy")]
    polyrelu.save(huge, names[0])
    points = np.array([[-1.0, 1], [-2, 3], [2, 1], [-1, 3], [-3, 1], [3, 3], [-1, 2], [-4, 1]])
    np.save(names[1], np.vstack([points, points[:2]]))
    asked = ("attributes", names[0], "--data", names[1])
    _, found = run_json(capsys, *asked, "--clusters", "1,2", "--map-to", names[0])
    assert (found["num_training"], found["num_test"]) == (8, 2)
    assert found["left_out"] == {"training": 2, "test": 0}
    assert found["networks"][0]["shared_patterns"]["num_points"] == 6
    assert [row["num_right"] for row in found["networks"][0]["clusters"]] == [2, 2]
    assert found["maps"][0]["num_right"] == 2
    _, out, err = run(capsys, *asked)
    assert "left out          2 training points, 0 test points, where maps have numbers" in out
    np.save(names[1], np.abs(points))
    status, out, err = run(capsys, *asked, "--clusters", "1")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "huge.json: at every training point a map has numbers beyond 2^400" in err
    assert not recwarn.list
