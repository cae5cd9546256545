"""The command `polyrelu plot`: files of pictures and meshes, JSON objects, and errors."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import save
from polyrelu.network import Network, from_arrays
from polyrelu.plot import mesh_of, picture, save_figure, save_mesh, surface
from polyrelu.support.progress import ProgressStep
from polyrelu.topology import homology, level_set
from tests.cli.commands import run, run_json
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.files import ROOT

SMALL = from_arrays([([[1, 0], [0, 1]], [0, "1/3"]), ([[1, -2]], ["-1/7"]), ([[3]], [1])])
LINES = from_arrays([([[1, 1]], [0]), ([[1]], [0])])
SIX = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
#: The function | |x| + |y| - 2 | + |z|, whose level set at 1/2 is a torus.
TORUS = from_arrays(
    [
        (SIX, [0] * 6),
        ([[1, 1, 1, 1, 0, 0], [-1, -1, -1, -1, 0, 0], [0, 0, 0, 0, 1, 1]], [-2, 2, 0]),
        ([[1, 1, 1]], [0]),
    ]
)
OCTAHEDRON = from_arrays([(SIX, [0] * 6), ([[1] * 6], [0])])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with networks, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    save(SMALL, tmp_path / "net.json")
    save(TORUS, tmp_path / "torus.json")
    save(LINES, tmp_path / "lines.json")
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- Pictures as files ----------------------------------------------------------------------------


@pytest.mark.slow
def test_equal_pictures_are_equal_files() -> None:
    """Equal pictures give equal bytes, also in two processes with different dates."""
    suffixes = ["png", "svg", "pdf"]
    script = """
import sys
from polyrelu.formats import load
from polyrelu.plot import picture
for name in sys.argv[1:]:
    picture(load("net.json"), what="layers").save(name)
"""
    for number, epoch in enumerate(["1", "1000000000"], 1):
        environment = {"SOURCE_DATE_EPOCH": epoch, "PYTHONPATH": str(ROOT)}
        targets = [f"{number}.{suffix}" for suffix in suffixes]
        subprocess.run([sys.executable, "-c", script, *targets], env=environment, check=True)
    for suffix in suffixes:
        with case(suffix):
            picture(SMALL, what="layers").save(f"0.{suffix}")
            contents = [Path(f"{number}.{suffix}").read_bytes() for number in range(3)]
            assert contents[0] == contents[1] == contents[2]
            picture(SMALL, what="zeros").save(f"other.{suffix}")
            assert Path(f"other.{suffix}").read_bytes() != contents[0]


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_formats(
    suffix: str, start: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = run_json(
        capsys, "plot", "net.json", "-o", f"a.{suffix}", "--box=-1/2,3", "--what", "complex"
    )
    assert Path(f"a.{suffix}").read_bytes().startswith(start)
    assert names(folder) == {"net.json", "torus.json", "lines.json", f"a.{suffix}"}
    assert found.pop("seconds") >= 0
    assert status == 0
    assert found == {
        "command": "plot",
        "status": "ok",
        "domain": "R^n",
        "what": "complex",
        "axes": [0, 1],
        "box": [["-1/2", "3"], ["-1/2", "3"]],
        "output": None,
        "level": None,
        "drawn": {"regions": 6, "edges": 7},
        "file": f"a.{suffix}",
        "rounding": "none",
        "caveats": [],
    }


#: The suffixes of files, networks, and kinds of pictures.
PICTURES = [
    *product(
        ["svg", "png"],
        ["net.json", "lines.json"],
        ["complex", "layers", "zeros", "weights", "boundary", "level", "surface"],
    )
]


#: Vector graphics of all kinds, and two kinds with pixels.
SOME_PICTURES = [one for one in PICTURES if one[0] == "svg" or one[2] in ("layers", "surface")]


@pytest.mark.parametrize("pictures", few_some_and_all(PICTURES[:2], SOME_PICTURES, PICTURES))
def test_every_kind_of_picture(
    pictures: list[tuple[str, str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every kind is drawn, also where every cell contains a line, and drawn again with equal bytes.

    The output validates against its schema.
    """
    for suffix, name, what in pictures:
        with case(suffix, name, what):
            contents = []
            for number in range(2):
                target = Path(f"{number}.{suffix}")
                status, found = run_json(
                    capsys, "plot", name, "-o", str(target), "--what", what, "--box=-2,3"
                )
                assert status == 0, found
                contents.append(target.read_bytes())
            assert contents[0] == contents[1]
            assert len(contents[0]) > 4000


