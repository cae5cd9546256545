"""How far two networks are from each other, and which values outputs take."""

from __future__ import annotations

import json
import random
import re
import sys
import time
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import polyrelu
from polyrelu import Network, Polyhedron, Undecided
from polyrelu._core import chosen_engine
from polyrelu.certificate import BoundsCertificate
from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.formats import as_domain
from polyrelu.outcomes import DeviationBounds, DeviationExceeded, LipschitzBounds, RangeBounds
from polyrelu.proofs.deviation import (
    arguments as arguments_module,
    certified,
    grid_products,
    sign_search,
)
from polyrelu.proofs.deviation.arguments import bounded_coordinates
from polyrelu.proofs.deviation.certified import CertifiedTree
from polyrelu.proofs.deviation.lipschitz import Norm
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import deviation_rows
from polyrelu.proofs.deviation.relaxed_guess import RelaxedPrograms
from polyrelu.proofs.deviation.rounded import RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.support.budget import Budget, LimitReached
from polyrelu.symmetry import match, permute, rescale
from tests.generators.campaigns import case, few_some_and_all

HAT = polyrelu.from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])])


def _random(widths: tuple[int, ...], seed: int) -> Network:
    rng = random.Random(seed)
    layers = []
    for n, m in pairwise(widths):
        rows = [[Fraction(rng.randint(-64, 64), 32) for _ in range(n)] for _ in range(m)]
        layers.append((rows, [Fraction(rng.randint(-32, 32), 32) for _ in range(m)]))
    return polyrelu.from_arrays(layers)


def _noisy(network: Network, seed: int, size: Fraction = Fraction(1, 256)) -> Network:
    """Return a copy with other weights."""
    rng = random.Random(seed)
    layers = []
    for layer in network.layers:
        rows = [[w + size * rng.randint(-1, 1) for w in row] for row in layer.weight.rows()]
        layers.append((rows, list(layer.bias.entries())))
    return polyrelu.from_arrays(layers)


def _accepted(certificate: BoundsCertificate, folder: Path) -> bool:
    path = folder / "bounds.cert"
    certificate.save(path)
    return polyrelu.check_file(path).verdict == "accepted"


@pytest.mark.parametrize("power", [27, 34, 60])
def test_a_spike_that_no_sample_hits(power: int, tmp_path: Path) -> None:
    """Networks that differ by 1 on an interval of length 2^(1 - power)."""
    steep, third = Fraction(2) ** power, Fraction(1, 3)
    places = [-third, -third - 1 / steep, -third - 2 / steep]
    first = [[steep]] * 3, [steep * place for place in places]
    spike = polyrelu.from_arrays([first, ([[1, -2, 1]], [0])])
    flat = polyrelu.from_arrays([first, ([[0, 0, 0]], [0])])
    found = polyrelu.deviation(spike, flat, "box:0,1")
    assert isinstance(found, DeviationBounds)
    assert found.at_least == found.at_most == 1
    assert found.witness.x == (third + 1 / steep,)
    assert _accepted(found.certificate, tmp_path)


@pytest.mark.parametrize("power", [8, 70])
def test_the_exact_maximum_as_the_number(power: int, tmp_path: Path) -> None:
    """Boxes alone cannot show that the maximum is at most itself, however small it is."""
    net = _random((2, 5, 5, 2), 0)
    copy = _noisy(net, 10, Fraction(1, 2**power))
    exact = polyrelu.deviation(net, copy, "box:-1,1", gap=0)
    assert isinstance(exact, DeviationBounds)
    value = exact.at_least
    found = polyrelu.deviation(net, copy, "box:-1,1", at_most=value)
    assert isinstance(found, DeviationBounds)
    assert found.is_exact
    assert found.at_most == value > 0
    assert _accepted(found.certificate, tmp_path)


def test_a_limit_of_time_ends_the_first_points() -> None:
    net = _random((2, 5, 5, 2), 0)
    found = polyrelu.deviation(net, _noisy(net, 10), "box:-1,1", time_limit=1e-9)
    assert isinstance(found, Undecided)
    assert "time" in str(found.reason)


