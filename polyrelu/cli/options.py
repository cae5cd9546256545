"""The options that commands share, and the reading of a network as they say.

Every command that takes a network has the same group of options about the reading, the last one in
its help; options that a format does not need do nothing there. Help texts are part of the
interface, and the tests run the examples in them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from polyrelu.cli.output import EXIT_STATUS
from polyrelu.cli.parser import UsageError
from polyrelu.support.limits import NUMBER

if TYPE_CHECKING:
    from fractions import Fraction

    from polyrelu.formats import Imported

__all__ = [
    "NETWORK_HELP",
    "UsageError",
    "add_command",
    "add_limits",
    "add_network",
    "add_reading",
    "add_seed",
    "exact_number",
    "named_operations",
    "output_index",
    "read_network",
    "watch_limits",
]

#: Share of a time limit, and least number of seconds, that a computation has to end by itself.
_GRACE_SHARE, _LEAST_GRACE = 0.1, 0.5
#: The help about network files.
NETWORK_HELP = (
    "network file (.onnx, .nnet, .pt, .h5, .npz, .json, …, also packed as .onnx.gz) or a shipped "
    "network such as example:digits or corpus:xor (`polyrelu examples`, `polyrelu corpus list`)"
)


def add_command(
    subparsers: Any,
    name: str,
    run: Callable[..., int],
    summary: str,
    examples: Sequence[str],
    statuses: str = EXIT_STATUS,
) -> argparse.ArgumentParser:
    """Add a command with the option --json, and return its parser.

    `examples` are command lines without the name of the program, as the help shows them, and
    `statuses` says what exit statuses mean.
    """
    lines = "\n".join(f"  polyrelu {example}" for example in examples)
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"examples:\n{lines}\n\n{statuses}",
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.add_argument(
        "--debug", action="store_true", help="print the traceback of an unexpected error"
    )
    return parser


def add_limits(parser: argparse.ArgumentParser, budget: str = "") -> None:
    """Add the limits of a computation; `budget` is the help of --budget, if there is that option.

    `watch_limits` puts them in force, and makes the attribute `limits` of the options, a `Budget`.
    """
    if budget:
        parser.add_argument("--budget", type=float, metavar="UNITS", help=budget)
    parser.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="end the whole command after so long, undecided (default: no limit)",
    )
    parser.add_argument(
        "--memory-limit",
        type=int,
        metavar="MIB",
        help="end the command, undecided, when the process takes so much memory (default: no "
        "limit)",
    )


def watch_limits(options: argparse.Namespace) -> None:
    """Put the limits of a command in force, if it has that kind of options."""
    if not hasattr(options, "time_limit"):
        return
    from polyrelu.support.budget import Budget

    work = getattr(options, "budget", None)
    for name, limit in (
        ("--budget", work),
        ("--time-limit", options.time_limit),
        ("--memory-limit", options.memory_limit),
    ):
        if limit is not None and not limit >= 0:
            raise UsageError(f"{name} {limit}: must be 0 or more")
    options.limits = Budget(work, options.time_limit, options.memory_limit)
    if options.time_limit is not None or options.memory_limit is not None:
        grace = max(_LEAST_GRACE, _GRACE_SHARE * (options.time_limit or 0))
        options.watch.limit(options.limits.why_stopped, grace)


def add_network(parser: argparse.ArgumentParser, or_option: str = "") -> None:
    """Add the network file; the options about its reading come last, by `add_reading`.

    The file may be left out where `or_option` names an option that needs none.
    """
    help_text = f"{NETWORK_HELP}; not needed with {or_option}" if or_option else NETWORK_HELP
    nargs = "?" if or_option else None
    parser.add_argument("network", metavar="NET", nargs=nargs, help=help_text)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options about the reading of network files, after all other options."""
    reading = parser.add_argument_group("reading the network file")
    reading.add_argument(
        "--rounding",
        default="",
        metavar="RULES",
        help="rule=value, separated by commas, for steps that are not exact: "
        "batchnorm=float64|float32 (factors 1/√), text=exact|float64|float32 (decimal text), "
        "attributes=stored|decimal (float32 attributes), normalisation=exact|float64|float32 "
        "(weights it is folded into); the first of each is the default",
    )
    reading.add_argument(
        "--normalisation",
        default="none",
        choices=["none", "inputs", "outputs", "both"],
        help="whether the file's own normalisation (.nnet) is part of the network; none is the "
        "default",
    )
    reading.add_argument(
        "--prefix",
        help="where a file holds several networks: the start of the names of the one wanted",
    )
    reading.add_argument(
        "--input-shape",
        metavar="SIZES",
        help="shape of one sample, the batch included as 1, such as 1,3,32,32, where the file does "
        "not say it",
    )
    reading.add_argument(
        "--output-name",
        metavar="NAME",
        help="the value of an ONNX file that becomes the output; all outputs are the default",
    )
    reading.add_argument(
        "--strip-tail",
        action="store_true",
        help="leave out a Softmax, Sigmoid, … after the last layer",
    )
    reading.add_argument(
        "--no-compare",
        action="store_true",
        help="do not compare what was read with the format's own runtime (onnxruntime), if that is "
        "installed",
    )
    reading.add_argument(
        "--read-limit",
        type=float,
        default=1.0,
        metavar="FACTOR",
        help="how many times the usual memory and work the reading of a file of its size may take; "
        "inf is no limit (1)",
    )


