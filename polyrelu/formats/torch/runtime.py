"""PyTorch as the runtime of its modules, with every intermediate value.

Here are the runtime that compares a network with the module it was read from, and the context in
which a module is at inference. The module and its training modes must be unchanged afterwards.
"""

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
    """Put the module and all its parts into evaluation mode, and restore each mode afterwards."""
    before = [(part, part.training) for part in module.modules()]
    for part, _ in before:
        part.training = False
    try:
        yield
    finally:
        for part, training in before:
            part.training = training


class TorchRuntime:
    """The traced module node by node, and the module itself, since the two can differ."""

    def __init__(self, module: Any, traced: Any, names: Container[str]) -> None:
        self._module, self._traced, self._names = module, traced, names

    @property
    def name(self) -> str:
        """The name and version of PyTorch."""
        import torch

        return f"torch {torch.__version__}"

    def run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the values by the names of their nodes, for one sample."""
        import torch

        values: dict[str, NDArray[Any]] = {}
        interpreter = torch.fx.Interpreter(self._traced)
        run_node = interpreter.run_node

        def recorded(node: Any) -> Any:
            """Run a node, and keep its value if it is asked for."""
            value = run_node(node)
            if node.name in self._names and isinstance(value, torch.Tensor):
                values[node.name] = value.clone().numpy()  # later nodes may write into it
            return value

        interpreter.run_node = recorded
        with inference(self._module), torch.no_grad(), _without_onednn():
            interpreter.run(*(torch.tensor(x) for x in inputs))
            if OUTPUT in self._names:
                result = self._module.forward(*(torch.tensor(x) for x in inputs))
                parts = [result] if isinstance(result, torch.Tensor) else list(result)
                values[OUTPUT] = np.concatenate(
                    [part.detach().numpy().reshape(-1) for part in parts]
                )
        return values


@contextmanager
def _without_onednn() -> Iterator[None]:
    """Disable oneDNN, which may compute in formats that the rounding bound does not cover."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns about missing GPUs
        with torch.backends.mkldnn.flags(enabled=False):
            yield
