"""How matrices, linear programs, their results and polyhedra show themselves in a terminal."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.exact import Multipliers, Optimal, RationalMatrix


def test_results_of_many_digits() -> None:
    tiny = RationalMatrix.from_rows([[Fraction(1, 10**50)]])
    assert repr(tiny) == "<RationalMatrix 1×1 over …>"
    third = Fraction(10**40, 3)
    long = Optimal(third, (third, Fraction(0)), Multipliers())
    assert repr(long) == "<Optimal, 1000000000…00000000/3 at (1000000000…00000000/3, 0)>"
    huge = Fraction(2) ** 10**6
    shown = repr(Optimal(huge, (huge,) * 784, Multipliers()))
    assert shown.startswith("<Optimal, ")
    assert len(shown) <= 100
    ones = Optimal(Fraction(1), (Fraction(1),) * 7, Multipliers())
    assert repr(ones) == "<Optimal, 1 at (1, 1, 1, 1, 1, 1, …)>"
