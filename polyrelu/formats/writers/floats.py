"""The weights and biases of a network as float arrays, and how far rounding moved them.

Formats that store floats cannot hold every rational number. If float32, or else float64, holds all
weights and biases exactly, the arrays have that type and nothing moves. Otherwise every number is
rounded to the nearest float64, and the largest difference is computed exactly. Sparse weights stay
sparse until their floats are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.exact import AnyMatrix, RationalMatrix, SparseMatrix
from polyrelu.formats.graph.constants import FLOAT_FORMATS
from polyrelu.network import Network, leaky_slopes
from polyrelu.support.arguments import expect_choice
from polyrelu.support.typing import Array, Floats

__all__ = ["FloatWeights", "check_plain", "check_size", "float_weights", "weights_by_name"]

#: Maximum number of bytes of all weights: the limit of a protobuf message, less room for the graph.
_BYTE_LIMIT = 2**31 - 2**16


@dataclass(frozen=True, slots=True)
class FloatWeights:
    """The parameters of a network as floats.

    Attributes
    ----------
    arrays
        The arrays by the names of `weights_by_name`, of shapes (out, in) and (out,).
    numbers
        Their type, ``"float32"`` or ``"float64"``.
    largest_difference
        The largest |number in the network - number in the arrays|.
    """

    arrays: dict[str, Array]
    numbers: str
    largest_difference: Fraction


def float_weights(
    network: Network, numbers: str | None, slopes: Mapping[str, Fraction] | None = None
) -> FloatWeights:
    """Return the parameters in a float type, by default the smallest one that holds them exactly.

    `slopes` are further numbers by name; their arrays have shape (1, 1). A `NetworkError` names an
    array with an entry beyond the range of the type.
    """
    if numbers is not None:
        expect_choice(numbers, FLOAT_FORMATS, "numbers")
    check_size(network)
    parts = {name: _Part.of(name, matrix) for name, matrix in weights_by_name(network)}
    for name, slope in (slopes or {}).items():
        parts[name] = _Part.of(name, RationalMatrix.column([slope]))
    if numbers is None:
        numbers = "float32" if all(part.fits_float32 for part in parts.values()) else "float64"
    arrays, largest = dict[str, Array](), Fraction()
    for name, part in parts.items():
        rounded = part.rounded(numbers)
        largest = max(largest, part.largest_difference(rounded))
        arrays[name] = part.array(rounded)
    return FloatWeights(arrays, numbers, largest)


def weights_by_name(network: Network) -> Iterator[tuple[str, AnyMatrix]]:
    """Yield the parameters by name: W1, b1, W2, …

    In a network with connections that skip layers, W3_1 are the weights of layer 3 on layer 1, and
    W3_0 those on the input.
    """
    for number, layer in enumerate(network.layers, 1):
        for block in layer.blocks:
            skipped = "" if block.source == number - 1 else f"_{block.source}"
            yield f"W{number}{skipped}", block.entries
        yield f"b{number}", layer.bias


def check_plain(network: Network, ending: str) -> None:
    """Refuse a network that is no plain stack, or that ends in a ReLU."""
    remedy = "save the network as .json or .onnx"
    if leaky_slopes(network) is not None:
        raise NetworkError(
            f"the network has leaky ReLUs, or skip connections that act like them, and {ending} "
            f"files hold no slopes; {remedy}"
        )
    if not network.is_plain:
        raise NetworkError(
            "the network has connections that skip layers; only plain stacks are written as "
            f"{ending}; {remedy}"
        )
    if network.last != "affine":
        raise NetworkError(f"{ending} files end in an affine layer, not in a ReLU; {remedy}")


def check_size(network: Network) -> None:
    """Refuse a network whose weights do not fit into one file, before anything is made."""
    if 8 * network.num_parameters > _BYTE_LIMIT:
        raise NetworkError(
            f"{network.num_parameters} weights and biases do not fit into one file of 2 GB; "
            "save the network as .json"
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """The parameters under one name, beside their nearest float64.

    Attributes
    ----------
    name
        The name, which begins with b for a bias.
    matrix
        The exact numbers.
    exact
        The numbers that need not be 0, in one column.
    doubles
        The nearest float64 of these, shape (entries,).
    is_float64
        Whether these are the numbers themselves.
    """

    name: str
    matrix: AnyMatrix
    exact: RationalMatrix
    doubles: Floats
    is_float64: bool

    @classmethod
    def of(cls, name: str, matrix: AnyMatrix) -> _Part:
        """Return the part of a matrix."""
        if isinstance(matrix, SparseMatrix):
            denominator = matrix.denominator
            entries = [Fraction(int(entry), denominator) for entry in matrix.numerators]
        else:
            entries = list(matrix.entries())
        exact = RationalMatrix.column(entries)
        doubles = exact.to_floats()
        is_float64 = not entries or RationalMatrix.from_array(doubles) == exact
        return cls(name, matrix, exact, doubles.ravel(), is_float64)

    @property
    def fits_float32(self) -> bool:
        """Whether float32 holds the numbers exactly."""
        return self.is_float64 and np.array_equal(_single(self.doubles), self.doubles)

    def rounded(self, numbers: str) -> Array:
        """Return the numbers rounded once to a float type, shape (entries,)."""
        format_, double = FLOAT_FORMATS[numbers], np.abs(self.doubles).max(initial=0)
        sizes = [Fraction(double)] if self.is_float64 else map(abs, self.exact.entries())
        if max(sizes) > format_.largest:
            raise NetworkError(f"{self.name} has an entry beyond the range of {numbers}")
        if numbers == "float64":
            return self.doubles
        if self.is_float64:
            return _single(self.doubles)
        nearest = [float(format_.nearest(entry)) for entry in self.exact.entries()]
        return np.array(nearest, dtype=np.float32)

    def largest_difference(self, rounded: Array) -> Fraction:
        """Return the largest |exact number - rounded number|."""
        if self.is_float64 and np.array_equal(rounded, self.doubles):
            return Fraction()
        differences = self.exact - RationalMatrix.from_array(rounded.reshape(-1, 1))
        return max(map(abs, differences.entries()))

    def array(self, rounded: Array) -> Array:
        """Return the rounded numbers in the shape of the matrix; a bias is a vector."""
        if isinstance(self.matrix, SparseMatrix):
            dense = np.zeros(self.matrix.shape, dtype=rounded.dtype)
            dense[self.matrix.row_of_entries(), self.matrix.columns] = rounded
            return dense
        return rounded if self.name.startswith("b") else rounded.reshape(self.matrix.shape)


def _single(floats: Floats) -> NDArray[np.float32]:
    """Return the floats in single precision, infinities beyond its range."""
    with np.errstate(over="ignore"):
        return floats.astype(np.float32)
