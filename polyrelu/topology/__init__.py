"""Topology of closed unions of cells: homology, level sets and persistent homology.

The data flow is `level_sets` (or any other `Subcomplex`) → `chains` (the bounded cells and their
incidence numbers) → `smith` (elementary divisors) → `homology`. Beside it stands `persistence`,
which calls gudhi. The proofs stand in docs/theory/topology.md.
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
