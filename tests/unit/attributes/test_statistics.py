"""Clusters, maps between networks, shared patterns: on points where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from polyrelu import from_arrays, load
from polyrelu.attributes import (
    FloatMaps,
    cluster_maps,
    clustering_table,
    dual_map,
    exact_maps,
    float_maps,
    mapping_table,
    shared_patterns,
)
from polyrelu.errors import DomainError

RNG = np.random.default_rng(7)
WIDE = from_arrays(
    [(RNG.integers(-9, 9, (4, 12)), [1, -2, 3, 0]), (RNG.integers(-9, 9, (3, 4)), [0, 1, 2])]
)
OTHER = from_arrays(
    [(RNG.integers(-9, 9, (5, 12)), [1, 1, 3, 0, 2]), (RNG.integers(-9, 9, (3, 5)), [0, 1, 2])]
)
POINTS = RNG.normal(size=(90, 12))
WIDE_MAPS, OTHER_MAPS = float_maps(WIDE, POINTS), float_maps(OTHER, POINTS)
LABELS = WIDE_MAPS.outputs.argmax(axis=1)


def test_the_matrix_of_least_norm() -> None:
    """M is the pseudoinverse times the target; the basis of the first layer changes nothing."""
    found = dual_map(WIDE_MAPS, OTHER_MAPS)
    assert WIDE_MAPS.basis is not None
    assert found.basis is not None
    for j in range(3):
        expected = np.linalg.pinv(WIDE_MAPS.duals[:, j], rcond=1e-10) @ OTHER_MAPS.duals[:, j]
        assert np.allclose(found.matrix(j), expected, atol=1e-9)
        left = WIDE_MAPS.duals[:, j] @ expected - OTHER_MAPS.duals[:, j]
        assert np.isclose(
            found.residuals[j], np.linalg.norm(left) / np.linalg.norm(OTHER_MAPS.duals[:, j])
        )
    assert found.ranks == tuple(exact_maps(WIDE, POINTS).rank(j) for j in range(3))
    assert max(found.ranks) == 5


def test_without_a_basis() -> None:
    """A network that reads the input in later layers, too, has none; results are the same."""
    plain = FloatMaps(WIDE_MAPS.samples, WIDE_MAPS.duals, WIDE_MAPS.certified)
    one, other = dual_map(plain, OTHER_MAPS), dual_map(WIDE_MAPS, OTHER_MAPS)
    assert one.ranks == other.ranks
    assert np.allclose(one.matrix(1), other.matrix(1), atol=1e-9)
    assert np.allclose(one.image(plain).duals, other.image(WIDE_MAPS).duals, atol=1e-9)


def test_the_table_of_maps() -> None:
    table = mapping_table([WIDE_MAPS, OTHER_MAPS], [WIDE_MAPS, OTHER_MAPS], LABELS)
    assert table[0][0] == 90
    assert table[1][1] == OTHER_MAPS.num_right(LABELS)
    assert table[0][1] == dual_map(WIDE_MAPS, OTHER_MAPS).image(WIDE_MAPS).num_right(LABELS)
    # The network itself is the image of its own maps.
    assert dual_map(WIDE_MAPS, WIDE_MAPS).image(WIDE_MAPS).num_right(LABELS) == 90


def test_clusters_of_an_affine_network() -> None:
    """One cluster is enough for an affine function, and for a network with as many as maps."""
    affine = from_arrays([([[1, 2, 3], [0, -1, 1]], [1, 0])])
    maps = float_maps(affine, RNG.normal(size=(10, 3)))
    labels = maps.outputs.argmax(axis=1)
    assert [row.num_right for row in clustering_table(maps, maps, labels, [1])] == [10, 10]
    assert maps.num_bits == 0


def test_enough_clusters_are_the_network() -> None:
    pytest.importorskip("sklearn")
    num_patterns = len(np.unique(WIDE_MAPS.patterns, axis=0))  # type: ignore[arg-type]
    clusters = cluster_maps(WIDE_MAPS, num_patterns)
    # Each output has at most as many different maps as there are patterns.
    assert np.allclose(clusters.outputs(WIDE_MAPS), WIDE_MAPS.outputs, atol=1e-9)
    few = clustering_table(WIDE_MAPS, WIDE_MAPS, LABELS, [1, 4])
    assert few[0].num_right == 90 >= few[2].num_right > few[1].num_right
    assert cluster_maps(WIDE_MAPS, 4, seed=3).nearest(WIDE_MAPS).shape == (90, 3)


def test_nearest_centres_are_the_clusters() -> None:
    pytest.importorskip("sklearn")
    clusters = cluster_maps(WIDE_MAPS, 3)
    for j in range(3):
        distances = np.linalg.norm(WIDE_MAPS.duals[:, j, None] - clusters.centres[j][None], axis=2)
        assert (distances.argmin(axis=1) == clusters.nearest(WIDE_MAPS)[:, j]).all()


def test_shared_patterns_are_those_of_exact_maps() -> None:
    found, exact = shared_patterns(WIDE_MAPS), exact_maps(WIDE, POINTS)
    sizes = np.bincount(exact.pattern_of)
    assert (found.num_points, found.num_uncertified) == (90, 0)
    assert (found.num_patterns, found.largest) == (len(sizes), sizes.max())
    assert found.num_sharing == sizes[sizes > 1].sum()
    unknown = FloatMaps(WIDE_MAPS.samples, WIDE_MAPS.duals, WIDE_MAPS.certified, reason="no reason")
    with pytest.raises(DomainError, match="no reason"):
        shared_patterns(unknown)


def test_a_single_output_has_the_classes_of_its_signs() -> None:
    maps = float_maps(load("example:xor"), [[-1, -1], [1, -1], [-1, 1], [1, 1]])
    assert maps.num_right([0, 1, 1, 0]) == 4
    assert maps.num_right([True, True, True, True]) == 2


def test_wrong_arguments() -> None:
    for labels in ([0], [0.5] * 90, [3] * 90, [-1] * 90, [[0]] * 90):
        with pytest.raises(DomainError, match="labels"):
            WIDE_MAPS.num_right(labels)
    with pytest.raises(DomainError, match=r"got 91 \(number of points: 90"):
        cluster_maps(WIDE_MAPS, 91)
    shorter = float_maps(OTHER, POINTS[1:])
    with pytest.raises(DomainError, match="other points"):
        dual_map(WIDE_MAPS, shorter)
    one = float_maps(from_arrays([([[1] * 12], [0])]), POINTS)
    with pytest.raises(DomainError, match="1 outputs"):
        dual_map(WIDE_MAPS, one)
    with pytest.raises(DomainError, match="dual points of shape"):
        dual_map(WIDE_MAPS, OTHER_MAPS).image(one)
    with pytest.raises(DomainError, match="dual points of shape"):
        cluster_maps(WIDE_MAPS, 1).nearest(one)
    with pytest.raises(DomainError, match="2 tables of maps for 1 networks"):
        mapping_table([WIDE_MAPS], [WIDE_MAPS, OTHER_MAPS], LABELS)
