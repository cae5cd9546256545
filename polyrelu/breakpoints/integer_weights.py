"""`IntegerWeights`: the weights and forms of all cells of codimension 1 as integers.

Balancing, reconstruction and the choice of visible cells compare and add integers over one
denominator; fractions are made only for users who read them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.crossings import Crossings
from polyrelu.exact.integer_arrays import as_integers, as_objects, largest, products, shortened
from polyrelu.exact.residues import Residues
from polyrelu.support.arrays import read_only
from polyrelu.support.typing import BigIntegers, Indices

__all__ = ["IntegerWeights", "Jumps", "fractions_over"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Jumps:
    """The changes of the affine map [A | c] across N cells, from `minus` to `plus`.

    They are factors ⊗ rows[which] / denominator; the integers are int64 or Python integers.

    Attributes
    ----------
    factors
        Shape (N, m).
    denominator
        A positive integer.
    rows
        Different forms, shape (number of forms, n_0 + 1).
    which
        The row of each cell, shape (N,).
    """

    factors: NDArray[Any]
    denominator: int
    rows: NDArray[Any]
    which: Indices

    def __len__(self) -> int:
        return len(self.which)

    def at(self, positions: Indices) -> Jumps:
        """Return the changes across some of the cells."""
        return Jumps(self.factors[positions], self.denominator, self.rows, self.which[positions])

    def times(self, factor: int) -> Jumps:
        """Return the same changes over the denominator multiplied by a factor."""
        factors = products(self.factors, as_integers(factor))
        return Jumps(factors, self.denominator * factor, self.rows, self.which)

    def residues(self, system: Residues) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the residues of `factors` and `rows`."""
        return system.of(self.factors), system.of(self.rows)

    def largest(self) -> int:
        """Return a number that no factor, no entry of a row, and no numerator exceeds."""
        return max(largest(self.factors), 1) * max(largest(self.rows), 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntegerWeights:
    """Weights numerators / denominator of F cells, and the forms that vanish on the cells.

    Integers are int64 or Python integers.

    Attributes
    ----------
    numerators
        Shape (F, m).
    denominator
        A positive integer.
    rows
        Different primitive multiples of [n | β], shape (number of forms, n_0 + 1).
    divisors
        The greatest common divisor of the normal of each row.
    which
        The row of each cell, shape (F,).
    """

    numerators: NDArray[Any]
    denominator: int
    rows: NDArray[Any]
    divisors: NDArray[Any]
    which: Indices

    @classmethod
    def of_crossings(
        cls, crossings: Crossings, numerators: NDArray[Any], denominator: int
    ) -> IntegerWeights:
        """Return the weights of the cells of crossings."""
        which = crossings.forms[crossings.firsts]
        return cls(numerators, denominator, crossings.rows, crossings.divisors, which)

    @classmethod
    def of_objects(
        cls, forms: BigIntegers, divisors: BigIntegers, weights: NDArray[np.object_]
    ) -> IntegerWeights:
        """Return the weights that tables of objects hold: any fractions, and a form for each."""
        entries = weights.ravel().tolist()
        denominator = math.lcm(*{entry.denominator for entry in entries})
        scaled = np.empty(len(entries), dtype=object)
        scaled[:] = [entry.numerator * (denominator // entry.denominator) for entry in entries]
        which = np.arange(len(forms))
        numerators = shortened(scaled).reshape(weights.shape)
        return cls(numerators, denominator, shortened(forms), shortened(divisors), which)

    def jumps(self) -> Jumps:
        """Return the changes ω [n | β] of the affine map across all cells."""
        divisors = self.divisors[self.which][:, None]
        if (divisors == 1).all():
            return Jumps(self.numerators, self.denominator, self.rows, self.which)
        if not (self.numerators % divisors).any():
            factors = np.asarray(self.numerators // divisors)
            return Jumps(factors, self.denominator, self.rows, self.which)
        common = math.lcm(*set(self.divisors.tolist()))  # the weights of no network
        factors = np.asarray(as_objects(self.numerators) * (common // as_objects(divisors)))
        return Jumps(factors, self.denominator * common, self.rows, self.which)

    def fractions(self) -> NDArray[np.object_]:
        """Return the weights as fractions, read only."""
        return read_only(fractions_over(self.numerators, self.denominator))

    def form_objects(self) -> BigIntegers:
        """Return the form of each cell in Python integers, read only."""
        return read_only(as_objects(self.rows)[self.which])

    def divisor_objects(self) -> BigIntegers:
        """Return the divisor of the form of each cell, read only."""
        return read_only(as_objects(self.divisors)[self.which])


def fractions_over(numerators: NDArray[Any], denominator: int) -> NDArray[np.object_]:
    """Return integers over a positive denominator as fractions, each different one made once.

    >>> fractions_over(np.array([2, -3]), 4).tolist()
    [Fraction(1, 2), Fraction(-3, 4)]
    """
    found = np.empty(numerators.size, dtype=object)
    known: dict[int, Fraction] = {}
    entries = numerators.ravel().tolist()
    for entry in set(entries):
        known[entry] = Fraction(entry, denominator)
    found[:] = [known[entry] for entry in entries]
    return found.reshape(numerators.shape)
