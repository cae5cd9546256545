"""Good ridges, and the network with what is computed once for all of them (Theorem D).

A *ridge* is a cell of codimension 2 on which exactly two neurons u and v vanish; from the gradients
of f around it one can read which neuron of a competitor vanishes there. Everything in this folder
speaks of cells through *masks* and *neuron numbers*, which this module defines. Types are decided
modulo a prime; why no wrong claim can come of it is said below. Mathematics: docs/theory/ridges.md.

**Neuron numbers and masks.** Hidden neurons are numbered from 0, layer by layer. A neuron is
*active* where z > 0 and *inactive* where z < 0. A cell is known by the signs of the hidden neurons
on it. Searches visit a hundred thousand cells, so signs are stored as a *mask*: an integer whose
bit w is 1 if neuron w is active. Which neurons vanish is stored beside the mask.

**Good ridges.** Let u = (k, ·) and v = (l, ·) vanish at a ridge, k ≤ l. Four *sectors* lie around
it, given by the signs of u and v, and four *rays*: u vanishes on two of them, and v on the other
two. A ray is *visible* if the gradient of f jumps across it. The neuron v *bends* at u if the
gradient of z_v differs on the two sides of u. The ridge is *good* if it has one of the types

* A: k = l, and all four rays are visible;
* B: k < l, v bends at u, and all four rays are visible;
* C: k < l, v bends at u, all rays are visible but the one with u = 0 > v, and no neuron of layer l
  is active at the ridge (so f is constant where v < 0).

A ridge is *clear* if it has type A or B and f is constant on none of its sectors. For the larger
class of regular competitors only clear ridges count as good.

For *sparse* competitors, which may have zero weights, neurons that cross without a bend need not
be of one layer (docs/theory/sparse.md). Besides B and C there are types of ridges that only link
pieces:

* L: v does not bend at u, because no path of nonzero weights leads from u to v, and all four rays
  are visible;
* V: the same, if only the rays of v are known to be visible;
* U: only the rays of u are known to be visible.

**Modulo a prime.** The derivatives that decide the type are computed modulo a prime p, which is so
small that products of vectors of floats are exact. A number that is nonzero modulo p is nonzero. A
nonzero number may vanish modulo p; then a good ridge stays unused, or f is taken to be constant in
type C. There the masks of layer l decide the rest, so nothing wrong is claimed: types B and C
differ only in what is used of u where v < 0.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.exact import Rational, RationalMatrix, eliminate_mod, float_prime
from polyrelu.formats import as_point
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.deep.derivatives import Jumps, derivatives_of
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.support.typing import Floats, Mask, Point, Signs
from polyrelu.symmetry import rescale
from polyrelu.walks import AffineSlice

__all__ = [
    "BENDING",
    "Competitors",
    "Crossing",
    "DeepNetwork",
    "Kind",
    "NoRidge",
    "Piece",
    "Ridge",
    "mask_of",
    "ridge_at",
]

Kind = Literal["A", "B", "C", "L", "U", "V"]

#: The classes of competitors of Theorem D. Both others contain the transversal ones.
Competitors = Literal["regular", "transversal", "sparse"]

#: The types of ridges that show which of two neurons of a competitor is in the later layer.
BENDING: frozenset[Kind | None] = frozenset({"B", "C"})

_Table = TypeVar("_Table", NDArray[np.int64], Floats)

#: The derivative that shows whether f is constant is taken along the direction (s, s², s³, …) for
#: this s. It is the number of FORMAT.md §3.9, here modulo another prime.
_DIRECTION_BASE = 987654321


class Piece(NamedTuple):
    """A cell of codimension 1 across which the gradient of f jumps.

    Attributes
    ----------
    neuron
        Number of the one neuron that vanishes on the cell.
    mask
        Mask of the active neurons.
    """

    neuron: int
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
    u, v
        Numbers of the neurons that vanish, u < v.
    mask
        Mask of the active neurons.
    kind
        The type of a good ridge; None if the ridge is not good.
    """

    u: int
    v: int
    mask: int
    kind: Kind | None

    def ray(self, neuron: int, active: bool) -> Piece:
        """Return the ray on which `neuron`, u or v, vanishes and the other one is active or not."""
        other = self.v if neuron == self.u else self.u
        return Piece(neuron, self.mask | active << other)

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
        link_of_u = self.ray(self.u, True), self.ray(self.u, False)
        if self.kind == "U":
            return (link_of_u,)
        link_of_v = self.ray(self.v, True), self.ray(self.v, False)
        return (link_of_v,) if self.kind in ("C", "V") else (link_of_v, link_of_u)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces on the visible rays; none if the ridge is not good."""
        return self.pieces_of(self.links)

    def pieces_of(self, links: Iterable[tuple[Piece, Piece]]) -> tuple[Piece, ...]:
        """Return the pieces on the visible rays, given the links of this ridge."""
        linked = tuple(piece for link in links for piece in link)
        return (*linked, self.ray(self.u, True)) if self.kind == "C" else linked

    @property
    def crossing(self) -> Crossing | None:
        """A piece of u and a piece of v that meet here; None if nothing follows about layers."""
        if self.kind not in ("A", "B", "C"):
            return None
        return Crossing(self.kind, self.ray(self.u, True), self.ray(self.v, True))


@dataclass(frozen=True, slots=True)
class NoRidge:
    """A point through which no ridge with exactly two zeros passes, and the reason."""

    point: Point
    reason: str


class DeepNetwork:
    """A network for Theorem D, with what is computed once for all of its ridges.

    `DeepNetwork.of` is the constructor that checks the network.

    Attributes
    ----------
    network
        The network.
    among
        The class of competitors, which decides what ridges are good.
    starts
        Number of the first neuron of each hidden layer, and the number of hidden neurons at the
        end.
    layer_of
        The layer, counted from 1, of each neuron number.
    layer_mask
        For each hidden layer, counted from 1, the mask of its neurons; 0 for layer 0.
    prime
        A prime modulo which products of vectors of floats are exact.
    integer_rows
        For each layer a positive integer multiple of its weight matrix.
    determined
        Whether the pieces of some families determine weights: the layer before them, the masks of
        the pieces, and the mask of the weights (`linear_systems`).
    """

    def __init__(self, network: Network, among: Competitors) -> None:
        """Compute offsets and weights modulo the prime; the network is not checked."""
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
        self.integer_rows = [layer.weight.integer_rows() for layer in network.layers]
        self._modular = [
            np.array([[w % self.prime for w in row] for row in rows], dtype=float)
            for rows in self.integer_rows
        ]
        self._derivatives = derivatives_of(self._modular[1:], self.prime)
        direction = [pow(_DIRECTION_BASE, k, self.prime) for k in range(1, network.num_inputs + 1)]
        self._along = np.mod(self._modular[0] @ np.array(direction, dtype=float), self.prime)
        self._floats = _float_rows(network)
        self._gradients: OrderedDict[tuple[int, int, int], NDArray[np.int64]] = OrderedDict()
        self._forms: OrderedDict[tuple[int, int, int], Floats] = OrderedDict()
        self._input_space: AffineSlice | None = None
        self._independent: dict[int, bool] = {}
        self.determined: dict[tuple[int, frozenset[int], int], bool] = {}

    @classmethod
    def of(cls, network: Network, among: Competitors = "transversal") -> DeepNetwork:
        """Check that Theorem D is about a network and a class of competitors, and prepare both.

        Raises
        ------
        DomainError
            The network is not a plain stack with an affine output, at least one hidden layer and
            n_0 ≥ 2; or there is no such class.
        """
        if not network.is_plain or network.last != "affine" or network.depth < 2:
            raise DomainError(
                "Theorem D is about plain stacks with hidden layers and an affine output"
            )
        if network.num_inputs < 2:
            raise DomainError("Theorem D needs at least two inputs: there are no ridges on a line")
        classes = get_args(Competitors)
        if among not in classes:
            raise DomainError(
                f"Theorem D is about regular, transversal or sparse competitors, not {among!r}"
            )
        return cls(network, among)

    # -- neuron numbers and masks -----------------------------------------------------------------

    @property
    def depth(self) -> int:
        """The number of layers L, the output layer included."""
        return self.network.depth

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths n_0, …, n_L."""
        return self.network.widths

    @property
    def size(self) -> int:
        """The number of hidden neurons."""
        return self.starts[-1]

    @property
    def is_searched_by_sight(self) -> bool:
        """Whether the network is so large and deep that a search by sight may come first."""
        is_large = self.size >= SETTINGS.sight_neurons
        return is_large and self.depth >= SETTINGS.sight_depth

    def number_of(self, neuron_id: NeuronId) -> int:
        """Return the number of a hidden neuron."""
        return self.starts[neuron_id.layer - 1] + neuron_id.index

    def neuron_id(self, neuron: int) -> NeuronId:
        """Return layer and index of the neuron with a number."""
        return NeuronId(self.layer_of[neuron], self.index_in_layer(neuron))

    def index_in_layer(self, neuron: int) -> int:
        """Return the index of a neuron in its layer."""
        return neuron - self.starts[self.layer_of[neuron] - 1]

    def neurons_in(self, layer: int) -> range:
        """Return the numbers of the neurons of a hidden layer."""
        return range(self.starts[layer - 1], self.starts[layer])

    def mask_before(self, neuron: int) -> int:
        """Return the mask of the layer before the layer of a neuron; 0 in the first layer."""
        return self.layer_mask[self.layer_of[neuron] - 1]

    def mask_below(self, mask: int, layer: int) -> int:
        """Restrict a mask to the layers before `layer`, which determine its affine forms."""
        return mask & ((1 << self.starts[layer - 1]) - 1)

    def unpack(self, mask: int) -> NDArray[np.bool_]:
        """Return a mask as an array with an entry for each hidden neuron."""
        text = np.frombuffer(mask.to_bytes(self.size // 8 + 1, "little"), dtype=np.uint8)
        return np.unpackbits(text, count=self.size, bitorder="little").view(np.bool_)

    def integer_row(self, neuron: int) -> list[int]:
        """Return a positive integer multiple of the weights of a neuron; one factor per layer."""
        return self.integer_rows[self.layer_of[neuron] - 1][self.index_in_layer(neuron)]

    # -- derivatives modulo the prime -------------------------------------------------------------

    def ridge(self, u: int, v: int, mask: int) -> Ridge:
        """Determine the type of a ridge whose zeros u < v have independent gradients."""
        (ridge,) = self.ridges([(u, v)], [mask])
        return ridge

    def ridges(self, pairs: Sequence[tuple[int, int]], masks: Sequence[int]) -> list[Ridge]:
        """Determine the types of ridges with the zeros (u, v) and the masks of active neurons."""
        jumps = self._derivatives.jumps(pairs, masks) if pairs else []
        return [
            Ridge(u, v, mask, self._kind_among(u, v, mask, at_ridge))
            for (u, v), mask, at_ridge in zip(pairs, masks, jumps, strict=True)
        ]

    def _kind_among(self, u: int, v: int, mask: int, jumps: Jumps) -> Kind | None:
        """Return the type of a good ridge for the class of competitors."""
        if self.among == "sparse":
            return self._sparse_kind(u, v, mask, jumps)
        if not jumps.at_v.any():
            return None
        kind = self._kind(u, v, mask, jumps)
        if kind is None or self.among != "regular":
            return kind
        return kind if kind != "C" and self._is_clear(u, v, self.unpack(mask), jumps) else None

    def _kind(self, u: int, v: int, mask: int, jumps: Jumps) -> Kind | None:
        """Return the type of a ridge whose ray {v = 0, u < 0} is visible."""
        bend, at_u, at_v = jumps
        if self.layer_of[u] == self.layer_of[v]:
            return "A" if at_u.any() else None
        if not bend or not np.mod(at_u + np.mod(bend * at_v, self.prime), self.prime).any():
            return None
        if at_u.any():
            return "B"
        return None if mask & self.layer_mask[self.layer_of[v]] else "C"

    def _sparse_kind(self, u: int, v: int, mask: int, jumps: Jumps) -> Kind | None:
        """Return the type of a good ridge for competitors that may have zero weights."""
        bend, at_u, at_v = jumps
        shows_u, shows_v = bool(at_u.any()), bool(at_v.any())
        if not bend:
            if self._is_path(u, v, mask):
                return None
            return ("L" if shows_v else "U") if shows_u else ("V" if shows_v else None)
        if not np.mod(at_u + np.mod(bend * at_v, self.prime), self.prime).any():
            return None
        if not shows_v:
            return "U"
        if shows_u:
            return "B"
        return None if mask & self.layer_mask[self.layer_of[v]] else "C"

    def _is_path(self, u: int, v: int, mask: int) -> bool:
        """Return whether nonzero weights lead from u to v through active neurons."""
        first, last = self.layer_of[u], self.layer_of[v]
        if first == last:
            return False
        active = self.unpack(mask)
        reached: NDArray[np.bool_] = self.support[first][:, self.index_in_layer(u)]
        for layer in range(first + 1, last):
            kept = reached & active[self.starts[layer - 1] : self.starts[layer]]
            reached = np.any(self.support[layer][:, kept], axis=1)
        return bool(reached[self.index_in_layer(v)])

    @cached_property
    def support(self) -> list[NDArray[np.bool_]]:
        """For each layer which weights are nonzero, shape (n_ℓ, n_{ℓ-1})."""
        return [np.array(layer.weight.signs() != 0) for layer in self.network.layers]

    def read_before(self, neuron: int) -> int:
        """Return the mask of the neurons of the layer before on which the weight is nonzero."""
        layer = self.layer_of[neuron]
        row = self.support[layer - 1][self.index_in_layer(neuron)]
        return mask_of(row) << self.starts[layer - 2] if layer > 1 else 0

    def _is_clear(self, u: int, v: int, active: NDArray[np.bool_], jumps: Jumps) -> bool:
        """Return whether the derivative of f along one direction is nonzero on all four sectors."""
        bend, at_u, at_v = jumps
        slopes = [self._along]
        for start, weights in zip(self.starts[:-1], self._modular[1:], strict=True):
            slopes.append(
                np.mod(weights @ (slopes[-1] * active[start : start + len(slopes[-1])]), self.prime)
            )
        slope_u, slope_v = (slopes[self.layer_of[w] - 1][self.index_in_layer(w)] for w in (u, v))
        bent = np.mod(slope_v + bend * slope_u, self.prime)  # z_v where u is active; bend is 0 in A
        changes = (
            0.0,
            at_u * slope_u,
            at_v * slope_v,
            np.mod(at_u * slope_u, self.prime) + np.mod(at_v * bent, self.prime),
        )
        return all(np.mod(slopes[-1] + change, self.prime).any() for change in changes)

    def slopes(self, layer: int, mask: int) -> Floats:
        """Return the derivatives of a hidden layer along one direction on a cell, modulo p."""
        active = self.unpack(mask)
        slopes: Floats = self._along
        for number in range(2, layer + 1):
            kept = slopes * active[self.starts[number - 2] : self.starts[number - 1]]
            slopes = np.mod(self._modular[number - 1] @ kept, self.prime)
        return slopes

    def gradients(self, layer: int, mask: int, count: int) -> NDArray[np.int64]:
        """Return ∇z of all neurons of a layer on a cell, modulo p, up to one common factor.

        Parameters
        ----------
        layer
            The layer ℓ.
        mask
            The mask of the cell.
        count
            Number of inputs k for which ∂z/∂x_k is computed; they are spread evenly. All inputs are
            taken if there are fewer.

        Returns
        -------
        NDArray
            Shape (n_ℓ, min(count, n_0)).
        """
        key = layer, self.mask_below(mask, layer), count
        gradients = self._gradients.get(key)
        if gradients is None:
            inputs = self.network.num_inputs
            columns = np.linspace(0, inputs - 1, min(count, inputs)).astype(np.int64)
            active, product = self.unpack(mask), self._modular[0][:, columns]
            for number in range(2, layer + 1):
                part = active[self.starts[number - 2] : self.starts[number - 1]]
                product = np.mod(self._modular[number - 1][:, part] @ product[part], self.prime)
            gradients = _remember(self._gradients, key, product.astype(np.int64))
        return gradients

    def is_independent_if_all_active(self, layer: int) -> bool:
        """Return whether the ∇z of a layer are independent where all earlier layers are active.

        The rank of W[ℓ] ⋯ W[1] modulo the prime decides, which may be too small.
        """
        if layer not in self._independent:
            width, inputs = self.widths[layer], self.network.num_inputs
            everywhere = (1 << self.starts[layer - 1]) - 1
            is_wide = min(self.widths[: layer + 1]) == width
            gradients = self.gradients(layer, everywhere, inputs) if is_wide else None
            self._independent[layer] = (
                gradients is not None
                and len(eliminate_mod(gradients.tolist(), 0, self.prime)[1]) == width
            )
        return self._independent[layer]

    # -- floats, which only choose where to search ------------------------------------------------

    def float_forms(self, layer: int, mask: int) -> Floats:
        """Return [∇z | z(0)] of all neurons of a hidden layer on a cell, shape (n_ℓ, n_0 + 1)."""
        key = layer, self.mask_below(mask, layer), 0
        forms = self._forms.get(key)
        if forms is None:
            active, product = self.unpack(mask), self._floats[0]
            for number in range(2, layer + 1):
                part = active[self.starts[number - 2] : self.starts[number - 1]]
                weights = self._floats[number - 1]
                product = weights[:, :-1][:, part] @ product[part]
                product[:, -1] += weights[:, -1]
            forms = _remember(self._forms, key, product)
        return forms

    def float_form(self, neuron: int, mask: int) -> Floats:
        """Return [∇z | z(0)] of one neuron on a cell, shape (n_0 + 1,)."""
        forms = self.float_forms(self.layer_of[neuron], mask)
        return np.asarray(forms[self.index_in_layer(neuron)], dtype=np.float64)

    def float_mask(self, point: Floats) -> int:
        """Return the mask of the neurons that are active at a point according to floats."""
        values, mask = point, 0
        for start, weights in zip(self.starts, self._floats[:-1], strict=False):
            values = np.maximum(weights[:, :-1] @ values + weights[:, -1], 0.0)
            mask |= mask_of(values) << start
        return mask

    # -- exact ------------------------------------------------------------------------------------

    @property
    def input_space(self) -> AffineSlice:
        """R^{n_0} as an affine slice, in the coordinates of the input."""
        if self._input_space is None:
            inputs = self.network.num_inputs
            self._input_space = AffineSlice(
                self.network, [0] * inputs, RationalMatrix.identity(inputs).rows()
            )
        return self._input_space


def ridge_at(deep_network: DeepNetwork, point: Sequence[Rational]) -> Ridge | NoRidge:
    """Find the ridge through a rational point, exactly.

    Parameters
    ----------
    deep_network
        The network.
    point
        The n_0 coordinates of x, exact numbers.

    Returns
    -------
    Ridge or NoRidge
        The ridge, or the reason why there is none.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> net = DeepNetwork.of(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> ridge = ridge_at(net, [0, 1])
    >>> ridge.kind, ridge.u, ridge.v, bin(ridge.mask)
    ('C', 0, 2, '0b10')
    >>> ridge_at(net, [0, 3]).reason
    '1 neuron vanishes here, not two'
    """
    space, x = (
        deep_network.input_space,
        as_point(point, deep_network.network.num_inputs),
    )
    signs = space.signs_at(x)
    zeros = np.flatnonzero(signs == 0).tolist()
    if len(zeros) != 2:
        verb = "vanishes" if len(zeros) == 1 else "vanish"
        noun = "neuron" if len(zeros) == 1 else "neurons"
        return NoRidge(x, f"{len(zeros)} {noun} {verb} here, not two")
    if _dependent(*(row[:-1] for row in space.rows(signs, zeros))):
        return NoRidge(x, "the two gradients are dependent")
    return deep_network.ridge(zeros[0], zeros[1], mask_of(signs))


def mask_of(values: Signs | Floats | Mask) -> int:
    """Return the mask of the positive entries of an array of signs or values, one per neuron."""
    return int.from_bytes(np.packbits(values > 0, bitorder="little").tobytes(), "little")


def _float_rows(network: Network) -> list[Floats]:
    """Return [W|b] of each layer in floats, perhaps after a rescaling that keeps all zeros.

    If products of the matrices could be too large for floats, the network is scaled by positive
    factors so that its hidden layers have entries below 1.
    """
    rows_of_layers = [layer.augmented().to_floats() for layer in network.layers]
    with np.errstate(over="ignore"):
        sizes = [float(np.abs(rows).sum(axis=1).max()) for rows in rows_of_layers[:-1]]
    if sum(math.log2(max(size, 1.0)) for size in sizes) <= SETTINGS.float_growth:
        return rows_of_layers
    for layer in range(1, network.depth):
        largest = [max(map(abs, row)) for row in network.layers[layer - 1].augmented().rows()]
        network = rescale(network, layer, [_scale_below_one(x) if x else 1 for x in largest])
    return [layer.augmented().to_floats() for layer in network.layers]


def _scale_below_one(number: Fraction) -> Fraction:
    """Return a power of 2 that takes a positive number below 1, and to more than 1/4."""
    return Fraction(2) ** (number.denominator.bit_length() - number.numerator.bit_length() - 1)


def _dependent(a: Sequence[int], b: Sequence[int]) -> bool:
    """Return whether two integer vectors are linearly dependent."""
    pivot = next((i for i, entry in enumerate(a) if entry), None)
    return pivot is None or all(a[pivot] * y == b[pivot] * x for x, y in zip(a, b, strict=True))


def _remember(
    memory: OrderedDict[tuple[int, int, int], _Table], key: tuple[int, int, int], value: _Table
) -> _Table:
    """Store a table, and forget the oldest one if there are too many."""
    memory[key] = value
    if len(memory) > SETTINGS.remembered_tables:
        memory.popitem(last=False)
    return value
