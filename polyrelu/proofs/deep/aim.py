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

__all__ = [
    "AIM",
    "Goals",
    "active_starts",
    "ascend",
    "common_zeros",
    "inside",
    "lengths",
    "nearest_zeros",
    "pull",
    "units",
]


@dataclass(frozen=True, slots=True)
class AimSettings:
    """How points are moved.

    Attributes
    ----------
    steps, start_steps
        Number of steps of an ascent, and of the one that makes a neuron active.
    step, start_step
        Length of the first step, as a share of the length of y; later ones are shorter.
    momentum
        Share of the direction of a step that is taken from the steps before.
    leak, last_leak
        Slopes of inactive neurons in the gradients, at the first and at the last step.
    correction
        Length of the largest step towards a zero or an active neuron, as a share of the length.
    margin
        The neuron that is kept active has at least this multiple of the mean size of its layer.
    near
        A point counts if the neuron in question is below this multiple of the mean size.
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

    steps: int = 200
    start_steps: int = 100
    step: float = 0.3
    start_step: float = 0.05
    momentum: float = 0.8
    leak: float = 0.3
    last_leak: float = 0.02
    correction: float = 0.1
    margin: float = 0.15
    near: float = 0.05
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
    zero
        The neurons that shall vanish, of layer ℓ.
    guard
        The neurons that shall be active.
    wanted
        The neurons of layer ℓ-1 that shall be active, as many as possible; a row for each point.
    """

    zero: Zeros
    guard: Zeros
    wanted: Mask


def active_starts(orthant: Orthant, neurons: Zeros, points: Floats) -> Floats:
    """Move points until a neuron is active at each of them, where that succeeds."""
    layer, indices = neurons
    for step in range(AIM.start_steps):
        left = 1 - step / AIM.start_steps
        slopes = orthant.slopes(orthant.values(points), leak=AIM.leak * left)
        towards = units(orthant.gradients(slopes, layer, indices))
        points = points + AIM.start_step * left * lengths(points) * towards
        points = inside(orthant, points)
    return points


def ascend(
    orthant: Orthant, goals: Goals, points: Floats, share: float = 1.0
) -> tuple[Mask, Floats]:
    """Move points towards the goals, in steps that are a share of the usual ones.

    Returns
    -------
    tuple of Mask and Floats
        Where a point was met that is near a zero, with the guard active; and of those points the
        one at which most of the wanted neurons are active.
    """
    layer, zero = goals.zero
    all_points = np.arange(len(points))
    best, best_points = np.full(len(points), -1), points.copy()
    velocity = np.zeros_like(points)
    for step in range(AIM.steps):
        left = 1 - step / AIM.steps
        values = orthant.values(points)
        before, at_zero = values[layer - 2], values[layer - 1][all_points, zero]
        size = np.abs(values[layer - 1]).mean(axis=1)
        gain = ((before > 0) & goals.wanted).sum(axis=1)
        is_active = values[goals.guard[0] - 1][all_points, goals.guard[1]] > 0
        is_better = is_active & (np.abs(at_zero) < AIM.near * size) & (gain > best)
        best[is_better], best_points[is_better] = gain[is_better], points[is_better]
        slopes = orthant.slopes(values, leak=AIM.last_leak + AIM.leak * left)
        strengths = pull(before, goals.wanted)
        towards = units(orthant.gradients(slopes, layer - 1, strengths))
        velocity = AIM.momentum * velocity + (1 - AIM.momentum) * towards
        move = share * AIM.step * left * lengths(points) * velocity
        move = move + _correction(orthant, slopes, (goals.zero, -at_zero), points, move)
        wanted = _shortfall(values, goals.guard)
        change = _correction(orthant, slopes, (goals.guard, wanted), points, move, False)
        points = inside(orthant, points + move + change)
    return best >= 0, best_points


def pull(values: Floats, wanted: Mask) -> Floats:
    """Return how strongly each wanted neuron is pulled: most near its zero."""
    size = np.abs(values).mean(axis=1, keepdims=True)
    relative = values / np.maximum(size, np.finfo(np.float64).tiny)
    strengths = 1 / (1 + (2 * relative) ** 2)
    return np.where(wanted & (relative < AIM.pull_below), strengths, 0.0)


def _shortfall(values: Sequence[Floats], guard: Zeros) -> Floats:
    """Return by how much the guards are less than they shall be at least."""
    own = values[guard[0] - 1]
    least = AIM.margin * np.abs(own).mean(axis=1)
    return np.asarray(least - own[np.arange(len(own)), guard[1]], dtype=np.float64)


def _correction(
    orthant: Orthant,
    slopes: Sequence[Floats],
    goal: tuple[Zeros, Floats],
    points: Floats,
    move: Floats,
    both_ways: bool = True,
) -> Floats:
    """Return what a move lacks to change neurons as wanted, to first order."""
    neurons, changes = goal
    gradient = orthant.gradients(slopes, *neurons)
    length = lengths(gradient)
    lacking = (changes - np.einsum("ij,ij->i", move, gradient))[:, None] / length
    longest = AIM.correction * lengths(points)
    least = -longest if both_ways else 0 * longest
    return np.asarray(np.clip(lacking, least, longest) * gradient / length, dtype=np.float64)


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


def inside(orthant: Orthant, points: Floats) -> Floats:
    """Return points with coordinates that are large enough, of the usual length."""
    usual = orthant.size * np.sqrt(points.shape[1])
    points = np.maximum(points, AIM.floor * orthant.size)
    return np.asarray(points * (usual / lengths(points)), dtype=np.float64)


def _tolerance(points: Floats) -> Floats:
    """Return below which size a preactivation counts as zero at each point, as a column."""
    return np.asarray(AIM.tolerance * points.mean(axis=1, keepdims=True), dtype=np.float64)


def lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors as a column, at least a tiny number."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(np.maximum(lengths, 1e-300)[:, None], dtype=np.float64)


def units(vectors: Floats) -> Floats:
    """Return vectors of length 1; zero vectors stay zero."""
    return np.asarray(vectors / lengths(vectors), dtype=np.float64)
