"""`polyrelu audit`: exit statuses, reports as JSON, Markdown and HTML, errors."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from polyrelu import audit, save
from polyrelu.cli.audit import TOOLS
from polyrelu.formats import ClaimsFile
from tests.cli.commands import run, run_json
from tests.generators.planted_faults import small_network

EVIL = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network and two files of claims, to work in."""
    monkeypatch.chdir(tmp_path)
    save(small_network(1), "net.json")
    Path("right.csv").write_text("# domain: box:-1,1\ncount,value\nregions,24\n")
    Path("wrong.csv").write_text("v_0,v_1\n0.5,0.5\n")
    return tmp_path


def test_exit_statuses_and_objects(capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = run_json(capsys, "audit", "net.json", "--against", "right.csv")
    assert (status, answer["status"]) == (0, "agrees")
    (report,) = answer["reports"]
    assert (report["counts"], report["findings"]) == ({"right": 1}, [])
    options = ["--domain", "box:-1,1", "--max-findings", "2"]
    status, answer = run_json(capsys, "audit", "net.json", "--against", "wrong.csv", *options)
    assert (status, answer["status"]) == (1, "differs")
    (report,) = answer["reports"]
    assert len(report["findings"]) == 2 < report["num_findings"]
    assert report["findings"][0]["size"].count("/") == 1


def test_reports_are_written_and_escaped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--html", "out.html", "--markdown", "out.md"]
    status, out, _ = run(capsys, "audit", "net.json", "--against", "right.csv", *files)
    assert status == 0
    assert out.endswith("written: out.md\nwritten: out.html\n")
    assert Path("out.md").read_text().startswith("# Audit of net.json: right.csv\n")
    finding = audit.Finding("vertex", "extra", EVIL, causes=(audit.Cause(EVIL, "a & b"),))
    report = audit.AuditReport(EVIL, ("extra",), 0, (finding,), 3, EVIL, (EVIL,))
    page = audit.html_report([report], EVIL)
    assert page.isascii()
    tags: list[str] = []

    class Collect(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.append(tag)

    Collect().feed(page)
    assert "script" not in tags
    assert tags.count("table") == 1
    assert "src=" not in page
    assert "href=" not in page
    text = audit.markdown_report([report], "a\nb [x](y)")
    assert "<script>" not in text
    assert text.startswith("# a b \\[x\\](y)\n")
    assert "2 findings more" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--against", "none.json"], "none.json: cannot read: No such file"),
        (["--against", "cat"], "expected a .json, .csv or .npz file, or one of relucent"),
        (["--against", "wrong.csv", "--html", "wrong.csv"], "would overwrite wrong.csv"),
        (["--against", "wrong.csv", "--html", "no/x.html"], "there is no such folder"),
        (["--against", "wrong.csv", "--max-findings", "-1"], "must be 0 or more"),
        (["--against", "right.csv", "--domain", "R^n"], "names the domain box"),
        (["--against", "torch"], "points are tried on bounded domains only"),
        ([], "required: --against"),
    ],
)
def test_errors(
    arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    status, out, err = run(capsys, "audit", "net.json", *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_counterexamples_of_a_verifier(capsys: pytest.CaptureFixture[str]) -> None:
    Path("query.vnnlib").write_text(
        "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)"
        "(declare-const Y_1 Real)(assert (<= X_0 0.5))(assert (>= Y_0 -100.0))"
    )
    for name, x in (("a.txt", "0.5"), ("b.txt", "0.50000001")):
        Path(name).write_text(f"sat\n((X_0 {x})\n (X_1 0.25))\n")
    arguments = ["net.json", "--query", "query.vnnlib", "--against", "a.txt,b.txt"]
    status, answer = run_json(capsys, "audit", *arguments)
    assert status == 1
    (finding,) = answer["reports"][0]["findings"]
    assert finding["size"] == "1/100000000"
    assert finding["causes"][0]["name"] == "box edge"


def test_tools_are_known() -> None:
    assert TOOLS == audit.TOOLS


def test_an_interrupted_complex_is_undecided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from polyrelu.topology import UnfinishedError

    def interrupted(*_: object, **__: object) -> None:
        raise UnfinishedError("the complex is incomplete")

    monkeypatch.setattr(audit, "audit_claims", interrupted)
    status, out, err = run(capsys, "audit", "net.json", "--against", "right.csv")
    assert (status, out, err) == (3, "", "polyrelu: interrupted; nothing was written\n")


def test_a_file_of_claims_is_read_once() -> None:
    file = ClaimsFile("x", {"counts": {"regions": 24}})
    assert audit.audit_claims(small_network(1), file, "box:-1,1")[0].agrees
