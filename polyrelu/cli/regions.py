"""The command `polyrelu regions NET`: all regions, part by part, counted or into a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.given_up import larger_limit, why_ended
from polyrelu.cli.options import add_command, add_limits, add_network, add_reading, read_network
from polyrelu.cli.output import (
    check_output,
    entry_lines,
    print_object,
    print_reading,
    reading,
    show,
)
from polyrelu.cli.workers import add_workers, check_checkpoint, chosen_workers, kept_text
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.complex import RegionTotals
    from polyrelu.network import Network

__all__ = ["add_regions"]


def add_regions(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "count all regions, or write a table of them, in little memory, on several cores"
    examples = (
        "regions example:bends",
        "regions net.onnx --domain box:-1,1 -o regions.csv --jobs 2 --checkpoint work.db",
    )
    parser = add_command(subparsers, "regions", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--domain", default="R^n", help="R^n (the default) or any other, written as for `complex`"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the regions here (.parquet or .csv)"
    )
    parser.add_argument(
        "--columns",
        metavar="NAMES",
        help="which columns the file has, separated by commas: signs, bounded, facets, "
        "interior_point, outputs, largest, affine_map (default: all; signs alone are much faster)",
    )
    add_workers(parser)
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    _check(options)
    imported = read_network(options, options.network)
    answer: dict[str, Any] = {"domain": options.domain}
    try:
        totals = _totals(options, imported.network)
    except KeyboardInterrupt:
        options.watch.finish()
        reason = f"{why_ended(options)}: {kept_text(options)}"
        answer |= dict.fromkeys(("regions", "bounded_regions", "output"))
    else:
        reason = ""
        answer |= {
            "regions": totals.num_regions,
            "bounded_regions": totals.num_bounded_regions,
            "output": options.output,
        }
    steps = larger_limit(options) if reason else []
    if options.json:
        status = "undecided" if reason else "ok"
        entries = answer | {"reason": reason or None, "next": steps}
        print_object(options, status, started, **entries, **reading(imported))
    else:
        show(*entry_lines(answer))
        print_reading(imported)
        if reason:
            show(f"undecided: {reason}", *(f"next: {step}" for step in steps))
    return 3 if reason else 0


def _check(options: argparse.Namespace) -> None:
    """Refuse files that cannot be written before the work begins."""
    from polyrelu.cli.options import UsageError

    taken = [options.network, options.domain.removeprefix("slice:")]
    if options.output is not None:
        check_output("-o", options.output, taken)
    elif options.columns is not None:
        raise UsageError("--columns says what the file of -o has; give -o FILE too")
    check_checkpoint(options, taken)


def _totals(options: argparse.Namespace, network: Network) -> RegionTotals:
    """Do the work that the options ask for."""
    from polyrelu.complex import count_regions, save_region_stream
    from polyrelu.formats import parse_domain

    domain = parse_domain(options.domain, network.num_inputs)
    workers, checkpoint = chosen_workers(options), options.checkpoint
    with ProgressLine() as line:
        if options.output is None:
            return count_regions(
                network, domain, workers=workers, checkpoint=checkpoint, progress=line.show
            )
        return save_region_stream(
            network,
            domain,
            options.output,
            columns=None if options.columns is None else options.columns.split(","),
            workers=workers,
            checkpoint=checkpoint,
            progress=line.show,
        )
