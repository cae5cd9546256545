"""Keras files: every layer against an oracle, refusals, damaged files, real files.

Most files are made here with h5py and JSON. The oracle consists of loops over arrays without the
batch, channels last, in float64; weights and points are small dyadic numbers, so it is exact. The
settings are the ones that Keras 2.15 and 3.15 write; their files were compared with Keras when the
tests were written.
"""

from __future__ import annotations

import io
import itertools
import json
import random
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats import read
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.imported import Draft
from polyrelu.formats.keras import files as keras_files, hdf5
from polyrelu.formats.keras.reader import read_h5, read_keras
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.network import Network
from tests.generators.campaigns import few_and_all
from tests.generators.damage import damaged
from tests.generators.files import NETS as _NETS
from tests.generators.hdf5_in_process import read_in_process

h5py = pytest.importorskip("h5py")

Array = NDArray[Any]
Config = dict[str, Any]

# --- Making files -----


@dataclass(frozen=True)
class LayerSpec:
    """A layer to write: class, settings, weights by name, and its function of an array."""

    kind: str
    config: Config = field(default_factory=dict)
    weights: dict[str, Array] = field(default_factory=dict)
    does: Callable[[Array], Array] = lambda x: x
    name: str = ""


#: The groups of classes in .keras files.
_GROUPS = {
    "Dense": "dense",
    "Conv1D": "conv1d",
    "Conv2D": "conv2d",
    "Conv3D": "conv3d",
    "PReLU": "p_re_lu",
    "DepthwiseConv2D": "depthwise_conv2d",
    "DepthwiseConv1D": "depthwise_conv1d",
    "SeparableConv1D": "separable_conv1d",
    "SeparableConv2D": "separable_conv2d",
    "Normalization": "normalization",
    "BatchNormalization": "batch_normalization",
    "Conv2DTranspose": "conv2d_transpose",
    "Conv1DTranspose": "conv1d_transpose",
}


def _named(layers: Sequence[LayerSpec]) -> list[tuple[str, LayerSpec]]:
    return [
        (layer.name or f"{layer.kind.lower()}_{number}", layer)
        for number, layer in enumerate(layers, 1)
    ]


def _sequential(shape: Sequence[int | None], layers: Sequence[LayerSpec], major: int) -> Config:
    """The configuration of a Sequential model as Keras 2 or 3 writes it."""
    key = "batch_shape" if major >= 3 else "batch_input_shape"
    entries: list[Config] = [
        {
            "class_name": "InputLayer",
            "config": {key: [None, *shape], "dtype": "float32", "name": "input_1"},
        }
    ]
    entries += [
        {"class_name": layer.kind, "config": {"name": name, **layer.config}}
        for name, layer in _named(layers)
    ]
    return {"class_name": "Sequential", "config": {"name": "sequential", "layers": entries}}


def _h5(model: Config, layers: Sequence[LayerSpec], version: str = "2.15.0") -> bytes:
    """An HDF5 file of a complete model."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["model_config"] = json.dumps(model)
        if version:
            file.attrs["keras_version"] = version.encode()
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [name.encode() for name, _ in _named(layers)]
        for name, layer in _named(layers):
            own = group.create_group(name)
            own.attrs["weight_names"] = [f"{name}/{weight}:0".encode() for weight in layer.weights]
            for weight, array in layer.weights.items():
                own.create_dataset(f"{name}/{weight}:0", data=array)
    return buffer.getvalue()


def _weights_h5(layers: Sequence[LayerSpec], container: str = "layers", step: int = 1) -> bytes:
    """The content of the member model.weights.h5 of a .keras file."""
    buffer, counts = io.BytesIO(), dict[str, int]()
    with h5py.File(buffer, "w") as file:
        for name, layer in _named(layers):
            if layer.kind in _GROUPS:
                group = _GROUPS[layer.kind]
                number = counts.get(group, 0)
                counts[group] = number + step
                own = file.create_group(
                    f"{container}/{group}_{number}/vars" if number else f"{container}/{group}/vars"
                )
                own.attrs["name"] = name
                for index, array in enumerate(layer.weights.values()):
                    own.create_dataset(str(index), data=array)
    return buffer.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _keras(
    model: Config,
    layers: Sequence[LayerSpec],
    version: str = "3.15.1",
    changes: dict[str, bytes] | None = None,
) -> bytes:
    """The content of a .keras file with some members replaced."""
    members = {
        "metadata.json": json.dumps(
            {"keras_version": version, "date_saved": "2026-01-01@00:00:00"}
        ).encode(),
        "config.json": json.dumps(model).encode(),
        "model.weights.h5": _weights_h5(layers),
    }
    return _zip({**members, **(changes or {})})


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Read HDF5 in this process, for speed, except in tests with `worker` in their name."""
    if "worker" in request.node.name:
        return
    monkeypatch.setattr(keras_files, "read_hdf5", read_in_process)


def _read(folder: Path, content: bytes, ending: str = "h5", **options: Any) -> Draft:
    path = folder / f"net.{ending}"
    path.write_bytes(content)
    rounding = Rounding.parse(options.pop("rounding", ""))
    return (read_h5 if ending == "h5" else read_keras)(path, ReadOptions(rounding, **options))


def _network(draft: Draft) -> Network:
    assert draft.graph is not None
    return lower(draft.graph).network


def _draft_of(
    folder: Path, shape: Sequence[int | None], *layers: LayerSpec, major: int = 2, **options: Any
) -> Draft:
    """The draft of a Sequential model that is written to a file and read."""
    model = _sequential(shape, layers, major)
    version = {1: "1.2.2", 2: "2.15.0", 3: "3.15.1"}[major]
    if options.pop("ending", "h5") == "h5":
        return _read(folder, _h5(model, layers, version), **options)
    return _read(folder, _keras(model, layers, version), "keras", **options)


# --- The oracle -----

_R = random.Random(5)