def test_bounds_hold_and_are_monotone_in_the_number(tmp_path: Path) -> None:
    net = _random((2, 5, 5, 2), 1)
    copy = _noisy(net, 2)
    exact = polyrelu.deviation(net, copy, "box:-1,1")
    assert isinstance(exact, DeviationBounds)
    assert exact.is_exact
    assert _accepted(exact.certificate, tmp_path)
    value = exact.at_least
    assert max(map(abs, map(lambda a, b: a - b, exact.witness.f, exact.witness.g))) == value
    above = polyrelu.deviation(net, copy, "box:-1,1", at_most=value * Fraction(11, 10))
    assert isinstance(above, DeviationBounds)
    assert above.at_least <= value <= above.at_most == value * Fraction(11, 10)
    assert _accepted(above.certificate, tmp_path)
    below = polyrelu.deviation(net, copy, "box:-1,1", at_most=value * Fraction(9, 10))
    assert isinstance(below, DeviationExceeded)
    assert _accepted(below.certificate, tmp_path)
    part = polyrelu.deviation(net, copy, "box:0,1")
    assert isinstance(part, DeviationBounds)
    assert part.at_most <= value


def test_a_copy_with_permuted_scaled_and_split_neurons_is_as_close(tmp_path: Path) -> None:
    net = _random((3, 4, 4, 1), 3)
    copy = _noisy(net, 4)
    aligned = polyrelu.deviation(net, copy, "box:-1,1")
    moved = rescale(permute(permute(copy, 1, [2, 0, 3, 1]), 2, [3, 2, 1, 0]), 1, [8, 2, "1/4", 4])
    found = polyrelu.deviation(net, moved, "box:-1,1")
    assert isinstance(aligned, DeviationBounds)
    assert isinstance(found, DeviationBounds)
    assert found.at_least == aligned.at_least == found.at_most
    assert _accepted(found.certificate, tmp_path)


def test_scales_have_as_many_bits_as_the_rows_are_similar() -> None:
    """Exact scales of a copy stay exact, and those of another network are short."""
    net = _random((3, 6, 6, 2), 8)
    factors = [Fraction(2 + k, 3) for k in range(6)]
    other = rescale(rescale(net, 1, factors), 2, factors)
    assert match(net, other)[0].scales == tuple(factors)
    assert all(
        abs(a / b - 1) < 2**-50 for a, b in zip(match(net, other)[1].scales, factors, strict=True)
    )
    noisy = _noisy(net, 9, Fraction(1, 16))
    for entry in match(net, rescale(rescale(noisy, 1, factors), 2, factors)):
        for partner, scale in zip(entry.partners, entry.scales, strict=True):
            assert scale.denominator <= 2**12
            assert partner < 0 or abs(scale / factors[partner] - 1) < Fraction(1, 4)


def test_large_boxes_come_one_at_a_time() -> None:
    assert [SETTINGS.in_step(128, price) for price in (0.5, 100, 10**9)] == [128, 10, 1]


def test_pruned_neurons_have_no_partner(tmp_path: Path) -> None:
    net = polyrelu.from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 2, "1/64"]], [0])])
    small = polyrelu.from_arrays([([[0, 1], [1, 0]], [0, 0]), ([[2, 1]], [0])])
    found = polyrelu.deviation(net, small, "box:-1,1")
    assert isinstance(found, DeviationBounds)
    assert found.at_least == found.at_most == Fraction(1, 64)
    assert _accepted(found.certificate, tmp_path)


