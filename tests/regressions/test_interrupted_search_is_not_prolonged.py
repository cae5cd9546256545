"""After Ctrl-C in the search of ridges `identify` went on with linear programs for other networks.

On a network with 128 neurons this took up to a minute.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from polyrelu import from_arrays, identify
from polyrelu.support.progress import ProgressStep

#: A network that nothing refutes before the search, and that the search alone cannot prove.
OPEN = from_arrays([
    ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
    ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
    ([[-1, 3]], [-2]),
])  # fmt: skip


@pytest.mark.parametrize(("presses", "expected"), [(True, False), (False, True)])
def test_no_other_network_is_looked_for_after_an_interrupt(
    presses: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, pressed = [], list[ProgressStep]()

    def press(step: ProgressStep) -> None:
        if presses and not pressed:
            pressed.append(step)
            signal.raise_signal(signal.SIGINT)

    def moves(network: Any, suspects: Any = None, *others: Any, **named: Any) -> Iterator[Any]:
        if suspects is not None:
            late.append(suspects)
        return iter(())

    monkeypatch.setattr(sys.modules["polyrelu.proofs.identify"], "one_sided_moves", moves)
    # Tests in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = identify(OPEN, among="transversal", budget=200, progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.status == "undecided"
    assert bool(late) is expected
