"""The rule flip, and what all refutations have in common."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.certificates import Path_, altered, entry, layer, rejection, verdict

ROWS: Path_ = ("weights", 0, "rows")
FUNCTION, AS_STATED = "same-function", "the layers of `other` as the theorem says"


def both(number: int, *path: str | int, to: Any) -> list[tuple[Path_, Any]]:
    """The same change of both networks."""
    return [(layer(number, *path, of=key), to) for key in ("network", "other")]


#: Changes, and the step and the fact of the rejection.
CASES: dict[str, tuple[list[tuple[Path_, Any]], str, str]] = {
    "other widths": (
        [
            (layer(1, "bias", of="other"), "0 0 0"),
            (layer(1, *ROWS, of="other"), ["1 -2", "0 -1", "0 0"]),
            (layer(2, *ROWS, of="other"), ["2 -4 0"]),
        ],
        "architecture",
        "equal widths",
    ),
    "another end": (
        [(("claim", "other", "inline", "last"), "relu")],
        "architecture",
        "equal last activations",
    ),
    "layer 0": ([(entry(1, "layer"), 0)], FUNCTION, "a layer from 1 to 2"),
    "another last layer": ([(layer(3, "bias", of="other"), "1")], FUNCTION, "equal layers 3"),
    "no hidden layer above": (
        [
            (entry(1, "layer"), 2),
            (layer(1, *ROWS, of="other"), ["1 0", "0 1"]),
        ],
        FUNCTION,
        "a layer below a hidden one",
    ),
    "no such neuron": ([(entry(1, "neuron"), 2)], FUNCTION, "a neuron of layer 1"),
    "nothing to flip": ([(entry(1, "flipped"), [])], FUNCTION, "neurons to flip"),
    "no such neuron to flip": ([(entry(1, "flipped"), [2])], FUNCTION, "neurons to flip below 2"),
    "j itself": ([(entry(1, "flipped"), [0])], FUNCTION, "neurons k != j to flip"),
    "two neurons above": (
        [
            *both(2, "bias", to="-1 -1"),
            *both(2, *ROWS, to=["2 -4", "2 -4"]),
            *both(3, *ROWS, to=["1 0"]),
        ],
        FUNCTION,
        "one neuron in layer l+1",
    ),
    "w_j = 0": (both(2, *ROWS, to=["0 -4"]), FUNCTION, "w_j > 0"),
    "w_k > 0": (both(2, *ROWS, to=["2 4"]), FUNCTION, "w_k <= 0 for k != j"),
    "a positive bias": (both(2, "bias", to="1"), FUNCTION, "a bias <= 0 in layer l+1"),
    "row k is kept": (
        [(layer(1, *ROWS, of="other"), ["1 -2", "0 1"])],
        FUNCTION,
        AS_STATED,
    ),
    "row j loses too little": (
        [(layer(1, *ROWS, of="other"), ["1 -1", "0 -1"])],
        FUNCTION,
        AS_STATED,
    ),
    "a zero row is flipped": (
        both(1, *ROWS, to=["1 0", "0 0"]),
        "not-related",
        "different invariants",
    ),
    "no such invariants": ([(entry(2, "layer"), 0)], "not-related", "a layer of the networks"),
}


def test_accepted_as_written() -> None:
    assert verdict(altered("flip"))[0] == verdict(altered("flip-relu-output"))[0] == "accepted"


@pytest.mark.parametrize("name", CASES)
def test_a_rejection_names_the_fact(name: str) -> None:
    changes, step, fact = CASES[name]
    assert rejection("flip", *changes) == (step, fact)


def test_a_zero_weight_may_be_flipped() -> None:
    """w_k = 0: row k is negated, and row j stays."""
    document = altered("flip")
    for key in ("network", "other"):
        layers = document["claim"][key]["inline"]["layers"]
        layers[1]["weights"][0]["rows"] = ["2 0"]
    layers[0]["weights"][0]["rows"] = ["1 0", "0 -1"]
    assert verdict(document)[0] == "accepted"
