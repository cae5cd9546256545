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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.dense_stack import Affine, draft_of_pairs, draft_of_stack
from polyrelu.formats.hints import Hint, hinted
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.settings import Settings, is_about_slopes, settings_of
from polyrelu.formats.torch.tensors import StoredTensor
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["StateDict", "draft_of_state"]

_REMEDY = "pass the nn.Module to polyrelu.load, or export ONNX (torch.onnx.export)"

#: Maximum number of entries of a list that a message shows.
_MAX_LISTED = 6
#: Maximum number of prefixes that are tried to suggest some in a message.
_MAX_PREFIXES = 100
#: Maximum number of characters of a prefix that a message suggests.
_MAX_OFFERED = 80
#: Maximum number of layers of which all orders are tried to suggest one.
_MAX_PERMUTED = 5


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
    entries
        The other entries of the file, which may say more about the network (`settings.py`).
    notes
        Notes of the reader of the file.
    """

    path: Path
    format: str
    tensors: dict[str, StoredTensor]
    ordered: bool
    entries: Mapping[str, Any] = field(default_factory=dict)
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


def draft_of_state(state: StateDict, options: ReadOptions) -> Draft:
    """Return the network of the linear layers whose names start with the prefix of the options.

    Without a prefix all linear layers are taken; they must have one parent path.
    """
    state, prefix = _without_wrapper(state), options.prefix
    _settings(state)  # what they contradict is wrong for every choice of layers
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
    _check_chain(state, chosen, layers)
    return _draft(state, chosen, options)


def _without_wrapper(state: StateDict) -> StateDict:
    """Remove ``module.``, which DataParallel puts before every name."""
    wrapper = "module."
    if not state.tensors or not all(name.startswith(wrapper) for name in state.tensors):
        return state
    tensors = {name.removeprefix(wrapper): tensor for name, tensor in state.tensors.items()}
    note = f"{wrapper!r} before every name, which DataParallel puts there, was left out"
    return replace(state, tensors=tensors, notes=(*state.notes, note))


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
        offers = _possible_prefixes(state, layers)
        if offers:
            raise state.fail(
                f"several networks: {_listed(offers)}; choose one with --prefix (prefix=)"
            )
        raise state.fail(f"several networks: there are {_weights(layers)}{_advice(state, layers)}")
    start = f"{parents[0]}." if parents[0] else ""
    _check_inside(state, layers, [name for name in state.tensors if name.startswith(start)])
    for name in state.tensors:
        reason = _other_layer_problem(name, state.tensors)
        if not name.startswith(start) and reason:
            offer = f"; prefix {start!r} reads the linear layers there alone (--prefix, prefix=)"
            is_readable = _readable(state, layers, start) is not None
            raise state.fail(f"{reason}{offer if is_readable else ''}")
    return _in_order(state, layers)


def _as_path_prefix(state: StateDict, prefix: str) -> str:
    """Return the prefix, with a final dot if it is a path: q_net does not mean q_net_target."""
    is_path = any(name.startswith(f"{prefix}.") for name in state.tensors)
    return f"{prefix}." if is_path and not prefix.endswith(".") else prefix


def _layers_with_prefixes(state: StateDict, layers: Sequence[_Layer], text: str) -> list[_Layer]:
    """Return the layers whose names start with one of the prefixes in a comma-separated text."""
    chosen: list[_Layer] = []
    for prefix in _prefixes_in(state, text):
        own = [layer for layer in layers if _tensor_name(layer.path, "weight").startswith(prefix)]
        _check_inside(state, layers, [name for name in state.tensors if name.startswith(prefix)])
        if not own:
            offers = _listed(_possible_prefixes(state, layers)) or f"there are {_weights(layers)}"
            raise state.fail(f"no linear layer's name starts with {_quoted(prefix)}; {offers}")
        chosen += _in_order(state, own)
    paths = [layer.path for layer in chosen]
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise state.fail(f"prefix {_quoted(text)} chooses the layer {_quoted(twice)} twice")
    return chosen


def _prefixes_in(state: StateDict, text: str) -> list[str]:
    """Return the prefixes in a comma-separated text; an empty text means all names."""
    parts = [part.strip() for part in text.split(",")]
    return [_as_path_prefix(state, part) for part in parts if part] or [""]


def _weights(layers: Sequence[_Layer]) -> str:
    """Return the names and shapes of the weights of layers, for a message."""
    return _listed(
        [_name_and_shape(_tensor_name(layer.path, "weight"), layer.weight) for layer in layers]
    )


def _in_order(state: StateDict, layers: Sequence[_Layer]) -> list[_Layer]:
    """Return the layers in the order of the file, or of the numbers in their names.

    The numbers decide if the format does not keep the order of the layers, or if the file lists
    them in the order of the alphabet (0, 1, 10, 2), as it is when names were sorted.
    """
    if len(layers) < 2 or (state.ordered and not _are_sorted_as_text(layers)):
        return list(layers)
    if state.ordered:
        return sorted(layers, key=_natural_key)
    if len({_numberless_path(layer) for layer in layers}) > 1:
        names = _listed([_quoted(layer.path) for layer in layers])
        raise state.fail(
            "this format does not keep the order of layers, and the names do not number them "
            f"({names}); give the order as a prefix for each layer{_example_order(state, layers)}"
        )
    return sorted(layers, key=_numbers_in_path)


def _example_order(state: StateDict, layers: Sequence[_Layer]) -> str:
    """Return an order of few layers whose shapes fit, as an example for a message."""
    if len(layers) > _MAX_PERMUTED:
        return ""
    for order in permutations(layers):
        text = ",".join(f"{layer.path}." for layer in order)
        if all(_fits(*pair) for pair in pairwise(order)) and _readable(state, layers, text):
            return f", such as {text!r}"
    return ""


def _are_sorted_as_text(layers: Sequence[_Layer]) -> bool:
    """Whether the layers are in the order of the alphabet, not in the order of their numbers."""
    paths = [layer.path for layer in layers]
    return paths == sorted(paths) and paths != sorted(paths, key=_natural_order)


def _natural_key(layer: _Layer) -> list[tuple[str, int]]:
    return _natural_order(layer.path)


def _natural_order(path: str) -> list[tuple[str, int]]:
    """Return a key that sorts names by their words, and by their numbers as numbers."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"([^0-9]*)([0-9]{0,9})", path)]


