"""Findings about regions that all forms of lists share: missing and duplicated regions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from polyrelu.audit.causes import degenerate_region, float32_region, held, sliver, zero_neurons
from polyrelu.audit.comparing import Comparison, Difference, Question
from polyrelu.audit.findings import Finding
from polyrelu.audit.ground_truth import GroundTruth
from polyrelu.audit.judging import judged
from polyrelu.audit.measures import inradius
from polyrelu.support.display import shortened
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import understood
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Indices

__all__ = ["JudgedRegions", "RegionComparison", "signs_text"]


def signs_text(truth: GroundTruth, region: int) -> str:
    """Return the signs of a region for a sentence, shortened."""
    return shortened(str(truth.cells.signs_of_region(region)), 60)


class RegionComparison(Comparison):
    """A claimed list of regions beside the exact ones."""

    subject = "region"

    def __init__(self, truth: GroundTruth, question: Question, assigned: Indices) -> None:
        self.truth, self.question, self.assigned = truth, question, assigned
        self.num_exact = truth.num_regions

    def region_of(self, exact: int) -> int:
        """Return the number of the region that an exact item stands for."""
        return exact

    def explain(self, difference: Difference) -> Finding:
        """Return a finding with witness, size and causes."""
        if difference.verdict == "missing" and difference.exact is not None:
            return self.missing(difference.exact)
        item = difference.item
        assert item is not None  # only missing items have none
        if difference.verdict == "duplicated" and difference.exact is not None:
            return self.duplicated(item, difference.exact)
        if difference.verdict == "extra" or difference.exact is None:
            return self.extra(item)
        return self.wrong(item, difference.exact)

    def missing(self, exact: int) -> Finding:
        """Return the finding about a region that no item stands for."""
        truth, region = self.truth, self.region_of(exact)
        found = inradius(truth.cells.region_polyhedron(region))
        radius, witness = found if found else (None, truth.point_in(region))
        causes = held(
            sliver(radius, self.question.tolerance),
            zero_neurons(truth, region),
            float32_region(truth, truth.region_signs[region], is_claimed=False),
            degenerate_region(truth, region),
        )
        message = f"the region {signs_text(truth, region)} is not in the list"
        size = "" if radius is None else "inradius"
        return Finding("region", "missing", message, None, region, witness, radius, size, causes)

    def duplicated(self, item: int, exact: int) -> Finding:
        """Return the finding about a region that is in the list already."""
        region = self.region_of(exact)
        first = int((self.assigned == exact).argmax())
        message = f"item {item} is the region {signs_text(self.truth, region)}, as item {first} is"
        point = self.truth.point_in(region)
        causes = held(zero_neurons(self.truth, region))
        return Finding("region", "duplicated", message, item, region, point, causes=causes)

    @abstractmethod
    def extra(self, item: int) -> Finding:
        """Return the finding about an item that stands for no region."""

    @abstractmethod
    def wrong(self, item: int, exact: int) -> Finding:
        """Return the finding about an item that is a wrong form of a region."""


class JudgedRegions(RegionComparison):
    """A claimed list whose items are judged one by one (`judging.Judge`).

    Attributes
    ----------
    claims
        The list.
    """

    items_per_task: int

    def __init__(self, truth: GroundTruth, claims: Any, question: Question) -> None:
        self.truth, self.claims, self.question = truth, claims, question
        self._wrong = set[int]()

    def __len__(self) -> int:
        return len(self.claims)

    def __reduce__(self) -> tuple[type[JudgedRegions], tuple[Any, ...]]:
        return type(self), (self.truth, self.claims, self.question)

    def decide(self, execution: Execution, progress: Progress | None) -> None:
        """Find the regions that the items stand for."""
        self.num_exact = self.truth.num_regions
        found = judged(self, execution, progress)
        with understood():
            table = np.array(found, dtype=np.int64).reshape(len(self), 2)
            if len(table) and not -1 <= table[:, 0].min() <= table[:, 0].max() < self.num_exact:
                raise ValueError("no such region")
        self.assigned = table[:, 0]
        self._wrong = set(np.flatnonzero(table[:, 1]).tolist())

    @abstractmethod
    def judge(self, items: range) -> Sequence[tuple[int, bool]]:
        """Return the region that each item stands for, -1 for none, and whether it is wrong."""

    def faults(self) -> set[int]:
        """Return the assigned items that are wrong."""
        return self._wrong
