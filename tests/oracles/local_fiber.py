"""Dimension of the set of nearby parameters with the same function, beyond the positive scalings.

Let theta be all weights and biases. On a full-dimensional cell with activation pattern I the
network is the affine map with coefficient matrix W_L I_{L-1} ... I_1 [W_1 | b_1] + ..., a
polynomial in theta. The local fiber dimension is

    #parameters - rank of the Jacobian of theta -> (these matrices, all cells) - #hidden neurons,

where the last term removes one positive scaling for each hidden neuron.

Limits of this number:

* A neuron that vanishes identically on an open cell (sign 0) makes the function non-differentiable
in
  theta. Then `regular` is False, and the dimension belongs to the pattern with such neurons
  inactive.
* The scalings form an orbit of dimension #hidden neurons only if they act freely to first order.
Zero
  rows and columns can break that (a neuron without any nonzero weight or bias is fixed by its
  scaling), yet every hidden neuron is subtracted: then the number is too small. The free
  parameters of a dead neuron count towards the dimension, as they should: they do not change the
  function.
* Only cells that are already open count. A parameter on the boundary of a stratum (duplicate
  hyperplanes, three lines through one point) gets new open cells under perturbation, and then the
  kernel may contain directions along which the function does change: there the number is an upper
  bound. `is_locally_rigid` uses the one-sided derivatives on the lower-dimensional cells too, and
  decides the case of dimension 1.
* Ranks are computed modulo two primes. A rank modulo a prime never exceeds the rational one, so the
  dimension is never too small; it is too large only if both primes divide all maximal nonzero
  minors.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from flint import fmpz_mat, nmod_mat

from tests.oracles.cells import cells
from tests.oracles.plain import (
    IntegerNetwork,
    Network,
    SignVector,
    compose,
    integer_form,
    split_by_layer,
)

PRIMES = (2**61 - 1, 2**63 - 25)


class LocalFiber(NamedTuple):
    """Local fiber dimension, and whether no neuron vanishes identically on an open cell."""

    dimension: int
    regular: bool


def local_fiber_dimension(layers: Network) -> LocalFiber:
    """Local fiber dimension modulo positive scalings; see the module's docstring for its limits."""
    open_cells = cells(layers, full_dimensional_only=True)
    # Clearing denominators rescales parameters and outputs by nonzero constants: same rank.
    integers = integer_form(layers)
    patterns = {tuple(int(s > 0) for s in signs) for signs in open_cells}
    jacobian = [row for pattern in sorted(patterns) for row in _jacobian_rows(integers, pattern)]
    parameters = sum(len(bias) * (len(weights[0]) + 1) for weights, bias in layers)
    hidden = sum(len(bias) for _, bias in layers[:-1])
    return LocalFiber(
        dimension=parameters - _rank(jacobian) - hidden,
        regular=all(0 not in signs for signs in open_cells),
    )


def jacobian_rank(layers: Network, patterns: Iterable[SignVector]) -> int:
    """The rank of the Jacobian, by all parameters, of the affine maps of cells with these patterns.

    In a pattern 1 means active.
    """
    integers = integer_form(layers)
    return _rank([row for pattern in sorted(patterns) for row in _jacobian_rows(integers, pattern)])


def is_locally_rigid(layers: Network) -> bool | None:
    """Whether no curve of parameters through this one, other than scalings, keeps the function.

    Let theta + eps d + ... be a curve that keeps the function. Then moving the parameters along d
    does not change the one-sided derivative of the output, at points of cells of all dimensions,
    even where the point moves too, p + eps v (new cells of width eps open there). If the kernel of
    the Jacobian is one line beyond the scalings, its two directions d are tried, with random v.
    None: a larger kernel, not decided here.
    """
    fiber = local_fiber_dimension(layers)
    if fiber.dimension <= 0:
        return True
    if fiber.dimension > 1:
        return None
    integers = integer_form(layers)
    direction = _direction_beyond_scalings(layers)
    points = list(_sample_points(layers))
    motions = list(_motions(len(layers[0][0][0]), max(map(abs, direction))))
    return all(
        any(_changes(integers, step, point, motion) for point in points for motion in motions)
        for step in (direction, [-v for v in direction])
    )