def test_the_frame_stands_in_the_picture() -> None:
    sides: Any = [(-2, 1), (0, "1/3")]
    figure = picture(SMALL, what="complex", box=sides).figure
    assert figure.axes[0].get_title().endswith("\nbox [-2, 1] × [0, 1/3]")
    assert (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()) == ((-2, 1), (0, 1 / 3))
    layers = picture(SMALL, what="layers", box=[-2, 1]).figure
    assert layers.get_suptitle().endswith("box [-2, 1] × [-2, 1]")


@pytest.mark.slow
def test_nothing_global_changes() -> None:
    """Drawing leaves pyplot, settings and backend alone."""
    script = """
import sys
import matplotlib
before = dict(dict.items(matplotlib.rcParams))  # reading the backend would choose one
from polyrelu.formats import load
from polyrelu.plot import picture
for what in ("complex", "layers", "zeros", "weights", "boundary", "level", "surface"):
    picture(load("net.json"), what=what).save(what + ".svg")
assert dict(dict.items(matplotlib.rcParams)) == before
assert "matplotlib.pyplot" not in sys.modules
"""
    environment = {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert len(list(Path().glob("*.svg"))) == 7


@pytest.mark.parametrize(
    ("network", "what", "says"),
    [
        (
            from_arrays([([[1, 0]], [3]), ([[1]], [1])]),
            "boundary",
            "no decision boundary in the domain shown",
        ),
        (
            from_arrays([([[0, 0], [0, 0]], [1, 2])]),
            "boundary",
            "no decision boundary in the domain shown:\nclass 1 on all of it",
        ),
        (
            from_arrays([([[1, 0]], [3]), ([[1]], [1])]),
            "level",
            "the output does not cross this level in the domain shown",
        ),
        (
            from_arrays([([[1, 0]], [3]), ([[1]], [1])]),
            "zeros",
            "no neuron changes its sign in the domain shown",
        ),
        (
            from_arrays([([[1, 0]], [3]), ([[1]], [1])]),
            "weights",
            "output 0 has no breakpoints in the domain shown",
        ),
        (
            from_arrays([([[1, 0, 0]], [3]), ([[1]], [1])]),
            "boundary",
            "no decision boundary in the domain shown",
        ),
    ],
)
def test_nothing_to_see(network: Network, what: str, says: str) -> None:
    """A picture without content has a note."""
    found = picture(network, what=what)
    assert sum(count for name, count in found.counts.items() if name != "regions around") == 0
    assert [text.get_text() for text in found.figure.axes[0].texts] == [says]
    assert found.save("empty.png").stat().st_size > 4000


def test_a_note_only_where_there_is_nothing() -> None:
    for what in ("boundary", "level", "zeros", "weights"):
        ax: Any = picture(SMALL, what=what, level=2, box=[-3, 3]).figure.axes[0]
        assert ([text.get_text() for text in ax.texts] == []) == (what != "boundary")


def test_a_picture_of_the_kind_that_fits() -> None:
    four = from_arrays([([[1, 1, 1, 1]], [0]), ([[1]], [0])])
    line = Polyhedron.from_generators([[0] * 4], (), [[1, 2, 3, 4]], 4)
    space = Polyhedron.from_generators([[0] * 4], (), [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]], 4)
    assert picture(four, domain=line).what == "graph"
    assert (picture(four, domain=space).what, picture(four, domain=space).view.names) == (
        "layers",
        (0, 2, 3),
    )
    assert picture(SMALL).what == "layers"


def test_progress() -> None:
    """The cuts by the neurons come first, then the cells that are drawn."""
    steps: list[ProgressStep] = []
    picture(SMALL, what="boundary", progress=steps.append)
    cuts = [step for step in steps if step.stage == "cutting cells"]
    assert [step.details["layer"] for step in cuts if step.num_done] == [1, 1, 2, 3]
    drawn = steps[len(cuts) :]
    assert {(step.stage, step.unit) for step in drawn} == {("drawing", "cells")}
    assert drawn[-1].num_done == drawn[-1].num_total


@pytest.mark.parametrize("what", ["layers", "zeros", "weights"])
def test_progress_in_space(what: str) -> None:
    """Drawing takes longer than the complex there."""
    steps: list[ProgressStep] = []
    picture(OCTAHEDRON, what=what, progress=steps.append)
    assert sum(step.stage == "drawing" for step in steps) > 10


# --- Meshes ---------------------------------------------------------------------------------------


@dataclass
class Read:
    """A mesh as a program reads it from a file."""

    vertices: list[tuple[float, ...]]
    faces: list[list[int]]
    edges: list[list[int]]


