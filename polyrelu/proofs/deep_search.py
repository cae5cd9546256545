"""Theorem D: a search for ridge points that show the hypotheses (`deep_points` evaluates them).

Bent hyperplanes are walked along in planes, from cell to cell. First planes are random; then the search goes for what
is missing: if a neuron v has no piece with h on, or no crossing with h that a chain needs, a plane is laid through a
known piece of v so that one of its directions leads along the bent hyperplane of v towards the zeros of h.

Floats choose the planes and nothing else. Planes and starts have few digits, which keeps the points short.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.proofs.deep_families import Families
from polyrelu.proofs.deep_points import DeepHypotheses, Missing, evaluate
from polyrelu.proofs.deep_ridges import Piece, Ridge, flat_signs, ridge_at, whole_space
from polyrelu.walks import BentPiece, walk_bent_hyperplane, zero_in_plane
from polyrelu.walks import Ridge as WalkedRidge
from polyrelu.walks.slices import Point

__all__ = ["DeepSearch"]

#: A random walk, an aimed one, and the way to a start meet so many cells at most.
_RANDOM, _AIMED, _WAY = 60, 40, 300

#: Binary digits of the coordinates of points that planes are laid through, and the largest entry of their directions.
_DIGITS, _LARGEST = 24, 1000

#: So many walks, for each hidden neuron, between two evaluations.
_WALKS = 2

#: The share of random walks, and so many pieces from which a walk may start are compared.
_SHARE, _STARTS = 0.2, 8


class DeepSearch:
    """A search for ridges; it can be continued, and the same seed finds the same ridges.

    Parameters
    ----------
    network : a plain stack with an affine output, at least one hidden layer, n_0 ≥ 2; others raise `DomainError`.
    seed : for the planes.

    Attributes
    ----------
    ridges : what was found, by the signs at the ridges.
    walks : how many walks there were.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> search = DeepSearch(net)
    >>> print(search.run(rounds=20))
    all hypotheses hold
    >>> all(len(point) == 2 for point in search.points)
    True
    """

    def __init__(self, network: Network, seed: int = 0) -> None:
        self.network = network
        self.ridges: dict[SignVector, Ridge] = {}
        self.walks = 0
        self._space = whole_space(network)
        self._random = Random(seed)
        self._families = Families()
        self._places: dict[NeuronId, dict[Piece, Point]] = {}
        self._hypotheses: DeepHypotheses | None = None

    @property
    def points(self) -> list[Point]:
        """The points of all ridges: `deep_hypotheses` finds at them what the search has found."""
        return [ridge.point for ridge in self.ridges.values()]

    @property
    def hypotheses(self) -> DeepHypotheses:
        """What the ridges show so far."""
        if self._hypotheses is None:
            self._hypotheses = evaluate(self._space, list(self.ridges.values()), self._families)
        return self._hypotheses

    def run(self, time_limit: float | None = None, rounds: int | None = None) -> DeepHypotheses:
        """Search until the hypotheses hold, or for so many seconds or rounds; what was found is kept.

        Without a limit it may not end, because there are networks for which the hypotheses do not hold.
        """
        deadline = None if time_limit is None else time.monotonic() + time_limit
        count = 0
        while not self.hypotheses.hold and (rounds is None or count < rounds):
            for _ in range(_WALKS * sum(self.network.widths[1:-1])):
                if deadline is not None and time.monotonic() > deadline:
                    return self.hypotheses
                self._step(self._random.choice(self.hypotheses.missing))
            self._hypotheses = None
            count += 1
        return self.hypotheses

    def _step(self, missing: Missing) -> None:
        """One walk for something that is missing."""
        self.walks += 1
        pair = None if self._random.random() < _SHARE else self._pair(missing)
        if pair is not None and pair[0] in self._places:
            self._aim(*pair)
        else:
            self._explore(self._neuron(missing))

    def _neuron(self, missing: Missing) -> NeuronId:
        """The neuron that a random walk should follow."""
        return missing.neuron or self._any(missing.layer + 1)

    def _pair(self, missing: Missing) -> tuple[NeuronId, NeuronId] | None:
        """The neuron to walk along, and the one whose zeros should be met."""
        if missing.want in ("on", "weight") and missing.neuron is not None and missing.other is not None:
            return missing.neuron, missing.other
        if missing.want in ("up", "down") and missing.neuron is not None:
            other = self._any(missing.layer + (1 if missing.want == "up" else -1))
            return (missing.neuron, other) if self._random.random() < 1 / 2 else (other, missing.neuron)
        return self._uncrossed(self._neuron(missing)) if missing.want in ("independent", "signs") else None

    def _any(self, layer: int) -> NeuronId:
        layer = min(layer, self.network.depth - 1)
        return NeuronId(layer, self._random.randrange(self.network.widths[layer]))

    def _uncrossed(self, neuron: NeuronId) -> tuple[NeuronId, NeuronId] | None:
        portrait = self.hypotheses.known.get(neuron)
        left = [] if portrait is None else np.flatnonzero(~portrait.crossed).tolist()
        return (neuron, NeuronId(neuron.layer - 1, self._random.choice(left))) if left else None

    # -- walks ----------------------------------------------------------------------------------------------------

    def _explore(self, neuron: NeuronId) -> None:
        """Both ways along a bent hyperplane in a random plane."""
        size = Fraction(2) ** self._random.randint(-6, 4)
        point = [size * self._random.randint(-64, 64) / 16 for _ in range(self.network.inputs)]
        plane = [[self._random.randint(-9, 9) for _ in range(self.network.inputs)] for _ in range(2)]
        self._walk(neuron, point, plane, ((1, 0), (-1, 0)), (False, True), _RANDOM)

    def _aim(self, neuron: NeuronId, other: NeuronId) -> None:
        """Along the bent hyperplane of one neuron, from a known piece, towards the zeros of another one."""
        pieces = list(self._places[neuron].items())
        chosen = self._random.sample(pieces, min(len(pieces), _STARTS))
        piece, place = min(chosen, key=lambda item: self._distance(other, *item))
        normal, _ = self._form(neuron, piece, place)
        gradient, value = self._form(other, piece, place)
        along = -np.sign(value) * (gradient - (gradient @ normal) / (normal @ normal or 1) * normal)
        noise = np.array([self._random.gauss(0, 1) for _ in along])
        along = along + self._random.choice((0, 0.1, 1)) * np.linalg.norm(along) * noise / np.linalg.norm(noise)
        point = [Fraction(round(x * 2**_DIGITS), 2**_DIGITS) for x in place]
        self._walk(neuron, point, [_short(along), _short(normal)], ((0, 1), (0, -1)), (False,), _AIMED)

    def _form(self, neuron: NeuronId, piece: Piece, place: Point) -> tuple[NDArray[np.float64], float]:
        """The gradient of a neuron on a piece, and its value at a point, in floats."""
        form = self._space.part.forms(flat_signs(piece.signs), neuron.layer).to_floats()[neuron.index]
        return form[:-1], float(form[:-1] @ np.array([float(x) for x in place]) + form[-1])

    def _distance(self, neuron: NeuronId, piece: Piece, place: Point) -> float:
        """About how far the zeros of a neuron are."""
        gradient, value = self._form(neuron, piece, place)
        size = float(np.linalg.norm(gradient))
        return abs(value) / size if size else float("inf")

    def _walk(
        self,
        neuron: NeuronId,
        point: Sequence[Fraction],
        plane: Sequence[Sequence[int]],
        headings: Sequence[tuple[int, int]],
        ways: Sequence[bool],
        limit: int,
    ) -> None:
        for ridge in _met(self.network, neuron, point, plane, headings, ways, limit):
            if ridge.signs not in self.ridges:
                found = ridge_at(self._space, ridge.embedded)
                if isinstance(found, Ridge):
                    self._add(found)

    def _add(self, ridge: Ridge) -> None:
        self.ridges[ridge.signs] = ridge
        self._families.add(ridge)
        for piece in ridge.pieces:
            self._places.setdefault(piece.neuron, {}).setdefault(piece, ridge.point)


def _met(
    network: Network,
    neuron: NeuronId,
    point: Sequence[Fraction],
    plane: Sequence[Sequence[int]],
    headings: Sequence[tuple[int, int]],
    ways: Sequence[bool],
    limit: int,
) -> Iterator[WalkedRidge]:
    """The ridges on walks from the first zero of the neuron on one of the headings; none if there is no zero, if the
    directions are dependent, or if the bent hyperplane branches at the zero."""
    try:
        starts = (zero_in_plane(network, neuron, point, plane, heading, _WAY) for heading in headings)
        start = next((found for found in starts if found is not None), None)
        if start is None:
            return
        for reverse in ways:
            walk: Iterator[BentPiece] = walk_bent_hyperplane(network, neuron, point, plane, start, reverse=reverse)
            yield from (piece.end for piece in islice(walk, limit) if isinstance(piece.end, WalkedRidge))
    except DomainError:
        return


def _short(vector: NDArray[np.float64]) -> list[int]:
    """A direction in short integers."""
    largest = float(np.abs(vector).max())
    return [round(float(x) / largest * _LARGEST) if largest else 0 for x in vector]
