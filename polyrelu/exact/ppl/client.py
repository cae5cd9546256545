"""Conversions between constraints and generators, by a process that runs PPL.

pplpy replaces the handler of Ctrl-C when it is imported, can only be imported on the main thread,
and its long computations ignore signals. A worker process isolates the package from all three:
Ctrl-C stops the worker, and the next call starts a new one. The first call costs 0.1 s, every other
some 0.1 ms.
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

#: Integer rows.
IntegerRows = Sequence[Sequence[int]]


def generators_of(
    columns: int, inequalities: IntegerRows, equations: IntegerRows
) -> tuple[IntegerRows, IntegerRows, IntegerRows]:
    """Compute the minimal generators of a polyhedron.

    The result is exponentially long in the worst case: a cube of dimension n has 2^n vertices.

    Parameters
    ----------
    columns
        Dimension n of the space.
    inequalities
        Integer rows [a | c], meaning a·x ≤ c, shape (m, n + 1).
    equations
        Integer rows [a | c], meaning a·x = c, shape (k, n + 1).

    Returns
    -------
    tuple of three lists of rows
        Points [numerators | denominator], rays and lines, each in lexicographic order. The empty
        set has no points.

    Raises
    ------
    PolyreluError
        PPL failed, or its process ended.

    Examples
    --------
    >>> generators_of(1, [[1, 2], [-2, 1]], [])
    ([[-1, 2], [2, 1]], [], [])
    """
    points, rays, lines = _worker.ask("generators", columns, inequalities, equations)
    return sorted(points), sorted(rays), sorted(lines)


def constraints_of(
    columns: int, points: IntegerRows, rays: IntegerRows, lines: IntegerRows
) -> tuple[IntegerRows, IntegerRows]:
    """Compute minimal constraints of conv(points) + cone(rays) + span(lines).

    Parameters
    ----------
    columns
        Dimension n of the space.
    points
        At least one point [numerators | denominator], shape (p, n + 1).
    rays
        Integer directions, shape (r, n).
    lines
        Integer directions, shape (l, n).

    Returns
    -------
    tuple of two lists of rows
        Inequalities and equations [a | c], each in lexicographic order.

    Raises
    ------
    PolyreluError
        PPL failed, or its process ended.

    Examples
    --------
    >>> constraints_of(1, [[-1, 2], [2, 1]], [], [])
    ([[-2, 1], [1, 2]], [])
    """
    inequalities, equations = _worker.ask("constraints", columns, points, rays, lines)
    return sorted(inequalities), sorted(equations)


class _Worker:
    """The worker process, started when it is first needed; it handles one request at a time."""

    def __init__(self) -> None:
        self._process: Any = None
        self._lifeline: Any = None
        # Whether a result has been requested and not yet read; the pipe then serves no other
        # request.
        self._waiting = False
        self._lock = threading.Lock()
        self._inherited: list[object] = []

    def ask(self, operation: str, *arguments: object) -> Any:
        """Return the result of an operation; an error of the process raises `PolyreluError`."""
        with self._lock:
            process = self._started()
            self._waiting = True
            try:
                pickle.dump((operation, arguments), process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                process.stdin.flush()
                done, answer = pickle.load(process.stdout)
                self._waiting = False
            except BaseException as error:
                # After KeyboardInterrupt the rest of a result would be read as the next one.
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
        """Return the running process."""
        if self._process is not None and (self._waiting or self._process.poll() is not None):
            self.stop()  # the process ended by itself, or a second Ctrl-C interrupted `stop`
        if self._process is None:
            program = Path(__file__).with_name("worker.py")
            lifeline, held = os.pipe()
            self._lifeline = os.fdopen(held, "wb", buffering=0)
            try:
                # In a new session the process does not receive the terminal's Ctrl-C; -P keeps this
                # directory off its import path.
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
        """End the process, also during a computation."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, self._lifeline):
                with contextlib.suppress(OSError):  # a buffered request cannot be sent any more
                    pipe.close()
        self._waiting = False

    def forget(self) -> None:
        """Leave the worker to the parent, in a forked process.

        Another thread of the parent may hold the lock, and the locks inside the pipe objects, when
        it forks; in the child nobody releases them. Therefore the child only closes the
        descriptors, so that the worker still notices when the parent ends, and keeps the objects
        alive.
        """
        if self._process is not None:
            for pipe in (self._process.stdin.raw, self._process.stdout.raw, self._lifeline):
                pipe.close()
            self._inherited.append(self._process)
        self._process, self._waiting, self._lock = None, False, threading.Lock()


_worker = _Worker()
atexit.register(_worker.stop)
os.register_at_fork(after_in_child=_worker.forget)
