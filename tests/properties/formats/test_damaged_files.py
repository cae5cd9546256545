"""Damaged files of every format are read, or refused in one line with exit status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu.formats import FORMATS
from polyrelu.formats.keras import files as keras_files
from polyrelu.formats.unpacking import PACKED
from tests.generators.campaigns import case, few_fast, few_some_and_all
from tests.generators.damaged_files import ENDINGS, damaged_files
from tests.generators.guarded import read_guarded
from tests.generators.hdf5_in_process import read_in_process


def test_every_reader_has_damaged_files() -> None:
    """Endings that share a reader need one of them."""
    assert {FORMATS[ending] for ending in ENDINGS if ending in FORMATS} == set(FORMATS.values())
    assert any(ending.endswith(PACKED) for ending in ENDINGS)


@pytest.mark.parametrize("numbers", few_some_and_all((24, 24), (100, 30), (100, 100)))
@pytest.mark.parametrize("ending", few_fast(ENDINGS, 3))
def test_damaged_files(
    ending: str, numbers: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`numbers` are numbers of damaged files, the second one of HDF5 files."""
    number = numbers[ending == ".h5"]
    if number == 24:  # a process of its own for each HDF5 file takes a third of a second
        monkeypatch.setattr(keras_files, "read_hdf5", read_in_process)
    paths = []
    for place, content in enumerate(damaged_files(ending, number, number)):
        paths.append(tmp_path / f"damaged{place}{ending}")
        paths[-1].write_bytes(content)
    kinds = set()
    for path, outcome in zip(paths, read_guarded(paths), strict=True):
        with case(path.name):
            assert outcome.is_fine, outcome
        kinds.add(outcome.kind)
    assert kinds == ({"read", "refused"} if number > 24 else kinds | {"refused"})
