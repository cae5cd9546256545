"""The command `polyrelu show CERT`."""

from __future__ import annotations

import argparse
from typing import Any

from polyrelu.cli.options import add_command
from polyrelu.cli.output import print_object

__all__ = ["add_show"]


def add_show(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "show", _show, "print what a certificate states, for people (checks nothing)"
    )
    parser.add_argument("certificate", help="certificate file")
    parser.add_argument(
        "--latex", action="store_true", help="as a LaTeX fragment (needs amsmath, amssymb, amsthm)"
    )


def _show(options: argparse.Namespace, started: float) -> int:
    from polyrelu.certificate import describe, describe_latex, read_certificate

    certificate = read_certificate(options.certificate)
    text = describe_latex(certificate) if options.latex else describe(certificate)
    if options.json:
        print_object(options, "ok", started, certificate=options.certificate, text=text)
    else:
        print(text)
    return 0
