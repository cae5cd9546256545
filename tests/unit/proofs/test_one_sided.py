"""Valid inequalities, bounds and candidates of theorem `one-sided`, checked by hand."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import pytest

from polyrelu import NeuronId, checker, from_arrays, identify
from polyrelu.exact import Polyhedron
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.refutations.inequality_forms import Inequality
from polyrelu.proofs.refutations.one_sided import one_sided_moves, one_sided_neurons
from polyrelu.proofs.refutations.sampled_candidates import (
    OneSidedCandidate,
    apparently_bounded_neurons,
    sampled_candidates,
)
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.proofs.refutations.valid_inequalities import ValidInequalities
from tests.oracles.judge import certificate_bytes

Stack = list[tuple[list[list[Any]], list[Any]]]

#: 2 max(t, 0) - max(t - 1, 0) ≥ 0 for any t; intervals see nothing.
SMALLER: Stack = [([[1, 2], [1, 2]], [0, -1]), ([[2, -1], [1, -3]], [0, 1]), ([[1, 1]], [0])]


def test_facts_are_what_the_checker_reads() -> None:
    """d a - t ≥ 0 with d = 2 for a = max((2x - 1)/2, 0)."""
    inequalities = ValidInequalities(from_arrays([([[1]], ["-1/2"]), ([[1]], [0]), ([[1]], [0])]))
    assert inequalities.inequality(Inequality("activation", 0)) == {2: 1}
    assert inequalities.inequality(Inequality("relu", 0)) == {0: 1, 1: -2, 2: 2}
    assert inequalities.preactivation(NeuronId(2, 0), -1) == {0: 0, 2: -1}


def test_a_bound_behind_a_bound() -> None:
    """max(3 - x⁺ - y⁺, 0) ≤ 3 is learnt; then z = that - 4 ≤ -1."""
    layers: Stack = [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1]], [3]), ([[1]], [-4]), ([[1]], [0])]
    network = from_arrays(layers)
    inequalities = ValidInequalities(network)
    assert apparently_bounded_neurons(network)[NeuronId(2, 0)] == {1}
    inequalities.derive_bounds(apparently_bounded_neurons(network), 3)
    bound = inequalities.lower_bound(inequalities.preactivation(NeuronId(3, 0), -1), 3)
    assert bound is not None
    assert bound.value == 1


def test_the_chord_of_a_bounded_neuron() -> None:
    """For h = max(u, 0) - max(u - 2, 0) - 1 in [-1, 1], the chord (h + 1)/2 is above max(h, 0)."""
    layers: Stack = [
        ([[1], [1]], [0, -2]),
        ([[1, -1], [1, -1]], [-1, 0]),
        ([[-2, 1], [1, 0]], [0, 0]),
        ([[1, 1]], [0]),
    ]
    candidate = OneSidedCandidate(NeuronId(3, 0), 1)
    assert one_sided_neurons(from_arrays(layers), [candidate]) == [candidate]


def _with_small_tables(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    """Take programs with more entries for large ones."""
    small = dataclasses.replace(SETTINGS, max_program_entries=entries)
    monkeypatch.setattr("polyrelu.proofs.refutations.bound_program.SETTINGS", small)


@pytest.mark.parametrize("domain", [None, Polyhedron.box([-3, -3], [3, 3])])
def test_large_programs_show_the_same_signs(
    monkeypatch: pytest.MonkeyPatch, domain: Polyhedron | None
) -> None:
    """The unknowns that floats use are enough for the exact program."""
    network = from_arrays(SMALLER)
    usual = list(one_sided_moves(network, domain=domain))
    # tables for programs without derived inequalities, and for the unknowns that are used
    _with_small_tables(monkeypatch, 40)
    assert not list(one_sided_moves(network, domain=domain))
    large = list(one_sided_moves(network, domain=domain, with_large=True))
    assert [move.explanation for move in large] == [move.explanation for move in usual]
    assert large
    for move in large:
        points = [(x, y) for x in (-3, Fraction(1, 3), 3) for y in (-2, 0, 1)]
        assert all(move.other(point) == network(point) for point in points)


def test_large_programs_show_no_sign_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """max(t, 0) - 2 max(t - 1, 0) is negative for large t."""
    layers: Stack = [([[1], [1]], [0, -1]), ([[1, -2], [1, 1]], [0, 1]), ([[1, 1]], [0])]
    _with_small_tables(monkeypatch, 40)
    inequalities = ValidInequalities(from_arrays(layers), with_large=True)
    form = inequalities.preactivation(NeuronId(2, 0))
    bound = inequalities.lower_bound(form, 2)
    assert bound is None or bound.value < 0


def test_a_bound_far_above_all_coefficients() -> None:
    """Where t = -3x + 2y - 3 > 0, z = -3 max(…, 0) - 3 (t + 4) + 2t + 1 ≤ -11."""
    first = ([[1, 2], [-3, 2], [-3, 2]], [2, 1, -3])
    network = from_arrays([first, ([[-3, -3, 2], [1, -1, 2]], [1, 1]), ([[2, 3]], [-3])])
    candidate = OneSidedCandidate(NeuronId(2, 0), -1, NeuronId(1, 2))
    assert one_sided_neurons(network) == [candidate]


def test_multipliers_of_more_than_a_thousand_digits() -> None:
    """Long integers are written in hexadecimal digits, as the format asks."""
    long, longer = Fraction(7**1300, 5**1200), Fraction(3**2100, 2**3000)
    first = ([[1, 2], [longer, 2 * longer]], [0, -longer])
    second = ([[2 * long, -long / longer], [1, -3]], [0, 1])
    outcome = identify(from_arrays([first, second, ([[1, 1]], [0])]))
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "one-sided"
    data = certificate_bytes(outcome)
    assert b'"0x' in data
    assert checker.check_bytes(data).verdict == "accepted"


def test_a_source_that_is_never_on() -> None:
    """Where neuron 0 of layer 2 is on, which is nowhere, everything holds."""
    layers: Stack = [
        ([[1], [-1]], [0, 0]),
        ([[-1, -1], [1, -1]], [-1, 0]),
        ([[-1, 1], [1, 1]], [5, 0]),
        ([[1, 1]], [0]),
    ]
    candidates = [OneSidedCandidate(NeuronId(3, 0), sign, NeuronId(2, 0)) for sign in (1, -1)]
    assert one_sided_neurons(from_arrays(layers), candidates) == candidates


def test_what_is_false_is_not_proved() -> None:
    network = from_arrays(SMALLER)
    wrong = [
        OneSidedCandidate(NeuronId(2, 0), -1),
        OneSidedCandidate(NeuronId(2, 1), 1),
        OneSidedCandidate(NeuronId(2, 1), 1, NeuronId(1, 1)),
    ]
    assert one_sided_neurons(network, wrong) == []


def test_suspects_come_layer_by_layer() -> None:
    found = sampled_candidates(from_arrays(SMALLER))
    assert found[0] == OneSidedCandidate(NeuronId(2, 0), 1)
    assert [s.neuron.layer for s in found] == sorted(s.neuron.layer for s in found)


def test_programs_beyond_the_limits_are_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some 700 forms only those of the first derived inequalities are asked for."""
    small = dataclasses.replace(SETTINGS, max_program_entries=40, max_sparse_entries=1000)
    monkeypatch.setattr("polyrelu.proofs.refutations.bound_program.SETTINGS", small)
    ones = [[1] * 16 for _ in range(16)]
    network = from_arrays([(ones, [1] * 16)] * 4)
    inequalities = ValidInequalities(network, with_large=True)
    asked, inequality = list[Inequality](), inequalities.inequality

    def counted(name: Inequality, guard: int | None = None) -> dict[int, int]:
        """Return the form of an inequality, and note its name."""
        asked.append(name)
        return inequality(name, guard)

    monkeypatch.setattr(inequalities, "inequality", counted)
    form = inequalities.preactivation(NeuronId(3, 0), -1)
    assert inequalities.lower_bound(form, 3) is None
    assert 0 < len(asked) < 200


