"""Local linear attributes of networks: affine maps at points, their polytopes, clusters, relations.

Sattelberg et al. (2023, DOI 10.3389/frai.2023.1255192) look at a network through its affine maps
[W | b] around sample points, whose rows are the *dual points* of the outputs. `exact_maps` has
exact maps and polytopes; `sampled_maps` computes maps of any network in floats and proves
activation patterns (`choices`, `backward`). `clustering`, `between_networks` and `shared_patterns`
compare the maps at many points; these are statistics in floats.
"""

from polyrelu.attributes.between_networks import DualMap, dual_map, mapping_table
from polyrelu.attributes.clustering import (
    ClusteredMaps,
    ClusteringRow,
    cluster_maps,
    clustering_table,
)
from polyrelu.attributes.exact_maps import (
    ExactMaps,
    exact_maps,
    local_polytope,
    pattern_polytope,
)
from polyrelu.attributes.float_maps import FloatMaps
from polyrelu.attributes.sampled_maps import float_maps
from polyrelu.attributes.shared_patterns import SharedPatterns, shared_patterns

__all__ = [
    "ClusteredMaps",
    "ClusteringRow",
    "DualMap",
    "ExactMaps",
    "FloatMaps",
    "SharedPatterns",
    "cluster_maps",
    "clustering_table",
    "dual_map",
    "exact_maps",
    "float_maps",
    "local_polytope",
    "mapping_table",
    "pattern_polytope",
    "shared_patterns",
]
