"""Lipschitz constants against the gradients of all regions of the complex."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import get_args

import pytest

import polyrelu
from polyrelu import checker
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import LipschitzBounds, Undecided
from polyrelu.proofs.deviation.lipschitz import Norm
from tests.generators.bounds_documents import random_layers
from tests.generators.campaigns import case, few_and_all

XOR = from_arrays([([[1, 1], [1, 1]], [0, -1]), ([[2, -4]], [-1])])


def longest(network: Network, domain: Polyhedron, norm: Norm) -> Fraction:
    """The largest norm of a gradient of an output, over all regions; squared for the 2-norm."""
    cells = polyrelu.canonical_complex(network, domain)
    patterns = map(cells.signs_of_region, range(cells.num_regions))
    found = Fraction(0)
    for affine in network.affine_maps(patterns):
        for row in affine.matrix.rows():
            sizes = [abs(x) for x in row]
            squared = sum((x * x for x in sizes), Fraction(0))
            norms = {"1": sum(sizes, Fraction(0)), "2": squared, "inf": max(sizes)}
            found = max(found, norms[norm])
    return found


def search(
    network: Network, domain: Polyhedron, norm: Norm, budget: float | None = None
) -> list[Fraction]:
    """The bounds of a search, whose certificate is accepted."""
    answer = polyrelu.lipschitz_bounds(network, domain, norm=norm, gap=0, budget=budget)
    found = answer.bounds if isinstance(answer, Undecided) else answer
    assert isinstance(found, LipschitzBounds)
    report = checker.check_bytes(found.certificate.to_bytes())
    assert report.verdict == "accepted", report
    return [found.at_least, found.at_most]


@pytest.mark.parametrize(("norm", "value"), [("1", 4), ("2", 8), ("inf", 2)])
def test_xor(norm: Norm, value: int) -> None:
    assert search(XOR, Polyhedron.box([-1, -1], [1, 1]), norm) == [value, value]


@pytest.mark.parametrize("number", few_and_all(10, 40))
def test_random_networks(number: int) -> None:
    """The constant is that of the complex; bounds of a short search are around it."""
    for seed in range(number):
        random = Random(seed)
        widths = [
            random.randint(1, 2),
            *(random.randint(1, 3) for _ in range(random.randint(1, 3))),
        ]
        network = random_layers(random, widths, random.choice(["affine", "relu"]))
        sides = Polyhedron.box([-1] * widths[0], [random.choice([1, 2])] * widths[0])
        norm = random.choice(get_args(Norm))
        with case(seed):
            exact = longest(network, sides, norm)
            assert search(network, sides, norm) == [exact, exact]
            low, high = search(network, sides, norm, 12)
            assert low <= exact <= high


def test_a_triangle() -> None:
    """Beyond the diagonal the network is steeper, and that is outside of the triangle."""
    steep = from_arrays([([[1, 1], [1, 0]], [-1, 0]), ([[5, 1]], [0])])
    rows = [[-1, 0], [0, -1], [1, 0], [0, 1], [1, 1]]
    triangle = Polyhedron.from_constraints(rows, [0, 0, 1, 1, 1])
    assert search(steep, triangle, "1") == [1, 1]
    assert search(steep, Polyhedron.box([0, 0], [1, 1]), "1") == [11, 11]


def test_domains_without_interior() -> None:
    with pytest.raises(DomainError, match="the domain has no interior"):
        polyrelu.lipschitz_bounds(XOR, Polyhedron.box([0, 0], [1, 0]))
    with pytest.raises(DomainError, match="the domain is unbounded"):
        polyrelu.lipschitz_bounds(XOR, Polyhedron.box([0, 0], [1, None]))
