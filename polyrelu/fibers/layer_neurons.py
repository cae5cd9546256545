"""The neurons of a layer as rows and columns, and the making of such neurons with given sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from polyrelu.exact import RationalMatrix, primitive
from polyrelu.exact.vectors import dot, negated
from polyrelu.network import Block, Layer, layer_from_rows
from polyrelu.support.display import count_text
from polyrelu.support.typing import Vector

__all__ = [
    "LayerNeurons",
    "both_orientations",
    "layer_value",
    "one_orientation",
    "with_primitive_row",
]


@dataclass(frozen=True, slots=True, repr=False)
class LayerNeurons:
    """The neurons of a hidden layer together with the affine map after it.

    Attributes
    ----------
    rows
        The row [w | b] of each neuron, n + 1 entries.
    columns
        The outgoing column v of each neuron, m entries.
    offset
        The bias c of the affine map, m entries.

    Examples
    --------
    >>> two, three = Fraction(2), Fraction(3)
    >>> neurons = LayerNeurons(rows=((two, -two),), columns=((three,),), offset=(Fraction(0),))
    >>> neurons.normalised().columns
    ((Fraction(12, 1),),)
    """

    rows: tuple[Vector, ...]
    columns: tuple[Vector, ...]
    offset: Vector

    def normalised(self) -> LayerNeurons:
        """Return the same map with rows whose absolute values add up to 1; zero rows stay."""
        sizes = [sum(map(abs, row), Fraction()) or Fraction(1) for row in self.rows]
        rows = tuple(
            tuple(a / size for a in row) for row, size in zip(self.rows, sizes, strict=True)
        )
        columns = tuple(
            tuple(a * size for a in column)
            for column, size in zip(self.columns, sizes, strict=True)
        )
        return LayerNeurons(rows, columns, self.offset)

    def layers(self, source: int) -> tuple[Layer, Layer]:
        """Return two layers of a plain stack, the first of which reads layer number `source`."""
        weight = RationalMatrix.from_rows(self.columns).transpose()
        return layer_from_rows(self.rows, source), Layer(
            (Block(source + 1, weight),), RationalMatrix.column(self.offset)
        )

    def __repr__(self) -> str:
        count, inputs = len(self.rows), len(self.rows[0]) - 1 if self.rows else 0
        counts = [(count, "neuron"), (inputs, "input"), (len(self.offset), "output")]
        return f"<LayerNeurons, {count_text(counts)}>"


def one_orientation(
    row: Vector, total: Vector, count: int, rng: Random | None
) -> Iterator[tuple[Vector, Vector]]:
    """Yield `count` neurons with the given row whose columns add up to `total`."""
    for column in _summands(total, count, rng):
        yield row, column


def both_orientations(
    row: Vector, total: Vector, difference: Vector, pair: tuple[int, int], rng: Random | None
) -> Iterator[tuple[Vector, Vector]]:
    """Yield neurons with the rows row and -row whose columns add up to `total`.

    The columns of the neurons with the row minus the columns of the others add up to `difference`.
    """
    plus = tuple((t + d) / 2 for t, d in zip(total, difference, strict=True))
    minus = tuple((t - d) / 2 for t, d in zip(total, difference, strict=True))
    yield from one_orientation(row, plus, pair[0], rng)
    yield from one_orientation(negated(row), minus, pair[1], rng)


def _summands(total: Vector, count: int, rng: Random | None) -> Iterator[Vector]:
    """Yield `count` vectors with a given sum: equal ones, or random ones if `rng` is given."""
    left = total
    for k in range(count, 1, -1):
        if rng is None:
            summand = tuple(entry / k for entry in left)
        else:
            summand = tuple(Fraction(rng.randint(-8, 8), 4) for _ in left)
        left = tuple(a - b for a, b in zip(left, summand, strict=True))
        yield summand
    yield left


def with_primitive_row(row: Vector, column: Vector) -> tuple[Vector, Vector]:
    """Scale a neuron such that its row consists of primitive integers; a zero row stays.

    Other scales would give wide layers numbers of many digits.
    """
    if not any(row):
        return row, column
    normal, factor = primitive(row)
    size = abs(factor)
    sign = 1 if factor > 0 else -1
    return tuple(Fraction(sign * entry) for entry in normal), tuple(
        entry * size for entry in column
    )


def layer_value(
    rows: Sequence[Vector], columns: Sequence[Vector], point: Sequence[Fraction], outputs: int
) -> Vector:
    """Return V σ(W u + b) at a point u."""
    total = [Fraction()] * outputs
    for row, column in zip(rows, columns, strict=True):
        t = dot(row[:-1], point) + row[-1]
        if t > 0:
            total = [a + t * v for a, v in zip(total, column, strict=True)]
    return tuple(total)
