"""Two neurons with one row whose outgoing weights differ by (1, …, 1): trading just that exchanges
the neurons.

`identify` answered undecided, since the only proposed other network was related to the first.
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
