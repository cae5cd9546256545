"""`save`: a network as a file, in the format of its ending."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from polyrelu.errors import NetworkFileError
from polyrelu.formats.arguments import NetworkLike, as_imported
from polyrelu.formats.writers.native import write_native
from polyrelu.formats.writers.saved import SavedNetwork
from polyrelu.support.arguments import expect_path

__all__ = ["WRITTEN", "save"]

#: The endings of the files that `save` writes, with the function of each; the native format has
#: none, because it takes no choice of a number type.
_WRITERS = {
    ".json": "",
    ".onnx": "onnx.save_onnx",
    ".npz": "npz.save_npz",
    ".nnet": "nnet.save_nnet",
    ".pt": "torch.save_torch",
    ".pth": "torch.save_torch",
}

#: The endings of the files that `save` writes.
WRITTEN = tuple(_WRITERS)


def save(network: NetworkLike, path: str | Path, *, numbers: str | None = None) -> SavedNetwork:
    """Write a network to a file in the format of its ending.

    ``.json`` is the native format, which holds every network exactly. ``.onnx`` holds every network
    in floats; ``.npz``, ``.nnet`` (in decimals) and ``.pt`` or ``.pth`` (a state dict of PyTorch)
    hold plain stacks. Numbers that the format does not have become the nearest ones, and the result
    says how far they moved. The names of inputs and outputs with which a network was read go on
    into ONNX files. The file is written completely or not at all, and replaces a file of its name.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or what `polyrelu.read` returns.
    path
        Name of the file, with one of the endings above.
    numbers
        ``"float32"`` or ``"float64"``, to which the numbers are rounded. By default they are
        rounded to float64 only where the format cannot hold them exactly.

    Returns
    -------
    SavedNetwork
        The file, its numbers, how far they moved, and what was left out.

    Raises
    ------
    ArgumentError
        `path` is not the name of a file, or `numbers` no float type.
    NetworkFileError
        The name has another ending, or a package that the format needs is not installed.
    NetworkError
        The format cannot hold the network.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile, os
    >>> from polyrelu.formats import load
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([["1/3"]], [0])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "net.json")
    ...     print(save(net, name), load(name) == net)
    ...     print(save(net, os.path.join(folder, "net.npz")))
    exact rationals, exact True
    float64, rounded by at most 1.85038e-17
    """
    file = expect_path(path, "path", "the network comes first: save(network, path)")
    ending = file.suffix.lower()
    if ending not in _WRITERS:
        problem = f"networks are written as {', '.join(WRITTEN)}; choose one of these endings"
        raise NetworkFileError(file, "", problem)
    imported = as_imported(network)
    if ending == ".json":
        if numbers is not None:
            problem = "native files hold exact numbers; leave numbers (--numbers) out"
            raise NetworkFileError(file, "", problem)
        return write_native(imported, file)
    module, _, name = _WRITERS[ending].partition(".")
    writer: Callable[..., SavedNetwork] = getattr(
        import_module(f"polyrelu.formats.writers.{module}"), name
    )
    return writer(imported, file, numbers=numbers)
