"""How the objects of `polyrelu.breakpoints` show themselves."""

from __future__ import annotations

from polyrelu.breakpoints import breakpoint_complex, tropical_form
from polyrelu.complex import canonical_complex


def test_long_rows_are_shortened() -> None:
    wide = canonical_complex([([[1] * 60], [0]), ([[1]], [0])])
    (facet,) = breakpoint_complex(wide)
    assert repr(facet) == (
        "<TropicalWeight of facet 0, normal (1, 1, 1, 1, 1, 1, …, 1, 1, 1, 1, 1, 1), weight (1)>"
    )


def test_formulas_of_few_terms() -> None:
    (convex,) = tropical_form(canonical_complex([([[1], [-1]], [0, 0]), ([[1, 1]], [-2])]))
    assert convex._repr_latex_() == r"$\max(-x_{0} - 2, x_{0} - 2)$"
    wide = canonical_complex([([[1] * 60], [0]), ([[1]], [0])])
    assert tropical_form(wide)[0]._repr_latex_() is None
