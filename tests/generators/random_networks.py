"""Random small plain stacks of several kinds, reproducible from a `random.Random`.

Tests and benchmarks share them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

from tests.oracles.plain import Network

__all__ = ["KINDS", "THREE_LAYER_KINDS", "random_network"]

Number = Callable[[], Fraction]


def _gaussian(rng: Random) -> Fraction:
    """Return a nonzero dyadic number of about unit size."""
    return Fraction(round(rng.gauss(0, 1) * 1024) or 1, 1024)


def _small(rng: Random) -> Fraction:
    return Fraction(rng.randint(-2, 2))


def _stack(widths: tuple[int, ...], number: Number) -> Network:
    return [
        ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
        for n, m in pairwise(widths)
    ]


def _width(rng: Random) -> int:
    return rng.randint(1, 4)


def _bottleneck(rng: Random, n1_least: int = 2, n2: int | None = None) -> Network:
    """Return a network with Gaussian weights, n_0 ≥ n_1 and widths of at most 4."""
    n1 = rng.randint(n1_least, 4)
    return _stack((rng.randint(n1, 4), n1, n2 or _width(rng), _width(rng)), lambda: _gaussian(rng))


def _hiding(rng: Random) -> Network:
    net = _bottleneck(rng)
    weight, bias = net[1]
    hidden = rng.randrange(len(weight[0]))
    for i, row in enumerate(weight):
        weight[i] = [abs(w) if k == hidden else -abs(w) for k, w in enumerate(row)]
        bias[i] = -abs(bias[i])
    return net


def _one_sided(rng: Random, sign: int) -> Network:
    """Return a network with a second-layer row whose entries all have one sign."""
    net = _bottleneck(rng)
    weight, bias = net[1]
    i = rng.randrange(len(weight))
    weight[i], bias[i] = [sign * abs(w) for w in weight[i]], sign * abs(bias[i])
    return net


def _degenerate(rng: Random) -> Network:
    """Return a stack of two or three layers with duplicate, opposite or zero rows and columns."""
    net = _stack(tuple(_width(rng) for _ in range(rng.randint(3, 4))), lambda: _small(rng))
    weight, bias = net[rng.randrange(len(net) - 1)]
    if len(weight) > 1:
        i, k = rng.sample(range(len(weight)), 2)
        factor = rng.choice([Fraction(1), Fraction(-1), Fraction(2), Fraction(-1, 2), Fraction(0)])
        weight[i], bias[i] = [factor * w for w in weight[k]], factor * bias[k]
    return net


#: Kinds with two hidden layers, n_0 ≥ n_1 ≥ 2 and Gaussian weights, to which Theorem 5 of the
#: three-layer paper applies.
THREE_LAYER_KINDS = ("gaussian", "hiding", "dead", "linear")

_MAKERS: dict[str, Callable[[Random], Network]] = {
    "gaussian": _bottleneck,
    "hiding": _hiding,
    "dead": lambda rng: _one_sided(rng, -1),
    "linear": lambda rng: _one_sided(rng, 1),
    "small integers": lambda rng: _stack(tuple(_width(rng) for _ in range(4)), lambda: _small(rng)),
    "n1 = 1": lambda rng: _stack(
        (_width(rng), 1, _width(rng), _width(rng)), lambda: _gaussian(rng)
    ),
    "n2 = 1": lambda rng: _bottleneck(rng, n1_least=1, n2=1),
    "shallow": lambda rng: _stack((_width(rng), _width(rng), _width(rng)), lambda: _gaussian(rng)),
    "shallow small integers": lambda rng: _stack(
        (_width(rng), _width(rng), _width(rng)), lambda: _small(rng)
    ),
    "degenerate": _degenerate,
}

#: All kinds, in a fixed order.
KINDS = tuple(_MAKERS)


def random_network(kind: str, rng: Random) -> Network:
    """Return a random network of one of the `KINDS`, with widths of at most 4."""
    return _MAKERS[kind](rng)
