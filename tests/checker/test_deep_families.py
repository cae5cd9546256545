"""The checker's rule for Theorem D: weights that sets of families show, joined families, sources.

The pieces are made up, so that one requirement at a time fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.network import from_arrays, to_document

#: Five neurons in the plane, any two with independent gradients: a piece shows two of the weights.
PLANE = ([[1, 0], [0, 1], [1, 1], [2, 1], [1, 3]], [0] * 5)
V, W = 5, 6
#: Three neurons cross the pieces; the weights on the other two are determined.
ALL = [0b11111, 0b11100, 0b11011]


class Subject:
    """A network as the rule sees it, with families that are made up."""

    def __init__(self, *layers: Any) -> None:
        network = to_document(from_arrays(list(layers)))
        meter = checker.Meter()
        self.neurons = checker.Neurons(checker.read_network(network, "network", meter), meter)
        self.ridges = checker.Ridges(self.neurons, is_regular=False)
        self.families = checker.Families(self.ridges)
        extent = checker.Extent.of(self.neurons, {"kind": "identifiable"})
        self.sets = checker.FamilySets(self.families, extent)
        self.weights = checker.WeightSystem(self.sets, self.ridges.derivatives)

    def joined(self, w: int, *families: list[int]) -> checker.PieceSet:
        found = checker.PieceSet(w)
        for masks in families:
            found.join(self.families.of_pieces(w, masks))
        return found

    def name(self, families: list[list[int]]) -> None:
        """Let these families, by number, be what a certificate can join."""
        self.families.family = (  # type: ignore[method-assign]
            lambda w, number: self.families.of_pieces(w, families[number])
        )


def in_plane() -> Subject:
    return Subject(PLANE, ([[1, 2, 1, 1, 1], [1, 3, 2, 1, 1]], [-5, -5]), ([[1, 2]], [0]))


def unmet(check: Callable[[], object]) -> str:
    """Return the unmet expectation of a check; empty if it passes."""
    try:
        check()
    except checker.Stop as stop:
        return stop.expected
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
    own = subject.joined(V, masks)
    subject.weights.look(own)
    assert own.determined == seen


@pytest.mark.parametrize(
    ("families", "more", "expected"),
    [
        pytest.param([ALL], [], "", id="all is seen"),
        pytest.param(
            [ALL[:2]], [], "all weights of neurons that are on", id="three weights are not seen"
        ),
        pytest.param([ALL[:1]], [], "all weights of neurons that are on", id="no weight is seen"),
        pytest.param(
            [ALL[:1], [0]],
            [],
            "all weights of neurons that are on",
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
    subject.sets.sets = {V: subject.joined(V, *families), W: subject.joined(W, ALL)}
    subject.name(more)
    evidence = {"joined": [(V, k) for k in range(len(more))], "order": []}
    found = unmet(lambda: subject.weights.check(evidence, subject.ridges))
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_rows_that_are_told_apart_by_what_crosses() -> None:
    """In the step `families` only crossings count, not determined weights."""
    subject = in_plane()
    subject.name([[0b00101], [0b00011, 0]])
    subject.sets.sets = {V: subject.joined(V, ALL[:2]), W: subject.joined(W, ALL)}
    assert unmet(lambda: subject.sets.join_by_crossing([(V, 0)])).startswith("a family that can")
    assert unmet(lambda: subject.sets.join_by_crossing([(V, 1)])) == ""
    assert len(subject.sets.sets[V].families) == 2


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
            "determined rows 2, 3 that are independent",
            id="rows are multiples where both see",
        ),
    ],
)
def test_sources(ridge: tuple[int, int, int], bias: int, expected: str) -> None:
    """h = (1, 0) is on at no piece of v = (2, 0), but at a piece of w = (2, 1)."""
    subject = Subject(([[1, 0], [0, 1]], [0, 0]), ([[5, 1], [7, 2]], [1, bias]), ([[1, 1]], [0]))
    subject.sets.sets = {2: subject.joined(2, [0b10]), 3: subject.joined(3, [0b11])}
    subject.ridges.add(*ridge)
    sources = checker.Sources(subject.sets, subject.ridges, {0: [2]})
    assert unmet(lambda: sources.check([0])) == expected
