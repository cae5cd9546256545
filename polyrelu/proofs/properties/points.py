"""Points of a domain where outputs of a network are large: counterexamples, if they are positive.

Floats guess and exact arithmetic evaluates. Ascents start at many points of a fine grid on the
domain's box and take steps on this grid in the direction of the signs of the gradient, so that the
points are exact, and the same on machines that round products differently. The best points are
evaluated exactly, and moved to the best point of their activation region by an exact linear
program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from polyrelu.exact import LinearProgram, Optimal, RationalMatrix, nearest_vector
from polyrelu.formats import Clause
from polyrelu.network import Network
from polyrelu.proofs.trees.node_polyhedron import (
    DomainCoordinates,
    HomogeneousPoint,
    NodePolyhedron,
    homogeneous,
)
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_point, price_of_program, price_of_samples
from polyrelu.support.typing import Floats, Indices, Point

__all__ = ["best_of_region", "high_points", "is_high_everywhere"]


@dataclass(frozen=True, slots=True)
class AscentSettings:
    """Numbers of an ascent.

    Attributes
    ----------
    num_starts
        Number of ascents, which are made together.
    num_steps
        Number of steps of each ascent for one length of steps.
    grid_bits
        The grid divides each side of the domain's box into 2 to this power parts.
    first_step_bits, last_step_bits
        The first and the last steps go along 2 to minus this power of each side; lengths are
        halved twice from one to the next.
    window
        Where a coordinate has no bound, the ascent goes so far from the point inside.
    max_exact
        Maximum number of points that are evaluated exactly.
    max_weights
        Maximum number of weights of a network for which ascents are made.
    """

    num_starts: int = 48
    num_steps: int = 5
    grid_bits: int = 24
    first_step_bits: int = 2
    last_step_bits: int = 14
    window: int = 64
    max_exact: int = 6
    max_weights: int = 20_000_000


SETTINGS = AscentSettings()


def high_points(
    network: Network, coordinates: DomainCoordinates, seed: int, budget: Budget
) -> list[Point]:
    """Return points of a domain, where the largest output is high first.

    Parameters
    ----------
    network
        A network on the inputs.
    coordinates
        The domain.
    seed
        Seed of the starts.
    budget
        Pays for the evaluations.
    """
    grid = _Grid.of(coordinates)
    num_weights = sum(rows * columns for rows, columns in _shapes(network))
    if num_weights > SETTINGS.max_weights:
        candidates = [grid.interior]
    else:
        lengths = range(SETTINGS.first_step_bits, SETTINGS.last_step_bits + 1, 2)
        steps = SETTINGS.num_starts * SETTINGS.num_steps * (1 + len(lengths))
        budget.spend(price_of_samples(num_weights * steps // 1000))
        candidates = grid.points(_ascended(_FloatNetwork(network), grid, seed, lengths))
    found: dict[Point, Fraction] = {}
    for point in [*candidates[: SETTINGS.max_exact], grid.interior]:
        budget.spend(price_of_point(num_weights))
        x = coordinates.to_inputs(point)
        found[x] = max(network(x))
    return sorted(found, key=lambda x: -found[x])


def is_high_everywhere(network: Network, coordinates: DomainCoordinates, seed: int) -> bool:
    """Whether some output is positive at all of many points of a domain, in floats.

    This is a guess, for cautions only. A domain of one point does not count.
    """
    grid = _Grid.of(coordinates)
    num_weights = sum(rows * columns for rows, columns in _shapes(network))
    if not grid.dimension or num_weights > SETTINGS.max_weights:
        return False
    rng, top = Random(seed), 1 << SETTINGS.grid_bits
    places: Floats = np.array(
        [[rng.randint(0, top) for _ in range(grid.dimension)] for _ in range(SETTINGS.num_starts)],
        dtype=np.float64,
    )
    points = [coordinates.to_inputs(point) for point in grid.points(places)]
    x: Floats = np.array([nearest_vector(point) for point in points])
    with np.errstate(all="ignore"):
        values = _FloatNetwork(network).preactivations(x)[-1].max(axis=1)
    return bool((values > 0).all())


def best_of_region(
    network: Network,
    coordinates: DomainCoordinates,
    x: Point,
    clause: Clause,
    budget: Budget,
) -> list[Point]:
    """Return points of the domain, in a region around x, where a clause fails if it does anywhere.

    The first one maximises the excess of the clause on the region, up to 1. If the maximum is 0,
    the second one maximises the slack of those rows that fail only where they are negative.

    Parameters
    ----------
    network
        The network of the outputs and inputs that the clause is about, which ends in an affine
        layer.
    coordinates
        The domain.
    x
        A point of it.
    clause
        The clause.
    budget
        Pays for the linear programs.
    """
    domain, size = coordinates.domain, network.num_inputs
    num_rows = sum(network.widths[1:-1]) + len(domain.inequalities)
    budget.spend(price_of_program(num_rows, size))
    program = LinearProgram(size + 1, upper=[*[None] * size, 1])
    for rows, add in (
        (domain.inequalities, program.add_inequalities),
        (domain.equations, program.add_equations),
    ):
        if rows:
            add([[*row[:-1], 0] for row in rows], [row[-1] for row in rows])
    outputs = _add_region(program, network, x)
    left, right = _failing_rows(outputs, clause, size)
    program.add_inequalities(left, right)
    best = program.maximize([*[0] * size, 1])
    if not isinstance(best, Optimal):
        return []
    found = [best.point[:-1]]
    if best.value == 0 and not all(row.is_strict for row in clause.rows):
        for _ in left:
            program.remove_last()
        for row, given in zip(left, clause.rows, strict=True):
            row[-1] = Fraction(not given.is_strict)
        program.add_inequalities(left, right)
        best = program.maximize([*[0] * size, 1])
        found += [best.point[:-1]] if isinstance(best, Optimal) else []
    return found


def _add_region(program: LinearProgram, network: Network, x: Point) -> RationalMatrix:
    """Add the region around a point, and return the outputs as forms in the inputs."""
    size = network.num_inputs
    activations = [RationalMatrix.identity(size).beside(RationalMatrix.zeros(size, 1))]
    signs = network.sign_vector(x).layers
    for number in range(1, network.num_hidden_layers + 1):
        forms = network.layer_forms(number, activations)
        on = [int(sign >= 0) for sign in signs[number - 1]]
        _add_sides(program, forms, on)
        activations.append(forms.scale_rows(on))
    return network.layer_forms(network.depth, activations)


def _failing_rows(
    outputs: RationalMatrix, clause: Clause, size: int
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return value + t ≤ 0 for the rows of a clause, over the inputs and t."""
    values = [*outputs.rows(), *RationalMatrix.identity(size).rows()]
    left, right = [], []
    for row in clause.rows:
        total = [*[Fraction()] * size, row.constant]
        for place, coefficient in row.coefficients:
            for j, entry in enumerate(values[place]):
                total[j] += coefficient * entry
        left.append([*total[:-1], Fraction(1)])
        right.append(-total[-1])
    return left, right


