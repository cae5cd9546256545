"""The operations to which every format is reduced, and how each becomes ReLU neurons.

A reader turns a file into a `Graph` of these few operations; `lowering.py` turns the graph into a
network, and `float_error.py` bounds the rounding errors of a float runtime that computes the graph.
The tensors of the graph are flat here, in row-major order, and their entries are affine forms of
the input and of activations: `AffineForms`.

The lowering uses these exact identities, where σ(z) = max(z, 0):

- max(a, b) = b + σ(a - b) and min(a, b) = a - σ(a - b);
- a leaky ReLU of slope α is αz + (1 - α)σ(z), and α = -1 gives the absolute value;
- a clip to [l, h] with l < h is l + σ(z - l) - σ(z - h).

Each σ in an identity costs one neuron per entry; the other terms cost none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import (
    AnyMatrix,
    RationalMatrix,
    SparseMatrix,
    add,
    as_dense,
    multiply,
    stack,
    take_rows,
)

__all__ = [
    "MERGED",
    "Add",
    "AffineForms",
    "Clip",
    "Constant",
    "Input",
    "Join",
    "LeakyRelu",
    "Linear",
    "Maximum",
    "Minimum",
    "Operation",
    "Relu",
    "Take",
]

#: The end of a note on an operation that changes no value.
MERGED = "of values that the operation before leaves nonnegative was merged with it"


@dataclass(frozen=True, slots=True)
class AffineForms:
    """Affine forms Σ_k parts[k] a[k] + offset of the activations a[k] of groups of neurons.

    Group 0 is the input of the network; `lowering.NeuronGroups` numbers the other groups.

    Attributes
    ----------
    parts
        The coefficient matrix of each group, shape (size, neurons of the group). Zero matrices are
        allowed.
    offset
        The constant terms, shape (size, 1).
    preactivation
        The forms z if these forms are the activations σ(z) of neurons; None otherwise.
    nonnegative
        Whether the operations guarantee that every entry is ≥ 0, whatever the weights are.
    """

    parts: dict[int, AnyMatrix]
    offset: RationalMatrix
    preactivation: AffineForms | None = None
    nonnegative: bool = False

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.offset.nrows

    def times(self, matrix: AnyMatrix) -> AffineForms:
        """Return matrix · forms."""
        parts = {group: multiply(matrix, part) for group, part in self.parts.items()}
        return AffineForms(parts, as_dense(multiply(matrix, self.offset)))

    def plus(self, other: AffineForms) -> AffineForms:
        """Return the sum of two vectors of forms."""
        parts = dict(self.parts)
        for group, part in other.parts.items():
            parts[group] = add(parts[group], part) if group in parts else part
        return AffineForms(parts, self.offset + other.offset)

    def minus(self, other: AffineForms) -> AffineForms:
        """Return the difference of two vectors of forms."""
        return self.plus(
            AffineForms({group: -part for group, part in other.parts.items()}, -other.offset)
        )

    def shifted(self, column: RationalMatrix) -> AffineForms:
        """Return the forms plus a column of constants."""
        return AffineForms(self.parts, self.offset + column)

    def scaled(self, factors: Sequence[Fraction]) -> AffineForms:
        """Return the forms with entry i multiplied by ``factors[i]``."""
        matrix = SparseMatrix.diagonal(_column(factors))
        parts = {group: multiply(matrix, part) for group, part in self.parts.items()}
        return AffineForms(parts, as_dense(multiply(matrix, self.offset)))

    def take(self, chosen: NDArray[np.int64]) -> AffineForms:
        """Return the entries with the given indices; index -1 gives the zero form."""
        parts = {group: take_rows(part, chosen) for group, part in self.parts.items()}
        earlier = None if self.preactivation is None else self.preactivation.take(chosen)
        offset = as_dense(take_rows(self.offset, chosen))
        return AffineForms(parts, offset, earlier, self.nonnegative)


class Neurons(Protocol):
    """Creates the neurons that operations need; `lowering.NeuronGroups` implements it."""

    def relu(self, forms: AffineForms) -> AffineForms:
        """Return σ(forms), with new neurons where σ is not known to be affine."""
        ...

    def note(self, text: str) -> None:
        """Tell the user about an operation that was folded or merged."""
        ...


class Operation(Protocol):
    """One operation of a graph."""

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the result as affine forms, given the inputs as affine forms."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """Consecutive coordinates of the network's input.

    Attributes
    ----------
    first, size
        The coordinates are first, …, first + size - 1.
    total
        Number of coordinates of the whole input.
    """

    first: int
    size: int
    total: int

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the coordinates as forms of group 0."""
        chosen = np.arange(self.first, self.first + self.size)
        return AffineForms(
            {0: SparseMatrix.selection(chosen, self.total)}, RationalMatrix.zeros(self.size, 1)
        )


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant, given as a column of its entries."""

    column: RationalMatrix

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the column as forms without any group."""
        return AffineForms({}, self.column)


