"""One progress protocol: every function with a parameter `progress` calls it with the same type."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import polyrelu
from polyrelu import audit
from polyrelu.attributes import clustering_table, float_maps, mapping_table
from polyrelu.breakpoints import breakpoint_complex, breakpoints_document
from polyrelu.complex import (
    canonical_complex,
    count_regions,
    region_graph,
    save_complex,
    save_region_stream,
    save_regions,
    skeleton,
)
from polyrelu.errors import ArgumentError
from polyrelu.foldsets import functional_dimension, rank_of_two_layers
from polyrelu.formats import ClaimsFile, Constraint, DeclaredNetwork, Tensor, VnnlibQuery
from polyrelu.network import from_arrays
from polyrelu.plot import picture, surface
from polyrelu.proofs import (
    certify_complex,
    certify_functional_dimension,
    certify_regions,
    deviation,
    equivalent,
    identify,
    injective,
    inverse_lipschitz,
    lipschitz_bounds,
    output_range,
    same_decisions,
    simplify,
    verify,
)
from polyrelu.recovery import recover, recover_function, recover_weights
from polyrelu.report import report
from polyrelu.support import ProgressStep
from polyrelu.topology import (
    decision_boundary,
    decision_region,
    level_set,
    sublevel_persistence,
    sublevel_set,
    superlevel_persistence,
    superlevel_set,
)

#: A small network in the plane; with a second output; and one that needs a search for ridges.
NET = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -2, 1]], [-1]), ([[3]], [1])])
PAIR = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -2, 1], [2, 1, -1]], [-1, 0])])
MOVED = from_arrays(
    [([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -2, 1], [2, 1, -1]], [-1, "1/8"])]
)
RIDGES = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])])
#: Two networks with one function where x ≥ 0.
HAT = from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, -2, 1]], [0])])
OTHER = from_arrays([([[-2], [2], [1], [3]], [0, -2, -2, 0]), ([["1/2", -1, 1, "1/3"]], [0])])
#: A network with a neuron of layer 2 that is dead for a reason that only cases show.
DEAD = from_arrays(
    [
        ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
        ([[-1, -1, 1], [1, 0, 0], [0, 1, 0]], ["-1/2", 0, 0]),
        ([[1, 1, 1]], [0]),
    ]
)
#: A network that is recovered from few values, and its breakpoints.
SHALLOW = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -2, 1]], [-1])])
WEIGHTS = breakpoints_document(breakpoint_complex(canonical_complex(SHALLOW)))
#: An injective layer whose proof has nodes.
AXES = from_arrays([([[1, 0], [0, 1], [-1, 0], [0, -1]], [0] * 4)], last="relu")
SQUARE = "box:-2,2"
#: A property of NET on the square whose proof has nodes.
QUERY = VnnlibQuery(
    "output >= 7.05",
    "1.0",
    (DeclaredNetwork("", (Tensor("X", "Real", (2,)),), (Tensor("Y", "Real", (1,)),)),),
    (
        *(Constraint(((j, Fraction(s)),), Fraction(-2), "<=", 1) for j in (0, 1) for s in (1, -1)),
        Constraint(((2, Fraction(-1)),), Fraction("7.05"), "<=", 2),
    ),
)
CELLS, REGIONS = canonical_complex(NET, SQUARE), region_graph(NET, SQUARE)

POINTS = [[-1, -1], [1, -1], [-1, 1], [1, 1]]
MAPS = float_maps("example:xor", POINTS)
CLAIMS = audit.SignVectors(CELLS.signs())
FILE = ClaimsFile("answer", {"counts": {"regions": 1}})

#: For each public function with a parameter `progress`, a call of it.
CALLS: dict[Callable[..., Any], Callable[..., Any]] = {
    canonical_complex: lambda progress, folder: (
        canonical_complex(NET, SQUARE, progress=progress).f_vector
    ),
    skeleton: lambda progress, folder: skeleton(NET, SQUARE, progress=progress).f_vector,
    region_graph: lambda progress, folder: region_graph(NET, SQUARE, progress=progress).num_regions,
    count_regions: lambda progress, folder: count_regions(NET, SQUARE, progress=progress),
    save_region_stream: lambda progress, folder: save_region_stream(
        NET, SQUARE, folder / "regions.csv", progress=progress
    ),
    save_complex: lambda progress, folder: _saved(save_complex, CELLS, folder, progress),
    save_regions: lambda progress, folder: _saved(save_regions, REGIONS, folder, progress),
    certify_complex: lambda progress, folder: certify_complex(
        CELLS, progress=progress
    ).certificate.to_bytes(),  # type: ignore[union-attr]
    certify_regions: lambda progress, folder: certify_regions(
        CELLS, progress=progress
    ).certificate.to_bytes(),  # type: ignore[union-attr]
    equivalent: lambda progress, folder: equivalent(HAT, OTHER, "orthant", progress=progress),
    identify: lambda progress, folder: identify(
        RIDGES, among="transversal", budget=60_000, progress=progress
    ),
    recover: lambda progress, folder: recover(SHALLOW, progress=progress).num_queries,
    recover_function: lambda progress, folder: (
        recover_function(SHALLOW, 2, progress=progress).num_queries
    ),
    recover_weights: lambda progress, folder: (
        recover_weights(WEIGHTS, progress=progress).num_queries
    ),
    deviation: lambda progress, folder: deviation(HAT, OTHER, "box:-1,1", progress=progress).status,
    lipschitz_bounds: lambda progress, folder: (
        lipschitz_bounds(HAT, "box:-1,1", progress=progress).status
    ),
    output_range: lambda progress, folder: output_range(HAT, "box:-1,1", progress=progress).status,
    verify: lambda progress, folder: verify(NET, QUERY, progress=progress).status,
    same_decisions: lambda progress, folder: (
        same_decisions(PAIR, MOVED, SQUARE, margin="1/2", progress=progress).status
    ),
    functional_dimension: lambda progress, folder: functional_dimension(NET, progress=progress),
    rank_of_two_layers: lambda progress, folder: rank_of_two_layers(
        RIDGES, [[1, 2], [3, 1]], progress=progress
    ),
    certify_functional_dimension: lambda progress, folder: (
        certify_functional_dimension(NET, progress=progress).at_least
    ),
    injective: lambda progress, folder: injective(AXES, progress=progress).status,
    inverse_lipschitz: lambda progress, folder: (
        inverse_lipschitz(HAT, layers=1, progress=progress).statement
    ),
    simplify: lambda progress, folder: simplify(DEAD, progress=progress).network,
    level_set: lambda progress, folder: level_set(NET, 1, SQUARE, progress=progress).f_vector,
    sublevel_set: lambda progress, folder: sublevel_set(NET, 1, SQUARE, progress=progress).f_vector,
    superlevel_set: lambda progress, folder: (
        superlevel_set(NET, 1, SQUARE, progress=progress).f_vector
    ),
    decision_boundary: lambda progress, folder: (
        decision_boundary(PAIR, SQUARE, progress=progress).f_vector
    ),
    decision_region: lambda progress, folder: (
        decision_region(PAIR, 0, SQUARE, progress=progress).f_vector
    ),
    sublevel_persistence: lambda progress, folder: sublevel_persistence(
        NET, SQUARE, progress=progress
    ),
    superlevel_persistence: lambda progress, folder: superlevel_persistence(
        NET, SQUARE, progress=progress
    ),
    float_maps: lambda progress, folder: float_maps(NET, POINTS, progress=progress).duals.tolist(),
    clustering_table: lambda progress, folder: clustering_table(
        MAPS, MAPS, [0, 1, 1, 0], [1], progress=progress
    ),
    mapping_table: lambda progress, folder: mapping_table(
        [MAPS], [MAPS], [0, 1, 1, 0], progress=progress
    ),
    audit.ground_truth: lambda progress, folder: (
        audit.ground_truth(NET, SQUARE, progress=progress).num_regions
    ),
    audit.audit_regions: lambda progress, folder: (
        audit.audit_regions(NET, CLAIMS, SQUARE, progress=progress).counts
    ),
    audit.audit_vertices: lambda progress, folder: (
        audit.audit_vertices(NET, [], SQUARE, progress=progress).num_findings
    ),
    audit.audit_edges: lambda progress, folder: (
        audit.audit_edges(NET, [], [], SQUARE, progress=progress).num_findings
    ),
    audit.audit_counts: lambda progress, folder: (
        audit.audit_counts(NET, {"regions": 1}, SQUARE, progress=progress).verdicts
    ),
    audit.audit_adjacency: lambda progress, folder: (
        audit.audit_adjacency(NET, CLAIMS, [], SQUARE, progress=progress).num_findings
    ),
    audit.audit_claims: lambda progress, folder: [
        str(report) for report in audit.audit_claims(NET, FILE, SQUARE, progress=progress)
    ],
    picture: lambda progress, folder: picture(NET, SQUARE, progress=progress).counts,
    report: lambda progress, folder: report(NET, SQUARE, budget=500, progress=progress).answers,
    surface: lambda progress, folder: (
        surface(NET, SQUARE, what="zeros", progress=progress).f_vector
    ),
}
NEEDED = {
    sublevel_persistence: "gudhi",
    superlevel_persistence: "gudhi",
    picture: "matplotlib",
}


def _saved(save: Callable[..., None], cells: object, folder: Path, progress: object) -> bytes:
    """The bytes of a CSV file."""
    save(cells, folder / "cells.csv", progress=progress)
    return (folder / "cells.csv").read_bytes()


def public_functions() -> set[Callable[..., Any]]:
    """All functions with a parameter `progress` in the `__all__` of a public subpackage."""
    rooms = [module.name for module in pkgutil.iter_modules(polyrelu.__path__) if module.ispkg]
    found: set[Callable[..., Any]] = set()
    for room in rooms:
        module = importlib.import_module(f"polyrelu.{room}")
        for name in getattr(module, "__all__", ()):
            member = getattr(module, name)
            for function in [member, *_methods(member)]:
                if inspect.isroutine(function) and _takes_progress(function):
                    found.add(function)
    return found


def _methods(member: object) -> list[Any]:
    return list(vars(member).values()) if inspect.isclass(member) else []


def _takes_progress(function: Any) -> bool:
    try:
        return "progress" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C
        return False


def test_every_function_is_tested() -> None:
    assert public_functions() == set(CALLS)


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_the_protocol(function: Callable[..., Any], tmp_path: Path) -> None:
    """Steps have the one type, count upwards in each stage, and change no result."""
    if function in NEEDED:
        pytest.importorskip(NEEDED[function])
    steps: list[ProgressStep] = []
    with_steps, without = CALLS[function](steps.append, tmp_path), CALLS[function](None, tmp_path)
    assert _shown(with_steps) == _shown(without)
    assert steps
    for step in steps:
        assert type(step) is ProgressStep
        assert type(step.stage) is type(step.unit) is str
        assert step.stage
        assert step.num_total is None or 0 <= step.num_done <= step.num_total
        assert all(type(value) in (int, float) for value in step.details.values())
        assert str(step).startswith(f"{step.stage}: {step.num_done} ")
    for one, other in itertools.pairwise(steps):
        # several things can be drawn, one after the other
        assert one.num_done <= other.num_done or one.num_done == one.num_total
    annotation = inspect.signature(function).parameters["progress"].annotation
    assert annotation == "Progress | None"


def _shown(answer: object) -> object:
    """What has to be equal in two runs."""
    certificate = getattr(answer, "certificate", None)
    return answer if certificate is None else str(certificate.claim) + str(answer)


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_exceptions_of_the_callback_reach_the_caller(
    function: Callable[..., Any], tmp_path: Path
) -> None:
    if function in NEEDED:
        pytest.importorskip(NEEDED[function])

    def stop(step: ProgressStep) -> None:
        raise KeyboardInterrupt(step.stage)

    with pytest.raises(KeyboardInterrupt):
        CALLS[function](stop, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_what_is_no_function(function: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="progress: expected a function or None, got int 3"):
        CALLS[function](3, tmp_path)


def test_a_step() -> None:
    step = ProgressStep("walking", 3, None, "walks", {"ridges": 2, "percent closed": 12.345})
    assert str(step) == "walking: 3 walks, ridges 2, percent closed 12.3"
    assert hash(step) == hash(dataclasses.replace(step, details={}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.num_done = 4  # type: ignore[misc]


def test_a_checkpoint_is_written_when_the_callback_ends_the_search(tmp_path: Path) -> None:
    def stop(step: ProgressStep) -> None:
        if step.num_done == 2:
            raise KeyboardInterrupt

    checkpoint = tmp_path / "search"
    with pytest.raises(KeyboardInterrupt):
        identify(RIDGES, among="transversal", checkpoint=checkpoint, progress=stop)
    assert checkpoint.exists()


def test_rich_draws_the_steps() -> None:
    """The example of the docstring, with a console that nobody sees."""
    import io

    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=io.StringIO())) as display:
        task = display.add_task("")

        def show(step: ProgressStep) -> None:
            total, done = step.num_total, step.num_done
            display.update(task, description=str(step), total=total, completed=done)

        canonical_complex(NET, SQUARE, progress=show)
        assert display.tasks[0].finished
        assert display.tasks[0].description.startswith("cutting cells: 4 of 4 neurons, layer 2")
