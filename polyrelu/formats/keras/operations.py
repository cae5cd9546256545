"""The supported layers of Keras 1 to 3, each as a function of a `LayerCall`.

Here is one handler for each class of layers, which reads settings and weights and adds operations
to a graph; the table at the end lists them. The walk through a model calls the handlers with
`apply`. A setting that no handler has read, and that is not empty, must be refused: a layer with a
known class may do something else because of it.

Keras puts channels last unless ``data_format`` says otherwise, and `polyrelu.formats.graph.tensors`
expects them after the batch. Layers with windows move the channels there and back, and apply their
activation in between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.tensors import Pads, Window, plain_window
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.hints import Hint, hinted
from polyrelu.formats.imported import Draft
from polyrelu.formats.keras.files import Weights, shown
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import WIDTH_LIMIT
from polyrelu.support.typing import Array

__all__ = ["MODELS", "MOVERS", "KerasLayer", "LayerCall", "ModelReader", "apply", "check_known"]


#: Settings that do not change the function at inference.
_HARMLESS = {
    "W_constraint",
    "W_regularizer",
    "activity_regularizer",
    "b_constraint",
    "b_regularizer",
    "batch_input_shape",
    "batch_shape",
    "init",
    "input_dim",
    "input_dtype",
    "input_shape",
    "momentum",
    "name",
    "renorm_clipping",
    "renorm_momentum",
    "synchronized",
    "trainable",
}
_HARMLESS_ENDINGS = ("_initializer", "_regularizer", "_constraint")

#: The classes of models, which can be layers of other models.
MODELS = ("Sequential", "Functional", "Model")
#: The modules of these classes. Functional models have a name of their own class beside the module.
_MODULE_OF_MODELS = re.compile(
    r"keras\.layers|(tf_keras|tensorflow\.keras|keras)(\.(src\.)?(engine|models)(\.\w{1,40})?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class KerasLayer:
    """A layer of the configuration.

    Attributes
    ----------
    kind
        The class of the layer.
    name
        The name of the layer.
    config
        The settings.
    module
        The module of the class, for built-in and other classes.
    models
        The classes and the names of the inner models that contain the layer, the outer ones first.
    """

    kind: str
    name: str
    config: dict[str, Any]
    module: str = "keras.layers"
    models: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, entry: dict[str, Any], name: str = "", models: tuple[tuple[str, str], ...] = ()
    ) -> KerasLayer:
        """Return a layer from its description in a file.

        Files before Keras 2.13 do not name modules, and contain only layers of Keras.
        """
        kind, config = entry["class_name"], entry["config"]
        if not isinstance(config, dict):  # a function, not a layer, or an inner model of Keras 1
            name_or_kind = kind if kind in MODELS else config
            return cls(str(name_or_kind), name, {}, f"{entry.get('module')}, a function", models)
        registered = entry.get("registered_name")
        module = "keras.layers" if entry.get("module") is None else str(entry["module"])
        if registered not in (None, kind):
            module = f"{module}, registered as {registered}"
        return cls(str(kind), str(config.get("name") or name), config, module, models)

    @property
    def place(self) -> str:
        """The description of the layer in errors."""
        names = "/".join([name for _, name in self.models[-3:]] + [self.name[:80]])
        return f"layer {names[-160:]!r} ({shown(self.kind)})"

    @property
    def is_of_keras(self) -> bool:
        """Whether the class is one of Keras, not an operation or a class from elsewhere."""
        if self.kind in MODELS:
            return bool(_MODULE_OF_MODELS.fullmatch(self.module))
        return self.module in ("keras.layers", "tf_keras.layers", "tensorflow.keras.layers")


@dataclass(slots=True)
class ModelReader:
    """The state of the walk through one model.

    Attributes
    ----------
    path
        The file.
    draft
        The network that is read, with its notes.
    graph
        The graph that is built.
    options
        The options of the user.
    weights
        The weights in the file.
    major
        The first number of the version of Keras, None if unknown.
    policies
        The number types of the layers so far.
    counted
        The arrays that entered the function so far, by identity.
    """

    path: Path
    draft: Draft
    graph: Graph
    options: ReadOptions
    weights: Weights
    major: int | None
    policies: set[str] = field(default_factory=set)
    counted: dict[int, Array] = field(default_factory=dict)

    def count(self, array: Array) -> None:
        """Count numbers of the file that enter the function, once each."""
        if id(array) not in self.counted:
            self.counted[id(array)] = array  # kept, so that its id is not used again
            self.draft.dtypes.add(array.dtype.name)
            self.draft.num_stored += array.size


class LayerCall:
    """One use of a layer: its settings, its weights and the values to which it is applied.

    Attributes
    ----------
    reader
        The state of the walk through the model.
    layer
        The layer.
    inputs
        The values to which the layer is applied.
    is_last
        Whether only operations that move entries stand between this use and an output.
    graph
        The graph that is built.
    label
        The description of this use in the list of steps.
    """

    def __init__(
        self, reader: ModelReader, layer: KerasLayer, inputs: Sequence[Value], is_last: bool = False
    ) -> None:
        self.reader, self.layer, self.inputs, self.is_last = reader, layer, list(inputs), is_last
        self.graph = reader.graph
        self.label = layer.kind
        self._used: set[str] = set()

    def fail(self, problem: str) -> NetworkFileError:
        """Return the error for a problem with this layer."""
        return NetworkFileError(self.reader.path, self.layer.place, problem)

    @property
    def x(self) -> Value:
        """The only input."""
        if len(self.inputs) != 1:
            raise self.fail(f"{len(self.inputs)} inputs; expected one")
        return self.inputs[0]

    def note(self, text: str) -> None:
        """Add a note for the user."""
        self.reader.draft.notes.append(text)

    # -- settings -----

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a setting, or the default if it is missing or null."""
        self._used.add(name)
        found = self.layer.config.get(name)
        return default if found is None else found

    def ignore(self, *names: str) -> None:
        """Mark settings as read that do not matter."""
        self._used |= set(names)

    def check_settings(self) -> None:
        """Refuse settings that were not read and are neither harmless nor empty."""
        for name, value in self.layer.config.items():
            is_harmless = (
                name in self._used or name in _HARMLESS or name.endswith(_HARMLESS_ENDINGS)
            )
            if not is_harmless and value not in (None, False, [], {}):
                raise self.fail(f"its setting {name[:40]!r} is not known")

    def flag(self, name: str, default: bool) -> bool:
        """Return a setting that is a truth value."""
        found = self.setting(name, default)
        if not isinstance(found, bool):
            raise self.fail(f"{name} is not a truth value")
        return found

    def word(self, name: str, default: str, *known: str) -> str:
        """Return a setting that is one of the known words."""
        found = self.setting(name, default)
        if found not in known:
            raise self.fail(
                f"{name} {str(found)[:40]!r} is not supported; known are {', '.join(known)}"
            )
        return str(found)

    def count(self, name: str, default: int | None = None) -> int:
        """Return a setting that is a positive size."""
        return self.sizes(name, 1, default)[0]

    def sizes(self, name: str, rank: int, default: int | Sequence[int] | None = None) -> list[int]:
        """Return a setting of `rank` positive sizes; a single number stands for all of them."""
        found = self.setting(name, default)
        sizes = [found] * rank if isinstance(found, int) else found
        if not _are_sizes(sizes) or len(sizes) != rank or min(sizes) < 1:
            raise self.fail(f"{name} is {shown(str(found))}; expected {rank} positive sizes")
        return list(sizes)

    def amounts(self, name: str, rank: int) -> Pads:
        """Return a setting of `rank` pairs of sizes ≥ 0, at the start and the end of each axis.

        A single number stands for a pair of equal numbers, or for all pairs.
        """
        found = self.setting(name)
        listed = [found] if rank == 1 and _are_sizes(found) and len(found) == 2 else found
        listed = [found] * rank if isinstance(found, int) else listed
        pairs = [[pair, pair] if isinstance(pair, int) else pair for pair in listed]
        if len(pairs) != rank or not all(_are_sizes(pair) and len(pair) == 2 for pair in pairs):
            raise self.fail(f"{name} is {shown(str(found))}; expected {rank} pairs of sizes")
        return [(first, second) for first, second in pairs]

    def number(self, name: str, default: float | int) -> Fraction:
        """Return a setting that is a number exactly, by the rule for attributes."""
        return self.exact(name, self.setting(name, default))

    def exact(self, name: str, found: Any) -> Fraction:
        """Return a number of the configuration exactly: an integer, or decimal text by a rule.

        By the rule *stored* the number is the nearest float of the type of the layer, with which
        Keras computes. By the rule *decimal* it is the number in the text. But if the text has the
        digits of a float32, such as 0.10000000149011612, a float was stored, and the number is the
        shortest decimal of this float.
        """
        if isinstance(found, dict) and found.get("class_name") == "__numpy__":
            found = found["config"]["value"]
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise self.fail(f"{name} is not a number")
        rounding = self.reader.options.rounding
        if isinstance(found, int) and abs(found) <= 2**24:
            return Fraction(found)
        found = float(found)
        with np.errstate(over="ignore"):
            single = float(np.float32(found))
        if not math.isfinite(single):
            raise self.fail(f"{name} is {found}")
        decimal = Fraction(str(np.float32(found))) if single == found else Fraction(repr(found))
        stored = Fraction(found if self.policy() == "float64" else single)
        if stored != decimal:
            self.reader.draft.rounding.add(f"attributes: {rounding.attributes}")
            if self.policy() != "float64":  # a float64 runtime computes with another number
                self.reader.draft.bounded.discard("float64")
        return stored if rounding.attributes == "stored" else decimal

    def policy(self) -> str:
        """Return the name of the number type of the layer."""
        found = self.setting("dtype", "float32")
        if isinstance(found, dict):
            found = (
                found["config"]["name"]
                if found.get("class_name") in ("DTypePolicy", "Policy")
                else None
            )
        if found not in (
            "float16",
            "bfloat16",
            "float32",
            "float64",
            "mixed_float16",
            "mixed_bfloat16",
        ):
            raise self.fail("its number type is not one of the float types")
        return str(found)

    # -- weights -----

    def weights(self, **shapes: tuple[int, ...]) -> list[Array]:
        """Return the weights with these names and shapes, in this order."""
        layer = self.layer
        arrays = self.reader.weights.within(layer.models).of(layer.kind, layer.name, list(shapes))
        for (name, shape), array in zip(shapes.items(), arrays, strict=True):
            if array.shape != shape:
                raise self.fail(f"its {name} has shape {list(array.shape)}; expected {list(shape)}")
        return arrays

    def counted(self, *arrays: Array) -> None:
        """Count weights that enter the function."""
        for array in arrays:
            self.reader.count(array)


