"""Outputs, gradients, bounds, Lipschitz constants, radii, counterexamples, matchings, topology."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from polyrelu import audit
from polyrelu.audit.extremes import region_bound
from polyrelu.audit.lipschitz import negative_direction
from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.formats import Counterexample
from polyrelu.network import from_arrays
from polyrelu.symmetry import permute, rescale
from tests.generators.planted_faults import BOX, small_network, vnnlib_query

ABSOLUTE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
#: Ten inputs: too many for a complex.
WIDE = small_network(0, (10, 12, 12, 2))


def names(report: audit.AuditReport) -> set[str]:
    return {cause.name for finding in report.findings for cause in finding.causes}


# -- outputs and gradients -------------------------------------------------------------------------


def test_causes_of_wrong_outputs() -> None:
    net = from_arrays([([["1/3"], ["1/7"]], [0, 0]), ([[1, 0], [0, -1]], [1, 0])])
    (right,) = net.evaluate([[1]])
    one, two = map(float, right)
    cases: dict[str, list[float]] = {
        "flipped sign": [-one, two],
        "order of outputs": [two, two],
        "float32 weights": [float(np.float32(1 / 3)) + 1, two],
    }
    for name, values in cases.items():
        report = audit.audit_outputs(net, [[1.0]], [values])
        assert report.verdicts == ("wrong",)
        assert names(report) == {name}
    assert audit.audit_outputs(net, [[1.0]], [[one, two]]).agrees
    broken = audit.audit_outputs(net, [[1.0]], [[math.nan, two]])
    assert "given as nan" in broken.findings[0].message


def test_outputs_without_a_bound_are_not_refuted() -> None:
    net = from_arrays([([[Fraction(2) ** 200]], [0])])
    report = audit.audit_outputs(net, [[1.0]], [[0.0]], arithmetic="float32")
    assert report.verdicts == ("not refuted",)
    assert report.agrees
    assert "no bound" in report.findings[0].message


def test_gradients_beside_a_fold_are_explained_by_rounding() -> None:
    """1/10 is no float: the float preactivation of float(1/10) may be 0 or not."""
    net = from_arrays([([[1]], ["-1/10"]), ([[3]], [0])])
    for slope in (0.0, 3.0):
        assert audit.audit_gradients(net, [[0.1]], [[[slope]]]).agrees
    assert not audit.audit_gradients(net, [[0.1]], [[[1.0]]]).agrees
    report = audit.audit_gradients(net, [[0.2]], [[[0.0]]])
    assert names(report) == {"fold"}


def test_shapes_of_outputs() -> None:
    with pytest.raises(ArgumentError, match="2 coordinates, but 1 inputs"):
        audit.audit_outputs(ABSOLUTE, [[1, 2]], [[1]])
    with pytest.raises(ArgumentError, match=r"expected shape \(1, 1\)"):
        audit.audit_outputs(ABSOLUTE, [[1]], [[1], [2]])
    with pytest.raises(ArgumentError, match="finite"):
        audit.audit_outputs(ABSOLUTE, [[math.inf]], [[1]])
    with pytest.raises(ArgumentError, match="gradients: expected shape"):
        audit.audit_gradients(ABSOLUTE, [[1]], [[[1, 2]]])


# -- bounds ----------------------------------------------------------------------------------------


def test_bounds_on_unbounded_domains() -> None:
    assert audit.audit_bounds(ABSOLUTE, [0]).agrees
    report = audit.audit_bounds(ABSOLUTE, None, [10**6])
    assert "unbounded along" in report.findings[0].message
    assert audit.audit_bounds(ABSOLUTE, [-math.inf], [math.inf]).verdicts == ()
    with pytest.raises(ArgumentError, match="wrong side"):
        audit.audit_bounds(ABSOLUTE, [math.inf])
    with pytest.raises(ArgumentError, match="2 bounds for 1 outputs"):
        audit.audit_bounds(ABSOLUTE, [1, 2])


def test_bounds_without_a_complex() -> None:
    """Interval arithmetic proves wide bounds, points refute narrow ones, others stay open."""
    wide = audit.audit_bounds(WIDE, [-1e6] * 2, [1e6] * 2, BOX)
    assert wide.verdicts == ("right",) * 4
    (value, _) = WIDE([0] * 10)
    narrow = audit.audit_bounds(WIDE, None, [value - 1, math.inf], BOX)
    assert narrow.verdicts == ("wrong",)
    point = narrow.findings[0].witness
    assert point is not None
    assert WIDE(point)[0] > value - 1
    assert max(map(abs, point)) <= 1
    best = narrow.findings[0].size
    assert best is not None
    between = audit.audit_bounds(WIDE, None, [value - 1 + best + Fraction(1, 1000), 10**6], BOX)
    assert between.verdicts == ("not refuted", "right")
    assert between.agrees


def test_the_bound_on_the_number_of_regions() -> None:
    assert region_bound([2, 3, 2]) == 7 * 4
    assert region_bound([1, 100]) == 101


# -- Lipschitz constants ---------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_lipschitz_constants(norm: str) -> None:
    net = small_network(4)
    truth = audit.ground_truth(net, BOX)
    maps = [truth.cells.region(k).affine_map.matrix.to_floats() for k in range(truth.num_regions)]
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    largest = max(float(np.linalg.norm(m, order)) for m in maps)
    assert audit.audit_lipschitz(truth, largest * (1 + 1e-12), norm=norm).agrees
    report = audit.audit_lipschitz(truth, largest * (1 - 1e-12), norm=norm)
    assert report.verdicts == ("wrong",)
    assert "times as fast" in report.findings[0].message


def test_lipschitz_constants_without_a_complex() -> None:
    assert audit.audit_lipschitz(WIDE, 10**6, BOX).verdicts == ("right",)
    assert audit.audit_lipschitz(WIDE, "1/1000", BOX).verdicts == ("wrong",)
    assert audit.audit_lipschitz(WIDE, 60, BOX, norm="l1").verdicts == ("not refuted",)
    with pytest.raises(DomainError, match="interior"):
        audit.audit_lipschitz(ABSOLUTE, 1, "box:0,0")
    with pytest.raises(ArgumentError, match="0 or more"):
        audit.audit_lipschitz(ABSOLUTE, -1)


def test_negative_directions() -> None:
    draw = np.random.default_rng(1)
    for _ in range(40):
        size = int(draw.integers(1, 5))
        half = draw.integers(-3, 4, (size, size))
        matrix = half + half.T if draw.random() < 0.5 else half @ half.T
        rows = [[Fraction(int(x)) for x in row] for row in matrix]
        found = negative_direction(rows)
        if found is None:
            assert np.linalg.eigvalsh(matrix).min() > -1e-9
        else:
            value = sum(
                a * b * x
                for a, row in zip(found, rows, strict=True)
                for b, x in zip(found, row, strict=True)
            )
            assert value < 0


# -- radii and counterexamples ---------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_radii_around_a_line(norm: str) -> None:
    """Class 1 where 3 x + 4 y > 0; the distance of (1, 1) from the line is 7 over a dual norm."""
    net = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[3, -3, 4, -4]], [0])])
    radius = 7 / {"l1": Fraction(4), "l2": Fraction(5), "linf": Fraction(7)}[norm]
    inside, beyond = radius * Fraction(99, 100), radius * Fraction(101, 100)
    report = audit.audit_radii(net, [[1, 1], [1, 1]], [inside, beyond], norm=norm)
    assert report.verdicts[0] == ("not refuted" if norm == "l2" else "right")
    assert report.verdicts[1] == "wrong"
    point = report.findings[-1].witness
    assert point is not None
    assert net(point)[0] < 0
    gaps = [abs(x - 1) for x in point]
    size = {"l1": sum(gaps), "linf": max(gaps), "l2": None}[norm]
    assert size is None or size <= beyond
    assert sum(g * g for g in gaps) <= beyond**2 or norm != "l2"


def test_radii_with_labels_and_domains() -> None:
    two = from_arrays([([[1], [-1]], [0, 0])])
    assert audit.audit_radii(two, [[1]], [1], labels=[1]).verdicts == ("wrong",)
    assert audit.audit_radii(two, [[1]], [5], domain="box:0,9").verdicts == ("right",)
    assert audit.audit_radii(WIDE, [[0] * 10], [Fraction(1, 10**9)]).agrees
    for wrong in ({"labels": [2]}, {"radii": [-1]}, {"radii": [1, 2]}, {"points": [[math.nan]]}):
        arguments: dict[str, Any] = {"points": [[1]], "radii": [1]} | wrong
        with pytest.raises(ArgumentError):
            audit.audit_radii(two, **arguments)


def test_counterexamples_that_fail() -> None:
    net = small_network(0)
    value = net([0, 0])[0]
    inside = Counterexample("a", {"X_0": Fraction(0), "X_1": Fraction(0)})
    assert audit.audit_counterexamples(net, vnnlib_query(value), [inside]).agrees
    report = audit.audit_counterexamples(net, vnnlib_query(value + Fraction(1, 8)), [inside])
    assert (report.findings[0].measure, report.findings[0].size) == (
        "missing margin",
        Fraction(1, 8),
    )
    stated = Counterexample("b", {**inside.values, "Y_0": value + 1})
    report = audit.audit_counterexamples(net, vnnlib_query(value + 1), [stated])
    assert names(report) == {"outputs of a float runtime"}


# -- matchings -------------------------------------------------------------------------------------


def test_neurons_without_a_partner() -> None:
    net = small_network(3)
    other = rescale(net, 1, [2] * 5)
    assert audit.audit_matching(net, other, [range(5), range(4)], [[2] * 5, [1] * 4]).agrees
    changed = small_network(4)
    report = audit.audit_matching(net, changed, [range(5), range(4)])
    assert report.verdicts == ("wrong",) * 5 + ("not refuted",) * 5
    assert "no partner" in report.findings[0].message
    assert report.findings[0].witness is not None


def test_equal_neurons_may_be_exchanged() -> None:
    net = from_arrays([([[1], [1], [2]], [0, 0, 1]), ([[1, 1, 1]], [0])])
    for order in ([0, 1, 2], [1, 0, 2]):
        assert audit.audit_matching(net, net, [order]).agrees
    other = from_arrays([([[1], [1], [2]], [0, 0, 1]), ([[1, 2, 1]], [0])])
    report = audit.audit_matching(net, other, [[0, 1, 2]])
    assert report.verdicts == ("right", "right", "right", "wrong")
    assert report.findings[0].subject == "outputs"
    assert report.findings[0].witness is not None


def test_arguments_of_matchings() -> None:
    net = small_network(3)
    with pytest.raises(NetworkError, match="different shapes"):
        audit.audit_matching(net, ABSOLUTE, [])
    for pairs in ([], [[0]], [[9] * 5, [0] * 4]):
        with pytest.raises(ArgumentError):
            audit.audit_matching(net, net, pairs)
    with pytest.raises(ArgumentError, match="above 0"):
        audit.audit_matching(net, net, [range(5), range(4)], [[0] * 5, [1] * 4])
    assert audit.audit_matching(permute(net, 1, range(5)), net, [range(5), range(4)]).agrees


def test_functions_of_pruned_networks() -> None:
    full = from_arrays([([[1], [1]], [0, -5]), ([[1, 1]], [0])])
    pruned = from_arrays([([[1]], [0]), ([[1]], [0])])
    assert audit.audit_function(full, pruned, BOX).verdicts == ("right",)
    report = audit.audit_function(full, pruned)
    assert report.verdicts == ("wrong",)
    assert report.findings[0].witness is not None


# -- topology --------------------------------------------------------------------------------------


def test_betti_numbers_of_a_level_within_the_tolerance() -> None:
    tent = from_arrays([([[1], [-1]], [0, 0]), ([[-1, -1]], [1])])  # 1 - |x|
    assert audit.audit_topology(tent, [1], "level", level=1).agrees
    report = audit.audit_topology(tent, [0], "level", level=1)
    assert names(report) == {"level"}
    assert audit.audit_topology(tent, [1], "superlevel", level=0).agrees
    assert audit.audit_topology(tent, [2], "boundary").agrees
    assert audit.audit_topology(tent, [1], "class", label=1).agrees
    with pytest.raises(ArgumentError, match="has a level"):
        audit.audit_topology(tent, [1], "level")
    with pytest.raises(ArgumentError, match="kind"):
        audit.audit_topology(tent, [1], "cat")


def test_persistence_diagrams(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gudhi")
    net = from_arrays([([[1], [1], [1]], [2, 0, -1]), ([[1, -3, 4]], [-2])])
    claims = [(0, -2, 0), (0, -2, math.inf), (0, 1, 1)]
    report = audit.audit_persistence(net, claims, "box:-3,3")
    assert report.agrees
    assert report.notes == ("1 intervals of length 0 are left out",)
    assert audit.audit_persistence(net, claims[1:], "box:-3,3").counts["missing"] == 1
    twice = audit.audit_persistence(net, [claims[0], *claims], "box:-3,3")
    assert twice.counts["duplicated"] == 1
    extra = audit.audit_persistence(net, [*claims, (1, 0, 1)], "box:-3,3")
    assert extra.findings[0].verdict == "extra"
    monkeypatch.setattr("polyrelu.audit.topology._MAX_PAIRS", 5)
    with pytest.raises(ArgumentError, match="3 are too many to compare with 2"):
        audit.audit_persistence(net, claims, "box:-3,3")
    with pytest.raises(ArgumentError, match="dimension, birth and death"):
        audit.audit_persistence(net, [(0, 1)], "box:-3,3")  # type: ignore[list-item]
