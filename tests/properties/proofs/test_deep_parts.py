"""Claims of Theorem D, whole and in part, about small random networks.

Many of the networks have a curve of parameters with the same function. The parameters that an
accepted claim determines do not change along any such curve.
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
    size = rng.choice((2, 3, 9))
    return [
        (
            [[rng.choice((-1, 1)) * rng.randint(1, size) for _ in range(n)] for _ in range(m)],
            [rng.randint(-size, size) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]


def with_symmetry(layers: Layers, kind: str, rng: Random) -> Layers:
    """Add a neuron to a layer after the first: a twin, a dead one, or a linear one."""
    k = rng.randrange(1, len(layers) - 1)
    (weight, bias), (out, _) = layers[k], layers[k + 1]
    if kind != "none":
        sign = 1 if kind == "linear" else -1
        weight.append(weight[0] if kind == "twin" else [sign] * len(weight[0]))
        bias.append(bias[0] if kind == "twin" else sign)
        for row in out:
            row.append(rng.choice((-1, 1, 2)))
    return layers


def stays(network: Network, layers: int, neurons: list[int]) -> bool:
    """Return whether a part is fixed along all directions that fix all affine pieces.

    Only scalings may move the rows of the part.
    """
    motions, scalings = motions_and_scalings(plain(network))
    columns, start = list[int](), 0
    for number, layer in enumerate(network.layers):
        for i in range(layer.weight.shape[0]):
            own = range(start, start + layer.weight.shape[1] + 1)
            start = own.stop
            if number < layers or (number == layers and i in neurons):
                columns += own
    kept = [[row[c] for c in columns] for row in scalings]
    return bool(
        fmpz_mat([*kept, *([row[c] for c in columns] for row in motions)]).rank()
        == fmpz_mat(kept).rank()
    )


@pytest.mark.parametrize("kind", ["none", "twin", "dead", "linear"])
def test_what_is_accepted_stays(kind: str) -> None:
    rng, parts = Random(kind), 0
    for _ in range(30):
        widths = rng.choice(((2, 2, 2, 1), (2, 3, 2, 1), (2, 2, 3, 1), (2, 2, 2, 2, 1)))
        network = polyrelu.from_arrays(with_symmetry(random_layers(widths, rng), kind, rng))
        points: Any = ridge_points(network)
        if best_document(network, points) is not None:
            assert is_locally_rigid(plain(network)) is not False
        for layers in range(1, network.depth - 1):
            neurons = list[int]()
            if best_document(network, points, (layers, neurons)) is None:
                continue
            for i in range(network.widths[layers + 1]):
                if best_document(network, points, (layers, [*neurons, i])) is not None:
                    neurons.append(i)
            assert stays(network, layers, neurons)
            parts += 1
    assert parts >= 5
