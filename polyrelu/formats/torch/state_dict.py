"""Networks from named tensors, as state dicts of PyTorch contain them.

Here is the choice of linear layers among named tensors, and their composition to a `Draft`. Files
of PyTorch and ``.safetensors`` files use it. Whatever a state dict does not record must be stated
as an assumption in the notes, or refused.

A state dict records neither activation functions nor the order in which layers are used. So linear
layers are taken in the order of the file with a ReLU between them, and a note says that this is
assumed. The names of layers decide which layers belong together (`ReadOptions.prefix`). Tensors of
other kinds of layers among them are refused, because a state dict does not say enough about them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.dense_stack import draft_of_pairs
from polyrelu.formats.imported import Draft
from polyrelu.formats.torch.tensors import StoredTensor
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["StateDict", "draft_of_state"]

_REMEDY = "pass the nn.Module to polyrelu.load, or export ONNX (torch.onnx.export)"

#: Maximum number of entries of a list that a message shows.
_MAX_LISTED = 6
#: Maximum number of prefixes that are tried to suggest some in a message.
_MAX_PREFIXES = 100


@dataclass(frozen=True, slots=True)
class StateDict:
    """The content of a file with named tensors.

    Attributes
    ----------
    path
        The file.
    format
        The name of its format.
    tensors
        The tensors by name, in the order of the file.
    ordered
        Whether the order of the file is meaningful; ``.safetensors`` files are sorted by name.
    others
        Descriptions of the other entries of the file, for a note.
    notes
        Notes of the reader of the file.
    """

    path: Path
    format: str
    tensors: dict[str, StoredTensor]
    ordered: bool
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def fail(self, problem: str, place: str = "") -> NetworkFileError:
        """Return the error for a problem in this file."""
        return NetworkFileError(self.path, place, problem)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A linear layer: its path, such as ``net.0``, its weight and its bias, if it has one."""

    path: str
    weight: StoredTensor
    bias: StoredTensor | None

    @property
    def parent(self) -> str:
        """The path of the container of the layer; empty at the top."""
        return self.path.rpartition(".")[0]


def draft_of_state(state: StateDict, prefix: str | None) -> Draft:
    """Return the network of the linear layers whose names start with a prefix.

    Without a prefix all linear layers are taken; they must have one parent path.
    """
    state = _without_wrapper(state)
    layers = _layers(state.tensors)
    if not layers:
        reasons = filter(
            None, (_other_layer_problem(name, state.tensors) for name in state.tensors)
        )
        nothing = (
            "it holds no linear layer, a matrix named ….weight; it holds "
            f"{_tensor_list(state.tensors)}"
        )
        raise state.fail(next(reasons, nothing))
    chosen = (
        _only_network(state, layers)
        if prefix is None
        else _layers_with_prefixes(state, layers, prefix)
    )
    _check_chain(state, chosen)
    return _draft(state, chosen)


def _without_wrapper(state: StateDict) -> StateDict:
    """Remove ``module.``, which DataParallel puts before every name."""
    wrapper = "module."
    if not state.tensors or not all(name.startswith(wrapper) for name in state.tensors):
        return state
    tensors = {name.removeprefix(wrapper): tensor for name, tensor in state.tensors.items()}
    note = f"{wrapper!r} before every name, which DataParallel puts there, was left out"
    return StateDict(
        state.path, state.format, tensors, state.ordered, state.others, (*state.notes, note)
    )


def _layers(tensors: Mapping[str, StoredTensor]) -> list[_Layer]:
    """Return the linear layers: matrices named weight, with or without a bias."""
    layers = []
    for name, tensor in tensors.items():
        path, _, last = name.rpartition(".")
        if last == "weight" and len(tensor.shape) == 2:
            layers.append(_Layer(path, tensor, tensors.get(_tensor_name(path, "bias"))))
    return layers


def _tensor_name(path: str, last: str) -> str:
    """Return the name of a tensor of the layer with a path."""
    return f"{path}.{last}" if path else last


# --- Which layers -----


