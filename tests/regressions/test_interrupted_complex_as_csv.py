"""After Ctrl-C a .csv output was an error, and all results so far were lost.

The reason was its affine maps.
"""

from __future__ import annotations

import csv
import signal
from pathlib import Path

from polyrelu.complex import canonical_complex
from polyrelu.complex.export import save_complex
from polyrelu.network import from_arrays
from polyrelu.support.progress import ProgressStep


def test_only_the_maps_are_missing(tmp_path: Path) -> None:
    # Tests in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt(step: ProgressStep) -> None:
        if step.num_done == 3:
            signal.raise_signal(signal.SIGINT)

    network = from_arrays(
        [([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -1, 1]], [-2]), ([[1]], [0])]
    )
    cells = canonical_complex(network, progress=interrupt)
    signal.signal(signal.SIGINT, before)
    assert (cells.complete, cells.num_regions) == (False, 7)
    save_complex(cells, tmp_path / "cells.csv")
    rows = list(csv.DictReader((tmp_path / "cells.csv").open()))
    assert [row["affine_map"] for row in rows] == [""] * 7
    for index, row in enumerate(rows):
        point = row["interior_point"].split()
        found = cells.locate(point)
        assert found is not None
        assert (found.dimension, found.index) == (2, index)
        assert row["signs"] == f"{str(network.sign_vector(point)).split('|')[0]}|"
