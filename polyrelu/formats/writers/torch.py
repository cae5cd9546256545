"""Writer of plain stacks as state dicts of PyTorch, named as in a ``torch.nn.Sequential``."""

from __future__ import annotations

import io
from pathlib import Path

from polyrelu.errors import NetworkFileError
from polyrelu.formats.arguments import NetworkLike, as_imported
from polyrelu.formats.writers.floats import FloatWeights, check_plain, float_weights
from polyrelu.formats.writers.saved import SavedNetwork, names_left_out, target
from polyrelu.support.text_files import write_all

__all__ = ["save_torch"]


def save_torch(
    network: NetworkLike, path: str | Path, *, numbers: str | None = None
) -> SavedNetwork:
    """Write a plain stack as a state dict of PyTorch.

    The names are the names of ``torch.nn.Sequential(Linear, ReLU, Linear, …)``: ``0.weight``,
    ``0.bias``, ``2.weight``, …, so that ``load_state_dict`` of such a module takes the file. The
    function needs the package torch (extra ``torch``). The file is written completely or not at
    all.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without connections that skip layers and without
        a ReLU at its end.
    path
        Name of the file, which must end in .pt or .pth.
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
        The name has another ending, or the package torch is not installed.
    ArgumentError
        `path` is not the name of a file, or `numbers` no float type.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> save_torch([([[1, 2]], [3])], "net.onnx")
    Traceback (most recent call last):
        ...
    polyrelu.errors.NetworkFileError: net.onnx: save_torch writes files that end in .pt or .pth;
    `load` goes by it
    """
    file = target(path, (".pt", ".pth"), "save_torch")
    imported = as_imported(network)
    check_plain(imported.network, file.suffix)
    weights = float_weights(imported.network, numbers)
    files = write_all([(file, [_serialized(weights, file)])])
    notes = names_left_out(imported, file.suffix)
    return SavedNetwork(tuple(files), weights.numbers, weights.largest_difference, notes)


def _serialized(weights: FloatWeights, path: Path) -> bytes:
    """Return the bytes of the state dict."""
    try:
        import torch
    except ImportError:
        problem = (
            "writing files of PyTorch needs the package torch (the extra [torch]): "
            "pip install torch"
        )
        raise NetworkFileError(path, "", problem) from None
    state = {}
    for name, array in weights.arrays.items():
        part = "weight" if name.startswith("W") else "bias"
        state[f"{2 * int(name[1:]) - 2}.{part}"] = torch.from_numpy(array)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()
