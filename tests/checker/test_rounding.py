"""The rule rounding: each requirement of an accepted certificate, and its rejection."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from polyrelu import checker
from tests.generators.certificates import Path_, altered, layer, rejection, verdict

ROWS: Path_ = ("weights", 0, "rows")
CLAIM: Path_ = ("claim",)
SMALL = "weights and sums below the largest number of the format"
#: A bound that is a hundredth below the one of the certificate.
SMALLER = str(Fraction(altered("rounding")["claim"]["at-most"][1]) * 99 / 100)
#: Changes of `rounding`, and the step and the fact of the rejection.
CASES: dict[str, tuple[list[tuple[Path_, Any]], str, str]] = {
    "a short corner": ([((*CLAIM, "domain", "lower"), ["0"])], "claim", "corners of 2 numbers"),
    "a long corner": (
        [((*CLAIM, "domain", "upper"), ["1", "1", "1"])],
        "claim",
        "corners of 2 numbers",
    ),
    "one bound": ([((*CLAIM, "at-most"), ["1"])], "claim", "2 bounds"),
    "an empty box": (
        [((*CLAIM, "domain", "upper"), ["-1/2", "1/2"])],
        "claim",
        "lower <= upper",
    ),
    "a smaller bound": (
        [((*CLAIM, "at-most", 1), SMALLER)],
        "bound",
        "an error of at most at-most[1]",
    ),
    "a larger box": (
        [((*CLAIM, "domain", "upper"), ["1", "1"])],
        "bound",
        "an error of at most at-most[0]",
    ),
    "a sum that overflows": ([((*CLAIM, "domain", "upper", 0), str(2**127))], "bound", SMALL),
    "a weight that overflows": ([(layer(2, *ROWS), [f"{2**132} 14", "-10 30"])], "bound", SMALL),
}


def test_accepted_as_written() -> None:
    for stem in ("rounding", "rounding-relu-output"):
        assert verdict(altered(stem))[0] == "accepted"


@pytest.mark.parametrize("name", CASES)
def test_a_rejection_names_the_fact(name: str) -> None:
    changes, step, fact = CASES[name]
    assert rejection("rounding", *changes) == (step, fact)


def test_the_other_format() -> None:
    """What holds for float32 holds for float64, and not the other way round."""
    document = altered("rounding")
    document["claim"]["arithmetic"] = "float64"
    assert verdict(document)[0] == "accepted"
    document = altered("rounding-relu-output")
    document["claim"]["arithmetic"] = "float32"
    assert verdict(document)[:2] == ("rejected", "bound")


def test_the_number_of_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 k < 2^p, k two more than the number of terms: tested with a format of 4 bits."""
    large = checker.ARITHMETICS["float32"].largest
    for precision, fits in ((4, False), (5, True)):
        monkeypatch.setitem(
            checker.ARITHMETICS, "float32", checker.Arithmetic(precision, 126, large)
        )
        found = rejection("rounding", ((*CLAIM, "at-most"), ["0", "0"]))
        assert found == (
            "bound",
            "an error of at most at-most[0]" if fits else "fewer than 2^(p-2) terms in a sum",
        )
