"""Functional dimensions against an independent Jacobian of all regions, and of points."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, float_prime, rank_mod
from polyrelu.foldsets import functional_dimension, points_in_cells
from polyrelu.foldsets.echelons import left_kernel, rank_in_floats
from polyrelu.network import from_arrays
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.random_networks import KINDS, random_network
from tests.oracles.local_fiber import local_fiber_dimension


@pytest.mark.parametrize("seeds", few_some_and_all(range(3), range(40), range(1000)))
def test_against_local_fibers(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            layers = random_network(rng.choice(list(KINDS)), rng)
            net = from_arrays(layers)
            fiber = local_fiber_dimension(layers)
            found = functional_dimension(net)
            assert found.lower <= found.upper <= found.num_parameters - found.num_scalings
            points = points_in_cells(net, 12, seed=seed)
            sample = functional_dimension(net, points=points)
            assert sample.lower <= found.lower
            assert sample.num_places <= len(points) <= 12
            if fiber.regular:
                num_hidden = sum(net.widths[1:-1])
                assert found.is_exact
                assert found.lower == net.num_parameters - num_hidden - fiber.dimension


@pytest.mark.parametrize("seeds", few_some_and_all(range(4), range(50), range(300)))
def test_rank_in_blocks(seeds: range) -> None:
    """Against FLINT, on matrices of low rank and of several blocks."""
    prime = float_prime(500)
    for seed in seeds:
        with case(seed):
            rng = np.random.default_rng(seed)
            rows, inner, columns = (int(n) for n in rng.integers(1, 200, 3))
            rows += 200 * (seed % 2)
            left = rng.integers(0, 3, (rows, inner)) * rng.integers(0, 2, (rows, inner))
            matrix = left @ rng.integers(-3, 3, (inner, columns))
            matrix[:, rng.integers(columns)] = 0
            expected = rank_mod(RationalMatrix.from_integers(matrix.tolist()), prime)
            floats = np.mod(matrix, prime).astype(float)
            assert rank_in_floats([floats[:7], floats[7:]], prime) == expected
            kernel = left_kernel(floats, prime)
            assert kernel.shape == (rows - expected, rows)
            assert not np.mod(kernel @ floats, prime).any()
            assert rank_in_floats([kernel], prime) == rows - expected


def test_domains_and_arguments() -> None:
    # On x > 0 the second neuron is dead; its four parameters move nothing.
    net = from_arrays([([[1, 1], [-1, -1]], [0, 0]), ([[1, 1]], [0])])
    whole, half = functional_dimension(net), functional_dimension(net, "box:0,1")
    assert (whole.lower, half.lower) == (6, 3)
    assert half.upper == 3
    outside = functional_dimension(net, "box:0,1", points=[[-1, -1], [1, "1/2"]])
    assert (outside.lower, outside.num_places) == (1, 1)
    zero = from_arrays([([[0, 0], [1, 2]], [0, 0]), ([[0, 3]], [0])])
    assert functional_dimension(zero).num_scalings == 1
    assert functional_dimension(from_arrays([([[1, 2]], [3])])).lower == 3
    with pytest.raises(NetworkError, match="and this one ends in a ReLU"):
        functional_dimension(from_arrays([([[1]], [0])], last="relu"))
    assert all(isinstance(x, Fraction) for point in points_in_cells(net, 3) for x in point)
