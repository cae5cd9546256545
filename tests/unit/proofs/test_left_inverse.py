"""Left inverses: found, given, wrong ones, and their certificates."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import checker
from polyrelu.network import Network
from polyrelu.outcomes import Injective, Undecided
from polyrelu.proofs import left_inverse
from polyrelu.proofs.injectivity.composition import composed
from tests.generators.campaigns import case, few_some_and_all

AXES = [[1, 0], [0, 1], [-1, 0], [0, -1]]
STRIPS: Any = (AXES, [1, 1, 1, 2])
SECOND: Any = ([*np.eye(4, dtype=int).tolist(), *(-np.eye(4, dtype=int)).tolist()], [1] * 8)


def proved(network: Any, domain: Any = None, **options: Any) -> Injective:
    """The proof, whose certificate is accepted and whose inverse is right at some points."""
    found = left_inverse(network, domain, **options)
    assert isinstance(found, Injective)
    document, _ = found.certificate.to_document()
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
    return found


@pytest.mark.parametrize(
    ("layers", "options", "hidden"),
    [
        ([(AXES, [1, 1, -1, -1])], {"last": "relu"}, 0),  # a translate of [I; -I]
        ([STRIPS], {"last": "relu"}, 1),  # both opposite rows are active on a strip
        ([STRIPS, SECOND], {"last": "relu"}, 2),  # layer by layer
        ([([[1, 0], [1, 1], [2, 3]], [1, 2, 3])], {}, 0),  # an affine map
        ([(AXES, [0] * 4), ([[1, 0, -1, 0], [0, 1, 0, -1]], [5, 6])], {}, 0),
    ],
)
def test_found(layers: Any, options: Any, hidden: int) -> None:
    network = polyrelu.from_arrays(layers, **options)
    inverse = proved(network).inverse
    assert inverse is not None
    assert inverse.num_hidden_layers == hidden
    for x in ((3, -4), (Fraction(1, 3), Fraction(-7, 5)), (0, 0)):
        assert inverse(network(x)) == x


def test_on_a_domain() -> None:
    identity = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0])], last="relu")
    assert proved(identity, "orthant").inverse is not None
    assert isinstance(left_inverse(identity), Undecided)
    line = polyrelu.Polyhedron.from_constraints([], [], [[1, -1]], [0])
    proved([([[1, 1]], [0])], line)


def test_given() -> None:
    """A decoder that somebody has trained, or one that is wrong by 2^-50."""
    both = polyrelu.from_arrays([([[1], [-1]], [0, 0])], last="relu")
    through: Any = ([[1, 0], [0, 1]], [0, 0])
    assert proved(both, inverse=[through, ([[1, -1]], [0])]).inverse is not None
    found = left_inverse(both, inverse=[through, ([[1, -1 - 2.0**-50]], [0])])
    assert isinstance(found, Undecided)
    assert "to another point" in found.reason
    point = Fraction(found.reason.split("(")[1].split(")")[0])
    assert point < 0


def test_an_inverse_of_another_size() -> None:
    with pytest.raises(polyrelu.errors.NetworkError, match="3 inputs, and the first one 2 outputs"):
        left_inverse([([[1], [-1]], [0, 0])], inverse=[([[1, 1, 1]], [0])], layers=1)


def random_network(chance: Random) -> Network:
    widths = [chance.randint(1, 3) for _ in range(chance.randint(2, 4))]
    layers = [
        (
            [[chance.randint(-2, 2) for _ in range(a)] for _ in range(b)],
            [chance.randint(-2, 2) for _ in range(b)],
        )
        for a, b in pairwise(widths)
    ]
    return polyrelu.from_arrays(layers, last=chance.choice(["relu", "affine"]))


@pytest.mark.parametrize("number", few_some_and_all(40, 400, 1_000))
def test_compositions(number: int) -> None:
    chance = Random(1)
    for seed in range(number):
        one, two = random_network(chance), random_network(chance)
        if one.widths[-1] != two.num_inputs:
            continue
        with case(seed):
            x = [Fraction(chance.randint(-9, 9), 4) for _ in range(one.num_inputs)]
            assert composed(one, two)(x) == two(one(x))


@pytest.mark.parametrize("number", few_some_and_all(6, 60, 300))
def test_random_pairs_of_rows(number: int) -> None:
    """Layers of opposite rows that overlap or touch, before and after a linear map."""
    for seed in range(number):
        chance = Random(seed)
        rows = list[list[int]]()
        while len(rows) < 2:
            rows = [[chance.randint(-3, 3) for _ in range(2)] for _ in range(2)]
            rows = rows if rows[0][0] * rows[1][1] != rows[0][1] * rows[1][0] else []
        factors, bias = [chance.randint(1, 3) for _ in rows], [chance.randint(-3, 3) for _ in rows]
        opposite = [[-k * x for x in row] for k, row in zip(factors, rows, strict=True)]
        shifts = [chance.randint(0, 2) - k * b for k, b in zip(factors, bias, strict=True)]
        layer = ([*rows, *opposite], [*bias, *shifts])
        with case(seed):
            proved(polyrelu.from_arrays([layer], last="relu"))
