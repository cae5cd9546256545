"""Points at which chosen neurons of two consecutive layers have the wanted signs.

Points are moved, many at once, by an ascent on floats like the one of `aim`: while some neurons are
kept active, more and more of the wanted neurons of layer ℓ-1 become active, and neurons of layer ℓ
get their wanted signs. No more neurons shall be active in layer ℓ-1 than in each earlier layer,
because otherwise their gradients are dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deep.aim import AIM, inside, lengths, pull, units
from polyrelu.proofs.deep.orthant import Orthant, Zeros
from polyrelu.support.typing import Floats

__all__ = ["ASCENT", "SignGoals", "ascend_to_signs"]


@dataclass(frozen=True, slots=True)
class AscentSettings:
    """How points are moved; what both ascents need stands in `aim`.

    Attributes
    ----------
    least_active
        Least number of active neurons of layer ℓ-1.
    reward
        What a wanted sign of layer ℓ counts, where an active neuron counts its weight.
    wanted_pull, own_pull
        How strongly the wanted neurons of layer ℓ-1 are pulled, and neurons of layer ℓ to their
        signs.
    spare, short_pull, other_pull
        Layers before layer ℓ-1 are pulled strongly if they do not have this many more active
        neurons, and weakly otherwise.
    """

    least_active: int = 3
    reward: float = 30.0
    wanted_pull: float = 2.0
    own_pull: float = 2.0
    spare: int = 4
    short_pull: float = 3.0
    other_pull: float = 0.2


#: The settings of every ascent to signs.
ASCENT = AscentSettings()


@dataclass(frozen=True, slots=True)
class SignGoals:
    """What an ascent looks for at each of its points.

    Attributes
    ----------
    layer
        A layer ℓ.
    guards
        Neurons that stay active.
    weights
        How much each active neuron of layer ℓ-1 counts, a row for each point.
    signs
        The wanted signs of neurons of layer ℓ, a row for each point; 0 where any will do.
    """

    layer: int
    guards: Sequence[Zeros]
    weights: Floats
    signs: Floats


def ascend_to_signs(orthant: Orthant, goals: SignGoals, points: Floats, steps: int) -> Floats:
    """Move points towards goals; return of each the best point on its way, if there is a good one.

    A point is good if its guards are active, with some neurons of layer ℓ-1, but not with more than
    are active in each layer between the first and that one: otherwise their gradients would be
    dependent. The best one has the most weight of active neurons and rewards for wanted signs.
    """
    best, best_points = np.full(len(points), -1.0), points.copy()
    velocity = np.zeros_like(points)
    for step in range(steps):
        left = 1 - step / steps
        values = orthant.values(points)
        gain = _gain(goals, values)
        is_better = gain > best
        best[is_better], best_points[is_better] = gain[is_better], points[is_better]
        slopes = orthant.slopes(values, leak=AIM.last_leak + AIM.leak * left)
        towards = units(_towards(orthant, goals, values, slopes))
        velocity = AIM.momentum * velocity + (1 - AIM.momentum) * towards
        move = AIM.step * left * lengths(points) * velocity
        for guard in goals.guards:
            move = move + _raised(orthant, slopes, values, guard, points, move)
        points = inside(orthant, points + move)
    return best_points[best >= 0]


def _gain(goals: SignGoals, values: Sequence[Floats]) -> Floats:
    """Return how good points are; -1 if they are not good at all."""
    before, own, everywhere = (
        values[goals.layer - 2],
        values[goals.layer - 1],
        np.arange(len(values[0])),
    )
    num_active = np.count_nonzero(before > 0, axis=1)
    is_good = num_active >= ASCENT.least_active
    for below in values[1 : goals.layer - 2]:
        is_good &= num_active <= np.count_nonzero(below > 0, axis=1)
    for layer, guards in goals.guards:
        is_good &= values[layer - 1][everywhere, guards] > 0
    num_right = np.count_nonzero(goals.signs * own > 0, axis=1)
    gain = ((before > 0) * goals.weights).sum(axis=1) + ASCENT.reward * num_right
    return np.where(is_good, gain, -1.0)


def _towards(
    orthant: Orthant, goals: SignGoals, values: Sequence[Floats], slopes: Sequence[Floats]
) -> Floats:
    """Return in which directions points are pulled."""
    layer = goals.layer
    before, own = values[layer - 2], values[layer - 1]
    strengths = pull(before, goals.weights > 0) * goals.weights
    found = ASCENT.wanted_pull * units(orthant.gradients(slopes, layer - 1, strengths))
    num_active = np.count_nonzero(before > 0, axis=1)
    for number in range(2, layer - 1):
        below = values[number - 1]
        strengths = pull(below, np.ones(below.shape, dtype=np.bool_))
        is_short = num_active > np.count_nonzero(below > 0, axis=1) - ASCENT.spare
        factors = np.where(is_short, ASCENT.short_pull, ASCENT.other_pull)[:, None]
        found = found + factors * units(orthant.gradients(slopes, number, strengths))
    if goals.signs.any():
        strengths = goals.signs * pull(goals.signs * own, goals.signs != 0)
        found = found + ASCENT.own_pull * units(orthant.gradients(slopes, layer, strengths))
    return np.asarray(found, dtype=np.float64)


def _raised(
    orthant: Orthant,
    slopes: Sequence[Floats],
    values: Sequence[Floats],
    guard: Zeros,
    points: Floats,
    move: Floats,
) -> Floats:
    """Return what a move lacks to make the guards as large as they shall be at least."""
    layer, guards = guard
    own = values[layer - 1]
    least = AIM.margin * np.abs(own).mean(axis=1)
    lacking = (
        least
        - own[np.arange(len(own)), guards]
        - np.einsum("ij,ij->i", move, gradient := orthant.gradients(slopes, layer, guards))
    )
    length = lengths(gradient)
    longest = AIM.correction * lengths(points)
    return np.asarray(np.clip(lacking[:, None] / length, 0, longest) * gradient / length)
