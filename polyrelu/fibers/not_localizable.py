"""Identifiable pairs whose composition is not: identifiability cannot be localized (three-layer symmetries, Prop. 7).

For widths (n_0, …, n_4) this module builds affine maps f_1, …, f_4 such that f_3∘σ∘f_2∘σ∘f_1 and f_4∘σ∘f_3∘σ∘f_2 are
identifiable, and f_4∘σ∘f_3∘σ∘f_2∘σ∘f_1 is not. The idea is the paper's: layer 2 has negative weights and positive
biases, so what it sends on is bounded, by 0 ≤ u ≤ b[2]; layer 3 bends, but only beyond that box. `identify` certifies
all three claims, the last one by theorem `bounded-replacement` (`docs/theory/box.md`).

**Which widths.** The hypothesis on the widths is lost in the text that we have. Here: n_0 ≥ n_1 ≥ n_2, n_1 ≥ 2, and
n_2 ≥ 2 or n_3 ≥ 2.

* n_0 ≥ n_1 and n_1 ≥ n_2 are what Theorem P (the paper's Theorem 5) asks of the two compositions. For wider layers the
  class of generic competitors is empty; whether the proposition holds among others is not claimed.
* n_1 ≥ 2 is needed, given n_1 ≥ n_2: otherwise n_1 = n_2 = 1, and *no* composition f_3∘σ∘f_2∘σ∘f_1 of these widths is
  identifiable. With s ↦ σ(A σ(s) + a) in the middle (no weight zero: a zero frees what is behind or before it): for
  A, a ≤ 0 the second neuron is dead, for A > 0, a ≥ 0 it is linear where σ acts, for A > 0 > a the first is hidden and
  can be translated, and for A < 0 < a the function can be read from the other side,
  σ(a + Aσ(s)) = a - σ(a + Aσ(-s - a/A)), as |A| = 1 = a shows best: σ(1 - σ(s)) = 1 - σ(1 - σ(1 - s)).
* n_2 = n_3 = 1 is impossible for the same reason, applied to f_4∘σ∘f_3∘σ∘f_2.
* n_2 = 1 < n_3 does work, although Theorem 5 does not cover it: the second composition is then a function of one
  variable, identifiable among *all* parameters (theorem `line`).

**Why it works** (n_2 ≥ 2). [W[2]|b[2]] and [W[3]|b[3]] are Cauchy matrices 1/(x_i + y_k), the columns scaled by -1 and
the last one by a positive number. Every minor of a Cauchy matrix is nonzero, so both compositions are supertransversal
(`docs/theory/bottleneck.md`, Lemma 1), no two rows are multiples of each other, each has both signs, and nothing is
hidden: all weights are negative. W[1] is a Cauchy matrix up to signs of columns, so its rank is n_1, as is that of
W[2] n_2. The sums Σ_{i∈T} W[3]_{·i} W[2]_{ij} have positive entries, and Σ_{i∈T} W[4]_{·i} W[3]_{ij} a negative one, as
the first row of W[4] is positive. So both compositions are generic, and by Theorem 5 identifiable. (By Theorem P, the
certificate shows each hyperplane at a point.) The last column of [W[3]|b[3]] is scaled so that W[3] u + b[3] > 0 for
0 ≤ u ≤ b[2]: layer 3 is linear on the image, and a bias of it can be raised and given back by layer 4.

For n_2 = 1 the neurons of layer 3 look alternately up and down and bend at different places beyond the image, so every
second one is dead there and the others are linear. Their V_i A_i in the first output are positive: no sum vanishes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.network import Network, from_arrays

__all__ = ["NotLocalizable", "not_localizable"]

_Rows = list[list[Fraction]]
_Layer = tuple[_Rows, list[Fraction]]


@dataclass(frozen=True, slots=True)
class NotLocalizable:
    """A network that is not identifiable, while both compositions of three consecutive layers are.

    Attributes
    ----------
    network : f_4∘σ∘f_3∘σ∘f_2∘σ∘f_1.
    first, second : f_3∘σ∘f_2∘σ∘f_1 and f_4∘σ∘f_3∘σ∘f_2.
    """

    network: Network
    first: Network
    second: Network


def not_localizable(widths: Sequence[int], seed: int = 0) -> NotLocalizable:
    """A network with rational weights that is not identifiable though its two compositions of three layers are.

    Parameters
    ----------
    widths : (n_0, …, n_4), n_0 ≥ n_1 ≥ n_2, n_1 ≥ 2, and n_2 ≥ 2 or n_3 ≥ 2; the module says why.
    seed : of the numbers; the same seed gives the same network.

    `identify` certifies the claims as long as widths stay within the limits of certificates: n_0, n_1, n_2 ≤ 1024, and
    n_3 ≤ 40 or about n_2 n_4. That both compositions are themselves generic is verified where that is feasible at all
    (FORMAT.md §3.4); it holds always.

    Raises
    ------
    NetworkError : other widths.

    >>> example = not_localizable((2, 2, 2, 2, 1))
    >>> [net.widths for net in (example.network, example.first, example.second)]
    [(2, 2, 2, 2, 1), (2, 2, 2, 2), (2, 2, 2, 1)]
    >>> not_localizable((3, 1, 1, 2, 1))
    Traceback (most recent call last):
    polyrelu.errors.NetworkError: n_1 = 1: layers 1 and 2 of one neuron each are never identifiable; take n_1 >= 2
    """
    _check(widths)
    rng = random.Random(seed)
    n0, n1, n2, n3, n4 = widths
    layers = [_first(n0, n1, rng), _bounded(n1, n2, rng)]
    bound = layers[1][1]
    layers.append(_linear_on_box(bound, n3, rng) if n2 > 1 else _one_input(bound[0], n3))
    signs = [1 if n2 > 1 or row[0] > 0 else -1 for row in layers[2][0]]
    layers.append(_output(signs, n4, rng))
    return NotLocalizable(*(from_arrays(part) for part in (layers, layers[:3], layers[1:])))


def _check(widths: Sequence[int]) -> None:
    if len(widths) != 5 or not all(isinstance(n, int) and n >= 1 for n in widths):
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
            "n_2 = n_3 = 1: layers 2 and 3 of one neuron each are never identifiable; take n_2 >= 2 or n_3 >= 2"
        )


def _cauchy(rows: int, columns: int, rng: random.Random) -> _Rows:
    """1/(x_i + y_k) with different x_i ≥ 1 and different y_k ≥ 0: every minor is nonzero."""
    x, y = rng.sample(range(1, rows + 3), rows), rng.sample(range(columns + 2), columns)
    return [[Fraction(1, a + b) for b in y] for a in x]


def _first(inputs: int, width: int, rng: random.Random) -> _Layer:
    """Full rank, and signs of columns and biases at random."""
    signs = [rng.choice((-1, 1)) for _ in range(inputs)]
    weights = [
        [sign * w for sign, w in zip(signs, row, strict=True)]
        for row in _cauchy(width, inputs, rng)
    ]
    return weights, [Fraction(rng.randint(-3, 3)) for _ in range(width)]


def _bounded(inputs: int, width: int, rng: random.Random) -> _Layer:
    """Negative weights and positive biases, which bound what the layer sends on."""
    factor = rng.randint(1, 3)
    table = _cauchy(width, inputs + 1, rng)
    return [[-w for w in row[:-1]] for row in table], [factor * row[-1] for row in table]


def _linear_on_box(bound: list[Fraction], width: int, rng: random.Random) -> _Layer:
    """Negative weights again, and biases just large enough for W u + b > 0 where 0 ≤ u ≤ bound."""
    table = _cauchy(width, len(bound) + 1, rng)
    loss = (sum(w * u for w, u in zip(row[:-1], bound, strict=True)) / row[-1] for row in table)
    factor = int(max(loss)) + 1
    return [[-w for w in row[:-1]] for row in table], [factor * row[-1] for row in table]


def _one_input(bound: Fraction, width: int) -> _Layer:
    """Neurons of one variable u, in both directions, that bend at different places u > bound."""
    weights = [Fraction(1 - 2 * (i % 2)) for i in range(width)]
    return [[w] for w in weights], [-w * (bound + i + 1) for i, w in enumerate(weights)]


def _output(signs: list[int], width: int, rng: random.Random) -> _Layer:
    """The first row has the given signs, the others any; no weight is zero."""
    rows = [[Fraction(sign * rng.randint(1, 4)) for sign in signs]]
    rows += [
        [Fraction(rng.choice((-1, 1)) * rng.randint(1, 4)) for _ in signs] for _ in range(width - 1)
    ]
    return rows, [Fraction(rng.randint(-3, 3)) for _ in range(width)]
