"""Claims of Theorem D, and of Theorem D in part, about small random networks.

Many of the networks have a curve of parameters with the same function. The checker is sound only if
the parameters that an accepted claim determines are constant, up to scalings, along every such
curve. The tests compute the tangents of these curves with an oracle of their own.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from flint import fmpz_mat

import polyrelu
from polyrelu import Network
from tests.generators.deep_documents import best_document
from tests.generators.ridge_points import ridge_points
from tests.oracles.judge import plain
from tests.oracles.local_fiber import is_locally_rigid, motions_and_scalings

Layers = list[tuple[list[list[int]], list[int]]]


def random_layers(widths: tuple[int, ...], rng: Random) -> Layers:
    """Return layers with small integers; no weight is 0."""
    size = rng.choice((2, 3, 9))
    return [
        (
            [[rng.choice((-1, 1)) * rng.randint(1, size) for _ in range(n)] for _ in range(m)],
            [rng.randint(-size, size) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]


def with_symmetry(layers: Layers, kind: str, rng: Random) -> Layers:
    """Add a twin, dead or linear neuron to a random hidden layer after the first one.

    The kind "none" adds no neuron.
    """
    k = rng.randrange(1, len(layers) - 1)
    (weight, bias), (outgoing, _) = layers[k], layers[k + 1]
    if kind != "none":
        sign = 1 if kind == "linear" else -1
        weight.append(weight[0] if kind == "twin" else [sign] * len(weight[0]))
        bias.append(bias[0] if kind == "twin" else sign)
        for row in outgoing:
            row.append(rng.choice((-1, 1, 2)))
    return layers


def only_scalings_move(network: Network, layers: int, neurons: list[int]) -> bool:
    """Return whether the determined rows are fixed, up to scalings, along all curves.

    The determined rows [W|b] are those of the first `layers` layers and of some neurons of the next
    layer. The directions of all curves of parameters that keep the affine map of every region, cut
    to the columns of these rows, must lie in the span of the directions of scalings.
    """
    motions, scalings = motions_and_scalings(plain(network))
    columns, start = list[int](), 0
    for number, layer in enumerate(network.layers):
        for i in range(layer.weight.shape[0]):
            columns_of_row = range(start, start + layer.weight.shape[1] + 1)
            start = columns_of_row.stop
            if number < layers or (number == layers and i in neurons):
                columns += columns_of_row
    scaled = [[direction[c] for c in columns] for direction in scalings]
    moved = [[direction[c] for c in columns] for direction in motions]
    return bool(fmpz_mat([*scaled, *moved]).rank() == fmpz_mat(scaled).rank())


@pytest.mark.parametrize("kind", ["none", "twin", "dead", "linear"])
def test_accepted_claims_hold_along_all_curves(kind: str) -> None:
    """Accepted claims *identifiable* are about rigid networks, *determined* about fixed rows."""
    rng, num_accepted = Random(kind), 0
    for _ in range(30):
        widths = rng.choice(((2, 2, 2, 1), (2, 3, 2, 1), (2, 2, 3, 1), (2, 2, 2, 2, 1)))
        network = polyrelu.from_arrays(with_symmetry(random_layers(widths, rng), kind, rng))
        points: Any = ridge_points(network)
        if best_document(network, points) is not None:
            assert is_locally_rigid(plain(network)) is not False
        for layers in range(1, network.depth - 1):
            if best_document(network, points, (layers, [])) is None:
                continue
            neurons = list[int]()
            for i in range(network.widths[layers + 1]):
                if best_document(network, points, (layers, [*neurons, i])) is not None:
                    neurons.append(i)
            assert only_scalings_move(network, layers, neurons)
            num_accepted += 1
    assert num_accepted >= 5
