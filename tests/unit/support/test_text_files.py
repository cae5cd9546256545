"""The layout of JSON, files that appear completely or not at all, and Ctrl-C during writing."""

from __future__ import annotations

import itertools
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu.complex import canonical_complex, save_complex
from polyrelu.network import from_arrays
from polyrelu.support.progress import ProgressStep
from polyrelu.support.text_files import LazyList, layout, layout_bytes, layout_pieces, write_all


def by_recursion(value: Any, indent: str = "", room: int = 110) -> str:
    """The layout as it is defined, with the text of every value made in one go."""
    flat = json.dumps(value)
    if len(flat) <= room or not isinstance(value, dict | list):
        return flat
    deeper = indent + " "
    named = isinstance(value, dict)
    entries = [
        f"{deeper}{json.dumps(key)}: {by_recursion(value[key], deeper, room)}"
        if named
        else deeper + by_recursion(key, deeper, room)
        for key in value
    ]
    first, last = "{}" if named else "[]"
    return f"{first}\n" + ",\n".join(entries) + f"\n{indent}{last}"


def random_value(rng: Random, depth: int) -> Any:
    kind = rng.randrange(7)
    if depth == 0 or kind < 3:
        words = ["é" * rng.randrange(30), "x" * rng.randrange(130), ""]
        return rng.choice([None, True, 1.5, -12345678901234567890, [], {}, *words])
    if kind < 5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(30))]
    keys = ["k" * rng.randrange(60) + str(number) for number in range(rng.randrange(9))]
    return {key: random_value(rng, depth - 1) for key in keys}


def with_rows(value: Any) -> Any:
    """The same document with a `LazyList` in place of each list."""
    if isinstance(value, dict):
        return {key: with_rows(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return LazyList(len(value), lambda: map(with_rows, value))
    return value


def test_the_layout_is_its_definition() -> None:
    rng = Random(1)
    for _ in range(8):
        value = random_value(rng, 4)
        expected = by_recursion(value)
        assert layout(value) == layout(with_rows(value)) == expected
        assert b"".join(layout_bytes(value)).decode() == f"{expected}\n"
        assert json.loads(expected) == value


def test_what_is_no_json() -> None:
    with pytest.raises(TypeError, match="set is no part of a JSON document"):
        layout({"a": {1}})


def test_pieces_of_a_long_document_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two pieces Ctrl-C takes effect; a `LazyList` makes one entry at a time."""
    asked = 0

    def rows() -> Iterator[list[int]]:
        nonlocal asked
        for number in range(2_000):
            asked = number
            yield [number] * 20

    pieces = layout_pieces({"some": {"rows": LazyList(2_000, rows)}})
    for number, piece in enumerate(pieces):
        assert len(piece) <= 140
        assert asked <= number
    assert asked == 1_999
    monkeypatch.setattr("polyrelu.support.text_files._PART", 10_000)
    parts = list(layout_bytes({"some": {"rows": LazyList(2_000, rows)}}))
    assert len(parts) > 4
    assert max(map(len, parts)) < 10_200


@pytest.mark.parametrize("name", ["file.json", "file.json.gz"])
def test_ctrl_c_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    (tmp_path / name).write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_all([(tmp_path / "other.json", "whole"), (tmp_path / name, pieces())])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


def longest_wait(widths: tuple[int, ...], path: Path) -> float:
    """Save a complex; return the longest time between two moments when a signal is answered.

    The time is that of the processor, so that other processes do not count.
    """
    rng = np.random.default_rng(0)
    shapes = itertools.pairwise(widths)
    network = from_arrays(
        [(rng.integers(-9, 10, (m, n)), rng.integers(-9, 10, m)) for n, m in shapes]
    )
    cells = canonical_complex(network)
    moments, steps = [time.process_time()], list[ProgressStep]()
    before = signal.signal(signal.SIGPROF, lambda *_: moments.append(time.process_time()))
    signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    try:
        save_complex(cells, path, progress=steps.append)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert {step.stage for step in steps} == {"preparing the file", "writing JSON"}
    assert len(moments) > 3
    return max(late - early for early, late in itertools.pairwise(moments))


def test_ctrl_c_never_waits_long(tmp_path: Path) -> None:
    assert longest_wait((3, 8, 5, 1), tmp_path / "cells.json") < 1


@pytest.mark.slow
def test_ctrl_c_never_waits_long_in_a_large_complex(tmp_path: Path) -> None:
    assert longest_wait((3, 20, 10, 1), tmp_path / "cells.json") < 1
