"""The elimination of functional dimensions in blocks: it goes on from every block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.foldsets import echelons, jacobians, points_in_cells
from polyrelu.foldsets.echelons import Echelon
from polyrelu.proofs import certify_functional_dimension
from polyrelu.support.parallel import Checkpoint
from tests.generators.planted_faults import small_network

PRIME = 7919


@pytest.mark.parametrize("seed", range(4))
def test_groups_survive_as_bytes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echelons, "BLOCK", 4)
    chance = np.random.default_rng(seed)
    basis = chance.integers(0, PRIME, (7, 11))
    whole, again = Echelon(PRIME), Echelon(PRIME)
    for count in (3, 6, 5):  # more rows than a block has, and dependent ones
        rows = (chance.integers(0, PRIME, (count, 7)) @ basis % PRIME).astype(float)
        groups = whole.reduced(rows)
        known = again.unpacked(whole.packed(groups, 11), 11)
        assert whole.join(groups) == again.join(known)
    assert whole.rank == again.rank == 7
    for one, two in zip(whole._groups, again._groups, strict=True):
        assert (one[0] == two[0]).all()
        assert (one[1] == two[1]).all()


def bound(**options: Any) -> Any:
    network = small_network(3, (3, 6, 6, 2))
    points = points_in_cells(network, 60)
    return certify_functional_dimension(network, points=points, **options)


def test_an_elimination_goes_on_from_every_block(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(jacobians, "BLOCK", 8)
    expected, kept, number = bound(), tmp_path / "work.db", 0
    assert expected.at_least > 50
    add = Checkpoint.add

    def limited(self: Checkpoint, task: int, data: bytes) -> None:
        """Keep two results, then end the computation."""
        nonlocal number
        number += 1
        if number % 3 == 0:
            raise SystemExit
        add(self, task, data)

    monkeypatch.setattr(Checkpoint, "add", limited)
    for _ in range(3):
        with pytest.raises(SystemExit):
            bound(checkpoint=kept)
    monkeypatch.setattr(Checkpoint, "add", add)
    found = bound(checkpoint=kept)
    assert found.certificate.to_document() == expected.certificate.to_document()
    monkeypatch.setattr(Echelon, "reduced", None)  # nothing is eliminated again
    again = bound(checkpoint=kept)
    assert again.certificate.to_document() == expected.certificate.to_document()


def test_a_checkpoint_of_other_points_is_refused(tmp_path: Path) -> None:
    kept, network = tmp_path / "work.db", small_network(3, (3, 6, 6, 2))
    bound(checkpoint=kept)
    with pytest.raises(DomainError, match="number of points: 60 in place of 20; another list"):
        certify_functional_dimension(network, points=points_in_cells(network, 20), checkpoint=kept)
    with pytest.raises(DomainError, match="another list of points"):
        certify_functional_dimension(
            network, points=points_in_cells(network, 60, seed=1), checkpoint=kept
        )


@pytest.mark.parametrize(
    "data",
    [b"", b"3\n", b"[[[0],[9]]]\n", b"[[[0],[99]]]\n", b"[[[0,1],[0,0]]]\n", b"[[[0],[0]]]\nabc"],
    ids=repr,
)
def test_wrong_groups_are_refused(data: bytes) -> None:
    with pytest.raises(PolyreluError, match="not understood"):
        Echelon(PRIME).unpacked(data, 11)
