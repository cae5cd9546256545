"""The process that reads HDF5, started by `hdf5.py`.

It is called as ``python -P hdf5_worker.py PATH LIMIT SECONDS ROOT…``.

Here is a program that opens an HDF5 file and writes what Keras stores in it to standard output. It
is a separate process because the HDF5 library may crash or hang on a damaged file, and a process
can be stopped. The program imports nothing of polyrelu, and it does not follow links to other
places or files.

PATH is a file, or ``-`` for the bytes on standard input, and LIMIT is the maximum number of entries
of all arrays together. After SECONDS of processor time SIGPROF ends the process. The output
describes the groups ROOT and all groups below them: a line of JSON with some attributes and with
the shapes of the datasets, then the numbers of all datasets one after the other.
"""

from __future__ import annotations

import io
import json
import math
import re
import signal
import sys
from typing import Any, BinaryIO

#: The attributes of Keras that are read.
_ATTRIBUTE = re.compile(r"((layer|weight)_names)[0-9]*|name|model_config|keras_version", re.ASCII)

#: Maximum number of groups and datasets, since links can form circles.
_MAX_ENTRIES = 10**5


class Entries:
    """The groups and datasets that are read so far.

    Attributes
    ----------
    attributes
        The attributes of each group, by its path: text, or a list of texts.
    arrays
        The path, the number type and the shape of each dataset of numbers, in the order of `data`.
    problems
        For every other dataset, by its path, why it is not an array of numbers.
    data
        The numbers of the datasets.
    """

    def __init__(self, number_limit: int) -> None:
        self.attributes: dict[str, dict[str, Any]] = {}
        self.arrays: list[tuple[str, str, tuple[int, ...]]] = []
        self.problems: dict[str, str] = {}
        self.data: list[bytes] = []
        self._left, self._entries = number_limit, 0

    def add(self, group: Any, path: str, roots: list[str] | None) -> None:
        """Add a group and everything below it; `roots` are the only subgroups to add, if given."""
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
            if self._entries > _MAX_ENTRIES:
                raise ValueError(f"more than {_MAX_ENTRIES} entries")
            found = group[name]
            below = f"{path}/{name}" if path else name
            if isinstance(found, h5py.Group):
                self.add(found, below, None)
            else:
                self._add_dataset(found, below)

    def _add_dataset(self, found: Any, path: str) -> None:
        """Add a dataset of numbers, or the reason why it is none."""
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
    """Return an attribute as text or as a list of texts; None if it is neither."""
    if isinstance(value, (bytes, str)):
        text = value if isinstance(value, str) else value.decode()
        text.encode()  # fails for bytes that are no text, which h5py turns into surrogates
        return text
    return [_texts(entry) for entry in value] if getattr(value, "ndim", 0) == 1 else None


def contents(source: str | BinaryIO, roots: list[str], number_limit: int) -> Entries:
    """Return the groups and datasets of a file."""
    import h5py

    found = Entries(number_limit)
    with h5py.File(source, "r") as file:
        found.add(file, "", roots)
    return found


def main(path: str, number_limit: str, seconds: str, *roots: str) -> None:
    """Read the file and write its content, or the class of the error, to standard output."""
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
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
