"""Theorems `vertices` and `complex`: files written by hand, with figures that fit on paper.

The triangle has the lines x = 0, y = 0 and x + y = 1. The star has the lines x = 0, y = 0 and
x + y = 0, and above them the neuron max(x, 0) + max(y, 0) - max(x + y, 0), which is 0 where x and y
have one sign, and positive elsewhere.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.network import from_arrays, to_document
from tests.generators.tree_documents import Document, written
from tests.generators.vertex_documents import with_vertices

TRIANGLE = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
STAR = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, -1]], [0]), ([[1]], [0])])
CORNERS: list[Any] = [["0", [0, 1]], ["2", [0, 2]], ["1", [1, 2]]]
#: The rays (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), with the regions at those on which
#: two neurons vanish.
RAYS: list[Any] = [
    [[0, 2], [1, 3], [[[1], [3]], [[3], []]]],
    [[1, 2], [0, 3], [[[0], [3]], [[3], []]]],
    [[1, 3], [2]],
    [[], [1, 3], [[[1, 3], []], [[], [3]]]],
    [[], [0, 3], [[[0, 3], []], [[], [3]]]],
    [[0, 3], [2]],
]


def document(network: Any, vertices: list[Any], domain: Any = None, **terms: Any) -> Document:
    claim = {
        "kind": "complex" if "f-vector" in terms else "regions",
        "network": {"sha256": network.sha256, "inline": to_document(network)},
        "domain": {"inequalities": [], "equations": [], **(domain or {})},
        **terms,
    }
    head = {"format": "polyrelu-tree", "version": 1, "claim": claim, "unverified": {}}
    return with_vertices([head, {"sha256": ""}], vertices)


def triangle(vertices: list[Any] = CORNERS) -> Document:
    return document(TRIANGLE, vertices, count=7)


def star(rays: list[Any] = RAYS) -> Document:
    return document(STAR, [["0", [0, 1, 2, 3], rays]], **{"f-vector": [1, 6, 6]})


def check(file: Document) -> checker.CheckReport:
    return checker.check_bytes(written(file))


def test_valid() -> None:
    for file in (triangle(), star(), document(TRIANGLE, CORNERS, **{"f-vector": [3, 9, 7]})):
        report = check(file)
        assert report.verdict == "accepted", report
        assert [h["id"] for h in report.hypotheses] == ["vertices", "edges"]
        assert file[0]["claim"]["network"]["sha256"][:12] in report.statement
    assert "on R^n has exactly these cells: 1 of dimension 0, 6 of dimension 1" in str(
        check(star())
    )
    assert "7 cells of full dimension; the file lists the vertices" in str(check(triangle()))
    assert "There are 3 vertices." in str(check(triangle()))


@pytest.mark.parametrize(
    ("vertices", "step", "expected"),
    [
        (CORNERS[:2], "edges", "an edge with two vertices, or a ray"),
        (CORNERS[1:], "edges", "an edge with two vertices, or a ray"),
        ([*CORNERS, CORNERS[0]], "line 5", "another vertex"),
        ([["4", [0, 1]], *CORNERS[1:]], "line 2", "the positive forms of the point"),
        ([["0", [0]], *CORNERS[1:]], "line 2", "zeros with exactly one common point"),
        ([["0", [0, 1, 2]], *CORNERS[1:]], "line 2", "zeros with exactly one common point"),
        ([["0", [1, 0]], *CORNERS[1:]], "line 2", "zeros in strictly ascending order"),
        ([["0", [0, 3]], *CORNERS[1:]], "line 2", "zeros below 3"),
        ([["8", [0, 1]], *CORNERS[1:]], "line 2", "a mask below 2^3"),
        ([["0", [0, 1], [[[], [0]]]], *CORNERS[1:]], "line 2", "no list at a cell"),
        ([], "vertices", "a vertex"),
    ],
)
def test_invalid_vertices(vertices: list[Any], step: str, expected: str) -> None:
    report = check(triangle(vertices))
    assert (report.verdict, report.step) == ("rejected", step), report
    assert report.expected.startswith(expected), report


def changed_rays(*path: int, value: Any = None) -> list[Any]:
    """The rays of the star with an entry changed, or left out."""
    rays: Any = copy.deepcopy(RAYS)
    inner = rays
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return rays  # type: ignore[no-any-return]


#: Lists of cells around the star that are wrong, and what is expected instead.
WRONG_RAYS: list[tuple[list[Any], str]] = [
    ([], "a cell"),
    (changed_rays(0), "two listed cells at each cell of one dimension more"),
    ([*RAYS, RAYS[2]], "different cells"),
    (changed_rays(0, 2), "a list of cells where zeros are dependent"),
    (changed_rays(0, 2, 1), "both sides of a cell of codimension 1"),
    (changed_rays(0, 2, 0, value=[[1, 3], []]), "form 3 with the sign 1"),
    (changed_rays(0, 2, 0, value=[[1], [3], []]), "both sides of a cell of codimension 1"),
    (changed_rays(2, 0, value=[1]), "form 3 with the sign -1"),
    (changed_rays(2, 0, value=[0, 1]), "form 1 with the sign 1"),
    (changed_rays(2, value=[[], [0, 1, 2, 3]]), "signs of the zeros of the cell below"),
    (changed_rays(2, value=[[2], [2]]), "signs of the zeros of the cell below"),
    (changed_rays(2, value=[[1, 3], []]), "zeros with one direction in common"),
    (changed_rays(2, value=[[], [0, 1]]), "zeros with one direction in common"),
]


@pytest.mark.parametrize(("rays", "expected"), WRONG_RAYS)
def test_invalid_lists(rays: list[Any], expected: str) -> None:
    report = check(star(rays))
    assert (report.verdict, report.step) == ("rejected", "line 2"), report
    assert report.expected.startswith(expected), report


def test_false_claims() -> None:
    for count in (6, 8, 0):
        file = triangle()
        file[0]["claim"]["count"] = count
        assert check(file).step == "claim.count"
    for counts in ([1, 6, 7], [2, 6, 6], [1, 6], [0, 1, 6, 6], []):
        file = star()
        file[0]["claim"]["f-vector"] = counts
        assert check(file).step == "claim.f-vector"
    file = triangle()
    file[-1]["nodes"] = 4
    assert check(file).verdict == "rejected"
    file = triangle()
    file[0]["vertices"] = 2
    assert (check(file).verdict, check(file).step) == ("rejected", "edges")


def test_domains() -> None:
    """Inequalities are forms with one side; a neuron that vanishes on one has a list there."""
    network = from_arrays([([[1, 1]], [-1]), ([[1]], [0])])
    quadrant = {"inequalities": ["-1 0 0", "0 -1 0"]}
    corners: list[Any] = [["0", [0, 1]], ["1", [1, 2]], ["2", [0, 2]]]
    assert check(document(network, corners, quadrant, count=2)).verdict == "accepted"
    outside = document(network, [["0", [0, 1]]], {"inequalities": ["1 0 -1"]}, count=1)
    assert check(outside).verdict == "rejected"
    negative = document(network, corners, {"inequalities": [*quadrant["inequalities"], "1 1 -1"]})
    negative[0]["claim"]["count"] = 2
    assert check(negative).verdict == "rejected"
    empty = document(network, corners, {"inequalities": [*quadrant["inequalities"], "0 0 -1"]})
    empty[0]["claim"]["count"] = 2
    assert check(empty).expected == "a domain that is not empty"


def test_a_domain_of_smaller_dimension_has_no_regions() -> None:
    """Two inequalities that make an equation: whatever is listed around a vertex, it is refused."""
    flat = {"inequalities": ["1 0 0", "-1 0 0"]}
    network = from_arrays([([[0, 1]], [0]), ([[1]], [0])])
    rays = [[[2], [0, 1]], [[], [0, 1]]]
    listed = [[*ray, [[[0], []]]] for ray in rays]
    sides = [[*ray, [[[0], []], [[1], []]]] for ray in rays]
    for cells in (rays, listed, sides, []):
        for count in (0, 1, 2):
            file = document(network, [["0", [0, 1, 2], cells]], flat, count=count)
            assert check(file).verdict == "rejected"


def test_directions_without_change_are_divided_out() -> None:
    """The network reads x + y only: one coordinate is kept, and cells have one dimension more."""
    network = from_arrays([([[1, 1], [2, 2]], [0, -2]), ([[1, 1]], [0])])
    vertices: list[Any] = [["0", [0]], ["1", [1]]]
    file = document(network, vertices, **{"f-vector": [0, 2, 3]})
    assert check(file).verdict == "accepted"
    constant = from_arrays([([[0, 0], [0, 0]], [1, 0]), ([[1, 1]], [0])])
    assert check(document(constant, [["1", [1]]], **{"f-vector": [0, 0, 1]})).verdict == "accepted"
    assert check(document(constant, [["3", []]], **{"f-vector": [0, 0, 1]})).verdict == "rejected"


@pytest.mark.parametrize(
    "line",
    [
        '["0"]',
        '["0", [0, 1], [], []]',
        '{"mask": "0"}',
        "[0, [0, 1]]",
        '["0", ["0", 1]]',
        '["-1", [0, 1]]',
        '["0", [0, 1], [[[0]]]]',
        '["0", [0, 1], [[[], [0], [[[], [], 1]]]]]',
        '["0", [0, 1], ' + "[[[], [], " * 9 + "[]" + "]]" * 9 + "]",
    ],
)
def test_malformed(line: str) -> None:
    lines = [json.dumps(value).encode() for value in triangle()]
    lines[1] = line.encode()
    report = checker.check_bytes(b"\n".join(lines) + b"\n")
    assert report.verdict == "unreadable", report
    assert report.step.startswith("line 2")


def test_long_denominators_are_beyond_the_limits() -> None:
    layer = ([[1]], [0])
    network = from_arrays([layer, ([[1]], [0])])
    file = document(network, [["0", [0]]], count=2)
    inline = to_document(network)
    block = {"denominator": hex(2**16_000 + 1), "bias": "0"}
    inline["layers"] = [{**block, "weights": [{"from": k, "rows": ["1"]}]} for k in range(6)]
    file[0]["claim"]["network"] = {"sha256": "0" * 64, "inline": inline}
    report = check(file)
    file[0]["claim"]["network"]["sha256"] = report.got
    report = check(file)
    assert report.verdict == "unreadable"
    assert "layers over a denominator" in report.got
