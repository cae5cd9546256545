"""The hypothesis `unique`: no nonempty set of neurons has a vanishing sum of v_i w_i.

Theorems `shallow`, `line` and `bottleneck` share it. Where such a sum vanishes, the signs of the
neurons of the set can be changed together without a change of the function. To decide the
hypothesis is a subset-sum problem, so the answer may be open for wide layers
(`exact.vanishing_subset`).
"""

from __future__ import annotations

from typing import Any

from polyrelu.exact import SubsetSumSearch, vanishing_subset
from polyrelu.network import Network
from polyrelu.outcomes import Attempt
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_independence, price_of_subset_sums

__all__ = ["no_vanishing_sum", "paid_vanishing_subset"]


def no_vanishing_sum(
    theorem: str, network: Network, layer: int, budget: Budget | None = None
) -> dict[str, Any] | Attempt:
    """Return evidence that no nonempty S has Σ_{i∈S} W[ℓ+1]_{·i} W[ℓ]_i = 0, or why there is none.

    Parameters
    ----------
    theorem
        The name of the theorem that an attempt names.
    network
        The network.
    layer
        The layer ℓ of the neurons i.
    budget
        The work; no limit by default.

    Returns
    -------
    dict or Attempt
        The JSON object of the hypothesis, or why it fails or is open.

    Raises
    ------
    LimitReached
        The budget is used up.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> print(no_vanishing_sum("shallow", from_arrays([([[1], [-1]], [0, 1]), ([[1, 1]], [0])]), 1))
    shallow: unique: the linear parts of the neurons [0, 1] of layer 1 cancel
    """
    search = paid_vanishing_subset(network, layer, budget or Budget())
    if search.subset is not None:
        names = f"the neurons {list(search.subset)} of layer {layer}"
        return Attempt(theorem, f"unique: the linear parts of {names} cancel")
    if search.evidence is None:
        return Attempt(
            theorem,
            "unique: whether some linear parts cancel is a subset-sum problem beyond the bound",
        )
    return search.evidence


def paid_vanishing_subset(network: Network, layer: int, budget: Budget) -> SubsetSumSearch:
    """Search a set of neurons with a vanishing sum, and pay for each step before it is made."""
    width = network.widths[layer]
    budget.spend(price_of_independence(width))
    return vanishing_subset(
        network.weight(layer + 1),
        network.weight(layer),
        before_sums=lambda: budget.spend(price_of_subset_sums(width)),
    )
