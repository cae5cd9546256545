"""Queries as properties in normal form, and what is doubtful about them."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu import DomainError, Polyhedron
from polyrelu.formats import (
    Clause,
    ClauseRow,
    Property,
    check_counterexample,
    counterexample_text,
    property_of,
    read_counterexample,
    read_vnnlib,
)
from polyrelu.formats.vnnlib.doubts import doubts_about

DECLARED = "".join(f"(declare-const {name} Real)\n" for name in ("X_0", "X_1", "Y_0", "Y_1"))
BOX = "".join(f"(assert (<= X_{j} 1)) (assert (>= X_{j} 0))\n" for j in range(2))


def read(tmp_path: Path, text: str) -> Property:
    path = tmp_path / "query.vnnlib"
    path.write_text(DECLARED + text)
    return property_of(read_vnnlib(path))


def row(place: int, coefficient: int, constant: int, is_strict: bool, line: int) -> ClauseRow:
    return ClauseRow(((place, Fraction(coefficient)),), Fraction(constant), is_strict, line)


def test_a_conjunction_is_one_clause(tmp_path: Path) -> None:
    """Values are outputs first, then inputs; a constraint that fails is a strict row."""
    found = read(tmp_path, BOX + "(assert (<= Y_0 2))\n(assert (< Y_1 X_0))")
    (part,) = found.parts
    assert part.domain.equals(Polyhedron.box([0, 0], [1, 1]))
    below = ClauseRow(((1, Fraction(1)), (2, Fraction(-1))), Fraction(), False, 8)
    assert part.clauses == (Clause((row(0, 1, -2, True, 7), below)),)


def test_cases_with_the_same_inputs_are_clauses_of_one_part(tmp_path: Path) -> None:
    found = read(
        tmp_path, BOX + "(assert (or (>= Y_0 1) (>= Y_1 1) (and (<= X_0 0.5) (<= Y_0 0))))"
    )
    assert [(len(part.clauses), part.domain.contains([1, 1])) for part in found.parts] == [
        (2, True),
        (1, False),
    ]


def test_strict_bounds_of_inputs_are_rows(tmp_path: Path) -> None:
    found = read(tmp_path, "(assert (and (< X_0 1) (>= Y_0 1)))")
    (part,) = found.parts
    assert part.domain.contains([1, 0])
    assert set(part.clauses[0].rows) == {row(2, 1, -1, False, 5), row(0, -1, 1, True, 5)}
    assert part.holds([Fraction(2), Fraction(), Fraction(1), Fraction()])
    assert not part.holds([Fraction(2), Fraction(), Fraction("0.9"), Fraction()])


def test_an_equation_is_denied_by_two_rows(tmp_path: Path) -> None:
    (part,) = read(tmp_path, "(assert (== Y_0 1))").parts
    assert set(part.clauses[0].rows) == {row(0, 1, -1, True, 5), row(0, -1, 1, True, 5)}
    (part,) = read(tmp_path, "(assert (!= Y_0 1))").parts
    assert [len(clause.rows) for clause in part.clauses] == [1, 1]


def test_no_output_can_help_a_query_about_inputs(tmp_path: Path) -> None:
    (part,) = read(tmp_path, BOX).parts
    assert not part.holds([Fraction()] * 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(or (<= Y_0 0) (<= Y_1 0) (<= X_0 0)) " * 60, "too many to count cases"),
        ("(or (<= Y_0 0) (<= Y_1 0)) " * 14, "16384 cases, more than the limit of 10000"),
        (
            "(or (<= Y_0 0) (<= Y_1 0)) " * 13 + "(<= Y_0 3) " * 120,
            "constraints in its cases, more than the limit of 1000000",
        ),
    ],
)
def test_limits_are_asked_before_cases_are_made(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "query.vnnlib"
    path.write_text(f"{DECLARED}(assert (and {text}))")
    query = read_vnnlib(path)
    tracemalloc.start()
    with pytest.raises(DomainError, match=message):
        property_of(query)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_many_sets_of_inputs_in_many_dimensions(tmp_path: Path) -> None:
    """Each set would be a polyhedron whose rows have an entry for each input."""
    path = tmp_path / "query.vnnlib"
    names = "".join(f"(declare-const X_{j} Real)" for j in range(9_000))
    boxes = "".join(f"(and (>= X_0 {k}) (<= X_0 {k}.5) (>= Y_0 3))" for k in range(3_000))
    path.write_text(f"{names}(declare-const Y_0 Real)(assert (or {boxes}))")
    with pytest.raises(DomainError, match="3000 sets of inputs with 54006000 coefficients"):
        property_of(read_vnnlib(path))


def test_three_networks(tmp_path: Path) -> None:
    path = tmp_path / "query.vnnlib"
    path.write_text(
        "(vnnlib-version <2.0>)"
        + "".join(
            f"(declare-network {n} (declare-input X{n} real [1]) (declare-output Y{n} real [1]))"
            for n in "fgh"
        )
    )
    with pytest.raises(DomainError, match="declares 3 networks; properties are about one network"):
        property_of(read_vnnlib(path))


# --- Doubts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "num_parts", "sentence"),
    [
        ("(assert (>= Y_0 1))", 1, ""),
        ("(assert (and (> Y_0 1)\n(< Y_0 1)))", 0, "lines 7, 8: the constraints contradict"),
        ("(assert (and (>= Y_0 1) (<= Y_0 1)))", 1, ""),
        ("(assert (or (and (> Y_0 1) (< Y_0 0)) (>= Y_0 9)))", 1, "so this case never holds"),
        ("(assert (>= X_0 2))", 0, "no input satisfies the constraints on inputs"),
        ("(assert (or (>= X_0 2) (>= Y_0 1)))", 1, "1 of 2 sets of inputs are empty"),
        ("(assert (<= Y_0 X_0)) (assert (> Y_0 1))", 0, "line 7: the constraints contradict"),
        ("(assert (<= Y_0 X_0)) (assert (>= Y_0 1))", 1, ""),
    ],
)
def test_contradictions(text: str, num_parts: int, sentence: str, tmp_path: Path) -> None:
    found = doubts_about(read(tmp_path, BOX + text))
    assert len(found.parts) == num_parts
    assert len(found.sentences) == bool(sentence)
    assert sentence in "".join(found.sentences)


def test_missing_bounds(tmp_path: Path) -> None:
    found = doubts_about(read(tmp_path, "(assert (<= X_0 1)) (assert (>= Y_0 0))"))
    assert found.sentences == ("X_1 has no bound: the property is about all real values there",)


# --- Counterexamples in the form of the competition -----------------------------------------------


def test_the_text_of_a_counterexample(tmp_path: Path) -> None:
    """Inputs are exact decimals; reading the text gives them back."""
    query = read(tmp_path, BOX + "(assert (>= Y_0 1))").query
    values = dict(zip(query.variables, map(Fraction, ("1e-30", "-0.75", "1/3", "12")), strict=True))
    text = counterexample_text(query, values)
    assert text.splitlines()[:3] == ["sat", f"((X_0 0.{'0' * 29}1)", " (X_1 -0.75)"]
    path = tmp_path / "result.txt"
    path.write_text(text)
    read_back = read_counterexample(path).values
    assert [read_back[name] for name in ("X_0", "X_1", "Y_1")] == [
        values[name] for name in ("X_0", "X_1", "Y_1")
    ]
    assert abs(read_back["Y_0"] - values["Y_0"]) < Fraction(1, 10**18)


def test_failures_have_amounts(tmp_path: Path) -> None:
    query = read(tmp_path, BOX + "(assert (>= Y_0 3))\n(assert (or (>= Y_0 X_0) (> Y_1 9)))").query
    path = tmp_path / "result.txt"
    path.write_text("((X_0 1.5) (X_1 0))")
    found = check_counterexample(query, path, [([[1, 0], [0, 1]], [-2, 0])])
    assert found.failures == (
        "line 5: X_0 = 1.5 is 0.5 above the bound 1",
        "line 7: Y_0 = -0.5 is 3.5 below the bound 3",
        "line 8: none of the cases of (or …) holds",
    )
