"""The rows of one ReLU layer in coordinates of its domain.

Whether a layer is injective depends on the signs of its neurons and of the domain's inequalities
only, which are affine forms. In the coordinates y of the affine hull of the domain
(`DomainCoordinates`) each of them is an integer row [w | b] for w·y + b. With a last row for the
constant 1 the rows are homogeneous, and a point y is any (s y, s) with s > 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import RationalMatrix, positive_primitive
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates

__all__ = ["LayerSystem"]


@dataclass(frozen=True, slots=True)
class LayerSystem:
    """The neurons of a layer and the inequalities of its domain as rows of integers.

    Attributes
    ----------
    coordinates
        The domain.
    neurons
        Primitive rows [w | b] with w ≠ 0, no two of them equal.
    limits
        The rows that are positive inside the domain: its inequalities, and the constant 1 last.
    names
        The numbers of these rows in certificates: neurons by their index in the layer, then the
        inequalities of the domain, then the constant.
    """

    coordinates: DomainCoordinates
    neurons: tuple[tuple[int, ...], ...]
    limits: tuple[tuple[int, ...], ...]
    names: tuple[int, ...]

    @classmethod
    def of(
        cls, weight: RationalMatrix, bias: RationalMatrix, coordinates: DomainCoordinates
    ) -> LayerSystem:
        """Return the rows of the layer max(W x + b, 0) on a domain.

        >>> from polyrelu.exact import Polyhedron
        >>> plane = DomainCoordinates.of(Polyhedron.universe(2))
        >>> weight = RationalMatrix.from_rows([[2, 4], [0, 0], [1, 2], [1, 0]])
        >>> system = LayerSystem.of(weight, RationalMatrix.column([2, 5, 1, 0]), plane)
        >>> system.neurons, system.limits, system.names
        (((1, 2, 1), (1, 0, 0)), ((0, 0, 1),), (0, 3, 4))
        """
        dimension = coordinates.dimension
        constants = bias.beside(RationalMatrix.zeros(bias.nrows, dimension))
        forms = (weight @ coordinates.inputs + constants).integer_rows()
        found = dict[tuple[int, ...], int]()
        for index, (constant, *linear) in enumerate(forms):
            if any(linear):
                found.setdefault(tuple(positive_primitive([*linear, constant])), index)
        limits, names = list[tuple[int, ...]](), list(found.values())
        for index, form in enumerate(coordinates.inequalities):
            if form is not None:
                row = [0] * (dimension + 1)
                for column, entry in zip(*form, strict=True):
                    row[column - 1] = entry  # the constant is the last one
                limits.append(tuple(positive_primitive(row)))
                names.append(weight.nrows + index)
        limits.append((*[0] * dimension, 1))
        names.append(weight.nrows + len(coordinates.inequalities))
        return cls(coordinates, tuple(found), tuple(limits), tuple(names))

    @property
    def dimension(self) -> int:
        """The dimension of the domain."""
        return self.coordinates.dimension

    @property
    def rows(self) -> list[tuple[int, ...]]:
        """All rows, the neurons first."""
        return [*self.neurons, *self.limits]

    def rounded(self) -> NDArray[np.int64]:
        """Return all rows of one length with rounded entries, for heuristics.

        Arithmetic with them is the same on every machine.
        """
        found = []
        for row in self.rows:
            length = math.isqrt(sum(entry * entry for entry in row))
            found.append([(entry << SETTINGS.rounded_bits) // length for entry in row])
        return np.array(found, dtype=np.int64)

    def to_inputs(self, y: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the point x of the domain with the coordinates y."""
        image = self.coordinates.inputs @ RationalMatrix.column([1, *y])
        return tuple(image.entries())
