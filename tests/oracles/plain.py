"""Exact evaluation of plain ReLU stacks, written as directly as possible.

A network is a list of layers ``(W, b)`` of Fractions. Every layer but the last is followed by a
ReLU; the last one is affine.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeVar

Vector = list[Fraction]
Matrix = list[list[Fraction]]
Network = list[tuple[Matrix, Vector]]
IntegerNetwork = list[tuple[list[list[int]], list[int]]]
SignVector = tuple[int, ...]

Scalar = TypeVar("Scalar", int, Fraction)


def input_dimension(layers: Network) -> int:
    """n0, the dimension of the space the network is defined on."""
    return len(layers[0][0][0])


def split_by_layer(layers: Network | IntegerNetwork, signs: SignVector) -> list[SignVector]:
    """Cut a tuple with one entry per hidden neuron into one tuple per hidden layer."""
    result = []
    start = 0
    for _, bias in layers[:-1]:
        result.append(signs[start : start + len(bias)])
        start += len(bias)
    return result


def apply_affine(weights: Matrix, bias: Vector, x: Sequence[Fraction]) -> Vector:
    """W x + b."""
    return [
        sum((w * v for w, v in zip(row, x, strict=True)), start=b)
        for row, b in zip(weights, bias, strict=True)
    ]


def preactivations(layers: Network, x: Sequence[Fraction]) -> list[Vector]:
    """The vectors W a + b of all layers at x; the last one is the network's output."""
    result: list[Vector] = []
    activation = list(x)
    for weights, bias in layers:
        z = apply_affine(weights, bias, activation)
        result.append(z)
        activation = [max(v, Fraction(0)) for v in z]
    return result


def evaluate(layers: Network, x: Sequence[Fraction]) -> Vector:
    """The network's output at x."""
    return preactivations(layers, x)[-1]


def sign_vector(layers: Network, x: Sequence[Fraction]) -> SignVector:
    """Signs of the preactivations of all hidden neurons at x, layer by layer."""
    hidden = preactivations(layers, x)[:-1]
    return tuple((v > 0) - (v < 0) for z in hidden for v in z)


def integer_form(layers: Network) -> IntegerNetwork:
    """An integer network whose preactivations are multiples of the given ones, layer by layer.

    If d_l clears the denominators of layer l, then W_l becomes d_l W_l and b_l becomes d_1 ... d_l
    b_l, which multiplies z_l by d_1 ... d_l > 0. Signs, and with them all cells, stay the same.
    """
    result: IntegerNetwork = []
    scale = 1
    for weights, bias in layers:
        factor = lcm(*(v.denominator for row in [*weights, bias] for v in row))
        scale *= factor
        result.append(
            ([[int(v * factor) for v in row] for row in weights], [int(v * scale) for v in bias])
        )
    return result


def compose(
    weights: list[list[Scalar]], bias: list[Scalar], inner: list[list[Scalar]], width: int
) -> list[list[Scalar]]:
    """The matrix [A | c] of x -> W f(x) + b, where `inner` is the matrix of f, of given width."""
    result = []
    for row, b in zip(weights, bias, strict=True):
        coefficients = [b * 0] * (width - 1) + [b]
        for w, inner_row in zip(row, inner, strict=True):
            if w:
                coefficients = [c + w * v for c, v in zip(coefficients, inner_row, strict=True)]
        result.append(coefficients)
    return result
