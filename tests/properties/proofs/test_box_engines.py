"""Bounds on boxes: numpy, the compiled core, and values of the networks."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

import polyrelu
from polyrelu import Network
from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.proofs.deviation.arguments import bounded_coordinates, corners_of
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import BoxBounds, KnownBounds, bound_boxes
from polyrelu.proofs.deviation.problem import Problem, deviation_rows
from polyrelu.symmetry import permute
from polyrelu.symmetry.matching import align, match
from tests.generators.campaigns import few_some_and_all

NUM_BOXES = 6


def _problem(rng: Random, number: int) -> Problem:
    """Return a network and a copy with small changes, a permuted one, or another network."""
    widths = [rng.randint(1, 4), *(rng.randint(1, 20) for _ in range(rng.randint(1, 3))), 2]
    net = _network(widths, rng)
    copy = _network(widths, rng)
    if number % 3:
        layers = [(w.weight.to_floats(), w.bias.to_floats()[:, 0]) for w in net.layers]
        change = np.random.default_rng(number)
        copy = polyrelu.from_arrays([(w + change.normal(0, 1e-3, w.shape), b) for w, b in layers])
    if number % 3 == 2:
        order = list(range(widths[1]))
        rng.shuffle(order)
        copy = permute(copy, 1, order)
    coordinates = bounded_coordinates(polyrelu.parse_domain("box:-1,1", widths[0]))
    rows, pair = deviation_rows(2), align(net, copy, match(net, copy))
    clauses = tuple((i,) for i in range(len(rows)))
    return Problem(net, copy, pair, rows, clauses, coordinates, *corners_of(coordinates))


def _network(widths: list[int], rng: Random) -> Network:
    return polyrelu.from_arrays(
        [
            (
                [[Fraction(rng.randint(-64, 64), 32) for _ in range(n)] for _ in range(m)],
                [Fraction(rng.randint(-32, 32), 32) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


def _boxes(num_inputs: int, number: int, dtype: DTypeLike) -> Boxes:
    random = np.random.default_rng(number)
    middle = random.uniform(-0.7, 0.7, (NUM_BOXES, num_inputs))
    radius = random.uniform(0, 0.3, (NUM_BOXES, num_inputs))
    return Boxes((middle - radius).astype(dtype), (middle + radius).astype(dtype))


def _open_signs(found: BoxBounds, number: int) -> NDArray[np.int8]:
    """Return signs of up to three open neurons of each box."""
    columns = [
        ~ranges.is_stable
        for layer in found.known.layers
        for ranges in (layer.z, layer.y)
        if ranges is not None
    ]
    is_open, random = np.concatenate(columns, axis=1), np.random.default_rng(number)
    signs = np.zeros(is_open.shape, np.int8)
    for line, mask in zip(signs, is_open, strict=True):
        places = np.nonzero(mask)[0]
        chosen = random.permutation(places)[:3]
        line[chosen] = random.choice([-1, 1], len(chosen))
    return signs


def _is_right(problem: Problem, x: tuple[Fraction, ...], signs: NDArray[np.int8]) -> bool:
    """Whether neurons have the given signs at a point."""
    found, networks = list[Fraction](), (problem.first, problem.second)
    values = [x, x]
    for layer in range(problem.first.depth - 1):
        for which, net in enumerate(networks):
            assert net is not None
            weight, bias = net.layers[layer].weight, net.layers[layer].bias
            z = [
                sum((a * b for a, b in zip(row, values[which], strict=True)), start)
                for row, start in zip(weight.rows(), bias.entries(), strict=True)
            ]
            found += z
            values[which] = tuple(max(y, Fraction(0)) for y in z)
    return all(sign * y >= 0 for sign, y in zip(signs.tolist(), found, strict=True))


@pytest.mark.parametrize("count", few_some_and_all(12, 60, 200))
@pytest.mark.parametrize("is_joint", [True, False])
def test_engines_agree_and_bounds_hold(
    count: int, is_joint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_parts = 0
    for number in range(count):
        problem = _problem(Random(f"boxes {number}"), number)
        pair, boxes = problem.double, _boxes(len(problem.lower), number, np.float64)
        monkeypatch.setenv(VARIABLE, "numpy")
        first = bound_boxes(pair, boxes)
        signs = _open_signs(first, number)
        wanted = np.random.default_rng(number).random(first.upper.shape) < 0.6
        wanted[:, 1] = True
        for given in (None, signs):
            by_numpy, by_core = (
                _bounds(problem, boxes, first, wanted, is_joint, given, engine, monkeypatch)
                for engine in ("numpy", chosen_engine_of_machine())
            )
            _assert_equal(by_numpy, by_core, has_signs=given is not None)
            num_parts += _assert_valid(problem, boxes, by_core, given, number)
    assert num_parts


def chosen_engine_of_machine() -> str:
    """Return the fastest engine that is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(VARIABLE, raising=False)
        return chosen_engine().name


