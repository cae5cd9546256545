"""``.npz`` archives of layers, in either of two layouts.

The first layout has arrays W1, b1, …, WL, bL, where W has shape (out, in) and b has shape (out,); a
ReLU stands between consecutive affine maps. The second layout has numbered operations, such as
``0000.dense.A``, ``0000.dense.b``, ``0001.relu._``: an affine map x A + b, where A has shape (in,
out), and a ReLU. If an archive of the second layout has only dense layers, with every second
number, ReLUs are assumed at the missing numbers; other operations are refused by name.

Archives may be hostile: pickles are never read, and the sizes of all arrays are checked before any
array is loaded.
"""

from __future__ import annotations

import contextlib
import math
import re
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.dense_stack import Affine, draft_of_pairs, draft_of_stack
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import PARAMETER_LIMIT

__all__ = ["npz_arrays", "read_npz"]


def read_npz(path: Path, options: ReadOptions) -> Draft:
    """Read the layers of an .npz file."""
    arrays = npz_arrays(path, "W1, b1, …, WL, bL")
    if arrays and all(map(_OPERATION_NAME.fullmatch, arrays)):
        return _draft_of_operations(path, arrays)
    depth = len(arrays) // 2
    expected = {f"{letter}{number}" for number in range(1, depth + 1) for letter in "Wb"}
    if not arrays or set(arrays) != expected:
        names = ", ".join(sorted(set(arrays) - expected or arrays))[:80] or "nothing"
        raise NetworkFileError(
            path, "", f"expected the arrays W1, b1, …, WL, bL; the file holds {names}"
        )
    pairs = [(arrays[f"W{number}"], arrays[f"b{number}"]) for number in range(1, depth + 1)]
    for number, (weight, bias) in enumerate(pairs, 1):
        if weight.ndim != 2 or bias.ndim != 1:
            raise NetworkFileError(
                path,
                f"W{number}, b{number}",
                f"expected (out, in), (out,); got {weight.shape}, {bias.shape}",
            )
    return draft_of_pairs("npz", pairs, ["a ReLU between consecutive affine maps"])


# --- Numbered operations --------------------------------------------------------------------------

#: Number, kind and part: ``0000.dense.A``.
_OPERATION_NAME = re.compile(r"([0-9]{1,9})\.(\w{1,80})\.(\w{1,80})", re.ASCII)


@dataclass(slots=True)
class _Operation:
    """A numbered operation with its arrays by part, such as ``A`` and ``b``."""

    number: int
    kind: str
    arrays: dict[str, NDArray[Any]]

    @property
    def place(self) -> str:
        """The name of the operation in error messages."""
        return f"operation {self.number} ({self.kind})"


def _draft_of_operations(path: Path, arrays: dict[str, NDArray[Any]]) -> Draft:
    """Return the draft of numbered dense layers and ReLUs."""
    operations = _operations(path, arrays)
    notes, caveats = list[str](), list[str]()
    if len(operations) > 1 and _lacks_activations(operations):
        caveats.append(
            "the archive has no activations: a ReLU between consecutive affine maps is assumed"
        )
        operations = _with_assumed_relus(operations)
    for expected, operation in enumerate(operations):
        if operation.number != expected:
            raise NetworkFileError(path, f"operation {expected}", "it is missing")
    if _ends_in_squeeze(operations):
        notes.append("squeeze_last at the end makes a number of the one output: nothing to do")
        operations = operations[:-1]
    _check_kinds(path, operations)
    layers = [
        _affine(path, operation, after is not None and after.kind == "relu")
        for operation, after in zip(operations, [*operations[1:], None], strict=True)
        if operation.kind == "dense"
    ]
    try:
        draft = draft_of_stack("npz, numbered operations", layers)
    except NetworkError as error:
        raise NetworkFileError(path, "", str(error)) from None
    draft.notes, draft.caveats = notes, caveats
    return draft


def _check_kinds(path: Path, operations: list[_Operation]) -> None:
    """Refuse operations other than dense layers and ReLUs that follow dense layers."""
    for before, operation in zip([None, *operations], operations, strict=False):
        if operation.kind not in ("dense", "relu"):
            problem = "this operation is not supported; supported are dense and relu"
            raise NetworkFileError(path, operation.place, problem)
        if operation.kind == "relu" and (before is None or before.kind != "dense"):
            raise NetworkFileError(path, operation.place, "it does not follow a dense layer")


