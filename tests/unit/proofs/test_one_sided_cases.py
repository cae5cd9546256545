"""Trees of cases: what they prove, what they leave out, and that nothing false has one."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from polyrelu import Network, NeuronId, checker, from_arrays
from polyrelu.certificate import Certificate, Claim, Hypothesis
from polyrelu.exact import Polyhedron
from polyrelu.proofs.refutations.cases.cone import Cone
from polyrelu.proofs.refutations.cases.moves import case_moves
from polyrelu.proofs.refutations.cases.relaxation import Relaxation
from polyrelu.proofs.refutations.cases.scope import Scope
from polyrelu.proofs.refutations.cases.tree import CaseSearch, Split
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_sided import one_sided_neurons
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.support.budget import Budget
from polyrelu.support.text_files import layout
from tests.generators.campaigns import few_fast

#: Wherever z_1 = 2x - 2y + 1 ≥ 2, z_2 = -2x - 2y or -z_3 = 2y - 1 makes up for a_1 - 1 in layer 2:
#: the neuron of layer 3 is never positive, for another reason on each side.
STACK: list[tuple[list[list[int]], list[int]]] = [
    ([[2, -2], [-2, -2], [0, -2]], [1, 0, 1]),
    ([[1, 0, 0], [2, 2, -2]], [-1, -1]),
    ([[1, -1]], [-1]),
    ([[-1]], [-1]),
]


def _candidate(layer: int, index: int, guard: int | None = None) -> OneSidedCandidate:
    """Return a neuron that is off everywhere, or wherever a guard is on."""
    return OneSidedCandidate(
        NeuronId(layer, index), -1, None if guard is None else NeuronId(layer - 1, guard)
    )


def _verdict(network: Network, move: Move, domain: Polyhedron | None = None) -> str:
    """Return what the checker says of a move."""
    evidence: dict[str, dict[str, Any]] = {
        "same-function": move.evidence,
        "not-related": {"layer": move.difference},
        "membership": {"status": "verified", "method": "every"},
    }
    names = ("architecture", "same-function", "not-related", "membership")
    hypotheses = tuple(Hypothesis(move.theorem, name, evidence.get(name, {})) for name in names)
    claim = Claim("not-identifiable", network, "all", move.other, domain)
    document, _ = Certificate(claim, move.theorem, hypotheses).to_document()
    return checker.check_bytes(layout(document).encode()).verdict


def test_a_sign_that_no_linear_program_shows() -> None:
    network, candidate = from_arrays(STACK), _candidate(3, 0)
    assert not one_sided_neurons(network, [candidate])
    move = next(case_moves(network, [candidate], Budget(2000)))
    assert move.explanation == "neuron 0 of layer 3 is dead: it is never positive on R^n"
    assert _verdict(network, move) == "accepted"
    for point in itertools.product(range(-3, 4), repeat=2):
        assert move.other(point) == network(point)


def test_neurons_that_do_not_matter_are_left_out() -> None:
    """Neither unread neurons nor inputs of an independent first layer are in a scope."""
    first = ([[1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, 0, 0])
    network = from_arrays([first, ([[1, -1, 0]], [0]), ([[1]], [-1]), ([[1]], [0])])
    scope = Scope.of(network, _candidate(3, 0))
    assert [rows.indices for rows in scope.layers] == [(0, 1), (0,)]
    assert (scope.reads_inputs, scope.inputs) == (False, ())
    on_domain = Scope.of(network, _candidate(3, 0), Polyhedron.box([0] * 3, [1] * 3))
    assert (on_domain.reads_inputs, on_domain.inputs) == (True, (0, 1, 2))


def test_splits_that_no_proof_uses_are_left_out() -> None:
    tree = CaseSearch(Scope.of(from_arrays(STACK), _candidate(3, 0)), Budget()).tree()
    assert isinstance(tree, Split)
    waiting, leaves = [tree.active, tree.inactive], []
    while waiting:
        case = waiting.pop()
        waiting += [case.active, case.inactive] if isinstance(case, Split) else []
        leaves += [] if isinstance(case, Split) else [case]
    assert len(leaves) == 3
    assert tree.neuron in {k for leaf in leaves for k in leaf.used}


def test_what_is_left_to_be_shown() -> None:
    """With |z| + t ≤ 1 the least t - max(z, 0) is nearly -1, and 0 once z ≤ 0 is known."""
    first = ([[1], [1]], [0, -3])
    network = from_arrays([first, ([[1, 0], [0, 2]], [-1, -1]), ([[1, 1]], [0])])
    for index in (0, 1):
        scope = Scope.of(network, _candidate(2, index))
        relaxation = Relaxation(scope)
        cone = Cone(scope, relaxation)
        found = cone.answer()
        assert found.value == pytest.approx(-1, abs=1e-3)
        assert found.is_real
        cone.fix(0, -1)
        assert cone.answer().value == 0
        cone.fix(0, 0)
        assert cone.answer().value == pytest.approx(found.value)


def test_a_false_candidate_is_met_by_a_point() -> None:
    """Neuron 1 of layer 2 is positive at some points, with or without neuron 0 of layer 1."""
    for guard in (None, 0):
        search = CaseSearch(Scope.of(from_arrays(STACK), _candidate(2, 1, guard)), Budget())
        assert search.tree() is None
        assert search.is_false


def test_no_work_is_left() -> None:
    assert list(case_moves(from_arrays(STACK), [_candidate(3, 0)], Budget(1))) == []


@pytest.mark.parametrize("seed", few_fast(range(6), 2))
def test_random_networks(seed: int) -> None:
    """What has a tree is accepted, holds at all points of a grid, and changes no value there."""
    rng = Random(seed)
    widths = [2, *(rng.randint(2, 3) for _ in range(3)), 1]
    network = from_arrays(
        [
            (
                [[Fraction(rng.randint(-3, 3), 2) for _ in range(n)] for _ in range(m)],
                [rng.randint(-2, 2) for _ in range(m)],
            )
            for n, m in itertools.pairwise(widths)
        ]
    )
    domain = Polyhedron.box([-2, -2], [2, 2]) if seed % 3 == 0 else None
    points = list(itertools.product(range(-2, 3), repeat=2))
    values = [network.preactivations([point]) for point in points]
    for v in range(widths[3]):
        for guard in (None, *range(widths[2])):
            candidate = _candidate(3, v, guard)
            move = next(case_moves(network, [candidate], Budget(1000), domain=domain), None)
            if move is None:
                continue
            assert _verdict(network, move, domain) == "accepted"
            assert all(move.other(p) == network(p) for p in points)
            for z in values:
                assert z[2][v, 0] <= 0 or (guard is not None and z[1][guard, 0] <= 0)
