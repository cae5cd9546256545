"""Points at which the neurons of a layer have both signs while many of the layer before are active.

Condition (D2) needs, for each neuron v of a layer ℓ and each neuron h of layer ℓ-1, a piece of v at
which h is active. If h is active at two points, and v is active at one of them only, then v
vanishes between the points, and h is usually still active there. So this search collects points
until each v has both signs where h is active, for each h. `triangles` then finds the pieces between
the points. The search by sight uses this for the last hidden layer only. All is in floats.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from random import Random

import numpy as np

from polyrelu.proofs.deep.aim import AIM, active_starts
from polyrelu.proofs.deep.ascent import ascend
from polyrelu.proofs.deep.orthant import NeuronPerPoint, Orthant
from polyrelu.proofs.deep.sign_ascent import SignAims
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.typing import Floats, Indices

__all__ = ["BOTH_SIGNS", "KnownPoints", "points_with_both_signs"]


@dataclass(frozen=True, slots=True)
class BothSignsSettings:
    """How much is tried.

    Attributes
    ----------
    batch
        Number of points that are moved at once.
    points_per_pair
        Number of points for each pair of neurons that is missing, if these are fewer.
    first_steps, steps
        Number of steps of the first ascent and of later ones.
    rounds
        Maximum number of rounds; each moves a batch of points.
    idle_rounds
        Number of rounds without a new pair after which the search ends.
    least_weight
        Weight of the neurons of layer ℓ-1 of which no pair is missing; the largest is 1 more.
    margin
        Before the last hidden layer, a neuron of layer ℓ-1 counts as active if it is above this
        share of the mean size of its layer.
    promising, noise
        Points start at one of this number of known points, those at which the neuron of layer ℓ is
        nearest to its wanted sign, with coordinates times factors e^x of this standard deviation of
        x.
    """

    batch: int = 512
    points_per_pair: int = 12
    first_steps: int = 200
    steps: int = 100
    rounds: int = 40
    idle_rounds: int = 8
    least_weight: float = 0.02
    margin: float = 0.02
    promising: int = 8
    noise: float = 0.2


#: The settings of every search for points.
BOTH_SIGNS = BothSignsSettings()


class KnownPoints:
    """Points, and what is active there.

    In a layer before the last hidden one, another neuron of the layer has to be active besides v:
    otherwise later layers are constant where v vanishes.

    Attributes
    ----------
    layer
        The layer ℓ.
    points
        The points y, one a row.
    before, own
        Which neurons of layer ℓ-1, and of layer ℓ, are active at each point.
    values
        The preactivations of layer ℓ, as multiples of their mean size at each point.
    num_on, num_off
        For each h of layer ℓ-1 and each v of layer ℓ the number of points at which h is active and
        v is, or is not.
    """

    def __init__(self, orthant: Orthant, layer: int) -> None:
        num_before, num_own = orthant.widths[layer - 1 : layer + 1]
        self.layer, self._orthant = layer, orthant
        self.points = np.zeros((0, orthant.widths[1]))
        self.before = np.zeros((0, num_before), dtype=np.bool_)
        self.own = np.zeros((0, num_own), dtype=np.bool_)
        self.values = np.zeros((0, num_own))
        self.num_on, self.num_off = (np.zeros((num_before, num_own)) for _ in range(2))

    def add(self, points: Floats) -> None:
        """Add points."""
        before, values = self._orthant.values(points)[self.layer - 2 : self.layer]
        if not self.is_last:
            before = before - BOTH_SIGNS.margin * np.abs(before).mean(axis=1, keepdims=True)
        shown, own = (before > 0).T.astype(np.float64), values > 0
        if self.is_last:
            others = np.ones(own.shape, dtype=np.bool_)
        else:
            others = np.count_nonzero(own, axis=1)[:, None] > own
        self.num_on += shown @ (own & others)
        self.num_off += shown @ (~own & others)
        size = np.maximum(np.abs(values).mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        self.points = np.concatenate([self.points, points])
        self.before = np.concatenate([self.before, before > 0])
        self.own = np.concatenate([self.own, own])
        self.values = np.concatenate([self.values, values / size])

    @property
    def is_last(self) -> bool:
        """Whether the layer is the last hidden one."""
        return self.layer == self._orthant.last_layer

    @property
    def wanted(self) -> Indices:
        """For each h and v the sign of v that is not known where h is active: 1, -1; otherwise 0.

        If both are not known it is 1.
        """
        return np.where(self.num_on == 0, 1, np.where(self.num_off == 0, -1, 0))


def points_with_both_signs(
    orthant: Orthant, layer: int, random: Random, budget: Budget
) -> KnownPoints:
    """Return points at which, where h is active, v has both signs, for as many pairs as possible.

    Parameters
    ----------
    orthant
        The coordinates.
    layer
        The layer ℓ ≥ 3 of the v.
    random
        The source of all random choices.
    budget
        What pays for the ascents.
    """
    known = KnownPoints(orthant, layer)
    draw = np.random.default_rng(random.getrandbits(64))
    kept = layer - 1 if known.is_last else layer  # in this layer a neuron is active at each start
    guards = np.arange(orthant.widths[kept])
    starts = orthant.size * np.abs(draw.normal(size=(len(guards), orthant.widths[1])))
    if not _can_pay(orthant, budget, len(guards) * (AIM.start_steps + BOTH_SIGNS.first_steps)):
        return known
    starts = active_starts(orthant, (kept, guards), starts, budget)
    nothing = np.zeros((len(guards), orthant.widths[layer]))
    weights = np.ones((len(guards), orthant.widths[layer - 1]))
    aims = SignAims(layer, [(kept, guards)], weights, nothing)
    found, points = ascend(orthant, aims, starts, BOTH_SIGNS.first_steps, budget)
    known.add(points[found])
    idle = 0
    for _ in range(BOTH_SIGNS.rounds):
        pairs = np.argwhere(known.wanted)
        count = min(BOTH_SIGNS.batch, BOTH_SIGNS.points_per_pair * len(pairs))
        if not count or idle == BOTH_SIGNS.idle_rounds:
            break
        if not _can_pay(orthant, budget, count * BOTH_SIGNS.steps):
            break
        aims, points = _next_aims(known, draw, _some(pairs, count, draw), starts)
        found, points = ascend(orthant, aims, points, BOTH_SIGNS.steps, budget)
        known.add(points[found])
        idle = idle + 1 if np.count_nonzero(known.wanted) == len(pairs) else 0
    return known


def _can_pay(orthant: Orthant, budget: Budget, count: int) -> bool:
    """Pay for a number of steps of points, if the budget has this much."""
    products = 5 * sum(a * b for a, b in itertools.pairwise(orthant.widths[1:]))
    return budget.pays(price_of_boxes(count, products))


def _some(pairs: Indices, count: int, draw: np.random.Generator) -> Indices:
    """Return a number of the pairs, each of them several times if they are fewer."""
    if len(pairs) < count:
        return np.resize(pairs, (count, 2))
    return pairs[draw.choice(len(pairs), size=count, replace=False)]


def _next_aims(
    known: KnownPoints, draw: np.random.Generator, pairs: Indices, starts: Floats
) -> tuple[SignAims, Floats]:
    """Return aims for pairs of neurons h and v, and points near known ones to start from."""
    wanted, count = known.wanted, len(pairs)
    signs, points = np.zeros((count, wanted.shape[1])), np.empty((count, starts.shape[1]))
    others = np.zeros(count, dtype=np.int64)
    for i, (h, v) in enumerate(pairs.tolist()):
        signs[i, v] = wanted[h, v]
        places = np.flatnonzero(known.before[:, h])
        if not len(places):
            others[i] = h % len(starts)
            points[i] = starts[others[i]]
            continue
        order = np.argsort(-wanted[h, v] * known.values[places, v], kind="stable")
        place = places[draw.choice(order[: BOTH_SIGNS.promising])]
        points[i], values = known.points[place], known.values[place].copy()
        values[v] = -np.inf
        others[i] = np.argmax(values)
    guards: list[NeuronPerPoint] = [(known.layer - 1, pairs[:, 0])]
    if not known.is_last:
        guards.append((known.layer, others))
    lacking = np.count_nonzero(wanted, axis=1)
    weights = BOTH_SIGNS.least_weight + lacking / lacking.max()
    noise = np.exp(BOTH_SIGNS.noise * draw.normal(size=points.shape))
    weights_of_all = np.broadcast_to(weights, (count, len(weights)))
    return SignAims(known.layer, guards, weights_of_all, signs), points * noise
