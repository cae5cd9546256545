"""Writer of plain stacks as ``.npz`` files of arrays W1, b1, …"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from polyrelu.formats.arguments import NetworkLike, as_imported
from polyrelu.formats.writers.floats import check_plain, float_weights
from polyrelu.formats.writers.saved import SavedNetwork, names_left_out, target
from polyrelu.support.text_files import write_all
from polyrelu.support.typing import Array

__all__ = ["save_npz"]


def save_npz(network: NetworkLike, path: str | Path, *, numbers: str | None = None) -> SavedNetwork:
    """Write a plain stack as an .npz file of arrays W1, b1, …, WL, bL.

    W has shape (out, in), b has shape (out,). The bytes do not depend on the time. The file is
    written completely or not at all.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without connections that skip layers and without
        a ReLU at its end.
    path
        Name of the file, which must end in .npz.
    numbers
        ``"float32"`` or ``"float64"``; by default float32 if that holds all numbers exactly,
        otherwise float64.

    Returns
    -------
    SavedNetwork
        The file and its number type, with the largest rounding difference.

    Raises
    ------
    NetworkError
        The network is no such stack, or a number is beyond the range of the float type.
    NetworkFileError
        The name has another ending.
    ArgumentError
        `path` is not the name of a file, or `numbers` no float type.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from polyrelu.formats import load
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, "1/2"]], [0]), ([[2]], [1])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "net.npz")
    ...     save_npz(net, name).exact, load(name) == net
    (True, True)
    """
    file = target(path, (".npz",), "save_npz")
    imported = as_imported(network)
    check_plain(imported.network, ".npz")
    weights = float_weights(imported.network, numbers)
    files = write_all([(file, [_archive(weights.arrays)])])
    notes = names_left_out(imported, ".npz")
    return SavedNetwork(tuple(files), weights.numbers, weights.largest_difference, notes)


def _archive(arrays: Mapping[str, Array]) -> bytes:
    """Return an uncompressed archive of arrays, with a fixed date."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            content = io.BytesIO()
            np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getvalue())
    return buffer.getvalue()
