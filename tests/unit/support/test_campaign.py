"""Campaigns: one row for each item, whoever does the work, and after interruptions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.support import ProgressStep
from polyrelu.support.parallel import Processes, campaign, save_rows
from tests.generators.parallel_tasks import described, total

ROWS: list[dict[str, Any]] = [
    {"name": "a", "regions": 7, "flat": True, "share": 0.5, "huge": 2**63, "widths": [1, 2]},
    {"name": "b,\n", "regions": None, "flat": False, "error": "no"},
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for number in range(3):
        network = polyrelu.from_arrays([([[number, 1]], [0]), ([[1]], [number])])
        polyrelu.save(network, tmp_path / f"{number}.json")
    (tmp_path / "bad.json").write_text("{")
    return {path.name: path for path in sorted(tmp_path.glob("*.json"))}


def test_rows_with_two_processes(files: dict[str, Path]) -> None:
    rows = campaign(described, files, {"factor": 2})
    assert [row["name"] for row in rows] == ["0.json", "1.json", "2.json", "bad.json"]
    assert [row.get("size") for row in rows] == [10, 10, 10, None]
    assert "bad.json" in rows[-1]["error"]
    assert campaign(described, files, {"factor": 2}, workers=Processes(2)) == rows


def test_rows_that_are_kept(files: dict[str, Path], tmp_path: Path) -> None:
    """An interrupted campaign goes on; new items and files that changed are asked about."""
    kept, seen = tmp_path / "kept", list[int]()

    def stop(step: ProgressStep) -> None:
        seen.append(step.num_done)
        if step.num_done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        campaign(described, files, {"factor": 1}, checkpoint=kept, progress=stop)
    assert seen == [1, 2]
    whole = campaign(described, files, {"factor": 1})
    assert campaign(described, files, {"factor": 1}, checkpoint=kept) == whole
    polyrelu.save(polyrelu.from_arrays([([[1, 2, 3]], [0])]), files["1.json"])
    more = files | {"again": files["1.json"]}
    rows = campaign(described, more, {"factor": 1}, checkpoint=kept)
    assert [row.get("size") for row in rows] == [5, 4, 5, None, 4]


def test_items_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    """Arrays that are shown with an ellipsis, and folders whose files changed."""
    kept, folder, array = tmp_path / "kept", tmp_path / "folder", np.zeros(5000, dtype=int)
    folder.mkdir()
    found = list[int]()
    for number in (3, 4):
        array[2500] = number
        (folder / "file").write_text(str(number))
        items = {"array": array.copy(), "folder": folder}
        found += [row["total"] for row in campaign(total, items, checkpoint=kept)]
    assert found == [3, 3, 4, 4]
    with pytest.raises(ArgumentError, match="items: 'one' cannot be compared"):
        campaign(total, {"one": lambda: 1}, checkpoint=kept)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda path: campaign(described, {}, {"factor": 2}, checkpoint=path), r"\(settings: "),
        (lambda path: campaign(dict, {}, {"factor": 1}, checkpoint=path), r"\(function: "),
    ],
)
def test_other_campaigns_are_refused(
    tmp_path: Path, call: Callable[[Path], object], text: str
) -> None:
    campaign(described, {}, {"factor": 1}, checkpoint=tmp_path / "kept")
    with pytest.raises(DomainError, match=f"of other work {text}"):
        call(tmp_path / "kept")


def test_functions_of_programs_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two programs that are begun with `python -m` may have functions of one name."""

    def size(item: int) -> dict[str, int]:
        return {"size": item}

    main = sys.modules["__main__"]
    size.__module__ = "__main__"
    monkeypatch.setattr(main, "__spec__", ModuleSpec("first", None))
    assert campaign(size, {"a": 1}, checkpoint=tmp_path / "kept") == [{"name": "a", "size": 1}]
    monkeypatch.setattr(main, "__spec__", ModuleSpec("second", None))
    with pytest.raises(DomainError, match=r"of other work \(function: "):
        campaign(size, {"a": 1}, checkpoint=tmp_path / "kept")


def test_tables(tmp_path: Path) -> None:
    save_rows(ROWS, tmp_path / "rows.json")
    assert json.loads((tmp_path / "rows.json").read_text()) == ROWS
    save_rows(ROWS, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == (
        "name,regions,flat,share,huge,widths,error\n"
        'a,7,true,0.5,9223372036854775808,"[1, 2]",\n"b,\n",,false,,,,no\n'
    )
    with pytest.raises(DomainError, match=r"rows\.txt: a table is written as \.json, \.csv"):
        save_rows(ROWS, tmp_path / "rows.txt")


def test_tables_of_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    save_rows(ROWS, tmp_path / "rows.parquet")
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column_names == [*ROWS[0], "error"]
    texts = {"huge": str(2**63), "widths": "[1, 2]", "error": None}
    assert table.to_pylist()[0] == ROWS[0] | texts
