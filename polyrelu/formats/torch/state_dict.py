"""Named tensors, as state dicts of PyTorch hold them, as a network.

A state dict records neither activation functions nor the order in which layers are used. Linear layers are therefore
taken in the file's order with a ReLU between them, and a note says that this is assumed. Which layers belong together
is decided by their names (`ReadOptions.prefix`). Tensors of other kinds of layers among them are refused: a state dict
does not say enough about them.
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
from polyrelu.formats.torch.tensors import Stored
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["State", "draft_of_state"]

_REMEDY = "pass the nn.Module to polyrelu.load, or export ONNX (torch.onnx.export)"

#: How many entries of a list a message shows, and how many prefixes are tried to find them.
_SHOWN, _TRIED = 6, 100


@dataclass(frozen=True, slots=True)
class State:
    """What a file holds.

    Attributes
    ----------
    path : the file.
    format : the name of its format.
    tensors : the tensors by name, in the file's order.
    ordered : whether that order means anything; ``.safetensors`` files are sorted by name.
    others : what else is there, for a note.
    notes : what was noted on the way.
    """

    path: Path
    format: str
    tensors: dict[str, Stored]
    ordered: bool
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def fail(self, problem: str, place: str = "") -> NetworkFileError:
        """An error in this file."""
        return NetworkFileError(self.path, place, problem)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A linear layer: its path, such as ``net.0``, and its tensors."""

    path: str
    weight: Stored
    bias: Stored | None

    @property
    def parent(self) -> str:
        """The path of what holds the layer; empty at the top."""
        return self.path.rpartition(".")[0]


def draft_of_state(state: State, prefix: str | None) -> Draft:
    """The network of the linear layers with the given prefix; None: of all, if they have one parent path."""
    state = _without_wrapper(state)
    layers = _layers(state.tensors)
    if not layers:
        reasons = filter(None, (_kind_of_layer(name, state.tensors) for name in state.tensors))
        nothing = f"it holds no linear layer, a matrix named ….weight; it holds {_described(state.tensors)}"
        raise state.fail(next(reasons, nothing))
    chosen = _automatic(state, layers) if prefix is None else _of_prefixes(state, layers, prefix)
    _check_chain(state, chosen)
    return _draft(state, chosen)


def _without_wrapper(state: State) -> State:
    """Without the ``module.`` that DataParallel puts before every name."""
    wrapper = "module."
    if not state.tensors or not all(name.startswith(wrapper) for name in state.tensors):
        return state
    tensors = {name.removeprefix(wrapper): tensor for name, tensor in state.tensors.items()}
    note = f"{wrapper!r} before every name, which DataParallel puts there, was left out"
    return State(
        state.path, state.format, tensors, state.ordered, state.others, (*state.notes, note)
    )


def _layers(tensors: Mapping[str, Stored]) -> list[_Layer]:
    """The linear layers: matrices named weight, with or without a bias."""
    found = []
    for name, tensor in tensors.items():
        path, _, last = name.rpartition(".")
        if last == "weight" and len(tensor.shape) == 2:
            found.append(_Layer(path, tensor, tensors.get(_name(path, "bias"))))
    return found


def _name(path: str, last: str) -> str:
    return f"{path}.{last}" if path else last


# --- Which layers -----


def _automatic(state: State, layers: Sequence[_Layer]) -> list[_Layer]:
    parents = list(dict.fromkeys(layer.parent for layer in layers))
    if len(parents) > 1:
        raise state.fail(
            f"several networks: {_choices(state, layers)}; choose one with --prefix (prefix=)"
        )
    start = f"{parents[0]}." if parents[0] else ""
    _check_inside(state, [name for name in state.tensors if name.startswith(start)])
    for name in state.tensors:
        reason = _kind_of_layer(name, state.tensors)
        if not name.startswith(start) and reason:
            raise state.fail(
                f"{reason}; prefix {_quoted(start)} reads the linear layers there alone"
            )
    return _in_order(state, layers)


def _whole(state: State, prefix: str) -> str:
    """The prefix, with its dot if it is a whole path: q_net is q_net., not the start of q_net_target. too."""
    is_path = any(name.startswith(f"{prefix}.") for name in state.tensors)
    return f"{prefix}." if is_path and not prefix.endswith(".") else prefix


