"""Certificates in memory and in files, and the command line."""

from __future__ import annotations

import getopt
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import polyrelu.checking.identifiability
import polyrelu.checking.refutations
import polyrelu.checking.regions
import polyrelu.checking.rounding
import polyrelu.checking.systems  # noqa: F401
from polyrelu.checking.claims import Search
from polyrelu.checking.meter import Meter, Stop, quote, well_formed
from polyrelu.checking.text import CERTIFICATE_BYTES, NETWORK_BYTES
from polyrelu.checking.trees import TREE_START, check_tree
from polyrelu.checking.verdicts import VERDICTS, CheckReport, check_certificate

# ---- Files

GZIP_START = b"\x1f\x8b"


def check_bytes(
    certificate: bytes,
    network_files: Mapping[str, bytes] | None = None,
    *,
    budget: int | None = None,
) -> CheckReport:
    """Check a certificate in memory; `network_files` holds the bytes of network files by name."""
    files = (network_files or {}).items()

    def search(name: str) -> Iterable[tuple[str, bytes]]:
        """The file of that name, then the other ones."""
        return sorted(files, key=lambda file: file[0] != name)

    return guarded(lambda: io.BytesIO(certificate), len(certificate), search, budget)


def check_file(
    path: str | os.PathLike[str],
    networks: Iterable[str | os.PathLike[str]] = (),
    *,
    budget: int | None = None,
) -> CheckReport:
    """Check a certificate file.

    Its network file is looked up by name beside it, then by hash among `networks`.
    """
    file, given = os.fspath(path), [os.fspath(network) for network in networks]

    def search(name: str) -> Iterator[tuple[str, bytes]]:
        """The file of that name beside the certificate, then the given ones."""
        beside = os.path.join(os.path.dirname(file), name)
        if os.path.lexists(beside):
            yield name, read_bytes(beside, NETWORK_BYTES)
        for other in given:
            yield quote(other), read_bytes(other, NETWORK_BYTES)

    try:
        size = os.path.getsize(file)
    except (OSError, ValueError):
        size = 0
    return guarded(lambda: open_file(file, "certificate"), size, search, budget)


def guarded(
    start: Callable[[], IO[bytes]], num_bytes: int, search: Search, budget: int | None
) -> CheckReport:
    """Check a file of either form, packed or not: whatever happens becomes a report."""
    meter = Meter(budget)
    meter.allow(num_bytes)
    try:
        with start() as file:
            return check_opened(file, search, meter)
    except Stop as stop:
        answer = stop.verdict, stop.place or meter.step, stop.expected, stop.got
        return CheckReport(*answer, cost=meter.cost)
    except (
        OSError,
        EOFError,
        zlib.error,
        MemoryError,
        RecursionError,
        ArithmeticError,
        ValueError,
    ) as error:
        expected = "a readable file within the limits"
        got = type(error).__name__
        return CheckReport("unreadable", "reading", expected, got, cost=meter.cost)


def check_opened(file: IO[bytes], search: Search, meter: Meter) -> CheckReport:
    """Check an open file, which is unpacked if it is packed."""
    first = file.read(len(TREE_START))
    file.seek(0)
    if not first.startswith(GZIP_START):
        return check_unpacked(file, first, search, meter)
    with gzip.GzipFile(fileobj=file) as unpacked:
        first = unpacked.read(len(TREE_START))
        unpacked.seek(0)
        return check_unpacked(unpacked, first, search, meter)  # type: ignore[arg-type]


def check_unpacked(file: IO[bytes], first: bytes, search: Search, meter: Meter) -> CheckReport:
    """Check a tree file, or a certificate that is one JSON value."""
    if first == TREE_START:
        return check_tree(file, search, meter)
    return check_certificate(file.read(CERTIFICATE_BYTES + 1), search, meter)


def open_file(path: str, place: str) -> IO[bytes]:
    """A regular file; its kind is looked at before anything is read."""
    well_formed(os.path.lexists(path), "there is no such file", place)
    well_formed(os.path.isfile(path), "not a regular file", place)
    return open(path, "rb")


def read_bytes(path: str, size: int) -> bytes:
    """The bytes of a regular file, and at most one too many."""
    with open_file(path, quote(os.path.basename(path))) as file:
        return file.read(min(os.path.getsize(path), size) + 1)


# ---- The command line

USAGE = "usage: checker.py [--json] [--budget UNITS] [--network FILE]... CERT..."
HELP = f"""{USAGE}

Re-derive certificates of polyrelu with the standard library alone (certificate/FORMAT.md).

  CERT             certificate files; network files that they name are looked for beside them
  --network FILE   a network file that a certificate names, under another name
  --budget UNITS   what each check may cost (FORMAT.md, section 3.6; default 2^36 and 2^14 a byte)
  --json           one line of JSON for each certificate
  --version        the versions of the format and of this file

Exit status: 0 if all are accepted, 1 if one is rejected, 2 if one is unreadable; the worst counts.
"""
VERSION = "polyrelu checker, certificate format version 1"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status, also where nothing can be printed."""
    sys.set_int_max_str_digits(0)  # the grammar has its own limit
    try:
        status = run(list(sys.argv[1:] if argv is None else argv))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except OSError as error:
        detach(sys.stdout)
        print_error(f"cannot write: {error.strerror}")
        return 2


def detach(stream: Any) -> None:
    """Let a stream that cannot be written end quietly."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


def print_error(message: str) -> None:
    """Print a line on standard error, if there is one."""
    try:
        print(f"polyrelu: {message}", file=sys.stderr, flush=True)
    except OSError:
        detach(sys.stderr)


def run(arguments: list[str]) -> int:
    """Check the certificates that the arguments name."""
    try:
        names = ["json", "help", "version", "network=", "budget="]
        options, paths = getopt.gnu_getopt(arguments, "h", names)
        budgets = [int(value) for name, value in options if name == "--budget"]
    except (getopt.GetoptError, ValueError):
        options, paths, budgets = [], [], []
    flags = {name for name, _ in options}
    if flags & {"--help", "-h", "--version"}:
        print(VERSION if "--version" in flags else HELP.rstrip())
        return 0
    if not paths or any(budget < 1 for budget in budgets):
        print(USAGE, file=sys.stderr)
        return 2
    networks, worst = [value for name, value in options if name == "--network"], 0
    for path in paths:
        report = check_file(path, networks, budget=budgets[-1] if budgets else None)
        name = quote(path) if len(paths) > 1 else ""
        print_report(report, path, name, as_json="--json" in flags)
        worst = max(worst, VERDICTS.index(report.verdict))
    return worst


def print_report(report: CheckReport, path: str, name: str, *, as_json: bool) -> None:
    """Print a report; with several certificates, the name of the file stands before it."""
    error = f"{quote(path)}: {report.step}: {report.got}"
    is_unreadable = report.verdict == "unreadable"
    if is_unreadable:
        print_error(error)
    if as_json:
        answer = {"command": "check", "status": report.verdict, "error": "", **report._asdict()}
        if is_unreadable:
            answer |= {"status": "error", "error": error}
        if name:
            answer["file"] = name
        print(json.dumps(answer), flush=True)
    elif not is_unreadable:
        print(f"{name}: {report}" if name else report, flush=True)


if __name__ == "__main__":
    sys.exit(main())
