"""After Ctrl-C in the search of ridges `identify` went on with linear programs for other networks.

On a network with 128 neurons this took up to a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from polyrelu import from_arrays, identify

#: A network that nothing refutes before the search, and that the search alone cannot prove.
OPEN = from_arrays([
    ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
    ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
    ([[-1, 3]], [-2]),
])  # fmt: skip


@pytest.mark.parametrize(("goes_on", "expected"), [(False, 0), (True, 1)])
def test_no_other_network_is_looked_for_after_an_interrupt(
    goes_on: bool, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = []

    def moves(network: Any, suspects: Any = None, **others: Any) -> Iterator[Any]:
        if suspects is not None:
            late.append(suspects)
        return iter(())

    monkeypatch.setattr(sys.modules["polyrelu.proofs.identify"], "one_sided_moves", moves)
    found = identify(OPEN, among="transversal", time_limit=0.2, progress=lambda search: goes_on)
    assert found.status == "undecided"
    assert len(late) == expected
