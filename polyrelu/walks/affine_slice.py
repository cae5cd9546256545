"""A network on an affine subspace: coordinates, exact affine forms, exact signs.

The subspace is x = p + B s, s ∈ Q^k. In these coordinates the preactivations of layer ℓ are, where the neurons that are
on are known, the rows [a | b] of an affine form over (s, 1),

    F[ℓ] = C[ℓ] + Σ_{0<j<ℓ} W[ℓ,j] M[j] F[j],    C[ℓ] = [W[ℓ,0] B | W[ℓ,0] p + b[ℓ]],

M[j] the diagonal of the neurons of layer j that are on. F[ℓ] depends only on the signs of the layers before ℓ; what was
computed for some signs is remembered for a while, because a walk from cell to cell changes few of them at a time.

Signs of all hidden neurons are kept in one flat array, layer by layer; a neuron is known by its place there. Neurons of
sign 0 and -1 are off: both give the same form.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import (
    AnyMatrix,
    Rational,
    RationalMatrix,
    SparseMatrix,
    dot_sign,
    positive_primitive,
    rank,
    to_fraction,
)
from polyrelu.network import AffineMap, Block, Layer, Network, NeuronId, SignVector
from polyrelu.support.typing import IntegerRow, Point, Signs

__all__ = ["AffineSlice", "Point", "Signs", "exact_vector"]

#: The signs of all hidden neurons, int8.

#: So many layers of forms are remembered.
_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class _Layer:
    """C[ℓ], shape (n_ℓ, k + 1), and the weights on earlier hidden layers."""

    constant: RationalMatrix
    blocks: tuple[Block, ...]


class AffineSlice:
    """A network on the points p + B s.

    Parameters
    ----------
    network : any network.
    point : p, n_0 exact numbers.
    directions : the columns of B as rows, shape (k, n_0), independent.

    Attributes
    ----------
    network, point : as given; the point as fractions.
    dimension : k.
    size : the number of hidden neurons.

    Raises
    ------
    DomainError : the point or a direction has not n_0 coordinates, or the directions are dependent.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 3]], [1])])
    >>> line = AffineSlice(net, [1, 0], [[1, "1/2"]])
    >>> line.embed([2]), line.affine_map(line.sign_vector(line.signs_at([2]))).matrix.row(0)
    ((Fraction(3, 1), Fraction(1, 1)), (Fraction(7, 2),))
    """

    def __init__(
        self, network: Network, point: Sequence[Rational], directions: Sequence[Sequence[Rational]]
    ) -> None:
        self.network = network
        self.point = exact_vector("the point", point, network.inputs)
        rows = [
            exact_vector(f"direction {i}", row, network.inputs) for i, row in enumerate(directions)
        ]
        along = RationalMatrix.from_rows(rows, ncols=network.inputs)
        if rank(along) < len(rows):
            raise DomainError(
                "the directions are dependent (or one is 0); give directions that span the line or plane"
            )
        self.dimension = len(rows)
        self._embedding = along.transpose().beside(RationalMatrix.column(self.point))
        self.layers = [_restricted(layer, self._embedding) for layer in network.layers]
        widths = [layer.width for layer in network.layers[: network.hidden_layers]]
        #: where each hidden layer starts in the flat arrays, and where the last one ends
        self.offsets = (0, *accumulate(widths))
        self.size = self.offsets[-1]
        self._forms: OrderedDict[tuple[int, bytes], RationalMatrix] = OrderedDict()
        self._reads: dict[int, tuple[NDArray[np.bool_], list[tuple[int, NDArray[np.bool_]]]]] = {}

    # -- names ----------------------------------------------------------------------------------------------------

    def part(self, layer: int) -> slice:
        """The places of a hidden layer in the flat arrays."""
        return slice(self.offsets[layer - 1], self.offsets[layer])

    def layer_of(self, place: int) -> int:
        """The layer of a neuron, from 1."""
        return int(np.searchsorted(self.offsets, place, side="right"))

    def neuron(self, place: int) -> NeuronId:
        """The neuron at a place of the flat arrays."""
        layer = self.layer_of(place)
        return NeuronId(layer, int(place) - self.offsets[layer - 1])

    def neurons(self, places: Iterable[int]) -> tuple[NeuronId, ...]:
        """The neurons at some places, in order."""
        return tuple(self.neuron(place) for place in places)

    def place(self, neuron: NeuronId) -> int:
        """Where a neuron stands in the flat arrays.

        Raises
        ------
        DomainError : there is no such hidden neuron.
        """
        if not 1 <= neuron.layer <= self.network.hidden_layers:
            raise DomainError(
                f"there is no hidden layer {neuron.layer}; they are 1 to {self.network.hidden_layers}"
            )
        width = self.network.widths[neuron.layer]
        if not 0 <= neuron.index < width:
            raise DomainError(
                f"layer {neuron.layer} has no neuron {neuron.index}; its neurons are 0 to {width - 1}"
            )
        return self.offsets[neuron.layer - 1] + neuron.index

    def sign_vector(self, signs: Signs) -> SignVector:
        """Flat signs, layer by layer."""
        hidden = range(1, self.network.hidden_layers + 1)
        return SignVector(tuple(tuple(signs[self.part(layer)].tolist()) for layer in hidden))

    def embed(self, coordinates: Sequence[Rational]) -> Point:
        """The point x = p + B s of R^{n_0}."""
        return tuple((self._embedding @ RationalMatrix.column([*coordinates, 1])).entries())

    # -- exact forms ----------------------------------------------------------------------------------------------

    def affine_map(self, signs: SignVector) -> AffineMap:
        """The affine map of an activation pattern as a function of s: matrix of shape (n_L, k), the restricted
        derivative, and offset."""
        flat = np.array([sign for layer in signs.layers for sign in layer], dtype=np.int8)
        depth, k = self.network.depth, self.dimension
        output = (
            self._active_forms(flat, depth)
            if self.network.last == "relu"
            else self.forms(flat, depth)
        )
        return AffineMap(output.take(columns=range(k)), output.take(columns=[k]))

    def forms(self, signs: Signs, layer: int) -> RationalMatrix:
        """F[ℓ], shape (n_ℓ, k + 1), where the neurons of the layers before have the given signs."""
        key = layer, (signs[: self.offsets[layer - 1]] > 0).tobytes()
        found = self._forms.get(key)
        if found is None:
            found = self.layers[layer - 1].constant
            for block in self.layers[layer - 1].blocks:
                if (signs[self.part(block.source)] > 0).any():
                    found = found + block @ self._active_forms(signs, block.source)
            self._forms[key] = found
            if len(self._forms) > _REMEMBERED:
                self._forms.popitem(last=False)
        else:
            self._forms.move_to_end(key)
        return found

    def _active_forms(self, signs: Signs, layer: int) -> RationalMatrix:
        """The activations of a layer: its forms, 0 where a neuron is off."""
        return self.forms(signs, layer).scale_rows(
            (signs[self.part(layer)] > 0).astype(int).tolist()
        )

    def rows(self, signs: Signs, places: Sequence[int]) -> list[IntegerRow]:
        """Positive multiples of the forms [a | b] of some neurons, in ascending order of their places, in integers."""
        found: list[IntegerRow] = []
        chosen = np.asarray(places, dtype=np.int64)
        for layer in range(1, self.network.hidden_layers + 1):
            start, stop = self.offsets[layer - 1 : layer + 1]
            inside = chosen[(chosen >= start) & (chosen < stop)] - start
            if len(inside):
                taken = self.forms(signs, layer).take(rows=inside.tolist())
                found += map(positive_primitive, taken.integer_rows())
        return found

    # -- exact signs ----------------------------------------------------------------------------------------------

    def signs_at(self, coordinates: Sequence[Rational]) -> Signs:
        """The signs at a point of the subspace."""
        column = RationalMatrix.column([*coordinates, 1])
        signs = np.zeros(self.size, dtype=np.int8)
        for layer in range(1, self.network.hidden_layers + 1):
            signs[self.part(layer)] = (self.forms(signs, layer) @ column).signs()[:, 0]
        return signs

    def signs_beyond(self, at: Signs, direction: Sequence[int]) -> Signs:
        """The signs just beyond a point, at s + ε r for every small ε > 0, given the signs at s.

        What is not 0 at s keeps its sign. What is 0 has the sign of a·r, a the linear part of its form where the
        neurons before have the signs just beyond s.
        """
        beyond = at.copy()
        for layer in range(1, self.network.hidden_layers + 1):
            zeros = (np.flatnonzero(at[self.part(layer)] == 0) + self.offsets[layer - 1]).tolist()
            if zeros:
                beyond[zeros] = [dot_sign(row[:-1], direction) for row in self.rows(beyond, zeros)]
        return beyond

    def stay_zero(self, places: NDArray[np.int64], on: NDArray[np.bool_]) -> bool:
        """Whether neurons that are 0 are 0 whichever of the neurons `on` are on: their C is 0, and they read none of
        them."""
        for layer in sorted({self.layer_of(place) for place in places}):
            start, stop = self.offsets[layer - 1 : layer + 1]
            inside = places[(places >= start) & (places < stop)] - start
            if len(inside):
                constant, blocks = self._read_by(layer)
                if constant[inside].any() or any(
                    (reads[inside] & on[self.part(source)]).any() for source, reads in blocks
                ):
                    return False
        return True

    def reads_input(self, place: int) -> bool:
        """Whether a neuron has a weight on the input of the network that is not 0."""
        own = self.network.layers[self.layer_of(place) - 1]
        row = [place - self.offsets[self.layer_of(place) - 1]]
        return any(
            not block.weight.take(rows=row).is_zero() for block in own.blocks if block.source == 0
        )

    def _read_by(self, layer: int) -> tuple[NDArray[np.bool_], list[tuple[int, NDArray[np.bool_]]]]:
        """Which rows of C are not 0, and for each block which weights are not."""
        if layer not in self._reads:
            own = self.layers[layer - 1]
            blocks = [(block.source, _nonzero(block.entries)) for block in own.blocks]
            self._reads[layer] = (own.constant.signs() != 0).any(axis=1), blocks
        return self._reads[layer]


def exact_vector(name: str, entries: Sequence[Rational], size: int) -> Point:
    """Exact numbers as fractions; `DomainError` if there are not `size` of them, or if one is not an exact number."""
    if len(entries) != size:
        raise DomainError(f"{name} has {len(entries)} coordinates, not {size}; give one for each")
    try:
        return tuple(map(to_fraction, entries))
    except NetworkError as error:
        raise DomainError(f"{name}: {error}") from None


def _nonzero(matrix: AnyMatrix) -> NDArray[np.bool_]:
    if not isinstance(matrix, SparseMatrix):
        return np.asarray(matrix.signs(), dtype=bool)
    marks = np.zeros(matrix.shape, dtype=bool)
    marks[matrix.row_of_entries(), matrix.columns] = True
    return marks


def _restricted(layer: Layer, embedding: RationalMatrix) -> _Layer:
    constant = RationalMatrix.zeros(layer.width, embedding.ncols - 1).beside(layer.bias)
    for block in layer.blocks:
        if block.source == 0:
            constant = constant + block @ embedding
    return _Layer(constant, tuple(block for block in layer.blocks if block.source > 0))
