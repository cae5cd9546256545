"""Lists of regions in all forms: what is missing, extra, duplicated or wrong, and why."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from polyrelu import audit
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.network import from_arrays
from tests.generators.planted_faults import BOX, float_answers, small_network

#: Three lines through the origin: its vertex is degenerate.
CONCURRENT = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 2, 3]], [0])])
#: The second neuron is 0 everywhere.
ZERO = from_arrays([([[1], [0]], [0, 0]), ([[1, 1]], [0])])


def only(report: audit.AuditReport) -> audit.Finding:
    (finding,) = report.findings
    return finding


def names(finding: audit.Finding) -> set[str]:
    return {cause.name for cause in finding.causes}


def test_a_spurious_triangle_at_a_degenerate_vertex() -> None:
    truth = audit.ground_truth(CONCURRENT, BOX)
    rows = np.concatenate([truth.region_signs, [[1, 1, -1]]])
    finding = only(audit.audit_regions(truth, audit.SignVectors(rows)))
    assert (finding.verdict, finding.item) == ("extra", 6)
    assert finding.witness == (Fraction(0), Fraction(0))
    assert names(finding) == {"degenerate vertex"}
    patterns = audit.ActivationPatterns(rows > 0)
    assert names(only(audit.audit_regions(truth, patterns))) == {"degenerate vertex"}


def test_signs_of_a_neuron_that_is_zero() -> None:
    finding = only(audit.audit_regions(ZERO, audit.SignVectors([[1, 1], [-1, 0]])))
    assert (finding.verdict, finding.item) == ("wrong", 0)
    assert "neuron zero on a region" in names(finding)
    assert audit.audit_regions(ZERO, audit.ActivationPatterns([[1, 0], [0, 0]])).agrees


def test_a_region_outside_the_box() -> None:
    net = from_arrays([([[1], [1]], [0, -3]), ([[1, 1]], [0])])
    rows = [[-1, -1], [1, -1], [1, 1]]
    finding = only(audit.audit_regions(net, audit.SignVectors(rows), BOX))
    assert names(finding) == {"box edge"}
    assert finding.witness is not None
    assert finding.witness[0] > 3


def test_a_region_that_float32_weights_make() -> None:
    net = from_arrays([([[1], [1]], ["-1/10", "-1/10"]), ([[1, 1]], [0])])
    close = from_arrays([([[1], [1]], [Fraction(0.1), Fraction(1, 10)]), ([[1, 1]], [0])])
    assert audit.audit_regions(net, audit.SignVectors([[1, 1], [-1, -1]]), BOX).agrees
    report = audit.audit_regions(close, audit.SignVectors([[1, 1], [-1, -1]]), BOX)
    assert {"sliver", "float32 weights"} <= names(only(report))


def test_findings_are_counted_beyond_those_explained() -> None:
    truth = audit.ground_truth(small_network(0), BOX)
    report = audit.audit_regions(truth, audit.SignVectors(truth.region_signs[:0]), max_findings=3)
    assert len(report.findings) == 3
    assert report.num_findings == report.num_missing == truth.num_regions
    assert "more" in str(report)


@pytest.mark.parametrize("form", ["points", "half-spaces", "vertex lists"])
def test_missing_and_duplicated_in_other_forms(form: str) -> None:
    truth = audit.ground_truth(small_network(2), BOX)
    given = float_answers(truth)
    order = [0, 0, *range(2, truth.num_regions)]
    claims: dict[str, Any] = {
        "points": lambda: audit.LocalMaps(given["points"][order]),
        "half-spaces": lambda: audit.HalfSpaces.of([given["spaces"][k] for k in order]),
        "vertex lists": lambda: audit.VertexLists.of([given["vertices"][k] for k in order]),
    }
    report = audit.audit_regions(truth, claims[form]())
    assert [f.verdict for f in report.findings] == ["duplicated", "missing"]
    assert (report.findings[0].item, report.findings[1].exact) == (1, 1)


def test_a_half_space_that_is_moved() -> None:
    truth = audit.ground_truth(small_network(2), BOX)
    spaces = float_answers(truth)["spaces"]
    for change, words in ((1e-9, "no row stands for"), (-1e-9, "cuts a part off")):
        a, c = spaces[3]
        moved = [*spaces[:3], (a, [c[0] + change, *c[1:]]), *spaces[4:]]
        finding = only(audit.audit_regions(truth, audit.HalfSpaces.of(moved)))
        assert (finding.verdict, finding.item) == ("wrong", 3)
        assert words in finding.message
        assert finding.size is not None
        assert 0 < finding.size < Fraction(1, 10**8)
        wide = audit.Allowance(absolute="1/1000000")
        assert audit.audit_regions(truth, audit.HalfSpaces.of(moved), allowance=wide).agrees


def test_redundant_rows_are_allowed_and_scales_are_free() -> None:
    net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    spaces = [
        ([[3.0], [7.0]], [0.0, 100.0]),
        ([[-0.5], [0.1]], [0.0, 0.1]),
        ([[-2.0]], [-2.0]),
    ]
    assert audit.audit_regions(net, audit.HalfSpaces.of(spaces)).agrees


def test_half_spaces_without_interior_and_beyond_the_domain() -> None:
    spaces = [([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0], [1.0]], [-5.0, 6.0]), ([[np.nan]], [1.0])]
    claims = audit.HalfSpaces.of(spaces)
    report = audit.audit_regions(ZERO, claims, BOX, is_complete=False)
    assert report.verdicts == ("extra",) * 3
    assert "strictly inside" in report.findings[0].message
    assert names(report.findings[1]) == {"box edge"}


def test_points_on_folds_outside_and_not_finite() -> None:
    points = [[0.0, 0.5], [0.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [0.5, 0.25]]
    claims = audit.LocalMaps(points)
    report = audit.audit_regions(CONCURRENT, claims, BOX, is_complete=False)
    assert report.verdicts == ("extra",) * 4 + ("right",)
    assert "dimension 1" in report.findings[0].message
    assert "dimension 0" in report.findings[1].message
    assert report.findings[2].size == 1
    assert "finite" in report.findings[3].message


def test_a_map_of_the_neighbour_is_recognised() -> None:
    net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    claims = audit.LocalMaps([[-0.5], [0.5], [2]], [[[0]], [[2]], [[2]]])
    finding = only(audit.audit_regions(net, claims, "box:-3,3"))
    assert (finding.item, names(finding)) == (1, {"map of a neighbour"})
    assert finding.size == 1


def test_a_vertex_of_a_list_that_is_moved() -> None:
    truth = audit.ground_truth(small_network(2), BOX)
    lists = float_answers(truth)["vertices"]
    moved = lists[4].copy()
    moved[1, 0] += 1e-9
    claims = audit.VertexLists.of([*lists[:4], moved, *lists[5:]])
    finding = only(audit.audit_regions(truth, claims))
    assert (finding.verdict, finding.item, finding.measure) == ("wrong", 4, "distance")
    assert finding.size is not None
    assert abs(finding.size - Fraction(1, 10**9)) < Fraction(1, 10**12)
    short = audit.VertexLists.of([*lists[:4], lists[4][1:], *lists[5:]])
    assert "not in it" in only(audit.audit_regions(truth, short)).message


def test_unbounded_regions_have_no_vertex_list() -> None:
    net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    report = audit.audit_regions(net, audit.VertexLists.of([[[0.0], [1.0]]]))
    assert report.agrees
    assert report.notes == ("2 unbounded regions have no list of vertices",)


def test_a_domain_of_lower_dimension() -> None:
    line = {"signs": [[1], [-1]]}
    net = from_arrays([([[1, 0]], [0]), ([[1]], [0])])
    report = audit.audit_regions(net, audit.SignVectors(line["signs"]), "box:-1,1;0,0")
    assert report.agrees
    missing = audit.audit_regions(net, audit.SignVectors([[1]]), "box:-1,1;0,0")
    assert (only(missing).verdict, only(missing).size) == ("missing", None)


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        (audit.SignVectors([[1]]), "2 hidden neurons"),
        (audit.SignVectors([[1, 2]]), "from -1 to 1"),
        (audit.ActivationPatterns([[1, -1]]), "from 0 to 1"),
        (audit.LocalMaps([[1, 2]]), "2 entries in a row, 1 are needed"),
        (audit.LocalMaps([[1]], [[[1, 2]]]), "matrices: expected shape"),
        (audit.HalfSpaces.of([([[1, 2]], [1])]), "3 entries in a row, 2 are needed"),
        (audit.VertexLists.of([[[1, 2]]]), "2 entries in a row, 1 are needed"),
    ],
)
def test_claims_that_do_not_fit(claims: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        audit.audit_regions(ZERO, claims)


@pytest.mark.parametrize(
    "claims",
    [
        audit.SignVectors([]),
        audit.ActivationPatterns([]),
        audit.LocalMaps([]),
        audit.HalfSpaces.of([]),
        audit.VertexLists.of([]),
        audit.HalfSpaces.of([([], [])]),
        audit.VertexLists.of([[]]),
        audit.HalfSpaces.of([([[0, 0]], [1])]),
    ],
)
def test_lists_without_content(claims: Any) -> None:
    plane = from_arrays([([[1, 0]], [0]), ([[1]], [0])])
    report = audit.audit_regions(plane, claims, BOX)
    assert report.counts == {"missing": 2} | ({"extra": 1} if len(claims) else {})
    one_region = from_arrays([([[1, 2]], [0])])  # without rows or with 0 ≤ 1 it is described
    report = audit.audit_regions(one_region, claims, is_complete=False)
    assert report.agrees == (not len(claims) or isinstance(claims, audit.HalfSpaces))


def test_regions_that_contain_lines() -> None:
    plane = from_arrays([([[1, 0]], [0]), ([[1]], [0])])
    spaces = [([[1.0, 0.0]], [0.0]), ([[-1.0, 0.0]], [0.0])]
    assert audit.audit_regions(plane, audit.HalfSpaces.of(spaces)).agrees
    spaces[0] = ([[1.0, 0.0], [0.0, 1.0]], [0.0, 5.0])
    finding = only(audit.audit_regions(plane, audit.HalfSpaces.of(spaces)))
    assert "cuts a part off" in finding.message
    assert finding.witness is not None
    assert finding.witness[1] > 5


def test_signs_in_floats_are_right_where_they_are_decided() -> None:
    for seed in range(4):
        truth = audit.ground_truth(small_network(seed), BOX)
        for points in (truth.vertex_floats, np.array(truth.vertices, dtype=object)):
            exact = map(truth.network.sign_vector, points.tolist())
            rows = [[s for layer in signs.layers for s in layer] for signs in exact]
            assert truth.signs_at(points).tolist() == rows


def test_wrong_arguments() -> None:
    truth = audit.ground_truth(ZERO)
    with pytest.raises(ArgumentError, match="claims: expected"):
        audit.audit_regions(truth, [[1, 0]])  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="has a domain already"):
        audit.audit_regions(truth, audit.SignVectors([[1, 0]]), BOX)
    with pytest.raises(ArgumentError, match="different lengths"):
        audit.SignVectors([[1], [1, 2]])
    with pytest.raises(ArgumentError, match="0 or more"):
        audit.Allowance(ulps=-1)