def _motions(dimension: int, size: int) -> Iterator[list[Fraction]]:
    """The zero vector, and random directions of sizes around `size`."""
    rng = Random(dimension)
    yield [Fraction(0)] * dimension
    for exponent in range(-12, 7):
        for _ in range(2):
            yield [
                Fraction(size * rng.randint(-8, 8), 8) * Fraction(2) ** exponent
                for _ in range(dimension)
            ]


def _changes(
    layers: IntegerNetwork, step: list[int], point: list[Fraction], motion: list[Fraction]
) -> bool:
    """Whether moving the parameters changes the derivative of the output along the moving point."""
    still = [0] * len(step)
    return _one_sided_derivative(layers, step, point, motion) != _one_sided_derivative(
        layers, still, point, motion
    )


def _direction_beyond_scalings(layers: Network) -> list[int]:
    """A kernel vector of the Jacobian that is not a combination of scalings."""
    motions, span = motions_and_scalings(layers)
    rank = fmpz_mat(span).rank() if span else 0
    for vector in motions:
        if fmpz_mat([*span, vector]).rank() > rank:
            return vector
    raise ValueError("the kernel consists of scalings")


def motions_and_scalings(layers: Network) -> tuple[list[list[int]], list[list[int]]]:
    """Directions of the integer form that keep the affine maps of all open cells, and the scalings.

    The directions form a basis of the kernel of the Jacobian.
    """
    integers = integer_form(layers)
    patterns = {
        tuple(int(s > 0) for s in signs) for signs in cells(layers, full_dimensional_only=True)
    }
    jacobian = fmpz_mat(
        [row for pattern in sorted(patterns) for row in _jacobian_rows(integers, pattern)]
    )
    basis, nullity = jacobian.nullspace()
    motions = [
        [int(basis[row, column]) for row in range(jacobian.ncols())] for column in range(nullity)
    ]
    return motions, _scalings(integers)


def is_part_rigid(layers: Network, num_layers: int, neurons: Sequence[int]) -> bool:
    """Whether no motion of the parameters to first order moves a part of them beyond the scalings.

    The part are the rows [W|b] of the first layers, and those of some neurons of the next one.
    False may be wrong, since there may be no curve along a motion.
    """
    motions, scalings = motions_and_scalings(layers)
    columns, start = list[int](), 0
    for number, (weights, bias) in enumerate(layers):
        size = len(weights[0]) + 1
        for i in range(len(bias)):
            if number < num_layers or (number == num_layers and i in neurons):
                columns += range(start, start + size)
            start += size
    of_scalings, of_all = (
        fmpz_mat([[0] * len(columns), *([vector[k] for k in columns] for vector in vectors)])
        for vectors in (scalings, [*scalings, *motions])
    )
    return bool(of_scalings.rank() == of_all.rank())


def _scalings(layers: IntegerNetwork) -> list[list[int]]:
    """The directions of the scalings: a neuron's row and bias up, its outgoing column down."""
    result = []
    for number, (weights, _) in enumerate(layers[:-1]):
        for neuron in range(len(weights)):
            entries: list[int] = []
            for other, (block, offset) in enumerate(layers):
                for i, (row, b) in enumerate(zip(block, offset, strict=True)):
                    up = other == number and i == neuron
                    down = other == number + 1
                    entries += [
                        v if up else -v if down and j == neuron else 0 for j, v in enumerate(row)
                    ]
                    entries.append(b if up else 0)
            result.append(entries)
    return result


def _sample_points(layers: Network) -> Iterator[list[Fraction]]:
    """A point of every cell, and points between it and the points of its faces."""
    found = cells(layers)
    for signs, cell in found.items():
        yield list(cell.point)
        for other, face in found.items():
            if other != signs and all(t in (0, s) for s, t in zip(signs, other, strict=True)):
                for weight in (Fraction(1, 2), Fraction(1, 3)):
                    yield [
                        weight * p + (1 - weight) * q
                        for p, q in zip(cell.point, face.point, strict=True)
                    ]


