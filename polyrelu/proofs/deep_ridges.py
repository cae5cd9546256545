"""Theorem D, the good ridges: what the gradients of f show around a point where two neurons vanish (proofs/deep.md).

A *ridge* is a cell of codimension 2 with exactly two zeros u = (k, ·) and v = (l, ·), k ≤ l. Four sectors lie around
it, and four rays: on two of them u vanishes, on two v. A ray is visible if the gradient of f jumps across it. A ridge
is good if it is of type

* A: k = l, all four rays are visible;
* B: k < l, z_v bends at u, all four rays are visible;
* C: k < l, z_v bends at u, all rays are visible but the one with u = 0 > v, and f is constant on v < 0.

Everything is worked out from one rational point, exactly, because a cell is its sign vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Rational, RationalMatrix
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.walks import AffineSlice
from polyrelu.walks.slices import Point, Signs

__all__ = ["Crossing", "Kind", "NoRidge", "Pair", "Piece", "Ridge", "flat_signs", "ridge_at", "whole_space"]

Kind = Literal["A", "B", "C"]

#: Signs of (u, v) on a sector or on a ray.
Pair: TypeAlias = tuple[int, int]

_SECTORS: tuple[Pair, ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@dataclass(frozen=True, slots=True)
class Piece:
    """A cell of codimension 1 across which the gradient of f jumps; `neuron` is the only one that vanishes on it."""

    neuron: NeuronId
    signs: SignVector

    def __str__(self) -> str:
        return f"({self.neuron.layer}, {self.neuron.index}) at {self.signs}"


@dataclass(frozen=True, slots=True)
class Crossing:
    """A piece of u and a piece of v that meet at a good ridge of the given type."""

    kind: Kind
    u: Piece
    v: Piece


@dataclass(frozen=True, slots=True)
class NoRidge:
    """A point that does not lie on a ridge with exactly two zeros, and why."""

    point: Point
    reason: str


@dataclass(frozen=True, slots=True)
class Ridge:
    """What is seen around a point where exactly two neurons vanish, with independent gradients.

    Attributes
    ----------
    point : x, exact.
    u, v : the two neurons, u not in a later layer than v.
    signs : at the point.
    visible : the rays, by the signs of (u, v), across which the gradient of f jumps.
    constant : the sectors, by the signs of (u, v), on which f is constant.
    bends : whether z_v has independent gradients on the two sides of u.
    kind : the type of a good ridge; None if it is not good.
    reason : why it is not good; empty if it is.
    """

    point: Point
    u: NeuronId
    v: NeuronId
    signs: SignVector
    visible: frozenset[Pair]
    constant: frozenset[Pair]
    bends: bool
    kind: Kind | None
    reason: str

    def at(self, pair: Pair) -> SignVector:
        """The signs of a sector or a ray, by the signs of (u, v)."""
        layers = [list(layer) for layer in self.signs.layers]
        for neuron, sign in zip((self.u, self.v), pair, strict=True):
            layers[neuron.layer - 1][neuron.index] = sign
        return SignVector(tuple(map(tuple, layers)))

    @property
    def sectors(self) -> tuple[SignVector, ...]:
        """The signs of the four sectors: cells of full dimension on which no neuron vanishes."""
        return tuple(map(self.at, _SECTORS))

    def piece(self, pair: Pair) -> Piece:
        """The cell on a ray; a piece if the ray is visible."""
        return Piece(self.u if pair[0] == 0 else self.v, self.at(pair))

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces on the visible rays."""
        return tuple(map(self.piece, sorted(self.visible)))

    @property
    def links(self) -> tuple[tuple[Piece, Piece], ...]:
        """Pairs of pieces that belong to one family; none if the ridge is not good."""
        if self.kind is None:
            return ()
        of_v = self.piece((1, 0)), self.piece((-1, 0))
        return (of_v,) if self.kind == "C" else (of_v, (self.piece((0, 1)), self.piece((0, -1))))

    @property
    def crossing(self) -> Crossing | None:
        """A piece of u and a piece of v that meet here; None if the ridge is not good."""
        return None if self.kind is None else Crossing(self.kind, self.piece((0, 1)), self.piece((1, 0)))

    @property
    def oriented(self) -> tuple[Piece, ...]:
        """The visible pieces with f constant on the side on which their neuron is off."""
        found = []
        for pair in sorted(self.visible):
            off = (-1, pair[1]) if pair[0] == 0 else (pair[0], -1)
            if off in self.constant:
                found.append(self.piece(pair))
        return tuple(found)


def whole_space(network: Network) -> AffineSlice:
    """The network on R^{n_0}, in the coordinates of its input, for `ridge_at`.

    Raises
    ------
    DomainError : not a plain stack with an affine output, at least one hidden layer, and n_0 ≥ 2.
    """
    if not network.is_plain or network.last != "affine" or network.depth < 2:
        raise DomainError("Theorem D is about plain stacks with hidden layers and an affine output")
    if network.inputs < 2:
        raise DomainError("Theorem D needs at least two inputs: there are no ridges on a line")
    origin = [0] * network.inputs
    return AffineSlice(network, origin, RationalMatrix.identity(network.inputs).rows())


