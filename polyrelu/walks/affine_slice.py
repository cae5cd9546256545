"""A network on an affine subspace: coordinates, exact affine forms and exact signs.

The subspace is the set of x = p + B s, s ∈ Q^k. For a given activation pattern the preactivations
of layer ℓ are affine forms over (s, 1), the rows [a | b] of

    F[ℓ] = C[ℓ] + Σ_{0<j<ℓ} W[ℓ,j] M[j] F[j],    C[ℓ] = [W[ℓ,0] B | W[ℓ,0] p + b[ℓ]],

where M[j] is the diagonal matrix of the neurons of layer j that are on. F[ℓ] depends only on the
signs of the layers before ℓ. Forms are cached for the patterns used last, because a step from one
cell to the next changes few signs.

The signs of all hidden neurons are one flat array, layer by layer, and the *place* of a neuron is
its index in this array. Neurons of sign 0 and -1 are off: both signs give the same
forms.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import cast

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.exact import (
    UNDECIDED,
    AnyMatrix,
    Rational,
    RationalMatrix,
    SparseMatrix,
    dot_sign,
    positive_primitive,
    rank,
)
from polyrelu.formats import NetworkLike, as_network, as_point
from polyrelu.network import AffineMap, Block, Network, NeuronId, SignVector
from polyrelu.network.patterns import expect_neuron
from polyrelu.support.arguments import expect, expect_index, expect_list
from polyrelu.support.display import count_text
from polyrelu.support.typing import Floats, IntegerRow, Mask, Point, Signs
from polyrelu.walks.exact_rows import exact_row
from polyrelu.walks.float_values import signs_by_layer
from polyrelu.walks.float_weights import UNDERFLOW, FloatWeights, magnitudes, weights_in_floats

__all__ = ["AffineSlice", "Point", "Signs"]

#: Maximum number of matrices F[ℓ] that an `AffineSlice` keeps in its cache.
_CACHED_FORMS = 64
#: Maximum number of single rows of these matrices that it keeps.
_CACHED_ROWS = 256
#: Maximum number of rows that are computed one by one, without the whole matrix F[ℓ].
_FEW_ROWS = 8


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer on the subspace.

    Attributes
    ----------
    constant
        C[ℓ], shape (n_ℓ, k + 1).
    blocks
        The weights on earlier hidden layers.
    """

    constant: RationalMatrix
    blocks: tuple[Block, ...]


