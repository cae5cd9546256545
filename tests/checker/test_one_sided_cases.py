"""The rule one-sided-cases: each requirement of an accepted certificate, and its rejection."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.certificates import VALID, Path_, altered, entry, layer, rejection, verdict

NODES = altered("one-sided-cases")["proof"]["hypotheses"][1]["evidence"]["nodes"]
OPEN, IMPOSSIBLE = entry(1, "nodes", 2, "leaf", 0), entry(1, "nodes", 1, "leaf", 0)
ROWS: Path_ = ("weights", 0, "rows")
FIRST = "facts that leave nonnegative multiples of activations of layer 1"
SIDE = "larger weights of neurons with +, smaller ones of neurons with -"
#: Changes of `one-sided-cases`, and the fact of the rejection in the step `same-function`.
CASES: dict[str, tuple[list[tuple[Path_, Any]], str]] = {
    "two sources": ([(entry(1, "source"), [0, 1])], "at most one source"),
    "a neuron that does not exist": ([(entry(1, "signs"), [[2, "-"]])], "neurons with signs below"),
    "a split of the guard": ([(entry(1, "nodes", 0, "split"), 5)], "a neuron of unknown sign"),
    "a split of layer 3": ([(entry(1, "nodes", 0, "split"), 6)], "a neuron of the layers before"),
    "a neuron split twice": (
        [(entry(1, "nodes"), [NODES[0], *NODES, NODES[2]])],
        "a neuron of unknown sign",
    ),
    "a node too few": ([(entry(1, "nodes"), NODES[:2])], "another node"),
    "a node too many": ([(entry(1, "nodes"), [*NODES, NODES[2]])], "3 nodes"),
    "no nodes": ([(entry(1, "nodes"), [])], "another node"),
    "a fact of unknown sign": ([((*OPEN, 1), [[9, "2"]])], "a neuron of known sign"),
    "an upper bound in layer 1": ([((*OPEN, 1), [[2, "2"]])], "a neuron of layer 2 or later"),
    "no such fact": ([((*OPEN, 1), [[18, "2"]])], "a fact below 18"),
    "other facts": ([((*OPEN, 1), [])], FIRST),
    "too much of a fact": ([((*OPEN, 1), [[15, "9"]])], FIRST),
    "nothing is listed": ([((*OPEN, 2), [])], "a constant that is not negative"),
    "a neuron listed twice": ([((*OPEN, 2), [3, 3])], "neurons of unknown sign that are replaced"),
    "no factor": ([((*OPEN, 0), "0")], FIRST),
    "0 is not positive": ([((*IMPOSSIBLE, 1), [])], "a positive constant in an impossible case"),
    "two records": ([(entry(1, "nodes", 2, "leaf"), [["1", [], []]] * 2)], "1 record"),
    "no record": ([(entry(1, "nodes", 2, "leaf"), [])], "1 record"),
    "no signs": ([(entry(1, "signs"), [])], "0 records"),
    "the other sign": ([(entry(1, "signs", 0, 1), "+")], FIRST),
    "a larger weight": ([(layer(3, *ROWS, 1, of="other"), "-16 8 -15")], SIDE),
    "a change of another weight": (
        [(layer(3, *ROWS, 0, of="other"), "-8 1 0")],
        "equal layers l but for the weights of `signs` on the source",
    ),
}


@pytest.mark.parametrize("stem", [p.stem for p in VALID if p.stem.startswith("one-sided-cases")])
def test_accepted_as_written(stem: str) -> None:
    assert verdict(altered(stem))[0] == "accepted"


@pytest.mark.parametrize("name", CASES)
def test_a_rejection_names_the_fact(name: str) -> None:
    changes, fact = CASES[name]
    step, found = rejection("one-sided-cases", *changes)
    assert step == "same-function"
    assert fact in found


def test_a_wall_is_needed() -> None:
    """On a larger interval the neuron is negative somewhere."""
    changes = [
        (("claim", "domain", "inequalities", i), row) for i, row in enumerate(("1 9", "-1 9"))
    ]
    assert rejection("one-sided-cases-domain", *changes)[0] == "same-function"
