"""Regions part by part: those of a whole complex, and the same bytes whoever does the work."""

from __future__ import annotations

import csv
import gc
import hashlib
import sqlite3
import tracemalloc
import zlib
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polyrelu.complex import (
    canonical_complex,
    count_regions,
    region_stream,
    save_region_stream,
    stream_complex,
)
from polyrelu.complex.engine.compiled import subdivision_of
from polyrelu.complex.frame import frame_of
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import as_domain
from polyrelu.network import Network, from_arrays
from polyrelu.support.parallel import Processes, Serial, Workers
from polyrelu.support.progress import ProgressStep

Rows = list[dict[str, str]]


def _network(widths: tuple[int, ...], seed: int = 1) -> Network:
    rng = Random(seed)
    layers = []
    for inputs, outputs in pairwise(widths):
        weight = [[rng.randint(-9, 9) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [rng.randint(-9, 9) for _ in range(outputs)]))
    return from_arrays(layers)


#: Enough regions of the first layer that they are divided into 40 tasks.
MANY = _network((3, 16, 5, 2))
SMALL = {
    "two layers": _network((2, 5, 4, 3)),
    "lines": from_arrays([([[1, 1]], [0]), ([[2]], [1])]),
    "dead": from_arrays([([[0, 0], [1, 1]], [-1, 0]), ([[1, 1]], [0])]),
    "affine": from_arrays([([[1, 2]], [3])]),
}
DOMAINS: list[tuple[str, Any]] = [
    ("whole", None),
    ("box", "box:-1,1"),
    ("segment", Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 1], [[0, 1]], [0])),
    ("point", Polyhedron.from_constraints([], [], [[1, 0], [0, 1]], [1, 1])),
]


def _rows(path: Path) -> Rows:
    with path.open() as file:
        return list(csv.DictReader(file))


def _numbers(text: str) -> list[Fraction]:
    return [Fraction(entry) for entry in text.split()]


@pytest.mark.parametrize("domain", [domain for _, domain in DOMAINS], ids=[n for n, _ in DOMAINS])
@pytest.mark.parametrize("name", SMALL)
def test_the_rows_are_the_regions(tmp_path: Path, name: str, domain: Any) -> None:
    network = SMALL[name]
    cells = canonical_complex(network, domain)
    path = tmp_path / "regions.csv"
    totals = save_region_stream(network, domain, path)
    assert totals == count_regions(network, domain)
    assert (totals.num_regions, totals.num_bounded_regions) == (
        cells.num_regions,
        cells.num_bounded_regions,
    )
    rows = _rows(path)
    assert [int(row["region"]) for row in rows] == list(range(cells.num_regions))
    offsets = cells.facets(cells.dimension)[0].tolist()
    expected = {
        (
            str(cells.signs_of_region(k)),
            str(int(cells.bounded[k])),
            str(offsets[k + 1] - offsets[k]),
        )
        for k in range(cells.num_regions)
    }
    assert {(row["signs"], row["bounded"], row["facets"]) for row in rows} == expected
    for row in rows:
        point, outputs = _numbers(row["interior_point"]), _numbers(row["outputs"])
        assert str(network.sign_vector(point)) == row["signs"]
        assert list(network(point)) == outputs
        assert outputs.index(max(outputs)) == int(row["largest"])
        for line, value in zip(row["affine_map"].split("; "), outputs, strict=True):
            *linear, offset = _numbers(line)
            assert sum(a * x for a, x in zip(linear, point, strict=True)) + offset == value


