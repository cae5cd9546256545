"""The rule line (Theorem L): each hypothesis of an accepted certificate, and its rejection."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.certificates import Path_, altered, entry, layer, rejection, verdict

ROWS: Path_ = ("weights", 0, "rows")
#: Changes, and the step and the fact of the rejection.
CASES: dict[str, tuple[list[tuple[Path_, Any]], str, str]] = {
    "two layers": (
        [
            (
                ("claim", "network", "inline", "layers"),
                altered("shallow-independent")["claim"]["network"]["inline"]["layers"],
            )
        ],
        "theorem",
        "L = 3",
    ),
    "a ReLU at the end": (
        [(("claim", "network", "inline", "last"), "relu")],
        "theorem",
        "an affine output",
    ),
    "two neurons in layer 1": (
        [
            (layer(1, "bias"), "0 0"),
            (layer(1, *ROWS), ["1 2", "0 1"]),
            (layer(2, *ROWS), ["1 0", "-1 0"]),
        ],
        "theorem",
        "n_1 = 1",
    ),
    "a constant first layer": ([(layer(1, *ROWS), ["0 0"])], "direction", "W[1] nonzero"),
    "a bend outside": ([(layer(2, "bias"), "1 2")], "bends", "A_i a_i < 0 for every i"),
    "a bend at the end": ([(layer(2, "bias"), "-1 0")], "bends", "A_i a_i < 0 for every i"),
    "equal bends": (
        [(layer(2, "bias"), "-1 1")],
        "bends",
        "pairwise different quotients a_i/A_i",
    ),
    "only negative": (
        [(layer(2, "bias"), "1 2"), (layer(2, *ROWS), ["-1", "-1"])],
        "bends",
        "some A_i > 0",
    ),
    "only positive": (
        [(layer(2, "bias"), "-1 -2"), (layer(2, *ROWS), ["1", "1"])],
        "bends",
        "some A_i < 0",
    ),
    "a vanishing sum": ([(layer(3, *ROWS), ["1 1"])], "unique", "nonzero subset sums mod 2^61-1"),
    "a vanishing summand": (
        [(layer(3, *ROWS), ["1 0"])],
        "unique",
        "nonzero subset sums mod 2^61-1",
    ),
    "an entry twice": (
        [(entry(2), {"method": "independent", "prime": "2147483647", "entries": [[0, 0], [0, 0]]})],
        "unique",
        "entries in strictly ascending order",
    ),
}


def test_accepted_as_written() -> None:
    assert verdict(altered("line"))[0] == "accepted"


@pytest.mark.parametrize("name", CASES)
def test_a_rejection_names_the_fact(name: str) -> None:
    changes, step, fact = CASES[name]
    assert rejection("line", *changes) == (step, fact)
