"""All cells of the canonical polyhedral complex of a plain ReLU stack, by brute force.

R^n0 is cut neuron by neuron, layer by layer, into the parts where the preactivation h is positive,
zero and negative. On every part of the previous layers h is affine, so a part is a relatively open
polyhedron, and its sign vector (over all hidden neurons) names it. Emptiness and dimension are
decided exactly by PPL.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from tests.oracles.parma import Constraint, Linear_Expression, NNC_Polyhedron
from tests.oracles.plain import (
    Matrix,
    Network,
    SignVector,
    compose,
    input_dimension,
    integer_form,
    sign_vector,
    split_by_layer,
)


class Cell(NamedTuple):
    """Dimension of a cell and one exact point of its relative interior."""

    dimension: int
    point: tuple[Fraction, ...]


class _Part(NamedTuple):
    """A nonempty part of R^n0, its signs so far and the activations [A | c] of the last layer."""

    polyhedron: NNC_Polyhedron
    signs: SignVector
    activations: list[list[int]]


def cells(layers: Network, full_dimensional_only: bool = False) -> dict[SignVector, Cell]:
    """All cells, or only the full-dimensional ones, keyed by their sign vectors.

    A neuron that vanishes identically on a full-dimensional cell has sign 0 there, so a sign 0
    alone does not make a cell lower-dimensional.
    """
    n = input_dimension(layers)
    minimal_dimension = n if full_dimensional_only else 0
    identity = [[int(i == j) for j in range(n + 1)] for i in range(n)]
    parts = [_Part(NNC_Polyhedron(n, "universe"), (), identity)]
    for weights, bias in integer_form(layers)[:-1]:
        parts = [
            refined
            for part in parts
            for refined in _cut_by_layer(part, weights, bias, minimal_dimension)
        ]
    return {part.signs: _checked_cell(layers, part) for part in parts}


def _cut_by_layer(
    part: _Part, weights: list[list[int]], bias: list[int], minimal_dimension: int
) -> list[_Part]:
    """Cut one part by all neurons of the next layer."""
    columns = part.polyhedron.space_dimension() + 1
    zero = [0] * columns
    refined = [_Part(part.polyhedron, part.signs, [])]
    for row in compose(weights, bias, part.activations, columns):
        refined = [
            _Part(polyhedron, (*old.signs, sign), [*old.activations, row if sign > 0 else zero])
            for old in refined
            for sign, polyhedron in _cut(old.polyhedron, row, minimal_dimension)
        ]
    return refined


def _cut(
    polyhedron: NNC_Polyhedron, row: list[int], minimal_dimension: int
) -> Iterator[tuple[int, NNC_Polyhedron]]:
    """The nonempty parts with h > 0, h = 0, h < 0 of at least the given dimension, with signs."""
    h = Linear_Expression(row[:-1], row[-1])
    constraints: list[tuple[int, Constraint]] = [(1, h > 0), (0, h == 0), (-1, h < 0)]
    for sign, constraint in constraints:
        side = NNC_Polyhedron(polyhedron)
        side.add_constraint(constraint)
        if not side.is_empty() and side.affine_dimension() >= minimal_dimension:
            yield sign, side


def _checked_cell(layers: Network, part: _Part) -> Cell:
    """The finished cell; its point is verified on the original network, without PPL."""
    point = _relative_interior_point(part.polyhedron)
    if sign_vector(layers, point) != part.signs:
        raise AssertionError(f"point {point} does not lie in the cell {part.signs}")
    return Cell(part.polyhedron.affine_dimension(), point)


def _relative_interior_point(polyhedron: NNC_Polyhedron) -> tuple[Fraction, ...]:
    """Average of all points and closure points plus the sum of all rays.

    Every generator of the closure gets a positive weight (a line's may be zero), so the point lies
    in the relative interior of the closure, which a relatively open polyhedron contains.
    """
    n = polyhedron.space_dimension()
    corners: list[list[Fraction]] = []
    direction = [Fraction(0)] * n
    for generator in polyhedron.minimized_generators():
        coefficients = [int(c) for c in generator.coefficients()]
        if generator.is_ray():
            direction = [d + c for d, c in zip(direction, coefficients, strict=True)]
        elif not generator.is_line():
            corners.append([Fraction(c, int(generator.divisor())) for c in coefficients])
    return tuple(
        sum((corner[k] for corner in corners), start=Fraction(0)) / len(corners) + direction[k]
        for k in range(n)
    )


def affine_map(layers: Network, signs: SignVector) -> Matrix:
    """Matrix [A | c] of the network on the cell with these signs; sign 0 counts as inactive."""
    n = input_dimension(layers)
    zero = [Fraction(0)] * (n + 1)
    activations: Matrix = [[Fraction(int(i == j)) for j in range(n + 1)] for i in range(n)]
    for (weights, bias), layer_signs in zip(
        layers[:-1], split_by_layer(layers, signs), strict=True
    ):
        rows = compose(weights, bias, activations, n + 1)
        activations = [
            row if sign > 0 else zero for row, sign in zip(rows, layer_signs, strict=True)
        ]
    return compose(*layers[-1], activations, n + 1)
