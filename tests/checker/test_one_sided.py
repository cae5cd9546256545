"""The rule one-sided: each requirement of an accepted certificate, and its rejection."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.certificates import VALID, Path_, altered, entry, layer, rejection, verdict

ROWS: Path_ = ("weights", 0, "rows")
NO_INPUT = "facts that leave nothing of the inputs"
NO_NEGATIVE = "facts that leave nonnegative multiples of activations"
#: Changes of `one-sided-raised`, and the fact of the rejection in the step `same-function`.
CASES: dict[str, tuple[list[tuple[Path_, Any]], str]] = {
    "layer 3": ([(entry(1, "layer"), 3)], "a layer from 1 to 2"),
    "another first layer": ([(layer(1, "bias", of="other"), "-1 -2")], "equal layers 1"),
    "two sources": ([(entry(1, "source"), [0, 1])], "at most one source"),
    "an input as source": ([(entry(1, "layer"), 1)], "a source in a hidden layer"),
    "no such source": ([(entry(1, "source"), [2])], "a source below 2"),
    "a step of a later neuron": ([(entry(1, "steps", 0, 0), 2)], "a neuron of the layers before"),
    "a step with factor 0": ([(entry(1, "steps", 0, 1), "0")], "a positive factor of a step"),
    "a step that uses itself": ([(entry(1, "steps", 0, 3), [[6, "1"]])], "a fact below 6"),
    "a step with an input left": ([(entry(1, "steps", 0, 3), [[5, "2"]])], NO_INPUT),
    "a step without facts": ([(entry(1, "steps", 0, 3), [])], NO_INPUT),
    "a sign with factor 0": ([(entry(1, "signs", 0, 2), "0")], "a positive factor of a sign"),
    "the other sign": ([(entry(1, "signs", 0, 1), "-")], NO_NEGATIVE),
    "too few facts": ([(entry(1, "signs", 0, 3), [[6, "15"]])], NO_NEGATIVE),
    "too many facts": ([(entry(1, "signs", 0, 3), [[6, "16"], [4, "1"]])], NO_NEGATIVE),
    "a later fact": ([(entry(1, "signs", 0, 3), [[8, "16"]])], "a fact below 8"),
    "no signs": (
        [(entry(1, "signs"), [])],
        "equal layers l but for the weights of `signs` on the source",
    ),
    "another bias": (
        [(layer(2, "bias", of="other"), "1 16")],
        "equal layers l but for the weights of `signs` on the source",
    ),
    "changes that do not cancel": (
        [(layer(3, *ROWS, of=key), ["1 1"]) for key in ("network", "other")],
        "changes that cancel in layer l+1",
    ),
    "another last layer": (
        [(layer(3, "bias", of="other"), "1")],
        "the layers of `other` as the theorem says",
    ),
}


@pytest.mark.parametrize("stem", [p.stem for p in VALID if p.stem.startswith("one-sided")])
def test_accepted_as_written(stem: str) -> None:
    assert verdict(altered(stem))[0] == "accepted"


@pytest.mark.parametrize("name", CASES)
def test_a_rejection_names_the_fact(name: str) -> None:
    changes, fact = CASES[name]
    assert rejection("one-sided-raised", *changes) == ("same-function", fact)


def test_neurons_with_signs_ascend() -> None:
    signs = altered("one-sided-raised")["proof"]["hypotheses"][1]["evidence"]["signs"]
    for wrong in (signs[::-1], signs[:1] * 2, [[9, *signs[0][1:]]]):
        step, fact = rejection("one-sided-raised", (entry(1, "signs"), wrong))
        assert (step, "neurons with signs" in fact) == ("same-function", True)


def test_equal_networks_are_related() -> None:
    """Nothing is changed, so that the invariants are equal."""
    document = altered("one-sided-raised")
    document["claim"]["other"] = document["claim"]["network"]
    answer = verdict(document)
    assert answer[:2] == ("rejected", "not-related")