def test_a_limit_leaves_boxes_open_and_says_which(tmp_path: Path) -> None:
    net = _random((4, 8, 8, 1), 5)
    copy = _noisy(net, 6)
    seen = polyrelu.deviation(net, copy, "box:-1,1", budget=150)
    assert isinstance(seen, Undecided)
    assert isinstance(seen.bounds, DeviationBounds)
    assert seen.bounds.covered == 1
    assert seen.bounds.at_least < seen.bounds.at_most
    assert _accepted(seen.bounds.certificate, tmp_path)
    limit = seen.bounds.at_least * 2
    found = polyrelu.deviation(net, copy, "box:-1,1", at_most=limit, budget=150)
    assert isinstance(found, Undecided)
    assert isinstance(found.bounds, DeviationBounds)
    assert 0 <= found.bounds.covered < 1
    assert found.bounds.open_boxes
    assert _accepted(found.bounds.certificate, tmp_path)


def test_the_same_question_has_the_same_certificate() -> None:
    net = _random((2, 4, 1), 7)
    found = [polyrelu.deviation(net, _noisy(net, 8), "box:-1,1") for _ in range(2)]
    assert found[0].certificate is not None
    assert found[0].certificate.to_bytes() == found[1].certificate.to_bytes()  # type: ignore[union-attr]


def test_domains_with_equations_and_slanted_sides(tmp_path: Path) -> None:
    net = _random((3, 4, 1), 9)
    copy = _noisy(net, 10)
    triangle = Polyhedron.from_constraints(
        [[-1, 0, 0], [0, -1, 0], [1, 1, 0]], [0, 0, 1], [[1, 0, 1]], [1]
    )
    found = polyrelu.deviation(net, copy, triangle)
    assert isinstance(found, DeviationBounds)
    assert found.is_exact
    assert triangle.contains(found.witness.x)
    assert _accepted(found.certificate, tmp_path)


def test_ranges_are_exact_in_few_dimensions(tmp_path: Path) -> None:
    found = polyrelu.output_range("example:xor", "box:-1,1")
    assert isinstance(found, RangeBounds)
    (values,) = found.ranges
    assert set(values.minimum) == {-3}
    assert set(values.maximum) == {1}
    assert _accepted(found.certificate, tmp_path)
    net = _random((2, 4, 4, 2), 11)
    both = polyrelu.output_range(net, "box:-1,1", outputs=[1])
    assert isinstance(both, RangeBounds)
    assert [entry.output for entry in both.ranges] == [1]
    assert net(both.ranges[0].at_maximum)[1] == both.ranges[0].maximum[1]
    assert _accepted(both.certificate, tmp_path)


def test_ranges_with_many_inputs_are_bounded(tmp_path: Path) -> None:
    found = polyrelu.output_range(_random((6, 8, 2), 12), "box:-1,1", gap="1/4", budget=4000)
    assert isinstance(found, RangeBounds)
    assert all(a <= b < c <= d for v in found.ranges for a, b, c, d in [(*v.minimum, *v.maximum)])
    assert _accepted(found.certificate, tmp_path)


def test_a_difference_of_0_is_proved_with_a_limit_too(tmp_path: Path) -> None:
    """Cuts of boxes alone never end: no small box around a fold has the bound 0."""
    for limit in (0, "1/1000"):
        found = polyrelu.deviation("example:twins-a", "example:twins-b", "box:-1,1", at_most=limit)
        assert isinstance(found, DeviationBounds)
        assert found.at_most == 0
        assert _accepted(found.certificate, tmp_path)


def test_ranges_without_a_gap_are_exact() -> None:
    found = polyrelu.output_range("example:xor", "box:-1,1", gap=0)
    assert isinstance(found, RangeBounds)
    (values,) = found.ranges
    assert list(map(str, (*values.minimum, *values.maximum))) == ["-3", "-3", "1", "1"]


def test_ranges_below_all_floats_are_within_the_gap(tmp_path: Path) -> None:
    unit = Fraction(1, 2**1100)
    rows = [[3 * unit, -unit], [unit, 2 * unit], [-unit, unit]]
    net = polyrelu.from_arrays([(rows, [0, unit, 0]), ([[1, -2, 1]], [0])])
    found = polyrelu.output_range(net, "box:-1,1")
    assert isinstance(found, RangeBounds)
    assert found.ranges[0].maximum[1] <= 5 * unit
    assert _accepted(found.certificate, tmp_path)