def _dyadic(*shape: int, random_: random.Random = _R) -> Array:
    """An array of multiples of 1/8 between -2 and 2, on which float64 arithmetic is exact here."""
    return np.array(
        [random_.randint(-16, 16) / 8 for _ in range(int(np.prod(shape)))], np.float32
    ).reshape(shape)


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _same_padding(
    sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Any:
    """The padding before and after each axis under "same"."""
    pads = []
    for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        windows = -(-size // stride)
        total = max((windows - 1) * stride + dilation * (width - 1) + 1 - size, 0)
        pads.append((total // 2, total - total // 2))
    return pads


def _windows(
    x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Any
) -> tuple[tuple[int, ...], dict[tuple[int, ...], list[tuple[tuple[int, ...], tuple[int, ...]]]]]:
    """The number of windows, and for each the pairs (place in the kernel, place in x) inside x."""
    sizes = x.shape[:-1]
    counts = tuple(
        (size + before + after - dilation * (width - 1) - 1) // stride + 1
        for size, (before, after), width, stride, dilation in zip(
            sizes, pads, kernel, strides, dilations, strict=True
        )
    )
    table = {}
    for place in itertools.product(*map(range, counts)):
        pairs = []
        for offset in itertools.product(*map(range, kernel)):
            spot = tuple(
                p * s + o * d - before
                for p, s, o, d, (before, _) in zip(
                    place, strides, offset, dilations, pads, strict=True
                )
            )
            if all(0 <= at < size for at, size in zip(spot, sizes, strict=True)):
                pairs.append((offset, spot))
        table[place] = pairs
    return counts, table


def conv(
    k: Array, b: Array, strides: Sequence[int], pads: Any, dilations: Sequence[int], groups: int = 1
) -> Callable[[Array], Array]:
    """The convolution with a kernel of shape (…, channels of a group, filters)."""

    def does(x: Array) -> Array:
        rule = (
            _same_padding(x.shape[:-1], k.shape[:-2], strides, dilations)
            if isinstance(pads, str)
            else pads
        )
        counts, table = _windows(x, k.shape[:-2], strides, dilations, rule)
        own, filters = k.shape[-2:]
        out = np.zeros((*counts, filters)) + b
        for place, pairs in table.items():
            for offset, spot in pairs:
                for f in range(filters):
                    first = own * (f // (filters // groups))
                    out[(*place, f)] += x[spot][first : first + own] @ k[offset][:, f].astype(float)
        return out

    return does


def depthwise(k: Array, b: Array, strides: Sequence[int], pads: Any) -> Callable[[Array], Array]:
    """The depthwise convolution: filter m of channel c gives channel c · multiplier + m."""

    def does(x: Array) -> Array:
        ones = [1] * (k.ndim - 2)
        parts = []
        for c in range(k.shape[-2]):
            part = k[..., c : c + 1, :]
            parts.append(conv(part, np.zeros(k.shape[-1]), strides, pads, ones)(x[..., c : c + 1]))
        return np.concatenate(parts, axis=-1) + b

    return does


def conv_transpose(
    k: Array, b: Array, strides: Sequence[int], same: bool
) -> Callable[[Array], Array]:
    """The transposed convolution: every entry of x adds a multiple of the kernel to the output."""

    def does(x: Array) -> Array:
        window, rank = k.shape[:-2], k.ndim - 2
        full = [
            max((n - 1) * s + w, n * s) for n, s, w in zip(x.shape, strides, window, strict=False)
        ]
        out = np.zeros((*full, k.shape[-2]))
        for spot in itertools.product(*map(range, x.shape[:-1])):
            for offset in itertools.product(*map(range, window)):
                place = tuple(p * s + o for p, s, o in zip(spot, strides, offset, strict=True))
                out[place] += k[offset].astype(float) @ x[spot]
        for axis in range(rank):
            if same:
                extra = full[axis] - x.shape[axis] * strides[axis]
                out = np.take(
                    out, range(extra // 2, extra // 2 + x.shape[axis] * strides[axis]), axis=axis
                )
        return out + b

    return does


def pool(
    kernel: Sequence[int], strides: Sequence[int], pads: Any, of: Callable[[Array], Any]
) -> Any:
    def does(x: Array) -> Array:
        ones = [1] * len(kernel)
        rule = _same_padding(x.shape[:-1], kernel, strides, ones) if isinstance(pads, str) else pads
        counts, table = _windows(x, kernel, strides, ones, rule)
        out = np.zeros((*counts, x.shape[-1]))
        for place, pairs in table.items():
            out[place] = of(np.array([x[spot] for _, spot in pairs]))
        return out

    return does


def _mean(entries: Array) -> Any:
    return entries.mean(axis=0)


def _max(entries: Array) -> Any:
    return entries.max(axis=0)


def _flat(x: Array) -> Array:
    return x.reshape(-1)


# --- Layers -----


def dense(
    inputs: int,
    units: int,
    activation: str = "linear",
    does: Callable[[Array], Array] | None = None,
) -> LayerSpec:
    k, b = _dyadic(inputs, units), _dyadic(units)
    bend = does or {"linear": lambda x: x, "relu": relu}[activation]
    config = {"units": units, "activation": activation, "use_bias": True, "dtype": "float32"}
    return LayerSpec(
        "Dense", config, {"kernel": k, "bias": b}, lambda x: bend(x @ k.astype(float) + b)
    )


def _conv_layer(
    rank: int, kernel: Sequence[int], channels: int, filters: int, **config: Any
) -> LayerSpec:
    groups, ones = config.get("groups", 1), [1] * rank
    k, b = _dyadic(*kernel, channels // groups, filters), _dyadic(filters)
    strides, dilations = config.get("strides", ones), config.get("dilation_rate", ones)
    rule = config.get("padding", "valid")
    pads: Any = [(0, 0)] * rank if rule == "valid" else rule
    if rule == "causal":
        pads = [(dilations[0] * (kernel[0] - 1), 0)]
    inner = conv(k, b, strides, pads, dilations, groups)
    full = {
        "filters": filters,
        "kernel_size": list(kernel),
        "activation": "relu",
        "data_format": "channels_last",
    }
    return LayerSpec(
        f"Conv{rank}D", {**full, **config}, {"kernel": k, "bias": b}, lambda x: relu(inner(x))
    )


def _depthwise_layer(kernel: Sequence[int], channels: int, each: int, **config: Any) -> LayerSpec:
    k, b, rank = _dyadic(*kernel, channels, each), _dyadic(channels * each), len(kernel)
    strides = config.get("strides", [1] * rank)
    pads: Any = "same" if config.get("padding") == "same" else [(0, 0)] * rank
    full = {"kernel_size": list(kernel), "depth_multiplier": each, "groups": 1, **config}
    does = depthwise(k, b, strides, pads)
    return LayerSpec(f"DepthwiseConv{rank}D", full, {"depthwise_kernel": k, "bias": b}, does)


def _separable_layer(
    kernel: Sequence[int], channels: int, each: int, filters: int, **config: Any
) -> LayerSpec:
    own, rank = _depthwise_layer(kernel, channels, each, **config), len(kernel)
    across = _dyadic(*[1] * rank, channels * each, filters)
    weights = {"depthwise_kernel": own.weights["depthwise_kernel"], "pointwise_kernel": across}
    if config.get("use_bias", True):
        weights["bias"] = _dyadic(filters)
    no_bias, bias = -own.weights["bias"], weights.get("bias", np.zeros(filters))
    ones = [1] * rank
    end = conv(across, bias, ones, [(0, 0)] * rank, ones)
    full = {**own.config, "filters": filters, "activation": "relu"}
    kind = f"SeparableConv{rank}D"
    return LayerSpec(kind, full, weights, lambda x: relu(end(own.does(x) + no_bias)))


def _transpose_layer(
    kernel: Sequence[int], channels: int, filters: int, stride: int, padding: str
) -> LayerSpec:
    k, b, rank = _dyadic(*kernel, filters, channels), _dyadic(filters), len(kernel)
    config = {
        "filters": filters,
        "kernel_size": list(kernel),
        "strides": [stride] * rank,
        "padding": padding,
        "output_padding": None,
        "dilation_rate": [1] * rank,
        "groups": 1,
    }
    does = conv_transpose(k, b, [stride] * rank, padding == "same")
    return LayerSpec(f"Conv{rank}DTranspose", config, {"kernel": k, "bias": b}, does)


def _pool_layer(
    kind: str, size: Sequence[int], strides: Sequence[int] | None, padding: str
) -> LayerSpec:
    rank, of = len(size), _max if kind == "Max" else _mean
    pads: Any = "same" if padding == "same" else [(0, 0)] * rank
    config = {"pool_size": list(size), "strides": strides and list(strides), "padding": padding}
    return LayerSpec(f"{kind}Pooling{rank}D", config, {}, pool(size, strides or size, pads, of))


def _global_layer(kind: str, rank: int, keep: bool) -> LayerSpec:
    axes, of = tuple(range(rank)), np.max if kind == "Max" else np.mean
    config = {"data_format": "channels_last", "keepdims": keep}
    return LayerSpec(
        f"Global{kind}Pooling{rank}D", config, {}, lambda x: of(x, axis=axes, keepdims=keep)
    )


_ROOTS = np.array([1 / 16, 1 / 4, 1, 4], np.float32)  # variances with rational square roots


def _batch_norm(
    channels: int, axis: Any = -1, center: bool = True, scale: bool = True
) -> LayerSpec:
    names = ["gamma"] * scale + ["beta"] * center + ["moving_mean"]
    weights = {name: _dyadic(channels) for name in names}
    variance = _ROOTS[:channels]
    gamma, beta = weights.get("gamma", np.ones(channels)), weights.get("beta", np.zeros(channels))
    place = axis[0] if isinstance(axis, list) else axis

    def does(x: Array) -> Array:
        moved = np.moveaxis(x, place if place < 0 else place - 1, -1)
        normed = (moved - weights["moving_mean"]) / np.sqrt(variance) * gamma + beta
        return np.moveaxis(normed, -1, place if place < 0 else place - 1)

    config = {"axis": axis, "epsilon": 0, "center": center, "scale": scale, "momentum": 0.99}
    return LayerSpec("BatchNormalization", config, {**weights, "moving_variance": variance}, does)


def _prelu(shape: Sequence[int], shared: list[int] | None) -> LayerSpec:
    slopes = _dyadic(*shape)
    return LayerSpec(
        "PReLU",
        {"shared_axes": shared},
        {"alpha": slopes},
        lambda x: np.where(x > 0, x, slopes * x),
    )


def _normalization(axis: Any, shape: Sequence[int], broadcast: Sequence[int]) -> LayerSpec:
    mean, variance = _dyadic(*shape), _ROOTS[: int(np.prod(shape))].reshape(shape)
    weights = {"mean": mean, "variance": variance, "count": np.array(3)}
    deviation = np.sqrt(variance.astype(float)).reshape(broadcast)
    return LayerSpec(
        "Normalization",
        {"axis": axis, "mean": None, "variance": None, "invert": False},
        weights,
        lambda x: (x - mean.reshape(broadcast)) / deviation,
    )


def _plain(kind: str, does: Callable[[Array], Array], **config: Any) -> LayerSpec:
    return LayerSpec(kind, config, {}, does)


_FLATTEN = _plain("Flatten", _flat, data_format="channels_last")
_RELU = _plain("ReLU", relu)

#: Cases by name: the shape of a sample and the layers.
_CASES: dict[str, tuple[tuple[int, ...], list[LayerSpec]]] = {
    "dense": ((3,), [dense(3, 4, "relu"), dense(4, 2)]),
    "dense on a matrix": ((5, 3), [dense(3, 4, "relu"), dense(4, 2)]),
    "dense without bias": (
        (3,),
        [
            LayerSpec(
                "Dense",
                {"units": 2, "use_bias": False},
                {"kernel": (_K := _dyadic(3, 2))},
                lambda x: x @ _K.astype(float),
            ),
        ],
    ),
    "activation layers": (
        (3,),
        [
            dense(3, 4),
            _plain("Activation", relu, activation="relu"),
            dense(4, 3),
            _plain("Activation", lambda x: np.clip(x, 0, 6), activation="relu6"),
            dense(3, 2),
            _plain("Activation", lambda x: np.clip(x, -1, 1), activation="hard_tanh"),
            _plain("Activation", lambda x: x, activation="linear"),
        ],
    ),
    "relu layers": (
        (3,),
        [
            dense(3, 4),
            _plain("ReLU", relu, max_value=None, negative_slope=0.0, threshold=0.0),
            dense(4, 4),
            _plain("ReLU", lambda x: np.clip(x, 0, 1.5), max_value=1.5),
            dense(4, 4),
            _plain("ReLU", lambda x: np.where(x > 0, x, x / 8), negative_slope=0.125),
            dense(4, 4),
            _plain(
                "ReLU",
                lambda x: np.where(x > 0, np.minimum(x, 0.5), x / 4),
                negative_slope=0.25,
                max_value=0.5,
            ),
            dense(4, 2),
            _plain("ReLU", lambda x: 0 * x, max_value=0),
        ],
    ),
    "leaky relu before Keras 3": (
        (3,),
        [
            dense(3, 4),
            _plain("LeakyReLU", lambda x: np.where(x > 0, x, 0.75 * x), alpha=0.75),
            dense(4, 2),
        ],
    ),
    "leaky relu since Keras 3": (
        (3,),
        [
            dense(3, 4),
            _plain("LeakyReLU", lambda x: np.where(x > 0, x, -0.5 * x), negative_slope=-0.5),
            dense(4, 2),
        ],
    ),
    "a layer as activation": (
        (3,),
        [
            LayerSpec(
                "Dense",
                {
                    "units": 4,
                    "activation": {
                        "module": "keras.layers",
                        "class_name": "LeakyReLU",
                        "config": {"name": "inner", "alpha": 0.5},
                        "registered_name": None,
                    },
                },
                {"kernel": (_K2 := _dyadic(3, 4)), "bias": (_B2 := _dyadic(4))},
                lambda x: np.where((y := x @ _K2.astype(float) + _B2) > 0, y, y / 2),
            ),
            dense(4, 2),
        ],
    ),
    "prelu": ((4,), [_prelu([4], None), dense(4, 2)]),
    "prelu with shared axes": (
        (2, 3, 4),
        [_prelu([1, 1, 4], [1, 2]), _prelu([2, 1, 4], [2]), _FLATTEN],
    ),
    "flatten and reshape": (
        (2, 3, 4),
        [
            _FLATTEN,
            dense(24, 6, "relu"),
            _plain("Reshape", lambda x: x.reshape(3, 2), target_shape=[3, -1]),
            _plain("Permute", lambda x: x.T, dims=[2, 1]),
            _plain("Reshape", _flat, target_shape=[6]),
        ],
    ),
    "flatten channels first": (
        (2, 3, 4),
        [
            _plain(
                "Flatten", lambda x: np.moveaxis(x, 0, -1).reshape(-1), data_format="channels_first"
            ),
            dense(24, 2),
        ],
    ),
    "permute three axes": (
        (2, 3, 4),
        [_plain("Permute", lambda x: x.transpose(2, 0, 1), dims=[3, 1, 2]), _RELU],
    ),
    "padding and cropping 1D": (
        (3, 2),
        [
            _plain("ZeroPadding1D", lambda x: np.pad(x, [(1, 2), (0, 0)]), padding=[1, 2]),
            _plain("Cropping1D", lambda x: x[2:-1], cropping=[2, 1]),
            _plain("ZeroPadding1D", lambda x: np.pad(x, [(1, 1), (0, 0)]), padding=1),
            _RELU,
        ],
    ),
    "padding and cropping 2D": (
        (3, 4, 2),
        [
            _plain(
                "ZeroPadding2D",
                lambda x: np.pad(x, [(1, 2), (0, 1), (0, 0)]),
                padding=[[1, 2], [0, 1]],
            ),
            _plain("Cropping2D", lambda x: x[2:, 1:-1], cropping=[[2, 0], [1, 1]]),
            _RELU,
        ],
    ),
    "padding and cropping 3D": (
        (3, 2, 2, 2),
        [
            _plain(
                "ZeroPadding3D",
                lambda x: np.pad(x, [(0, 2), (1, 1), (3, 0), (0, 0)]),
                padding=[[0, 2], [1, 1], [3, 0]],
            ),
            _plain("Cropping3D", lambda x: x[1:-1, :-2], cropping=[[1, 1], [0, 2], [0, 0]]),
            _RELU,
        ],
    ),
    "noise": (
        (3,),
        [
            dense(3, 4, "relu"),
            _plain("Dropout", lambda x: x, rate=0.3, seed=7),
            dense(4, 3),
            _plain("GaussianNoise", lambda x: x, stddev=0.1),
            _plain("AlphaDropout", lambda x: x, rate=0.5),
            _plain("ActivityRegularization", lambda x: x, l1=0.1, l2=0.2),
            _plain("Identity", lambda x: x),
        ],
    ),
    "batch norm": ((3,), [dense(3, 4), _batch_norm(4), _RELU, dense(4, 2)]),
    "batch norm on channels": (
        (2, 3, 4),
        [_batch_norm(4, [3], center=False), _RELU, _batch_norm(4, scale=False)],
    ),
    "batch norm on another axis": ((4, 3, 2), [_batch_norm(4, 1), _RELU]),
    "batch norm without scale": ((4,), [_batch_norm(4, center=False, scale=False), _RELU]),
    "rescaling": (
        (2, 3),
        [_plain("Rescaling", lambda x: x / 4 - 0.5, scale=0.25, offset=-0.5), _RELU],
    ),
    "rescaling by channel": (
        (2, 3),
        [
            _plain(
                "Rescaling",
                lambda x: x * [1, 2, 0.5] + [0, 1, 2],
                scale=[1, 2, 0.5],
                offset=[0.0, 1.0, 2.0],
            ),
            _RELU,
        ],
    ),
    "normalization": ((2, 4), [_normalization([-1], [4], [4]), _RELU]),
    "normalization of an axis": ((4, 3), [_normalization(1, [4], [4, 1]), _RELU]),
    "normalization of two axes": ((2, 3, 2), [_normalization([-1, 1], [2, 2], [2, 1, 2]), _RELU]),
    "normalization of all": ((2, 3), [_normalization([], [], []), _RELU]),
    "normalization of the configuration": (
        (2, 2),
        [
            _plain(
                "Normalization",
                lambda x: (x - [0.5, -1]) / [2, 0.5],
                axis=[-1],
                mean=[0.5, -1.0],
                variance=[4.0, 0.25],
            ),
            _plain("Normalization", lambda x: (x - 0.25) / 2, axis=[-1], mean=0.25, variance=4),
            _RELU,
        ],
    ),
    "conv 1D": ((7, 2), [_conv_layer(1, [3], 2, 3, strides=[2], padding="same"), _FLATTEN]),
    "conv 1D causal": ((7, 2), [_conv_layer(1, [3], 2, 3, dilation_rate=[2], padding="causal")]),
    "conv 2D": ((4, 5, 2), [_conv_layer(2, [2, 3], 2, 3), _FLATTEN, dense(27, 2)]),
    "conv 2D same": (
        (4, 5, 2),
        [_conv_layer(2, [2, 3], 2, 3, strides=[2, 1], padding="same"), _FLATTEN],
    ),
    "conv 2D same, even": ((4, 5, 1), [_conv_layer(2, [4, 2], 1, 2, padding="same")]),
    "conv 2D dilated": ((5, 6, 2), [_conv_layer(2, [2, 3], 2, 2, dilation_rate=[3, 2])]),
    "conv 2D in groups": ((3, 3, 4), [_conv_layer(2, [2, 2], 4, 6, groups=2)]),
    "conv 3D": ((3, 4, 3, 2), [_conv_layer(3, [2, 3, 1], 2, 2, strides=[1, 2, 2], padding="same")]),
    "separable 1D": ((5, 2), [_separable_layer([2], 2, 2, 3, use_bias=False)]),
    "separable 2D": (
        (4, 5, 2),
        [_separable_layer([2, 3], 2, 2, 3, strides=[2, 2], padding="same"), _FLATTEN],
    ),
    "depthwise 1D": ((5, 3), [_depthwise_layer([2], 3, 2)]),
    "depthwise 2D": (
        (4, 5, 3),
        [_depthwise_layer([2, 3], 3, 2, strides=[2, 2], padding="same"), _RELU],
    ),
    "transposed 1D": ((4, 2), [_transpose_layer([4], 2, 3, 2, "same"), _RELU]),
    "transposed 2D": ((2, 3, 2), [_transpose_layer([2, 3], 2, 3, 2, "valid"), _RELU]),
    "transposed 2D same": ((2, 3, 2), [_transpose_layer([2, 3], 2, 2, 2, "same"), _RELU]),
    "transposed 2D of a large stride": (
        (2, 2, 1),
        [_transpose_layer([2, 3], 1, 2, 4, "valid"), _RELU],
    ),
    "max pooling 1D": ((7, 2), [_pool_layer("Max", [3], [2], "same"), _FLATTEN]),
    "max pooling 2D": ((4, 5, 2), [_pool_layer("Max", [2, 2], None, "valid")]),
    "max pooling 2D same": ((4, 5, 2), [_pool_layer("Max", [3, 2], [2, 2], "same")]),
    "max pooling 3D": ((2, 2, 4, 2), [_pool_layer("Max", [2, 1, 2], None, "valid")]),
    "average pooling 1D": ((8, 2), [_pool_layer("Average", [4], [2], "valid"), _RELU]),
    "average pooling 2D same": ((3, 5, 2), [_pool_layer("Average", [2, 2], None, "same"), _RELU]),
    "average pooling 3D": ((2, 2, 4, 2), [_pool_layer("Average", [2, 1, 2], None, "valid"), _RELU]),
    "global max 1D": ((5, 2), [_global_layer("Max", 1, False), _RELU]),
    "global max 2D": ((2, 3, 2), [_global_layer("Max", 2, True), _RELU]),
    "global average 2D": ((2, 4, 2), [_global_layer("Average", 2, False), _RELU]),
    "global average 3D": ((2, 2, 2, 3), [_global_layer("Average", 3, True), _RELU]),
    "a small network": (
        (6, 6, 1),
        [
            _conv_layer(2, [3, 3], 1, 2),
            _pool_layer("Max", [2, 2], None, "valid"),
            _batch_norm(2),
            _FLATTEN,
            dense(8, 3, "relu"),
            dense(3, 2),
        ],
    ),
}


def _points(shape: Sequence[int], count: int = 4) -> list[Array]:
    chance = random.Random(1)
    return [np.zeros(shape), *(_dyadic(*shape, random_=chance).astype(float) for _ in range(count))]


def _agrees(network: Network, shapes: Sequence[Sequence[int]], does: Callable[..., Array]) -> None:
    for inputs in zip(*(_points(shape) for shape in shapes), strict=True):
        flat = [float(entry) for x in inputs for entry in x.reshape(-1)]
        expected = [Fraction(float(entry)) for entry in np.asarray(does(*inputs)).reshape(-1)]
        assert list(network(flat)) == expected


@pytest.mark.parametrize(("ending", "major"), [("h5", 2), ("keras", 3)])
@pytest.mark.parametrize("name", _CASES)
def test_layers(name: str, ending: str, major: int, tmp_path: Path) -> None:
    shape, layers = _CASES[name]
    draft = _draft_of(tmp_path, shape, *layers, ending=ending, major=major)

    def does(x: Array) -> Array:
        for layer in layers:
            x = layer.does(x)
        return x

    _agrees(_network(draft), [shape], does)
    assert draft.rounding == set()
    assert draft.caveats == []
    counted = [
        array for layer in layers for name, array in layer.weights.items() if name != "count"
    ]
    assert draft.num_stored == sum(array.size for array in counted)
    assert draft.dtypes == ({"float32"} if counted else set())
    assert draft.input_shapes == [(1, *shape)]
    assert len(draft.steps) == len(layers)


def test_channels_first(tmp_path: Path) -> None:
    """Layers with channels first between two permutations give the same function."""
    inner = _CASES["conv 2D in groups"][1][0]
    last, first = ({"data_format": f"channels_{word}"} for word in ("last", "first"))
    pools: list[tuple[str, Config]] = [
        ("MaxPooling2D", {"pool_size": [2, 1]}),
        ("ZeroPadding2D", {"padding": [[1, 0], [0, 2]]}),
        ("Cropping2D", {"cropping": [[0, 1], [1, 0]]}),
        ("GlobalAveragePooling2D", {"keepdims": True}),
    ]
    there = [inner, *(LayerSpec(kind, {**config, **last}) for kind, config in pools)]
    here = [LayerSpec(layer.kind, {**layer.config, **first}, layer.weights) for layer in there]
    here = [
        LayerSpec("Permute", {"dims": [3, 1, 2]}),
        *here,
        LayerSpec("Permute", {"dims": [2, 3, 1]}),
    ]
    networks = [_network(_draft_of(tmp_path, (3, 3, 4), *layers)) for layers in (there, here)]
    assert networks[0] == networks[1]


def test_leaky_relu_by_name(tmp_path: Path) -> None:
    """The slope 0.2 is the nearest float, or the decimal number, by the rule for attributes."""
    layers = [dense(1, 1, "leaky_relu", lambda x: x)]
    for rule, slope in (("stored", Fraction(float(np.float32(0.2)))), ("decimal", Fraction(1, 5))):
        draft = _draft_of(tmp_path, (1,), *layers, major=3, rounding=f"attributes={rule}")
        kernel, bias = (
            Fraction(float(array.reshape(-1)[0])) for array in layers[0].weights.values()
        )
        value = -4 * kernel + bias if kernel > 0 else 4 * kernel + bias
        assert _network(draft)([-4 if kernel > 0 else 4]) == (
            slope * value if value < 0 else value,
        )
        assert draft.rounding == {f"attributes: {rule}"}


# --- Activations and settings -----


def _slope(draft: Draft) -> Fraction:
    """The slope of a network with one input and one output at negative inputs."""
    network = _network(draft)
    return network([-1])[0] - network([-2])[0]


@pytest.mark.parametrize(
    ("text", "rule", "slope"),
    [
        (0.3, "stored", Fraction(float(np.float32(0.3)))),
        (0.3, "decimal", Fraction(3, 10)),
        (float(np.float32(0.3)), "stored", Fraction(float(np.float32(0.3)))),
        (
            float(np.float32(0.3)),
            "decimal",
            Fraction(3, 10),
        ),  # Keras 2 writes the float32 as a float64
        (0.25, "stored", Fraction(1, 4)),
        (0.25, "decimal", Fraction(1, 4)),
    ],
)
def test_rule_for_attributes(text: float, rule: str, slope: Fraction, tmp_path: Path) -> None:
    draft = _draft_of(
        tmp_path,
        (1,),
        LayerSpec("LeakyReLU", {"negative_slope": text}),
        rounding=f"attributes={rule}",
    )
    assert _slope(draft) == slope
    assert draft.rounding == (set() if text == 0.25 else {f"attributes: {rule}"})
    assert draft.bounded == ({"float32", "float64"} if text == 0.25 else {"float32"})


def test_attributes_that_are_the_same_under_both_rules_are_not_recorded(tmp_path: Path) -> None:
    draft = _draft_of(
        tmp_path,
        (1,),
        LayerSpec("LeakyReLU", {"negative_slope": 2.0}),
        LayerSpec("ReLU", {"max_value": 6}),
    )
    assert draft.rounding == set()


def test_attributes_of_float64_layers(tmp_path: Path) -> None:
    draft = _draft_of(
        tmp_path, (1,), LayerSpec("LeakyReLU", {"negative_slope": 0.3, "dtype": "float64"})
    )
    assert _slope(draft) == Fraction(0.3)
    assert (draft.arithmetic, draft.bounded) == ("float64", {"float32", "float64"})
    assert (
        _draft_of(
            tmp_path, (1,), LayerSpec("ReLU"), LayerSpec("ReLU", {"dtype": "float64"})
        ).arithmetic
        == ""
    )


def test_attributes_as_numpy_numbers(tmp_path: Path) -> None:
    number = {"class_name": "__numpy__", "config": {"value": 0.5, "dtype": "float32"}}
    assert _slope(_draft_of(tmp_path, (1,), LayerSpec("LeakyReLU", {"alpha": number}))) == Fraction(
        1, 2
    )


@pytest.mark.parametrize(
    ("major", "slope"), [(2, Fraction(float(np.float32(0.2)))), (3, Fraction(1, 6))]
)
def test_hard_sigmoid_follows_the_version(major: int, slope: Fraction, tmp_path: Path) -> None:
    draft = _draft_of(
        tmp_path, (1,), LayerSpec("Activation", {"activation": "hard_sigmoid"}), major=major
    )
    network = _network(draft)
    assert [network([x])[0] for x in (-4, 0, 1, 4)] == [
        0,
        Fraction(1, 2),
        slope + Fraction(1, 2),
        1,
    ]
    assert any("hard_sigmoid is" in note for note in draft.notes)


def test_hard_sigmoid_of_unknown_version(tmp_path: Path) -> None:
    layers = [LayerSpec("Activation", {"activation": "hard_sigmoid"})]
    content = _h5(_sequential((1,), layers, 2), layers, "")
    with pytest.raises(NetworkFileError, match="hard_sigmoid has another slope since Keras 3"):
        _read(tmp_path, content)


def test_batch_norm_with_rounded_roots(tmp_path: Path) -> None:
    layer = _batch_norm(4)
    layer.weights["moving_variance"] = np.array([2, 4, 3, 0.0], np.float32)
    config = {**layer.config, "epsilon": 0.5}
    draft = _draft_of(
        tmp_path,
        (4,),
        LayerSpec("BatchNormalization", config, layer.weights),
        rounding="batchnorm=float32",
    )
    assert draft.rounding == {"batchnorm: float32"}
    assert draft.bounded == {"float32"}
    assert "BatchNormalization: 4 of 4 factors 1/√variance are rounded" in draft.notes
    whole = _draft_of(
        tmp_path,
        (4,),
        LayerSpec(
            "BatchNormalization",
            {**config, "epsilon": 0},
            {**layer.weights, "moving_variance": np.array([4, 1, 9, 0.25], np.float32)},
        ),
    )
    assert whole.rounding == set()


def test_normalization_of_a_constant_feature(tmp_path: Path) -> None:
    """A standard deviation of 0 is replaced by 10^-7, the ε of Keras."""
    layer = LayerSpec("Normalization", {"axis": [-1], "mean": [1.0, 2.0], "variance": [0.0, 4.0]})
    draft = _draft_of(tmp_path, (2,), layer, rounding="attributes=decimal")
    assert _network(draft)([2, 4]) == (Fraction(10**7), Fraction(1))
    assert draft.rounding == {"attributes: decimal"}
    assert any("below 1e-7" in note for note in draft.notes)


@pytest.mark.parametrize(
    ("tail", "name"),
    [
        ([dense(3, 2, "softmax", lambda x: x)], "softmax"),
        ([dense(3, 2), LayerSpec("Activation", {"activation": "sigmoid"})], "sigmoid"),
        (
            [
                dense(3, 2),
                LayerSpec("Softmax", {"axis": -1}),
                LayerSpec("Dropout", {"rate": 0.1}),
                LayerSpec("Reshape", {"target_shape": [2, 1]}),
            ],
            "softmax",
        ),
    ],
)
def test_tails_are_stripped_on_demand(tail: list[LayerSpec], name: str, tmp_path: Path) -> None:
    first = dense(3, 3, "relu")
    draft = _draft_of(tmp_path, (3,), first, *tail, strip_tail=True)
    _agrees(_network(draft), [(3,)], lambda x: tail[0].does(first.does(x)))
    assert draft.caveats == [
        f"the {name} after the last layer was stripped: outputs are its inputs"
    ]
    inside = [first, *tail, LayerSpec("Flatten"), dense(2, 2)]
    with pytest.raises(NetworkFileError, match=f"the activation '{name}' is not supported"):
        _draft_of(tmp_path, (3,), *inside, strip_tail=True)


def test_number_types(tmp_path: Path) -> None:
    k, b = _dyadic(2, 2), _dyadic(2)
    weights = {"kernel": k.astype(np.float16), "bias": b.astype(">f8")}
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "mixed_float16"}}
    draft = _draft_of(tmp_path, (2,), LayerSpec("Dense", {"units": 2, "dtype": policy}, weights))
    _agrees(_network(draft), [(2,)], lambda x: x @ k.astype(float) + b)
    assert draft.dtypes == {"float16", "float64"}
    assert any("mixed_float16" in note for note in draft.notes)


# --- Functional models -----

Edges = list[list[tuple[str, int]]]


def _functional(
    layers: Sequence[tuple[LayerSpec, Edges]], inputs: list[str], outputs: list[Any], major: int
) -> Config:
    """A functional model, from the uses of each layer with the (layer, use) that each use reads."""
    entries = []
    for layer, uses in layers:
        nodes: list[Any] = []
        for edges in uses:
            if major < 3:
                nodes.append([[name, use, 0, {}] for name, use in edges])
            else:
                made = [
                    {
                        "class_name": "__keras_tensor__",
                        "config": {
                            "shape": [None, 1],
                            "dtype": "float32",
                            "keras_history": [name, use, 0],
                        },
                    }
                    for name, use in edges
                ]
                nodes.append({"args": made if len(made) == 1 else [made], "kwargs": {"mask": None}})
        config = {"name": layer.name, **layer.config}
        entries.append(
            {"class_name": layer.kind, "config": config, "name": layer.name, "inbound_nodes": nodes}
        )
    places = [[name, 0, 0] for name in inputs]
    return {
        "class_name": "Functional",
        "config": {
            "name": "model",
            "layers": entries,
            "output_layers": outputs,
            "input_layers": places[0] if len(places) == 1 and major >= 3 else places,
        },
    }


def _input(name: str, *shape: int) -> tuple[LayerSpec, Edges]:
    return LayerSpec("InputLayer", {"batch_shape": [None, *shape]}, name=name), []


def _with_name(layer: LayerSpec, name: str) -> LayerSpec:
    return LayerSpec(layer.kind, layer.config, layer.weights, layer.does, name)


@pytest.mark.parametrize("major", [2, 3])
def test_branches_shared_layers_several_inputs_and_outputs(major: int, tmp_path: Path) -> None:
    a, d = _with_name(dense(4, 3, "relu"), "a"), _with_name(dense(4, 3, "relu"), "d")
    end = _with_name(dense(15, 2), "end")
    three = [("a", 0), ("d", 0), ("d", 1)]
    merged = [
        ("add", "Add", three),
        ("sub", "Subtract", three[:2]),
        ("mean", "Average", three[:2]),
        ("most", "Maximum", three),
        ("least", "Minimum", three[1:]),
    ]
    layers: list[tuple[LayerSpec, Edges]] = [
        (d, [[("y", 0)], [("x", 0)]]),
        _input("x", 4),
        _input("y", 4),
        (a, [[("x", 0)]]),
        *((LayerSpec(kind, name=name), [edges]) for name, kind, edges in merged),
        (
            LayerSpec("Concatenate", {"axis": -1}, name="all"),
            [[(name, 0) for name, _, _ in merged]],
        ),
        (end, [[("all", 0)]]),
    ]
    model = _functional(layers, ["x", "y"], [["end", 0, 0], ["most", 0, 0]], major)
    stored = [layer for layer, _ in layers]

    def does(x: Array, y: Array) -> Array:
        p, q, r = a.does(x), d.does(y), d.does(x)
        parts = [p + q + r, p - q, (p + q) / 2, np.maximum(np.maximum(p, q), r), np.minimum(q, r)]
        return np.concatenate([end.does(np.concatenate(parts)), parts[3]])

    for content, ending in ((_h5(model, stored), "h5"), (_keras(model, stored), "keras")):
        draft = _read(tmp_path, content, ending)
        _agrees(_network(draft), [(4,), (4,)], does)
        assert "outputs one after the other: 'end' (2), 'most' (3)" in draft.notes
        assert any("input 'y', coordinates 4 to 7," in note for note in draft.notes)
        assert draft.num_stored == sum(
            array.size for layer in stored for array in layer.weights.values()
        )


@pytest.mark.parametrize("major", [2, 3])
def test_a_residual_block(major: int, tmp_path: Path) -> None:
    conv_, norm = (
        _with_name(_conv_layer(2, [3, 3], 2, 2, padding="same"), "c"),
        _with_name(_batch_norm(2), "n"),
    )
    layers: list[tuple[LayerSpec, Edges]] = [
        _input("x", 3, 4, 2),
        (conv_, [[("x", 0)]]),
        (norm, [[("c", 0)]]),
        (LayerSpec("Add", name="s"), [[("n", 0), ("x", 0)]]),
        (LayerSpec("Activation", {"activation": "relu"}, name="r"), [[("s", 0)]]),
        (LayerSpec("Concatenate", {"axis": 2}, name="j"), [[("r", 0), ("c", 0)]]),
    ]
    model = _functional(layers, ["x"], ["j", 0, 0] if major >= 3 else [["j", 0, 0]], major)
    draft = _read(tmp_path, _h5(model, [layer for layer, _ in layers]))

    def does(x: Array) -> Array:
        c = conv_.does(x)
        return np.concatenate([relu(norm.does(c) + x), c], axis=1)

    _agrees(_network(draft), [(3, 4, 2)], does)


def test_merging_broadcasts(tmp_path: Path) -> None:
    layers: list[tuple[LayerSpec, Edges]] = [
        _input("x", 2, 3),
        _input("y", 1, 3),
        (LayerSpec("Maximum", name="m"), [[("x", 0), ("y", 0)]]),
    ]
    draft = _read(
        tmp_path,
        _h5(_functional(layers, ["x", "y"], [["m", 0, 0]], 2), [layer for layer, _ in layers]),
    )
    _agrees(_network(draft), [(2, 3), (1, 3)], np.maximum)


# --- Ways of writing a model -----


def test_keras_1(tmp_path: Path) -> None:
    """Keras 1 writes a list of layers with other names and without an InputLayer."""
    made = [dense(3, 4, "relu"), dense(4, 2)]
    entries = [
        {
            "class_name": "Dense",
            "config": {
                "name": f"dense_{i}",
                "output_dim": layer.config["units"],
                "bias": True,
                "init": "uniform",
                "activation": layer.config["activation"],
                "input_dim": 3,
                "batch_input_shape": [None, 3],
            },
        }
        for i, layer in enumerate(made, 1)
    ]
    path = tmp_path / "net.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(
            {"class_name": "Sequential", "config": entries}
        ).encode()
        file.attrs["keras_version"] = b"1.2.1"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"dense_1", b"dense_2"]
        for i, layer in enumerate(made, 1):
            own = group.create_group(f"dense_{i}")
            own.attrs["weight_names"] = [f"dense_{i}_{letter}".encode() for letter in "Wb"]
            for letter, array in zip("Wb", layer.weights.values(), strict=True):
                own[f"dense_{i}_{letter}"] = array
    draft = read_h5(path, ReadOptions())
    _agrees(_network(draft), [(3,)], lambda x: made[1].does(made[0].does(x)))
    assert draft.format == "keras 1.2.1, .h5"


def test_keras_2_12_leaves_out_numbers(tmp_path: Path) -> None:
    """Keras 2.12 names groups dense, dense_2, dense_4 and does not record the names of layers."""
    layers = [dense(3, 4, "relu"), dense(4, 4, "relu"), dense(4, 2)]
    stored = _weights_h5(layers, "_layer_checkpoint_dependencies", 2)
    content = _keras(_sequential((3,), layers, 2), layers, "2.12.0", {"model.weights.h5": stored})
    draft = _read(tmp_path, content, "keras")
    _agrees(_network(draft), [(3,)], lambda x: layers[2].does(layers[1].does(layers[0].does(x))))


def test_keras_files_that_are_hdf5(tmp_path: Path) -> None:
    """TensorFlow up to 2.12 wrote HDF5 under the ending .keras."""
    layers = [dense(3, 2, "relu")]
    draft = _read(tmp_path, _h5(_sequential((3,), layers, 2), layers), "keras")
    assert draft.format == "keras 2.15.0, .h5"
    assert (draft.inputs, draft.outputs) == ([("input_1", 3)], [("dense_1", 2)])
    assert _network(draft).last == "relu"


def test_names_of_weights_in_keras_3_h5_files(tmp_path: Path) -> None:
    layers = [_depthwise_layer([2, 2], 2, 2), _FLATTEN, dense(8, 2)]
    renamed = {
        "sequential/depthwise_conv2d/kernel": "depthwise_kernel",
        "sequential/dense/kernel": "kernel",
    }
    path = tmp_path / "net.h5"
    path.write_bytes(_h5(_sequential((3, 2, 2), layers, 3), layers, "3.0.0"))
    with h5py.File(path, "r+") as file:
        for name, kind in (("depthwiseconv2d_1", "depthwise_kernel"), ("dense_3", "kernel")):
            group = file[f"model_weights/{name}"]
            full = next(new for new, old in renamed.items() if old == kind)
            group.move(f"{name}/{kind}:0", full)
            group.attrs["weight_names"] = [full, f"{name}/bias:0"]
    network = _network(read_h5(path, ReadOptions()))
    _agrees(network, [(3, 2, 2)], lambda x: layers[2].does(_flat(layers[0].does(x))))


def test_long_lists_of_names_are_cut(tmp_path: Path) -> None:
    layers = [dense(2, 2) for _ in range(12)]
    path = tmp_path / "net.h5"
    path.write_bytes(_h5(_sequential((2,), layers, 2), layers))
    with h5py.File(path, "r+") as file:
        group = file["model_weights"]
        names = list(group.attrs["layer_names"])
        del group.attrs["layer_names"]
        for i in range(12):
            group.attrs[f"layer_names{i}"] = names[i : i + 1]
    assert _network(read_h5(path, ReadOptions())) == _network(_draft_of(tmp_path, (2,), *layers))


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_the_worker_reads_the_same(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, layers = _CASES["a small network"]
    model = _sequential(shape, layers, 3)
    content = _h5(model, layers) if ending == "h5" else _keras(model, layers)
    network = _network(_read(tmp_path, content, ending))

    def does(x: Array) -> Array:
        for layer in layers:
            x = layer.does(x)
        return x

    _agrees(network, [shape], does)


# --- Shapes of inputs -----


def _without_input(layers: Sequence[LayerSpec], **settings: Any) -> Config:
    model = _sequential((1,), layers, 2)
    model["config"]["layers"] = model["config"]["layers"][1:]
    model["config"]["layers"][0]["config"] |= settings
    return model


def test_where_the_shape_of_the_input_stands(tmp_path: Path) -> None:
    layers = [dense(3, 2)]
    in_layer = _without_input(layers, batch_input_shape=[None, 3])
    built, nowhere = _without_input(layers), _without_input(layers)
    built["config"]["build_input_shape"] = [None, 3]
    networks = [_network(_read(tmp_path, _h5(model, layers))) for model in (in_layer, built)]
    networks.append(_network(_read(tmp_path, _h5(nowhere, layers), input_shape=(1, 3))))
    assert networks[0] == networks[1] == networks[2]
    nowhere["config"]["build_input_shape"] = 3
    with pytest.raises(NetworkFileError, match="model configuration: not one that Keras writes"):
        _read(tmp_path, _h5(nowhere, layers))
    nowhere["config"]["build_input_shape"] = None
    with pytest.raises(
        NetworkFileError, match=r"input: shape None is not fixed.*say it with --input-shape"
    ):
        _read(tmp_path, _h5(nowhere, layers))


def test_open_shapes_are_given_by_the_user(tmp_path: Path) -> None:
    layers = [_conv_layer(1, [2], 3, 2), _global_layer("Max", 1, False)]
    draft = _draft_of(tmp_path, (None, 3), *layers, input_shape=(1, 5, 3))
    _agrees(_network(draft), [(5, 3)], lambda x: layers[1].does(layers[0].does(x)))
    assert draft.input_shapes == [(1, 5, 3)]
    with pytest.raises(
        NetworkFileError, match=r"shape \[None, None, 3\] is not fixed after the batch dimension"
    ):
        _draft_of(tmp_path, (None, 3), *layers)
    for shape in ((1, 5, 2), (1, 5), (2, 5, 3), (5, 3)):
        with pytest.raises(NetworkFileError, match=r"the input shape .* was given; the file says"):
            _draft_of(tmp_path, (None, 3), *layers, input_shape=shape)


# --- Refusals -----

_D = dense(2, 2)
_C = _conv_layer(2, [2, 2], 1, 1)


def _with(layer: LayerSpec, **config: Any) -> LayerSpec:
    return LayerSpec(layer.kind, {**layer.config, **config}, layer.weights)


def _weighing(layer: LayerSpec, **weights: Array) -> LayerSpec:
    return LayerSpec(layer.kind, layer.config, {**layer.weights, **weights})


#: Layers that are refused, by name: the shape of the input, the layer, and the message.
_BAD_LAYERS: dict[str, tuple[tuple[int, ...], LayerSpec, str]] = {
    "lambda": (
        (2,),
        LayerSpec("Lambda", {"function": ["4wEAAA"]}),
        r"\(Lambda\): this layer is not supported; supported are",
    ),
    "unknown": (
        (2,),
        LayerSpec("MyLayer"),
        r"\(MyLayer\): this layer is not supported; supported are Activation, .*ZeroPad",
    ),
    "control characters": (
        (2,),
        LayerSpec("My\x07\nLayer"),
        r"\('My\\x07\\nLayer'\): this layer is not supported",
    ),
    "multiply": ((2,), LayerSpec("Multiply"), r"\(Multiply\): this layer is not supported"),
    "softplus": (
        (2,),
        LayerSpec("Activation", {"activation": "softplus"}),
        "'softplus' is not supported; supported are",
    ),
    "elu": (
        (2,),
        _with(_D, activation="elu"),
        r"\(Dense\): the activation 'elu' is not supported; supported are hard",
    ),
    "own activation": (
        (2,),
        _with(_D, activation={"class_name": "function", "config": "relu", "module": "builtins"}),
        "the activation 'relu' of builtins, a function is not supported",
    ),
    "activation layer of others": (
        (2,),
        _with(_D, activation={"module": "mine", "class_name": "ReLU", "config": {}}),
        "the activation 'ReLU' of mine is not supported",
    ),
    "activation that is a list": (
        (2,),
        _with(_D, activation=["relu"]),
        "settings are not those of this layer",
    ),
    "an unknown setting": ((2,), _with(_D, twist=3), "its setting 'twist' is not known"),
    "units missing": (
        (2,),
        LayerSpec("Dense", {}, _D.weights),
        "units is None; expected 1 positive sizes",
    ),
    "units that are no size": ((2,), _with(_D, units=True), "units is True; expected 1 positive"),
    "units of another size": (
        (2,),
        _with(_D, units=3),
        r"its kernel has shape \[2, 2\]; expected \[2, 3\]",
    ),
    "a kernel of another size": ((3,), _D, r"its kernel has shape \[2, 2\]; expected \[3, 2\]"),
    "no bias": (
        (2,),
        LayerSpec("Dense", _D.config, {"kernel": _dyadic(2, 2)}),
        "(the file holds the weights dense_1/kernel:0; expected kernel, bias|has 1 weights of it)",
    ),
    "a weight too many": (
        (2,),
        _weighing(_D, more=_dyadic(2)),
        "(expected kernel, bias|the file has 3 weights of it)",
    ),
    "not a number": ((2,), _weighing(_D, kernel=np.full((2, 2), np.nan)), r"entry \[0, 0\] is nan"),
    "use_bias": ((2,), _with(_D, use_bias="yes"), "use_bias is not a truth value"),
    "number type": ((2,), _with(_D, dtype="int8"), "its number type is not one of the float types"),
    "quantised": (
        (2,),
        _with(_D, dtype={"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8"}}),
        "its number type is not one of the float types",
    ),
    "threshold": (
        (2,),
        LayerSpec("ReLU", {"threshold": 0.5}),
        "a threshold that is not 0 makes the function jump",
    ),
    "negative slope of ReLU": (
        (2,),
        LayerSpec("ReLU", {"negative_slope": -1}),
        "must not be negative",
    ),
    "negative limit": ((2,), LayerSpec("ReLU", {"max_value": -1.0}), "must not be negative"),
    "a slope as text": ((2,), LayerSpec("LeakyReLU", {"alpha": "0.5"}), "alpha is not a number"),
    "a slope beyond float32": (
        (2,),
        LayerSpec("LeakyReLU", {"alpha": 1.5e300}),
        "(alpha is 1.5e\\+300|too large)",
    ),
    "an infinite slope": ((2,), LayerSpec("LeakyReLU", {"alpha": float("inf")}), "alpha is inf"),
    "channels": ((3, 3, 2), _C, r"its kernel has shape \[2, 2, 1, 1\]; expected \[2, 2, 2, 1\]"),
    "rank": (
        (3, 3),
        _C,
        r"its input has shape \[1, 3, 3\]; expected a batch, 2 dimensions and channels",
    ),
    "strides": (
        (3, 3, 1),
        _with(_C, strides=[0, 1]),
        "strides is .0, 1.; expected 2 positive sizes",
    ),
    "three strides": ((3, 3, 1), _with(_C, strides=[1, 1, 1]), "expected 2 positive sizes"),
    "padding by name": (
        (3, 3, 1),
        _with(_C, padding="causal"),
        "padding 'causal' is not supported; known are valid",
    ),
    "data format": (
        (3, 3, 1),
        _with(_C, data_format="channels_middle"),
        "data_format 'channels_middle' is not suppo",
    ),
    "window too large": ((3, 1, 1), _C, "a window of size 2.* does not fit 1"),
    "huge dilation": (
        (3, 3, 1),
        _with(_C, dilation_rate=[10**6, 10**6], padding="same"),
        "more than [0-9]+ entries",
    ),
    "groups": ((3, 3, 3), _conv_layer(2, [2, 2], 4, 4, groups=2), r"expected \[2, 2, 1, 4\]"),
    "groups of depthwise": (
        (3, 3, 2),
        _with(_depthwise_layer([2, 2], 2, 1), groups=2),
        "groups are not supported",
    ),
    "output padding": (
        (2, 2, 1),
        _with(_transpose_layer([2, 2], 1, 1, 2, "same"), output_padding=[1, 1]),
        "output_padding and dilation are not supported",
    ),
    "dilated transpose": (
        (2, 2, 1),
        _with(_transpose_layer([2, 2], 1, 1, 1, "same"), dilation_rate=[2, 2]),
        "output_padding and dilation are not supported",
    ),
    "batch norm of two axes": (
        (2, 3),
        _with(_batch_norm(3), axis=[1, 2]),
        "axis .1, 2. is not supported",
    ),
    "batch norm of the batch": ((3,), _with(_batch_norm(3), axis=0), "axis 0 is not supported"),
    "batch norm beyond the axes": (
        (3,),
        _with(_batch_norm(3), axis=5),
        "settings are not those of this layer",
    ),
    "renorm": ((3,), _with(_batch_norm(3), renorm=True), "renorm is not supported"),
    "negative variance": ((3,), _with(_batch_norm(3), epsilon=-4), "a variance is negative, or"),
    "invert": ((4,), _with(_normalization([-1], [4], [4]), invert=True), "invert is not supported"),
    "mean alone": (
        (2,),
        LayerSpec("Normalization", {"axis": [-1], "mean": [1.0, 2.0]}),
        "mean and variance must be given",
    ),
    "another mean": (
        (2,),
        LayerSpec("Normalization", {"axis": [-1], "mean": [1, 2, 3], "variance": 1}),
        "mean has shape|sett",
    ),
    "normalization of the batch": (
        (2,),
        LayerSpec("Normalization", {"axis": [0], "mean": 0, "variance": 1}),
        "axes after",
    ),
    "a negative variance": (
        (2,),
        LayerSpec("Normalization", {"axis": [-1], "mean": 0, "variance": -1}),
        "is negative",
    ),
    "scales": (
        (2,),
        LayerSpec("Rescaling", {"scale": [1, 2, 3]}),
        "scale has shape .3.|settings are not those",
    ),
    "reshape": (
        (4,),
        LayerSpec("Reshape", {"target_shape": [3, -1]}),
        r"one sample of shape \[1, 4\] to \[3, -1\]",
    ),
    "reshape twice open": (
        (4,),
        LayerSpec("Reshape", {"target_shape": [-1, -1]}),
        "cannot reshape",
    ),
    "permute": (
        (2, 2),
        LayerSpec("Permute", {"dims": [0, 1]}),
        r"dims \[0, 1\] do not name the axes",
    ),
    "negative padding": (
        (2, 2),
        LayerSpec("ZeroPadding1D", {"padding": [-1, 2]}),
        "padding is .-1, 2.; expected 1 pairs",
    ),
    "huge padding": (
        (2, 2, 1),
        LayerSpec("ZeroPadding2D", {"padding": 10**6}),
        "more than [0-9]+ entries",
    ),
    "cropping all": ((2, 2), LayerSpec("Cropping1D", {"cropping": [1, 1]}), "values have 1 to"),
    "one input to add": ((2,), LayerSpec("Add"), "expected several inputs of one rank"),
    "prelu": ((2, 3), _prelu([2, 3], [1]), r"its alpha has shape \[2, 3\]; expected \[1, 3\]"),
}


def _refused(says: str, act: Callable[[], object]) -> None:
    with pytest.raises(NetworkError, match=says) as caught:
        act()
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 800


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("name", _BAD_LAYERS)
def test_layers_that_are_refused(name: str, ending: str, tmp_path: Path) -> None:
    shape, layer, says = _BAD_LAYERS[name]
    _refused(says, lambda: _draft_of(tmp_path, shape, layer, ending=ending))


def test_a_list_is_refused_where_a_layer_takes_one_value(tmp_path: Path) -> None:
    layers: list[tuple[LayerSpec, Edges]] = [
        _input("x", 2),
        _input("y", 2),
        (_with_name(dense(2, 2), "d"), [[("x", 0), ("y", 0)]]),
    ]
    model = _functional(layers, ["x", "y"], [["d", 0, 0]], 2)
    _refused(
        "'d'.*2 inputs; expected one",
        lambda: _read(tmp_path, _h5(model, [layer for layer, _ in layers])),
    )


@pytest.mark.parametrize(
    ("kind", "shapes", "config", "says"),
    [
        ("Subtract", [(2,), (2,), (2,)], {}, "3 inputs; expected 2"),
        ("Add", [(2,), (3,)], {}, r"shapes \[1, 2\] and \[1, 3\] do not fit"),
        ("Add", [(2,), (1, 2)], {}, "expected several inputs of one rank, got shapes"),
        ("Concatenate", [(2,), (2,)], {"axis": 0}, "axis 0 is the batch"),
        ("Concatenate", [(2, 2), (3, 2)], {"axis": 2}, "cannot concatenate shapes"),
        ("Maximum", [(10**4, 1), (1, 10**4)], {}, "has more than [0-9]+ entries"),
    ],
)
def test_merging_that_is_refused(
    kind: str, shapes: list[tuple[int, ...]], config: Config, says: str, tmp_path: Path
) -> None:
    names = [f"x{i}" for i in range(len(shapes))]
    layers: list[tuple[LayerSpec, Edges]] = [
        _input(name, *shape) for name, shape in zip(names, shapes, strict=True)
    ]
    layers.append((LayerSpec(kind, config, name="m"), [[(name, 0) for name in names]]))
    model = _functional(layers, names, [["m", 0, 0]], 2)
    _refused(
        rf"\({kind}\): .*{says}",
        lambda: _read(tmp_path, _h5(model, [layer for layer, _ in layers])),
    )


_GOOD_LAYERS = [dense(2, 3, "relu"), dense(3, 2)]


def _model_with(
    edit: Callable[[Config], object],
) -> Callable[[], tuple[Config, Sequence[LayerSpec]]]:
    def make() -> tuple[Config, Sequence[LayerSpec]]:
        model = json.loads(json.dumps(_sequential((2,), _GOOD_LAYERS, 2)))
        edit(model)
        return model, _GOOD_LAYERS

    return make


def _graph_with(
    edit: Callable[[Config], object],
) -> Callable[[], tuple[Config, Sequence[LayerSpec]]]:
    def make() -> tuple[Config, Sequence[LayerSpec]]:
        parts: list[tuple[LayerSpec, Edges]] = [
            _input("x", 2),
            (_with_name(_GOOD_LAYERS[0], "a"), [[("x", 0)]]),
            (_with_name(_GOOD_LAYERS[1], "b"), [[("a", 0)]]),
        ]
        model = json.loads(json.dumps(_functional(parts, ["x"], [["b", 0, 0]], 2)))
        edit(model["config"])
        return model, [layer for layer, _ in parts]

    return make


#: Configurations that are refused, by name: how to make them, and the message.
_BAD_MODELS: dict[str, tuple[Callable[[], tuple[Config, Sequence[LayerSpec]]], str]] = {
    "subclassed": (
        _model_with(lambda m: m.update(class_name="MyModel")),
        "model 'MyModel': only Sequential and Func",
    ),
    "no class": (
        _model_with(lambda m: m.pop("class_name")),
        "model configuration: not one that Keras writes",
    ),
    "no layers": (
        _model_with(lambda m: m["config"].update(layers=[])),
        "it has no layers, or two of one name",
    ),
    "layers missing": (
        _model_with(lambda m: m["config"].pop("layers")),
        "not one that Keras writes",
    ),
    "a layer that is text": (
        _model_with(lambda m: m["config"]["layers"].append("Dense")),
        "not one that Keras writes",
    ),
    "two of one name": (
        _model_with(lambda m: m["config"]["layers"][1]["config"].update(name="input_1")),
        "two of one",
    ),
    "another name": (
        _model_with(lambda m: m["config"]["layers"][1]["config"].update(name="other")),
        "layer 'other'.*(the file holds the weights none; expected kernel, bias|"
        "those of 'dense_1')",
    ),
    "a model within one of Keras 1": (
        _model_with(lambda m: m["config"]["layers"][1].update(class_name="Sequential", config=[])),
        r"layer .* \(Sequential\): a model within a model of Keras 1 is not supported; save it",
    ),
    "a class of others": (
        _model_with(lambda m: m["config"]["layers"][1].update(module="mine.layers")),
        "this class is not one of keras.layers, but of mine.layers",
    ),
    "a registered class": (
        _model_with(lambda m: m["config"]["layers"][1].update(registered_name="mine>Dense")),
        "but of keras.layers, registered as mine>Dense",
    ),
    "an operation": (
        _model_with(lambda m: m["config"]["layers"][1].update(module="keras.src.ops.numpy")),
        "but of keras.src.ops.numpy",
    ),
    "integer input": (
        _model_with(lambda m: m["config"]["layers"][0]["config"].update(dtype="uint8")),
        "input 'input_1': its type is uint8; expected a float type",
    ),
    "a negative size": (
        _model_with(
            lambda m: m["config"]["layers"][0]["config"].update(batch_input_shape=[None, -2])
        ),
        r"shape \[None, -2\] is not fixed",
    ),
    "a huge input": (
        _model_with(
            lambda m: m["config"]["layers"][0]["config"].update(
                batch_input_shape=[None, 10**5, 10**5]
            )
        ),
        "has more than 1000000 entries",
    ),
    "an unknown layer is read": (
        _graph_with(lambda c: c["layers"][1].update(inbound_nodes=[[["z", 0, 0, {}]]])),
        r"layer 'a' \(Dense\): what it reads does not come from",
    ),
    "an unknown use is read": (
        _graph_with(lambda c: c["layers"][2].update(inbound_nodes=[[["a", 1, 0, {}]]])),
        r"layer 'b' \(Dense\): what it reads",
    ),
    "a circle": (
        _graph_with(lambda c: c["layers"][1].update(inbound_nodes=[[["b", 0, 0, {}]]])),
        "layer 'a'",
    ),
    "a second tensor": (
        _graph_with(lambda c: c["layers"][1].update(inbound_nodes=[[["x", 0, 1, {}]]])),
        "not one",
    ),
    "called with a mask": (
        _graph_with(lambda c: c["layers"][1].update(inbound_nodes=[[["x", 0, 0, {"mask": 1}]]])),
        r"layer 'a' \(Dense\): it is called with 'mask', which is not supported",
    ),
    "called in training": (
        _graph_with(
            lambda c: c["layers"][1].update(
                inbound_nodes=[{"args": [], "kwargs": {"training": True}}]
            )
        ),
        "it is called with 'training'",
    ),
    "a constant argument": (
        _graph_with(lambda c: c["layers"][1].update(inbound_nodes=[{"args": [2.5], "kwargs": {}}])),
        "not one that Keras writes",
    ),
    "another argument": (
        _graph_with(
            lambda c: c["layers"][1].update(
                inbound_nodes=[{"args": [{"class_name": "__numpy__", "config": {}}], "kwargs": {}}]
            )
        ),
        "not one that Keras writes",
    ),
    "an input left out": (
        _graph_with(lambda c: c.update(input_layers=[])),
        "its inputs are not its input layers",
    ),
    "an input twice": (
        _graph_with(lambda c: c.update(input_layers=[["x", 0, 0]] * 2)),
        "its inputs are not its input layers",
    ),
    "no outputs": (
        _graph_with(lambda c: c.update(output_layers=[])),
        "an output does not come from any layer",
    ),
    "an unknown output": (
        _graph_with(lambda c: c.update(output_layers=[["z", 0, 0]])),
        "an output does not come",
    ),
    "outputs by name": (
        _graph_with(lambda c: c.update(output_layers={"b": ["b", 0, 0]})),
        "not one that Keras writes",
    ),
}


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("name", _BAD_MODELS)
def test_models_that_are_refused(name: str, ending: str, tmp_path: Path) -> None:
    make, says = _BAD_MODELS[name]
    model, layers = make()
    content = _h5(model, layers) if ending == "h5" else _keras(model, layers)
    _refused(says, lambda: _network(_read(tmp_path, content, ending)))


def _edited_file(edit: Callable[[Any], object]) -> bytes:
    """The content of a valid HDF5 file after a change with h5py."""
    buffer = io.BytesIO(_h5(_sequential((2,), _GOOD_LAYERS, 2), _GOOD_LAYERS))
    with h5py.File(buffer, "r+") as file:
        edit(file)
    return buffer.getvalue()


def _replaced(file: Any, value: Any) -> None:
    del file["model_weights/dense_1/dense_1/bias:0"]
    file["model_weights/dense_1/dense_1/bias:0"] = value


def _huge(file: Any) -> None:
    del file["model_weights/dense_1/dense_1/bias:0"]
    file["model_weights/dense_1"].create_dataset(
        "dense_1/bias:0", (10**5, 10**5), "f4", chunks=(100, 100)
    )


def _archive(**changes: bytes) -> bytes:
    return _keras(_sequential((2,), _GOOD_LAYERS, 3), _GOOD_LAYERS, changes=changes)


def _members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _without(member: str) -> bytes:
    return _zip(
        {name: content for name, content in _members_of(_archive()).items() if name != member}
    )


#: Files that are refused, by name: the ending, the content, and the message.
_BAD_FILES: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "empty": ("h5", lambda: b"", "not a readable HDF5 file"),
    "not HDF5": ("h5", lambda: b"PK\3\4" + bytes(300), r"not a readable HDF5 file \(OSError\)"),
    "weights alone": (
        "h5",
        lambda: _weights_h5(_GOOD_LAYERS),
        "no model_config: weights alone.*save the whole model",
    ),
    "model_config a number": (
        "h5",
        lambda: _edited_file(lambda f: f.attrs.__setitem__("model_config", 3)),
        "no model",
    ),
    "model_config no JSON": (
        "h5",
        lambda: _edited_file(lambda f: f.attrs.modify("model_config", "{]")),
        "model configuration: not readable JSON: ",
    ),
    "model_config a list": (
        "h5",
        lambda: _edited_file(lambda f: f.attrs.modify("model_config", "[]")),
        "a JSON object",
    ),
    "deep JSON": (
        "h5",
        lambda: _edited_file(lambda f: f.attrs.modify("model_config", "[" * 60000)),
        "not readable JSON",
    ),
    "no weights": (
        "h5",
        lambda: _edited_file(lambda f: f.pop("model_weights")),
        "'dense_1'.*holds the weights none",
    ),
    "a missing weight": (
        "h5",
        lambda: _edited_file(lambda f: f.pop("model_weights/dense_1/dense_1/bias:0")),
        "weight 'model_weights/dense_1/dense_1/bias:0': not in the file, or a link",
    ),
    "a soft link": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, h5py.SoftLink("/model_weights"))),
        "not followed",
    ),
    "an external link": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, h5py.ExternalLink("/etc/passwd", "/a"))),
        "links are not followed",
    ),
    "text for a weight": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, "text")),
        "its type is object; expected numbers",
    ),
    "truth values": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, np.array([True] * 3))),
        "its type is bool",
    ),
    "long doubles": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, np.ones(3, np.longdouble))),
        "its type is float128",
    ),
    "an empty weight": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, h5py.Empty("f4"))),
        "not an array in this file",
    ),
    "a huge weight": (
        "h5",
        lambda: _edited_file(_huge),
        "with its 10000000000 numbers the file has too many",
    ),
    "a circle of links": (
        "h5",
        lambda: _edited_file(lambda f: _replaced(f, f["model_weights"])),
        "not a readable HDF5 file",
    ),
    "bytes that are no text": (
        "h5",
        lambda: _edited_file(lambda f: f.attrs.modify("model_config", b"\xff{}")),
        "not a readable HDF5 file",
    ),
    "not a zip": (
        "keras",
        lambda: b"PK\3\4" + bytes(99),
        r"not a readable .keras archive \(BadZipFile\)",
    ),
    "no configuration": (
        "keras",
        lambda: _without("config.json"),
        "the archive has no config.json; save the whole",
    ),
    "no metadata": ("keras", lambda: _without("metadata.json"), "the archive has no metadata.json"),
    "no stored weights": (
        "keras",
        lambda: _without("model.weights.h5"),
        "the archive has no model.weights.h5",
    ),
    "weights that are not HDF5": (
        "keras",
        lambda: _archive(**{"model.weights.h5": b"abc"}),
        "not a readable HDF5",
    ),
    "configuration no JSON": (
        "keras",
        lambda: _archive(**{"config.json": b"{"}),
        "not readable JSON",
    ),
    "configuration no text": (
        "keras",
        lambda: _archive(**{"config.json": b"\xff"}),
        "not a readable .keras archive",
    ),
    "metadata a list": (
        "keras",
        lambda: _archive(**{"metadata.json": b"[]"}),
        "expected a JSON object",
    ),
    "one layer's weights missing": (
        "keras",
        lambda: _archive(**{"model.weights.h5": _weights_h5(_GOOD_LAYERS[:1])}),
        "the file has weights for 1 layers of this class; expected 2",
    ),
    "weights of another layer": (
        "keras",
        lambda: _archive(**{"model.weights.h5": _weights_h5(_GOOD_LAYERS[::-1])}),
        "its kernel has shape",
    ),
    "weights under another name": (
        "keras",
        lambda: _archive(
            **{
                "model.weights.h5": _weights_h5(
                    [_with_name(layer, f"other_{i}") for i, layer in enumerate(_GOOD_LAYERS)]
                )
            }
        ),
        "its weights are said to be those of 'other_0'",
    ),
}


