"""HDF5 files, read with h5py in a separate process.

Here is the call of the process `hdf5_worker`, which sends groups and arrays of an HDF5 file back.
The reader of Keras files uses it, because the HDF5 library may hang or crash on a damaged file. The
process must not import polyrelu. Its processor time is limited, which the load of the machine does
not change.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.errors import NetworkFileError
from polyrelu.formats.meter import need, remaining
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["Hdf5", "read_hdf5"]


#: Maximum number of seconds of processor time for reading a file: a constant, and an amount for
#: each million bytes. Files that are not damaged take a hundredth of it.
_TIME_LIMIT = (20.0, 1.0)


@dataclass(frozen=True, slots=True)
class Hdf5:
    """Groups and arrays of a file, by their paths.

    Attributes
    ----------
    path
        The file.
    attributes
        The attributes of each group that Keras writes: text, or a list of texts.
    arrays
        The datasets of numbers.
    problems
        For every other dataset, why it is not an array of numbers.
    """

    path: Path
    attributes: dict[str, dict[str, Any]]
    arrays: dict[str, Array]
    problems: dict[str, str]

    def array(self, *names: str) -> Array:
        """Return the numbers at the path with these parts."""
        place = "/".join(part for name in names for part in name.split("/") if part)
        if place in self.arrays:
            return self.arrays[place]
        problem = self.problems.get(place, "not in the file, or a link; links are not followed")
        raise NetworkFileError(self.path, f"weight {place[:160]!r}", problem)


def read_hdf5(path: Path, roots: list[str], stored: bytes | None = None) -> Hdf5:
    """Read some groups of an HDF5 file.

    Parameters
    ----------
    path
        The file.
    roots
        The names of the groups at the top that are read.
    stored
        The bytes of the HDF5 file if it is a part of another file.
    """
    if not find_spec("h5py"):
        problem = "reading Keras files needs the package h5py (the extra [keras]): pip install h5py"
        raise NetworkFileError(path, "", problem)
    size = path.stat().st_size if stored is None else len(stored)
    program = Path(__file__).with_name("hdf5_worker.py")
    # -P removes the directory of the program from the import path, where it could hide modules
    command = [
        sys.executable,
        "-P",
        str(program),
        str(path) if stored is None else "-",
        str(min(PARAMETER_LIMIT, remaining("unpacked", 8 * PARAMETER_LIMIT) // 8)),
        str(_TIME_LIMIT[0] + _TIME_LIMIT[1] * size / 10**6),
        *roots,
    ]
    try:
        done = subprocess.run(
            command,
            input=stored or b"",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        is_over = error.returncode == -signal.SIGPROF
        how = "does not come to an end with it" if is_over else "breaks down over it"
        raise NetworkFileError(path, "", f"the HDF5 library {how}; it is damaged") from None
    return _answer(path, done.stdout)


def _answer(path: Path, output: bytes) -> Hdf5:
    """Return the content that the output of the process describes."""
    line, _, data = output.partition(b"\n")
    need(unpacked=len(data))
    answer = json.loads(line)
    if "error" in answer:
        raise NetworkFileError(path, "", f"not a readable HDF5 file ({answer['error']})")
    arrays, first = dict[str, Array](), 0
    for place, kind, shape in answer["arrays"]:
        number_type = np.dtype(kind)
        count = math.prod(shape)
        arrays[place] = np.frombuffer(data, number_type, count, first).reshape(shape)
        first += count * number_type.itemsize
    return Hdf5(path, answer["attributes"], arrays, answer["problems"])
