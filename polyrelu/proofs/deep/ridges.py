"""Theorem D, the good ridges: what the gradients of f show around a point where two neurons vanish (docs/theory/deep.md).

A *ridge* is a cell of codimension 2 with exactly two zeros u = (k, ·) and v = (l, ·), k ≤ l. Four sectors lie around
it, and four rays: on two of them u vanishes, on two v. A ray is visible if the gradient of f jumps across it. A ridge
is good if it is of type

* A: k = l, all four rays are visible;
* B: k < l, z_v bends at u, all four rays are visible;
* C: k < l, z_v bends at u, all rays are visible but the one with u = 0 > v, and no neuron of layer l is on at the ridge
  (so f is constant on v < 0).

It is *clear* if it is of type A or B, and f is not constant on any of its sectors. For the larger class of regular
competitors only clear ridges are good.

A cell is known by the signs of the hidden neurons on it. Searches meet a hundred thousand cells, so that the signs are
kept as a *mask* here, an integer with a bit for each neuron that is on; which neurons vanish is said beside it. Neurons
are known by their places, counted from 0, layer by layer.

**Modulo a prime.** The derivatives that tell the type are computed modulo a prime p, so small that products of vectors
of floats are exact. What is not 0 modulo p is not 0. What is 0 modulo p may differ from 0; then a good ridge is not
used, or f is taken for constant in (C), where the masks of layer l decide the rest: nothing wrong is claimed, since
(B) and (C) only differ in what is used of u where v < 0.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.exact import Rational, RationalMatrix, float_prime
from polyrelu.network import Network, NeuronId
from polyrelu.support.typing import Floats, Point, Signs
from polyrelu.symmetry import rescale
from polyrelu.walks import AffineSlice
from polyrelu.walks.affine_slice import exact_vector

__all__ = [
    "Competitors",
    "Crossing",
    "DeepNetwork",
    "Kind",
    "NoRidge",
    "Piece",
    "Ridge",
    "deep_network",
    "mask_of",
    "ridge_at",
]

Kind = Literal["A", "B", "C"]

#: The classes of competitors of Theorem D; the first one contains the second one.
Competitors = Literal["regular", "transversal"]

_Table = TypeVar("_Table", NDArray[np.int64], Floats)

#: The direction in which it is seen whether f is constant has the powers of this number as coordinates. It is the
#: number of FORMAT.md §3.9, here modulo another prime.
_ON_INPUTS = 987654321

#: So many matrices of gradients and of float forms are remembered.
_REMEMBERED = 64

#: Floats are taken as they are if values can grow to this power of 2 only, from inputs of size 1.
_LARGE = 300.0


class Piece(NamedTuple):
    """A cell of codimension 1: the place of the one neuron that vanishes on it, and the mask of those that are on."""

    place: int
    mask: int


class Crossing(NamedTuple):
    """A piece of u and a piece of v that meet at a good ridge of the given type."""

    kind: Kind
    u: Piece
    v: Piece


class Ridge(NamedTuple):
    """A cell of codimension 2 with exactly two zeros.

    Attributes
    ----------
    u, v : the places of the neurons that vanish, u < v.
    mask : of the neurons that are on.
    kind : the type of a good ridge; None if it is not good.
    """

    u: int
    v: int
    mask: int
    kind: Kind | None

    def ray(self, place: int, on: bool) -> Piece:
        """The ray on which u (v) vanishes and the other one is on, or off."""
        other = self.v if place == self.u else self.u
        return Piece(place, self.mask | on << other)

    @property
    def sectors(self) -> tuple[int, ...]:
        """The masks of the four sectors: cells of full dimension on which no neuron vanishes."""
        u, v = 1 << self.u, 1 << self.v
        return self.mask | u | v, self.mask | u, self.mask | v, self.mask

    @property
    def links(self) -> tuple[tuple[Piece, Piece], ...]:
        """Pairs of pieces that belong to one family; none if the ridge is not good."""
        if self.kind is None:
            return ()
        of_v = self.ray(self.v, True), self.ray(self.v, False)
        return (
            (of_v,)
            if self.kind == "C"
            else (of_v, (self.ray(self.u, True), self.ray(self.u, False)))
        )

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces on the visible rays; none if the ridge is not good."""
        links = tuple(piece for link in self.links for piece in link)
        return (*links, self.ray(self.u, True)) if self.kind == "C" else links

    @property
    def crossing(self) -> Crossing | None:
        """A piece of u and a piece of v that meet here; None if the ridge is not good."""
        return (
            None
            if self.kind is None
            else Crossing(self.kind, self.ray(self.u, True), self.ray(self.v, True))
        )


