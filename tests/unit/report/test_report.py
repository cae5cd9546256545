"""Reports: the same answers in three formats, certificates that check, names that stay texts."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import threading
import time
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.errors import DomainError
from polyrelu.proofs.identify import least_for_others
from polyrelu.report import Report, report
from polyrelu.support.budget import Budget
from polyrelu.support.text_files import layout

BENDS = "example:bends"
#: A name that would run if a page took it for code.
STEM = "x-onerror-alert-2-input-x"
EVIL = "<script>alert(1)</script><img src=http://example.test/x onerror=alert(2)>\\input{x}`|"


def network(*widths: int) -> polyrelu.Network:
    """A network with random weights of these widths."""
    rng = Random(sum(widths))
    layers = [
        ([[rng.randint(-9, 9) for _ in range(n)] for _ in range(m)], [1] * m)
        for n, m in pairwise(widths)
    ]
    return polyrelu.from_arrays(layers)


class Page(HTMLParser):
    """The elements, links and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.addresses, self.files = set[str](), list[str](), dict[str, bytes]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on")]
        for name in ("src", "href"):
            if (address := given.get(name)) is not None:
                self.addresses.append(address)
        if (file := given.get("download")) is not None:
            self.files[file] = b64decode((given["href"] or "").partition(",")[2])


@pytest.fixture(scope="module")
def found() -> Report:
    """A report with a name that would like to run."""
    return report(BENDS, "box:-2,2", budget=2000, name=EVIL)


def test_a_page_holds_everything(found: Report, tmp_path: Path) -> None:
    page = Page(found.html())
    assert {"script", "link", "iframe", "object"}.isdisjoint(page.tags)
    assert all(address.startswith("data:") for address in page.addresses)
    assert page.tags >= {"img", "table", "pre", "a"}
    kinds = ("cells", "identify", "injective")
    assert sorted(page.files) == [f"{STEM}.{kind}.cert.json" for kind in kinds]
    for name, content in page.files.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert polyrelu.check_file(path).verdict == "accepted"
        assert f"polyrelu check {name}\npython" in found.html()
    assert found.open == ()


