"""Keras files with models within models, written as Keras 2.15 and 3 write them.

Files of these two versions with the same layouts were compared with Keras when this was written.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Weights", "functional", "h5_file", "inner_models", "keras_file", "layer", "sequential"]

Config: TypeAlias = dict[str, Any]
#: The kernel and the bias of each dense layer, by the names of the models around it and its own.
Weights: TypeAlias = dict[tuple[str, ...], tuple[NDArray[np.float32], NDArray[np.float32]]]

_GROUPS = {"Dense": "dense", "ReLU": "re_lu", "Concatenate": "concatenate", "InputLayer": "input"}
_GROUPS |= {"Sequential": "sequential", "Functional": "functional"}


def layer(kind: str, name: str, *reads: Sequence[tuple[str, int, int]], **config: Any) -> Config:
    """Return a layer; `reads` has the results (layer, use, number) that each use of it reads."""
    return {
        "class_name": kind,
        "config": {"name": name, **config},
        "name": name,
        "inbound_nodes": [[[*result, {}] for result in results] for results in reads],
    }


def _input(name: str, size: int) -> Config:
    return layer("InputLayer", name, batch_input_shape=[None, size], dtype="float32")


def sequential(
    name: str, size: int | None, layers: list[Config], *reads: Sequence[tuple[str, int, int]]
) -> Config:
    """Return a sequential model, with an input layer if the size of its input is given."""
    first = [] if size is None else [_input(f"{name}_input", size)]
    return layer("Sequential", name, *reads, layers=[*first, *layers])


def functional(
    name: str,
    inputs: dict[str, int],
    layers: list[Config],
    outputs: list[tuple[str, int, int]],
    *reads: Sequence[tuple[str, int, int]],
) -> Config:
    """Return a functional model."""
    return layer(
        "Functional",
        name,
        *reads,
        layers=[*(_input(other, size) for other, size in inputs.items()), *layers],
        input_layers=[[other, 0, 0] for other in inputs],
        output_layers=[list(output) for output in outputs],
    )


def h5_file(model: Config, weights: Weights, version: str = "2.15.0") -> bytes:
    """Return an HDF5 file of a model; before Keras 3 models do not stand in the names of weights.

    Uses are written as they are.
    """
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["model_config"] = json.dumps(model)
        file.attrs["keras_version"] = version
        group = file.create_group("model_weights")
        names = [entry["config"]["name"] for entry in model["config"]["layers"]]
        group.attrs["layer_names"] = [name.encode() for name in names]
        for name in names:
            own = group.create_group(name)
            stored = {
                f"{'/'.join(place[-2:] if version[0] == '3' else place[-1:])}/{weight}": array
                for place, arrays in weights.items()
                if place[0] == name
                for weight, array in zip(("kernel", "bias"), arrays, strict=True)
            }
            own.attrs["weight_names"] = [full.encode() for full in stored]
            for full, array in stored.items():
                own.create_dataset(full, data=array)
    return buffer.getvalue()


def keras_file(model: Config, weights: Weights, has_names: bool = True) -> bytes:
    """Return a .keras file of a model with the uses of Keras 3, which are counted from 0."""
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for place, group in _groups(model, (), ""):
            own = file.create_group(f"{group}/vars")
            if has_names:
                own.attrs["name"] = place[-1]
            for number, array in enumerate(weights.get(place, ())):
                own.create_dataset(str(number), data=array)
    members = {
        "metadata.json": b'{"keras_version": "3.15.1"}',
        "config.json": json.dumps(_of_keras_3(model)).encode(),
        "model.weights.h5": buffer.getvalue(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _groups(
    model: Config, place: tuple[str, ...], path: str
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the place and the group of each layer."""
    counts = Counter[str]()
    for entry in model["config"]["layers"]:
        stem = _GROUPS[entry["class_name"]]
        counter = f"_{counts[stem]}" if counts[stem] else ""
        counts[stem] += 1
        own = ((*place, entry["config"]["name"]), f"{path}layers/{stem}{counter}")
        yield own
        if "layers" in entry["config"]:
            yield from _groups(entry, own[0], f"{own[1]}/")


def _of_keras_3(model: Config) -> Config:
    """Return a configuration with tensors in place of lists, and the modules of Keras 3."""
    found = json.loads(json.dumps(model))
    kinds = {entry["config"]["name"]: entry["class_name"] for entry in found["config"]["layers"]}
    for entry in found["config"]["layers"]:
        nodes = [[_tensor(*result[:3]) for result in node] for node in entry["inbound_nodes"]]
        entry["inbound_nodes"] = [{"args": [node], "kwargs": {"mask": None}} for node in nodes]
        if "layers" in entry["config"]:
            entry |= _of_keras_3(entry) | {"registered_name": entry["class_name"]}
            entry["module"] = "keras.src.models.functional"
        else:
            entry["module"] = "keras.layers"
    for output in found["config"].get("output_layers", []):
        output[1] += kinds[output[0]] == "Functional"
    return dict(found)


def _tensor(name: str, use: int, number: int) -> Config:
    history = [name, use, number]
    return {"class_name": "__keras_tensor__", "config": {"keras_history": history}}


def inner_models(first_use: int = 0) -> tuple[Config, Weights]:
    """Return a model of models: a functional one used twice, with a sequential one in it.

    With inputs x and y of size 2 it computes d(b(x)_0, b(y)_1), b(y)_0, where b(x) is s(x), a(s(x))
    and s is a ReLU after a dense layer. `first_use` is the number of the first use of a model.
    """
    chance = np.random.default_rng(0)
    dense = layer("Dense", "d", units=2, activation="linear")
    inner = [
        sequential("s", 2, [dense, layer("ReLU", "r")], [("z", 0, 0)]),
        layer("Dense", "a", [("s", first_use, 0)], units=2, activation="relu"),
    ]
    x, y = [("x", 0, 0)], [("y", 0, 0)]
    block = functional("b", {"z": 2}, inner, [("s", first_use, 0), ("a", 0, 0)], x, y)
    ends = [("b", first_use, 0), ("b", first_use + 1, 1)]
    outer = [
        block,
        layer("Concatenate", "c", ends, axis=-1),
        layer("Dense", "d", [("c", 0, 0)], units=1, activation="linear"),
    ]
    model = functional("m", {"x": 2, "y": 2}, outer, [("d", 0, 0), ("b", first_use + 1, 0)])
    shapes = {("b", "s", "d"): (2, 2), ("b", "a"): (2, 2), ("d",): (4, 1)}
    weights = {
        place: (_dyadic(chance, *shape), _dyadic(chance, shape[1]))
        for place, shape in shapes.items()
    }
    return model, weights


def _dyadic(chance: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Return multiples of 1/8."""
    return (chance.integers(-16, 17, shape) / 8).astype(np.float32)