@dataclass(frozen=True, slots=True)
class NoRidge:
    """A point that does not lie on a ridge with exactly two zeros, and why."""

    point: Point
    reason: str


class _Jumps(NamedTuple):
    """Derivatives at a ridge with the zeros u and v, both off, modulo p: of z_v by the activation of u, and of the
    outputs by those of u and of v."""

    bend: float
    at_u: Floats
    at_v: Floats


class DeepNetwork:
    """A network for Theorem D, made by `deep_network`: what is worked out once for all of its ridges.

    Attributes
    ----------
    network : the network.
    among : the class of competitors, which says what ridges are good.
    starts : the place of the first neuron of each hidden layer, and how many there are in all.
    layer_of : the layer, from 1, of the neuron at each place.
    layer_mask : by the number of a hidden layer, the mask of its neurons; 0 for layer 0.
    prime : a prime modulo which products of vectors of floats are exact.
    """

    def __init__(self, network: Network, among: Competitors) -> None:
        """Use `deep_network`."""
        self.network, self.among = network, among
        widths = network.widths[1:-1]
        self.starts = (0, *accumulate(widths))
        self.layer_of = [layer for layer, width in enumerate(widths, 1) for _ in range(width)]
        self.layer_mask = [
            0,
            *(
                ((1 << width) - 1) << start
                for width, start in zip(widths, self.starts, strict=False)
            ),
        ]
        self.prime = float_prime(max(network.widths))
        self.rows = [layer.weight.integer_rows() for layer in network.layers]
        self._modular = [
            np.array([[w % self.prime for w in row] for row in rows], dtype=float)
            for rows in self.rows
        ]
        direction = [pow(_ON_INPUTS, k, self.prime) for k in range(1, network.inputs + 1)]
        self._along = np.mod(self._modular[0] @ np.array(direction, dtype=float), self.prime)
        self._floats = _float_rows(network)
        self._gradients: OrderedDict[tuple[int, int, int], NDArray[np.int64]] = OrderedDict()
        self._forms: OrderedDict[tuple[int, int, int], Floats] = OrderedDict()
        self._whole: AffineSlice | None = None

    # -- names ----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of hidden neurons."""
        return self.starts[-1]

    def place(self, neuron: NeuronId) -> int:
        """The place of a hidden neuron."""
        return self.starts[neuron.layer - 1] + neuron.index

    def neuron(self, place: int) -> NeuronId:
        """The neuron at a place."""
        layer = self.layer_of[place]
        return NeuronId(layer, place - self.starts[layer - 1])

    def places(self, layer: int) -> range:
        """The places of the neurons of a hidden layer."""
        return range(self.starts[layer - 1], self.starts[layer])

    def before(self, place: int) -> int:
        """The mask of the layer before that of a neuron; 0 in the first layer."""
        return self.layer_mask[self.layer_of[place] - 1]

    def below(self, mask: int, layer: int) -> int:
        """A mask without the neurons from a layer on: it tells all forms of that layer."""
        return mask & ((1 << self.starts[layer - 1]) - 1)

    def bits(self, mask: int) -> NDArray[np.bool_]:
        """A mask as an array, an entry for each hidden neuron."""
        text = np.frombuffer(mask.to_bytes(self.size // 8 + 1, "little"), dtype=np.uint8)
        return np.unpackbits(text, count=self.size, bitorder="little").view(np.bool_)

    def row(self, place: int) -> list[int]:
        """A positive multiple, in integers, of the weights of a neuron; one factor for the whole layer."""
        layer = self.layer_of[place]
        return self.rows[layer - 1][place - self.starts[layer - 1]]

    # -- derivatives ----------------------------------------------------------------------------------------------

    def ridge(self, u: int, v: int, mask: int) -> Ridge:
        """The ridge with two zeros, u < v, whose gradients are known to be independent, and its type."""
        on = self.bits(mask)
        _, late = self._derivatives(v, v, on)
        if not late.any():
            return Ridge(u, v, mask, None)
        c, off = self._derivatives(u, v, on)
        jumps = _Jumps(c, off, late)
        kind = self._kind(u, v, mask, jumps)
        if (
            kind is not None
            and self.among == "regular"
            and (kind == "C" or not self._is_clear(u, v, on, jumps))
        ):
            kind = None
        return Ridge(u, v, mask, kind)

    def _kind(self, u: int, v: int, mask: int, jumps: _Jumps) -> Kind | None:
        """The type where the gradient jumps at v with u off."""
        c, off, late = jumps
        if self.layer_of[u] == self.layer_of[v]:
            return "A" if off.any() else None
        if not c or not np.mod(off + np.mod(c * late, self.prime), self.prime).any():
            return None
        if off.any():
            return "B"
        return None if mask & self.layer_mask[self.layer_of[v]] else "C"

    def _is_clear(self, u: int, v: int, on: NDArray[np.bool_], jumps: _Jumps) -> bool:
        """Whether the derivative of f along one direction differs from 0 on all four sectors."""
        c, off, late = jumps
        slopes = [self._along]
        for start, weights in zip(self.starts[:-1], self._modular[1:], strict=True):
            slopes.append(
                np.mod(weights @ (slopes[-1] * on[start : start + len(slopes[-1])]), self.prime)
            )
        at_u, at_v = (
            slopes[self.layer_of[w] - 1][w - self.starts[self.layer_of[w] - 1]] for w in (u, v)
        )
        bent = np.mod(at_v + c * at_u, self.prime)  # where u is on; in one layer c is 0
        sectors = (
            0.0,
            off * at_u,
            late * at_v,
            np.mod(off * at_u, self.prime) + np.mod(late * bent, self.prime),
        )
        return all(np.mod(slopes[-1] + jump, self.prime).any() for jump in sectors)

    def _derivatives(self, w: int, v: int, on: NDArray[np.bool_]) -> tuple[float, Floats]:
        """By the activation of a neuron w, where u and v are off: that of z_v, and those of the outputs, modulo p."""
        first, c = self.layer_of[w], 0.0
        column: Floats = self._modular[first][:, w - self.starts[first - 1]]
        for layer in range(first + 1, len(self._modular)):
            start, stop = self.starts[layer - 1 : layer + 1]
            if start <= v < stop:
                c = float(column[v - start])
            column = np.mod(self._modular[layer] @ (column * on[start:stop]), self.prime)
        return c, column

    def gradients(self, layer: int, mask: int, count: int) -> NDArray[np.int64]:
        """∂z/∂x_k of all neurons of a hidden layer on a cell, times one number, modulo p, for so many inputs k that are
        spread evenly, all of them if there are fewer; shape (n_ℓ, count)."""
        key = layer, self.below(mask, layer), count
        found = self._gradients.get(key)
        if found is None:
            columns = np.linspace(
                0, self.network.inputs - 1, min(count, self.network.inputs)
            ).astype(np.int64)
            on, product = self.bits(mask), self._modular[0][:, columns]
            for number in range(2, layer + 1):
                active = on[self.starts[number - 2] : self.starts[number - 1]]
                product = np.mod(self._modular[number - 1][:, active] @ product[active], self.prime)
            found = _remember(self._gradients, key, product.astype(np.int64))
        return found

    # -- guesses --------------------------------------------------------------------------------------------------

    def float_forms(self, layer: int, mask: int) -> Floats:
        """[∇z | z(0)] of all neurons of a hidden layer on a cell, in floats, shape (n_ℓ, n_0 + 1)."""
        key = layer, self.below(mask, layer), 0
        found = self._forms.get(key)
        if found is None:
            on, product = self.bits(mask), self._floats[0]
            for number in range(2, layer + 1):
                active = on[self.starts[number - 2] : self.starts[number - 1]]
                weights = self._floats[number - 1]
                product = weights[:, :-1][:, active] @ product[active]
                product[:, -1] += weights[:, -1]
            found = _remember(self._forms, key, product)
        return found

    def float_mask(self, point: Floats) -> int:
        """The mask of the neurons that are on at a point, as floats see it."""
        values, mask = point, 0
        for start, weights in zip(self.starts, self._floats[:-1], strict=False):
            values = np.maximum(weights[:, :-1] @ values + weights[:, -1], 0.0)
            mask |= (
                int.from_bytes(np.packbits(values > 0, bitorder="little").tobytes(), "little")
                << start
            )
        return mask

    # -- exact ----------------------------------------------------------------------------------------------------

    @property
    def whole(self) -> AffineSlice:
        """R^{n_0} as a slice, in the coordinates of the input."""
        if self._whole is None:
            inputs = self.network.inputs
            self._whole = AffineSlice(
                self.network, [0] * inputs, RationalMatrix.identity(inputs).rows()
            )
        return self._whole


def deep_network(network: Network, among: Competitors = "transversal") -> DeepNetwork:
    """A network that Theorem D is about, and the class of its competitors.

    Raises
    ------
    DomainError : not a plain stack with an affine output, at least one hidden layer, and n_0 ≥ 2; or no such class.
    """
    if not network.is_plain or network.last != "affine" or network.depth < 2:
        raise DomainError("Theorem D is about plain stacks with hidden layers and an affine output")
    if network.inputs < 2:
        raise DomainError("Theorem D needs at least two inputs: there are no ridges on a line")
    if among not in get_args(Competitors):
        raise DomainError(
            f"Theorem D is about {' or '.join(get_args(Competitors))} competitors, not {among!r}"
        )
    return DeepNetwork(network, among)


def ridge_at(space: DeepNetwork, point: Sequence[Rational]) -> Ridge | NoRidge:
    """The ridge through a rational point, exactly.

    Parameters
    ----------
    space : of `deep_network`.
    point : x, n_0 exact numbers.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
    >>> ridge = ridge_at(deep_network(net), [0, 1])
    >>> ridge.kind, ridge.u, ridge.v, bin(ridge.mask)
    ('C', 0, 2, '0b10')
    >>> ridge_at(deep_network(net), [0, 3]).reason
    '1 neuron vanishes here, not two'
    """
    part, x = space.whole, exact_vector("the point", point, space.network.inputs)
    at = part.signs_at(x)
    zeros = np.flatnonzero(at == 0).tolist()
    if len(zeros) != 2:
        return NoRidge(
            x, f"{len(zeros)} neuron{' vanishes' if len(zeros) == 1 else 's vanish'} here, not two"
        )
    if _dependent(*(row[:-1] for row in part.rows(at, zeros))):
        return NoRidge(x, "the two gradients are dependent")
    return space.ridge(zeros[0], zeros[1], mask_of(at))


def mask_of(signs: Signs) -> int:
    """The mask of the neurons that are on."""
    return int.from_bytes(np.packbits(signs > 0, bitorder="little").tobytes(), "little")


def _float_rows(network: Network) -> list[Floats]:
    """[W|b] of each layer in floats; if products of them could be too large for floats, those of a network that is
    equal up to positive scaling, with entries below 1 in the hidden layers: its neurons have the same zeros."""
    found = [layer.augmented().to_floats() for layer in network.layers]
    with np.errstate(over="ignore"):
        sizes = [float(np.abs(rows).sum(axis=1).max()) for rows in found[:-1]]
    if sum(math.log2(max(size, 1.0)) for size in sizes) <= _LARGE:
        return found
    for layer in range(1, network.depth):
        largest = [max(map(abs, row)) for row in network.layers[layer - 1].augmented().rows()]
        network = rescale(network, layer, [_above(x) if x else 1 for x in largest])
    return [layer.augmented().to_floats() for layer in network.layers]


def _above(number: Fraction) -> Fraction:
    """The reciprocal of a power of 2 that is larger than a positive number, and less than four times as large."""
    return Fraction(2) ** (number.denominator.bit_length() - number.numerator.bit_length() - 1)


def _dependent(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two integer vectors are linearly dependent."""
    pivot = next((i for i, entry in enumerate(a) if entry), None)
    return pivot is None or all(a[pivot] * y == b[pivot] * x for x, y in zip(a, b, strict=True))


def _remember(
    memory: OrderedDict[tuple[int, int, int], _Table], key: tuple[int, int, int], value: _Table
) -> _Table:
    memory[key] = value
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
    return value
