"""Certificates of region lists: accepted for all kinds of complexes, refused if false."""

from __future__ import annotations

import copy
import json
from itertools import islice, pairwise, product
from random import Random
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.complex import PolyhedralComplex, RegionGraph, canonical_complex, region_graph
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, parse_rational
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import RegionsListed, Undecided
from polyrelu.proofs import certify_regions, region_cover
from polyrelu.proofs.trees.node_polyhedron import NodePolyhedron
from polyrelu.support.progress import ProgressStep
from tests.generators.campaigns import case, few_and_all, few_some_and_all, some_and_all
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    quantised_network,
    random_domain,
)
from tests.generators.tree_documents import Document, changed, mutants, with_count, written
from tests.oracles.mutants import has_regions, points_are_one_in_each


def certified(cells: PolyhedralComplex | RegionGraph) -> RegionsListed:
    listed = certify_regions(cells, method="tree")
    assert isinstance(listed, RegionsListed), listed
    return listed


def document_of(listed: RegionsListed) -> Document:
    return [json.loads(line) for line in listed.certificate.lines()]


def complex_of(*layers: Any, domain: Polyhedron | None = None) -> PolyhedralComplex:
    return canonical_complex(from_arrays(list(layers)), domain)


TRIANGLE = complex_of(([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0]))
CASES = {
    "triangle": TRIANGLE,
    "two layers": complex_of(
        ([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [-1, 0]), ([[1, 1]], [0])
    ),
    "a neuron that is 0 on a region": complex_of(
        ([[1], [-1]], [0, 0]), ([[1, 0], [1, 1]], [0, 0]), ([[1, 1]], [0])
    ),
    "coincident": complex_of(
        ([[1, 0], [2, 0], [-1, 0]], [1, 2, -1]), ([[1, 1, 1]], [-1]), ([[1]], [0])
    ),
    "box": complex_of(
        ([[1, 2], [1, -1]], [0, 1]), ([[1, 1]], [0]), domain=Polyhedron.box([-1, -1], [1, 1])
    ),
    "slice": complex_of(
        ([[1, 2], [1, -1]], [0, 1]),
        ([[1, 1]], [0]),
        domain=Polyhedron.from_constraints([[1, 0]], [7], [[1, -2]], [1]),
    ),
}


@pytest.mark.parametrize("seeds", few_some_and_all(range(3), range(7), range(12)))
def test_all_kinds_of_networks_and_domains(seeds: range) -> None:
    check_kinds_of_networks(seeds)
    check_kinds_of_domains(seeds)


def check_kinds_of_networks(seeds: range) -> None:
    for kind, seed in product(KINDS, seeds):
        with case(kind, seed):
            network = quantised_network(kind, Random(f"{kind} {seed}"))
            regions = region_graph(network)
            listed = certified(regions)
            report = checker.check_bytes(listed.certificate.to_bytes())
            assert report.verdict == "accepted", report
            assert f"exactly {regions.num_regions} cell" in report.statement


def check_kinds_of_domains(seeds: range) -> None:
    for kind, seed in product(DOMAINS, seeds):
        with case(kind, seed):
            rng = Random(f"{kind} {seed}")
            network = quantised_network(
                rng.choice([k for k in KINDS if k != "skip connections"]), rng
            )
            cells = canonical_complex(network, random_domain(kind, network.num_inputs, rng))
            listed = certified(cells)
            assert checker.check_bytes(listed.certificate.to_bytes()).verdict == "accepted"
            assert (listed.certificate.claim.num_regions, listed.work.num_leaves) == (
                cells.num_regions,
                cells.num_regions,
            )
            document = document_of(listed)
            located = [
                cells.locate(list(map(parse_rational, node["region"])))
                for node in document
                if "region" in node
            ]
            assert sorted(cell.index for cell in located if cell is not None) == list(
                range(cells.num_regions)
            )
            assert {cell.dimension for cell in located if cell is not None} == {cells.dimension}


def test_networks_without_hidden_neurons() -> None:
    for cells in (
        complex_of(([[1, 2]], [3])),
        complex_of(([[1]], [0]), domain=Polyhedron.box([2], [2])),
    ):
        listed = certified(cells)
        assert (listed.work.num_nodes, listed.certificate.claim.num_regions) == (1, 1)
        assert checker.check_bytes(listed.certificate.to_bytes()).verdict == "accepted"


# -- changes ---------------------------------------------------------------------------------------


def check_mutants(name: str, every: int) -> None:
    """Check that each accepted mutant is true, for every n-th of the mutants."""
    document = document_of(certified(CASES[name]))
    count = accepted = 0
    for mutant in islice(mutants(document), 0, None, every):
        for fixed in (mutant, with_count(mutant)):
            report = checker.check_bytes(written(fixed))
            count += 1
            if report.verdict == "accepted":
                accepted += 1
                assert has_regions(fixed[0]["claim"]), fixed
                assert points_are_one_in_each(fixed), fixed
    assert count > 150 / every
    assert accepted < count / 3


@pytest.mark.parametrize("name", CASES)
def test_some_mutants_die_or_are_true(name: str) -> None:
    check_mutants(name, 13)


@pytest.mark.parametrize("every", some_and_all(3, 1))
def test_many_mutants_die_or_are_true(every: int) -> None:
    for name in CASES:
        with case(name):
            check_mutants(name, every)


def leaves(document: Document) -> list[int]:
    return [line for line, node in enumerate(document[:-1]) if "region" in node]


def with_regions(document: Document, count: int) -> Document:
    """The mutant with the right number of nodes and another claimed number of regions."""
    fixed = with_count(document)
    fixed[0]["claim"]["count"] = count
    return fixed


@pytest.mark.parametrize("name", CASES)
def test_a_region_dropped(name: str) -> None:
    """A split with a leaf on one side is replaced by its other side, so one region is missing."""
    document = document_of(certified(CASES[name]))
    found = 0
    for line, (node, after) in enumerate(pairwise(document[:-1])):
        if "split" not in node or "region" not in after:
            continue
        found += 1
        merged = copy.deepcopy(document[:line] + document[line + 2 :])
        for count in (len(leaves(document)), len(leaves(document)) - 1):
            report = checker.check_bytes(written(with_regions(merged, count)))
            assert report.verdict == "rejected", report
    assert found


@pytest.mark.parametrize("name", CASES)
def test_a_region_doubled(name: str) -> None:
    """A leaf is split at a form of the tree, and both sides get the same point."""
    document = document_of(certified(CASES[name]))
    atoms = {node["split"] for node in document[:-1] if "split" in node}
    for line in leaves(document):
        for atom in atoms:
            leaf = document[line]
            twice = [
                {"signs": leaf["signs"], "split": atom},
                *[{"signs": [], "region": leaf["region"]}] * 2,
            ]
            doubled = document[:line] + twice + document[line + 1 :]
            for count in (len(leaves(document)), len(leaves(document)) + 1):
                report = checker.check_bytes(written(with_regions(doubled, count)))
                assert report.verdict == "rejected", report


@pytest.mark.parametrize("name", CASES)
def test_a_region_shifted(name: str) -> None:
    """A point is replaced by the point of another region, or one on or outside the boundary."""
    document = document_of(certified(CASES[name]))
    points = {line: document[line]["region"] for line in leaves(document)}
    for line, point in points.items():
        for other in points.values():
            if other == point:
                continue
            middle = [
                str((parse_rational(a) + parse_rational(b)) / 2)
                for a, b in zip(point, other, strict=True)
            ]  # in the closure of at most one of both
            for new in (
                other,
                [f"{parse_rational(a) + 10**9}" for a in point],
                point[:-1],
                [*point, "0"],
            ):
                shifted = changed(document, (line, "region"), new)
                report = checker.check_bytes(written(shifted))
                if report.verdict == "accepted":
                    assert points_are_one_in_each(shifted)
                    assert new not in points.values()
            both = changed(
                changed(document, (line, "region"), middle),
                (_line_of(points, other), "region"),
                middle,
            )
            assert checker.check_bytes(written(both)).verdict == "rejected"


def _line_of(points: dict[int, list[str]], point: list[str]) -> int:
    return next(line for line, other in points.items() if other == point)


def test_points_on_the_boundary() -> None:
    """Points on the boundary of a region or of the domain are not inside a region."""
    document = document_of(certified(CASES["box"]))
    for line in leaves(document):
        for new in (["1", "0"], ["-1", "-1"], ["0", "0"], ["-1/3", "2/3"]):
            report = checker.check_bytes(written(changed(document, (line, "region"), new)))
            assert (report.verdict, report.expected) == ("rejected", "a point strictly inside")


def test_other_claims() -> None:
    document = document_of(certified(TRIANGLE))
    for count in (6, 8, 0, -7, True, "7", 7.0):
        report = checker.check_bytes(written(changed(document, (0, "claim", "count"), count)))
        assert report.verdict in ("rejected", "unreadable"), count
    for wrong in ("leaf", "region"):
        node = {"signs": [], wrong: "equal"}
        report = checker.check_bytes(written([document[0], node, {**document[-1], "nodes": 1}]))
        assert report.verdict == "unreadable"


def test_a_tree_of_another_network_is_refused() -> None:
    """With one bias changed, the tree is refused or its list of regions is still right."""
    cells = CASES["two layers"]
    document = document_of(certified(cells))
    for layer in (1, 2):
        changed_layer = cells.network.layers[layer - 1]
        for i in range(changed_layer.width):
            bias = list(changed_layer.bias.entries())
            bias[i] += 3
            other: Network = from_arrays(
                [
                    (
                        list(each.weight.rows()),
                        bias if number == layer else list(each.bias.entries()),
                    )
                    for number, each in enumerate(cells.network.layers, 1)
                ]
            )
            fresh = document_of(certified(canonical_complex(other)))
            mutant = changed(document, (0, "claim", "network"), fresh[0]["claim"]["network"])
            report = checker.check_bytes(written(mutant))
            if report.verdict == "accepted":
                assert has_regions(mutant[0]["claim"])


def test_small_files_that_would_take_long() -> None:
    """Many rows 0 ≤ 0 and a point at each of many leaves count as work of the checker."""
    size, cuts = 120, 12
    network = from_arrays([([[1, *[0] * (size - 1)]] * cuts, [-i for i in range(cuts)])], "relu")
    zeros = Polyhedron(size, ((*[0] * size, 0),) * size)
    data = certified(region_graph(network, zeros)).certificate.to_bytes()
    report = checker.check_bytes(data)
    assert report.verdict == "accepted"
    assert report.cost > 100 * size * size * cuts


def test_multipliers_are_found_or_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record has the numbers of inequalities, or multiples of them, as older files do."""
    cells = CASES["box"]
    short = document_of(certified(cells))
    monkeypatch.setattr(NodePolyhedron, "are_independent", lambda *_: False)
    monkeypatch.setattr(region_cover, "node_vertices", lambda cells: None)
    long = document_of(certified(cells))
    places = [
        (line, "signs", i, j, 3)
        for line, node in enumerate(short[:-1])
        for i, group in enumerate(node.get("signs", ()))
        for j, record in enumerate(group)
        if record[3]
    ]
    assert checker.check_bytes(written(long)).verdict == "accepted"
    for line, _, i, j, _ in places:
        rows = short[line]["signs"][i][j][3]
        assert [row for row, _ in long[line]["signs"][i][j][3]] == rows
    rows = range(4)  # the sides of the box, and from the first split on a further one
    for place in places:
        for wrong in (*([row] for row in rows), [0, 1], [0, 1, 2], [9], [1, 0], [0, 0]):
            report = checker.check_bytes(written(changed(short, place, wrong)))
            if report.verdict == "accepted":
                assert has_regions(short[0]["claim"])
        for wrong in ([0, 1, 2, 3], [10**6], [1, 0]):
            assert checker.check_bytes(written(changed(short, place, wrong))).verdict == "rejected"


# -- the prover ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", few_and_all(range(6), range(60)))
def test_the_same_bytes_without_the_vertices(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = total = 0
    for seed in seeds:
        rng = Random(seed)
        network = quantised_network(list(KINDS)[seed % len(KINDS)], rng)
        kind = list(DOMAINS)[seed // 2 % len(DOMAINS)]
        cells = canonical_complex(network, random_domain(kind, network.num_inputs, rng))
        by_vertices = certified(cells)
        with monkeypatch.context() as patched:
            patched.setattr(region_cover, "node_vertices", lambda cells: None)
            by_programs = certified(cells)
        assert b"".join(by_vertices.certificate.lines()) == b"".join(
            by_programs.certificate.lines()
        )
        saved += by_programs.work.num_programs - by_vertices.work.num_programs
        total += by_programs.work.num_programs
    assert saved > total / 4


def test_incomplete_complexes_are_refused() -> None:
    cells = complex_of(([[1]], [0]), ([[1]], [0]))
    cells.complete = False
    with pytest.raises(DomainError, match="incomplete"):
        certify_regions(cells)


def test_limits() -> None:
    listed = certify_regions(TRIANGLE, method="tree", time_limit=0)
    assert isinstance(listed, Undecided)
    assert "time limit" in listed.reason
    assert "nodes" in str(listed)
    assert isinstance(certify_regions(TRIANGLE, method="tree", memory_limit=1), Undecided)


def test_the_same_bytes_every_time() -> None:
    one, two = (
        certified(canonical_complex(TRIANGLE.network)).certificate.to_bytes() for _ in range(2)
    )
    assert one == two


def test_progress_and_text() -> None:
    steps: list[ProgressStep] = []
    listed = certify_regions(TRIANGLE, method="tree", progress=steps.append)
    assert [step.details["nodes"] for step in steps] == list(range(1, 14))
    assert (steps[-1].num_done, steps[-1].num_total, steps[-1].unit) == (7, 7, "regions")
    assert "exactly 7 regions" in str(listed)
    assert "13 nodes, 7 leaves" in str(listed)
