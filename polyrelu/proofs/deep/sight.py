"""A search for ridges by sight: pieces at which many neurons of the layer before are active.

Condition (D2) asks, for each neuron v of layer ℓ ≥ 2 and each neuron h of layer ℓ-1, for a piece of
v at which h is active. A crossing of v with h shows one h; a piece shows all h that are active
there. So this search covers the neurons h by few pieces. They lie between points of which v is
active at one, and at which as many as possible of the h that are still wanted are active at both
(`both_signs`). It works where W[1] has full row rank: then all neurons of layer 1 are active at all
of its points, which settles layers 1 and 2. For the last hidden layer there is `triangles`.

A *flag* is a point at which one neuron of each of the layers ℓ, …, H vanishes, H the last
hidden layer. In the cells around a flag these neurons are in general
position, so that consecutive ones meet at ridges that have pieces in common, and these ridges are a
full chain up from a piece of the first neuron. Everything here is in floats.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

import numpy as np

from polyrelu.proofs.deep.aim import AIM, common_zeros, nearest_zeros
from polyrelu.proofs.deep.both_signs import KnownPoints, points_with_both_signs
from polyrelu.proofs.deep.orthant import Orthant, Zeros
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["SIGHT", "Flag", "RidgePoint", "SightSearch"]


@dataclass(frozen=True, slots=True)
class SightSettings:
    """How much is tried.

    Attributes
    ----------
    rounds
        Maximum number of rounds for one layer; each tries a point for each neuron.
    compared
        Number of points with either sign of a neuron that are compared.
    segments
        Number of pairs of points that are tried in a round for each neuron.
    unshared
        Factor of the gain of two points at which no other neuron of the layer is active together.
    halvings
        Number of times that the segment between two of them is halved.
    partners
        Number of neurons of the next layer, the nearest first, that are tried for a flag.
    margin
        An active neuron is seen if it is above this share of the mean size of its layer, so that
        roundings do not change it.
    least
        Other neurons are at least this share of the mean coordinate at a ridge.
    nearest
        Number of points from which a flag of a lower layer is tried.
    shares
        Values that the other neurons of a flag have at its ridges, as shares of the mean size of
        their layers, the best one first.
    """

    rounds: int = 60
    compared: int = 48
    segments: int = 3
    unshared: float = 0.1
    halvings: int = 24
    partners: int = 6
    margin: float = 0.02
    least: float = 1e-5
    nearest: int = 64
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
        for layer in range(3, self._orthant.depth):
            covering = self._cover(layer)
            if layer == 3:
                second = self._lower_flags(2, covering)
                flags += [*self._lower_flags(1, second), *second]
            flags += covering
        different = dict[tuple[object, bytes], RidgePoint]()
        for flag in flags:  # those first at which all signs matter
            for point in flag.ridges:
                different.setdefault((point.neurons, point.active.tobytes()), point)
        return list(different.values())

    # -- covering a layer -------------------------------------------------------------------------

    def _cover(self, layer: int) -> list[Flag]:
        """Return few flags of each neuron of a layer, at which the layer before is active."""
        known = points_with_both_signs(self._orthant, layer, self._random, self._budget)
        width, before = self._orthant.widths[layer], self._orthant.widths[layer - 1]
        seen, shown = np.zeros((width, before), dtype=bool), defaultdict[int, list[_Shown]](list)
        tried = set[tuple[int, int, int]]()
        for _ in range(SIGHT.rounds):
            segments = _segments(known, ~seen, tried)
            tried.update(segments)
            steps = SIGHT.halvings + AIM.newton_steps
            if not segments or not self._can_pay(len(segments), steps):
                break
            zeros, points = self._zeros_between(known, segments)
            for flag, active in self._flags_near(layer, zeros, points):
                v = flag.neurons[0][1]
                seen[v] |= active
                shown[v].append((flag, active))
        self.missing[layer] = int(np.count_nonzero(~seen))
        return [
            self._with_needed(layer, flag, active)
            for v in sorted(shown)
            for flag, active in _covering(shown[v])
        ]

    def _zeros_between(
        self, known: KnownPoints, segments: Sequence[tuple[int, int, int]]
    ) -> tuple[Indices, Floats]:
        """Return the neurons of segments, and for each a point on it near a zero."""
        neurons, on, off = np.array(segments, dtype=np.int64).T
        ends = [known.points[on], known.points[off]]  # active at the first one
        for _ in range(SIGHT.halvings):
            middle = (ends[0] + ends[1]) / 2
            values = self._orthant.values(middle)[known.layer - 1]
            is_on = values[np.arange(len(neurons)), neurons] > 0
            ends = [
                np.where(is_on[:, None] == side, middle, end)
                for end, side in zip(ends, (True, False), strict=True)
            ]
        return neurons, ends[0]

    def _flags_near(
        self, layer: int, neurons: Indices, points: Floats
    ) -> Iterator[tuple[Flag, Mask]]:
        """Yield flags near zeros of neurons of a layer, with what is active in the layer before."""
        flags = self._with_ridges(self._completed([(layer, neurons)], points))
        if not flags:
            return
        values = self._orthant.values(np.array([flag.point for flag in flags]))[layer - 2]
        active = values > SIGHT.margin * np.abs(values).mean(axis=1, keepdims=True)
        yield from zip(flags, active, strict=True)

    def _with_needed(self, layer: int, flag: Flag, active: Mask) -> Flag:
        """Return a flag of two neurons with what has to be active at its ridge to show the same."""
        if len(flag.ridges) > 1:
            return flag
        (ridge,), start = flag.ridges, self._orthant.number(layer - 1, 0)
        needed = np.zeros(len(ridge.active), dtype=bool)
        needed[: self._orthant.widths[1]] = True
        needed[start : start + len(active)] = active
        return replace(flag, ridges=(replace(ridge, needed=needed),))

    def _can_pay(self, count: int, steps: int) -> bool:
        """Pay for steps of points and for a flag at each of them, if the budget has this much."""
        price = price_of_boxes(count * steps, 5 * self._products)
        price += price_of_boxes(count, self._matrix_products)
        return self._budget.pays(price)

    def _completed(self, zeros: list[Zeros], points: Floats) -> list[Flag]:
        """Return flags at points near zeros of a neuron, with the neurons nearest in each layer.

        For the next layer several neurons are tried, for later ones the nearest.
        """
        layer, own = zeros[0]
        flags, left = list[Flag](), np.arange(len(points))
        if not len(points):
            return flags
        upper = list(range(layer + 1, self._orthant.depth + 1))
        partners = [
            nearest_zeros(self._orthant, points, zeros, number, SIGHT.partners) for number in upper
        ]
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

    def _lower_flags(self, layer: int, flags: Sequence[Flag]) -> list[Flag]:
        """Return a flag of each neuron of layer 1 or 2, from flags of the next layer."""
        found = dict[int, Flag]()
        for row in self._nearest_flags(layer, flags):
            left = [i for i in range(len(row)) if i not in found]
            if not left:
                break
            if not self._can_pay(len(left), AIM.newton_steps):
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


def _free(neurons: Sequence[Zeros]) -> Indices | None:
    """Return the neurons of layer 1 among some neurons: coordinates that may vanish."""
    return neurons[0][1] if neurons[0][0] == 1 else None


def _zeros_of(flags: Sequence[Flag]) -> list[Zeros]:
    """Return the neurons of flags with the same layers, layer by layer."""
    return [
        (layer, np.array([flag.neurons[number][1] for flag in flags], dtype=np.int64))
        for number, (layer, _) in enumerate(flags[0].neurons)
    ]


def _flags(neurons: Sequence[Zeros], points: Floats, succeeded: Mask) -> list[Flag]:
    """Return the flags at the points where a search for common zeros succeeded."""
    return [
        Flag(tuple((layer, int(indices[i])) for layer, indices in neurons), points[i])
        for i in np.flatnonzero(succeeded).tolist()
    ]


def _segments(
    known: KnownPoints, missing: Mask, tried: set[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    """Return for neurons of a layer two points each between which they may show what is missing.

    The neuron is active at the first one only. `missing` has a row for each neuron, and `tried`
    the results so far.
    """
    return [
        (v, p, q)
        for v, wanted in enumerate(missing)
        if wanted.any()
        for p, q in _ends_for(known, v, wanted, {(p, q) for w, p, q in tried if w == v})
    ]


def _ends_for(
    known: KnownPoints, v: int, wanted: Mask, tried: set[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of two points for a neuron, each time for what is still wanted."""
    for _ in range(SIGHT.segments):
        shows = np.count_nonzero(known.before & wanted, axis=1)
        order = np.argsort(-shows, kind="stable")[: np.count_nonzero(shows)]
        on, off = (order[known.own[order, v] == side][: SIGHT.compared] for side in (True, False))
        if not len(on) or not len(off):
            return
        gains = (known.before[on] & wanted).astype(np.float32) @ known.before[off].T
        # another neuron of the layer is rather active between them, for the layers above
        shared = known.own[on].astype(np.float32) @ known.own[off].T > 0
        gains *= np.where(shared, 1, SIGHT.unshared)
        for p, q in tried:
            gains[np.ix_(on == p, off == q)] = 0
        i, j = divmod(int(np.argmax(gains)), len(off))
        if not gains[i, j]:
            return
        p, q = int(on[i]), int(off[j])
        yield p, q
        tried.add((p, q))
        wanted = wanted & ~(known.before[p] & known.before[q])


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
