"""Networks trained on a disc in an annulus and on four of them (Sattelberg et al. 2023, Figure 8).

`python -m benchmarks.plane_networks` trained them and rounded their weights to multiples of 1/256.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyrelu import Network, canonical_complex, load
from polyrelu.attributes import exact_maps, float_maps, local_polytope
from polyrelu.exact import Polyhedron

GRID = [[x / 8, y / 8] for x in range(-8, 9) for y in range(-8, 9)]


def network(name: str) -> Network:
    return load(Path(__file__).with_name("networks") / f"{name}.json")


@pytest.mark.parametrize(
    ("name", "regions", "maps"),
    [("annulus-3", 7, 6), ("annulus-8-8-8", 73, 55), ("xor-annulus-12-12-12", 538, 168)],
)
def test_regions_and_maps_on_a_grid(name: str, regions: int, maps: int) -> None:
    net = network(name)
    cells = canonical_complex(net, "box:-1,1")
    assert cells.num_regions == regions
    exact = exact_maps(net, GRID)
    assert len({tuple(row) for row in exact.numerators[:, 0].tolist()}) == maps
    assert len(exact.patterns) == maps
    floats = float_maps(net, GRID)
    assert floats.num_uncertified == exact.on_boundary.sum() == 0
    assert np.allclose(floats.duals, exact.to_floats().duals, atol=1e-12)
    # The values of the maps are those of the network, and each map holds on its polytope.
    for number in range(0, len(GRID), 96):
        value = exact.affine_map(number)(GRID[number])
        assert value == net(GRID[number])
        assert local_polytope(net, GRID[number]).contains(exact.points[number])


def test_three_neurons_enclose_the_disc() -> None:
    """In every region of R^2 the part with a positive output is bounded."""
    cells = canonical_complex(network("annulus-3"))
    assert cells.num_regions == 7
    dimensions = []
    for index in range(7):
        region = cells.region(index)
        negated = [[-entry for entry in region.affine_map.matrix.row(0)]]
        positive = Polyhedron.from_constraints(negated, [region.affine_map.offset[0, 0]])
        part = region.polyhedron.intersect(positive)
        assert part.is_bounded()
        dimensions.append(part.dimension)
    assert sorted(dimensions) == [-1, -1, -1, 2, 2, 2, 2]
