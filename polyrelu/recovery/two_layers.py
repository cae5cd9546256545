"""A network with two hidden layers, solved for from surfaces and from values.

f = Σ_j V_j σ(z_j) + D h + c, where h are the outputs of layer 1 and z_j = a_j h + b_j. The last but
one part, the *direct* part, is 0 if every neuron of layer 2 vanishes somewhere. A neuron of layer 2
that is on at all inputs is not seen as a neuron; it adds to the direct part.

Where the sides of layer 1 are known, and so on which side of each surface a point lies, everything
that was seen is linear in a, b, D and c: the pieces of the surfaces, and the values of f. Turning
neuron j around (σ(-z) = σ(z) - z) adds V_j a_j to D and V_j b_j to c. So the equations are solved
with the orientations that the pieces happen to have, and then orientations are looked for with
which D is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

import numpy as np

from polyrelu.exact import RationalMatrix, dot, kernel, solve, to_fraction
from polyrelu.exact.vectors import add_multiple
from polyrelu.network import Network, from_arrays
from polyrelu.recovery.choices import choices
from polyrelu.recovery.inner_layer import Neuron
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.oracle import Oracle, scaled
from polyrelu.support.typing import Point, Vector

__all__ = ["TwoLayers", "assembled", "assembled_with_linear_part", "with_sides"]

#: The largest number of neurons whose orientations are all tried.
_MAX_TRIED = 10
#: How far weights that no value determines are moved, in units of the others, to keep a neuron off
#: where it was never seen to be on; and for how many such weights that is tried.
_SHIFTS, _MAX_SHIFTED = (1, 2**6, 2**20), 3


@dataclass(frozen=True)
class TwoLayers:
    """A network with two hidden layers.

    Attributes
    ----------
    planes
        The preactivations of layer 1.
    rows, biases
        The weights and biases of layer 2.
    outgoing
        The output weights of each neuron of layer 2.
    direct
        For each output the weights of its direct part, on the neurons of layer 1.
    output_bias
        The biases of the outputs.
    unknown
        The weights that the equations do not determine, as pairs (neuron of layer 2, neuron of
        layer 1); they have any value with which the equations hold.
    linear
        The weights of the inputs, for each neuron of layer 2 and each output; empty for none.
    num_replaced
        How many neurons of layer 1 stand for others whose hyperplanes are not visible.
    """

    planes: tuple[Hyperplane, ...]
    rows: tuple[Vector, ...]
    biases: Vector
    outgoing: tuple[Vector, ...]
    direct: tuple[Vector, ...]
    output_bias: Vector
    unknown: tuple[tuple[int, int], ...]
    linear: tuple[Vector, ...] = ()
    num_replaced: int = 0

    @property
    def has_direct_part(self) -> bool:
        """Whether a part of the network is linear in the outputs of layer 1."""
        return any(map(any, self.direct))

    def network(self) -> Network:
        """Return the network, with neurons that are always on for the direct part."""
        biases = list(self.biases)
        parts = list(_direct_neurons(self.direct))
        used = [
            k
            for k in range(len(self.planes))
            if any(row[k] for row in (*self.rows, *(row for row, _ in parts)))
        ]
        rows = [tuple(row[k] for k in used) for row in self.rows]
        rows += [tuple(row[k] for k in used) for row, _ in parts]
        biases += [Fraction(0)] * len(parts)
        outgoing = [*self.outgoing, *(weight for _, weight in parts)]
        weights = list(zip(*outgoing, strict=True)) or [()] * len(self.output_bias)
        planes = [self.planes[k] for k in used]
        first = ([p.normal for p in planes], [-p.offset for p in planes])
        return from_arrays([first, (rows, biases), (weights, self.output_bias)])


def _direct_neurons(direct: Sequence[Vector]) -> Iterator[tuple[Vector, Vector]]:
    """Yield weights and output weights of neurons that are on at all inputs, with a given sum."""
    for row, weight in _products(direct):
        for sign in (1, -1):
            part = tuple(max(sign * entry, Fraction(0)) for entry in row)
            if any(part):
                yield part, scaled(weight, Fraction(sign))


def _products(matrix: Sequence[Vector]) -> Iterator[tuple[Vector, Vector]]:
    """Yield rows and columns whose products have a matrix as their sum, as many as its rank."""
    rest = list(matrix)
    while any(map(any, rest)):
        first = next(row for row in rest if any(row))
        k = next(i for i, entry in enumerate(first) if entry)
        column = tuple(row[k] / first[k] for row in rest)
        yield first, column
        rest = [add_multiple(row, first, -w) for row, w in zip(rest, column, strict=True)]


def with_sides(planes: Sequence[Hyperplane], turned: Sequence[int]) -> tuple[Hyperplane, ...]:
    """Return the hyperplanes as preactivations, some of them turned around."""
    sides = [Fraction(1 - 2 * t) for t in turned]
    return tuple(
        Hyperplane(scaled(p.normal, s), s * p.offset) for p, s in zip(planes, sides, strict=True)
    )


@dataclass
class _Equations:
    """Linear equations for the weights a_j and b_j of layer 2, and for D and c.

    Attributes
    ----------
    first, turned
        The preactivations of layer 1, and which of the hyperplanes are turned around in it.
    neurons
        The surfaces of layer 2.
    num_outputs
        The number of outputs.
    has_linear_part
        Whether layer 2 and the outputs see the inputs, too.
    rows, right
        The equations.
    """

    first: Sequence[Hyperplane]
    turned: Sequence[int]
    neurons: Sequence[Neuron]
    num_outputs: int
    has_linear_part: bool
    rows: list[Vector] = field(default_factory=list)
    right: list[Fraction] = field(default_factory=list)

    @property
    def num_seen(self) -> int:
        """How many numbers a neuron of layer 2 sees: outputs of layer 1, and perhaps inputs."""
        return len(self.first) + self.has_linear_part * len(self.first[0].normal)

    def of_neuron(self, j: int) -> slice:
        """Return the places of the weights and the bias of neuron j of layer 2."""
        return slice(j * (self.num_seen + 1), (j + 1) * (self.num_seen + 1))

    def of_output(self, o: int) -> slice:
        """Return the places of the direct part and the bias of an output."""
        return self.of_neuron(len(self.neurons) + o)

    @property
    def number(self) -> int:
        """How many unknowns there are."""
        return (len(self.neurons) + self.num_outputs) * (self.num_seen + 1)

    def add_pieces(self) -> None:
        """Add the equations that the pieces of the surfaces give."""
        for j, neuron in enumerate(self.neurons):
            for signs, piece in neuron.pieces.items():
                on = [s * (1 - 2 * t) > 0 for s, t in zip(signs, self.turned, strict=True)]
                size = len(piece.normal)
                for i in range(size + 1):
                    entries = [(*plane.normal, -plane.offset)[i] for plane in self.first]
                    seen = [entry * is_on for entry, is_on in zip(entries, on, strict=True)]
                    seen += [Fraction(k == i) for k in range(size) if self.has_linear_part]
                    row = [Fraction(0)] * self.number
                    row[self.of_neuron(j)] = [*seen, Fraction(i == size)]
                    self.rows.append(tuple(row))
                    self.right.append((*piece.normal, -piece.offset)[i])

    def add_value(self, on: Sequence[bool], x: Point, value: Vector) -> None:
        """Add the equations that the value at a point gives; `on` says which neurons are on."""
        h = [max(plane.at(x), Fraction(0)) for plane in self.first]
        seen = (*h, *(x if self.has_linear_part else ()), Fraction(1))
        for o, entry in enumerate(value):
            row = [Fraction(0)] * self.number
            for j, (neuron, is_on) in enumerate(zip(self.neurons, on, strict=True)):
                if is_on:
                    row[self.of_neuron(j)] = scaled(seen, neuron.weight[o])
            row[self.of_output(o)] = seen
            self.rows.append(tuple(row))
            self.right.append(entry)


def assembled(
    oracle: Oracle,
    planes: Sequence[Hyperplane],
    turned: Sequence[int],
    neurons: Sequence[Neuron],
    samples: Sequence[tuple[Point, tuple[bool, ...]]],
    limit: int,
) -> list[TwoLayers]:
    """Return the networks with given surfaces that have the right values at some points.

    Parameters
    ----------
    oracle
        The function.
    planes, turned
        The hyperplanes of layer 1, and which of them are turned around.
    neurons
        The neurons of layer 2, by their surfaces.
    samples
        Points, and the neurons of layer 2 that are positive there.
    limit
        How many networks are wanted at most.

    Returns
    -------
    list of TwoLayers
        The networks. If there is none without a direct part, one with a small one.
    """
    first = with_sides(planes, turned)
    equations = _Equations(
        first, turned, neurons, len(oracle(samples[0][0])), has_linear_part=False
    )
    return _solutions(oracle, equations, samples, limit)


def assembled_with_linear_part(
    oracle: Oracle,
    planes: Sequence[Hyperplane],
    neurons: Sequence[Neuron],
    samples: Sequence[tuple[Point, tuple[bool, ...]]],
    limit: int,
) -> Iterator[TwoLayers]:
    """Yield networks whose layer 2 also sees a linear function of the inputs, as few as possible.

    A neuron of layer 1 whose hyperplane no breakpoint shows is linear wherever it is seen. It is
    replaced by one neuron, where that is possible, or by two with opposite weights. The sides of
    layer 1 are those that need the fewest linear functions: turning a neuron around adds one.
    """
    turned = (0,) * len(planes)
    equations = _Equations(
        planes, turned, neurons, len(oracle(samples[0][0])), has_linear_part=True
    )
    for layers in _solutions(oracle, equations, samples, limit):
        if not layers.unknown and len(planes) <= _MAX_TRIED:
            sides = product((0, 1), repeat=len(planes))
            ways = [_turned_around(layers, len(planes), side) for side in sides]
            best = min(ways, key=lambda way: len(list(_products(way.linear))))
            yield from _without_linear_part(best, neurons)


def _solutions(
    oracle: Oracle,
    equations: _Equations,
    samples: Sequence[tuple[Point, tuple[bool, ...]]],
    limit: int,
) -> list[TwoLayers]:
    """Return the networks that solve the equations of surfaces and of values at points."""
    equations.add_pieces()
    for x, on in samples:
        equations.add_value(on, x, oracle(x))
    matrix = RationalMatrix.from_rows(equations.rows, ncols=equations.number)
    found = _solved(oracle, matrix, equations.right)
    if found is None:
        return []
    free = kernel(matrix).transpose().rows() if oracle.is_exact else []
    return _oriented_networks(oracle, equations, (found, free), limit)


def _solved(oracle: Oracle, matrix: RationalMatrix, right: Sequence[Fraction]) -> Vector | None:
    """Return a solution; of equations with errors, the one with least squares of errors."""
    if oracle.is_exact:
        exact = solve(matrix, RationalMatrix.column(right))
        return None if exact is None else tuple(row[0] for row in exact.rows())
    table, wanted = matrix.to_floats(), np.array([float(entry) for entry in right])
    sizes = np.abs(table).max(axis=1, initial=0)
    sizes[sizes == 0] = 1
    found = np.linalg.lstsq(table / sizes[:, None], wanted / sizes, rcond=None)[0]
    return tuple(to_fraction(float(entry)) for entry in found)


def _oriented_networks(
    oracle: Oracle,
    equations: _Equations,
    solutions: tuple[Vector, Sequence[Vector]],
    limit: int,
) -> list[TwoLayers]:
    """Return the networks with orientations that need no direct part, or one with a small one."""
    weights = tuple(neuron.weight for neuron in equations.neurons)
    found, free = solutions
    layers = list[TwoLayers]()
    for turned in _orientations_without_direct_part(oracle, equations, weights, found, free, limit):
        vector, still_free = _without_direct_part(equations, weights, turned, found, free)
        if vector is not None:
            layers += _networks(equations, weights, turned, vector, still_free)
    if layers or not oracle.is_exact:
        return layers
    tried = product((0, 1), repeat=len(weights) if len(weights) <= _MAX_TRIED else 0)

    def num_products(turned: Sequence[int]) -> int:
        """Return how many neurons the direct part needs."""
        rows = [row[:-1] for row in _direct(equations, weights, turned, found)]
        return len(list(_direct_neurons(rows)))

    return _networks(equations, weights, min(tried, key=num_products), found, free)


def _networks(
    equations: _Equations,
    weights: tuple[Vector, ...],
    turned: Sequence[int],
    vector: Vector,
    free: Sequence[Vector],
) -> list[TwoLayers]:
    """Return the network of a solution, and some that differ in what is not determined.

    A neuron of layer 2 that is off wherever one of layer 1 is on stays so with a smaller weight.
    """
    shifts = [(0,) * len(free)]
    if 0 < len(free) <= _MAX_SHIFTED:
        signs = list(product((-1, 1), repeat=len(free)))
        shifts += [tuple(size * s for s in sign) for size in _SHIFTS for sign in signs]
    unit = 1 + max((abs(entry) for entry in vector), default=Fraction(0))
    found = list[TwoLayers]()
    for shift in shifts:
        moved = vector
        for t, direction in zip(shift, free, strict=True):
            if t:
                size = max(map(abs, direction))
                moved = add_multiple(moved, direction, t * unit / size)
        found.append(_network(equations, weights, turned, moved, free))
    return found


def _orientations_without_direct_part(
    oracle: Oracle,
    equations: _Equations,
    weights: Sequence[Vector],
    found: Vector,
    free: Sequence[Vector],
    limit: int,
) -> Iterator[tuple[int, ...]]:
    """Yield orientations of layer 2 with which the direct part may be 0."""
    if free and len(weights) <= _MAX_TRIED:
        yield from product((0, 1), repeat=len(weights))
        return
    rows, right = list[Vector](), list[Fraction]()
    for o in range(equations.num_outputs):
        for k, entry in enumerate(found[equations.of_output(o)][:-1]):
            rows.append(
                tuple(w[o] * found[equations.of_neuron(j)][k] for j, w in enumerate(weights))
            )
            right.append(-entry)
    near = Fraction(0) if oracle.is_exact else Fraction(1, 2**16)
    yield from choices(rows, tuple(right), len(weights), limit, near).solutions


def _direct(
    equations: _Equations, weights: Sequence[Vector], turned: Sequence[int], vector: Vector
) -> list[Vector]:
    """Return the direct part and the bias of each output with neurons turned around."""
    found = [vector[equations.of_output(o)] for o in range(equations.num_outputs)]
    for j, (r, weight) in enumerate(zip(turned, weights, strict=True)):
        if r:
            row = vector[equations.of_neuron(j)]
            found = [add_multiple(d, row, w) for d, w in zip(found, weight, strict=True)]
    return found


def _without_direct_part(
    equations: _Equations,
    weights: Sequence[Vector],
    turned: Sequence[int],
    found: Vector,
    free: Sequence[Vector],
) -> tuple[Vector | None, list[Vector]]:
    """Return a solution without a direct part, and what is still free; None if there is none."""
    if not free:
        return found, []

    def entries(vector: Vector) -> list[Fraction]:
        """Return the weights of the direct part."""
        return [d for row in _direct(equations, weights, turned, vector) for d in row[:-1]]

    matrix = RationalMatrix.from_rows([entries(v) for v in free]).transpose()
    solution = solve(matrix, RationalMatrix.column(-d for d in entries(found)))
    if solution is None:
        return None, []
    for (t,), vector in zip(solution.rows(), free, strict=True):
        found = add_multiple(found, vector, t)
    still = [
        tuple(dot(column, entry) for entry in zip(*free, strict=True))
        for column in kernel(matrix).transpose().rows()
    ]
    return found, still


def _network(
    equations: _Equations,
    weights: tuple[Vector, ...],
    turned: Sequence[int],
    vector: Vector,
    free: Sequence[Vector],
) -> TwoLayers:
    """Return the network of a solution, with some neurons of layer 2 turned around."""
    signs = [Fraction(1 - 2 * r) for r in turned]
    rows = [scaled(vector[equations.of_neuron(j)], s) for j, s in enumerate(signs)]
    outputs = _direct(equations, weights, turned, vector)
    size = len(equations.first)
    unknown = [
        (j, k)
        for j in range(len(weights))
        for k in range(equations.num_seen)
        if any(v[equations.of_neuron(j)][k] for v in free)
    ]
    return TwoLayers(
        tuple(equations.first),
        tuple(row[:size] for row in rows),
        tuple(row[-1] for row in rows),
        weights,
        tuple(row[:size] for row in outputs),
        tuple(row[-1] for row in outputs),
        tuple(unknown),
        tuple(row[size:-1] for row in (*rows, *outputs)) if equations.has_linear_part else (),
    )


def _turned_around(layers: TwoLayers, size: int, turned: Sequence[int]) -> TwoLayers:
    """Return the same function with other sides of layer 1, and another linear part.

    σ(t) = σ(-t) + t for the preactivation t of a neuron of layer 1.
    """
    linear = list(layers.linear)
    constants = [*layers.biases, *layers.output_bias]
    for i, row in enumerate((*layers.rows, *layers.direct)):
        for k, (plane, t) in enumerate(zip(layers.planes, turned, strict=True)):
            if t:
                linear[i] = add_multiple(linear[i], plane.normal, row[k])
                constants[i] -= row[k] * plane.offset
    return replace(
        layers,
        planes=with_sides(layers.planes, turned),
        biases=tuple(constants[: len(layers.rows)]),
        output_bias=tuple(constants[len(layers.rows) :]),
        linear=tuple(linear),
    )


def _without_linear_part(layers: TwoLayers, neurons: Sequence[Neuron]) -> Iterator[TwoLayers]:
    """Yield networks with more neurons in layer 1 for the linear part; the last one is right."""
    products = list(_products(layers.linear))
    if len(products) == 1:
        ((row, column),) = products
        pieces = [piece for neuron in neurons for piece in neuron.pieces.values()]
        for offset in _parallel_offsets(row, pieces):
            for sign in (Fraction(1), Fraction(-1)):
                plane = Hyperplane(scaled(row, sign), sign * offset)
                constants = scaled(column, offset)
                yield _with_neurons(layers, [(plane, scaled(column, sign))], constants)
    pairs = [
        (Hyperplane(scaled(row, sign), Fraction(0)), scaled(column, sign))
        for row, column in products
        for sign in (Fraction(1), Fraction(-1))
    ]
    yield _with_neurons(layers, pairs, (Fraction(0),) * len(layers.linear))


def _parallel_offsets(row: Vector, pieces: Sequence[Hyperplane]) -> list[Fraction]:
    """Return the offsets of the pieces with a normal parallel to a row, in the scale of the row."""
    k = next(i for i, entry in enumerate(row) if entry)
    found = list[Fraction]()
    for piece in pieces:
        factor = piece.normal[k] / row[k]
        if factor and piece.normal == scaled(row, factor) and piece.offset / factor not in found:
            found.append(piece.offset / factor)
    return found


def _with_neurons(
    layers: TwoLayers, more: Sequence[tuple[Hyperplane, Vector]], constants: Vector
) -> TwoLayers:
    """Return layers with more neurons in layer 1, and constants added to biases; no linear part."""
    size = len(layers.rows)
    columns = list(zip(*(column for _, column in more), strict=True)) or [()] * len(layers.linear)
    biases = [*layers.biases, *layers.output_bias]
    biases = [b + constant for b, constant in zip(biases, constants, strict=True)]
    return replace(
        layers,
        planes=(*layers.planes, *(plane for plane, _ in more)),
        rows=tuple((*row, *new) for row, new in zip(layers.rows, columns, strict=False)),
        direct=tuple((*row, *new) for row, new in zip(layers.direct, columns[size:], strict=True)),
        biases=tuple(biases[:size]),
        output_bias=tuple(biases[size:]),
        linear=(),
        num_replaced=len(more),
    )
