"""Tools that are asked: functions, enumerators, onnxruntime, PyTorch, relucent."""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from polyrelu import audit
from polyrelu.errors import ArgumentError, DomainError, PolyreluError
from polyrelu.network import from_arrays
from tests.generators.planted_faults import BOX, float_answers, in_floats, small_network

NET = small_network(1)


def _constant(answer: Any, _: object, __: object) -> Any:
    """Return an answer, whatever the network and the box."""
    return answer


def test_functions_of_points() -> None:
    for kind in ("float32", "float64"):

        def right(points: Any) -> Any:
            """Compute as numpy does."""
            return in_floats(NET, points)[0]

        report = audit.audit_callable(NET, right, BOX, arithmetic=kind, num_points=20)
        assert report.agrees
        assert len(report.verdicts) > 60
        wrong = audit.audit_callable(
            NET, lambda x: right(x) + 1e-3, BOX, arithmetic=kind, num_points=20
        )
        assert wrong.counts == {"wrong": len(report.verdicts)}
    with pytest.raises(DomainError, match="returned shape"):
        audit.audit_callable(NET, lambda x: x[:, :1], BOX)
    with pytest.raises(DomainError, match="bounded domains only"):
        audit.audit_callable(NET, right, None)


def test_enumerators_of_regions() -> None:
    truth = audit.ground_truth(NET, BOX)
    given = float_answers(truth)
    answers: list[Any] = [
        given["signs"],
        given["signs"] > 0,
        (given["signs"] > 0).astype(int),
        audit.LocalMaps(given["points"]),
    ]
    for answer in answers:
        assert audit.audit_enumerator(NET, partial(_constant, answer), BOX).agrees
    assert not audit.audit_enumerator(NET, lambda net, box: given["signs"][1:], BOX).agrees
    with pytest.raises(ArgumentError, match="expected lists of signs"):
        audit.audit_enumerator(NET, lambda net, box: {1, 2}, BOX)


def test_onnxruntime_runs_any_network() -> None:
    pytest.importorskip("onnxruntime")
    (report,) = audit.audit_tool(NET, "onnxruntime", BOX)
    assert report.agrees


@pytest.mark.slow
def test_torch_gives_outputs_and_gradients() -> None:
    pytest.importorskip("torch")
    outputs, gradients = audit.audit_tool(NET, "torch", BOX)
    assert outputs.agrees
    assert gradients.agrees
    assert len(gradients.verdicts) > 200


class _Found:
    """What relucent finds, from the exact answer."""

    def __init__(self, truth: audit.GroundTruth, wrong: bool) -> None:
        self.cells = []
        for k in range(truth.num_regions):
            rows = truth.cells.region(k).polyhedron.inequalities
            scaled = [[float(x) / float(max(map(abs, row))) for x in row] for row in rows]
            table = np.array(scaled)
            table[:, -1] *= -1
            cell = SimpleNamespace(
                dim=2,
                ss_np=truth.region_signs[k][None],
                halfspaces_np=table,
                halfspaces_err_np=np.full(len(table), 1e-12),
                shis=list(range(wrong and k == 3, len(table))),
            )
            self.cells.append(cell)
        self.pairs = truth.cells.adjacency().tolist()

    def __iter__(self) -> Any:
        return iter(self.cells)

    def dual_graph(self, relabel: bool) -> Any:
        return SimpleNamespace(edges=self.pairs)

    def bfs(self, **options: Any) -> None:
        assert options["nworkers"] == 1


@pytest.mark.parametrize("wrong", [False, True])
def test_the_adapter_of_relucent(wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in with the attributes that the adapter reads; the package need not be installed."""
    monkeypatch.setattr("polyrelu.audit.tools.relucent.float_module", lambda *_: (None, None))
    truth = audit.ground_truth(NET)
    fake = SimpleNamespace(Complex=lambda module: _Found(truth, wrong))
    monkeypatch.setitem(sys.modules, "relucent", fake)
    reports = audit.audit_tool(NET, "relucent")
    assert [report.agrees for report in reports] == [True, True, not wrong]
    with pytest.raises(DomainError, match="must be R\\^n or a cube"):
        audit.audit_tool(NET, "relucent", "box:0,1")


@pytest.mark.slow
def test_relucent_itself() -> None:
    pytest.importorskip("relucent")
    regions, *_ = audit.audit_tool(NET, "relucent")
    assert regions.agrees


def test_tools_that_are_missing_or_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "relucent", None)
    with pytest.raises(PolyreluError, match="not installed: pip install relucent"):
        audit.audit_tool(NET, "relucent")
    with pytest.raises(ArgumentError, match="tool: choose from"):
        audit.audit_tool(NET, "cat")
    skip = from_arrays([([[1]], [0])])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PolyreluError, match="PyTorch is not installed"):
        audit.audit_tool(skip, "torch", BOX)
