"""Ridges of the last hidden layer in planes through three known points.

If a neuron v of the last hidden layer H has different signs at two corners of a triangle, it
vanishes on the side between them. From that point its zeros lead through the plane to the nearest
ridges. So a plane whose coordinates take some thousand bytes of a certificate has many ridges,
which take a few hundred bytes each. A ridge is of use if some neuron h of layer H-1 is active there
that is active at no earlier piece of v. Everything is in floats; whether the planes meet the ridges
is decided exactly before they go into a certificate.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deep.both_signs import KnownPoints
from polyrelu.proofs.deep.orthant import Orthant
from polyrelu.proofs.deep.planes import Plane
from polyrelu.proofs.deep.planes_of_ridges import (
    PlaneOfRidges,
    plane_of_corners,
    rounded_corners,
)
from polyrelu.proofs.deep.sight import Judge, RidgePoint
from polyrelu.proofs.deep.sign_ascent import SIGNS
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_boxes
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["TRIANGLES", "Triangles"]


@dataclass(frozen=True, slots=True)
class TriangleSettings:
    """How triangles are chosen, and how ridges are found in their planes.

    Attributes
    ----------
    digits
        Binary digits of the coordinates of the corners.
    compared
        Number of points that are compared as corners, twice.
    samples
        Number of parts into which a side is cut in search of zeros.
    halvings
        Number of times that the part with a zero is halved.
    steps
        Number of steps of Newton's method that follow.
    cells
        Number of cells through which the zeros of a neuron are followed each way.
    step
        Length of the largest step of Newton's method, as a share of a side.
    zeros
        Number of zeros in a triangle that the budget has to pay for.
    least_share
        Preactivations below this share of the largest one are too near to 0.
    kept
        Number of ridges of each neuron, those with the most active neurons of layer H-1, that are
        kept although others show the same.
    failures
        Number of triangles without a new pair after which a neuron of layer H-1 is given up.
    """

    digits: int = 12
    compared: int = 24
    samples: int = 8
    halvings: int = 5
    steps: int = 8
    cells: int = 4
    step: float = 0.1
    zeros: int = 200
    least_share: float = 1e-8
    kept: int = 8
    failures: int = 12


#: The settings of every search in triangles.
TRIANGLES = TriangleSettings()


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A ridge in a plane, its coordinates there, and the h that are active at it."""

    ridge: RidgePoint
    at: tuple[float, float]
    active: Mask


@dataclass(frozen=True, slots=True, eq=False)
class _Corners:
    """Three rounded points x, and the plane through them in the coordinates y.

    Attributes
    ----------
    corners, exponent
        The points as integers, times this power of 2.
    vectors
        The first point in the coordinates y, and the differences of the others to it.
    """

    corners: Indices
    exponent: int
    vectors: Floats

    @classmethod
    def of(cls, orthant: Orthant, points: Floats) -> _Corners:
        """Round three points y."""
        corners, exponent = rounded_corners(orthant.inputs(points), TRIANGLES.digits)
        inputs = np.array([corners[0], *(corners[1:] - corners[0])], dtype=np.float64)
        return cls(corners, exponent, orthant.on_plane(np.ldexp(inputs, exponent)))

    @property
    def unit(self) -> float:
        """The power of 2."""
        return float(np.ldexp(1.0, self.exponent))

    @property
    def plane(self) -> Plane:
        """The plane in the coordinates x."""
        return plane_of_corners(self.corners, self.exponent)


