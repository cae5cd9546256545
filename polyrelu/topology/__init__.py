"""Topology of closed unions of cells: homology, level sets, decision boundaries, persistent homology.

The data flow: `level_sets` (or any `Subcomplex`) → `chains` (cells that count, incidence numbers) → `smith` (elementary
divisors) → `homology`. Beside it `persistence`, through gudhi.
"""

from polyrelu.topology.homology import Homology, betti_numbers, homology
from polyrelu.topology.level_sets import (
    OutputSet,
    UnfinishedError,
    decision_boundary,
    decision_region,
    level_set,
    sublevel_set,
    superlevel_set,
)
from polyrelu.topology.persistence import (
    PersistenceInterval,
    sublevel_persistence,
    superlevel_persistence,
)

__all__ = [
    "Homology",
    "OutputSet",
    "PersistenceInterval",
    "UnfinishedError",
    "betti_numbers",
    "decision_boundary",
    "decision_region",
    "homology",
    "level_set",
    "sublevel_persistence",
    "sublevel_set",
    "superlevel_persistence",
    "superlevel_set",
]
