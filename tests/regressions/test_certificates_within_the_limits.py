"""`identify` wrote certificates beyond the checker's limits, which the checker called unreadable.

Now every certificate that it writes is accepted. Where no evidence fits into the limits the answer
is undecided, or membership is left open.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu import Undecided, checker
from tests.oracles.judge import certificate_bytes

_SIZES = (1e308, 5e-324, 3.7e-310, 1.0)


def _extreme(shape: tuple[int, ...], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.choice(_SIZES, shape) * rng.choice([-0.75, 0.75], shape)


def _doubled(rows: int, seed: int) -> list[tuple[Any, Any]]:
    """Return a hidden layer whose last neuron is opposite to its first."""
    weight, bias = _extreme((rows, 3), seed), _extreme((rows,), seed + 1)
    weight[-1], bias[-1] = -weight[0], -bias[0]
    return [(weight, bias), (_extreme((2, rows), seed + 2), np.zeros(2))]


def _deep(layers: int) -> list[tuple[Any, Any]]:
    first = (np.array([[1e308]]), np.array([5e-324]))
    middle = [(np.array([[-0.75e308]]), np.array([1.5e-323]))] * layers
    return [
        first,
        *middle,
        (np.array([[-1.0]]), np.array([-1.0])),
        (np.array([[1.0]]), np.array([0.0])),
    ]


def _many_outputs() -> list[tuple[Any, Any]]:
    shapes = [(2, 2), (15, 2), (64, 15)]
    return [
        (_extreme(shape, number), _extreme(shape[:1], number + 9))
        for number, shape in enumerate(shapes)
    ]


CASES = {
    "assignments": _doubled(9, 1),
    "fewer assignments": _doubled(5, 2),
    "deep scales": _deep(36),
    "shallower scales": _deep(3),
    "sums of many bits": _many_outputs(),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_is_accepted(name: str) -> None:
    for among in (None, "all", "generic"):
        outcome = polyrelu.identify(polyrelu.from_arrays(CASES[name]), among=among)
        if not isinstance(outcome, Undecided):
            assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def test_determinants_beyond_the_limit_are_not_evidence() -> None:
    rng = Random(0)
    weight = np.array([[rng.randint(-9, 9) for _ in range(1100)] for _ in range(1025)], dtype=float)
    outcome = polyrelu.identify(
        polyrelu.from_arrays([(weight, np.ones(1025)), (np.ones((1, 1025)), np.zeros(1))])
    )
    assert isinstance(outcome, Undecided)
