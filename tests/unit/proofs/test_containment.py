"""Signs of neurons of layer 2 by a zonotope inside another one."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from polyrelu import NeuronId, checker, from_arrays, identify, related
from polyrelu.network import Network
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.refutations.containment.moves import containment_moves
from polyrelu.proofs.refutations.containment.program import Combinations, ContainmentProgram
from polyrelu.proofs.refutations.containment.rounding import rounded_bound
from polyrelu.proofs.refutations.inequality_forms import InequalityForms
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.support.budget import Budget
from tests.oracles.judge import certificate_bytes

#: A neuron of layer 2 that is never positive.
DEAD = OneSidedCandidate(NeuronId(2, 0), -1)


def _network(first: tuple[list[list[Any]], list[Any]], row: list[Any], bias: Any) -> Network:
    """Return a network whose layer 2 has the given neuron and one of no sign."""
    other = [(-1) ** j * (j + 1) for j in range(len(row))]
    return from_arrays([first, ([row, other], [bias, 0]), ([[1, 1]], [0])])


def _wide(seed: int, size: int = 3, count: int = 12, factor: Fraction = Fraction(1)) -> Network:
    """Return a network whose neuron (2, 0) is dead, by many neurons that combine a few others.

    The negative terms are split off from segments of the positive ones; `factor` enlarges them.
    """
    random = Random(seed)
    rows = [[random.randint(-9, 9) for _ in range(size)] for _ in range(count)]
    rows += [[-x for x in row] for row in rows[:size]]
    biases = [random.randint(-3, 3) for _ in rows]
    weights = [Fraction(-random.randint(8, 12)) for _ in rows]
    for _ in range(4):  # p t = Σ γ_j t_j - r, r ≥ 0
        chosen = random.sample(range(len(rows)), 2)
        signs = [random.choice((-1, 1)) for _ in chosen]
        pairs = list(zip(signs, chosen, strict=True))
        rows.append([sum(s * rows[j][i] for s, j in pairs) for i in range(size)])
        biases.append(sum(s * biases[j] for s, j in pairs) - random.randint(0, 2))
        weights.append(factor)
    return _network((rows, biases), weights, -1)


@pytest.mark.parametrize("seed", range(8))
def test_a_contained_zonotope_gives_another_network(seed: int) -> None:
    """Its certificate is accepted, and the functions agree at points of all sizes."""
    network = _wide(seed)
    move = next(containment_moves(network, [DEAD], Budget(10_000)))
    assert move.theorem == "one-sided"
    assert not related(network, move.other)
    random = Random(seed)
    for _ in range(40):
        scale = random.choice((Fraction(1, 100), 1, 100))
        point = [scale * random.randint(-99, 99) for _ in range(3)]
        assert network(point) == move.other(point)


@pytest.mark.parametrize("seed", range(3))
def test_identify_uses_it_where_other_programs_are_too_large(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The certificate is the one of theorem `one-sided`, which the checker accepts."""
    small = dataclasses.replace(SETTINGS, max_program_entries=10, max_sparse_entries=10)
    monkeypatch.setattr("polyrelu.proofs.refutations.bound_program.SETTINGS", small)
    outcome = identify(_wide(seed), budget=3_000)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "one-sided"
    assert outcome.certificate.to_document()[0]["proof"]["hypotheses"][1]["evidence"]["steps"]
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def _bound(network: Network, candidate: OneSidedCandidate) -> Fraction | None:
    """Return what the program and its rounding prove."""
    program = ContainmentProgram(InequalityForms(network), candidate)
    found = program.solve(Budget())
    bound = None if found is None else rounded_bound(program, found)
    return None if bound is None else bound.value


def _value(network: Network, *point: Fraction | int) -> Fraction:
    """Return the preactivation of neuron (2, 0) at a point."""
    return network.preactivations([list(point)])[1].rows()[0][0]