def read_mesh(path: Path) -> Read:
    lines = path.read_text().splitlines()
    if path.suffix == ".obj":
        rows: dict[str, list[list[str]]] = {"v": [], "f": [], "l": [], "#": []}
        for line in lines:
            kind, *entries = line.split()
            rows[kind].append(entries)
        faces, edges = ([[int(entry) - 1 for entry in row] for row in rows[kind]] for kind in "fl")
        return Read([tuple(map(float, row)) for row in rows["v"]], faces, edges)
    assert lines[:2] == ["ply", "format ascii 1.0"]
    end = lines.index("end_header")
    header = [line.split() for line in lines[2:end] if not line.startswith("comment")]
    sizes = [(words[1], int(words[2])) for words in header if words[0] == "element"]
    properties = [words[1:] for words in header if words[0] == "property"]
    assert properties[:3] == [["double", "x"], ["double", "y"], ["double", "z"]]
    assert properties[3] == ["list", "uchar", "int", "vertex_indices"]
    body = [line.split() for line in lines[end + 1 :]]
    found: dict[str, list[list[str]]] = {"edge": []}
    for name, size in sizes:
        found[name], body = body[:size], body[size:]
    assert body == []
    assert all(int(row[0]) == len(row) - 1 for row in found["face"])
    faces = [list(map(int, row[1:])) for row in found["face"]]
    return Read(
        [tuple(map(float, row)) for row in found["vertex"]],
        faces,
        [list(map(int, row)) for row in found["edge"]],
    )


def sides(faces: Sequence[Sequence[int]]) -> Counter[tuple[int, int]]:
    return Counter(side for face in faces for side in pairwise((*face, face[0])))


def volume(mesh: Read) -> float:
    corners = [np.array(mesh.vertices)[face] for face in mesh.faces]
    fans = ((face[0], one, other) for face in corners for one, other in pairwise(face[1:]))
    return float(sum(np.dot(a, np.cross(b, c)) for a, b, c in fans)) / 6


@pytest.mark.parametrize("suffix", [".ply", ".obj"])
@pytest.mark.parametrize(
    ("network", "level", "euler", "inside"),
    [(TORUS, "1/2", 0, 4.0), (OCTAHEDRON, 1, 2, 4 / 3), (OCTAHEDRON, 3, 2, 36.0)],
)
def test_closed_surfaces(
    suffix: str, network: Network, level: str | int, euler: int, inside: float
) -> None:
    """Closed surfaces on R^n are oriented outwards.

    Every edge is passed once in each direction, and the volume is positive.
    """
    part = surface(network, what="level", level=level)
    written = save_mesh(part, f"mesh{suffix}")
    mesh = read_mesh(Path(f"mesh{suffix}"))
    directed = sides(mesh.faces)
    assert set(directed.values()) == {1}
    assert all((b, a) in directed for a, b in directed)
    assert len(mesh.vertices) - len(directed) // 2 + len(mesh.faces) == euler
    assert euler == written.euler_characteristic == homology(part).euler_characteristic
    assert volume(mesh) == pytest.approx(inside, rel=1e-12)
    assert mesh.vertices == [tuple(map(float, vertex)) for vertex in written.vertices]
    for vertex in written.vertices:
        assert network(vertex) == (Fraction(level),)
    for face in written.faces:  # every face is exactly flat
        a, b, *rest = (np.array(written.vertices[corner]) for corner in face)
        assert all(np.dot(np.cross(b - a, rest[0] - a), c - a) == 0 for c in rest)


def test_surfaces_in_a_box() -> None:
    """The planes x = 0, y = 0, z = 0 in a cube give 12 squares, in which edges have four faces."""
    planes = from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    for what in ("zeros", "weights"):
        mesh = mesh_of(surface(planes, what=what, box=[-1, 1]))
        assert (len(mesh.vertices), len(mesh.faces), mesh.euler_characteristic) == (19, 12, 1)
    assert Counter(len(face) for face in mesh.faces) == {4: 12}


def test_edges_and_points_alone() -> None:
    """| |x| + |y| - 1 | + | |z| - 1 | = 0 on two squares without their insides."""
    wire = from_arrays(
        [
            (SIX, [0] * 6),
            (
                [
                    [1, 1, 1, 1, 0, 0],
                    [-1, -1, -1, -1, 0, 0],
                    [0, 0, 0, 0, 1, 1],
                    [0, 0, 0, 0, -1, -1],
                ],
                [-1, 1, -1, 1],
            ),
            ([[1, 1, 1, 1]], [0]),
        ]
    )
    part = level_set(wire, 0)
    for suffix in (".ply", ".obj"):
        written = save_mesh(part, f"wire{suffix}")
        mesh = read_mesh(Path(f"wire{suffix}"))
        assert (len(mesh.vertices), mesh.faces, len(mesh.edges)) == (8, [], 8)
        assert written.euler_characteristic == 0
        ends = Counter(vertex for edge in mesh.edges for vertex in edge)
        assert set(ends.values()) == {2}
        assert all(abs(mesh.vertices[a][2] - mesh.vertices[b][2]) == 0 for a, b in mesh.edges)


