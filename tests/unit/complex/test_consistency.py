"""The checks of a complex against itself pass on right complexes and fail on wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu.complex import PolyhedralComplex, canonical_complex, failed_checks
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import SignVector, from_arrays
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain


@pytest.mark.parametrize("kind", KINDS)
def test_right_complexes_pass(kind: str) -> None:
    for domain in DOMAINS:
        rng = Random(f"checks {kind} {domain}")
        network = quantised_network(kind, rng)
        try:
            cells = canonical_complex(network, random_domain(domain, network.num_inputs, rng))
        except DomainError as error:
            assert "skip connection" in str(error)  # noqa: PT017
        else:
            assert failed_checks(cells) == []


def lose_a_vertex(cells: PolyhedralComplex) -> None:
    cells._arrays.num_finite[0] -= 1


def join_edges_wrongly(cells: PolyhedralComplex) -> None:
    edges = cells._arrays.lattice.edges.rows
    edges[0, 0] = next(v for v in range(cells._arrays.lattice.size(0)) if v not in edges[0])


def give_a_region_a_facet_of_another(cells: PolyhedralComplex) -> None:
    facets, first = cells._arrays.lattice.facets[2], np.zeros(1, dtype=np.int64)
    own = set(facets.gather(first)[0].tolist())
    facets.heap.rows[facets.starts.rows[0]] = next(
        edge for edge in range(cells._arrays.lattice.size(1)) if edge not in own
    )


def swap_two_regions(cells: PolyhedralComplex) -> None:
    signs = cells.signs(cells.dimension)
    signs.flags.writeable = True
    signs[[0, 1]] = signs[[1, 0]]


def forget_the_affine_maps(cells: PolyhedralComplex) -> None:
    cells.network = _Shifted(cells.network)  # type: ignore[assignment]


class _Shifted:
    """A network that returns the affine map of the opposite activation pattern."""

    def __init__(self, network: Any) -> None:
        self._network = network

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def __call__(self, point: Any) -> Any:
        return self._network(point)

    def affine_map(self, signs: SignVector) -> Any:
        return self._network.affine_map(
            SignVector(tuple(tuple(-s for s in layer) for layer in signs.layers))
        )


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lose_a_vertex, "violates Euler's relation"),
        (join_edges_wrongly, "face of codimension 2 that is not in two"),
        (give_a_region_a_facet_of_another, "face of codimension 2 that is not in two"),
        (swap_two_regions, "has other signs than the network"),
        (forget_the_affine_maps, "has another affine map than the network"),
    ],
)
def test_wrong_complexes_do_not_pass(
    break_it: Callable[[PolyhedralComplex], None], message: str
) -> None:
    rng = np.random.default_rng(0)
    layers = [
        (rng.normal(size=(5, 2)), rng.normal(size=5)),
        (rng.normal(size=(1, 5)), rng.normal(size=1)),
    ]
    network = from_arrays(layers)
    for domain in (Polyhedron.universe(2), Polyhedron.box([-1, -1], [1, 1])):
        cells = canonical_complex(network, domain)
        assert failed_checks(cells) == []
        break_it(cells)
        assert any(message in text for text in failed_checks(cells))
