"""The table of the field: tools that the tests have, on networks that they get right and wrong."""

from __future__ import annotations

import pytest

from benchmarks.field import asked
from benchmarks.field_tools import Tool, tools
from polyrelu.corpus import find_entry

TOOLS = {tool.name.split()[0]: tool for tool in tools()}


def _verdict(tool: Tool, name: str) -> dict[str, object]:
    entry = find_entry(name)
    assert tool.is_asked(entry)
    return asked(tool, entry, 60)


@pytest.mark.parametrize(
    ("tool", "right", "wrong", "finding"),
    [
        ("random", "parallel-2", "sliver-strip-20", "the region "),
        pytest.param(
            *("LP", "parallel-2", "sliver-strip-30", "the region "), marks=pytest.mark.slow
        ),
        ("allclose", "pair-moved-a", "pair-bias-ulp-a", "the functions differ"),
        ("cubical", "topology-annulus", "sliver-line-60", "b_0 of the sublevel set is given as 2"),
        ("onnxruntime", "concurrent-3", None, ""),
    ],
)
def test_tools(tool: str, right: str, wrong: str | None, finding: str) -> None:
    if tool not in TOOLS:
        pytest.skip("the tool is not installed")
    assert _verdict(TOOLS[tool], right) == {"verdict": "agrees"}
    if wrong is not None:
        found = _verdict(TOOLS[tool], wrong)
        assert found["verdict"] == "differs"
        assert str(found["finding"]).startswith(finding)
        assert found["witness"]


def test_refusals_and_late_answers() -> None:
    def refuse(_: object) -> list[object]:
        raise RuntimeError("shape '[4, 1]'\nis invalid")

    def endless(_: object) -> list[object]:
        while True:
            pass

    entry = find_entry("xor")
    found = [
        asked(Tool("", "", "", lambda _: True, ask), entry, 0.05)  # type: ignore[arg-type]
        for ask in (refuse, endless)
    ]
    assert found == [
        {"verdict": "refuses", "text": "RuntimeError: shape '[4, 1]' is invalid"},
        {"verdict": "no answer", "text": "after 0.05 seconds"},
    ]