@dataclass(frozen=True, slots=True, eq=False)
class _Met:
    """A ridge on a line: which neuron is crossed, what is active there, and the place."""

    crossed: int
    active: Mask
    place: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The number of a neuron, and the ridges on a line in a plane on which it vanishes."""

    neuron: int
    met: list[_Met]


@dataclass(frozen=True, slots=True, eq=False)
class _PlaneFound:
    """A plane, and ridges in it."""

    corners: _Corners
    entries: list[_Found]


class _LineWalks:
    """Walks along lines on which neurons vanish, each in a cell of a plane.

    Parameters
    ----------
    neurons
        The numbers of the neurons that vanish.
    places
        Where the walks are, in coordinates of the plane.
    signs
        Which neurons are active in the cells.
    crossed
        Which neuron each walk crossed last, or -1.

    Attributes
    ----------
    places, crossed
        The ends of the lines in the cells, and which neuron vanishes there.
    at_ridge, beyond
        Which neurons are active there, and in the cells behind.
    """

    def __init__(self, neurons: Indices, places: Floats, signs: Mask, crossed: Indices) -> None:
        self._neurons, self._signs = neurons, signs
        self.places, self.crossed = places, crossed
        self.at_ridge = self.beyond = signs

    def move_on(self, forms: Floats, way: int) -> Mask:
        """Move to the ends of the lines; return which walks end at a point of a ridge.

        `forms` has the forms of all neurons in the cells. Walks that did not cross a neuron yet go
        one of two ways, 1 or -1.
        """
        everywhere, last = np.arange(len(self._neurons)), self.crossed
        own = forms[everywhere, :, self._neurons]
        lines = np.stack([-own[:, 2], own[:, 1]], axis=1)
        slopes = np.einsum("pi,pin->pn", lines, forms[:, 1:])
        ahead = np.full(len(last), float(way))
        has_crossed = bool((last >= 0).all())
        if has_crossed:  # into the cell on the other side of what was crossed
            into = np.where(self._signs[everywhere, last], 1.0, -1.0)
            ahead = into * np.sign(slopes[everywhere, last])
        with np.errstate(all="ignore"):
            steps = -_on_plane(forms, self.places) / (slopes * ahead[:, None])
        steps[everywhere, self._neurons] = np.inf
        if has_crossed:
            steps[everywhere, last] = np.inf
        steps[~(steps > 0)] = np.inf
        self.crossed = np.argmin(steps, axis=1)
        length = steps[everywhere, self.crossed]
        is_finite = np.isfinite(length)
        moves = np.where(is_finite, length, 0.0) * ahead
        self.places = self.places + moves[:, None] * lines
        self.at_ridge = self._signs.copy()
        for zeros in (self._neurons, self.crossed):
            self.at_ridge[everywhere, zeros] = False
        self.beyond = self.at_ridge.copy()
        # a neuron that grows on the way is active beyond its zero
        self.beyond[everywhere, self.crossed] = slopes[everywhere, self.crossed] * ahead > 0
        return np.asarray(is_finite & self._are_ridges(forms), dtype=np.bool_)

    def _are_ridges(self, forms: Floats) -> Mask:
        """Return where just two neurons are nearly 0, and all others have their signs."""
        everywhere, values = np.arange(len(self._neurons)), _on_plane(forms, self.places)
        for zeros in (self._neurons, self.crossed):
            values[everywhere, zeros] = 0.0
        least = TRIANGLES.least_share * np.abs(values).max(axis=1, keepdims=True)
        are_two = np.count_nonzero(np.abs(values) <= least, axis=1) == 2
        return np.asarray(are_two & ((values > 0) == self.at_ridge).all(axis=1), dtype=np.bool_)


class Triangles:
    """A search for pieces of the neurons of layer H in planes through three points.

    Parameters
    ----------
    orthant
        The coordinates.
    known
        The points, with what is active there.
    budget
        What pays for the triangles.
    judge
        Decides which ridges are good; others are of no use.

    Attributes
    ----------
    missing
        For each h of layer H-1 and each v of layer H whether no piece of v was found at which h is
        active.
    """

    def __init__(self, orthant: Orthant, known: KnownPoints, budget: Budget, judge: Judge) -> None:
        self._layer = known.layer
        self._orthant, self._known, self._budget, self._judge = orthant, known, budget, judge
        self.missing = np.ones(known.num_on.shape, dtype=np.bool_)
        self._tried = set[tuple[int, int]]()
        widths = orthant.widths
        self._start_before = orthant.number(self._layer - 1, 0)
        self._start = orthant.number(self._layer, 0)
        self._products = sum(a * b for a, b in itertools.pairwise(widths[1:]))

    def planes(self) -> list[PlaneOfRidges]:
        """Return planes with ridges that show pairs, as far as points and budget reach.

        Ridges are left out in the end if the others show all that they show.
        """
        found = list(self._planes())
        left_out = self._not_needed([entry for plane in found for entry in plane.entries])
        kept = [[entry for entry in plane.entries if id(entry) not in left_out] for plane in found]
        return [
            PlaneOfRidges(plane.corners.plane, [(entry.ridge, entry.at) for entry in own])
            for plane, own in zip(found, kept, strict=True)
            if own
        ]

    def _not_needed(self, entries: list[_Found]) -> set[int]:
        """Return the identities of ridges without which the others show the same."""
        count = np.zeros(self.missing.shape, dtype=np.int64)
        for entry in entries:
            for v in self._own(entry):
                count[:, v] += entry.active
        found, kept = set[int](), self._for_choice(entries)
        for entry in sorted(entries, key=lambda entry: np.count_nonzero(entry.active)):
            pairs = np.ix_(entry.active, np.array(self._own(entry)))
            if id(entry) not in kept and (count[pairs] > 1).all():
                count[pairs] -= 1
                found.add(id(entry))
        return found

    def _for_choice(self, entries: list[_Found]) -> set[int]:
        """Return the identities of ridges whose pieces have two active neurons in common.

        So the rows of the neurons of the layer can be distinguished by the weights on these two. A
        neuron without such a piece keeps all of its ridges, and others some with many active ones.
        """
        of_neuron = defaultdict[int, list[_Found]](list)
        for entry in entries:
            for v in self._own(entry):
                of_neuron[v].append(entry)
        together = np.zeros((len(self.missing), len(self.missing)), dtype=np.int64)
        for own in of_neuron.values():
            table = np.array([entry.active for entry in own], dtype=np.float32)
            together += table.T @ table > 0
        np.fill_diagonal(together, 0)
        pair = list(divmod(int(np.argmax(together)), len(together)))
        found = set[int]()
        for own in of_neuron.values():
            own.sort(key=lambda entry: -np.count_nonzero(entry.active))
            both = [entry for entry in own if entry.active[pair].all()]
            kept = [*both[:1], *own[: TRIANGLES.kept]] if both else own
            found.update(map(id, kept))
        return found

    def _planes(self) -> Iterator[_PlaneFound]:
        """Yield planes with ridges that show new pairs."""
        failures = np.zeros(len(self.missing), dtype=np.int64)
        while True:
            lacking = np.count_nonzero(self.missing, axis=1)
            lacking[failures >= TRIANGLES.failures] = 0
            h = int(np.argmax(lacking))
            if not lacking[h] or not self._can_pay():
                break
            corners = self._corners(h)
            if corners is None:
                failures[h] = TRIANGLES.failures
                continue
            found = self._in_triangle(corners)
            if found is None:
                failures[h] += 1
            else:
                yield found

    def _can_pay(self) -> bool:
        """Pay for a triangle, if the budget has this much."""
        per_zero = (
            TRIANGLES.samples + TRIANGLES.halvings + 3 * TRIANGLES.steps + 6 * TRIANGLES.cells
        )
        price = price_of_boxes(TRIANGLES.zeros * per_zero, self._products)
        return self._budget.pays(price)

    # -- corners ----------------------------------------------------------------------------------

    def _corners(self, h: int) -> list[int] | None:
        """Return the numbers of three points with h active whose sides promise many new pairs."""
        known, missing = self._known, self.missing.astype(np.float32)
        places = np.flatnonzero(known.before[:, h])
        if len(places) < 3:
            return None
        before, own = known.before[places].astype(np.float32), known.own[places]
        most_active = np.argsort(-(before @ missing.sum(axis=1)), kind="stable")
        most_on = np.argsort(-(own @ missing[h]), kind="stable")
        kept = np.unique(
            np.concatenate([most_active[: TRIANGLES.compared], most_on[: TRIANGLES.compared]])
        )
        before, own, places = before[kept], own[kept], places[kept]
        gains = np.array(
            [
                (((before * row) @ missing) * (own != signs)).sum(axis=1)
                * ((before * row).sum(axis=1) / np.maximum(before, row).sum(axis=1))
                for row, signs in zip(before, own, strict=True)
            ]
        )
        for i, p in enumerate(places.tolist()):
            for j, q in enumerate(places.tolist()):
                if (p, q) in self._tried:
                    gains[i, j] = 0
        i, j = divmod(int(np.argmax(gains)), len(places))
        if not gains[i, j]:
            return None
        sums = gains[i] + gains[j]
        sums[[i, j]] = -1
        k = int(np.argmax(sums))
        chosen = [int(places[i]), int(places[j]), int(places[k])]
        self._tried.update((p, q) for p in chosen for q in chosen)
        return chosen

    # -- ridges -----------------------------------------------------------------------------------

    def _in_triangle(self, numbers: list[int]) -> _PlaneFound | None:
        """Return the plane through three points with ridges that show new pairs, if there are."""
        corners = _Corners.of(self._orthant, self._known.points[numbers])
        found = dict[tuple[object, bytes], _Found]()
        for line in self._lines(corners):
            for ridge in line.met:
                if self._is_of_use(ridge.active):
                    entry = self._entry(corners, line.neuron, ridge)
                    found.setdefault((entry.ridge.neurons, entry.ridge.active.tobytes()), entry)
        chosen = self._chosen(list(found.values()))
        return _PlaneFound(corners, chosen) if chosen else None

    def _lines(self, corners: _Corners) -> Iterator[_Line]:
        """Yield lines on which neurons of the layer vanish, from zeros on the sides of a triangle.

        They are followed through a few cells both ways.
        """
        for start, end in (((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (0, 1))):
            ends = np.array([start, end], dtype=np.float64)
            neurons, places, signs = self._zeros_on(corners.vectors, ends)
            ways = [
                self._along(corners.vectors, (neurons, places, signs.copy()), way)
                for way in (-1, 1)
            ]
            for i, v in enumerate(neurons.tolist()):
                yield _Line(v, ways[0][i] + ways[1][i])

    def _zeros_on(self, vectors: Floats, ends: Floats) -> tuple[Indices, Floats, Mask]:
        """Return the numbers of neurons of the layer that vanish on a side, places, and signs.

        All forms are affine in the cells of these zeros, which Newton's method finds.
        """
        neurons, places = self._zeros(vectors, ends)
        signs = self._orthant.signs(self._values(vectors, places))
        wanted, done = self._start + neurons, np.zeros(len(neurons), dtype=np.bool_)
        along, everywhere = ends[1] - ends[0], np.arange(len(neurons))
        for _ in range(TRIANGLES.steps if len(neurons) else 0):
            forms = self._orthant.forms_from(vectors, signs)
            own = forms[everywhere, :, wanted]
            value = own[:, 0] + (own[:, 1:] * places).sum(axis=1)
            with np.errstate(all="ignore"):
                steps = np.where(done, 0.0, -value / (own[:, 1:] @ along))
            steps = np.clip(np.nan_to_num(steps, nan=1.0), -TRIANGLES.step, TRIANGLES.step)
            places = places + steps[:, None] * along
            active = _on_plane(forms, places) > 0
            active[everywhere, wanted] = signs[everywhere, wanted] = False
            done = (active == signs).all(axis=1) & (np.abs(steps) < TRIANGLES.step)
            if done.all():
                break
            again = self._orthant.signs(self._values(vectors, places))
            signs = np.where(done[:, None], signs, again)
        return wanted[done], places[done], signs[done]

    def _along(
        self, vectors: Floats, starts: tuple[Indices, Floats, Mask], way: int
    ) -> list[list[_Met]]:
        """Return the ridges that are met on one way along zeros of neurons, from cell to cell."""
        neurons, places, signs = starts
        found = [list[_Met]() for _ in neurons]
        numbers, crossed = np.arange(len(neurons)), np.full(len(neurons), -1)
        for _ in range(TRIANGLES.cells):
            if not len(numbers):
                break
            walks = _LineWalks(neurons, places, signs, crossed)
            forms = self._orthant.forms_from(vectors, signs)
            is_met = walks.move_on(forms, way)
            for i in np.flatnonzero(is_met).tolist():
                place = walks.places[i]
                found[numbers[i]].append(_Met(int(walks.crossed[i]), walks.at_ridge[i], place))
            numbers, neurons, crossed = numbers[is_met], neurons[is_met], walks.crossed[is_met]
            places, signs = walks.places[is_met], walks.beyond[is_met]
        return found

    def _entry(self, corners: _Corners, v: int, met: _Met) -> _Found:
        """Return a ridge on a line on which the neuron with number v vanishes."""
        number = self._orthant.neuron_of
        pair = number(min(v, met.crossed)), number(max(v, met.crossed))
        s, t = (corners.unit * met.place).tolist()  # the directions of the plane are integers
        before = met.active[self._start_before : self._start]
        point = corners.vectors[0] + met.place @ corners.vectors[1:]
        return _Found(RidgePoint(pair, point, met.active), (s, t), before)

    def _zeros(self, vectors: Floats, ends: Floats) -> tuple[Indices, Floats]:
        """Return neurons of layer H that vanish on a side, by index, and points near the zeros."""
        shares = np.linspace(0, 1, TRIANGLES.samples + 1)
        samples = ends[0] + shares[:, None] * (ends[1] - ends[0])
        signs = self._values(vectors, samples)[self._layer - 1] > 0
        parts, neurons = np.nonzero(signs[1:] != signs[:-1])
        low, high = shares[parts], shares[parts + 1]
        at_low = signs[parts, neurons]
        for _ in range(TRIANGLES.halvings if len(parts) else 0):
            middle = (low + high) / 2
            places = ends[0] + middle[:, None] * (ends[1] - ends[0])
            values = self._values(vectors, places)[self._layer - 1][
                np.arange(len(neurons)), neurons
            ]
            is_low = (values > 0) == at_low
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        middle = (low + high) / 2
        return neurons, ends[0] + middle[:, None] * (ends[1] - ends[0])

    def _values(self, vectors: Floats, places: Floats) -> list[Floats]:
        """Return all preactivations at points of a plane."""
        return self._orthant.values(vectors[0] + places @ vectors[1:])

    def _is_of_use(self, active: Mask) -> bool:
        """Return whether the pieces at a ridge may determine the weights on what is active.

        No more neurons may be active in the layer before than in each earlier one.
        """
        ends = [self._orthant.number(layer, 0) for layer in range(1, self._layer + 1)]
        counts = [int(np.count_nonzero(active[a:b])) for a, b in itertools.pairwise(ends)]
        return counts[-1] >= SIGNS.least_active and min(counts) == counts[-1]

    def _chosen(self, found: list[_Found]) -> list[_Found]:
        """Choose few of the ridges that show new pairs, those with the most first."""
        gains = [self._gain(entry) for entry in found]
        order = [i for i in np.argsort(-np.array(gains), kind="stable").tolist() if gains[i]]
        chosen = list[_Found]()
        judged = self._judge([found[i].ridge for i in order])
        for i, is_good in zip(order, judged, strict=True):
            if is_good and self._gain(found[i]):
                chosen.append(found[i])
                for v in self._own(found[i]):
                    self.missing[found[i].active, v] = False
        return chosen

    def _own(self, entry: _Found) -> list[int]:
        """Return the indices of the neurons of layer H that vanish at a ridge."""
        return [index for layer, index in entry.ridge.neurons if layer == self._layer]

    def _gain(self, entry: _Found) -> int:
        """Return the number of pairs that a ridge shows and that are still missing."""
        columns = self.missing[:, self._own(entry)]
        return int(np.count_nonzero(columns[entry.active]))


def _on_plane(forms: Floats, places: Floats) -> Floats:
    """Return the values of forms at places of a plane, a row for each."""
    values = forms[:, 0] + np.einsum("pi,pin->pn", places, forms[:, 1:])
    return np.asarray(values, dtype=np.float64)
