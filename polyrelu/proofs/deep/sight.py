"""A search for ridges by sight: pieces at which many neurons of the layer before are active.

Condition (D2) needs, for each neuron v of layer ℓ ≥ 2 and each neuron h of layer ℓ-1, a piece of v
at which h is active: the pair (v, h) is *seen* at it. A walk along v that meets a zero of h sees
one more h; a single piece sees all h that are active there. So this search covers the neurons h by
few pieces: it aims at points where v vanishes and as many as possible of the h that are not seen
yet are active (`aim`). It works where W[1] has full row rank: then all neurons of layer 1 are
active at all of its points, so that every pair of layers 1 and 2 is seen wherever a neuron of layer
2 vanishes.

A *flag* is a point at which one neuron of each of the layers ℓ, …, H vanishes, H the last hidden
layer. Around a flag these neurons are in general position, so that the ones of two successive
layers meet at a ridge close by; successive ridges have a piece in common, and all of them together
are a full chain up from a piece of the first neuron. Everything here is in floats.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

import numpy as np

from polyrelu.proofs.deep.aim import (
    AIM,
    ZeroAims,
    active_starts,
    common_zeros,
    nearest_zeros,
)
from polyrelu.proofs.deep.ascent import ascend
from polyrelu.proofs.deep.orthant import NeuronPerPoint, Orthant
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["SIGHT", "Flag", "RidgePoint", "SightSearch"]


@dataclass(frozen=True, slots=True)
class SightSettings:
    """How much is tried.

    Attributes
    ----------
    batch
        Number of points that are moved at once.
    points_per_pair
        Number of points for each pair of neurons that is missing, if these are fewer.
    starts
        Number of starting points for each neuron that is kept active.
    partners
        Number of neurons of the next layer, the nearest first, that are tried for a flag.
    rounds
        Maximum number of rounds for one layer; each moves a batch of points.
    idle_rounds
        Number of rounds without a new neuron after which a layer is given up.
    full_rounds
        Number of rounds in which all neurons that are still missing are wanted.
    part
        Share of them that is wanted later at half of the points.
    steps
        Lengths of the steps in these later rounds, as shares of the usual length, in turn.
    margin
        An active neuron is seen if it is above this share of the mean size of its layer, so that
        roundings do not change it.
    least
        Other neurons are at least this share of the mean coordinate at a ridge.
    nearest
        Number of points from which a flag of a lower layer is tried.
    lower_share
        Work that the lower layers have for themselves, as a share of the whole budget.
    shares
        Values that the other neurons of a flag have at its ridges, as shares of the mean size of
        their layers, the best one first.
    """

    batch: int = 512
    points_per_pair: int = 32
    starts: int = 4
    partners: int = 6
    rounds: int = 60
    idle_rounds: int = 9
    full_rounds: int = 3
    part: float = 0.3
    steps: tuple[float, ...] = (1.0, 1.0, 0.3)
    margin: float = 0.02
    least: float = 1e-5
    nearest: int = 64
    lower_share: float = 1 / 8
    shares: tuple[float, ...] = (0.1, 0.02, 0.004, 0.001)


#: The settings of every search by sight.
SIGHT = SightSettings()


@dataclass(frozen=True, slots=True, eq=False)
class RidgePoint:
    """A point y at which two neurons (layer, index) vanish, and which hidden ones are active.

    `needed` has those that have to be active; None if all signs matter.
    """

    neurons: tuple[tuple[int, int], tuple[int, int]]
    point: Floats
    active: Mask
    needed: Mask | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Flag:
    """Neurons (layer, index) with ascending layers, and a point y at which they vanish.

    `ridges` has a point of a ridge for each two consecutive ones, once they are known.
    """

    neurons: tuple[tuple[int, int], ...]
    point: Floats
    ridges: tuple[RidgePoint, ...] = ()


#: Decides which ridges are good.
Judge: TypeAlias = Callable[[Sequence[RidgePoint]], Sequence[bool]]

#: A flag, and which neurons of the layer before its first one are active there.
_Shown: TypeAlias = tuple[Flag, Mask]


@dataclass(frozen=True, slots=True, eq=False)
class _Starts:
    """Points at which some neuron of a layer is active, and this neuron's index."""

    points: Floats
    guards: Indices


