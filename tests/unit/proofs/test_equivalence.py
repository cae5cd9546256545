"""`equivalent`: golden cases, routes, limits, and what a user meets from Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import DomainError, NetworkError, Polyhedron, Undecided, checker, equivalent
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.outcomes import Equivalent, NotEquivalent
from polyrelu.proofs.equivalence import comparison, prover
from polyrelu.support.progress import ProgressStep
from polyrelu.symmetry import permute, rescale
from tests.generators.campaigns import few_and_all
from tests.generators.equivalent_pairs import hinges
from tests.generators.files import ROOT
from tests.oracles.judge import certificate_bytes

HAT = [([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])]


def accepted(outcome: Any) -> checker.CheckReport:
    report = checker.check_bytes(certificate_bytes(outcome))
    assert report.verdict == "accepted", report
    return report


def test_weight_matching_is_fooled_by_scaling() -> None:
    one = from_arrays([([[-2, -2], [-2, -1]], [0, 0]), ([[1, 1]], [0])])
    two = from_arrays([([["-1/2", "-1/2"], [-8, -4]], [0, 0]), ([[4, "1/4"]], [0])])
    outcome = equivalent(one, two)
    assert isinstance(outcome, Equivalent)
    assert outcome.search.route == "expressions"
    assert "compute the same real function on R^n" in accepted(outcome).statement


@pytest.mark.parametrize("power", [27, 34, 60])
def test_thin_spikes(power: int) -> None:
    """A spike of height 1 and width 2^-power around 1/2 + 2^-power, invisible to floats."""
    height, half = 2**power, Fraction(1, 2)
    step = 1 / Fraction(height)
    one = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    bends = [-half, -half - step, -half - 2 * step]
    rows = [[1, 0], [0, 1], [1, 0], [1, 0], [1, 0]]
    above = ([[1, 1, height, -2 * height, height]], [0])
    two = from_arrays([(rows, [0, 0, *bends]), above])
    outcome = equivalent(one, two, Polyhedron.box([-1, -1], [1, 1]))
    assert isinstance(outcome, NotEquivalent)
    assert list(outcome.witness.x) == [half + step, 0]
    assert outcome.witness.g[0] - outcome.witness.f[0] == 1
    accepted(outcome)


def test_equality_does_not_depend_on_how_functions_are_cut() -> None:
    """max(max(a, b), c) in two orders: other neurons, other regions, one function."""
    a, b, c = [2, 1], [-1, 3], [1, -1]
    zero = [0, 0]

    def maximum(x: list[int], y: list[int], z: list[int]) -> Network:
        xy, yz = ([p - q for p, q in zip(u, v, strict=True)] for u, v in ((x, y), (y, z)))
        rows = [xy, yz, [-p for p in yz], z, [-p for p in z]]
        above = [
            [1, 1, -1, 0, 0],
            [0, 0, 0, 1, 0],
            [0, 0, 0, 0, 1],
        ]  # max(max(x, y) - z, 0), and z itself
        return from_arrays([(rows, [0] * 5), (above, [0] * 3), ([[1, 1, -1]], [0])])

    outcome = equivalent(maximum(a, b, c), maximum(b, c, a))
    assert isinstance(outcome, Equivalent)
    assert outcome.search.route == "tree"
    assert equivalent(maximum(a, b, zero), maximum(b, c, a)).status == "refuted"
    accepted(outcome)


def test_equal_networks_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """No point is evaluated; the tree is that of networks with one expression."""
    pairs = [([[1, 2], [3, "1/2"]], [0, -1]), ([[1, 1]], [0])]
    one, two = from_arrays(pairs), from_arrays(pairs)
    permuted = equivalent(one, permute(two, 1, [1, 0]))
    assert isinstance(permuted, Equivalent)
    monkeypatch.setattr(prover, "JointNetwork", None)
    monkeypatch.setattr(Network, "__call__", None)
    outcome = equivalent(one, two)
    accepted(outcome)
    assert isinstance(outcome, Equivalent)
    lines = [list(found.certificate.log.lines()) for found in (outcome, permuted)]
    assert lines[0] == lines[1]


def test_a_domain_can_make_networks_equal() -> None:
    one, two = from_arrays([([[1, 1]], [0]), ([[1]], [0])]), from_arrays([([[1, 1]], [0])])
    everywhere = equivalent(one, two)
    assert isinstance(everywhere, NotEquivalent)
    assert all(x.denominator == 1 and abs(x) <= 1 for x in everywhere.witness.x)
    for domain in (
        Polyhedron.orthant(2),
        Polyhedron.box([1, 1], [2, 2]),
        Polyhedron.box([-1, 1], [-1, 1]),
    ):
        accepted(equivalent(one, two, domain))
    flat = Polyhedron.from_constraints([[1, 1], [-1, -1], [1, 0]], [1, -1, 7])  # x + y = 1
    accepted(equivalent(one, two, flat))


def test_networks_without_hidden_layers_and_other_ends() -> None:
    affine = from_arrays([([[1, -1]], [1])])
    assert equivalent(affine, affine).status == "proved"
    ramp = from_arrays([([[1, -1]], [1])], last="relu")
    outcome = equivalent(affine, ramp)
    assert isinstance(outcome, NotEquivalent)
    assert list(outcome.witness.g) == [0]
    accepted(equivalent(affine, ramp, Polyhedron.box([0, 0], [1, 1])))
    nothing = from_arrays([([[0, 0]], [0])])
    accepted(equivalent(nothing, from_arrays([([[0, 0]], [-3]), ([[5]], [0])])))


def test_connections_that_skip_layers() -> None:
    """x = max(x, 0) - max(-x, 0), once through neurons and once past them."""
    through = from_arrays([([[1], [-1]], [0, 0]), ([[1, -1], [-1, 1]], [1, -1]), ([[1, -1]], [2])])
    layers = (
        Layer((Block(0, RationalMatrix.from_rows([[0]])),), RationalMatrix.column([-1])),
        Layer(
            (Block(0, RationalMatrix.from_rows([[1]])), Block(1, RationalMatrix.from_rows([[7]]))),
            RationalMatrix.column([3]),
        ),
    )
    past = Network(1, layers)
    outcome = equivalent(through, past)
    assert isinstance(outcome, Equivalent)
    accepted(outcome)


def test_a_common_prefix_is_lifted() -> None:
    """Two deep networks with the same first layers, permuted and rescaled."""
    rng = np.random.default_rng(3)
    widths = [4, 10, 10, 10]
    prefix = [
        (rng.integers(-3, 4, (m, n)).tolist(), rng.integers(-3, 4, m).tolist())
        for n, m in pairwise(widths)
    ]
    p, d = [1, -2, 1, 0, 3, -1, 0, 2, -2, 1], 5
    one = from_arrays([*prefix, ([p], [0]), ([[1]], [-d]), ([[3]], [1])])  # max(max(p, 0) - d, 0)
    two = from_arrays([*prefix, ([p], [-d]), ([[1]], [0]), ([[3]], [1])])  # max(max(p - d, 0), 0)
    two = rescale(
        permute(two, 2, [3, 1, 0, 2, 9, 8, 7, 6, 5, 4]), 1, [Fraction(k, 3) for k in range(1, 11)]
    )
    outcome = equivalent(one, two, time_limit=60)
    assert isinstance(outcome, Equivalent)
    assert outcome.search.route == "prefix"
    assert len(outcome.certificate.lifted) > 10
    accepted(outcome)


def test_several_places_are_proved_one_by_one() -> None:
    """Six nested hinges take six trees of two or three leaves each.

    One tree for all of them would have 2^6 leaves.
    """
    rows = [[int(i == j) + (i + 2 * j) % 3 for j in range(6)] for i in range(6)]
    unit = [[int(i == j) for j in range(6)] for i in range(6)]
    one = from_arrays([(rows, [0] * 6), (unit, [-1] * 6), ([[1] * 6], [0])])
    two = from_arrays([(rows, [-1] * 6), (unit, [0] * 6), ([[1] * 6], [0])])
    outcome = equivalent(one, two)
    assert isinstance(outcome, Equivalent)
    assert len(outcome.certificate.parts) == 6
    assert outcome.search.num_leaves <= 18
    accepted(outcome)


def test_neurons_that_are_stable_on_a_box_are_never_split() -> None:
    """A pruned network on a box: its neurons that are never active there are removed.

    Bounds alone prove that the function is the same.
    """
    rng = np.random.default_rng(5)
    widths = [3, 12, 12, 2]
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)]
    box = Polyhedron.box([Fraction(1, 4)] * 3, [Fraction(3, 8)] * 3)
    low, high, pruned, removed = np.full(3, 0.25), np.full(3, 0.375), [], 0
    for number, (w, b) in enumerate(layers):
        top = np.maximum(w, 0) @ high + np.minimum(w, 0) @ low + b
        bottom = np.maximum(w, 0) @ low + np.minimum(w, 0) @ high + b
        off = (top < -1e-9) & (number < 2)
        removed += int(off.sum())
        pruned.append((np.where(off[:, None], 0.0, w), np.where(off, 0.0, b)))
        low, high = np.maximum(bottom, 0), np.maximum(top, 0)
    assert removed >= 6
    outcome = equivalent(from_arrays(layers), from_arrays(pruned), box)
    assert isinstance(outcome, Equivalent)
    assert (outcome.search.route, outcome.search.num_nodes, outcome.search.num_programs) == (
        "signs",
        1,
        0,
    )
    accepted(outcome)
    assert equivalent(from_arrays(layers), from_arrays(pruned)).status == "refuted"


def test_a_change_that_random_points_do_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    """One weight is changed by 2^-40, between two neurons that are rarely active together.

    Ascents in floats find a point where both are active.
    """
    monkeypatch.setattr(comparison, "SETTINGS", replace(comparison.SETTINGS, num_points=4))
    rng = np.random.default_rng(11)
    widths = [40, 30, 30, 3]
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(widths)]
    layers[0][1][:] -= 12  # neurons of the first layer need a large input
    layers[1][1][:] -= 30
    changed = [([[Fraction(float(x)) for x in row] for row in w], b) for w, b in layers]
    changed[1][0][7][4] += Fraction(1, 2**40)
    one, two = from_arrays(layers), from_arrays(changed)
    for domain, route in ((None, "bottleneck"), (Polyhedron.box([-20] * 40, [20] * 40), "points")):
        outcome = equivalent(one, two, domain, time_limit=120)
        assert isinstance(outcome, NotEquivalent)
        assert outcome.search.route == route
        assert sum(x != 0 for x in outcome.witness.x) < 20
        accepted(outcome)


def test_networks_that_differ_at_0_are_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is computed but the values at 0, and no point is shorter."""

    def join(*_: object, **__: object) -> None:
        raise AssertionError("the networks were joined")

    monkeypatch.setattr(prover, "JointNetwork", join)
    hat, box = from_arrays(HAT), Polyhedron.box([-1], [1])
    raised = from_arrays([HAT[0], ([[1, -2, 1]], [1])])
    for domain in (None, box):
        outcome = equivalent(hat, raised, domain)
        assert isinstance(outcome, NotEquivalent)
        assert list(outcome.witness.x) == [0]
        assert outcome.search is not None
        assert (outcome.search.route, outcome.search.num_points) == ("points", 1)
        accepted(outcome)
    with pytest.raises(AssertionError, match="joined"):
        equivalent(hat, rescale(hat, 1, [1, 1, 2]))


