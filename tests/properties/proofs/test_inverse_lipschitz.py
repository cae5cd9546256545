"""Bounds of inverse Lipschitz constants against quotients at many points."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.outcomes import InverseLipschitz, NotInjective
from tests.generators.campaigns import case, few_some_and_all
from tests.properties.proofs.test_injective import layer_of, random_rows

#: What rounded singular vectors may cost.
SLACK = 1 + Fraction(1, 2**30)


def squared(x: tuple[Fraction, ...], y: tuple[Fraction, ...]) -> Fraction:
    """The squared distance."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


@pytest.mark.parametrize("number", few_some_and_all(4, 35, 400))
def test_random_layers(number: int) -> None:
    """No quotient is below the lower bound; the upper bound is at most twice it, and attained."""
    positive = 0
    for seed in range(number):
        chance = Random(seed)
        rows = random_rows(chance)
        size = len(rows[0]) - 1
        if size > 3:
            continue
        domain = chance.choice([None, "orthant", "box:-1,1"])
        with case(seed):
            layer = layer_of(rows)
            found = polyrelu.inverse_lipschitz(layer, domain)
            is_injective = polyrelu.injective(layer, domain).status == "proved"
            assert isinstance(found, InverseLipschitz if is_injective else NotInjective)
            document, _ = found.certificate.to_document()
            assert checker.check_bytes(json.dumps(document).encode()).verdict == "accepted"
            if isinstance(found, NotInjective):
                continue
            low, pair = found.at_least, found.witness
            assert (layer(pair.x), layer(pair.y)) == (pair.f, pair.g)
            assert squared(pair.f, pair.g) == found.at_most * squared(pair.x, pair.y)
            assert 0 < low <= found.at_most <= 2 * low * SLACK
            least = 0 if domain == "orthant" else -4
            points = [tuple(Fraction(chance.randint(least, 4), 4) for _ in rows[0][:-1])]
            points += [tuple(-x for x in points[0])] if least else []
            points += [
                tuple(Fraction(chance.randint(least, 4), 4) for _ in range(size)) for _ in range(12)
            ]
            values = layer.evaluate(points)
            for i, j in combinations(range(len(points)), 2):
                assert squared(values[i], values[j]) >= low * squared(points[i], points[j])
        positive += 1
    assert positive >= number // 40
