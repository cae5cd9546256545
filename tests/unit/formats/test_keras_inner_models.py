"""Keras models within models: they are replaced by their layers, and by nothing else."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.errors import NetworkError
from polyrelu.formats import read
from polyrelu.formats.keras import files as keras_files
from polyrelu.network import Network
from tests.generators.hdf5_in_process import read_in_process
from tests.generators.keras_models import (
    Weights,
    functional,
    h5_file,
    inner_models,
    keras_file,
    layer,
    sequential,
)

pytest.importorskip("h5py")

Array = NDArray[Any]
Config = dict[str, Any]


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read HDF5 in this process, for speed."""
    monkeypatch.setattr(keras_files, "read_hdf5", read_in_process)


def _network(folder: Path, content: bytes, ending: str = "h5", **options: Any) -> Network:
    path = folder / f"net.{ending}"
    path.write_bytes(content)
    return read(path, **options).network


def _refused(folder: Path, says: str, content: bytes, ending: str = "h5") -> None:
    with pytest.raises(NetworkError, match=says) as caught:
        _network(folder, content, ending)
    assert "\n" not in str(caught.value)


def _exact(weights: Weights, place: tuple[str, ...], x: Array) -> Array:
    kernel, bias = (array.astype(float) for array in weights[place])
    return np.asarray(x @ kernel + bias)


def _meaning(weights: Weights, x: Array, y: Array) -> Array:
    """What the docstring of `inner_models` says."""
    s_x, s_y = (np.maximum(_exact(weights, ("b", "s", "d"), v), 0) for v in (x, y))
    joined = np.concatenate([s_x, np.maximum(_exact(weights, ("b", "a"), s_y), 0)])
    return np.concatenate([_exact(weights, ("d",), joined), s_y])


@pytest.mark.parametrize(
    ("ending", "write", "first_use"),
    [
        ("h5", h5_file, 1),
        ("h5", h5_file, 0),
        ("h5", partial(h5_file, version="3.15.1"), 0),
        ("keras", keras_file, 0),
        ("keras", partial(keras_file, has_names=False), 0),
    ],
)
def test_a_model_used_twice(
    ending: str, write: Callable[[Config, Weights], bytes], first_use: int, tmp_path: Path
) -> None:
    model, weights = inner_models(first_use)
    network = _network(tmp_path, write(model, weights), ending)
    chance = random.Random(1)
    for _ in range(20):
        point = [Fraction(chance.randint(-32, 32), 8) for _ in range(4)]
        x, y = np.array(point[:2], float), np.array(point[2:], float)
        assert list(network(point)) == [Fraction(float(v)) for v in _meaning(weights, x, y)]


def test_sequential_models_in_each_other(tmp_path: Path) -> None:
    """With and without an input layer, and with one name of layers everywhere."""
    weights: Weights = {
        ("d",): (np.array([[1, -1]], np.float32), np.array([0, 2], np.float32)),
        ("m", "d"): (np.eye(2, dtype=np.float32), np.array([1, 1], np.float32)),
        ("m", "n", "d"): (np.array([[2], [4]], np.float32), np.array([3], np.float32)),
    }
    dense = [layer("Dense", "d", units=units, activation="relu") for units in (2, 2, 1)]
    for size in (2, None):
        inner = sequential("m", size, [dense[1], sequential("n", size, [dense[2]])])
        model = sequential("all", 1, [dense[0], inner])
        for content, ending in (
            (h5_file(model, weights, "3.15.1"), "h5"),
            (keras_file(model, weights), "keras"),
        ):
            network = _network(tmp_path, content, ending)
            assert list(network([3])) == [2 * 4 + 4 * 1 + 3]


