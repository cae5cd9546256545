"""onnxruntime and PyTorch: a network runs there in floats, at points of a bounded domain."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.audit.outputs import audit_gradients, audit_outputs
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tools.callables import points_to_try
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import Imported, float_outputs, read, save_onnx
from polyrelu.network import Network
from polyrelu.support.temporary import temporary_folder
from polyrelu.support.typing import Array

__all__ = ["audit_onnxruntime", "audit_torch", "float_module"]

#: Number of random points at which a runtime is asked.
_POINTS = 200


def audit_onnxruntime(
    imported: Imported, domain: Polyhedron, max_findings: int = 100
) -> list[AuditReport]:
    """Return the report on the outputs of onnxruntime; other files are written as ONNX first."""
    if not imported.format.startswith("onnx"):
        with temporary_folder() as folder:
            path = Path(folder, "network.onnx")
            save_onnx(imported.network, path)
            return audit_onnxruntime(read(path), domain, max_findings)
    arithmetic = _arithmetic(imported)
    points = points_to_try(imported.network, domain, arithmetic, _POINTS, 0)
    found = [float_outputs(imported, [Fraction(float(x)) for x in point]) for point in points]
    if found and "onnxruntime" not in found[0].runtime:
        raise PolyreluError(
            "onnxruntime: it is not installed, or cannot run this network: pip install onnxruntime"
        )
    values = np.array([outputs.values for outputs in found]).reshape(len(points), -1)
    report = audit_outputs(
        imported, points, values, arithmetic=arithmetic, max_findings=max_findings
    )
    return [report]


def audit_torch(
    imported: Imported, domain: Polyhedron, max_findings: int = 100
) -> list[AuditReport]:
    """Return the reports on outputs and gradients of a plain stack that PyTorch computes."""
    arithmetic = _arithmetic(imported)
    network = imported.network
    points = points_to_try(network, domain, arithmetic, _POINTS, 0)
    module, torch = float_module(network, arithmetic)
    inputs = torch.from_numpy(points).requires_grad_(True)
    outputs = module(inputs)
    gradients = np.stack(
        [
            torch.autograd.grad(outputs[:, k].sum(), inputs, retain_graph=True)[0].numpy()
            for k in range(network.num_outputs)
        ],
        axis=1,
    )
    values = outputs.detach().numpy()
    settings: dict[str, Any] = {"arithmetic": arithmetic, "max_findings": max_findings}
    return [
        audit_outputs(network, points, values, **settings),
        audit_gradients(network, points, gradients, **settings),
    ]


def _arithmetic(imported: Imported) -> str:
    """Return the float format in which the runtime of a file computes."""
    return imported.arithmetic if imported.arithmetic in ("float32", "float64") else "float64"


def float_module(network: Network, arithmetic: str) -> tuple[Any, Any]:
    """Return a plain stack as a module of PyTorch, its weights rounded, and the package."""
    try:
        import torch
    except ImportError:
        raise PolyreluError("torch: PyTorch is not installed: pip install torch") from None
    if not network.is_plain:
        raise DomainError("torch: only plain stacks of layers are run, without skip connections")
    kind = {"float32": torch.float32, "float64": torch.float64}[arithmetic]
    layers: list[Any] = []
    for number in range(1, network.depth + 1):
        weight, bias = network.weight(number).to_floats(), network.bias(number).to_floats()[:, 0]
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=kind)
        with torch.no_grad():
            layer.weight.copy_(_tensor(torch, weight))
            layer.bias.copy_(_tensor(torch, bias))
        layers.append(layer)
        if number <= network.num_hidden_layers:
            layers.append(torch.nn.ReLU())
    return torch.nn.Sequential(*layers), torch


def _tensor(torch: Any, array: Array) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array))
