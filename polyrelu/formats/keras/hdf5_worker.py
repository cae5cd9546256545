"""The process that reads HDF5, ``python -P hdf5_worker.py PATH ROOT…``; see `hdf5.py`, which starts it.

The HDF5 library may crash on a damaged file, or never end; a process can be given up. PATH is a file, or ``-`` for the
bytes on standard input. Of the groups ROOT and all below them the datasets and some attributes are written to standard
output: a line of JSON, then the numbers of all datasets one after the other. Links to other places and other files are
not followed.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
from typing import Any, BinaryIO

#: The attributes that Keras writes and that are wanted.
_ATTRIBUTE = re.compile(r"((layer|weight)_names)[0-9]*|name|model_config|keras_version", re.ASCII)

_ENTRY_LIMIT = 10**5


class Contents:
    """What is found.

    Attributes
    ----------
    attributes : for each group, by its path, its attributes: text, or a list of texts.
    arrays : path, number type and shape of each dataset of numbers, in the order of `data`.
    problems : for what is no such dataset, by its path, why not.
    data : the numbers.
    """

    def __init__(self, number_limit: int) -> None:
        self.attributes: dict[str, dict[str, Any]] = {}
        self.arrays: list[tuple[str, str, tuple[int, ...]]] = []
        self.problems: dict[str, str] = {}
        self.data: list[bytes] = []
        self._left, self._entries = number_limit, 0

    def add(self, group: Any, path: str, roots: list[str] | None) -> None:
        """A group and what is below it; of the file as a whole only some groups."""
        import h5py

        self.attributes[path] = {
            key: _texts(group.attrs[key]) for key in group.attrs if _ATTRIBUTE.fullmatch(key)
        }
        for name in group:
            if (roots is not None and name not in roots) or not isinstance(
                group.get(name, getlink=True), h5py.HardLink
            ):
                continue
            self._entries += 1
            if self._entries > _ENTRY_LIMIT:  # links may make circles
                raise ValueError(f"more than {_ENTRY_LIMIT} entries")
            found = group[name]
            below = f"{path}/{name}" if path else name
            if isinstance(found, h5py.Group):
                self.add(found, below, None)
            else:
                self._add_dataset(found, below)

    def _add_dataset(self, found: Any, path: str) -> None:
        import h5py
        import numpy as np

        if (
            not isinstance(found, h5py.Dataset)
            or found.external
            or found.is_virtual
            or found.shape is None
        ):
            self.problems[path] = "not an array in this file"
        elif found.dtype.kind not in "fiu" or found.dtype.itemsize > 8:
            self.problems[path] = f"its type is {found.dtype}; expected numbers"
        elif (size := math.prod(found.shape)) > self._left:
            self.problems[path] = f"with its {size} numbers the file has too many"
        else:
            self._left -= size
            array = np.ascontiguousarray(found[()])
            self.arrays.append((path, array.dtype.str, array.shape if found.shape else ()))
            self.data.append(array.tobytes())


def _texts(value: Any) -> Any:
    """An attribute as text, or as a list of texts; None if it is neither."""
    if isinstance(value, (bytes, str)):
        text = value if isinstance(value, str) else value.decode()
        text.encode()  # h5py hides bytes that are no text in characters that are none
        return text
    return [_texts(entry) for entry in value] if getattr(value, "ndim", 0) == 1 else None


def contents(source: str | BinaryIO, roots: list[str], number_limit: int) -> Contents:
    """What is found in a file."""
    import h5py

    found = Contents(number_limit)
    with h5py.File(source, "r") as file:
        found.add(file, "", roots)
    return found


def main(path: str, number_limit: str, *roots: str) -> None:
    """Read, and answer with what was found or with the kind of the error."""
    try:
        found = contents(
            io.BytesIO(sys.stdin.buffer.read()) if path == "-" else path,
            list(roots),
            int(number_limit),
        )
    except Exception as error:  # the library raises nearly anything on damaged files
        sys.stdout.write(json.dumps({"error": type(error).__name__}) + "\n")
        return
    answer = {"attributes": found.attributes, "arrays": found.arrays, "problems": found.problems}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.writelines(found.data)


if __name__ == "__main__":
    main(*sys.argv[1:])
