"""What `minimal` and `dimension` have in common: a bound with a certificate is printed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.answers import print_answer
from polyrelu.cli.options import add_seed
from polyrelu.cli.output import (
    check_output,
)

if TYPE_CHECKING:
    from polyrelu.formats import Imported
    from polyrelu.outcomes import DimensionBound, SizeBound, Undecided

__all__ = ["add_certificate", "check_certificate_file", "print_bound"]


def add_certificate(parser: argparse.ArgumentParser) -> None:
    """Add the options about domain, certificate and seed."""
    parser.add_argument(
        "--domain",
        default="R^n",
        help="inputs: R^n (the default), orthant, box:lo,hi, 'box:lo0,hi0;lo1,hi1;…', slice:FILE, "
        "FILE.json or FILE.vnnlib, as for `complex`",
    )
    parser.add_argument("-o", "--output", metavar="CERT", help="write the certificate here")
    add_seed(parser, "seed of the searches (default 0); the same seed gives the same answer")


def check_certificate_file(options: argparse.Namespace) -> None:
    """Refuse a certificate file that cannot be written, before any work."""
    if options.output is not None:
        check_output("-o", options.output, [options.network, options.domain])


def print_bound(
    options: argparse.Namespace,
    outcome: SizeBound | DimensionBound | Undecided,
    imported: Imported,
    started: float,
    answer: dict[str, Any],
) -> int:
    """Write the certificate, print the answer, and return the exit status."""
    from polyrelu.outcomes import Undecided

    written: list[Path] = []
    hypotheses: list[dict[str, Any]] = []
    if not isinstance(outcome, Undecided):
        hypotheses = [
            {key: value for key, value in entry.to_json().items() if key != "evidence"}
            for entry in outcome.certificate.hypotheses
        ]
        if options.output is not None:
            written = outcome.save(options.output)
    answer = {
        "theorem": outcome.theorem,
        "statement": outcome.statement,
        "hypotheses": hypotheses,
        **answer,
    }
    return print_answer(options, outcome, started, answer, [imported], written)
