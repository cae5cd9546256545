"""Vertices, edges, counts and neighbours."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from polyrelu import audit
from polyrelu.audit.point_matching import matched
from polyrelu.complex import dual_graph
from polyrelu.errors import ArgumentError
from polyrelu.network import from_arrays
from tests.generators.planted_faults import BOX, small_network

CONCURRENT = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 2, 3]], [0])])
#: Two lines that meet the axis x = 0 at a distance of 2^-60.
CLOSE = from_arrays([([[1, 0], [0, 1], [0, 1]], [0, 0, Fraction(-1, 2**60)]), ([[1, 1, 1]], [0])])


def names(finding: audit.Finding) -> set[str]:
    return {cause.name for cause in finding.causes}


def test_vertices_with_one_nearest_float_need_two_items() -> None:
    close = from_arrays([([[1], [1]], [-1, -1 - Fraction(1, 2**60)]), ([[1, 1]], [0])])
    assert audit.audit_vertices(close, [[1.0], [1.0]]).agrees
    report = audit.audit_vertices(close, [[1.0]])
    assert report.counts == {"right": 1, "missing": 1}
    assert "merged vertices" in names(report.findings[0])
    assert audit.audit_vertices(close, [[1.0]] * 3).counts["duplicated"] == 1


def test_a_point_between_two_vertices_stands_for_one_of_them() -> None:
    truth = audit.ground_truth(CLOSE, BOX)
    assert audit.audit_vertices(truth, truth.vertex_floats).agrees
    middle = truth.vertex_floats.copy()
    near = np.flatnonzero(np.abs(middle).max(axis=1) < 1e-9)
    assert len(near) == 2
    middle[near[0], 1] = 2.0**-61
    report = audit.audit_vertices(truth, np.delete(middle, near[1], axis=0))
    assert report.counts["wrong"] == report.counts["missing"] == 1


def test_extra_vertices_and_causes() -> None:
    truth = audit.ground_truth(CONCURRENT, BOX)
    points = np.concatenate([truth.vertex_floats, [[0.25, 0.5], [2, 0], [np.nan, 0]]])
    report = audit.audit_vertices(truth, points)
    assert report.counts["extra"] == 3
    assert report.findings[0].size == Fraction(1, 2)
    assert names(report.findings[1]) == {"box edge"}
    assert "finite" in report.findings[2].message


def test_missing_vertices_and_causes() -> None:
    truth = audit.ground_truth(CONCURRENT, BOX)
    for number, vertex in enumerate(truth.vertices):
        report = audit.audit_vertices(truth, np.delete(truth.vertex_floats, number, axis=0))
        (finding,) = report.findings
        assert (finding.exact, finding.witness) == (number, vertex)
        assert ("degenerate vertex" in names(finding)) == (truth.num_zeros(number) > 2)
        assert ("box edge" in names(finding)) == any(vertex)
    assert len(audit.audit_vertices(truth, []).findings) == len(truth.vertices)


def test_float32_vertices() -> None:
    truth = audit.ground_truth(small_network(1), BOX)
    points = truth.vertex_floats.astype(np.float32)
    assert not audit.audit_vertices(truth, points).agrees
    allowance = audit.Allowance(ulps="51/100", arithmetic="float32")
    assert audit.audit_vertices(truth, points, allowance=allowance).agrees


def test_a_maximum_matching_is_found() -> None:
    assert sorted(matched([[0, 1], [0], [1, 2]]).tolist()) == [0, 1, 2]
    assert matched([]).tolist() == []


def test_edges() -> None:
    truth = audit.ground_truth(CONCURRENT, BOX)
    edges = list(truth.edges)
    report = audit.audit_edges(truth, truth.vertex_floats, [*edges[1:], edges[2], edges[2][::-1]])
    assert report.counts == {"right": len(edges) - 1, "duplicated": 2, "missing": 1}
    corners = [k for k, v in enumerate(truth.vertices) if v[0] == v[1] != 0]
    (finding,) = audit.audit_edges(truth, truth.vertex_floats, [*edges, corners]).findings
    assert finding.verdict == "extra"
    with pytest.raises(ArgumentError, match="indices of"):
        audit.audit_edges(truth, truth.vertex_floats, [[0, 99]])


def test_counts_are_explained() -> None:
    truth = audit.ground_truth(CONCURRENT, BOX)
    inside = audit.audit_counts(truth, {"vertices": 1})
    assert names(inside.findings[0]) == {"box edge"}
    unbounded = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    assert names(audit.audit_counts(unbounded, {"regions": 1}).findings[0]) == {"another count"}
    right = {"regions": 6, "cells_2": 6, "activation_patterns": 6, "bounded_regions": 6}
    assert audit.audit_counts(truth, right).agrees
    assert audit.audit_counts(truth, {"adjacent_pairs": 6, "cells_9": 0}).agrees
    with pytest.raises(ArgumentError, match="is not counted"):
        audit.audit_counts(truth, {"cats": 1})


def test_a_count_of_float32_weights() -> None:
    close = from_arrays([([[1], [1]], [Fraction(0.1), Fraction(1, 10)]), ([[1, 1]], [0])])
    found = names(audit.audit_counts(close, {"regions": 2}, BOX).findings[0])
    assert found == {"sliver", "float32 weights"}


def test_graphs() -> None:
    truth = audit.ground_truth(CONCURRENT, BOX)
    graph = dual_graph(truth.cells)
    assert all(report.agrees for report in audit.audit_graph(truth, graph))
    graph.remove_node(0)
    graph.add_edge(1, 4)
    regions, pairs = audit.audit_graph(truth, graph)
    assert regions.counts["missing"] == 1
    assert pairs.num_findings >= 2
    for node in graph:
        graph.nodes[node].clear()
    with pytest.raises(ArgumentError, match="each node needs"):
        audit.audit_graph(truth, graph)
    with pytest.raises(ArgumentError, match="expected a graph"):
        audit.audit_graph(truth, 3)
