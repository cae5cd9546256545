"""Pairs of networks that are close to each other."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from polyrelu.network import Network, from_arrays

__all__ = ["close_pair"]


def close_pair(widths: tuple[int, ...], seed: int = 0) -> tuple[Network, Network]:
    """Return a network and a copy with other weights nearby."""
    rng, networks = Random(seed), []
    layers = [
        (
            [[rng.randint(-64, 64) / 64 for _ in range(n)] for _ in range(m)],
            [rng.randint(-64, 64) / 64 for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    for change in (0, 1):
        networks.append(
            from_arrays(
                [
                    ([[x + change * rng.randint(-2, 2) / 512 for x in row] for row in weight], bias)
                    for weight, bias in layers
                ]
            )
        )
    return networks[0], networks[1]
