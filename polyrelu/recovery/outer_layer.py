"""The last hidden layer: which side of each neuron is on, and the output biases.

If the z_j are known up to sign, f - Σ V_j σ(z_j) is c - Σ r_j V_j z_j, where r_j is 1
if neuron j is on where z_j < 0, because σ(-z) = σ(z) - z. The unknowns are solved for from values
at points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.choices import Choices, choices
from polyrelu.recovery.oracle import Oracle, difference
from polyrelu.support.typing import Point, Vector

__all__ = ["OuterLayer", "outer_layer"]


class OuterLayer(NamedTuple):
    """The orientations of the neurons of the last hidden layer, and the output biases."""

    choices: Choices
    biases: tuple[Vector, ...]


def outer_layer(
    oracle: Oracle,
    preactivations: Callable[[Point], Sequence[Fraction]],
    weights: Sequence[Vector],
    points: Sequence[Point],
    limit: int,
) -> OuterLayer:
    """Solve for the orientations of neurons whose preactivations are known up to sign.

    Parameters
    ----------
    oracle
        The function.
    preactivations
        The preactivations at a point, with any orientation.
    weights
        The output weights of each neuron.
    points
        Where the function is compared.
    limit
        How many solutions are wanted at most.

    Returns
    -------
    OuterLayer
        The orientations, and the output biases of each solution.
    """
    samples = [_sample(oracle, list(preactivations(x)), weights, x) for x in points]
    first, *others = samples
    rows, right = list[Vector](), list[Fraction]()
    for sample in others:
        change = difference(sample.rest, first.rest)
        for o, entry in enumerate(change):
            rows.append(
                tuple(
                    -weight[o] * (z - z0)
                    for weight, z, z0 in zip(weights, sample.values, first.values, strict=True)
                )
            )
            right.append(entry)
    near = Fraction(0) if oracle.is_exact else Fraction(1, 2**16)
    found = choices(rows, tuple(right), len(weights), limit, near)
    biases = []
    for solution in found.solutions:
        bias = first.rest
        for r, weight, z in zip(solution, weights, first.values, strict=True):
            bias = add_multiple(bias, weight, r * z)
        biases.append(bias)
    return OuterLayer(found, tuple(biases))


class _Sample(NamedTuple):
    """Preactivations at a point, and what the neurons do not explain of the value there."""

    values: list[Fraction]
    rest: Vector


def _sample(oracle: Oracle, values: list[Fraction], weights: Sequence[Vector], x: Point) -> _Sample:
    rest = oracle(x)
    for z, weight in zip(values, weights, strict=True):
        if z > 0:
            rest = add_multiple(rest, weight, -z)
    return _Sample(values, rest)