def test_many_tasks_give_every_region_once(tmp_path: Path) -> None:
    path = tmp_path / "regions.csv"
    steps = list[str]()
    save_region_stream(
        MANY, None, path, columns=["signs"], progress=lambda step: steps.append(str(step))
    )
    signs = [row["signs"] for row in _rows(path)]
    expected = [
        str(part.signs_of_region(k))
        for part in stream_complex(MANY)
        for k in range(part.num_regions)
    ]
    assert len(signs) == len(set(signs))
    assert sorted(signs) == sorted(expected)
    assert len(steps) > 30
    assert steps[-1] == f"computing regions: {len(steps)} of {len(steps)} parts of the domain"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_same_bytes_with_any_workers_and_after_interruptions(
    tmp_path: Path, suffix: str
) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    kinds: list[Workers] = [Serial(), Processes(2)]
    found = set[bytes]()
    for number, workers in enumerate(kinds):
        path = tmp_path / f"{number}{suffix}"
        save_region_stream(MANY, "box:-1,1", path, columns=["signs", "outputs"], workers=workers)
        found.add(path.read_bytes())
    path, kept = tmp_path / f"again{suffix}", tmp_path / "work.db"
    for limit in (3, 9, None):
        count = [0]

        def stop(step: object, limit: int | None = limit, count: list[int] = count) -> None:
            """End the run after some tasks, as Ctrl-C does."""
            count[0] += 1
            if count[0] == limit:
                raise KeyboardInterrupt

        try:
            save_region_stream(
                MANY,
                "box:-1,1",
                path,
                columns=["signs", "outputs"],
                checkpoint=kept,
                progress=stop,
            )
        except KeyboardInterrupt:
            assert not path.exists()
    found.add(path.read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize(
    "workers", [None, pytest.param(Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_large_tasks_leave_parts_to_further_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: Workers | None
) -> None:
    """Every region comes once, in one order, also when the work is interrupted on the way."""
    for name, size in (("_DIVIDED_FROM", 4), ("_PART", 2), ("_ENOUGH", 3)):
        monkeypatch.setattr(region_stream, name, size)
    network, path, kept = (
        _network((2, 4, 4, 4, 4, 1)),
        tmp_path / "regions.csv",
        tmp_path / "work.db",
    )
    steps = list[ProgressStep]()
    totals = save_region_stream(
        network, None, path, columns=["signs"], workers=workers, progress=steps.append
    )
    signs = [row["signs"] for row in _rows(path)]
    cells = canonical_complex(network)
    expected = {str(cells.signs_of_region(k)) for k in range(cells.num_regions)}
    assert len(signs) == totals.num_regions == len(expected)
    assert set(signs) == expected
    assert steps[-1].num_done == steps[-1].num_total
    assert steps[-1].num_done > 1.2 * (steps[0].num_total or 0) > 0

    def stop(step: ProgressStep) -> None:
        """End the run within the further tasks."""
        if step.num_done == steps[-1].num_done - 9:
            raise KeyboardInterrupt

    again = tmp_path / "again.csv"
    with pytest.raises(KeyboardInterrupt):
        save_region_stream(network, None, again, columns=["signs"], checkpoint=kept, progress=stop)
    save_region_stream(network, None, again, columns=["signs"], workers=workers, checkpoint=kept)
    assert again.read_bytes() == path.read_bytes()


def _changed(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the first result of a checkpoint, with the right digest, as only a person would."""
    connection = sqlite3.connect(path)
    (data,) = connection.execute("SELECT data FROM results WHERE task = 0").fetchone()
    data = change(data)
    row = (data, hashlib.sha256(b"0:" + data).digest()[:16])
    connection.execute("UPDATE results SET data = ?, digest = ? WHERE task = 0", row)
    connection.commit()
    connection.close()


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "other": lambda _: b"other",
    "no numbers": lambda data: b"x" + data,
    "not packed": lambda data: data[:-9],
    "more": lambda data: data + b"more",
    "absurd sizes": lambda data: b"1 1 99999999999999999999\n\n" + data,
    "too large": lambda _: b"1 1 9\n\n" + zlib.compress(bytes(10**6)),
    "negative sizes": lambda data: b"1 1 -5 5\n\n" + zlib.compress(b""),
    "no such part": lambda data: b"1 1\n99999.2\n" + zlib.compress(b""),
}


@pytest.mark.parametrize("name", CHANGES)
def test_results_that_somebody_has_changed(tmp_path: Path, name: str) -> None:
    network, kept = SMALL["two layers"], tmp_path / "work.db"
    count_regions(network, checkpoint=kept)
    _changed(kept, CHANGES[name])
    with pytest.raises(DomainError, match="the checkpoint has the result of another program"):
        count_regions(network, checkpoint=kept)


def test_a_checkpoint_of_another_question_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "work.db"
    network = SMALL["two layers"]
    count_regions(network, checkpoint=kept)
    for other, domain, text in (
        (SMALL["lines"], None, r"other work \(another network\)"),
        (network, "box:-1,1", r"other work \(another domain\)"),
    ):
        with pytest.raises(DomainError, match=text):
            count_regions(other, domain, checkpoint=kept)
    with pytest.raises(
        DomainError, match=r"\(columns: nothing in place of signs bounded facets in"
    ):
        save_region_stream(network, None, tmp_path / "regions.csv", checkpoint=kept)


def test_the_table_of_a_parquet_file(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    network = SMALL["two layers"]
    save_region_stream(network, None, tmp_path / "regions.parquet")
    save_region_stream(network, None, tmp_path / "regions.csv")
    table = parquet.read_table(tmp_path / "regions.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "region": "int64",
        "signs": "string",
        "bounded": "bool",
        "facets": "int32",
        "interior_point": "list<element: string>",
        "outputs": "list<element: string>",
        "largest": "int32",
        "affine_map": "list<element: list<element: string>>",
    }
    for row, line in zip(table.to_pylist(), _rows(tmp_path / "regions.csv"), strict=True):
        assert row["signs"] == line["signs"]
        assert " ".join(row["outputs"]) == line["outputs"]
        assert "; ".join(" ".join(entries) for entries in row["affine_map"]) == line["affine_map"]


def test_wrong_files_and_columns(tmp_path: Path) -> None:
    network = SMALL["lines"]
    with pytest.raises(DomainError, match=r"written as \.csv, \.parquet; choose"):
        save_region_stream(network, None, tmp_path / "regions.json")
    with pytest.raises(DomainError, match="column 'sign': choose from signs, bounded"):
        save_region_stream(network, None, tmp_path / "regions.csv", columns=["sign"])
    with pytest.raises(PolyreluError, match="cannot write"):
        save_region_stream(network, None, tmp_path / "missing" / "regions.csv")


def test_finished_parts_leave_nothing_behind_in_the_whole() -> None:
    """Each part has a last layer of its own, whose arrays once stayed with the whole."""
    whole = subdivision_of(MANY, frame_of(MANY, as_domain("box:-1,1", 3)))
    left = whole.undivided(40)

    def finish(num_parts: int) -> int:
        """Finish some parts, and return the bytes that are in use afterwards."""
        for top in whole.slices(8)[:num_parts]:
            part = whole.part(top)
            assert part.cut_while_small(left, 4096) == []
            part.finish()
            del part
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        few = finish(4)
        assert finish(30) - few < 1 << 15
    finally:
        tracemalloc.stop()
