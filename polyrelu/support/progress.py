"""Progress of long computations, as a line on stderr.

Rooms that compute report through a callback of the type `Progress` and know nothing of terminals;
the command line passes a callback that writes to a `ProgressLine`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress", "ProgressLine", "neuron_progress"]

#: Called after each neuron with its layer (0: a constraint of the domain), its index in the layer,
#: and the number of regions so far.
Progress: TypeAlias = Callable[[int, int, int], None]


class ProgressLine:
    """A line on stderr that is overwritten by every report; silent if stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._visible = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def show(self, text: str) -> None:
        """Replace the line by another text, at most ten times a second."""
        now = time.monotonic()
        if self._visible and now - self._shown > 0.1:
            self._shown = now
            print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._visible:
            print(f"\r{'':<70}\r", end="", file=sys.stderr, flush=True)


def neuron_progress(line: ProgressLine) -> Progress:
    """Return a callback that shows by how many neurons a complex has been cut."""
    done = 0

    def show(layer: int, _: int, regions: int) -> None:
        nonlocal done
        done += layer > 0
        line.show(f"neuron {done} (layer {layer}), {regions} regions")

    return show
