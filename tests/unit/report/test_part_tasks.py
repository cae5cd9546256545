"""Parts of reports as tasks: the same files whoever makes them, also after an end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.report import Report, assembly, report
from polyrelu.report.part_tasks import is_final, packed_part, part_from
from polyrelu.report.question import OpenEnd, Part
from polyrelu.support.budget import Budget, LimitReached
from polyrelu.support.document import Attachment, Image, Listing, Paragraph, Table
from polyrelu.support.parallel import Processes, TaskStream
from polyrelu.support.parallel.wire import packed
from tests.generators.workers import Backwards, Counted, Wrong

NUM_TASKS = len(assembly._PARTS) - 1


def asked(**options: Any) -> Report:
    return report("example:bends", "box:-2,2", budget=2000, **options)


@pytest.fixture(scope="module")
def expected() -> Report:
    return asked()


def files_of(found: Report, folder: Path) -> dict[str, bytes]:
    """All files of a report, in the three formats."""
    for ending in assembly.REPORT_FORMATS:
        found.save(folder / f"r{ending}")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in folder.iterdir():
        path.unlink()
    return files


@pytest.mark.parametrize("workers", [Counted(), Backwards()], ids=["in order", "backwards"])
def test_files_do_not_depend_on_the_workers(
    expected: Report, workers: Counted, tmp_path: Path
) -> None:
    found = asked(workers=workers)
    assert (found.answers, found.open) == (expected.answers, expected.open)
    assert files_of(found, tmp_path) == files_of(expected, tmp_path)
    assert workers.num_done >= NUM_TASKS - 1


@pytest.mark.slow
def test_files_of_two_processes(expected: Report, tmp_path: Path) -> None:
    found = asked(workers=Processes(2))
    assert files_of(found, tmp_path) == files_of(expected, tmp_path)


def test_a_report_goes_on_from_every_part(expected: Report, tmp_path: Path) -> None:
    kept = tmp_path / "work.db"
    for _ in range(NUM_TASKS - 1):
        with pytest.raises(SystemExit):
            asked(workers=Counted(1), checkpoint=kept)
    found = asked(workers=Counted(1), checkpoint=kept)
    folder = tmp_path / "files"
    folder.mkdir()
    assert files_of(found, folder) == files_of(expected, folder)
    nothing = Counted()
    assert asked(workers=nothing, checkpoint=kept).answers == expected.answers
    assert nothing.num_done == 0


def test_a_checkpoint_of_another_report_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "work.db"
    asked(checkpoint=kept)
    with pytest.raises(DomainError, match="seed: 0 in place of 1"):
        asked(seed=1, checkpoint=kept)
    with pytest.raises(DomainError, match="command: "):
        asked(file="other.html", checkpoint=kept)
    with pytest.raises(DomainError, match="another shown part"):
        asked(show="box:-1,1", checkpoint=kept)


@pytest.mark.parametrize("workers", [None, Counted()], ids=["here", "workers"])
def test_what_a_time_limit_cuts_short_is_not_kept(
    expected: Report, tmp_path: Path, workers: Counted | None
) -> None:
    kept = tmp_path / "work.db"
    cut = asked(time_limit=0, checkpoint=kept, workers=workers)
    assert len(cut.open) == NUM_TASKS
    assert {end.reason for end in cut.open} == {"the time limit of 0 seconds was reached"}
    found = asked(checkpoint=kept)
    assert found.answers == expected.answers


@pytest.mark.parametrize("error", [LimitReached("no more"), SystemError("a product of objects")])
def test_every_kind_of_end_leaves_a_report(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products of numpy on Python objects turn Ctrl-C into a SystemError."""
    if isinstance(error, SystemError):
        error.__cause__ = KeyboardInterrupt()

    def take(_stream: TaskStream) -> bytes:
        """End the first task."""
        raise error

    monkeypatch.setattr(TaskStream, "take", take)
    found = asked(time_limit=0, workers=Counted())
    assert len(found.open) == NUM_TASKS


def test_every_block_survives(expected: Report) -> None:
    part = Part(
        "a",
        "b",
        (
            Paragraph("c é", "proved", "good"),
            Listing("polyrelu\nd"),
            Table(("e",), (("f",), ("g",))),
            Attachment("h", bytes(range(256)), "i"),
        ),
        {"j": [1, None, {"k": "l"}]},
        (OpenEnd("m", "n", ("o", "p")),),
    )
    data = packed_part(_question(Budget()), part)
    assert is_final(data)
    assert part_from(data) == part
    image = Image("a", lambda ending: ending.encode(), "b")
    (again,) = part_from(packed_part(_question(Budget()), Part("a", "b", (image,), {}))).blocks
    assert isinstance(again, Image)
    assert (again.name, again.caption, again.render(".png")) == ("a", "b", b".png")
    with pytest.raises(PolyreluError, match=r"not as [.]gif"):
        again.render(".gif")
    assert not is_final(packed_part(_question(Budget(seconds=0)), part))


def _question(limits: Budget) -> Any:
    """Anything with limits."""
    return type("Limited", (), {"limits": limits})


@pytest.mark.parametrize(
    "entries",
    [None, 3, [], {}, {"title": "a", "short": "b", "blocks": [["script", "c"]], "open": []}],
    ids=str,
)
def test_wrong_results_are_refused(entries: Any) -> None:
    with pytest.raises(PolyreluError, match="not understood"):
        asked(workers=Wrong(b"+" + packed(entries)))
