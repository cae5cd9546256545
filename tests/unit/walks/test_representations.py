"""How the objects of `polyrelu.walks` show themselves."""

from __future__ import annotations

from polyrelu.network import from_arrays
from polyrelu.walks import walk_line


def test_long_texts_are_shortened() -> None:
    """Of many neurons and long numbers only the ends are shown."""
    wide = from_arrays([([[1]] * 90, [0] * 90), ([[1] * 90], [0])])
    first, _ = walk_line(wide, [-1], ["1/" + "1" * 60])
    assert repr(first) == (
        f"<LineCell {'-' * 19}…{'-' * 19}, from the start to t = {'1' * 19}…{'1' * 19}>"
    )
    assert len(repr(first.end)) < 100