def test_signs_are_cut_where_there_are_many_inputs(tmp_path: Path) -> None:
    net = _random((24, 5, 2), 13)
    seen = polyrelu.output_range(net, "box:-1/16,1/16", gap=0)
    compared = polyrelu.deviation(net, _noisy(net, 14), "box:-1/16,1/16", gap=0)
    assert isinstance(seen, RangeBounds)
    assert isinstance(compared, DeviationBounds)
    assert compared.is_exact
    assert compared.search.num_leaves > 1
    assert _accepted(seen.certificate, tmp_path)
    assert _accepted(compared.certificate, tmp_path)
    exceeded = polyrelu.deviation(net, _noisy(net, 14), "box:-1,1", at_most="1/1000000000")
    assert isinstance(exceeded, DeviationExceeded)
    assert "outside of" not in str(exceeded)
    assert "differ by at least" in exceeded.statement


def test_many_inputs_and_little_work(tmp_path: Path) -> None:
    """The bound of the whole box is known at once, and cuts make it smaller."""
    net = _random((24, 16, 2), 13)
    bounds = []
    for budget in (100, 400):
        found = polyrelu.deviation(net, _noisy(net, 14), "box:-1,1", budget=budget)
        assert isinstance(found, Undecided)
        assert isinstance(found.bounds, DeviationBounds)
        assert found.bounds.open_boxes == ()
        assert _accepted(found.bounds.certificate, tmp_path)
        bounds.append((found.bounds.at_most, found.bounds.at_least))
    assert bounds[0][0] >= bounds[1][0] >= bounds[1][1]


