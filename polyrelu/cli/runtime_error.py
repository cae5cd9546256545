"""The command `polyrelu runtime-error NET`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command, add_network, read_network
from polyrelu.cli.output import check_output, print_object, print_reading, reading
from polyrelu.errors import DomainError, NetworkError, NetworkFileError

if TYPE_CHECKING:
    from fractions import Fraction


__all__ = ["add_runtime_error"]


def add_runtime_error(commands: Any) -> None:
    """Add the command to the parser."""
    summary = "bound how far a float runtime can be from the exact function on a box"
    parser = add_command(commands, "runtime-error", _runtime_error, summary)
    add_network(parser)
    parser.add_argument(
        "--domain",
        required=True,
        help="a bounded domain, written as for `complex`; the box around it is what counts",
    )
    parser.add_argument(
        "--arithmetic",
        choices=["float32", "float64"],
        help="the runtime's format; by default that of the file",
    )
    parser.add_argument(
        "-o", "--output", metavar="CERT", help="write a certificate of the bound here"
    )


def _runtime_error(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.exact import decimal_above, decimal_below
    from polyrelu.formats import runtime_error
    from polyrelu.formats.runtimes.runtime_error import ASSUMPTIONS
    from polyrelu.outcomes import Proved
    from polyrelu.proofs.runtime_error import prove_runtime_error

    if options.output is not None:
        check_output("-o", options.output, [options.network])
    imported = read_network(options, options.network)
    box = parse_domain(options.domain, imported.network.inputs).bounding_box()
    if box is None:
        raise DomainError(
            f"--domain {options.domain}: a rounding error is bounded on bounded domains only; use "
            "a box"
        )
    try:
        found = runtime_error(imported, *box, options.arithmetic)
    except NetworkError as error:
        folded = "; for a folded normalisation: --rounding text=float32,normalisation=float32"
        hint = folded if options.normalisation != "none" else ""
        raise NetworkFileError(options.network, "", f"{error}{hint}") from None
    outcome = prove_runtime_error(found)
    written = None
    if options.output is not None and isinstance(outcome, Proved):
        written = str(outcome.with_provenance(imported.provenance).save(options.output)[-1])
    known = found.worst is not None and (written is not None or options.output is None)
    if options.json:
        shown = {
            key: [_text(entry) for entry in getattr(found, key)]
            for key in ("bounds", "low", "high")
        }
        print_object(
            options,
            "proved" if known else "undecided",
            started,
            domain=options.domain,
            arithmetic=found.arithmetic,
            worst=_text(found.worst),
            **shown,
            assumed=list(ASSUMPTIONS),
            certificate=written,
            **reading(imported),
        )
    else:
        print(found)
        if len(found.bounds) <= 20:
            for i, (bound, low, high) in enumerate(
                zip(found.bounds, found.low, found.high, strict=True)
            ):
                inside = f"[{_shown_as(decimal_below, low)}, {_shown_as(decimal_above, high)}]"
                print(
                    f"  output {i}: {_shown_as(decimal_above, bound)}, the exact values lie in "
                    f"{inside}"
                )
        print("".join(f"assumed: {assumption}\n" for assumption in ASSUMPTIONS), end="")
        print_reading(imported)
        if written is not None:
            print(f"certificate: {written} (check it: polyrelu check {written})")
        elif options.output is not None:
            print(f"no certificate was written: {outcome}")
    return 0 if known else 3


def _text(number: Fraction | None) -> str | None:
    from polyrelu.exact import format_rational

    return None if number is None else format_rational(number)


def _shown_as(decimal: Callable[[Fraction], str], number: Fraction | None) -> str:
    return "unknown" if number is None else decimal(number)
