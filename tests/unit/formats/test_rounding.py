"""Rounding to float formats in one step, against numpy and against exact neighbours."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from polyrelu.cli.main import _parser
from polyrelu.errors import NetworkError
from polyrelu.exact import (
    FLOAT32,
    FLOAT64,
    FloatFormat,
    decimal_above,
    decimal_below,
    exact_root,
    inverse_root,
)
from polyrelu.formats import Rounding
from polyrelu.formats.options import ROUNDING_RULES

_TYPES: dict[str, Any] = {"float32": np.float32, "float64": np.float64}


def _neighbours(value: Fraction, format_: FloatFormat) -> tuple[Fraction, Fraction]:
    """Return the neighbours in the format of a positive value that it does not hold."""
    kind = _TYPES[format_.name]
    near = kind(float(value))
    below = near if Fraction(float(near)) <= value else np.nextafter(near, kind(0))
    above = np.nextafter(below, kind(np.inf))
    return Fraction(float(below)), Fraction(float(above))


@pytest.mark.parametrize("format_", [FLOAT32, FLOAT64], ids=lambda f: f.name)
def test_nearest_is_nearest(format_: FloatFormat) -> None:
    chance = random.Random(3)
    for _ in range(2000):
        value = Fraction(chance.getrandbits(80) + 1, chance.getrandbits(60) + 1) * Fraction(
            2
        ) ** chance.randint(-160, 60)
        below, above = _neighbours(value, format_)
        found = format_.nearest(value)
        assert found in (below, above)
        assert abs(found - value) == min(value - below, above - value)
        assert format_.nearest(-value) == -found
        assert format_.holds(found)


def test_ties_go_to_even_in_one_step() -> None:
    tie = 1 + Fraction(1, 2**24)
    assert FLOAT32.nearest(tie) == 1
    # Rounded to float64 first, the number would become the tie, and then 1.
    assert FLOAT32.nearest(tie + Fraction(1, 2**60)) == 1 + Fraction(1, 2**23)
    assert FLOAT32.nearest(1 + Fraction(3, 2**24)) == 1 + Fraction(1, 2**22)
    assert FLOAT32.nearest(Fraction(1, 2**150)) == 0
    assert FLOAT32.nearest(Fraction(3, 2**151)) == Fraction(1, 2**149)


def test_the_ends_of_the_range() -> None:
    largest = Fraction((2**24 - 1) * 2**104)
    assert FLOAT32.nearest(largest) == largest
    with pytest.raises(NetworkError, match="too large for float32"):
        FLOAT32.nearest(Fraction(2**128))
    assert not FLOAT32.holds(Fraction(2**128))
    assert not FLOAT32.holds(Fraction(1, 3))
    assert not FLOAT32.holds(1 + Fraction(1, 2**24))
    assert FLOAT32.holds(Fraction(1, 2**149))
    assert not FLOAT32.holds(Fraction(1, 2**150))
    assert FLOAT32.holds(Fraction(0))


@pytest.mark.parametrize("format_", [FLOAT32, FLOAT64], ids=lambda f: f.name)
def test_inverse_roots(format_: FloatFormat) -> None:
    chance = random.Random(4)
    for _ in range(1000):
        value = Fraction(chance.getrandbits(40) + 1, chance.getrandbits(40) + 1) * Fraction(
            2
        ) ** chance.randint(-80, 80)
        root = inverse_root(value, format_)
        if exact_root(value) is not None:
            assert root * root * value == 1
            continue
        # The number is the nearest if the middles to both neighbours enclose 1/√value.
        below, above = (
            _neighbours(root + root / 2**70, format_)[0],
            _neighbours(root + root / 2**70, format_)[1],
        )
        assert root == below
        lower = (
            root
            + Fraction(
                float(np.nextafter(_TYPES[format_.name](float(root)), _TYPES[format_.name](0)))
            )
        ) / 2
        upper = (root + above) / 2
        assert lower * lower * value <= 1 <= upper * upper * value


def test_exact_roots() -> None:
    assert inverse_root(Fraction(4, 9), FLOAT32) == Fraction(3, 2)
    assert exact_root(Fraction(0)) == 0
    assert exact_root(Fraction(1, 2)) is None
    assert inverse_root(Fraction(10**60), FLOAT32) == Fraction(1, 10**30)


def test_decimals_are_on_the_right_side() -> None:
    chance = random.Random(5)
    for _ in range(500):
        value = Fraction(chance.getrandbits(90) - 2**89, chance.getrandbits(70) + 1)
        above, below = Fraction(decimal_above(value)), Fraction(decimal_below(value))
        assert below <= value <= above
        assert above - below <= abs(value) / 10**5
    assert decimal_above(Fraction(0)) == "0"
    assert decimal_above(Fraction(1, 4)) == "0.25"


def test_the_first_value_of_a_rule_is_its_default() -> None:
    for rule, values in ROUNDING_RULES.items():
        assert getattr(Rounding(), rule) == values[0]
        assert f"{rule}={'|'.join(values)}" in " ".join(_reading_help().split())


def _reading_help() -> str:
    commands: Any = _parser()._subparsers
    help_: str = commands._group_actions[0].choices["info"].format_help()
    return help_.replace("-\n", "-")


@pytest.mark.parametrize(
    "text", ["1/0", "1/3", "1_000", "1e9999", "nan", "inf", "", ".", "0x1", "１"]
)
def test_texts_that_are_no_decimals(text: str) -> None:
    with pytest.raises(ValueError, match="is not a decimal number"):
        Rounding().number(text)


def test_rules() -> None:
    rules = Rounding.parse(" text=float32 , batchnorm=float32,")
    assert (rules.text, rules.batchnorm, rules.attributes, rules.normalisation) == (
        "float32",
        "float32",
        "stored",
        "exact",
    )
    assert rules.number("0.1") == Fraction(float(np.float32(0.1)))
    assert Rounding().number("0.1") == Fraction(1, 10)
    assert Rounding(normalisation="float32").normalised(Fraction(1, 3)) == FLOAT32.nearest(
        Fraction(1, 3)
    )
    with pytest.raises(NetworkError, match="an attribute is inf"):
        Rounding().attribute(float("inf"))
