"""How sets, homology and intervals show themselves in a terminal and in a notebook."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.network import from_arrays
from polyrelu.topology import (
    Homology,
    PersistenceInterval,
    decision_boundary,
    decision_region,
    level_set,
    sublevel_set,
    superlevel_set,
)

ABSOLUTE_VALUE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
THREE = from_arrays([([[1, 0], [0, 1], [0, 0]], [0, 0, 0])])


def test_sets() -> None:
    shown = [
        repr(level_set(ABSOLUTE_VALUE, "1/2")),
        repr(sublevel_set(ABSOLUTE_VALUE, 1)),
        repr(superlevel_set(THREE, -1, output=1)),
        repr(decision_boundary(THREE)),
        repr(decision_boundary(ABSOLUTE_VALUE)),
        repr(decision_region(THREE, 2)),
    ]
    assert shown == [
        "<OutputSet, f_0 = 1/2, cells by dimension (2, 0)>",
        "<OutputSet, f_0 ≤ 1, cells by dimension (3, 2)>",
        "<OutputSet, f_1 ≥ -1, cells by dimension (0, 1, 1)>",
        "<OutputSet, decision boundary of 3 outputs, cells by dimension (1, 3, 0)>",
        "<OutputSet, f_0 = 0, cells by dimension (1, 0)>",
        "<OutputSet, f_2 is the largest of 3 outputs, cells by dimension (1, 2, 1)>",
    ]


def test_a_level_of_many_digits() -> None:
    shown = repr(sublevel_set(ABSOLUTE_VALUE, 10**2000))
    assert shown.startswith("<OutputSet, f_0 ≤ 0x")
    assert len(shown) < 100


def test_homology() -> None:
    klein_bottle = Homology((1, 1, 0), ((), (2,), ()), 0, 0)
    assert repr(klein_bottle) == "<Homology, H_0 = Z, H_1 = Z + Z/2>"
    assert str(klein_bottle) == "H_0 = Z, H_1 = Z + Z/2"
    assert klein_bottle._repr_latex_() == (
        r"$H_{0} = \mathbb{Z}, H_{1} = \mathbb{Z} \oplus \mathbb{Z}/2, H_{2} = 0$"
    )
    several = Homology((3, 0), ((), (2, 2, 4)), 3, 3)
    assert str(several) == "H_0 = Z^3, H_1 = (Z/2)^2 + Z/4"
    assert several._repr_latex_() == (
        r"$H_{0} = \mathbb{Z}^{3}, H_{1} = (\mathbb{Z}/2)^{2} \oplus \mathbb{Z}/4$"
    )
    assert repr(Homology((0, 0), ((), ()), 0, 0)) == "<Homology, every H_k = 0>"


def test_intervals() -> None:
    finite = PersistenceInterval(1, Fraction(-1, 2), Fraction(3))
    assert repr(finite) == "<PersistenceInterval, H_1 from -1/2 to 3>"
    assert str(PersistenceInterval(0, Fraction(2), None)) == "H_0 from 2 on"
