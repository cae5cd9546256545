"""Reports as files for people: Markdown and HTML."""

from __future__ import annotations

from collections.abc import Sequence

from polyrelu.audit.reports import AuditReport, answer_of, counts_of, parts_of, report_elements
from polyrelu.support.display import count_text
from polyrelu.support.html import element, page
from polyrelu.support.markdown import escaped_markdown as _escaped

__all__ = ["html_report", "markdown_report"]


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
        lines += ["", f"## {_escaped(report.subject)}: {answer_of(report)}", ""]
        lines.append(f"{counts_of(report)}. Rule: {_escaped(report.rule)}.")
        lines += [line for note in report.notes for line in ("", f"Note: {_escaped(note)}.")]
        for finding in report.findings:
            (first, text), *rest = parts_of(finding)
            lines += ["", f"* **{_escaped(first)}**: {_escaped(text)}"]
            lines += [f"    * {_escaped(name)}: {_escaped(line)}" for name, line in rest]
        more = report.num_findings - len(report.findings)
        lines += ["", f"… and {count_text([(more, 'finding')])} more."] * (more > 0)
    return "\n".join(lines)


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
    parts = [part for report in reports for part in report_elements(report)]
    return page(title, element("h1", title), *parts)
