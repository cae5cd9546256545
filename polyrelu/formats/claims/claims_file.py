"""`ClaimsFile`: the content of a file of claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polyrelu.support.display import bracketed

__all__ = ["CLAIMS", "SETTINGS", "ClaimsFile"]

#: The settings of a file, and what each is.
SETTINGS = {
    "tool": "name and version of the tool",
    "domain": "R^n, orthant or box:…",
    "arithmetic": "float64 or float32",
    "ulps": "units in the last place that a number may be off",
    "absolute": "further distance that a number may be off",
    "tolerance": "tolerance of the tool",
    "complete": "whether a list claims to have all items",
}
#: The claims that a file can make, in the order in which they are audited.
CLAIMS = (
    *(
        "signs",
        "activations",
        "interior_points",
        "matrices",
        "offsets",
        "half_spaces",
        "vertex_lists",
    ),
    *("vertices", "edges", "counts", "adjacency", "output_points", "output_values", "gradients"),
    *("lower", "upper", "lipschitz", "radius_points", "radii", "radius_norm", "labels"),
    *("counterexamples", "deviation", "matching", "function", "topology", "persistence"),
)


@dataclass(frozen=True, slots=True, repr=False)
class ClaimsFile:
    """What a float tool claims about a network.

    Attributes
    ----------
    source
        Name of the file, for errors.
    claims
        The claims by name: arrays, nested lists, or objects of JSON.
    settings
        The settings by name: texts, and for ``complete`` a truth value.

    Examples
    --------
    >>> ClaimsFile("answer.json", {"counts": {"regions": 7}})
    <ClaimsFile answer.json: counts>
    """

    source: str
    claims: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return bracketed(f"ClaimsFile {self.source}: {', '.join(self.claims) or 'no claims'}")