@pytest.mark.parametrize("question", ["deviation", "ranges"])
def test_many_inputs_and_no_time(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time ends before the whole box has a bound: some seconds more, then the answer has none."""
    net, start = _random((24, 16, 2), 13), BestPoint.start
    box = Polyhedron.box([-1] * 24, [1] * 24)

    def slow(best: BestPoint, *arguments: Any) -> None:
        start(best, *arguments)
        time.sleep(0.3)

    def asked() -> Any:
        limits: dict[str, Any] = {"time_limit": 0.3, "budget": None}
        if question == "deviation":
            return polyrelu.deviation(net, _noisy(net, 14), box, gap=0, **limits)
        return polyrelu.output_range(net, box, gap=0, **limits)

    monkeypatch.setattr(BestPoint, "start", slow)
    monkeypatch.setattr(sign_search, "SETTINGS", replace(SETTINGS, seconds_of_root=600))
    found = asked()
    assert isinstance(found, Undecided)
    assert isinstance(found.bounds, DeviationBounds | RangeBounds)
    assert _accepted(found.bounds.certificate, tmp_path)
    monkeypatch.setattr(sign_search, "SETTINGS", replace(SETTINGS, seconds_of_root=0))
    found = asked()
    assert isinstance(found, Undecided)
    assert found.reason == "the time limit of 0.3 seconds was reached"
    assert found.bounds is None
    assert "allow 60 s" in found.next[-1].purpose


def test_a_limit_in_the_first_linear_program_leaves_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> None:
        raise LimitReached("the time limit of 1 second was reached")

    net = _random((24, 16, 2), 13)
    monkeypatch.setattr(RelaxedPrograms, "guess", interrupted)
    found = polyrelu.deviation(net, _noisy(net, 14), "box:-1,1", gap=0)
    assert isinstance(found, Undecided)
    assert found.reason == "the time limit of 1 second was reached"
    assert isinstance(found.bounds, DeviationBounds)
    assert found.bounds.search.num_leaves == 1
    assert _accepted(found.bounds.certificate, tmp_path)


def test_no_linear_program_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = _random((24, 16, 2), 13)
    for entries in (0, 10**6):
        monkeypatch.setattr(sign_search, "SETTINGS", replace(SETTINGS, max_program_entries=entries))
        found = polyrelu.deviation(net, _noisy(net, 14), "box:-1,1", gap=0, budget=400)
        assert isinstance(found, Undecided)
        assert isinstance(found.bounds, DeviationBounds)
        assert (found.bounds.search.num_leaves == 1) == (entries == 0)
        assert _accepted(found.bounds.certificate, tmp_path)


def test_forms_look_at_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forms of a leaf may be ended at any time, and have the same integers in any parts."""
    net = _random((6, 8, 8, 2), 5)
    coordinates = bounded_coordinates(as_domain("box:-1,1", 6))
    partners = [entry.pairs for entry in match(net, net)]
    corners = [Fraction(-1)] * 6, [Fraction(1)] * 6
    found = list[list[Fraction]]()
    for size in (10, 10**6):
        monkeypatch.setattr(grid_products, "SETTINGS", replace(SETTINGS, products_per_check=size))
        rule = RoundedRule(net, _noisy(net, 6), coordinates, partners, grid=100)
        calls = list[int]()
        leaf = rule.leaf(*corners, check=partial(calls.append, 0))
        found.append(leaf.upper_bounds(deviation_rows(2)))
        assert (len(calls) > 30) == (size == 10)
        budget = Budget(seconds=0)
        with pytest.raises(LimitReached):
            rule.leaf(*corners, check=budget.check_others)
    assert found[0] == found[1]


@pytest.mark.parametrize("number", few_some_and_all(2, 3, 60))
def test_signs_and_boxes_find_the_same_maximum(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a triangle, whose third side is no side of the box."""
    triangle = Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [1, 1, 1])
    module = sys.modules["polyrelu.proofs.deviation.deviation"]
    for seed in range(number):
        widths = random.Random(seed).choice([(2, 3, 1), (2, 3, 3, 2), (2, 2, 2, 2, 1)])
        domain = triangle if seed % 2 else Polyhedron.box([-1, -1], [1, 1])
        net = _random(widths, seed)
        copy = _noisy(net, seed, Fraction(1, 16))
        expected = polyrelu.deviation(net, copy, domain, gap=0)
        with monkeypatch.context() as patch, case(seed):
            patch.setattr(module, "SETTINGS", replace(SETTINGS, max_split_inputs=1))
            found = polyrelu.deviation(net, copy, domain, gap=0)
            assert isinstance(expected, DeviationBounds)
            assert isinstance(found, DeviationBounds)
            assert found.at_most == found.at_least == expected.at_most
            assert _accepted(found.certificate, tmp_path)


def test_searches_and_proofs_by_turns(tmp_path: Path) -> None:
    """A limit of time that is not reached leaves the answer within the gap, as without a limit."""
    net = _random((5, 8, 6, 1), 3)
    other = _noisy(net, 3)
    found = polyrelu.deviation(net, other, "box:-1/4,1/4", gap="1/2", time_limit=600, budget=None)
    assert isinstance(found, DeviationBounds)
    assert found.at_most <= found.at_least * Fraction(3, 2)
    assert _accepted(found.certificate, tmp_path)
    shown = [json.loads(line) for line in found.certificate.to_bytes().splitlines()[1:-1]]
    assert any(record != ["open"] for record in shown)


def test_joint_leaves_make_small_differences_small(tmp_path: Path) -> None:
    """Leaves of both networks at once prove what leaves of each network do not."""
    net = _random((4, 8, 8, 8, 1), 5)
    other = _noisy(net, 5, Fraction(1, 2**16))
    found = polyrelu.deviation(net, other, "box:-1/8,1/8", gap=1)
    assert isinstance(found, DeviationBounds)
    assert b'["joint"]' in found.certificate.to_bytes()
    assert _accepted(found.certificate, tmp_path)


@pytest.mark.skipif(chosen_engine().name != "compiled", reason="the core is not installed")
def test_with_many_inputs_both_networks_are_bounded_at_once_first(tmp_path: Path) -> None:
    """One leaf is enough for a gap; the better bound counts where a search ends by a limit."""
    net = _random((24, 10, 10, 2), 5)
    other, box = _noisy(net, 5, Fraction(1, 2**12)), "box:-1/64,1/64"
    found = polyrelu.deviation(net, other, box, gap=1)
    assert isinstance(found, DeviationBounds)
    assert found.search.num_leaves == 1
    assert b'["joint"]' in found.certificate.to_bytes()
    assert _accepted(found.certificate, tmp_path)
    ended = polyrelu.deviation(net, other, box, gap=0, budget=100)
    assert isinstance(ended, Undecided)
    assert isinstance(ended.bounds, DeviationBounds)
    assert ended.bounds.at_most <= found.at_most
    assert polyrelu.deviation(net, other, box, at_most=found.at_most).status == "proved"


def test_a_limit_of_time_leaves_bounds(tmp_path: Path) -> None:
    net = _random((4, 8, 8, 1), 5)
    found = polyrelu.deviation(net, _noisy(net, 6), "box:-1,1", gap=0, time_limit=0.5, budget=None)
    assert isinstance(found, Undecided)
    assert isinstance(found.bounds, DeviationBounds)
    assert found.bounds.covered == 1
    assert _accepted(found.bounds.certificate, tmp_path)
    (step,) = found.next
    assert step.command == ("deviation", "NET", "OTHER", "--time-limit", "60")
    assert step.call == "polyrelu.deviation(net, other, domain, time_limit=60)"


@pytest.mark.parametrize("question", ["deviation", "ranges"])
def test_a_second_limit_leaves_the_bounds_that_are_done(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the command is ended while the last bounds are computed."""
    net, closed, close = _random((4, 8, 8, 1), 5), list[int](), CertifiedTree.close

    def slow(tree: CertifiedTree, *arguments: Any, **options: Any) -> None:
        """Be interrupted in the third tree of bounds."""
        if not options.get("may_cut", True):
            closed.append(tree.tree.num_nodes)
            if len(closed) == 3:
                raise KeyboardInterrupt
        else:
            time.sleep(0.5)  # no proof ends in time
        close(tree, *arguments, **options)

    monkeypatch.setattr(CertifiedTree, "close", slow)
    monkeypatch.setattr(CertifiedTree, "may_inherit", False)
    for module in (arguments_module, certified):
        settings = replace(SETTINGS, fallback_share=1, fallback_growth=4)
        monkeypatch.setattr(module, "SETTINGS", settings)
    if question == "deviation":
        found: Any = polyrelu.deviation(
            net, _noisy(net, 6), "box:-1,1", gap=0, time_limit=0.5, budget=None
        )
    else:
        found = polyrelu.output_range(net, "box:-1,1", gap=0, time_limit=0.5, budget=None)
    assert isinstance(found, Undecided)
    assert found.reason == "the time limit of 0.5 seconds was reached"
    assert closed == sorted(closed)
    assert len(closed) == 3
    assert isinstance(found.bounds, DeviationBounds | RangeBounds)
    assert found.bounds.search.num_leaves == (closed[1] + 1) // 2
    assert _accepted(found.bounds.certificate, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((HAT, HAT, "R^n"), DomainError, "unbounded"),
        ((HAT, "example:xor", "box:0,1"), NetworkError, "1 and 2 inputs"),
        ((HAT, HAT, "box:1,0"), DomainError, "empty"),
    ],
)
def test_questions_without_an_answer(
    arguments: tuple[object, ...], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        polyrelu.deviation(*arguments)  # type: ignore[arg-type]


def test_numbers_that_are_none() -> None:
    with pytest.raises(ArgumentError, match="at_most"):
        polyrelu.deviation(HAT, HAT, "box:0,1", at_most=-1)
    with pytest.raises(ArgumentError, match="gap"):
        polyrelu.deviation(HAT, HAT, "box:0,1", gap="wide")
    with pytest.raises(ArgumentError, match="outputs"):
        polyrelu.output_range(HAT, "box:0,1", outputs=[1])


def test_lipschitz_constants(tmp_path: Path) -> None:
    """The norms of the steepest gradient of XOR, and a search that ends early."""
    values: dict[Norm, int] = {"1": 4, "2": 8, "inf": 2}
    for norm, value in values.items():
        found = polyrelu.lipschitz_bounds("example:xor", "box:-1,1", norm=norm)
        assert isinstance(found, LipschitzBounds)
        assert found.at_least == found.at_most == value
        assert found.norm == norm
        assert _accepted(found.certificate, tmp_path)
    early = polyrelu.lipschitz_bounds(_random((3, 8, 2), 5), "box:-1,1", budget=40)
    assert isinstance(early, Undecided)
    assert isinstance(early.bounds, LipschitzBounds)
    assert 0 < early.bounds.at_least < early.bounds.at_most
    assert _accepted(early.bounds.certificate, tmp_path)
    lines = str(early).splitlines()
    assert lines[1] == "these bounds were proved:"
    assert not re.search(r"reached|boxes|points tried|/\d{5}|about", "\n".join(lines[:6]))
    assert lines[-1].startswith("next: allow 60000 units of work: polyrelu.lipschitz_bounds(")


def test_networks_of_unequal_depths(tmp_path: Path) -> None:
    """|x| by one hidden layer, and 7/8 |x| by two or three, or with a ReLU at the end."""
    one = polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    two = polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0]), ([["7/8"]], [0])])
    for other in (two, polyrelu.from_arrays([*_layers(one)[:1], ([["7/8", "7/8"]], [0])], "relu")):
        for pair in ((one, other), (other, one)):
            found = polyrelu.deviation(*pair, "box:-1,1")
            assert isinstance(found, DeviationBounds)
            assert (found.at_least, found.at_most) == (Fraction(1, 8), Fraction(1, 8))
            assert "layers that change no value were added" in str(found)
            assert _accepted(found.certificate, tmp_path)
    line = polyrelu.from_arrays([([["1/2"]], [1])])
    found = polyrelu.deviation(line, one, "box:-1,1")
    assert isinstance(found, DeviationBounds)
    assert found.at_most == found.at_least == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", ["1e300", "1e400"])