def test_a_mesh_of_a_slice() -> None:
    """On a slice where the second input is the third plus 1, a mesh has the other coordinates.

    The surface is the octahedron |y + 1| + |y| + |z| + |w|.
    """
    four = from_arrays(
        [
            (
                [[row if j == i else 0 for j in range(4)] for i in range(4) for row in (1, -1)],
                [0] * 8,
            ),
            ([[1] * 8], [0]),
        ]
    )
    space = Polyhedron.from_constraints([], [], [[1, -1, 0, 0]], [1], 4)
    written = save_mesh(surface(four, space, what="level", level=3), "slice.obj")
    assert written.axes == (1, 2, 3)
    assert "x = input 1, y = input 2, z = input 3" in Path("slice.obj").read_text()
    assert written.euler_characteristic == 2
    for y, z, w in written.vertices:
        assert four([y + 1, y, z, w]) == (Fraction(3),)


def test_mesh_from_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plot", "torus.json", "--what", "level", "--level", "1/2", "-o", "torus.ply"]
    status, found = run_json(capsys, *command)
    assert (status, found["drawn"]) == (0, {"vertices": 16, "faces": 16, "edges alone": 0})
    assert (found["level"], found["output"], found["box"], found["axes"]) == (
        "1/2",
        0,
        None,
        [0, 1, 2],
    )
    first = Path("torus.ply").read_bytes()
    assert run_json(capsys, *command)[0] == 0
    assert Path("torus.ply").read_bytes() == first
    assert names(folder) == {"net.json", "torus.json", "lines.json", "torus.ply"}


