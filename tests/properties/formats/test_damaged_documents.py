"""Damaged certificates, checkpoints, claims and the like: an answer, or a line and status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.generators.campaigns import case, few_fast
from tests.generators.damaged_documents import DOCUMENTS, damaged_documents, good_documents
from tests.generators.guarded import read_guarded


@pytest.mark.parametrize("number", [8, pytest.param(24, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", few_fast(DOCUMENTS, 2))
def test_damaged_documents(kind: str, number: int, tmp_path: Path) -> None:
    document = DOCUMENTS[kind]
    for name, content in document.beside.items():
        (tmp_path / name).write_bytes(content)
    good, damaged = good_documents(kind)[:2], damaged_documents(kind, number, number)
    paths = []
    for place, content in enumerate([*good, *damaged]):
        paths.append(tmp_path / f"file{place}{document.ending}")
        paths[-1].write_bytes(content)
    outcomes = read_guarded(paths, command=document.words)
    for path, outcome in zip(paths, outcomes, strict=True):
        with case(path.name):
            assert outcome.is_fine, outcome
            assert outcome.kind == "read" or path not in paths[: len(good)], outcome
