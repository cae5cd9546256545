"""The command `polyrelu convert A B`, which writes a network in the format of B's ending."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command, add_network, add_reading, read_network
from polyrelu.cli.output import (
    check_output,
    check_written_ending,
    print_object,
    print_reading,
    reading,
    show,
)

if TYPE_CHECKING:
    from polyrelu.formats import Imported, SavedNetwork

__all__ = ["add_convert"]


def add_convert(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "write a network in another format, and say how far its numbers moved"
    examples = (
        "convert net.onnx net.json",
        "convert example:digits digits.onnx --numbers float64",
    )
    parser = add_command(subparsers, "convert", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "output",
        metavar="FILE",
        help="file to write, in the format of its ending: .json (native, holds every network "
        "exactly), .onnx, .npz, .nnet, .pt or .pth (state dict of PyTorch); a file of this name is "
        "replaced",
    )
    parser.add_argument(
        "--numbers",
        choices=("float32", "float64"),
        help="round the numbers to this type; by default they keep their values wherever the "
        "format can hold them, and become the nearest float64 otherwise",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import save

    check_output("FILE", options.output, [options.network])
    check_written_ending("FILE", options.output)
    imported = read_network(options, options.network)
    written = save(imported, options.output, numbers=options.numbers)
    if options.json:
        answer = _answer(options, imported, written)
        print_object(options, "ok", started, **answer, **reading(imported))
    else:
        show(*_lines(options, imported, written))
        print_reading(imported)
    return 0


def _answer(
    options: argparse.Namespace, imported: Imported, written: SavedNetwork
) -> dict[str, Any]:
    """Return the entries of the JSON object about the file."""
    from polyrelu.exact import decimal_above

    return {
        "format": imported.format,
        "widths": list(imported.network.widths),
        "sha256": imported.network.sha256,
        "output": options.output,
        "numbers": written.numbers,
        "exact": written.exact,
        "largest_difference": decimal_above(written.largest_difference),
        "notes": list(written.notes),
    }


def _lines(options: argparse.Namespace, imported: Imported, written: SavedNetwork) -> list[str]:
    """Return the answer for people."""
    from polyrelu.exact import decimal_above

    moved = (
        "none moved"
        if written.exact
        else f"rounded; each moved by at most {decimal_above(written.largest_difference)}"
    )
    lines = [
        ("network", str(imported)),
        ("written", options.output),
        ("numbers", f"{written.numbers}; {moved}"),
        *(("note", note) for note in written.notes),
    ]
    return [f"{key:<9}{value}" for key, value in lines]
