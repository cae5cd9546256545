"""The sources of the second checker: no gap in the proofs, and what has to be trusted is named."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERIFIED = ROOT / "verified"
THEORIES = sorted((VERIFIED / "theories").glob("*.v"))
PAGE = (ROOT / "docs" / "reference" / "verified-checker.md").read_text()
#: Theorems of other files than Checker.v that support verdicts.
OTHERS = ("competitor_holds", "shallow_holds", "regions_hold", "vertices_hold")
#: Ways to state something without a proof, or to switch checks of Coq off.
GAPS = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Declare|Abort|bypass_check"
    r"|Unset\s+(Guard|Positivity|Universe)|Guard Checking|Extract|type-in-type)\b"
)
#: What is assumed in a section becomes a hypothesis of its lemmas, if it is closed.
ASSUMED = re.compile(r"\s*(Variables?|Hypothes[ei]s|Context)\b")


def without_comments(text: str) -> str:
    """A theory without its comments, which are not nested."""
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def test_no_gap() -> None:
    assert len(THEORIES) > 10
    for path in THEORIES:
        assert not GAPS.search(without_comments(path.read_text())), path


def test_what_is_assumed_stands_in_sections() -> None:
    for path in THEORIES:
        opened = list[tuple[str, str]]()
        for line in without_comments(path.read_text()).splitlines():
            if found := re.match(r"(Section|Module) (\w+)\.", line):
                opened.append((found[1], found[2]))
            elif found := re.match(r"End (\w+)\.", line):
                assert opened.pop()[1] == found[1]
            elif ASSUMED.match(line):
                assert ("Section", opened[-1][1]) in opened, (path, line)
        assert not opened, path


def test_every_theory_is_built() -> None:
    listed = (VERIFIED / "_CoqProject").read_text().split()[3:]
    assert sorted(listed) == [f"theories/{path.name}" for path in THEORIES]


def test_the_page_names_what_is_trusted() -> None:
    """The files that a reviewer has to read, the theorems, the axioms, the realisers."""
    base = ("Networks", "Domains", "Claims", "Sentences", "Checker")
    competitors = ("Related", "Competitors", "Generic", "Refutations", "RealParameters")
    for name in (*base, *competitors, "Identifiable", "RegionLists", "Regions", "VertexSets"):
        assert f"`theories/{name}.v`" in PAGE
    checker = (VERIFIED / "theories" / "Checker.v").read_text()
    printed = (VERIFIED / "extraction" / "Assumptions.v").read_text()
    for theorem in (*re.findall(r"^Theorem (\w+)", checker, re.MULTILINE), *OTHERS):
        assert f"`{theorem}`" in PAGE
        assert f"Print Assumptions {theorem}." in printed
    for axiom in ("sig_forall_dec", "functional_extensionality_dep"):
        assert axiom in PAGE
        assert axiom in (ROOT / ".ci" / "verified").read_text()


def test_realisers_are_defined() -> None:
    """Extraction and the file of its OCaml functions agree."""
    used = set(re.findall(r"Realisers\.(\w+)", (VERIFIED / "extraction" / "Extract.v").read_text()))
    source = (VERIFIED / "driver" / "realisers.ml").read_text()
    assert used == set(re.findall(r"^let (\w+)", source, re.MULTILINE))


def test_nothing_built_is_committed() -> None:
    """The extracted code and the program are made where they are needed."""
    ignored = (VERIFIED / ".gitignore").read_text().split()
    assert {"build/", "polyrelu-check-verified", "*.vo"} <= set(ignored)
