"""The answers of the corpus are right claims: every audit of them agrees."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from polyrelu.audit import (
    EXACT,
    AuditReport,
    LocalMaps,
    SignVectors,
    audit_bounds,
    audit_counts,
    audit_lipschitz,
    audit_regions,
    audit_topology,
    audit_vertices,
    ground_truth,
)
from polyrelu.corpus import CorpusEntry, corpus_entries
from tests.generators.campaigns import few_and_all


def _numbers(texts: list[Any]) -> Any:
    """Exact numbers in an array of objects, of any shape."""
    flat = np.array(texts, dtype=object)
    return np.array([Fraction(x) for x in flat.ravel()], dtype=object).reshape(flat.shape)


def _reports(entry: CorpusEntry) -> Iterator[AuditReport]:
    answers = entry.answers
    for cells in answers["complexes"]:
        truth = ground_truth(entry.network, None if cells["domain"] == "R^n" else cells["domain"])
        regions = cells["regions"]
        signs = [["-0+".index(s) - 1 for s in r["signs"] if s != "|"] for r in regions]
        yield audit_regions(truth, SignVectors(np.array(signs)))
        maps = [[r[key] for r in regions] for key in ("point", "gradient", "constant")]
        yield audit_regions(truth, LocalMaps(*map(_numbers, maps)), allowance=EXACT)
        vertices = _numbers(cells["vertices"]).reshape(-1, entry.architecture[0])
        yield audit_vertices(truth, vertices, allowance=EXACT)
        names = {"regions": "num_regions", "bounded_regions": "num_bounded_regions"}
        names |= {"adjacent_pairs": "num_neighbours"}
        yield audit_counts(truth, {name: cells[key] for name, key in names.items()})
    outputs = answers["outputs"]
    lower, upper = (_numbers([output[key] for output in outputs]) for key in ("lower", "upper"))
    yield audit_bounds(entry.network, lower, upper, entry.domain)
    if len(outputs) == 1:
        largest = Fraction(outputs[0]["lipschitz_linf"])
        yield audit_lipschitz(entry.network, largest, domain=entry.domain, norm="linf")
    for asked in answers["level_sets"]:
        level = Fraction(asked["level"])
        for kind, key in (("sublevel", "sublevel"), ("level", "level_set")):
            yield audit_topology(entry.network, asked[key], kind, entry.domain, level=level)


@pytest.mark.parametrize("step", few_and_all(40, 5))
def test_every_audit_agrees(step: int) -> None:
    for entry in [e for e in corpus_entries() if e.num_regions is not None][::step]:
        for report in _reports(entry):
            assert report.agrees, f"{entry.name}: {report}"
