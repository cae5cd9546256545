"""Theorem P: two hidden layers, generic competitors, a certificate of polynomial size.

The theorem replaces the hypothesis of Theorem 5 of the three-layer paper (arXiv 2605.18319) that θ
is generic, which takes exponentially many conditions, by local facts about θ. Where θ is generic
the two theorems agree: the points of (c) exist iff no neuron is dead, linear or hidden. The random
choices of the search for these points decide the certificate of a seed. Statement and proof:
docs/theory/bottleneck.md.

**Theorem P.** Let L = 3, n_1 ≥ 2 and rank W[1] = n_1, and write A = W[2], a = b[2], V = W[3],
z = z[1], h = z[2]. Suppose that

* (rows) each row [A_i | a_i] has a positive and a negative entry, no two rows are multiples of each
  other, and each column V_i is nonzero;
* (hyperplanes) for each j one of the following holds: (c) there is a rational point with z_j = 0,
  every other z_k ≠ 0, h_i = 0 for exactly one i, A_ij ≠ 0, and some z_k > 0 with A_ik ≠ 0; and,
  with J = Σ_{k≠i, h_k>0} V_k A_kj, either no other h_k is positive or J ≠ 0 and J + V_i A_ij ≠ 0;
  (c') no row crosses H_j, that is, each [A_i | a_i] without entry j is ≥ 0 with a_i > 0, or ≤ 0
  with a_i < 0; and Σ_{a_i>0} V_i A_ij ≠ 0.

Then every generic η (FORMAT.md §3.1) with f_η = f_θ on R^{n_0} has η ~ θ. The network θ itself need
not be generic; what is known of its membership is part of the certificate.

Points of (c) are searched for with few positive coordinates. One positive coordinate is enough for
trained networks: z_k = -a_i/A_ik makes h_i = 0.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polyrelu.certificate import Hypothesis
from polyrelu.exact import format_rational, nonzero_minor, primitive
from polyrelu.network import Network
from polyrelu.outcomes import Attempt
from polyrelu.proofs.membership import generic_membership, num_conditions
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.limits import BIT_LIMIT
from polyrelu.support.prices import price_of_membership, price_of_support

__all__ = ["THEOREM", "prove"]

#: The name of the theorem in certificates.
THEOREM = "bottleneck"


@dataclass(frozen=True, slots=True)
class PointSearchSettings:
    """Limits of the search for a point of condition (c).

    A *support* is the set of positive coordinates of such a point.

    Attributes
    ----------
    enumerated_supports
        All supports of one size, each with each row, are enumerated if they are at most this many.
        Otherwise the same number of random supports of any size is tried.
    largest_random_support
        Maximum number of coordinates in a random support.
    points_per_support
        Number of random points per support of more than one coordinate.
    largest_numerator, largest_exponent
        The coordinates of random points are n 2^k with 1 ≤ n ≤ `largest_numerator` and
        |k| ≤ `largest_exponent`.
    """

    enumerated_supports: int = 4_096
    largest_random_support: int = 12
    points_per_support: int = 6
    largest_numerator: int = 16
    largest_exponent: int = 4


_SETTINGS = PointSearchSettings()


@dataclass(frozen=True, slots=True)
class _SecondLayer:
    """The second layer as integers, each row and column times a positive number.

    Only signs and zeros of sums matter to the hypotheses.

    Attributes
    ----------
    rows
        The rows [A_i | a_i], shape (n_2, n_1 + 1).
    columns
        The columns V_i, shape (n_2, n_3).
    """

    rows: list[list[int]]
    columns: list[list[int]]

    @property
    def width(self) -> int:
        """n_1, the number of columns of A."""
        return len(self.rows[0]) - 1


def prove(
    network: Network, seed: int = 0, budget: Budget | None = None
) -> list[Hypothesis] | Attempt:
    """Return the hypotheses with evidence, or the first one that fails.

    Parameters
    ----------
    network
        A plain stack with two hidden layers and an affine output.
    seed
        Seed of the search for points.
    budget
        The work of this search; no limit by default.

    Returns
    -------
    list of Hypothesis or Attempt
        The hypotheses, or the reason why one of them is not proved.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [-3, 1]], [1, 1])
    >>> [h.id for h in prove(from_arrays([first, second, ([[1, 1]], [0])]))]
    ['rank', 'rows', 'hyperplanes', 'membership']
    """
    minor = nonzero_minor(network.weight(1))
    if minor is None:
        return Attempt(THEOREM, _rank_failure(network))
    layer = _SecondLayer(
        network.layers[1].augmented().integer_rows(), network.weight(3).transpose().integer_rows()
    )
    failure = _failure_of_rows(layer)
    if failure is not None:
        return Attempt(THEOREM, f"rows: {failure}")
    limits = budget or Budget()
    witnesses = _witnesses(layer, random.Random(seed), limits)
    if isinstance(witnesses, Attempt):
        return witnesses
    limits.pay(price_of_membership(num_conditions(network)))
    return [
        Hypothesis(THEOREM, "rank", {"prime": str(minor.prime), "columns": list(minor.columns)}),
        Hypothesis(THEOREM, "rows"),
        Hypothesis(THEOREM, "hyperplanes", {"witnesses": witnesses}),
        Hypothesis(THEOREM, "membership", generic_membership(network)),
    ]


def _rank_failure(network: Network) -> str:
    n0, n1 = network.widths[:2]
    if n0 < n1:
        return (
            f"rank: the first hidden layer is wider than the input ({n1} > {n0}), "
            "so W[1] cannot have rank n_1"
        )
    return f"rank: W[1] does not have rank n_1 = {n1}"


def _failure_of_rows(layer: _SecondLayer) -> str | None:
    """Why hypothesis `rows` fails; None if it holds."""
    normals: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(layer.rows):
        if not min(row) < 0 < max(row):
            return (
                f"second-layer neuron {i} has no sign change in [A_i | a_i]: it is dead or linear"
            )
        normal, _ = primitive(row)
        if normals.setdefault(normal, i) != i:
            return (
                f"second-layer neurons {normals[normal]} and {i} have rows that are multiples "
                "of each other"
            )
        if not any(layer.columns[i]):
            return f"second-layer neuron {i} has outgoing weights 0"
    return None


def _witnesses(
    layer: _SecondLayer, rng: random.Random, budget: Budget
) -> list[dict[str, Any]] | Attempt:
    """The JSON object for each hyperplane H_j, or why there is none for one of them."""
    found: list[dict[str, Any]] = []
    for j in range(layer.width):
        if _is_flat(layer, j):
            if not _jumps_on_flat(layer, j):
                return Attempt(
                    THEOREM,
                    f"hyperplanes: no row crosses H_{j}, and its jump vanishes: it is not visible",
                )
            found.append({"flat": True})
            continue
        failure = f"hyperplanes: no point was found that shows H_{j}"
        try:
            point = _point(layer, j, rng, budget)
        except WorkLimit as limit:
            return Attempt(THEOREM, f"{failure}: {limit}")
        if point is None:
            return Attempt(THEOREM, failure)
        i, positive = point
        found.append(
            {"row": i, "positive": [[k, format_rational(positive[k])] for k in sorted(positive)]}
        )
    return found


def _is_flat(layer: _SecondLayer, j: int) -> bool:
    """Whether no row crosses H_j, in the form of (c') with strict inequalities for a_i."""
    for row in layer.rows:
        rest = row[:j] + row[j + 1 :]
        if not (min(rest) >= 0 and row[-1] > 0) and not (max(rest) <= 0 and row[-1] < 0):
            return False
    return True


def _jumps_on_flat(layer: _SecondLayer, j: int) -> bool:
    """Whether the gradient of f jumps across a hyperplane H_j that no row crosses."""
    active = [i for i, row in enumerate(layer.rows) if row[-1] > 0]
    return any(_jump(layer, active, j))


def _jump(layer: _SecondLayer, active: list[int], j: int) -> list[int]:
    """The vector Σ_k V_k A_kj, the sum over the active neurons k, one entry for each output."""
    return [
        sum(layer.rows[k][j] * layer.columns[k][o] for k in active)
        for o in range(len(layer.columns[0]))
    ]


def _point(
    layer: _SecondLayer, j: int, rng: random.Random, budget: Budget
) -> tuple[int, dict[int, Fraction]] | None:
    """A row i and the positive coordinates of a point that satisfy (c) for H_j."""
    price = price_of_support(len(layer.rows))
    for i, support in _supports(layer, j, rng):
        for _ in range(1 if len(support) == 1 else _SETTINGS.points_per_support):
            budget.spend(price)
            positive = _random_zero(layer.rows[i], support, rng)
            if positive is not None and _satisfies_condition_c(layer, j, i, positive):
                return i, positive
    return None


def _supports(
    layer: _SecondLayer, j: int, rng: random.Random
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Pairs of a row i and a support: all small supports while they are few, then random ones."""
    rows = [i for i, row in enumerate(layer.rows) if row[j] != 0]
    limit = _SETTINGS.enumerated_supports
    others = [k for k in range(layer.width) if k != j]
    for size in range(1, len(others) + 1):
        if size > 1 and math.comb(len(others), size) * len(rows) > limit:
            break
        yield from itertools.product(rows, itertools.combinations(others, size))
    else:
        return
    for _ in range(limit if rows else 0):
        size = rng.randint(1, min(len(others), _SETTINGS.largest_random_support))
        yield rng.choice(rows), tuple(rng.sample(others, size))


def _random_zero(
    row: list[int], support: tuple[int, ...], rng: random.Random
) -> dict[int, Fraction] | None:
    """A random point of h_i = 0 with exactly these positive coordinates; None if the try fails.

    All coordinates but one are drawn, and h_i = 0 is solved for the last one.
    """
    pivots = [k for k in support if row[k] != 0]
    if not pivots:
        return None
    pivot = rng.choice(pivots)
    numerator, exponent = _SETTINGS.largest_numerator, _SETTINGS.largest_exponent
    point = {
        k: Fraction(rng.randint(1, numerator)) * Fraction(2) ** rng.randint(-exponent, exponent)
        for k in support
        if k != pivot
    }
    value = -(row[-1] + sum(row[k] * z for k, z in point.items())) / Fraction(row[pivot])
    is_short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= BIT_LIMIT
    return {**point, pivot: value} if value > 0 and is_short else None


def _satisfies_condition_c(
    layer: _SecondLayer, j: int, i: int, positive: dict[int, Fraction]
) -> bool:
    """Whether a point with h_i = 0 and A_ij ≠ 0 satisfies the rest of (c)."""
    common = math.lcm(*(z.denominator for z in positive.values()))
    scaled = {k: z.numerator * (common // z.denominator) for k, z in positive.items()}
    values = [row[-1] * common + sum(row[k] * z for k, z in scaled.items()) for row in layer.rows]
    if any(value == 0 for k, value in enumerate(values) if k != i):
        return False
    active = [k for k, value in enumerate(values) if value > 0]
    if not active:
        return True
    jump = _jump(layer, active, j)
    with_row = [a + layer.rows[i][j] * v for a, v in zip(jump, layer.columns[i], strict=True)]
    return any(jump) and any(with_row)