def _of_prefixes(state: State, layers: Sequence[_Layer], text: str) -> list[_Layer]:
    chosen: list[_Layer] = []
    for prefix in [_whole(state, part.strip()) for part in text.split(",") if part.strip()] or [""]:
        own = [layer for layer in layers if _name(layer.path, "weight").startswith(prefix)]
        _check_inside(state, [name for name in state.tensors if name.startswith(prefix)])
        if not own:
            raise state.fail(
                f"no linear layer's name starts with {_quoted(prefix)}; {_choices(state, layers)}"
            )
        chosen += _in_order(state, own)
    paths = [layer.path for layer in chosen]
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise state.fail(f"prefix {_quoted(text)} chooses the layer {_quoted(twice)} twice")
    return chosen


def _in_order(state: State, layers: Sequence[_Layer]) -> list[_Layer]:
    """The file's order; where that means nothing, the order of the numbers in the names."""
    if state.ordered or len(layers) < 2:
        return list(layers)
    if len({_pattern(layer) for layer in layers}) > 1:
        names = _listed([_quoted(layer.path) for layer in layers])
        example = _quoted(",".join(f"{layer.path}." for layer in layers[:3]))
        raise state.fail(
            f"this format does not keep the order of layers, and the names do not number them ({names}); give the "
            f"order as a prefix for each layer, such as {example}"
        )
    return sorted(layers, key=_numbers)


def _pattern(layer: _Layer) -> str:
    return re.sub(r"[0-9]+", "0", layer.path)


def _numbers(layer: _Layer) -> list[int]:
    return [int(digits) for digits in re.findall(r"[0-9]+", layer.path)]


def _choices(state: State, layers: Sequence[_Layer]) -> str:
    """The prefixes that give a network, those of most layers first, with the widths."""
    groups: dict[frozenset[str], str] = {}
    for prefix in _candidates(layers):
        group = _try_order(
            state,
            [layer for layer in layers if f"{layer.path}.".startswith(tuple(prefix.split(",")))],
        )
        if group and _is_clean(state, prefix) and all(_fits(*pair) for pair in pairwise(group)):
            widths = "-".join(str(size) for size in _widths(group))
            groups.setdefault(
                frozenset(layer.path for layer in group), f"prefix {_quoted(prefix)} ({widths})"
            )
    if not groups:
        return f"there are {_listed([_place(_name(layer.path, 'weight'), layer.weight) for layer in layers])}"
    ordered = sorted(groups, key=len, reverse=True)
    return _listed([groups[group] for group in ordered])


def _candidates(layers: Sequence[_Layer]) -> list[str]:
    """Every path on which a layer lies, the outer ones first, and the layers that lie on none."""
    found = [""]
    for layer in layers:
        steps = layer.parent.split(".")[:_TRIED] if layer.parent else []
        found += [".".join(steps[: count + 1]) + "." for count in range(len(steps))]
    found.append(",".join(f"{layer.path}." for layer in layers if layer.path and not layer.parent))
    return list(dict.fromkeys(found))[:_TRIED]


def _try_order(state: State, layers: Sequence[_Layer]) -> list[_Layer]:
    try:
        return _in_order(state, layers)
    except NetworkFileError:
        return []


def _is_clean(state: State, prefix: str) -> bool:
    names = [name for name in state.tensors if name.startswith(tuple(prefix.split(",")))]
    return not any(_problem(name, state.tensors) for name in names)


# --- What else there is -----


def _check_inside(state: State, names: Sequence[str]) -> None:
    """Every tensor among the chosen ones must be understood."""
    for name in names:
        problem = _problem(name, state.tensors)
        if problem:
            raise state.fail(problem)


def _problem(name: str, tensors: Mapping[str, Stored]) -> str:
    """Why this tensor cannot be read, or nothing for the weight and bias of a linear layer."""
    path, _, last = name.rpartition(".")
    weight = tensors.get(_name(path, "weight"))
    is_linear = weight is not None and len(weight.shape) == 2
    if is_linear and last in ("weight", "bias"):
        return ""
    return _kind_of_layer(name, tensors) or (
        f"tensor {_place(name, tensors[name])} is not the weight or bias of a linear layer, and a state dict does not "
        f"say what it is for: choose layers with prefix, or {_REMEDY}"
    )


