"""The constants of the searches in fibers.

No constant here bears on whether a network is in a fiber; lists that a limit cuts say so.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "FiberSettings"]


@dataclass(frozen=True, slots=True)
class FiberSettings:
    """Limits of the searches.

    Attributes
    ----------
    max_width
        Largest number of neurons of a layer for which all assignments are listed, not only simple
        ones.
    max_visited
        Maximum number of assignments of one layer, or of sets of flips, that are visited.
    max_entries
        Maximum of the number of visited assignments times neurons, inputs and outputs of the layer;
        it lowers `max_visited` for large layers.
    max_assignments
        Maximum number of assignments that are tried for one number of neurons when a layer with few
        neurons is sought.
    max_adjustments
        Maximum number of attempts to make a form bounded below, with another step length in each.
    """

    max_width: int = 4
    max_visited: int = 4096
    max_entries: int = 1_000_000
    max_assignments: int = 2**14
    max_adjustments: int = 64


#: The settings of every search.
SETTINGS = FiberSettings()
