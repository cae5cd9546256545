"""How networks and their parts show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.exact import RationalMatrix
from polyrelu.network import ActivationPattern, AffineMap, Architecture, SignVector, from_arrays


def test_long_texts_are_shortened() -> None:
    deep = from_arrays([([[1]], [0])] * 100)
    assert repr(deep) == (
        f"<Network of 100 layers, 1 input, 1 output, 200 parameters, sha256 {deep.sha256[:12]}…>"
    )
    assert str(deep).startswith("Network 1-1-1-1-1-")
    assert len(repr(Architecture((2,) * 1000))) <= 100
    assert repr(SignVector(((1,) * 500,))) == f"<SignVector {'+' * 86}…>"
    assert repr(ActivationPattern(())) == "<ActivationPattern>"
    wide = AffineMap(RationalMatrix.zeros(2, 9), RationalMatrix.zeros(2, 1))
    assert wide._repr_latex_() is None
