"""Certificates by vertices: accepted for all kinds of complexes, refused if a cell is missing."""

from __future__ import annotations

import copy
import json
from collections import Counter
from fractions import Fraction
from itertools import cycle, product
from random import Random
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.complex import PolyhedralComplex, canonical_complex, region_graph
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import from_arrays
from polyrelu.outcomes import ComplexListed, RegionsListed, Undecided
from polyrelu.proofs import certify_complex, certify_regions, vertex_list
from polyrelu.proofs.vertex_list import VertexListSettings
from polyrelu.support.progress import ProgressStep
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    quantised_network,
    random_domain,
)
from tests.generators.tree_documents import Document
from tests.generators.vertex_documents import DAMAGES, best_report, with_vertices
from tests.oracles import cells_on_domain as brute

PLAIN = [kind for kind in KINDS if kind != "skip connections"]
TRIANGLE = canonical_complex(
    from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
)


def random_complex(kind: str, domain: str, seed: int) -> PolyhedralComplex:
    rng = Random(f"{kind} {domain} {seed}")
    network = quantised_network(kind, rng)
    return canonical_complex(network, random_domain(domain, network.num_inputs, rng))


def listed(cells: PolyhedralComplex) -> ComplexListed:
    found = certify_complex(cells)
    assert isinstance(found, ComplexListed), found
    return found


def document_of(found: ComplexListed | RegionsListed) -> Document:
    return [json.loads(line) for line in found.certificate.lines()]


#: Each kind of network on one kind of domain, and on each of them twice, or twelve times.
FEW = [(kind, domain, 0) for kind, domain in zip(PLAIN, cycle(DOMAINS), strict=False)]
SOME, ALL = (list(product(PLAIN, DOMAINS, range(times))) for times in (2, 12))


@pytest.mark.parametrize("cases", few_some_and_all(FEW, SOME, ALL))
def test_all_kinds_of_networks_and_domains(cases: list[tuple[str, str, int]]) -> None:
    """The f-vector is that of the cells by brute force, and the certificate is accepted."""
    for kind, domain, seed in cases:
        with case(kind, domain, seed):
            cells = random_complex(kind, domain, seed)
            found = listed(cells)
            report = checker.check_bytes(found.certificate.to_bytes())
            assert report.verdict == "accepted", report
            exact = brute.cells_on_domain(brute_layers(cells.network), brute_domain(cells.domain))
            counts = Counter(cell.dimension for cell in exact.values())
            claim = found.certificate.claim
            assert claim.terms()["f-vector"] == [counts[k] for k in range(cells.dimension + 1)]


def test_regions_by_vertices() -> None:
    for kind, domain in zip(PLAIN, DOMAINS, strict=False):
        with case(kind, domain):
            cells = random_complex(kind, domain, 100)
            found = certify_regions(cells, method="vertices")
            assert isinstance(found, RegionsListed)
            assert found.theorem == "vertices"
            report = checker.check_bytes(found.certificate.to_bytes())
            assert report.verdict == "accepted", report
            noun = "cell" if cells.num_regions == 1 else "cells"
            assert f"exactly {cells.num_regions} {noun} of full dimension; the file" in str(report)


@pytest.mark.parametrize("number", few_some_and_all(60, 800, 12_000))
def test_mutants_die_or_are_true(number: int) -> None:
    """A damaged certificate is accepted only if the numbers in its claim are right."""
    rng, tried = Random(1), Counter[tuple[str, bool]]()
    while tried.total() < number:
        kind, domain = rng.choice(PLAIN), rng.choice(list(DOMAINS))
        cells = random_complex(kind, domain, rng.randrange(10**6))
        if cells.num_regions > 40:
            continue
        document = document_of(listed(cells))
        size = len(cells.neurons) + len(cells.domain.inequalities)
        for name, damage in DAMAGES.items():
            vertices = copy.deepcopy(document[1:-1])
            damage(vertices, max(size, 1), rng)
            if vertices == document[1:-1]:
                continue
            report, claim = best_report(with_vertices(document, vertices))
            is_accepted = report.verdict == "accepted"
            tried[name, is_accepted] += 1
            if is_accepted:
                assert claim["f-vector"] == list(cells.f_vector), (name, kind, domain)
                assert len(vertices) == len(document) - 2
    assert all(tried[name, False] for name in DAMAGES)
    assert sum(count for (_, is_accepted), count in tried.items() if is_accepted) < number / 10


