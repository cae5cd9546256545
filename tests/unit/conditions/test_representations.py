"""How conditions and their evidence show themselves in a terminal and in a notebook."""

from __future__ import annotations

from fractions import Fraction

import pytest

from polyrelu.complex import Cell
from polyrelu.conditions import (
    AffinePiece,
    CollinearPieces,
    Condition,
    Crossings,
    DeficientProduct,
    InvisibleFacet,
    Limits,
    MaskedProduct,
    OpaqueRegion,
    Parts,
    TransverseCrossing,
    WrongCell,
    ZeroExtremum,
)
from polyrelu.network import NeuronId

FIRST, SECOND = NeuronId(1, 0), NeuronId(2, 1)
PIECE = AffinePiece(SECOND, ((0, 2),), (Fraction(1, 2), Fraction(3)))
PRODUCT = MaskedProduct(1, ((0, 1), (0,)), 1)
HOLDS: Condition[None] = Condition("transparent", "holds", 7, "regions")
UNCHECKED: Condition[None] = Condition("generic", "unchecked", 5, "cells", reason="5 < 9 cells")
CROSSING = TransverseCrossing(FIRST, SECOND, Cell(0, 3))

SHOWN: list[tuple[object, str]] = [
    (HOLDS, "<Condition, transparent: holds, 7 regions>"),
    (UNCHECKED, "<Condition, generic: unchecked, 5 < 9 cells>"),
    (Parts((HOLDS, UNCHECKED)), "<Parts, transparent holds, generic unchecked>"),
    (PIECE, "<AffinePiece, unit 1 of layer 2 with masks {0, 2} is (1/2, 3)>"),
    (
        CollinearPieces(AffinePiece(FIRST, (), (Fraction(1),)), PIECE),
        "<CollinearPieces, unit 0 of layer 1 is (1), unit 1 of layer 2 with masks {0, 2} is "
        "(1/2, 3)>",
    ),
    (
        CROSSING,
        "<TransverseCrossing, neuron 0 of layer 1 and neuron 1 of layer 2 cross in cell 3 of "
        "dimension 0>",
    ),
    (Crossings((CROSSING,), ()), "<Crossings, all of 1 pairs cross>"),
    (
        Crossings((), ((FIRST, SECOND),)),
        "<Crossings, 1 of 1 pairs do not cross: neuron 0 of layer 1 and neuron 1 of layer 2>",
    ),
    (PRODUCT, "<MaskedProduct, the product of layers 1 to 2 with masks {0, 1} {0} has rank 1>"),
    (
        DeficientProduct(PRODUCT, 2),
        "<DeficientProduct, the product of layers 1 to 2 with masks {0, 1} {0} has rank 1, not 2>",
    ),
    (
        WrongCell(Cell(0, 4), 2, 3, (Fraction(0),)),
        "<WrongCell, cell 4 of dimension 0, at (0), has codimension 2 and 3 zeros>",
    ),
    (
        InvisibleFacet(Cell(0, 0), (0, 1), (Fraction(0),)),
        "<InvisibleFacet, one affine map on the regions 0 and 1, between which (0) lies>",
    ),
    (
        OpaqueRegion(2, 1, (Fraction(-1),)),
        "<OpaqueRegion, all neurons of layer 1 are negative on region 2, at (-1)>",
    ),
    (
        ZeroExtremum(SECOND, Cell(0, 0), "maximum", (Fraction(0),)),
        "<ZeroExtremum, neuron 1 of layer 2 has a local maximum with value 0 at (0)>",
    ),
    (Limits(products=5), "Limits(products=5, pieces=20000)"),
]


@pytest.mark.parametrize(
    ("thing", "shown"), SHOWN, ids=[type(thing).__name__ for thing, _ in SHOWN]
)
def test_one_line(thing: object, shown: str) -> None:
    assert repr(thing) == shown


def test_long_numbers_are_cut() -> None:
    shown = repr(OpaqueRegion(2, 1, (Fraction(10**900),) * 10))
    assert len(shown) < 140
    assert shown.endswith("000…>")


def test_texts() -> None:
    assert str(HOLDS) == "transparent: holds, 7 regions"
    assert str(Parts((HOLDS, UNCHECKED))) == "generic unchecked"
    assert str(Crossings((CROSSING,), ())) == "all of 1 pairs cross"


def test_html() -> None:
    head = "<table><tr><th>condition</th><th>status</th><th></th></tr>"
    row = "<tr><td>generic</td><td>unchecked</td><td>5 &lt; 9 cells</td></tr>"
    assert UNCHECKED._repr_html_() == f"{head}{row}</table>"
    assert Parts((HOLDS, UNCHECKED))._repr_html_() == (
        f"{head}<tr><td>transparent</td><td>holds</td><td>7 regions</td></tr>{row}</table>"
    )
