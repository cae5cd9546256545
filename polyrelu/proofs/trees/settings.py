"""The constants of the searches for split trees and for signs at the root.

`SETTINGS` is the one instance, which all modules of this folder read. No constant here bears on
whether a claim is true; a change of a value does change certificates.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "TreeSettings"]


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Limits and precision of the searches.

    Attributes
    ----------
    max_samples
        Maximum number of known points of its polyhedron that a node takes over from its parent.
    max_hidden_splits
        Maximum number of atoms that are split in one tree over the neurons that two networks in
        canonical position do not share.
    significant_bits
        Number of significant bits of the bounds that certificates record.
    max_table_entries
        Maximum number of entries of the table of all forms in floats, of 8 bytes each.
    max_products
        Maximum number of products of two rational numbers in the relaxations at the root, by
        default.
    max_coordinates
        Maximum number of coordinates for which linear programs over the domain are solved at the
        root.
    task_work
        Units of work of a task, and of a search in one process before it is divided into tasks.
    num_ahead
        Number of tasks that are chosen before the result of the first of them is known.
    nodes_per_task
        Maximum number of nodes with which a task begins.
    samples_sent
        Maximum number of known points of its polyhedron that are sent with a node.
    remembered_nodes
        Maximum number of nodes whose forms a process keeps from task to task.
    """

    max_samples: int = 64
    max_hidden_splits: int = 2
    significant_bits: int = 16
    max_table_entries: int = 20_000_000
    max_products: int = 1_000_000
    max_coordinates: int = 64
    task_work: float = 2_000
    num_ahead: int = 32
    nodes_per_task: int = 16
    samples_sent: int = 8
    remembered_nodes: int = 256


#: The settings of every search.
SETTINGS = TreeSettings()