def test_a_last_layer_of_an_inner_model_is_stripped_on_demand(tmp_path: Path) -> None:
    weights: Weights = {("m", "d"): (np.ones((1, 2), np.float32), np.ones(2, np.float32))}
    end = layer("Dense", "d", units=2, activation="softmax")
    content = h5_file(sequential("all", 1, [sequential("m", 1, [end])]), weights)
    _refused(tmp_path, r"layer 'm/d' \(Dense\): the activation 'softmax'.*--strip-tail", content)
    assert list(_network(tmp_path, content, strip_tail=True)([3])) == [4, 4]


def _changed(change: Callable[[Config], object], first_use: int = 1) -> tuple[Config, Weights]:
    model, weights = inner_models(first_use)
    model = copy.deepcopy(model)
    change(model["config"])
    return model, weights


def _block(config: Config) -> Config:
    block: Config = next(entry for entry in config["layers"] if entry["name"] == "b")
    return block


_REFUSED: dict[str, tuple[Callable[[Config], object], str]] = {
    "an unused use": (
        lambda c: _block(c)["inbound_nodes"].append([["x", 0, 0, {}]]),
        "not one that Keras writes",
    ),
    "another number of inputs": (
        lambda c: _block(c)["inbound_nodes"][0].append(["y", 0, 0, {}]),
        "not one that Keras writes",
    ),
    "a result that is not there": (
        lambda c: c["output_layers"].append(["b", 1, 2]),
        "not one that Keras writes",
    ),
    "a second result of a layer": (
        lambda c: c["output_layers"].append(["d", 0, 1]),
        "not one that Keras writes",
    ),
    "an input of another size": (
        lambda c: _block(c)["config"]["layers"][0]["config"].update(batch_input_shape=[None, 3]),
        r"layer 'b/z' \(InputLayer\): its model is applied to a value of shape \[1, 2\]",
    ),
    "an input of integers": (
        lambda c: _block(c)["config"]["layers"][0]["config"].update(dtype="int32"),
        "layer 'b/z'.*its number type is not one of the float types",
    ),
    "training": (
        lambda c: _block(c)["inbound_nodes"][0][0].__setitem__(3, {"training": True}),
        "layer 'b' .*it is called with 'training'",
    ),
    "a class from elsewhere": (
        lambda c: _block(c).update(module="mine.models"),
        "not one of keras.models",
    ),
    "an unknown layer": (
        lambda c: _block(c)["config"]["layers"][2].update(class_name="LSTM"),
        r"layer 'b/a' \(LSTM\): this layer is not supported",
    ),
    "itself": (
        lambda c: _block(c)["inbound_nodes"].__setitem__(0, [["b", 1, 0, {}]]),
        "does not come from an input",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_inner_models_that_are_refused(name: str, tmp_path: Path) -> None:
    change, says = _REFUSED[name]
    model, weights = _changed(change)
    _refused(tmp_path, says, h5_file(model, weights))


def test_weights_of_another_layer_are_refused(tmp_path: Path) -> None:
    model, weights = inner_models()
    weights[("b", "a")], weights[("b", "e")] = weights[("b", "s", "d")], weights.pop(("b", "a"))
    del weights[("b", "a")]
    _refused(tmp_path, "layer 'b/a'.*expected kernel, bias", h5_file(model, weights))
    _refused(tmp_path, "layer 'b/a'.*0 weights", keras_file(model, weights), "keras")


def test_models_that_double_again_and_again(tmp_path: Path) -> None:
    """A file of a few kilobytes with 2^40 uses of a layer is refused at once."""
    name, inner = "m0", layer("ReLU", "r", [("z", 0, 0)])
    for depth in range(1, 41):
        inner["inbound_nodes"] = [[["z", 0, 0, {}]], [[name if depth > 1 else "r", 0, 0, {}]]]
        last = (inner["name"], 1, 0)
        name = f"m{depth}"
        inner = functional(name, {"z": 1}, [inner], [last], [("z", 0, 0)])
    model = functional("all", {"z": 1}, [inner], [(name, 0, 0)])
    _refused(tmp_path, "entries of values, matrices and tables", h5_file(model, {}))
