"""The operations to which every format is reduced, and how each becomes affine forms and ReLU neurons.

A reader turns a file into a `Graph` of these few operations; `lowering.py` turns the graph into a network,
`float_error.py` bounds what a float runtime does to it. A value in the graph is a tensor; here it is flat, in row-major
order, and its entries are affine in the input and in activations: `Forms`.

Exact identities, with σ(z) = max(z, 0): max(a, b) = b + σ(a - b), min(a, b) = a - σ(a - b), a leaky ReLU of slope α is
αz + (1-α)σ(z) (α = -1: the absolute value), a clip to [l, h] is l + σ(z - l) - σ(z - h). None of them costs a neuron
beyond the σ that is written there.
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
    "Add",
    "Clip",
    "Constant",
    "Forms",
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


@dataclass(frozen=True, slots=True)
class Forms:
    """Affine forms Σ_k parts[k] a[k] + offset of the activations of groups of neurons; group 0 is the input.

    Attributes
    ----------
    parts : by group, matrices of shape (size, neurons of the group); a group may stand here with a zero matrix.
    offset : a column.
    before : if these are the activations σ(z) themselves: the forms z.
    nonnegative : whether the operations themselves, not the weights, make every entry ≥ 0.
    """

    parts: dict[int, AnyMatrix]
    offset: RationalMatrix
    before: Forms | None = None
    nonnegative: bool = False

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.offset.nrows

    def times(self, matrix: AnyMatrix) -> Forms:
        """matrix · forms."""
        parts = {group: multiply(matrix, part) for group, part in self.parts.items()}
        return Forms(parts, as_dense(multiply(matrix, self.offset)))

    def plus(self, other: Forms) -> Forms:
        """The sum, entry by entry."""
        parts = dict(self.parts)
        for group, part in other.parts.items():
            parts[group] = add(parts[group], part) if group in parts else part
        return Forms(parts, self.offset + other.offset)

    def minus(self, other: Forms) -> Forms:
        """The difference, entry by entry."""
        return self.plus(
            Forms({group: -part for group, part in other.parts.items()}, -other.offset)
        )

    def shifted(self, column: RationalMatrix) -> Forms:
        """The forms with a column added."""
        return Forms(self.parts, self.offset + column)

    def scaled(self, factors: Sequence[Fraction]) -> Forms:
        """Entry i times ``factors[i]``."""
        parts = {group: part.scale_rows(factors) for group, part in self.parts.items()}
        return Forms(parts, self.offset.scale_rows(factors))

    def take(self, chosen: NDArray[np.int64]) -> Forms:
        """The entries with the given indices; -1 stands for 0."""
        parts = {group: take_rows(part, chosen) for group, part in self.parts.items()}
        before = None if self.before is None else self.before.take(chosen)
        return Forms(parts, as_dense(take_rows(self.offset, chosen)), before, self.nonnegative)


class Neurons(Protocol):
    """Where operations put the neurons they need (`lowering.Layers`)."""

    def relu(self, forms: Forms) -> Forms:
        """The activations σ(forms) of new neurons, or what is known to equal them."""
        ...


class Operation(Protocol):
    """One operation of a graph."""

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """The forms of the result."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """Coordinates first, …, first + size - 1 of the network's input, which has `total` of them."""

    first: int
    size: int
    total: int

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """Coordinates as forms."""
        chosen = np.arange(self.first, self.first + self.size)
        return Forms(
            {0: SparseMatrix.selection(chosen, self.total)}, RationalMatrix.zeros(self.size, 1)
        )


@dataclass(frozen=True, slots=True)
class Constant:
    """A column of numbers."""

    column: RationalMatrix

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """Forms without any group."""
        return Forms({}, self.column)