@dataclass(frozen=True, slots=True)
class Linear:
    """The affine map x ↦ matrix · x + offset with exact numbers from the file.

    The last three fields describe how a float runtime may compute the map; `float_error.py` uses
    them.

    Attributes
    ----------
    matrix
        The exact matrix.
    offset
        The exact offset, a column; None for a linear map.
    spread
        A column of upper bounds on the sum of the absolute values of the numbers that a runtime
        adds to get the offset. None stands for |offset|: the runtime adds the offset as one number.
    extra_roundings
        Maximum number of roundings of a term beyond one for its product and one for each addition;
        scale factors and quotients cause them.
    stretch
        A factor ≥ 1. Intermediate results of a runtime may exceed the inputs, the stored numbers
        and the sums by this factor, and absolute errors from underflow may grow by this factor.
    """

    matrix: AnyMatrix
    offset: RationalMatrix | None = None
    spread: RationalMatrix | None = None
    extra_roundings: int = 0
    stretch: float = 1.0

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the composition of the map with the forms of x."""
        forms = inputs[0].times(self.matrix)
        return forms if self.offset is None else forms.shifted(self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """The entries of x with the given indices, in this order; index -1 gives 0.

    Transposing, slicing, padding with zeros and broadcasting are operations of this type.
    """

    chosen: NDArray[np.int64]

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the chosen forms."""
        return inputs[0].take(self.chosen)


@dataclass(frozen=True, slots=True)
class Join:
    """The concatenation of the entries of all inputs."""

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the forms of all inputs, stacked."""
        return _stacked(inputs)


@dataclass(frozen=True, slots=True)
class Add:
    """x + y, or x - y if `sign` is -1."""

    sign: int = 1

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the sum or difference of the forms."""
        x, y = inputs
        if self.sign < 0:
            return x.minus(y)
        total = x.plus(y)
        return AffineForms(total.parts, total.offset, nonnegative=x.nonnegative and y.nonnegative)


@dataclass(frozen=True, slots=True)
class Relu:
    """The ReLU max(x, 0), entry by entry."""

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return the activations of one neuron per entry."""
        return neurons.relu(inputs[0])


@dataclass(frozen=True, slots=True)
class Maximum:
    """The maximum max(x, y), entry by entry."""

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return y + σ(x - y)."""
        x, y = inputs
        larger = y.plus(neurons.relu(x.minus(y)))
        return AffineForms(larger.parts, larger.offset, nonnegative=x.nonnegative or y.nonnegative)


@dataclass(frozen=True, slots=True)
class Minimum:
    """The minimum min(x, y), entry by entry."""

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return x - σ(x - y)."""
        x, y = inputs
        smaller = x.minus(neurons.relu(x.minus(y)))
        return AffineForms(
            smaller.parts, smaller.offset, nonnegative=x.nonnegative and y.nonnegative
        )


@dataclass(frozen=True, slots=True)
class LeakyRelu:
    """The map max(x, 0) + slope · min(x, 0) with one slope per entry; slope -1 gives |x|."""

    slopes: tuple[Fraction, ...] = field(repr=False)

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return αx + (1 - α)σ(x), where α are the slopes."""
        x = inputs[0]
        if x.nonnegative:
            name = "an absolute value" if set(self.slopes) == {-1} else "a leaky ReLU"
            neurons.note(f"{name} {MERGED}")
            return x
        if set(self.slopes) == {1}:
            neurons.note("a leaky ReLU of slope 1 is the identity and was left out")
            return x
        activations = neurons.relu(x)
        if not any(self.slopes):
            neurons.note("a leaky ReLU of slope 0 is a ReLU and was read as one")
            return activations
        others = {slope: 1 - slope for slope in set(self.slopes)}
        bent = x.scaled(self.slopes).plus(
            activations.scaled([others[slope] for slope in self.slopes])
        )
        return AffineForms(bent.parts, bent.offset, nonnegative=max(self.slopes) <= 0)


