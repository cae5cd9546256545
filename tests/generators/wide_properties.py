"""Properties of networks with many inputs that depend on one sum of them, so that truth is easy.

The first layers see the inputs through one direction v, so that the networks are functions of s =
v·x, and a property on a box of 24 inputs is one on a segment of s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from polyrelu.certificate import HoldsClaim, LinearRow
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Network, from_arrays
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.properties.box_proof import BoxProof, prove_by_boxes
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget
from tests.generators.bounds_documents import document, perturbed, random_layers
from tests.generators.tree_documents import Document, mutants
from tests.oracles.bounds import is_true

__all__ = ["WideProperty", "drawn_property", "mutants_of_evidence"]

F = Fraction
_NUM_INPUTS = 24


@dataclass(frozen=True)
class WideProperty:
    """A claim about networks of many inputs, and the same one about networks of one input."""

    wide: HoldsClaim
    narrow: dict[str, Any]

    @property
    def is_true(self) -> bool:
        """Whether the claim is true, by brute force."""
        return bool(is_true(self.narrow))

    def is_true_with(self, claim: dict[str, Any]) -> bool:
        """Whether the claim is true with the clauses of another one."""
        return bool(is_true({**self.narrow, "clauses": claim["clauses"]}))

    def proof(self, seed: int) -> BoxProof:
        """Search for a proof by signs, or a point where a clause may fail."""
        coordinates = DomainCoordinates.of(self.wide.domain)
        assert coordinates.dimension > SETTINGS.max_split_inputs
        return prove_by_boxes(self.wide, coordinates, self.wide.clauses, seed, Budget())

    def excess(self, x: tuple[Fraction, ...]) -> Fraction:
        """The largest of the least rows of all clauses at a point."""
        f, g = self.wide.network(x), () if self.wide.other is None else self.wide.other(x)
        return max(min(_value(row, f, g) for row in clause) for clause in self.wide.clauses)


def _value(row: LinearRow, f: tuple[Fraction, ...], g: tuple[Fraction, ...]) -> Fraction:
    parts = ((row.f, f), (row.g, g))
    return row.constant + sum((a * v[i] for part, v in parts for i, a in part.items()), F(0))


def _widened(network: Network, direction: list[Fraction]) -> Network:
    """Return the network whose input is the sum of many inputs with these factors."""
    layers = [(layer.weight, layer.bias) for layer in network.layers]
    first = layers[0][0] @ RationalMatrix.from_rows([direction])
    arrays = [(first, layers[0][1]), *layers[1:]]
    rows = [(list(w.rows()), list(b.entries())) for w, b in arrays]
    return from_arrays(rows, last=network.last)


def drawn_property(seed: int) -> WideProperty:
    """Return a random property of one network or of two, true or false, sometimes by very little.

    Most constants are such that the largest excess at some points is 0 or near it.
    """
    random = Random(seed)
    hidden = [random.randint(1, 3) for _ in range(random.randint(1, 2))]
    outputs, last = random.randint(1, 2), random.choice(["affine", "affine", "relu"])
    f = random_layers(random, [1, *hidden, outputs], last)
    g = perturbed(random, f, F(1, random.choice([4, 1000]))) if random.random() < 0.6 else None
    direction = [F(random.choice([-2, -1, 0, 1, 1, 3]), 24) for _ in range(_NUM_INPUTS)]
    lower = [F(random.randint(-2, 0)) for _ in direction]
    upper = [low + random.choice([F(1, 3), F(1), F(2)]) for low in lower]
    ends = [_extreme(direction, *corners) for corners in ((lower, upper), (upper, lower))]
    clauses = tuple(
        tuple(_drawn_row(random, outputs, g is not None) for _ in range(random.randint(1, 2)))
        for _ in range(random.randint(1, 2))
    )
    segment = Polyhedron.box(ends[:1], ends[1:])
    clauses = _shifted(random, HoldsClaim(f, segment, clauses, g), ends)
    networks = [network and _widened(network, direction) for network in (f, g)]
    assert networks[0] is not None
    wide = HoldsClaim(networks[0], Polyhedron.box(lower, upper), clauses, networks[1])
    narrow = document(HoldsClaim(f, segment, clauses, g), [ends[:1]], [], 44)[0]["claim"]
    return WideProperty(wide, narrow)


def _extreme(direction: list[Fraction], one: list[Fraction], two: list[Fraction]) -> Fraction:
    """Return the sum with the first ends where factors are positive, the second ones elsewhere."""
    entries = zip(direction, one, two, strict=True)
    return sum((v * (x if v > 0 else y) for v, x, y in entries), F(0))


def _drawn_row(random: Random, outputs: int, is_pair: bool) -> LinearRow:
    f = {i: F(random.randint(-3, 3), 2) for i in range(outputs)}
    g = {i: -a + F(random.randint(-1, 1), 4) for i, a in f.items()} if is_pair else {}
    return LinearRow(f, g, {}, F(random.randint(-9, 3), 4), is_strict=random.random() < 0.4)


def _shifted(
    random: Random, claim: HoldsClaim, ends: list[Fraction]
) -> tuple[tuple[LinearRow, ...], ...]:
    """Return the clauses, perhaps with constants that make them hold by little, or just not."""
    if random.random() < 0.3:
        return claim.clauses
    points = [(ends[0] + (ends[1] - ends[0]) * F(k, 12),) for k in range(13)]
    probe = WideProperty(claim, {})
    most = max(probe.excess(point) for point in points)
    move = random.choice([F(0), F(1, 10**6), F(1, 20), F(1, 2), F(-1, 10**6)])
    return tuple(
        tuple(
            LinearRow(row.f, row.g, row.x, row.constant - most - move, is_strict=row.is_strict)
            for row in clause
        )
        for clause in claim.clauses
    )


def mutants_of_evidence(file: Document, random: Random, number: int) -> Iterator[Document]:
    """Return the file with other clauses, partners, grids or nodes, some of all such mutants."""
    header, claim = file[0], file[0]["claim"]
    core = {"clauses": claim["clauses"], "grid": header["grid"], "matching": header["matching"]}
    every = [
        mutant
        for mutant in mutants([core, *file[1:]])
        if isinstance(mutant[0], dict) and mutant[0].keys() == core.keys()
    ]
    for mutant in random.sample(every, min(number, len(every))):
        changed = mutant[0]
        evidence = {"grid": changed["grid"], "matching": changed["matching"]}
        top = {**header, **evidence, "claim": {**claim, "clauses": changed["clauses"]}}
        yield [top, *mutant[1:-1], _footer(mutant)]


def _footer(mutant: Document) -> Any:
    """Return the last line, with the right number of nodes."""
    last = mutant[-1]
    is_count = isinstance(last, dict) and "nodes" in last
    return {**last, "nodes": len(mutant) - 2} if is_count else last