Handler: TypeAlias = Callable[[LayerCall], Value]


def check_known(path: Path, layer: KerasLayer) -> None:
    """Refuse a layer whose class is not known or not a class of Keras."""
    problem = ""
    if layer.kind in MODELS:
        if not layer.config:
            problem = (
                "a model within a model of Keras 1 is not supported; save it with Keras 2 or 3"
            )
        elif not layer.is_of_keras:
            problem = f"this class is not one of keras.models, but of {shown(layer.module)}"
    elif not layer.is_of_keras:
        problem = f"this class is not one of keras.layers, but of {shown(layer.module)}"
    elif layer.kind not in LAYERS:
        known = sorted({re.sub("[123]D", "*D", name) for name in LAYERS} - {"InputLayer"})
        problem = f"this layer is not supported; supported are {', '.join(known)}"
    if problem:
        raise NetworkFileError(path, layer.place, problem)


def apply(call: LayerCall) -> Value:
    """Return the value of a known layer; errors name the layer."""
    draft, handler = call.reader.draft, LAYERS[call.layer.kind]
    try:
        call.reader.policies.add(call.policy())
        value = handler(call)
    except NetworkFileError:
        raise
    except NetworkError as error:
        raise call.fail(str(error)) from None
    except (
        IndexError,
        KeyError,
        TypeError,
        ValueError,
        OverflowError,
        AttributeError,
        ZeroDivisionError,
    ):
        raise call.fail("its settings are not those of this layer") from None
    call.check_settings()
    if call.layer.kind != "InputLayer":  # one of an inner model, which does nothing
        draft.steps.append(f"{call.label} {list(value.shape)}")
    return value


