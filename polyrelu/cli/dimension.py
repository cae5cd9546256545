"""The command `polyrelu dimension NET`: on how many parameters the function depends, locally."""

from __future__ import annotations

import argparse
from typing import Any

from polyrelu.cli.bounds import add_certificate, check_certificate_file, print_bound
from polyrelu.cli.options import add_command, add_limits, add_network, add_reading, read_network
from polyrelu.cli.workers import add_checkpoint, check_checkpoint
from polyrelu.support.progress import ProgressLine

__all__ = ["add_dimension"]


def add_dimension(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "bound the functional dimension: the rank of the derivatives by the parameters"
    examples = ("dimension example:bends", "dimension net.onnx --points 500 -o rank.cert.json")
    parser = add_command(subparsers, "dimension", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--points",
        type=int,
        metavar="N",
        help="look at N points in cells that lines of many scales meet (by default all regions of "
        "small networks, and as many points as larger ones may need)",
    )
    add_certificate(parser)
    add_checkpoint(parser)
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.foldsets import points_in_cells
    from polyrelu.formats import parse_domain
    from polyrelu.proofs import certify_functional_dimension
    from polyrelu.support.arguments import expect_count

    check_certificate_file(options)
    check_checkpoint(options, [options.network, options.domain.removeprefix("slice:")])
    imported = read_network(options, options.network)
    domain = parse_domain(options.domain, imported.network.num_inputs)
    points = None
    if options.points is not None:
        expect_count(options.points, "--points", 1)
        points = points_in_cells(imported.network, options.points, domain, seed=options.seed)
    with ProgressLine() as line:
        outcome = certify_functional_dimension(
            imported,
            domain,
            points=points,
            seed=options.seed,
            progress=line.show,
            checkpoint=options.checkpoint,
        )
    answer = {
        "at_least": outcome.at_least,
        "at_most": outcome.at_most,
        "parameters": imported.network.num_parameters,
    }
    return print_bound(options, outcome, imported, started, answer)
