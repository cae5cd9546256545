"""Ctrl-C in the middle of a change made integer rows and the float table differ.

Later answers were wrong.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from polyrelu.exact import FlatSet, Infeasible, InteriorPoint, LinearProgram, Optimal, Unbounded

Answer = Optimal | Unbounded | Infeasible | InteriorPoint | FlatSet
Change = Callable[[LinearProgram], object]


def started() -> LinearProgram:
    """Return the program x ≤ 10, x ≤ 5, -x ≤ 1, solved once so that all caches are filled."""
    program = LinearProgram(1)
    program.add_inequalities([[1], [1], [-1]], [10, 5, 1])
    program.maximize([1])
    program.interior_point()
    return program


CHANGES: dict[str, Change] = {
    "right": lambda program: program.change_right(0, "1/3"),
    "add": lambda program: program.add_inequalities([[3], [2]], [4, 1]),
    "remove": lambda program: program.remove_last(),
}


def interrupted_at(step: int, change: Change, program: LinearProgram) -> bool:
    """Raise KeyboardInterrupt before line number `step` of the package in the change.

    Returns
    -------
    False if the change ends before this line.
    """
    seen = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if "polyrelu" not in frame.f_code.co_filename:
            return None
        if event == "line":
            seen += 1
            if seen == step:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()  # of a debugger, or of a measurement of coverage
    sys.settrace(trace)
    try:
        change(program)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("name", list(CHANGES))
def test_the_program_is_the_old_one_or_the_new_one(name: str) -> None:
    change = CHANGES[name]
    old, new = started(), started()
    change(new)
    expected = [
        (program.maximize([1]), program.maximize([-1]), len(program)) for program in (old, new)
    ]
    steps = 0
    while True:
        steps += 1
        program = started()
        if not interrupted_at(steps, change, program):
            break
        assert (program.maximize([1]), program.maximize([-1]), len(program)) in expected, steps
        change(program)  # the program can be changed again
        program.maximize([1])
    assert steps > 10


def test_a_row_set_aside_comes_back_with_its_equation() -> None:
    """On x = 0 the first of x ≤ 0 and -x ≤ 1 is constant; without the equation it is not."""
    steps = 0
    while True:
        steps += 1
        program = LinearProgram(1)
        program.add_inequalities([[1], [-1]], [0, 1])
        program.add_equations([[1]], [0])
        if not interrupted_at(steps, LinearProgram.interior_point, program):
            break
        program.remove_last()
        answer = program.interior_point()
        assert isinstance(answer, InteriorPoint)
        assert -1 < answer.point[0] < 0, steps
    assert steps > 10


def test_changing_the_right_side_again_and_again_does_not_grow_the_row() -> None:
    program = started()
    for number in range(1, 200):
        program.change_right(0, f"1/{2 * number + 1}")
    assert max(abs(entry).bit_length() for entry in program._model.rows.entries[0]) < 20
