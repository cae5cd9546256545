"""The program of the process that runs PPL: ``python -P worker.py LIFELINE``.

It is the only file that imports PPL, and the package does not import it; see `client`. It reads
pickled requests ``(operation, arguments)`` on standard input and writes ``(True, result)`` or
``(False, text)`` to standard output, until its input ends. All numbers are Python integers: a row
[a | c] means a·x ≤ c or a·x = c, a point is [numerators | denominator], a ray or line consists of
its coordinates.

LIFELINE is the descriptor of a pipe to which nobody writes and which the parent holds open. When
the parent ends, the kernel closes that pipe and ends this process with SIGIO (on Linux), even
during a computation of PPL.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ppl import C_Polyhedron, Linear_Expression, line, point, ray

Row = Sequence[int]
IntegerRows = Sequence[Row]


def generators(
    columns: int, inequalities: IntegerRows, equations: IntegerRows
) -> tuple[list[Row], list[Row], list[Row]]:
    """Compute minimal points, rays and lines of {x : inequalities, equations}."""
    return _generators(_from_constraints(columns, inequalities, equations))


def constraints(
    columns: int, points: IntegerRows, rays: IntegerRows, lines: IntegerRows
) -> tuple[list[Row], list[Row]]:
    """Compute minimal constraints of conv(points) + cone(rays) + span(lines), points not empty."""
    polyhedron = C_Polyhedron(columns, "empty")
    for row in points:
        polyhedron.add_generator(point(Linear_Expression(list(row[:-1]), 0), row[-1]))
    for row in rays:
        polyhedron.add_generator(ray(Linear_Expression(list(row), 0)))
    for row in lines:
        polyhedron.add_generator(line(Linear_Expression(list(row), 0)))
    return _constraints(polyhedron)


def _from_constraints(columns: int, inequalities: IntegerRows, equations: IntegerRows) -> Any:
    polyhedron = C_Polyhedron(columns, "universe")
    for row in inequalities:
        polyhedron.add_constraint(_remainder(row) >= 0)
    for row in equations:
        polyhedron.add_constraint(_remainder(row) == 0)
    return polyhedron


def _remainder(row: Row) -> Any:
    """Return the expression c - a·x of a row [a | c]."""
    return Linear_Expression([-entry for entry in row[:-1]], row[-1])


def _generators(polyhedron: Any) -> tuple[list[Row], list[Row], list[Row]]:
    points: list[Row] = []
    rays: list[Row] = []
    lines: list[Row] = []
    for generator in polyhedron.minimized_generators():
        coordinates = [int(entry) for entry in generator.coefficients()]
        if generator.is_point():
            points.append([*coordinates, int(generator.divisor())])
        else:
            (lines if generator.is_line() else rays).append(coordinates)
    return points, rays, lines


def _constraints(polyhedron: Any) -> tuple[list[Row], list[Row]]:
    inequalities: list[Row] = []
    equations: list[Row] = []
    for constraint in polyhedron.minimized_constraints():
        row = [
            *(-int(entry) for entry in constraint.coefficients()),
            int(constraint.inhomogeneous_term()),
        ]
        (equations if constraint.is_equality() else inequalities).append(row)
    return inequalities, equations


def _answer(name: str, arguments: tuple[Any, ...]) -> tuple[bool, object]:
    operations: dict[str, Callable[..., object]] = {
        "generators": generators,
        "constraints": constraints,
    }
    try:
        return True, operations[name](*arguments)
    except Exception as error:  # the caller reports every error
        return False, f"{type(error).__name__}: {' '.join(str(error).split())}"


def _end_with(lifeline: int) -> None:
    """End this process as soon as the other end of a pipe is closed."""
    if sys.platform != "linux":  # on other systems SIGIO does nothing
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it was closed before the lines above
        os._exit(0)


def main() -> None:
    """Answer requests until there are no more."""
    _end_with(int(sys.argv[1]))
    source, target = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            answer = _answer(*pickle.load(source))
            try:
                pickle.dump(answer, target, protocol=pickle.HIGHEST_PROTOCOL)
                target.flush()
            except BrokenPipeError:
                os._exit(0)  # an ordinary end would print an error about the closed pipe


if __name__ == "__main__":
    main()
