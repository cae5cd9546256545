"""The command `polyrelu info NET`, which says what was read from a network file.

`polyrelu info --engine` says instead which engine computes complexes and walks here.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu._core import chosen_engine
from polyrelu.cli.options import UsageError, add_command, add_network, add_reading, read_network
from polyrelu.cli.output import print_object, show
from polyrelu.support.display import widths_text

if TYPE_CHECKING:
    from polyrelu.formats import Imported

__all__ = ["add_info"]


def add_info(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "say what was read from a network file"
    examples = (
        "info net.onnx --json",
        "info --engine",
    )
    parser = add_command(subparsers, "info", _run, summary, examples)
    add_network(parser, or_option="--engine")
    parser.add_argument(
        "--engine",
        action="store_true",
        help="say which engine computes complexes and walks, the compiled core or numpy, and why",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    if options.engine:
        return _tell_engine(options, started)
    if options.network is None:
        raise UsageError("the following arguments are required: NET (or --engine)")
    imported = read_network(options, options.network)
    if options.json:
        print_object(options, "ok", started, **_answer(imported))
    else:
        _print_text(options, imported)
    return 0


def _tell_engine(options: argparse.Namespace, started: float) -> int:
    """Say which engine computes complexes and walks; no network is read."""
    engine = chosen_engine()
    if options.json:
        print_object(options, "ok", started, engine=engine.name, reason=engine.reason)
    else:
        show(f"engine       {engine.name}")
        if engine.reason:
            show(f"reason       {engine.reason}")
    return 0


def _print_text(options: argparse.Namespace, imported: Imported) -> None:
    """Print the answer for people."""
    network = imported.network
    lines = [
        ("file", options.network),
        ("format", imported.format),
        ("architecture", _architecture_text(imported)),
        ("parameters", str(network.num_parameters)),
        ("stored", f"{imported.num_stored} numbers of the file"),
        ("weights", ", ".join(imported.dtypes) or "none"),
        ("rounding", imported.rounding),
        ("read", " > ".join(imported.steps)),
        *(("note", note) for note in _notes(imported)),
        *(("caution", caveat) for caveat in imported.caveats),
        ("compared", str(imported.comparison)),
        ("file sha256", imported.source_sha256),
        ("sha256", network.sha256),
    ]
    show(*(f"{key:<13}{value}" for key, value in lines))


def _architecture_text(imported: Imported) -> str:
    """Return the widths of a network in words, with what makes connections skip layers."""
    network = imported.network
    if network.is_plain:
        return str(network.architecture)
    widths, names = widths_text(network.widths), " and ".join(imported.skipping)
    if names in ("", "skip connections"):
        return f"{widths} with connections that skip layers"
    return f"{widths} with {names}, written as connections that skip layers"


def _notes(imported: Imported) -> list[str]:
    """Return the notes of the reader, and whether `identify` takes it for a leaky ReLU stack."""
    from polyrelu.exact.texts import number_text
    from polyrelu.network import leaky_stack

    stack = leaky_stack(imported.network)
    if stack is None or stack.slope < 0:
        return list(imported.notes)
    what = f"the network is a stack of leaky ReLUs of slope {number_text(stack.slope)}"
    if "leaky ReLU" not in imported.skipping:
        what = f"leaky ReLUs make connections that skip layers just like these, so that {what}"
    return [*imported.notes, f"{what}, and identify answers among such stacks"]


def _answer(imported: Imported) -> dict[str, Any]:
    """Return the entries of the JSON object."""
    network = imported.network
    return {
        "architecture": list(network.widths) if network.is_plain else None,
        "last": network.last,
        "parameters": network.num_parameters,
        "sha256": network.sha256,
        "rounding": imported.rounding,
        "format": imported.format,
        "dtypes": list(imported.dtypes),
        "read": list(imported.steps),
        "notes": _notes(imported),
        "caveats": list(imported.caveats),
        "widths": list(network.widths),
        "numbers": imported.num_stored,
        "compared": _comparison(imported),
        "source_sha256": imported.source_sha256,
    }


def _comparison(imported: Imported) -> dict[str, Any]:
    """Return the comparison with the runtime of the format, for the JSON object."""
    comparison = imported.comparison
    if comparison.reason:
        return {"runtime": None, "reason": comparison.reason}
    return {
        "runtime": comparison.runtime,
        "points": comparison.num_points,
        "values": comparison.num_values,
        "worst": comparison.worst,
        "overflows": comparison.num_overflows,
    }