def _one_sided_derivative(
    layers: IntegerNetwork, step: list[int], point: list[Fraction], motion: list[Fraction]
) -> list[Fraction]:
    """The derivative of the outputs when parameters move along `step`, the point along `motion`."""
    entries = iter(step)
    values, slopes = list(point), list(motion)
    for number, (weights, bias) in enumerate(layers):
        z, dz = [], []
        for row, b in zip(weights, bias, strict=True):
            changes = [next(entries) for _ in row]
            z.append(sum((w * v for w, v in zip(row, values, strict=True)), Fraction(b)))
            moved = sum(
                (c * v for c, v in zip(changes, values, strict=True)), Fraction(next(entries))
            )
            dz.append(moved + sum((w * d for w, d in zip(row, slopes, strict=True)), Fraction(0)))
        if number == len(layers) - 1:
            return dz
        slopes = [
            d if v > 0 else max(d, Fraction(0)) if v == 0 else Fraction(0)
            for v, d in zip(z, dz, strict=True)
        ]
        values = [max(v, Fraction(0)) for v in z]
    raise ValueError("a network needs at least one layer")


def _jacobian_rows(layers: IntegerNetwork, pattern: SignVector) -> list[list[int]]:
    """Derivatives of all entries of one cell's coefficient matrix, in the order (output, column).

    Entry (o, c) has the derivative delta_l[o, i] * a_{l-1}[j, c] with respect to W_l[i, j]. The
    bias is the weight of one more activation that is constantly 1. Columns: layer by layer, rows
    of [W_l | b_l].
    """
    inputs = _extended_activations(layers, pattern)
    deltas = _output_derivatives(layers, pattern)
    outputs, columns = len(layers[-1][1]), len(layers[0][0][0]) + 1
    return [
        [
            derivative * activation[c]
            for delta, activations in zip(deltas, inputs, strict=True)
            for derivative in delta[o]
            for activation in activations
        ]
        for o in range(outputs)
        for c in range(columns)
    ]


def _extended_activations(layers: IntegerNetwork, pattern: SignVector) -> list[list[list[int]]]:
    """For each layer the matrix of its input a_{l-1}, with the constant 1 as a last row."""
    width = len(layers[0][0][0]) + 1
    identity = [[int(i == j) for j in range(width)] for i in range(width)]
    constant_one = identity[-1]
    result = [identity]
    for (weights, bias), active in zip(layers[:-1], split_by_layer(layers, pattern), strict=True):
        rows = compose(weights, bias, result[-1][:-1], width)
        activations = [
            [v * is_active for v in row] for row, is_active in zip(rows, active, strict=True)
        ]
        result.append([*activations, constant_one])
    return result


def _output_derivatives(layers: IntegerNetwork, pattern: SignVector) -> list[list[list[int]]]:
    """For each layer delta_l = W_L I_{L-1} ... W_{l+1} I_l, the derivative of the output by z_l."""
    outputs = len(layers[-1][1])
    deltas = [[[int(i == j) for j in range(outputs)] for i in range(outputs)]]
    hidden_patterns = split_by_layer(layers, pattern)
    for (weights, _), active in zip(reversed(layers[1:]), reversed(hidden_patterns), strict=True):
        deltas.append([_pull_back(row, weights, active) for row in deltas[-1]])
    return deltas[::-1]


def _pull_back(row: list[int], weights: list[list[int]], active: SignVector) -> list[int]:
    """The row vector `row` W I, I being the diagonal matrix of the active neurons."""
    return [
        is_active * sum(d * w[j] for d, w in zip(row, weights, strict=True))
        for j, is_active in enumerate(active)
    ]


def _rank(matrix: list[list[int]]) -> int:
    """Rank of an integer matrix, as the larger of its ranks modulo two primes."""
    entries = [v for row in matrix for v in row]
    return max(
        nmod_mat(len(matrix), len(matrix[0]), [v % p for v in entries], p).rank() for p in PRIMES
    )
