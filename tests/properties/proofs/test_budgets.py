"""Answers and certificates depend on seed and budget, and on no clock."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from random import Random

import pytest

import polyrelu
from polyrelu import Network, Polyhedron, from_arrays
from polyrelu.fibers import layer_fiber, smallest_layer
from polyrelu.outcomes import Undecided
from polyrelu.proofs import bottleneck, membership
from polyrelu.proofs.refutations.fiber_moves import fiber_moves
from polyrelu.proofs.refutations.moves import moves
from polyrelu.proofs.refutations.one_sided import one_sided_moves
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.proofs.trees.root_signs import root_signs
from polyrelu.support import Budget, ProgressStep
from tests.generators.files import NETS
from tests.generators.redundant_networks import trained_like

#: A network that takes some rounds of walks.
RIDGES = from_arrays(
    [
        ([[3, 1], [-2, 5], [1, -4], [7, 2]], [1, -3, 2, -5]),
        ([[2, -1, 3, 1], [-1, 4, 1, -2], [3, 2, -5, 1], [1, -3, 2, 4]], [-4, 2, 1, -7]),
        ([[1, -2, 3, 1]], [0]),
    ]
)


_ACAS_XU = "acasxu_1_1_marabou.onnx"


def _slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every look at a clock find that an hour has passed, as after a stop of the process."""
    hours = itertools.count(1)
    for name in ("monotonic", "perf_counter", "process_time", "time"):
        monkeypatch.setattr(time, name, lambda: 3600.0 * next(hours))


def _bytes_of(outcome: polyrelu.outcomes.Outcome) -> list[object]:
    proved = outcome.part if isinstance(outcome, polyrelu.Undecided) else outcome
    attempts = outcome.attempts if isinstance(outcome, polyrelu.Undecided) else ()
    text = None if proved is None else str(proved.certificate.to_document())
    return [outcome.status, str(outcome), attempts, text]


def _twice(answer: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer()
    with monkeypatch.context() as patch:
        _slow_clock(patch)
        assert answer() == first


@pytest.mark.parametrize("budget", [0, 150, 1500])
def test_ridges_do_not_look_at_clocks(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> object:
        return _bytes_of(polyrelu.identify(RIDGES, among="transversal", budget=budget))

    _twice(answer, monkeypatch)


def test_more_budget_finds_more() -> None:
    """The budget is what ends the search, and a search with more of it begins in the same way."""
    walks = []
    for budget in (50, 400):
        steps: list[ProgressStep] = []
        polyrelu.identify(RIDGES, among="regular", budget=budget, progress=steps.append)
        walks.append(steps[-1].num_done)
    assert 0 < walks[0] < walks[1]


def test_refutations_do_not_look_at_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    net = from_arrays(
        [
            ([[1], [-1]], [-1, -1]),
            ([[2, -1], [-1, 3]], [1, -1]),
            ([[1, 1]], [0]),
        ]
    )

    def answer() -> object:
        return _bytes_of(polyrelu.identify(net, budget=0))

    _twice(answer, monkeypatch)
    assert answer() == answer()
    assert polyrelu.identify(net, budget=0).status == "refuted"


def test_programs_are_paid() -> None:
    """Without work nothing is refuted; a larger budget refutes, and pays for it."""
    net = from_arrays(
        [
            ([[1], [-1]], [-1, -1]),
            ([[2, -1], [-1, 3]], [1, -1]),
            ([[1, 1]], [0]),
        ]
    )
    assert list(one_sided_moves(net, budget=0.1)) == []
    budget = Budget(1000)
    assert next(one_sided_moves(net, budget=budget)).theorem == "one-sided"
    assert 0 < budget.spent < 1000


def test_comparisons_do_not_look_at_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    hinges = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 1, -1]), ([[1, -1, 2]], [0])])
    other = from_arrays([([[2, 0], [0, -1], [1, 1]], [0, -1, -1]), ([["1/2", -1, 2]], [0])])

    def answer() -> object:
        outcome = polyrelu.equivalent(hinges, other, "box:-1,1", budget=2000)
        return outcome.status, str(outcome)

    _twice(answer, monkeypatch)


def test_a_budget_of_a_comparison_is_named() -> None:
    digits = polyrelu.load("example:digits")
    outcome = polyrelu.equivalent(digits, polyrelu.load("example:digits"), budget=0)
    assert isinstance(outcome, polyrelu.Undecided)
    assert "the budget of 0 units of work was used up" in str(outcome)
    assert "budget=60000" in outcome.next[0].call


