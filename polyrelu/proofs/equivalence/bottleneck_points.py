"""Points where two networks in canonical position should differ, if they are not the same.

The networks read first-layer neurons with independent weights (`symmetry.canonical_position`), so the preactivations
z[1] of either one may be chosen, and a point x with these preactivations follows from linear equations. Around x three
points are looked at: x and x ± δ d, where δ is so small that no neuron changes its sign on the way unless it is 0 at x.
If one of the networks breaks at x and the other does not, or both are affine there with different gradients, they
differ at one of the three points, unless d is special. The places x are:

* on the hyperplane of a first-layer neuron of one network that the other one has not, or has with the other
  orientation: there only one of them breaks; and on its active side, where only one of them has a gradient along it;
* where a second-layer neuron of one network is 0 and all first-layer neurons are active, if its coefficient in the
  absolute-value normal forms of both is not the same;
* where all first-layer neurons are active: if all coefficients are the same, the affine parts differ.

All this is a search that ends after a bounded number of points; each point is verified by whoever asks for it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from polyrelu.exact import RationalMatrix, solve
from polyrelu.network import Network
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated, primitive_row, sparse_row

__all__ = ["first_layer_rows", "places_to_differ"]

#: First-layer neurons of each network, and second-layer neurons of both, that places are made for.
_MOST_NEURONS = 16
#: Second-layer neurons that are made active around a first-layer neuron.
_MOST_TARGETS = 3
#: Random signs that are tried around a first-layer neuron.
_RANDOM_PATTERNS = 3
#: 2 · (1 + targets + random patterns): the neuron itself is 0 or positive.
_MOST_PATTERNS = 2 * (1 + _MOST_TARGETS + _RANDOM_PATTERNS)
#: Places where a second-layer neuron is 0.
_TRIES = 2
#: Up to so many weights of the first layer linear equations are solved exactly.
_MOST_ENTRIES = 1 << 14
#: δ is 1, or 2^-e for one of these e.
_EXPONENTS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)

Vector = Sequence[Fraction]


def first_layer_rows(network: Network) -> list[SparseForm]:
    """The first layer's primitive rows, over (1, x)."""
    rows = network.layers[0].augmented().primitive_rows()
    return [primitive_row(sparse_row([row[-1], *row[:-1]]))[0] for row in rows]


def places_to_differ(
    first: Network, second: Network, joint: JointNetwork, seed: int
) -> Iterator[Vector]:
    """Points x, a bounded number of them, for two networks in canonical position and their joint network.

    >>> from polyrelu.network import from_arrays
    >>> f = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 1]], [-1]), ([[1]], [0])])
    >>> g = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 1]], [-2]), ([[1]], [0])])
    >>> joint = JointNetwork(f, g, RationalMatrix.from_integers([[0, 1, 0], [0, 0, 1]]))
    >>> any(f(x) != g(x) for x in places_to_differ(f, g, joint, 0))
    True
    """
    chance = random.Random(seed)
    pair = (first, second)
    rows = [first_layer_rows(network) for network in pair]
    missing = [_missing(*rows), _missing(*reversed(rows))]
    beside = [
        [_beside_neuron(network, j, chance) for j in neurons]
        for network, neurons in zip(pair, missing, strict=True)
    ]
    for number in range(_MOST_PATTERNS):  # one kind for all neurons before the next one
        for network, found in zip(pair, beside, strict=True):
            places = [z for patterns in found for z in patterns[number : number + 1]]
            yield from _around(pair, _at(network, places), chance)
    neurons = [atom.neuron for atom in joint.atoms if atom.neuron.layer == 2][:_MOST_NEURONS]
    for neuron in neurons:
        network = pair[neuron.network]
        row = network.layers[1].augmented().rows()[neuron.place]
        on_it = [u for u in (_zero_of(row, chance) for _ in range(_TRIES)) if u is not None]
        yield from _around(pair, _at(network, on_it), chance)
    active = [[_size(chance) for _ in range(first.widths[1])] for _ in range(_TRIES)]
    yield from _around(pair, _at(first, active), chance)


def _missing(own: list[SparseForm], other: list[SparseForm]) -> list[int]:
    """The rows that the other network has not: first those whose hyperplanes it has not, then those that it has with
    the other orientation."""
    there = set(other)
    found = [j for j, row in enumerate(own) if row not in there]
    return sorted(found, key=lambda j: negated(own[j]) in there)[:_MOST_NEURONS]