class AffineSlice:
    """A network restricted to the points p + B s.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    point
        The point p, n_0 exact numbers.
    directions
        The columns of B as rows, shape (k, n_0), independent.

    Attributes
    ----------
    network
        The network as given.
    point
        The point p as fractions.
    dimension
        The dimension k of the subspace.
    layers
        C[ℓ] and the blocks on earlier hidden layers, for each layer.
    offsets
        The place at which each hidden layer starts, and the place after the last one, shape
        (num_hidden_layers + 1,).
    num_neurons
        The number of hidden neurons.

    Raises
    ------
    DomainError
        The point or a direction does not have n_0 coordinates, or the directions are dependent.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 3]], [1])])
    >>> line = AffineSlice(net, [1, 0], [[1, "1/2"]])
    >>> line.embed([2]), line.affine_map(line.sign_vector(line.signs_at([2]))).matrix.row(0)
    ((Fraction(3, 1), Fraction(1, 1)), (Fraction(7, 2),))
    """

    def __init__(
        self,
        network: NetworkLike,
        point: Sequence[Rational],
        directions: Sequence[Sequence[Rational]],
    ) -> None:
        network = as_network(network)
        self.network = network
        self.point = as_point(point, network.num_inputs)
        rows = [
            _exact_numbers(row, network.num_inputs, f"direction {i}")
            for i, row in enumerate(expect_list(directions, "directions"))
        ]
        if not _independent(rows):
            raise DomainError(
                "the directions are dependent (or one is 0); give directions that span the line or "
                "plane"
            )
        embedding = RationalMatrix.from_rows([*rows, self.point]).transpose()
        weights = weights_in_floats(network)
        layers = [_restricted(weights, number, embedding) for number in range(1, network.depth + 1)]
        self._take(embedding, layers)

    def _take(self, embedding: RationalMatrix, layers: list[_Layer]) -> None:
        """Take [B | p] and the layers on the subspace."""
        self._embedding, self.layers = embedding, layers
        self.dimension = embedding.ncols - 1
        widths = [layer.width for layer in self.network.layers[: self.network.num_hidden_layers]]
        self.offsets = (0, *accumulate(widths))
        self.num_neurons = self.offsets[-1]
        self._forms: OrderedDict[tuple[int, bytes], RationalMatrix] = OrderedDict()
        self._rows: OrderedDict[tuple[int, bytes], IntegerRow] = OrderedDict()
        self._reads: dict[int, tuple[NDArray[np.bool_], list[tuple[int, NDArray[np.bool_]]]]] = {}

    @classmethod
    def _of(
        cls, network: Network, point: Point, embedding: RationalMatrix, layers: list[_Layer]
    ) -> AffineSlice:
        """Return the network on another subspace through the same point."""
        found = cls.__new__(cls)
        found.network, found.point = network, point
        found._take(embedding, layers)
        return found

    def __repr__(self) -> str:
        space = f"dimension {self.dimension} in R^{self.network.num_inputs}"
        return f"<AffineSlice, {space}, {count_text([(self.num_neurons, 'neuron')])}>"

    def line(self, heading: Sequence[Rational]) -> AffineSlice:
        """Return the network on the line p + t B h through the point p.

        Parameters
        ----------
        heading
            The direction h in coordinates of the subspace, k exact numbers, not all 0.

        Examples
        --------
        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, 3]], [1])])
        >>> plane = AffineSlice(net, [1, 0], [[1, "1/2"], [0, 1]])
        >>> plane.line([2, -1]).embed([1])
        (Fraction(3, 1), Fraction(0, 1))
        """
        h = as_point(heading, self.dimension, "the heading")
        if not any(h):
            raise DomainError("the direction is 0; give one that leads somewhere")
        rows = [*((entry, 0) for entry in h), (0, 1)]
        factor = RationalMatrix.from_rows(rows)
        layers = [_Layer(layer.constant @ factor, layer.blocks) for layer in self.layers]
        return AffineSlice._of(self.network, self.point, self._embedding @ factor, layers)

    # -- names ----------------------------------------------------------------------------------

    def layer_slice(self, layer: int) -> slice:
        """Return the places of a hidden layer, numbered from 1, as a slice of the flat arrays."""
        layer = expect_index(layer, self.network.num_hidden_layers, "layer", 1)
        return slice(self.offsets[layer - 1], self.offsets[layer])

    def layer_of(self, place: int) -> int:
        """Return the layer, numbered from 1, of the neuron at a place."""
        place = expect_index(place, self.num_neurons, "place")
        return int(np.searchsorted(self.offsets, place, side="right"))

    def neuron_at(self, place: int) -> NeuronId:
        """Return the neuron at a place."""
        place = expect_index(place, self.num_neurons, "place")
        layer = self.layer_of(place)
        return NeuronId(layer, place - self.offsets[layer - 1])

    def neurons_at(self, places: Iterable[int]) -> tuple[NeuronId, ...]:
        """Return the neurons at several places, in the order given."""
        return tuple(self.neuron_at(place) for place in places)

    def zeros_of_layer(self, signs: Signs, layer: int) -> list[int]:
        """Return the places of the neurons of a hidden layer that are 0, in ascending order."""
        places = self.layer_slice(layer)
        zeros: list[int] = np.flatnonzero(signs[places] == 0).tolist()
        return [zero + places.start for zero in zeros]

    def place(self, neuron: NeuronId) -> int:
        """Return the place of a neuron.

        Raises
        ------
        DomainError
            There is no such hidden neuron.
        """
        neuron = expect_neuron(neuron)
        if not 1 <= neuron.layer <= self.network.num_hidden_layers:
            raise DomainError(
                f"there is no hidden layer {neuron.layer}; they are 1 to "
                f"{self.network.num_hidden_layers}"
            )
        width = self.network.widths[neuron.layer]
        if not 0 <= neuron.index < width:
            raise DomainError(
                f"layer {neuron.layer} has no neuron {neuron.index}; its neurons are 0 to "
                f"{width - 1}"
            )
        return self.offsets[neuron.layer - 1] + neuron.index

    def sign_vector(self, signs: Signs) -> SignVector:
        """Return the sign vector with the given flat signs, shape (num_neurons,)."""
        hidden = range(1, self.network.num_hidden_layers + 1)
        return SignVector(tuple(tuple(signs[self.layer_slice(layer)].tolist()) for layer in hidden))

    def embed(self, coordinates: Sequence[Rational]) -> Point:
        """Return the point x = p + B s of R^{n_0} for the coordinates s, k exact numbers."""
        s = as_point(coordinates, self.dimension, "the coordinates")
        return tuple((self._embedding @ RationalMatrix.column([*s, 1])).entries())

    # -- exact forms ----------------------------------------------------------------------------

    def affine_map(self, signs: SignVector) -> AffineMap:
        """Return the affine map of an activation pattern as a function of s.

        The matrix, of shape (n_L, k), is the derivative of the outputs along the columns of B; the
        offset has shape (n_L, 1).
        """
        signs = expect(signs, SignVector, "signs")
        flat = np.array([sign for layer in signs.layers for sign in layer], dtype=np.int8)
        depth, k = self.network.depth, self.dimension
        output = (
            self._active_forms(flat, depth)
            if self.network.last == "relu"
            else self.forms(flat, depth)
        )
        return AffineMap(output.take(columns=range(k)), output.take(columns=[k]))

    def forms(self, signs: Signs, layer: int) -> RationalMatrix:
        """Return F[ℓ], shape (n_ℓ, k + 1), for given flat signs of the layers before ℓ."""
        layer = expect_index(layer, self.network.depth, "layer", 1)
        key = layer, (signs[: self.offsets[layer - 1]] > 0).tobytes()
        forms = self._forms.get(key)
        if forms is None:
            forms = self.layers[layer - 1].constant
            for block in self.layers[layer - 1].blocks:
                if (signs[self.layer_slice(block.source)] > 0).any():
                    forms = forms + block @ self._active_forms(signs, block.source)
            self._forms[key] = forms
            if len(self._forms) > _CACHED_FORMS:
                self._forms.popitem(last=False)
        else:
            self._forms.move_to_end(key)
        return forms

    def _active_forms(self, signs: Signs, layer: int) -> RationalMatrix:
        """Return the activations of a layer: its forms, with 0 for neurons that are off."""
        return self.forms(signs, layer).scale_rows(
            (signs[self.layer_slice(layer)] > 0).astype(int).tolist()
        )

    def rows(self, signs: Signs, places: Sequence[int]) -> list[IntegerRow]:
        """Return positive multiples, in primitive integers, of the forms [a | b] of some neurons.

        Parameters
        ----------
        signs
            Flat signs that determine the forms.
        places
            The neurons, in ascending order of their places.

        Returns
        -------
        list of tuple
            One row of k + 1 integers for each neuron.
        """
        if len(places) <= _FEW_ROWS:
            found = [self._row(signs, int(place)) for place in places]
            if None not in found:
                return [row for row in found if row is not None]
        rows: list[IntegerRow] = []
        chosen = np.asarray(places, dtype=np.int64)
        for layer in range(1, self.network.num_hidden_layers + 1):
            start, stop = self.offsets[layer - 1 : layer + 1]
            inside = chosen[(chosen >= start) & (chosen < stop)] - start
            if len(inside):
                taken = self.forms(signs, layer).take(rows=inside.tolist())
                rows += map(positive_primitive, taken.integer_rows())
        return rows

    def _row(self, signs: Signs, place: int) -> IntegerRow | None:
        """Return what `rows` does for one neuron; None if it reads weights that are kept sparse."""
        before = signs[: self.offsets[self.layer_of(place) - 1]] > 0
        key = place, np.packbits(before).tobytes()
        if key in self._rows:
            self._rows.move_to_end(key)
            return self._rows[key]
        constants = [layer.constant for layer in self.layers]
        weights = weights_in_floats(self.network)
        row = exact_row(weights, constants, self.offsets, signs, place)
        if row is None:
            return None
        self._rows[key] = positive_primitive(row)
        if len(self._rows) > _CACHED_ROWS:
            self._rows.popitem(last=False)
        return self._rows[key]

    # -- exact signs ----------------------------------------------------------------------------

    def signs_at(self, coordinates: Sequence[Rational]) -> Signs:
        """Return the flat signs at the point with coordinates s, k exact numbers."""
        s = as_point(coordinates, self.dimension, "the coordinates")
        signs = np.zeros(self.num_neurons, dtype=np.int8)
        layers = weights_in_floats(self.network).layers
        decided = signs_by_layer(self.constants_in_floats, layers, self.offsets, s, signs)
        for layer, found in enumerate(decided, 1):
            places = self.layer_slice(layer)
            signs[places] = found
            undecided = np.flatnonzero(found == UNDECIDED)
            if len(undecided) > _FEW_ROWS:
                column = RationalMatrix.column([*s, 1])
                signs[places] = (self.forms(signs, layer) @ column).signs()[:, 0]
            elif len(undecided):
                common = math.lcm(*(entry.denominator for entry in s))
                point = [*(int(entry * common) for entry in s), common]
                undecided += places.start
                rows = self.rows(signs, undecided.tolist())
                signs[undecided] = [dot_sign(row, point) for row in rows]
        return signs

    @cached_property
    def constants_in_floats(self) -> tuple[Floats, Floats]:
        """C of all hidden neurons, transposed, and bounds on its errors; shape (k + 1, neurons)."""
        shape = self.dimension + 1, self.num_neurons
        floats, errors = np.zeros(shape), np.zeros(shape)
        for number, layer in enumerate(weights_in_floats(self.network).layers, 1):
            places = self.layer_slice(number)
            floats[:, places] = self.layers[number - 1].constant.to_floats().T
            errors[:, places] = (
                layer.rounding * (magnitudes(floats[:, places]) + UNDERFLOW) + UNDERFLOW
            )
        return floats, errors

    def signs_beyond(self, at: Signs, direction: Sequence[int]) -> Signs:
        """Return the signs at s + ε r for every sufficiently small ε > 0.

        A neuron that is not 0 at s keeps its sign. A neuron that is 0 at s has the sign of a·r,
        where a is the linear part of its form for the signs of the earlier layers just beyond s.

        Parameters
        ----------
        at
            The flat signs at the point s.
        direction
            The direction r, k integers.

        Returns
        -------
        Array
            Flat signs, shape (num_neurons,).
        """
        beyond = at.copy()
        for layer in range(1, self.network.num_hidden_layers + 1):
            zeros = self.zeros_of_layer(at, layer)
            if zeros:
                beyond[zeros] = [dot_sign(row[:-1], direction) for row in self.rows(beyond, zeros)]
        return beyond

    def remain_zero(self, places: NDArray[np.int64], on: NDArray[np.bool_]) -> bool:
        """Return whether neurons are 0 on the whole subspace, whichever neurons of a set are on.

        They are if their row of C is 0 and all their weights on the neurons of the set are 0. In
        other cases the result is False, even if the contributions cancel.

        Parameters
        ----------
        places
            The places of the neurons that are 0.
        on
            A mask over all places, shape (num_neurons,), of the set: neurons outside it are off.

        Returns
        -------
        bool
            Whether the neurons certainly remain 0.
        """
        read = self.read_by(places)
        return read is not None and not (read & on).any()

    def read_by(self, places: NDArray[np.int64]) -> Mask | None:
        """Return which neurons must be off, so that neurons are 0 on the whole subspace.

        Parameters
        ----------
        places
            The places of the neurons that are 0.

        Returns
        -------
        Array or None
            A mask over all places, shape (num_neurons,), of the neurons on which they have weights;
            None if a row of C of theirs is not 0.
        """
        read = np.zeros(self.num_neurons, dtype=bool)
        for layer in sorted({self.layer_of(place) for place in places}):
            start, stop = self.offsets[layer - 1 : layer + 1]
            inside = places[(places >= start) & (places < stop)] - start
            constant, blocks = self._read_by(layer)
            if constant[inside].any():
                return None
            for source, reads in blocks:
                read[self.layer_slice(source)] |= reads[inside].any(axis=0)
        return read

    def reads_input(self, place: int) -> bool:
        """Return whether the neuron at a place has a nonzero weight on the input of the network."""
        number, place = self.layer_of(place), int(place)
        row = [place - self.offsets[number - 1]]
        return any(
            not block.weight.take(rows=row).is_zero()
            for block in self.network.layers[number - 1].blocks
            if block.source == 0
        )

    def _read_by(self, layer: int) -> tuple[NDArray[np.bool_], list[tuple[int, NDArray[np.bool_]]]]:
        """Return which rows of C of a layer and which weights of its blocks are nonzero."""
        if layer not in self._reads:
            restricted = self.layers[layer - 1]
            blocks = [(block.source, _nonzero(block.entries)) for block in restricted.blocks]
            self._reads[layer] = (restricted.constant.signs() != 0).any(axis=1), blocks
        return self._reads[layer]