def _are_sizes(found: Any) -> bool:
    """Whether a setting is a list of integers ≥ 0 that are not too large."""
    return isinstance(found, (list, tuple)) and all(
        isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= WIDTH_LIMIT
        for size in found
    )


# --- Activations -----

#: Activations that `--strip-tail` removes after the last layer.
_TAILS = {"softmax", "log_softmax", "sigmoid", "tanh", "softplus", "exponential", "swish", "silu"}


def _activated(call: LayerCall, x: Value) -> Value:
    """Apply the activation in the settings of a layer."""
    return _activation(call, x, call.setting("activation", "linear"))


def _activation(call: LayerCall, x: Value, found: Any) -> Value:
    """Apply an activation that is given by its name, or as a layer."""
    if isinstance(found, dict):
        inner = LayerCall(call.reader, KerasLayer.of(found, call.layer.name), [x])
        if inner.layer.kind not in ("ReLU", "LeakyReLU") or not inner.layer.is_of_keras:
            raise call.fail(
                f"the activation {inner.layer.kind[:40]!r} of {shown(inner.layer.module)} is not "
                "supported"
            )
        result = LAYERS[inner.layer.kind](inner)
        inner.check_settings()
        return _labelled(call, inner.layer.kind, result)
    name = str(found)[:40]
    if found in _TAILS and call.is_last and call.reader.options.strip_tail:
        call.reader.draft.caveats.append(
            f"the {name} after the last layer was stripped: outputs are its inputs"
        )
        return x
    if found not in ACTIVATIONS:
        known = ", ".join(sorted(ACTIVATIONS))
        error = call.fail(f"the activation {name!r} is not supported; supported are {known}")
        hint = "--strip-tail (strip_tail=True) leaves it out after the last layer"
        raise hinted(error, Hint(hint, {"strip_tail": True})) if found in _TAILS else error
    return x if found == "linear" else _labelled(call, name, ACTIVATIONS[found](call, x))


def _labelled(call: LayerCall, name: str, value: Value) -> Value:
    """Return the value after adding the name of an activation to the description of the layer."""
    call.label += f" ({name})"
    return value


def _relu(call: LayerCall, x: Value) -> Value:
    return tensors.relu(call.graph, x)


def _relu6(call: LayerCall, x: Value) -> Value:
    return tensors.clip(call.graph, x, Fraction(0), Fraction(6))


def _hard_tanh(call: LayerCall, x: Value) -> Value:
    return tensors.clip(call.graph, x, Fraction(-1), Fraction(1))


def _leaky_relu(call: LayerCall, x: Value) -> Value:
    """Apply a leaky ReLU; its slope is 0.2 in every version that has this name."""
    return tensors.leaky_relu(
        call.graph, x, np.array(call.exact("negative_slope", 0.2), dtype=object)
    )