@pytest.mark.slow
@pytest.mark.skipif(not (NETS / _ACAS_XU).exists(), reason="foreign networks")
def test_a_large_refutation_does_not_look_at_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under load this network was undecided: its second linear program takes eleven seconds."""
    network = polyrelu.load(NETS / _ACAS_XU)
    _slow_clock(monkeypatch)
    outcome = polyrelu.identify(network)
    assert outcome.status == "refuted"
    assert "neuron 37 of layer 2 is off wherever neuron 1 of layer 1 is on" in str(outcome)


def doubled_hyperplanes(count: int) -> Network:
    """One hidden layer whose first two hyperplanes have neurons of both orientations."""
    rng = Random(count)
    rows = [[rng.randint(-9, 9) for _ in range(count + 1)] for _ in range(count)]
    rows += [[-entry for entry in row] for row in rows[:2]]
    first = ([row[:-1] for row in rows], [row[-1] for row in rows])
    second = [[rng.randint(1, 9) for _ in rows] for _ in range(count)]
    return from_arrays([first, (second, [0] * count)])


def test_assignments_of_one_hidden_layer_are_paid() -> None:
    """A budget and a limit of time end the visit of all assignments to hyperplanes."""
    net = doubled_hyperplanes(7)
    small = polyrelu.identify(net, budget=100)
    assert isinstance(small, Undecided)
    assert "the budget of 100 units of work was used up" in small.reason
    started = time.process_time()
    assert isinstance(polyrelu.identify(net, time_limit=0.2), Undecided)
    assert time.process_time() - started < 1.5


#: A network with dead and linear neurons in the unit square, as signs of bounds show, and one with
#: dead neurons on R^n, as two split trees show.
IN_THE_SQUARE = from_arrays(
    [
        ([[1, 0], [0, 1], [1, 1]], [0, 0, 1]),
        ([[1, -1, -1], [1, 2, -1], [1, 1, 1]], [0, -1, 2]),
        ([[1, 2, 3]], [0]),
    ]
)
BEHIND_SPLITS = from_arrays(trained_like("dead 1"))


@pytest.mark.parametrize(("net", "domain"), [(IN_THE_SQUARE, "box:0,1"), (BEHIND_SPLITS, None)])
def test_simplify_pays_for_everything(
    net: Network, domain: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without work all neurons stay; with more of it some go, and the same ones on any clock."""

    def answer(budget: float | None) -> tuple[int, bytes]:
        found = polyrelu.simplify(net, domain, budget=budget)
        return len(found.removed), b"".join(found.outcome.certificate.lines())

    numbers = [answer(budget)[0] for budget in (0, 80, 1000, None)]
    assert numbers[0] == numbers[1] == 0 < numbers[2] == numbers[3]
    _twice(lambda: answer(1000), monkeypatch)


def test_signs_on_a_polyhedron_are_paid() -> None:
    """Bounds by linear programs stop where the work is used up; what was proved before is kept."""
    plane = DomainCoordinates.of(Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [3, 0, 0]))
    zero = from_arrays([([[0, 0]], [0])])
    found = []
    for work in (0, 4, 8, 1000):
        joint, budget = JointNetwork(IN_THE_SQUARE, zero, plane.inputs), Budget(work)
        found.append(len(root_signs(joint, plane, budget=budget).signs))
    assert found[0] == 0 < found[-1]
    assert found == sorted(found)


def test_points_of_theorem_p_are_paid() -> None:
    """Without work no point is found, and the reason names the budget."""
    net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [-3, 1]], [1, 1]), ([[1, 1]], [0])])
    failed = bottleneck.prove(net, budget=Budget(0))
    assert "H_0: the budget of 0 units of work was used up" in str(failed)
    assert isinstance(bottleneck.prove(net, budget=Budget(1)), list)


def test_sums_of_subsets_are_paid() -> None:
    """One neuron in the first layer and 24 behind it, whose products are linearly dependent."""
    rows = [[(-1) ** k] for k in range(24)]
    bias = [-((-1) ** k) * (k + 1) for k in range(24)]
    net = from_arrays([([[1]], [0]), (rows, bias), ([[2**k for k in range(24)]], [0])])
    outcome = polyrelu.identify(net, budget=3)
    assert isinstance(outcome, Undecided)
    assert outcome.reason == "the budget of 3 units of work was used up"
    assert polyrelu.identify(net, budget=10).status == "proved"


def test_simple_changes_are_paid() -> None:
    net = from_arrays([([[1], [2], [3]], [0, 1, 1]), ([[1, 2, 0]], [0])])
    for found in (moves, fiber_moves):
        assert list(found(net, budget=Budget(0))) == []
        assert next(found(net, budget=Budget(100))).theorem == "bounded-replacement"


def test_components_of_a_fiber_are_paid() -> None:
    net = from_arrays([([[1], [2], [-1]], [0, 1, 5]), ([[1, 2, 1]], [0])])
    part, whole = polyrelu.fiber(net, budget=1), polyrelu.fiber(net)
    assert (part.complete, whole.complete) == ("part", "all")
    assert part.reason.endswith("were visited: the budget of 1 unit of work was used up")
    assert len(part) < len(whole)


def test_a_smallest_layer_is_paid() -> None:
    """With no work for all assignments, the likely ones are tried and nothing is claimed."""
    rows = [[1, 0], [0, 1], [1, 1], [-1, 0], [0, -1], [-1, -1]]
    net = from_arrays([(rows, [0] * 6), ([[1, 2, 4, 1, 2, 4]], [0])])
    layer = layer_fiber(net, 1)
    assert smallest_layer(layer).is_smallest
    assert smallest_layer(layer, budget=Budget(0)).is_smallest is None


def test_paths_that_are_compared_for_membership(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit of paths nothing is said; two paths that cancel refute below it."""
    first, second = ([[1, 2], [3, 4]], [5, 6]), ([[1, 2], [3, -1]], [7, 8])
    net = from_arrays([first, second, ([[1, 2], [2, 6]], [0, 0]), ([[1, 1]], [0])])
    for paths, status in ((8, "refuted"), (7, "open")):
        monkeypatch.setattr(membership, "SETTINGS", membership.MembershipSettings(paths))
        assert membership.deep_membership(net)["status"] == status
