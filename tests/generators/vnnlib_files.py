"""Random VNN-LIB queries as text, with an evaluation of their own for comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import TypeAlias

#: Whether a formula holds for the values of all variables.
Truth: TypeAlias = Callable[[Sequence[Fraction]], bool]
_Value: TypeAlias = Callable[[Sequence[Fraction]], Fraction]


def random_number(rng: Random) -> str:
    """An integer or a decimal, now and then with an exponent."""
    digits = f"{rng.randint(-9, 9)}{rng.choice(['', '.', '.5', '.25', '.125'])}"
    return digits + rng.choice(["", "", "", "e-1", "E+1"])


def random_expression(rng: Random, names: Sequence[str], depth: int) -> tuple[str, _Value]:
    """A linear expression and its value."""
    kind = rng.choice(["name", "name", "number"] if depth == 0 else ["+", "-", "neg", "*", "name"])
    if kind == "name":
        j = rng.randrange(len(names))
        return names[j], lambda values: values[j]
    if kind == "number":
        text = random_number(rng)
        return text, lambda values: Fraction(text)
    if kind == "neg":
        text, value = random_expression(rng, names, depth - 1)
        return f"(- {text})", lambda values: -value(values)
    if kind == "*":
        factor = random_number(rng)
        text, value = random_expression(rng, names, depth - 1)
        return f"(* {factor} {text})", lambda values: Fraction(factor) * value(values)
    parts = [random_expression(rng, names, depth - 1) for _ in range(rng.randint(2, 3))]
    sign = 1 if kind == "+" else -1
    text = f"({kind} {' '.join(part for part, _ in parts)})"
    return (
        text,
        lambda values: parts[0][1](values) + sign * sum(part(values) for _, part in parts[1:]),
    )


def random_formula(rng: Random, names: Sequence[str], depth: int = 2) -> tuple[str, Truth]:
    """A formula and its truth."""
    if depth and rng.random() < 0.6:
        parts = [random_formula(rng, names, depth - 1) for _ in range(rng.randint(1, 3))]
        word, combined = rng.choice([("and", all), ("or", any)])
        text = f"({word} {' '.join(part for part, _ in parts)})"
        return text, lambda values: combined(part(values) for _, part in parts)
    (left, one), (right, other) = (random_expression(rng, names, 2) for _ in range(2))
    relations: dict[str, Callable[[Fraction, Fraction], bool]] = {
        "<=": lambda a, b: a <= b,
        ">=": lambda a, b: a >= b,
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    relation = rng.choice(list(relations))
    holds = relations[relation]
    return f"({relation} {left} {right})", lambda values: holds(one(values), other(values))


def random_query(rng: Random, version: int) -> tuple[str, list[str], list[Truth]]:
    """The text of a query on 2 inputs and 2 outputs, its variables, and its assertions' truths."""
    if version == 1:
        names = ["X_0", "X_1", "Y_0", "Y_1"]
        head = "".join(f"(declare-const {name} Real)\n" for name in names)
    else:
        names = ["A[0,0]", "A[0,1]", "B", "C[0]"]
        head = (
            "(vnnlib-version <2.0>) ; a comment (with parentheses\n(declare-network f\n"
            "(declare-input A Real [1,2]) (declare-output B Real []) (declare-output C Real [1]))\n"
        )
    formulas = [random_formula(rng, names) for _ in range(rng.randint(1, 3))]
    return (
        head + "".join(f"(assert {text})\n" for text, _ in formulas),
        names,
        [truth for _, truth in formulas],
    )


def random_property(rng: Random, num_networks: int) -> tuple[str, int, int]:
    """The text of a query on small boxes, with the numbers of inputs and outputs.

    Some bounds are strict or missing, and two networks share their inputs.
    """
    num_inputs, num_outputs = rng.randint(1, 2), rng.randint(1, 2)
    if num_networks == 1:
        inputs = [f"X_{j}" for j in range(num_inputs)]
        outputs = [f"Y_{j}" for j in range(num_outputs)]
        text = "".join(f"(declare-const {name} Real)\n" for name in inputs + outputs)
    else:
        inputs = [f"A[{j}]" for j in range(num_inputs)]
        outputs = [f"{name}[{j}]" for name in "PQ" for j in range(num_outputs)]
        text = "(vnnlib-version <2.0>)\n" + "".join(
            f"(declare-network {name} (declare-input {x} real [{num_inputs}]) "
            f"(declare-output {y} real [{num_outputs}]))\n"
            for name, x, y in (("f", "A", "P"), ("g", "B", "Q"))
        )
        text += "".join(f"(assert (== A[{j}] B[{j}]))\n" for j in range(num_inputs))
    for name in inputs:
        low = rng.randint(-3, 1)
        for relations, bound in ((">= >= >", low), ("<= <= <", low + rng.randint(0, 4))):
            if rng.random() < 0.9:
                text += f"(assert ({rng.choice(relations.split())} {name} {bound}))\n"
    for _ in range(rng.randint(1, 2)):
        formula, _ = random_formula(rng, inputs + outputs, rng.randint(0, 2))
        text += f"(assert {formula})\n"
    if rng.random() < 0.6:
        relation = rng.choice([">=", ">", "<="])
        text += f"(assert ({relation} {rng.choice(outputs)} {rng.randint(-12, 12)}))\n"
    return text, num_inputs, num_outputs
