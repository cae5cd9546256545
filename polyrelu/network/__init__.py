"""Networks with exact rational weights: the type, evaluation, normal forms, canonical bytes."""

from polyrelu.network.affine_table import affine_map_table
from polyrelu.network.build import layer_from_rows, with_output_at_zero_of
from polyrelu.network.derivative import output_derivative
from polyrelu.network.document import canonical_bytes, from_document, to_document
from polyrelu.network.network import (
    AffineMap,
    Architecture,
    Block,
    Layer,
    Network,
    NeuronId,
    SignVector,
    from_arrays,
)
from polyrelu.network.normal_form import canonical_form, permute, related, rescale

__all__ = [
    "AffineMap",
    "Architecture",
    "Block",
    "Layer",
    "Network",
    "NeuronId",
    "SignVector",
    "affine_map_table",
    "canonical_bytes",
    "canonical_form",
    "from_arrays",
    "from_document",
    "layer_from_rows",
    "output_derivative",
    "permute",
    "related",
    "rescale",
    "to_document",
    "with_output_at_zero_of",
]
