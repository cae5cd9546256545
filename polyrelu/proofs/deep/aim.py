"""Points at which a neuron vanishes while many chosen neurons of the layer before are active.

At a random point of a wide network few neurons of later layers are active, so random walks hardly
ever meet the pieces that Theorem D asks for. Here points are moved, many at once, by an ascent on
floats: towards the zeros of one neuron, with another neuron kept active, while more and more of
some wanted neurons become active. `common_zeros` then finishes with Newton's method, which ends
after finitely many steps in the right cell, because everything is piecewise linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deep.orthant import Orthant, Zeros
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["AIM", "Goals", "active_starts", "ascend", "common_zeros", "nearest_zeros"]


@dataclass(frozen=True, slots=True)
class AimSettings:
    """How points are moved.

    Attributes
    ----------
    start_steps
        Number of steps of the ascent that makes a neuron active.
    step, start_step
        Length of the first step, as a share of the length of y; later ones are shorter.
    momentum
        Share of the direction of a step that is taken from the steps before.
    leak, last_leak
        Slopes of inactive neurons in the gradients, at the first and at the last step.
    correction
        Length of the largest step that keeps a guard active, as a share of the length.
    margin
        Guards have at least this multiple of the mean size of their layer.
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
    pull_below
        Wanted neurons above this multiple of the mean size of their layer are not pulled.
    floor
        The least coordinate y_i, as a multiple of the mean coordinate.
    newton_steps
        Number of steps of Newton's method.
    relative_step
        The largest change of a coordinate in such a step, as a share of the coordinate.
    tolerance
        A neuron counts as zero below this multiple of the mean coordinate.
    """

    start_steps: int = 100
    step: float = 0.3
    start_step: float = 0.05
    momentum: float = 0.8
    leak: float = 0.3
    last_leak: float = 0.02
    correction: float = 0.1
    margin: float = 0.15
    least_active: int = 3
    reward: float = 30.0
    wanted_pull: float = 2.0
    own_pull: float = 2.0
    spare: int = 4
    short_pull: float = 3.0
    other_pull: float = 0.2
    pull_below: float = 0.4
    floor: float = 0.04
    newton_steps: int = 30
    relative_step: float = 0.5
    tolerance: float = 1e-9


#: The settings of every aimed search.
AIM = AimSettings()


@dataclass(frozen=True, slots=True)
class Goals:
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


def active_starts(orthant: Orthant, neurons: Zeros, points: Floats) -> Floats:
    """Move points until a neuron is active at each of them, where that succeeds."""
    layer, indices = neurons
    for step in range(AIM.start_steps):
        left = 1 - step / AIM.start_steps
        slopes = orthant.slopes(orthant.values(points), leak=AIM.leak * left)
        towards = _units(orthant.gradients(slopes, layer, indices))
        points = points + AIM.start_step * left * _lengths(points) * towards
        points = _inside(orthant, points)
    return points


def ascend(orthant: Orthant, goals: Goals, points: Floats, steps: int) -> Floats:
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
        towards = _units(_towards(orthant, goals, values, slopes))
        velocity = AIM.momentum * velocity + (1 - AIM.momentum) * towards
        move = AIM.step * left * _lengths(points) * velocity
        for guard in goals.guards:
            move = move + _raised(orthant, slopes, values, guard, points, move)
        points = _inside(orthant, points + move)
    return best_points[best >= 0]


def _gain(goals: Goals, values: Sequence[Floats]) -> Floats:
    """Return how good points are; -1 if they are not good at all."""
    before, own, everywhere = (
        values[goals.layer - 2],
        values[goals.layer - 1],
        np.arange(len(values[0])),
    )
    num_active = np.count_nonzero(before > 0, axis=1)
    is_good = num_active >= AIM.least_active
    for below in values[1 : goals.layer - 2]:
        is_good &= num_active <= np.count_nonzero(below > 0, axis=1)
    for layer, guards in goals.guards:
        is_good &= values[layer - 1][everywhere, guards] > 0
    num_right = np.count_nonzero(goals.signs * own > 0, axis=1)
    gain = ((before > 0) * goals.weights).sum(axis=1) + AIM.reward * num_right
    return np.where(is_good, gain, -1.0)


def _towards(
    orthant: Orthant, goals: Goals, values: Sequence[Floats], slopes: Sequence[Floats]
) -> Floats:
    """Return in which directions points are pulled."""
    layer = goals.layer
    before, own = values[layer - 2], values[layer - 1]
    strengths = _pull(before, goals.weights > 0) * goals.weights
    found = AIM.wanted_pull * _units(orthant.gradients(slopes, layer - 1, strengths))
    num_active = np.count_nonzero(before > 0, axis=1)
    for number in range(2, layer - 1):
        below = values[number - 1]
        strengths = _pull(below, np.ones(below.shape, dtype=np.bool_))
        is_short = num_active > np.count_nonzero(below > 0, axis=1) - AIM.spare
        factors = np.where(is_short, AIM.short_pull, AIM.other_pull)[:, None]
        found = found + factors * _units(orthant.gradients(slopes, number, strengths))
    if goals.signs.any():
        strengths = goals.signs * _pull(goals.signs * own, goals.signs != 0)
        found = found + AIM.own_pull * _units(orthant.gradients(slopes, layer, strengths))
    return np.asarray(found, dtype=np.float64)


def _pull(values: Floats, wanted: Mask) -> Floats:
    """Return how strongly each wanted neuron is pulled: most near its zero."""
    size = np.abs(values).mean(axis=1, keepdims=True)
    relative = values / np.maximum(size, np.finfo(np.float64).tiny)
    strengths = 1 / (1 + (2 * relative) ** 2)
    return np.where(wanted & (relative < AIM.pull_below), strengths, 0.0)


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
    length = _lengths(gradient)
    longest = AIM.correction * _lengths(points)
    return np.asarray(np.clip(lacking[:, None] / length, 0, longest) * gradient / length)


def common_zeros(
    orthant: Orthant,
    points: Floats,
    neurons: Sequence[Zeros],
    targets: Floats | None = None,
    free: Indices | None = None,
) -> tuple[Mask, Floats]:
    """Move points to where some neurons vanish, or have the given values, by Newton's method.

    The neurons count as active where the forms of others depend on them.

    Parameters
    ----------
    orthant
        The coordinates.
    points
        The points.
    neurons
        The neurons, at least one of them in a layer above the first.
    targets
        The wanted values, a row for each point; 0 by default.
    free
        For each point a coordinate that may vanish; other ones stay positive.

    Returns
    -------
    tuple of Mask and Floats
        Where this succeeded, and the points.
    """
    wanted = np.zeros((len(points), len(neurons))) if targets is None else targets
    for _ in range(AIM.newton_steps):
        values = orthant.values(points, neurons)
        lacking = wanted - _at(values, neurons)
        if (np.abs(lacking) < _tolerance(points) / 2).all():
            break
        slopes = orthant.slopes(values, neurons)
        gradients = np.stack([orthant.gradients(slopes, *zero) for zero in neurons], axis=1)
        weights = points.copy()
        if free is not None:
            weights[np.arange(len(points)), free] = points.mean(axis=1)
        scaled = gradients * weights[:, None, :]
        factors = np.linalg.pinv(scaled @ scaled.transpose(0, 2, 1), hermitian=True)
        step = weights * np.einsum("pij,pi,pjk->pk", factors, lacking, scaled)
        relative = np.abs(step / weights).max(axis=1, keepdims=True)
        points = points + step * np.minimum(1, AIM.relative_step / np.maximum(relative, 1e-300))
    lacking = wanted - _at(orthant.values(points, neurons), neurons)
    is_positive = points > 0
    if free is not None:
        is_positive[np.arange(len(points)), free] = True
    succeeded = (np.abs(lacking) < _tolerance(points)).all(axis=1) & is_positive.all(axis=1)
    return np.asarray(succeeded, dtype=np.bool_), points


def nearest_zeros(
    orthant: Orthant, points: Floats, neurons: Sequence[Zeros], layer: int, count: int
) -> Indices:
    """Return the neurons of a layer whose zeros are nearest where some neurons stay as they are.

    The distance is measured relative to the coordinates of each point. At most the first one of the
    neurons is taken into account. Shape (points, count), the nearest first.
    """
    values = orthant.values(points)
    actives = [value > 0 for value in values]
    (zero_layer, zeros), found = neurons[0], list[Indices]()
    for i, point in enumerate(points):
        active = [of_layer[i] for of_layer in actives]
        for number, indices in neurons:
            active[number - 1][indices[i]] = number == layer and active[number - 1][indices[i]]
        gradients = orthant.all_gradients(active, layer) * point
        if zero_layer == layer:
            held = gradients[zeros[i]].copy()
        else:
            held = orthant.all_gradients(active, zero_layer)[zeros[i]] * point
        across = np.outer(gradients @ held / (held @ held or 1.0), held)
        lengths = np.linalg.norm(gradients - across, axis=1)
        with np.errstate(all="ignore"):
            distances = np.abs(values[layer - 1][i]) / lengths
        distances[lengths < AIM.tolerance * np.linalg.norm(gradients, axis=1)] = np.inf
        if zero_layer == layer:
            distances[zeros[i]] = np.inf
        distances[np.isnan(distances)] = np.inf
        found.append(np.argsort(distances, kind="stable")[:count])
    return np.array(found, dtype=np.int64).reshape(len(points), -1)


def _at(values: Sequence[Floats], neurons: Sequence[Zeros]) -> Floats:
    """Return the values of some neurons, a row for each point."""
    everywhere = np.arange(len(values[0]))
    columns = [values[layer - 1][everywhere, found] for layer, found in neurons]
    return np.asarray(np.stack(columns, axis=1), dtype=np.float64)


def _inside(orthant: Orthant, points: Floats) -> Floats:
    """Return points with coordinates that are large enough, of the usual length."""
    usual = orthant.size * np.sqrt(points.shape[1])
    points = np.maximum(points, AIM.floor * orthant.size)
    return np.asarray(points * (usual / _lengths(points)), dtype=np.float64)


def _tolerance(points: Floats) -> Floats:
    """Return below which size a preactivation counts as zero at each point, as a column."""
    return np.asarray(AIM.tolerance * points.mean(axis=1, keepdims=True), dtype=np.float64)


def _lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors as a column, at least a tiny number."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(np.maximum(lengths, 1e-300)[:, None], dtype=np.float64)


def _units(vectors: Floats) -> Floats:
    """Return vectors of length 1; zero vectors stay zero."""
    return np.asarray(vectors / _lengths(vectors), dtype=np.float64)
