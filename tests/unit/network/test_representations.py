"""How networks and their parts show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.exact import RationalMatrix, SparseMatrix
from polyrelu.network import (
    ActivationPattern,
    AffineMap,
    Architecture,
    Block,
    Layer,
    Network,
    NeuronId,
    SignVector,
    from_arrays,
)

PLAIN = from_arrays([([[1, 2], [0, 1]], [0, 1]), ([[1, -1]], [3])])
PLAIN_ONE = Layer((Block(0, RationalMatrix.identity(1)),), RationalMatrix.column([0]))


def test_networks() -> None:
    text = f"Network 2-2-1, 9 parameters, sha256 {PLAIN.sha256[:12]}…"
    assert str(PLAIN) == text
    assert repr(PLAIN) == f"<{text}>"
    assert PLAIN._repr_html_() == f"<code>{text}</code>"
    one = RationalMatrix.identity(1)
    skip = Network(
        1, (PLAIN_ONE, Layer((Block(0, one), Block(1, one)), RationalMatrix.column([0])))
    )
    assert repr(skip) == (
        f"<Network (1, 1, 1) with skip connections, 5 parameters, sha256 {skip.sha256[:12]}…>"
    )
    deep = from_arrays([([[1]], [0])] * 100)
    assert repr(deep) == (
        f"<Network of 100 layers, 1 input, 1 output, 200 parameters, sha256 {deep.sha256[:12]}…>"
    )
    assert str(deep).startswith("Network 1-1-1-1-1-")


def test_parts() -> None:
    assert repr(PLAIN.layers[0]) == "<Layer, 2 neurons, reads layer 0>"
    assert repr(PLAIN.layers[1].blocks[0]) == "<Block, 1×2 dense weights on layer 1>"
    sparse = Block(0, SparseMatrix.identity(200))
    assert repr(sparse) == "<Block, 200×200 sparse weights on layer 0>"
    assert repr(Layer((sparse, sparse), RationalMatrix.zeros(1, 1))) == (
        "<Layer, 1 neuron, reads layer 0, 0>"
    )
    assert repr(PLAIN.architecture) == "<Architecture 2-2-1>"
    assert str(Architecture((2, 3), "relu")) == "2-3 (trailing ReLU)"
    assert len(repr(Architecture((2,) * 1000))) <= 100


def test_names() -> None:
    assert repr(NeuronId(1, 3)) == "NeuronId(layer=1, index=3)"
    signs = SignVector(((1, -1), (0,)))
    assert (str(signs), repr(signs)) == ("+-|0", "<SignVector +-|0>")
    pattern = signs.activation_pattern
    assert (str(pattern), repr(pattern)) == ("+.|.", "<ActivationPattern +.|.>")
    assert repr(SignVector(((1,) * 500,))) == f"<SignVector {'+' * 86}…>"
    assert repr(ActivationPattern(())) == "<ActivationPattern>"


def test_affine_maps() -> None:
    affine = AffineMap(RationalMatrix.from_rows([["-1/2", 3]]), RationalMatrix.column([10**30]))
    assert repr(affine) == "<AffineMap from R^2 to R^1>"
    assert affine._repr_latex_() == (
        r"$x \mapsto \begin{pmatrix} -\tfrac{1}{2} & 3 \end{pmatrix} x + "
        r"\begin{pmatrix} 10000…00000 \end{pmatrix}$"
    )
    wide = AffineMap(RationalMatrix.zeros(2, 9), RationalMatrix.zeros(2, 1))
    assert wide._repr_latex_() is None