def _nonzero(matrix: AnyMatrix) -> NDArray[np.bool_]:
    """Return the mask of the entries that are not 0."""
    if not isinstance(matrix, SparseMatrix):
        return np.asarray(matrix.signs(), dtype=bool)
    marks = np.zeros(matrix.shape, dtype=bool)
    marks[matrix.row_of_entries(), matrix.columns] = True
    return marks


def _exact_numbers(entries: Sequence[Rational], size: int, name: str) -> tuple[Fraction | int, ...]:
    """Return what `as_point` does, but leave integers as they are."""
    if isinstance(entries, tuple) and len(entries) == size and set(map(type, entries)) == {int}:
        return cast("tuple[int, ...]", entries)
    return as_point(entries, size, name)


def _independent(rows: Sequence[Sequence[Fraction | int]]) -> bool:
    """Return whether vectors are independent."""
    if len(rows) < 2:
        return all(map(any, rows))
    if len(rows) == 2:
        first, second = rows
        pivot = next((i for i, entry in enumerate(first) if entry), None)
        if pivot is None:
            return False
        x, y = first[pivot], second[pivot]
        return any(b * x != a * y for a, b in zip(first, second, strict=True))
    return rank(RationalMatrix.from_rows(rows)) == len(rows)


def _restricted(weights: FloatWeights, number: int, embedding: RationalMatrix) -> _Layer:
    """Return a layer on the subspace whose points (x, 1) are the embedding times (s, 1)."""
    layer = weights.network.layers[number - 1]
    constant = RationalMatrix.zeros(layer.width, embedding.ncols - 1).beside(layer.bias)
    of_input = weights.times_input_weights(number, embedding)
    if of_input is not None:
        constant = constant + of_input
    return _Layer(constant, tuple(block for block in layer.blocks if block.source > 0))
