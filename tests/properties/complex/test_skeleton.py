"""Skeletons against the vertices and edges of the face lattice."""

from __future__ import annotations

import signal
from collections.abc import Callable
from importlib import import_module
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from polyrelu.complex import PolyhedralComplex, Skeleton, canonical_complex, skeleton
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.support.progress import ProgressStep
from tests.generators.campaigns import case, some_and_all
from tests.generators.quantised_networks import DOMAINS, KINDS, quantised_network, random_domain

#: The module; the name `polyrelu.complex.skeleton` is the function.
simple_skeleton: Any = import_module("polyrelu.complex.skeleton")

Key = tuple[int, ...]


def keys(cells: Skeleton | PolyhedralComplex, first: int) -> list[list[Key]]:
    """The signs of vertices and of edges; `first` is the dimension of the vertices."""
    found = []
    for dimension in (first, first + 1):
        rows = np.concatenate([cells.constraint_signs(dimension), cells.signs(dimension)], axis=1)
        found.append([tuple(row) for row in rows.tolist()])
    return found


def check(network: Network, domain: Polyhedron) -> Skeleton:
    """Compare vertices, edges and their ends with the complex; return the skeleton."""
    cells, found = canonical_complex(network, domain), skeleton(network, domain)
    first = cells.lineality_dim
    vertices, edges = keys(found, 0)
    if cells.dimension == first:
        assert found.f_vector == (1, 0)
        return found
    lattice_vertices, lattice_edges = keys(cells, first)
    assert sorted(vertices) == sorted(lattice_vertices)
    number = {signs: index for index, signs in enumerate(lattice_vertices)}
    assert all(found.vertex(i) == cells.vertex(number[signs]) for i, signs in enumerate(vertices))
    offsets, entries = cells.facets(first + 1)
    expected = {
        signs: {lattice_vertices[k] for k in entries[offsets[i] : offsets[i + 1]]}
        for i, signs in enumerate(lattice_edges)
    }
    ends = [{vertices[k] for k in pair if k >= 0} for pair in found.edges.tolist()]
    assert dict(zip(edges, ends, strict=True)) == expected
    assert len(edges) == len(expected)
    return found


def gaussian(rng: Random, *widths: int) -> Network:
    shapes = zip(widths[1:], widths, strict=False)
    return from_arrays(
        [
            (
                [[rng.gauss(0, 1) for _ in range(n)] for _ in range(m)],
                [rng.gauss(0, 1) for _ in range(m)],
            )
            for m, n in shapes
        ]
    )


WIDTHS = [(3, 5, 4, 1), (3, 4, 3, 3, 1), (4, 4, 4, 1), (5, 4, 3, 1), (3, 40, 1), (4, 3, 2, 3, 2, 1)]


def generic_networks_are_simple(step: int) -> None:
    for widths, seed in product(WIDTHS, range(0, 4, step)):
        with case(widths, seed):
            rng = Random(f"{widths} {seed}")
            box = random_domain("box", widths[0], rng)
            assert check(gaussian(rng, *widths), box).without_lattice
            simplex = random_domain("bounded", widths[0], rng)
            assert check(gaussian(rng, *widths), simplex).without_lattice


def test_more_than_32_neurons_in_a_layer() -> None:
    """The signs of a layer take two words, and more layers follow."""
    rng = Random("wide")
    found = check(
        gaussian(rng, 3, 34, 3, 1), Polyhedron.box([-1, -1, -1], ["-1/2", "-1/2", "-1/2"])
    )
    assert found.without_lattice
    assert check(
        gaussian(rng, 3, 3, 35, 1), Polyhedron.box([0, 0, 0], ["1/4", "1/4", "1/4"])
    ).without_lattice


def all_kinds_of_networks_and_domains(step: int) -> None:
    """Most of these complexes are not simple, or their domains are not bounded."""
    for index, kind in enumerate(KINDS):
        for domain_kind in DOMAINS[index % step :: step]:
            rng = Random(f"skeleton {kind} {domain_kind}")
            network = quantised_network(kind, rng)
            with case(kind, domain_kind):
                try:
                    check(network, random_domain(domain_kind, network.num_inputs, rng))
                except DomainError as error:
                    assert "skip connection" in str(error)  # noqa: PT017


