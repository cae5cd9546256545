"""A trade exchanged two neurons with one row, whose outgoing weights differ by (1, …, 1).

`identify` answered undecided, because the only other network that it proposed was related to the
first one.
"""

from __future__ import annotations

import polyrelu
from polyrelu.outcomes import NotIdentifiable
from tests.oracles.judge import contradictions, plain


def test_a_duplicate_neuron_is_always_refuted() -> None:
    network = polyrelu.from_arrays([([[1], [1]], [0, 0]), ([[1, 2]], [0])])
    outcome = polyrelu.identify(network)
    assert isinstance(outcome, NotIdentifiable)
    assert contradictions(plain(network), outcome) == []
