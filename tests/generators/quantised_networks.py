"""Random small networks with few-bit weights, most of them degenerate, and random domains for them.

All are reproducible from a `random.Random`. In quantised networks degeneracies come up without
being forced: parallel, concurrent, opposite and repeated hyperplanes, dead neurons, and neurons
that are 0 on an open region. Some kinds force one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np

from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays
from tests.oracles import cells_on_domain as brute
from tests.oracles.plain import Network as Stack

__all__ = [
    "DOMAINS",
    "KINDS",
    "brute_domain",
    "brute_layers",
    "dimensions_by_signs",
    "quantised_network",
    "random_domain",
]

Number = Callable[[Random], Fraction]

#: Architectures whose complexes have some dozens of cells, few enough for brute force.
WIDTHS = (
    (2, 4, 3, 1),
    (2, 3, 2, 2, 1),
    (3, 3, 2, 1),
    (1, 4, 3, 1),
    (2, 5, 1),
    (3, 2, 3, 1),
    (2, 1, 3, 1),
    (1, 2, 2, 2, 1),
)
BOTTLENECKS = ((3, 2, 3, 1), (3, 1, 3, 1), (2, 1, 2, 2, 1), (4, 2, 2, 1), (3, 2, 2, 2, 1))


def brute_layers(network: Network) -> list[brute.Layer]:
    """Return the hidden layers in the form that the brute-force enumeration takes."""
    return [
        (
            [(block.source, [list(row) for row in block.weight.rows()]) for block in layer.blocks],
            list(layer.bias.entries()),
        )
        for layer in network.layers[: network.num_hidden_layers]
    ]


def brute_domain(domain: Polyhedron) -> brute.Domain:
    """Return the domain in the form that the brute-force enumeration takes."""
    return brute.Domain(domain.ambient_dimension, domain.inequalities, domain.equations)


# -- networks --------------------------------------------------------------------------------------


def quantised_network(kind: str, rng: Random) -> Network:
    """Return a random network of one of the `KINDS`."""
    return _MAKERS[kind](rng)


def _integer(rng: Random) -> Fraction:
    return Fraction(rng.randint(-3, 3))


def _ternary(rng: Random) -> Fraction:
    return Fraction(rng.randint(-1, 1))


def _quarter(rng: Random) -> Fraction:
    return Fraction(rng.randint(-8, 8), 4)


def _odd_denominator(rng: Random) -> Fraction:
    return Fraction(rng.randint(-6, 6), rng.choice([1, 3, 3, 7, 10]))


def _stack(rng: Random, number: Number, widths: Sequence[int] | None = None) -> Stack:
    chosen = widths or rng.choice(WIDTHS)
    return [
        (
            [[number(rng) for _ in range(columns)] for _ in range(rows)],
            [number(rng) for _ in range(rows)],
        )
        for columns, rows in pairwise(chosen)
    ]


def _plain(number: Number) -> Callable[[Random], Network]:
    return lambda rng: from_arrays(_stack(rng, number))


def _homogeneous(rng: Random) -> Network:
    """Return a network without biases."""
    stack = _stack(rng, rng.choice([_integer, _ternary, _odd_denominator]))
    return from_arrays([(weights, [Fraction(0)] * len(bias)) for weights, bias in stack])


def _related_rows(rng: Random) -> Network:
    """Return a network with a row in every hidden layer that is a multiple of another row.

    The rows are equal, opposite, proportional, or only their weights are parallel.
    """
    stack = _stack(rng, rng.choice([_integer, _quarter]))
    for weights, bias in stack[:-1]:
        i, k = rng.randrange(len(bias)), rng.randrange(len(bias))
        factor = rng.choice(
            [Fraction(1), Fraction(-1), Fraction(2), Fraction(-1, 3), Fraction(5, 7)]
        )
        shift = rng.choice([0, 0, 0, 1])
        weights[i], bias[i] = [factor * entry for entry in weights[k]], factor * bias[k] + shift
    return from_arrays(stack)


def _zero_rows(rng: Random) -> Network:
    """Return a network with a constant neuron in every hidden layer: positive, negative or 0."""
    stack = _stack(rng, _integer)
    for weights, bias in stack[:-1]:
        i = rng.randrange(len(bias))
        weights[i], bias[i] = [Fraction(0)] * len(weights[i]), _ternary(rng)
    return from_arrays(stack)


def _dead(rng: Random) -> Network:
    """Return a network with neurons after the first layer that are never positive.

    With bias 0 they are 0 in places.
    """
    stack = _stack(rng, _integer)
    for weights, bias in stack[1:-1]:
        i = rng.randrange(len(bias))
        weights[i], bias[i] = (
            [-abs(entry) for entry in weights[i]],
            -abs(bias[i]) * rng.randint(0, 1),
        )
    return from_arrays(stack)


def _open_zero(rng: Random) -> Network:
    """Return a network without biases after the first layer.

    Neurons of later layers are 0 on the open region where all neurons that they read are off.
    """
    stack = _stack(rng, _integer)
    return from_arrays(
        [
            stack[0],
            *(
                (weights, [b * rng.randint(0, 1) * (i > 0) for i, b in enumerate(bias)])
                for weights, bias in stack[1:]
            ),
        ]
    )


def _concurrent(rng: Random) -> Network:
    """Return a network with first-layer, and many later, hyperplanes through one point."""
    stack = _stack(rng, _integer)
    point = [Fraction(rng.randint(-2, 2), rng.choice([1, 2, 3])) for _ in stack[0][0][0]]
    for weights, bias in stack[:-1]:
        bias[:] = [
            -sum((w * x for w, x in zip(row, point, strict=True)), Fraction(0)) for row in weights
        ]
        point = [Fraction(0)] * len(bias)
    return from_arrays(stack)


def _zero_first_layer(rng: Random) -> Network:
    stack = _stack(rng, _integer)
    weights, bias = stack[0]
    return from_arrays([([[Fraction(0)] * len(row) for row in weights], bias), *stack[1:]])


def _trailing(rng: Random) -> Network:
    return from_arrays(_stack(rng, rng.choice([_integer, _odd_denominator])), "relu")


def _skipping(rng: Random) -> Network:
    """Return a network whose layers read earlier layers besides the previous one.

    A plain layer follows them.
    """
    number = rng.choice([_integer, _ternary, _odd_denominator])
    widths = rng.choice([(2, 3, 2, 2, 1), (1, 3, 3, 2, 1), (2, 2, 3, 1), (3, 3, 2, 1)])
    layers = []
    for target, rows in enumerate(widths[1:], 1):
        sources = [source for source in range(target - 1) if rng.random() < 0.7] + [target - 1]
        blocks = []
        for source in sources:
            weight = RationalMatrix.from_rows(
                [[number(rng) for _ in range(widths[source])] for _ in range(rows)]
            )
            if source == target - 1 or not weight.is_zero():
                blocks.append(Block(source, weight))
        layers.append(
            Layer(tuple(blocks), RationalMatrix.column([number(rng) for _ in range(rows)]))
        )
    return Network(widths[0], tuple(layers))


_MAKERS: dict[str, Callable[[Random], Network]] = {
    "integers": _plain(_integer),
    "ternary": _plain(_ternary),
    "quarters": _plain(_quarter),
    "odd denominators": _plain(_odd_denominator),
    "bottleneck": lambda rng: from_arrays(_stack(rng, _integer, rng.choice(BOTTLENECKS))),
    "homogeneous": _homogeneous,
    "related rows": _related_rows,
    "zero rows": _zero_rows,
    "dead": _dead,
    "open zero": _open_zero,
    "concurrent": _concurrent,
    "zero first layer": _zero_first_layer,
    "trailing ReLU": _trailing,
    "skip connections": _skipping,
}

#: All kinds, in a fixed order.
KINDS = tuple(_MAKERS)


# -- domains ---------------------------------------------------------------------------------------


def random_domain(kind: str, inputs: int, rng: Random) -> Polyhedron:
    """Return a nonempty domain of one of the `DOMAINS` in R^inputs."""
    return _DOMAIN_MAKERS[kind](inputs, rng)


def _box(inputs: int, rng: Random) -> Polyhedron:
    low = [_quarter(rng) for _ in range(inputs)]
    return Polyhedron.box(
        low, [entry + Fraction(rng.randint(1, 9), rng.choice([1, 2, 3])) for entry in low]
    )


def _rows_around(
    inputs: int, rng: Random, count: int, rooms: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """Return random inequalities that hold at a random point with some slack."""
    centre = [rng.randint(-2, 2) for _ in range(inputs)]
    normals = [[rng.randint(-3, 3) for _ in range(inputs)] for _ in range(count)]
    sides = [
        sum(a * x for a, x in zip(row, centre, strict=True)) + rng.choice(rooms) for row in normals
    ]
    return normals, sides


def _bounded(inputs: int, rng: Random) -> Polyhedron:
    """Return a part of a simplex: random normals, the negative of their sum, and other rows."""
    normals, sides = _rows_around(inputs, rng, inputs, [0, 1, 2, 5])
    for j in range(inputs):
        normals[j][j] += 7  # makes the normals independent
        sides[j] += 7 * rng.randint(0, 2)
    closing = [-sum(column) for column in zip(*normals, strict=True)]
    wide = Polyhedron.from_constraints([*normals, closing], [*sides, 30 - sum(sides)])
    cut = Polyhedron.from_constraints(*_rows_around(inputs, rng, 1, [0, 2]))
    both = wide.intersect(cut)
    return wide if both.is_empty() else both


def _unbounded(inputs: int, rng: Random) -> Polyhedron:
    return Polyhedron.from_constraints(
        *_rows_around(inputs, rng, rng.randint(1, 4), [0, 1, 3]), (), (), inputs
    )


def _redundant(inputs: int, rng: Random) -> Polyhedron:
    """Return a domain with repeated and redundant rows, and rows 0 ≤ 0 and 0 ≤ 1."""
    box = _box(inputs, rng)
    loose = [(*row[:-1], row[-1] + rng.choice([0, 1])) for row in box.inequalities]
    zeros = [(*[0] * inputs, side) for side in (0, 1)]
    rows = [*box.inequalities, *loose, *zeros]
    rng.shuffle(rows)
    return Polyhedron(inputs, tuple(rows))


def _with_equations(inputs: int, rng: Random) -> Polyhedron:
    """Return a domain with an equation through a random point, and inequalities that hold there."""
    normals, sides = _rows_around(inputs, rng, 4, [0])
    rooms = [rng.randint(0, 3) for _ in normals[1:]]
    inequalities = [side + room for side, room in zip(sides[1:], rooms, strict=True)]
    return Polyhedron.from_constraints(normals[1:], inequalities, normals[:1], sides[:1])


def _implicit(inputs: int, rng: Random) -> Polyhedron:
    """Return a domain with opposite inequalities instead of an equation.

    Sometimes these two leave no room only together with others.
    """
    normals, sides = _rows_around(inputs, rng, 3, [0])
    closing = (
        [-a for a in normals[0]]
        if rng.random() < 0.6
        else [-a - b for a, b in zip(*normals[:2], strict=True)]
    )
    closing_side = -sides[0] if closing == [-a for a in normals[0]] else -sides[0] - sides[1]
    return Polyhedron.from_constraints(
        [*normals, closing], [*sides[:2], sides[2] + 2, closing_side]
    )


def _point(inputs: int, rng: Random) -> Polyhedron:
    return Polyhedron.box(
        *[[Fraction(rng.randint(-2, 2), rng.choice([1, 3])) for _ in range(inputs)]] * 2
    )


def _generated(inputs: int, rng: Random, rays: int, lines: int) -> Polyhedron:
    def vectors(count: int) -> list[list[int]]:
        return [[rng.randint(-3, 3) for _ in range(inputs)] for _ in range(count)]

    return Polyhedron.from_generators(
        vectors(rng.randint(1, inputs + 2)), vectors(rays), vectors(lines), inputs
    )


def _slice(inputs: int, rng: Random) -> Polyhedron:
    """Return an affine line or plane with rational equations, sometimes cut."""
    base = [Fraction(rng.randint(-3, 3), rng.choice([1, 7])) for _ in range(inputs)]
    lines = [[rng.randint(-3, 3) for _ in range(inputs)] for _ in range(rng.randint(1, 2))]
    plane = Polyhedron.from_generators([base], (), lines, inputs)
    cut = Polyhedron.from_constraints([[1] * inputs], [sum(base) + 1])
    return plane.intersect(cut) if rng.random() < 0.5 else plane


_DOMAIN_MAKERS: dict[str, Callable[[int, Random], Polyhedron]] = {
    "R^n": lambda inputs, rng: Polyhedron.universe(inputs),
    "box": _box,
    "orthant": lambda inputs, rng: Polyhedron.orthant(inputs),
    "bounded": _bounded,
    "unbounded": _unbounded,
    "redundant rows": _redundant,
    "equations": _with_equations,
    "implicit equalities": _implicit,
    "point": _point,
    "polytope": lambda inputs, rng: _generated(inputs, rng, 0, 0),
    "points and rays": lambda inputs, rng: _generated(inputs, rng, rng.randint(1, 2), 0),
    "points and lines": lambda inputs, rng: _generated(inputs, rng, 1, 1),
    "slice": _slice,
}

#: All kinds of domains, in a fixed order.
DOMAINS = tuple(_DOMAIN_MAKERS)


# -- comparison ------------------------------------------------------------------------------------


def dimensions_by_signs(cells: PolyhedralComplex) -> dict[brute.Key, int]:
    """Return the dimension of every cell by the signs of the domain's constraints and the neurons.

    The signs of different cells must differ.
    """
    found: dict[brute.Key, int] = {}
    for k in range(cells.lineality_dim, cells.dimension + 1):
        for row in np.concatenate([cells.constraint_signs(k), cells.signs(k)], axis=1).tolist():
            assert tuple(row) not in found
            found[tuple(row)] = k
    return found
