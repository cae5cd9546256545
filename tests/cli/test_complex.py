"""The command `polyrelu complex`: output, files, errors, Ctrl-C."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import networkx as nx
import numpy as np
import pytest

from polyrelu.breakpoints import breakpoint_complex, save_breakpoints
from polyrelu.cli.main import main
from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.complex.graphs import dual_graph
from polyrelu.conditions import conditions
from polyrelu.formats import parse_domain, save
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.outcomes import Undecided
from polyrelu.support.progress import ProgressStep
from tests.generators.files import ROOT as _ROOT
from tests.generators.quantised_networks import quantised_network

#: Two lines that cross a box, and a bent one.
SMALL = from_arrays([([[1, 0], [0, 1]], [0, "1/3"]), ([[1, -2]], ["-1/7"]), ([[3]], [1])])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory that contains the small network."""
    monkeypatch.chdir(tmp_path)
    save(SMALL, tmp_path / "net.json")
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@cache
def validator(schema: str) -> Any:
    loaded = json.loads((files("polyrelu") / "schemas" / f"{schema}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(loaded)
    return jsonschema.Draft202012Validator(loaded)


def validate(schema: str, document: object) -> None:
    validator(schema).validate(document)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The object that --json prints; the command must succeed and print nothing else."""
    assert main(["complex", *arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found: dict[str, Any] = json.loads(captured.out)
    validate("output", found)
    return found


# -- Printing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "domain", ["R^n", "orthant", "box:-1,1", "box:-1,0.5;-1/3,2", "box:0,0;0,1"]
)
def test_the_object(domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "net.json", "--domain", domain)
    cells = canonical_complex(SMALL, parse_domain(domain, 2))
    assert found.pop("seconds") >= 0
    assert (found.pop("rounding"), found.pop("caveats")) == ("none", [])
    assert found == {
        "command": "complex",
        "status": "ok",
        "domain": domain,
        "dimension": cells.dimension,
        "f_vector": list(cells.f_vector),
        "regions": cells.num_regions,
        "bounded_regions": cells.num_bounded_regions,
        "lineality_dim": 0,
        "complete": True,
        "neurons": 3,
        "decisions": cells.statistics.num_decisions,
        "exact_decisions": cells.statistics.num_exact_decisions,
        "self_check": None,
        "output": None,
        "breakpoint_facets": int(breakpoint_complex(cells).visible.sum()),
        "balanced": True,
        "weights": None,
        "reason": None,
        "next": [],
        "conditions": None,
        "certificate": None,
        "check_cost": None,
    }


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["complex", "net.json"]) == 0
    captured = capsys.readouterr()
    lines = dict(line.split(maxsplit=1) for line in captured.out.splitlines())
    cells = canonical_complex(SMALL)
    assert lines["f_vector"] == " ".join(map(str, cells.f_vector))
    assert (lines["regions"], lines["complete"], lines["domain"]) == (
        str(cells.num_regions),
        "True",
        "R^n",
    )
    assert captured.err == ""


def test_a_network_with_lines(capsys: pytest.CaptureFixture[str]) -> None:
    save(from_arrays([([[1, 1, 0]], [2]), ([[1]], [0])]), "lines.json")
    found = run(capsys, "lines.json", "-o", "cells.json")
    assert (found["f_vector"], found["lineality_dim"], found["bounded_regions"]) == (
        [0, 0, 1, 2],
        2,
        0,
    )
    document = json.loads(Path("cells.json").read_text())
    validate("complex", document)
    assert sorted(document["cells"]) == ["2", "3"]
    lines = {tuple(map(int, line)) for line in document["lineality"]}
    assert len(lines) == 2
    assert all(x + y == 0 for x, y, _ in lines)


# -- Files -----------------------------------------------------------------------------------------


def samples() -> Iterator[tuple[Network, str]]:
    kinds = [
        "integers",
        "odd denominators",
        "open zero",
        "skip connections",
        "trailing ReLU",
        "zero first layer",
    ]
    for number, kind in enumerate(kinds):
        yield (
            quantised_network(kind, Random(f"cli {kind}")),
            ("box:-2,2.5", "R^n", "orthant")[number % 3],
        )


def letters(row: list[int]) -> str:
    return "".join({1: "+", 0: "0", -1: "-"}[sign] for sign in row)


def check_document(cells: PolyhedralComplex, document: dict[str, Any]) -> None:
    """Compare everything in the JSON file with the library."""
    validate("complex", document)
    assert document["network"] == cells.network.sha256
    assert document["complete"] is cells.complete
    assert document["f_vector"] == list(cells.f_vector)
    assert document["neurons"] == [[neuron.layer, neuron.index] for neuron in cells.neurons]
    assert document["domain"]["inequalities"] == [
        list(map(str, row)) for row in cells.domain.inequalities
    ]
    assert set(document["cells"]) == {
        str(k) for k in range(cells.lineality_dim, cells.dimension + 1)
    }
    for name, part in document["cells"].items():
        k = int(name)
        assert part["signs"] == [letters(row) for row in cells.signs(k).tolist()]
        assert part["domain_signs"] == [letters(row) for row in cells.constraint_signs(k).tolist()]
        offsets, entries = cells.facets(k)
        assert [len(facets) for facets in part["facets"]] == np.diff(offsets).tolist()
        assert [facet for facets in part["facets"] for facet in facets] == entries.tolist()
    vertices = [tuple(map(Fraction, point)) for point in document["vertices"]]
    directions = [tuple(map(int, direction)) for direction in document["directions"]]
    assert len(document["regions"]) == cells.num_regions
    for index, region in enumerate(document["regions"]):
        points, rays = cells.vertices_and_rays(Cell(cells.dimension, index))
        assert [vertices[number] for number in region["vertices"]] == points
        assert [directions[number] for number in region["directions"]] == rays
        assert region["bounded"] == cells.bounded[index]


def check_csv(cells: PolyhedralComplex, name: str) -> None:
    """Check the line of each region: a point inside and, if complete, the affine map there."""
    with Path(name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    facets = np.diff(cells.facets(cells.dimension)[0]).tolist()
    assert len(rows) == cells.num_regions
    for index, row in enumerate(rows):
        point = [Fraction(entry) for entry in row["interior_point"].split()]
        assert cells.locate(point) == Cell(cells.dimension, index)
        assert row["region"] == str(index)
        assert row["signs"] == str(cells.signs_of_region(index))
        assert row["bounded"] == str(int(cells.bounded[index]))
        assert row["facets"] == str(facets[index])
        if cells.complete and cells.network.last == "affine":
            table = [
                [Fraction(entry) for entry in line.split()] for line in row["affine_map"].split(";")
            ]
            values = [
                sum((a * x for a, x in zip(line[:-1], point, strict=True)), line[-1])
                for line in table
            ]
            assert tuple(values) == cells.network(point)


def check_graph(cells: PolyhedralComplex, name: str) -> None:
    graph, expected = nx.read_graphml(name, node_type=int), dual_graph(cells)
    for one in (graph, expected):  # of an incomplete complex the layers without cuts are empty
        for _, data in one.nodes(data=True):
            data["signs"] = data["signs"].rstrip("|")
    assert dict(graph.nodes(data=True)) == dict(expected.nodes(data=True))
    found = {(min(a, b), max(a, b)): data["facet"] for a, b, data in graph.edges(data=True)}
    assert found == {
        (min(a, b), max(a, b)): data["facet"] for a, b, data in expected.edges(data=True)
    }


def test_signs_are_written_in_one_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Tables and graphs have the same texts of signs, with and without the lattice."""
    forms = []
    for options in ([], ["--regions-only"]):
        run(capsys, "net.json", "-o", "cells.csv", *options)
        with Path("cells.csv").open(newline="") as file:
            forms.append(sorted(row["signs"] for row in csv.DictReader(file)))
        for read, suffix in ((nx.read_graphml, "graphml"), (nx.read_gexf, "gexf")):
            run(capsys, "net.json", "-o", f"cells.{suffix}", *options)
            forms.append(
                sorted(data["signs"] for _, data in read(f"cells.{suffix}").nodes(data=True))
            )
    assert all(form == forms[0] for form in forms)
    assert all("|" in signs for signs in forms[0])


def test_files_agree_with_the_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for network, domain in samples():
        save(network, "some.json")
        cells = canonical_complex(network, parse_domain(domain, network.num_inputs))
        for suffix in ("json", "csv", "graphml"):
            found = run(capsys, "some.json", "--domain", domain, "-o", f"cells.{suffix}")
            assert found["output"] == f"cells.{suffix}"
        check_document(cells, json.loads(Path("cells.json").read_text()))
        check_csv(cells, "cells.csv")
        check_graph(cells, "cells.graphml")
    assert names(folder) == {"net.json", "some.json", "cells.json", "cells.csv", "cells.graphml"}
    assert Path("cells.json").read_bytes().isascii()


def test_domains_from_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("triangle.json").write_text('{"vertices": [[-1, -1], [1, 0], [0, 1.5]]}')
    Path("slice.json").write_text('{"points": [[0, 0], [1, "1/3"]]}')
    for domain in ("triangle.json", "slice:slice.json"):
        found = run(capsys, "net.json", "--domain", domain, "-o", "cells.json")
        cells = canonical_complex(SMALL, parse_domain(domain, 2))
        assert found["f_vector"] == list(cells.f_vector)
        check_document(cells, json.loads(Path("cells.json").read_text()))


# -- Errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.json"], "missing.json: "),
        (["net.json", "--domain", "box:1,0"], "box: side 0 is empty, 1 > 0"),
        (["net.json", "--domain", "cube"], "domain 'cube' is not understood"),
        (
            ["net.json", "--domain", "missing.json"],
            "missing.json: cannot read: No such file or directory",
        ),
        (["net.json", "--domain", "net.json"], "net.json: expected the keys"),
        (["net.json", "--domain", "empty.json"], "the domain is empty"),
        (["net.json", "--domain", "box:0,1;0,1;0,1"], "3 sides, but the network has 2 inputs"),
        (["blind.json"], "use a bounded domain such as box:-1000,1000"),
        (
            ["net.json", "-o", "cells.txt"],
            "a complex is written as .json, .csv, .parquet, .graphml",
        ),
        (["net.json", "-o", "cells"], "a complex is written as .json, .csv, .parquet, .graphml"),
        (["net.json", "-o", ""], "-o '': cannot write"),
        (["net.json", "-o", "nowhere/cells.json"], "there is no such folder"),
        (["net.json", "-o", "folder.json"], "it is not a regular file"),
        (["net.json", "-o", "net.json"], "this would overwrite"),
        (["net.json", "-o", "./net.json"], "this would overwrite"),
        (["net.json", "--among", "all"], "unknown option --among"),
        ([], "the following arguments are required: NET"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_errors(
    arguments: list[str],
    message: str,
    as_json: bool,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty.json").write_text('{"A": [[1, 0], [-1, 0]], "c": [0, -1]}')
    Path("folder.json").mkdir()
    blind = [({0: [[1, 0]]}, [0]), ({0: [[0, 1]], 1: [[1]]}, [0]), ({2: [[1]]}, [0])]
    save(skipping(2, blind), "blind.json")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert main(["complex", *arguments, *["--json"] * as_json]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("polyrelu: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    if as_json:
        found = json.loads(captured.out)
        validate("output", found)
        assert captured.err == f"polyrelu: {found['error']}\n"
    else:
        assert captured.out == ""
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def skipping(inputs: int, layers: list[tuple[dict[int, list[list[int]]], list[int]]]) -> Network:
    built = []
    for blocks, bias in layers:
        plain = from_arrays([(rows, bias) for rows in blocks.values()])
        sources = zip(sorted(blocks), plain.layers, strict=True)
        built.append(
            Layer(tuple(Block(source, layer.weight) for source, layer in sources), plain.bias(1))
        )
    return Network(inputs, tuple(built))


@pytest.mark.parametrize("suffix", ["json", "csv", "graphml"])
def test_a_full_disk_leaves_nothing_behind(
    suffix: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    Path(f"cells.{suffix}").write_text("old")
    monkeypatch.setattr("polyrelu.support.text_files.os.replace", full)
    assert main(["complex", "net.json", "-o", f"cells.{suffix}"]) == 2
    assert (
        capsys.readouterr().err
        == f"polyrelu: cells.{suffix}: cannot write: No space left on device\n"
    )
    assert names(folder) == {"net.json", f"cells.{suffix}"}
    assert Path(f"cells.{suffix}").read_text() == "old"


# -- Ctrl-C ----------------------------------------------------------------------------------------


class Session:
    """The command in a process of its own; stderr is a terminal, so that progress is shown."""

    def __init__(self, program: tuple[str, ...], arguments: tuple[str, ...]) -> None:
        self._terminal, other = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments, "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=other,
            # Tests in the background ignore Ctrl-C, and the command would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        os.close(other)
        self.shown = ""

    def wait_for(self, neurons: int) -> None:
        """Wait until a given number of neurons is done."""
        self._wait_until(
            lambda: (
                max(map(int, re.findall(r"cutting cells: (\d+) of", self.shown)), default=0)
                >= neurons
            )
        )

    def wait_for_text(self, text: str) -> None:
        self._wait_until(lambda: text in self.shown)

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, self.shown
            assert self.process.poll() is None, self.shown
            self._read(0.2)

    def finish(self) -> tuple[int, Any]:
        """Wait for the end; return the exit status and the object on stdout."""
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        status = self.process.wait(timeout=60)
        while self._read(0.2):
            pass
        return status, json.loads(out)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._terminal)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._terminal], [], [], seconds)[0]:
            return False
        try:
            text = os.read(self._terminal, 1 << 16)
        except OSError:  # the process has closed its side
            return False
        self.shown += text.decode()
        return bool(text)


@contextmanager
def session(
    *arguments: str, program: tuple[str, ...] = ("-m", "polyrelu", "complex")
) -> Iterator[Session]:
    running = Session(program, arguments)
    try:
        yield running
    finally:
        running.close()


def truncated(network: Network, neurons: int) -> Network:
    """The first hidden neurons as a network with a trailing ReLU."""
    layers: list[Layer] = []
    for layer in network.layers:
        rows = range(min(layer.width, neurons))
        blocks = tuple(Block(block.source, block.weight.take(rows=rows)) for block in layer.blocks)
        layers.append(Layer(blocks, layer.bias.take(rows=rows)))
        neurons -= len(rows)
        if neurons == 0:
            break
    return Network(network.num_inputs, tuple(layers), "relu")


@pytest.mark.slow
def test_ctrl_c_in_a_large_network() -> None:
    rng = np.random.default_rng(0)
    shapes = [(26, 4), (26, 26), (1, 26)]
    network = from_arrays(
        [(rng.standard_normal(shape).round(3), rng.standard_normal(shape[0])) for shape in shapes]
    )
    save(network, "large.json")
    with session("large.json") as running:
        running.wait_for(27)
        running.process.send_signal(signal.SIGINT)
        status, found = running.finish()
    validate("output", found)
    assert (status, found["status"], found["complete"], found["output"]) == (
        3,
        "undecided",
        False,
        None,
    )
    assert 27 <= found["neurons"] < 52
    cells = canonical_complex(truncated(network, found["neurons"]))
    assert found["f_vector"] == list(cells.f_vector)
    assert found["bounded_regions"] == cells.num_bounded_regions


@pytest.mark.parametrize("suffix", ["json", "csv", "graphml"])
@pytest.mark.parametrize("neurons", [2, 4, 5])
def test_ctrl_c_with_files(
    suffix: str,
    neurons: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    network = from_arrays(
        [([[1, 0], [1, 1], [0, 3]], [0, -1, 1]), ([[1, -1, 1]] * 3, [-1, -2, -3]), ([[1] * 3], [0])]
    )
    save(network, "some.json")
    pressed = interrupting(monkeypatch, neurons)
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # tests in the background ignore Ctrl-C
    status = main(["complex", "some.json", "--json", "-o", f"cells.{suffix}"])
    signal.signal(signal.SIGINT, before)
    found = json.loads(capsys.readouterr().out)
    validate("output", found)
    assert (status, found["complete"], found["output"]) == (3, False, f"cells.{suffix}")
    assert found["neurons"] == neurons == len(pressed)
    expected = canonical_complex(truncated(network, neurons))
    assert found["f_vector"] == list(expected.f_vector)
    assert names(folder) == {"net.json", "some.json", f"cells.{suffix}"}
    check_interrupted_file(f"cells.{suffix}", expected)


def interrupting(monkeypatch: pytest.MonkeyPatch, neurons: int) -> list[tuple[object, ...]]:
    """Press Ctrl-C when a given number of neurons is done; return a list that collects them."""
    done: list[tuple[object, ...]] = []

    def press(self: object, step: ProgressStep) -> None:
        if step.stage in ("preparing the file", "writing JSON"):
            return
        done.append((str(step),))
        if len(done) == neurons:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("polyrelu.support.progress.ProgressLine.show", press)
    return done


def check_interrupted_file(name: str, expected: PolyhedralComplex) -> None:
    """Compare an interrupted file with the complex of the truncated network."""
    if name.endswith(".graphml"):
        check_graph(expected, name)
    elif name.endswith(".json"):
        document = json.loads(Path(name).read_text())
        validate("complex", document)
        assert document["complete"] is False
        assert document["neurons"] == [[neuron.layer, neuron.index] for neuron in expected.neurons]
        for k in range(3):
            assert document["cells"][str(k)]["signs"] == [
                letters(row) for row in expected.signs(k).tolist()
            ]
    else:
        rows = list(csv.DictReader(Path(name).read_text().splitlines()))
        assert [row["affine_map"] for row in rows] == [""] * expected.num_regions
        assert {row["complete"] for row in rows} == {"0"}
        for index, row in enumerate(rows):
            assert expected.locate(row["interior_point"].split()) == Cell(2, index)


_SLEEPY = """
import os, sys, time
from polyrelu.cli.main import main
from polyrelu.complex.engine.subdivision import Subdivision

os.environ["POLYRELU_ENGINE"] = "numpy"

def asleep(*_):
    print("asleep", file=sys.stderr, flush=True)
    # In small steps: a signal just before a long sleep would wait until the sleep ends.
    for _ in range(12_000):
        time.sleep(0.01)

Subdivision._signs_at_vertices = asleep
sys.exit(main(["complex", *sys.argv[1:]]))
"""


def test_a_second_ctrl_c_stops_at_once(folder: Path) -> None:
    """During one step of two minutes the first Ctrl-C is noted and the second one stops."""
    with session("net.json", "-o", "cells.json", program=("-c", _SLEEPY)) as running:
        running.wait_for_text("asleep")
        running.process.send_signal(signal.SIGINT)
        running.wait_for_text("keeping what is done")
        assert running.process.poll() is None
        running.process.send_signal(signal.SIGINT)
        status, found = running.finish()
    assert (status, found["status"]) == (3, "undecided")
    assert found["reason"] == "interrupted; nothing was written"
    assert running.shown.rstrip().endswith("polyrelu: interrupted; nothing was written")
    assert names(folder) == {"net.json"}


# -- Regions only ----------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["R^n", "box:-1,1"])
def test_regions_only(domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers, lines and nodes are the same as with the lattice, in another order."""
    whole = run(capsys, "net.json", "--domain", domain, "-o", "cells.csv")
    found = run(capsys, "net.json", "--domain", domain, "--regions-only", "-o", "regions.csv")
    for key in ("dimension", "regions", "bounded_regions", "lineality_dim", "complete", "neurons"):
        assert found[key] == whole[key]
    assert (whole["next"], len(found["next"])) == ([], 1)
    lines = [
        list(csv.DictReader(Path(name).read_text().splitlines()))
        for name in ("cells.csv", "regions.csv")
    ]
    columns = ("signs", "bounded", "facets", "affine_map")
    first, second = (sorted(tuple(line[key] for key in columns) for line in part) for part in lines)
    assert first == second
    run(capsys, "net.json", "--domain", domain, "-o", "cells.graphml")
    run(capsys, "net.json", "--domain", domain, "--regions-only", "-o", "regions.graphml")
    graphs = [nx.read_graphml(name) for name in ("cells.graphml", "regions.graphml")]
    edges = [
        {frozenset(graph.nodes[end]["signs"] for end in edge) for edge in graph.edges}
        for graph in graphs
    ]
    assert edges[0] == edges[1]
    assert len(edges[0]) == found["adjacent_pairs"]


@pytest.mark.parametrize("domain", ["R^n", "orthant", "box:-1,1"])
def test_self_check(domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "net.json", "--domain", domain, "--self-check")["self_check"] == "passed"


def test_a_failed_self_check_writes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyrelu.complex.failed_checks", lambda cells: ["the f-vector is odd"])
    assert main(["complex", "net.json", "--self-check", "-o", "cells.json"]) == 2
    assert "a bug in polyrelu, please report it: the f-vector is odd" in capsys.readouterr().err
    assert not Path("cells.json").exists()


def test_regions_only_have_no_json_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["complex", "net.json", "--regions-only", "-o", "regions.json"]) == 2
    assert "regions are written as .csv, .graphml" in capsys.readouterr().err


def test_interrupted_regions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupting(monkeypatch, 2)
    assert main(["complex", "net.json", "--regions-only", "-o", "regions.csv"]) == 3
    captured = capsys.readouterr()
    assert "interrupted: some regions are missing" in captured.out
    assert captured.err == "interrupted; keeping what is done (Ctrl-C again: give up at once)\n"
    assert all(
        line["complete"] == "0"
        for line in csv.DictReader(Path("regions.csv").read_text().splitlines())
    )
    assert len(Path("regions.csv").read_text().splitlines()) == 3


def interrupted_while_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C when the second region is written."""

    def press(self: object, step: ProgressStep) -> None:
        if str(step) == "preparing the file: 2 of 6 regions":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("polyrelu.support.progress.ProgressLine.show", press)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", "cells.csv"],
        ["-o", "cells.json", "--conditions", "--certificate", "regions.cert"],
        ["-o", "cells.csv", "--regions-only"],
    ],
)
def test_ctrl_c_while_writing_leaves_the_old_file(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is printed, and nothing else is written: neither a part nor what would follow."""
    Path(arguments[1]).write_text("old")
    interrupted_while_writing(monkeypatch)
    assert main(["complex", "net.json", *arguments, "--json"]) == 3
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    validate("output", found)
    assert (found["status"], found["complete"], found["output"]) == ("undecided", True, None)
    assert found["regions"] == 6
    assert found["reason"] == f"interrupted: {arguments[1]} is not written"
    assert Path(arguments[1]).read_text() == "old"
    assert names(Path()) == {"net.json", arguments[1]}


def test_ctrl_c_while_a_large_file_is_written(folder: Path) -> None:
    """The command as a process: a signal ends the writing, and leaves no file of any name."""
    rng = np.random.default_rng(0)
    shapes = [(14, 3), (10, 14), (1, 10)]
    network = from_arrays(
        [(rng.standard_normal(shape).round(3), rng.standard_normal(shape[0])) for shape in shapes]
    )
    save(network, "large.json")
    with session("large.json", "-o", "cells.json") as running:
        running.wait_for_text("preparing the file")
        running.process.send_signal(signal.SIGINT)
        status, found = running.finish()
    validate("output", found)
    assert (status, found["reason"]) == (3, "interrupted: cells.json is not written")
    assert found["complete"] is True
    assert names(folder) == {"net.json", "large.json"}


def test_ctrl_c_during_the_self_check(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(cells: PolyhedralComplex) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("polyrelu.complex.failed_checks", interrupted)
    assert main(["complex", "net.json", "-o", "cells.csv", "--self-check", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["reason"] == "interrupted: the self-check is not finished"
    assert (found["self_check"], found["output"]) == (None, None)
    assert names(Path()) == {"net.json"}


def test_ctrl_c_twice_keeps_no_half_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one ends the cuts, the second one the writing of what was done."""

    def press(self: object, step: ProgressStep) -> None:
        if (step.stage, step.num_done) in (("cutting cells", 2), ("preparing the file", 1)):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("polyrelu.support.progress.ProgressLine.show", press)
    assert main(["complex", "net.json", "-o", "cells.json", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    done = "this is the complex of the neurons done so far"
    assert found["reason"] == f"interrupted: {done}; cells.json is not written"
    assert names(Path()) == {"net.json"}


@pytest.mark.parametrize("regions_only", [[], ["--regions-only"]])
def test_graphml_says_whether_it_is_complete(
    regions_only: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "net.json", "-o", "whole.graphml", *regions_only)
    interrupting(monkeypatch, 2)
    assert main(["complex", "net.json", "-o", "part.graphml", *regions_only]) == 3
    assert [
        nx.read_graphml(name).graph["complete"] for name in ("whole.graphml", "part.graphml")
    ] == [True, False]


# -- Weights and certificates ----------------------------------------------------------------------


def test_breakpoints_are_counted_unless_they_are_not_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for options in ([], ["--breakpoints"]):
        found = run(capsys, "net.json", *options)
        assert found["balanced"] is True
        assert found["breakpoint_facets"] > 0
    found = run(capsys, "net.json", "--no-breakpoints")
    assert (found["breakpoint_facets"], found["balanced"]) == (None, None)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".graphml", ".gexf"])
def test_weights_as_a_file(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is the same as from Python."""
    found = run(capsys, "net.json", "--weights", f"weights{suffix}")
    assert (found["weights"], found["balanced"]) == (f"weights{suffix}", True)
    save_breakpoints(breakpoint_complex(canonical_complex(SMALL)), f"same{suffix}")
    assert Path(f"weights{suffix}").read_bytes() == Path(f"same{suffix}").read_bytes()


def test_weights_that_do_not_cancel_are_a_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights are checked before they are written, and a failed check is an error."""
    right = breakpoint_complex(canonical_complex(SMALL))
    weights = right.weights.copy()
    weights[0] += 1
    wrong = replace(right, weights=weights)
    monkeypatch.setattr("polyrelu.breakpoints.breakpoint_complex", lambda cells: wrong)
    assert main(["complex", "net.json", "--weights", "weights.json"]) == 2
    assert (
        "a bug in polyrelu, please report it: the weights do not cancel around cell"
        in capsys.readouterr().err
    )
    assert not Path("weights.json").exists()


def test_weights_that_are_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(cells: PolyhedralComplex) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("polyrelu.breakpoints.breakpoint_complex", interrupted)
    assert main(["complex", "net.json", "-o", "cells.csv", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    validate("output", found)
    assert (found["status"], found["complete"], found["balanced"]) == ("undecided", True, None)
    assert found["reason"] == "interrupted: the weights are missing"
    assert Path("cells.csv").exists()
    assert main(["complex", "net.json"]) == 3
    assert "interrupted: the weights are missing" in capsys.readouterr().out


def test_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "net.json", "--conditions")
    expected = {condition.name: condition for condition in conditions(canonical_complex(SMALL))}
    assert list(found["conditions"]) == list(expected)
    assert {name: entry["status"] for name, entry in found["conditions"].items()} == {
        name: condition.status for name, condition in expected.items()
    }
    assert main(["complex", "net.json", "--conditions"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("transparent") and expected["transparent"].detail in line for line in shown
    )


@pytest.mark.parametrize(
    "more", [[], ["--regions-only"], ["--domain", "box:-1,1"], ["--domain", "box:0,0;-1,1"]]
)
def test_a_certificate_of_the_regions(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "net.json", "--certificate", "regions.jsonl.gz", *more)
    assert found["certificate"] == "regions.jsonl.gz"
    assert main(["check", "regions.jsonl.gz", "--about", "net.json"]) == 0
    said, counts = capsys.readouterr().out, found.get("f_vector", [])
    if more == ["--regions-only"]:
        wanted = [f"exactly {found['regions']} cells of full dimension"] * 2
    else:
        wanted = [f"{number} of dimension {k}" for k, number in enumerate(counts) if number]
        wanted[0] = wanted[0].replace(" of", " cells of", 1)
        assert wanted[-1] in said
    for latex in ([], ["--latex"]):
        assert main(["show", "regions.jsonl.gz", *latex]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        if more == ["--regions-only"]:
            assert f"exactly {found['regions']} regions on" in shown
        else:
            assert f"exactly {wanted[0]}" in shown
            assert wanted[-1] in shown
        assert "sign" in shown


def test_a_certificate_that_is_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "polyrelu.proofs.certify_complex", lambda _cells, **_: Undecided("interrupted")
    )
    assert main(["complex", "net.json", "--certificate", "regions.jsonl"]) == 3
    assert "no certificate: interrupted" in capsys.readouterr().out
    assert main(["complex", "net.json", "--certificate", "regions.jsonl", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    validate("output", found)
    assert (found["status"], found["certificate"]) == ("undecided", None)
    assert not Path("regions.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--certificate", "net.json"], "net.json"),
        (["--certificate", "nowhere/regions.jsonl"], "nowhere"),
        (["-o", "cells.json", "--certificate", "cells.json"], "cells.json"),
        (["--domain", "box.json", "-o", "box.json"], "this would overwrite box.json"),
        (["--domain", "box.json", "--certificate", "box.json"], "this would overwrite box.json"),
        (
            ["--domain", "slice:box.json", "--certificate", "box.json"],
            "this would overwrite box.json",
        ),
        (["-o", "cells.json", "--weights", "cells.json"], "cells.json"),
        (["--weights", "w.json", "--certificate", "w.json"], "w.json"),
        (
            ["--weights", "w.txt"],
            "--weights w.txt: weights are written as .json, .csv, .parquet, .graphml, .gexf",
        ),
        (["--regions-only", "--weights", "w.json"], "--weights is for a whole complex"),
        (["--regions-only", "--breakpoints"], "--breakpoints is for a whole complex"),
        (["--no-breakpoints", "--weights", "w.json"], "leave out --no-breakpoints"),
        (["--regions-only", "--conditions"], "--conditions is for a whole complex"),
    ],
)
def test_options_that_do_not_fit(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"A": [[1, 0]], "c": [1]}'
    Path("box.json").write_text(text)
    assert main(["complex", "net.json", *arguments]) == 2
    assert says in capsys.readouterr().err
    assert names(Path()) == {"net.json", "box.json"}
    assert Path("box.json").read_text() == text