def _numberless_path(layer: _Layer) -> str:
    """Return the path of a layer with 0 in place of every number."""
    return re.sub(r"[0-9]+", "0", layer.path)


def _numbers_in_path(layer: _Layer) -> list[int]:
    return [int(digits) for digits in re.findall(r"[0-9]+", layer.path)]


def _possible_prefixes(state: StateDict, layers: Sequence[_Layer]) -> list[str]:
    """Return the prefixes that give a network, deepest first, with the widths, for a message."""
    groups: dict[frozenset[str], str] = {}
    for prefix in _candidate_prefixes(layers):
        chosen = _readable(state, layers, prefix)
        if chosen:
            groups.setdefault(frozenset(layer.path for layer in chosen), _offer(prefix, chosen))
    return [groups[group] for group in sorted(groups, key=len, reverse=True)]


def _offer(prefix: str, layers: Sequence[_Layer]) -> str:
    """Return a prefix with the widths of its network; it stands in full, so that it can be used."""
    widths = "-".join(str(size) for size in _widths(layers))
    return f"prefix {prefix!r} ({widths if len(widths) < 40 else f'{widths[:36]}…'})"


def _readable(state: StateDict, layers: Sequence[_Layer], text: str) -> list[_Layer] | None:
    """Return the layers that the prefixes in a text choose, or None if that is not a network."""
    if len(text) > _MAX_OFFERED or not text.isprintable():
        return None
    chosen: list[_Layer] = []
    for prefix in _prefixes_in(state, text):
        own = [layer for layer in layers if _tensor_name(layer.path, "weight").startswith(prefix)]
        chosen += _in_order_or_empty(state, own)
        if not own or not _is_clean(state, prefix):
            return None
    try:
        _check_chain(state, chosen, ())
        _settings(state, chosen)
    except NetworkFileError:
        return None
    return chosen if 0 < len({layer.path for layer in chosen}) == len(chosen) else None