def test_raised_together() -> None:
    """Both neurons are on where the guard is on, and the output subtracts one from the other.

    One of them alone is of no use.
    """
    layers: Stack = [([[1], [-1]], [-1, -1]), ([[2, -3], [1, -2]], [0, 1]), ([[1, -1]], [0])]
    network, guard = from_arrays(layers), NeuronId(1, 0)
    both = [OneSidedCandidate(NeuronId(2, v), 1, guard) for v in (0, 1)]
    move = next(one_sided_moves(network, both))
    assert "raised together" in move.explanation
    changes = [
        new[0] - old[0]
        for new, old in zip(move.other.weight(2).rows(), network.weight(2).rows(), strict=True)
    ]
    assert changes[0] == changes[1] > 0
    assert list(one_sided_moves(network, both[:1])) == []


def test_no_time() -> None:
    assert one_sided_neurons(from_arrays(SMALLER), budget=0) == []


def test_the_last_hidden_layer_before_a_relu() -> None:
    """With a ReLU at the end the outputs are neurons too, and layer 2 stands below them."""
    network = from_arrays([*SMALLER[:2], ([[1, 1]], [0])], last="relu")
    move = next(one_sided_moves(network))
    assert move.other([Fraction(3), Fraction(-1)]) == network([3, -1])


def test_identify() -> None:
    outcome = identify(from_arrays(SMALLER))
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "one-sided"
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def test_inputs_that_depend_on_others() -> None:
    """t = x + 2y + 3u is the only thing that layer 1 reads, and programs look at x only."""
    first = ([[1, 2, 3], [1, 2, 3]], [0, -1])
    network = from_arrays([first, *SMALLER[1:]])
    assert ValidInequalities(network).dependent_inputs == {2, 3}
    space = Polyhedron.box([-9] * 3, [9] * 3)
    assert ValidInequalities(network, domain=space).dependent_inputs == set()
    outcome = identify(network)
    assert isinstance(outcome, NotIdentifiable)
    assert outcome.certificate.theorem == "one-sided"
    assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"
