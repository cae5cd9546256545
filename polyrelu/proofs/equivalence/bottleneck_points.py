"""Candidates for a point where two networks in canonical position differ.

The search ends after a bounded number of points. A caller evaluates both networks at each of them,
and concludes nothing if they agree at all. Why one of the points should show a difference of
generic networks is explained in docs/theory/bottleneck_pairs.md, "Where they differ".

The networks read first-layer neurons with independent weights (`canonical_position`). So the
preactivations z[1] of either network may be prescribed, and a point x with these preactivations
follows from linear equations. Three points are taken around each x: x itself and x ± δ d, where δ
is so small that no neuron changes its sign on the way unless it is 0 at x. If one network bends at
x and the other does not, or if both are affine there with different gradients, they differ at one
of the three points unless the direction d is special. The points x lie

* on the hyperplane of a first-layer neuron of one network that the other network does not have, or
  has with the other orientation: only one of the networks bends there. On the active side of this
  hyperplane only one of them has a gradient along it;
* where a second-layer neuron of one network is 0 and all first-layer neurons are active, which
  shows different coefficients in the absolute-value normal forms of the networks;
* where all first-layer neurons are active, which shows different affine parts if all these
  coefficients are the same.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.exact import RationalMatrix, solve
from polyrelu.network import Network
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated, primitive_row, sparse_row

__all__ = ["difference_candidates", "first_layer_rows"]

#: A point in input space, or preactivations of the first layer.
Numbers = Sequence[Fraction]


@dataclass(frozen=True, slots=True)
class CandidateSettings:
    """Limits of the search for a point of difference.

    Attributes
    ----------
    max_neurons
        Maximum number of first-layer neurons of each network, and of second-layer neurons of both
        together, for which points are constructed.
    max_targets
        Maximum number of second-layer neurons that are made active, one at a time, around a
        first-layer neuron.
    num_random_patterns
        Number of random sign patterns of the other neurons around a first-layer neuron.
    num_repetitions
        Number of points where a given second-layer neuron is 0, and of points where all first-layer
        neurons are active.
    max_exact_weights
        Maximum number of first-layer weights for which linear equations are solved exactly; larger
        systems are solved in floats.
    step_exponents
        The step δ is 1, or 2^-e for the first of these e that is small enough.
    """

    max_neurons: int = 16
    max_targets: int = 3
    num_random_patterns: int = 3
    num_repetitions: int = 2
    max_exact_weights: int = 1 << 14
    step_exponents: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)

    @property
    def max_patterns(self) -> int:
        """Maximum number of patterns around a neuron: in each, the neuron is 0 or positive."""
        return 2 * (1 + self.max_targets + self.num_random_patterns)


SETTINGS = CandidateSettings()


def first_layer_rows(network: Network) -> list[SparseForm]:
    """Return the primitive rows of the first layer, as forms over (1, x)."""
    rows = network.layers[0].augmented().primitive_rows()
    return [primitive_row(sparse_row([row[-1], *row[:-1]]))[0] for row in rows]


def difference_candidates(
    first: Network, second: Network, joint: JointNetwork, seed: int
) -> Iterator[Numbers]:
    """Yield a bounded number of points x where two networks in canonical position may differ.

    `joint` is the joint network of `first` and `second`.

    >>> from polyrelu.network import from_arrays
    >>> f = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 1]], [-1]), ([[1]], [0])])
    >>> g = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 1]], [-2]), ([[1]], [0])])
    >>> joint = JointNetwork(f, g, RationalMatrix.from_integers([[0, 1, 0], [0, 0, 1]]))
    >>> any(f(x) != g(x) for x in difference_candidates(f, g, joint, 0))
    True
    """
    rng = random.Random(seed)
    pair = (first, second)
    rows = [first_layer_rows(network) for network in pair]
    missing = [_missing_rows(*rows), _missing_rows(*reversed(rows))]
    patterns_of = [
        [_patterns_at_neuron(network, j, rng) for j in neurons]
        for network, neurons in zip(pair, missing, strict=True)
    ]
    # one pattern for every neuron before the next pattern of any neuron
    for number in range(SETTINGS.max_patterns):
        for network, patterns_by_neuron in zip(pair, patterns_of, strict=True):
            chosen = [z for patterns in patterns_by_neuron for z in patterns[number : number + 1]]
            yield from _with_neighbours(pair, _inputs_with(network, chosen), rng)
    neurons = [atom.neuron for atom in joint.atoms if atom.neuron.layer == 2]
    for neuron in neurons[: SETTINGS.max_neurons]:
        network = pair[neuron.network]
        row = network.layers[1].augmented().rows()[neuron.index_in_layer]
        zeros = [
            u
            for u in (_positive_zero_of(row, rng) for _ in range(SETTINGS.num_repetitions))
            if u is not None
        ]
        yield from _with_neighbours(pair, _inputs_with(network, zeros), rng)
    active = [
        [_random_size(rng) for _ in range(first.widths[1])] for _ in range(SETTINGS.num_repetitions)
    ]
    yield from _with_neighbours(pair, _inputs_with(first, active), rng)


def _missing_rows(own: list[SparseForm], other: list[SparseForm]) -> list[int]:
    """Return the indices of the rows that the other network does not have.

    Rows whose hyperplane the other network does not have come before rows that it has with the
    other orientation.
    """
    known = set(other)
    found = [j for j, row in enumerate(own) if row not in known]
    return sorted(found, key=lambda j: negated(own[j]) in known)[: SETTINGS.max_neurons]


def _random_size(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(1, 64), 8)


def _patterns_at_neuron(network: Network, neuron: int, rng: random.Random) -> list[list[Fraction]]:
    """Return z[1] where a neuron is 0 or positive and the function should depend on it.

    The other neurons are all negative; or a second-layer neuron is made positive, another one each
    time; or the other neurons have random signs.
    """
    width = network.widths[1]
    patterns = [[-_random_size(rng) for _ in range(width)]]
    readers = [row for row in network.layers[1].augmented().rows() if row[neuron]]
    rng.shuffle(readers)
    targets = (
        row for row in readers if any(entry > 0 for k, entry in enumerate(row[:-1]) if k != neuron)
    )
    for row in itertools.islice(targets, SETTINGS.max_targets):
        patterns.append(_activating(row, neuron, rng))
    for _ in range(SETTINGS.num_random_patterns):
        patterns.append([rng.choice((-1, 1)) * _random_size(rng) for _ in range(width)])
    values = itertools.product(patterns, (Fraction(), _random_size(rng)))
    return [[value if k == neuron else entry for k, entry in enumerate(z)] for z, value in values]


def _activating(row: Numbers, neuron: int, rng: random.Random) -> list[Fraction]:
    """Return z[1] where a second-layer neuron is positive because of other neurons."""
    z = [_random_size(rng) if entry > 0 else -_random_size(rng) for entry in row[:-1]]
    pairs = enumerate(zip(row, z, strict=False))
    gain = sum(entry * x for k, (entry, x) in pairs if x > 0 and k != neuron)
    lost = abs(row[neuron]) * 8 + abs(row[-1])
    factor = max(Fraction(1), Fraction(-(-2 * lost // gain)))
    return [factor * x for x in z]


def _positive_zero_of(row: Numbers, rng: random.Random) -> list[Fraction] | None:
    """Return positive z[1] where a second-layer neuron is 0, or None if there are none."""
    sizes = [_random_size(rng) for _ in row]
    above = sum((entry * x for entry, x in zip(row, sizes, strict=True) if entry > 0), Fraction())
    below = -sum((entry * x for entry, x in zip(row, sizes, strict=True) if entry < 0), Fraction())
    if not above or not below:
        return None
    scaled = [x * (below if entry > 0 else above) for entry, x in zip(row, sizes, strict=True)]
    return [x / scaled[-1] for x in scaled[:-1]]


def _inputs_with(network: Network, preactivations: Sequence[Numbers]) -> Iterator[Numbers]:
    """Yield a point x for each choice of z[1]: exactly, or approximately for large layers."""
    if not preactivations:
        return
    weight = network.weight(1)
    right = RationalMatrix.from_rows(preactivations).transpose()
    right = right - network.bias(1) @ RationalMatrix.from_integers([[1] * right.ncols])
    if weight.nrows * weight.ncols > SETTINGS.max_exact_weights:
        guess, *_ = np.linalg.lstsq(weight.to_floats(), right.to_floats(), rcond=None)
        if np.isfinite(guess).all():
            yield from ([Fraction(float(entry)) for entry in column] for column in guess.T)
    elif (found := solve(weight, right)) is not None:  # always: the rows are independent
        yield from found.transpose().rows()


def _with_neighbours(
    pair: tuple[Network, Network], places: Iterator[Numbers], rng: random.Random
) -> Iterator[Numbers]:
    """Yield each point and points on both sides of it."""
    for place in places:
        yield place
        direction = [Fraction(rng.randint(-8, 8) or 1) for _ in place]
        yield from _both_sides(place, direction, Fraction(1))
        if (step := _step_without_sign_change(pair, place, direction)) is not None:
            yield from _both_sides(place, direction, step)


def _both_sides(place: Numbers, direction: Numbers, step: Fraction) -> Iterator[Numbers]:
    for size in (step, -step):
        yield tuple(x + size * d for x, d in zip(place, direction, strict=True))


def _step_without_sign_change(
    pair: tuple[Network, Network], place: Numbers, direction: Numbers
) -> Fraction | None:
    """Return a step in which no neuron changes its sign unless it starts from 0, or None."""
    for exponent in SETTINGS.step_exponents:
        step = Fraction(1, 1 << exponent)
        points = [place, *_both_sides(place, direction, step)]
        if all(_signs_are_kept(network, points) for network in pair):
            return step
    return None


def _signs_are_kept(network: Network, points: Sequence[Numbers]) -> bool:
    """Return whether each neuron that is not 0 at the first point keeps its sign at all points."""
    for z in network.preactivations(points)[: network.num_hidden_layers]:
        signs = z.signs()
        if ((signs[:, :1] != 0) & (signs != signs[:, :1])).any():
            return False
    return True
