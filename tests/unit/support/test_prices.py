"""The prices of operations: the table for users has the formulas of the functions."""

from __future__ import annotations

import inspect
import math
import re
from itertools import product

import pytest

from polyrelu.support import prices
from tests.generators.files import ROOT

TABLE = (ROOT / "docs" / "how-to" / "budgets.md").read_text("utf-8").partition("| operation |")[2]
ROWS = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", TABLE.partition("\n\n")[0], re.MULTILINE))

#: For each price the row of the table, and the letters of its sizes in the formula.
OPERATIONS = {
    "price_of_cell": ("a cell on a walk", "p"),
    "price_of_ray": ("a search for a zero", "p"),
    "price_of_evaluation": ("an evaluation of the hypotheses", "r"),
    "price_of_program": ("an exact linear program", "rcb"),
    "price_of_sign_system": ("a search for a point at which", "rd"),
    "price_of_node": ("a look at a node", "td"),
    "price_of_vertex": ("a vertex in", "n"),
    "price_of_point": ("the exact values", "p"),
    "price_of_chain": ("all choices of signs", "h"),
    "price_of_products": ("n products", "n"),
    "price_of_table": ("bounds in floats", "e"),
    "price_of_samples": ("signs of all neurons", "p"),
    "price_of_layer": ("a look for simple changes", "p"),
    "price_of_assignment": ("a look at an assignment", "h"),
    "price_of_independence": ("linear independence", "n"),
    "price_of_subset_sums": ("a comparison of all sums", "n"),
    "price_of_support": ("a look at a point", "r"),
    "price_of_membership": ("n minors and sums", "n"),
    "price_of_component": ("a look at a component", "io"),
    "price_of_boxes": ("bounds of two networks", "bn"),
    "price_of_forms": ("affine forms of all neurons", "pd"),
    "price_of_regions": ("n new regions", "nd"),
    "price_of_signs": ("forms with signs", "pd"),
    "price_of_generators": ("generators of open neurons", "pg"),
    "price_of_gradients": ("bounds of all gradients", "op"),
    "price_of_case": ("a case of a tree", "e"),
    "price_of_sparse_program": ("a sparse linear program", "e"),
}


def formula_of(operation: str) -> str:
    """The formula of the row that begins with these words, in Python."""
    (formula,) = (text for name, text in ROWS.items() if name.startswith(operation))
    text = formula.replace(",", "") if "max" not in formula else formula.replace("1,000", "1000")
    text = re.sub(r"⌊(.+?)⌋", r"math.floor(\1)", text.replace("^", "**"))
    return re.sub(r"(?<=[\w)]) (?=[a-z(])", " * ", text)


@pytest.mark.parametrize("name", prices.__all__)
def test_the_table_of_prices(name: str) -> None:
    operation, letters = OPERATIONS[name]
    price, formula = getattr(prices, name), formula_of(operation)
    assert len(inspect.signature(price).parameters) == len(letters)
    for sizes in product((1, 30, 500), repeat=len(letters)):
        found = eval(formula, {"math": math, "max": max, **dict(zip(letters, sizes, strict=True))})
        assert price(*sizes) == pytest.approx(found, rel=1e-12), formula


def test_every_row_is_a_price() -> None:
    assert len(ROWS) == len(OPERATIONS)