def _advice(state: StateDict, layers: Sequence[_Layer]) -> str:
    """Return the prefixes that give a network, for the end of a message; empty if none does."""
    offers = _possible_prefixes(state, layers)
    if not offers and 1 < len(layers) <= _MAX_PERMUTED:
        orders = (",".join(f"{layer.path}." for layer in order) for order in permutations(layers))
        found = ((text, _readable(state, layers, text)) for text in orders)
        offers = [_offer(text, chosen) for text, chosen in found if chosen][:1]
    return f"; {_listed(offers)} can be read alone (--prefix, prefix=)" if offers else ""


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
    names = [name for name in state.tensors if name.startswith(prefix)]
    return not any(_why_not_understood(name, state.tensors) for name in names)


# --- What else there is -----


def _check_inside(state: StateDict, layers: Sequence[_Layer], names: Sequence[str]) -> None:
    """Refuse chosen tensors that are not the weight or bias of a linear layer."""
    for name in names:
        problem = _why_not_understood(name, state.tensors)
        if problem:
            raise state.fail(f"{problem}{_advice(state, layers)}")


def _why_not_understood(name: str, tensors: Mapping[str, StoredTensor]) -> str:
    """Return why a tensor cannot be read; empty for the weight and the bias of a linear layer."""
    path, _, last = name.rpartition(".")
    weight = tensors.get(_tensor_name(path, "weight"))
    is_linear = weight is not None and len(weight.shape) == 2
    if is_linear and last in ("weight", "bias"):
        return ""
    if is_about_slopes(last) and math.prod(tensors[name].shape) == 1:
        return ""
    return _other_layer_problem(name, tensors) or (
        f"tensor {_name_and_shape(name, tensors[name])} is not the weight or bias of a linear "
        f"layer, and a state dict does not say what it is for: {_REMEDY}"
    )


def _other_layer_problem(name: str, tensors: Mapping[str, StoredTensor]) -> str:
    """Return why a tensor of another known kind of layer is refused; empty for other tensors."""
    path, _, last = name.rpartition(".")
    dimension = len(tensors[name].shape)
    place = f"tensor {_name_and_shape(name, tensors[name])}"
    if computed := _why_computed(name, tensors):
        return f"{place} {computed} before the weights are saved"
    if last in ("running_mean", "running_var") or _tensor_name(path, "running_mean") in tensors:
        kind, missing = "belongs to a batch normalisation", "ε and place"
    elif last == "weight" and dimension > 2:
        kind, missing = "is of a convolution", "stride and padding"
    elif last == "weight" and dimension < 2:
        kind, missing = "is of a normalisation or of PReLU", "place"
    else:
        return ""
    return f"{place} {kind}, whose {missing} a state dict does not record: {_REMEDY}"


#: Tensors from which PyTorch computes a weight: the last parts of their names, and the remedy.
_COMPUTED = {
    ("weight_g", "weight_v"): (
        "weight normalisation",
        "torch.nn.utils.remove_weight_norm(layer) makes it plain",
    ),
    ("weight_orig", "weight_u"): (
        "spectral normalisation",
        "torch.nn.utils.remove_spectral_norm(layer) makes it plain",
    ),
    ("weight_orig", "weight_mask"): (
        "pruning",
        "torch.nn.utils.prune.remove(layer, 'weight') makes it plain",
    ),
}


def _why_computed(name: str, tensors: Mapping[str, StoredTensor]) -> str:
    """Return why a layer has no plain weight, if PyTorch computes its weight from other tensors."""
    before, inside, _ = f".{name}".partition(".parametrizations.")
    path = before[1:] if inside else name.rpartition(".")[0]
    plain = f"{path}.parametrizations.weight." if path else "parametrizations.weight."
    if f"{plain}original" in tensors or f"{plain}original0" in tensors:
        return (
            "belongs to a layer whose weight is parametrised: torch.nn.utils.parametrize."
            "remove_parametrizations(layer, 'weight') makes it plain"
        )
    for parts, (kind, remedy) in _COMPUTED.items():
        if all(_tensor_name(path, part) in tensors for part in parts):
            return f"belongs to a layer with {kind}: {remedy}"
    return ""


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
            entry if len(entry) < 160 else f"{entry[:156]}…" for entry in entries[:_MAX_LISTED]
        )
        + more
    )


