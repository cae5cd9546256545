"""Numbers beyond the range of matplotlib or floats gave tracebacks or false pictures.

They give one line with a remedy.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from polyrelu.errors import DomainError
from polyrelu.formats import save
from polyrelu.network import Network, from_arrays
from polyrelu.plot import draw_cells, picture, save_mesh, view_of
from polyrelu.topology import level_set
from tests.cli.commands import run

HUGE = 2**600
SIX = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
NETWORKS = {
    "line": from_arrays([([[HUGE]], [0]), ([[HUGE]], [0])]),
    "plane": from_arrays([([[HUGE, 1], [1, HUGE]], [0, 1]), ([[HUGE, -1]], [0])]),
    "large": from_arrays([([[2**300, 1], [-1, 2**300]], [1, 0]), ([[2**300, -1]], [1])]),
    "space": from_arrays(
        [([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [-(2**1200), 0, 0]), ([[1, 1, 1]], [0])]
    ),
    "small": from_arrays([([[1, 1], [1, -1]], [0, 0]), ([[1, 1]], [0])]),
    "offset": from_arrays([([[1, 1]], [0]), ([[1]], [10**30])]),
    "far": from_arrays([(SIX, [-(10**20), 10**20, 0, 0, 0, 0]), ([[1] * 6], [0])]),
    "octahedron": from_arrays([(SIX, [0] * 6), ([[1] * 6], [0])]),
}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("line", "-o a.png", "the range of the output in this box, [0, 1.72"),
        (
            "plane",
            "-o a.png --what weights",
            "goes beyond 1e100, where nothing can be drawn; scale the last layer",
        ),
        ("plane", "-o a.png --what surface", "the range of the output in this box"),
        (
            "large",
            "-o a.png --what surface --box=-1e250,1e250",
            "along input 0, [-1e+250, 1e+250] goes beyond 1e100",
        ),
        (
            "space",
            "-o a.png --what zeros --box=-1e308,1e308",
            "give another box, or scale and move that input",
        ),
        (
            "space",
            "-o a.png --what zeros --box=-1e400,1e400",
            "[-1e+400, 1e+400] goes beyond 1e100",
        ),
        (
            "small",
            "-o a.png --box=100000000000000000000,100000000000000000001",
            "is too narrow for the floats",
        ),
        ("small", "-o a.png --box=-1e-200,1e-200", "is too narrow for the floats"),
        (
            "offset",
            "-o a.png --what surface",
            "is too narrow for the floats that drawing needs; give another box, or",
        ),
        (
            "octahedron",
            "-o a.ply --what level --level 1e400",
            "a coordinate is beyond the range of floats",
        ),
        (
            "far",
            "-o a.ply --what level --level 1",
            "two vertices are one point in floats: give a smaller box, or move",
        ),
        (
            "octahedron",
            "-o a.obj --what level --level 1e400",
            "a coordinate is beyond the range of floats",
        ),
    ],
)
def test_one_line_and_status_2(
    name: str,
    options: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    save(NETWORKS[name], tmp_path / "net.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        status, out, err = run(capsys, "plot", "net.json", *options.split())
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["net.json"]


@pytest.mark.parametrize(
    ("network", "what", "box"),
    [
        (
            from_arrays([([[2**150, 1], [-1, 2**150]], [1, 0]), ([[2**150, -1]], [1])]),
            "weights",
            [-1, 1],
        ),
        (NETWORKS["large"], "zeros", [Fraction(-(10**99)), Fraction(10**99)]),
        (NETWORKS["small"], "complex", [10**6, 10**6 + Fraction(1, 100)]),
        (NETWORKS["small"], "surface", [-(10**40), 10**40]),
        (NETWORKS["octahedron"], "zeros", [Fraction(-1, 10**60), Fraction(1, 10**60)]),
        (from_arrays([([[0, 0]], [0]), ([[1]], [10**30])]), "surface", [-1, 1]),  # constant
    ],
)
def test_what_can_be_drawn_is_drawn_without_warnings(
    network: Network, what: str, box: Any, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture(network, what=what, box=box).save(tmp_path / "a.png")


def test_the_caption_tells_the_ends_of_a_side_apart() -> None:
    drawn = picture(
        NETWORKS["small"], what="complex", box=[Fraction(10**6), 10**6 + Fraction(1, 1000)]
    )
    assert drawn.view.caption == "box [1000000, 1000000.001] × [1000000, 1000000.001]"


def test_from_python_too() -> None:
    from polyrelu.complex import canonical_complex

    cells = canonical_complex(NETWORKS["small"])
    assert view_of(cells, box=[0, 10**200]).upper[0] == 10**200
    with pytest.raises(DomainError, match="goes beyond 1e100"):
        draw_cells(cells, box=[0, 10**200])
    with pytest.raises(DomainError, match="beyond the range of floats"):
        save_mesh(level_set(NETWORKS["octahedron"], 10**400), "a.ply")
