"""Payment for the cells of a complex: progress that spends a budget, and ends the cuts with it."""

from __future__ import annotations

from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_regions
from polyrelu.support.progress import Progress, ProgressStep

__all__ = ["PaidCuts"]


class PaidCuts:
    """The argument `progress` of a computation of a complex that pays for its regions.

    Parameters
    ----------
    budget
        What is spent; the computation ends by `LimitReached` when it is used up.
    dimension
        The dimension of the complex.
    progress
        Called with every step, if it is not None.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> budget = Budget(work=100)
    >>> net = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])]
    >>> canonical_complex(net, progress=PaidCuts(budget, 2)).num_regions, round(budget.spent, 2)
    (4, 0.36)
    """

    def __init__(self, budget: Budget, dimension: int, progress: Progress | None = None) -> None:
        self._budget, self._dimension, self._progress = budget, dimension, progress
        self._num_regions = 0

    def __call__(self, step: ProgressStep) -> None:
        """Pay for the regions that a cut has made."""
        if self._progress is not None:
            self._progress(step)
        regions = int(step.details.get("regions", 0))
        new, self._num_regions = max(regions - self._num_regions, 0), regions
        self._budget.spend(price_of_regions(new, self._dimension))