def test_commands_have_the_budget_that_a_check_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the default budget is too small, both commands have a larger one, and it is enough."""
    monkeypatch.setattr(checker, "BUDGET", 1000)
    monkeypatch.setattr(checker, "UNITS_PER_BYTE", 0)
    found = report(BENDS, "box:-2,2", budget=2000, name=BENDS)
    page = Page(found.html())
    assert len(page.files) == 3
    for name, content in page.files.items():
        (tmp_path / name).write_bytes(content)
        first = re.search(rf"polyrelu check {name} --budget ([0-9]+)\n", found.html())
        assert first is not None
        assert f"polyrelu/checker.py --budget {first[1]} {name}" in found.html()
        assert polyrelu.check_file(tmp_path / name).verdict == "unreadable"
        assert polyrelu.check_file(tmp_path / name, budget=int(first[1])).verdict == "accepted"


def test_names_are_texts(found: Report) -> None:
    """In all formats a name from elsewhere shows as it is and does nothing."""
    assert "<script" not in found.markdown().replace(r"\<", "")
    assert r"\input{x}" not in found.latex()
    assert r"\textbackslash{}input\{x\}" in found.latex()
    assert EVIL in unescape(found.html())


def test_formats_with_files_beside(found: Report, tmp_path: Path) -> None:
    for suffix, picture in ((".md", ".png"), (".tex", ".pdf")):
        written = found.save(tmp_path / f"r{suffix}")
        assert written[-1].name == f"r{suffix}"
        names = {path.name for path in written[:-1]}
        assert names >= {f"{STEM}.layers{picture}", f"{STEM}.identify.cert.json"}
        text = written[-1].read_text("utf-8")
        assert all(name in re.sub(r"[\\]", "", text) for name in names)
    with pytest.raises(DomainError, match=r"\.html, \.md, \.tex"):
        found.save(tmp_path / "r.docx")


def test_equal_bytes() -> None:
    """A random slice, too, depends on the seed only."""
    net = network(4, 3, 2)
    one, two = (report(net, "box:-1,1", budget=300) for _ in range(2))
    assert one.html() == two.html()
    assert "three random points" in one.html()


def test_pictures_do_not_depend_on_what_was_rendered_before(found: Report) -> None:
    endings = (".svg", ".pdf", ".png")
    for image in found.document.images:
        first = {ending: image.render(ending) for ending in endings}
        assert {ending: image.render(ending) for ending in reversed(endings)} == first


def test_a_slice_through_points(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"points": [[0,0,0,0,0],[1,0,0,0,0],[0,0,1,0,1]]}')
    found = report(network(5, 6, 4, 3), show=f"slice:{path}", budget=300)
    assert "random points" not in found.html()
    assert found.answers["regions"] > 1
    with pytest.raises(DomainError, match="1 to 3 dimensions"):
        report(network(5, 6, 3), show="box:0,1")


def test_what_a_limit_leaves_open() -> None:
    """Without time each question is open, and the report says so and ends."""
    found = report(BENDS, budget=Budget(2000, seconds=0))
    assert len(found.open) == 5
    assert all("time limit" in end.reason for end in found.open)
    assert found.lines()[1].startswith("Cells and pictures: undecided: the time limit")
    little = report(network(2, 40, 40, 1), "box:-1,1", budget=20)
    assert any("budget" in end.reason and "--budget" in end.next[0] for end in little.open)


def test_commands_keep_the_options_of_the_report() -> None:
    budget = Budget(2000, seconds=0, megabytes=10_000)
    given: Any = {"show": "box:0,1", "file": "a b.html", "seed": 3}
    found = report(BENDS, "box:-2,2", name=BENDS, budget=budget, **given)
    options = "--domain box:-2,2 --show box:0,1 --seed 3 --budget 2000 --time-limit 60"
    command = f"polyrelu report {BENDS} -o 'a b.html' {options} --memory-limit 10000"
    assert {end.next for end in found.open} == {(f"allow more: {command}",)}


def test_searches_of_a_report_have_a_share_of_its_budget() -> None:
    assert least_for_others(Budget(4_500)) == 10_000
    assert least_for_others(Budget(15_000).part(4_500)) == 0


@pytest.mark.slow
def test_a_linear_program_above_the_share_is_not_solved() -> None:
    """It would take minutes, and the answer comes from a search for ridges."""
    started = time.process_time()
    found = report("example:digits", "box:0,16")
    assert found.answers["identifiable"] == "proved"
    assert time.process_time() - started < 30


def test_a_slice_is_framed_by_the_domain() -> None:
    found = report(network(6, 5, 4, 3), "box:-1,1", budget=3000)
    text = found.markdown()
    assert "frame: box [-0.643041, 1.40216] × [-0.232802, 1.2968]" in text.replace("\\", "")


@pytest.mark.parametrize(
    "layers",
    [
        [([[1, 2], [3, 4]], [0, 1])],
        [([[1]], [0]), ([[1]], [0])],
        [([[0, 0]], [0]), ([[1]], [0])],
        [([[1, 0, 0], [0, 1, 0]], [0, 0]), ([[1, 1]], [0])],
    ],
    ids=["affine", "line", "zero", "lines in space"],
)
def test_degenerate_networks(layers: Any) -> None:
    found = report(layers, budget=300)
    assert found.html().count("<h2>") == 9
    assert layout(found.answers)


def test_a_point_and_an_empty_domain() -> None:
    found = report(BENDS, "box:1,1;2,2", budget=300)
    assert "regions" not in found.answers
    with pytest.raises(DomainError, match="empty"):
        report(BENDS, polyrelu.Polyhedron.from_constraints([[1, 0], [-1, 0]], [0, -1]))


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)


@pytest.mark.parametrize(
    ("last", "text"),
    [
        ("affine", "2 orders of its hidden neurons, and a positive factor for each of the 2"),
        ("relu", "Without hidden neurons a network has no symmetries"),
    ],
)
def test_outputs_with_a_relu_are_no_hidden_neurons(
    last: Literal["affine", "relu"], text: str
) -> None:
    layer = ([[1, 2], [3, 4]], [1, 1])
    net = polyrelu.from_arrays([layer] if last == "relu" else [layer, ([[1, 1]], [0])], last=last)
    assert text in report(net, "box:-1,1", budget=2_000).markdown()


#: Hosts that a browser calls by itself.
OWN_HOSTS = (b"google.com", b"googleapis.com", b"gvt1.com", b"gstatic.com")


def _requests(page: Path, folder: Path) -> list[bytes]:
    """The first lines of the requests that a page makes while a browser prints it."""
    server = socket.create_server(("127.0.0.1", 0))
    lines: list[bytes] = []

    def accept() -> None:
        while True:
            try:
                connection = server.accept()[0]
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                lines.append(connection.recv(4096).partition(b"\r\n")[0])

    threading.Thread(target=accept, daemon=True).start()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    options += ["--disable-component-update", f"--user-data-dir={folder}"]
    options += [f"--proxy-server=127.0.0.1:{server.getsockname()[1]}"]
    options += [f"--print-to-pdf={page.with_suffix('.pdf')}", page.as_uri()]
    subprocess.run([str(CHROMIUM), *options], timeout=120, capture_output=True, check=True)
    server.close()
    return [line for line in lines if line and not any(host in line for host in OWN_HOSTS)]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_no_request_leaves_the_page(found: Report, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(found.html())
    assert _requests(page, tmp_path / "one") == []
    printed = page.with_suffix(".pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type ?/Page\b", printed)) <= 12
    page.write_text("<p><img src='http://example.test/x.png'></p>")
    assert _requests(page, tmp_path / "two"), "the test does not see requests"
