"""Walks of a deep search as tasks: what a walk is, and what it met, as bytes.

A search decides where to walk (`search`); the walk itself depends on the network and its order
alone. So walks can be made by other processes, and what they met can be kept in a file.

A result may come from a file. Its form is checked here. That planes meet the ridges that go into a
certificate, and the types of these ridges, are computed again (`prover`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, get_args

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.proofs.deep.planes import Plane, PlanePoint, Planes
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Kind, Piece, Ridge, mask_of
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.interior import Interior
from polyrelu.walks import BentPiece, CrossingPoint, bent_walk_from

__all__ = ["Step", "WalkContext", "WalkOrder", "steps_of", "walk"]

#: What the types of ridges can be.
_KINDS = (None, *get_args(Kind))


@dataclass(frozen=True)
class WalkContext:
    """What all walks share.

    Attributes
    ----------
    network, domain, among
        As for `DeepSearch`.
    """

    network: Network
    domain: Polyhedron | None
    among: Competitors


@dataclass(frozen=True, slots=True)
class WalkOrder:
    """A walk along the bent hyperplane of a neuron in a plane, both ways or one way.

    Attributes
    ----------
    plane
        The plane.
    neuron
        The number of the neuron.
    start
        Where the walk starts: where the second axis meets a piece, or at a zero near it; at a
        ridge; None for the first zero on the first axis.
    reverses
        The ways, one after the other.
    limit
        Maximum number of cells each way.
    """

    plane: Plane
    neuron: int
    start: Piece | Ridge | None
    reverses: tuple[bool, ...]
    limit: int

    def packed(self) -> bytes:
        """Return the order as bytes."""
        start: list[int | str] | None = None
        unit = math.lcm(*(x.denominator for x in self.plane.point))
        point = [x.numerator * (unit // x.denominator) for x in self.plane.point]
        match self.start:
            case Piece(neuron, mask):
                start = [neuron, f"{mask:x}"]
            case Ridge(u, v, mask):
                start = [u, v, f"{mask:x}"]
        entry = [unit, point, *self.plane.directions]
        return _packed([*entry, self.neuron, start, self.reverses, self.limit])

    @classmethod
    def unpacked(cls, data: bytes) -> WalkOrder:
        """Return the order that `packed` gave."""
        unit, point, first, second, neuron, where, reverses, limit = json.loads(data)
        plane = Plane(tuple(Fraction(x, unit) for x in point), (tuple(first), tuple(second)))
        start: Piece | Ridge | None = None
        if where is not None:
            *neurons, mask = where
            zeros = int(mask, 16)
            start = (
                Piece(neurons[0], zeros)
                if len(neurons) == 1
                else Ridge(neurons[0], neurons[1], zeros, None)
            )
        return cls(plane, neuron, start, tuple(reverses), limit)


@dataclass(frozen=True, slots=True)
class Step:
    """One cell of a walk, inside the domain.

    Attributes
    ----------
    mask
        Mask of the active neurons on the cell.
    middle
        Approximate coordinates in the plane of the middle of the piece; None if it has no start.
    end
        Approximate coordinates of its end.
    ridge
        The ridge at the end, if there is one with exactly two zeros.
    """

    mask: int
    middle: tuple[float, float] | None
    end: tuple[float, float]
    ridge: Ridge | None


def walk(context: WalkContext, task: bytes) -> bytes:
    """Make the walk of an order, a function of a task for `polyrelu.support.parallel`."""
    walker = _walker(context.network, context.domain, context.among)
    return _packed([list(way) for way in walker.ways(WalkOrder.unpacked(task))])


def steps_of(data: bytes, num_ways: int, size: int) -> list[list[Step | None]]:
    """Return the steps of each way of a walk, from what `walk` gave.

    None is a last cell that ends outside of the domain or not at all. All ways are empty if there
    was no start.

    Parameters
    ----------
    data
        The result of `walk`, which may come from a file.
    num_ways
        Number of ways.
    size
        Number of hidden neurons.

    Raises
    ------
    DomainError
        The result is of another form.
    """
    try:
        ways = json.loads(data)
        if len(ways) != num_ways:
            raise ValueError
        return [[None if entry is None else _step(size, *entry) for entry in way] for way in ways]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise DomainError(
            "the checkpoint has a walk that cannot be; delete the file and search again"
        ) from None


def _step(size: int, mask: str, middle: Any, end: Any, ridge: Any) -> Step:
    found, active = None, _mask(mask, size)
    if ridge is not None:
        u, v, zeros, kind = ridge
        found = Ridge(u, v, _mask(zeros, size), kind)
        is_pair = type(u) is type(v) is int and 0 <= u < v < size
        if not is_pair or found.mask >> u & 1 or found.mask >> v & 1 or kind not in _KINDS:
            raise ValueError
    return Step(active, None if middle is None else _place(*middle), _place(*end), found)


def _mask(text: str, size: int) -> int:
    """Return a mask of neurons."""
    if len(text) > size // 4 + 1:
        raise ValueError
    mask = int(text, 16)
    if not 0 <= mask < 1 << size:
        raise ValueError
    return mask


def _place(s: float, t: float) -> tuple[float, float]:
    if not type(s) is type(t) is float:
        raise ValueError
    return s, t


@lru_cache(maxsize=2)
def _walker(network: Network, domain: Polyhedron | None, among: Competitors) -> _Walker:
    """Return what walks in a network; a process keeps it from task to task."""
    return _Walker(DeepNetwork.of(network, among), None if domain is None else Interior(domain))


class _Walker:
    """Walks in planes, of which it remembers the last ones."""

    def __init__(self, deep_network: DeepNetwork, interior: Interior | None) -> None:
        self._network, self._interior = deep_network, interior
        self._planes, self._numbers = Planes(deep_network, interior), dict[Plane, int]()

    def ways(self, order: WalkOrder) -> Iterator[Iterator[Any]]:
        """Yield the steps of each way of a walk, as entries of JSON."""
        number = self._number_of(order.plane)
        start = None if number is None else self._start(number, order)
        for reverse in order.reverses:
            yield iter(()) if number is None else self._steps(number, order, start, reverse)

    def _number_of(self, plane: Plane) -> int | None:
        """Return the number of a plane; None if its directions are dependent."""
        if plane not in self._numbers:
            if len(self._numbers) >= SETTINGS.remembered_slices:
                self._planes, self._numbers = Planes(self._network, self._interior), {}
            number = self._planes.add(plane)
            if number is None:
                return None
            self._numbers[plane] = number
        return self._numbers[plane]

    def _start(self, number: int, order: WalkOrder) -> PlanePoint | None:
        """Return the point at which a walk starts, if there is one."""
        planes, start = self._planes, order.start
        if isinstance(start, Ridge):
            return planes.ridge_point(number, start)
        if start is None:
            headings, limit = ((1, 0), (-1, 0)), SETTINGS.global_zero_cells
            return planes.zero_of(number, order.neuron, headings, limit)
        on_piece = planes.piece_point(number, start)
        if on_piece is not None:
            return on_piece
        return planes.zero_of(number, order.neuron, ((0, 1), (0, -1)), SETTINGS.local_zero_cells)

    def _steps(
        self, number: int, order: WalkOrder, start: PlanePoint | None, reverse: bool
    ) -> Iterator[Any]:
        """Yield the steps of one way; none if there is no start or the neuron branches there."""
        if start is None:
            return
        plane, neuron_id = self._planes.slice(number), self._network.neuron_id(order.neuron)
        try:
            found = bent_walk_from(
                plane, neuron_id, start=start, reverse=reverse, limit=order.limit
            )
        except DomainError:
            return
        pieces = list(found)
        for piece, ridge in zip(pieces, self._ridges_at_ends(pieces), strict=True):
            near_start, end, middle = piece.start, piece.end, None
            if end is None or not self._planes.is_inside(number, end.near):
                yield None
                return
            if near_start is not None:
                middle = [(a + b) / 2 for a, b in zip(near_start.near, end.near, strict=True)]
            met = None if ridge is None else [ridge.u, ridge.v, f"{ridge.mask:x}", ridge.kind]
            yield [f"{mask_of(piece.cell.signs):x}", middle, list(end.near), met]

    def _ridges_at_ends(self, pieces: Sequence[BentPiece]) -> list[Ridge | None]:
        """Return the ridge at the end of each piece; None where no ridge with two zeros is."""
        found = list[Ridge | None]([None]) * len(pieces)
        places, pairs, masks = list[int](), list[tuple[int, int]](), list[int]()
        for place, piece in enumerate(pieces):
            end = piece.end
            if isinstance(end, CrossingPoint) and np.count_nonzero(end.at == 0) == 2:
                places.append(place)
                pairs.append((min(end.u, end.v), max(end.u, end.v)))
                masks.append(mask_of(end.at))
        for place, ridge in zip(places, self._network.ridges(pairs, masks), strict=True):
            found[place] = ridge
        return found


def _packed(entry: Any) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode("ascii")
