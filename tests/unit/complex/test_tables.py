"""Parquet tables of cells and weights say the same as the objects."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu.breakpoints import breakpoint_complex, save_breakpoints
from polyrelu.complex import canonical_complex, point_in, save_complex
from polyrelu.network import from_arrays

parquet = pytest.importorskip("pyarrow.parquet")

CELLS = canonical_complex(
    from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 3, 0], [0, 1, "1/2"]], [0, 1])]),
    "box:-1,2",
)


def test_cells(tmp_path: Path) -> None:
    save_complex(CELLS, tmp_path / "cells.parquet")
    rows = parquet.read_table(tmp_path / "cells.parquet").to_pylist()
    assert len(rows) == len(CELLS)
    for row, cell in zip(rows, CELLS, strict=True):
        k, index = row["dimension"], row["cell"]
        assert (k, index) == (cell.dimension, cell.index)
        assert row["signs"] == "".join("-0+"[s + 1] for s in CELLS.signs(k)[index])
        offsets, facets = CELLS.facets(k)
        assert row["facets"] == facets[offsets[index] : offsets[index + 1]].tolist()
        assert tuple(map(Fraction, row["interior_point"])) == point_in(CELLS, cell)


def test_weights(tmp_path: Path) -> None:
    found = breakpoint_complex(CELLS)
    save_breakpoints(found, tmp_path / "weights.parquet")
    rows = parquet.read_table(tmp_path / "weights.parquet").to_pylist()
    for row, facet in zip(rows, found, strict=True):
        assert (row["facet"], row["plus"], row["minus"]) == (
            facet.facet.index,
            facet.plus,
            facet.minus,
        )
        assert tuple(map(int, row["normal"])) == tuple(facet.normal)
        assert tuple(map(Fraction, row["weight"])) == tuple(facet.weight)
        assert Fraction(row["offset"]) == facet.offset
        assert row["visible"] == facet.visible


def test_one_file_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        save_complex(CELLS, tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
