"""Lipschitz constants of networks whose layers skip others were searched for without an end.

The search follows gradients as plain stacks have them, and never met one of these.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from polyrelu.errors import NotCoveredError
from polyrelu.network import LeakyStack, from_arrays
from polyrelu.proofs import lipschitz_bounds


def test_networks_whose_layers_skip_others_are_refused() -> None:
    stack = from_arrays([([[1, 2], [3, -1]], [1, 0]), ([[1, 1]], [0])])
    network = LeakyStack(Fraction(1, 4), stack).network()
    with pytest.raises(NotCoveredError, match="connections that skip layers"):
        lipschitz_bounds(network, "box:-1,1")