@dataclass(frozen=True, slots=True)
class Linear:
    """matrix · x + offset with numbers of the file.

    Attributes
    ----------
    matrix, offset : the exact map; the offset is a column or None.
    spread : a column ≥ |offset|, the sum of the sizes of the numbers that a runtime adds up to it; None: |offset|.
    extra_roundings : how often a runtime may round beyond once for each product and each sum (scales, quotients).
    stretch : ≥ 1; on the way to the result a runtime may make numbers that are so many times larger than the inputs,
        the numbers here and the sums, and multiply what it loses below the normal range by so much.
    """

    matrix: AnyMatrix
    offset: RationalMatrix | None = None
    spread: RationalMatrix | None = None
    extra_roundings: int = 0
    stretch: float = 1.0

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """The composition."""
        forms = inputs[0].times(self.matrix)
        return forms if self.offset is None else forms.shifted(self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """The entries of x with the given indices, in order: reshaping, transposing, slicing; -1 stands for 0."""

    chosen: NDArray[np.int64]

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """The chosen forms."""
        return inputs[0].take(self.chosen)


@dataclass(frozen=True, slots=True)
class Join:
    """The entries of all inputs, one after the other."""

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """The forms on top of each other."""
        return _joined(inputs)


@dataclass(frozen=True, slots=True)
class Add:
    """x + y, or x - y if `sign` is -1."""

    sign: int = 1

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """Sum or difference of forms."""
        x, y = inputs
        if self.sign < 0:
            return x.minus(y)
        total = x.plus(y)
        return Forms(total.parts, total.offset, nonnegative=x.nonnegative and y.nonnegative)


@dataclass(frozen=True, slots=True)
class Relu:
    """max(x, 0)."""

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """One neuron for each entry."""
        return neurons.relu(inputs[0])


@dataclass(frozen=True, slots=True)
class Maximum:
    """max(x, y), entry by entry."""

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """y + σ(x - y)."""
        x, y = inputs
        larger = y.plus(neurons.relu(x.minus(y)))
        return Forms(larger.parts, larger.offset, nonnegative=x.nonnegative or y.nonnegative)


@dataclass(frozen=True, slots=True)
class Minimum:
    """min(x, y), entry by entry."""

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """x - σ(x - y)."""
        x, y = inputs
        smaller = x.minus(neurons.relu(x.minus(y)))
        return Forms(smaller.parts, smaller.offset, nonnegative=x.nonnegative and y.nonnegative)


@dataclass(frozen=True, slots=True)
class LeakyRelu:
    """max(x, 0) + slope · min(x, 0), a slope for each entry; slope -1 is the absolute value."""

    slopes: tuple[Fraction, ...] = field(repr=False)

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """αx + (1-α)σ(x)."""
        x = inputs[0]
        if x.nonnegative or all(slope == 1 for slope in self.slopes):
            return x
        activations = neurons.relu(x)
        if not any(self.slopes):
            return activations
        bent = x.scaled(self.slopes).plus(activations.scaled([1 - slope for slope in self.slopes]))
        return Forms(bent.parts, bent.offset, nonnegative=max(self.slopes) <= 0)


@dataclass(frozen=True, slots=True)
class Clip:
    """min(max(x, low), high); None is no limit. With low > high this is `high` everywhere."""

    low: Fraction | None
    high: Fraction | None

    def lower(self, inputs: Sequence[Forms], neurons: Neurons) -> Forms:
        """low + σ(x - low) - σ(x - high), without neurons for what is known: σ(x) = x of activations, and σ(σ(z) - h)
        = σ(z - h) for h ≥ 0."""
        x, low, high = inputs[0], self.low, self.high
        if low is not None and high is not None and low >= high:
            return Forms({}, _repeated(high, x.size))
        if low is None or (x.nonnegative and low <= 0):
            lifted, floor = x, Fraction(0) if x.nonnegative else None
        else:
            shift = _repeated(low, x.size)
            lifted, floor = (
                (neurons.relu(x.shifted(-shift)).shifted(shift) if low else neurons.relu(x)),
                low,
            )
        if high is None:
            return Forms(
                lifted.parts, lifted.offset, lifted.before, floor is not None and floor >= 0
            )
        bent = x.before if x.before is not None and high >= 0 else x
        clipped = lifted.minus(neurons.relu(bent.shifted(-_repeated(high, x.size))))
        return Forms(
            clipped.parts,
            clipped.offset,
            nonnegative=floor is not None and floor >= 0 and high >= 0,
        )


def _joined(all_forms: Sequence[Forms]) -> Forms:
    groups = list(dict.fromkeys(group for forms in all_forms for group in forms.parts))
    parts = {
        group: stack([_part(forms, group, all_forms) for forms in all_forms]) for group in groups
    }
    offset = as_dense(stack([forms.offset for forms in all_forms]))
    earlier = [forms.before for forms in all_forms if forms.before is not None]
    before = _joined(earlier) if len(earlier) == len(all_forms) else None
    return Forms(parts, offset, before, all(forms.nonnegative for forms in all_forms))


def _part(forms: Forms, group: int, others: Sequence[Forms]) -> AnyMatrix:
    """The part of a group, zeros where the forms do not read it."""
    if group in forms.parts:
        return forms.parts[group]
    width = next(other.parts[group].ncols for other in others if group in other.parts)
    return SparseMatrix.from_entries((forms.size, width), [], [], [])


def _repeated(value: Fraction, times: int) -> RationalMatrix:
    return RationalMatrix.from_integers([[value.numerator]] * times, value.denominator, 1)
