"""Rules of certificates of bounds for small random networks."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Literal

import polyrelu
from polyrelu import Network, Polyhedron
from polyrelu.proofs.deviation.rounded import LayerPartners, RoundedRule
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates

__all__ = ["random_rule"]

F = Fraction


def _network(
    random: Random, widths: list[int], last: Literal["affine", "relu"], like: Network | None
) -> Network:
    """Return a network with random weights, or with small changes of others."""
    layers = []
    for number, (n, m) in enumerate(pairwise(widths), 1):
        weight = [[F(random.randint(-64, 64), 32) for _ in range(n)] for _ in range(m)]
        bias = [F(random.randint(-32, 32), 32) for _ in range(m)]
        if like is not None:
            old, change = like.layers[number - 1], F(random.randint(-8, 8), 3_000)
            weight = [
                [x + change * (j % 3) for j, x in enumerate(row)] for row in old.weight.rows()
            ]
            bias = [x + change for x in old.bias.entries()]
        layers.append((weight, bias))
    return polyrelu.from_arrays(layers, last=last)


def random_rule(random: Random) -> tuple[RoundedRule, list[LayerPartners]]:
    """Return a rule for one network, two unrelated ones, or a network and a copy.

    The domain is the box [-1, 1]^n; the matching is the second value.
    """
    hidden = [random.randint(1, 7) for _ in range(random.randint(0, 3))]
    widths = [random.randint(1, 3), *hidden, 2]
    kinds: list[Literal["affine", "relu"]] = ["affine", "affine", "relu"]
    last = random.choice(kinds)
    first, second = _network(random, widths, last, None), None
    matching = list[LayerPartners]()
    if random.random() < 0.8:
        like = first if random.random() < 0.7 else None
        others = widths if like else [widths[0], *(random.randint(1, 7) for _ in hidden), 2]
        second = _network(random, others, last, like)
        if like is None:
            for one, two in zip(hidden, others[1:-1], strict=True):
                partners = [(random.randrange(one), F(random.randint(1, 5), 2)) for _ in range(two)]
                matching.append([x if random.random() < 0.8 else None for x in partners])
    domain = Polyhedron.box([-1] * widths[0], [1] * widths[0])
    grid = random.choice([12, 30, 44, 51, 56])
    return RoundedRule(first, second, DomainCoordinates.of(domain), matching, grid), matching
