"""What the corpus knows of a network before anything is computed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from polyrelu.network import Network, from_arrays

__all__ = ["Claim", "Specimen", "draw", "layered", "pick"]

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about a network that a paper makes, or that one would draw from it.

    Attributes
    ----------
    text
        The statement.
    holds
        Whether it is true.
    why
        What shows it.
    """

    text: str
    holds: bool
    why: str


@dataclass(frozen=True, slots=True)
class Specimen:
    """A network of the corpus and the questions that are put to it.

    Attributes
    ----------
    name
        The name in the corpus.
    kind
        The family: plain, degenerate, quantised, deep, trained, paper, pair or topology.
    network
        The network.
    sentence
        What is special about it.
    box
        The box [low, high]^n that is the second domain, beside R^n.
    tags
        Words by which one can choose networks.
    source
        Where it comes from, if from a paper.
    claims
        What is said about it.
    twins
        Names of networks that it is compared with, each with domains.
    levels
        Levels c whose sets {f ≤ c} and {f = c} of the first output get Betti numbers; by default
        the middle of the range on the box.
    """

    name: str
    kind: str
    network: Network
    sentence: str
    box: tuple[Fraction, Fraction] = (Fraction(-2), Fraction(2))
    tags: tuple[str, ...] = ()
    source: str = ""
    claims: tuple[Claim, ...] = ()
    twins: tuple[tuple[str, tuple[str, ...]], ...] = ()
    levels: tuple[Fraction, ...] = ()

    @property
    def domain(self) -> str:
        """The box as options name it."""
        low, high = self.box
        return f"box:{low},{high}"


def layered(*pairs: Pair, last: str = "affine") -> Network:
    """Return the network of pairs (W, b)."""
    return from_arrays(list(pairs), last=last)  # type: ignore[arg-type]


def draw(
    seed: str, *widths: int, largest: int = 95, over: int = 32, last: str = "affine"
) -> Network:
    """Return a network with random weights k / over, |k| ≤ largest, none of them 0.

    `Random.random` is the one method whose values are the same in every version of Python.
    """
    rng = Random(seed)

    def number() -> Fraction:
        return Fraction((1 + pick(rng, largest)) * (1 if rng.random() < 0.5 else -1), over)

    return layered(
        *(
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in itertools.pairwise(widths)
        ),
        last=last,
    )


def pick(rng: Random, number: int) -> int:
    """Return a random integer from 0 to number - 1."""
    return int(rng.random() * number)
