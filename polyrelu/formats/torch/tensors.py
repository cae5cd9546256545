"""Tensors of PyTorch and of ``.safetensors`` files as numpy arrays, without rounding.

Here is the conversion that both readers of PyTorch files and of modules use. Types shorter than
float32 are widened, which is exact; tensors without readable real numbers carry the reason instead
of an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["StoredTensor", "stored_tensor", "widened"]


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor as it is stored.

    Attributes
    ----------
    shape
        The shape.
    kind
        The name of the number type, such as ``bfloat16``.
    array
        The exact numbers in a type that holds them all, or the reason why they cannot be read.
    """

    shape: tuple[int, ...]
    kind: str
    array: Array | str

    def numbers(self) -> Array:
        """Return the exact numbers, or raise a `NetworkError` with the reason."""
        if isinstance(self.array, str):
            raise NetworkError(self.array)
        return self.array


def stored_tensor(tensor: Any) -> StoredTensor:
    """Return a tensor of PyTorch as it is stored; types shorter than float32 are widened to it."""
    shape, kind = (
        tuple(int(size) for size in tensor.shape),
        str(tensor.dtype).removeprefix("torch."),
    )
    return StoredTensor(shape, kind, _why_unreadable(tensor, kind) or _numbers(tensor))


def _why_unreadable(tensor: Any, kind: str) -> str:
    """Return why a tensor has no readable real numbers; empty if it has."""
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized:
        return f"a sparse or quantised tensor (of type {kind}) is not supported"
    if tensor.device.type == "meta":
        return "it has a shape, but no numbers (device meta)"
    if tensor.dtype == torch.bool or tensor.is_complex():
        return f"its type is {kind}, not real numbers"
    if tensor.numel() > PARAMETER_LIMIT:  # a tensor with stride 0 can repeat one number
        return f"it has more than {PARAMETER_LIMIT} entries"
    return ""


def _numbers(tensor: Any) -> Array:
    """Return the numbers of a tensor as an array of float32, float64 or integers."""
    import torch

    values = tensor.detach().cpu()
    if values.is_floating_point() and values.dtype not in (torch.float32, torch.float64):
        values = values.to(torch.float32)
    array: Array = values.resolve_neg().numpy()
    return array


def widened(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the float32 numbers with the given upper halves, which are bfloat16 numbers.

    >>> widened(np.array([0x3F80, 0xC049], dtype=np.uint16)).tolist()
    [1.0, -3.140625]
    """
    return (bits.astype(np.uint32) << 16).view(np.float32)
