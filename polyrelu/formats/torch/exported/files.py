"""The archive of an exported program: its graph as JSON, and its tensors as raw bytes.

An archive is a zip file with one folder: ``models/model.json`` is the graph, and the files named in
``data/weights`` and ``data/constants`` are the storages of tensors. Sizes are checked before
anything is unpacked. The pickled sample inputs are never opened.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.meter import JSON_FACTOR, need
from polyrelu.formats.torch.tensors import StoredTensor, widened
from polyrelu.support.limits import PARAMETER_LIMIT

__all__ = ["REMEDY", "Archive", "part", "sizes_of"]

#: Maximum numbers of bytes of the graph, and of one storage, unpacked.
_GRAPH_LIMIT, _STORAGE_LIMIT = 2**24, 8 * PARAMETER_LIMIT

REMEDY = (
    "write it with torch 2.9 or later, torch.export.save(torch.export.export(model.eval(), …), "
    "'net.pt2'), or export ONNX (torch.onnx.export)"
)

#: The folders of tensors, with the names of their lists.
_FOLDERS = (
    ("data/weights", "model_weights_config.json"),
    ("data/constants", "model_constants_config.json"),
)
#: The number types of the format, with their names and numpy codes; bfloat16 is widened.
_TYPES = {
    1: ("uint8", "<u1"),
    2: ("int8", "<i1"),
    3: ("int16", "<i2"),
    4: ("int32", "<i4"),
    5: ("int64", "<i8"),
    6: ("float16", "<f2"),
    7: ("float32", "<f4"),
    8: ("float64", "<f8"),
    13: ("bfloat16", "<u2"),
}
#: The number of the ordinary layout of tensors.
_STRIDED = 7


class Archive:
    """An open archive.

    Attributes
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            names = self._zip.namelist()
        except Exception as error:  # zipfile raises nearly anything on damaged files
            raise self._unreadable(error) from None
        models = [name for name in names if name.endswith("/models/model.json")]
        if len(models) != 1:
            shown = ", ".join(repr(name[:40]) for name in names[:6]) or "nothing"
            problem = f"not an exported program with models/model.json; it holds {shown}; {REMEDY}"
            raise NetworkFileError(path, "", problem)
        self._root = models[0].removesuffix("models/model.json")
        if self._bytes("byteorder", 100).strip() != b"little":
            raise NetworkFileError(path, "byteorder", "only little-endian files are read")
        self._entries = {
            name: (folder, entry)
            for folder, config in _FOLDERS
            for name, entry in part(self, self._json(f"{folder}/{config}"), dict, "config").items()
        }

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def program(self) -> dict[str, Any]:
        """Return the graph with everything about it."""
        found = self._json("models/model.json")
        return found if isinstance(found, dict) else {}

    def fail(self, place: str, problem: str) -> NetworkFileError:
        """Return the error about a place of the file."""
        return NetworkFileError(self.path, place, problem)

    def tensor(self, name: str) -> StoredTensor:
        """Return a tensor of the program as it is stored."""
        place = f"tensor {name[:60]!r}"
        if name not in self._entries:
            raise self.fail(place, "the file does not hold it")
        folder, entry = self._entries[name]
        meta = part(self, entry, dict, "tensor_meta")
        kind, layout = meta.get("dtype"), meta.get("layout")
        if entry.get("use_pickle") is not False or kind not in _TYPES or layout != _STRIDED:
            problem = f"its type (number {str(kind)[:9]}) or its layout is not supported"
            raise self.fail(place, problem)
        sizes, strides = (sizes_of(self, meta.get(key)) for key in ("sizes", "strides"))
        (offset,) = sizes_of(self, [meta.get("storage_offset")])
        name_of_type, code = _TYPES[kind]
        data = self._bytes(f"{folder}/{part(self, entry, str, 'path_name')}", _STORAGE_LIMIT)
        if len(data) % np.dtype(code).itemsize:
            raise self.fail(place, "its bytes do not fit its type")
        storage = np.frombuffer(data, dtype=code)
        if len(strides) != len(sizes) or math.prod(sizes) > PARAMETER_LIMIT:
            raise self.fail(place, f"shape {list(sizes)[:8]} is not supported")
        last = offset + sum(
            stride * (size - 1) for size, stride in zip(sizes, strides, strict=True)
        )
        if 0 not in sizes and last >= storage.size:
            raise self.fail(place, "it reads beyond its bytes")
        need(unpacked=math.prod(sizes) * storage.itemsize)  # with stride 0 a number is repeated
        steps = [stride * storage.itemsize for stride in strides]
        array = np.lib.stride_tricks.as_strided(storage[offset:], sizes, steps).copy()
        return StoredTensor(sizes, name_of_type, widened(array) if code == "<u2" else array)

    def _json(self, name: str) -> Any:
        data = self._bytes(name, _GRAPH_LIMIT)
        need(unpacked=JSON_FACTOR * len(data))
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self.fail(name, f"not readable JSON ({type(error).__name__})") from None

    def _bytes(self, name: str, limit: int) -> bytes:
        try:
            info = self._zip.getinfo(f"{self._root}{name}")
            if info.file_size > limit:
                raise self.fail(name, f"it unpacks to {info.file_size} bytes, more than {limit}")
            need(unpacked=info.file_size)
            with self._zip.open(info) as member:
                return member.read(limit)
        except NetworkError:
            raise
        except KeyError:
            raise self.fail("", f"it holds no {name}; {REMEDY}") from None
        except Exception as error:  # also for unknown compression, passwords and wrong checksums
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> NetworkFileError:
        kind = type(error).__name__
        return NetworkFileError(self.path, "", f"not a readable .pt2 archive ({kind}); {REMEDY}")


def part(archive: Archive, entry: Any, kind: type[Any], *keys: str) -> Any:
    """Return the part of an entry of a JSON file under keys, one inside the other."""
    for key in keys:
        entry = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(entry, kind) or (kind is int and isinstance(entry, bool)):
        where = ".".join(keys)
        raise archive.fail("", f"the program has no {where}, or not as expected; {REMEDY}")
    return entry


def sizes_of(archive: Archive, entries: Any) -> tuple[int, ...]:
    """Return the numbers of a list of sizes, which must not be symbols."""
    found: Sequence[Any] = entries if isinstance(entries, list) else [None]
    sizes = [part(archive, entry, int, "as_int") for entry in found]
    if any(not 0 <= size < 2**40 for size in sizes):
        raise archive.fail("", "a size or stride is out of range")
    return tuple(sizes)
