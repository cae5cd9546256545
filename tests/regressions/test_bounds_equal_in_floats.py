"""Bounds that differ exactly but not in floats made a column a constant.

The minimum was then taken for the maximum.
"""

from fractions import Fraction

import pytest

from polyrelu.exact import LinearProgram, Optimal


@pytest.mark.parametrize("exponent", [53, 60, 1080])
def test_minimum_is_at_the_lower_bound(exponent: int) -> None:
    width = Fraction(1, 2**exponent)
    program = LinearProgram(2, [1, 0], [1 + width, 1])
    program.add_inequalities([[1, 1]], [5])
    least, most = program.minimize([1, 1]), program.maximize([1, 1])
    assert isinstance(least, Optimal)
    assert isinstance(most, Optimal)
    assert least.value == 1
    assert most.value == 2 + width
