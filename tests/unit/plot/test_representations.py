"""How the objects of `polyrelu.plot` show themselves."""

from __future__ import annotations

from polyrelu.plot import picture

DRAWN = picture([([[1, 1]], [0]), ([[1]], [0])], what="complex")


def test_a_picture_is_svg_in_a_notebook() -> None:
    text = DRAWN._repr_svg_()
    assert text.startswith("<svg")
    assert text.rstrip().endswith("</svg>")
    assert text == picture([([[1, 1]], [0]), ([[1]], [0])], what="complex")._repr_svg_()
