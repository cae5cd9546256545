"""The queries of the page on tables run, in DuckDB, polars and pandas, and give right answers."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from polyrelu.breakpoints import breakpoint_complex, save_breakpoints
from polyrelu.complex import canonical_complex, save_region_stream
from polyrelu.network import from_arrays
from tests.generators.files import ROOT

PAGE = (ROOT / "docs/how-to/tables.md").read_text("utf-8")
#: Five hidden neurons, four outputs: somewhere each of them is the largest.
NET = from_arrays(
    [
        ([[1, 0], [0, 1], [1, 1], [1, -1], [2, 1]], [0, 0, -1, 0, 1]),
        ([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, -1, 0, 0], [0, 0, 1, 0, 0]], [0, 0, 1, -1]),
        ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 3]], [0, 0, 0, 0]),
    ]
)
ONE = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, "1/3", 2]], [0])])


def blocks(language: str) -> list[str]:
    """The blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Work in a folder with the files of the page; the rows of the regions."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    save_region_stream(NET, "box:-2,2", "regions.parquet")
    cells = canonical_complex(ONE, "box:-2,2")
    save_breakpoints(breakpoint_complex(cells), "weights.parquet")
    rows: list[dict[str, Any]] = parquet.read_table("regions.parquet").to_pylist()
    return rows


def test_queries_in_duckdb(in_folder: list[dict[str, Any]]) -> None:
    duckdb = pytest.importorskip("duckdb")
    queries = [query for block in blocks("sql") for query in block.split(";") if query.strip()]
    first, constant, share = [duckdb.sql(query).fetchall() for query in queries]
    facets = [row["facets"] for row in in_folder if row["largest"] == 3]
    assert facets
    assert first == [(len(facets), sum(facets) / len(facets), max(facets))]
    flat = [
        all(entry == "0" for line in row["affine_map"] for entry in line[:-1]) for row in in_folder
    ]
    assert constant == [(sum(flat),)]
    on = sum(row["signs"][4] == "+" for row in in_folder)
    assert share == [(on / len(in_folder),)]


def test_polars(in_folder: list[dict[str, Any]]) -> None:
    polars = pytest.importorskip("polars")
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    assert names["points"][0] == [float(Fraction(x)) for x in in_folder[0]["interior_point"]]
    counts = names["regions"].group_by("largest").agg(polars.len()).rows()
    assert dict(counts) == Counter(row["largest"] for row in in_folder)


@pytest.mark.usefixtures("in_folder")
def test_pandas(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    names: dict[str, Any] = {"Fraction": Fraction}
    exec(blocks("python")[1], names)
    sizes = names["weights"].assign(size=names["size"].map(float)).nlargest(1, "size")["size"]
    assert list(sizes) == [2.0]
    assert "size" in capsys.readouterr().out