def _only_network(state: StateDict, layers: Sequence[_Layer]) -> list[_Layer]:
    """Return all linear layers in order, or raise an error if they belong to several networks."""
    parents = list(dict.fromkeys(layer.parent for layer in layers))
    if len(parents) > 1:
        raise state.fail(
            f"several networks: {_possible_prefixes(state, layers)}; choose one with --prefix "
            "(prefix=)"
        )
    start = f"{parents[0]}." if parents[0] else ""
    _check_inside(state, [name for name in state.tensors if name.startswith(start)])
    for name in state.tensors:
        reason = _other_layer_problem(name, state.tensors)
        if not name.startswith(start) and reason:
            raise state.fail(
                f"{reason}; prefix {_quoted(start)} reads the linear layers there alone"
            )
    return _in_order(state, layers)


def _as_path_prefix(state: StateDict, prefix: str) -> str:
    """Return the prefix, with a final dot if it is a path: q_net does not mean q_net_target."""
    is_path = any(name.startswith(f"{prefix}.") for name in state.tensors)
    return f"{prefix}." if is_path and not prefix.endswith(".") else prefix


def _layers_with_prefixes(state: StateDict, layers: Sequence[_Layer], text: str) -> list[_Layer]:
    """Return the layers whose names start with one of the prefixes in a comma-separated text."""
    chosen: list[_Layer] = []
    for prefix in [
        _as_path_prefix(state, part.strip()) for part in text.split(",") if part.strip()
    ] or [""]:
        own = [layer for layer in layers if _tensor_name(layer.path, "weight").startswith(prefix)]
        _check_inside(state, [name for name in state.tensors if name.startswith(prefix)])
        if not own:
            raise state.fail(
                f"no linear layer's name starts with {_quoted(prefix)}; "
                f"{_possible_prefixes(state, layers)}"
            )
        chosen += _in_order(state, own)
    paths = [layer.path for layer in chosen]
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise state.fail(f"prefix {_quoted(text)} chooses the layer {_quoted(twice)} twice")
    return chosen


def _in_order(state: StateDict, layers: Sequence[_Layer]) -> list[_Layer]:
    """Return the layers in the order of the file, or of the numbers in their names.

    The numbers decide if the format does not keep the order of the layers.
    """
    if state.ordered or len(layers) < 2:
        return list(layers)
    if len({_numberless_path(layer) for layer in layers}) > 1:
        names = _listed([_quoted(layer.path) for layer in layers])
        example = _quoted(",".join(f"{layer.path}." for layer in layers[:3]))
        raise state.fail(
            "this format does not keep the order of layers, and the names do not number them "
            f"({names}); give the order as a prefix for each layer, such as {example}"
        )
    return sorted(layers, key=_numbers_in_path)


def _numberless_path(layer: _Layer) -> str:
    """Return the path of a layer with 0 in place of every number."""
    return re.sub(r"[0-9]+", "0", layer.path)


def _numbers_in_path(layer: _Layer) -> list[int]:
    return [int(digits) for digits in re.findall(r"[0-9]+", layer.path)]


def _possible_prefixes(state: StateDict, layers: Sequence[_Layer]) -> str:
    """Return the prefixes that give a network, deepest first, with the widths, for a message."""
    groups: dict[frozenset[str], str] = {}
    for prefix in _candidate_prefixes(layers):
        group = _in_order_or_empty(
            state,
            [layer for layer in layers if f"{layer.path}.".startswith(tuple(prefix.split(",")))],
        )
        if group and _is_clean(state, prefix) and all(_fits(*pair) for pair in pairwise(group)):
            widths = "-".join(str(size) for size in _widths(group))
            groups.setdefault(
                frozenset(layer.path for layer in group), f"prefix {_quoted(prefix)} ({widths})"
            )
    if not groups:
        names = [
            _name_and_shape(_tensor_name(layer.path, "weight"), layer.weight) for layer in layers
        ]
        return f"there are {_listed(names)}"
    ordered = sorted(groups, key=len, reverse=True)
    return _listed([groups[group] for group in ordered])


