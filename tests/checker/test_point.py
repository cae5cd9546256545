"""The rule point: each requirement of an accepted certificate, and its rejection."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.certificates import Path_, altered, entry, layer, rejection, verdict

ROWS: Path_ = ("weights", 0, "rows")
DOMAIN: Path_ = ("claim", "domain")
ECHELON = "equations in reduced echelon form, positive pivots"
#: Changes of `point`, and the step and the fact of the rejection.
CASES: dict[str, tuple[list[tuple[Path_, Any]], str, str]] = {
    "two inputs": (
        [(("claim", "other", "inline", "inputs"), 2), (layer(1, *ROWS, of="other"), ["1 0"])],
        "claim",
        "equally many inputs",
    ),
    "two outputs": (
        [(layer(2, "bias", of="other"), "0 0"), (layer(2, *ROWS, of="other"), ["1", "1"])],
        "claim",
        "equally many outputs",
    ),
    "a negative pivot": (
        [((*DOMAIN, "equations"), ["-2 1"])],
        "claim.domain",
        ECHELON,
    ),
    "two pivots in a column": (
        [((*DOMAIN, "equations"), ["1 0", "1 0"])],
        "claim.domain",
        ECHELON,
    ),
    "an equation without pivot": ([((*DOMAIN, "equations"), ["0 0"])], "claim.domain", ECHELON),
    "two coordinates": ([(entry(0, "x"), ["-1/2", "0"])], "point", "a point of the domain"),
    "outside": ([(entry(0, "x"), ["-1"])], "point", "a point of the domain"),
    "off an equation": (
        [((*DOMAIN, "equations"), ["1 -1"])],
        "point",
        "a point of the domain",
    ),
    "another f(x)": ([(entry(1, "f"), ["1/3"])], "values", "the outputs f(x)"),
    "another g(x)": ([(entry(1, "g"), ["1/3"])], "values", "the outputs g(x)"),
    "too many numbers": ([(entry(1, "g"), ["0", "0"])], "values", "the outputs g(x)"),
    "equal outputs": (
        [
            ((*DOMAIN, "inequalities"), []),
            (entry(0, "x"), ["1/2"]),
            (entry(1, "g"), ["1/2"]),
        ],
        "values",
        "different outputs",
    ),
}


def test_accepted_as_written() -> None:
    assert verdict(altered("point"))[0] == verdict(altered("point-skip"))[0] == "accepted"


@pytest.mark.parametrize("name", CASES)
def test_a_rejection_names_the_fact(name: str) -> None:
    changes, step, fact = CASES[name]
    assert rejection("point", *changes) == (step, fact)


def test_the_boundary_belongs_to_the_domain() -> None:
    """The inequality is -2 x <= 1, and x = -1/2; an equation of the same point is fine."""
    document = altered("point")
    document["claim"]["domain"]["equations"] = ["2 -1"]
    assert verdict(document)[0] == "accepted"
