"""Theorem D, the good ridges: what the gradients of f show around a point where two neurons vanish (proofs/deep.md).

A *ridge* is a cell of codimension 2 with exactly two zeros u = (k, ·) and v = (l, ·), k ≤ l. Four sectors lie around
it, and four rays: on two of them u vanishes, on two v. A ray is visible if the gradient of f jumps across it. A ridge
is good if it is of type

* A: k = l, all four rays are visible;
* B: k < l, z_v bends at u, all four rays are visible;
* C: k < l, z_v bends at u, all rays are visible but the one with u = 0 > v, and no neuron of layer l is on at the ridge
  (so f is constant on v < 0).

Everything is worked out from one rational point, exactly, because a cell is its sign vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import Rational, RationalMatrix
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.walks import AffineSlice
from polyrelu.walks.slices import Point, Signs, exact_vector

__all__ = ["Crossing", "Kind", "NoRidge", "Pair", "Piece", "Ridge", "Space", "flat_signs", "ridge_at", "whole_space"]

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
    bends : whether z_v has independent gradients on the two sides of u.
    kind : the type of a good ridge; None if it is not good.
    reason : why it is not good; empty if it is.
    """

    point: Point
    u: NeuronId
    v: NeuronId
    signs: SignVector
    visible: frozenset[Pair]
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
        """The visible pieces at which no neuron of the own layer is on, so that f is constant where theirs is off."""
        return tuple(piece for piece in self.pieces if not piece.signs.active(piece.neuron.layer))


class Space:
    """A network on R^{n_0}, made by `whole_space`: what is worked out once for all of its ridges."""

    def __init__(self, network: Network) -> None:
        """Use `whole_space`."""
        self.network = network
        self.part = AffineSlice(network, [0] * network.inputs, RationalMatrix.identity(network.inputs).rows())
        self._weights = [layer.weight.integer_rows() for layer in network.layers]

    def gradients(self, layer: int, signs: SignVector) -> list[list[int]]:
        """For each coordinate of x the derivatives of all z of a hidden layer on a cell, times one positive number."""
        return self.part.forms(flat_signs(signs), layer).transpose().integer_rows()[:-1]

    def has_influence(self, signs: Signs, place: int) -> bool:
        """Whether the derivative of f by the activation of a neuron is not 0, the signs of later layers being given."""
        own = self.part.layer_of(place)
        column = [row[place - self.part.offsets[own - 1]] for row in self._weights[own]]
        for layer in range(own + 1, self.network.depth):
            on = np.flatnonzero(signs[self.part.part(layer)] > 0).tolist()
            column = [sum(row[j] * column[j] for j in on) for row in self._weights[layer]]
        return any(column)


def whole_space(network: Network) -> Space:
    """The network on R^{n_0}, in the coordinates of its input, for `ridge_at`.

    Raises
    ------
    DomainError : not a plain stack with an affine output, at least one hidden layer, and n_0 ≥ 2.
    """
    if not network.is_plain or network.last != "affine" or network.depth < 2:
        raise DomainError("Theorem D is about plain stacks with hidden layers and an affine output")
    if network.inputs < 2:
        raise DomainError("Theorem D needs at least two inputs: there are no ridges on a line")
    return Space(network)


def ridge_at(space: Space, point: Sequence[Rational]) -> Ridge | NoRidge:
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
    part, x = space.part, exact_vector("the point", point, space.network.inputs)
    at = part.signs_at(x)
    zeros = np.flatnonzero(at == 0).tolist()
    if len(zeros) != 2:
        return NoRidge(x, f"{len(zeros)} neuron{' vanishes' if len(zeros) == 1 else 's vanish'} here, not two")
    u, v = zeros
    normal, off, on = (row[:-1] for row in (*part.rows(at, [u, v]), *part.rows(_with(at, u, 1), [v])))
    if _dependent(normal, off):
        return NoRidge(x, "the two gradients are dependent")
    same = part.layer_of(u) == part.layer_of(v)
    bends = not same and not _dependent(off, on)
    visible = _visible(space, at, u, v)
    kind, reason = _kind(same, bends, visible, dead=not (at[part.part(part.layer_of(v))] > 0).any())
    return Ridge(x, part.neuron(u), part.neuron(v), part.sign_vector(at), visible, bends, kind, reason)


def flat_signs(signs: SignVector) -> Signs:
    """Layer by layer in one array, as `AffineSlice` has them."""
    return np.array([sign for layer in signs.layers for sign in layer], dtype=np.int8)


def _with(at: Signs, place: int, sign: int) -> Signs:
    signs = at.copy()
    signs[place] = sign
    return signs


def _dependent(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two integer vectors are linearly dependent."""
    pivot = next((i for i, entry in enumerate(a) if entry), None)
    return pivot is None or all(a[pivot] * y == b[pivot] * x for x, y in zip(a, b, strict=True))


def _visible(space: Space, at: Signs, u: int, v: int) -> frozenset[Pair]:
    """Across a ray one neuron w is switched, so that f jumps by c z_w, c its derivative by the activation of w; z_w is
    not constant, so that the ray is visible exactly if c ≠ 0. For v, c is the same on both sides of u."""
    found: set[Pair] = {(1, 0), (-1, 0)} if space.has_influence(at, v) else set()
    return frozenset(found | {(0, sign) for sign in (1, -1) if space.has_influence(_with(at, v, sign), u)})


def _kind(same: bool, bends: bool, visible: frozenset[Pair], dead: bool) -> tuple[Kind | None, str]:
    """`dead`: no neuron of the layer of v is on at the ridge."""
    if not same and not bends:
        return None, "the later neuron does not bend at the earlier one"
    if len(visible) == 4:
        return ("A" if same else "B"), ""
    if len(visible) < 3:
        return None, f"{len(visible)} of the four rays are visible"
    # Three rays are visible: both of v, because its jumps are multiples of one vector, and one of u.
    if (0, -1) in visible:
        return None, "the earlier neuron is invisible where the later one is on"
    if not dead:
        return None, "the earlier neuron is invisible where the later one is off, but others of its layer are on"
    return "C", ""
