"""The Parma Polyhedra Library: conversions between constraints and generators, in a process of its own.

pplpy replaces the handler of Ctrl-C when it is imported, can only be imported on the main thread, and its long
computations ignore signals. In a worker process none of that matters: Ctrl-C stops the worker, and the next call starts
a new one. The price is 0.1 s for the first call and some 0.1 ms for every other.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyrelu.errors import PolyreluError

__all__ = ["constraints_of", "generators_of"]

Rows = Sequence[Sequence[int]]


def generators_of(columns: int, inequalities: Rows, equations: Rows) -> tuple[Rows, Rows, Rows]:
    """Minimal points [numerators | denominator], rays and lines of a polyhedron with rows [a | c] for a·x ≤ c or = c.

    There are no points if it is empty. Exponential in the worst case: a cube of dimension n has 2^n points.

    >>> generators_of(1, [[1, 2], [-2, 1]], [])
    ([[-1, 2], [2, 1]], [], [])
    """
    points, rays, lines = _worker.ask("generators", columns, inequalities, equations)
    return sorted(points), sorted(rays), sorted(lines)


def constraints_of(columns: int, points: Rows, rays: Rows, lines: Rows) -> tuple[Rows, Rows]:
    """Minimal inequalities and equations [a | c] of conv(points) + cone(rays) + span(lines), with at least one point.

    >>> constraints_of(1, [[-1, 2], [2, 1]], [], [])
    ([[-2, 1], [1, 2]], [])
    """
    inequalities, equations = _worker.ask("constraints", columns, points, rays, lines)
    return sorted(inequalities), sorted(equations)


class _Worker:
    """The process, started when first needed; one request at a time."""

    def __init__(self) -> None:
        self._process: Any = None
        self._lifeline: Any = None
        self._waiting = (
            False  # for an answer: until it has been read, no other question may be asked
        )
        self._lock = threading.Lock()
        self._inherited: list[object] = []

    def ask(self, operation: str, *arguments: object) -> Any:
        """What the process answers; an error there is a `PolyreluError` here."""
        with self._lock:
            process = self._started()
            self._waiting = True
            try:
                pickle.dump((operation, arguments), process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                process.stdin.flush()
                done, answer = pickle.load(process.stdout)
                self._waiting = False
            except (
                BaseException
            ) as error:  # KeyboardInterrupt above all: a half-read answer must not be read on
                self.stop()
                if isinstance(error, (OSError, EOFError, pickle.UnpicklingError)):
                    raise PolyreluError(
                        f"the PPL worker process ended in {operation}: {error!r}"
                    ) from None
                raise
        if not done:
            raise PolyreluError(f"PPL failed in {operation}: {answer}")
        return answer

    def _started(self) -> Any:
        if self._process is not None and (self._waiting or self._process.poll() is not None):
            self.stop()  # it has died, or a second Ctrl-C came in the way of `stop`
        if self._process is None:
            program = Path(__file__).with_name("worker.py")
            lifeline, held = os.pipe()
            self._lifeline = os.fdopen(held, "wb", buffering=0)
            try:
                # A session of its own keeps the terminal's Ctrl-C away; -P keeps this directory off its import path.
                self._process = subprocess.Popen(
                    [sys.executable, "-P", str(program), str(lifeline)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                    pass_fds=[lifeline],
                )
            finally:
                os.close(lifeline)
        return self._process

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, self._lifeline):
                with contextlib.suppress(OSError):  # of a request that can no longer be sent
                    pipe.close()
        self._waiting = False

    def forget(self) -> None:
        """In a forked process: leave the worker to the parent.

        Another thread of the parent may hold the lock and those inside the pipes, which therefore are never released.
        Only the descriptors are closed, so that the worker still sees when the parent ends.
        """
        if self._process is not None:
            for pipe in (self._process.stdin.raw, self._process.stdout.raw, self._lifeline):
                pipe.close()
            self._inherited.append(self._process)
        self._process, self._waiting, self._lock = None, False, threading.Lock()


_worker = _Worker()
atexit.register(_worker.stop)
os.register_at_fork(after_in_child=_worker.forget)