@pytest.mark.parametrize("constraint", [None, ([[1, 1]], [3])])
def test_first_points_change_no_certificate(
    monkeypatch: pytest.MonkeyPatch, constraint: tuple[list[list[int]], list[int]] | None
) -> None:
    """The point of difference is the same without the points before the join."""
    one = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    others = [
        from_arrays([([[1, 0], [0, 1]], [shift, 0]), ([[weight, 1]], [0])])
        for shift, weight in ((0, "1/2"), (-1, 1), (1, 1))
    ]
    domain = constraint and Polyhedron.from_constraints([], [], *constraint)

    def certificates() -> list[bytes]:
        outcomes = [equivalent(one, other, domain) for other in others]
        return [certificate_bytes(each) for each in outcomes if isinstance(each, NotEquivalent)]

    found = certificates()
    assert len(found) == len(others)
    late = replace(comparison.SETTINGS, num_first_points=0)
    monkeypatch.setattr(comparison, "SETTINGS", late)
    assert found == certificates()


def test_equal_expressions_need_no_work() -> None:
    """The first points are not paid for: a proof by expressions takes the smallest budget."""
    hat = from_arrays(HAT)
    assert equivalent(hat, rescale(hat, 1, [2, 3, 4]), budget=1e-9).status == "proved"


