"""Exact sizes: the inradius of a polyhedron, distances of points, the cell of a sign vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from polyrelu.exact import FLOAT32, LinearProgram, Optimal, Polyhedron, RationalMatrix
from polyrelu.network import Network, from_arrays
from polyrelu.support.typing import Point

__all__ = ["distance", "inradius", "sign_polyhedron", "with_float32_weights"]

#: Maximum number of parameters of a network whose rounded copy is made to check a cause.
_MAX_PARAMETERS = 10**6


def inradius(polyhedron: Polyhedron) -> tuple[Fraction, Point] | None:
    """Return half the side of the largest cube in a polyhedron, and the centre of such a cube.

    It is the inradius in the maximum norm, which is rational. None if there are arbitrarily large
    cubes or no point.

    >>> inradius(Polyhedron.box([0, 0], [1, 4]))[0]
    Fraction(1, 2)
    """
    if polyhedron.equations:
        return None
    size = polyhedron.ambient_dimension
    program = LinearProgram(size + 1)
    rows = [[*row[:-1], sum(map(abs, row[:-1]))] for row in polyhedron.inequalities]
    program.add_inequalities(rows, [row[-1] for row in polyhedron.inequalities])
    program.add_inequalities([[0] * size + [-1]], [0])
    result = program.maximize([0] * size + [1])
    return (result.value, tuple(result.point[:size])) if isinstance(result, Optimal) else None


def distance(one: Iterable[Fraction], other: Iterable[Fraction]) -> Fraction:
    """Return the distance of two points in the maximum norm.

    >>> distance([Fraction(1), Fraction(2)], [Fraction(0), Fraction(5)])
    Fraction(3, 1)
    """
    return max((abs(a - b) for a, b in zip(one, other, strict=True)), default=Fraction(0))


def sign_polyhedron(network: Network, domain: Polyhedron, signs: Sequence[int]) -> Polyhedron:
    """Return the points of a domain where no neuron has the sign opposite to a given one.

    Neurons with sign 0 vanish there. The network on these points is the one of the pattern.

    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> sign_polyhedron(net, Polyhedron.universe(1), [1, -1]).generators().points
    ((Fraction(0, 1),), (Fraction(1, 1),))
    """
    size = network.num_inputs
    activations = [RationalMatrix.identity(size).beside(RationalMatrix.zeros(size, 1))]
    inequalities, equations = list(domain.inequalities), list(domain.equations)
    start = 0
    for number in range(1, network.num_hidden_layers + 1):
        z = network.layer_forms(number, activations)
        own = [int(sign) for sign in signs[start : start + z.nrows]]
        start += z.nrows
        for (*row, constant), sign in zip(z.integer_rows(), own, strict=True):
            if sign:
                inequalities.append((*(-sign * a for a in row), sign * constant))
            else:
                equations.append((*row, -constant))
        activations.append(z.scale_rows([int(sign > 0) for sign in own]))
    return Polyhedron(size, tuple(inequalities), tuple(equations))


def with_float32_weights(network: Network) -> Network | None:
    """Return a plain network with its weights rounded to float32; None if nothing changes.

    Large networks and networks with skip connections give None as well.

    >>> with_float32_weights(from_arrays([([["1/2"]], [0])])) is None
    True
    """
    if not network.is_plain or network.num_parameters > _MAX_PARAMETERS:
        return None
    layers = []
    for number in range(1, network.depth + 1):
        weight = [[FLOAT32.nearest(w) for w in row] for row in network.weight(number).rows()]
        layers.append((weight, [FLOAT32.nearest(b) for b in network.bias(number).entries()]))
    rounded = from_arrays(layers, last=network.last)
    return None if rounded == network else rounded
