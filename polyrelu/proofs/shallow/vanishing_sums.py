"""The hypothesis `unique`: no nonempty set of neurons has a vanishing sum of v_i w_i.

Theorems `shallow`, `line` and `bottleneck` share it. Where such a sum vanishes, the signs of the
neurons of the set can be changed together without a change of the function. To decide the
hypothesis is a subset-sum problem, so the answer may be open for wide layers
(`exact.vanishing_subset`).
"""

from __future__ import annotations

from typing import Any

from polyrelu.exact import vanishing_subset
from polyrelu.network import Network
from polyrelu.outcomes import Attempt

__all__ = ["no_vanishing_sum"]


def no_vanishing_sum(theorem: str, network: Network, layer: int) -> dict[str, Any] | Attempt:
    """Return evidence that no nonempty S has Σ_{i∈S} W[ℓ+1]_{·i} W[ℓ]_i = 0, or why there is none.

    Parameters
    ----------
    theorem
        The name of the theorem that an attempt names.
    network
        The network.
    layer
        The layer ℓ of the neurons i.

    Returns
    -------
    dict or Attempt
        The JSON object of the hypothesis, or why it fails or is open.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> print(no_vanishing_sum("shallow", from_arrays([([[1], [-1]], [0, 1]), ([[1, 1]], [0])]), 1))
    shallow: unique: the linear parts of the neurons [0, 1] of layer 1 cancel
    """
    search = vanishing_subset(network.weight(layer + 1), network.weight(layer))
    if search.subset is not None:
        names = f"the neurons {list(search.subset)} of layer {layer}"
        return Attempt(theorem, f"unique: the linear parts of {names} cancel")
    if search.evidence is None:
        return Attempt(
            theorem,
            "unique: whether some linear parts cancel is a subset-sum problem beyond the bound",
        )
    return search.evidence
