"""Theorem P: two hidden layers, generic competitors, a certificate of polynomial size (math: docs/theory/bottleneck.md).

**Theorem P.** Let L = 3, n_1 ≥ 2, rank W[1] = n_1, and write A = W[2], a = b[2], V = W[3], z = z[1], h = z[2]. Suppose

* (rows) each row [A_i | a_i] has a positive and a negative entry, no two rows are multiples of each other, each
  column V_i ≠ 0;
* (unique) no nonempty S has Σ_{i∈S} V_i A_i = 0;
* (hyperplanes) for each j, (c) a rational point with z_j = 0, every other z_k ≠ 0, h_i = 0 for exactly one i, A_ij
  ≠ 0, some z_k > 0 with A_ik ≠ 0, and, with J = Σ_{k≠i, h_k>0} V_k A_kj, either no other h_k is positive or J ≠ 0
  and J + V_i A_ij ≠ 0; or (c') no row crosses H_j (each [A_i | a_i] without entry j is ≥ 0 with a_i > 0, or ≤ 0
  with a_i < 0) and Σ_{a_i>0} V_i A_ij ≠ 0.

Then every generic η (FORMAT.md §3.1) with f_η = f_θ on R^{n_0} has η ~ θ. θ itself need not be generic; what is
known of that is part of the certificate.

This replaces Theorem 5 of the three-layer paper, whose hypothesis that θ is generic takes exponentially many
conditions, by local facts about θ. Where θ is generic the two agree: the points exist iff no neuron is dead, linear
or hidden.

Points are looked for with few positive coordinates. One is enough for trained networks: z_k = -a_i/A_ik makes h_i = 0.
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
from polyrelu.proofs.membership import generic_membership
from polyrelu.proofs.shallow.vanishing_sums import no_vanishing_sum
from polyrelu.support.limits import BIT_LIMIT

__all__ = ["THEOREM", "prove"]

THEOREM = "bottleneck"

#: Supports of one size are all visited if there are at most this many; so many random ones follow.
_EXHAUSTIVE = 4_096

#: Random points tried for each support of more than one coordinate.
_TRIES = 6


@dataclass(frozen=True, slots=True)
class _SecondLayer:
    """Rows [A_i | a_i] and columns V_i as integers, each over its own positive denominator: only signs and zeros
    matter."""

    rows: list[list[int]]
    columns: list[list[int]]

    @property
    def width(self) -> int:
        """n_1, the number of columns of A."""
        return len(self.rows[0]) - 1


def prove(network: Network, seed: int = 0) -> list[Hypothesis] | Attempt:
    """The hypotheses with evidence, or the first one that fails.

    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [-3, 1]], [1, 1])
    >>> [h.id for h in prove(from_arrays([first, second, ([[1, 1]], [0])]))]
    ['rank', 'rows', 'unique', 'hyperplanes', 'membership']
    """
    minor = nonzero_minor(network.weight(1))
    if minor is None:
        return Attempt(THEOREM, _rank_failure(network))
    layer = _SecondLayer(
        network.layers[1].augmented().integer_rows(), network.weight(3).transpose().integer_rows()
    )
    failure = _rows(layer)
    if failure is not None:
        return Attempt(THEOREM, f"rows: {failure}")
    evidence = no_vanishing_sum(THEOREM, network, layer=2)
    if isinstance(evidence, Attempt):
        return evidence
    witnesses = _witnesses(layer, random.Random(seed))
    if isinstance(witnesses, Attempt):
        return witnesses
    return [
        Hypothesis(THEOREM, "rank", {"prime": str(minor.prime), "columns": list(minor.columns)}),
        Hypothesis(THEOREM, "rows"),
        Hypothesis(THEOREM, "unique", evidence),
        Hypothesis(THEOREM, "hyperplanes", {"witnesses": witnesses}),
        Hypothesis(THEOREM, "membership", generic_membership(network)),
    ]


def _rank_failure(network: Network) -> str:
    n0, n1 = network.widths[:2]
    if n0 < n1:
        return f"rank: the first hidden layer is wider than the input ({n1} > {n0}), so W[1] cannot have rank n_1"
    return f"rank: W[1] does not have rank n_1 = {n1}"


def _rows(layer: _SecondLayer) -> str | None:
    normals: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(layer.rows):
        if not min(row) < 0 < max(row):
            return (
                f"second-layer neuron {i} has no sign change in [A_i | a_i]: it is dead or linear"
            )
        normal, _ = primitive(row)
        if normals.setdefault(normal, i) != i:
            return f"second-layer neurons {normals[normal]} and {i} have rows that are multiples of each other"
        if not any(layer.columns[i]):
            return f"second-layer neuron {i} has outgoing weights 0"
    return None


def _witnesses(layer: _SecondLayer, rng: random.Random) -> list[dict[str, Any]] | Attempt:
    found: list[dict[str, Any]] = []
    for j in range(layer.width):
        if _is_flat(layer, j):
            if not _flat_jump(layer, j):
                return Attempt(
                    THEOREM,
                    f"hyperplanes: no row crosses H_{j}, and its jump vanishes: it is not visible",
                )
            found.append({"flat": True})
            continue
        point = _point(layer, j, rng)
        if point is None:
            return Attempt(THEOREM, f"hyperplanes: no point was found that shows H_{j}")
        i, positive = point
        found.append(
            {"row": i, "positive": [[k, format_rational(positive[k])] for k in sorted(positive)]}
        )
    return found


def _is_flat(layer: _SecondLayer, j: int) -> bool:
    """Whether no row crosses H_j, in the strict form of (c')."""
    for row in layer.rows:
        rest = row[:j] + row[j + 1 :]
        if not (min(rest) >= 0 and row[-1] > 0) and not (max(rest) <= 0 and row[-1] < 0):
            return False
    return True


def _flat_jump(layer: _SecondLayer, j: int) -> bool:
    active = [i for i, row in enumerate(layer.rows) if row[-1] > 0]
    return any(_jump(layer, active, j))


def _jump(layer: _SecondLayer, active: list[int], j: int) -> list[int]:
    """Σ_{k active} V_k A_kj."""
    weights = [layer.rows[k][j] for k in active]
    heads = [layer.columns[k] for k in active]
    return [
        sum(w * head[o] for w, head in zip(weights, heads, strict=True))
        for o in range(len(layer.columns[0]))
    ]


def _point(
    layer: _SecondLayer, j: int, rng: random.Random
) -> tuple[int, dict[int, Fraction]] | None:
    """A row i and positive coordinates that satisfy (c) for H_j."""
    for i, support in _supports(layer, j, rng):
        for _ in range(1 if len(support) == 1 else _TRIES):
            positive = _on_row(layer.rows[i], support, rng)
            if positive is not None and _shows(layer, j, i, positive):
                return i, positive
    return None


def _supports(
    layer: _SecondLayer, j: int, rng: random.Random
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """A row and the coordinates that are positive: all small supports while they are few, then random ones."""
    rows = [i for i, row in enumerate(layer.rows) if row[j] != 0]
    others = [k for k in range(layer.width) if k != j]
    for size in range(1, len(others) + 1):
        if size > 1 and math.comb(len(others), size) * len(rows) > _EXHAUSTIVE:
            break
        yield from itertools.product(rows, itertools.combinations(others, size))
    else:
        return
    for _ in range(_EXHAUSTIVE if rows else 0):
        size = rng.randint(1, min(len(others), 12))
        yield rng.choice(rows), tuple(rng.sample(others, size))


def _on_row(
    row: list[int], support: tuple[int, ...], rng: random.Random
) -> dict[int, Fraction] | None:
    """A random point of h_i = 0 with exactly these positive coordinates: one coordinate is solved for."""
    pivots = [k for k in support if row[k] != 0]
    if not pivots:
        return None
    pivot = rng.choice(pivots)
    point = {
        k: Fraction(rng.randint(1, 16)) * Fraction(2) ** rng.randint(-4, 4)
        for k in support
        if k != pivot
    }
    value = -(row[-1] + sum(row[k] * z for k, z in point.items())) / Fraction(row[pivot])
    short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= BIT_LIMIT
    return {**point, pivot: value} if value > 0 and short else None


def _shows(layer: _SecondLayer, j: int, i: int, positive: dict[int, Fraction]) -> bool:
    """Condition (c) for a point with h_i = 0 and A_ij ≠ 0."""
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
