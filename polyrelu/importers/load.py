"""`load`: whatever a user has, by the ending of its name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.importers.imported import Imported
from polyrelu.network import Network, from_arrays

__all__ = ["FORMATS", "Imported", "load", "read"]


def _read_onnx(path: Path) -> Imported:
    from polyrelu.importers.onnx import read_onnx

    return read_onnx(path)


def _read_npz(path: Path) -> Imported:
    from polyrelu.importers.npz import read_npz

    return read_npz(path)


def _read_native(path: Path) -> Imported:
    from polyrelu.importers.native import read_native

    return read_native(path)


#: The readers by file ending.
FORMATS: dict[str, Callable[[Path], Imported]] = {".onnx": _read_onnx, ".npz": _read_npz, ".json": _read_native}

_NUMPY = "; save W1, b1, … with numpy.savez, W of shape (out, in)"
_TORCH = "; export the model with torch.onnx.export, or save W1, b1, … with numpy.savez"

#: What to do with the formats that are not read yet.
_HINTS = {
    **dict.fromkeys((".pt", ".pth", ".bin", ".zip"), _TORCH),
    **dict.fromkeys((".npy", ".h5", ".keras", ".mat", ".nnet"), _NUMPY),
}

_EXAMPLES = "example:"


def load(source: str | Path | Iterable[tuple[Any, Any]]) -> Network:
    """A network from a file (.onnx, .npz, .json), from a shipped example (``example:digits``), or from pairs (W, b).

    Raises `NetworkFileError`, in one line, if the file is not a network that can be taken exactly.

    >>> str(load("example:digits").architecture)
    '64-32-16-10'
    """
    if isinstance(source, (str, Path)):
        return read(source).network
    return from_arrays(source)


def read(source: str | Path) -> Imported:
    """The network of a file together with what was read on the way."""
    if isinstance(source, str) and source.startswith(_EXAMPLES):
        return _example(source.removeprefix(_EXAMPLES))
    path = Path(source)
    digest = _source_hash(path)
    reader = FORMATS.get(path.suffix.lower())
    if reader is None:
        hint = _HINTS.get(path.suffix.lower(), "")
        raise NetworkFileError(path, "", f"unknown ending {path.suffix!r}; known are {', '.join(FORMATS)}{hint}")
    try:
        imported = reader(path)
    except NetworkFileError:
        raise
    except NetworkError as error:
        raise NetworkFileError(path, "", str(error)) from None
    return imported.with_source(path.name, digest)


def _example(name: str) -> Imported:
    folder = files("polyrelu") / "examples"
    resource = folder / f"{name}.npz"
    if not name.isidentifier() or not resource.is_file():
        known = ", ".join(
            sorted(_EXAMPLES + Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".npz"))
        )
        raise NetworkFileError(f"{_EXAMPLES}{name}", "", f"no such example; there are: {known}")
    with as_file(resource) as path:
        return read(path)


def _source_hash(path: Path) -> str:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise NetworkFileError(path, "", "not a regular file")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise NetworkFileError(path, "", f"cannot read: {getattr(error, 'strerror', None) or error}") from None
