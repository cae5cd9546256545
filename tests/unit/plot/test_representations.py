"""How the objects of `polyrelu.plot` show themselves."""

from __future__ import annotations

import pytest

from polyrelu.complex import bent_hyperplane, canonical_complex
from polyrelu.network import NeuronId
from polyrelu.plot import mesh_of, picture, view_of

SQUARE = canonical_complex([([[1, 1]], [0]), ([[1]], [0])], "box:-1,1")
CUBE = canonical_complex([([[1, 0, 0]], [0]), ([[1]], [0])], "box:-1,1")
DRAWN = picture([([[1, 1]], [0]), ([[1]], [0])], what="complex")


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (DRAWN, "<Picture of complex, regions: 2, edges: 1>"),
        (view_of(SQUARE), "<View, box [-1, 1] × [-1, 1]>"),
        (
            mesh_of(bent_hyperplane(CUBE, NeuronId(1, 0))),
            "<Mesh, 4 vertices, 1 face, 0 single edges>",
        ),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_one_line(thing: object, text: str) -> None:
    assert repr(thing) == str(thing) == text


def test_a_picture_is_svg_in_a_notebook() -> None:
    text = DRAWN._repr_svg_()
    assert text.startswith("<svg")
    assert text.rstrip().endswith("</svg>")
    assert text == picture([([[1, 1]], [0]), ([[1]], [0])], what="complex")._repr_svg_()
