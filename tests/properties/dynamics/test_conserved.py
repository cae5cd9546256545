"""Linear neurons and conserved quantities of random networks, against values and differences."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest

from benchmarks.conserved_drift import (
    CONSERVED,
    hidden_measured,
    hiding_problem,
    linear_problem,
    measured,
)
from polyrelu import NetworkError, Polyhedron, from_arrays
from polyrelu.complex import canonical_complex
from polyrelu.dynamics.conserved import (
    conserved_matrix,
    derivative_along_flow,
    drift_of_step,
    equal_patterns,
    loss_gradients,
)
from polyrelu.dynamics.linear_neurons import linear_evidence
from polyrelu.network import Network
from tests.generators.campaigns import few_and_all

Points = list[list[Fraction]]


def random_network(chance: Random, inputs: int, depth: int) -> Network:
    """Rational weights, about half of the rows with few negative entries, some of them zero."""
    widths = [inputs, *(chance.randint(1, 4) for _ in range(depth)), chance.randint(1, 2)]
    layers = []
    for before, width in pairwise(widths):
        rows = [
            [Fraction(chance.randint(-6, 6), chance.choice((1, 2, 3))) for _ in range(before)]
            for _ in range(width)
        ]
        bias = [Fraction(chance.randint(-6, 6), 2) for _ in range(width)]
        for i in range(width):
            kind = chance.random()
            if kind < 0.4:
                rows[i] = [abs(entry) for entry in rows[i]]
                bias[i] = abs(bias[i])
            elif kind < 0.5:
                rows[i] = [Fraction(0)] * before
        layers.append((rows, bias))
    return from_arrays(layers)


def random_domain(chance: Random, size: int) -> Polyhedron:
    """The whole space, the orthant, a box, a slanted polyhedron, a flat one."""
    ends = [chance.randint(-2, 1) for _ in range(size)]
    box = Polyhedron.box(ends, [end + chance.randint(0, 3) for end in ends])
    cut = Polyhedron.from_constraints(
        [[chance.randint(-2, 2) for _ in range(size)]], [chance.randint(4, 12)]
    )
    flat = Polyhedron.from_constraints([], [], [[1] * size], [sum(ends)])
    return chance.choice(
        [Polyhedron.universe(size), Polyhedron.orthant(size), box, box.intersect(cut), flat]
    )


def random_points(chance: Random, size: int, count: int) -> Points:
    return [[Fraction(chance.randint(-40, 60), 7) for _ in range(size)] for _ in range(count)]


def gradients_for(chance: Random, network: Network, points: Points) -> Points:
    return [[Fraction(chance.randint(-5, 5)) for _ in range(network.num_outputs)] for _ in points]


@pytest.mark.parametrize("seed", range(60))
def test_linear_neurons_are_linear(seed: int) -> None:
    """At random points of the domain; the evidence is verified without the search."""
    chance = Random(seed)
    size = chance.randint(1, 3)
    network, domain = (
        random_network(chance, size, chance.randint(1, 3)),
        random_domain(chance, size),
    )
    if domain.is_empty():
        return
    inside = domain.relative_interior_point()
    assert inside is not None
    points = [list(inside), *(p for p in random_points(chance, size, 200) if domain.contains(p))]
    if domain.is_bounded():
        points += [list(point) for point in domain.generators().points]
    for layer in range(1, network.num_hidden_layers + 1):
        evidence = linear_evidence(network, layer, domain)
        assert evidence.verify()
        values = network.preactivations(points)[layer - 1].rows()
        for index, margin in evidence.margins.items():
            assert min(values[index]) >= margin >= 0


@pytest.mark.parametrize("seed", range(25))
def test_the_list_is_complete_in_the_first_layer_and_sound_above(seed: int) -> None:
    """Against all cells of the complex: a neuron is linear iff no cell has sign -1."""
    chance = Random(500 + seed)
    network = random_network(chance, 2, 2)
    domain = chance.choice([Polyhedron.orthant(2), Polyhedron.box([-1, 0], [1, 2])])
    cells = canonical_complex(network, domain)
    signs = np.concatenate([cells.signs(dimension) for dimension in range(3)])
    start = 0
    for layer in (1, 2):
        width = network.widths[layer]
        never = set(np.flatnonzero((signs[:, start : start + width] >= 0).all(axis=0)).tolist())
        found = set(linear_evidence(network, layer, domain).neurons)
        assert found <= never
        assert layer > 1 or found == never
        start += width


def functional(network: Network, points: Points, gradients: Points) -> Fraction:
    """A loss with these derivatives with respect to the outputs."""
    return sum(
        (
            g * y
            for row, out in zip(gradients, network.evaluate(points), strict=True)
            for g, y in zip(row, out, strict=True)
        ),
        Fraction(),
    )


@pytest.mark.parametrize("seed", range(12))
def test_gradients_are_exact_differences(seed: int) -> None:
    """A network is affine in each single weight as long as no sign changes.

    So a small difference divided by the step is the derivative.
    """
    chance = Random(900 + seed)
    network = random_network(chance, 2, 2)
    points = random_points(chance, 2, 3)
    gradients = gradients_for(chance, network, points)
    try:
        found = loss_gradients(network, points, gradients)
    except NetworkError:
        return  # a preactivation is 0 at a point
    step, value = Fraction(1, 10**12), functional(network, points, gradients)
    for number, gradient in enumerate(found):
        rows = [list(row) for row in network.layers[number].augmented().rows()]
        for i, row in enumerate(rows):
            for j in range(len(row)):
                row[j] += step
                layers = [layer.augmented().rows() for layer in network.layers]
                layers[number] = [tuple(each) for each in rows]
                moved = from_arrays(
                    [([r[:-1] for r in layer], [r[-1] for r in layer]) for layer in layers]
                )
                row[j] -= step
                assert functional(moved, points, gradients) - value == step * gradient[i, j]


@pytest.mark.parametrize("count", few_and_all(50, 150))
def test_conserved_and_not_conserved(count: int) -> None:
    """The derivative of Q vanishes where the theorem says so, and rarely elsewhere.

    It vanishes on the diagonal, for proved linear neurons with points in the domain, and between
    neurons with equal patterns.
    """
    zero = others = moving = 0
    for seed in range(count):
        chance = Random(2000 + seed)
        network = random_network(chance, 2, chance.randint(1, 3))
        points = [[abs(x) for x in point] for point in random_points(chance, 2, 4)]
        gradients = gradients_for(chance, network, points)
        for layer in range(1, network.num_hidden_layers + 1):
            everyone = range(network.widths[layer])
            try:
                change = derivative_along_flow(network, layer, everyone, points, gradients)
            except NetworkError:
                break
            linear = linear_evidence(network, layer, Polyhedron.orthant(2)).margins
            groups = [set(group) for group in equal_patterns(network, layer, points)]
            assert all(change[i, i] == 0 for i in everyone)
            for i, j in combinations(everyone, 2):
                if any({i, j} <= group for group in groups):
                    assert change[i, j] == 0
                    zero += 1
                else:
                    others += 1
                    moving += change[i, j] != 0
                positive = all(
                    network.preactivations(points)[layer - 1][k, p] > 0
                    for k in (i, j)
                    for p in range(4)
                )
                if {i, j} <= set(linear) and positive:
                    assert any({i, j} <= group for group in groups)
    assert zero > 2 * count / 3
    assert moving > others / 2 > count / 8


@pytest.mark.parametrize("seed", range(15))
def test_a_step_is_quadratic(seed: int) -> None:
    """Q(θ - η ∇) = Q(θ) + η dQ/dt + η² drift for three step sizes, computed from moved weights."""
    chance = Random(4000 + seed)
    network = random_network(chance, 2, 2)
    points = random_points(chance, 2, 3)
    gradients = gradients_for(chance, network, points)
    try:
        slopes = loss_gradients(network, points, gradients)
    except NetworkError:
        return
    everyone = range(network.widths[1])
    rate = derivative_along_flow(network, 1, everyone, points, gradients)
    drift = drift_of_step(network, 1, everyone, points, gradients)
    for eta in (Fraction(1), Fraction(-3, 7), Fraction(10**6)):
        layers = [
            layer.augmented() - slope.scale(eta)
            for layer, slope in zip(network.layers, slopes, strict=True)
        ]
        moved = from_arrays(
            [(m.take(columns=range(m.ncols - 1)), m.take(columns=[m.ncols - 1])) for m in layers]
        )
        expected = conserved_matrix(network, 1, everyone) + rate.scale(eta) + drift.scale(eta**2)
        assert conserved_matrix(moved, 1, everyone) == expected


def test_halving_the_step_halves_the_drift_of_what_is_conserved() -> None:
    """The benchmark's problems with two large steps."""
    first, second = linear_problem(), hiding_problem()
    coarse, fine = (
        measured(first, step) | hidden_measured(second, step) for step in (1 / 16, 1 / 32)
    )
    names = [name for name in coarse if not name.startswith("_")]
    for name, conserved in zip(names, CONSERVED, strict=True):
        assert coarse[name] / fine[name] == pytest.approx(2 if conserved else 1, rel=0.05)
    assert max(coarse["_cosine"], fine["_cosine"]) < 1e-14
