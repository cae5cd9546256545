"""The command `polyrelu audit NET`: what float tools say, compared with the exact answers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.given_up import report_given_up
from polyrelu.cli.options import (
    UsageError,
    add_command,
    add_limits,
    add_network,
    add_reading,
    read_network,
)
from polyrelu.cli.output import check_output, print_object, print_reading, reading, show
from polyrelu.cli.workers import WORKERS, add_workers, check_checkpoint, chosen_workers
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.audit import AuditReport
    from polyrelu.exact import Polyhedron
    from polyrelu.formats import Imported
    from polyrelu.support.progress import Progress

__all__ = ["add_audit"]

#: The tools that are asked by name; a test compares them with `polyrelu.audit.TOOLS`.
TOOLS = ("relucent", "onnxruntime", "torch")

#: What exit statuses mean.
_STATUSES = (
    "Exit status: 0 all claims agree with the exact answers, 1 some differ, 2 error / unreadable, "
    "3 undecided or interrupted."
)


def add_audit(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "compare what a float tool says about a network with the exact answer"
    examples = (
        "audit example:xor --against onnxruntime --domain box:0,1",
        "audit net.onnx --against regions.npz --domain box:-1,1 --html report.html --jobs 2",
    )
    parser = add_command(subparsers, "audit", _run, summary, examples, _STATUSES)
    add_network(parser)
    parser.add_argument(
        "--against",
        required=True,
        metavar="FILE|TOOL",
        help="a file of claims (.json, .csv, .npz; docs/how-to/audit.md has their schema), or an "
        f"installed tool that is asked now: {', '.join(TOOLS)}",
    )
    parser.add_argument(
        "--domain",
        help="R^n or any other, written as for `complex`; the default is the domain that the file "
        "names, else R^n",
    )
    parser.add_argument(
        "--query",
        metavar="FILE",
        help="a VNN-LIB query; then --against names counterexamples of a verifier, separated by "
        "commas",
    )
    parser.add_argument(
        "--max-findings",
        type=int,
        default=100,
        metavar="K",
        help="explain at most K differences of each list; all are counted (100)",
    )
    parser.add_argument("--markdown", metavar="FILE", help="write the report as Markdown")
    parser.add_argument("--html", metavar="FILE", help="write the report as one HTML page")
    add_workers(parser)
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.topology import UnfinishedError

    if options.max_findings < 0:
        raise UsageError(f"--max-findings {options.max_findings}: must be 0 or more")
    for option, name in (("--markdown", options.markdown), ("--html", options.html)):
        if name is not None:
            check_output(option, name, [options.network, options.against])
    given = [name for name in WORKERS if getattr(options, name) not in (None, 1)]
    if given and (options.query is not None or options.against in TOOLS):
        raise UsageError(f"--{given[0]}: for files of claims about the network, item by item")
    pages = [name for name in (options.markdown, options.html) if name is not None]
    check_checkpoint(options, [options.network, options.against, *pages])
    imported = read_network(options, options.network)
    try:
        with ProgressLine() as line:
            reports = _reports(options, imported, line.show)
    except UnfinishedError:  # Ctrl-C, or a limit, in the computation of the exact complex
        return report_given_up(options, options.watch.reason)
    written = _write(options, reports)
    agrees = all(report.agrees for report in reports)
    if options.json:
        status = "agrees" if agrees else "differs"
        listed = [report.to_json() for report in reports]
        answer = {"against": options.against, "reports": listed, "written": written}
        print_object(options, status, started, **answer, **reading(imported))
    else:
        show("\n\n".join(map(str, reports)))
        print_reading(imported)
        show(*(f"written: {name}" for name in written))
    return 0 if agrees else 1


def _reports(
    options: argparse.Namespace, imported: Imported, progress: Progress
) -> tuple[AuditReport, ...]:
    """Return the reports that the options ask for."""
    from polyrelu import audit

    size, count = imported.network.num_inputs, options.max_findings
    if options.query is not None:
        files = options.against.split(",")
        return (audit.audit_counterexamples(imported, options.query, files, max_findings=count),)
    if options.against in TOOLS:
        domain = _domain(options, size)
        return audit.audit_tool(imported, options.against, domain, max_findings=count)
    if Path(options.against).suffix.lower() not in (".json", ".csv", ".npz"):
        raise UsageError(
            f"--against {options.against[:80]!r}: expected a .json, .csv or .npz file, or one of "
            f"{', '.join(TOOLS)}; counterexamples of a verifier need --query"
        )
    domain = _domain(options, size)
    return audit.audit_claims(
        imported,
        options.against,
        domain,
        max_findings=count,
        progress=progress,
        workers=chosen_workers(options),
        checkpoint=options.checkpoint,
    )


def _domain(options: argparse.Namespace, size: int) -> Polyhedron | None:
    """Return the domain that the options name."""
    from polyrelu.formats import parse_domain

    return None if options.domain is None else parse_domain(options.domain, size)


def _write(options: argparse.Namespace, reports: tuple[AuditReport, ...]) -> list[str]:
    """Write the files that are asked for, and return their names."""
    from polyrelu.audit import html_report, markdown_report
    from polyrelu.support.text_files import write_all

    title = f"Audit of {options.network}: {options.against}"
    contents: list[tuple[Path, Any]] = []
    if options.markdown is not None:
        text = markdown_report(reports, title) + "\n"
        contents.append((Path(options.markdown), [text.encode("utf-8")]))
    if options.html is not None:
        contents.append((Path(options.html), html_report(reports, title)))
    return list(map(str, write_all(contents))) if contents else []
