"""Adapters of `benchmarks.field`: each asks one tool about a network, and audits its answers.

An exception of a tool is a refusal. Tools that are not installed are left out. The two that are
written here, random points and a tree of linear programs, are what many papers and scripts do.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.audit import (
    ActivationPatterns,
    Allowance,
    AuditReport,
    HalfSpaces,
    SignVectors,
    VertexLists,
    audit_bounds,
    audit_counts,
    audit_function,
    audit_regions,
    audit_topology,
    audit_vertices,
    ground_truth,
)
from polyrelu.audit.tools import audit_tool
from polyrelu.corpus import CorpusEntry, find_entry
from polyrelu.network import Network

__all__ = ["FalseAlarmError", "Tool", "tools"]

#: Distances below which the tools of float32 and float64 mean the same point, for vertices.
_CLOSE_32, _CLOSE_64 = Allowance(absolute="1/10000"), Allowance(absolute="1/1000000")
#: Radius of a ball in a region below which the tree of linear programs takes it for empty.
_LP_TOLERANCE = 1e-8
#: Numbers of random points, for regions and for pairs of networks.
_NUM_POINTS, _NUM_POINTS_OF_PAIR = 20_000, 10_000
#: Points of a grid per axis, by the number of inputs.
_GRID = {1: 513, 2: 129, 3: 33}


class FalseAlarmError(Exception):
    """A tool calls equal networks different."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and how it is asked.

    Attributes
    ----------
    name
        What it is called in the table.
    version
        Its version, or the commit of its repository.
    question
        What it is asked for, and with which settings.
    is_asked
        Whether it is asked about an entry.
    ask
        Takes an entry and returns audits of the answers.
    """

    name: str
    version: str
    question: str
    is_asked: Callable[[CorpusEntry], bool]
    ask: Callable[[CorpusEntry], list[AuditReport]]


def tools(edge_subdivision: Path | None = None, lirpa: Path | None = None) -> Iterator[Tool]:
    """Yield the tools that are installed; two may be checkouts of their repositories."""
    for package, question, asked, ask in (
        (
            "relucent",
            "regions and half-spaces on R^n, from a random start, else default settings",
            _has_regions,
            _relucent,
        ),
        (
            "onnxruntime",
            "outputs in float32 or float64 at points of all regions",
            _is_exact,
            _onnxruntime,
        ),
        ("torch", "outputs and gradients in float64 at points of all regions", _is_exact, _torch),
    ):
        if _version(package):
            yield Tool(package, _version(package), question, asked, ask)
    if edge_subdivision is not None:
        yield _edge_subdivision(edge_subdivision)
    if lirpa is not None:
        yield from _lirpa(lirpa)
    if _version("scipy"):
        question = f"regions and their vertices in the box; tolerance {_LP_TOLERANCE}"
        name = "LP tree (HiGHS) and Qhull of scipy"
        yield Tool(name, _version("scipy"), question, _has_regions, _lp_tree)
    question = f"activation patterns at {_NUM_POINTS} points of the box"
    yield Tool("random points", f"numpy {np.__version__}", question, _has_regions, _random_points)
    if _version("gudhi"):
        question = f"Betti numbers of {{f ≤ c}} on grids of {_GRID} points per axis"
        yield Tool("cubical complex of gudhi", _version("gudhi"), question, _has_levels, _gudhi)
    question = f"equality at {_NUM_POINTS_OF_PAIR} random points by numpy.allclose"
    yield Tool("allclose", f"numpy {np.__version__}", question, _has_twins, _allclose)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


# --- Which networks are asked about ---------------------------------------------------------------


def _has_regions(entry: CorpusEntry) -> bool:
    return entry.num_regions is not None


def _is_exact(entry: CorpusEntry) -> bool:
    return entry.num_regions is not None and entry.last == "affine"


def _has_levels(entry: CorpusEntry) -> bool:
    return bool(entry.answers["level_sets"])


def _has_twins(entry: CorpusEntry) -> bool:
    return bool(entry.answers["equivalence"])


# --- relucent and runtimes ------------------------------------------------------------------------


def _relucent(entry: CorpusEntry) -> list[AuditReport]:
    """Start at a random point, since many networks bend at 0, where relucent starts."""
    relucent = importlib.import_module("relucent")
    found = relucent.Complex(_module(entry.network, "float64"))
    found.bfs(start=_points(entry, 1), nworkers=1, verbose=0)
    width = len(entry.network.neurons)
    cells = [cell for cell in found if cell.dim == entry.network.num_inputs]
    signs = np.array([np.ravel(cell.ss_np)[:width] for cell in cells]).reshape(-1, width)
    rows = [np.asarray(cell.halfspaces_np)[list(cell.shis)] for cell in cells]
    worst = max((float(np.max(cell.halfspaces_err_np)) for cell in cells), default=0.0)
    spaces = HalfSpaces.of([(part[:, :-1], -part[:, -1]) for part in rows])
    truth = ground_truth(entry.network)
    return [
        audit_regions(truth, SignVectors(signs)),
        audit_regions(truth, spaces, allowance=Allowance(absolute=Fraction(worst))),
    ]


def _onnxruntime(entry: CorpusEntry) -> list[AuditReport]:
    return list(audit_tool(entry.network, "onnxruntime", entry.domain))


def _torch(entry: CorpusEntry) -> list[AuditReport]:
    return list(audit_tool(entry.network, "torch", entry.domain))


# --- Edge subdivision (Berzins 2023) --------------------------------------------------------------


def _edge_subdivision(folder: Path) -> Tool:
    def ask(entry: CorpusEntry) -> list[AuditReport]:
        sys.path.insert(0, str(folder))
        try:
            subdivide = importlib.import_module("edge_subdivision").skeletal_subdivision
            net = importlib.import_module("NN").Net
        finally:
            sys.path.remove(str(folder))
        return _skeleton(entry, net, subdivide)

    commit = (folder / "COMMIT").read_text().strip() if (folder / "COMMIT").exists() else "unknown"
    question = "vertices and edges in the box, float32 (the code has no other), CPU"
    return Tool("edge subdivision (Berzins)", commit, question, _has_regions, ask)


def _skeleton(entry: CorpusEntry, net: Any, subdivide: Any) -> list[AuditReport]:
    import torch

    network = entry.network
    layers = network.layers[: network.num_hidden_layers]
    module = net([network.num_inputs, *(layer.width for layer in layers)])
    with torch.no_grad():
        for linear, layer in zip(module.fcs, layers, strict=True):
            linear.weight.copy_(torch.tensor(layer.weight.to_floats()))
            linear.bias.copy_(torch.tensor(layer.bias.to_floats()[:, 0]))
        low, high = _box(entry)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            vertices, edges, _ = subdivide(module, bbox=(low, high), device=torch.device("cpu"))
    truth = ground_truth(network, entry.domain)
    found = {"vertices": len(vertices), "edges": len(edges)}
    notes = ("the tool warns that the network is not generic",) * ("Warning" in printed.getvalue())
    reports = [
        audit_counts(truth, found),
        audit_vertices(truth, vertices.double().numpy(), allowance=_CLOSE_32),
    ]
    return [replace(report, notes=notes) for report in reports]


def _box(entry: CorpusEntry) -> tuple[float, float]:
    low, high = entry.domain.removeprefix("box:").split(",")
    return float(Fraction(low)), float(Fraction(high))


# --- auto_LiRPA -----------------------------------------------------------------------------------


def _lirpa(folder: Path) -> Iterator[Tool]:
    sys.path.insert(0, str(folder))
    with contextlib.redirect_stderr(io.StringIO()):
        number = importlib.import_module("auto_LiRPA").__version__
    for method in ("IBP", "CROWN"):

        def ask(entry: CorpusEntry, method: str = method) -> list[AuditReport]:
            lower, upper = _linear_bounds(entry, method)
            return [audit_bounds(entry.network, lower, upper, entry.domain)]

        question = f"bounds of the outputs on the box, {method}, float32 as by default"
        yield Tool(f"auto_LiRPA, {method}", number, question, _is_exact, ask)


def _linear_bounds(entry: CorpusEntry, method: str) -> tuple[Any, Any]:
    import torch

    lirpa = importlib.import_module("auto_LiRPA")
    model = _module(entry.network, "float32")
    low, high = _box(entry)
    shape = (1, entry.network.num_inputs)
    center = torch.full(shape, (low + high) / 2)
    perturbation = importlib.import_module("auto_LiRPA.perturbations").PerturbationLpNorm(
        norm=float("inf"), x_L=torch.full(shape, low), x_U=torch.full(shape, high)
    )
    bounded = lirpa.BoundedModule(model, center)
    lower, upper = bounded.compute_bounds(
        x=(lirpa.BoundedTensor(center, perturbation),), method=method
    )
    return lower[0].detach().double().numpy(), upper[0].detach().double().numpy()


def _module(network: Network, numbers: str) -> Any:
    import torch

    dtype = getattr(torch, numbers)

    steps: list[Any] = []
    for number, layer in enumerate(network.layers, 1):
        linear = torch.nn.Linear(layer.weight.ncols, layer.width, dtype=dtype)
        linear.weight.data = torch.tensor(layer.weight.to_floats(), dtype=dtype)
        linear.bias.data = torch.tensor(layer.bias.to_floats()[:, 0], dtype=dtype)
        steps += [linear, torch.nn.ReLU()] if number <= network.num_hidden_layers else [linear]
    return torch.nn.Sequential(*steps)


# --- A tree of linear programs, and Qhull ---------------------------------------------------------


def _lp_tree(entry: CorpusEntry) -> list[AuditReport]:
    """Split the box neuron by neuron; a side is kept if a ball of some radius fits into it."""
    network = entry.network
    low, high = _box(entry)
    n = network.num_inputs
    identity = np.eye(n)
    box = np.vstack(
        [
            np.column_stack([identity, np.full(n, high)]),
            np.column_stack([-identity, np.full(n, -low)]),
        ]
    )
    parts = [(box, (), np.column_stack([identity, np.zeros(n)]))]
    for layer in network.layers[: network.num_hidden_layers]:
        weight, bias = layer.weight.to_floats(), layer.bias.to_floats()[:, 0]
        parts = [part for old in parts for part in _split_by_layer(*old, weight, bias)]
    truth = ground_truth(network, entry.domain)
    signs = np.array([part[1] for part in parts], dtype=np.int8)
    corners = VertexLists.of([_corners(part[0]) for part in parts])
    return [
        audit_regions(truth, SignVectors(signs)),
        audit_regions(truth, corners, allowance=_CLOSE_64),
    ]


def _split_by_layer(rows: Any, signs: Any, forms: Any, weight: Any, bias: Any) -> Iterator[Any]:
    """Yield the parts of a polyhedron {a·x ≤ c} and the activations [A | b] after a layer."""
    z = weight @ forms
    z[:, -1] += bias
    parts = [(rows, ())]
    for row in z:
        parts = [side for part in parts for side in _sides(*part, row)]
    for kept, new in parts:
        yield kept, (*signs, *new), np.where(np.array(new)[:, None] > 0, z, 0)


def _sides(rows: Any, signs: Any, row: Any) -> Iterator[Any]:
    if not row[:-1].any():
        yield rows, (*signs, int(np.sign(row[-1])))
        return
    for sign in (1, -1):
        cut = np.vstack([rows, [*(-sign * row[:-1]), sign * row[-1]]])
        if _ball(cut)[1] > _LP_TOLERANCE:
            yield cut, (*signs, sign)


def _ball(rows: Any) -> tuple[Any, float]:
    """Return the center and the radius of a largest ball in {a·x ≤ c}."""
    from scipy.optimize import linprog

    norms = np.linalg.norm(rows[:, :-1], axis=1)
    result = linprog(
        [0] * (rows.shape[1] - 1) + [-1],
        np.column_stack([rows[:, :-1], norms]),
        rows[:, -1],
        bounds=(None, None),
    )
    return (result.x[:-1], float(result.x[-1])) if result.status == 0 else (None, -1.0)


def _corners(rows: Any) -> Any:
    """Return the vertices of {a·x ≤ c} by Qhull; for one input they are the ends."""
    from scipy.spatial import HalfspaceIntersection

    center, _ = _ball(rows)
    if len(center) == 1:
        ends = rows[:, 1] / rows[:, 0]
        return np.array([[ends[rows[:, 0] < 0].max()], [ends[rows[:, 0] > 0].min()]])
    found = HalfspaceIntersection(np.column_stack([rows[:, :-1], -rows[:, -1]]), center)
    return np.unique(found.intersections.round(9), axis=0)


# --- Random points, grids, allclose ---------------------------------------------------------------


def _random_points(entry: CorpusEntry) -> list[AuditReport]:
    patterns = _patterns(entry.network, _points(entry, _NUM_POINTS))
    claims = ActivationPatterns(np.unique(patterns, axis=0))
    return [audit_regions(entry.network, claims, entry.domain)]


def _points(entry: CorpusEntry, number: int) -> Any:
    low, high = _box(entry)
    draw = np.random.default_rng(0)
    return draw.uniform(low, high, (number, entry.network.num_inputs))


def _patterns(network: Network, points: Any) -> Any:
    found, values = [], points
    for layer in network.layers[: network.num_hidden_layers]:
        z = values @ layer.weight.to_floats().T + layer.bias.to_floats()[:, 0]
        found.append(z > 0)
        values = np.maximum(z, 0)
    return np.hstack(found)


def _outputs(network: Network, points: Any) -> Any:
    values = points
    for number, layer in enumerate(network.layers, 1):
        values = values @ layer.weight.to_floats().T + layer.bias.to_floats()[:, 0]
        if number <= network.num_hidden_layers:
            values = np.maximum(values, 0)
    return values


def _gudhi(entry: CorpusEntry) -> list[AuditReport]:
    import gudhi

    network = entry.network
    n, (low, high) = network.num_inputs, _box(entry)
    axis = np.linspace(low, high, _GRID[n])
    points = np.stack(np.meshgrid(*[axis] * n, indexing="ij"), axis=-1).reshape(-1, n)
    values = _outputs(network, points)[:, 0].reshape([_GRID[n]] * n)
    reports = []
    for asked in entry.answers["level_sets"]:
        level = float(Fraction(asked["level"]))
        grid = gudhi.CubicalComplex(vertices=values)
        grid.compute_persistence(homology_coeff_field=2)
        found = grid.persistent_betti_numbers(level, level)
        reports.append(
            audit_topology(
                network, list(found), "sublevel", entry.domain, level=Fraction(asked["level"])
            )
        )
    return reports


def _allclose(entry: CorpusEntry) -> list[AuditReport]:
    """Claim that two networks are equal on the box if their outputs are close at random points."""
    points = _points(entry, _NUM_POINTS_OF_PAIR)
    reports = []
    for name in {asked["other"] for asked in entry.answers["equivalence"]}:
        other = find_entry(name).network
        report = audit_function(entry.network, other, entry.domain)
        is_claimed = np.allclose(_outputs(entry.network, points), _outputs(other, points))
        if is_claimed:
            reports.append(report)
        elif report.agrees:
            raise FalseAlarmError(
                f"it says that {entry.name} and {name} differ, and they are equal"
            )
    return reports
