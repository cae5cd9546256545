"""Which hyperplanes seem to be of layer 1, whatever the depth of the network.

The function bends on nearly all of a hyperplane of layer 1, unless later neurons hide it. A piece
of a later layer ends where it meets a hyperplane of an earlier one, and goes on beyond it in
another direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from polyrelu.exact import dot, primitive
from polyrelu.exact.vectors import add_multiple
from polyrelu.network import Network
from polyrelu.recovery.geometry import tangents
from polyrelu.recovery.jumps import Hyperplane, Jump, is_bent_at
from polyrelu.recovery.oracle import Oracle, difference
from polyrelu.support.typing import Point, Vector

__all__ = ["KnownNeuron", "hyperplanes_of_layer_1", "neurons_on"]

#: The share of the lines that meet a hyperplane of layer 1 in a jump, at least.
_FREQUENT = Fraction(1, 4)
#: The number of points of a hyperplane that are looked at, and the share that has to be bent.
_NUM_PLACES, _SEEN = 24, Fraction(2, 3)
#: How many ends of the visible part are looked at, and how often the interval is halved there.
_NUM_ENDS, _NUM_HALVINGS = 3, 16
#: How far from an end another hyperplane is looked at.
_ASIDE = Fraction(1, 2**20)


class KnownNeuron(NamedTuple):
    """A neuron of layer 1 of a known network that vanishes on a hyperplane.

    Attributes
    ----------
    number
        Its number.
    is_turned
        Whether it is on where the hyperplane is negative.
    """

    number: int
    is_turned: bool


def hyperplanes_of_layer_1(
    oracle: Oracle, groups: Sequence[tuple[Hyperplane, list[Jump]]], num_lines: int
) -> Iterator[Hyperplane]:
    """Yield the hyperplanes that seem to be of layer 1.

    Many lines meet them, the function bends at two thirds or more of some random points of them,
    and where they are not seen any further no other hyperplane goes straight on. For one input
    there are none.
    """
    if oracle.num_inputs == 1:
        return
    planes = [plane for plane, _ in groups]
    for plane, members in groups:
        if len(members) >= _FREQUENT * num_lines and _is_of_layer_1(oracle, plane, members, planes):
            yield plane


def _is_of_layer_1(
    oracle: Oracle, plane: Hyperplane, seen: Sequence[Jump], planes: Sequence[Hyperplane]
) -> bool:
    """Whether a hyperplane is seen nearly everywhere, and does not end at another one."""
    bent, others = list[Point](), list[Point]()
    for x in _places_on(oracle, plane, seen):
        (bent if is_bent_at(oracle, x, plane.normal, _step(oracle)) else others).append(x)
        if len(others) > (1 - _SEEN) * _NUM_PLACES:
            return False
    if not bent or len(bent) < _SEEN * (len(bent) + len(others)):
        return False
    ends = others[:_NUM_ENDS] if oracle.is_exact else []
    return not any(_ends_at_another(oracle, plane, bent[0], x, planes) for x in ends)


def _places_on(oracle: Oracle, plane: Hyperplane, seen: Sequence[Jump]) -> Iterator[Point]:
    """Yield random points of a hyperplane, farther apart if it is far from 0.

    On a domain they lie on lines through jumps that were seen; other points may be outside.
    """
    basis, square = tangents([plane], oracle.num_inputs), dot(plane.normal, plane.normal)
    nearest: Point = tuple(plane.offset / square * entry for entry in plane.normal)
    for k in range(_NUM_PLACES):
        direction: Vector = (Fraction(0),) * oracle.num_inputs
        for vector in basis:
            direction = add_multiple(direction, vector, oracle.entry())
        far = (1 + abs(plane.offset)) * 2 ** (k % 6)
        if oracle.domain is None:
            yield add_multiple(nearest, direction, far)
        else:
            x = seen[k % len(seen)].point
            low, high = oracle.reach(x, direction)
            t = oracle.between(-far if low is None else low, far if high is None else high)
            yield add_multiple(x, direction, t)


def _step(oracle: Oracle) -> Fraction:
    """Return the step within which a function is tested for a bend."""
    return Fraction(1, 2**30) if oracle.is_exact else Fraction(1, 2**12)


def _ends_at_another(
    oracle: Oracle,
    plane: Hyperplane,
    seen: Point,
    unseen: Point,
    planes: Sequence[Hyperplane],
) -> bool:
    """Whether a visible part of a hyperplane ends between two points, at one that goes straight on.

    What hides a hyperplane of layer 1 is a surface of a later layer, which bends there itself.
    """
    for _ in range(_NUM_HALVINGS):
        middle = add_multiple(seen, difference(unseen, seen), Fraction(1, 2))
        if is_bent_at(oracle, middle, plane.normal, _step(oracle)):
            seen = middle
        else:
            unseen = middle
    for other in planes:
        before, after = other.at(seen), other.at(unseen)
        if before * after >= 0:
            continue
        corner = add_multiple(seen, difference(unseen, seen), before / (before - after))
        basis = tangents([other], oracle.num_inputs)
        direction = max(basis, key=lambda vector: abs(dot(plane.normal, vector)))
        sides = (add_multiple(corner, direction, t) for t in (_ASIDE, -_ASIDE))
        if all(is_bent_at(oracle, x, other.normal, _step(oracle)) for x in sides):
            return True
    return False


def neurons_on(
    network: Network, planes: Sequence[Hyperplane]
) -> tuple[tuple[KnownNeuron, ...], ...]:
    """Return the neurons of layer 1 that vanish on each of some hyperplanes, exactly."""
    found = [list[KnownNeuron]() for _ in planes]
    ours = [primitive([*plane.normal, -plane.offset]) for plane in planes]
    rows = zip(network.weight(1).rows(), network.bias(1).entries(), strict=True)
    for number, (row, bias) in enumerate(rows):
        if any(row):
            numbers, factor = primitive([*row, bias])
            for neurons, (others, other_factor) in zip(found, ours, strict=True):
                if others == numbers:
                    neurons.append(KnownNeuron(number, factor * other_factor < 0))
    return tuple(map(tuple, found))
