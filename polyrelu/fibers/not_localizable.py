"""Networks that are not identifiable although their parts are (three-layer paper, Proposition 7).

For widths (n_0, …, n_4) this module builds affine maps f_1, …, f_4 with rational weights such that
f_3∘σ∘f_2∘σ∘f_1 and f_4∘σ∘f_3∘σ∘f_2 are identifiable and f_4∘σ∘f_3∘σ∘f_2∘σ∘f_1 is not. The examples
prove Proposition 7 of the three-layer paper (arXiv 2605.18319), and `identify` certifies all three
claims. The weights of layers 1 to 3 come from Cauchy matrices because all minors of these are
nonzero; any other choice needs a new proof of genericity.

Layer 2 has negative weights and positive biases, so its activations are bounded, 0 ≤ u ≤ b[2]. The
neurons of layer 3 bend, but only beyond this box, so layer 3 is linear on the image and a bias of
it can be raised if layer 4 compensates for it. Which widths are possible and why the construction
works is proved in docs/theory/localization.md.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.network import Network, from_arrays
from polyrelu.support.arguments import expect_count
from polyrelu.support.display import bracketed

__all__ = ["NotLocalizable", "not_localizable"]

_Rows = list[list[Fraction]]
_Layer = tuple[_Rows, list[Fraction]]


@dataclass(frozen=True, slots=True, repr=False)
class NotLocalizable:
    """A network that is not identifiable, with its two identifiable compositions of three layers.

    Attributes
    ----------
    network
        The network f_4∘σ∘f_3∘σ∘f_2∘σ∘f_1.
    first
        The composition f_3∘σ∘f_2∘σ∘f_1.
    second
        The composition f_4∘σ∘f_3∘σ∘f_2.

    Examples
    --------
    >>> example = not_localizable((2, 2, 2, 2, 1))
    >>> example.first.layers == example.network.layers[:3]
    True
    """

    network: Network
    first: Network
    second: Network

    def __repr__(self) -> str:
        return bracketed(f"NotLocalizable, a network of widths {self.network.architecture}")


def not_localizable(widths: Sequence[int], *, seed: int = 0) -> NotLocalizable:
    """Build a non-identifiable network whose two compositions of three layers are identifiable.

    Parameters
    ----------
    widths
        The widths (n_0, …, n_4) with n_0 ≥ n_1 ≥ n_2, n_1 ≥ 2, and n_2 ≥ 2 or n_3 ≥ 2. Why other
        widths are impossible or not claimed is explained in docs/theory/localization.md.
    seed
        The seed of the random weights; the same seed gives the same network.

    Returns
    -------
    NotLocalizable
        The network and its two compositions, with rational weights.

    Raises
    ------
    NetworkError
        The widths do not satisfy the inequalities.

    Notes
    -----
    `identify` certifies the claims as long as the widths are within the limits of
    certificates: n_0, n_1, n_2 ≤ 1024, and n_3 ≤ 40 or n_3 at most about n_2 n_4. Both compositions
    are always generic themselves, and `identify` verifies this where it is feasible (FORMAT.md
    §3.4). Source: the three-layer paper (2026), Proposition 7, arXiv 2605.18319.

    Examples
    --------
    >>> example = not_localizable((2, 2, 2, 2, 1))
    >>> [net.widths for net in (example.network, example.first, example.second)]
    [(2, 2, 2, 2, 1), (2, 2, 2, 2), (2, 2, 2, 1)]
    >>> not_localizable((3, 1, 1, 2, 1))    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    polyrelu.errors.NetworkError: n_1 = 1: layers 1 and 2 of one neuron each are never ...
    """
    _check_widths(widths)
    rng = random.Random(expect_count(seed, "seed"))
    n0, n1, n2, n3, n4 = widths
    layers = [_first_layer(n0, n1, rng), _bounded_layer(n1, n2, rng)]
    bound = layers[1][1]
    layers.append(_linear_on_box(bound, n3, rng) if n2 > 1 else _third_of_one_input(bound[0], n3))
    signs = [1 if n2 > 1 or row[0] > 0 else -1 for row in layers[2][0]]
    layers.append(_output_layer(signs, n4, rng))
    return NotLocalizable(*(from_arrays(part) for part in (layers, layers[:3], layers[1:])))


def _check_widths(widths: Sequence[int]) -> None:
    """Raise an error for widths for which there is no example here."""
    is_sequence = isinstance(widths, Sequence) and len(widths) == 5
    if not is_sequence or not all(isinstance(n, int) and n >= 1 for n in widths):
        raise NetworkError("widths are five positive integers (n_0, n_1, n_2, n_3, n_4)")
    n0, n1, n2, n3, _ = widths
    if not n0 >= n1 >= n2:
        raise NetworkError(
            f"layers 1 and 2 must not widen, or no competitor is generic; take {n0} >= n_1 >= n_2"
        )
    if n1 == 1:
        raise NetworkError(
            "n_1 = 1: layers 1 and 2 of one neuron each are never identifiable; take n_1 >= 2"
        )
    if n2 == n3 == 1:
        raise NetworkError(
            "n_2 = n_3 = 1: layers 2 and 3 of one neuron each are never identifiable; "
            "take n_2 >= 2 or n_3 >= 2"
        )


def _cauchy(rows: int, columns: int, rng: random.Random) -> _Rows:
    """Return 1/(x_i + y_k) with different x_i ≥ 1 and different y_k ≥ 0: every minor is nonzero."""
    x, y = rng.sample(range(1, rows + 3), rows), rng.sample(range(columns + 2), columns)
    return [[Fraction(1, a + b) for b in y] for a in x]


def _first_layer(inputs: int, width: int, rng: random.Random) -> _Layer:
    """Return weights of full rank with random signs of columns, and random biases."""
    signs = [rng.choice((-1, 1)) for _ in range(inputs)]
    weights = [
        [sign * w for sign, w in zip(signs, row, strict=True)]
        for row in _cauchy(width, inputs, rng)
    ]
    return weights, [Fraction(rng.randint(-3, 3)) for _ in range(width)]


def _bounded_layer(inputs: int, width: int, rng: random.Random) -> _Layer:
    """Return negative weights and positive biases, which bound the activations for inputs ≥ 0."""
    factor = rng.randint(1, 3)
    table = _cauchy(width, inputs + 1, rng)
    return [[-w for w in row[:-1]] for row in table], [factor * row[-1] for row in table]


def _linear_on_box(bound: list[Fraction], width: int, rng: random.Random) -> _Layer:
    """Return negative weights, and biases such that W u + b > 0 where 0 ≤ u ≤ bound."""
    table = _cauchy(width, len(bound) + 1, rng)
    losses = (sum(w * u for w, u in zip(row[:-1], bound, strict=True)) / row[-1] for row in table)
    factor = int(max(losses)) + 1
    return [[-w for w in row[:-1]] for row in table], [factor * row[-1] for row in table]


def _third_of_one_input(bound: Fraction, width: int) -> _Layer:
    """Return neurons of one input u with alternating orientations and breakpoints u > bound."""
    weights = [Fraction(1 - 2 * (i % 2)) for i in range(width)]
    return [[w] for w in weights], [-w * (bound + i + 1) for i, w in enumerate(weights)]


def _output_layer(signs: list[int], width: int, rng: random.Random) -> _Layer:
    """Return nonzero weights whose first row has the given signs, and random biases."""
    rows = [[Fraction(sign * rng.randint(1, 4)) for sign in signs]]
    rows += [
        [Fraction(rng.choice((-1, 1)) * rng.randint(1, 4)) for _ in signs] for _ in range(width - 1)
    ]
    return rows, [Fraction(rng.randint(-3, 3)) for _ in range(width)]
