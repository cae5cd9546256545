"""Certificates in memory and in files, and the command line."""

from __future__ import annotations

import getopt
import io
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, TypeVar

import polyrelu.checking.blocks
import polyrelu.checking.blocks_one_sided
import polyrelu.checking.blocks_replacement
import polyrelu.checking.cell_pairs
import polyrelu.checking.gradients
import polyrelu.checking.identifiability
import polyrelu.checking.injectivity
import polyrelu.checking.leaky
import polyrelu.checking.lipschitz
import polyrelu.checking.one_sided
import polyrelu.checking.one_sided_cases
import polyrelu.checking.refutations
import polyrelu.checking.regions
import polyrelu.checking.replacement
import polyrelu.checking.rounding
import polyrelu.checking.systems
import polyrelu.checking.vertices  # noqa: F401
from polyrelu.checking.claims import OF_PAIRS, Search
from polyrelu.checking.meter import Meter, Stop, quote, well_formed
from polyrelu.checking.networks import NETWORK, read_network
from polyrelu.checking.text import (
    CERTIFICATE_BYTES,
    GZIP_START,
    NETWORK_BYTES,
    Unpacked,
    fit,
    parse,
)
from polyrelu.checking.theorems import THEOREMS
from polyrelu.checking.trees import TREE_START, Lines, check_tree, read_header
from polyrelu.checking.verdicts import (
    VERDICTS,
    CheckReport,
    Contents,
    check_certificate,
    read_certificate,
)

# ---- Files


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

    return checked(lambda: io.BytesIO(certificate), len(certificate), search, budget)


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

    return checked(lambda: open_file(file, "certificate"), size_of(file), search, budget)


def read_contents(path: str | os.PathLike[str], *, budget: int | None = None) -> Contents:
    """What a certificate file states, read with the limits of a check; nothing else is checked.

    `Stop` is raised for a file that is unreadable.
    """
    file, meter = os.fspath(path), Meter(budget)

    def read(unpacked: IO[bytes], is_tree: bool) -> Contents:
        """The header of a tree file, or the whole of another one."""
        if is_tree:
            return read_header(Lines(unpacked, meter).read_header())
        return read_certificate(unpacked.read(CERTIFICATE_BYTES + 1), meter)

    contents = guarded(lambda: open_file(file, "certificate"), size_of(file), meter, read)
    for key in ("network", "other"):
        if "inline" in contents.claim.get(key, ""):
            fit(contents.claim[key]["inline"], NETWORK, key)
    return contents


def checked(
    start: Callable[[], IO[bytes]], num_bytes: int, search: Search, budget: int | None
) -> CheckReport:
    """Check a file of either form, packed or not: whatever happens becomes a report."""
    meter = Meter(budget)

    def check(unpacked: IO[bytes], is_tree: bool) -> CheckReport:
        """Check a tree file, or a certificate that is one JSON value."""
        if is_tree:
            return check_tree(unpacked, search, meter)
        return check_certificate(unpacked.read(CERTIFICATE_BYTES + 1), search, meter)

    try:
        return guarded(start, num_bytes, meter, check)
    except Stop as stop:
        answer = stop.verdict, stop.place or meter.step, stop.expected, stop.got
        return CheckReport(*answer, cost=meter.cost)


Found = TypeVar("Found")


def guarded(
    start: Callable[[], IO[bytes]],
    num_bytes: int,
    meter: Meter,
    use: Callable[[IO[bytes], bool], Found],
) -> Found:
    """Use an unpacked file, and whether it is a tree file; whatever happens becomes a `Stop`."""
    meter.allow(num_bytes)
    try:
        with start() as file:
            return use_unpacked(file, use)
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
        raise Stop("unreadable", expected, type(error).__name__, "reading") from None


def use_unpacked(file: IO[bytes], use: Callable[[IO[bytes], bool], Found]) -> Found:
    """Use an open file, which is unpacked if it is packed."""
    first = file.read(len(TREE_START))
    file.seek(0)
    if not first.startswith(GZIP_START):
        return use(file, first == TREE_START)
    first = io.BufferedReader(Unpacked(file)).read(len(TREE_START))
    file.seek(0)
    return use(io.BufferedReader(Unpacked(file)), first == TREE_START)


def size_of(path: str) -> int:
    """The number of bytes of a file; 0 if there is no such file."""
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0


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

USAGE = "usage: checker.py [--json] [--budget UNITS] [--about FILE] [--network FILE]... CERT..."
HELP = f"""{USAGE}

Re-derive certificates of polyrelu with the standard library alone (certificate/FORMAT.md).

  CERT             certificate files; network files that they name are looked for beside them
  --network FILE   a network file that a certificate names, under another name
  --about FILE     reject certificates that are not about the network in this file (native JSON)
  --budget UNITS   what each check may cost (FORMAT.md, section 3.6; default 2^35 and 2^14 a byte)
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
        names = ["json", "help", "version", "network=", "budget=", "about="]
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
    budget = budgets[-1] if budgets else None
    networks = [value for name, value in options if name == "--network"]
    try:
        subjects = [hash_of(value, budget) for name, value in options if name == "--about"]
    except Stop as stop:
        print_error(f"--about: {stop.place or 'reading'}: {stop.got}")
        return 2
    worst = 0
    for path in paths:
        report = check_file(path, networks, budget=budget)
        for subject in subjects:
            report = about(report, subject)
        name = quote(path) if len(paths) > 1 else ""
        print_report(report, path, name, as_json="--json" in flags)
        worst = max(worst, VERDICTS.index(report.verdict))
    return worst


def hash_of(path: str, budget: int | None) -> str:
    """The hash of the network in a file."""
    place, meter = quote(path), Meter(budget)

    def read(file: IO[bytes], is_tree: bool) -> str:
        """The hash that is recomputed from the numbers."""
        well_formed(not is_tree, "a tree file, where a network is wanted", place)
        document = parse(file.read(NETWORK_BYTES + 1), place, NETWORK_BYTES, meter)
        return read_network(document, place, meter).sha256

    return guarded(lambda: open_file(path, place), size_of(path), meter, read)


def about(report: CheckReport, subject: str) -> CheckReport:
    """Reject an accepted certificate that is not about the network with this hash."""
    if report.verdict != "accepted":
        return report
    is_pair = THEOREMS[report.theorem].kind in OF_PAIRS
    found = report.networks if is_pair else report.networks[:1]
    if subject in found:
        return report
    return CheckReport("rejected", "about", subject, " and ".join(found), cost=report.cost)


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