def add_seed(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Add the seed of random choices, which is 0 by default."""
    parser.add_argument("--seed", type=_seed, default=0, help=help_text)


def _seed(text: str) -> int:
    """Return a seed that an option gives as text."""
    if not re.fullmatch("[0-9]{1,4000}", text, re.ASCII):
        raise UsageError(f"--seed {text[:40]}: expected an integer from 0")
    return int(text)


def exact_number(text: str, option: str) -> Fraction:
    """Return a number from 0 on that an option gives as text: p, p/q or a decimal, exactly.

    >>> exact_number("0.05", "--gap"), exact_number("1e-3", "--gap")
    (Fraction(1, 20), Fraction(1, 1000))
    """
    from fractions import Fraction

    from polyrelu.errors import PolyreluError
    from polyrelu.exact import to_fraction

    found = None
    with suppress(PolyreluError):  # numbers with more digits than people write have one spelling
        found = Fraction(text) if NUMBER.fullmatch(text) else to_fraction(text)
    if found is None or found < 0:
        raise UsageError(
            f"{option} {text[:40]!r}: expected a number from 0 on, such as 1/100 or 0.01"
        )
    return found


def output_index(option: str, text: str, hint: str = "") -> int:
    """Return the index of an output that an option gives as text."""
    if not re.fullmatch("[0-9]{1,9}", text, re.ASCII):
        raise UsageError(f"{option} {text[:40]!r}: expected the number of an output, from 0{hint}")
    return int(text)


def named_operations(options: argparse.Namespace, message: str) -> str:
    """Return an error with the operations that make connections skip layers, if it is about these.

    >>> from types import SimpleNamespace
    >>> options = argparse.Namespace(skipping=SimpleNamespace(skipping=["max pooling"]))
    >>> named_operations(options, "it has connections that skip layers, so that")
    'it has connections that skip layers (here they come from max pooling), so that'
    """
    skipping = getattr(options, "skipping", None)
    names = [name for name in skipping.skipping if name not in message] if skipping else []
    if not names or names == ["skip connections"]:
        return message
    connections = "connections that skip layers"
    said = f" (here they come from {' and '.join(names)})"
    if "skip connection" in message:
        return message + said
    return message.replace(connections, connections + said, 1)


def read_network(
    options: argparse.Namespace, name: str, unused: frozenset[str] = frozenset()
) -> Imported:
    """Read a network file as the options say.

    `unused` names options that mean nothing for the format of the file. The first network whose
    layers skip others is noted in the options, for answers about it (`named_operations`).
    """
    from polyrelu.formats import read

    shape = None
    if options.input_shape is not None:
        sizes = options.input_shape.split(",")
        if not all(size.strip().isdecimal() and len(size) < 10 for size in sizes):
            raise UsageError(
                f"--input-shape {options.input_shape[:40]}: expected sizes such as 1,3,32,32"
            )
        shape = [int(size) for size in sizes]
    imported = read(
        name,
        prefix=None if "prefix" in unused else options.prefix,
        rounding=options.rounding,
        normalisation="none" if "normalisation" in unused else options.normalisation,
        strip_tail=options.strip_tail,
        input_shape=None if "input_shape" in unused else shape,
        output_name=None if "output_name" in unused else options.output_name,
        compare=not options.no_compare,
        read_limit=options.read_limit,
    )
    if not (imported.network.is_plain or hasattr(options, "skipping")):
        options.skipping, options.skipping_file = imported, name
    return imported
