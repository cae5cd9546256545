"""The limits of provers are those of the checker and of FORMAT.md."""

from __future__ import annotations

import re

import pytest

from polyrelu import checker
from polyrelu.formats import native
from polyrelu.support import limits
from tests.generators.files import ROOT

#: Names of the provers' limits, and of the checker's, which are equal.
EQUAL = {
    "DEPTH_LIMIT": "MAX_LAYERS",
    "WIDTH_LIMIT": "MAX_WIDTH",
    "PARAMETER_LIMIT": "MAX_NUMBERS",
    "DETERMINANT_LIMIT": "MAX_DETERMINANT",
    "SUBSET_LIMIT": "MAX_SUMMANDS",
    "PAIR_LIMIT": "MAX_PAIRS",
    "MINOR_LIMIT": "MAX_MINORS",
    "SUM_LIMIT": "MAX_SUMS",
    "SUM_BIT_LIMIT": "MAX_SUM_BITS",
    "SCALE_BIT_LIMIT": "GROWN_BITS",
    "LINE_LIMIT": "MAX_LINE",
    "LIST_LIMIT": "MAX_LISTS",
}
#: Limits that provers keep below those of the checker.
BELOW = {"DEPTH_LIMIT_OF_TREES": "MAX_DEPTH", "COMPUTATION_LIMIT": "BUDGET"}
#: Limits of something else: of numbers that people write, and of the provers' own searches.
OTHERS = {"NUMBER", "BIT_LIMIT", "cost", "is_affordable"}
#: How FORMAT.md writes the limits.
IN_WORDS = {
    "DEPTH_LIMIT": "1 to 10,000 layers",
    "WIDTH_LIMIT": "1 to 10^6",
    "PARAMETER_LIMIT": "at most 3·10^7 weights and biases",
    "DETERMINANT_LIMIT": "have size at most 1,024",
    "SUBSET_LIMIT": "only for q ≤ 40",
    "PAIR_LIMIT": "is at most 2^16",
    "MINOR_LIMIT": "≤ 5,000 of them",
    "SUM_LIMIT": "≤ 2^16 of them",
    "SUM_BIT_LIMIT": "less than 2^26 bits together",
    "SCALE_BIT_LIMIT": "at most 65,536 bits",
    "LINE_LIMIT": "at most 64 MiB long",
    "LIST_LIMIT": "in at most 7 levels",
    "DEPTH_LIMIT_OF_TREES": "At most 4,096 splits",
    "COMPUTATION_LIMIT": "The default is 2^35 units",
}


def test_every_limit_is_compared() -> None:
    assert {*EQUAL, *BELOW, *OTHERS} == {*limits.__all__}
    assert {*IN_WORDS} == {*EQUAL, *BELOW}


@pytest.mark.parametrize(("own", "of_checker"), EQUAL.items())
def test_limits_are_equal(own: str, of_checker: str) -> None:
    assert getattr(limits, own) == getattr(checker, of_checker)


@pytest.mark.parametrize(("own", "of_checker"), BELOW.items())
def test_limits_are_below(own: str, of_checker: str) -> None:
    assert getattr(checker, of_checker) / 2 <= getattr(limits, own) < getattr(checker, of_checker)


@pytest.mark.parametrize("name", IN_WORDS)
def test_limits_stand_in_the_format(name: str) -> None:
    text = (ROOT / "polyrelu" / "certificate" / "FORMAT.md").read_text("utf-8")
    assert IN_WORDS[name] in " ".join(text.split())


def test_bits_of_a_number() -> None:
    longest = f"0x{limits.BIT_LIMIT // 4 * 'f'}"
    assert re.fullmatch(checker.NUMBER, longest)
    assert not re.fullmatch(checker.NUMBER, f"{longest}f")


def test_sizes_of_network_files() -> None:
    assert native._SIZE_LIMIT == checker.NETWORK_BYTES


@pytest.mark.parametrize("bits", [0, 1, 36, 64, 1000, 2048, 2049, 16_384, 65_536])
def test_costs_are_those_of_the_meter(bits: int) -> None:
    meter = checker.Meter(10**12)
    meter.pay(7, bits, bits)
    assert limits.cost(7, bits) == meter.work
