"""Properties of networks written down by hand: kinds of proofs, exact points, and bounds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from polyrelu import Network, check_file, from_arrays, same_decisions, verify
from polyrelu.certificate import BoundsCertificate, DecisionsClaim, TreeCertificate
from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import RationalMatrix
from polyrelu.formats import as_domain
from polyrelu.network import Block, Layer
from polyrelu.outcomes import (
    DifferentDecisions,
    PropertyFails,
    PropertyHolds,
    PropertyUndecided,
    SameDecisions,
)

HEAD = "(declare-const X_0 Real) (declare-const Y_0 Real)\n"
BOX = "(assert (and (>= X_0 -1) (<= X_0 2)))\n"
PAIR = """(vnnlib-version <2.0>)
(declare-network f (declare-input A real [1]) (declare-output P real [1]))
(declare-network g (declare-input B real [1]) (declare-output Q real [1]))
(assert (and (== A[0] B[0]) (>= A[0] -1) (<= A[0] 2)))
"""
#: The absolute value, and the same with a neuron of a second hidden layer.
SIZE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
DEEPER = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])


def skipping() -> Network:
    """x + 2 max(-x, 0), where the last layer reads the input."""
    one = RationalMatrix.from_rows([[1]])
    zero = RationalMatrix.zeros(1, 1)
    last = Layer((Block(0, one), Block(1, one.scale_rows([2]))), zero)
    return Network(1, (Layer((Block(0, one.scale_rows([-1])),), zero), last))


Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "query.vnnlib"
        path.write_text(text)
        return path

    return written


def accepted(outcome: PropertyHolds, path: Path) -> bool:
    outcome.save(path)
    return bool(check_file(path).verdict == "accepted")


def test_a_property_that_is_met_with_margin_0(write: Write, tmp_path: Path) -> None:
    """|x| is nowhere negative: signs are cut, and both leaves are exact."""
    outcome = verify(SIZE, write(f"{HEAD}{BOX}(assert (< Y_0 0))"))
    assert isinstance(outcome, PropertyHolds)
    assert isinstance(outcome.certificate, BoundsCertificate)
    assert accepted(outcome, tmp_path / "proof.cert")
    failing = verify(SIZE, write(f"{HEAD}{BOX}(assert (<= Y_0 0))"))
    assert isinstance(failing, PropertyFails)
    assert failing.counterexample.values == {"X_0": 0, "Y_0": 0}
    assert failing.check.margin == 0


@pytest.mark.parametrize(
    ("networks", "text"),
    [
        (skipping(), f"{HEAD}{BOX}(assert (> Y_0 2))"),
        (SIZE, f"{HEAD}(assert (<= X_0 2))(assert (<= Y_0 -1))"),
        ({"f": SIZE, "g": DEEPER}, f"{PAIR}(assert (!= P[0] Q[0]))"),
    ],
    ids=["skip connections", "an unbounded domain", "unequal depths"],
)
def test_split_trees(networks: object, text: str, write: Write, tmp_path: Path) -> None:
    outcome = verify(networks, write(text))  # type: ignore[arg-type]
    assert isinstance(outcome, PropertyHolds)
    assert isinstance(outcome.certificate, TreeCertificate)
    assert accepted(outcome, tmp_path / "proof.cert")
    assert "a split tree shows that the excess" in str(outcome)


def test_networks_of_different_widths(write: Write, tmp_path: Path) -> None:
    wider = from_arrays([([[1], [-1], [5]], [0, 0, 1]), ([[1, 1, 0]], ["1/8"])])
    query = write(f"{PAIR}(assert (or (> Q[0] (+ P[0] 0.2)) (< Q[0] (+ P[0] 0.1))))")
    outcome = verify({"f": SIZE, "g": wider}, query)
    assert isinstance(outcome, PropertyHolds)
    assert isinstance(outcome.certificate, BoundsCertificate)
    assert accepted(outcome, tmp_path / "proof.cert")


def test_a_counterexample_on_a_hyperplane(write: Write) -> None:
    """Strict constraints leave a line of a square, on which the query is an equation."""
    names = "(declare-const X_0 Real) (declare-const X_1 Real) (declare-const Y_0 Real)\n"
    square = "(assert (and (> X_0 0) (< X_0 1) (>= X_1 0) (<= X_1 1) (== (+ X_0 X_1) 0.75)))"
    net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [0])])
    outcome = verify(net, write(f"{names}{square}(assert (== Y_0 1.25))"))
    assert isinstance(outcome, PropertyFails)
    values = outcome.counterexample.values
    assert (values["X_0"], values["X_1"]) == (Fraction(1, 4), Fraction(1, 2))


def test_an_undecided_answer_has_bounds(write: Write) -> None:
    rng, widths = Random(5), [5, 12, 12, 12, 1]
    layers = [
        (
            [[rng.randint(-4, 4) for _ in range(n)] for _ in range(m)],
            [rng.randint(-4, 4) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    names = "".join(f"(declare-const X_{j} Real)" for j in range(5)) + "(declare-const Y_0 Real)"
    box = "".join(f"(assert (and (>= X_{j} -1) (<= X_{j} 1)))" for j in range(5))
    query = write(f"{names}{box}(assert (>= Y_0 1000))")
    outcome = verify(from_arrays(layers), query, budget=500)
    assert isinstance(outcome, PropertyUndecided)
    assert outcome.reason == "the budget of 500 units of work was used up"
    low, high = outcome.margin
    assert low is not None
    assert high is not None
    assert -1000 < low < 0 < high < 10_000
    assert outcome.next[0].call.endswith("budget=60000)")


def test_errors(write: Write) -> None:
    query = write(f"{HEAD}{BOX}")
    with pytest.raises(DomainError, match="has 2 inputs and 1 outputs"):
        verify(from_arrays([([[1, 1]], [0])]), query)
    with pytest.raises(DomainError, match="declares no network 'g'"):
        verify({"g": SIZE}, query)
    with pytest.raises(ArgumentError, match="query: expected"):
        verify(SIZE, 3)  # type: ignore[arg-type]


# --- Decisions ------------------------------------------------------------------------------------


def test_a_tie_of_the_second_network_is_a_difference() -> None:
    one, two = from_arrays([([[1], [0]], [1, 0])]), from_arrays([([[1], [0]], [0, 0])])
    outcome = same_decisions(one, two, "box:0,1")
    assert isinstance(outcome, DifferentDecisions)
    assert (outcome.first_best, outcome.second_best) == ((0,), (0, 1))
    assert "class 0 by 1, and the second one a tie of 0, 1" in outcome.statement


def test_one_function_decides_alike_at_its_ties() -> None:
    net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 0], [0, 1]], [0, 0])])
    scaled = from_arrays([([[2], [-3]], [0, 0]), ([["1/2", 0], [0, "1/3"]], [0, 0])])
    outcome = same_decisions(net, scaled)
    assert outcome.status == "proved"
    assert "both networks compute the same function" in str(outcome)


def test_costs_of_one_function_and_of_others() -> None:
    """With outputs of one function the certificate claims equality, and the answer says more."""
    one = from_arrays([([[1], [-1], [0]], [0, 0, 2])])
    two = from_arrays([([[1], [-1], [0]], [0, 0, 1])])
    outcome = same_decisions(one, one, choose="smallest")
    assert "where one output of the first" in outcome.statement
    assert outcome.statement.count("is smaller than all others") == 2
    low = same_decisions(one, two, "box:1/2,1", choose="smallest")
    assert isinstance(low, SameDecisions)
    assert low.classes == (1,)
    assert low.certificate.claim == low.claim
    high = same_decisions(one, two, "box:1/2,1", choose="largest")
    assert isinstance(high, DifferentDecisions)
    assert (high.first_best, high.second_best) == ((2,), (0, 2))


def test_the_largest_output_is_not_written_in_claims() -> None:
    net, line = from_arrays([([[1], [0]], [0, 0])]), as_domain("box:0,1", 1)
    plain = DecisionsClaim(net, net, line, Fraction(0))
    assert list(plain.terms()) == ["domain", "margin", "except"]
    chosen = DecisionsClaim(net, net, line, Fraction(0), choose="smallest")
    assert chosen.terms() == {**plain.terms(), "choose": "smallest"}


@pytest.mark.parametrize(
    ("outputs", "margin", "error", "message"),
    [
        ((1, 1), 0, NetworkError, "have 1 output; decisions are compared for 2 to 64"),
        ((2, 3), 0, NetworkError, "have 2 and 3 outputs"),
        ((2, 2), -1, ArgumentError, "margin: -1 must be 0 or more"),
    ],
)
def test_errors_of_decisions(
    outputs: tuple[int, int], margin: int, error: type[Exception], message: str
) -> None:
    pair = [from_arrays([([[1]] * size, [0] * size)]) for size in outputs]
    with pytest.raises(error, match=message):
        same_decisions(pair[0], pair[1], margin=margin)


def test_an_unknown_choice() -> None:
    net = from_arrays([([[1], [0]], [0, 0])])
    with pytest.raises(ArgumentError, match="choose: choose from 'largest', 'smallest', got str"):
        same_decisions(net, net, choose="least")  # type: ignore[arg-type]
