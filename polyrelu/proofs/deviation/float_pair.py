"""Two aligned stacks of layers in floats, and the rows of their outputs that are bounded.

The first network f has the weights W and biases b, the second one g has V and c. Differences of the
weights are computed exactly and rounded once, so that nothing cancels in floats. Floats only guess:
what is certified is computed again in integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from polyrelu.certificate import LinearRow
from polyrelu.exact import RationalMatrix
from polyrelu.symmetry.matching import AlignedPair, ExactLayer, Partners, Stack

__all__ = ["FloatPair", "FloatRows", "Floats", "differences", "in_coordinates"]

#: Arrays of float32 or float64.
Floats: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class FloatRows:
    """Rows of outputs in floats: functionals of the last activations, of x, and constants.

    Attributes
    ----------
    joint
        Coefficients of the last activations of f, after each activation of g is
        written as d plus the activation of a partner, shape (rows, width).
    on_f, on_g
        Coefficients of the last activations of f and of g, each for itself.
    on_x
        Coefficients of the inputs, shape (rows, n_0).
    constant
        Constants, shape (rows,).
    """

    joint: Floats
    on_f: Floats
    on_g: Floats
    on_x: Floats
    constant: Floats


class FloatPair:
    """The layers of an aligned pair in floats, and rows of their outputs.

    Parameters
    ----------
    pair
        The layers of both networks, or of one.
    rows
        Rows of outputs.
    inputs
        The inputs as affine forms in the coordinates of a domain, the constant in front.
    dtype
        The format of the floats.

    Attributes
    ----------
    is_single
        Whether there is only one network.
    depth
        Number of hidden layers.
    num_inputs
        Number of coordinates.
    weights, biases, other_weights, other_biases
        W, b, V and c of the hidden layers.
    weight_changes, bias_changes
        Δ and δ: the differences that remain between neurons of g and their partners.
    partners
        For each hidden layer the partners of the neurons of g (-1 without one), or None where each
        neuron is the partner of its own index.
    rows
        The rows of the outputs.
    in_core
        The same in the compiled core, once it was needed there (`compiled_bounds`).
    """

    def __init__(
        self,
        pair: AlignedPair,
        rows: Sequence[LinearRow],
        inputs: RationalMatrix,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.is_single = pair.second is None
        first = in_coordinates(pair.first, inputs)
        second = first if pair.second is None else in_coordinates(pair.second, inputs)
        self.depth, self.num_inputs = len(first) - 1, inputs.ncols - 1
        self.weights = [self._floats(w) for w, _ in first[:-1]]
        self.biases = [self._floats(b)[:, 0] for _, b in first[:-1]]
        self.other_weights = [self._floats(v) for v, _ in second[:-1]]
        self.other_biases = [self._floats(c)[:, 0] for _, c in second[:-1]]
        changes = differences(first, second, pair.partners)
        self.weight_changes = [self._floats(w) for w, _ in changes]
        self.bias_changes = [self._floats(b)[:, 0] for _, b in changes]
        self.widths = [len(b) for b in self.biases]
        self.partners = [None if p is None else np.array(p, dtype=np.intp) for p in pair.partners]
        self.rows = self._rows(first, second, pair, rows, inputs)
        self.in_core: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs; it has a core of its own."""
        return {**self.__dict__, "in_core": None}

    @property
    def num_products(self) -> int:
        """Number of weights of the hidden layers of one network."""
        return sum(w.size for w in self.weights)

    def to_partners(self, layer: int, functionals: Floats) -> Floats:
        """Return functionals of neurons of g as functionals of their partners; others are lost."""
        partners = self.partners[layer]
        if partners is None:
            return functionals
        is_partner = partners[:, None] == np.arange(self.widths[layer])
        found: Floats = functionals @ is_partner.astype(self.dtype)
        return found

    def of_partners(self, layer: int, values: Floats) -> Floats:
        """Return the values of the partners of the neurons of g; 0 without a partner."""
        partners = self.partners[layer]
        if partners is None:
            return values
        return np.where(partners >= 0, values[..., partners], 0)

    def _floats(self, matrix: RationalMatrix) -> Floats:
        return np.ascontiguousarray(matrix.to_floats().astype(self.dtype))

    def _rows(
        self,
        first: Stack,
        second: Stack,
        pair: AlignedPair,
        rows: Sequence[LinearRow],
        inputs: RationalMatrix,
    ) -> FloatRows:
        """Return the rows as functionals of the last activations, exact until they are rounded."""
        weight, bias = first[-1]
        f_rows = _table([row.f for row in rows], weight.nrows)
        shift = RationalMatrix.from_rows([[row.constant] for row in rows]) + f_rows @ bias
        one, two = f_rows @ weight, RationalMatrix.zeros(len(rows), second[-1][0].ncols)
        joint = one
        if pair.second is not None:
            other, other_bias = second[-1]
            g_rows = _table([row.g for row in rows], other.nrows)
            two, shift = g_rows @ other, shift + g_rows @ other_bias
            joint = one + (gathered(two, pair.partners[-1], one.ncols) if self.depth else two)
        in_y = _table([row.x for row in rows], inputs.nrows) @ inputs
        shift = shift + in_y.take(columns=[0])
        on_y = in_y.take(columns=range(1, inputs.ncols))
        on_a, on_f, on_g, on_x = map(self._floats, (joint, one, two, on_y))
        return FloatRows(on_a, on_f, on_g, on_x, self._floats(shift)[:, 0])


def _table(rows: Sequence[Mapping[int, Fraction]], width: int) -> RationalMatrix:
    """Return rows that are given by their entries that are not 0."""
    zero = Fraction(0)
    return RationalMatrix.from_rows(
        [[row.get(i, zero) for i in range(width)] for row in rows], ncols=width
    )


def in_coordinates(stack: Stack, inputs: RationalMatrix) -> Stack:
    """Return the layers of a network as a function of the coordinates of a domain."""
    (weight, bias), *rest = stack
    image = weight @ inputs
    return (
        (image.take(columns=range(1, inputs.ncols)), image.take(columns=[0]) + bias),
        *rest,
    )


def differences(
    first: Stack, second: Stack, partners: Sequence[Partners | None]
) -> list[ExactLayer]:
    """Return Δ and δ of the hidden layers: what g adds to the preactivations of the partners."""
    found = list[ExactLayer]()
    before: Partners | None = None
    for (w, b), (v, c), mine in zip(first[:-1], second[:-1], partners, strict=True):
        ours = gathered(v, before, w.ncols)
        found.append((ours - _chosen(w, mine), c - _chosen(b, mine)))
        before = mine
    return found


def gathered(matrix: RationalMatrix, partners: Partners | None, width: int) -> RationalMatrix:
    """Return a matrix on neurons of g as one on neurons of f, by their partners."""
    if partners is None:
        return matrix
    return matrix @ _partner_matrix(partners, width)


def _chosen(matrix: RationalMatrix, partners: Partners | None) -> RationalMatrix:
    """Return the rows of the partners; rows of zeros without one."""
    return matrix if partners is None else _partner_matrix(partners, matrix.nrows) @ matrix


def _partner_matrix(partners: Partners, width: int) -> RationalMatrix:
    rows = [[int(i == partner) for i in range(width)] for partner in partners]
    return RationalMatrix.from_integers(rows, ncols=width)
