"""Theorem D on domains: the theorem of Phuong and Lampert, and random networks against brute force.

Phuong and Lampert's competitors have the function of a network on a bounded set only. Networks that
satisfy their hypotheses on a box are proved on this box, among a class that contains theirs.
"""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import numpy as np
import pytest

import polyrelu
from polyrelu import checker
from polyrelu.complex import canonical_complex
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.outcomes import Identifiable, NotIdentifiable
from tests.generators.campaigns import case, few_fast, few_some_and_all
from tests.generators.transparent import BOX, has_hypotheses, transparent_network
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.judge import plain
from tests.oracles.local_fiber import jacobian_rank
from tests.oracles.points_inside import all_points_are_inside

SHAPES = ((2, 2, 2, 1), (3, 2, 2, 2, 1), (3, 3, 2, 1), (2, 2, 2, 2, 2, 1), (4, 3, 3, 2, 1))

DOMAINS = (
    Polyhedron.box([-2, -2], [2, 2]),
    Polyhedron.box([-1, "-1/2"], ["1/2", 1]),
    Polyhedron.from_constraints([[-1, 0], [0, -1], [1, 1]], [1, 1, 2]),
    Polyhedron.orthant(2),
)


@pytest.mark.parametrize("widths", few_fast(SHAPES, 2), ids=str)
def test_their_networks_are_proved_on_their_boxes(widths: tuple[int, ...]) -> None:
    rng, count = np.random.default_rng(sum(widths)), 0
    while count < 3:
        network = transparent_network(widths, rng)
        if not has_hypotheses(network):
            continue
        count += 1
        outcome = polyrelu.identify(network, f"box:-{BOX},{BOX}", among="regular")
        assert isinstance(outcome, Identifiable)
        document = outcome.certificate.to_document()[0]
        report = checker.check_bytes(json.dumps(document).encode())
        assert report.verdict == "accepted"
        assert "among parameters that are regular there" in report.statement
        assert all_points_are_inside(document)


def random_stack(rng: Random) -> Network:
    widths = rng.choice(((2, 2, 2, 1), (2, 3, 2, 1), (2, 3, 3, 2), (2, 2, 2, 2, 1)))
    numbers = rng.choice(((-1, 1), (-2, -1, 1, 2), tuple(range(-9, 10))))
    return polyrelu.from_arrays(
        [
            (
                [[rng.choice(numbers) for _ in range(n)] for _ in range(m)],
                [rng.choice(numbers) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


@pytest.mark.parametrize("count", few_some_and_all(12, 120, 300))
def test_random_networks_against_brute_force(count: int) -> None:
    """What is proved is locally rigid on the domain; another network has the same values there."""
    rng, numbers, answers = Random(7), np.random.default_rng(7), set[str]()
    for number in range(count):
        domain = DOMAINS[number % len(DOMAINS)]
        network = random_stack(rng) if number % 2 else transparent_network((2, 2, 2, 1), numbers)
        outcome = polyrelu.identify(network, domain, budget=300)
        answers.add(outcome.status)
        with case(number, network.sha256):
            if isinstance(outcome, Identifiable):
                signs = canonical_complex(network, domain).signs(2)
                patterns = {tuple(int(s > 0) for s in row) for row in signs.tolist()}
                hidden = sum(network.widths[1:-1])
                rank = jacobian_rank(plain(network), patterns)
                assert rank == network.num_parameters - hidden
                assert all_points_are_inside(outcome.certificate.to_document()[0])
            elif isinstance(outcome, NotIdentifiable):
                assert agree_on_domain(network, outcome.other, domain)
                assert not polyrelu.related(network, outcome.other)
    assert {"proved", "refuted"} <= answers
