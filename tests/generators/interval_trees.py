"""Trees whose leaves `inherited` begin with the intervals of records `intervals` above them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

from polyrelu import checker
from polyrelu.certificate import BoundsClaim, BoundsNode, DeviationClaim
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from tests.generators.bounds_documents import document
from tests.generators.tree_documents import Document, written

__all__ = ["deviation_file", "interval_tree", "is_accepted", "least_bound", "neurons_of"]

Partner = tuple[int, Fraction] | None


def interval_tree(
    random: Random,
    num_coordinates: int,
    depth: int,
    neurons: Sequence[tuple[int, int, int]] = (),
    share: float = 1.0,
) -> list[BoundsNode]:
    """Return a full tree of cuts of coordinates and of signs, intervals before `share` of them."""
    if depth == 0:
        return [BoundsNode("inherited")]
    nodes = [BoundsNode("intervals")] if random.random() < share else []
    rest = list(neurons)
    if rest and random.random() < 0.4:
        neuron = rest.pop(random.randrange(len(rest)))
        nodes.append(BoundsNode("sign", neuron=neuron))
    else:
        nodes.append(BoundsNode("cut", random.randrange(num_coordinates)))
    for _ in range(2):
        nodes += interval_tree(random, num_coordinates, depth - 1, rest, share)
    return nodes


def neurons_of(networks: Sequence[Network]) -> list[tuple[int, int, int]]:
    """All neurons with a ReLU."""
    return [
        (which, number, i)
        for which, network in enumerate(networks)
        for number in range(1, network.num_hidden_layers + 1)
        for i in range(network.widths[number])
    ]


def deviation_file(
    networks: tuple[Network, Network],
    domain: Polyhedron,
    at_most: Fraction,
    nodes: Sequence[BoundsNode],
    matching: Sequence[Sequence[Partner]] = (),
    grid: int = 44,
) -> Document:
    """Return the claim that all outputs differ by at most so much, at a corner by 0 or more."""
    claim: BoundsClaim = DeviationClaim(
        *networks, domain, tuple(range(networks[0].num_outputs)), Fraction(0), at_most
    )
    point = domain.interior_point()
    assert point is not None
    return document(claim, [point], nodes, grid, matching)


def is_accepted(file: Document) -> bool:
    """Return whether the checker accepts a file; it can read every one of them."""
    report = checker.check_bytes(written(file), budget=2**40)
    assert report.verdict != "unreadable", report
    return report.verdict == "accepted"


def least_bound(
    networks: tuple[Network, Network],
    domain: Polyhedron,
    nodes: Sequence[BoundsNode],
    matching: Sequence[Sequence[Partner]] = (),
    num_steps: int = 24,
) -> Fraction:
    """Return a bound that a tree shows, nearly the least one, by bisection."""
    low, high = Fraction(0), Fraction(1)
    while not is_accepted(deviation_file(networks, domain, high, nodes, matching)):
        low, high = high, 4 * high
    for _ in range(num_steps):
        middle = (low + high) / 2
        if is_accepted(deviation_file(networks, domain, middle, nodes, matching)):
            high = middle
        else:
            low = middle
    return high
