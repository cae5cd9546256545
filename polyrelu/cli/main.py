"""The command line: the parser of all commands, and what happens to errors.

A command parses its options, calls one public function and prints. Nothing mathematical is imported
before a command needs it, so that help and errors come at once.

Exit status: provers 0 proved, 1 refuted, 2 error, 3 undecided or interrupted; `check` 0 accepted, 1
rejected, 2 unreadable; `audit` 0 agrees, 1 differs, 2 error; `info`, `convert`, `show`, `examples`
and `corpus` 0 or 2. Errors that nobody foresaw are 2 as well. A limit of time or memory that ends a
command before anything is done is an answer as well: undecided, with the limit and how to go on.
Undecided is also the answer about a network of a kind for which nothing here answers the question.
With `--json` exactly one object goes to stdout, errors included; every error is also one line on
stderr. Without arguments the program prints its help.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

from polyrelu.cli.attributes import add_attributes
from polyrelu.cli.audit import add_audit
from polyrelu.cli.check import add_check
from polyrelu.cli.completion import SHELLS, PrintCompletion
from polyrelu.cli.complex import add_complex
from polyrelu.cli.convert import add_convert
from polyrelu.cli.corpus import add_corpus
from polyrelu.cli.deviation import add_deviation
from polyrelu.cli.dimension import add_dimension
from polyrelu.cli.equivalent import add_equivalent
from polyrelu.cli.examples import add_examples
from polyrelu.cli.fiber import add_fiber
from polyrelu.cli.fingerprint import add_fingerprint
from polyrelu.cli.given_up import (
    interrupted_text,
    memory_ran_out,
    report_given_up,
    report_not_covered,
    undecided_object,
)
from polyrelu.cli.identify import add_identify
from polyrelu.cli.info import add_info
from polyrelu.cli.injective import add_injective
from polyrelu.cli.minimal import add_minimal
from polyrelu.cli.options import named_operations, watch_limits
from polyrelu.cli.output import EXIT, EXIT_STATUS, show_error
from polyrelu.cli.parser import Parser
from polyrelu.cli.plot import add_plot
from polyrelu.cli.range import add_range
from polyrelu.cli.recover import add_recover
from polyrelu.cli.regions import add_regions
from polyrelu.cli.report import add_report
from polyrelu.cli.runtime_error import add_runtime_error
from polyrelu.cli.same_decisions import add_same_decisions
from polyrelu.cli.show import add_show
from polyrelu.cli.simplify import add_simplify
from polyrelu.cli.topology import add_topology
from polyrelu.cli.verify import add_verify
from polyrelu.errors import NotCoveredError, PolyreluError
from polyrelu.support.interrupts import Watch, quit_with
from polyrelu.version import __version__

__all__ = ["entry", "main"]


def main(
    arguments: Sequence[str] | None = None,
    quit_process: Callable[[argparse.Namespace], object] | None = None,
) -> int:
    """Run the command line and return its exit status.

    `quit_process` ends the process at a second Ctrl-C; its argument are the options.
    """
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
    options = argparse.Namespace(command=None, json="--json" in given, given=given)
    sys.set_int_max_str_digits(0)  # the file formats have their own limit
    with Watch(quit_process and (lambda: quit_process(options))) as watch:
        options.watch = watch
        try:
            status = _status(given, options)
            sys.stdout.flush()
            return status
        except OSError as error:  # the reader of our output has left, or the disk is full
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):
                show_error(f"polyrelu: cannot print: {error.strerror or error}")
            return 2


def _status(given: list[str], options: argparse.Namespace) -> int:
    """Run a command and return its exit status; errors are reported, except if printing fails."""
    started = time.perf_counter()
    try:
        if not given:
            _parser().print_help()
            return 0
        _parser().parse_args(_as_option(given), options)
        watch_limits(options)
        return int(options.run(options, started))
    except SystemExit:  # --help and --version
        sys.stdout.flush()
        raise
    except KeyboardInterrupt:
        return _report_interrupt(options)
    except Exception as error:
        if options.watch.is_raised:  # some imports turn KeyboardInterrupt into another error
            return _report_interrupt(options)
        return _report_failure(options, given, error)


def _report_interrupt(options: argparse.Namespace) -> int:
    options.watch.finish()
    return report_given_up(options, options.watch.reason)


def _report_failure(options: argparse.Namespace, given: list[str], error: Exception) -> int:
    """Report an error that ended a command; errors of printing are raised again."""
    if isinstance(error, NotCoveredError):
        return report_not_covered(options, str(error))
    if isinstance(error, PolyreluError):
        options.json |= "--json" in given  # before a command, where it does not belong
        return _report_error(options, named_operations(options, str(error)))
    if isinstance(error, MemoryError):
        if hasattr(options, "limits"):
            return report_given_up(options, memory_ran_out(options))
        return _report_error(options, memory_ran_out(options))
    if isinstance(error, OSError) and error.filename is None:
        raise error
    return _report_error(options, _unexpected(error, given))


def _unexpected(error: Exception, given: Sequence[str]) -> str:
    """Return an error that nobody foresaw in one line; with --debug, print the traceback before."""
    if "--debug" in given:
        import traceback

        traceback.print_exc()
        hint = ""
    else:
        hint = ", with what the same command prints under --debug"
    text = " ".join(str(error).split())[:300]
    return f"unexpected {type(error).__name__}: {text}; please report it{hint}"


def quit_at_once(options: argparse.Namespace) -> None:
    """End the process at a second Ctrl-C, whatever it is doing."""
    reason = interrupted_text(options)
    lines = [(1, json.dumps(undecided_object(options.command, reason)))] if options.json else []
    quit_with(EXIT["undecided"], *lines, (2, f"polyrelu: {reason}"))


def _as_option(given: Sequence[str]) -> list[str]:
    """Return `help` and `help COMMAND` as the option --help."""
    is_help = given[0] == "help" and len(given) <= 2
    return [*given[1:], "--help"] if is_help else list(given)


def entry() -> NoReturn:
    """Run the program and end the process.

    After Ctrl-C Python may end a process by the signal, whatever exit status it was given, where
    the interrupt fell into an import. So the process ends here at once, with its output written.
    Once there is an answer, Ctrl-C no longer changes the exit status.
    """
    status = main(quit_process=quit_at_once)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
    add_regions(subparsers)
    add_topology(subparsers)
    add_fiber(subparsers)
    add_plot(subparsers)
    add_report(subparsers)
    add_identify(subparsers)
    add_recover(subparsers)
    add_runtime_error(subparsers)
    add_equivalent(subparsers)
    add_deviation(subparsers)
    add_range(subparsers)
    add_verify(subparsers)
    add_same_decisions(subparsers)
    add_injective(subparsers)
    add_simplify(subparsers)
    add_audit(subparsers)
    add_attributes(subparsers)
    add_minimal(subparsers)
    add_dimension(subparsers)
    add_fingerprint(subparsers)
    add_check(subparsers)
    add_show(subparsers)
    add_examples(subparsers)
    add_corpus(subparsers)
    return parser


def _report_error(options: argparse.Namespace, message: str) -> int:
    line = " ".join(message.split())
    if options.json:
        print(json.dumps({"command": options.command, "status": "error", "error": line}))
    show_error(f"polyrelu: {line}")
    return 2
