"""Read files in forked processes under limits of memory and time.

A file may make a reader crash, hang or fill the memory. Files are therefore read by forks, which
report in a line for each file what happened, and which the parent stops. A fork that ends early is
the outcome of the file that it was reading; another fork reads the files after it.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from polyrelu.cli.main import main

__all__ = ["BYTES", "SECONDS", "Outcome", "read_guarded"]

#: What a file of up to 1 MB may take: CPU seconds, and memory beyond that of the parent.
SECONDS, BYTES = 30.0, 2 * 10**9


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one file.

    Attributes
    ----------
    kind
        ``read`` or ``refused``; otherwise ``time``, ``memory``, ``crash``, or ``words`` for an
        error that is not one line with exit status 2.
    message
        The error, or what went wrong.
    seconds
        CPU seconds.
    megabytes
        The largest resident memory of the fork so far, beyond that of its parent.
    """

    kind: str
    message: str
    seconds: float
    megabytes: int

    @property
    def is_fine(self) -> bool:
        """Whether the file was read, or refused in one line with exit status 2."""
        return self.kind in ("read", "refused")


def _info(path: Path) -> list[str]:
    """The command that reads a network."""
    return ["info", str(path)]


def read_guarded(
    paths: Sequence[Path],
    seconds: float = SECONDS,
    command: Callable[[Path], list[str]] = _info,
) -> Iterator[Outcome]:
    """Run a command on files in forks, under limits of memory and of CPU seconds.

    What forks leave behind, as they do where they are killed, lies in a folder that is removed.
    """
    with tempfile.TemporaryDirectory() as folder:
        yield from _read_in_forks(paths, seconds, command, folder)


def _read_in_forks(
    paths: Sequence[Path], seconds: float, command: Callable[[Path], list[str]], folder: str
) -> Iterator[Outcome]:
    done = 0
    while done < len(paths):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            tempfile.tempdir = folder
            _read_all(paths[done:], writing, seconds, command)
        os.close(writing)
        found = 0
        for outcome in _outcomes(reading, child, seconds):
            found += 1
            yield outcome
        os.close(reading)
        _, status, usage = os.wait4(child, 0)
        done += found
        if done < len(paths):
            spent = round(usage.ru_utime + usage.ru_stime, 2)
            yield Outcome(*_end(status), spent, _megabytes(usage.ru_maxrss, 0))
            done += 1


def _read_all(
    paths: Sequence[Path], writing: int, seconds: float, command: Callable[[Path], list[str]]
) -> None:
    """Read files in a fork, with a line of JSON in the pipe for each, and end the fork."""
    try:
        _redirect_output()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        limit = _virtual_bytes() + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for path in paths:
            outcome = _read_one(path, before, command(path))
            if outcome.is_fine and outcome.seconds > seconds:
                outcome = Outcome("time", outcome.message, outcome.seconds, outcome.megabytes)
            os.write(writing, json.dumps(asdict(outcome)).encode() + b"\n")
    finally:
        os._exit(0)


def _read_one(path: Path, before: int, words: list[str]) -> Outcome:
    """Read a file, and return its outcome; `before` is the memory of the parent."""
    started = _cpu_seconds()
    sys.stderr.truncate(0)
    sys.stderr.seek(0)
    try:
        status = main(words)
        sys.stderr.seek(0)
        lines = sys.stderr.read().strip().splitlines()
        message = lines[-1] if lines else ""
        is_one_line = status == 2 and len(lines) == 1
        is_unforeseen = "please report it" in message
        kind = (
            "read"
            if status in (0, 1, 3)
            else "words"
            if is_unforeseen
            else "refused"
            if is_one_line
            else "words"
        )
    except BaseException as error:
        kind, message = "crash", f"{type(error).__name__}: {error}"
    if "MemoryError" in message or "bad_alloc" in message:
        kind = "memory"
    spent = round(_cpu_seconds() - started, 2)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Outcome(
        kind, message.replace(str(path), path.name)[:300], spent, _megabytes(largest, before)
    )


def _redirect_output() -> None:
    """Send the output of this process and its libraries nowhere, and its errors to a file."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    errors, _ = tempfile.mkstemp()
    os.dup2(errors, 2)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w+", closefd=False)  # noqa: SIM115


def _outcomes(reading: int, child: int, seconds: float) -> Iterator[Outcome]:
    """Yield the outcomes that a fork writes; stop a fork that is silent for too long.

    That is twice so many CPU seconds, or forty times so many by the clock, if it waits for nothing.
    """
    rest, before, silent_since = b"", 0.0, time.monotonic()
    while True:
        ready, _, _ = select.select([reading], [], [], 1.0)
        spent, silent = _cpu_seconds_of(child) - before, time.monotonic() - silent_since
        if not ready and spent < 2 * seconds and silent < 40 * seconds:
            continue
        part = os.read(reading, 1 << 16) if ready else b""
        if not ready:
            os.kill(child, signal.SIGKILL)
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield Outcome(**json.loads(line))
        before, silent_since = _cpu_seconds_of(child), time.monotonic()


def _cpu_seconds_of(process: int) -> float:
    """Return the CPU seconds of a process of Linux, 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end(status: int) -> tuple[str, str]:
    """Return the kind and the message of a fork that ended early."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return ("time" if number == signal.SIGKILL else "crash"), f"signal {number}"


def _megabytes(largest: int, before: int) -> int:
    return max(0, largest - before) // 1024


def _cpu_seconds() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _virtual_bytes() -> int:
    """Return the virtual memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