def _candidate_prefixes(layers: Sequence[_Layer]) -> list[str]:
    """Return the paths that contain layers, outer paths first, then all layers at the top."""
    found = [""]
    for layer in layers:
        steps = layer.parent.split(".")[:_MAX_PREFIXES] if layer.parent else []
        found += [".".join(steps[: count + 1]) + "." for count in range(len(steps))]
    found.append(",".join(f"{layer.path}." for layer in layers if layer.path and not layer.parent))
    return list(dict.fromkeys(found))[:_MAX_PREFIXES]


def _in_order_or_empty(state: StateDict, layers: Sequence[_Layer]) -> list[_Layer]:
    """Return the layers in order, or an empty list if their order is not known."""
    try:
        return _in_order(state, layers)
    except NetworkFileError:
        return []


def _is_clean(state: StateDict, prefix: str) -> bool:
    """Whether all tensors with a prefix can be read."""
    names = [name for name in state.tensors if name.startswith(tuple(prefix.split(",")))]
    return not any(_why_not_understood(name, state.tensors) for name in names)


# --- What else there is -----


def _check_inside(state: StateDict, names: Sequence[str]) -> None:
    """Refuse chosen tensors that are not the weight or bias of a linear layer."""
    for name in names:
        problem = _why_not_understood(name, state.tensors)
        if problem:
            raise state.fail(problem)


def _why_not_understood(name: str, tensors: Mapping[str, StoredTensor]) -> str:
    """Return why a tensor cannot be read; empty for the weight and the bias of a linear layer."""
    path, _, last = name.rpartition(".")
    weight = tensors.get(_tensor_name(path, "weight"))
    is_linear = weight is not None and len(weight.shape) == 2
    if is_linear and last in ("weight", "bias"):
        return ""
    return _other_layer_problem(name, tensors) or (
        f"tensor {_name_and_shape(name, tensors[name])} is not the weight or bias of a linear "
        "layer, and a state dict does not say what it is for: choose layers with prefix, or "
        f"{_REMEDY}"
    )


def _other_layer_problem(name: str, tensors: Mapping[str, StoredTensor]) -> str:
    """Return why a tensor of another known kind of layer is refused; empty for other tensors."""
    path, _, last = name.rpartition(".")
    dimension = len(tensors[name].shape)
    place = f"tensor {_name_and_shape(name, tensors[name])}"
    if last in ("running_mean", "running_var") or _tensor_name(path, "running_mean") in tensors:
        kind, missing = "belongs to a batch normalisation", "ε and place"
    elif last == "weight" and dimension > 2:
        kind, missing = "is of a convolution", "stride and padding"
    elif last == "weight" and dimension < 2:
        kind, missing = "is of a normalisation or of PReLU", "place"
    else:
        return ""
    return f"{place} {kind}, whose {missing} a state dict does not record: {_REMEDY}"


def _tensor_list(tensors: Mapping[str, StoredTensor]) -> str:
    return (
        _listed([_name_and_shape(name, tensor) for name, tensor in tensors.items()]) or "no tensors"
    )


def _name_and_shape(name: str, tensor: StoredTensor) -> str:
    """Return the name and the shape of a tensor for a message."""
    return f"{_quoted(name)} {list(tensor.shape)}"


def _quoted(name: str) -> str:
    return repr(name if len(name) < 60 else f"{name[:56]}…")


def _listed(entries: Sequence[str]) -> str:
    """Return the first few entries for a message."""
    more = f" and {len(entries) - _MAX_LISTED} more" if len(entries) > _MAX_LISTED else ""
    return (
        ", ".join(
            entry if len(entry) < 100 else f"{entry[:96]}…" for entry in entries[:_MAX_LISTED]
        )
        + more
    )


# --- The network -----


def _fits(first: _Layer, second: _Layer) -> bool:
    """Whether the second layer has as many inputs as the first layer has outputs."""
    return first.weight.shape[0] == second.weight.shape[1]


def _widths(layers: Sequence[_Layer]) -> list[int]:
    return [layers[0].weight.shape[1], *(layer.weight.shape[0] for layer in layers)]


