"""``.npz`` archives with arrays W1, b1, …, WL, bL; W of shape (out, in), b of shape (out,). No pickle is ever read."""

from __future__ import annotations

import contextlib
import math
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkFileError
from polyrelu.importers.imported import Draft
from polyrelu.importers.options import ReadOptions
from polyrelu.importers.perceptron import draft_of_pairs
from polyrelu.limits import PARAMETER_LIMIT

__all__ = ["read_npz"]


def read_npz(path: Path, options: ReadOptions) -> Draft:
    """The plain stack of an .npz file."""
    arrays = _arrays(path)
    depth = len(arrays) // 2
    expected = {f"{letter}{number}" for number in range(1, depth + 1) for letter in "Wb"}
    if not arrays or set(arrays) != expected:
        names = ", ".join(sorted(set(arrays) - expected or arrays))[:80] or "nothing"
        raise NetworkFileError(path, "", f"expected the arrays W1, b1, …, WL, bL; the file holds {names}")
    pairs = [(arrays[f"W{number}"], arrays[f"b{number}"]) for number in range(1, depth + 1)]
    for number, (weight, bias) in enumerate(pairs, 1):
        if weight.ndim != 2 or bias.ndim != 1:
            raise NetworkFileError(
                path, f"W{number}, b{number}", f"expected (out, in), (out,); got {weight.shape}, {bias.shape}"
            )
    return draft_of_pairs("npz", pairs, ["a ReLU between consecutive affine maps"])


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The members of the archive. numpy raises nearly anything on damaged files, so nearly anything is caught."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check_sizes(path)
            archive = np.load(path, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise NetworkFileError(path, "", "not an .npz archive (a single .npy array?)")
            with archive:
                names = sorted(archive.files, key=_number)
                members = {name: archive[name] for name in names}
    except NetworkFileError:
        raise
    except Exception as error:  # hostile files: see the docstring
        kind = type(error).__name__
        raise NetworkFileError(path, "", f"not a readable .npz archive of number arrays ({kind})") from None
    if len(members) < len(names) or not all(isinstance(member, np.ndarray) for member in members.values()):
        problem = "not every member is an array, or one stands twice; expected the arrays W1, b1, …, WL, bL"
        raise NetworkFileError(path, "", problem)
    return members


def _check_sizes(path: Path) -> None:
    """Read the headers first: a few kilobytes can hold an array of gigabytes."""
    if not zipfile.is_zipfile(path):
        return  # numpy says what it is
    total = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as member, contextlib.suppress(ValueError):  # numpy says what is wrong
                major, _ = np.lib.format.read_magic(member)
                read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
                total += math.prod(read(member)[0])
    if total > PARAMETER_LIMIT:
        raise NetworkFileError(path, "", f"arrays of {total} numbers, more than {PARAMETER_LIMIT}")


def _number(name: str) -> int:
    digits = re.findall(r"[0-9]{1,9}", name)
    return int(digits[0]) if digits else 0