def test_the_simplest_point_is_chosen() -> None:
    outcome = equivalent(from_arrays(HAT), from_arrays([([[1]], [0]), ([["1/3"]], [0])]))
    assert isinstance(outcome, NotEquivalent)
    assert list(outcome.witness.x) == [1]


@pytest.mark.parametrize(
    "campaign",
    few_and_all(
        ((0,), (0,), ("0", "77")),
        ((0, 1, 2), (0, 4, 16, 40, 41, 42), ("0", "1", "77")),
    ),
)
def test_same_seed_same_bytes(
    campaign: tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]],
) -> None:
    """Processes that hash differently write equal certificates, for each seed."""
    seeds, pairs, hashings = campaign
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1])\n"
        "from tests.oracles.judge import certificate_bytes\n"
        "from fractions import Fraction\n"
        "from polyrelu import equivalent\n"
        "from tests.generators.equivalent_pairs import network, nudged, pair\n"
        f"for seed in {seeds}:\n"
        "    digest = hashlib.sha256()\n"
        f"    for number in {pairs}:\n"
        "        made, chance = pair(number)\n"
        "        changed = nudged(made.second, chance, Fraction(1, 2**40))\n"
        "        for other in (made.second, changed):\n"
        "            outcome = equivalent(network(made.first), network(other), seed=seed)\n"
        "            digest.update(certificate_bytes(outcome))\n"
        "    print(digest.hexdigest())\n"
    )
    command = [sys.executable, "-c", code, str(ROOT)]
    found = set()
    for hashing in hashings:
        environment = {**os.environ, "PYTHONHASHSEED": hashing}
        process = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
        )
        assert len(process.stdout.split()) == len(seeds)
        found.add(process.stdout)
    assert len(found) == 1


