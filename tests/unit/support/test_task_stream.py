"""Tasks of searches: taken in order, known by what they are, and dropped if nobody wants them."""

from __future__ import annotations

import ast
from pathlib import Path

from polyrelu.support.parallel import Checkpoint, Execution, TaskStream
from polyrelu.support.parallel.stream import _place
from tests.generators.files import ROOT


def doubled(context: list[bytes], task: bytes) -> bytes:
    """Note a task, and return it twice."""
    context.append(task)
    return task * 2


def test_results_are_known_again_by_task_and_name(tmp_path: Path) -> None:
    question, done = {"question": "doubles"}, list[bytes]()
    with Execution.opened(None, tmp_path / "work.db", question) as execution:
        for name, tasks in (("one", [b"a", b"b"]), ("one", [b"b", b"c"]), ("two", [b"b"])):
            with execution.stream(doubled, done, name) as stream:
                for task in tasks:
                    stream.add(task)
                assert [stream.take() for _ in tasks] == [task * 2 for task in tasks]
    assert done == [b"a", b"b", b"c", b"b"]


def test_a_result_of_another_task_at_the_same_place_is_not_used(tmp_path: Path) -> None:
    with Checkpoint(tmp_path / "work.db", {"question": "doubles"}) as checkpoint:
        digest = TaskStream(doubled, [])._digest(b"a")
        checkpoint.add(_place(digest), digest[:-1] + b"x" + b"wrong")
        stream = TaskStream(doubled, [], checkpoint=checkpoint)
        stream.add(b"a")
        assert stream.take() == b"aa"
        assert checkpoint.result(_place(digest)) == digest + b"aa"


def test_forgotten_tasks_are_not_done() -> None:
    done = list[bytes]()
    with TaskStream(doubled, done) as stream:
        for task in (b"a", b"b", b"c"):
            stream.add(task)
        assert stream.take() == b"aa"
        stream.forget()
        assert not stream._tasks
        stream.add(b"d")
        assert (stream.take(), stream.num_waiting) == (b"dd", 0)
    assert done == [b"a", b"d"]


def test_no_two_classes_of_this_room_have_one_name() -> None:
    names = [
        node.name
        for path in (ROOT / "polyrelu" / "support" / "parallel").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted(names) == sorted(set(names))