def _check_chain(state: StateDict, layers: Sequence[_Layer]) -> None:
    """Refuse layers whose shapes do not fit together."""
    for first, second in pairwise(layers):
        if not _fits(first, second):
            left, right = (
                _name_and_shape(_tensor_name(layer.path, "weight"), layer.weight)
                for layer in (first, second)
            )
            raise state.fail(
                f"{left} cannot be followed by {right}; prefix chooses the layers and their order"
            )
    for layer in layers:
        if layer.bias is not None and layer.bias.shape != layer.weight.shape[:1]:
            bias, weight = (
                _name_and_shape(_tensor_name(layer.path, "bias"), layer.bias),
                _name_and_shape(_tensor_name(layer.path, "weight"), layer.weight),
            )
            raise state.fail(f"{bias} does not fit {weight}")


def _draft(state: StateDict, layers: Sequence[_Layer]) -> Draft:
    """Return the network of the chosen layers, with notes on all assumptions."""
    read = {_tensor_name(layer.path, "weight"): layer.weight for layer in layers}
    read |= {
        _tensor_name(layer.path, "bias"): layer.bias for layer in layers if layer.bias is not None
    }
    if sum(math.prod(tensor.shape) for tensor in read.values()) > PARAMETER_LIMIT:
        raise state.fail(f"its layers have more than {PARAMETER_LIMIT} weights")
    arrays = {name: _array(state, name, tensor) for name, tensor in read.items()}
    pairs = [
        (arrays[_tensor_name(x.path, "weight")], _bias(x, arrays.get(_tensor_name(x.path, "bias"))))
        for x in layers
    ]
    try:
        draft = draft_of_pairs(state.format, pairs, [*state.notes, *_notes(layers)])
    except NetworkError as error:
        raise state.fail(str(error)) from None
    draft.steps = [
        f"{step} {_quoted(layer.path)}" for step, layer in zip(draft.steps, layers, strict=True)
    ]
    draft.dtypes = {tensor.kind for tensor in read.values()}
    draft.num_stored = sum(array.size for array in arrays.values())
    draft.input_shapes = [(layers[0].weight.shape[1],)]
    draft.arithmetic = draft.dtypes.copy().pop() if len(draft.dtypes) == 1 else ""
    draft.runtime = "a state dict holds no function"
    unread = {name: tensor for name, tensor in state.tensors.items() if name not in read}
    draft.caveats.append(_assumption(state))
    if unread:
        draft.caveats.append(f"tensors that were not read: {_tensor_list(unread)}")
    if state.others:
        draft.notes.append(f"entries that were not read: {_listed(state.others)}")
    return draft


def _array(state: StateDict, name: str, tensor: StoredTensor) -> Array:
    """Return the exact numbers of a tensor, or raise an error that names it."""
    try:
        return tensor.numbers()
    except NetworkError as error:
        raise state.fail(str(error), f"tensor {_quoted(name)}") from None


def _bias(layer: _Layer, bias: Array | None) -> Array:
    """Return the bias of a layer, zeros if it has none."""
    return (
        np.zeros(layer.weight.shape[0], dtype=layer.weight.numbers().dtype)
        if bias is None
        else bias
    )


def _assumption(state: StateDict) -> str:
    """Return what is assumed because a state dict does not record it."""
    order = (
        "the file's order"
        if state.ordered
        else "the order of the numbers in their names, or of the prefixes"
    )
    return (
        "assumed, since a state dict records neither: ReLU between the linear layers, the last one "
        f"affine, and {order}"
    )


def _notes(layers: Sequence[_Layer]) -> list[str]:
    """Return notes on the order of the layers and on missing biases."""
    notes = []
    if len({_numberless_path(layer) for layer in layers}) == 1 and sorted(
        layers, key=_numbers_in_path
    ) != list(layers):
        notes.append("the layers are not in the order of the numbers in their names")
    without = [_quoted(layer.path) for layer in layers if layer.bias is None]
    if without:
        notes.append(f"layers without a bias, taken as zeros: {_listed(without)}")
    return notes
