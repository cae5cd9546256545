"""Least sizes of networks with one function: against values, against activation patterns, checked.

The brute force knows hyperplanes from all activation patterns, and jumps of the gradient from
values of the function at points of them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from polyrelu import checker
from polyrelu.certificate import Certificate
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.network import from_arrays
from polyrelu.outcomes import DimensionBound, SizeBound, Undecided
from polyrelu.proofs import certify_functional_dimension, size_bound
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.oracles.classes import is_in_class
from tests.oracles.plain import Network, evaluate
from tests.oracles.sizes import candidates, jump, points_on

BEND = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])


def is_accepted(certificate: Certificate) -> bool:
    document, _ = certificate.to_document()
    report = checker.check_certificate(
        json.dumps(document).encode(), lambda _: (), checker.Meter(2**40)
    )
    assert report.verdict == "accepted", report
    return True


def small_network(rng: Random) -> Network:
    """A stack with one or two hidden layers, weights of few values, and perhaps equal rows."""
    widths = [rng.randint(1, 3) for _ in range(rng.choice((3, 4)))]
    size = rng.choice((2, 99))
    layers = []
    for before, after in pairwise(widths):
        rows = [[Fraction(rng.randint(-size, size)) for _ in range(before)] for _ in range(after)]
        bias = [Fraction(rng.randint(-size, size)) for _ in range(after)]
        if after > 1 and rng.random() < 0.3:
            rows[0], bias[0] = [rng.choice((-1, 2)) * x for x in rows[1]], bias[1]
        layers.append((rows, bias))
    return layers


@pytest.mark.parametrize("seeds", few_some_and_all(range(8), range(80), range(250)))
def test_one_layer_against_values(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            layers = small_network(rng)
            net, rows = from_arrays(layers), candidates(layers)
            jumps = {
                row: {jump(layers, row, point) for point in points_on(row, 8, rng)} for row in rows
            }
            bends = [row for row, found in jumps.items() if any(map(any, found))]
            bound, width = size_bound(net), size_bound(net, "neurons-of-one-layer")
            if isinstance(bound, Undecided) or isinstance(width, Undecided):
                assert isinstance(bound, Undecided)
                assert isinstance(width, Undecided)
                assert not bends
                continue
            assert is_accepted(bound.certificate)
            assert is_accepted(width.certificate)
            assert bound.at_least <= net.num_hidden_layers
            assert bound.at_least == 2 or all(len(jumps[row]) == 1 for row in bends)
            assert width.at_least >= len(bends)
            assert width.own_size is None or width.at_least <= width.own_size
            if bound.at_least == 2:
                first, second = (
                    list(map(Fraction, x))
                    for x in bound.certificate.hypotheses[0].evidence["points"]
                )
                both = [row for row in rows if is_on(row, first) and is_on(row, second)]
                assert any(jump(layers, row, first) != jump(layers, row, second) for row in both)


def is_on(row: tuple[Fraction, ...], point: list[Fraction]) -> bool:
    return sum((a * x for a, x in zip(row, point, strict=False)), row[-1]) == 0


@pytest.mark.parametrize("seeds", few_some_and_all(range(10), range(100), range(250)))
def test_neurons_against_slopes(seeds: range) -> None:
    """Slopes at random points are no more than the bound allows, and neurons no fewer."""
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            layers = small_network(rng)
            bound = size_bound(from_arrays(layers), "neurons")
            at_least = bound.at_least if isinstance(bound, SizeBound) else 0
            assert at_least <= sum(len(bias) for _, bias in layers[:-1])
            if isinstance(bound, SizeBound):
                assert is_accepted(bound.certificate)
            size, step = len(layers[0][0][0]), Fraction(1, 2**120)
            slopes = set()
            for _ in range(12):
                x = [Fraction(rng.randint(-(10**6), 10**6), 10**5) for _ in range(size)]
                value = evaluate(layers, x)
                ends = [evaluate(layers, [*x[:j], x[j] + step, *x[j + 1 :]]) for j in range(size)]
                slopes.add(tuple((b - a) for end in ends for a, b in zip(value, end, strict=True)))
            assert len(slopes) <= 2**at_least


@pytest.mark.parametrize("seeds", few_and_all(range(3), range(10)))
def test_bends_against_depth(seeds: range) -> None:
    """No network of a class, by brute force, has fewer layers than the bound for the class."""
    shown = 0
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            widths = [2, *(rng.randint(1, 3) for _ in range(rng.choice((1, 2, 3)))), 1]
            layers = [
                (
                    [[Fraction(rng.randint(-4, 4)) for _ in range(n)] for _ in range(m)],
                    [Fraction(rng.randint(-4, 4)) for _ in range(m)],
                )
                for n, m in pairwise(widths)
            ]
            for among in ("transversal", "regular"):
                bound = size_bound(from_arrays(layers), among=among, budget=60)
                if isinstance(bound, SizeBound):
                    assert is_accepted(bound.certificate)
                    shown += bound.at_least > 1
                    deep = bound.at_least > len(layers) - 1
                    assert not deep or not is_in_class(layers, among)
    assert shown


@pytest.mark.parametrize("seeds", few_and_all(range(3), range(40)))
def test_dimensions_are_checked(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            layers = small_network(Random(seed))
            found = certify_functional_dimension(from_arrays(layers), seed=seed)
            assert isinstance(found, DimensionBound)
            assert found.at_least <= found.at_most
            assert is_accepted(found.certificate)


def test_lines_in_larger_networks() -> None:
    """Networks with four inputs are not decided on the whole complex."""
    rng = Random(3)
    layers = [
        ([[rng.randint(-9, 9) for _ in range(n)] for _ in range(m)], [rng.randint(-9, 9)] * m)
        for n, m in ((4, 5), (5, 4), (4, 2))
    ]
    net = from_arrays(layers)
    bounds = [
        size_bound(net, quantity, "box:-4,4", budget=60)
        for quantity in ("hidden-layers", "neurons-of-one-layer", "neurons")
    ]
    for bound in bounds:
        assert isinstance(bound, SizeBound)
        assert is_accepted(bound.certificate)
    assert bounds[0].at_least == 2  # type: ignore[union-attr]
    shallow = from_arrays([layers[0], ([[1, 1, 1, 1, 1]], [0])])
    one = size_bound(shallow, budget=60)
    assert isinstance(one, SizeBound)
    assert (one.at_least, one.is_reached) == (1, True)


def test_arguments_and_domains() -> None:
    inside = size_bound(BEND, domain="box:2,3")
    assert isinstance(inside, Undecided)  # affine there
    assert "affine" in inside.reason
    with pytest.raises(ArgumentError, match="among"):
        size_bound(BEND, "neurons", among="regular")
    with pytest.raises(ArgumentError, match="quantity"):
        size_bound(BEND, "weights")  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="no interior"):
        size_bound(BEND, domain="box:0,0")
    text = str(size_bound(BEND))
    assert "2 hidden layers, so that it is as small as possible" in text.replace("\n", " ")
