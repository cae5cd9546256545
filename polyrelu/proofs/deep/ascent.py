"""The ascent in floats that both aimed searches make: points are moved, many at once.

Each step pulls the points towards what is wanted (`Aims`), with momentum and in shorter and shorter
steps, and then corrects the move to first order. Of each point the best one on its way is kept.
Inactive neurons have a small slope in the gradients, so that they can become active.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from polyrelu.proofs.deep.orthant import NeuronPerPoint, Orthant
from polyrelu.support.budget import Budget
from polyrelu.support.typing import Floats, Mask

__all__ = [
    "ASCENT",
    "Aims",
    "Here",
    "ascend",
    "corrected",
    "inside",
    "lengths",
    "pull",
    "shortfall",
    "units",
]


@dataclass(frozen=True, slots=True)
class AscentSettings:
    """How points are moved.

    Attributes
    ----------
    step
        Length of the first step, as a share of the length of y; later ones are shorter.
    momentum
        Share of the direction of a step that is taken from the steps before.
    leak, last_leak
        Slopes of inactive neurons in the gradients: their difference, and the one at the last step.
    correction
        Length of the largest correction, as a share of the length of y.
    margin
        A neuron that is kept active has at least this multiple of the mean size of its layer.
    pull_below
        Wanted neurons above this multiple of the mean size of their layer are not pulled.
    floor
        The least coordinate y_i, as a multiple of the usual size of coordinates.
    """

    step: float = 0.3
    momentum: float = 0.8
    leak: float = 0.3
    last_leak: float = 0.02
    correction: float = 0.1
    margin: float = 0.15
    pull_below: float = 0.4
    floor: float = 0.04


#: The settings of every ascent.
ASCENT = AscentSettings()


@dataclass(frozen=True, slots=True, eq=False)
class Here:
    """Where the points of an ascent are before a step.

    Attributes
    ----------
    points
        The points y, one a row.
    values
        The preactivations z[1], …, z[H] there.
    slopes
        The derivatives of the activations, with the leak of the step.
    """

    points: Floats
    values: Sequence[Floats]
    slopes: Sequence[Floats]


class Aims(Protocol):
    """What an ascent looks for at each of its points."""

    def gains(self, values: Sequence[Floats]) -> Floats:
        """Return how good points are, from their preactivations; below 0 if they do not count."""

    def directions(self, orthant: Orthant, here: Here) -> Floats:
        """Return in which directions points are pulled; the lengths do not matter."""

    def moved(self, orthant: Orthant, here: Here, move: Floats) -> Floats:
        """Return the points after a move and the corrections that the aims need."""


def ascend(
    orthant: Orthant,
    aims: Aims,
    points: Floats,
    steps: int,
    budget: Budget,
    share: float = 1.0,
) -> tuple[Mask, Floats]:
    """Move points towards what is wanted, in steps that are a share of the usual ones.

    The budget does not pay for this; its limits of time and memory, or Ctrl-C, end it early.

    Returns
    -------
    tuple of Mask and Floats
        Where a point was met that counts, and the best ones of those.
    """
    best, best_points = np.full(len(points), -1.0), points.copy()
    velocity = np.zeros_like(points)
    for step in range(steps):
        if budget.why_stopped() is not None:
            break
        left = 1 - step / steps
        values = orthant.values(points)
        gains = aims.gains(values)
        is_better = gains > best
        best[is_better], best_points[is_better] = gains[is_better], points[is_better]
        slopes = orthant.slopes(values, leak=ASCENT.last_leak + ASCENT.leak * left)
        here = Here(points, values, slopes)
        towards = units(aims.directions(orthant, here))
        velocity = ASCENT.momentum * velocity + (1 - ASCENT.momentum) * towards
        move = share * ASCENT.step * left * lengths(points) * velocity
        points = inside(orthant, aims.moved(orthant, here, move))
    return best >= 0, best_points


def pull(values: Floats, wanted: Mask) -> Floats:
    """Return how strongly each wanted neuron is pulled: most near its zero."""
    size = np.abs(values).mean(axis=1, keepdims=True)
    relative = values / np.maximum(size, np.finfo(np.float64).tiny)
    strengths = 1 / (1 + (2 * relative) ** 2)
    return np.where(wanted & (relative < ASCENT.pull_below), strengths, 0.0)


def shortfall(values: Sequence[Floats], guards: NeuronPerPoint) -> Floats:
    """Return by how much neurons that stay active are less than they shall be at least."""
    layer, indices = guards
    own = values[layer - 1]
    least = ASCENT.margin * np.abs(own).mean(axis=1)
    return np.asarray(least - own[np.arange(len(own)), indices], dtype=np.float64)


def corrected(
    orthant: Orthant,
    here: Here,
    goal: tuple[NeuronPerPoint, Floats],
    move: Floats,
    both_ways: bool = True,
) -> Floats:
    """Return what a move lacks to change neurons as wanted, to first order.

    Parameters
    ----------
    orthant
        The coordinates.
    here
        Where the points are.
    goal
        A neuron for each point, and by how much it shall change.
    move
        The move.
    both_ways
        Whether a neuron may also have to be made smaller.
    """
    neurons, changes = goal
    gradient = orthant.gradients(here.slopes, *neurons)
    length = lengths(gradient)
    lacking = (changes - np.einsum("ij,ij->i", move, gradient))[:, None] / length
    longest = ASCENT.correction * lengths(here.points)
    least = -longest if both_ways else 0 * longest
    return np.asarray(np.clip(lacking, least, longest) * gradient / length, dtype=np.float64)


def inside(orthant: Orthant, points: Floats) -> Floats:
    """Return points with coordinates that are large enough, of the usual length."""
    usual = orthant.size * np.sqrt(points.shape[1])
    points = np.maximum(points, ASCENT.floor * orthant.size)
    return np.asarray(points * (usual / lengths(points)), dtype=np.float64)


def lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors as a column, at least a tiny number."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(np.maximum(lengths, 1e-300)[:, None], dtype=np.float64)


def units(vectors: Floats) -> Floats:
    """Return vectors of length 1; zero vectors stay zero."""
    return np.asarray(vectors / lengths(vectors), dtype=np.float64)
