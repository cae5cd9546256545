"""What the commands share: options for reading networks, outputs that are checked before any work, one JSON object."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.errors import CertificateError, PolyreluError

if TYPE_CHECKING:
    from polyrelu.complex.polyhedral_complex import Progress
    from polyrelu.importers import Imported

__all__ = [
    "EXIT",
    "EXIT_STATUS",
    "NETWORK_HELP",
    "ProgressLine",
    "UsageError",
    "add_command",
    "add_network",
    "add_reading",
    "check_output",
    "neuron_progress",
    "print_object",
    "print_reading",
    "read_network",
    "reading",
    "say_interrupted",
    "written_lines",
]

EXIT = {"proved": 0, "refuted": 1, "undecided": 3}
EXIT_STATUS = (
    "Exit status: 0 proved / accepted, 1 refuted / rejected, 2 error / unreadable, 3 undecided or interrupted."
)
NETWORK_HELP = "network file (.onnx, .nnet, .pt, .h5, .npz, .json, …) or a shipped example such as example:digits"


class UsageError(PolyreluError):
    """A command line that is not understood."""


def add_command(commands: Any, name: str, run: Callable[..., int], summary: str) -> argparse.ArgumentParser:
    """A command of the program."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary, epilog=EXIT_STATUS)
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    return parser


def add_network(parser: argparse.ArgumentParser) -> None:
    """The network file and how it is read; options that a format does not need do nothing there."""
    parser.add_argument("network", help=NETWORK_HELP)
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How network files are read."""
    reading = parser.add_argument_group("reading the network file")
    reading.add_argument(
        "--rounding",
        default="",
        metavar="RULES",
        help="rule=value, separated by commas, for steps that are not exact: batchnorm=float64|float32 (factors 1/√), "
        "text=exact|float64|float32 (decimal text), attributes=stored|decimal (float32 attributes), "
        "normalisation=exact|float64|float32 (weights it is folded into); the first of each is the default",
    )
    reading.add_argument(
        "--normalisation",
        default="none",
        choices=["none", "inputs", "outputs", "both"],
        help="whether the file's own normalisation (.nnet) is part of the network; none is the default",
    )
    reading.add_argument(
        "--prefix", help="where a file holds several networks: the start of the names of the one wanted"
    )
    reading.add_argument(
        "--input-shape",
        metavar="SIZES",
        help="shape of one sample, the batch included as 1, such as 1,3,32,32, where the file does not say it",
    )
    reading.add_argument(
        "--strip-tail", action="store_true", help="leave out a Softmax, Sigmoid, … after the last layer"
    )
    reading.add_argument(
        "--no-compare",
        action="store_true",
        help="do not compare what was read with the format's own runtime (onnxruntime), if that is installed",
    )


def read_network(options: argparse.Namespace, name: str, unused: frozenset[str] = frozenset()) -> Imported:
    """The network of a file, read as the options say; `unused` names options that mean nothing for its format."""
    from polyrelu.importers import read

    shape = None
    if options.input_shape is not None:
        sizes = options.input_shape.split(",")
        if not all(size.strip().isdecimal() and len(size) < 10 for size in sizes):
            raise UsageError(f"--input-shape {options.input_shape[:40]}: expected sizes such as 1,3,32,32")
        shape = [int(size) for size in sizes]
    return read(
        name,
        prefix=None if "prefix" in unused else options.prefix,
        rounding=options.rounding,
        normalisation="none" if "normalisation" in unused else options.normalisation,
        strip_tail=options.strip_tail,
        input_shape=None if "input_shape" in unused else shape,
        compare=not options.no_compare,
    )


def reading(imported: Imported) -> dict[str, Any]:
    """How the network was read, as far as an answer depends on it."""
    return {"rounding": imported.rounding, "caveats": list(imported.caveats)}


def print_reading(imported: Imported, name: str = "") -> None:
    """The same for people."""
    if imported.rounding != "none":
        print(f"{name}rounding: {imported.rounding}")
    for caveat in imported.caveats:
        print(f"{name}caution: {caveat}")


def check_output(option: str, name: str, inputs: Sequence[str]) -> None:
    """An output that cannot be written, or would overwrite an input, is found out before any work is done."""
    path, problem = Path(name), ""
    try:
        if name == "" or not path.parent.is_dir():
            problem = "there is no such folder"
        elif path.exists() and not path.is_file():
            problem = "it is not a regular file"
    except OSError as error:  # such as a name that is too long
        problem = error.strerror or str(error)
    if problem:
        raise CertificateError(f"{option} {name[:80]!r}: cannot write: {problem}")
    for given in inputs:
        if path.resolve() == Path(given).resolve():
            raise CertificateError(f"{option} {name}: this would overwrite {given[:80]}; choose another name")


def print_object(options: argparse.Namespace, status: str, started: float, **found: Any) -> None:
    """The one object of ``--json``."""
    seconds = round(time.perf_counter() - started, 3)
    print(json.dumps({"command": options.command, "status": status, **found, "seconds": seconds}))


def written_lines(output: str | None, written: Sequence[Path]) -> list[str]:
    """What ``-o`` did, for people: the files, the certificate last; none if the question is undecided."""
    if output is None:
        return []
    if not written:
        old = "; the file of that name is an older one" if Path(output).exists() else ""
        return [f"no certificate was written: the question is undecided{old}"]
    beside = [f"network file: {path} (keep it beside the certificate)" for path in written[:-1]]
    return [f"certificate: {written[-1]} (check it: polyrelu check {written[-1]})", *beside]


class ProgressLine:
    """A line on stderr that is written over and over, if stderr is a terminal."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._visible = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def show(self, text: str) -> None:
        """Write another text, at most ten times a second."""
        now = time.monotonic()
        if self._visible and now - self._shown > 0.1:
            self._shown = now
            print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._visible:
            print(f"\r{'':<70}\r", end="", file=sys.stderr, flush=True)


def neuron_progress(line: ProgressLine) -> Progress:
    """Shows how many neurons a complex has been cut along."""
    done = 0

    def show(layer: int, _: int, regions: int) -> None:
        nonlocal done
        done += layer > 0
        line.show(f"neuron {done} (layer {layer}), {regions} regions")

    return show


def say_interrupted() -> None:
    """Answer the first Ctrl-C."""
    print("interrupted; keeping what is done (Ctrl-C again: give up at once)", file=sys.stderr, flush=True)