def test_a_guard_may_be_needed() -> None:
    """max(y - x, 0) ≤ 2 max(y, 0) + ... where x > 0; where x = -5 and y = 0 it is 5."""
    first = [[1, 0], [0, 1], [0, -1], [-1, 1], [2, 1], [-1, -9]], [0] * 6
    network = _network(first, [0, -2, -2, 1, "-1/9", "-1/9"], 0)
    guarded = OneSidedCandidate(NeuronId(2, 0), -1, NeuronId(1, 0))
    assert _value(network, -5, 0) > 0
    assert _bound(network, guarded) == 0
    assert _bound(network, DEAD) is None


@pytest.mark.parametrize("seed", range(60))
def test_no_false_candidate_is_proved(seed: int) -> None:
    """Small integers, candidates of all kinds; what is proved holds at all points of a grid."""
    random = Random(seed)
    count = random.randint(4, 7)
    rows = [[random.randint(-2, 2) for _ in range(2)] for _ in range(count)]
    biases = [random.randint(-2, 2) for _ in range(count)]
    weights = [random.choice((-3, -2, -2, -1, 1)) for _ in range(count)]
    network = _network((rows, biases), weights, random.randint(-1, 1))
    grid = [Fraction(k, 2) for k in (-40, *range(-7, 8), 40)]
    for guard in (None, *range(count)):
        guard_id = None if guard is None else NeuronId(1, guard)
        if _bound(network, OneSidedCandidate(NeuronId(2, 0), -1, guard_id)) is None:
            continue
        for x, y in itertools.product(grid, grid):
            z = [row[0] * x + row[1] * y + b for row, b in zip(rows, biases, strict=True)]
            if guard is None or z[guard] > 0:
                assert _value(network, x, y) <= 0


def test_what_rounding_spoils_is_no_proof() -> None:
    """Combinations beyond the limits of the positive terms are refused."""
    program = ContainmentProgram(InequalityForms(_wide(1)), DEAD)
    found = program.solve(Budget())
    assert found is not None
    assert rounded_bound(program, found) is not None
    for factor in (0.0, 30.0):
        spoiled = Combinations(
            found.gammas * factor, found.of_guard, found.lambdas + 30 * (factor > 1), found.guard
        )
        kept = rounded_bound(program, spoiled)
        assert kept is None or factor == 0  # the basis alone may be enough
    largest = dataclasses.replace(found, lambdas=found.lambdas * 0 + 1e3)
    assert rounded_bound(program, largest) is None


def test_no_work_no_network() -> None:
    """The program is paid before it is solved."""
    assert not list(containment_moves(_wide(0), [DEAD], Budget(1)))


@pytest.mark.parametrize("power", [-400, -300, 150, 200, 300, 400])
def test_numbers_beyond_floats_end_nothing(power: int) -> None:
    """Products of weights overflow, or are 0; what is proved, if anything, is right."""
    far = Fraction(10) ** power
    rows, biases = [[-1], [-1], [-2], [4], [2], [-3]], [-1, 0, 2, 2, -1, -1]
    for guard in (None, NeuronId(1, 2)):
        candidate = OneSidedCandidate(NeuronId(2, 0), -1, guard)
        for weights in ([-2 * far, -3, -2, 1, 1, -2], [-3, -far, -2, far, 1, -2]):
            network = _network((rows, biases), weights, -1)
            if _bound(network, candidate) is not None:
                points = (Fraction(k, 4) * scale for k in range(-9, 10) for scale in (1, 1 / far))
                for x in points:
                    is_on = guard is None or 2 - 2 * x > 0
                    assert not is_on or _value(network, x) <= 0
    first = [[0, 0], [-1, 2]], [-2, 0]
    assert _bound(_network(first, [-3 * far, -1], -2), DEAD) in (None, 0)


def test_large_coefficients_are_rounded() -> None:
    """2^1000 times 2^40 is no float."""
    program = ContainmentProgram(InequalityForms(_wide(1)), DEAD)
    found = program.solve(Budget())
    assert found is not None
    assert (
        rounded_bound(program, dataclasses.replace(found, gammas=found.gammas + 2.0**1000)) is None
    )