class SightSearch:
    """A search by sight in a network with at least three hidden layers.

    Parameters
    ----------
    orthant
        The coordinates.
    random
        The source of all random choices.
    budget
        What pays for the rounds.
    judge
        Decides which ridges are good; others are of no use.

    Attributes
    ----------
    missing
        For each covered layer, how many pairs of a neuron and one of the layer before were not
        seen.
    """

    def __init__(self, orthant: Orthant, random: Random, budget: Budget, judge: Judge) -> None:
        self.missing: dict[int, int] = {}
        self._judge = judge
        self._orthant, self._random, self._budget = orthant, random, budget
        widths = orthant.widths[1:]
        self._products = sum(a * b for a, b in itertools.pairwise(widths))
        self._matrix_products = sum(
            a * b * c for a, b, c in zip(widths, widths[1:], widths[2:], strict=False)
        )

    def ridge_points(self) -> list[RidgePoint]:
        """Return the ridges of flags that show layers 1, 2, … as far as the budget reaches."""
        flags = list[Flag]()
        for layer in range(3, self._orthant.last_layer):
            covering = self._cover(layer)
            if layer == 3:
                work = self._budget.total_work
                own = self._budget.apart(None if work is None else work * SIGHT.lower_share)
                second = self._lower_flags(2, covering, own)
                flags += [*self._lower_flags(1, second, own), *second]
            flags += covering
        different = dict[tuple[object, bytes], RidgePoint]()
        for flag in flags:  # those first at which all signs matter
            for point in flag.ridges:
                different.setdefault((point.neurons, point.active.tobytes()), point)
        return list(different.values())

    # -- covering a layer -------------------------------------------------------------------------

    def _cover(self, layer: int) -> list[Flag]:
        """Return few flags of each neuron of a layer, at which the layer before is active."""
        width, before = self._orthant.widths[layer], self._orthant.widths[layer - 1]
        seen, shown = np.zeros((width, before), dtype=bool), defaultdict[int, list[_Shown]](list)
        starts, idle = self._starts(layer), 0
        for number in range(SIGHT.rounds if len(set(starts.guards.tolist())) > 1 else 0):
            count = min(SIGHT.batch, SIGHT.points_per_pair * int(np.count_nonzero(~seen)))
            if (
                not count
                or idle == SIGHT.idle_rounds
                or not self._budget.pays(self._price(count, AIM.steps))
            ):
                break
            num_before = np.count_nonzero(seen)
            for flag, active in self._round(layer, seen, starts, (number, count)):
                v = flag.neurons[0][1]
                seen[v] |= active
                shown[v].append((flag, active))
            idle = idle + 1 if np.count_nonzero(seen) == num_before else 0
        self.missing[layer] = int(np.count_nonzero(~seen))
        return [
            self._with_needed(layer, flag, active)
            for v in sorted(shown)
            for flag, active in _covering(shown[v])
        ]

    def _with_needed(self, layer: int, flag: Flag, active: Mask) -> Flag:
        """Return a flag of two neurons with what has to be active at its ridge to show the same."""
        if len(flag.ridges) > 1:
            return flag
        (ridge,), start = flag.ridges, self._orthant.number(layer - 1, 0)
        needed = np.zeros(len(ridge.active), dtype=bool)
        needed[: self._orthant.widths[1]] = True
        needed[start : start + len(active)] = active
        return replace(flag, ridges=(replace(ridge, needed=needed),))

    def _price(self, count: int, steps: int) -> float:
        """Return the price of steps of a number of points and of a flag at each of them."""
        price = price_of_boxes(count * steps, 5 * self._products)
        return price + price_of_boxes(count, self._matrix_products)

    def _starts(self, layer: int) -> _Starts:
        """Return points at which a neuron of a layer is active, where that succeeds."""
        orthant = self._orthant
        indices = np.tile(np.arange(orthant.widths[layer]), SIGHT.starts)
        count = len(indices) * orthant.widths[1]
        noise = np.array([abs(self._random.gauss(0, 1)) for _ in range(count)])
        points = orthant.size * noise.reshape(len(indices), -1)
        if not self._budget.pays(self._price(len(indices), AIM.start_steps)):
            return _Starts(points[:0], indices[:0])
        points = active_starts(orthant, (layer, indices), points, self._budget)
        values = orthant.values(points)[layer - 1]
        succeeded = values[np.arange(len(indices)), indices] > 0
        return _Starts(points[succeeded], indices[succeeded])

    def _round(
        self, layer: int, seen: Mask, starts: _Starts, size: tuple[int, int]
    ) -> Iterator[tuple[Flag, Mask]]:
        """Yield flags of neurons that have not seen all, and what is active there, best first.

        `size` has the number of the round and the number of its points.
        """
        orthant, draw, (number, count) = self._orthant, self._random, size
        left = np.flatnonzero(~seen.all(axis=1))
        v = np.resize(left, count)
        if len(left) > count:
            v = np.array(sorted(draw.sample(left.tolist(), count)))
        chosen = np.array([self._start_for(neuron, starts) for neuron in v.tolist()])
        wanted, share = ~seen[v], 1.0
        if number >= SIGHT.full_rounds:
            wanted = self._part_of(wanted)
            share = SIGHT.steps[number % len(SIGHT.steps)]
        aims = ZeroAims((layer, v), (layer, starts.guards[chosen]), wanted)
        found, points = ascend(orthant, aims, starts.points[chosen], AIM.steps, self._budget, share)
        flags = self._with_ridges(self._completed([(layer, v[found])], points[found]))
        if not flags:
            return
        values = orthant.values(np.array([flag.point for flag in flags]))[layer - 2]
        active = values > SIGHT.margin * np.abs(values).mean(axis=1, keepdims=True)
        news = [
            np.count_nonzero(on & ~seen[flag.neurons[0][1]])
            for flag, on in zip(flags, active, strict=True)
        ]
        for i in np.argsort(-np.array(news), kind="stable").tolist():
            yield flags[i], active[i]

    def _start_for(self, neuron: int, starts: _Starts) -> int:
        """Return the number of a random start whose guard is another neuron."""
        while True:
            i = self._random.randrange(len(starts.guards))
            if starts.guards[i] != neuron:
                return i

    def _part_of(self, wanted: Mask) -> Mask:
        """Return all wanted neurons or, at half of the points, a random part with at least one."""
        draw, found = self._random, wanted.copy()
        for row in found:
            if draw.random() < 0.5:
                ones = np.flatnonzero(row).tolist()
                kept = [h for h in ones if draw.random() < SIGHT.part] or [draw.choice(ones)]
                row[:] = False
                row[kept] = True
        return found

    def _completed(self, zeros: list[NeuronPerPoint], points: Floats) -> list[Flag]:
        """Return flags at points near zeros of a neuron, with the neurons nearest in each layer.

        For the next layer several neurons are tried, for later ones the nearest.
        """
        layer, own = zeros[0]
        flags, left = list[Flag](), np.arange(len(points))
        if not len(points):
            return flags
        upper = list(range(layer + 1, self._orthant.last_layer + 1))
        partners = [
            nearest_zeros(self._orthant, points, zeros, number, SIGHT.partners, self._budget)
            for number in upper
        ]
        if any(len(rows) < len(points) for rows in partners):  # a limit was reached
            return flags
        for i in range(partners[0].shape[1]):
            neurons = [(layer, own[left]), (upper[0], partners[0][left, i])]
            neurons += [(n, p[left, 0]) for n, p in zip(upper[1:], partners[1:], strict=True)]
            succeeded, ends = common_zeros(self._orthant, points[left], neurons)
            flags += _flags(neurons, ends, succeeded)
            left = left[~succeeded]
            if not len(left):
                break
        return flags

    # -- lower layers -----------------------------------------------------------------------------

    def _lower_flags(self, layer: int, flags: Sequence[Flag], budget: Budget) -> list[Flag]:
        """Return a flag of each neuron of layer 1 or 2, from flags of the next layer."""
        found = dict[int, Flag]()
        for row in self._nearest_flags(layer, flags):
            left = [i for i in range(len(row)) if i not in found]
            if not left or not budget.pays(self._price(len(left), AIM.newton_steps)):
                break
            bases = [flags[int(row[i])] for i in left]
            neurons = [(layer, np.array(left)), *_zeros_of(bases)]
            starts = np.array([flag.point for flag in bases])
            succeeded, ends = common_zeros(self._orthant, starts, neurons, free=_free(neurons))
            for flag in self._with_ridges(_flags(neurons, ends, succeeded)):
                found[flag.neurons[0][1]] = flag
        return [found[i] for i in sorted(found)]

    def _nearest_flags(self, layer: int, flags: Sequence[Flag]) -> Indices:
        """Return for each neuron of layer 1 or 2 the flags with the nearest points, in columns."""
        if not flags:
            return np.zeros((0, 0), dtype=np.int64)
        points = np.array([flag.point for flag in flags])
        distances = np.abs(self._orthant.values(points)[layer - 1])
        if layer == 1:
            distances /= points.mean(axis=1, keepdims=True)
        else:
            weights = self._orthant.all_gradients([], 2)
            distances /= np.sqrt(points**2 @ (weights**2).T)
        return np.argsort(distances, axis=0, kind="stable")[: SIGHT.nearest]

    # -- ridges -----------------------------------------------------------------------------------

    def _with_ridges(self, flags: Sequence[Flag]) -> list[Flag]:
        """Return the flags for which a good ridge of each two consecutive neurons is found.

        All other neurons of a flag are active there, so that consecutive ridges share pieces.
        """
        found = list(flags)
        for pair in range(len(flags[0].neurons) - 1 if flags else 0):
            for share in SIGHT.shares if len(flags[0].neurons) > 2 else SIGHT.shares[:1]:
                left = [i for i, flag in enumerate(found) if len(flag.ridges) == pair]
                if not left:
                    break
                points = list(self._ridges_of([found[i] for i in left], pair, share))
                for (i, point), is_good in zip(
                    points, self._judge([point for _, point in points]), strict=True
                ):
                    if is_good:
                        flag = found[left[i]]
                        found[left[i]] = replace(flag, ridges=(*flag.ridges, point))
            found = [flag for flag in found if len(flag.ridges) > pair]
            if not found:
                break
        return found

    def _ridges_of(
        self, flags: Sequence[Flag], pair: int, share: float
    ) -> Iterator[tuple[int, RidgePoint]]:
        """Yield where neurons number `pair` and `pair` + 1 of flags meet, with the flags' numbers.

        The other neurons of the flags have a share of the mean size of their layers there.
        """
        orthant, all_flags = self._orthant, np.arange(len(flags))
        neurons, points = _zeros_of(flags), np.array([flag.point for flag in flags])
        columns = [orthant.number(layer, 0) + indices for layer, indices in neurons]
        values = orthant.values(points, neurons)
        signs, targets = orthant.signs(values), np.zeros((len(flags), len(neurons)))
        for number, (layer, _) in enumerate(neurons):
            is_zero = number in (pair, pair + 1)
            signs[all_flags, columns[number]] = not is_zero
            size = np.abs(values[layer - 1]).mean(axis=1)
            targets[:, number] = 0 if is_zero else share * size
        succeeded, ends = common_zeros(orthant, points, neurons, targets, _free(neurons))
        values = orthant.values(ends, neurons)
        active, sizes = orthant.signs(values), np.abs(np.concatenate(values, axis=1))
        for column in columns[pair : pair + 2]:
            active[all_flags, column] = False
            sizes[all_flags, column] = np.inf
        succeeded &= (active == signs).all(axis=1)
        succeeded &= sizes.min(axis=1) > SIGHT.least * ends.mean(axis=1)
        for i in np.flatnonzero(succeeded).tolist():
            u, v = flags[i].neurons[pair : pair + 2]
            yield i, RidgePoint((u, v), ends[i], active[i])