def test_weights_whose_squares_overflow(size: str, tmp_path: Path) -> None:
    """Floats that are not finite find no partners, and do no other harm; they say nothing."""
    w = Fraction(size)
    first = ([[w, 1], [1, -w]], [w, 1])
    one, two = (polyrelu.from_arrays([first, ([[1, a]], [0])]) for a in (1, 2))
    two = permute(two, 1, [1, 0])
    if size == "1e300":
        assert [entry.partners for entry in match(one, two)] == [(1, 0)]
    found = polyrelu.deviation(one, two, "box:-1,1", budget=200)
    bounds = found.bounds if isinstance(found, Undecided) else found
    assert isinstance(bounds, DeviationBounds)
    assert bounds.at_least <= w + 2 <= bounds.at_most  # the second neuron, at (1, -1)
    assert _accepted(bounds.certificate, tmp_path)


def test_boxes_around_a_point_where_many_neurons_are_0(tmp_path: Path) -> None:
    """Cutting the box once went on for ever at the breakpoint -2/3, which no cut reaches."""
    first = ([["2/3"], [1], [0]], [0, "2/3", "-3/2"])
    changed = ([[0], [1], [0]], first[1])
    second = ([["-4/3", -4, 3], [0, 0, -4]], [0, -2])
    other = ([["-4/3", -4, 3], ["-1/8", 0, -4]], [0, -2])
    last = ([["2/3", "-2/3"], [0, 4]], ["-2/3", "-1/2"])
    small = ([[0, "-19/24"], [0, 4]], last[1])
    one = polyrelu.from_arrays([first, second, last])
    two = polyrelu.from_arrays([changed, other, small])
    found = polyrelu.deviation(one, two, "box:-1,1")
    assert isinstance(found, DeviationBounds)
    assert found.at_least == found.at_most == 0
    assert _accepted(found.certificate, tmp_path)


def _layers(network: Network) -> list[tuple[RationalMatrix, RationalMatrix]]:
    return [(layer.weight, layer.bias) for layer in network.layers]
