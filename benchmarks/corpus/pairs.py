"""Pairs of networks that are equal, equal on a domain, or almost equal."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from benchmarks.corpus.specimen import Pair, Specimen, draw, layered
from polyrelu.network import Network
from polyrelu.symmetry import permute, rescale

__all__ = ["pairs"]

_SMALL = Fraction(1, 2**60)
_UNIT = (Fraction(0), Fraction(1))


def pairs() -> Iterator[Specimen]:
    """Yield the first and the second network of each pair."""
    base = draw("pair base", 2, 4, 3, 1)
    yield from _pair(
        "moved", base, _moved(base), "permuted and rescaled: equal, and related.", ("R^n",)
    )
    yield from _pair(
        "swapped", base, _swapped(base), "with two outgoing weights swapped: not equal.", ("R^n",)
    )
    for name, first, second, sentence, domains in _WRITTEN:
        yield from _pair(name, layered(*first), layered(*second), sentence, domains)


def _pair(
    name: str, first: Network, second: Network, sentence: str, domains: tuple[str, ...]
) -> Iterator[Specimen]:
    reach = Fraction(4 if name == "one-sided" else 2)
    box = _UNIT if "box:0,1" in domains else (-reach, reach)
    for letter, network, twins in (
        ("a", first, ((f"pair-{name}-b", domains),)),
        ("b", second, ()),
    ):
        other = "second" if letter == "b" else "first"
        yield Specimen(
            f"pair-{name}-{letter}",
            "pair",
            network,
            f"The {other} of two networks, {sentence}",
            box=box,
            twins=twins,
        )


def _moved(network: Network) -> Network:
    network = permute(permute(network, 1, [2, 0, 3, 1]), 2, [1, 2, 0])
    return rescale(rescale(network, 1, [2, "1/4", 1, 8]), 2, ["1/2", 4, 1])


def _swapped(network: Network) -> Network:
    layers = [
        ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
        for layer in network.layers
    ]
    row = layers[1][0][0]
    row[0], row[1] = row[1], row[0]
    return layered(*layers)


_ABS: list[Pair] = [([[1], [-1]], [0, 0]), ([[1, 1]], [0])]

#: Name, layers of both, what they are, domains on which they are compared.
_WRITTEN: tuple[tuple[str, list[Pair], list[Pair], str, tuple[str, ...]], ...] = (
    (
        "absolute",
        _ABS,
        [([[2], [1], [-1]], [0, 0, 0]), ([[1, -1, 1]], [0])],
        "|x| written in two ways: equal.",
        ("R^n", "box:-1,1"),
    ),
    (
        "half",
        _ABS,
        [([[1], [-1]], [0, 0]), ([[1, 0]], [0])],
        "|x| and σ(x): equal for x ≥ 0 only.",
        ("R^n", "box:0,1"),
    ),
    (
        "tiny-bump",
        [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])],
        [([[1, 0], [0, 1], [1, 1]], [0, 0, -2 + _SMALL]), ([[1, 1, 1]], [0])],
        "that differ on the unit square near the corner (1, 1) only, by at most 2^-60.",
        ("box:0,1", "R^n"),
    ),
    (
        "bias-ulp",
        [([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [1])],
        [([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [1 + Fraction(1, 2**52)])],
        "whose last biases differ by the last bit of a float64.",
        ("R^n", "box:-1,1"),
    ),
    (
        "deep-flat",
        [([[1], [1]], [0, "-1/2"]), ([[2, -4], [2, -4]], [0, "-1/2"]), ([[2, -4]], [0])],
        [
            ([[1], [1], [1], [1]], [0, "-1/4", "-1/2", "-3/4"]),
            ([[4, -8, 8, -8]], [0]),
        ],
        "a sawtooth of two layers and one of a single layer: equal on [0, 1], not on R.",
        ("box:0,1", "R^n"),
    ),
    (
        "pruned",
        [([[1, 0], [0, 1], [1, 1]], [0, 0, -5]), ([[1, 1, 7]], [0])],
        [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])],
        "with and without a neuron that is off on the box [-2, 2]².",
        ("box:-2,2", "R^n"),
    ),
    (
        "sandwich",
        [([[1], [-1]], [0, 0]), ([[-1, -1]], [1]), ([[1]], [0])],
        [([[1], [1], [1]], [1, 0, -1]), ([[1, -2, 1]], [0])],
        "a hat with two hidden layers and one with one: equal.",
        ("R^n",),
    ),
    (
        "one-sided",
        [([[1], [-1]], [0, -1]), ([[-2, 1]], [-1]), ([[1]], [0])],
        [([[1], [-1]], [0, -1]), ([[-3, 1]], [-1]), ([[1]], [0])],
        "that differ in a weight which never matters: equal.",
        ("R^n",),
    ),
    (
        "bounded",
        [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1]], [1]), ([[-1]], [2]), ([[1]], [0])],
        [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1]], [1]), ([[-1]], [3]), ([[1]], [-1])],
        "that differ in the bias of a neuron which is always on: equal.",
        ("R^n",),
    ),
)