# --- The network -----


def _fits(first: _Layer, second: _Layer) -> bool:
    """Whether the second layer has as many inputs as the first layer has outputs."""
    return first.weight.shape[0] == second.weight.shape[1]


def _widths(layers: Sequence[_Layer]) -> list[int]:
    return [layers[0].weight.shape[1], *(layer.weight.shape[0] for layer in layers)]


def _check_chain(state: StateDict, layers: Sequence[_Layer], all_layers: Sequence[_Layer]) -> None:
    """Refuse layers whose shapes do not fit together; `all_layers` are those to choose from."""
    for first, second in pairwise(layers):
        if not _fits(first, second):
            left, right = (
                _name_and_shape(_tensor_name(layer.path, "weight"), layer.weight)
                for layer in (first, second)
            )
            advice = _advice(state, all_layers)
            raise state.fail(f"{left} cannot be followed by {right}{advice}")
    for layer in layers:
        if layer.bias is not None and layer.bias.shape != layer.weight.shape[:1]:
            bias, weight = (
                _name_and_shape(_tensor_name(layer.path, "bias"), layer.bias),
                _name_and_shape(_tensor_name(layer.path, "weight"), layer.weight),
            )
            raise state.fail(f"{bias} does not fit {weight}")


def _settings(state: StateDict, layers: Sequence[_Layer] = ()) -> Settings:
    """Return what the other entries of the file say about the layers, once these are chosen."""
    biases = {layer.bias is not None for layer in layers}
    try:
        return settings_of(
            {**state.entries, **_slopes(state)},
            tuple(_widths(layers)) if layers else None,
            biases.pop() if len(biases) == 1 else None,
        )
    except NetworkError as error:
        raise state.fail(str(error)) from None


def _slopes(state: StateDict) -> dict[str, Any]:
    """Return the tensors of one entry that are slopes by their names, as numbers."""
    return {
        name: tensor.array.reshape(-1)[0]
        for name, tensor in state.tensors.items()
        if is_about_slopes(name.rpartition(".")[2])
        and isinstance(tensor.array, np.ndarray)
        and tensor.array.size == 1
    }


def _draft(state: StateDict, layers: Sequence[_Layer], options: ReadOptions) -> Draft:
    """Return the network of the chosen layers, with notes on all assumptions."""
    read = {_tensor_name(layer.path, "weight"): layer.weight for layer in layers}
    read |= {
        _tensor_name(layer.path, "bias"): layer.bias for layer in layers if layer.bias is not None
    }
    if sum(math.prod(tensor.shape) for tensor in read.values()) > PARAMETER_LIMIT:
        raise state.fail(f"its layers have more than {PARAMETER_LIMIT} weights")
    arrays = {name: _array(state, name, tensor) for name, tensor in read.items()}
    settings = _settings(state, layers)
    tail = _tail(state, settings, options)
    try:
        draft = _composed(state, layers, arrays, settings, options)
    except NetworkError as error:
        raise state.fail(str(error)) from None
    draft.notes = [*state.notes, *_notes(layers)]
    if _are_out_of_order(layers):
        draft.caveats.append("the layers are not in the order of the numbers in their names")
    draft.dtypes = {tensor.kind for tensor in read.values()}
    draft.num_stored = sum(array.size for array in arrays.values()) + bool(_slope(settings))
    draft.input_shapes = [(layers[0].weight.shape[1],)]
    draft.arithmetic = draft.dtypes.copy().pop() if len(draft.dtypes) == 1 else ""
    draft.runtime = "a state dict holds no function"
    used = {*read, *_slopes(state)}
    unread = {name: tensor for name, tensor in state.tensors.items() if name not in used}
    draft.caveats += [_assumption(state, layers, settings), *tail]
    if unread:
        draft.caveats.append(f"tensors that were not read: {_tensor_list(unread)}")
    if settings.unread:
        draft.caveats.append(f"entries that were not read: {_listed(settings.unread)}")
    return draft


