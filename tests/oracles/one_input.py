"""Equality of two networks of one input, decided completely, in plain fractions.

A network of one input is piecewise affine on the line. Between two neighbouring breakpoints of
both networks, and beyond the last ones, each is affine; so they are equal on an interval iff they
agree at all breakpoints in it, at its ends, and at points beyond the last breakpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from polyrelu.network import Network

__all__ = ["differing_point"]


def differing_point(
    first: Network, second: Network, low: Fraction | None, high: Fraction | None
) -> Fraction | None:
    """A point of the interval [low, high] where the networks differ; None if they are equal on it.

    A limit None means that the interval is unbounded.
    """
    inner = sorted({*_breakpoints(first), *_breakpoints(second)})
    inner = [x for x in inner if (low is None or low < x) and (high is None or x < high)]
    start = low if low is not None else (inner[0] if inner else high or Fraction(0)) - 2
    end = high if high is not None else (inner[-1] if inner else start) + 2
    points = {start, end}
    for left, right in pairwise([start, *inner, end]):
        points |= {left, right, (left + right) / 2}
    return next((x for x in sorted(points) if value(first, [x]) != value(second, [x])), None)


def value(network: Network, x: Sequence[Fraction]) -> list[Fraction]:
    """The outputs in plain fractions."""
    return _preactivations(network, list(x))[-1]


def _preactivations(network: Network, x: list[Fraction]) -> list[list[Fraction]]:
    activations, found = [x], []
    for number, layer in enumerate(network.layers, 1):
        z = list(layer.bias.entries())
        for block in layer.blocks:
            for i, row in enumerate(block.weight.rows()):
                z[i] += sum(
                    (w * a for w, a in zip(row, activations[block.source], strict=True)), Fraction()
                )
        found.append(z)
        activations.append(
            [max(v, Fraction(0)) for v in z] if number <= network.num_hidden_layers else z
        )
    if network.last == "relu":
        found.append(activations[-1])
    return found


def _breakpoints(network: Network) -> list[Fraction]:
    """The zeros of all preactivations, layer by layer.

    Where one vanishes on a whole interval, the ends of the interval are zeros of others.
    """
    known: list[Fraction] = []
    for number in range(network.num_hidden_layers):
        points = sorted(set(known))
        stretches = [
            *pairwise(points),
            *([(points[-1], points[-1] + 1), (points[0] - 1, points[0])] if points else []),
        ]
        for left, right in stretches or [(Fraction(0), Fraction(1))]:
            ends = [_preactivations(network, [x])[number] for x in (left, right)]
            for a, b in zip(*ends, strict=True):
                # Affine between the two points, and beyond the last ones: any zero counts.
                if a != b:
                    known.append(left + (right - left) * a / (a - b))
    return sorted(set(known))