def _free(neurons: Sequence[NeuronPerPoint]) -> Indices | None:
    """Return the neurons of layer 1 among some neurons: coordinates that may vanish."""
    return neurons[0][1] if neurons[0][0] == 1 else None


def _zeros_of(flags: Sequence[Flag]) -> list[NeuronPerPoint]:
    """Return the neurons of flags with the same layers, layer by layer."""
    return [
        (layer, np.array([flag.neurons[number][1] for flag in flags], dtype=np.int64))
        for number, (layer, _) in enumerate(flags[0].neurons)
    ]


def _flags(neurons: Sequence[NeuronPerPoint], points: Floats, succeeded: Mask) -> list[Flag]:
    """Return the flags at the points where a search for common zeros succeeded."""
    return [
        Flag(tuple((layer, int(indices[i])) for layer, indices in neurons), points[i])
        for i in np.flatnonzero(succeeded).tolist()
    ]


def _covering(shown: list[_Shown]) -> list[_Shown]:
    """Return few flags of one neuron that show together what all show, the best ones first.

    A flag is left out in the end if the others show all that it shows.
    """
    left, chosen = np.any([active for _, active in shown], axis=0), list[_Shown]()
    while left.any():
        best = max(shown, key=lambda entry: np.count_nonzero(entry[1] & left))
        chosen.append(best)
        left = left & ~best[1]
    for entry in list(chosen):
        others = [active for flag, active in chosen if flag is not entry[0]]
        if others and not (entry[1] & ~np.any(others, axis=0)).any():
            chosen = [other for other in chosen if other[0] is not entry[0]]
    return chosen
