"""Small trained networks: stochastic gradient descent in pure Python doubles.

Only + - * / are used, on points with rational coordinates, so that every machine trains the same
weights; at the end they are rounded to float32, as a framework would store them.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random

from benchmarks.corpus.specimen import Specimen, layered, pick
from polyrelu.network import Network

__all__ = ["trained"]

Sample = tuple[list[float], float]
Layers = list[tuple[list[list[float]], list[float]]]


def trained() -> Iterator[Specimen]:
    """Yield networks trained on four tasks, pruned ones and ones with few bits."""
    for task, widths, sentence, samples in (
        ("moons", (2, 4, 1), "two half moons", _moons),
        ("moons", (2, 4, 3, 1), "two half moons", _moons),
        ("circle", (2, 6, 1), "the inside of a circle", _disc),
        ("circle", (2, 5, 3, 1), "the inside of a circle", _disc),
        ("xor", (2, 4, 1), "the sign of x y", _quadrants),
        ("xor", (2, 3, 3, 1), "the sign of x y", _quadrants),
        ("square", (1, 6, 1), "the function x²", _square),
        ("square", (1, 3, 3, 1), "the function x²", _square),
        ("saddle", (2, 4, 2, 1), "the function x² - y²", _saddle),
        ("ball", (3, 5, 1), "the inside of a ball", _disc_3d),
    ):
        text = "-".join(map(str, widths))
        network = _train(f"{task} {text}", widths, samples)
        yield Specimen(
            f"trained-{task}-{text}",
            "trained",
            _in_float32(network),
            f"Widths {text}, trained to tell {sentence}, float32.",
            tags=("float32",),
        )
        if task in ("moons", "saddle") and len(widths) == 4:
            yield from _compressed(task, text, sentence, network)


def _compressed(task: str, text: str, sentence: str, network: Layers) -> Iterator[Specimen]:
    yield Specimen(
        f"trained-{task}-pruned",
        "trained",
        _in_float32(_pruned(network)),
        f"Widths {text}, trained to tell {sentence}; a third of the weights are cut to 0.",
        tags=("float32", "pruned"),
    )
    yield Specimen(
        f"trained-{task}-int4",
        "trained",
        layered(
            *(
                ([[_four_bits(w) for w in row] for row in W], [_four_bits(x) for x in b])
                for W, b in network
            )
        ),
        f"Widths {text}, trained to tell {sentence}, weights rounded to multiples of 1/4.",
        tags=("quantised",),
    )


def _train(seed: str, widths: tuple[int, ...], samples: Callable[[Random], Sample]) -> Layers:
    """Minimise the squared error in single steps."""
    rng = Random(seed)
    layers: Layers = [
        (
            [[2 * rng.random() - 1 for _ in range(n)] for _ in range(m)],
            [rng.random() - 0.5 for _ in range(m)],
        )
        for n, m in itertools.pairwise(widths)
    ]
    data = [samples(rng) for _ in range(200)]
    for epoch in range(80):
        rate = 0.04 / (1 + epoch / 20)
        for _ in range(len(data)):
            _step(layers, data[pick(rng, len(data))], rate)
    return layers


def _step(layers: Layers, sample: Sample, rate: float) -> None:
    activations = [sample[0]]
    for number, (W, b) in enumerate(layers, 1):
        z = [_dot(row, activations[-1]) + c for row, c in zip(W, b, strict=True)]
        activations.append([max(t, 0.0) for t in z] if number < len(layers) else z)
    gradient = [2 * (activations[-1][0] - sample[1])]
    for number in range(len(layers) - 1, -1, -1):
        W, b = layers[number]
        before = activations[number]
        back = [
            _dot([row[j] for row in W], gradient) if number == 0 or before[j] > 0 else 0.0
            for j in range(len(before))
        ]
        for i, g in enumerate(gradient):
            b[i] -= rate * g
            W[i] = [w - rate * g * a for w, a in zip(W[i], before, strict=True)]
        gradient = back


def _dot(one: list[float], other: list[float]) -> float:
    total = 0.0
    for x, y in zip(one, other, strict=True):
        total += x * y
    return total


def _in_float32(network: Layers) -> Network:
    return layered(
        *(([[_float32(w) for w in row] for row in W], [_float32(x) for x in b]) for W, b in network)
    )


def _float32(number: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def _four_bits(number: float) -> Fraction:
    return Fraction(max(-8, min(7, round(4 * number))), 4)


def _pruned(network: Layers) -> Layers:
    sizes = sorted(abs(w) for W, _ in network for row in W for w in row)
    least = sizes[len(sizes) // 3]
    return [([[w if abs(w) >= least else 0.0 for w in row] for row in W], b) for W, b in network]


# --- The tasks ------------------------------------------------------------------------------------


def _coordinates(rng: Random, number: int) -> list[float]:
    return [3 * rng.random() - 1.5 for _ in range(number)]


def _moons(rng: Random) -> Sample:
    """A point of a half circle, which a rational parameter runs through."""
    t = 2 * rng.random() - 1
    x, y = 2 * t / (1 + t * t), (1 - t * t) / (1 + t * t)
    x, y = x + 0.2 * (rng.random() - 0.5), y + 0.2 * (rng.random() - 0.5)
    return ([x - 0.5, y - 0.25], 1.0) if rng.random() < 0.5 else ([x + 0.5, 0.25 - y], -1.0)


def _disc(rng: Random) -> Sample:
    x, y = _coordinates(rng, 2)
    return [x, y], 1.0 if x * x + y * y < 1 else -1.0


def _disc_3d(rng: Random) -> Sample:
    x, y, z = _coordinates(rng, 3)
    return [x, y, z], 1.0 if x * x + y * y + z * z < 1.5 else -1.0


def _quadrants(rng: Random) -> Sample:
    x, y = _coordinates(rng, 2)
    return [x, y], 1.0 if x * y > 0 else -1.0


def _square(rng: Random) -> Sample:
    (x,) = _coordinates(rng, 1)
    return [x], x * x


def _saddle(rng: Random) -> Sample:
    x, y = _coordinates(rng, 2)
    return [x, y], x * x - y * y
