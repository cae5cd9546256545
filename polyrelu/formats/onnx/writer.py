"""Writer of plain stacks as ONNX files: a Gemm for each layer, a Relu after each hidden layer.

ONNX stores floats, so a network of rational weights may have to be rounded. If float32, or else
float64, holds all weights and biases exactly, the file has that type and reading it gives the same
network. Otherwise every number is rounded to the nearest float64, and the largest difference is
reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.exact import RationalMatrix, decimal_above
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect_path
from polyrelu.support.display import bracketed
from polyrelu.support.text_files import write_all
from polyrelu.support.typing import Floats
from polyrelu.version import __version__

__all__ = ["OnnxExport", "save_onnx"]


#: Versions that nearly every runtime reads.
_OPSET, _IR_VERSION = 13, 8
#: Maximum number of bytes of all weights: the limit of a protobuf message, less room for the graph.
_BYTE_LIMIT = 2**31 - 2**16
#: The largest finite float64.
_LARGEST = Fraction(float(np.finfo(np.float64).max))


@dataclass(frozen=True, slots=True, repr=False)
class OnnxExport:
    """The result of `save_onnx`.

    Attributes
    ----------
    files
        The files that were written.
    numbers
        The number type in the file, ``"float32"`` or ``"float64"``.
    largest_difference
        The largest |number in the network - number in the file| over all weights and biases.

    Examples
    --------
    >>> OnnxExport((Path("net.onnx"),), "float32", Fraction(0)).exact
    True
    """

    files: tuple[Path, ...]
    numbers: str
    largest_difference: Fraction

    @property
    def exact(self) -> bool:
        """Whether the file holds exactly the numbers of the network."""
        return not self.largest_difference

    def __repr__(self) -> str:
        names = ", ".join(path.name for path in self.files)
        rounded = f"rounded by at most {decimal_above(self.largest_difference)}"
        return bracketed(
            f"OnnxExport {names}, {self.numbers}, {'exact' if self.exact else rounded}"
        )


def save_onnx(network: NetworkLike, path: str | Path) -> OnnxExport:
    """Write a plain stack as an ONNX file.

    The input ``x`` of the model has shape (batch, n_0), its output ``y`` has shape (batch, n_L).
    The function needs the package onnx (extra ``onnx``). The file is written completely or not at
    all.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without connections that skip layers.
    path
        Name of the file, which must end in .onnx.

    Returns
    -------
    OnnxExport
        The files and their number type, with the largest rounding difference.

    Raises
    ------
    NetworkError
        The network has connections that skip layers, a weight beyond the range of float64, or more
        than 2 GB of weights.
    NetworkFileError
        The name has another ending, or the package onnx is not installed.
    ArgumentError
        The second argument is not the name of a file.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from polyrelu.formats import load
    >>> from polyrelu.network import from_arrays
    >>> halves = from_arrays([([[1, "1/2"]], [0]), ([[2]], [1])])
    >>> thirds = from_arrays([([[1, "1/3"]], [0]), ([[2]], [1])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "net.onnx")
    ...     written = save_onnx(halves, name)
    ...     written.numbers, written.exact, load(name) == halves
    ...     written = save_onnx(thirds, name)
    ...     written.numbers, written.exact, written.largest_difference, load(name) == thirds
    ('float32', True, True)
    ('float64', False, Fraction(1, 54043195528445952), False)
    """
    target = expect_path(path, "path", "the network comes first: save_onnx(network, path)")
    if target.suffix.lower() != ".onnx":
        raise NetworkFileError(path, "", "ONNX files end in .onnx; `load` goes by the ending")
    network = as_network(network)
    if not network.is_plain:
        raise NetworkError(
            "the network has connections that skip layers; only plain stacks are written as ONNX"
        )
    if 8 * network.num_parameters > _BYTE_LIMIT:
        raise NetworkError(
            f"{network.num_parameters} weights and biases do not fit into one ONNX file of 2 "
            "GB; save the network as .json"
        )
    tensors = {name: _nearest_floats(name, values) for name, values in _parameters(network)}
    single = all(np.array_equal(_single(floats), floats) for floats, _ in tensors.values())
    largest = max(difference for _, difference in tensors.values())
    kind = np.dtype(np.float32 if single and not largest else np.float64)
    arrays = {name: floats.astype(kind) for name, (floats, _) in tensors.items()}
    content = _serialized(network, arrays, path)
    return OnnxExport(tuple(write_all([(target, [content])])), kind.name, largest)


def _parameters(network: Network) -> Iterator[tuple[str, RationalMatrix]]:
    """Yield the parameters by name: W1, b1, W2, …"""
    for number, layer in enumerate(network.layers, 1):
        yield f"W{number}", layer.weight
        yield f"b{number}", layer.bias


def _nearest_floats(name: str, values: RationalMatrix) -> tuple[Floats, Fraction]:
    """Return the nearest float64 of each entry, and the largest difference."""
    floats = values.to_floats()
    differences = values - RationalMatrix.from_array(floats)
    if differences.is_zero():
        return floats, Fraction()
    largest = max(map(abs, differences.entries()))
    if any(abs(entry) > _LARGEST for entry in values.entries()):
        raise NetworkError(
            f"{name} has an entry beyond the range of float64, so ONNX cannot hold it"
        )
    return floats, largest


def _single(floats: Floats) -> NDArray[np.float32]:
    """Return the floats in single precision, infinities beyond its range."""
    with np.errstate(over="ignore"):
        return floats.astype(np.float32)


def _serialized(network: Network, arrays: dict[str, NDArray[Any]], path: str | Path) -> bytes:
    """Return the bytes of the ONNX model, with the parameters of the network as float arrays."""
    try:
        from onnx import helper, numpy_helper
    except ImportError:
        raise NetworkFileError(
            path, "", "writing ONNX needs the package onnx (the extra [onnx]): pip install onnx"
        ) from None
    nodes, value = [], "x"
    for number in range(1, network.depth + 1):
        last = number == network.depth
        sum_name = "y" if last and network.last == "affine" else f"z{number}"
        inputs = [value, f"W{number}", f"b{number}"]
        nodes.append(helper.make_node("Gemm", inputs, [sum_name], name=f"affine{number}", transB=1))
        value = sum_name
        if number <= network.num_hidden_layers:
            value = "y" if last else f"a{number}"
            nodes.append(helper.make_node("Relu", [sum_name], [value], name=f"relu{number}"))
    flat = {
        name: array.ravel() if name.startswith("b") else array for name, array in arrays.items()
    }
    element = helper.np_dtype_to_tensor_dtype(next(iter(arrays.values())).dtype)
    ends = [
        helper.make_tensor_value_info(name, element, ["batch", size])
        for name, size in (("x", network.num_inputs), ("y", network.num_outputs))
    ]
    constants = [numpy_helper.from_array(array, name) for name, array in flat.items()]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], constants)
    model = helper.make_model(
        graph,
        producer_name="polyrelu",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    return bytes(model.SerializeToString())
