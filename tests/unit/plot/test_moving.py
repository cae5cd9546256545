"""Animations, pictures of plotly, fibers, and files for polymake and Sage."""

from __future__ import annotations

import io
import re
import shutil
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from polyrelu import DomainError, canonical_complex, fiber, from_arrays, load, save_complex
from polyrelu.complex import Cell
from polyrelu.errors import PolyreluError
from polyrelu.fibers import hidden_hyperplane
from polyrelu.plot import (
    Animation,
    animate_fiber,
    animate_neurons,
    animate_training,
    animation_of,
    draw_fiber,
    interactive_bends,
    interactive_cells,
    interactive_graph,
)

BENDS = canonical_complex("example:bends", "box:-2,2")
HIDDEN = load("example:hidden")


@pytest.fixture(scope="module")
def film() -> Animation:
    return animate_neurons([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])], "box:-2,2")


def test_formats_of_animations(film: Animation, tmp_path: Path) -> None:
    image: Any = pytest.importorskip("PIL.Image")
    shown = image.open(film.save(tmp_path / "film.gif"))
    assert shown.n_frames == len(film) == 4
    assert film.gif() == film.gif()
    sizes = {image.open(io.BytesIO(frame)).size for frame in film.frames}
    assert len(sizes) == 1
    page = film.save(tmp_path / "film.html").read_text()
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(page)
    assert tags.count("img") == 4
    assert "script" not in tags
    assert re.findall(r"animation-delay: ([\d.]+)s", page) == ["0", "0.4", "0.8", "1.2"]
    with pytest.raises(DomainError, match=r"\.gif, \.mp4, \.html"):
        film.save(tmp_path / "film.avi")


