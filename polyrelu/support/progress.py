"""Progress of long computations: one protocol for all functions, and a line on stderr.

Every function with a parameter `progress` calls it with a `ProgressStep` each time a piece of work
is done. The callback returns nothing and changes no result. Steps may come thousands of times a
second; a display draws as few of them as it likes. Rooms that compute know nothing of terminals;
the command line passes `ProgressLine.show`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Progress", "ProgressLine", "ProgressStep", "SizedIterable", "report", "reported"]

_T_co = TypeVar("_T_co", covariant=True)

#: Seconds before anything is shown, and between two texts of one stage.
_DELAY, _PAUSE = 0.3, 0.1


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """How far a long computation is; `str` gives it as one line.

    Every function with a parameter `progress` takes a function of one `ProgressStep`, which it
    calls after each step. The function returns nothing, and it does not change the result. It may
    end the computation by an exception such as `KeyboardInterrupt`, which reaches the caller.

    Attributes
    ----------
    stage
        What is being done, in plain words. A computation has one stage or several, one after the
        other.
    num_done
        Number of units of this stage that are done.
    num_total
        Number of units of this stage; None if it is unknown. It grows where a search finds more
        work.
    unit
        What is counted, as a plural.
    details
        Other numbers, by what they count.

    Notes
    -----
    Displays throttle the steps themselves. A bar of tqdm that follows one function:

    .. code-block:: python

        from tqdm import tqdm

        with tqdm() as bar:

            def show(step):
                bar.desc, bar.unit, bar.total = step.stage, step.unit, step.num_total
                bar.set_postfix(step.details, refresh=False)
                bar.update(step.num_done - bar.n)

            polyrelu.canonical_complex(network, "box:-1,1", progress=show)

    The same with rich, which the command line uses:

    .. code-block:: python

        from rich.progress import Progress

        with Progress() as display:
            task = display.add_task("")

            def show(step):
                total, done = step.num_total, step.num_done
                display.update(task, description=str(step), total=total, completed=done)

            polyrelu.identify(network, progress=show)

    Examples
    --------
    >>> print(ProgressStep("cutting cells", 3, 40, "neurons", {"layer": 1, "regions": 31}))
    cutting cells: 3 of 40 neurons, layer 1, regions 31
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.complex import region_graph
    >>> _ = region_graph(from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])]), progress=print)
    walking from region to region: 1 of 2 regions
    walking from region to region: 2 of 3 regions
    walking from region to region: 3 of 3 regions
    """

    stage: str
    num_done: int
    num_total: int | None
    unit: str
    details: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        total = "" if self.num_total is None else f" of {self.num_total}"
        details = (
            f", {name} {value}" if isinstance(value, int) else f", {name} {value:.3g}"
            for name, value in self.details.items()
        )
        return f"{self.stage}: {self.num_done}{total} {self.unit}{''.join(details)}"


#: What the parameter `progress` of every function takes.
Progress: TypeAlias = Callable[[ProgressStep], None]


def report(
    progress: Progress | None,
    stage: str,
    num_done: int,
    num_total: int | None,
    unit: str,
    details: Mapping[str, float] | None = None,
) -> None:
    """Call a callback, if there is one, with the step that has the given fields.

    Examples
    --------
    >>> report(print, "writing", 1, 6, "regions")
    writing: 1 of 6 regions
    >>> report(None, "writing", 1, 6, "regions")
    """
    if progress is not None:
        progress(ProgressStep(stage, num_done, num_total, unit, details or {}))


class SizedIterable(Sized, Iterable[_T_co], Protocol[_T_co]):
    """A collection that knows its length."""


def reported(
    items: SizedIterable[_T_co], progress: Progress | None, stage: str, unit: str
) -> Iterator[_T_co]:
    """Yield the items of a collection, and report each of them when the next one is asked for.

    Examples
    --------
    >>> [2 * number for number in reported([3, 5], print, "doubling", "numbers")]
    doubling: 1 of 2 numbers
    doubling: 2 of 2 numbers
    [6, 10]
    """
    for num_done, item in enumerate(items, 1):
        yield item
        report(progress, stage, num_done, len(items), unit)


class ProgressLine:
    """A line on stderr with a step and the time passed, if stderr is a terminal.

    Work of less than 0.3 seconds shows nothing. The line is drawn when a step comes, by the thread
    that brings it, and it vanishes at the end of the block.

    Examples
    --------
    >>> with ProgressLine() as line:
    ...     line.show(ProgressStep("walking", 7, 9, "regions"))
    """

    def __init__(self) -> None:
        self._due = time.monotonic() + _DELAY
        self._visible = sys.stderr.isatty()
        self._bar: Bar | None = None
        self._stage = ""

    def __enter__(self) -> ProgressLine:
        return self

    def show(self, step: ProgressStep) -> None:
        """Replace the line by another step, at most ten times a second; a new stage at once."""
        now = time.monotonic()
        is_new_stage = self._bar is not None and step.stage != self._stage
        if not self._visible or (now < self._due and not is_new_stage):
            return
        self._due, self._stage = now + _PAUSE, step.stage
        if self._bar is None:
            self._bar = _started_bar()
        self._bar.update(self._bar.task_ids[0], description=str(step), refresh=True)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _started_bar() -> Bar:
    """Return a display of rich with one task of unknown length; it starts no thread."""
    from rich.console import Console
    from rich.progress import Progress as Bar, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    bar = Bar(
        *columns,
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
    )
    bar.add_task("", total=None)
    bar.start()
    return bar
