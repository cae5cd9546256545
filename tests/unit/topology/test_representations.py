"""How sets, homology and intervals show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.network import from_arrays
from polyrelu.topology import sublevel_set

ABSOLUTE_VALUE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])


def test_a_level_of_many_digits() -> None:
    shown = repr(sublevel_set(ABSOLUTE_VALUE, 10**2000))
    assert shown.startswith("<OutputSet, f_0 ≤ 0x")
    assert len(shown) < 100
