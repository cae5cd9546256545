"""The checker's rule for Theorem D: weights that sets of families show, joined families, sources.

The pieces are made up, so that one requirement at a time fails.
"""

from __future__ import annotations

from typing import Any

import pytest

from polyrelu import checker
from polyrelu.network import from_arrays, to_document

#: Five neurons in the plane, any two with independent gradients: a piece shows two of the weights.
PLANE = ([[1, 0], [0, 1], [1, 1], [2, 1], [1, 3]], [0] * 5)
V, W = 5, 6
#: Three neurons cross the pieces; the weights on the other two are visible.
ALL = [0b11111, 0b11100, 0b11011]


def subject_of(*layers: Any) -> checker.Deep:
    network = checker.read_network(to_document(from_arrays(list(layers))), "network")
    return checker.Deep(network, {"kind": "identifiable"})


def in_plane() -> checker.Deep:
    return subject_of(PLANE, ([[1, 2, 1, 1, 1], [1, 3, 2, 1, 1]], [-5, -5]), ([[1, 2]], [0]))


def family(subject: checker.Deep, w: int, masks: list[int]) -> checker.Seen:
    found, layer = checker.Seen(w), subject.layer[w]
    before = subject.below(-1, layer) ^ subject.below(-1, layer - 1)
    found.masks = masks
    for mask in masks:
        found.on, found.off = found.on | mask & before, found.off | ~mask & before
    found.crossed = found.seen = found.on & found.off
    return found


def joined(subject: checker.Deep, w: int, *families: list[int]) -> checker.Seen:
    found = checker.Seen(w)
    for masks in families:
        found.join(family(subject, w, masks))
    return found


def stopped(seen: dict[int, checker.Seen], subject: checker.Deep, more: list[list[int]]) -> str:
    """Return the unmet expectation of (D2) if further families of v are joined by sight.

    It is empty if (D2) holds.
    """
    subject.family = (  # type: ignore[method-assign]
        lambda step, w, ridge: family(subject, w, more[ridge])
    )
    try:
        subject.weights(seen, {"joined": [(V, k) for k in range(len(more))], "order": []})
    except checker.Stop as stop:
        return str(stop.args[2])
    return ""


@pytest.mark.parametrize(
    ("masks", "seen"),
    [
        ([0b00011], 0b00011),
        ([0b00111], 0),
        ([0b00111, 0b00011], 0b00111),
        (ALL, 0b11111),
        (ALL[:2], 0b00011),
    ],
)
def test_what_a_set_sees(masks: list[int], seen: int) -> None:
    subject = in_plane()
    own = joined(subject, V, masks)
    subject.look(own)
    assert own.seen == seen


@pytest.mark.parametrize(
    ("families", "more", "expected"),
    [
        pytest.param([ALL], [], "", id="all is seen"),
        pytest.param([ALL[:2]], [], "no weight 0", id="three weights are not seen"),
        pytest.param([ALL[:1]], [], "no weight 0", id="no weight is seen"),
        pytest.param(
            [ALL[:1], [0]],
            [],
            "no weight 0",
            id="no family is crossed: on in one and off in another",
        ),
        pytest.param(
            [ALL[:2]],
            [[0b00101]],
            "",
            id="a third weight is seen at another family, then the others",
        ),
        pytest.param(
            [ALL[:2]],
            [[0b01100]],
            "a family that",
            id="another family sees nothing that the set sees",
        ),
        pytest.param(
            [[0b11111, 0b11110]], [[0b00011]], "sets of", id="v and w see one neuron in common"
        ),
        pytest.param([[0b00011], [0b11100]], [[0b00101]], "", id="the set sees what a member sees"),
        pytest.param(
            [ALL[:2]],
            [[0b10001]],
            "a family that",
            id="the rows are equal where the family and w see",
        ),
    ],
)
def test_weights(families: list[list[int]], more: list[list[int]], expected: str) -> None:
    subject = in_plane()
    seen = {V: joined(subject, V, *families), W: joined(subject, W, ALL)}
    found = stopped(seen, subject, more)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_rows_that_are_told_apart_by_what_crosses() -> None:
    """In the step `families` only crossings count, not visible weights."""
    subject = in_plane()
    subject.family = (  # type: ignore[method-assign]
        lambda step, w, ridge: family(subject, w, [0b00101])
    )
    seen = {V: joined(subject, V, ALL[:2]), W: joined(subject, W, ALL)}
    with pytest.raises(checker.Stop) as stop:
        subject.join("families", seen, [(V, 0)])
    assert stop.value.args[2] == "a family that can be joined"
    subject.family = (  # type: ignore[method-assign]
        lambda step, w, ridge: family(subject, w, [0b00011, 0])
    )
    subject.join("families", seen, [(V, 0)])
    assert len(seen[V].families) == 2


@pytest.mark.parametrize(
    ("ridge", "bias", "expected"),
    [
        pytest.param((0, 3, 0b0110), 3, "", id="all is there"),
        pytest.param(
            (0, 3, 0b0100),
            3,
            "a sector where all sources are off",
            id="where h is off layer 1 is off",
        ),
        pytest.param(
            (1, 3, 0b0101), 3, "a sector where all sources are off", id="h is on everywhere"
        ),
        pytest.param((0, 3, 0b0010), 3, "full rank for source 0", id="v is off where h vanishes"),
        pytest.param((1, 3, 0b0100), 3, "full rank for source 0", id="h does not vanish"),
        pytest.param(
            (0, 3, 0b0110),
            2,
            "seen rows 2, 3 that are apart",
            id="rows are multiples where both see",
        ),
    ],
)
def test_sources(ridge: tuple[int, int, int], bias: int, expected: str) -> None:
    """h = (1, 0) is on at no piece of v = (2, 0), but at a piece of w = (2, 1)."""
    subject = subject_of(([[1, 0], [0, 1]], [0, 0]), ([[5, 1], [7, 2]], [1, bias]), ([[1, 1]], [0]))
    seen = {2: joined(subject, 2, [0b10]), 3: joined(subject, 3, [0b11])}
    subject.add(*ridge)
    found = ""
    try:
        subject.sources(seen, [0], {0: [2]})
    except checker.Stop as stop:
        found = str(stop.args[2])
    assert found == expected