@pytest.mark.parametrize("name", _BAD_FILES)
def test_files_that_are_refused(name: str, tmp_path: Path) -> None:
    ending, make, says = _BAD_FILES[name]
    _refused(says, lambda: _read(tmp_path, make(), ending))


def test_links_of_an_archive_make_circles(tmp_path: Path) -> None:
    """The walk through a file ends even if hard links form a circle."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_group("layers/dense/vars")
        for i in range(20):
            file[f"layers/dense/vars/again{i}"] = file["layers"]
    _refused(
        "not a readable HDF5 file",
        lambda: _read(tmp_path, _archive(**{"model.weights.h5": buffer.getvalue()}), "keras"),
    )


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_the_worker_gives_up_and_breaks_down(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = _edited_file(lambda f: None) if ending == "h5" else _archive()
    with monkeypatch.context() as patch:
        patch.setattr(hdf5, "_TIME_LIMIT", (1e-3, 0.0))
        _refused(
            "the HDF5 library does not come to an end with it",
            lambda: _read(tmp_path, content, ending),
        )
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/bin/false")
        _refused("the HDF5 library breaks down over it", lambda: _read(tmp_path, content, ending))
    _refused(
        "not a readable HDF5 file",
        lambda: _read(tmp_path, content[:100].replace(b"PK", b"HD"), "h5"),
    )


def test_the_worker_needs_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    for ending, content in (
        ("h5", b"abc"),
        ("keras", _zip({"config.json": b"{}", "metadata.json": b"{}", "model.weights.h5": b""})),
    ):
        _refused(
            r"needs the package h5py \(the extra \[keras\]\): pip install h5py",
            partial(_read, tmp_path, content, ending),
        )


# --- Damaged files -----


def _survives(folder: Path, content: bytes, ending: str) -> bool:
    """Whether a file is read; if not, its error is one line."""
    try:
        _network(_read(folder, content, ending, strip_tail=True))
    except NetworkError as error:
        assert "\n" not in str(error)  # noqa: PT017
        assert str(error).isprintable()  # noqa: PT017
        return False
    return True


@pytest.mark.parametrize("count", few_and_all(100, 300))
def test_damaged_configurations_give_a_network_or_one_line(count: int, tmp_path: Path) -> None:
    chance, shape = random.Random(8), (4, 4, 2)
    layers = [
        _conv_layer(2, [2, 2], 2, 2),
        _batch_norm(2),
        _pool_layer("Max", [2, 2], None, "same"),
        _FLATTEN,
        dense(8, 2, "softmax", lambda x: x),
    ]
    text = json.dumps(_sequential(shape, layers, 3)).encode()
    members = _members_of(_keras({}, layers))
    contents = (_zip({**members, "config.json": damaged(chance, text)}) for _ in range(count))
    survived = sum(_survives(tmp_path, content, "keras") for content in contents)
    assert count / 15 < survived < 2 * count / 3


_REPLACEMENTS: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    "",
    "relu",
    [],
    {},
    [[]],
    {"class_name": "x"},
    [None, None],
]


@pytest.mark.parametrize("values", few_and_all(1, 4))
def test_replaced_settings_give_a_network_or_one_line(values: int, tmp_path: Path) -> None:
    """Values of several kinds in place of each setting give a network or an error of one line."""
    parts: list[tuple[LayerSpec, Edges]] = [
        _input("x", 3, 3, 1),
        (_with_name(_C, "c"), [[("x", 0)]]),
        (_with_name(_batch_norm(1), "n"), [[("c", 0)]]),
        (
            LayerSpec(
                "Normalization",
                {"axis": [-1], "mean": [1.0], "variance": [4.0], "invert": False},
                name="m",
            ),
            [[("n", 0)]],
        ),
        (LayerSpec("Add", name="s"), [[("n", 0), ("m", 0)]]),
        (LayerSpec("Rescaling", {"scale": 2.0, "offset": 1.0}, name="r"), [[("s", 0)]]),
    ]
    model = _functional(parts, ["x"], [["r", 0, 0]], 3)
    stored = [layer for layer, _ in parts]

    def places(node: Any) -> Iterator[tuple[Any, Any]]:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            yield node, key
            if isinstance(node[key], (dict, list)):
                yield from places(node[key])

    whole, chance = _keras(model, stored), random.Random(4)
    assert _survives(tmp_path, whole, "keras")
    survived, total, members = 0, 0, _members_of(whole)
    for node, key in list(places(model)):
        kept = node[key]
        for value in chance.sample(_REPLACEMENTS, values):
            node[key] = value
            content = _zip({**members, "config.json": json.dumps(model).encode()})
            survived += _survives(tmp_path, content, "keras")
            total += 1
        node[key] = kept
    assert 5 * values < survived < total / 2


def test_the_worker_on_half_a_file(tmp_path: Path) -> None:
    """Half of a file is refused, and the next whole file is read."""
    content = _edited_file(lambda f: None)
    assert not _survives(tmp_path, content[: len(content) // 2], "h5")
    assert _survives(tmp_path, content, "h5")


@pytest.mark.parametrize("ending", [pytest.param("h5", marks=pytest.mark.slow), "keras"])
def test_the_worker_on_damaged_files(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damaged files raise `NetworkError` only, even if the HDF5 library hangs."""
    monkeypatch.setattr(hdf5, "_TIME_LIMIT", (10.0, 0.0))
    chance = random.Random(2)
    content = _edited_file(lambda f: None) if ending == "h5" else _archive()
    survived = sum(_survives(tmp_path, damaged(chance, content), ending) for _ in range(25))
    lengths = [len(content) * i // 12 for i in range(12)]
    assert not any(_survives(tmp_path, content[:length], ending) for length in lengths)
    assert survived < 25


# --- Files from elsewhere -----


def _elsewhere(name: str, **options: Any) -> Draft:
    path = _NETS / name
    if not path.is_file():
        pytest.skip("the collection of networks is not here")
    return (read_h5 if path.suffix == ".h5" else read_keras)(path, ReadOptions(**options))


@pytest.mark.parametrize(
    ("name", "format_", "architecture"),
    [
        ("arch_double_pendulum_more.h5", "keras 2.3.1, .h5", "4-25-25-2"),
        ("arch_single_pendulum.h5", "keras 2.3.1, .h5", "2-25-25-1"),
        ("nnet_kerastestnetwork.h5", "keras 1.2.1, .h5", "5-45-45-45-45-45-45-5"),
        ("vcas_pra01_20hu.h5", "keras 2.2.4, .h5", "3-20-20-20-20-20-9"),
    ],
)
def test_files_from_elsewhere(name: str, format_: str, architecture: str) -> None:
    draft = _elsewhere(name)
    assert draft.format == format_
    assert str(_network(draft).architecture) == architecture
    assert draft.rounding == set()


@pytest.mark.parametrize(
    "name", ["arch_single_pendulum", "vcas_pra01_20hu", "marabou_cnn_max_mnist2"]
)
def test_files_from_elsewhere_equal_their_onnx_versions(name: str) -> None:
    """The networks equal their ONNX versions, since the converters changed no number.

    The network vcas starts with a subtraction of zeros.
    """
    assert _network(_elsewhere(f"{name}.h5")) == read(_NETS / f"{name}.onnx", compare=False).network


def test_a_softmax_from_elsewhere() -> None:
    draft = _elsewhere("mnist_ann.keras", strip_tail=True)
    assert str(_network(draft).architecture) == "784-128-32-10"
    assert draft.format == "keras 3.10.0, .keras"
    assert draft.num_stored == 101_770 - 1_290 + 4_458
    with pytest.raises(
        NetworkFileError, match=r"'dense_2' \(Dense\): the activation 'softmax' is not supported"
    ):
        _elsewhere("mnist_ann.keras")
