"""How the objects of `polyrelu.breakpoints` show themselves."""

from __future__ import annotations

import pytest

from polyrelu.breakpoints import breakpoint_complex, tropical_form
from polyrelu.complex import canonical_complex
from polyrelu.network import from_arrays

CELLS = canonical_complex(from_arrays([([[2, 0], [0, 1]], [-1, 0]), ([["-1/2", 3]], [0])]))
BREAKPOINTS = breakpoint_complex(CELLS)
(FORM,) = tropical_form(CELLS)


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (BREAKPOINTS, "<BreakpointComplex, 4 of 4 cells of codimension 1 visible>"),
        (
            next(iter(BREAKPOINTS)),
            "<TropicalWeight of facet 0, normal (1, 0), weight (-1)>",
        ),
        (FORM, "<TropicalRational, 2 terms minus 2 terms>"),
        (FORM.numerator, "<TropicalPolynomial, 2 terms, 2 variables>"),
        (
            FORM.numerator.dual_subdivision[-1],
            "<DualCell, dimension 1, terms (0, 1), of cell 2 of dimension 1>",
        ),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_one_line(thing: object, text: str) -> None:
    assert repr(thing) == str(thing) == text


def test_long_rows_are_shortened() -> None:
    wide = canonical_complex([([[1] * 60], [0]), ([[1]], [0])])
    (facet,) = breakpoint_complex(wide)
    assert repr(facet) == (
        "<TropicalWeight of facet 0, normal (1, 1, 1, 1, 1, 1, …, 1, 1, 1, 1, 1, 1), weight (1)>"
    )


def test_formulas() -> None:
    assert FORM.numerator._repr_latex_() == r"$\max(0, 3x_{1})$"
    assert FORM.denominator._repr_latex_() == r"$\max(0, x_{0} - \tfrac{1}{2})$"
    assert FORM._repr_latex_() == r"$\max(0, 3x_{1}) - \max(0, x_{0} - \tfrac{1}{2})$"
    (convex,) = tropical_form(canonical_complex([([[1], [-1]], [0, 0]), ([[1, 1]], [-2])]))
    assert convex._repr_latex_() == r"$\max(-x_{0} - 2, x_{0} - 2)$"
    wide = canonical_complex([([[1] * 60], [0]), ([[1]], [0])])
    assert tropical_form(wide)[0]._repr_latex_() is None


def test_picture() -> None:
    pytest.importorskip("matplotlib")
    assert str(BREAKPOINTS._repr_svg_()).startswith("<svg")
