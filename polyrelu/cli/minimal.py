"""The command `polyrelu minimal NET`: how large every network with the same function is."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from polyrelu.cli.bounds import add_certificate, check_certificate_file, print_bound
from polyrelu.cli.options import (
    UsageError,
    add_command,
    add_limits,
    add_network,
    add_reading,
    named_operations,
    read_network,
)

__all__ = ["add_minimal"]

#: The default of --budget, as in `proofs.sizes`.
_BUDGET = 20_000


def add_minimal(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "prove how many layers or neurons every network with the same function has at least"
    examples = (
        "minimal example:bends",
        "minimal net.onnx --among transversal -o depth.cert.json",
    )
    parser = add_command(subparsers, "minimal", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--quantity",
        choices=("hidden-layers", "neurons", "neurons-of-one-layer"),
        default="hidden-layers",
        help="what is counted (default hidden-layers); neurons-of-one-layer is about networks with "
        "one hidden layer only",
    )
    parser.add_argument(
        "--among",
        choices=("all", "regular", "transversal"),
        default="all",
        help="networks that the bound is about: all of any kind (the default; at most two hidden "
        "layers are ever proved), or plain stacks of a class",
    )
    add_certificate(parser)
    add_limits(
        parser,
        f"work of the search, in units of about a millisecond (default {_BUDGET}; inf: no limit)",
    )
    parser.set_defaults(budget=_BUDGET)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import with_commands
    from polyrelu.formats import parse_domain
    from polyrelu.outcomes import Undecided
    from polyrelu.proofs import size_bound

    if options.among != "all" and options.quantity != "hidden-layers":
        raise UsageError(f"--among {options.among}: bounds on hidden layers only")
    check_certificate_file(options)
    imported = read_network(options, options.network)
    outcome = size_bound(
        imported,
        options.quantity,
        parse_domain(options.domain, imported.network.num_inputs),
        among=options.among,
        seed=options.seed,
        budget=options.limits,
    )
    answer = {"quantity": options.quantity, "among": options.among}
    if isinstance(outcome, Undecided):
        outcome = with_commands(outcome, options, [options.network])
        outcome = replace(outcome, reason=named_operations(options, outcome.reason))
        answer |= {"at_least": None, "own_size": None}
    else:
        answer |= {"at_least": outcome.at_least, "own_size": outcome.own_size}
    return print_bound(options, outcome, imported, started, answer)
