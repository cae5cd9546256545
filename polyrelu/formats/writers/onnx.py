"""Writer of ONNX files: a Gemm for each layer, a Relu after each hidden layer.

Where a layer reads more than the layer before, there is a Gemm for each, and a Sum. Stacks with
leaky ReLUs, which are such networks too, are written with LeakyRelu (or Abs) in their place, if the
numbers of this form need no more rounding. A network that was read with names of its inputs and
outputs keeps them: several inputs are joined by a Concat before the first layer, several outputs
are parts of a Split after the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.errors import NetworkFileError
from polyrelu.formats.arguments import NetworkLike, as_imported
from polyrelu.formats.imported import Imported
from polyrelu.formats.writers.floats import FloatWeights, float_weights
from polyrelu.formats.writers.saved import (
    SavedNetwork,
    names_left_out,
    operations_rewritten,
    target,
)
from polyrelu.network import Layer, Network, leaky_slopes
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
    form = _form(imported.network, numbers)
    files = write_all([(file, [_serialized(imported, form, file)])])
    is_named = _has_distinct_names(imported)
    notes = () if is_named else names_left_out(imported, ".onnx", "stand twice, not allowed in")
    notes = (*notes, *_rewritten(imported, form))
    return SavedNetwork(tuple(files), form.weights.numbers, form.weights.largest_difference, notes)


@dataclass(frozen=True, slots=True)
class _Form:
    """What is written for a network.

    Attributes
    ----------
    network
        The network itself, or the weights and biases of a stack with leaky ReLUs.
    slopes
        The slope after each hidden layer, 0 for a ReLU.
    weights
        The numbers in floats.
    """

    network: Network
    slopes: tuple[Fraction, ...]
    weights: FloatWeights


def _form(network: Network, numbers: str | None) -> _Form:
    """Return the form of a network: with leaky ReLUs, unless only the other form is exact."""
    leaky = _leaky_form(network, numbers)
    if leaky is not None and not leaky.weights.largest_difference:
        return leaky
    relus = (Fraction(),) * network.num_hidden_layers
    plain = _Form(network, relus, float_weights(network, numbers))
    return leaky if leaky is not None and plain.weights.largest_difference else plain


def _leaky_form(network: Network, numbers: str | None) -> _Form | None:
    """Return the form with leaky ReLUs; None if the network is no stack with such."""
    found = leaky_slopes(network)
    if found is None:
        return None
    slopes, stack = found
    named = {f"slope{number}": slope for number, slope in enumerate(slopes, 1) if slope}
    more = (Fraction(),) * (stack.num_hidden_layers - len(slopes))
    return _Form(stack, slopes + more, float_weights(stack, numbers, named))


def _rewritten(imported: Imported, form: _Form) -> tuple[str, ...]:
    """Return a note on operations that are not written as they were read."""
    if not any(form.slopes):
        return operations_rewritten(imported)
    if form.weights.numbers == "float32" or not set(form.slopes) - {0, -1}:
        return ()
    return ("leaky ReLUs are written as Relu, Sub, Mul, Add: onnxruntime has none in float64",)


def _serialized(imported: Imported, form: _Form, path: Path) -> bytes:
    """Return the bytes of the ONNX model."""
    try:
        from onnx import helper, numpy_helper
    except ImportError:
        raise NetworkFileError(
            path, "", "writing ONNX needs the package onnx (the extra [onnx]): pip install onnx"
        ) from None
    inputs, outputs = _ends(imported)
    own = _OwnNames([name for name, _ in (*inputs, *outputs)])
    nodes, constants = _nodes(form, inputs, outputs, own)
    read = {name for node in nodes for name in node.input}
    arrays = {own(name): array for name, array in form.weights.arrays.items()}
    constants |= {name: array for name, array in arrays.items() if name in read}
    element = helper.np_dtype_to_tensor_dtype(np.dtype(form.weights.numbers))
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
    form: _Form, inputs: _Ends, outputs: _Ends, own: _OwnNames
) -> tuple[list[Any], dict[str, Any]]:
    """Return the nodes of the model, and the constants that they need beside the weights."""
    from onnx import helper

    network, nodes, value = form.network, list[Any](), inputs[0][0]
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
            nodes += _activation_nodes(number, form, total, activations[-1], own)
    if len(outputs) == 1:
        return nodes, {}
    names, sizes = [name for name, _ in outputs], own("sizes")
    nodes.append(helper.make_node("Split", [result, sizes], names, name="outputs", axis=1))
    return nodes, {sizes: np.array([size for _, size in outputs], np.int64)}


def _activation_nodes(
    number: int, form: _Form, total: str, result: str, own: _OwnNames
) -> list[Any]:
    """Return the nodes of the activations of a layer.

    onnxruntime has no LeakyRelu in float64. Its values are r + s (z - r), where r is the ReLU.
    """
    from onnx import helper

    slope, make = form.slopes[number - 1], helper.make_node
    if not slope:
        return [make("Relu", [total], [result], name=f"relu{number}")]
    if slope == -1:
        return [make("Abs", [total], [result], name=f"abs{number}")]
    if form.weights.numbers == "float32":
        alpha = float(form.weights.arrays[f"slope{number}"][0, 0])
        return [make("LeakyRelu", [total], [result], name=f"leaky{number}", alpha=alpha)]
    relu, below, leak = (own(f"{name}{number}") for name in ("r", "n", "l"))
    return [
        make("Relu", [total], [relu], name=f"relu{number}"),
        make("Sub", [total, relu], [below], name=f"below{number}"),
        make("Mul", [below, own(f"slope{number}")], [leak], name=f"leak{number}"),
        make("Add", [relu, leak], [result], name=f"leaky{number}"),
    ]


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
