"""Arguments of networks and their parts: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.network import (
    ActivationPattern,
    AffineMap,
    Architecture,
    Block,
    Layer,
    Network,
    NeuronId,
    SignVector,
    affine_map_table,
    canonical_bytes,
    from_arrays,
    from_document,
    layer_from_rows,
    output_derivative,
    to_document,
    with_output_at_zero_of,
)
from tests.generators.wrong_arguments import WRONG, calls_with, outcome

PAIRS: list[tuple[Any, Any]] = [([[1, 2], [0, 1]], [0, 1]), ([[1, -1]], [3])]
NETWORK = from_arrays(PAIRS)
SIGNS = NETWORK.sign_vector([1, 2])
ROW, COLUMN = RationalMatrix.from_rows([[1, 2]]), RationalMatrix.column([1])
BLOCK = Block(0, ROW)
AFFINE = AffineMap(ROW, COLUMN)

#: Every function and constructor with arguments that fit. Not checked are the types of the entries
#: of patterns and of the fields of `NeuronId`: complexes make millions of them.
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
    "affine map": (AffineMap, (ROW, COLUMN)),
    "affine map at": (NETWORK.affine_map_at, ([1, 2],)),
    "affine map of": (NETWORK.affine_map, (SIGNS,)),
    "activations": (NETWORK.activations, ([[1, 2]],)),
    "architecture": (Architecture, ((2, 1), "affine")),
    "bias": (NETWORK.bias, (1,)),
    "block": (Block, (0, ROW)),
    "bytes": (canonical_bytes, (NETWORK,)),
    "derivative": (output_derivative, (NETWORK, SIGNS, NeuronId(1, 0))),
    "document": (from_document, (to_document(NETWORK),)),
    "evaluate": (NETWORK.evaluate, ([[1, 2]],)),
    "forms": (NETWORK.layer_forms, (1, [RationalMatrix.from_rows([[1, 0, 0], [0, 1, 0]])])),
    "from arrays": (from_arrays, (PAIRS, "relu")),
    "layer": (Layer, ((BLOCK,), COLUMN)),
    "layer of rows": (layer_from_rows, ([[1, 2, 3]], 0)),
    "network": (Network, (2, NETWORK.layers, "affine")),
    "pattern of a row": (ActivationPattern.from_row, ([True, False], [1, 1])),
    "preactivations": (NETWORK.preactivations, ([[1, 2]],)),
    "replace": (NETWORK.replace_layers, ({1: NETWORK.layers[0]},)),
    "sign vector": (NETWORK.sign_vector, ([1, 2],)),
    "table": (affine_map_table, (NETWORK, np.array([[True, False]]))),
    "to document": (to_document, (NETWORK,)),
    "value": (NETWORK, ([1, 2],)),
    "value of a map": (AFFINE, ([1, 2],)),
    "weight": (NETWORK.weight, (1,)),
    "with output": (with_output_at_zero_of, (NETWORK, NETWORK)),
}
#: The number of a layer that does not exist is an IndexError, as everywhere in Python.
INDEXED = ("bias", "weight", "forms")


@pytest.mark.parametrize("name", CALLS)
def test_one_wrong_argument(name: str) -> None:
    function, good = CALLS[name]
    assert outcome(lambda: function(*good)) == ""
    for wrong in WRONG:
        for call in calls_with(function, good, {}, wrong):
            with nullcontext() if name not in INDEXED else suppress(IndexError):
                outcome(call)


def test_no_such_layer() -> None:
    for number in (0, -1, 3):
        for function in (NETWORK.weight, NETWORK.bias, lambda k: NETWORK.layer_forms(k, [])):
            with pytest.raises(IndexError, match=f"there is no layer {number}: layers count from"):
                function(number)
    with pytest.raises(NetworkError, match="layer 2 needs the activations of 2 layers, got 0"):
        NETWORK.layer_forms(2, [])


@pytest.mark.parametrize("function", [to_document, canonical_bytes])
def test_what_is_no_network(function: Callable[[Any], object]) -> None:
    for wrong in (*WRONG, PAIRS):
        with pytest.raises(ArgumentError, match=r"network: expected Network, .*; polyrelu.load"):
            function(wrong)


def test_pairs_that_are_none() -> None:
    for wrong in (3, None, "ab", {"W": 1}):
        with pytest.raises(ArgumentError, match="layers: expected a sequence"):
            from_arrays(wrong)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="layer 1: expected a sequence"):
            from_arrays([wrong])  # type: ignore[list-item]
    with pytest.raises(NetworkError, match=r"layer 2: expected a pair \(W, b\), got 3 members"):
        from_arrays([PAIRS[0], (*PAIRS[1], 0)])  # type: ignore[list-item]
    ends: list[Any] = [None, "Affine", 3, [], "relu6"]
    for last in ends:
        with pytest.raises(NetworkError, match="a network ends in 'affine' or 'relu', not"):
            from_arrays(PAIRS, last)
        with pytest.raises(NetworkError, match="a network ends in 'affine' or 'relu', not"):
            Architecture((2, 1), last)
    assert from_arrays(pair for pair in PAIRS) == NETWORK


def test_points_that_are_none() -> None:
    functions: tuple[Any, ...] = (NETWORK, NETWORK.sign_vector, NETWORK.affine_map_at)
    for function in functions:
        for wrong in (3, None, "12"):
            with pytest.raises(ArgumentError, match=r"^x: expected a point of shape \(2,\)"):
                function(wrong)
        for entries in ([1], [1, 2, 3], [1, "x"], [1, None], [float("inf"), 1], [1, True]):
            with pytest.raises(NetworkError):
                function(entries)
    array: Any = np.array([0.5, 2.0])
    assert NETWORK(array) == NETWORK(["1/2", 2])


def test_patterns_that_do_not_fit() -> None:
    other = SignVector(((1,), (1, 0)))
    for function in (
        NETWORK.affine_map,
        lambda signs: output_derivative(NETWORK, signs, NeuronId(1, 0)),
    ):
        with pytest.raises(NetworkError, match=r"of layers of \[1, 2\] neurons does not fit"):
            function(other)
        with pytest.raises(ArgumentError, match=r"signs: expected ActivationPattern or SignVect"):
            function("+-")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="layer: expected int, got str '1'"):
        SIGNS.active("1")  # type: ignore[arg-type]


def test_parts_that_do_not_fit() -> None:
    with pytest.raises(ArgumentError, match=r"entries: expected RationalMatrix or SparseMatrix"):
        Block(0, [[1, 2]])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"blocks: expected tuple, got list"):
        Layer([BLOCK], COLUMN)  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="the layer has no blocks"):
        _ = Layer((), COLUMN).weight
    with pytest.raises(NetworkError, match=r"needs an offset of shape \(1, 1\), not \(1, 2\)"):
        AffineMap(ROW, ROW)
    with pytest.raises(NetworkError, match=r"needs at least its bias"):
        layer_from_rows([[]], 0)
    wide = from_arrays([([[1]], [0])])
    with pytest.raises(NetworkError, match=r"from R\^2 to R\^1, but the model maps R\^1 to R\^1"):
        with_output_at_zero_of(NETWORK, wide)
