"""What all answers have in common: status, statement, theorem, certificate, next steps."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args

import pytest

import polyrelu
from polyrelu import outcomes
from polyrelu.outcomes import (
    ComplexListed,
    Equivalent,
    Identifiable,
    Injective,
    InverseLipschitz,
    NextStep,
    NotEquivalent,
    NotIdentifiable,
    NotInjective,
    Outcome,
    PartlyIdentifiable,
    Proved,
    Refuted,
    RegionsListed,
    Undecided,
)
from polyrelu.proofs import certify_functional_dimension, prove_runtime_error, size_bound
from tests.generators.public_objects import answers_about_properties

AnyOutcome = Proved[Any] | Refuted | Undecided

HAT = polyrelu.from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])])
DOUBLED = polyrelu.from_arrays([([[1], [1]], [0, 0]), ([[1, 1]], [0])])
PARTLY = polyrelu.from_arrays(
    [
        ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
        ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
        ([[-1, 3]], [-2]),
    ]
)


#: Answers without a certificate, or with several ones.
OTHERS = {*get_args(outcomes.PropertyOutcome), *get_args(outcomes.DecisionsOutcome)}


def part_of(outcome: Outcome) -> PartlyIdentifiable:
    assert isinstance(outcome, Undecided)
    assert outcome.part is not None
    return outcome.part


def answers() -> list[AnyOutcome]:
    """One answer of each type, from the prover that gives it."""
    return [
        polyrelu.identify(polyrelu.from_arrays([([[1, 2]], [3])])),
        polyrelu.identify(DOUBLED),
        polyrelu.identify(DOUBLED, among="regular"),
        part_of(polyrelu.identify(PARTLY, among="transversal", budget=None)),
        polyrelu.equivalent(HAT, HAT),
        polyrelu.equivalent(HAT, DOUBLED),
        polyrelu.equivalent(HAT, DOUBLED, time_limit=0),
        polyrelu.certify_regions(polyrelu.canonical_complex(HAT)),
        polyrelu.certify_complex(polyrelu.canonical_complex(HAT)),
        prove_runtime_error(polyrelu.runtime_error(HAT, "box:0,1")),
        polyrelu.injective([([[1]], [0])]),
        polyrelu.injective(HAT),
        polyrelu.inverse_lipschitz(polyrelu.from_arrays([([[1], [-1]], [0, 0])]), layers=1),
        size_bound(HAT),
        certify_functional_dimension(DOUBLED),
        polyrelu.teaching_set(polyrelu.from_arrays([([[1]], [0]), ([[1]], [0])])),
        polyrelu.deviation(HAT, DOUBLED, "box:0,2"),
        polyrelu.deviation(HAT, DOUBLED, "box:0,2", at_most="1/100"),
        polyrelu.output_range(HAT, "box:0,2"),
        polyrelu.lipschitz_bounds(HAT, "box:0,2"),
    ]


@pytest.fixture(scope="module")
def every() -> list[AnyOutcome]:
    return answers()


def test_each_type_is_here(every: list[AnyOutcome]) -> None:
    """Types that are added later have to be added here."""
    listed = (getattr(outcomes, name) for name in outcomes.__all__)
    answers = {kind for kind in listed if isinstance(kind, type) and hasattr(kind, "statement")}
    assert {type(outcome) for outcome in every} | {Proved, Refuted} == answers - OTHERS
    assert {type(outcome) for outcome in every} >= {
        ComplexListed,
        Equivalent,
        Identifiable,
        Injective,
        InverseLipschitz,
        NotEquivalent,
        NotIdentifiable,
        NotInjective,
        PartlyIdentifiable,
        RegionsListed,
        Undecided,
    }


def test_common_attributes(every: list[AnyOutcome]) -> None:
    for outcome in every:
        undecided = outcome.status == "undecided"
        assert outcome.status in ("proved", "refuted", "undecided")
        assert (outcome.certificate is None) is (outcome.theorem is None) is undecided
        if outcome.certificate is not None:
            assert outcome.theorem == outcome.certificate.theorem
            states_less = isinstance(outcome, outcomes.DeviationExceeded)  # only what refutes
            assert states_less or outcome.statement == str(outcome.certificate.claim)
        words = " ".join(str(outcome).split())
        assert words.startswith(outcome.status)
        assert " ".join(outcome.statement.split()) in words
        assert all(isinstance(step, NextStep) for step in outcome.next)
        assert isinstance(outcome.next, tuple)


def test_answers_without_one_certificate() -> None:
    """They, too, say their statement, and have no truth value."""
    found = answers_about_properties(outcomes.ProofStatistics())
    assert {type(answer) for answer in found} == OTHERS
    for answer in found:
        words = " ".join(str(answer).split())
        assert answer.status in ("proved", "refuted", "undecided")
        assert " ".join(answer.statement.split()) in words
        assert all(isinstance(step, NextStep) for step in answer.next)
        with pytest.raises(TypeError, match="not a truth value"):
            bool(answer)


def test_no_truth_value(every: list[AnyOutcome]) -> None:
    for outcome in every:
        with pytest.raises(TypeError, match=r"not a truth value: test `outcome.status`"):
            bool(outcome)


def test_next_steps_are_printed(every: list[AnyOutcome]) -> None:
    step = NextStep("look", "polyrelu.fiber(net)", ("fiber", "NET"))
    for outcome in every:
        assert is_dataclass(outcome)
        assert "next" in {field.name for field in fields(outcome)}
        assert str(replace(outcome, next=(step,))).endswith("\nnext: look: polyrelu.fiber(net)")
        assert replace(outcome, next=()).next == ()
