"""Random plain stacks written and read back: the identity where the file says that it is exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from polyrelu import NetworkError, load, save
from polyrelu.exact import FLOAT32, FLOAT64
from polyrelu.network import from_arrays
from tests.generators.campaigns import examples
from tests.generators.strategies import (
    architectures,
    dyadic_rationals,
    rationals,
    shaped_rows,
)


@st.composite
def stacks(draw: st.DrawFn, entries: st.SearchStrategy[Fraction]) -> list[tuple[object, object]]:
    """Pairs (W, b) of one architecture."""
    widths = draw(architectures())
    return [
        (draw(shaped_rows(m, n, entries)), [row[0] for row in draw(shaped_rows(m, 1, entries))])
        for n, m in pairwise(widths)
    ]


@pytest.mark.parametrize("ending", [".json", ".npz", ".nnet", ".onnx"])
@given(pairs=stacks(dyadic_rationals()))
@examples(15)
def test_floats_come_back(ending: str, pairs: list[tuple[object, object]]) -> None:
    if ending == ".onnx":
        pytest.importorskip("onnx")
    network = from_arrays(pairs)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"net{ending}")
        written = save(network, path)
        assert written.exact
        assert load(path, compare=False) == network


@pytest.mark.parametrize("ending", [".json", ".npz", ".nnet"])
@given(pairs=stacks(rationals()))
@examples(25)
def test_exact_or_said(ending: str, pairs: list[tuple[object, object]]) -> None:
    """Each number is at most the stated difference away, and one of them is exactly so far."""
    network = from_arrays(pairs)
    numbers = [
        entry
        for layer in network.layers
        for matrix in (layer.weight, layer.bias)
        for entry in matrix.entries()
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder, f"net{ending}")
        if ending != ".json" and max(map(abs, numbers)) > FLOAT64.largest:
            with pytest.raises(NetworkError, match="beyond the range of float64"):
                save(network, path)
            assert not path.exists()
            return
        written = save(network, path)
        back = load(path)
    found = [
        entry
        for layer in back.layers
        for matrix in (layer.weight, layer.bias)
        for entry in matrix.entries()
    ]
    moved = max(abs(a - b) for a, b in zip(numbers, found, strict=True))
    assert written.largest_difference == moved
    assert written.exact == (back == network)
    if ending == ".npz":
        assert written.exact == all(map(FLOAT64.holds, numbers))
        assert (written.numbers == "float32") == all(map(FLOAT32.holds, numbers))
