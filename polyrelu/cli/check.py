"""The command `polyrelu check CERT`.

The command hands the certificate to the independent checker, which prints the verdict itself. Only
the option `--about` is answered here, because the checker does not read networks of other formats.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
from typing import Any

from polyrelu.cli.options import add_command, add_reading, read_network
from polyrelu.cli.output import show

__all__ = ["add_check"]


def add_check(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "re-derive a certificate with the independent checker"
    examples = (
        "check cert.json",
        "check cert.json --about example:digits",
    )
    parser = add_command(subparsers, "check", _run, summary, examples)
    parser.add_argument(
        "certificate",
        metavar="CERT",
        help="certificate file; a network file it names is looked for beside it",
    )
    parser.add_argument(
        "--network",
        action="append",
        default=[],
        metavar="FILE",
        help="a native network file (.json) the certificate refers to, if it is not beside it "
        "under its name",
    )
    parser.add_argument(
        "--about",
        metavar="NET",
        help="reject the certificate unless it is about this network (any format)",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu import checker

    if options.about and (rejection := _other_subject(options)):
        _print_rejection(options, rejection)
        return 1
    arguments = ["--json"] if options.json else []
    for name in options.network:
        arguments += ["--network", _as_path(name)]
    # The checker prints by itself; in between, colours are added on terminals.
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = checker.main([*arguments, _as_path(options.certificate)])
    if printed.getvalue():
        show(printed.getvalue().removesuffix("\n"))
    return status


def _other_subject(options: argparse.Namespace) -> dict[str, str]:
    """Return why the certificate is not about the network in --about; empty if it is."""
    from polyrelu.certificate import read_certificate

    certificate = read_certificate(options.certificate)
    wanted = read_network(options, options.about).network.sha256
    subjects = [certificate.sha256]
    if certificate.kind in ("equivalent", "not-equivalent"):  # both networks of a pair count
        subjects.append(str(certificate.other))
    if wanted in subjects:
        return {}
    return {
        "step": "about",
        "expected": f"a certificate about {options.about}, sha256 {wanted}",
        "got": f"one about {' and '.join(subjects)}",
    }


def _print_rejection(options: argparse.Namespace, rejection: dict[str, str]) -> None:
    """Print a rejection as the checker does."""
    if options.json:
        print(json.dumps({"command": "check", "status": "rejected", **rejection}))
    else:
        lines = [f"  {key}: {text}" for key, text in rejection.items()]
        show("rejected", *lines)


def _as_path(name: str) -> str:
    """Return a file name that cannot be taken for an option."""
    return f".{os.sep}{name}" if name.startswith("-") else name