def _composed(
    state: StateDict,
    layers: Sequence[_Layer],
    arrays: Mapping[str, Array],
    settings: Settings,
    options: ReadOptions,
) -> Draft:
    """Return the draft of the layers with the activations that the file says, or with ReLUs."""
    weights = [arrays[_tensor_name(layer.path, "weight")] for layer in layers]
    biases = [_bias(x, arrays.get(_tensor_name(x.path, "bias"))) for x in layers]
    if not settings.output_relu and not _slope(settings):
        draft = draft_of_pairs(state.format, list(zip(weights, biases, strict=True)), [])
        draft.steps = [
            f"{step} {_quoted(layer.path)}" for step, layer in zip(draft.steps, layers, strict=True)
        ]
        return draft
    slope, rules = _slope(settings), options.rounding
    last = len(layers) - 1
    draft = draft_of_stack(
        state.format,
        [
            Affine(
                f"layer {_quoted(layer.path)}",
                weight.T,
                bias,
                relu=number < last or bool(settings.output_relu),
                slope=rules.setting(slope) if number < last else Fraction(0),
            )
            for number, (layer, weight, bias) in enumerate(
                zip(layers, weights, biases, strict=True)
            )
        ],
    )
    if Fraction(repr(slope)) != Fraction(slope):
        draft.rounding.add(f"attributes: {rules.attributes}")
    return draft


def _slope(settings: Settings) -> float:
    """Return the slope of the activations between the layers; 0 for the ReLU."""
    return settings.slope[0] if settings.slope else 0.0


def _tail(state: StateDict, settings: Settings, options: ReadOptions) -> list[str]:
    """Return the caution on an activation after the last layer, or refuse it."""
    if settings.tail is None:
        return []
    name, place = settings.tail
    if options.strip_tail:
        return [f"the {name} after the last layer (entry {_quoted(place)}) was stripped"]
    error = state.fail(
        f"its entry {_quoted(place)} says that {name[:40]!r} follows the last layer; it is not "
        "supported"
    )
    hint = Hint("--strip-tail (strip_tail=True) leaves it out", {"strip_tail": True})
    raise hinted(error, hint)


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


def _assumption(state: StateDict, layers: Sequence[_Layer], settings: Settings) -> str:
    """Return what is assumed because a state dict does not record it, and what the file says."""
    if not state.ordered:
        order = "the order of the numbers in their names, or of the prefixes"
    elif _are_read_by_number(state, layers):
        order = (
            "the order of the numbers in their names, since the file lists them in the order of "
            "the alphabet"
        )
    else:
        order = "the file's order"
    said = [f"{_quoted(place)} {activation.shown}" for place, activation in settings.named.items()]
    if settings.slope is not None:
        said.append(f"{_quoted(settings.slope[1])} {settings.slope[0]:g}")
    end = (
        f"a ReLU after the last one (entry {_quoted(settings.output_relu)})"
        if settings.output_relu
        else "the last one affine"
    )
    slope = _slope(settings)
    between = f"{f'leaky ReLU of slope {slope:g}' if slope else 'ReLU'} between the linear layers"
    if not said:
        return f"assumed, since a state dict records neither: {between}, {end}, and {order}"
    return (
        f"{between}, as the file says ({_listed(said)}); assumed, since a state dict does not "
        f"record it: {end}, and {order}"
    )


def _are_read_by_number(state: StateDict, layers: Sequence[_Layer]) -> bool:
    """Whether the numbers in the names gave the order of the layers, against the file's order."""
    paths = [layer.path for layer in layers]
    in_file = [layer for layer in _layers(state.tensors) if layer.path in set(paths)]
    return [layer.path for layer in in_file] != paths and _are_sorted_as_text(in_file)


def _are_out_of_order(layers: Sequence[_Layer]) -> bool:
    """Whether the layers have one name with different numbers, in another order than these."""
    is_one_name = len({_numberless_path(layer) for layer in layers}) == 1
    return is_one_name and sorted(layers, key=_numbers_in_path) != list(layers)


def _notes(layers: Sequence[_Layer]) -> list[str]:
    """Return a note on missing biases."""
    without = [_quoted(layer.path) for layer in layers if layer.bias is None]
    return [f"layers without a bias, taken as zeros: {_listed(without)}"] if without else []
