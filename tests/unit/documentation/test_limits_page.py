"""The page of limits has the numbers of the code."""

from __future__ import annotations

import re

import pytest

from polyrelu import checker
from polyrelu.complex import frame
from polyrelu.fibers import report as fiber_report, settings as fiber_settings
from polyrelu.formats import meter, native, nnet
from polyrelu.proofs import membership, removal_proof, simplification
from polyrelu.support import check_cost, limits
from tests.generators.files import ROOT

PAGE = (ROOT / "docs" / "reference" / "limits.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in row.strip("|").split("|")]
    for row in PAGE.splitlines()
    if row.startswith("|") and re.search("[0-9]", row)
]


def of(limit: meter.Limit) -> list[int]:
    """The numbers of a limit that grows with the file."""
    return [limit.base, limit.per_byte]


#: The words before the numbers of each row, and the numbers.
NUMBERS = {
    "layers": [limits.DEPTH_LIMIT],
    "neurons in a layer": [limits.WIDTH_LIMIT],
    "weights and biases of a network": [limits.PARAMETER_LIMIT],
    "bits of any number in a network or certificate file": [limits.BIT_LIMIT],
    "numbers held in values, matrices and tables of indices": of(meter.LIMITS.entries),
    "products of two numbers": of(meter.LIMITS.products),
    "cells": [frame._CELL_LIMIT],
    "nodes of split trees for the signs of chosen neurons": [removal_proof.SETTINGS.max_nodes],
    "nodes of other split trees": [simplification.SETTINGS.max_nodes],
    "hidden neurons and outputs up to which inequalities are derived": [
        simplification.SETTINGS.max_neurons
    ],
    "assignments of neurons that are visited, in one layer": [fiber_settings.SETTINGS.max_visited],
    "unknowns of a component whose equations the LaTeX report has": [
        fiber_report._SETTINGS.max_unknowns
    ],
    "dependent neurons of a layer (a subset-sum question)": [limits.SUBSET_LIMIT],
    "assignments of neurons to doubled hyperplanes": [limits.PAIR_LIMIT],
    "paths of two weights that are compared, for membership in a class": [
        membership.SETTINGS.max_paths
    ],
}


def test_every_row_is_known() -> None:
    words = {cell for row in ROWS for cell in row}
    assert words >= {*NUMBERS, "unpacked bytes (archives, external data)"}
    assert len(ROWS) == len(NUMBERS) + 1


@pytest.mark.parametrize("name", NUMBERS)
def test_rows(name: str) -> None:
    (row,) = (row for row in ROWS if name in row)
    assert row[row.index(name) + 1 :] == [f"{number:,}" for number in NUMBERS[name]]


def test_sizes_in_words() -> None:
    """Powers of two stand as MiB and GiB, and budgets as powers."""
    text, mib = " ".join(PAGE.split()), 2**20
    unpacked, packed = meter.LIMITS.unpacked, meter.PACKED_LIMIT
    assert f"data) | {unpacked.base // mib} MiB | {unpacked.per_byte} |" in text
    assert f"unpack to {packed.base // mib} MiB and {packed.per_byte} bytes for each" in text
    assert native._SIZE_LIMIT == nnet._SIZE_LIMIT == 2**30
    assert "(`.nnet`, native JSON) may have 1 GiB" in text
    assert (checker.BUDGET, checker.UNITS_PER_BYTE) == (2**35, 2**14)
    assert "a file may cost 2^35 units and 2^14 more for each of its bytes" in text
    assert (check_cost.MEASURED, check_cost.MEASURED_IN_HASTE) == (2**33, 2**28)
    assert "up to 2^33 units, which are some seconds (2^28 if the command has" in text
    assert check_cost._MARGIN == 4
    assert "it is four times what the whole tree costs" in text
    assert "it is four times what all planes cost" in text
    assert check_cost._AMPLE == 10**15
    assert "The printed budget is 10^15 units" in text
