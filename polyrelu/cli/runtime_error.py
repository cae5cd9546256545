"""The command `polyrelu runtime-error NET`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command, add_limits, add_network, add_reading, read_network
from polyrelu.cli.output import (
    check_output,
    print_object,
    print_reading,
    reading,
    show,
    written_cost,
    written_lines,
)
from polyrelu.errors import DomainError, NetworkError, NetworkFileError

if TYPE_CHECKING:
    from fractions import Fraction

    from polyrelu.certificate import Certificate
    from polyrelu.formats import Imported, RuntimeErrorBound
    from polyrelu.outcomes import Proved, Undecided

__all__ = ["add_runtime_error"]

#: Maximum number of outputs whose bounds are printed for people.
_MAX_OUTPUTS = 20


def add_runtime_error(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "bound how far a float runtime can be from the exact function on a box"
    examples = (
        "runtime-error example:digits --domain box:0,1 -o rounding.cert.json",
        "runtime-error net.onnx --domain box:-1,1 --arithmetic float32",
    )
    parser = add_command(subparsers, "runtime-error", _run, summary, examples)
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
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.proofs.runtime_error import prove_runtime_error

    if options.output is not None:
        check_output("-o", options.output, [options.network])
    imported = read_network(options, options.network)
    bound = _bound(options, imported)
    outcome = prove_runtime_error(bound)
    written = _write_certificate(options, outcome, imported)
    cost = written_cost(options, written)
    is_proved = bound.worst is not None and (bool(written) or options.output is None)
    if options.json:
        status = "proved" if is_proved else "undecided"
        answer = _answer(options, bound, written)
        answer["check_cost"] = cost and cost.to_json()
        print_object(options, status, started, **answer, **reading(imported))
    else:
        _print_text(bound)
        print_reading(imported)
        if written:
            show(*written_lines(options.output, written, cost))
        elif options.output is not None:
            show(f"no certificate was written: {outcome}")
    return 0 if is_proved else 3


def _bound(options: argparse.Namespace, imported: Imported) -> RuntimeErrorBound:
    """Return the bound on the box around the domain."""
    from polyrelu.formats import parse_domain, runtime_error

    box = parse_domain(options.domain, imported.network.num_inputs).bounding_box()
    if box is None:
        raise DomainError(
            f"--domain {options.domain}: a rounding error is bounded on bounded domains only; use "
            "a box"
        )
    try:
        return runtime_error(imported, box, arithmetic=options.arithmetic)
    except NetworkError as error:
        folded = "; for a folded normalisation: --rounding text=float32,normalisation=float32"
        hint = folded if options.normalisation != "none" else ""
        raise NetworkFileError(options.network, "", f"{error}{hint}") from None


def _write_certificate(
    options: argparse.Namespace, outcome: Proved[Certificate] | Undecided, imported: Imported
) -> list[Path]:
    """Write the certificate, if there is one and it is wanted; return the files."""
    from polyrelu.outcomes import Proved

    if options.output is None or not isinstance(outcome, Proved):
        return []
    return outcome.with_provenance(imported.provenance).save(options.output)


def _answer(
    options: argparse.Namespace, bound: RuntimeErrorBound, written: list[Path]
) -> dict[str, Any]:
    """Return the entries of the JSON object."""
    from polyrelu.formats.runtime_error import ASSUMPTIONS

    numbers = {
        key: list(map(_rational_or_none, getattr(bound, key))) for key in ("bounds", "low", "high")
    }
    return {
        "domain": options.domain,
        "arithmetic": bound.arithmetic,
        "worst": _rational_or_none(bound.worst),
        **numbers,
        "assumed": list(ASSUMPTIONS),
        "certificate": str(written[-1]) if written else None,
    }


def _print_text(bound: RuntimeErrorBound) -> None:
    """Print the bound for people, with the bounds of the outputs if they are few."""
    from polyrelu.exact import decimal_above, decimal_below
    from polyrelu.formats.runtime_error import ASSUMPTIONS

    show(str(bound))
    if len(bound.bounds) <= _MAX_OUTPUTS:
        rows = zip(bound.bounds, bound.low, bound.high, strict=True)
        for i, (error, low, high) in enumerate(rows):
            ends = f"{_decimal_text(decimal_below, low)}, {_decimal_text(decimal_above, high)}"
            error_text = _decimal_text(decimal_above, error)
            show(f"  output {i}: {error_text}, the exact values lie in [{ends}]")
    for assumption in ASSUMPTIONS:
        show(f"assumed: {assumption}")


def _rational_or_none(number: Fraction | None) -> str | None:
    """Return a number as the JSON object has it."""
    from polyrelu.exact import format_rational

    return None if number is None else format_rational(number)


def _decimal_text(decimal: Callable[[Fraction], str], number: Fraction | None) -> str:
    """Return a number rounded by `decimal`, for people."""
    return "unknown" if number is None else decimal(number)
