"""The compiled search in one layer writes the same certificates as the one in Python."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu._core import VARIABLE, chosen_engine
from polyrelu.exact import Dependence, SignSystem
from polyrelu.network import Network
from polyrelu.outcomes import Injective, NotInjective, Undecided
from polyrelu.proofs.injectivity.compiled_search import compiled_search
from polyrelu.proofs.injectivity.independence import Quotient
from tests.generators.campaigns import case, few_and_all, few_some_and_all

pytestmark = pytest.mark.skipif(
    chosen_engine().name != "compiled", reason="the compiled core is not installed"
)

PRIME = 2**31 - 1


def answer(network: Network, domain: Any, engine: str, budget: float | None = None) -> list[Any]:
    """All that an answer shows, except for the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, engine)
        outcome = polyrelu.injective(network, domain, budget=budget)
    shown: list[Any] = [outcome.status, str(outcome.search)]
    if isinstance(outcome, Injective | NotInjective):
        shown.append(outcome.certificate.to_document())
    if isinstance(outcome, Undecided):
        shown.append(outcome.reason)
    return shown


def gaussian(size: int, count: int, seed: int) -> Network:
    rows = np.random.default_rng(seed).standard_normal((count, size))
    return polyrelu.from_arrays([(rows, np.zeros(count))], last="relu")


def random_layer(chance: Random) -> Network:
    """Small integers with ties, floats, rows near others, entries of very different sizes."""
    size, count = chance.randint(1, 4), chance.randint(2, 16)
    kind = chance.choice(["integers", "floats", "near", "sizes"])
    rows = [[float(chance.randint(-3, 3)) for _ in range(size)] for _ in range(count)]
    if kind == "floats":
        rows = [[x + chance.random() for x in row] for row in rows]
    elif kind == "near":
        rows = [[x + chance.choice([0, 2.0**-30, -(2.0**-45)]) for x in row] for row in rows]
    elif kind == "sizes":
        rows = [[x * 2.0 ** chance.randint(-40, 40) for x in row] for row in rows]
    bias = [chance.randint(-2, 2) * chance.randint(0, 1) for _ in range(count)]
    return polyrelu.from_arrays([(rows, bias)], last="relu")


@pytest.mark.parametrize("number", few_some_and_all(40, 400, 1_500))
def test_the_same_certificates(number: int) -> None:
    statuses = set()
    for seed in range(number):
        chance = Random(seed)
        network = random_layer(chance)
        domain = chance.choice([None, "orthant", "box:-1,1"])
        with case(f"seed {seed}"):
            found = answer(network, domain, "compiled")
            assert found == answer(network, domain, "numpy")
        statuses.add(found[0])
    assert statuses == {"proved", "refuted"}


@pytest.mark.parametrize("sizes", few_and_all([(5, 35)], [(6, 42), (7, 49), (8, 56), (6, 20)]))
def test_the_same_large_certificates(sizes: list[tuple[int, int]]) -> None:
    for size, count in sizes:
        for seed in range(2):
            network = gaussian(size, count, seed)
            with case(f"{count} x {size}, seed {seed}"):
                assert answer(network, None, "compiled") == answer(network, None, "numpy")


def test_the_same_place_where_a_budget_ends() -> None:
    network = gaussian(6, 42, 3)
    places = [answer(network, None, engine, budget=35.0) for engine in ("compiled", "numpy")]
    assert places[0] == places[1]
    assert places[0][0] == "undecided"


def search(rows: list[list[int]], asked: list[bool]) -> list[Any]:
    """The records of a search in the core; `asked` gets an entry for each question to Python."""
    signs = SignSystem([*rows, [*[0] * (len(rows[0]) - 1), 1]])
    linear = [row[:-1] for row in rows]

    def solve(wanted: Any, costly: Any, is_first: bool) -> list[int] | None:
        asked.append(is_first)
        found = signs.solve(wanted, costly)
        return list(found.multipliers) if isinstance(found, Dependence) else None

    core = compiled_search(
        signs,
        sum(row.count(0) for row in rows) + len(rows[0]) - 1,
        Quotient.of(linear, len(linear[0]), PRIME),
        np.array(linear),
        range(len(rows) + 1),
        (3, 5_000),
        spend=lambda: None,
        solve=solve,
        is_line=lambda _members, _rows: False,
    )
    assert core is not None
    while core.visit(3):
        pass
    return core.take_records()


def test_floats_prove_only_what_they_can() -> None:
    """Where rows are nearly on one line, Python is asked for the dependence of a node."""
    clear, near = list[bool](), list[bool]()
    rows = [[10, 1, 0], [2, 9, 0], [-8, 5, 0], [-7, -6, 0], [4, -9, 0]]
    assert search(rows, clear)
    assert True not in clear
    assert search([[2**30 * row[0], *row[1:]] for row in rows], near)
    assert True in near


def test_other_numbers_are_left_to_python() -> None:
    huge, prime = [[2**60, 1, 0], [-(2**60), 0, 0]], 2**61 - 1
    assert compiled_search_of(huge, PRIME) is None
    assert compiled_search_of([[1, 1, 0]], prime) is None
    assert compiled_search_of([[1, 1, 0]], PRIME) is not None


def compiled_search_of(rows: list[list[int]], prime: int) -> Any:
    return compiled_search(
        SignSystem(rows),
        sum(row.count(0) for row in rows),
        Quotient.of([row[:-1] for row in rows], 2, prime),
        np.array(rows),
        range(len(rows)),
        (3, 5_000),
        spend=lambda: None,
        solve=lambda _signs, _costly, _is_first: None,
        is_line=lambda _members, _rows: False,
    )
