"""Pictures: what is drawn is right, exactly; files are whole and the same every time; errors in one line."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from random import Random

import jsonschema
import pytest

from polyrelu.complex import canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.importers import save
from polyrelu.network import from_arrays
from polyrelu.plot import picture, save_mesh, surface, view_of
from polyrelu.plot.clip import Clipped
from polyrelu.topology import homology
from tests.commands import run, run_json
from tests.quantised_networks import KINDS, quantised_network

NET = from_arrays(
    [([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -1, 1], [2, 1, -1]], [-1, 0]), ([[1, 1], [1, -2]], [0, 1])]
)
FRAME = [[Fraction(-3), Fraction(4)], [Fraction(-1, 2), Fraction(5)]]
LINES = from_arrays([([[1, 1]], [0]), ([[1]], [0])])
DONUT = from_arrays(
    [
        ([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], [0] * 6),
        ([[1, 1, 1, 1, 0, 0], [-1, -1, -1, -1, 0, 0], [0, 0, 0, 0, 1, 1]], [-2, 2, 0]),
        ([[1, 1, 1]], [0]),
    ]
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with networks, to work in."""
    monkeypatch.chdir(tmp_path)
    for name, network in (("net", NET), ("lines", LINES), ("donut", DONUT)):
        save(network, tmp_path / f"{name}.json")
    save(from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [0])]), tmp_path / "one.json")
    save(from_arrays([([[1] * 4], [0]), ([[1]], [0])]), tmp_path / "four.json")
    return tmp_path


def area(points: list[tuple[Fraction, ...]]) -> Fraction:
    """Of a polygon, by the shoelace formula."""
    turned = [*points[1:], points[0]]
    return abs(sum((a[0] * b[1] - a[1] * b[0] for a, b in zip(points, turned, strict=True)), Fraction())) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_regions_fill_the_frame(kind: str) -> None:
    """Unbounded cells and cells with lines are clipped exactly: all areas add up, and every corner is in its region."""
    tried = 0
    for seed in range(30):
        network = quantised_network(kind, Random(f"picture {kind} {seed}"))
        if network.inputs != 2:
            continue
        try:
            cells = canonical_complex(network)
        except DomainError:
            continue
        view, tried = view_of(cells, FRAME), tried + 1
        polygons = dict(Clipped(cells, view).all_cells(2, range(cells.regions)))
        assert sum(area(points) for points in polygons.values()) == 7 * Fraction(11, 2)
        for index, points in polygons.items():
            assert all(cells.region(index).polyhedron.contains(point) for point in points)
    assert tried or kind == "bottleneck"


@pytest.mark.parametrize("what", ["complex", "layers", "zeros", "weights", "boundary", "level", "surface"])
@pytest.mark.parametrize("name", ["net.json", "lines.json"])
def test_every_kind_of_picture(what: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Drawn twice, the files are equal."""
    for suffix in ("png", "svg"):
        contents = []
        for number in range(2):
            target = Path(f"{number}.{suffix}")
            status, found = run_json(capsys, "plot", name, "-o", str(target), "--what", what, "--box=-2,3")
            assert status == 0, found
            schema = json.loads((files("polyrelu") / "schemas" / "output.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(found)
            contents.append(target.read_bytes())
        assert contents[0] == contents[1]
        assert len(contents[0]) > 4000


def test_counts_of_what_is_drawn() -> None:
    cells = canonical_complex(NET, Polyhedron.box([-2, -2], [3, 3]))
    assert picture(NET, "complex", box=[-2, 3]).counts["regions"] == cells.regions


def test_one_and_three_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "plot", "one.json", "-o", "one.svg", "--box=-1,2")[0] == 0
    assert "x_{0}" in Path("one.svg").read_text() or len(Path("one.svg").read_bytes()) > 4000
    assert (
        run(capsys, "plot", "donut.json", "-o", "donut.png", "--what", "level", "--level", "1/2", "--box=-3,3")[0] == 0
    )


@pytest.mark.parametrize("suffix", [".ply", ".obj"])
def test_the_mesh_of_a_torus(suffix: str) -> None:
    """Euler characteristic 0, every edge in two faces."""
    part = surface(DONUT, "level", Polyhedron.box([-3] * 3, [3] * 3), level="1/2")
    assert homology(part).betti == (1, 2, 1, 0)
    save_mesh(part, f"torus{suffix}")
    lines = Path(f"torus{suffix}").read_text().splitlines()
    if suffix == ".obj":
        vertices = [line for line in lines if line.startswith("v ")]
        faces = [list(map(int, line.split()[1:])) for line in lines if line.startswith("f ")]
    else:
        start = lines.index("end_header") + 1
        sizes = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("element")}
        vertices = lines[start : start + sizes["vertex"]]
        faces = [list(map(int, line.split()[1:])) for line in lines[start + len(vertices) :][: sizes["face"]]]
    edges: dict[frozenset[int], int] = {}
    for face in faces:
        for one, other in zip(face, [*face[1:], face[0]], strict=True):
            edges[frozenset((one, other))] = edges.get(frozenset((one, other)), 0) + 1
    assert set(edges.values()) == {2}
    assert len(vertices) - len(edges) + len(faces) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["four.json", "-o", "a.png"], "1 to 3 dimensions"),
        (["net.json", "-o", "a.txt"], ".png"),
        (["net.json", "-o", "nowhere/a.png"], "there is no such folder"),
        (["net.json", "-o", "net.json"], "would overwrite"),
        (["net.json", "-o", "a.png", "--box=1"], "--box"),
        (["net.json", "-o", "a.png", "--box=2,1"], "empty"),
        (["net.json", "-o", "a.png", "--output", "7"], "no output"),
        (["net.json", "-o", "a.png", "--level", "1"], "--what level"),
        (["donut.json", "-o", "a.png", "--what", "complex"], "complex"),
        (["net.json", "-o", "a.ply"], "--what"),
        (["net.json", "-o", "a.png", "--domain", "box:5,6", "--box=-1,1"], "nothing"),
    ],
)
def test_errors(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in Path().iterdir())
    status, _, err = run(capsys, "plot", *arguments)
    assert (status, len(err.strip().splitlines())) == (2, 1)
    assert says in err
    assert sorted(path.name for path in Path().iterdir()) == before