def _operations(path: Path, arrays: dict[str, NDArray[Any]]) -> list[_Operation]:
    """Return the operations in the order of their numbers."""
    by_number: dict[int, _Operation] = {}
    for name, array in arrays.items():
        digits, kind, part = name.split(".")
        operation = by_number.setdefault(int(digits), _Operation(int(digits), kind, {}))
        if operation.kind != kind or part in operation.arrays:
            raise NetworkFileError(
                path, f"{name!r}", f"number {int(digits)} stands for {operation.kind!r} already"
            )
        operation.arrays[part] = array
    return [by_number[number] for number in sorted(by_number)]


def _lacks_activations(operations: list[_Operation]) -> bool:
    """Return whether all operations are dense layers with every second number.

    Such an archive was saved without its activations, which stand at the missing numbers.
    """
    return all(
        operation.kind == "dense" and operation.number == 2 * place
        for place, operation in enumerate(operations)
    )


def _with_assumed_relus(operations: list[_Operation]) -> list[_Operation]:
    """Return the operations with a ReLU between any two of them."""
    first, *others = operations
    return [first, *(new for op in others for new in (_Operation(op.number - 1, "relu", {}), op))]


def _ends_in_squeeze(operations: list[_Operation]) -> bool:
    """Return whether the last operation turns a vector of size 1 into a number."""
    if len(operations) < 2 or operations[-1].kind != "squeeze_last":
        return False
    last = operations[-2].arrays.get("b")
    return last is not None and last.shape == (1,)


def _affine(path: Path, operation: _Operation, relu: bool) -> Affine:
    """Return a dense layer as an affine map; `relu` tells whether a ReLU follows."""
    if set(operation.arrays) != {"A", "b"}:
        held = ", ".join(sorted(operation.arrays))[:80]
        raise NetworkFileError(path, operation.place, f"expected the arrays A and b; it has {held}")
    return Affine(operation.place, operation.arrays["A"], operation.arrays["b"], relu)


# --- Reading the archive --------------------------------------------------------------------------


def npz_arrays(path: Path, expected: str) -> dict[str, NDArray[Any]]:
    """Return the members of the archive; `expected` tells an error which arrays there should be.

    All exceptions are caught, because numpy raises exceptions of many types on damaged files.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check_sizes(path)
            archive = np.load(path, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise NetworkFileError(path, "", "not an .npz archive (a single .npy array?)")
            with archive:
                names = sorted(archive.files, key=_first_number)
                members = {name: archive[name] for name in names}
    except NetworkError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise NetworkFileError(
            path, "", f"not a readable .npz archive of number arrays ({kind})"
        ) from None
    if len(members) < len(names) or not all(
        isinstance(member, np.ndarray) for member in members.values()
    ):
        problem = (
            f"not every member is an array, or one stands twice; expected the arrays {expected}"
        )
        raise NetworkFileError(path, "", problem)
    for name, member in members.items():
        if member.dtype.kind == "V":
            problem = (
                "numpy stores its type, such as bfloat16, without a name; save it as float32, "
                "W.astype('float32'), which is exact"
            )
            raise NetworkFileError(path, f"array {name[:60]!r}", problem)
    return members


def _check_sizes(path: Path) -> None:
    """Refuse an archive with too many numbers, by the headers of its arrays.

    A compressed file of a few kilobytes can hold an array of gigabytes.
    """
    if not zipfile.is_zipfile(path):
        return  # the error that numpy raises then names the problem
    total, num_bytes = 0, 0
    with zipfile.ZipFile(path) as archive:
        need(unpacked=sum(entry.file_size for entry in archive.infolist()))
        for name in archive.namelist():
            # A ValueError is a damaged header, which numpy reports when it loads the array.
            with archive.open(name) as member, contextlib.suppress(ValueError):
                major, _ = np.lib.format.read_magic(member)
                read = (
                    np.lib.format.read_array_header_1_0
                    if major == 1
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, kind = read(member)
                total += math.prod(shape)
                num_bytes += math.prod(shape) * kind.itemsize
    if total > PARAMETER_LIMIT:
        raise NetworkFileError(path, "", f"arrays of {total} numbers, more than {PARAMETER_LIMIT}")
    need(unpacked=num_bytes)


def _first_number(name: str) -> int:
    """Return the first number in a name, 0 if there is none."""
    digits = re.findall(r"[0-9]{1,9}", name)
    return int(digits[0]) if digits else 0
