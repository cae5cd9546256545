"""Names that come from files are text in every output: HTML, SVG, XML, LaTeX and CSV."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from polyrelu import canonical_complex, equivalent, identify, read, region_graph, save
from polyrelu.breakpoints import breakpoint_complex, save_breakpoints
from polyrelu.certificate import CertificateText, describe_latex
from polyrelu.complex import save_complex, save_regions
from polyrelu.conditions import Condition
from polyrelu.fibers import fiber
from polyrelu.fibers.report import fiber_latex
from polyrelu.network import from_arrays
from polyrelu.outcomes import Attempt, Undecided
from polyrelu.support.display import escaped_latex, html_columns, html_table
from tests.cli.commands import run

#: A name with something for every language.
NAME = "=cmd()<script>alert(1)&\\input{x}_$%#^~"
DEEP = [([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The file of a network, under that name."""
    found = tmp_path / f"{NAME}.json"
    save(from_arrays(DEEP), found)
    return str(found)


def only_text(html: str) -> str:
    """The text of HTML whose tags are those of tables and paragraphs."""
    texts, tags = list[str](), set[str]()
    parser = HTMLParser(convert_charrefs=True)
    parser.handle_data = texts.append  # type: ignore[assignment,method-assign]
    parser.handle_starttag = lambda tag, attrs: tags.add(tag)  # type: ignore[method-assign]
    parser.feed(html)
    parser.close()
    assert tags <= {"table", "tr", "th", "td", "p", "pre", "code"}
    return "".join(texts)


def assert_plain_latex(latex: str) -> None:
    """No character of the name has a meaning."""
    assert "\\input{" not in latex
    body = re.sub("^%.*$", "", latex, flags=re.MULTILINE)
    display = r"\\\[.*?\\\]|\\begin\{gather\*\}.*?\\end\{gather\*\}"
    text = re.sub(display, "", body, flags=re.DOTALL).replace(r"\$", "")
    assert text.count("$") % 2 == 0
    text = re.sub(r"\$[^$]*\$", "", text)
    assert not re.search(r"(?<!\\)[&%#_<>~]", text), text


def test_html(path: str) -> None:
    imported = read(path)
    assert NAME in only_text(imported._repr_html_())
    proved = identify(from_arrays([([[1, 2]], [3])]))
    assert not isinstance(proved, Undecided)
    named = proved.with_provenance({NAME: NAME})
    assert only_text(named.certificate._repr_html_()).count(NAME) == 2
    same = equivalent(path, path)
    assert not isinstance(same, Undecided)
    tree = same.with_provenance({"source": NAME})
    assert NAME in only_text(tree.certificate._repr_html_())
    outcome = Undecided(NAME, (Attempt("shallow", NAME, (NAME,)),))
    assert "script" in only_text(outcome._repr_html_())
    condition: Condition[None] = Condition("generic", "unchecked", 5, "cells", reason=NAME)
    assert NAME in only_text(condition._repr_html_())
    assert NAME in only_text(fiber(path)._repr_html_()) or "script" not in fiber(path)._repr_html_()
    for table in (html_table([(NAME, NAME)]), html_columns([NAME], [[NAME]])):
        assert only_text(table) == 2 * NAME


def test_html_of_a_certificate_text() -> None:
    text = CertificateText(
        "identifiable", NAME, None, f"network in {NAME}", NAME, NAME, "affine", (), {NAME: NAME}
    )
    assert only_text(text._repr_html_()).count(NAME) >= 4


def test_latex(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert escaped_latex(NAME) == (
        r"=cmd()$<$script$>$alert(1)\&\textbackslash{}input\{x\}\_\$\%\#\^{}\~{}"
    )
    assert_plain_latex(fiber_latex(fiber(path), [NAME]))
    report = tmp_path / "report.tex"
    assert run(capsys, "fiber", path, "-o", str(report), "--sample", "1", "--to", str(tmp_path))
    assert_plain_latex(report.read_text())
    text = CertificateText(
        "identifiable", "0" * 64, None, f"network in {NAME}", "all", NAME, "affine", (), {}
    )
    assert_plain_latex(describe_latex(text))


def test_latex_of_a_kept_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A certificate names the file of a large network; `show --latex` prints the name."""
    save(from_arrays([([[1] * 5001], [0])]), tmp_path / "net.json")
    cert = tmp_path / "my_net_1.cert.json"
    status, _, errors = run(capsys, "identify", str(tmp_path / "net.json"), "-o", str(cert))
    assert status == 0, errors
    assert [file.name for file in tmp_path.glob("*.network.json")] == ["my_net_1.cert.network.json"]
    _, latex, _ = run(capsys, "show", str(cert), "--latex")
    assert r"my\_net\_1.cert.network.json" in latex
    assert_plain_latex(latex)


def test_tables(path: str, tmp_path: Path) -> None:
    """A cell of a CSV file holds numbers, signs and truth values, never a name."""
    cells = canonical_complex(path)
    save_complex(cells, tmp_path / "cells.csv")
    save_breakpoints(breakpoint_complex(cells), tmp_path / "weights.csv")
    save_regions(region_graph(path), tmp_path / "regions.csv")
    for name in ("cells.csv", "weights.csv", "regions.csv"):
        with (tmp_path / name).open(newline="") as file:
            _, *rows = csv.reader(file)
        assert rows
        for cell in (cell for row in rows for cell in row):
            assert re.fullmatch(r"[-+0-9/|;, ]*|true|false|True|False", cell), cell


@pytest.mark.parametrize("ending", [".graphml", ".gexf"])
def test_graphs(path: str, tmp_path: Path, ending: str) -> None:
    for name in ("cells", "regions", "weights"):
        target = tmp_path / f"{name}{ending}"
        if name == "cells":
            save_complex(canonical_complex(path), target)
        elif name == "regions":
            save_regions(region_graph(path), target)
        else:
            save_breakpoints(breakpoint_complex(canonical_complex(path)), target)
        tags = {element.tag.rpartition("}")[2] for element in ET.parse(target).iter()}
        assert tags
        assert "script" not in tags
        assert "cmd()" not in target.read_text()


def test_pictures(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"{NAME}.svg"
    status, _, errors = run(capsys, "plot", path, "-o", str(picture))
    assert status == 0, errors
    text = picture.read_text(encoding="utf-8")
    assert "<script" not in text
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    shown = canonical_complex(path)._repr_svg_()
    assert shown is not None
    assert "script" not in shown
