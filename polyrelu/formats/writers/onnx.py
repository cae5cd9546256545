"""Writer of ONNX files: a Gemm for each layer, a Relu after each hidden layer.

Where a layer reads more than the layer before, there is a Gemm for each, and a Sum. A network that
was read with names of its inputs and outputs keeps them: several inputs are joined by a Concat
before the first layer, several outputs are parts of a Split after the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.errors import NetworkFileError
from polyrelu.formats.arguments import NetworkLike, as_imported
from polyrelu.formats.imported import Imported
from polyrelu.formats.writers.floats import FloatWeights, float_weights
from polyrelu.formats.writers.saved import SavedNetwork, names_left_out, target
from polyrelu.network import Layer
from polyrelu.support.text_files import write_all
from polyrelu.version import __version__

__all__ = ["save_onnx"]

#: Versions that nearly every runtime reads.
_OPSET, _IR_VERSION = 13, 8
#: The name and the size of each input or output.
_Ends = Sequence[tuple[str, int]]


def save_onnx(
    network: NetworkLike, path: str | Path, *, numbers: str | None = None
) -> SavedNetwork:
    """Write a network as an ONNX file.

    The input ``x`` of the model has shape (batch, n_0), its output ``y`` has shape (batch, n_L). A
    network that was read with other names, or with several inputs or outputs, keeps these. The
    function needs the package onnx (extra ``onnx``). The file is written completely or not at all.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    path
        Name of the file, which must end in .onnx.
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
        The network has a weight beyond the range of the float type, or more than 2 GB of weights.
    NetworkFileError
        The name has another ending, or the package onnx is not installed.
    ArgumentError
        `path` is not the name of a file, or `numbers` no float type.
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
    file = target(path, (".onnx",), "save_onnx")
    imported = as_imported(network)
    weights = float_weights(imported.network, numbers)
    files = write_all([(file, [_serialized(imported, weights, file)])])
    is_named = _has_distinct_names(imported)
    notes = () if is_named else names_left_out(imported, ".onnx", "stand twice, not allowed in")
    return SavedNetwork(tuple(files), weights.numbers, weights.largest_difference, notes)


def _serialized(imported: Imported, weights: FloatWeights, path: Path) -> bytes:
    """Return the bytes of the ONNX model."""
    try:
        from onnx import helper, numpy_helper
    except ImportError:
        raise NetworkFileError(
            path, "", "writing ONNX needs the package onnx (the extra [onnx]): pip install onnx"
        ) from None
    inputs, outputs = _ends(imported)
    own = _OwnNames([name for name, _ in (*inputs, *outputs)])
    nodes, constants = _nodes(imported, inputs, outputs, own)
    constants |= {own(name): array for name, array in weights.arrays.items()}
    element = helper.np_dtype_to_tensor_dtype(np.dtype(weights.numbers))
    declared = [
        [helper.make_tensor_value_info(name, element, ["batch", size]) for name, size in ends]
        for ends in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "network", *declared, tensors)
    model = helper.make_model(
        graph,
        producer_name="polyrelu",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    return bytes(model.SerializeToString())


class _OwnNames:
    """Names for the inner values of a model that differ from the names of its ends."""

    def __init__(self, taken: Sequence[str]) -> None:
        self._taken = frozenset(taken)

    def __call__(self, name: str) -> str:
        """Return the name, with underscores at its end until it is not taken."""
        while name in self._taken:
            name += "_"
        return name


def _ends(imported: Imported) -> tuple[_Ends, _Ends]:
    """Return the inputs and outputs, with the names they were read with, or x and y."""
    network = imported.network
    unnamed: tuple[_Ends, _Ends] = [("x", network.num_inputs)], [("y", network.num_outputs)]
    if not _has_distinct_names(imported):
        return unnamed
    return imported.inputs or unnamed[0], imported.outputs or unnamed[1]


def _has_distinct_names(imported: Imported) -> bool:
    """Whether no name stands twice, as where an output is an input, or one layer's value twice."""
    names = [name for name, _ in (*imported.inputs, *imported.outputs)]
    return len(set(names)) == len(names)


def _nodes(
    imported: Imported, inputs: _Ends, outputs: _Ends, own: _OwnNames
) -> tuple[list[Any], dict[str, Any]]:
    """Return the nodes of the model, and the constants that they need beside the weights."""
    from onnx import helper

    network, nodes, value = imported.network, list[Any](), inputs[0][0]
    if len(inputs) > 1:
        names, value = [name for name, _ in inputs], own("x")
        nodes.append(helper.make_node("Concat", names, [value], name="inputs", axis=1))
    result = outputs[0][0] if len(outputs) == 1 else own("y")
    activations = [value]
    for number, layer in enumerate(network.layers, 1):
        last = number == network.depth
        total = result if last and network.last == "affine" else own(f"z{number}")
        nodes += _affine_nodes(number, layer, activations, total, own)
        activations.append(total)
        if number <= network.num_hidden_layers:
            activations[-1] = result if last else own(f"a{number}")
            nodes.append(helper.make_node("Relu", [total], activations[-1:], name=f"relu{number}"))
    if len(outputs) == 1:
        return nodes, {}
    names, sizes = [name for name, _ in outputs], own("sizes")
    nodes.append(helper.make_node("Split", [result, sizes], names, name="outputs", axis=1))
    return nodes, {sizes: np.array([size for _, size in outputs], np.int64)}


def _affine_nodes(
    number: int, layer: Layer, activations: Sequence[str], total: str, own: _OwnNames
) -> list[Any]:
    """Return the nodes of a layer's affine map: the map of the layer before, and others added."""
    from onnx import helper

    *skipping, before = layer.blocks
    first = total if not skipping else own(f"z{number}_{before.source}")
    read = [activations[before.source], own(f"W{number}"), own(f"b{number}")]
    nodes = [helper.make_node("Gemm", read, [first], name=f"affine{number}", transB=1)]
    parts = [first]
    for block in skipping:
        name = f"{number}_{block.source}"
        parts.append(own(f"z{name}"))
        read = [activations[block.source], own(f"W{name}")]
        nodes.append(helper.make_node("Gemm", read, parts[-1:], name=f"affine{name}", transB=1))
    if skipping:
        nodes.append(helper.make_node("Sum", parts, [total], name=f"sum{number}"))
    return nodes