def _hard_sigmoid(call: LayerCall, x: Value) -> Value:
    """Apply min(max(x/5 + 1/2, 0), 1) before Keras 3, and min(max(x/6 + 1/2, 0), 1) since Keras 3.

    Keras multiplies x by the float 0.2 in the first case, and divides x by 6 in the second case.
    """
    if call.reader.major is None:
        raise call.fail(
            "hard_sigmoid has another slope since Keras 3, and the file does not say its version"
        )
    slope = Fraction(1, 6) if call.reader.major >= 3 else call.exact("slope", 0.2)
    call.note(f"hard_sigmoid is min(max(x · {slope} + 1/2, 0), 1) in Keras {call.reader.major}")
    scaled = tensors.multiply(
        call.graph,
        x,
        np.array(slope, dtype=object),
        extra_roundings=tensors.QUOTIENT_ROUNDINGS,
        stretch=6.0,
    )
    shifted = tensors.add_constant(call.graph, scaled, np.array(Fraction(1, 2), dtype=object))
    return tensors.clip(call.graph, shifted, Fraction(0), Fraction(1))


#: Activations by name.
ACTIVATIONS: dict[str, Callable[[LayerCall, Value], Value]] = {
    "hard_sigmoid": _hard_sigmoid,
    "hard_tanh": _hard_tanh,
    "leaky_relu": _leaky_relu,
    "linear": lambda _, x: x,
    "relu": _relu,
    "relu6": _relu6,
}


def _activation_layer(call: LayerCall) -> Value:
    return _activated(call, call.x)


def _softmax_layer(call: LayerCall) -> Value:
    call.ignore("axis")
    return _activation(call, call.x, "softmax")


def _relu_layer(call: LayerCall) -> Value:
    """Apply slope · x for x < 0, and min(x, max_value) for x ≥ 0."""
    slope, threshold = call.number("negative_slope", 0), call.number("threshold", 0)
    greatest = call.setting("max_value")
    high = None if greatest is None else call.exact("max_value", greatest)
    if threshold:
        raise call.fail("a threshold that is not 0 makes the function jump")
    if slope < 0 or (high is not None and high < 0):
        raise call.fail("negative_slope and max_value must not be negative")
    if not slope:
        return (
            tensors.clip(call.graph, call.x, Fraction(0), high)
            if high is not None
            else _relu(call, call.x)
        )
    bent = tensors.leaky_relu(call.graph, call.x, np.array(slope, dtype=object))
    return bent if high is None else tensors.clip(call.graph, bent, None, high)


def _leaky_relu_layer(call: LayerCall) -> Value:
    name = "alpha" if "alpha" in call.layer.config else "negative_slope"  # before and since Keras 3
    return tensors.leaky_relu(call.graph, call.x, np.array(call.number(name, 0.3), dtype=object))


def _prelu(call: LayerCall) -> Value:
    shape = list(call.x.shape[1:])
    for axis in call.setting("shared_axes", []):
        shape[axis - 1] = 1
    (slopes,) = call.weights(alpha=tuple(shape))
    call.counted(slopes)
    return tensors.leaky_relu(call.graph, call.x, slopes)


# --- Affine layers -----


def _uses_bias(call: LayerCall) -> bool:
    return call.flag("bias" if "bias" in call.layer.config else "use_bias", True)


def _kernel_and_bias(
    call: LayerCall, name: str, shape: tuple[int, ...], outputs: int
) -> tuple[Array, Array | None]:
    """Return the kernel, and the bias or None if the layer has no bias."""
    if not _uses_bias(call):
        (kernel,), bias = call.weights(**{name: shape}), None
    else:
        kernel, bias = call.weights(**{name: shape, "bias": (outputs,)})
        call.counted(bias)
    call.counted(kernel)
    return kernel, bias


def _dense(call: LayerCall) -> Value:
    # the names before and since Keras 2
    units = call.count("output_dim" if "output_dim" in call.layer.config else "units")
    kernel, bias = _kernel_and_bias(call, "kernel", (call.x.shape[-1], units), units)
    return _activated(call, tensors.matmul(call.graph, call.x, kernel, bias))


def _has_channels_first(call: LayerCall) -> bool:
    """Whether channels stand after the batch already."""
    return (
        call.word("data_format", "channels_last", "channels_last", "channels_first")
        == "channels_first"
    )


def _channels_first(call: LayerCall, rank: int) -> Value:
    """Return the input with its channels after the batch."""
    x = call.x
    if len(x.shape) != rank + 2:
        raise call.fail(
            f"its input has shape {list(x.shape)}; expected a batch, {rank} dimensions and channels"
        )
    return (
        x
        if _has_channels_first(call)
        else tensors.take_entries(call.graph, x, np.moveaxis(tensors.indices(x.shape), -1, 1))
    )


def _restored_channels(call: LayerCall, x: Value) -> Value:
    """Return a value with its channels moved to where the layer has them."""
    return (
        x
        if _has_channels_first(call)
        else tensors.take_entries(call.graph, x, np.moveaxis(tensors.indices(x.shape), 1, -1))
    )


