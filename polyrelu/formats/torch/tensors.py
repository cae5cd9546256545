"""Tensors of PyTorch and of ``.safetensors`` files as numpy arrays, without rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["Stored", "stored", "widened"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor as it is stored.

    Attributes
    ----------
    shape : its shape.
    kind : the name of its number type, such as ``bfloat16``.
    array : its exact numbers, in a type that holds them all; or why they are not to be had.
    """

    shape: tuple[int, ...]
    kind: str
    array: Array | str

    def numbers(self) -> Array:
        """The exact numbers, or an error."""
        if isinstance(self.array, str):
            raise NetworkError(self.array)
        return self.array


def stored(tensor: Any) -> Stored:
    """A tensor of PyTorch; types shorter than float32 are widened to it."""
    shape, kind = (
        tuple(int(size) for size in tensor.shape),
        str(tensor.dtype).removeprefix("torch."),
    )
    return Stored(shape, kind, _why_not(tensor, kind) or _numbers(tensor))


def _why_not(tensor: Any, kind: str) -> str:
    """Why a tensor has no numbers to take, or nothing."""
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized:
        return f"a sparse or quantised tensor (of type {kind}) is not supported"
    if tensor.device.type == "meta":
        return "it has a shape, but no numbers (device meta)"
    if tensor.dtype == torch.bool or tensor.is_complex():
        return f"its type is {kind}, not real numbers"
    if tensor.numel() > PARAMETER_LIMIT:  # a tensor can repeat one number without end
        return f"it has more than {PARAMETER_LIMIT} entries"
    return ""


def _numbers(tensor: Any) -> Array:
    import torch

    values = tensor.detach().cpu()
    if values.is_floating_point() and values.dtype not in (torch.float32, torch.float64):
        values = values.to(torch.float32)
    array: Array = values.resolve_neg().numpy()
    return array


def widened(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The float32 numbers whose upper halves are given: bfloat16.

    >>> widened(np.array([0x3F80, 0xC049], dtype=np.uint16)).tolist()
    [1.0, -3.140625]
    """
    return (bits.astype(np.uint32) << 16).view(np.float32)
