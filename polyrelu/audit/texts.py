"""Reports for people: plain text, Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from polyrelu.audit.findings import AuditReport, Finding
from polyrelu.support.display import count_text
from polyrelu.support.html import element, fragment, page, table

__all__ = ["html_report", "markdown_report", "report_fragment", "report_text"]

#: Number of findings that the text of a report shows.
_SHOWN = 10


def _counts(report: AuditReport) -> str:
    parts = [f"{number} {verdict}" for verdict, number in report.counts.items() if number]
    return ", ".join(parts) or "no items"


def _answer(report: AuditReport) -> str:
    return "agrees" if report.agrees else "differs"


def report_text(report: AuditReport, shown: int = _SHOWN) -> str:
    """Return the text of a report, with the first findings."""
    lines = [f"{report.subject}: {_answer(report)} ({_counts(report)})", f"rule: {report.rule}"]
    lines += [f"note: {note}" for note in report.notes]
    lines += [str(finding) for finding in report.findings[:shown]]
    more = report.num_findings - min(shown, len(report.findings))
    return "\n".join([*lines, *[f"… and {count_text([(more, 'finding')])} more"] * (more > 0)])


def _parts(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the lines of a finding."""
    for line in str(finding).splitlines():
        name, _, text = line.partition(": ")
        yield name, text


def markdown_report(reports: Sequence[AuditReport], title: str = "Audit") -> str:
    """Return reports as Markdown.

    Parameters
    ----------
    reports
        The reports.
    title
        The heading.

    Returns
    -------
    str
        The text; everything that comes from the claims is escaped.

    Examples
    --------
    >>> report = AuditReport("counts", ("right",), 0, (), 0, "equal")
    >>> print(markdown_report([report], "net_1"))
    # net\\_1
    <BLANKLINE>
    ## counts: agrees
    <BLANKLINE>
    1 right. Rule: equal.
    """
    lines = [f"# {_escaped(title)}"]
    for report in reports:
        lines += ["", f"## {_escaped(report.subject)}: {_answer(report)}", ""]
        lines.append(f"{_counts(report)}. Rule: {_escaped(report.rule)}.")
        lines += [line for note in report.notes for line in ("", f"Note: {_escaped(note)}.")]
        for finding in report.findings:
            (first, text), *rest = _parts(finding)
            lines += ["", f"* **{_escaped(first)}**: {_escaped(text)}"]
            lines += [f"    * {_escaped(name)}: {_escaped(line)}" for name, line in rest]
        more = report.num_findings - len(report.findings)
        lines += ["", f"… and {count_text([(more, 'finding')])} more."] * (more > 0)
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Return a text in one line that Markdown shows as it is."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", line)


def _elements(report: AuditReport) -> Iterator[Element]:
    """Yield the parts of a report."""
    answer = element("span", _answer(report), class_="good" if report.agrees else "bad")
    yield element("h2", f"{report.subject}: ", answer)
    yield element("p", f"{_counts(report)}. Rule: {report.rule}.")
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
    (first, text), *rest = _parts(finding)
    seen = [element("div", f"{name}: {line}") for name, line in rest if name != "cause"]
    causes = [element("div", line) for name, line in rest if name == "cause"]
    return [first, text, element("div", *seen), element("div", *causes)]


def report_fragment(report: AuditReport) -> str:
    """Return a report as HTML for a notebook."""
    return fragment(element("div", *_elements(report)))


def html_report(reports: Sequence[AuditReport], title: str = "Audit") -> str:
    """Return reports as one self-contained HTML page, with all texts escaped.

    Parameters
    ----------
    reports
        The reports.
    title
        The heading.

    Returns
    -------
    str
        The page, in ASCII.

    Examples
    --------
    >>> report = AuditReport("counts", ("right",), 0, (), 0, "equal")
    >>> "<h1>&lt;net&gt;</h1>" in html_report([report], "<net>")
    True
    """
    parts = [part for report in reports for part in _elements(report)]
    return page(title, element("h1", title), *parts)