def nearly_simple_networks(step: int) -> None:
    """Small integers in R^3 and R^4: many complexes are simple except at a few vertices."""
    simple, seeds = 0, range(60 // step)
    for seed in seeds:
        rng = Random(f"nearly {seed}")
        n = rng.choice([3, 4])
        layers = [
            (
                [[rng.randint(-5, 5) for _ in range(a)] for _ in range(b)],
                [rng.randint(-9, 9) for _ in range(b)],
            )
            for a, b in ((n, 4), (4, 3), (3, 1))
        ]
        with case(seed):
            found = check(from_arrays(layers), Polyhedron.box([-3] * n, [3] * n))
        simple += found.without_lattice
    assert len(seeds) // 12 < simple < len(seeds) - len(seeds) // 12


#: Each takes one case of k, or more.
CAMPAIGNS: list[Callable[[int], None]] = [
    generic_networks_are_simple,
    all_kinds_of_networks_and_domains,
    nearly_simple_networks,
]


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_few_networks(campaign: Callable[[int], None]) -> None:
    campaign(15)


@pytest.mark.parametrize("step", some_and_all(3, 1))
def test_many_networks(step: int) -> None:
    for campaign in CAMPAIGNS:
        campaign(step)


@pytest.mark.parametrize(
    ("rows", "bias", "box", "f_vector"),
    [
        ([[1, -1, 0]], [0], ([0] * 3, [1] * 3), (8, 14)),
        ([[1, 1, 0, 0], [1, -1, 0, 0]], [-1, 0], ([0] * 4, [1] * 4), (20, 52)),
        ([[1, 1, 1]], [0], ([0] * 3, [1] * 3), (8, 12)),
    ],
    ids=["through edges", "twice through edges", "touches a corner"],
)
def test_forms_that_vanish_at_old_vertices(
    rows: list[list[int]],
    bias: list[int],
    box: tuple[list[int], list[int]],
    f_vector: tuple[int, int],
) -> None:
    """A plane through edges of a cube cuts faces of the cube without cutting an edge."""
    found = check(from_arrays([(rows, bias), ([[1] * len(rows)], [0])]), Polyhedron.box(*box))
    assert (found.f_vector, found.without_lattice) == (f_vector, False)


@pytest.mark.parametrize("function", ["_pairs", "_distinct"])
def test_equal_keys_do_no_harm(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With keys of two bits, in pairs of edges or in lists of regions, the lattice takes over."""
    rng = Random("keys")
    network, box = gaussian(rng, 3, 5, 4, 1), Polyhedron.box([-1, -1, -1], [1, 1, 1])
    assert check(network, box).without_lattice
    original = getattr(simple_skeleton, function)
    keys = simple_skeleton._keys

    def with_bad_keys(argument: Any) -> Any:
        simple_skeleton._keys = lambda words: words.sum(axis=1) % np.uint64(4)
        try:
            return original(argument)
        finally:
            simple_skeleton._keys = keys

    monkeypatch.setattr(simple_skeleton, function, with_bad_keys)
    assert not check(network, box).without_lattice


def test_ctrl_c_keeps_the_neurons_so_far() -> None:
    rng = Random("interrupted")
    network, box = gaussian(rng, 3, 5, 4, 1), Polyhedron.box([-1, -1, -1], [1, 1, 1])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press(step: ProgressStep) -> None:
        if step.num_done == 7:
            signal.raise_signal(signal.SIGINT)

    try:
        found = skeleton(network, box, progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (found.complete, len(found.neurons), found.without_lattice) == (False, 7, True)
    first, second = network.layers[0], network.layers[1]
    rows = range(2)
    block = Block(1, second.weight.take(rows=rows))
    truncated = Network(3, (first, Layer((block,), second.bias.take(rows=rows))), "relu")
    whole = skeleton(truncated, box)
    assert [sorted(part) for part in keys(found, 0)] == [sorted(part) for part in keys(whole, 0)]


def test_rays_and_errors() -> None:
    corner = skeleton(from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])]))
    assert corner.f_vector == (1, 4)
    assert {corner.ray(edge) for edge in range(4)} == {(1, 0), (-1, 0), (0, 1), (0, -1)}
    assert corner.edges.min() == -1
    square = skeleton(corner.network, Polyhedron.box([1, 1], [2, 2]))
    for act in (
        lambda: corner.vertex(1),
        lambda: corner.vertex(-1),
        lambda: corner.signs(2),
        lambda: corner.ray(4),
        lambda: corner.ray(-1),
        lambda: square.ray(0),
    ):
        with pytest.raises(DomainError):
            act()
