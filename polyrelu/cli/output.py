"""What commands write: exit statuses, the one JSON object, and files that are checked before any
work."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.errors import CertificateError

if TYPE_CHECKING:
    from polyrelu.formats import Imported

__all__ = [
    "EXIT",
    "EXIT_STATUS",
    "check_output",
    "print_object",
    "print_reading",
    "reading",
    "say_interrupted",
    "written_lines",
]

EXIT = {"proved": 0, "refuted": 1, "undecided": 3}
EXIT_STATUS = (
    "Exit status: 0 proved / accepted, 1 refuted / rejected, 2 error / unreadable, 3 undecided or "
    "interrupted."
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
    """An output that cannot be written, or would overwrite an input, is found out before any work
    is done."""
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
            raise CertificateError(
                f"{option} {name}: this would overwrite {given[:80]}; choose another name"
            )


def print_object(options: argparse.Namespace, status: str, started: float, **found: Any) -> None:
    """The one object of ``--json``."""
    seconds = round(time.perf_counter() - started, 3)
    print(json.dumps({"command": options.command, "status": status, **found, "seconds": seconds}))


def written_lines(output: str | None, written: Sequence[Path]) -> list[str]:
    """What ``-o`` did, for people: the files, the certificate last; none if the question is
    undecided."""
    if output is None:
        return []
    if not written:
        old = "; the file of that name is an older one" if Path(output).exists() else ""
        return [f"no certificate was written: the question is undecided{old}"]
    beside = [f"network file: {path} (keep it beside the certificate)" for path in written[:-1]]
    return [f"certificate: {written[-1]} (check it: polyrelu check {written[-1]})", *beside]


def say_interrupted() -> None:
    """Answer the first Ctrl-C."""
    print(
        "interrupted; keeping what is done (Ctrl-C again: give up at once)",
        file=sys.stderr,
        flush=True,
    )
