"""Exact deviations of small pairs, against all vertices of the stacked network."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import polyrelu
from polyrelu.outcomes import DeviationBounds
from tests.generators.campaigns import case, few_and_all
from tests.generators.deviation_pairs import largest_at_vertices, small_pair


@pytest.mark.parametrize("number", few_and_all(12, 100))
def test_exact_deviations(number: int, tmp_path: Path) -> None:
    rng = random.Random(20)
    for index in range(number):
        one, two = small_pair(rng)
        found = polyrelu.deviation(
            polyrelu.from_arrays(one), polyrelu.from_arrays(two), "box:-1,1", seed=index
        )
        with case(index):
            assert isinstance(found, DeviationBounds)
            assert found.at_least == found.at_most == largest_at_vertices(one, two)
            if index % 4 == 0:
                found.save(tmp_path / "pair.cert")
                assert polyrelu.check_file(tmp_path / "pair.cert").verdict == "accepted"
