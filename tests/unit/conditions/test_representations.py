"""How conditions and their evidence show themselves in a terminal and in a notebook."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.conditions import OpaqueRegion


def test_long_numbers_are_cut() -> None:
    shown = repr(OpaqueRegion(2, 1, (Fraction(10**900),) * 10))
    assert len(shown) == 100
    assert shown.endswith("000…>")