# -- the prover ------------------------------------------------------------------------------------


def test_networks_without_vertices_in_the_input_space() -> None:
    """The directions in which nothing changes are divided out, all of them if nothing changes."""
    for layers, f_vector in (
        ([([[1, 2]], [3])], (0, 0, 1)),
        ([([[1, 1], [2, 2]], [0, 1]), ([[1, 1]], [0])], (0, 2, 3)),
        ([([[0, 0]], [0]), ([[1]], [0])], (0, 0, 1)),
    ):
        found = listed(canonical_complex(from_arrays(layers)))
        assert found.certificate.claim.terms()["f-vector"] == list(f_vector)
        assert checker.check_bytes(found.certificate.to_bytes()).verdict == "accepted"


def test_three_lines_through_a_point_and_equal_neurons() -> None:
    """Dependent zeros have a list; equal neurons alone need no lists in it."""
    star = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    twice = from_arrays([([[1, 0], [0, 1], [2, 0]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    for network, num_cells in ((star, 6), (twice, 4)):
        document = document_of(listed(canonical_complex(network)))
        assert len(document[1][2]) == num_cells
        assert all(len(cell) == 2 for cell in document[1][2])


def test_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default vertices, and a tree where there are far more vertices than regions."""
    assert certify_regions(TRIANGLE).theorem == "vertices"
    assert certify_regions(TRIANGLE, method="tree").theorem == "regions"
    regions = region_graph(TRIANGLE.network)
    assert certify_regions(regions).theorem == "regions"
    with pytest.raises(DomainError, match="regions alone have no vertices; leave it out"):
        certify_regions(regions, method="vertices")
    cube = Polyhedron.box([-1] * 3, [1] * 3)
    cells = canonical_complex(from_arrays([([[1] * 3], [0]), ([[1]], [0])]), cube)
    assert certify_complex(cells).theorem == "complex"
    monkeypatch.setattr(vertex_list, "SETTINGS", VertexListSettings(few_cells=2))
    assert certify_complex(cells).theorem == "complex"
    monkeypatch.setattr(
        vertex_list, "SETTINGS", VertexListSettings(few_cells=2, cells_per_region=2**9)
    )
    assert certify_complex(cells).theorem == certify_regions(cells).theorem == "regions"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for limits in ({"time_limit": 0}, {"budget": 0.01}):
        for certify in (certify_complex, certify_regions):
            assert isinstance(certify(TRIANGLE, **limits), Undecided)
    monkeypatch.setattr(vertex_list, "SETTINGS", VertexListSettings(max_listed=0))
    star = canonical_complex(from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0])], "relu"))
    assert certify_complex(star).theorem == "regions"
    assert certify_regions(star).theorem == "regions"
    by_vertices = certify_regions(star, method="vertices")
    assert isinstance(by_vertices, Undecided)
    assert "may list" in by_vertices.reason


def test_long_denominators_are_left_to_trees() -> None:
    """Layers over more than 65,536 bits together are beyond the limits of the format."""
    layer: Any = ([[Fraction(1, 2**15_000 + 1)]], [0])
    cells = canonical_complex(from_arrays([layer] * 6))
    assert certify_complex(cells).theorem == "regions"
    assert listed(canonical_complex(from_arrays([layer] * 4))).theorem == "complex"


def test_the_same_bytes_every_time() -> None:
    one, two = (
        listed(canonical_complex(TRIANGLE.network)).certificate.to_bytes() for _ in range(2)
    )
    assert one == two


def test_progress_and_text() -> None:
    steps: list[ProgressStep] = []
    found = certify_complex(TRIANGLE, progress=steps.append)
    assert [(step.num_done, step.num_total, step.unit) for step in steps] == [
        (k, 3, "vertices") for k in (1, 2, 3)
    ]
    text: Any = " ".join(str(found).split())
    assert "exactly 3 cells of dimension 0, 9 of dimension 1 and 7 of dimension 2. 3 vert" in text
