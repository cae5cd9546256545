"""Affine maps of any module of PyTorch, by autograd in float64."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from polyrelu.attributes.float_maps import FloatMaps
from polyrelu.errors import NetworkError
from polyrelu.support.progress import Progress, ProgressStep
from polyrelu.support.typing import Floats

__all__ = ["is_module", "module_maps"]

#: Number of points at a time.
_BATCH = 128


def is_module(source: object) -> bool:
    """Return whether an object is a module of PyTorch, without importing PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.nn.Module)


def module_maps(
    module: Any, points: Floats, shape: Sequence[int], reason: str, progress: Progress | None
) -> FloatMaps:
    """Return the derivatives of a module at points in batches; none of them is certified.

    The module is copied, the copy computes in float64 and in evaluation mode. Samples of a batch
    must not influence each other, as is usual at inference.
    """
    import torch

    try:
        inference = copy.deepcopy(module).double().cpu().eval()
        parts = list[Floats]()
        for first in range(0, len(points), _BATCH):
            x = torch.from_numpy(points[first : first + _BATCH]).requires_grad_()
            parts.append(_duals(inference, x, shape))
            if progress is not None:
                done = min(len(points), first + _BATCH)
                progress(ProgressStep("derivatives by autograd", done, len(points), "points"))
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
        text = " ".join(str(error).split())[:160]
        raise NetworkError(
            f"the module cannot be differentiated at the points ({text}); it was not read either: "
            f"{reason}"
        ) from None
    duals = np.concatenate(parts) if parts else np.zeros((0, 1, points.shape[1] + 1))
    return FloatMaps(points, duals, np.zeros(len(points), dtype=bool), reason=reason)


def _duals(module: Any, x: Any, shape: Sequence[int]) -> Floats:
    """Return the rows [W | b] at the points of a batch."""
    import torch

    outputs = module(x.reshape(-1, *shape[1:])).reshape(len(x), -1)
    rows = [
        torch.autograd.grad(column.sum(), x, retain_graph=True, materialize_grads=True)[0]
        for column in outputs.unbind(1)
    ]
    matrices = torch.stack(rows, 1)
    offsets = outputs - torch.einsum("pjd,pd->pj", matrices, x)
    return np.asarray(torch.cat([matrices, offsets[:, :, None]], 2).detach().numpy())
