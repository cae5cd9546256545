"""After Ctrl-C among the first neurons a complex listed fewer neurons than it was cut by.

It was cut by all neurons of the base (neurons with independent linear parts, which cut from the
start) and listed only the neurons that were done.
"""

from __future__ import annotations

import signal

import pytest

from polyrelu.complex import canonical_complex
from polyrelu.network import from_arrays
from polyrelu.support.progress import ProgressStep


@pytest.mark.parametrize(
    ("weight", "done"), [([[1, 0], [2, 0], [0, 1]], 3), ([[1, 0], [0, 1], [1, 1]], 2)]
)
def test_the_whole_base_is_listed(weight: list[list[int]], done: int) -> None:
    # Tests in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed: list[int] = []

    def interrupt(step: ProgressStep) -> None:
        if not pressed:
            pressed.append(step.num_done)
            signal.raise_signal(signal.SIGINT)

    cells = canonical_complex(
        from_arrays([(weight, [0, 1, 2]), ([[1, 1, 1]], [0])]), progress=interrupt
    )
    signal.signal(signal.SIGINT, before)
    assert pressed == [1]
    assert len(cells.neurons) == done
    assert cells.complete == (done == 3)
