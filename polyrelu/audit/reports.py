"""`AuditReport`: the comparison of one list of claims with the exact answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from polyrelu.audit.findings import DIFFERENCES, Finding, Verdict
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.html import element, fragment, table

__all__ = ["AuditReport", "answer_of", "counts_of", "parts_of", "report_elements", "report_text"]

#: Number of findings that the text of a report shows.
_SHOWN = 10


@dataclass(frozen=True, slots=True, repr=False)
class AuditReport:
    """The comparison of one list of claims with the exact answer.

    Attributes
    ----------
    subject
        What was compared, such as ``regions as sign vectors``.
    verdicts
        The verdict of each claimed item, in the order of the claims.
    num_missing
        Number of exact items that are claimed by no item.
    findings
        The items that are not right and the missing ones, explained; at most as many as asked for.
    num_findings
        Number of all such items.
    rule
        When a claimed number stands for an exact one, as a sentence.
    notes
        What the reader of the report should know besides.

    Examples
    --------
    >>> report = AuditReport("counts", ("right", "wrong"), 0, (), 1, "equal")
    >>> report.agrees, dict(report.counts)
    (False, {'right': 1, 'wrong': 1})
    """

    subject: str
    verdicts: tuple[Verdict, ...]
    num_missing: int
    findings: tuple[Finding, ...]
    num_findings: int
    rule: str
    notes: tuple[str, ...] = field(default=())

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of items of each verdict, the missing ones included."""
        found: Counter[str] = Counter(self.verdicts)
        if self.num_missing:
            found["missing"] += self.num_missing
        return found

    @property
    def agrees(self) -> bool:
        """Whether no item differs; items that are not refuted are no differences."""
        counts = self.counts
        return not any(counts.get(verdict) for verdict in DIFFERENCES)

    def __str__(self) -> str:
        return report_text(self)

    def __repr__(self) -> str:
        answer = "agrees" if self.agrees else "differs"
        counts = count_text((n, f"{v} item") for v, n in self.counts.items())
        return bracketed(f"AuditReport, {self.subject}: {answer}, {counts or 'no items'}")

    def _repr_html_(self) -> str:
        return fragment(element("div", *report_elements(self)))

    def to_json(self) -> dict[str, Any]:
        """Return the report as an object of JSON, without the verdicts of single items."""
        return {
            "subject": self.subject,
            "agrees": self.agrees,
            "counts": dict(self.counts),
            "rule": self.rule,
            "notes": list(self.notes),
            "num_findings": self.num_findings,
            "findings": [finding.to_json() for finding in self.findings],
        }


def report_text(report: AuditReport, shown: int = _SHOWN) -> str:
    """Return the text of a report, with the first findings."""
    lines = [f"{report.subject}: {answer_of(report)} ({counts_of(report)})", f"rule: {report.rule}"]
    lines += [f"note: {note}" for note in report.notes]
    lines += [str(finding) for finding in report.findings[:shown]]
    more = report.num_findings - min(shown, len(report.findings))
    return "\n".join([*lines, *[f"… and {count_text([(more, 'finding')])} more"] * (more > 0)])


def report_elements(report: AuditReport) -> Iterator[Element]:
    """Yield the parts of a report."""
    answer = element("span", answer_of(report), class_="good" if report.agrees else "bad")
    yield element("h2", f"{report.subject}: ", answer)
    yield element("p", f"{counts_of(report)}. Rule: {report.rule}.")
    for note in report.notes:
        yield element("p", f"Note: {note}.")
    if report.findings:
        rows = [_row(finding) for finding in report.findings]
        yield table(["finding", "what", "witness and size", "causes"], rows)
    more = report.num_findings - len(report.findings)
    if more > 0:
        yield element("p", f"… and {count_text([(more, 'finding')])} more.")


def _row(finding: Finding) -> list[Element | str]:
    """Return the cells of a finding."""
    (first, text), *rest = parts_of(finding)
    seen = [element("div", f"{name}: {line}") for name, line in rest if name != "cause"]
    causes = [element("div", line) for name, line in rest if name == "cause"]
    return [first, text, element("div", *seen), element("div", *causes)]


def parts_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the lines of a finding."""
    for line in str(finding).splitlines():
        name, _, text = line.partition(": ")
        yield name, text


def counts_of(report: AuditReport) -> str:
    parts = [f"{number} {verdict}" for verdict, number in report.counts.items() if number]
    return ", ".join(parts) or "no items"


def answer_of(report: AuditReport) -> str:
    return "agrees" if report.agrees else "differs"
