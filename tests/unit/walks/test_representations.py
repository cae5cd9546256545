"""How the objects of `polyrelu.walks` show themselves."""

from __future__ import annotations

import pytest

from polyrelu.network import NeuronId, from_arrays
from polyrelu.walks import AffineSlice, walk_bent_hyperplane, walk_line

NETWORK = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
AXES = [[1, 0], [0, 1]]
LINE = walk_line(NETWORK, [-1, "1/2"], [1, 0], end=7)
CELLS = list(LINE)
BENT = walk_bent_hyperplane(NETWORK, NeuronId(2, 0), [0, 0], AXES, start=["1/2", "1/2"])
PIECES = list(BENT)
TIED = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
(TIE,) = (piece.end for piece in walk_bent_hyperplane(TIED, NeuronId(1, 0), [0, -1], AXES, limit=1))


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (AffineSlice(NETWORK, [0, 0], AXES), "<AffineSlice, dimension 2 in R^2, 3 neurons>"),
        (LINE, "<LineWalk from t = 0 to 7, 3 steps so far>"),
        (CELLS[0], "<LineCell -+|-, from the start to t = 1>"),
        (CELLS[2], "<LineCell ++|+, from t = 3/2 to the end>"),
        (CELLS[0].end, "<LineEvent, (1, 0) at t = 1>"),
        (BENT, "<BentWalk of (2, 0), 2 steps so far>"),
        (PIECES[0], "<BentPiece ++|0, heading (1, -1), then the next piece>"),
        (PIECES[1], "<BentPiece +-|0, heading (0, -1), then unbounded>"),
        (PIECES[0].end, "<CrossingPoint, (1, 1), (2, 0) at (1, 0)>"),
        (TIE, "<Tie, (1, 0), (1, 1), (1, 2) at (0, 1)>"),
        (TIE.star, "<Star, 6 sectors, 6 rays>"),  # type: ignore[union-attr]
        (TIE.star.rays[0], "<Ray in direction (1, 0), 1 neuron of sign 0>"),  # type: ignore[union-attr]
        (
            BENT.statistics,
            "WalkStatistics(num_steps=2, num_exact_steps=2, num_fully_exact_steps=1, "
            "num_exact_continuations=0)",
        ),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_one_line(thing: object, text: str) -> None:
    assert repr(thing) == str(thing) == text


def test_long_texts_are_shortened() -> None:
    """Of many neurons and long numbers only the ends are shown."""
    wide = from_arrays([([[1]] * 90, [0] * 90), ([[1] * 90], [0])])
    first, _ = walk_line(wide, [-1], ["1/" + "1" * 60])
    assert repr(first) == (
        f"<LineCell {'-' * 19}…{'-' * 19}, from the start to t = {'1' * 19}…{'1' * 19}>"
    )
    assert len(repr(first.end)) < 100