def _kind_of_layer(name: str, tensors: Mapping[str, Stored]) -> str:
    """What is said of a tensor of a layer that is not linear; nothing if it is none."""
    path, _, last = name.rpartition(".")
    dimension = len(tensors[name].shape)
    place = f"tensor {_place(name, tensors[name])}"
    if last in ("running_mean", "running_var") or _name(path, "running_mean") in tensors:
        return f"{place} belongs to a batch normalisation, whose ε and place a state dict does not record: {_REMEDY}"
    if last == "weight" and dimension > 2:
        return f"{place} is of a convolution, whose stride and padding a state dict does not record: {_REMEDY}"
    if last == "weight" and dimension < 2:
        return f"{place} is of a normalisation or of PReLU, whose place a state dict does not record: {_REMEDY}"
    return ""


def _described(tensors: Mapping[str, Stored]) -> str:
    return _listed([_place(name, tensor) for name, tensor in tensors.items()]) or "no tensors"


def _place(name: str, tensor: Stored) -> str:
    """Name and shape."""
    return f"{_quoted(name)} {list(tensor.shape)}"


def _quoted(name: str) -> str:
    return repr(name if len(name) < 60 else f"{name[:56]}…")


def _listed(entries: Sequence[str]) -> str:
    """The first few of them."""
    more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
    return (
        ", ".join(entry if len(entry) < 100 else f"{entry[:96]}…" for entry in entries[:_SHOWN])
        + more
    )


# --- The network -----


def _fits(first: _Layer, second: _Layer) -> bool:
    return first.weight.shape[0] == second.weight.shape[1]


def _widths(layers: Sequence[_Layer]) -> list[int]:
    return [layers[0].weight.shape[1], *(layer.weight.shape[0] for layer in layers)]


def _check_chain(state: State, layers: Sequence[_Layer]) -> None:
    for first, second in pairwise(layers):
        if not _fits(first, second):
            left, right = (
                _place(_name(layer.path, "weight"), layer.weight) for layer in (first, second)
            )
            raise state.fail(
                f"{left} cannot be followed by {right}; prefix chooses the layers and their order"
            )
    for layer in layers:
        if layer.bias is not None and layer.bias.shape != layer.weight.shape[:1]:
            bias, weight = (
                _place(_name(layer.path, "bias"), layer.bias),
                _place(_name(layer.path, "weight"), layer.weight),
            )
            raise state.fail(f"{bias} does not fit {weight}")


def _draft(state: State, layers: Sequence[_Layer]) -> Draft:
    read = {_name(layer.path, "weight"): layer.weight for layer in layers}
    read |= {_name(layer.path, "bias"): layer.bias for layer in layers if layer.bias is not None}
    if sum(math.prod(tensor.shape) for tensor in read.values()) > PARAMETER_LIMIT:
        raise state.fail(f"its layers have more than {PARAMETER_LIMIT} weights")
    arrays = {name: _array(state, name, tensor) for name, tensor in read.items()}
    pairs = [
        (arrays[_name(x.path, "weight")], _bias(x, arrays.get(_name(x.path, "bias"))))
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
    draft.numbers = sum(array.size for array in arrays.values())
    draft.input_shapes = [(layers[0].weight.shape[1],)]
    draft.arithmetic = draft.dtypes.copy().pop() if len(draft.dtypes) == 1 else ""
    draft.runtime = "a state dict holds no function"
    unread = {name: tensor for name, tensor in state.tensors.items() if name not in read}
    draft.caveats.append(_assumption(state))
    if unread:
        draft.caveats.append(f"tensors that were not read: {_described(unread)}")
    if state.others:
        draft.notes.append(f"entries that were not read: {_listed(state.others)}")
    return draft


def _array(state: State, name: str, tensor: Stored) -> Array:
    try:
        return tensor.numbers()
    except NetworkError as error:
        raise state.fail(str(error), f"tensor {_quoted(name)}") from None


def _bias(layer: _Layer, bias: Array | None) -> Array:
    """The bias, zeros where there is none."""
    return (
        np.zeros(layer.weight.shape[0], dtype=layer.weight.numbers().dtype)
        if bias is None
        else bias
    )


def _assumption(state: State) -> str:
    order = (
        "the file's order"
        if state.ordered
        else "the order of the numbers in their names, or of the prefixes"
    )
    return f"assumed, since a state dict records neither: ReLU between the linear layers, the last one affine, and {order}"


def _notes(layers: Sequence[_Layer]) -> list[str]:
    notes = []
    if len({_pattern(layer) for layer in layers}) == 1 and sorted(layers, key=_numbers) != list(
        layers
    ):
        notes.append("the layers are not in the order of the numbers in their names")
    without = [_quoted(layer.path) for layer in layers if layer.bias is None]
    if without:
        notes.append(f"layers without a bias, taken as zeros: {_listed(without)}")
    return notes