def _window(
    call: LayerCall, x: Value, kernel: list[int], strides: list[int], dilations: list[int]
) -> Window:
    """Return the window of a convolution or pooling with the padding in the settings."""
    sizes = x.shape[2:]
    rule = call.word(
        "padding", "valid", "valid", "same", *(["causal"] if call.layer.kind == "Conv1D" else [])
    )
    pads = []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        reach = dilation * (width - 1)
        missing = max(0, (-(-size // stride) - 1) * stride + reach + 1 - size)
        same = (missing // 2, missing - missing // 2)
        pads.append({"valid": (0, 0), "same": same, "causal": (reach, 0)}[rule])
    return Window(kernel, strides, dilations, pads)


def _dilated_window(call: LayerCall, x: Value) -> Window:
    """Return the window of a convolution."""
    rank = len(x.shape) - 2
    kernel, strides = call.sizes("kernel_size", rank), call.sizes("strides", rank, 1)
    return _window(call, x, kernel, strides, call.sizes("dilation_rate", rank, 1))


def _conv(rank: int) -> Handler:
    """Return the handler of a convolution, in groups of channels if it has any."""

    def handler(call: LayerCall) -> Value:
        x = _channels_first(call, rank)
        window, filters, groups = (
            _dilated_window(call, x),
            call.count("filters"),
            call.count("groups", 1),
        )
        own = x.shape[1] // groups
        kernel, bias = _kernel_and_bias(call, "kernel", (*window.kernel, own, filters), filters)
        tensors.checked_shape([kernel.size, *window.counts(x.shape[2:])])
        return _convolved(call, x, np.moveaxis(kernel, (-1, -2), (0, 1)), bias, window, groups)

    return handler


def _depthwise_conv(rank: int) -> Handler:
    """Return the handler of a convolution of each channel by itself, with some filters for each."""

    def handler(call: LayerCall) -> Value:
        x = _channels_first(call, rank)
        window, each = _dilated_window(call, x), call.count("depth_multiplier", 1)
        _check_groups(call)
        channels = x.shape[1]
        stored, bias = _kernel_and_bias(
            call, "depthwise_kernel", (*window.kernel, channels, each), channels * each
        )
        tensors.checked_shape([stored.size, *window.counts(x.shape[2:])])
        kernel = np.moveaxis(stored, (-2, -1), (0, 1)).reshape(channels * each, 1, *window.kernel)
        return _convolved(call, x, kernel, bias, window, channels)

    return handler


def _check_groups(call: LayerCall) -> None:
    """Refuse groups, which TensorFlow also writes for layers that have none."""
    if call.count("groups", 1) != 1:
        raise call.fail("groups are not supported")


def _separable_conv(rank: int) -> Handler:
    """Return the handler of a convolution of each channel, then of one across all channels."""

    def handler(call: LayerCall) -> Value:
        x = _channels_first(call, rank)
        window, each = _dilated_window(call, x), call.count("depth_multiplier", 1)
        _check_groups(call)
        channels, filters = x.shape[1], call.count("filters")
        shapes = {
            "depthwise_kernel": (*window.kernel, channels, each),
            "pointwise_kernel": (*[1] * rank, channels * each, filters),
        }
        names = {**shapes, "bias": (filters,)} if _uses_bias(call) else shapes
        arrays = call.weights(**names)
        call.counted(*arrays)
        tensors.checked_shape([arrays[0].size, *window.counts(x.shape[2:])])
        own = np.moveaxis(arrays[0], (-2, -1), (0, 1)).reshape(channels * each, 1, *window.kernel)
        found = tensors.conv(call.graph, x, own, None, window, channels)
        across = np.moveaxis(arrays[1], (-1, -2), (0, 1))
        bias = arrays[2] if len(arrays) == 3 else None
        return _convolved(call, found, across, bias, plain_window([1] * rank, [1] * rank), 1)

    return handler


def _convolved(
    call: LayerCall, x: Value, kernel: Array, bias: Array | None, window: Window, groups: int
) -> Value:
    """Return the convolution and its activation, with the channels moved back."""
    found = tensors.conv(call.graph, x, kernel, bias, window, groups)
    return _restored_channels(call, _activated(call, found))


def _conv_transpose(rank: int) -> Handler:
    """Return the handler of a transposed convolution.

    It is the transpose of the convolution that maps the sizes of the output to the sizes of the
    input.
    """

    def handler(call: LayerCall) -> Value:
        x = _channels_first(call, rank)
        sizes, filters, strides = (
            call.sizes("kernel_size", rank),
            call.count("filters"),
            call.sizes("strides", rank, 1),
        )
        if (
            call.setting("output_padding") is not None
            or call.sizes("dilation_rate", rank, 1) != [1] * rank
        ):
            raise call.fail("output_padding and dilation are not supported")
        _check_groups(call)
        is_same, pads, spatial = (
            call.word("padding", "valid", "valid", "same") == "same",
            list[tuple[int, int]](),
            [],
        )
        for size, width, stride in zip(x.shape[2:], sizes, strides, strict=True):
            out = size * stride + (0 if is_same else max(width - stride, 0))
            missing = max(0, (size - 1) * stride + width - out) if is_same else 0
            spatial.append(out)
            pads.append((missing // 2, missing - missing // 2))
        kernel, bias = _kernel_and_bias(call, "kernel", (*sizes, filters, x.shape[1]), filters)
        swapped = np.moveaxis(kernel, (-1, -2), (0, 1))
        window = Window(sizes, strides, [1] * rank, pads)
        found = tensors.conv_transpose(call.graph, x, swapped, bias, window, 1, spatial)
        return _restored_channels(call, _activated(call, found))

    return handler


# --- Normalisation -----


def _batch_norm(call: LayerCall) -> Value:
    axis = call.setting("axis", -1)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    if call.flag("renorm", False):
        raise call.fail("renorm is not supported")
    if not isinstance(axis, int) or axis % len(call.x.shape) == 0:
        raise call.fail(
            f"axis {shown(str(axis))} is not supported; expected one axis after the batch"
        )
    x, rounding = call.x, call.reader.options.rounding
    moved = tensors.take_entries(call.graph, x, np.moveaxis(tensors.indices(x.shape), axis, 1))
    channels = moved.shape[1]
    wanted = ["gamma"] * call.flag("scale", True) + ["beta"] * call.flag("center", True)
    names = [*wanted, "moving_mean", "moving_variance"]
    found = dict(zip(names, call.weights(**dict.fromkeys(names, (channels,))), strict=True))
    call.counted(*found.values())
    scale, bias = found.get("gamma", np.ones(channels)), found.get("beta", np.zeros(channels))
    mean, variance, epsilon = (
        found["moving_mean"],
        found["moving_variance"],
        call.number("epsilon", 1e-3),
    )
    normed, rounded = tensors.batch_norm(
        call.graph, moved, scale, bias, mean, variance, epsilon, rounding.roots
    )
    call.reader.draft.bounded &= tensors.arithmetics_normalising_by(variance, epsilon)
    _record_roots(call, rounded, channels)
    return tensors.take_entries(
        call.graph, normed, np.moveaxis(tensors.indices(normed.shape), 1, axis)
    )


def _record_roots(call: LayerCall, rounded: int, count: int) -> None:
    """Record that some factors 1/√variance are rounded."""
    if rounded:
        call.reader.draft.rounding.add(f"batchnorm: {call.reader.options.rounding.batchnorm}")
        if call.reader.options.rounding.batchnorm == "float32":
            call.reader.draft.bounded.discard("float64")
    call.note(f"{call.layer.kind}: {rounded} of {count} factors 1/√variance are rounded")


def _normalization(call: LayerCall) -> Value:
    """Apply (x - mean) / max(√variance, ε), where ε is 10^-7 as in Keras.

    Every entry of the axes in the settings has a mean and a variance of its own.
    """
    if call.flag("invert", False):
        raise call.fail("invert is not supported")
    x = call.x
    found = call.setting("axis", [] if "axis" in call.layer.config else -1)
    kept = sorted(axis % len(x.shape) for axis in (found if isinstance(found, list) else [found]))
    if 0 in kept or len(set(kept)) < len(kept):
        raise call.fail("its axes are not different axes after the batch")
    own = tuple(x.shape[axis] for axis in kept)
    mean, variance = _statistics(call, own)
    squares = np.array(
        _bounded_variances(call, list(tensors.column(variance).entries())), dtype=object
    )
    count, one = math.prod(own), np.array([1] * math.prod(own), dtype=object)
    # the kept axes become the channels of a value to which `batch_norm` applies
    others = [axis for axis in range(1, len(x.shape)) if axis not in kept]
    table = np.transpose(tensors.indices(x.shape), (*kept, *others, 0)).reshape(1, count, -1)
    roots = call.reader.options.rounding.roots
    moved = tensors.take_entries(call.graph, x, table)
    flat_mean = mean.reshape(-1)
    normed, rounded = tensors.batch_norm(
        call.graph, moved, one, 0 * one, flat_mean, squares, Fraction(0), roots
    )
    _record_roots(call, rounded, count)
    return tensors.take_entries(call.graph, normed, np.argsort(table.reshape(-1)).reshape(x.shape))


def _bounded_variances(call: LayerCall, variances: list[Fraction]) -> list[Fraction]:
    """Return max(√variance, ε)² for each variance."""
    if min(variances) < 0:
        raise call.fail("a variance is negative")
    if min(variances) > Fraction(1, 10**13):
        return variances
    call.note("Normalization: standard deviations below 1e-7 count as 1e-7")
    least = call.exact("epsilon", 1e-7) ** 2
    return [max(variance, least) for variance in variances]


def _statistics(call: LayerCall, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return mean and variance, from the configuration or from the weights."""
    mean, variance = call.setting("mean"), call.setting("variance")
    if (mean is None) != (variance is None):
        raise call.fail("mean and variance must be given together")
    if mean is None:
        mean, variance, _ = call.weights(mean=shape, variance=shape, count=())
        call.counted(mean, variance)
        return mean, variance
    return _broadcast(call, "mean", mean, shape), _broadcast(call, "variance", variance, shape)


def _broadcast(call: LayerCall, name: str, found: Any, shape: tuple[int, ...]) -> Array:
    """Return nested numbers of the configuration as an array that is broadcast to a shape."""
    nested = np.array(found, dtype=object)
    numbers = np.array([call.exact(name, entry) for entry in nested.reshape(-1)], dtype=object)
    if np.broadcast_shapes(nested.shape, shape) != shape:
        raise call.fail(f"{name} has shape {list(nested.shape)}; expected {list(shape)}")
    return np.broadcast_to(numbers.reshape(nested.shape), shape)


def _rescaling(call: LayerCall) -> Value:
    """Apply scale · x + offset; lists of numbers run along the last axis."""
    x = call.x
    last = x.shape[-1:]
    parts = []
    for name, default in (("scale", 1), ("offset", 0)):
        found = call.setting(name, default)
        parts.append(_broadcast(call, name, found, last if isinstance(found, list) else ()))
    return tensors.add_constant(call.graph, tensors.multiply(call.graph, x, parts[0]), parts[1])


# --- Windows -----


def _pool(rank: int, is_max: bool) -> Handler:
    """Return the handler of the largest or the mean entry of each window."""

    def handler(call: LayerCall) -> Value:
        x = _channels_first(call, rank)
        sizes = call.sizes("pool_size", rank, 2)
        strides = call.sizes("strides", rank, sizes)
        window = _window(call, x, sizes, strides, [1] * rank)
        if is_max:
            found = tensors.max_pool(call.graph, x, window)
        else:
            found = tensors.average_pool(call.graph, x, window, count_padding=False)
        return _restored_channels(call, found)

    return handler


def _global_pool(rank: int, is_max: bool) -> Handler:
    """Return the handler of the largest or the mean entry of each channel."""

    def handler(call: LayerCall) -> Value:
        x = _channels_first(call, rank)
        sizes = x.shape[2:]
        if is_max:
            found = tensors.max_pool(call.graph, x, plain_window(sizes, [1] * rank))
        else:
            factor = Fraction(1, math.prod(sizes))
            found = tensors.sum_over(call.graph, x, range(2, rank + 2), factor, keep=True)
        if call.flag("keepdims", False):
            return _restored_channels(call, found)
        return tensors.reshape(found, found.shape[:2])

    return handler


# --- Layers that move entries -----


def _flatten(call: LayerCall) -> Value:
    table = tensors.indices(call.x.shape)
    if _has_channels_first(call) and table.ndim > 1:
        table = np.moveaxis(
            table, 1, -1
        )  # channels are last in the result, whatever they are before
    return tensors.take_entries(call.graph, call.x, table.reshape(1, -1))


def _reshape(call: LayerCall) -> Value:
    wanted = list(call.setting("target_shape"))
    if wanted.count(-1) == 1:
        known = -math.prod(wanted)
        wanted[wanted.index(-1)] = call.x.size // known if known else 0
    if not _are_sizes(wanted) or math.prod(wanted) != call.x.size:
        raise call.fail(
            f"cannot reshape one sample of shape {list(call.x.shape)} to "
            f"{call.setting('target_shape')}"
        )
    return tensors.reshape(call.x, (1, *wanted))


def _permute(call: LayerCall) -> Value:
    dims = list(call.setting("dims"))
    if sorted(dims) != list(range(1, len(call.x.shape))):
        raise call.fail(
            f"dims {dims} do not name the axes of a value of shape {list(call.x.shape)}, from 1"
        )
    return tensors.take_entries(
        call.graph, call.x, np.transpose(tensors.indices(call.x.shape), (0, *dims))
    )


def _per_axis(call: LayerCall, rank: int, amounts: Pads) -> Pads:
    """Return the amounts for all axes, which are 0 for the batch and the channels."""
    if len(call.x.shape) != rank + 2:
        raise call.fail(
            f"its input has shape {list(call.x.shape)}; expected a batch, {rank} dimensions and "
            "channels"
        )
    return [(0, 0), (0, 0), *amounts] if _has_channels_first(call) else [(0, 0), *amounts, (0, 0)]


def _zero_padding(rank: int) -> Handler:
    """Return the handler that puts zeros around each channel."""

    def handler(call: LayerCall) -> Value:
        amounts = _per_axis(call, rank, call.amounts("padding", rank))
        tensors.checked_shape(
            [size + sum(pair) for size, pair in zip(call.x.shape, amounts, strict=True)]
        )
        return tensors.take_entries(
            call.graph, call.x, np.pad(tensors.indices(call.x.shape), amounts, constant_values=-1)
        )

    return handler


def _cropping(rank: int) -> Handler:
    """Return the handler that cuts entries off the sides of each channel."""

    def handler(call: LayerCall) -> Value:
        amounts = _per_axis(call, rank, call.amounts("cropping", rank))
        table = tensors.indices(call.x.shape)
        for axis, (first, last) in enumerate(amounts):
            table = np.take(table, range(first, table.shape[axis] - last), axis=axis)
        return tensors.take_entries(call.graph, call.x, table)

    return handler


def _inference_identity(call: LayerCall) -> Value:
    """Return x for a layer with effects in training only, such as noise and penalties."""
    call.ignore(*call.layer.config)
    call.note(f"{call.layer.kind} does nothing at inference")
    return call.x


def _inner_input(call: LayerCall) -> Value:
    """Return x for the input of an inner model; Keras would reshape x if its shape were another."""
    found, shape = call.layer.config, call.x.shape
    stated = found.get("batch_shape", found.get("batch_input_shape"))
    sizes = [None] * len(shape) if stated is None else list(stated)
    if len(sizes) != len(shape) or any(
        known not in (None, size) for known, size in zip(sizes[1:], shape[1:], strict=True)
    ):
        raise call.fail(
            f"its model is applied to a value of shape {list(shape)}; expected {shown(str(stated))}"
        )
    return call.x


# --- Layers of several inputs -----


def _several_inputs(call: LayerCall) -> list[Value]:
    """Return the inputs of a layer that has at least two, all of one rank."""
    values = call.inputs
    if len(values) < 2 or len({len(value.shape) for value in values}) > 1:
        shapes = ", ".join(str(list(value.shape)) for value in values)
        raise call.fail(f"expected several inputs of one rank, got shapes {shapes}"[:200])
    return values


def _on_all_inputs(
    of_two: Callable[[Any, Value, Value], Value], most: int | None = None
) -> Handler:
    """Return the handler that applies an operation of two values to all inputs, from the left."""

    def handler(call: LayerCall) -> Value:
        values = _several_inputs(call)
        if most is not None and len(values) > most:
            raise call.fail(f"{len(values)} inputs; expected {most}")
        total = values[0]
        for value in values[1:]:
            total = of_two(call.graph, total, value)
        return total

    return handler


_add = _on_all_inputs(tensors.add)


def _average(call: LayerCall) -> Value:
    count = len(call.inputs)
    share = np.array(Fraction(1, count), dtype=object)
    return tensors.multiply(
        call.graph,
        _add(call),
        share,
        extra_roundings=tensors.QUOTIENT_ROUNDINGS,
        stretch=float(count),
    )


def _concatenate(call: LayerCall) -> Value:
    values = _several_inputs(call)
    axis = call.setting("axis", -1)
    if axis % len(values[0].shape) == 0:
        raise call.fail("axis 0 is the batch")
    return tensors.concat(call.graph, values, axis)


# --- The layers by class -----

_RANKS = {"1D": 1, "2D": 2, "3D": 3}

#: Classes of layers that only move entries, or do nothing.
MOVERS = {
    "ActivityRegularization",
    "AlphaDropout",
    "Dropout",
    "Flatten",
    "GaussianDropout",
    "GaussianNoise",
    "Identity",
    "InputLayer",
    "Permute",
    "Reshape",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
}

LAYERS: dict[str, Handler] = {
    "Activation": _activation_layer,
    "Add": _add,
    "Average": _average,
    "BatchNormalization": _batch_norm,
    "Concatenate": _concatenate,
    "Dense": _dense,
    "Flatten": _flatten,
    "InputLayer": _inner_input,
    "LeakyReLU": _leaky_relu_layer,
    "Maximum": _on_all_inputs(tensors.maximum),
    "Minimum": _on_all_inputs(tensors.minimum),
    "Normalization": _normalization,
    "PReLU": _prelu,
    "Permute": _permute,
    "ReLU": _relu_layer,
    "Rescaling": _rescaling,
    "Reshape": _reshape,
    "Softmax": _softmax_layer,
    "Subtract": _on_all_inputs(lambda graph, x, y: tensors.add(graph, x, y, -1), most=2),
    **dict.fromkeys(MOVERS - {"Flatten", "InputLayer", "Permute", "Reshape"}, _inference_identity),
    **{f"Conv{ending}": _conv(rank) for ending, rank in _RANKS.items()},
    **{f"Conv{ending}Transpose": _conv_transpose(rank) for ending, rank in _RANKS.items()},
    **{
        f"DepthwiseConv{ending}": _depthwise_conv(rank)
        for ending, rank in _RANKS.items()
        if rank < 3
    },
    **{
        f"SeparableConv{ending}": _separable_conv(rank)
        for ending, rank in _RANKS.items()
        if rank < 3
    },
    **{f"MaxPooling{ending}": _pool(rank, True) for ending, rank in _RANKS.items()},
    **{f"AveragePooling{ending}": _pool(rank, False) for ending, rank in _RANKS.items()},
    **{f"GlobalMaxPooling{ending}": _global_pool(rank, True) for ending, rank in _RANKS.items()},
    **{
        f"GlobalAveragePooling{ending}": _global_pool(rank, False)
        for ending, rank in _RANKS.items()
    },
    **{f"ZeroPadding{ending}": _zero_padding(rank) for ending, rank in _RANKS.items()},
    **{f"Cropping{ending}": _cropping(rank) for ending, rank in _RANKS.items()},
}
