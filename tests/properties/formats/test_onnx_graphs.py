"""Random graphs with branches: all values agree with onnxruntime within the proved bound.

Readers with one planted mistake each show that the comparison finds mistakes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import NetworkFileError
from polyrelu.formats import read
from polyrelu.formats.graph import tensors
from tests.generators.campaigns import case, few_and_all
from tests.generators.onnx_files import write
from tests.generators.random_onnx import random_graph


@pytest.mark.parametrize("seeds", few_and_all(range(50), range(400)))
def test_random_graphs_agree_with_onnxruntime(seeds: range, tmp_path: Path) -> None:
    compared = 0
    for seed in seeds:
        path = write(tmp_path, "net.onnx", random_graph(seed))
        with case(seed):
            try:
                imported = read(path)
            except NetworkFileError as error:  # a division by a weight that is zero
                assert "by a constant that is 0" in str(error)  # noqa: PT017
                continue
            assert imported.comparison.runtime, imported.comparison
        compared += 1
    assert compared > 4 / 5 * len(seeds)


_WRONG: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "a max pool takes zeros for its padding": (
        "_maxima_of_groups",
        lambda right: lambda graph, x, members: right(graph, x, np.maximum(members, 0)),
    ),
    "relu does nothing": ("relu", lambda right: lambda graph, x: x),
    "slopes are taken for positive values": ("leaky_relu", lambda _: tensors.multiply),
    "a difference is a sum": ("add", lambda right: lambda graph, x, y, sign=1: right(graph, x, y)),
    "a clip has no upper limit": (
        "clip",
        lambda right: lambda graph, x, low, high: right(graph, x, low, None),
    ),
    "constants are doubled by one part in a million": (
        "add_constant",
        lambda right: (
            lambda graph, x, c: right(graph, x, c * (1 + 1e-6) if c.dtype != object else c)
        ),
    ),
    "entries are taken in reverse": (
        "take_entries",
        lambda right: lambda graph, x, chosen: right(graph, x, chosen[..., ::-1]),
    ),
}


@pytest.mark.parametrize("names", few_and_all([*_WRONG][1:3], [*_WRONG]))
def test_a_wrong_reader_is_caught(names: list[str], tmp_path: Path) -> None:
    """The comparison names the first value that disagrees."""
    for name in names:
        function, wrong = _WRONG[name]
        caught = 0
        with case(name), pytest.MonkeyPatch.context() as patch:
            patch.setattr(tensors, function, wrong(getattr(tensors, function)))
            for seed in range(60):
                try:
                    read(write(tmp_path, "net.onnx", random_graph(seed)))
                except NetworkFileError as error:
                    caught += "is not read as its runtime does" in str(
                        error
                    ) or "entries, the exact network" in str(error)
            assert caught >= 3
