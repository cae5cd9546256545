"""How the objects of `polyrelu.complex` show themselves."""

from __future__ import annotations

import sys
from itertools import islice

import pytest

from polyrelu.complex import bent_hyperplane, canonical_complex, stream_complex, walk_regions
from polyrelu.network import NeuronId, from_arrays

NETWORK = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
CELLS = canonical_complex(NETWORK)


def test_a_long_sign_vector_is_shortened() -> None:
    wide = from_arrays([([[1]] * 90, list(range(90))), ([[1] * 90], [0])])
    (visit,) = islice(walk_regions(wide, "box:5,6"), 1)
    assert repr(visit.region) == f"<Region 0, signs {'+' * 19}…{'+' * 19}, 2 facets, bounded>"


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_complexes_are_pictures_in_notebooks(inputs: int) -> None:
    pytest.importorskip("matplotlib")
    unit = [[int(i == j) for j in range(inputs)] for i in range(inputs)]
    cells = canonical_complex([(unit, [0] * inputs), ([[1] * inputs], [0])])
    assert str(cells._repr_svg_()).startswith("<svg")
    part = bent_hyperplane(cells, NeuronId(1, 0))
    assert str(part._repr_svg_()).startswith("<svg") == (inputs > 1)


def test_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four dimensions and of very many regions there is a text only."""
    four = canonical_complex([([[1, 2, 3, 4]], [0])], "box:0,1")
    assert four._repr_svg_() is None
    (part, *_) = stream_complex(NETWORK, limit=1)
    assert part._repr_svg_() is not None
    monkeypatch.setattr("polyrelu.plot.display._SHOWN_REGIONS", 6)
    assert CELLS._repr_svg_() is None


def test_no_picture_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert CELLS._repr_svg_() is None
