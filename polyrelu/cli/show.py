"""The command `polyrelu show CERT`, which describes a certificate and checks nothing."""

from __future__ import annotations

import argparse
from typing import Any

from polyrelu.cli.options import add_command
from polyrelu.cli.output import print_object, show

__all__ = ["add_show"]


def add_show(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "print what a certificate states, for people (checks nothing)"
    examples = (
        "show cert.json",
        "show cert.json --latex",
    )
    parser = add_command(subparsers, "show", _run, summary, examples)
    parser.add_argument("certificate", metavar="CERT", help="certificate file")
    parser.add_argument(
        "--latex", action="store_true", help="as a LaTeX fragment (needs amsmath, amssymb, amsthm)"
    )


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.certificate import describe, describe_latex, read_certificate

    certificate = read_certificate(options.certificate)
    text = describe_latex(certificate) if options.latex else describe(certificate)
    if options.json:
        print_object(options, "ok", started, certificate=options.certificate, text=text)
    else:
        show(text)
    return 0
