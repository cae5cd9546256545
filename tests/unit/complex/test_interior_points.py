"""Points inside regions: all regions at once give the same points as one by one."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.complex.interior_points import interior_points
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import from_arrays
from tests.generators.quantised_networks import KINDS, quantised_network


def check(cells: PolyhedralComplex) -> int:
    points = list(interior_points(cells))
    assert len(points) == cells.num_regions
    for index, point in enumerate(points):
        assert point == cells.interior_point(index)
        assert cells.locate(point) == Cell(cells.dimension, index)
    return len(points)


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_are_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyrelu.complex.interior_points._REGIONS_PER_BLOCK", 5)
    count = 0
    for seed in range(4):
        try:
            count += check(
                canonical_complex(quantised_network(kind, Random(f"inside {kind} {seed}")))
            )
        except DomainError:  # a skip connection reads directions that the first layer does not read
            continue
    assert count >= 4


@pytest.mark.parametrize("size", [Fraction(1, 10**30), 10**30, 10**400])
def test_points_that_floats_do_not_decide(size: Fraction) -> None:
    """Regions that are tiny, huge, or beyond the range of floats."""
    rows = [[1, 0], [0, 1], [1, 1], [1, -1]]
    network = from_arrays(
        [
            (rows, [0, 0, size, size / 3 if isinstance(size, Fraction) else size // 3]),
            ([[1] * 4], [0]),
        ]
    )
    check(canonical_complex(network))
    check(canonical_complex(network, Polyhedron.box([1, 1], [1 + size, 2])))


def test_no_neurons_and_no_dimension() -> None:
    check(canonical_complex(from_arrays([([[1, 2]], [3])])))
    check(canonical_complex(from_arrays([([[1, 2]], [3])]), Polyhedron.box([0, 0], [1, 1])))
    check(
        canonical_complex(
            from_arrays([([[1, 2]], [3]), ([[1]], [0])]), Polyhedron.box([1, 1], [1, 1])
        )
    )
