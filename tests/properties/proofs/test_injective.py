"""Injectivity of random layers and networks against brute force, and mutants."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any

import pytest

import polyrelu
from polyrelu import Polyhedron, checker
from polyrelu.network import from_document
from polyrelu.outcomes import Injective, NotInjective
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.certificate_mutants import mutants
from tests.oracles.injectivity import is_injective, is_injective_network

Rows = list[list[int]]


def random_rows(chance: Random) -> Rows:
    """Rows [w | b] in one to four variables: opposite, repeated and zero ones among them."""
    size, entry = chance.choice([1, 2, 2, 3, 3, 4]), chance.choice([1, 1, 2, 3, 5])
    count, has_bias = chance.randint(1, min(10, 2 * size + 4)), chance.random() < 0.6
    rows = Rows()

    def fresh() -> list[int]:
        linear = [chance.randint(-entry, entry) for _ in range(size)]
        return [*linear, chance.randint(-entry, entry) * has_bias]

    if chance.random() < 0.5:
        rows += [fresh() for _ in range(min(size, count // 2))]
        for row in list(rows):
            shift = chance.choice([0, 0, 0, 1, -1, 2]) * has_bias
            factor = chance.randint(1, 2)
            rows.append([*(-factor * x for x in row[:-1]), shift - factor * row[-1]])
    while len(rows) < count:
        kind = chance.random()
        if rows and kind < 0.3:
            factor = chance.choice([-1, 1, 2])
            rows.append([factor * x for x in chance.choice(rows)])
        elif kind < 0.4:
            rows.append([*[0] * size, chance.randint(-1, 1)])
        else:
            rows.append(fresh())
    chance.shuffle(rows)
    return rows


def random_domain(chance: Random, size: int) -> tuple[Rows, Rows]:
    """Inequalities and equations, of a set that contains 0: R^n, orthant, box, or any."""
    kind, unit = chance.random(), [[int(i == j) for j in range(size)] for i in range(size)]
    if kind < 0.35:
        return [], []
    if kind < 0.5:
        return [[*(-x for x in row), 0] for row in unit], []
    if kind < 0.65:
        return [[*(sign * x for x in row), 1] for row in unit for sign in (1, -1)], []

    def some(count: int, right: Sequence[int]) -> Rows:
        return [
            [*(chance.randint(-2, 2) for _ in range(size)), chance.choice(right)]
            for _ in range(count)
        ]

    equations = some(1, [0]) if chance.random() < 0.4 else []
    return some(chance.randint(1, size + 1), [0, 1, 2]), equations


def polyhedron(size: int, inequalities: Rows, equations: Rows) -> Polyhedron:
    """The domain as the package has it."""
    if not inequalities and not equations:
        return Polyhedron.universe(size)
    a, c = [row[:-1] for row in inequalities], [row[-1] for row in inequalities]
    e, f = [row[:-1] for row in equations], [row[-1] for row in equations]
    return Polyhedron.from_constraints(a, c, e, f)


def outputs(rows: Rows, point: Sequence[Fraction]) -> list[Fraction]:
    """The outputs at a point, as directly as possible."""
    x = [*point, Fraction(1)]
    values = (sum((a * b for a, b in zip(row, x, strict=True)), Fraction()) for row in rows)
    return [max(value, Fraction()) for value in values]


def layer_of(rows: Rows) -> polyrelu.Network:
    """The layer as a network."""
    return polyrelu.from_arrays(
        [([row[:-1] for row in rows], [row[-1] for row in rows])], last="relu"
    )


def document_of(outcome: Injective | NotInjective) -> dict[str, Any]:
    """The certificate."""
    return outcome.certificate.to_document()[0]


def verdict(document: Any) -> str:
    """What the checker says."""
    return checker.check_bytes(json.dumps(document).encode()).verdict


@pytest.mark.parametrize("number", few_some_and_all(25, 300, 3_000))
def test_random_layers(number: int) -> None:
    """The verdict is that of the definition; certificates are accepted, witnesses evaluated."""
    answers = {True: 0, False: 0}
    for seed in range(number):
        chance = Random(seed)
        rows = random_rows(chance)
        domain = random_domain(chance, len(rows[0]) - 1)
        with case(seed):
            outcome = polyrelu.injective(layer_of(rows), polyhedron(len(rows[0]) - 1, *domain))
            assert isinstance(outcome, Injective | NotInjective)
            assert isinstance(outcome, Injective) == is_injective(rows, *domain)
            assert verdict(document_of(outcome)) == "accepted"
            if isinstance(outcome, NotInjective):
                x, y = outcome.witness.x, outcome.witness.y
                assert outputs(rows, x) == outputs(rows, y) == list(outcome.witness.value)
                assert x != y
        answers[isinstance(outcome, Injective)] += 1
    assert min(answers.values()) > number // 5


@pytest.mark.parametrize("step", few_some_and_all(81, 7, 1))
def test_all_small_layers(step: int) -> None:
    """W in {-1, 0, 1}^(4×2), b = 0: exactly the 144 matrices [B; -DB] up to the order of rows."""
    found = 0
    for entries in islice(product((-1, 0, 1), repeat=8), 0, None, step):
        rows = [[*entries[k : k + 2], 0] for k in range(0, 8, 2)]
        pairs = {(row[0], row[1]) for row in rows}
        opposite = all((-a, -b) in pairs for a, b in pairs) and (0, 0) not in pairs
        expected = opposite and len(pairs) == 4
        outcome = polyrelu.injective(layer_of(rows))
        assert (outcome.status == "proved") == expected, rows
        found += expected
    assert found == (144 if step == 1 else found)


def true_mutant(document: dict[str, Any]) -> bool:
    """Whether the claim of a mutant is true, by brute force on one layer."""
    claim = document["claim"]
    network = from_document(claim["network"]["inline"])
    first, last = claim["layers"]
    if first != last or last > network.num_hidden_layers:
        return False
    weight, bias = network.weight(first), network.bias(first)
    rows = [
        [*map(Fraction, row), entry]
        for row, entry in zip(weight.rows(), bias.entries(), strict=True)
    ]
    scale = 2520
    integers = [[int(entry * scale) for entry in row] for row in rows]
    assert all(entry * scale == int(entry * scale) for row in rows for entry in row)
    domain = [
        [list(map(int, row.split(" "))) for row in claim["domain"][key]]
        for key in ("inequalities", "equations")
    ]
    is_claimed: bool = claim["kind"] == "injective"
    return is_injective(integers, *domain) == is_claimed


def questions() -> Iterator[tuple[polyrelu.Network, Polyhedron]]:
    """Small certificates with nodes of all kinds, pairs of cells, and two points that collide."""
    hexagon = [[1, 0, 0], [0, 1, 0], [-1, -1, 0], [-1, 0, 0], [0, -1, 0], [1, 1, 0]]
    star = [[3, 1, 0], [-1, 3, 0], [-3, 1, 1], [1, -2, 0], [2, 3, 1], [-2, -3, 0], [-1, -1, 1]]
    plane, square = Polyhedron.universe(2), Polyhedron.box([-2, -2], [2, 2])
    yield layer_of(hexagon), plane
    yield layer_of(star), square
    yield layer_of([[1, 0, 0], [0, 1, 0], [-1, 0, 0]]), plane
    second = [[1, 0, 1, 0], [1, 0, -1, 0], [-1, 0, 1, 0], [0, 1, 0, -1], [0, -1, 0, 1]]
    axes = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    yield polyrelu.from_arrays([(axes, [0] * 4), (second, [0] * 5)], last="relu"), plane
    for seed, width in ((5, 24), (6, 16), (7, 16), (8, 16)):
        chance = Random(seed)
        wide = [[*(chance.randint(-9, 9) for _ in range(3)), 0] for _ in range(width)]
        yield layer_of(wide), Polyhedron.universe(3)


def is_true(document: dict[str, Any]) -> bool:
    """Whether the claim of an accepted mutant is true: by brute force, or as the prover answers."""
    claim = document["claim"]
    first, last = claim["layers"]
    network = from_document(claim["network"]["inline"])
    if first == last <= network.num_hidden_layers:
        return true_mutant(document)
    domain = Polyhedron(
        network.widths[first - 1],
        *(
            tuple(tuple(map(int, row.split(" "))) for row in claim["domain"][key])
            for key in ("inequalities", "equations")
        ),
    )
    status = {"injective": "proved", "not-injective": "refuted"}[claim["kind"]]
    return polyrelu.injective(network, domain, layers=(first, last)).status == status


@pytest.mark.parametrize("number", few_some_and_all(16, 40, 100))
def test_mutants(number: int) -> None:
    """A mutant that is accepted is true."""
    tried = 0
    for network, domain in questions():
        outcome = polyrelu.injective(network, domain)
        assert isinstance(outcome, Injective | NotInjective)
        original, chance = document_of(outcome), Random(1)
        listed = list(mutants(original, chance))
        chosen = listed[:: max(1, len(listed) // number)]
        refused = 0
        for text, mutant in chosen:
            if checker.check_bytes(text.encode()).verdict != "accepted":
                refused += 1
            elif mutant is None or mutant["claim"] != original["claim"]:
                assert mutant is not None
                assert is_true(mutant), mutant
        assert refused > len(chosen) // 2
        tried += len(chosen)
    assert tried >= number


def random_network(chance: Random) -> tuple[list[Rows], bool]:
    """Two or three layers of rows [w | b] in one or two variables; opposite rows come first."""
    size, entry = chance.choice([1, 1, 2]), chance.choice([1, 2, 3])
    hidden = [chance.randint(2 * size - 1, 2 * size + 1)]
    hidden += [chance.randint(size, 4 if size == 2 else 3) for _ in range(2 - (size == 2))]
    layers, width = list[Rows](), size
    for count in hidden[: chance.choice([2, 2, 3])]:
        layers.append(
            [[chance.randint(-entry, entry) for _ in range(width + 1)] for _ in range(count)]
        )
        width = count
    if chance.random() < 0.7:
        for k, row in enumerate(layers[0][: 2 * size]):
            sign = 1 if k < size else -1
            row[:size] = [sign * int(k % size == j) for j in range(size)]
            row[-1] *= chance.choice([0, 0, 1])
    return layers, chance.random() < 0.5


@pytest.mark.parametrize("number", few_some_and_all(30, 200, 2_000))
def test_random_networks(number: int) -> None:
    """The verdict is that of the definition, on R^n and on a box; all theorems occur."""
    theorems = set()
    for seed in range(number):
        chance = Random(seed)
        layers, last_is_relu = random_network(chance)
        size = len(layers[0][0]) - 1
        unit = [[sign * int(j == k) for j in range(size)] for k in range(size) for sign in (1, -1)]
        box = [[*row, 2] for row in unit] if chance.random() < 0.5 else []
        network = polyrelu.from_arrays(
            [([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in layers],
            last="relu" if last_is_relu else "affine",
        )
        with case(seed):
            outcome = polyrelu.injective(network, polyhedron(size, box, []))
            assert isinstance(outcome, Injective | NotInjective)
            expected = is_injective_network(layers, last_is_relu, box)
            assert isinstance(outcome, Injective) == expected
            assert verdict(document_of(outcome)) == "accepted"
            if isinstance(outcome, NotInjective):
                x, y = outcome.witness.x, outcome.witness.y
                assert x != y
                assert network(x) == network(y) == outcome.witness.value
        theorems.add(outcome.theorem)
    assert theorems >= {"collision", "cell-pairs"}