def _add_sides(program: LinearProgram, forms: RationalMatrix, on: Sequence[int]) -> None:
    """Add that active neurons are not negative and the others not positive."""
    left, right = [], []
    for (*row, constant), is_on in zip(forms.integer_rows(), on, strict=True):
        if any(row):
            sign = -1 if is_on else 1
            left.append([*(sign * entry for entry in row), 0])
            right.append(-sign * constant)
    if left:
        program.add_inequalities(left, right)


def _shapes(network: Network) -> list[tuple[int, int]]:
    return [block.shape for layer in network.layers for block in layer.blocks]


class _Grid:
    """A grid on the box around a domain, in the coordinates of its affine hull.

    Attributes
    ----------
    interior
        A point inside the domain.
    dimension
        The number of coordinates.
    """

    def __init__(self, coordinates: DomainCoordinates, root: NodePolyhedron) -> None:
        self.interior = coordinates.to_coordinates(coordinates.inside)
        self.dimension = coordinates.dimension
        self._root, sides = root, root.sides()
        inside = [Fraction(entry, self.interior[0]) for entry in self.interior[1:]]
        self._low = [sides.get((j, 1)) for j in range(1, 1 + self.dimension)]
        high = [sides.get((j, -1)) for j in range(1, 1 + self.dimension)]
        low_bounds, widths = [], []
        for value, low, up in zip(inside, self._low, high, strict=True):
            start = value - SETTINGS.window if low is None else low
            end = value + SETTINGS.window if up is None else up
            low_bounds.append(start)
            widths.append(max(end - start, Fraction()))
        self._start, self._widths = low_bounds, widths
        affine = coordinates.inputs.to_floats()
        self._offset, self._columns = affine[:, 0], affine[:, 1:]
        self._float_start = nearest_vector(low_bounds)
        self._float_widths = nearest_vector(widths)
        self.is_box = all(len(row.columns) <= 1 + (0 in row.columns) for row in root.constraints())

    @classmethod
    def of(cls, coordinates: DomainCoordinates) -> _Grid:
        """Return the grid of a domain."""
        return cls(coordinates, NodePolyhedron.at_root(coordinates))

    def inputs(self, places: Floats) -> Floats:
        """Return the inputs at grid points in floats, shape (k, n)."""
        y = self._float_start + self._float_widths * (places / 2.0**SETTINGS.grid_bits)
        inputs: Floats = self._offset + y @ self._columns.T
        return inputs

    def gradient(self, by_inputs: Floats) -> Floats:
        """Return a gradient by the coordinates, of a gradient by the inputs, shape (k, d)."""
        gradient: Floats = by_inputs @ self._columns
        return gradient

    def points(self, places: Floats) -> list[HomogeneousPoint]:
        """Return grid points as exact points, moved inwards where they are outside the domain."""
        scale = 1 << SETTINGS.grid_bits
        found: dict[HomogeneousPoint, None] = {}
        for row in places.tolist():
            values = [
                start + width * Fraction(int(place), scale)
                for start, width, place in zip(self._start, self._widths, row, strict=True)
            ]
            found[self._inside(homogeneous(values))] = None
        return list(found)

    def _inside(self, point: HomogeneousPoint) -> HomogeneousPoint:
        """Return the point, or one between it and the interior point that belongs to the domain."""
        share = Fraction(1)
        for row in self._root.constraints():
            out, inner = (
                Fraction(sum(e * p[c] for c, e in zip(*row, strict=True)), p[0])
                for p in (point, self.interior)
            )
            if out < 0:
                share = min(share, inner / (inner - out))
        if share == 1:
            return point
        short = Fraction(int(share * (1 << 20)), 1 << 20)
        return homogeneous(
            [
                Fraction(b, self.interior[0]) * (1 - short) + Fraction(a, point[0]) * short
                for a, b in zip(point[1:], self.interior[1:], strict=True)
            ]
        )


