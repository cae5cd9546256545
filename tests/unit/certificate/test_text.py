"""Numbers, vectors and domains in words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from polyrelu.certificate import domain_text, number_text, vector_text


@pytest.mark.parametrize(
    ("inequalities", "equations", "text"),
    [
        ([], [], "R^n"),
        (["1 3"], [], "(-∞, 3]^1"),
        (["-1 0 1", "0 -1 1"], [], "[-1, ∞)^2"),
        (["-3 1", "2 1"], [], "[-1/3, 1/2]^1"),
        (["-1 0 1", "1 0 1", "0 -1 1", "0 1 1", "2 0 2"], [], "[-1, 1]^2"),
        # A side that differs, is missing, or has two bounds makes the domain no cube.
        (["-1 0 1", "1 0 1", "0 -1 1", "0 1 2"], [], "{x : -x_0 ≤ 1, x_0 ≤ 1, -x_1 ≤ 1, x_1 ≤ 2}"),
        (["-1 0 1", "1 0 1", "0 -1 1"], [], "{x : -x_0 ≤ 1, x_0 ≤ 1, -x_1 ≤ 1}"),
        (["1 1", "1 2"], [], "{x : x_0 ≤ 1, x_0 ≤ 2}"),
        (["-1 0 1", "0 1 1"], [], "{x : -x_0 ≤ 1, x_1 ≤ 1}"),
        (["1 1 1"], [], "{x : x_0 + x_1 ≤ 1}"),
        (["0 0 -1"], [], "{x : 0 ≤ -1}"),
        (["-1 0 1", "0 -1 1"], ["-1 2 1/3"], "{x : -x_0 ≤ 1, -x_1 ≤ 1, -x_0 + 2 x_1 = 1/3}"),
        (["21 -11/2 5"], [], "{x : 21 x_0 - 11/2 x_1 ≤ 5}"),
    ],
)
def test_domains(inequalities: list[str], equations: list[str], text: str) -> None:
    assert domain_text({"inequalities": inequalities, "equations": equations}) == text


def test_long_lists_are_counted() -> None:
    rows = [f"1 {k}" for k in range(13)]
    expected = "the domain of 13 inequalities and 0 equations in the certificate"
    assert domain_text({"inequalities": rows, "equations": []}) == expected


def test_large_cubes_are_cubes() -> None:
    rows = [
        " ".join(["0"] * i + [side] + ["0"] * (99 - i)) + " 1"
        for i in range(100)
        for side in ("1", "-1")
    ]
    assert domain_text({"inequalities": rows, "equations": []}) == "[-1, 1]^100"


def test_numbers() -> None:
    assert number_text("-7/3") == "-7/3"
    assert number_text(f"{3 * 10**50}") == "about 3e+50"
    assert number_text(f"-1/{10**400}") == "about -1e-400"
    assert number_text(f"{10**40 + 1}/{3**2}") == "about 1.11111111111e+39"
    assert number_text(f"-{10**90 + 1}/{10**90}") == "about -1"
    assert len(vector_text([str(Fraction(1, 10**90))] * 13)) < 300
    assert vector_text(["0"] * 13) == "0 (of 13 numbers, the others are 0)"
    assert vector_text(["1"] * 13).endswith(
        "[11] = 1, and 1 more (of 13 numbers, the others are 0)"
    )
