"""PyTorch as the runtime of its modules, with every intermediate value."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OUTPUT", "TorchRuntime", "inference"]

#: The name of the whole module's result, which its own forward computes.
OUTPUT = "forward()"


@contextmanager
def inference(module: Any) -> Iterator[None]:
    """The module and all its parts in evaluation mode; afterwards each is as it was."""
    before = [(part, part.training) for part in module.modules()]
    for part, _ in before:
        part.training = False
    try:
        yield
    finally:
        for part, training in before:
            part.training = training


class TorchRuntime:
    """The traced module, node by node; and the module itself, since a trace can differ from what was traced."""

    def __init__(self, module: Any, traced: Any, names: Container[str]) -> None:
        self._module, self._traced, self._names = module, traced, names

    @property
    def name(self) -> str:
        """Name and version."""
        import torch

        return f"torch {torch.__version__}"

    def run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The values by the names of their nodes, for one sample."""
        import torch

        found: dict[str, NDArray[Any]] = {}
        interpreter = torch.fx.Interpreter(self._traced)
        run_node = interpreter.run_node

        def recorded(node: Any) -> Any:
            value = run_node(node)
            if node.name in self._names and isinstance(value, torch.Tensor):
                found[node.name] = value.clone().numpy()  # later nodes may write into it
            return value

        interpreter.run_node = recorded
        with inference(self._module), torch.no_grad(), _without_onednn():
            interpreter.run(*(torch.tensor(x) for x in inputs))
            if OUTPUT in self._names:
                result = self._module.forward(*(torch.tensor(x) for x in inputs))
                parts = [result] if isinstance(result, torch.Tensor) else list(result)
                found[OUTPUT] = np.concatenate(
                    [part.detach().numpy().reshape(-1) for part in parts]
                )
        return found


@contextmanager
def _without_onednn() -> Iterator[None]:
    """oneDNN may have been told to compute in shorter formats, which the bound on rounding does not cover."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of GPUs that are not there
        with torch.backends.mkldnn.flags(enabled=False):
            yield