def _bounds(
    problem: Problem,
    boxes: Boxes,
    first: BoxBounds,
    wanted: NDArray[np.bool_],
    is_joint: bool,
    signs: NDArray[np.int8] | None,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> BoxBounds:
    monkeypatch.setenv(VARIABLE, engine)
    known = KnownBounds(problem.double, first.known.table.copy())
    return bound_boxes(problem.double, boxes, known, wanted, is_joint, signs)


def _assert_equal(one: BoxBounds, two: BoxBounds, has_signs: bool) -> None:
    """Compare all that is found.

    On parts with signs, a neuron that is 0 at an end of its range often has two relaxations that
    are equally good in the middle, and roundings choose one of them.
    """
    # Whether anything is left of a part that only has a face can depend on roundings as well.
    is_empty = np.isinf(one.upper).any(axis=1) | np.isinf(two.upper).any(axis=1)
    for name in ("upper", "joint", "alone"):
        ours, theirs = (getattr(found, name)[~is_empty] for found in (one, two))
        is_close = np.isclose(ours, theirs, rtol=1e-7, atol=1e-9) | np.isinf(ours)
        assert is_close.size == 0 or is_close.mean() >= (0.5 if has_signs else 1)
    assert (one.rows[0] == two.rows[0]).all()
    assert (one.rows[1] == two.rows[1]).all()
    if has_signs:
        return
    assert (one.is_open == two.is_open).all()
    # Where both relaxations have one bound, roundings choose the one that scores are about.
    chosen = ~np.isclose(one.joint[one.rows], one.alone[one.rows])
    for name in ("slope", "scores"):
        ours, theirs = (getattr(found, name)[chosen] for found in (one, two))
        assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert (one.worst == two.worst)[chosen].all()


def _assert_valid(
    problem: Problem, boxes: Boxes, found: BoxBounds, signs: NDArray[np.int8] | None, number: int
) -> int:
    """Compare bounds with values at points that have the signs; return with how many."""
    random, count = np.random.default_rng(number), 0
    for i in range(NUM_BOXES):
        for _ in range(6):
            x = tuple(map(Fraction, random.uniform(boxes.low[i], boxes.high[i]).tolist()))
            if signs is not None and not _is_right(problem, x, signs[i]):
                continue
            count += signs is not None
            (value,) = problem.values([x])
            assert float(value) <= found.upper[i].max() + 1e-9
    return count


@pytest.mark.parametrize("number", range(3))
def test_short_floats_in_the_core(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _problem(Random(f"boxes {number}"), number)
    pair, boxes = problem.floats(np.float32), _boxes(len(problem.lower), number, np.float32)
    monkeypatch.setenv(VARIABLE, "numpy")
    expected = bound_boxes(pair, boxes)
    monkeypatch.setenv(VARIABLE, chosen_engine_of_machine())
    found = bound_boxes(pair, boxes)
    assert found.upper.dtype == np.float32
    assert np.allclose(found.upper, expected.upper, rtol=1e-3, atol=1e-4)
