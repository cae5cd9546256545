"""The command `polyrelu fingerprint NET …`: a hash of the function, whatever computes it."""

from __future__ import annotations

import argparse
from typing import Any

from polyrelu.cli.options import (
    NETWORK_HELP,
    add_command,
    add_limits,
    add_reading,
    read_network,
)
from polyrelu.cli.output import print_object, show

__all__ = ["add_fingerprint"]


def add_fingerprint(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "print a hash of the function of each network, equal exactly if the functions are"
    examples = (
        "fingerprint example:twins-a example:twins-b",
        "fingerprint net.onnx --domain box:-1,1",
    )
    parser = add_command(subparsers, "fingerprint", _run, summary, examples)
    parser.add_argument("networks", metavar="NET", nargs="+", help=NETWORK_HELP)
    parser.add_argument(
        "--domain",
        default="R^n",
        help="where functions are compared: R^n (the default), orthant, box:lo,hi, slice:FILE, "
        "FILE.json or FILE.vnnlib, as for `complex`",
    )
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.foldsets import fingerprint
    from polyrelu.formats import parse_domain

    found = dict[str, str]()
    for name in options.networks:
        network = read_network(options, name).network
        found[name] = fingerprint(network, parse_domain(options.domain, network.num_inputs))
    if options.json:
        print_object(options, "ok", started, domain=options.domain, fingerprints=found)
    else:
        show(*(f"{text}  {name}" for name, text in found.items()))
    return 0