@dataclass(frozen=True, slots=True)
class Clip:
    """The clip min(max(x, low), high), entry by entry.

    A limit that is None does not bind. The result is `high` everywhere if low > high.
    """

    low: Fraction | None
    high: Fraction | None

    def lower(self, inputs: Sequence[AffineForms], neurons: Neurons) -> AffineForms:
        """Return low + σ(x - low) - σ(x - high) with as few neurons as possible.

        The first σ needs no neurons if x is nonnegative and low ≤ 0. If x = σ(z) and high ≥ 0, then
        σ(x - high) = σ(z - high), so that the neurons of the second σ read z and need no layer
        after x.
        """
        x, low, high = inputs[0], self.low, self.high
        if low is not None and high is not None and low >= high:
            neurons.note("a clip whose lower limit is not below the upper one is a constant")
            return AffineForms({}, _constant_column(high, x.size))
        if low is None and high is None:
            neurons.note("a clip without limits is the identity and was left out")
            return x
        if low is None or (x.nonnegative and low <= 0):
            lifted, floor = x, Fraction(0) if x.nonnegative else None
        else:
            shift = _constant_column(low, x.size)
            lifted = neurons.relu(x.shifted(-shift)).shifted(shift) if low else neurons.relu(x)
            floor = low
        is_nonnegative = floor is not None and floor >= 0
        if high is None:
            if lifted is x:
                neurons.note(f"a clip {MERGED}")
            return AffineForms(lifted.parts, lifted.offset, lifted.preactivation, is_nonnegative)
        bent = x.preactivation if x.preactivation is not None and high >= 0 else x
        clipped = lifted.minus(neurons.relu(bent.shifted(-_constant_column(high, x.size))))
        return AffineForms(clipped.parts, clipped.offset, nonnegative=is_nonnegative and high >= 0)


def _stacked(all_forms: Sequence[AffineForms]) -> AffineForms:
    groups = list(dict.fromkeys(group for forms in all_forms for group in forms.parts))
    parts = {
        group: stack([_part_or_zeros(forms, group, all_forms) for forms in all_forms])
        for group in groups
    }
    offset = as_dense(stack([forms.offset for forms in all_forms]))
    earlier = [forms.preactivation for forms in all_forms if forms.preactivation is not None]
    preactivation = _stacked(earlier) if len(earlier) == len(all_forms) else None
    is_nonnegative = all(forms.nonnegative for forms in all_forms)
    return AffineForms(parts, offset, preactivation, is_nonnegative)


def _part_or_zeros(forms: AffineForms, group: int, others: Sequence[AffineForms]) -> AnyMatrix:
    """Return the coefficient matrix of a group, a zero matrix if the forms do not contain it.

    One of `others` contains the group; its matrix gives the number of columns.
    """
    if group in forms.parts:
        return forms.parts[group]
    width = next(other.parts[group].ncols for other in others if group in other.parts)
    return SparseMatrix.from_entries((forms.size, width), [], [], [])


def _column(numbers: Sequence[Fraction]) -> RationalMatrix:
    """Return a column of numbers of which few are distinct."""
    places = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    chosen = np.fromiter((places[number] for number in numbers), np.int64, len(numbers))
    return as_dense(take_rows(RationalMatrix.column(places), chosen))


def _constant_column(value: Fraction, size: int) -> RationalMatrix:
    return RationalMatrix.from_integers([[value.numerator]] * size, value.denominator, 1)
