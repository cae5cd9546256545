"""Progress of long computations, as a line on stderr.

Rooms that compute report through a callback of the type `Progress` and know nothing of terminals;
the command line passes a callback that writes to a `ProgressLine`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Progress", "ProgressLine", "neuron_progress"]

#: Called after each neuron with its layer (0: a constraint of the domain), its index in the layer,
#: and the number of regions so far.
Progress: TypeAlias = Callable[[int, int, int], None]

#: Seconds before anything is shown, and between two texts.
_DELAY, _PAUSE = 0.3, 0.1


class ProgressLine:
    """A line on stderr with a text and the time passed, if stderr is a terminal.

    Work of less than 0.3 seconds shows nothing. The line is drawn when a text comes, by the thread
    that brings it, and it vanishes at the end of the block.

    Examples
    --------
    >>> with ProgressLine() as line:
    ...     line.show("region 7 of 9")
    """

    def __init__(self) -> None:
        self._due = time.monotonic() + _DELAY
        self._visible = sys.stderr.isatty()
        self._bar: Bar | None = None

    def __enter__(self) -> ProgressLine:
        return self

    def show(self, text: str) -> None:
        """Replace the line by another text, at most ten times a second."""
        now = time.monotonic()
        if not self._visible or now < self._due:
            return
        self._due = now + _PAUSE
        if self._bar is None:
            self._bar = _started_bar()
        self._bar.update(self._bar.task_ids[0], description=text, refresh=True)

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


def neuron_progress(line: ProgressLine) -> Progress:
    """Return a callback that shows by how many neurons a complex has been cut."""
    done = 0

    def show(layer: int, _: int, regions: int) -> None:
        nonlocal done
        done += layer > 0
        line.show(f"neuron {done} (layer {layer}), {regions} regions")

    return show
