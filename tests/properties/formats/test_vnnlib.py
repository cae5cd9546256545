"""Random VNN-LIB queries against a plain evaluation of their text, and damaged files."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random

import pytest

from polyrelu import DomainError, from_arrays
from polyrelu.formats import (
    Constraint,
    Counterexample,
    VnnlibQuery,
    check_counterexample,
    read_counterexample,
    read_vnnlib,
)
from tests.generators.vnnlib_files import random_query
from tests.generators.wrong_arguments import outcome

#: Two outputs of two inputs: |x_0| and x_1 - x_0.
NETWORK = from_arrays(
    [
        ([[1, 0], [-1, 0], [-1, 1], [1, -1]], [0] * 4),
        ([[1, 1, 0, 0], [0, 0, 1, -1]], [0, 0]),
    ]
)


def holds(constraint: Constraint, values: list[Fraction]) -> bool:
    value = constraint.value(values)
    return {"<=": value <= 0, "<": value < 0, "==": value == 0, "!=": value != 0}[
        constraint.relation
    ]


def satisfied(query: VnnlibQuery, values: list[Fraction]) -> bool:
    """Whether one of the cases of a query holds."""
    return any(
        all(holds(constraint, values) for constraint in (*case.inputs, *case.outputs))
        for case in query.cases(10**6)
    )


@pytest.mark.parametrize("version", [1, 2])
def test_truth_of_random_queries(version: int, tmp_path: Path) -> None:
    """Cases, assertions and the exact check agree with the text on small integer points."""
    rng, path, true = Random(version), tmp_path / "query.vnnlib", 0
    for _ in range(60):
        text, names, truths = random_query(rng, version)
        path.write_text(text)
        query = read_vnnlib(path)
        assert list(query.variables) == names
        for _ in range(6):
            inputs = [Fraction(rng.randint(-3, 3)), Fraction(rng.randint(-3, 3))]
            values = [*inputs, *NETWORK(inputs)]
            expected = all(truth(values) for truth in truths)
            given = Counterexample("point", dict(zip(names[:2], inputs, strict=True)))
            found = check_counterexample(query, given, NETWORK)
            assert found.is_counterexample == satisfied(query, values) == expected
            if expected and found.margin is not None:
                assert found.margin >= 0
            true += expected
    assert true > 30


def test_domains_of_random_queries(tmp_path: Path) -> None:
    """A domain contains exactly the points that satisfy the constraints on inputs alone."""
    rng, path, num_domains = Random(3), tmp_path / "query.vnnlib", 0
    for _ in range(150):
        text, _, _ = random_query(rng, 1)
        path.write_text(text)
        query = read_vnnlib(path)
        try:
            domain = query.domain()
        except DomainError:
            continue
        num_domains += 1
        cases = query.cases(10**6)
        for _ in range(5):
            point = [Fraction(rng.randint(-3, 3)), Fraction(rng.randint(-3, 3))]
            inside = any(all(holds(c, [*point, *point]) for c in case.inputs) for case in cases)
            assert domain.contains(point) == inside
    assert num_domains > 30


def damaged(text: bytes, rng: Random) -> bytes:
    """A text with some bytes changed, left out, doubled, or with its end cut off."""
    data = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data))
        kind = rng.randrange(5)
        if kind == 0:
            data[place] = rng.choice(b'()[],;"0-.eX_ \n\xff\x00<=')
        elif kind == 1:
            del data[place : place + rng.randint(1, 9)]
        elif kind == 2:
            data[place:place] = data[place : place + rng.randint(1, 30)]
        elif kind == 3:
            data[place:place] = b"(" * rng.choice([1, 300])
        elif len(data) > 20:
            del data[rng.randint(10, len(data)) :]
        data = data or bytearray(b"(")
    return bytes(data)


@pytest.mark.parametrize(
    "count", [150, pytest.param(2000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_damaged_files(count: int, tmp_path: Path) -> None:
    """A damaged file is read, or refused in one line."""
    rng, path, refused = Random(count), tmp_path / "query.vnnlib", 0
    result = b"sat\n((X_0 0.5)\n (X_1 2)\n (Y_0 -1.25))\n"
    other = b"sat\nA real [1,2]\n1\n2\nB real []\n3\n"
    for number in range(count):
        text, _, _ = random_query(rng, 1 + number % 2)
        for content, reader in (
            (text.encode(), read_vnnlib),
            (rng.choice([result, other]), read_counterexample),
        ):
            path.write_bytes(damaged(content, rng))
            message = outcome(partial(reader, path))
            refused += bool(message)
            assert message.isprintable()
    assert refused > count / 2