def _size(chance: random.Random) -> Fraction:
    return Fraction(chance.randint(1, 64), 8)


def _beside_neuron(network: Network, neuron: int, chance: random.Random) -> list[list[Fraction]]:
    """Preactivations z[1] where a neuron of the first layer is 0, or positive, and the function should depend on it.

    The others are all negative; or those positive that make a second-layer neuron positive, of several ones in turn; or
    they have random signs.
    """
    width = network.widths[1]
    patterns = [[-_size(chance) for _ in range(width)]]
    readers = [row for row in network.layers[1].augmented().rows() if row[neuron]]
    chance.shuffle(readers)
    targets = (
        row for row in readers if any(entry > 0 for k, entry in enumerate(row[:-1]) if k != neuron)
    )
    for row in itertools.islice(targets, _MOST_TARGETS):
        patterns.append(_activating(row, neuron, chance))
    for _ in range(_RANDOM_PATTERNS):
        patterns.append([chance.choice((-1, 1)) * _size(chance) for _ in range(width)])
    values = itertools.product(patterns, (Fraction(), _size(chance)))
    return [[value if k == neuron else entry for k, entry in enumerate(z)] for z, value in values]


def _activating(row: Vector, neuron: int, chance: random.Random) -> list[Fraction]:
    """z[1] where a second-layer neuron that some other first-layer neuron can make positive is positive."""
    z = [_size(chance) if entry > 0 else -_size(chance) for entry in row[:-1]]
    gain = sum(
        (
            entry * x
            for k, (entry, x) in enumerate(zip(row, z, strict=False))
            if x > 0 and k != neuron
        )
    )
    lost = abs(row[neuron]) * 8 + abs(row[-1])
    factor = max(Fraction(1), Fraction(-(-2 * lost // gain)))
    return [factor * x for x in z]


def _zero_of(row: Vector, chance: random.Random) -> list[Fraction] | None:
    """z[1], all positive, where a second-layer neuron is 0."""
    sizes = [_size(chance) for _ in row]
    above = sum((entry * x for entry, x in zip(row, sizes, strict=True) if entry > 0), Fraction())
    below = -sum((entry * x for entry, x in zip(row, sizes, strict=True) if entry < 0), Fraction())
    if not above or not below:
        return None
    scaled = [x * (below if entry > 0 else above) for entry, x in zip(row, sizes, strict=True)]
    return [x / scaled[-1] for x in scaled[:-1]]


def _at(network: Network, preactivations: Sequence[Vector]) -> Iterator[Vector]:
    """A point x for each choice of z[1]: exactly, or nearly where that would take long."""
    if not preactivations:
        return
    weight = network.weight(1)
    right = RationalMatrix.from_rows(preactivations).transpose()
    right = right - network.bias(1) @ RationalMatrix.from_integers([[1] * right.ncols])
    if weight.nrows * weight.ncols > _MOST_ENTRIES:
        guess, *_ = np.linalg.lstsq(weight.to_floats(), right.to_floats(), rcond=None)
        if np.isfinite(guess).all():
            yield from ([Fraction(float(entry)) for entry in column] for column in guess.T)
    elif (found := solve(weight, right)) is not None:  # it has independent rows
        yield from found.transpose().rows()


def _around(
    pair: tuple[Network, Network], places: Iterator[Vector], chance: random.Random
) -> Iterator[Vector]:
    """Each place, and the points on both sides of it."""
    for place in places:
        yield place
        direction = [Fraction(chance.randint(-8, 8) or 1) for _ in place]
        yield from _beside(place, direction, Fraction(1))
        if (step := _short_step(pair, place, direction)) is not None:
            yield from _beside(place, direction, step)


def _beside(place: Vector, direction: Vector, step: Fraction) -> Iterator[Vector]:
    for size in (step, -step):
        yield tuple(x + size * d for x, d in zip(place, direction, strict=True))


def _short_step(pair: tuple[Network, Network], place: Vector, direction: Vector) -> Fraction | None:
    """A step on which no neuron changes its sign unless it starts from 0."""
    for exponent in _EXPONENTS:
        step = Fraction(1, 1 << exponent)
        points = [place, *_beside(place, direction, step)]
        if all(_keeps_signs(network, points) for network in pair):
            return step
    return None


def _keeps_signs(network: Network, points: Sequence[Vector]) -> bool:
    for z in network.preactivations(points)[: network.hidden_layers]:
        signs = z.signs()
        if ((signs[:, :1] != 0) & (signs != signs[:, :1])).any():
            return False
    return True
