"""The truth about a small network, from its whole exact complex: the yardstick for Theorem D.

* `dimension` is the dimension of the local fiber modulo positive scalings: the number of
parameters,
  minus the rank of the Jacobian of the affine maps of all regions, minus the number of hidden
  neurons. The rank is computed for random combinations of rows modulo a prime, so that it is never
  too large: the value 0 is exact, and a larger value is wrong with a chance below 10⁻⁵ (two tries).
  A value above 0 is only a bound where the network is degenerate (a neuron vanishes on a region, or
  the parameters lie on the boundary of a stratum, `tests/oracles/local_fiber.py`). For random
  dyadic weights this does not happen.
* `best` evaluates the theorem at every ridge: no search can find what is missing there.
* `reasons` counts neurons that are never on (dead) or never off (linear), and pairs of a neuron and
  one of the next layer that are never on together, so that their weight is free. All of these make
  the dimension positive; `others` explains more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.exact import eliminate_mod, float_prime
from polyrelu.network import Network
from polyrelu.proofs.deep.families import Families
from polyrelu.proofs.deep.hypotheses import DeepHypotheses, evaluate
from polyrelu.proofs.deep.ridges import Competitors, DeepNetwork, Ridge, mask_of
from tests.oracles.judge import plain
from tests.oracles.plain import integer_form

__all__ = ["Truth", "combined_jacobian", "local_dimension", "rank_mod", "ridges_of"]

Floats = NDArray[np.float64]

#: Number of rows of the Jacobian that are combined at a time.
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Truth:
    """A network with its whole complex."""

    network: Network
    cells: PolyhedralComplex

    @classmethod
    def of(cls, network: Network) -> Truth:
        """Compute the complex of a network."""
        return cls(network, canonical_complex(network))

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """The signs of all hidden neurons on all regions."""
        return self.cells.signs(self.network.num_inputs)

    @cached_property
    def rigid(self) -> bool:
        """Whether the dimension is 0; each of the `reasons` makes it positive."""
        return not self.reasons and not self.dimension

    @property
    def vanishing(self) -> bool:
        """Whether a neuron vanishes on a region."""
        return not self.signs.all()

    @cached_property
    def dimension(self) -> int:
        """The dimension of the local fiber, modulo positive scalings."""
        return local_dimension(self.network, self.signs > 0)

    @cached_property
    def best(self) -> DeepHypotheses:
        """The result of the theorem at all ridges."""
        return self.shown("transversal")

    def shown(self, among: Competitors) -> DeepHypotheses:
        """What all ridges show for competitors of a class."""
        deep_network = DeepNetwork.of(self.network, among)
        ridges = ridges_of(deep_network, self.cells)
        return evaluate(deep_network, ridges, Families(deep_network, ridges))

    @cached_property
    def reasons(self) -> dict[str, int]:
        """The numbers of dead and linear neurons, and of other pairs that are never on together."""
        on, off = (self.signs > 0).any(axis=0), (self.signs < 0).any(axis=0)
        apart = sum(1 for _ in self._never_together())
        found = {
            "dead": int((~on).sum()),
            "linear": int((on & ~off).sum()),
            "never together": apart,
        }
        return {reason: count for reason, count in found.items() if count}

    @cached_property
    def others(self) -> dict[str, int]:
        """Reasons to first order for a positive dimension.

        *traded*: neurons h whose weights on some neurons that are on together with h can change
        together, because no output shows the change where h is on. *dependent*: neurons v for which
        the activations of the layer before, with the constant, are linearly dependent where v is
        on.
        """
        on, starts = self.signs > 0, np.cumsum((0, *self.network.widths[1:-1]))
        prime, found = float_prime(_ROWS), Counter[str]()
        modular = [
            (_modulo(w, prime), _modulo(b, prime)) for w, b in integer_form(plain(self.network))
        ]
        inputs, deltas = _maps(modular, on, self.network.widths, prime)
        for layer in range(1, self.network.num_hidden_layers):
            below, own = (range(*starts[k - 1 : k + 1]) for k in (layer, layer + 1))
            for h in below:
                found["traded"] += _has_kernel(
                    deltas[layer][on[:, h]][:, :, on[on[:, h]][:, own].any(axis=0)]
                )
            for v in own:
                some = np.append(on[on[:, v]][:, below].any(axis=0), True)
                found["dependent"] += _has_kernel(inputs[layer][on[:, v]][:, some].swapaxes(1, 2))
        return {reason: count for reason, count in found.items() if count}

    def _never_together(self) -> Iterator[tuple[int, int]]:
        on, starts = self.signs > 0, np.cumsum((0, *self.network.widths[1:-1]))
        for layer in range(1, self.network.num_hidden_layers):
            for h in range(*starts[layer - 1 : layer + 1]):
                for v in range(*starts[layer : layer + 2]):
                    if on[:, h].any() and on[:, v].any() and not (on[:, h] & on[:, v]).any():
                        yield h, v


def ridges_of(deep_network: DeepNetwork, cells: PolyhedralComplex) -> list[Ridge]:
    """All ridges: the cells of codimension 2 with exactly two zeros."""
    dimension = deep_network.network.num_inputs - 2
    if dimension < cells.lineality_dim:
        return []
    signs = cells.signs(dimension)
    found = signs[(signs == 0).sum(axis=1) == 2]
    pairs = [np.flatnonzero(row == 0).tolist() for row in found]
    return [
        deep_network.ridge(u, v, mask_of(row)) for (u, v), row in zip(pairs, found, strict=True)
    ]


def _has_kernel(rows: Floats) -> bool:
    """Return whether a nonzero vector is orthogonal to all rows (the last axis)."""
    return bool(rank_mod(rows.reshape(-1, rows.shape[-1])) < rows.shape[-1])


def local_dimension(network: Network, on: NDArray[np.bool_]) -> int:
    """Return the dimension of the local fiber modulo scalings, from the masks of some regions.

    It is exact for the masks of all regions.
    """
    parameters = _parameters(network)
    least: int = parameters - on.shape[1]
    rank = 0
    for seed in range(2):
        rank = max(rank, _rank(network, on, parameters, least, seed))
        if rank == least:
            break
    return least - rank


def _rank(network: Network, on: NDArray[np.bool_], parameters: int, enough: int, seed: int) -> int:
    rank, looked = 0, 1
    for number, rows in enumerate(_combinations(network, on, parameters, seed), 1):
        if number == 2 * looked:  # the rank is taken now and then
            looked, rank = number, rank_mod(rows)
            if rank == enough:
                return rank
    return rank_mod(rows)


def rank_mod(rows: Floats) -> int:
    """Return the rank of a matrix modulo the prime of `combined_jacobian`."""
    return eliminate_mod(rows.astype(np.int64).tolist(), rows.shape[1], float_prime(_ROWS))[0]


def combined_jacobian(network: Network, on: NDArray[np.bool_]) -> Floats:
    """Return random combinations of the rows of the Jacobian of some regions, modulo a prime.

    There are as many combinations as parameters.
    """
    parameters = _parameters(network)
    for rows in _combinations(network, on, parameters, 0):
        total = rows
    return total


def _parameters(network: Network) -> int:
    return sum(
        layer.width * (columns + 1)
        for layer, columns in zip(network.layers, network.widths, strict=False)
    )


def _combinations(
    network: Network, on: NDArray[np.bool_], parameters: int, seed: int
) -> Iterator[Floats]:
    """Return random combinations of the rows of more and more regions, up to all of them."""
    rng, prime = np.random.default_rng(seed), float_prime(_ROWS)
    modular = [(_modulo(w, prime), _modulo(b, prime)) for w, b in integer_form(plain(network))]
    order = rng.permutation(len(on))
    step = max(1, _ROWS // (network.widths[-1] * (network.num_inputs + 1)))
    total = np.zeros((parameters, parameters))
    for start in range(0, len(order), step):
        block = _jacobian(modular, on[order[start : start + step]], network.widths, prime)
        weights = rng.integers(0, prime, (parameters, len(block))).astype(float)
        total = np.mod(total + np.mod(weights @ block, prime), prime)
        yield total


def _modulo(entries: Any, prime: int) -> Floats:
    if entries and isinstance(entries[0], list):
        return np.array([[w % prime for w in row] for row in entries], dtype=float)
    return np.array([b % prime for b in entries], dtype=float)


def _jacobian(
    layers: list[tuple[Floats, Floats]], on: NDArray[np.bool_], widths: Sequence[int], prime: int
) -> Floats:
    """Return the derivatives of all entries of the affine maps of some regions, modulo p.

    The derivatives are by all parameters. The entry (o, c) of a map has the derivative δ_l[o, i]
    a_{l-1}[j, c] by W_l[i, j], where a_{l-1} is the affine map of the layer before, with the
    constant 1 as a last row, and δ_l is the derivative of the outputs by z_l.
    """
    inputs, deltas = _maps(layers, on, widths, prime)
    size = widths[0] + 1
    blocks = [
        np.mod(np.einsum("roi,rjc->rocij", d, a), prime).reshape(len(on) * widths[-1] * size, -1)
        for d, a in zip(deltas, inputs, strict=True)
    ]
    return np.hstack(blocks)


def _maps(
    layers: list[tuple[Floats, Floats]], on: NDArray[np.bool_], widths: Sequence[int], prime: int
) -> tuple[list[Floats], list[Floats]]:
    """Return the affine maps that each layer reads, and the derivatives of the outputs, modulo p.

    The derivatives are by the preactivations z of the layer.
    """
    count, size = len(on), widths[0] + 1
    marks = np.split(on.astype(float), np.cumsum(widths[1:-1])[:-1], axis=1)
    inputs, deltas = [np.broadcast_to(np.eye(size), (count, size, size))], list[Floats]()
    for (weight, bias), mark in zip(layers[:-1], marks, strict=True):
        z = np.mod(weight @ inputs[-1][:, :-1], prime)
        z[:, :, -1] = np.mod(z[:, :, -1] + bias, prime)
        one = np.zeros((count, 1, size))
        one[:, :, -1] = 1
        inputs.append(np.concatenate([z * mark[:, :, None], one], axis=1))
    delta = np.broadcast_to(np.eye(widths[-1]), (count, widths[-1], widths[-1]))
    for (weight, _), mark in zip(reversed(layers), [None, *reversed(marks)], strict=True):
        delta = delta if mark is None else delta * mark[:, None, :]
        deltas.append(delta)
        delta = np.mod(delta @ weight, prime)
    return inputs, deltas[::-1]