# -- limits --------------------------------------------------------------------------------------


def test_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    one_tree = replace(prover.SETTINGS, max_coordinates_of_parts=0)  # of 2^13 leaves
    monkeypatch.setattr(prover, "SETTINGS", one_tree)
    monkeypatch.setattr(prover, "canonical_position", lambda network: None)
    started = time.monotonic()
    outcome = equivalent(*hinges(13), time_limit=1)
    assert time.monotonic() - started < 10
    assert isinstance(outcome, Undecided)
    assert "time limit of 1 second" in str(outcome)
    assert outcome.search is not None
    assert outcome.search.num_nodes > 5
    assert 0 < outcome.search.closed < 1
    zero = equivalent(from_arrays(HAT), from_arrays(HAT), time_limit=0)
    assert isinstance(zero, Undecided)
    assert "0 nodes" in str(zero)


def test_memory_limit() -> None:
    outcome = equivalent(from_arrays(HAT), from_arrays(HAT), memory_limit=1)
    assert isinstance(outcome, Undecided)
    assert "memory limit of 1 MiB" in outcome.reason


def test_interrupt() -> None:
    """Ctrl-C during the search: undecided, with what was reached."""
    calls: list[int] = []

    def progress(step: ProgressStep) -> None:
        calls.append(step.num_done)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    one, two = hinges(5)
    assert threading.current_thread() is threading.main_thread()
    outcome = equivalent(one, two, progress=progress)
    assert isinstance(outcome, Undecided)
    assert "interrupted" in outcome.reason
    assert outcome.search is not None
    assert outcome.search.num_nodes >= 3


# -- errors --------------------------------------------------------------------------------------


def test_networks_that_cannot_be_compared() -> None:
    hat = from_arrays(HAT)
    with pytest.raises(NetworkError, match="1 and 2 inputs"):
        equivalent(hat, from_arrays([([[1, 1]], [0])]))
    with pytest.raises(NetworkError, match="1 and 2 outputs"):
        equivalent(hat, from_arrays([([[1], [1]], [0, 0])]))
    with pytest.raises(DomainError, match="R\\^2"):
        equivalent(hat, hat, Polyhedron.universe(2))
    with pytest.raises(DomainError, match="empty"):
        equivalent(hat, hat, Polyhedron.from_constraints([[1], [-1]], [0, -1]))
    with pytest.raises(polyrelu.PolyreluError, match="time_limit"):
        equivalent(hat, hat, time_limit=-1)
    with pytest.raises(polyrelu.PolyreluError, match="cannot read"):
        equivalent(hat, "net.onnx")


def test_outcomes_print_and_save(tmp_path: Path) -> None:
    hat = from_arrays(HAT)
    proved = equivalent(hat, rescale(hat, 1, [2, 3, 4]))
    assert isinstance(proved, Equivalent)
    assert "route expressions" in str(proved)
    assert "FORMAT" not in repr(proved)
    for name in ("tree.cert", "tree.cert.gz"):
        written = proved.save(tmp_path / name)
        assert written == [tmp_path / name]
        assert checker.check_file(written[0]).verdict == "accepted"
    assert (tmp_path / "tree.cert.gz").read_bytes()[:2] == b"\x1f\x8b"
    refuted = equivalent(hat, from_arrays([([[0]], [0])]))
    assert isinstance(refuted, NotEquivalent)
    assert "f(x): 1" in str(refuted)
    refuted.save(tmp_path / "point.json")
    assert checker.check_file(tmp_path / "point.json").verdict == "accepted"