class _FloatNetwork:
    """A network in floats, for values and gradients at many points."""

    def __init__(self, network: Network) -> None:
        self._num_hidden = network.num_hidden_layers
        self.num_outputs = network.num_outputs
        self._layers = [
            (
                [(block.source, block.weight.to_floats()) for block in layer.blocks],
                layer.bias.to_floats()[:, 0],
            )
            for layer in network.layers
        ]

    def preactivations(self, x: Floats) -> list[Floats]:
        """Return the preactivations of all layers at points, shapes (k, width)."""
        activations, found = [x], []
        for number, (blocks, bias) in enumerate(self._layers, 1):
            z = np.zeros((len(x), len(bias))) + bias
            for source, weight in blocks:
                z = z + activations[source] @ weight.T
            found.append(z)
            activations.append(np.maximum(z, 0) if number <= self._num_hidden else z)
        return found

    def gradient(self, z: Sequence[Floats], output: Indices) -> Floats:
        """Return the gradient of one output at each of the points, shape (k, n)."""
        size = len(output)
        last: Floats = np.zeros((size, self.num_outputs))
        last[np.arange(size), output] = 1.0
        pending: dict[int, Floats] = {len(self._layers): last}
        for number in range(len(self._layers), 0, -1):
            incoming = pending.pop(number, None)
            if incoming is None:
                continue
            if number <= self._num_hidden:
                incoming = incoming * (z[number - 1] > 0)
            for source, weight in self._layers[number - 1][0]:
                part = incoming @ weight
                pending[source] = pending[source] + part if source in pending else part
        return pending.get(0, np.zeros((size, 1)))


@np.errstate(all="ignore")
def _ascended(network: _FloatNetwork, grid: _Grid, seed: int, lengths: range) -> Floats:
    """Return grid points, the one with the highest output first."""
    rng, top, count = Random(seed), 1 << SETTINGS.grid_bits, SETTINGS.num_starts
    starts = [
        [rng.choice((0, top)) if k % 4 == 0 else rng.randint(0, top) for _ in range(grid.dimension)]
        for k in range(count)
    ]
    places: Floats = np.array(starts, dtype=np.float64).reshape(count, grid.dimension)
    wanted = np.arange(count) % (2 * network.num_outputs)
    best, best_value = places.copy(), np.full(count, -np.inf)
    for bits in lengths:
        for _ in range(SETTINGS.num_steps):
            z = network.preactivations(grid.inputs(places))
            value = np.nan_to_num(z[-1].max(axis=1), nan=-np.inf)
            better = value > best_value
            best[better], best_value[better] = places[better], value[better]
            highest = z[-1].argmax(axis=1)
            output = np.where(wanted < network.num_outputs, wanted, highest)
            slope = grid.gradient(network.gradient(z, output))
            step = np.sign(np.nan_to_num(slope)) * float(top >> bits)
            places = np.clip(places + step, 0, top)
        places = best.copy()
    order = np.argsort(-best_value, kind="stable")
    ordered: Floats = best[order]
    return ordered
