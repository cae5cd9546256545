"""Pictures of dual points, gradients and clusters: what is drawn, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyrelu import canonical_complex, from_arrays, load
from polyrelu.attributes import cluster_maps, exact_maps, float_maps
from polyrelu.errors import ArgumentError, DomainError

pytest.importorskip("matplotlib")

from polyrelu.plot import draw_dual_clusters, draw_duals, draw_gradients

XOR = load("example:xor")
POINTS = [[1, 1], [-1, -1], ["-1/4", "-1/4"], [2, 2]]


def _dots(axes: Any) -> Any:
    return axes.collections[0].get_offsets().tolist()


def test_dual_points_stand_at_their_gradients() -> None:
    maps = exact_maps(XOR, POINTS)
    assert _dots(draw_duals(maps)) == [[-2, -2], [0, 0], [2, 2], [-2, -2]]
    line = from_arrays([([[1], [-1]], [0, 0]), ([[1, 2]], [5])])
    assert _dots(draw_duals(exact_maps(line, [[1], [-1]]))) == [[1, 5], [-2, 5]]


def test_principal_axes_keep_distances() -> None:
    """Gradients that lie in a plane have the same distances in the picture."""
    network = from_arrays([([[1, 2, 0, 1], [0, 1, -3, 1]], [0, 0]), ([[1, 1]], [1])])
    maps = float_maps(network, np.random.default_rng(0).normal(size=(9, 4)))
    found = np.array(_dots(draw_duals(maps)))
    gradients = maps.duals[:, 0, :-1]
    for one, other in ((0, 1), (2, 7), (3, 8)):
        distance = np.linalg.norm(gradients[one] - gradients[other])
        assert np.isclose(np.linalg.norm(found[one] - found[other]), distance)


def test_centres_are_marked() -> None:
    maps = exact_maps(XOR, POINTS).to_floats()
    axes: Any = draw_duals(maps, clusters=cluster_maps(maps, 1))
    cross = axes.lines[0].get_xydata()
    assert np.allclose(cross, [[-0.5, -0.5]])


def test_gradients_are_images() -> None:
    maps = exact_maps(XOR, POINTS)
    figure = draw_gradients({"one": maps, "other": maps}, (1, 2), point=2)
    images = [np.asarray(ax.images[0].get_array()).tolist() for ax in figure.axes]
    assert images == [[[-0.25, -0.25]], [[2, 2]]] * 2
    assert [ax.get_ylabel() for ax in figure.axes] == ["one", "", "other", ""]


def test_regions_have_the_colours_of_their_clusters() -> None:
    pytest.importorskip("sklearn")
    cells = canonical_complex(XOR, "box:-2,2")
    axes: Any = draw_dual_clusters(cells, 3)
    colours = {tuple(part.get_facecolors()[0]) for part in axes.collections}
    assert len(axes.collections) == len(colours) == 3
    one: Any = draw_dual_clusters(cells, cluster_maps(exact_maps(XOR, POINTS).to_floats(), 1))
    assert len(one.collections) == 1


def test_wrong_arguments() -> None:
    maps = exact_maps(XOR, POINTS)
    with pytest.raises(DomainError, match="2 × 2 pixels for 2 inputs"):
        draw_gradients(maps, (2, 2))
    with pytest.raises(ArgumentError, match="rows and columns"):
        draw_gradients(maps, (2,))
    with pytest.raises(DomainError, match="no maps"):
        draw_gradients({}, (1, 2))
    with pytest.raises(ArgumentError, match="point"):
        draw_gradients(maps, (1, 2), point=4)
    with pytest.raises(DomainError, match="no points"):
        draw_duals(float_maps(XOR, np.zeros((0, 2))))
    with pytest.raises(DomainError, match="dimension 2"):
        draw_dual_clusters(canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])])), 1)
