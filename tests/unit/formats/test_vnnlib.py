"""VNN-LIB files and counterexample files: what is read, what is refused, and where."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest

from polyrelu import DomainError, Polyhedron, from_arrays, load, parse_domain
from polyrelu.formats import (
    Constraint,
    Counterexample,
    as_domain,
    check_counterexample,
    read_counterexample,
    read_vnnlib,
)

DECLARED = "".join(f"(declare-const {name} Real)\n" for name in ("X_0", "X_1", "Y_0"))
BOX = "".join(f"(assert (<= X_{j} 1)) (assert (>= X_{j} -0.5))\n" for j in range(2))
TWO = """(vnnlib-version <2.0>)
(declare-network f (declare-input A real [2]) (declare-output P real [1]))
(declare-network g (isomorphic-to f) (declare-input B real [2]) (declare-output Q real [1]))
(assert (and (<= A[0] 1) (>= A[0] 0) (<= B[1] 2) (>= B[1] -2)))
(assert (== A[0] B[0])) (assert (== B[1] A[1]))
"""
SHARED = os.environ.get("POLYRELU_SHARED")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "query.vnnlib"


# --- What is read ---------------------------------------------------------------------------------


def test_version_1(file: Path) -> None:
    file.write_text(
        "; a comment\n" + DECLARED + BOX + "(assert (or (<= Y_0 X_0)\n(>= Y_0 (+ 1e-1 X_1))))"
    )
    query = read_vnnlib(file)
    assert (query.version, query.variables) == ("1.0", ("X_0", "X_1", "Y_0"))
    assert [(n.name, n.num_inputs, n.num_outputs) for n in query.networks] == [("", 2, 1)]
    assert query.domain().equals(Polyhedron.box(["-1/2"] * 2, [1, 1]))
    below, above = query.cases()
    assert below.inputs == above.inputs
    assert below.outputs == (
        Constraint(((0, Fraction(-1)), (2, Fraction(1))), Fraction(), "<=", 7),
    )
    assert above.outputs == (
        Constraint(((1, Fraction(1)), (2, Fraction(-1))), Fraction(1, 10), "<=", 8),
    )


def test_version_2(file: Path) -> None:
    text = TWO + "(assert (or (> Q[0] (+ P[0] 0.05)) (< Q[0] (- P[0] 0.05))))"
    file.write_text(text)
    query = read_vnnlib(file)
    assert query.version == "2.0"
    assert query.variables == ("A[0]", "A[1]", "P[0]", "B[0]", "B[1]", "Q[0]")
    assert [network.isomorphic_to for network in query.networks] == ["", "f"]
    assert (query.inputs_of(1), query.outputs_of(1)) == (range(3, 5), range(5, 6))
    assert query.domain().equals(Polyhedron.box([0, -2], [1, 2]))
    assert [case.outputs[0].relation for case in query.cases()] == ["<", "<"]


def test_scalars_and_older_spellings(file: Path) -> None:
    """A single number has the shape []; blanks before an index; `=`; fractions as divisions."""
    file.write_text(
        "(vnnlib-version <2.0>)(declare-network n(declare-input X float32 [1, 2])"
        "(declare-output Y float32 []))(assert(= Y (* 2 X [0,1])))(assert(<= X[0,0] (/ 1 3)))"
    )
    query = read_vnnlib(file)
    assert query.variables == ("X[0,0]", "X[0,1]", "Y")
    assert query.assertions[0] == Constraint(
        ((1, Fraction(-2)), (2, Fraction(1))), Fraction(), "==", 1
    )
    assert query.domain().inequalities == ((3, 0, 1),)
    file.write_text(
        "(set-logic QF_LRA)(declare-fun X_0 () Real)(declare-fun Y_0 () Real)"
        "(assert (<= Y_0 (* (- 2) X_0)))(check-sat)"
    )
    assert len(read_vnnlib(file).assertions) == 1


def test_constraints_on_inputs_inside_of_cases(file: Path) -> None:
    """One polyhedron as long as the cases agree on the inputs."""
    same = "(and (<= X_0 0) (>= Y_0 1)) (and (<= Y_0 -1) (<= X_0 0))"
    file.write_text(f"{DECLARED}{BOX}(assert (or {same}))")
    assert read_vnnlib(file).domain().equals(Polyhedron.box(["-1/2"] * 2, [0, 1]))
    file.write_text(f"{DECLARED}{BOX}(assert (or (<= X_0 0)\n(>= X_0 0.5)))")
    with pytest.raises(DomainError, match=r"line 6: the inputs lie in a union of 2 sets"):
        read_vnnlib(file).domain()
    assert len(read_vnnlib(file).cases()) == 2


def test_general_rows(file: Path) -> None:
    file.write_text(
        f"{DECLARED}(assert (<= (+ X_0 X_1) 1))(assert (== X_0 (* 2 X_1)))(assert (<= (- X_0) 0))"
    )
    expected = Polyhedron.from_constraints([[1, 1], [-1, 0]], [1, 0], [[1, -2]], [0])
    assert read_vnnlib(file).domain().equals(expected)
    assert read_vnnlib(file).domain().equals(as_domain(str(file), 2))


def test_packed_files(file: Path) -> None:
    packed = file.with_suffix(".vnnlib.gz")
    packed.write_bytes(gzip.compress((DECLARED + BOX).encode()))
    assert parse_domain(str(packed), 2).equals(Polyhedron.box(["-1/2"] * 2, [1, 1]))
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(DomainError, match="cannot read: damaged gzip file"):
        read_vnnlib(packed)


def test_unequal_becomes_two_cases(file: Path) -> None:
    file.write_text(f"{DECLARED}(assert (!= Y_0 1))")
    first, second = read_vnnlib(file).cases()
    assert [case.outputs[0].relation for case in (first, second)] == ["<", "<"]
    values = [Fraction(), Fraction(), Fraction(3)]
    assert [case.outputs[0].value(values) for case in (first, second)] == [2, -2]


@pytest.mark.skipif(SHARED is None, reason="networks from elsewhere")
def test_files_from_elsewhere() -> None:
    assert SHARED is not None
    found = sorted(Path(SHARED, "nets").rglob("*.vnnlib"))
    assert found
    for path in found:
        query = read_vnnlib(path)
        box = query.domain().bounding_box()
        assert box is not None
        assert all(low <= high for low, high in zip(*box, strict=True))


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it declares no variables"),
        ("(declare-const X_0 Real)", "Y_0 is not declared"),
        ("(declare-const Y_0 Real)\n(declare-const X_1 Real)", "X_0 is not declared"),
        (DECLARED + "(declare-const X_0 Real)", "line 4: X_0 is declared twice"),
        (DECLARED + "(declare-const Z_0 Real)", "line 4: expected (declare-const X_0 Real)"),
        (DECLARED + "(declare-const X_2 Int)", "line 4: expected (declare-const X_0 Real)"),
        (DECLARED + BOX + "(declare-const X_2 Real)", "line 6: declare X_2 before the first"),
        (DECLARED + "(assert (<= X_0 1)", "line 4: this parenthesis is never closed"),
        (DECLARED + ")", "line 4: ')' stands outside of all parentheses"),
        (DECLARED + "(assert (<= X_5 1))", "line 4: X[5] is no entry of shape [2]"),
        (DECLARED + "(assert (<= Z 1))", "line 4: 'Z' is not declared"),
        (DECLARED + "(assert (<= X_0 1 2))", "line 4: <= compares 2 expressions, not 3"),
        (DECLARED + "(assert (not (<= X_0 1)))", "('not' …) is no formula; expected one of and"),
        (DECLARED + "(assert (<= (* X_0 Y_0) 1))", "a product of two variables is not linear"),
        (DECLARED + "(assert (<= (/ 1 X_0) 1))", "only a division by a number that is not 0"),
        (DECLARED + "(assert (<= (/ X_0 0) 1))", "only a division by a number that is not 0"),
        (DECLARED + "(assert (<= X_0 1x))", "'1x' is not a number"),
        (DECLARED + "(assert (<= X_0 nan))", "'nan' is not declared"),
        (DECLARED + "(assert (<= X_0 1e9999))", "'1e9999' is not a number of at most 400 digits"),
        (DECLARED + "(assert (<= X_0 (sin 1)))", "('sin' …) is no expression"),
        (DECLARED + "(assert (<= X_0 ()))", "( …) is no expression"),
        (DECLARED + "(assert (and))", "(and) needs a formula"),
        (DECLARED + "(assert X_0)", "expected (assert FORMULA)"),
        (DECLARED + "(assert (or X_0))", "(or …): 'X_0' is no formula"),
        (DECLARED + "(maximise X_0)", "('maximise' …) is not understood; expected one of vnnlib"),
        (DECLARED + "(assert (<= X_0 ü))", "is too long, or no printable ASCII"),
        (
            DECLARED + "(vnnlib-version <2.0>)",
            "expected (vnnlib-version <2.0>), once",
        ),
        ("(vnnlib-version <3.0>)", "version 3.0 is not known; known are 1 and 2"),
        (
            "(vnnlib-version <2.0>)(declare-const X_0 Real)",
            "declares variables in (declare",
        ),
        ("(assert (<= X_0 1))", "line 1: no variable is declared before this assertion"),
        (TWO + "(assert (<= A[2] 1))", "line 6: A[2] is no entry of shape [2]"),
        (TWO + "(assert (<= A 1))", "line 6: A[] is no entry of shape [2]"),
        (TWO + "(assert (<= A_0 1))", "line 6: 'A_0' is not declared"),
        (TWO + "(assert (<= [0] 1))", "line 6: [0] does not follow a name"),
        (TWO + "(assert (<= A[x] 1))", "line 6: '[x]' is not understood; expected numbers in br"),
        ("(declare-network f (declare-input A real [2]))", "'f' needs an input and an output"),
        ('(declare-network f (declare-hidden A real [2] "a"))', "no hidden nodes"),
        ("(declare-network f (equal-to g))", "no network 'g' is declared before"),
        ("(declare-network f (declare-input A real [2] initialized))", "is initialized in the mod"),
        ("(declare-network f (declare-input A real [0]))", "A has 0 entries; tensors have 1 to"),
        ("(declare-network f (declare-input A real [99999,99999]))", "tensors have 1 to 1000000"),
        (TWO.replace("declare-network g", "declare-network f"), "no network 'f'|two networks"),
        (TWO.replace("Q real", "A real"), "two tensors are called 'A'"),
    ],
)
def test_refusals(text: str, message: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DomainError) as error:
        read_vnnlib(file)
    assert any(part in str(error.value) for part in message.split("|"))
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DECLARED + "(assert (< X_0 1))", "line 4: a domain is closed, so < cannot bound inputs"),
        (DECLARED + "(assert (!= X_0 1))", "union of 2 sets|a domain is closed, so !="),
        (TWO.replace("(== A[0] B[0])", "(<= A[0] B[0])"), "f and g do not have equal inputs"),
    ],
)
def test_queries_without_a_domain(text: str, message: str, file: Path) -> None:
    file.write_text(text)
    query = read_vnnlib(file)
    with pytest.raises(DomainError) as error:
        query.domain()
    assert any(part in str(error.value) for part in message.split("|"))
    with pytest.raises(DomainError, match="it declares 2 inputs, the network has 3"):
        parse_domain(str(file), 3)


def test_limits(file: Path) -> None:
    """Small files that would become large are refused at once."""
    nested = "(assert (<= X_0 " + "(- " * 300 + "1" + ")" * 302
    file.write_text(DECLARED + nested)
    with pytest.raises(DomainError, match="line 4: more than 200 parentheses in each other"):
        read_vnnlib(file)
    factors = "(* 1e999 " * 20 + "X_0" + ")" * 20
    file.write_text(DECLARED + f"(assert (<= {factors} 1))")
    with pytest.raises(DomainError, match="line 4: a number with more than 16384 bits"):
        read_vnnlib(file)
    file.write_text(DECLARED + "(assert (!= Y_0 X_0))" * 100)
    with pytest.raises(DomainError, match="too many cases to count, more than the limit of 1000"):
        read_vnnlib(file).cases(1000)
    bomb = file.with_suffix(".vnnlib.gz")
    bomb.write_bytes(gzip.compress(b" " * 10**6) * 101)
    tracemalloc.start()
    try:
        with pytest.raises(DomainError, match=r"it unpacks to more than \d+ bytes"):
            read_vnnlib(bomb)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="cannot read: No such file"):
        read_vnnlib(tmp_path / "none.vnnlib")
    with pytest.raises(DomainError, match="cannot read: Is a directory"):
        read_vnnlib(tmp_path)
    os.mkfifo(tmp_path / "pipe.vnnlib")
    with pytest.raises(DomainError, match="cannot read: not a regular file"):
        read_vnnlib(tmp_path / "pipe.vnnlib")


# --- Counterexamples ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sat\n((X_0 0.5)\n(X_1 -1e-1)\n(Y_0 3))\n", {"X_0": "1/2", "X_1": "-1/10", "Y_0": "3"}),
        ("\n(X_0 1)(Y_0 2)", {"X_0": "1", "Y_0": "2"}),
        ("sat\n((A[0,1] 1) (B [0] 2))", {"A[0,1]": "1", "B[0]": "2"}),
        ("A float32 [2]\n0.5\n0.25\nY Real []\n-1\n", {"A[0]": "1/2", "A[1]": "1/4", "Y": "-1"}),
        ("sat\nA real [1,2]\n1\n\n2", {"A[0,0]": "1", "A[0,1]": "2"}),
    ],
)
def test_counterexample_files(text: str, values: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    path.write_text(text)
    found = read_counterexample(path)
    assert found.values == {name: Fraction(value) for name, value in values.items()}
    packed = tmp_path / "result.counterexample.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_counterexample(packed).values == found.values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unsat\n", "it holds no counterexample; it says 'unsat'"),
        ("", "it holds no values"),
        ("sat", "it holds no values"),
        ("sat\n((X_0 1) (X_0 2))", "line 2: X_0 has two values"),
        ("((X_0))", "line 1: ('X_0' …): expected a pair"),
        ("((X_0 inf))", "line 1: 'inf' is not a number"),
        ("(X_0 1", "line 1: this parenthesis is never closed"),
        ("A real [2]\n1\n", "the file ends before A[1]"),
        ("A real [2]\n1\nB real [1]\n2\n", "line 3: A[1] has no value before the next tensor"),
        ("A real [1]\n1\n2\n", "line 3: '2': expected the name, type and shape of a tensor"),
        ("A real [99999,9999]\n", "line 1: more than 1000000 values"),
    ],
)
def test_files_without_a_counterexample(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    path.write_text(text)
    with pytest.raises(DomainError) as error:
        read_counterexample(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# --- Exact checks ---------------------------------------------------------------------------------

#: |x_0| + x_1.
ABSOLUTE = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1, 1, 1, -1]], [0])])


@pytest.mark.parametrize(
    ("point", "verdict", "margin", "input_margin"),
    [
        (("-1/2", "1"), True, Fraction(1, 4), Fraction(0)),
        (("0", "3/4"), False, Fraction(-1, 2), Fraction(1, 4)),
        (("1/4", "1"), True, Fraction(0), Fraction(0)),
        (("2", "0"), False, None, Fraction(-1)),
    ],
)
def test_margins(
    point: tuple[str, str],
    verdict: bool,
    margin: Fraction | None,
    input_margin: Fraction,
    file: Path,
) -> None:
    file.write_text(f"{DECLARED}{BOX}(assert (or (>= Y_0 1.25) (<= Y_0 -10)))")
    given = Counterexample("given", dict(zip(("X_0", "X_1"), map(Fraction, point), strict=True)))
    found = check_counterexample(file, given, ABSOLUTE)
    assert (found.is_counterexample, found.margin) == (verdict, margin)
    assert found.input_margin == input_margin
    assert found.outputs == (ABSOLUTE(list(given.values.values())),)
    assert found.largest_difference is None
    assert bool(found.reason) == (not verdict)
    assert str(found).startswith("a counterexample with margin" if verdict else "no counterexample")


@pytest.mark.parametrize(
    ("query", "point", "verdict", "margin"),
    [
        ("(or (<= X_0 0) (>= Y_0 1))", (-1, 5), True, None),  # whatever the outputs are
        ("(or (<= X_0 0) (>= Y_0 1))", (1, 5), True, 5),
        ("(or (<= X_0 0) (>= Y_0 9))", (1, 5), False, -3),
        ("(or (and (<= X_0 0) (>= Y_0 1)) (and (>= X_0 1) (>= Y_0 2)))", (-1, 5), True, 5),
        ("(or (and (<= X_0 0) (>= Y_0 1)) (and (>= X_0 1) (>= Y_0 2)))", (1, 5), True, 4),
        ("(or (and (<= X_0 0) (>= Y_0 1)) (and (>= X_0 2) (>= Y_0 2)))", (1, 5), False, None),
        ("(or (>= (+ X_0 Y_0) 10) (<= X_0 0))", (1, 5), False, -3),
    ],
)
def test_margins_of_disjunctions_of_inputs_and_outputs(
    query: str, point: tuple[int, int], verdict: bool, margin: int | None, file: Path
) -> None:
    file.write_text(f"{DECLARED}(assert {query})")
    given = Counterexample("given", {f"X_{j}": Fraction(x) for j, x in enumerate(point)})
    found = check_counterexample(file, given, ABSOLUTE)
    assert found.outputs == ((Fraction(abs(point[0]) + point[1]),),)
    assert (found.is_counterexample, found.margin) == (verdict, margin)


def test_strict_constraints_on_their_boundary(file: Path) -> None:
    file.write_text(f"{DECLARED}(assert (> Y_0 1))")
    given = Counterexample("given", {"X_0": Fraction(1), "X_1": Fraction(), "Y_0": Fraction(9, 8)})
    found = check_counterexample(file, given, ABSOLUTE)
    assert (found.is_counterexample, found.margin) == (False, Fraction(0))
    assert found.largest_difference == Fraction(1, 8)
    assert found.reason == "the assertion of line 4 fails"


def test_two_networks(file: Path, tmp_path: Path) -> None:
    file.write_text(TWO + "(assert (>= Q[0] (+ P[0] 0.5)))")
    result = tmp_path / "result.txt"
    result.write_text("sat\nA real [2]\n1\n2\nP real [1]\n3\nB real [2]\n1\n2\nQ real [1]\n4\n")
    larger = from_arrays([([[1, 1]], ["3/4"])])
    found = check_counterexample(file, result, {"f": ABSOLUTE, "g": larger})
    assert (found.is_counterexample, found.margin) == (True, Fraction(1, 4))
    assert found.largest_difference == Fraction(1, 4)
    assert found.outputs == ((Fraction(3),), (Fraction(15, 4),))
    with pytest.raises(DomainError, match="declares 2 networks; give a mapping with one for 'g'"):
        check_counterexample(file, result, ABSOLUTE)
    with pytest.raises(DomainError, match="it declares no network 'h'"):
        check_counterexample(file, result, {"f": ABSOLUTE, "h": ABSOLUTE})
    file.write_text(file.read_text().replace("isomorphic-to", "equal-to"))
    assert check_counterexample(file, result, ABSOLUTE).margin == Fraction(-1, 2)


def test_what_does_not_fit(file: Path) -> None:
    file.write_text(DECLARED)
    with pytest.raises(DomainError, match="given: it gives no value to the input X_1"):
        check_counterexample(file, Counterexample("given", {"X_0": Fraction()}), ABSOLUTE)
    given = Counterexample("given", {"X_0": Fraction(), "X_1": Fraction()})
    with pytest.raises(DomainError, match="3 inputs and 1 outputs, the file declares 2 and 1"):
        check_counterexample(file, given, from_arrays([([[1, 1, 1]], [0])]))


@pytest.mark.skipif(SHARED is None, reason="networks from elsewhere")
def test_a_property_from_elsewhere() -> None:
    """ACAS Xu, property 2: at the middle of the box the first score is not the largest."""
    assert SHARED is not None
    query = read_vnnlib(Path(SHARED, "nets", "vnnlib", "acasxu_prop_2.vnnlib"))
    lower, upper = query.domain().bounding_box()  # type: ignore[misc]
    middle = [(a + b) / 2 for a, b in zip(lower, upper, strict=True)]
    given = Counterexample("middle", {f"X_{j}": value for j, value in enumerate(middle)})
    network = load(Path(SHARED, "nets", "acasxu_1_1_vnncomp.onnx"), compare=False)
    found = check_counterexample(query, given, network)
    outputs = found.outputs[0]
    assert found.is_counterexample == (outputs[0] == max(outputs))
    assert found.margin == min(outputs[0] - other for other in outputs[1:])


def test_what_the_objects_look_like(file: Path) -> None:
    file.write_text(TWO + "(assert (or (>= Q[0] 1) (<= P[0] 0)))")
    query = read_vnnlib(file)
    ending = ", version 2.0, 2 networks, 4 assertions>"
    assert repr(query).startswith("<VnnlibQuery ")
    assert repr(query).endswith(ending) or "…" in repr(query)
    assert repr(query.networks[0]) == "<DeclaredNetwork f, 2 inputs, 1 output>"
    assert repr(query.networks[0].inputs[0]) == "<Tensor A real [2]>"
    assert repr(query.assertions[-1]) == "<Disjunction of 2 parts>"
    assert repr(query.cases()[0]) == "<Case of 6 constraints on inputs, 1 that read outputs>"
    assert repr(query.cases()[0].outputs[0]) == "<Constraint -1·v5 + 1 <= 0>"
    given = Counterexample("result.txt", {"X_0": Fraction(1), "X_1": Fraction(2)})
    assert repr(given) == "<Counterexample result.txt, 2 values>"


def test_what_follows_exit_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "exit.vnnlib"
    text = "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (<= X_0 1))(exit)"
    file.write_text(text + "(assert (<= X_0 0)) ) nonsense")
    assert len(read_vnnlib(file).assertions) == 1
    file.write_text(text.replace("(exit)", "(exit 1)"))
    with pytest.raises(DomainError, match="line 1:"):
        read_vnnlib(file)
