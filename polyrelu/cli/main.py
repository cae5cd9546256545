"""The command line: the parser of all commands, and what happens to errors.

A command parses its options, calls one public function and prints. Nothing mathematical is imported
before a command needs it, so that help and errors come at once.

Exit status: provers 0 proved, 1 refuted, 2 error, 3 undecided or interrupted; `check` 0 accepted,
1 rejected, 2 unreadable; `info`, `convert`, `show` and `examples` 0 or 2. With `--json` exactly one
object goes to stdout, errors included; every error is also one line on stderr. Without arguments
the program prints its help.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from polyrelu.cli.check import add_check
from polyrelu.cli.completion import SHELLS, PrintCompletion
from polyrelu.cli.complex import add_complex
from polyrelu.cli.convert import add_convert
from polyrelu.cli.equivalent import add_equivalent
from polyrelu.cli.examples import add_examples
from polyrelu.cli.fiber import add_fiber
from polyrelu.cli.identify import add_identify
from polyrelu.cli.info import add_info
from polyrelu.cli.options import named_operations
from polyrelu.cli.output import EXIT, EXIT_STATUS, show
from polyrelu.cli.parser import Parser
from polyrelu.cli.plot import add_plot
from polyrelu.cli.runtime_error import add_runtime_error
from polyrelu.cli.show import add_show
from polyrelu.cli.simplify import add_simplify
from polyrelu.cli.topology import add_topology
from polyrelu.errors import PolyreluError
from polyrelu.version import __version__

__all__ = ["entry", "main"]

_INTERRUPTED = "interrupted; nothing was written"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    if sys.stderr is None:  # the caller has closed it
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    if sys.stdout is None:
        print("polyrelu: cannot print: standard output is closed", file=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show "σ" gets "\\u03c3".
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = argparse.Namespace(command=None, json="--json" in given)
    started = time.perf_counter()
    sys.set_int_max_str_digits(0)  # the file formats have their own limit
    try:
        if not given:
            _parser().print_help()
            return 0
        _parser().parse_args(_as_option(given), options)
        status = int(options.run(options, started))
        sys.stdout.flush()
        return status
    except PolyreluError as error:
        options.json |= "--json" in given  # before a command, where it does not belong
        return _report_error(options, named_operations(options, str(error)))
    except KeyboardInterrupt:
        return _report_error(options, _INTERRUPTED, exit_status=EXIT["undecided"])
    except OSError as error:  # the reader of our output has left, or the disk is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"polyrelu: cannot print: {error.strerror or error}", file=sys.stderr)
        return 2


def _as_option(given: Sequence[str]) -> list[str]:
    """Return `help` and `help COMMAND` as the option --help."""
    is_help = given[0] == "help" and len(given) <= 2
    return [*given[1:], "--help"] if is_help else list(given)


def entry() -> NoReturn:
    """Run the program and end the process.

    After Ctrl-C Python may end a process by the signal, whatever exit status it was given, where
    the interrupt fell into an import. So the process ends here at once, with its output written.
    """
    status = main()
    if status == EXIT["undecided"]:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


#: The end of the program's own help.
_EPILOG = f"""examples:
  polyrelu examples
  polyrelu identify example:digits -o digits.cert.json

`polyrelu help COMMAND` has the options of a command. {EXIT_STATUS}"""


def _parser() -> Parser:
    parser = Parser(
        prog="polyrelu",
        description="Exact, certified geometry of ReLU networks: prove statements about a network, "
        "check the proof.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"polyrelu {__version__}")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        help="print a script that completes commands, options and file names in this shell",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_info(subparsers)
    add_convert(subparsers)
    add_complex(subparsers)
    add_topology(subparsers)
    add_fiber(subparsers)
    add_plot(subparsers)
    add_identify(subparsers)
    add_runtime_error(subparsers)
    add_equivalent(subparsers)
    add_simplify(subparsers)
    add_check(subparsers)
    add_show(subparsers)
    add_examples(subparsers)
    return parser


def _report_error(options: argparse.Namespace, message: str, exit_status: int = 2) -> int:
    line = " ".join(message.split())
    if options.json:
        print(json.dumps({"command": options.command, "status": "error", "error": line}))
    if message is _INTERRUPTED:  # another Ctrl-C may come while the colours are imported
        print(f"polyrelu: {line}", file=sys.stderr)
    else:
        show(f"polyrelu: {line}", stream=sys.stderr)
    return exit_status
