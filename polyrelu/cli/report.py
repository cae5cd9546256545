"""The command `polyrelu report NET`: one page with answers, pictures and certificates."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import (
    add_command,
    add_limits,
    add_network,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import check_output, print_object, reading, show
from polyrelu.cli.workers import add_workers, check_checkpoint, chosen_workers
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.report import Report

__all__ = ["add_report"]


def add_report(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "one page with what was read, what is proved, pictures and certificates"
    examples = (
        "report example:bends -o bends.html",
        "report net.onnx -o report.tex --domain box:0,1 --budget 20000",
    )
    parser = add_command(subparsers, "report", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "-o",
        dest="file",
        required=True,
        metavar="FILE",
        help="the report: .html, one page with everything inside; .md or .tex, with pictures and "
        "certificates beside it",
    )
    parser.add_argument(
        "--domain",
        default="R^n",
        help="what provers are asked about: R^n (the default) or any other, written as for "
        "`complex`",
    )
    parser.add_argument(
        "--show",
        metavar="DOMAIN",
        help="whose cells are counted and drawn, of 1 to 3 dimensions; slice:FILE is the plane "
        'through points of {"points": …}. By default the domain, or a plane through three random '
        "points of it",
    )
    add_seed(parser, "seed of random points and searches (default 0)")
    add_workers(parser)
    add_limits(
        parser,
        "work of the whole report, in units of about a millisecond (default 60000; inf: no "
        "limit); what is not finished is undecided",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.report import report
    from polyrelu.report.assembly import BUDGET, check_report_format

    inputs = [options.network, options.domain, (options.show or "").removeprefix("slice:")]
    check_output("-o", options.file, inputs)
    check_report_format(options.file)
    check_checkpoint(options, [*inputs, options.file])
    if options.budget is None:
        options.limits.work = BUDGET
    imported = read_network(options, options.network)
    with ProgressLine() as line:
        found = report(
            imported,
            options.domain,
            show=options.show,
            name=options.network,
            file=options.file,
            seed=options.seed,
            budget=options.limits,
            progress=line.show,
            workers=chosen_workers(options),
            checkpoint=options.checkpoint,
        )
    options.watch.finish()
    options.watch.forget_limit()  # a limit is in the report; what is left is to write it
    written = [str(path) for path in found.save(options.file)]
    if options.json:
        answer = {**found.answers, "open": _open(found), "written": written}
        print_object(options, "ok", started, **answer, **reading(imported))
    else:
        show(*found.lines(), *(f"written: {name}" for name in written))
    return 0


def _open(found: Report) -> list[dict[str, Any]]:
    """Return what is undecided, for the JSON object."""
    return [
        {"question": end.question, "reason": end.reason, "next": list(end.next)}
        for end in found.open
    ]
