"""Windows of convolutions and poolings: their number, against counting them one by one."""

from __future__ import annotations

from itertools import count, product, takewhile

import pytest

from polyrelu.errors import NetworkError
from polyrelu.formats.graph.tensors import Window, plain_window

#: Size, kernel, stride, dilation, padding and rounding up; as runtimes require, the padding is
#: smaller than the kernel.
CASES = [
    case
    for case in product(
        (1, 2, 5, 8), (1, 2, 3), (1, 2, 3), (1, 2), ((0, 0), (1, 1), (0, 2)), (False, True)
    )
    if max(case[4]) < case[1]
]


def _num_windows(
    size: int, width: int, stride: int, dilation: int, pads: tuple[int, int], up: bool
) -> int:
    """Count the windows inside the padded entries one by one.

    With `up`, a window that overlaps the end counts too, unless it starts in the padding there.
    """
    entries, reach = size + sum(pads), dilation * (width - 1) + 1
    starts = list(takewhile(lambda start: start + reach <= entries, count(0, stride)))
    if up and starts:
        starts += [starts[-1] + stride] if starts[-1] + reach < entries else []
        starts = [start for start in starts if start < size + pads[0]]
    return len(starts)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_windows_are_counted(case: tuple[int, int, int, int, tuple[int, int], bool]) -> None:
    size, width, stride, dilation, pads, up = case
    window = Window([width], [stride], [dilation], [pads], up)
    expected = _num_windows(*case)
    if expected:
        assert window.counts([size]) == [expected]
    elif not up:
        with pytest.raises(NetworkError, match="does not fit"):
            window.counts([size])


def test_transposed_sizes_undo_counts() -> None:
    """A convolution maps some output size of the transposed convolution back to its input size."""
    for size, width, stride, dilation, pads, up in CASES:
        window = Window([width], [stride], [dilation], [pads])
        if up or size + sum(pads) < dilation * (width - 1) + 1:
            continue
        (places,) = window.counts([size])
        assert size in {window.transposed_sizes([places], [extra])[0] for extra in range(stride)}
    assert plain_window([2, 3], [1, 2]).counts([4, 7]) == [3, 3]
