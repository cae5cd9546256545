"""Jumps of gradients from values of a function alone, and hyperplanes from all activation patterns.

A function is affine on both sides of a hyperplane near a general point of it, so that a second
difference with a very short step is the jump times the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random

from tests.oracles.plain import Network, evaluate

__all__ = ["candidates", "jump", "points_on"]

#: A step that is short beside the cells of networks with small integers.
STEP = Fraction(1, 2**120)

Row = tuple[Fraction, ...]


def candidates(layers: Network) -> set[Row]:
    """The hyperplanes [a | c] of all neurons where any neurons before them are active."""
    found, size = set[Row](), len(layers[0][0][0])
    identity = [[Fraction(int(i == j)) for j in range(size + 1)] for i in range(size)]
    forms = [identity]
    for weight, bias in layers[:-1]:
        after = []
        for form in forms:
            rows = [_row(w, b, form, size) for w, b in zip(weight, bias, strict=True)]
            found |= {_normal(row) for row in rows if any(row[:-1])}
            for mask in product((0, 1), repeat=len(rows)):
                after.append([[m * x for x in row] for m, row in zip(mask, rows, strict=True)])
        forms = after
    return found


def _row(w: Sequence[Fraction], b: Fraction, form: list[list[Fraction]], size: int) -> Row:
    pairs = list(zip(w, form, strict=True))
    columns = [sum((x * row[j] for x, row in pairs), Fraction()) for j in range(size + 1)]
    return (*columns[:-1], columns[-1] + b)


def _normal(row: Row) -> Row:
    first = next(x for x in row if x)
    return tuple(x / first for x in row)


def points_on(row: Row, count: int, rng: Random) -> Iterator[Row]:
    """Random points of a hyperplane, at many distances."""
    norm = sum(a * a for a in row[:-1])
    for _ in range(count):
        scale = Fraction(2) ** rng.randint(-3, 5)
        x = [scale * Fraction(rng.randint(-(10**6), 10**6), 10**6) for _ in row[:-1]]
        value = sum((a * b for a, b in zip(row, x, strict=False)), row[-1])
        yield tuple(b - value * a / norm for a, b in zip(row, x, strict=False))


def jump(layers: Network, row: Row, point: Sequence[Fraction]) -> Row:
    """The jump of the gradient along the normal, at a general point of a hyperplane."""
    sides = [[x + s * STEP * a for x, a in zip(point, row, strict=False)] for s in (1, -1, 0)]
    plus, minus, here = (evaluate(layers, x) for x in sides)
    return tuple((p + m - 2 * h) / STEP for p, m, h in zip(plus, minus, here, strict=True))