def test_a_film_has_its_legend_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the axes would move when the first line comes."""
    legends = list[list[str]]()

    def noted(figure: Any, suffix: str) -> bytes:
        (ax,) = figure.axes
        legends.append([text.get_text() for text in ax.get_legend().get_texts()])
        return b""

    monkeypatch.setattr("polyrelu.plot.animation.rendered", noted)
    animate_neurons(BENDS.network, "box:-2,2")
    assert legends
    assert all(legend == legends[0] for legend in legends)


def test_mp4(film: Animation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        if shutil.which("ffmpeg") is None:
            with pytest.raises(PolyreluError, match="MP4 needs ffmpeg"):
                film.save(tmp_path / "film.mp4")
            assert not list(tmp_path.iterdir())
            return
    assert film.save(tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_regions_in_the_titles() -> None:
    """The last frame counts the regions of the complex, the first one is whole."""
    from polyrelu.plot.animation import _cut_title

    titles = [_cut_title(BENDS, count) for count in range(5)]
    counts = [int(re.findall(r"(\d+) regions?$", title)[0]) for title in titles]
    assert counts[0] == 1
    assert counts == sorted(counts)
    assert counts[-1] == BENDS.num_regions
    for k in range(1, 3):  # the neurons of layer 1 alone
        part = from_arrays([([[0, 1], [2, 1]][:k], [0, 1][:k]), ([[1] * k], [0])])
        assert counts[k] == canonical_complex(part, "box:-2,2").num_regions


def test_walks_and_trainings() -> None:
    hidden = hidden_hyperplane(HIDDEN, 1)
    assert hidden is not None
    walk = animate_fiber(hidden, [hidden.least_shift, 0], "box:-2,2")
    assert len(walk) == 2
    assert walk.frames[0] != walk.frames[1]
    members = [hidden.member(shift=shift) for shift in (0, 1)]
    run = animate_training(members, "box:-2,2", what="layers", captions=["start", "end"])
    assert len(run) == 2
    with pytest.raises(DomainError, match="only 1 captions"):
        animate_training(members, "box:-2,2", captions=["start"])
    with pytest.raises(DomainError, match="at least one figure"):
        animation_of([], "nothing")
    with pytest.raises(DomainError, match="dimension 2 or 3, not 1"):
        animate_neurons([([[1]], [0]), ([[1]], [0])])


def test_a_fiber_has_a_panel_for_each_component() -> None:
    found = fiber(HIDDEN)
    figure = draw_fiber(found, "box:-2,2", members=1)
    assert len(figure.axes) == len(found.components) == 2
    with pytest.raises(DomainError, match="2 dimensions, the domain has 1"):
        draw_fiber(fiber([([[1]], [0]), ([[1]], [0])]))


def test_what_shows_under_the_mouse() -> None:
    pytest.importorskip("plotly")
    figure = interactive_cells(BENDS)
    polygons = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(polygons) == BENDS.num_regions
    for index, trace in enumerate(polygons):
        assert str(BENDS.signs_of_region(index)) in trace.text
        x = BENDS.interior_point(index)
        terms = re.sub(r"(\d) x", r"\1*x", trace.text.partition("f = ")[2])
        terms = re.sub(r"\d+(/\d+)?(?=\*| |$)(?<!x\d)", r'F("\g<0>")', terms)
        assert eval(terms, {"F": Fraction, "x0": x[0], "x1": x[1]}) == BENDS.network(x)[0]
    shown = "".join(text for trace in figure.data for text in trace.text or () if len(text) > 1)
    assert "tropical weight" in shown
    assert "boundary of the domain" in shown


def test_pictures_in_space() -> None:
    pytest.importorskip("plotly")
    graph = interactive_graph(BENDS)
    (mesh,) = [trace for trace in graph.data if trace.type == "mesh3d"]
    exact = [float(BENDS.network([x, y])[0]) for x, y in zip(mesh.x, mesh.y, strict=True)]
    assert list(mesh.z) == pytest.approx(exact, abs=1e-9)
    cube = canonical_complex(
        [([[1, 0, 0], [1, 1, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])], "box:-2,2"
    )
    bends = interactive_bends(cube)
    assert [trace.name for trace in bends.data if trace.type == "mesh3d"] == ["layer 1", "layer 2"]
    with pytest.raises(DomainError, match="dimension 3, not 2"):
        interactive_bends(BENDS)


@pytest.mark.parametrize("domain", ["box:-2,2", None])
@pytest.mark.parametrize(
    "layers",
    [
        "example:bends",
        [([[1, 2]], [0]), ([[1]], [0])],
        [([[1, 2], [-2, -4]], [0, 3]), ([[1, 1]], [0])],
    ],
    ids=["bends", "lines", "parallel"],
)
def test_files_for_other_programs(layers: Any, domain: str | None, tmp_path: Path) -> None:
    """Both files have the generators and the regions of the complex, as other readers see them."""
    cells = canonical_complex(layers, domain)
    save_complex(cells, tmp_path / "cells.sage")
    made: dict[str, Any] = {
        "QQ": Fraction,
        "Polyhedron": lambda **parts: parts,
        "PolyhedralComplex": lambda cells, **_: cells,
    }
    exec((tmp_path / "cells.sage").read_text(), made)
    assert len(made["complex"]) == cells.num_regions
    for index, cell in enumerate(made["complex"]):
        points, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
        assert sorted(map(tuple, cell["vertices"])) == sorted(points)
        assert sorted(map(tuple, cell["rays"])) == sorted(rays)
        assert cell["lines"] == [list(line) for line in cells.lineality]
    save_complex(cells, tmp_path / "cells.polymake")
    text = (tmp_path / "cells.polymake").read_text()
    vertices, members = re.findall(r'<<"\."\);\n(.*?)\n\.', text, re.DOTALL)[:2]
    rows = [tuple(map(Fraction, line.split())) for line in vertices.splitlines()]
    assert {row[1:] for row in rows if row[0]} == {tuple(p) for p in made["points"].values()}
    regions = [{int(k) for k in line.strip("{}").split()} for line in members.splitlines()]
    assert regions == [set(region) for region in made["members"]]
    assert "LINEALITY_SPACE=>$lines" in text
    assert ("(0, 3)" in text) != bool(cells.lineality_dim)
