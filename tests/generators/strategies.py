"""Shared hypothesis strategies: exact numbers, rational matrices, plain stacks, points.

Importing this module loads a hypothesis profile: no deadlines (the machine may be busy), always the
same examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from hypothesis import settings, strategies as st

from polyrelu.network import Network as ExactNetwork, from_arrays
from tests.oracles.plain import Matrix, Network, Vector

settings.register_profile("polyrelu", deadline=None, derandomize=True)
settings.load_profile("polyrelu")

#: The primes that the provers reduce by; entries divisible by them make a prime fail.
AWKWARD = (2**31 - 1, 2**61 - 1)

Kind = Literal["gaussian", "integers", "degenerate"]


def small_rationals() -> st.SearchStrategy[Fraction]:
    """p/q with |p| ≤ 6 and q ≤ 6."""
    return st.builds(Fraction, st.integers(-6, 6), st.integers(1, 6))


def dyadic_rationals() -> st.SearchStrategy[Fraction]:
    """The exact values of finite float64 numbers, subnormal ones included."""
    return st.floats(allow_nan=False, allow_infinity=False).map(Fraction)


def huge_rationals() -> st.SearchStrategy[Fraction]:
    """Numerators and denominators of up to 1,100 digits."""
    digits = st.integers(0, 1100)
    numerator = st.builds(
        lambda k, d, s: s * (10**k + d), digits, st.integers(-3, 10**6), st.sampled_from([-1, 1])
    )
    denominator = st.builds(lambda k, d: 10**k + d, digits, st.integers(0, 10**6))
    return st.builds(Fraction, numerator, denominator)


def rationals() -> st.SearchStrategy[Fraction]:
    """Small, dyadic or huge."""
    return small_rationals() | dyadic_rationals() | huge_rationals()


def shaped_rows(
    nrows: int, ncols: int, entries: st.SearchStrategy[Fraction] | None = None
) -> st.SearchStrategy[Matrix]:
    """Matrices of one shape."""
    row = st.lists(
        small_rationals() if entries is None else entries, min_size=ncols, max_size=ncols
    )
    return st.lists(row, min_size=nrows, max_size=nrows)


@st.composite
def ranked_rows(draw: st.DrawFn, largest: int = 5) -> Matrix:
    """Matrices of every rank up to `largest`, some rows divisible by the provers' primes."""
    nrows, ncols = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    inner = draw(st.integers(0, min(nrows, ncols)))
    left, right = draw(shaped_rows(nrows, max(inner, 1))), draw(shaped_rows(max(inner, 1), ncols))
    if inner == 0:
        rows = [[Fraction(0)] * ncols for _ in range(nrows)]
    elif inner == min(nrows, ncols):
        rows = draw(shaped_rows(nrows, ncols))
    else:
        rows = [
            [
                sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
                for column in zip(*right, strict=True)
            ]
            for row in left
        ]
    factors = draw(
        st.lists(
            st.sampled_from([1, 1, 1, AWKWARD[0], AWKWARD[1], AWKWARD[0] * AWKWARD[1]]),
            min_size=nrows,
            max_size=nrows,
        )
    )
    return [[entry * factor for entry in row] for row, factor in zip(rows, factors, strict=True)]


def points(dimension: int) -> st.SearchStrategy[Vector]:
    """Points with small or dyadic coordinates."""
    moderate = st.floats(-8, 8, width=32).map(Fraction)
    return st.lists(small_rationals() | moderate, min_size=dimension, max_size=dimension)


def architectures(largest: int = 3, depth: int = 3) -> st.SearchStrategy[list[int]]:
    """n_0, …, n_L for plain stacks."""
    return st.lists(st.integers(1, largest), min_size=2, max_size=depth + 1)


@st.composite
def plain_stacks(
    draw: st.DrawFn, widths: Sequence[int] | None = None, kind: Kind | None = None
) -> Network:
    """Plain stacks: generic floats, small integers with many zeros, and degenerate stacks."""
    chosen = draw(architectures()) if widths is None else widths
    sort = kind or draw(st.sampled_from(["gaussian", "integers", "degenerate"]))
    entries = (
        st.floats(-3, 3, width=32).map(Fraction)
        if sort == "gaussian"
        else st.integers(-2, 2).map(Fraction)
    )
    layers = [
        (draw(shaped_rows(rows, columns, entries)), draw(shaped_rows(1, rows, entries))[0])
        for columns, rows in pairwise(chosen)
    ]
    if sort == "degenerate":
        for _ in range(draw(st.integers(1, 3))):
            _degrade(draw, layers)
    return layers


def _degrade(draw: st.DrawFn, layers: Network) -> None:
    """Make a neuron unused, constant, dead, linear, or a multiple of another neuron."""
    number = draw(st.integers(0, len(layers) - 1))
    weights, bias = layers[number]
    i, k = draw(st.integers(0, len(bias) - 1)), draw(st.integers(0, len(bias) - 1))
    change = draw(
        st.sampled_from(["zero row", "zero column", "dead", "linear", "duplicate", "opposite"])
    )
    if change == "zero row":
        weights[i] = [Fraction(0)] * len(weights[i])
    elif change == "zero column":
        j = draw(st.integers(0, len(weights[0]) - 1))
        for row in weights:
            row[j] = Fraction(0)
    elif change in ("dead", "linear"):
        sign = 1 if change == "linear" else -1
        weights[i], bias[i] = [sign * abs(w) for w in weights[i]], sign * (abs(bias[i]) + 1)
    else:
        factor = Fraction(2 if change == "duplicate" else -2)
        weights[k], bias[k] = [factor * w for w in weights[i]], factor * bias[i]


def exact_network(layers: Network, last: Literal["affine", "relu"] = "affine") -> ExactNetwork:
    """Convert an oracle's network into the package's."""
    return from_arrays(layers, last)
