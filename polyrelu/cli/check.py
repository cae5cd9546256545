"""The command `polyrelu check CERT`."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from polyrelu.cli.options import add_command, add_reading, read_network

__all__ = ["add_check"]


def add_check(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "check", _check, "re-derive a certificate with the independent checker"
    )
    parser.add_argument(
        "certificate", help="certificate file; a network file it names is looked for beside it"
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


def _check(options: argparse.Namespace, started: float) -> int:
    from polyrelu import checker

    if options.about and not _is_about(options):
        return 1
    arguments = ["--json"] if options.json else []
    for name in options.network:
        arguments += ["--network", _as_path(name)]
    return checker.main([*arguments, _as_path(options.certificate)])


def _is_about(options: argparse.Namespace) -> bool:
    """Whether the certificate speaks of the network in --about; if not, say so."""
    from polyrelu.certificate import read_certificate

    certificate, wanted = (
        read_certificate(options.certificate),
        read_network(options, options.about).network.sha256,
    )
    subjects = [certificate.sha256]
    if certificate.kind in ("equivalent", "not-equivalent"):  # both networks of a pair count
        subjects.append(str(certificate.other))
    if wanted in subjects:
        return True
    found = " and ".join(subjects)
    step, expected, got = (
        "about",
        f"a certificate about {options.about}, sha256 {wanted}",
        f"one about {found}",
    )
    if options.json:
        print(
            json.dumps(
                {
                    "command": "check",
                    "status": "rejected",
                    "step": step,
                    "expected": expected,
                    "got": got,
                }
            )
        )
    else:
        print(f"rejected\n  step: {step}\n  expected: {expected}\n  got: {got}")
    return False


def _as_path(name: str) -> str:
    """A file name that cannot be taken for an option."""
    return f".{os.sep}{name}" if name.startswith("-") else name
