"""Exact maps and polytopes: the paper's XOR network, a bounded triangle, and whole complexes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from polyrelu import ActivationPattern, canonical_complex, from_arrays, load
from polyrelu.attributes import exact_maps, local_polytope, pattern_polytope
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import RationalMatrix, rank
from tests.generators.random_networks import random_network

XOR = load("example:xor")
#: Of each realised pattern of the XOR network its map [W | b] (equation (3) of the paper), and its
#: polytope.
XOR_PIECES = {
    (True, True): ((-2, -2, 1), {(-1, -1, 0)}),
    (True, False): ((2, 2, 1), {(1, 1, 0), (-1, -1, 1)}),
    (False, False): ((0, 0, -1), {(1, 1, -1)}),
}


def test_the_xor_network_has_three_regions() -> None:
    cells = canonical_complex(XOR)
    assert cells.num_regions == 3
    assert cells.lineality_dim == 1
    for index in range(3):
        region = cells.region(index)
        first, second = region.signs.activation_pattern.layers[0]
        row, polytope = XOR_PIECES[first, second]
        maps = exact_maps(XOR, [region.interior_point])
        assert maps.dual_point(0, 0) == tuple(map(Fraction, row))
        assert not maps.on_boundary.any()
        local = local_polytope(XOR, region.interior_point)
        assert set(local.inequalities) == polytope
        assert len(local.lineality_space()) == 1


def test_patterns_of_the_xor_network() -> None:
    for layer in product((True, False), repeat=2):
        polytope = pattern_polytope(XOR, ActivationPattern((layer,)))
        if layer in XOR_PIECES:
            assert set(polytope.inequalities) == XOR_PIECES[layer][1]
        else:
            assert polytope.is_empty()
            unreal = XOR.affine_map(ActivationPattern((layer,)))
            assert (str(unreal.matrix), str(unreal.offset)) == ("[-4 -4]", "[-1]")


def test_a_network_of_width_two_has_a_bounded_polytope() -> None:
    """Section 3.1 of the paper says that there is none."""
    identity = ([[1, 0], [0, 1]], [0, 0])
    triangle = from_arrays([identity, ([[-1, -1]], [1]), ([[1]], [0])])
    polytope = local_polytope(triangle, ["1/4", "1/4"])
    assert polytope.inequalities == ((-1, 0, 0), (0, -1, 0), (1, 1, 1))
    assert polytope.is_bounded()


@pytest.mark.parametrize("kind", ["gaussian", "small integers", "degenerate"])
def test_regions_of_complexes(kind: str) -> None:
    """At points inside regions, polytopes and maps are those of the regions."""
    rng = Random(kind)
    for _ in range(4):
        network = from_arrays(random_network(kind, rng))
        cells = canonical_complex(network)
        regions = [cells.region(index) for index in range(min(cells.num_regions, 12))]
        maps = exact_maps(network, [region.interior_point for region in regions])
        assert maps.to_floats().duals.shape[0] == len(regions)
        for number, region in enumerate(regions):
            assert maps.affine_map(number) == region.affine_map
            local = local_polytope(network, region.interior_point)
            assert local.includes(region.polyhedron)
            if not any(0 in layer for layer in region.signs.layers):
                assert local.equals(region.polyhedron)
                assert len(local.inequalities) == len(region.polyhedron.inequalities)


def test_more_inputs_than_neurons() -> None:
    """Redundancy is decided in coordinates of the first layer, whose rows may be dependent."""
    first = ([[1, 0, 2, 0, 1], [0, 1, 1, 1, 0], [1, 1, 3, 1, 1]], [0, 0, 9])
    network = from_arrays([first, ([[1, 1, 1], [1, -2, 0]], [-1, 3]), ([[1, 1]], [0])])
    x = [Fraction(entry, 2) for entry in (2, 2, 1, 0, 2)]
    local = local_polytope(network, x)
    rows = pattern_polytope(network, network.sign_vector(x)).inequalities
    assert set(local.inequalities) == set(rows)
    assert len(rows) < 5  # the third neuron is active where the others of layer 1 are
    assert local.contains(x)


def test_points_on_a_boundary() -> None:
    maps = exact_maps(XOR, [[0, 0], ["1/2", "-1/2"], [1, 1], [0, -1]])
    assert maps.on_boundary.tolist() == [True, True, False, True]
    assert maps.pattern_of.tolist() == [0, 0, 1, 2]
    assert maps.to_floats().certified.tolist() == [False, False, True, False]
    line = local_polytope(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]), [0])
    assert line.dimension == 0


def test_ranks_are_exact() -> None:
    """Rows are combinations of those of the first layer and the bias of the output, 0 or 5."""
    rng = np.random.default_rng(0)
    layers = [(rng.integers(-9, 9, (3, 8)), [1, 2, 3]), ([[1, -1, 2], [3, 1, 1]], [0, 5])]
    network = from_arrays(layers)
    maps = exact_maps(network, rng.integers(-9, 9, (40, 8)))
    assert (maps.rank(0), maps.rank(1)) == (3, 4)
    assert exact_maps(network, [[0] * 8]).rank(0) == 1
    maps = exact_maps(network, rng.integers(-9, 9, (40, 8)))
    assert len(maps.coordinates) == 4
    whole = RationalMatrix.from_integers(maps.numerators[:, 1].tolist())
    assert rank(whole) == maps.rank(1)


def test_wrong_points() -> None:
    with pytest.raises(DomainError, match=r"\[point\] makes one row"):
        exact_maps(XOR, [0, 0])
    with pytest.raises(DomainError, match="2"):
        local_polytope(XOR, [0, 0, 0])
    with pytest.raises(ArgumentError, match="output"):
        exact_maps(XOR, [[0, 0]]).dual_point(0, 1)
    wide = from_arrays([(np.eye(600), [0] * 600), (np.ones((600, 600)), [0] * 600)])
    with pytest.raises(DomainError, match="float_maps"):
        exact_maps(wide, np.eye(600)[:50] * 2 - 1)
