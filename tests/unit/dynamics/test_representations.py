"""How conserved quantities and their proofs show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.dynamics import conserved_quantities, linear_evidence, translation_has_no_quantity
from polyrelu.network import from_arrays

NETWORK = from_arrays([([[1, 2], ["1/2", 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])])


def test_evidence() -> None:
    found = linear_evidence(NETWORK, 1, "orthant")
    assert repr(found) == "<LinearEvidence, 2 of 3 neurons of layer 1 are linear: 0 1>"
    assert repr(found.proofs[0]) == "<BoundProof, z ≥ 1 for neuron 0 of layer 1>"
    none = linear_evidence(NETWORK, 1)
    assert repr(none) == "<LinearEvidence, 0 of 3 neurons of layer 1 are linear: none>"


def test_upper_bounds() -> None:
    first, second = ([[1, 1], [1, -1]], [0, 1]), ([[1, -1], [3, 1]], [2, -2])
    deep = from_arrays([first, second, ([[1, 1]], [0])])
    shown = [repr(proof) for proof in linear_evidence(deep, 2, "box:0,1").proofs]
    assert shown == [
        "<BoundProof, z ≥ 0 for neuron 0 of layer 1>",
        "<BoundProof, z ≥ 0 for neuron 1 of layer 1>",
        "<BoundProof, z ≤ 2 for neuron 0 of layer 1>",
        "<BoundProof, z ≤ 2 for neuron 1 of layer 1>",
        "<BoundProof, z ≥ 1 for neuron 0 of layer 2>",
    ]


def test_quantities() -> None:
    (found,) = conserved_quantities(NETWORK, "orthant")
    assert (
        repr(found) == "<ConservedLayer, layer 1 of 3 neurons, of which 2 are linear, 4 quantities>"
    )
    assert found._repr_latex_() == (
        r"$Q_{(0, 1)} = \begin{pmatrix} -5 & \frac{3}{2} \\ \frac{3}{2} & \frac{31}{4} "
        r"\end{pmatrix}, \quad \operatorname{diag} Q = (-5, \frac{31}{4}, -1)$"
    )
    (none,) = conserved_quantities(NETWORK)
    assert none._repr_latex_() == r"$\operatorname{diag} Q = (-5, \frac{31}{4}, -1)$"


def test_no_quantity() -> None:
    found = translation_has_no_quantity((1, 1, 1, 1))
    assert repr(found) == "<NoQuantity, proved for 6 parameters>"
    assert found._repr_latex_() == r"$\alpha = \mathrm{d}b_{0} - A_{00}\,\mathrm{d}a_{0}$"
