"""A command that is ended at random moments in every way, and what is left each time.

A run begins without a checkpoint and goes on, after each end, with the same command until its
output is there. `Campaign` counts how the command ended, and what must not happen: a file that
differs, a half-written file, a result that was kept and is gone, more work done again than what was
under way, a process that stays, an error message.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from polyrelu.support.parallel import TaskFunction, Workers
from polyrelu.support.parallel.tasks import Numbered

__all__ = ["Campaign", "Logged"]

#: Seconds that a command has to end after a signal, and its workers after it.
_SECONDS = 120.0
_ALONE = ("SIGKILL to the command", "SIGTERM to the command", "Ctrl-C")
_KINDS = {
    1: _ALONE,
    2: (*_ALONE, "SIGTERM to all processes", "SIGKILL to a worker"),
    4: (*_ALONE, "SIGTERM to all processes", "SIGKILL to a worker"),
}
_SIGNALS = {"SIGK": signal.SIGKILL, "SIGT": signal.SIGTERM, "Ctrl": signal.SIGINT}
_CHECKPOINT = "work.db"
#: Statuses that a command may have after each signal: by the signal itself if that came while
#: Python starts or ends, 3 if the command reports it, and 0 if it was done before.
_STATUSES = {signal.SIGKILL: (-9, 0), signal.SIGTERM: (3, -15, 0), signal.SIGINT: (3, -2, 1, 0)}


@dataclass
class Campaign:
    """Runs of one command, in a folder that has its input files.

    Attributes
    ----------
    folder, words
        Where the command runs, and the words after ``polyrelu``, without -o and --checkpoint.
    endings
        Endings of the output; each run takes one of them.
    output
        The option that names the output.
    has_jobs
        Whether the command takes --jobs.
    """

    folder: Path
    words: Sequence[str]
    endings: Sequence[str]
    seed: int = 0
    output: str = "-o"
    has_jobs: bool = True
    _kills: Counter[str] = field(default_factory=Counter)
    _statuses: Counter[str] = field(default_factory=Counter)
    _wrong: list[str] = field(default_factory=list)
    _again: Counter[int] = field(default_factory=Counter)
    _runs: Counter[int] = field(default_factory=Counter)

    def kill(self, number: int) -> None:
        """End the command that often."""
        rng = Random(f"kills {self.seed}")
        expected = {ending: self._expected(ending) for ending in self.endings}
        seconds = {jobs: self._seconds(jobs) for jobs in (_KINDS if self.has_jobs else (1,))}
        while self._kills.total() < number:
            jobs, ending = rng.choice(list(seconds)), rng.choice(self.endings)
            self._clean()
            while not (self.folder / f"out{ending}").exists():
                is_last = self._kills.total() >= number
                kind = None if is_last else rng.choice(_KINDS[jobs])
                self._run(jobs, ending, kind, rng.uniform(0, seconds[jobs]), rng)
            self._runs[jobs] += 1
            if self._digest(ending) != expected[ending]:
                self._wrong.append(f"another file {ending} with {jobs} jobs")
            print(f"seed {self.seed}: {self._kills.total()} kills, {self._wrong}", flush=True)

    @staticmethod
    def counts(campaigns: Iterable[Campaign]) -> dict[str, Any]:
        """Return the counts of some campaigns together."""
        found = list(campaigns)

        def together(name: str) -> dict[Any, int]:
            """Return the sums of the counts with a name."""
            return dict(sorted(sum((getattr(each, name) for each in found), Counter()).items()))

        return {
            "kills": together("_kills"),
            "exit statuses": together("_statuses"),
            "finished runs by jobs": together("_runs"),
            "kills by the number of tasks done again": together("_again"),
            "wrong": [line for each in found for line in each._wrong],
        }

    def _expected(self, ending: str) -> str:
        """Return the hash of the output of a run that is not disturbed."""
        self._clean()
        self._run(1, ending, None, 0.0, Random(0))
        return self._digest(ending)

    def _seconds(self, jobs: int) -> float:
        """Return how long a run takes now."""
        self._clean()
        started = time.monotonic()
        self._run(jobs, self.endings[0], None, 0.0, Random(0))
        return time.monotonic() - started

    def _clean(self) -> None:
        for file in [*self.folder.glob(f"{_CHECKPOINT}*"), *self.folder.glob("out*")]:
            file.unlink()

    def _digest(self, ending: str) -> str:
        return hashlib.sha256((self.folder / f"out{ending}").read_bytes()).hexdigest()

    def _run(self, jobs: int, ending: str, kind: str | None, wait: float, rng: Random) -> None:
        """Run the command once, and end it if there is a kind of end."""
        before, log = _kept(self.folder), self.folder / "begun.log"
        log.unlink(missing_ok=True)
        process = self._start(jobs, ending, log, kind != "Ctrl-C" and rng.random() < 0.5)
        hit = False
        if kind is not None:
            try:
                process.wait(wait)
            except subprocess.TimeoutExpired:
                hit = _send(kind, process.pid, rng)
        error = self._ended(process)
        for file in self.folder.glob(".polyrelu-*.tmp"):
            file.unlink()  # after SIGKILL
            if hit and kind is not None and _SIGNALS[kind[:4]] is not signal.SIGKILL:
                self._wrong.append(f"{kind}: a hidden file stayed")
        after = _kept(self.folder)
        begun = log.stat().st_size if log.exists() else 0
        self._judge(kind if hit else None, process.returncode, error, before, after)
        again = begun - len(after - before)
        if hit and kind is not None:
            self._kills[f"{kind}, jobs: {jobs}"] += 1
            self._again[again] += 1
        if again > (2 * jobs if jobs > 1 else 1):
            self._wrong.append(f"{kind} with {jobs} jobs: {again} tasks are done again")

    def _start(
        self, jobs: int, ending: str, log: Path, in_background: bool
    ) -> subprocess.Popen[bytes]:
        """Start the command; shells let programs in the background ignore Ctrl-C."""
        shell = "ignore" if in_background else "default"
        command = ["env", f"--{shell}-signal=INT"]
        command += [sys.executable, "-m", "benchmarks.logged_command", str(log), *self.words]
        command += [self.output, f"out{ending}", "--checkpoint", _CHECKPOINT]
        command += ["--jobs", str(jobs)] if self.has_jobs else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _ended(self, process: subprocess.Popen[bytes]) -> str:
        """Wait for the end of the command and of its workers; return what it said on stderr."""
        try:
            error = process.communicate(timeout=_SECONDS)[1].decode()
        except subprocess.TimeoutExpired:
            self._wrong.append("a command did not end")
            os.killpg(process.pid, signal.SIGKILL)
            error = process.communicate()[1].decode()
        end = time.monotonic() + _SECONDS
        while any(_members(process.pid)):
            if time.monotonic() > end:
                self._wrong.append("a process stayed")
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.02)
        return error

    def _judge(
        self, kind: str | None, status: int, error: str, before: set[int], after: set[int]
    ) -> None:
        """Note what must not happen."""
        allowed: tuple[int, ...] = (0,)
        if kind is not None and "worker" not in kind:
            allowed = _STATUSES[_SIGNALS[kind[:4]]]
        self._statuses[f"{kind or 'no signal'}: {status}"] += 1
        if status not in allowed:
            self._wrong.append(f"{kind}: status {status}")
        if status != -signal.SIGKILL and (len(error.splitlines()) > 1 or (status == 0 and error)):
            self._wrong.append(f"{kind}: {error[-500:]}")
        if not before <= after:
            self._wrong.append(f"{kind}: results that were kept are gone")


class Logged:
    """Workers that write a byte for each task that they begin."""

    def __init__(self, workers: Workers, log: str) -> None:
        self._workers, self._log = workers, log
        self.number = workers.number

    def results(
        self, function: TaskFunction, context: Any, tasks: Iterable[Numbered]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        shared = (self._log, function, context)
        yield from self._workers.results(_logged, shared, tasks)


def _logged(shared: tuple[str, TaskFunction, Any], task: Any) -> bytes:
    """Write a byte, and do the task."""
    log, function, context = shared
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, b".")
    os.close(descriptor)
    return function(context, task)


def _send(kind: str, command: int, rng: Random) -> bool:
    """Send the signal; return whether there was a process for it."""
    number = _SIGNALS[kind[:4]]
    try:
        if kind == "SIGKILL to a worker":
            workers = sorted(_members(command, b"spawn_main"))
            if not workers:
                return False
            os.kill(rng.choice(workers), number)
        elif kind in ("Ctrl-C", "SIGTERM to all processes"):  # a terminal, a batch system
            os.killpg(command, number)
        else:
            os.kill(command, number)
    except ProcessLookupError:
        return False
    return True


def _members(group: int, words: bytes = b"") -> Iterator[int]:
    """Yield the processes of a group that have not ended, with these words in the command line."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
            line = (entry.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z" and words in line:
            yield int(entry.parent.name)


def _kept(folder: Path) -> set[int]:
    """Return the tasks whose results are in the checkpoint, read from a copy of it.

    The file itself stays as the signal has left it.
    """
    if not (folder / _CHECKPOINT).exists():
        return set()
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in folder.glob(f"{_CHECKPOINT}*"):
        shutil.copy(file, copy)
    connection = sqlite3.connect(copy / _CHECKPOINT)
    try:
        return {number for (number,) in connection.execute("SELECT task FROM results")}
    except sqlite3.OperationalError:  # the tables are not made yet
        return set()
    finally:
        connection.close()
