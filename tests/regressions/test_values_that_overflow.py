"""The value of a form at a vertex overflowed to an infinity of the wrong sign, which was trusted.

A sum of products becomes infinite when its first product does, whatever follows; with fused
operations also where the products cancel.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from polyrelu.complex import canonical_complex
from polyrelu.network import from_arrays


@pytest.mark.parametrize(
    ("point", "row", "bias", "sign"),
    [
        (
            [Fraction(16, 5), Fraction(3), Fraction(3)],
            [6 * 10**307, -5 * 10**307, -5 * 10**307],
            0,
            -1,
        ),
        ([Fraction(5 * 10**6), Fraction(-5 * 10**6)], [10**307, 10**307], 1, 1),
        ([Fraction(5 * 10**6), Fraction(-5 * 10**6)], [10**307, 10**307], -1, -1),
        ([Fraction(-5 * 10**6), Fraction(5 * 10**6)], [10**307, 10**307], 1, 1),
    ],
)
def test_the_sign_at_a_point(point: list[Fraction], row: list[int], bias: int, sign: int) -> None:
    unit = [[int(i == j) for j in range(len(point))] for i in range(len(point))]
    network = from_arrays(
        [([*unit, row], [*(-x for x in point), bias]), ([[1] * (len(point) + 1)], [0])]
    )
    cells = canonical_complex(network)
    found = cells.locate(point)
    assert found is not None
    assert (found.dimension, cells.sign_vector(found).layers) == (0, ((*[0] * len(point), sign),))
