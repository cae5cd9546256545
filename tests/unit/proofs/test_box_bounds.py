"""Bounds in floats of neurons and rows on boxes."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import polyrelu
from polyrelu import Network, Undecided
from polyrelu._core import THREADS_VARIABLE, chosen_engine
from polyrelu.outcomes import DeviationBounds
from polyrelu.proofs.deviation.arguments import bounded_coordinates, corners_of
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import KnownBounds, bound_boxes
from polyrelu.proofs.deviation.box_search import Goal, search_boxes
from polyrelu.proofs.deviation.problem import Problem, deviation_rows
from polyrelu.proofs.deviation.relaxations import PairRelaxation, Range, Relaxation
from polyrelu.support.parallel.wire import exact_texts, unpacked
from polyrelu.symmetry.matching import align, match


def _random(widths: tuple[int, ...], seed: int) -> Network:
    rng = random.Random(seed)
    layers = []
    for n, m in pairwise(widths):
        rows = [[Fraction(rng.randint(-64, 64), 32) for _ in range(n)] for _ in range(m)]
        layers.append((rows, [Fraction(rng.randint(-32, 32), 32) for _ in range(m)]))
    return polyrelu.from_arrays(layers)


def _problem(seed: int) -> Problem:
    net, copy = _random((3, 6, 6, 2), seed), _random((3, 6, 6, 2), seed + 50 * (seed % 2))
    coordinates = bounded_coordinates(polyrelu.parse_domain("box:-1,1", 3))
    rows, pair = deviation_rows(2), align(net, copy, match(net, copy))
    clauses = tuple((i,) for i in range(len(rows)))
    return Problem(net, copy, pair, rows, clauses, coordinates, *corners_of(coordinates))


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_and_rows_are_bounded_where_they_are_wanted(seed: int) -> None:
    problem, random = _problem(seed), np.random.default_rng(seed)
    middle, radius = random.uniform(-0.5, 0.5, (7, 3)), random.uniform(0, 0.5, (7, 3))
    boxes = Boxes(middle - radius, middle + radius)
    found = bound_boxes(problem.double, boxes)
    for i in range(7):
        for _ in range(20):
            x = tuple(map(Fraction, random.uniform(boxes.low[i], boxes.high[i])))
            assert problem.second is not None
            f, g = problem.first(x), problem.second(x)
            values = [sum(row.f.get(k, 0) * y for k, y in enumerate(f)) for row in problem.rows]
            others = [sum(row.g.get(k, 0) * y for k, y in enumerate(g)) for row in problem.rows]
            for r, (a, b) in enumerate(zip(values, others, strict=True)):
                assert a + b <= found.upper[i, r] + 1e-9
    wanted = random.random(found.upper.shape) < 0.4
    wanted[:, 1] = True
    known = KnownBounds.unknown(problem.double, 7)
    known.rows[:] = 1e6
    part = bound_boxes(problem.double, boxes, known, wanted)
    assert np.allclose(part.upper, np.where(wanted, found.upper, 1e6))
    rows = np.full(7, 1)
    assert np.allclose(part.slope[part.places(rows)], found.slope[found.places(rows)])
    assert np.allclose(part.split_scores(rows), found.split_scores(rows))


@pytest.mark.skipif(chosen_engine().name != "compiled", reason="the core is not installed")
@pytest.mark.parametrize("with_signs", [False, True])
def test_threads_divide_the_boxes(with_signs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    random, found = np.random.default_rng(1), list[list[object]]()
    middle, radius = random.uniform(-0.5, 0.5, (7, 3)), random.uniform(0, 0.5, (7, 3))
    wanted = random.random((7, 4)) < 0.4
    wanted[:, 1] = True
    signs = random.integers(-1, 2, (7, 24), np.int8) if with_signs else None
    for count in ("1", "2", "5", "9"):
        monkeypatch.setenv(THREADS_VARIABLE, count)
        pair, boxes = _problem(0).double, Boxes(middle - radius, middle + radius)
        bounds = bound_boxes(pair, boxes, None, wanted, True, signs)
        scores = bounds.split_scores(np.full(7, 1)).tolist()
        arrays = bounds.joint, bounds.known.table, bounds.slope, bounds.worst, bounds.is_open
        found.append([scores, *(array.tolist() for array in arrays)])
    assert found.count(found[0]) == len(found)


@pytest.mark.skipif(chosen_engine().name != "compiled", reason="the core is not installed")
@pytest.mark.parametrize("domain", ["box:-1,1", "box:-1/4,1/4"])
def test_certificates_do_not_depend_on_threads(
    domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, other, files = _random((4, 8, 8, 2), 0), _random((4, 8, 8, 2), 1), list[bytes]()
    for count in ("1", "3"):
        monkeypatch.setenv(THREADS_VARIABLE, count)
        found = polyrelu.deviation(net, other, domain, gap="1/4", budget=20_000)
        bounds = found.bounds if isinstance(found, Undecided) else found
        assert isinstance(bounds, DeviationBounds)
        assert bounds.search.num_leaves > 1
        files.append(bounds.certificate.to_bytes())
    assert files[0] == files[1]


def test_gaps_are_the_largest_distances() -> None:
    """A coordinate that only the lower bound of a neuron depends on has a score as well."""
    z, change = Range(np.array([[-1.0]]), np.array([[3.0]])), Range(*np.array([[[-1.0]], [[2.0]]]))
    alone = Relaxation(z)
    x, d = (axis.ravel() for axis in np.meshgrid(np.linspace(-1, 3, 401), np.linspace(-1, 2, 301)))
    assert alone.gap[0, 0] == pytest.approx((np.maximum(x, 0) - alone.lower_slope[0] * x).max())
    pair = PairRelaxation(z, Range(z.low + change.low, z.high + change.high), change)
    p, q, r, *more = (float(part[0, 0]) for part in pair.of_boxes(np.array([0])))
    rest = np.maximum(x + d, 0) - np.maximum(x, 0)
    below = rest - p * x - q * d - r
    above = (p + more[0]) * x + (q + more[1]) * d + r + more[2] - rest
    assert below.min() == pytest.approx(0, abs=1e-9)
    assert above.min() == pytest.approx(0, abs=1e-9)
    assert pair.gaps[:, 0, 0] == pytest.approx([above.max(), below.max()])


def test_a_limit_is_not_rounded_to_short_floats() -> None:
    """A box stays open if a bound exceeds the limit, even by less than short floats can tell."""
    bounds = np.full((1, 4), 0.1, np.float32)
    assert _problem(0).open_rows(bounds, 0.1).all()


def test_the_joint_relaxation_is_tried_again_after_it_was_given_up() -> None:
    """It is given up where the boxes in question have no open neuron, and needed elsewhere."""
    net = _random((3, 6, 6, 2), 0)
    layers = [(layer.weight.to_floats(), layer.bias.to_floats()[:, 0]) for layer in net.layers]
    layers[0][1][0] += 1e-6
    copy = polyrelu.from_arrays(layers)
    coordinates = bounded_coordinates(polyrelu.parse_domain("box:-1,1", 3))
    rows, pair = deviation_rows(2), align(net, copy, match(net, copy))
    clauses = tuple((i,) for i in range(len(rows)))
    problem = Problem(net, copy, pair, rows, clauses, coordinates, *corners_of(coordinates))
    task = {
        "boxes": [[[-1.0] * 3, [1.0] * 3, np.inf]],
        "joint": False,
        "signs": False,
        "best": exact_texts([Fraction(0)]),
        "goal": Goal(gap=Fraction(1, 10**6)).to_texts(),
        "format": "float64",
        "work": 1e9,
    }
    assert unpacked(search_boxes(problem, task))["joint"]
