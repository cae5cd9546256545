"""Bounds on boxes from parts with given signs, and searches that use them."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import polyrelu
from polyrelu._core import VARIABLE
from polyrelu.proofs.deviation.arguments import bounded_coordinates, corners_of
from polyrelu.proofs.deviation.backward import Boxes
from polyrelu.proofs.deviation.box_bounds import bound_boxes
from polyrelu.proofs.deviation.box_search import BoxSearch, Goal
from polyrelu.proofs.deviation.half_spaces import HalfSpaces
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem, deviation_rows
from polyrelu.proofs.deviation.sign_parts import SignParts
from polyrelu.support.budget import Budget
from polyrelu.symmetry.matching import align, match
from tests.generators.deviation_pairs import largest_at_vertices, small_pair


def _pair(seed: int) -> tuple[Problem, Fraction]:
    """Return a small pair and its largest difference on the square."""
    one, two = small_pair(random.Random(f"parts {seed}"))
    net, copy = polyrelu.from_arrays(one), polyrelu.from_arrays(two)
    coordinates = bounded_coordinates(polyrelu.parse_domain("box:-1,1", net.num_inputs))
    rows = deviation_rows(net.num_outputs)
    clauses = tuple((i,) for i in range(len(rows)))
    pair = align(net, copy, match(net, copy))
    problem = Problem(net, copy, pair, rows, clauses, coordinates, *corners_of(coordinates))
    return problem, largest_at_vertices(one, two)


def _is_long(search: BoxSearch) -> bool:
    return search.num_boxes > 2_000


@pytest.mark.parametrize("engine", ["numpy", "auto"])
@pytest.mark.parametrize("seed", range(12))
def test_enough_parts_show_the_maximum(
    seed: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a limit, parts are cut until no neuron is open; the bound is the largest value."""
    monkeypatch.setenv(VARIABLE, engine)
    problem, value = _pair(seed)
    size = problem.double.num_inputs
    boxes = Boxes(np.full((1, size), -1.0), np.full((1, size), 1.0))
    found, parts = bound_boxes(problem.double, boxes), None
    numbers = list[int]()
    for share in (Fraction(1), Fraction(1, 2)):
        limit = float(share * value) + 1e-9
        parts = SignParts(problem, problem.double, boxes, limit, is_joint=True)
        (bound,) = parts.bounds(found, numbers.append)
        assert bound >= float(value) - 1e-9
        if len(numbers) < 12 and share == 1:
            assert bound <= limit + 1e-6 or bound == found.upper.max()
    assert parts is not None
    for point in parts.points:
        (at_point,) = problem.values([tuple(map(Fraction, point[0].tolist()))])
        assert at_point <= value


@pytest.mark.parametrize("seed", range(12))
def test_searches_by_signs_have_the_maximum_between_their_bounds(seed: int) -> None:
    problem, value = _pair(seed)
    best = BestPoint(problem)
    best.start(seed)
    search = BoxSearch(problem, best, Goal(gap=Fraction(1, 100)), by_signs=True)
    search.run(Budget(work=3_000), is_over=lambda: search.num_boxes > 3_000)
    assert best.known_value <= value
    assert search.upper >= float(value) - 1e-9
    if search.is_finished:
        assert search.upper <= 1.01 * float(best.known_value) + 1e-9


def test_a_maximum_at_a_zero_of_neurons_needs_no_boxes() -> None:
    """Cuts of boxes come to an end at max(x + y, 0) slowly, and one cut by sign has it."""
    net = polyrelu.from_arrays([([[1, 1], [1, 2]], [0, 0]), ([[1, -1]], [0])])
    copy = polyrelu.from_arrays([([[1, 1], [1, 2]], [0, 0]), ([["9/8", "-7/8"]], [0])])
    coordinates = bounded_coordinates(polyrelu.parse_domain("box:-1,1", 2))
    rows, pair = deviation_rows(1), align(net, copy, match(net, copy))
    clauses = ((0,), (1,))
    problem = Problem(net, copy, pair, rows, clauses, coordinates, *corners_of(coordinates))
    numbers = list[int]()
    for by_signs in (False, True):
        best = BestPoint(problem)
        best.start(0)
        search = BoxSearch(problem, best, Goal(gap=Fraction(1, 10**6)), by_signs=by_signs)
        search.run(Budget(), is_over=partial(_is_long, search))
        assert float(search.upper) == pytest.approx(float(best.known_value), rel=1e-2)
        numbers.append(search.num_boxes)
    assert numbers[1] <= numbers[0]


def test_half_spaces() -> None:
    """Of [-1, 1]^2, x + y >= 1 leaves a triangle: x has the maximum 1, and -x the maximum 0."""
    sides = HalfSpaces(1, 2, np.dtype(np.float64))
    sides.add(0, np.array([1.0, 1.0]), -1.0)
    middle, radius = sides.shrunk(np.zeros((1, 2)), np.ones((1, 2)))
    assert (middle == 0.5).all()
    assert (radius == 0.5).all()
    place, slope = np.zeros(1, np.intp), np.array([[-1.0, -1.0]])
    ends = np.zeros((1, 2)), np.ones((1, 2))
    slope, at_middle = sides.add_multiples(place, slope, np.zeros(1), *ends)
    assert at_middle + np.abs(slope) @ ends[1][0] == pytest.approx(-1)
    sides.add(0, np.array([-1.0, -1.0]), -3.0)
    sides.shrunk(*ends)
    assert sides.is_empty.all()
