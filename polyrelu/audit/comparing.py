"""From the comparison of two lists to a report: verdicts, what is missing, explained findings.

A comparison assigns to each claimed item the exact item that it stands for, or none. Two items with
one exact item are duplicates. An exact item without a claimed one is missing. An item that stands
for none may still be recognised as a wrong form of a missing one, which is then not missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from polyrelu.audit.allowance import NEAREST, Allowance
from polyrelu.audit.findings import DIFFERENCES, Cause, Finding, Verdict
from polyrelu.audit.reports import AuditReport
from polyrelu.errors import ArgumentError
from polyrelu.exact import Rational, to_fraction
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.typing import Indices

__all__ = ["SUSPECTED_TOLERANCE", "Comparison", "Difference", "Question", "finished", "report_of"]

#: A tolerance that many float tools use; it explains differences and decides no verdict.
SUSPECTED_TOLERANCE = Fraction(1, 10**6)
#: Maximum number of items without an exact item that are compared with the missing ones.
_MAX_PAIRED = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """How an audit compares and explains.

    Attributes
    ----------
    allowance
        When a claimed number stands for an exact one.
    tolerance
        A tolerance that the tool may use. Regions thinner than it, and vertices nearer to each
        other, are explained by it; it decides no verdict.
    is_complete
        Whether the list claims to be complete, so that exact items can be missing.
    max_findings
        Maximum number of findings that are explained.

    Examples
    --------
    >>> Question.of(tolerance="1/1000").tolerance
    Fraction(1, 1000)
    """

    allowance: Allowance = NEAREST
    tolerance: Fraction = SUSPECTED_TOLERANCE
    is_complete: bool = True
    max_findings: int = 100

    @classmethod
    def of(
        cls,
        allowance: Allowance = NEAREST,
        tolerance: Rational = SUSPECTED_TOLERANCE,
        is_complete: bool = True,
        max_findings: int = 100,
    ) -> Question:
        """Return a question with checked arguments."""
        allowed = expect(allowance, Allowance, "allowance", "Allowance(ulps=4) makes one")
        exact = to_fraction(tolerance)
        if exact < 0:
            raise ArgumentError("tolerance: expected a number of at least 0")
        return cls(allowed, exact, bool(is_complete), expect_count(max_findings, "max_findings"))


class Difference(NamedTuple):
    """An item that is not right, or a missing exact item."""

    verdict: Verdict
    item: int | None
    exact: int | None


class Comparison(ABC):
    """A claimed list beside an exact one; subclasses know what the items are.

    Attributes
    ----------
    subject
        What an item is, in one word.
    assigned
        For each claimed item the exact item that it stands for, -1 for none.
    num_exact
        Number of exact items.
    rule
        When an item is right, as a sentence; empty where the allowance of the question says it.
    """

    subject: str
    assigned: Indices
    num_exact: int
    rule: str = ""

    def faults(self) -> set[int]:
        """Return the assigned items that are wrong although it is clear what they stand for."""
        return set()

    def partner(self, item: int, missing: set[int]) -> int | None:
        """Return the missing exact item of which an item without one is a wrong form."""
        return None

    @abstractmethod
    def explain(self, difference: Difference) -> Finding:
        """Return a finding with witness, size and causes."""

    def merges(self) -> bool:
        """Return whether several claimed items may stand for one exact item."""
        return False


def finished(
    title: str, comparison: Comparison, question: Question, notes: Sequence[str] = ()
) -> AuditReport:
    """Return the report of a comparison."""
    verdicts, differences = _differences(comparison, question)
    causes = _another_network(comparison, verdicts, differences)
    shown = [comparison.explain(entry) for entry in differences[: question.max_findings]]
    shown = [replace(finding, causes=(*finding.causes, *causes)) for finding in shown]
    missing = sum(entry.verdict == "missing" for entry in differences)
    rule = comparison.rule or _rule(question.allowance)
    return AuditReport(
        title, tuple(verdicts), missing, tuple(shown), len(differences), rule, tuple(notes)
    )


def report_of(
    title: str,
    verdicts: Sequence[Verdict],
    explain: Callable[[int], Finding],
    question: Question,
    rule: str = "",
    notes: Sequence[str] = (),
) -> AuditReport:
    """Return the report of items that are judged one by one."""
    wanted = [item for item, verdict in enumerate(verdicts) if verdict != "right"]
    shown = tuple(explain(item) for item in wanted[: question.max_findings])
    rule = rule or _rule(question.allowance)
    return AuditReport(title, tuple(verdicts), 0, shown, len(wanted), rule, tuple(notes))


def _rule(allowance: Allowance) -> str:
    if allowance.is_exact:
        return "a claimed number is right if it is equal to the exact one"
    return f"a claimed number is right if it is {allowance} of the exact one"


def _differences(
    comparison: Comparison, question: Question
) -> tuple[list[Verdict], list[Difference]]:
    """Return the verdict of each item, and the differences: items in order, then missing ones."""
    assigned = comparison.assigned.copy()
    hits = np.bincount(assigned[assigned >= 0], minlength=comparison.num_exact)
    missing = set(np.flatnonzero(hits == 0).tolist())
    wrong = comparison.faults()
    for item in np.flatnonzero(assigned < 0).tolist()[:_MAX_PAIRED]:
        found = comparison.partner(item, missing)
        if found is not None:
            assigned[item] = found
            wrong.add(item)
            missing.discard(found)
    verdicts: list[Verdict] = ["right"] * len(assigned)
    seen: set[int] = set()
    for item in np.flatnonzero(_not_plain(assigned, wrong)).tolist():
        exact = int(assigned[item])
        if exact < 0:
            verdicts[item] = "extra"
        elif item in wrong:
            verdicts[item] = "wrong"
        elif exact in seen and not comparison.merges():
            verdicts[item] = "duplicated"
        seen.add(exact)
    differences = [
        Difference(verdict, item, int(assigned[item]) if assigned[item] >= 0 else None)
        for item, verdict in enumerate(verdicts)
        if verdict in DIFFERENCES
    ]
    if question.is_complete:
        differences += [Difference("missing", None, exact) for exact in sorted(missing)]
    return verdicts, differences


def _not_plain(assigned: Indices, wrong: set[int]) -> Indices:
    """Return which items may be anything but right: not assigned, wrong, or with a twin."""
    _, which, counts = np.unique(assigned, return_inverse=True, return_counts=True)
    mask = (counts[which.ravel()] > 1) | (assigned < 0)
    mask[list(wrong)] = True
    return np.asarray(mask)


def _another_network(
    comparison: Comparison, verdicts: Sequence[Verdict], differences: Sequence[Difference]
) -> tuple[Cause, ...]:
    """Return the cause of a list that has little to do with the exact one."""
    right = sum(verdict in ("right", "duplicated") for verdict in verdicts)
    if not differences or not verdicts or 2 * right >= min(len(verdicts), comparison.num_exact):
        return ()
    if len(verdicts) < 4:
        return ()
    evidence = (
        f"only {right} of {len(verdicts)} items agree with the {comparison.num_exact} exact ones, "
        "as in a list for another network, domain or order of neurons"
    )
    return (Cause("another network", evidence),)
