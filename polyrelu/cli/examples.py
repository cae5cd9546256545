"""The command `polyrelu examples`: the shipped example networks, and files of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command
from polyrelu.cli.output import check_output, check_written_ending, print_object, show
from polyrelu.cli.parser import UsageError
from polyrelu.support.display import widths_text

if TYPE_CHECKING:
    from polyrelu.formats import Example

__all__ = ["add_examples"]


def add_examples(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "list the shipped example networks, or write one to a file"
    examples = ("examples", "examples bends -o bends.json")
    parser = add_command(subparsers, "examples", _run, summary, examples)
    parser.add_argument("name", metavar="NAME", nargs="?", help="an example; by default all")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the network NAME here, exactly, in the format of the ending: .json (native), "
        ".onnx, .npz, .nnet or .pt",
    )


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import examples, find_example, save

    _check_options(options)
    name = options.name and options.name.removeprefix("example:")
    chosen = examples() if name is None else (find_example(name),)
    if options.output is not None:
        save(f"example:{chosen[0].name}", options.output)
    if options.json:
        entries = [_entry(example) for example in chosen]
        print_object(options, "ok", started, examples=entries, output=options.output)
    else:
        show(*map(_text, chosen))
        if options.output is not None:
            show(f"written: {options.output}")
    return 0


def _check_options(options: argparse.Namespace) -> None:
    """Raise an error for a file that cannot be written."""
    if options.output is None:
        return
    if options.name is None:
        raise UsageError("-o writes one example; give its NAME as well (polyrelu examples: all)")
    check_output("-o", options.output, [])
    check_written_ending("-o", options.output)


def _entry(example: Example) -> dict[str, object]:
    """Return the entry of an example in the JSON object."""
    return {
        "name": example.name,
        "architecture": list(example.architecture),
        "sentence": example.sentence,
        "identify": example.identify,
    }


def _text(example: Example) -> str:
    """Return lines of text about an example."""
    from polyrelu.support.text_files import wrapped

    widths = widths_text(example.architecture)
    return "\n".join(
        [
            f"example:{example.name}  {widths}",
            wrapped(f"  {example.sentence}"),
            f"  identify: {example.identify}",
        ]
    )
