"""Ranges and deviations on domains of dimension 0, and without hidden layers on flat domains."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu import checker
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import DeviationBounds, RangeBounds
from polyrelu.proofs import deviation, output_range

HIDDEN = from_arrays([([[5, 1], [1, -4]], [0, 1]), ([[1, 1]], [0])])
AFFINE = from_arrays([([[5, 0], [0, -4]], [0, 1])])
POINTS = {
    "box": Polyhedron.box([0, 1], [0, 1]),
    "equations": Polyhedron.from_constraints([], [], [[1, 0], [0, 1]], [0, 1]),
    "implicit": Polyhedron.from_constraints([[1, 1], [-1, 0], [0, -1]], [1, 0, -1]),
}
SEGMENT = Polyhedron.from_constraints([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 2, 2])


def _accepted(answer: RangeBounds | DeviationBounds, folder: Path) -> bool:
    answer.certificate.save(folder / "proof.cert.json")
    return checker.check_file(folder / "proof.cert.json").verdict == "accepted"


@pytest.mark.parametrize("network", [HIDDEN, AFFINE], ids=["hidden", "affine"])
@pytest.mark.parametrize("name", POINTS)
def test_points(name: str, network: Network, tmp_path: Path) -> None:
    domain = POINTS[name]
    found = output_range(network, domain)
    assert isinstance(found, RangeBounds)
    values = network([0, 1])
    assert [entry.minimum for entry in found.ranges] == [(value, value) for value in values]
    assert [entry.maximum for entry in found.ranges] == [(value, value) for value in values]
    assert _accepted(found, tmp_path)
    other = from_arrays([([[1, 1]] * network.num_outputs, [0] * network.num_outputs)])
    answer = deviation(network, other, domain) if network is AFFINE else None
    if answer is not None:
        assert isinstance(answer, DeviationBounds)
        largest = max(abs(a - b) for a, b in zip(values, other([0, 1]), strict=True))
        assert (answer.at_least, answer.at_most) == (largest, largest)
        assert _accepted(answer, tmp_path)


def test_an_affine_network_on_a_segment(tmp_path: Path) -> None:
    found = output_range(AFFINE, SEGMENT)
    assert isinstance(found, RangeBounds)
    ranges = [(int(entry.minimum[0]), int(entry.maximum[0])) for entry in found.ranges]
    assert ranges == [(0, 0), (-7, 9)]
    assert _accepted(found, tmp_path)
