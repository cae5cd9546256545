"""Networks with exact rational weights: the type, evaluation, affine maps, canonical bytes.

The room holds what every other room needs to know about a network, and no geometry. Layers are
numbered from 1 and neurons of a layer from 0 everywhere; layer 0 is the input.
"""

from polyrelu.network.affine_maps import affine_map_table, output_derivative
from polyrelu.network.build import layer_from_rows, with_output_at_zero_of
from polyrelu.network.layers import Block, Layer
from polyrelu.network.leaky import LeakyStack, leaky_slopes, leaky_stack
from polyrelu.network.network import AffineMap, Architecture, Network, from_arrays
from polyrelu.network.patterns import ActivationPattern, NeuronId, SignVector
from polyrelu.network.serialization import canonical_bytes, from_document, to_document

__all__ = [
    "ActivationPattern",
    "AffineMap",
    "Architecture",
    "Block",
    "Layer",
    "LeakyStack",
    "Network",
    "NeuronId",
    "SignVector",
    "affine_map_table",
    "canonical_bytes",
    "from_arrays",
    "from_document",
    "layer_from_rows",
    "leaky_slopes",
    "leaky_stack",
    "output_derivative",
    "to_document",
    "with_output_at_zero_of",
]
