"""Files of graphs and of breakpoints are read by other programs as they are meant."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import networkx as nx
import pytest

from polyrelu.breakpoints import (
    BreakpointComplex,
    breakpoint_complex,
    breakpoints_document,
    save_breakpoints,
)
from polyrelu.complex import canonical_complex, region_graph, save_complex, save_regions
from polyrelu.complex.graphs import dual_graph
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import save
from polyrelu.network import from_arrays
from tests.cli.commands import run_json
from tests.generators.quantised_networks import KINDS, quantised_network

#: Two outputs, two neurons that cancel in the first of them.
NET = from_arrays([([[2, 0], [0, 1], [2, 0]], [-1, 0, -1]), ([[1, "1/3", -1], [0, 5, 1]], [0, 0])])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edges(graph: nx.Graph, *keys: str) -> dict[frozenset[int], tuple[Any, ...]]:
    return {
        frozenset((a, b)): tuple(data[key] for key in keys) for a, b, data in graph.edges(data=True)
    }


# -- GEXF ------------------------------------------------------------------------------------------


def test_the_dual_graph_as_gexf() -> None:
    sizes = []
    for kind in KINDS:
        network = quantised_network(kind, Random(f"gexf {kind}"))
        box = Polyhedron.box([-2] * network.num_inputs, [2] * network.num_inputs)
        cells = canonical_complex(network, box)
        save_complex(cells, "cells.gexf")
        found, expected = nx.read_gexf("cells.gexf", node_type=int), dual_graph(cells)
        assert set(found) == set(expected)
        for index, data in expected.nodes(data=True):
            assert {key: found.nodes[index][key] for key in ("signs", "bounded")} == data
        assert edges(found, "facet") == edges(expected, "facet")
        sizes.append(len(expected))
    assert max(sizes) > 10


@pytest.mark.parametrize("complete", [True, False])
def test_gexf_says_whether_it_is_complete(complete: bool) -> None:
    cells = canonical_complex(NET)
    cells.complete = complete
    save_complex(cells, "cells.gexf")
    name = "complete" if complete else "incomplete"
    assert f' name="{name}"' in Path("cells.gexf").read_text()


def test_gexf_has_no_date() -> None:
    """Equal graphs become equal files, on whatever day they are written."""
    cells = canonical_complex(NET)
    save_complex(cells, "cells.gexf")
    assert "date" not in Path("cells.gexf").read_text()
    assert "networkx" in Path("cells.gexf").read_text().lower()


def test_regions_only_as_gexf() -> None:
    regions = region_graph(NET)
    save_regions(regions, "regions.gexf")
    found = nx.read_gexf("regions.gexf", node_type=int)
    assert set(map(frozenset, found.edges)) == set(map(frozenset, regions.graph.edges))
    assert {found.nodes[i]["signs"] for i in found} == {
        regions.graph.nodes[i]["signs"] for i in regions.graph
    }


@pytest.mark.parametrize("regions_only", [[], ["--regions-only"]])
def test_gexf_from_the_command_line(
    regions_only: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    save(NET, "net.json")
    status, found = run_json(capsys, "complex", "net.json", "-o", "cells.gexf", *regions_only)
    assert (status, found["output"]) == (0, "cells.gexf")
    assert len(nx.read_gexf("cells.gexf")) == found["regions"] == 4


# -- Breakpoints -----------------------------------------------------------------------------------


def samples() -> Iterator[BreakpointComplex]:
    yield breakpoint_complex(canonical_complex(NET))
    for kind in KINDS:
        network = quantised_network(kind, Random(f"breakpoints {kind}"))
        box = Polyhedron.box([-2] * network.num_inputs, [2] * network.num_inputs)
        yield breakpoint_complex(canonical_complex(network, box))
    line = Polyhedron.from_generators([[0, 1]], (), [[2, 3]], 2)
    yield breakpoint_complex(canonical_complex(NET, line))
    yield breakpoint_complex(
        canonical_complex(NET, Polyhedron.box([1, 1], [1, 1]))
    )  # a point: no facets


def validate(document: object) -> None:
    schema = json.loads((files("polyrelu") / "schemas" / "breakpoints.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_the_document() -> None:
    counts = []
    for breakpoints in samples():
        save_breakpoints(breakpoints, "weights.json")
        document = json.loads(Path("weights.json").read_text())
        validate(document)
        assert document == breakpoints_document(breakpoints)
        cells = breakpoints.cells
        assert document["network"] == cells.network.sha256
        assert (document["dimension"], document["regions"]) == (cells.dimension, cells.num_regions)
        assert document["outputs"] == cells.network.num_outputs
        for found, facet in zip(document["facets"], breakpoints, strict=True):
            assert (found["facet"], found["plus"], found["minus"]) == (
                facet.facet.index,
                facet.plus,
                facet.minus,
            )
            assert tuple(map(int, found["normal"])) == facet.normal
            assert Fraction(found["offset"]) == facet.offset
            assert tuple(map(Fraction, found["weight"])) == facet.weight
            assert found["visible"] is facet.visible
        counts.append(len(document["facets"]))
    assert counts[-1] == 0 < max(counts)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("weight", []),
        ("weight", [0.5]),
        ("normal", ["1.5"]),
        ("visible", 1),
        ("plus", -1),
        ("facet", None),
    ],
)
def test_a_damaged_document_does_not_validate(key: str, value: object) -> None:
    document = breakpoints_document(breakpoint_complex(canonical_complex(NET)))
    validate(document)
    document["facets"][0][key] = value
    with pytest.raises(jsonschema.ValidationError):
        validate(document)


def test_by_hand() -> None:
    """x = 1/2 is visible in the second output only; y = 0 in both."""
    document = breakpoints_document(breakpoint_complex(canonical_complex(NET)))
    kinds = {
        (*facet["normal"], facet["offset"], *facet["weight"], facet["visible"])
        for facet in document["facets"]
    }
    assert kinds == {("1", "0", "-1/2", "0", "2", True), ("0", "1", "0", "1/3", "5", True)}
    hidden = from_arrays([([[1], [1]], [0, 0]), ([[2, -2]], [0])])
    (facet,) = breakpoints_document(breakpoint_complex(canonical_complex(hidden)))["facets"]
    assert (facet["weight"], facet["visible"]) == (["0"], False)


def test_csv() -> None:
    for breakpoints in samples():
        save_breakpoints(breakpoints, "weights.csv")
        with Path("weights.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        for row, facet in zip(rows, breakpoints, strict=True):
            assert [int(row[key]) for key in ("facet", "plus", "minus")] == [
                facet.facet.index,
                facet.plus,
                facet.minus,
            ]
            assert tuple(map(int, row["normal"].split())) == facet.normal
            assert Fraction(row["offset"]) == facet.offset
            assert tuple(map(Fraction, row["weight"].split())) == facet.weight
            assert row["visible"] == str(int(facet.visible))


@pytest.mark.parametrize("suffix", [".graphml", ".gexf"])
def test_weighted_graphs(suffix: str) -> None:
    """Edges of the dual graph have the weight of their facet, as text, and its visibility."""
    seen = set()
    for breakpoints in samples():
        save_breakpoints(breakpoints, f"graph{suffix}")
        read = nx.read_graphml if suffix == ".graphml" else nx.read_gexf
        graph = read(f"graph{suffix}", node_type=int)
        expected = {}
        for facet in breakpoints:
            text = " ".join(map(str, facet.weight))
            expected[frozenset((facet.plus, facet.minus))] = (
                facet.facet.index,
                text,
                facet.visible,
            )
            seen.add(facet.visible)
        assert edges(graph, "facet", "tropical_weight", "visible") == expected
        assert len(graph) == breakpoints.cells.num_regions
    assert seen == {True, False}


@pytest.mark.parametrize("suffix", [".json", ".csv", ".graphml", ".gexf"])
def test_equal_breakpoints_are_equal_files(suffix: str) -> None:
    for name in ("one", "other"):
        save_breakpoints(breakpoint_complex(canonical_complex(NET)), f"{name}{suffix}")
    first, second = (Path(f"{name}{suffix}").read_bytes() for name in ("one", "other"))
    assert first == second
    assert first.isascii()


def test_errors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breakpoints = breakpoint_complex(canonical_complex(NET))
    with pytest.raises(
        DomainError, match=r"written as .json, .csv, .parquet, .graphml, .gexf; choose"
    ):
        save_breakpoints(breakpoints, "weights.txt")
    with pytest.raises(PolyreluError, match=r"nowhere/weights.json: cannot write"):
        save_breakpoints(breakpoints, "nowhere/weights.json")

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polyrelu.support.text_files.os.replace", full)
    with pytest.raises(PolyreluError, match=r"weights.gexf: cannot write: No space left on device"):
        save_breakpoints(breakpoints, "weights.gexf")
    assert list(folder.iterdir()) == []