def ridge_at(space: AffineSlice, point: Sequence[Rational]) -> Ridge | NoRidge:
    """The ridge through a rational point, exactly.

    Parameters
    ----------
    space : of `whole_space`.
    point : x, n_0 exact numbers.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> ridge = ridge_at(whole_space(net), [0, 1])
    >>> ridge.kind, ridge.u, ridge.v, str(ridge.signs), len(ridge.visible)
    ('C', NeuronId(layer=1, index=0), NeuronId(layer=2, index=0), '0+|0-', 3)
    >>> ridge_at(whole_space(net), [0, 3]).reason
    '1 neuron vanishes here, not two'
    """
    x = tuple(map(Fraction, RationalMatrix.column(point).entries()))
    at = space.signs_at(x)
    zeros = np.flatnonzero(at == 0).tolist()
    if len(zeros) != 2:
        return NoRidge(x, f"{len(zeros)} neuron{' vanishes' if len(zeros) == 1 else 's vanish'} here, not two")
    u, v = zeros
    normal, off, on = (row[:-1] for row in (*space.rows(at, [u, v]), *space.rows(_with(at, (u, 1)), [v])))
    if _dependent(normal, off):
        return NoRidge(x, "the two gradients are dependent")
    bends = space.layer_of(u) < space.layer_of(v) and _dependent(off, on) is False
    visible, constant = _visible(space, at, u, v), _constant(space, at, u, v)
    kind, reason = _kind(space.layer_of(u) == space.layer_of(v), bends, visible, constant)
    return Ridge(x, space.neuron(u), space.neuron(v), space.sign_vector(at), visible, constant, bends, kind, reason)


def flat_signs(signs: SignVector) -> Signs:
    """Layer by layer in one array, as `AffineSlice` has them."""
    return np.array([sign for layer in signs.layers for sign in layer], dtype=np.int8)


def _with(at: Signs, *changes: tuple[int, int]) -> Signs:
    signs = at.copy()
    for place, sign in changes:
        signs[place] = sign
    return signs


def _dependent(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two integer vectors are linearly dependent."""
    pivot = next((i for i, entry in enumerate(a) if entry), None)
    return pivot is None or all(a[pivot] * y == b[pivot] * x for x, y in zip(a, b, strict=True))


def _visible(space: AffineSlice, at: Signs, u: int, v: int) -> frozenset[Pair]:
    """Across a ray one neuron w is switched, so that f jumps by c z_w, c its derivative by the activation of w; z_w is
    not constant, so that the ray is visible exactly if c ≠ 0. For v, c is the same on both sides of u."""
    found: set[Pair] = {(1, 0), (-1, 0)} if _has_influence(space, at, v) else set()
    for sign in (1, -1):
        if _has_influence(space, _with(at, (v, sign)), u):
            found.add((0, sign))
    return frozenset(found)


def _has_influence(space: AffineSlice, signs: Signs, place: int) -> bool:
    """Whether the derivative of the outputs by the activation of a neuron is not 0, all other signs being given."""
    network, own = space.network, space.layer_of(place)
    start, stop = space.offsets[own - 1 : own + 1]
    column = RationalMatrix.column([int(i == place) for i in range(start, stop)])
    for layer in range(own, network.depth):
        if layer > own:
            column = column.scale_rows((signs[space.part(layer)] > 0).astype(int).tolist())
        column = network.layers[layer].blocks[0] @ column
    return not column.is_zero()


def _constant(space: AffineSlice, at: Signs, u: int, v: int) -> frozenset[Pair]:
    return frozenset(pair for pair in _SECTORS if _is_constant(space, _with(at, (u, pair[0]), (v, pair[1]))))


def _is_constant(space: AffineSlice, signs: Signs) -> bool:
    """Whether f is constant on the cell with these signs, none of which is 0."""
    network = space.network
    if not all((signs[space.part(layer)] > 0).any() for layer in range(1, network.depth)):
        return True
    return space.forms(signs, network.depth).take(columns=range(network.inputs)).is_zero()


def _kind(same: bool, bends: bool, visible: frozenset[Pair], constant: frozenset[Pair]) -> tuple[Kind | None, str]:
    if not same and not bends:
        return None, "the later neuron does not bend at the earlier one"
    if len(visible) == 4:
        return ("A" if same else "B"), ""
    if len(visible) < 3:
        return None, f"{len(visible)} of the four rays are visible"
    # Three rays are visible: both of v, because its jumps are multiples of one vector, and one of u.
    if (0, -1) in visible:
        return None, "the earlier neuron is invisible where the later one is on"
    if (1, -1) not in constant:
        return None, "the earlier neuron is invisible where the later one is off, but f is not constant there"
    return "C", ""
