"""How conserved quantities and their proofs show themselves in a terminal and in a notebook."""

from __future__ import annotations

from polyrelu.dynamics import linear_evidence
from polyrelu.network import from_arrays


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
