"""Points at which a neuron vanishes while many chosen neurons of the layer before are active.

At a random point of a wide network few neurons of later layers are active, so random walks hardly
ever meet the pieces that Theorem D asks for. Here points are moved, many at once, by an ascent on
floats (`ascent`): towards the zeros of one neuron, with another neuron kept active, while more and
more of some wanted neurons become active. `common_zeros` then finishes with Newton's method, which
ends after finitely many steps in the right cell, because everything is piecewise linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deep.ascent import (
    ASCENT,
    Here,
    corrected,
    inside,
    lengths,
    pull,
    shortfall,
    units,
)
from polyrelu.proofs.deep.orthant import NeuronPerPoint, Orthant
from polyrelu.support.budget import Budget
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["AIM", "ZeroAims", "active_starts", "common_zeros", "nearest_zeros"]


@dataclass(frozen=True, slots=True)
class AimSettings:
    """How points are moved; what every ascent needs stands in `ascent`.

    Attributes
    ----------
    steps, start_steps
        Number of steps of an ascent, and of the one that makes a neuron active.
    start_step
        Length of the first step of the latter, as a share of the length of y.
    near
        A point counts if the neuron in question is below this multiple of the mean size.
    newton_steps
        Number of steps of Newton's method.
    relative_step
        The largest change of a coordinate in such a step, as a share of the coordinate.
    tolerance
        A neuron counts as zero below this multiple of the mean coordinate.
    """

    steps: int = 200
    start_steps: int = 100
    start_step: float = 0.05
    near: float = 0.05
    newton_steps: int = 30
    relative_step: float = 0.5
    tolerance: float = 1e-9


#: The settings of every aimed search.
AIM = AimSettings()


@dataclass(frozen=True, slots=True, eq=False)
class ZeroAims:
    """What an ascent to zeros looks for at each of its points.

    A point counts if it is near a zero and the neuron that stays active is active there. The best
    one has most of the wanted neurons active.

    Attributes
    ----------
    zero
        The neurons that shall vanish, of layer ℓ.
    guard
        The neurons that shall stay active.
    wanted
        The neurons of layer ℓ-1 that shall be active, as many as possible; a row for each point.
    """

    zero: NeuronPerPoint
    guard: NeuronPerPoint
    wanted: Mask

    def gains(self, values: Sequence[Floats]) -> Floats:
        """Return how many wanted neurons are active; -1 where a point does not count."""
        (layer, zero), everywhere = self.zero, np.arange(len(values[0]))
        at_zero = values[layer - 1][everywhere, zero]
        size = np.abs(values[layer - 1]).mean(axis=1)
        gains = ((values[layer - 2] > 0) & self.wanted).sum(axis=1)
        is_active = values[self.guard[0] - 1][everywhere, self.guard[1]] > 0
        return np.where(is_active & (np.abs(at_zero) < AIM.near * size), gains, -1.0)

    def directions(self, orthant: Orthant, here: Here) -> Floats:
        """Return the gradients of the wanted neurons, each with its strength."""
        before = self.zero[0] - 1
        strengths = pull(here.values[before - 1], self.wanted)
        return orthant.gradients(here.slopes, before, strengths)

    def moved(self, orthant: Orthant, here: Here, move: Floats) -> Floats:
        """Return the points after a move, with corrections towards zeros and active guards."""
        layer, zero = self.zero
        at_zero = here.values[layer - 1][np.arange(len(zero)), zero]
        move = move + corrected(orthant, here, (self.zero, -at_zero), move)
        lacking = shortfall(here.values, self.guard)
        change = corrected(orthant, here, (self.guard, lacking), move, both_ways=False)
        return np.asarray(here.points + move + change, dtype=np.float64)


def active_starts(
    orthant: Orthant, neurons: NeuronPerPoint, points: Floats, budget: Budget
) -> Floats:
    """Move points until a neuron is active at each of them, where that succeeds.

    As for `ascend`, the limits of time and memory, or Ctrl-C, end this early.
    """
    layer, indices = neurons
    for step in range(AIM.start_steps):
        if budget.why_stopped() is not None:
            break
        left = 1 - step / AIM.start_steps
        slopes = orthant.slopes(orthant.values(points), leak=ASCENT.leak * left)
        towards = units(orthant.gradients(slopes, layer, indices))
        points = points + AIM.start_step * left * lengths(points) * towards
        points = inside(orthant, points)
    return points


def common_zeros(
    orthant: Orthant,
    points: Floats,
    neurons: Sequence[NeuronPerPoint],
    targets: Floats | None = None,
    free: Indices | None = None,
) -> tuple[Mask, Floats]:
    """Move points to where some neurons vanish, or have the given values, by Newton's method.

    This is for points of the orthant; `newton` has the method for walks on all of R^{n_0}.
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
    orthant: Orthant,
    points: Floats,
    neurons: Sequence[NeuronPerPoint],
    layer: int,
    count: int,
    budget: Budget,
) -> Indices:
    """Return the neurons of a layer whose zeros are nearest where some neurons stay as they are.

    The distance is measured relative to the coordinates of each point. At most the first one of the
    neurons is taken into account. Shape (points, count), the nearest first. The limits of time and
    memory, or Ctrl-C, end this early, with fewer rows.
    """
    values = orthant.values(points)
    actives = [value > 0 for value in values]
    (zero_layer, zeros), found = neurons[0], list[Indices]()
    for i, point in enumerate(points):
        if budget.why_stopped() is not None:
            break
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
    return np.array(found, dtype=np.int64).reshape(len(found), min(count, orthant.widths[layer]))


def _at(values: Sequence[Floats], neurons: Sequence[NeuronPerPoint]) -> Floats:
    """Return the values of some neurons, a row for each point."""
    everywhere = np.arange(len(values[0]))
    columns = [values[layer - 1][everywhere, found] for layer, found in neurons]
    return np.asarray(np.stack(columns, axis=1), dtype=np.float64)


def _tolerance(points: Floats) -> Floats:
    """Return below which size a preactivation counts as zero at each point, as a column."""
    return np.asarray(AIM.tolerance * points.mean(axis=1, keepdims=True), dtype=np.float64)
