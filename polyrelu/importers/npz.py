"""``.npz`` archives with arrays W1, b1, …, WL, bL; W of shape (out, in), b of shape (out,). No pickle is ever read."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkFileError
from polyrelu.importers.imported import Imported
from polyrelu.network import from_arrays

__all__ = ["read_npz"]


def read_npz(path: Path) -> Imported:
    """The plain stack of an .npz file."""
    arrays = _arrays(path)
    depth = len(arrays) // 2
    expected = {f"{letter}{number}" for number in range(1, depth + 1) for letter in "Wb"}
    if not arrays or set(arrays) != expected:
        names = ", ".join(sorted(arrays))[:80] or "nothing"
        raise NetworkFileError(path, "", f"expected the arrays W1, b1, …, WL, bL; the file holds {names}")
    pairs = [(arrays[f"W{number}"], arrays[f"b{number}"]) for number in range(1, depth + 1)]
    for number, (weight, bias) in enumerate(pairs, 1):
        if weight.ndim != 2 or bias.ndim != 1:
            raise NetworkFileError(
                path, f"W{number}, b{number}", f"expected (out, in), (out,); got {weight.shape}, {bias.shape}"
            )
    steps = tuple(f"affine [{weight.shape[0]}, {weight.shape[1]}]" for weight, _ in pairs)
    dtypes = tuple(sorted({array.dtype.name for array in arrays.values()}))
    return Imported(from_arrays(pairs), "npz", steps, dtypes, notes=("a ReLU between consecutive affine maps",))


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise NetworkFileError(path, "", "a single .npy array, not an .npz archive")
            names = sorted(archive.files, key=lambda name: [int(part) for part in re.findall(r"\d+", name)[:1]])
            return {name: archive[name] for name in names}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, MemoryError) as error:
        raise NetworkFileError(path, "", f"not a readable .npz archive of number arrays: {error}") from None
