"""Teaching sets: few values that no other network with one hidden layer has."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.outcomes import TeachingSet, Undecided
from tests.unit.recovery.test_recovery import random_network


def taught(network: polyrelu.Network, seed: int = 0) -> TeachingSet:
    found = polyrelu.teaching_set(network, seed=seed)
    assert isinstance(found, TeachingSet), found
    return found


def verdict(path: Path) -> str:
    return checker.check_file(path).verdict


@pytest.mark.parametrize("widths", [(1, 1, 1), (1, 4, 2), (2, 4, 1), (3, 5, 2), (4, 6, 1)])
def test_points_teach(widths: tuple[int, ...], tmp_path: Path) -> None:
    for seed in range(3):
        network = random_network(widths, seed)
        found = taught(network, seed)
        assert len(found.points) == 2 * widths[0] * widths[1] + 2
        assert found.values == tuple(network(x) for x in found.points)
        again = polyrelu.recover_taught(found)
        assert again is not None
        assert polyrelu.related(again, network)
        (path,) = found.save(tmp_path / f"{seed}.json")
        assert verdict(path) == "accepted"


def test_the_function_only() -> None:
    """The linear parts of both neurons cancel, so that their signs are not determined."""
    network = polyrelu.from_arrays([([[1, 0], [-1, 0]], [0, 1]), ([[2, 1]], [3])])
    found = taught(network)
    assert found.pins == "parameters"  # 2 (1, 0) - (1, 0) is not 0
    network = polyrelu.from_arrays([([[2, 0], [-1, 0]], [0, 1]), ([[1, 2]], [3])])
    assert polyrelu.teaching_set(network).status == "undecided"  # parallel, with equal jumps
    rows = [[1, 0], [0, 1], [-1, -1]]
    network = polyrelu.from_arrays([(rows, [0, 1, 5]), ([[1, 1, 1]], [3])])
    found = taught(network)
    assert found.pins == "function"
    assert "computes the same function" in found.statement
    again = polyrelu.recover_taught(found)
    assert again is not None
    assert polyrelu.equivalent(again, network).status == "proved"


def test_networks_that_are_not_regular() -> None:
    for rows, biases, outgoing, reason in (
        ([[0, 0], [1, 0]], [1, 1], [1, 1], "neuron 0 has no weights"),
        ([[1, 1], [1, 0]], [1, 1], [1, 0], "neuron 1 has no output weights"),
        ([[1, 1], [-2, -2]], [1, -2], [1, 1], "neurons 0 and 1 vanish on the same hyperplane"),
        ([[1, 1], [-2, -2]], [1, 7], [2, 1], "parallel hyperplanes with equal jumps"),
    ):
        found = polyrelu.teaching_set([(rows, biases), ([outgoing], [0])])
        assert isinstance(found, Undecided)
        assert reason in found.reason
    with pytest.raises(NetworkError, match="one hidden layer"):
        polyrelu.teaching_set(random_network((2, 2, 2, 1), 0))
    with pytest.raises(NetworkError, match="one hidden layer"):
        polyrelu.teaching_set(polyrelu.from_arrays([([[1]], [0]), ([[1]], [0])], last="relu"))
    with pytest.raises(ArgumentError, match="taught"):
        polyrelu.recover_taught(3)  # type: ignore[arg-type]


def test_values_of_nobody() -> None:
    """Other values at the points are of no network that the points teach, or of another one."""
    found = taught(random_network((2, 3, 1), 1))
    for k in range(len(found.values)):
        values = [list(row) for row in found.values]
        values[k][0] += 1
        changed = TeachingSet(
            found.certificate,
            found.direction,
            found.starts,
            found.places,
            tuple(map(tuple, values)),
        )
        assert polyrelu.recover_taught(changed) is None


def test_no_competitor_on_a_line() -> None:
    """All functions with at most two breakpoints in quarters, and small slopes, are compared."""
    network = polyrelu.from_arrays([([[1], [-1]], [0, "3/2"]), ([[1, 2]], [0])])
    found = taught(network)
    quarters = [Fraction(k, 4) for k in range(-2, 9)]
    wanted = {x: y for (x,), (y,) in zip(found.points, found.values, strict=True)}
    start, *_ = wanted
    same = 0
    for s, t in product(quarters, repeat=2):
        if s > t:
            continue
        for slope, one, two in product(range(-2, 3), repeat=3):

            def value(x: Fraction, s: Any = s, t: Any = t, a: Any = (slope, one, two)) -> Fraction:
                return Fraction(a[0] * x + a[1] * max(x - s, 0) + a[2] * max(x - t, 0))

            shift = wanted[start] - value(start)
            if all(value(x) + shift == y for x, y in wanted.items()):
                same += 1
                assert {(s, one), (t, two)} == {(Fraction(0), 1), (Fraction(3, 2), 2)}
    assert same == 1


def test_no_competitor_with_one_neuron_less_or_moved() -> None:
    """Networks beside the given one differ at some point of the set."""
    rng = Random(5)
    network = random_network((2, 3, 1), 4)
    found = taught(network)
    for _ in range(60):
        layers = [
            ([list(row) for row in network.weight(k).rows()], list(network.bias(k).entries()))
            for k in (1, 2)
        ]
        weights, biases = layers[rng.randint(0, 1)]
        if rng.random() < 0.5:
            row, size = rng.choice(weights), rng.choice((1, 64, 2**30))
            row[rng.randrange(len(row))] += Fraction(rng.choice((-1, 1)), size)
        else:
            biases[rng.randrange(len(biases))] += Fraction(1, 2**20)
        other = polyrelu.from_arrays(layers)
        assert tuple(other.evaluate(found.points)) != found.values


def _mutations(document: Any) -> list[tuple[str, Callable[[Any], None]]]:
    """Return changes of a certificate that make it false."""

    def evidence(d: Any) -> dict[str, Any]:
        return {entry["id"]: entry["evidence"] for entry in d["proof"]["hypotheses"]}

    def places(d: Any) -> Any:
        return evidence(d)["pieces"]["places"]

    return [
        ("count", lambda d: d["claim"].update(count=d["claim"]["count"] + 1)),
        ("function", lambda d: d["claim"].update(pins="function")),
        ("no signs", lambda d: d["proof"]["hypotheses"].pop()),
        ("a point less", lambda d: places(d)[1].pop()),
        ("a line less", lambda d: places(d).pop()),
        ("one place twice", lambda d: places(d)[0].__setitem__(1, places(d)[0][0])),
        ("another piece", lambda d: places(d)[0].__setitem__(1, "100000")),
        ("lines changed", lambda d: places(d).reverse()),
        ("no direction", lambda d: evidence(d)["lines"].update(direction=["0", "0"])),
        ("one line twice", lambda d: evidence(d)["lines"]["starts"].__setitem__(1, ["0", "0"])),
        ("three coordinates", lambda d: evidence(d)["lines"]["direction"].append("1")),
        ("one start", lambda d: evidence(d)["lines"]["starts"].pop()),
    ]


def test_mutants_are_rejected(tmp_path: Path) -> None:
    found = taught(random_network((2, 3, 1), 4))
    (path,) = found.save(tmp_path / "right.json")
    right = json.loads(path.read_text())
    assert verdict(path) == "accepted"
    for name, change in _mutations(right):
        wrong = copy.deepcopy(right)
        change(wrong)
        path.write_text(json.dumps(wrong))
        assert verdict(path) == "rejected", name


def test_equal_jumps_are_rejected(tmp_path: Path) -> None:
    """Crosswise joined breakpoints: another network has the same values."""
    network = polyrelu.from_arrays([([[1, 0], [1, 0]], [0, -2]), ([[1, 2]], [0])])
    (path,) = taught(network).save(tmp_path / "right.json")
    text = path.read_text()
    assert verdict(path) == "accepted"
    equal = polyrelu.from_arrays([([[1, 0], [1, 0]], [0, -2]), ([[1, 1]], [0])])
    document = json.loads(text)
    document["claim"]["network"] = {
        "sha256": equal.sha256,
        "inline": polyrelu.network.to_document(equal),
    }
    path.write_text(json.dumps(document))
    report = checker.check_file(path)
    assert report.verdict == "rejected"
    assert "different jumps" in str(report)
