"""The types of what a network is read from, for checkers of types; nothing is imported for them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

__all__ = ["BinaryFile", "NetworkSource", "Perceptron", "TorchModule"]


class TorchModule(Protocol):
    """A module of PyTorch, `torch.nn.Module`."""

    def state_dict(self) -> Any: ...

    def named_modules(self) -> Any: ...


class BinaryFile(Protocol):
    """A file that is open for reading bytes."""

    def read(self, size: int = -1, /) -> bytes: ...


class Perceptron(Protocol):
    """A perceptron of scikit-learn, `MLPClassifier` or `MLPRegressor`."""

    hidden_layer_sizes: Any
    activation: Any
    solver: Any


#: What `load` and `read` take: the name of a file, ``example:`` and the name of a shipped example,
#: the content of a file as bytes or as an open file, a module of PyTorch, a fitted perceptron of
#: scikit-learn, or pairs (W, b), W of shape (out, in).
NetworkSource: TypeAlias = (
    str
    | os.PathLike[str]
    | bytes
    | bytearray
    | memoryview
    | BinaryFile
    | TorchModule
    | Perceptron
    | Iterable[tuple[Any, Any] | list[Any]]
)
