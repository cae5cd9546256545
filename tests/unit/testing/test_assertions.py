"""Assertions about float tools: what they accept, and the five lines with which they fail."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.audit import ActivationPatterns, Allowance, LocalMaps, ground_truth
from polyrelu.corpus import find_entry
from polyrelu.network import Network, from_arrays
from polyrelu.testing import (
    assert_outputs_within_rounding,
    assert_same_function,
    assert_same_regions,
    assert_same_vertices,
    assert_sound_bounds,
    assert_valid_counterexample,
)

SLIVER = find_entry("sliver-strip-40")


def _fails(assertion: Callable[..., None], *arguments: Any, **choices: Any) -> list[str]:
    with pytest.raises(AssertionError) as error:
        assertion(*arguments, **choices)
    lines = str(error.value).splitlines()
    assert len(lines) <= 5
    return lines


def _signs(entry: Any) -> list[list[int]]:
    """The signs of all regions on the box, as the corpus lists them."""
    return [
        ["-0+".index(sign) - 1 for sign in region["signs"].replace("|", "")]
        for region in entry.answers["complexes"][1]["regions"]
    ]


def test_regions() -> None:
    signs, box = _signs(SLIVER), SLIVER.domain
    truth = ground_truth(SLIVER.network, box)
    assert_same_regions(SLIVER.network, signs, box)
    assert_same_regions(truth, np.array(signs))
    assert_same_regions(truth, ActivationPatterns(np.array(signs) > 0))
    assert_same_regions(truth, signs[:-1], is_complete=False)
    thin = next(row for row in signs if row == [1, -1, 1])
    lines = _fails(assert_same_regions, truth, [row for row in signs if row != thin])
    assert lines[:3] == [
        "regions as sign vectors: differs (5 right, 1 missing)",
        "missing region: the region +-+ is not in the list",
        "witness: (1/2199023255552, 1/2199023255552)",
    ]
    assert lines[3].startswith("inradius: ")
    assert lines[4].startswith("cause: sliver: ")
    assert "duplicated" in _fails(assert_same_regions, truth, [*signs, signs[0]])[0]
    points = LocalMaps(np.array([[0.5, 0.5]]), np.array([[[0.0, 7.0]]]), np.array([[0.0]]))
    assert "wrong" in _fails(assert_same_regions, truth, points, is_complete=False)[0]


def test_vertices() -> None:
    entry = find_entry("concurrent-5")
    exact = [list(map(Fraction, v)) for v in entry.answers["complexes"][1]["vertices"]]
    floats = [list(map(float, vertex)) for vertex in exact]
    assert_same_vertices(entry.network, exact, entry.domain)
    assert_same_vertices(entry.network, floats, entry.domain)
    floats[3][1] += 1e-9
    assert "wrong vertex" in _fails(assert_same_vertices, entry.network, floats, entry.domain)[1]
    loose = Allowance(absolute="1/100000000")
    assert_same_vertices(entry.network, floats, entry.domain, allowance=loose)


def _in_floats(network: Network, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The outputs of a network in the number type of the points."""
    values = points
    for number in range(1, network.depth + 1):
        rows = network.weight(number).to_numpy().astype(points.dtype)
        bias = network.bias(number).to_numpy().astype(points.dtype).ravel()
        values = values @ rows.T + bias
        if number <= network.num_hidden_layers:
            values = np.maximum(values, 0)
    return values


def test_outputs() -> None:
    network = find_entry("trained-moons-2-4-1").network
    points = [[0.5, -0.25], [1, 1], [-0.75, 0.125]]
    for arithmetic in ("float32", "float64"):

        def runtime(table: np.ndarray[Any, Any], wanted: str = arithmetic) -> Any:
            assert table.dtype == wanted
            return _in_floats(network, table)

        assert_outputs_within_rounding(network, points, runtime, arithmetic=arithmetic)
    values = _in_floats(network, np.array(points))
    assert_outputs_within_rounding(network, points, values)
    values[1] += 1e-7
    lines = _fails(assert_outputs_within_rounding, network, points, values)
    assert lines[1].startswith("wrong output: item 1: output 0 is given as ")
    assert lines[2] == "witness: (1, 1)"


def test_counterexamples(tmp_path: Path) -> None:
    network = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    query, found = tmp_path / "query.vnnlib", tmp_path / "found.counterexample"
    query.write_text(
        "(declare-const X_0 Real) (declare-const Y_0 Real)\n"
        "(assert (<= X_0 1.0))\n(assert (>= X_0 -1.0))\n(assert (>= Y_0 0.5))\n"
    )
    found.write_text("((X_0 -0.75) (Y_0 0.75))")
    assert_valid_counterexample(network, query, found)
    found.write_text("((X_0 1.0000000001) (Y_0 1.0))")
    lines = _fails(assert_valid_counterexample, network, query, found)
    assert lines[1] == "wrong counterexample: item 0: the assertion of line 2 fails"
    assert lines[3].startswith("distance from the box: ")


def test_bounds() -> None:
    entry = find_entry("trained-saddle-2-4-2-1")
    (output,) = entry.answers["outputs"]
    lower, upper = Fraction(output["lower"]), Fraction(output["upper"])
    assert_sound_bounds(entry.network, [lower], [upper], entry.domain)
    lines = _fails(assert_sound_bounds, entry.network, None, [float(upper) - 1e-9], entry.domain)
    assert lines[1].startswith("wrong bound: the upper bound ")
    assert "witness: (" in lines[2]
    assert_sound_bounds(ground_truth(entry.network, entry.domain), [lower])


def test_functions() -> None:
    entry = find_entry("pair-half-a")
    other = find_entry("pair-half-b").network
    assert_same_function(entry.network, other, "box:0,1")
    lines = _fails(assert_same_function, entry.network, other)
    assert lines[1].startswith("wrong function: the functions differ: output 0")
    lines = _fails(assert_same_function, "corpus:deep-2-3-3-3-1", _moved(), budget=0)
    assert lines[0] == "functions of two networks: undecided (1 not refuted)"
    assert lines[1].startswith("not refuted function: neither a proof nor")
    choices: dict[str, Any] = {"budget": 0, "accept_undecided": True}
    assert_same_function("corpus:deep-2-3-3-3-1", _moved(), **choices)


def _moved() -> Network:
    from polyrelu.symmetry import permute

    return permute("corpus:deep-2-3-3-3-1", 2, [2, 0, 1])
