"""The search for a point of hypothesis (c) did not end where there is no such point.

It counted the points that it found, not its tries.
"""

from __future__ import annotations

import polyrelu
from polyrelu import Undecided


def test_a_hyperplane_without_points_is_left_undecided() -> None:
    layers = [
        ([[1, 0], [1, 1]], [0, 1]),
        ([[1, -2], [-3, 0], [2, -1]], [1, 1, 1]),
        ([[1, 1, 3]], [0]),
    ]
    outcome = polyrelu.identify(polyrelu.from_arrays(layers))
    assert isinstance(outcome, Undecided)
    assert outcome.attempts[0].reason == "hyperplanes: no point was found that shows H_1"
