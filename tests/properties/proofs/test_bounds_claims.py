"""Random claims about values with random trees: what the checker accepts is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import get_args

import pytest

from polyrelu import checker
from polyrelu.certificate import (
    BoundsClaim,
    BoundsNode,
    Choice,
    DecisionsClaim,
    DeviationClaim,
    HoldsClaim,
    LinearRow,
    LipschitzBoundClaim,
    OutputRange,
    RangeClaim,
    SubBox,
)
from polyrelu.exact import Polyhedron
from polyrelu.proofs.deviation.lipschitz import Norm
from tests.generators.bounds_documents import document, perturbed, random_layers
from tests.generators.campaigns import case, few_and_all
from tests.generators.tree_documents import written
from tests.oracles.bounds import is_true

F = Fraction


class Draw:
    """Two networks of one input, a segment, and a tree of cuts with open nodes."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.num_outputs = random.randint(2, 3)
        hidden = [random.randint(1, 4) for _ in range(random.randint(0, 2))]
        widths, last = [1, *hidden, self.num_outputs], random.choice(["affine", "relu"])
        self.f = self.g = random_layers(random, widths, last)
        if random.random() < 0.6:
            self.g = perturbed(random, self.f, F(1, random.choice([1, 4, 100])))
        elif random.random() < 0.6:
            self.g = random_layers(random, widths, last)
        self.low = F(random.randint(-4, 2))
        self.high = self.low + random.choice([F(0), F(1), F(1, 8), F(3)])
        self.domain = Polyhedron.box([self.low], [self.high])
        self.excluded = list[SubBox]()

    def tree(
        self, low: Fraction, high: Fraction, depth: int, may_exclude: bool
    ) -> list[BoundsNode]:
        share = self.random.random()
        if depth < 5 and share < 0.5 and low < high:
            middle = (low + high) / 2
            parts = ((low, middle), (middle, high))
            below = [self.tree(*part, depth + 1, may_exclude) for part in parts]
            return [BoundsNode("cut"), *below[0], *below[1]]
        if may_exclude and share < 0.58 and depth > 1:
            self.excluded.append(SubBox((low,), (high,)))
            return [BoundsNode("open")]
        return [BoundsNode("exact" if self.random.random() < 0.3 else "leaf")]

    def number(self) -> Fraction:
        return F(self.random.randint(-20, 20), self.random.choice([1, 2, 4, 8]))

    def row(self) -> LinearRow:
        random, outputs = self.random, range(self.num_outputs)
        f, g = ({i: self.number() for i in outputs if random.random() < 0.5} for _ in range(2))
        x = {0: self.number()} if random.random() < 0.3 else {}
        constant = self.number() - random.choice([0, 5, 50])
        return LinearRow(f, g, x, constant, is_strict=random.random() < 0.5)

    def claim(self, kind: str) -> tuple[BoundsClaim, Sequence[Sequence[Fraction]]]:
        """Return a claim that may be false, and its points."""
        random, domain, excluded = self.random, self.domain, tuple(self.excluded)
        outputs, low = tuple(range(self.num_outputs)), [self.low]
        if kind == "deviation":
            bound = random.choice([F(1, 8), F(1), F(4), F(20)])
            return DeviationClaim(self.f, self.g, domain, outputs, F(0), bound, excluded), [low]
        if kind == "range":
            value, width = self.f(low)[0], random.choice([F(1, 2), F(4), F(30)])
            ends = OutputRange(0, (value - width, value), (value, value + width))
            return RangeClaim(self.f, domain, (ends,)), [low, low]
        if kind == "holds":
            clauses = tuple(
                tuple(self.row() for _ in range(random.randint(1, 3)))
                for _ in range(random.randint(1, 2))
            )
            return HoldsClaim(self.f, domain, clauses, self.g, excluded), [low]
        if kind == "same-decisions":
            margin = random.choice([F(0), F(1, 4), F(3)])
            choose = random.choice(get_args(Choice))
            return DecisionsClaim(self.f, self.g, domain, margin, excluded, choose), [low]
        bound, middle = random.choice([F(1), F(5), F(30)]), [(self.low + self.high) / 2]
        claim = LipschitzBoundClaim(
            self.f, domain, outputs, random.choice(get_args(Norm)), F(0), bound
        )
        return claim, [middle, low, [self.high]]


KINDS = ("deviation", "range", "holds", "same-decisions", "lipschitz")


@pytest.mark.parametrize("number", few_and_all(40, 200))
def test_what_is_accepted_is_true(number: int) -> None:
    counts = Counter[tuple[str, bool | None]]()
    for seed in range(number):
        draw = Draw(seed)
        kind = KINDS[seed % len(KINDS)]
        nodes = draw.tree(draw.low, draw.high, 0, kind not in ("range", "lipschitz"))
        claim, points = draw.claim(kind)
        file = document(claim, points, nodes, draw.random.choice([8, 20, 44]))
        verdict = checker.check_bytes(written(file)).verdict
        truth = is_true(file[0]["claim"])
        counts[verdict, truth] += 1
        with case(seed, kind):
            assert verdict != "accepted" or truth
    assert counts["accepted", True] > number / 4
    assert counts["rejected", False] > number / 12