def test_the_mesh_of_weights_is_that_of_its_output(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mesh of weights has the facets that the picture shows, and its box has the same form."""
    save(
        from_arrays(
            [([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 0], [0, 0, 2]], [0, 0])]
        ),
        "two.json",
    )
    for output, count in ((0, 8), (1, 4)):
        options = ["--what", "weights", "--output", str(output), "--box=-1,1"]
        status, mesh = run_json(capsys, "plot", "two.json", "-o", "w.ply", *options)
        assert (status, mesh["output"], mesh["drawn"]["faces"]) == (0, output, count)
        status, drawn = run_json(capsys, "plot", "two.json", "-o", "w.png", *options)
        assert (status, drawn["drawn"]["visible facets"]) == (0, count)
        assert mesh["box"] == drawn["box"] == [["-1", "1"]] * 3
    status, mesh = run_json(
        capsys, "plot", "two.json", "-o", "w.ply", "--what", "weights", "--domain", "box:-1,1"
    )
    assert (status, mesh["box"]) == (0, None)
    with pytest.raises(DomainError, match="no output 2"):
        surface(from_arrays([([[1, 0, 0]], [0]), ([[1], [1]], [0, 0])]), what="weights", output=2)


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["torus.json", "-o", "a.ply", "--what", "zeros"],
            "unbounded cells, which no mesh can hold: give a bounded",
        ),
        (["torus.json", "-o", "a.ply", "--what", "zeros"], "--domain box:-1,1"),
        (
            ["net.json", "-o", "a.obj", "--what", "zeros", "--domain", "box:0,1"],
            "a mesh lies in three dimensions",
        ),
        (
            ["torus.json", "-o", "a.obj", "--what", "layers"],
            "layers is no surface; choose one of zeros, weights",
        ),
        (["torus.json", "-o", "a.obj"], "choose --what zeros, weights, boundary or level"),
        (
            ["torus.json", "-o", "a.png", "--what", "surface"],
            "choose one of layers, zeros, weights, boundary, level",
        ),
        (["net.json", "-o", "a.png", "--what", "graph"], "graph is no picture of 2 dimensions"),
        (["net.json", "-o", "a.png", "--what", "photo"], "invalid choice: 'photo'"),
        (["net.json"], "the following arguments are required: -o"),
        (["net.json", "-o", "folder.png"], "it is not a regular file"),
        (["net.json", "-o", "a.png", "--output", "x.png"], "a file is -o FILE"),
        (
            ["net.json", "-o", "a.png", "--what", "level", "--level", "1/0"],
            "expected an integer, a decimal",
        ),
        (["net.json", "-o", "a.png", "--box=0,1;0,1;0,1"], "2 such pairs"),
        (["net.json", "-o", "a.png", "--box=0,one"], "every side is two numbers"),
        (
            ["net.json", "-o", "a.png", "--domain", "slice:missing.json"],
            "missing.json: cannot read",
        ),
        (["net.json", "-o", "a.png", "--domain", "point.json"], "the domain has 0"),
        (
            ["net.json", "-o", "a.png", "--domain", "empty.json"],
            "the domain is empty, so that there is nothing to draw",
        ),
        (
            ["torus.json", "-o", "a.ply", "--what", "zeros", "--box=0,1", "--domain", "none.json"],
            "the domain is empty",
        ),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_errors(
    arguments: list[str],
    message: str,
    as_json: bool,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("folder.png").mkdir()
    Path("point.json").write_text('{"vertices": [[1, 2]]}')
    Path("empty.json").write_text('{"A": [[1, 0], [-1, 0]], "c": [0, -1]}')
    Path("none.json").write_text('{"A": [[1, 0, 0], [-1, 0, 0]], "c": [0, -1]}')
    before = names(folder)
    status, out, err = run(capsys, "plot", *arguments, *["--json"] * as_json)
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    assert out == "" if not as_json else json.loads(out)["error"] in err
    assert names(folder) == before


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf", "a.ply", "a.obj"])
def test_a_full_disk_leaves_nothing_behind(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    Path(name).write_text("old")
    monkeypatch.setattr("polyrelu.support.text_files.os.replace", full)
    status, _, err = run(
        capsys, "plot", "torus.json", "-o", name, "--what", "level", "--level", "1/2", "--box=-3,3"
    )
    assert (status, err) == (2, f"polyrelu: {name}: cannot write: No space left on device\n")
    assert names(folder) == {"net.json", "torus.json", "lines.json", name}
    assert Path(name).read_text() == "old"


def test_without_matplotlib(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without matplotlib one line names the remedy before any work; meshes need none."""

    def never(*_: object) -> None:
        raise AssertionError("computed for nothing")

    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with monkeypatch.context() as patch:
        patch.setattr(import_module("polyrelu.plot.picture"), "canonical_complex", never)
        status, _, err = run(capsys, "plot", "net.json", "-o", "a.png")
    assert (status, err.count("\n")) == (2, 1)
    assert re.search(r"needs the package matplotlib .*: pip install 'polyrelu\[plot\]'", err)
    command = ["plot", "torus.json", "-o", "a.ply", "--what", "level", "--level", "1/2"]
    assert run(capsys, *command)[0] == 0
    assert names(folder) == {"net.json", "torus.json", "lines.json", "a.ply"}


@pytest.mark.parametrize("what", ["complex", "boundary", "level"])
def test_ctrl_c(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After Ctrl-C nothing is drawn, because half a complex would give another picture."""
    shown: list[str] = []

    def press(self: object, step: ProgressStep) -> None:
        shown.append(step.stage)
        if len(shown) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("polyrelu.support.progress.ProgressLine.show", press)
    # Tests in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    status, out, err = run(capsys, "plot", "net.json", "-o", "a.png", "--what", what, "--json")
    signal.signal(signal.SIGINT, before)
    assert (status, json.loads(out)["reason"]) == (3, "interrupted; nothing was written")
    assert err.endswith("polyrelu: interrupted; nothing was written\n")
    assert names(folder) == {"net.json", "torus.json", "lines.json"}


def test_wrong_names_from_python() -> None:
    with pytest.raises(DomainError, match=r"written as .png, .svg, .pdf"):
        picture(SMALL).save("a.jpg")
    with pytest.raises(DomainError, match=r"written as .ply, .obj"):
        save_mesh(level_set(OCTAHEDRON, 1), "a.stl")
    with pytest.raises(DomainError, match="no picture 'photo'; choose one of graph, complex"):
        picture(SMALL, what="photo")
    with pytest.raises(DomainError, match="there is no output 1, only 0 to 0"):
        picture(SMALL, output=1)
    with pytest.raises(PolyreluError, match=r"nowhere/a.png: cannot write: No such file"):
        save_figure(picture(SMALL).figure, "nowhere/a.png")


def test_open_regions_are_no_surface() -> None:
    part = level_set(
        from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])]), 0
    )
    with pytest.raises(DomainError, match="contains open regions"):
        mesh_of(part)
    with pytest.raises(DomainError, match="unbounded cells"):
        mesh_of(level_set(from_arrays([([[1, 0, 0]], [0])]), 0))
