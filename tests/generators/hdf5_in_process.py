"""HDF5 read in the process of the test, for speed: the process of its own takes half a second."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkFileError
from polyrelu.formats.keras import hdf5, hdf5_worker
from polyrelu.support.limits import PARAMETER_LIMIT

__all__ = ["read_in_process"]


def read_in_process(path: Path, roots: list[str], stored: bytes | None = None) -> hdf5.Hdf5:
    """Return what `hdf5.read_hdf5` returns."""
    try:
        source = str(path) if stored is None else io.BytesIO(stored)
        found = hdf5_worker.contents(source, roots, PARAMETER_LIMIT)
    except Exception as error:
        raise NetworkFileError(
            path, "", f"not a readable HDF5 file ({type(error).__name__})"
        ) from None
    arrays = {
        place: np.frombuffer(data, kind).reshape(shape)
        for (place, kind, shape), data in zip(found.arrays, found.data, strict=True)
    }
    return hdf5.Hdf5(path, found.attributes, arrays, found.problems)
