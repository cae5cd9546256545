"""Plain networks with generic weights, quantised ones, and deep ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random

from benchmarks.corpus.specimen import Claim, Specimen, draw, layered, pick
from polyrelu.network import Network

__all__ = ["deep", "plain", "quantised"]

_PLAIN = (
    *((1, 3, 1), (1, 6, 1), (1, 3, 3, 1), (1, 4, 2), (1, 2, 3, 2)),
    *((2, 2, 1), (2, 3, 1), (2, 4, 1), (2, 6, 1), (2, 8, 1), (2, 4, 3)),
    *((2, 2, 2, 1), (2, 3, 2, 1), (2, 3, 3, 1), (2, 4, 3, 2), (2, 4, 4, 1), (2, 1, 3, 1)),
    *((3, 3, 1), (3, 4, 1), (3, 5, 2), (3, 3, 2, 1), (3, 2, 3, 1), (3, 3, 3, 1)),
    *((4, 3, 1), (4, 4, 1), (4, 3, 2, 1)),
)


def plain() -> Iterator[Specimen]:
    """Yield networks with random weights k/32."""
    for widths in _PLAIN:
        text = "-".join(map(str, widths))
        yield Specimen(
            f"plain-{text}",
            "plain",
            draw(f"plain {text}", *widths),
            f"Widths {text}, random weights k/32 with |k| ≤ 95.",
        )


def quantised() -> Iterator[Specimen]:
    """Yield networks with few-bit weights."""
    for values, name, sentence in (
        ((-1, 0, 1), "ternary", "weights -1, 0 and 1"),
        ((-1, 1), "binary", "weights -1 and 1"),
        ((-2, -1, 0, 1), "int2", "weights of two bits, -2 to 1"),
        (tuple(range(-8, 8)), "int4", "weights of four bits, -8 to 7"),
    ):
        for widths in ((2, 4, 1), (2, 4, 3, 1), (3, 4, 2, 1), (1, 4, 3, 1)):
            text = "-".join(map(str, widths))
            yield Specimen(
                f"{name}-{text}",
                "quantised",
                _of_values(f"{name} {text}", values, widths),
                f"Widths {text}, {sentence}.",
                tags=(name,),
            )
    for bits, name in ((8, "bfloat16"), (11, "float16")):
        for widths in ((2, 5, 1), (2, 3, 3, 1)):
            text = "-".join(map(str, widths))
            yield Specimen(
                f"{name}-{text}",
                "quantised",
                _of_bits(f"{name} {text}", bits, widths),
                f"Widths {text}, weights with {bits} significant bits, as {name} has them.",
                tags=(name,),
            )


def _of_values(seed: str, values: tuple[int, ...], widths: tuple[int, ...]) -> Network:
    rng = Random(seed)
    return layered(
        *(
            (
                [[values[pick(rng, len(values))] for _ in range(n)] for _ in range(m)],
                [values[pick(rng, len(values))] for _ in range(m)],
            )
            for n, m in itertools.pairwise(widths)
        )
    )


def _of_bits(seed: str, bits: int, widths: tuple[int, ...]) -> Network:
    """Return a network whose weights have some bits and exponents that differ by up to 8."""
    rng = Random(seed)

    def number() -> Fraction:
        significand = 2 ** (bits - 1) + pick(rng, 2 ** (bits - 1))
        sign = 1 if rng.random() < 0.5 else -1
        return Fraction(sign * significand, 2 ** (bits - 1 + pick(rng, 5)))

    return layered(
        *(
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in itertools.pairwise(widths)
        )
    )


def deep() -> Iterator[Specimen]:
    """Yield sawtooths, foldings of the plane, and deep random networks."""
    for folds in (2, 3, 4, 5):
        yield Specimen(
            f"sawtooth-{folds}",
            "deep",
            sawtooth(folds),
            f"The tent map of [0, 1] composed with itself, {2**folds} linear pieces with "
            f"{2 * folds} neurons.",
            box=(Fraction(0), Fraction(1)),
            source="Telgarsky (2016), arXiv 1602.04485",
            claims=(
                Claim(
                    f"The function has {2**folds} linear pieces on [0, 1].",
                    True,
                    "the regions on the box",
                ),
            ),
        )
    for folds in (1, 2):
        yield Specimen(
            f"origami-{folds}",
            "deep",
            _origami(folds),
            "The plane folded along both axes, then the result again: regions in a grid.",
            source="Montúfar et al. (2014), arXiv 1402.1869",
        )
    for widths in (
        *((1, 2, 2, 2, 2, 1), (1, 3, 3, 3, 3, 1), (1, 2, 2, 2, 2, 2, 2, 1)),
        *((2, 2, 2, 2, 1), (2, 3, 3, 3, 1), (2, 2, 2, 2, 2, 1), (2, 3, 2, 3, 2, 1)),
        *((3, 2, 2, 2, 1), (3, 3, 2, 2, 1)),
    ):
        text = "-".join(map(str, widths))
        yield Specimen(
            f"deep-{text}",
            "deep",
            draw(f"deep {text}", *widths, largest=63, over=32),
            f"Widths {text}, random weights k/32 with |k| ≤ 63.",
        )
    yield Specimen(
        "deep-identity",
        "deep",
        _identity(4),
        "The identity of R as σ(x) - σ(-x), through four hidden layers: no breakpoint is visible.",
    )
    yield Specimen(
        "deep-narrow",
        "deep",
        layered(([[1]], [1]), ([[-2]], [2]), ([[1]], [0]), ([[-1]], [1]), ([[1]], [0])),
        "Four hidden layers of one neuron each: a clipped line.",
    )


def sawtooth(folds: int) -> Network:
    """Return the tent map t ↦ 2 σ(t) - 4 σ(t - 1/2), composed."""
    hidden = [([[1], [1]], [0, "-1/2"])]
    hidden += [([[2, -4], [2, -4]], [0, "-1/2"])] * (folds - 1)
    return layered(*hidden, ([[2, -4]], [0]))


def _origami(folds: int) -> Network:
    """Return |x|, |y|, moved and folded again; the output is their sum."""
    first = ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 0, 0])
    again = ([[1, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 1, 1], [0, 0, -1, -1]], [-1, 1, -1, 1])
    return layered(first, *[again] * (folds - 1), ([[1, 1, 2, 2]], [-1]))


def _identity(depth: int) -> Network:
    first = ([[1], [-1]], [0, 0])
    return layered(first, *[([[1, -1], [-1, 1]], [0, 0])] * (depth - 1), ([[1, -1]], [0]))
