"""Where a network with two inputs can fold, and whether it does, from formal pieces and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

from polyrelu.conditions import affine_pieces
from polyrelu.exact import primitive
from polyrelu.network import Network, NeuronId, from_arrays
from tests.oracles.surfaces import Arrangement, Segment

__all__ = ["RADIUS", "arrangement_of", "bends", "folds", "plane_network", "signs_around"]

#: The square is (-RADIUS, RADIUS)².
RADIUS = 2


def plane_network(rng: Random, largest: int = 2) -> Network:
    """A network with two inputs and one to three hidden layers of small integers."""
    depth = rng.choice((1, 2, 2, 3))
    hidden = [rng.randint(1, 3 if depth < 3 else 2) for _ in range(depth)]
    return from_arrays(
        [
            (
                [[rng.randint(-largest, largest) for _ in range(n)] for _ in range(m)],
                [rng.randint(-largest, largest) for _ in range(m)],
            )
            for n, m in pairwise([2, *hidden, 1])
        ]
    )


def arrangement_of(networks: Sequence[Network]) -> Arrangement:
    """All lines on which a neuron can fold, whatever the other neurons do.

    With masks that are empty in some layer a neuron is constant, and has no line.
    """
    lines = set()
    for network in networks:
        for piece in affine_pieces(network):
            if any(piece.vector[:-1]) and piece.unit.layer < network.depth:
                row, _ = primitive(piece.vector)
                sign = 1 if row[:2] > (0, 0) else -1
                lines.add((sign * row[0], sign * row[1], sign * row[2]))
    return Arrangement(sorted(lines), RADIUS)


def bends(network: Network) -> Callable[[Segment], bool]:
    """Whether the function is not differentiable on a segment."""

    def is_fold(segment: Segment) -> bool:
        low, middle, high = network([segment.beside(-1), segment.middle, segment.beside(1)])
        return low[0] + high[0] != 2 * middle[0]

    return is_fold


def folds(network: Network) -> Callable[[Segment], bool]:
    """Whether some neuron is 0 on a segment and positive beside it."""

    def is_fold(segment: Segment) -> bool:
        return any(
            middle == 0 and max(low, high) > 0
            for low, middle, high in signs_around(network, segment).values()
        )

    return is_fold


def signs_around(network: Network, segment: Segment) -> dict[NeuronId, tuple[int, int, int]]:
    """The signs of each hidden neuron on one side of a segment, on it, and on the other side."""
    places = [segment.beside(-1), segment.middle, segment.beside(1)]
    found = {}
    for layer, table in enumerate(network.preactivations(places)[: network.num_hidden_layers], 1):
        for index, (low, middle, high) in enumerate(table.signs().tolist()):
            found[NeuronId(layer, index)] = (low, middle, high)
    return found
