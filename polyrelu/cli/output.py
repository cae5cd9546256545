"""The output of commands: exit statuses, the JSON object, lines for people, checked file names.

With `--json` a command prints exactly one object, with `print_object`; without it lines of text,
with `show`, which adds colours on terminals.
Output files are checked before any work, so that no result of a long search is lost. Keys and exit
statuses are an interface that schemas and users rely on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from polyrelu.errors import CertificateError
from polyrelu.support.check_cost import CheckCost, check_command, check_cost

if TYPE_CHECKING:
    from polyrelu.formats import Imported

__all__ = [
    "EXIT",
    "EXIT_STATUS",
    "check_output",
    "check_written_ending",
    "entry_lines",
    "print_object",
    "print_reading",
    "reading",
    "say_interrupted",
    "show",
    "show_error",
    "value_text",
    "written_cost",
    "written_lines",
]

#: Exit status of a prover, by the status of its answer.
EXIT = {"proved": 0, "refuted": 1, "undecided": 3}
#: The sentence about exit statuses in the help of every command.
EXIT_STATUS = (
    "Exit status: 0 proved / accepted, 1 refuted / rejected, 2 error / unreadable, 3 undecided or "
    "interrupted."
)


def show(*texts: str, stream: TextIO | None = None) -> None:
    """Print texts on stdout, or another stream, each with a newline; in colours on terminals.

    The variable NO_COLOR and terminals that say they are dumb get plain text, as pipes do.
    """
    target = sys.stdout if stream is None else stream
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    if is_plain or not target.isatty():
        print(*texts, sep="\n", file=target)
        return
    from polyrelu.cli.colours import print_coloured

    print_coloured("\n".join(texts), target)


def reading(imported: Imported) -> dict[str, Any]:
    """Return the entries of the JSON object about how the network was read."""
    return {"rounding": imported.rounding, "caveats": list(imported.caveats)}


def print_reading(imported: Imported, name: str = "") -> None:
    """Print how the network was read, as far as an answer depends on it."""
    if imported.rounding != "none":
        show(f"{name}rounding: {imported.rounding}")
    for caveat in imported.caveats:
        show(f"{name}caution: {caveat}")


def check_output(option: str, name: str, inputs: Sequence[str]) -> None:
    """Raise an error for an output that cannot be written or would overwrite an input."""
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
        if os.path.realpath(path) == os.path.realpath(given):
            raise CertificateError(
                f"{option} {name}: this would overwrite {given[:80]}; choose another name"
            )


def check_written_ending(option: str, name: str) -> None:
    """Raise an error for a network file whose format, by its ending, cannot be written."""
    from polyrelu.formats import WRITTEN

    if Path(name).suffix.lower() not in WRITTEN:
        raise CertificateError(
            f"{option} {name}: networks are written as {', '.join(WRITTEN)}; choose one of these"
        )


def print_object(options: argparse.Namespace, status: str, started: float, **answer: Any) -> None:
    """Print the JSON object of a command."""
    seconds = round(time.perf_counter() - started, 3)
    options.watch.forget_limit()  # a limit between two objects would print a second one
    print(json.dumps({"command": options.command, "status": status, **answer, "seconds": seconds}))


def entry_lines(answer: Mapping[str, object]) -> Iterator[str]:
    """Yield the entries of an answer as lines of text, without those that are None.

    >>> list(entry_lines({"regions": 7, "level": None}))
    ['regions           7']
    """
    for key, value in answer.items():
        if value is not None:
            yield f"{key:<18}{value_text(value)}"


def value_text(value: object) -> str:
    """Return a value of an answer in words.

    >>> value_text([1, [2, 3], []]), value_text({"edges": 9, "points": 0})
    ('1 2 3 -', '9 edges')
    """
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items() if count) or "nothing"
    if not isinstance(value, list):
        return str(value)
    return " ".join(
        (value_text(entry) or "-") if isinstance(entry, list) else str(entry) for entry in value
    )


def written_cost(
    options: argparse.Namespace, written: Sequence[Path], share: int = 1
) -> CheckCost | None:
    """Return what the check of a certificate costs, measured in haste if there is a time limit.

    The parameters and the answer are as for `check_cost`.
    """
    is_in_haste = getattr(options, "time_limit", None) is not None
    return check_cost(written, is_in_haste=is_in_haste, share=share)


def written_lines(
    output: str | None,
    written: Sequence[Path],
    cost: CheckCost | None,
    is_refuted: bool = False,
) -> list[str]:
    """Return lines of text about the files of the option -o; the certificate is the last file.

    `cost` is what its check costs.
    """
    if output is None:
        return []
    if not written and is_refuted:
        return ["no certificate was written: the point that is found can be evaluated by itself"]
    if not written:
        old = "; the file of that name is an older one" if Path(output).exists() else ""
        return [f"no certificate was written: the question is undecided{old}"]
    beside = [f"network file: {path} (keep it beside the certificate)" for path in written[:-1]]
    command = check_command(written[-1:], cost)
    costs = [] if cost is None else cost.lines()
    return [f"certificate: {written[-1]} (check it: {command})", *beside, *costs]


def show_error(line: str, is_plain: bool = False) -> None:
    """Print a line on stderr, in colours on terminals unless it is plain, if that is possible."""
    try:
        if is_plain:
            print(line, file=sys.stderr, flush=True)
        else:
            show(line, stream=sys.stderr)
    except OSError:  # nobody reads it; what is in the buffer must not fail again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def say_interrupted() -> None:
    """Answer the first Ctrl-C."""
    show_error("interrupted; keeping what is done (Ctrl-C again: give up at once)", is_plain=True)
