"""The checker as one file: built from its sources, in the order of FORMAT.md, and readable."""

from __future__ import annotations

import ast
import re

from polyrelu import checker
from polyrelu.certificate import THEOREMS
from polyrelu.checking import build
from tests.generators.files import ROOT

FORMAT = (ROOT / "polyrelu" / "certificate" / "FORMAT.md").read_text(encoding="utf-8")
SOURCE = (ROOT / "polyrelu" / "checker.py").read_text(encoding="ascii")
#: Maximum number of lines of a function.
LONGEST_FUNCTION = 38
#: The functions that end a check unless a fact holds.
REQUIREMENTS = {"require", "well_formed"}


def test_the_file_is_what_its_sources_make() -> None:
    assert build.built() == SOURCE


def test_every_source_is_in_the_file() -> None:
    found = {path.stem for path in build.FOLDER.glob("*.py")} - {"__init__", "build"}
    assert found == set(build.MODULES)
    assert len(build.MODULES) == len(found)


def test_sections_have_the_numbers_and_names_of_the_format() -> None:
    wanted = re.findall(r"^##+ (\d+(?:\.\d+)?)\.? ([^(:\n]+)", FORMAT, re.MULTILINE)
    found = re.findall(r"^# ==== (\d+(?:\.\d+)?)\.? ([^(:\n]+?)(?:[:(].*)? ====$", SOURCE, re.M)
    plain = [(number, title.replace("`", "").strip()) for number, title in wanted]
    assert found == plain


def test_contents_name_the_lines() -> None:
    lines = SOURCE.splitlines()
    head = SOURCE[: SOURCE.index("from __future__")]
    entries = re.findall(r"^ +(\d+)  (.*)$", head, re.MULTILINE)
    assert len(entries) >= 40
    for number, title in entries:
        line = lines[int(number) - 1]
        assert title.strip().removesuffix("...").split()[-1].removesuffix(",") in " ".join(
            [line, lines[int(number)]]
        )


#: Evidence without a hypothesis of its own.
SILENT = {"membership", "lifted", "parts", "grid", "matching"}


def test_every_theorem_has_a_page_and_its_text() -> None:
    assert set(checker.THEOREMS) == set(THEOREMS)
    for name, theorem in checker.THEOREMS.items():
        assert (ROOT / theorem.page).is_file(), name
        assert theorem.page == THEOREMS[name].proof
        assert set(theorem.says) <= set(theorem.evidence) | {"tree", "cover", "inside", "edges"}
        assert set(theorem.evidence) - set(theorem.says) <= SILENT


def functions() -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.FunctionDef)]


def test_functions_are_short_and_explained() -> None:
    long = {
        node.name: size
        for node in functions()
        if (size := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    }
    assert not long
    silent = [n.name for n in functions() if ast.get_docstring(n) is None]
    assert set(silent) <= {"__init__", "__hash__", "__repr__", "__str__"}


def test_a_condition_is_one_fact() -> None:
    """No condition of a requirement joins several facts by `and`."""
    joined = []
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in REQUIREMENTS:
            condition = node.args[0] if node.args else None
            if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
                joined.append(ast.unparse(condition))
    assert not joined
