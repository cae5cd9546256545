"""Ranks of Jacobians of networks with two hidden layers and many inputs, by blocks.

Each region shows the derivatives of all entries of its affine map. The columns of layer 1 are a
Kronecker product, and after a change of basis those of layer 2 are a block for each neuron of layer
1 and for the bias; what is left are the columns of the outputs. So a rank of hundreds of thousands
of columns is computed from ranks of some hundreds (docs/theory/functional_dimension.md, "Two hidden
layers and many inputs").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, float_prime
from polyrelu.foldsets.echelons import BLOCK, Echelon, Floats, left_kernel, mod, rank_in_floats
from polyrelu.formats import NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.network.points import Points, read_batch
from polyrelu.support.arguments import expect_function
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Mask

__all__ = ["rank_of_two_layers"]

#: Vectors of a kernel that are used for each neuron of layer 1: more of them can only raise the
#: rank of the columns of layer 3, of which there are few.
_KERNEL_SHARE = 3


def rank_of_two_layers(
    network: NetworkLike, points: Points, *, progress: Progress | None = None
) -> int:
    """Return a rank of the Jacobian on the regions of some points, for two hidden layers.

    Parameters
    ----------
    network
        A network with two hidden layers and an affine output, whose first layer is no wider than
        the inputs, or what `polyrelu.load` takes.
    points
        Points, shape (k, n_0); each stands for its region. Points on which a neuron is 0 are left
        out.
    progress
        Called with a `polyrelu.support.ProgressStep` for each neuron of layer 1.

    Returns
    -------
    int
        A lower bound for the functional dimension, usually the rank of all derivatives of the
        affine maps of these regions.

    Raises
    ------
    NetworkError
        The network has another shape, or the rows of its first layer are dependent.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [1, 1]], [0, 1]), ([[1, -2], [-3, 1]], [1, 1])
    >>> net = from_arrays([first, second, ([[1, 1]], [0])])
    >>> rank_of_two_layers(net, [[x, y] for x in (-3, -1, "1/2", 2) for y in (-5, "1/3", 4)])
    11
    """
    network = as_network(network)
    expect_function(progress, "progress")
    if not network.is_plain or network.last != "affine" or network.num_hidden_layers != 2:
        raise NetworkError("ranks by blocks: expected two hidden layers and an affine output")
    return _Blocks(network, points).rank(progress)


class _Blocks:
    """The regions of some points, and the weights modulo a prime."""

    def __init__(self, network: Network, points: Points) -> None:
        self.network = network
        num_rows = len(read_batch(points, network.num_inputs)) * network.num_outputs
        self.prime = float_prime(max(BLOCK, *network.widths, num_rows) + 1)
        first, self.second, self.third = (
            _residues(layer.augmented(), self.prime) for layer in network.layers
        )
        ends = np.zeros((1, first.shape[1]))
        ends[0, -1] = 1
        rows = np.concatenate([first, ends])
        if rank_in_floats([rows], self.prime) < len(rows):
            raise NetworkError("ranks by blocks: the rows of the first layer are dependent")
        self.early, self.late = _masks(network, points)

    def rank(self, progress: Progress | None) -> int:
        """Return the rank."""
        regions, outputs = len(self.early), self.network.num_outputs
        if not regions:
            return 0
        inner = self.network.widths[1]
        weights, prime = self.third[:, :-1], self.prime
        back = weights[None] * self.late[:, None, :]  # (regions, outputs, layer 2)
        sums = mod(back.reshape(-1, back.shape[2]) @ self.second[:, :-1], prime)
        gradients = sums.reshape(regions, outputs, inner) * self.early[:, None, :]
        kernel = left_kernel(gradients.reshape(-1, inner), prime)
        found = (regions * outputs - len(kernel)) * (self.network.num_inputs + 1)
        kernel = self._some(kernel, self.network.widths[2] + self._num_left)
        last = Echelon(prime)
        for i in range(inner + 1):
            found += self._block(i, kernel, back, last)
            details = {"rank": found + last.rank}
            report(progress, "adding blocks", i + 1, inner + 1, "blocks", details)
        return found + last.rank

    @property
    def _num_left(self) -> int:
        """The number of vectors of a kernel that are used for each block."""
        wanted = _KERNEL_SHARE * self.third.size // (self.network.widths[1] + 1)
        return wanted + self.network.num_outputs + 8

    def _block(self, i: int, kernel: Floats, back: Floats, last: Echelon) -> int:
        """Let a block join; return its rank in the columns of layer 2."""
        regions, outputs, width = back.shape
        is_bias = i == self.network.widths[1]
        early = np.ones(regions) if is_bias else self.early[:, i]
        block = (back * early[:, None, None]).reshape(-1, width)
        left = left_kernel(mod(kernel @ block, self.prime), self.prime)
        rank = len(kernel) - len(left)
        if not len(left):
            return rank
        rows = mod(self._some(left, self._num_left) @ kernel, self.prime)
        rows = rows.reshape(-1, regions, outputs) * early[None, :, None]
        sums = mod(np.swapaxes(rows, 1, 2) @ self.late, self.prime)
        columns = mod(sums * self.second[:, i], self.prime)
        ends = rows.sum(axis=1)[:, :, None] if is_bias else np.zeros((len(rows), outputs, 1))
        entries = np.concatenate([columns, mod(ends, self.prime)], axis=2)
        last.add(entries.reshape(len(rows), -1))
        return rank

    def _some(self, rows: Floats, count: int) -> Floats:
        """As many combinations of rows, if there are more rows."""
        if len(rows) <= count:
            return rows
        factors = np.random.default_rng(0).integers(0, self.prime, (count, len(rows)))
        return mod(factors.astype(float) @ rows, self.prime)


def _residues(matrix: RationalMatrix, prime: int) -> Floats:
    """A rational matrix modulo a prime."""
    scale = pow(matrix.denominator % prime, -1, prime)
    table = [[entry % prime * scale % prime for entry in row] for row in matrix.integer_rows()]
    return np.array(table, dtype=float)


def _masks(network: Network, points: Points) -> tuple[Mask, Mask]:
    """The active neurons of both layers at the points where none is 0, each pattern once."""
    given: Sequence[Sequence[object]] = read_batch(points, network.num_inputs)
    signs = {network.sign_vector(tuple(point)) for point in given}  # type: ignore[arg-type]
    layers = [sign.layers for sign in signs if 0 not in sum(sign.layers, ())]
    early, late = (np.array([row[k] for row in sorted(layers)], dtype=np.int8) for k in (0, 1))
    widths = network.widths[1:3]
    return early.reshape(-1, widths[0]) > 0, late.reshape(-1, widths[1]) > 0
