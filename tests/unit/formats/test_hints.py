"""Every piece of advice in an error message is collected and followed: it must work."""

from __future__ import annotations

import json
import re
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import polyrelu.formats
from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats import read
from tests.generators.onnx_files import model, node, write

#: What a message says, and the keyword that follows from it.
_SPOKEN: dict[str, Callable[[re.Match[str]], dict[str, Any]]] = {
    r"--output-name (?P<name>\S+) .* with --strip-tail": lambda found: {
        "output_name": found["name"],
        "strip_tail": True,
    },
    r"--output-name (?P<name>\S+)": lambda found: {"output_name": found["name"]},
    r"--strip-tail|(?<!\()strip_tail=True": lambda _: {"strip_tail": True},
    r"prefix '(?P<name>[^']*)'|such as '(?P<other>[^']+)'": lambda found: {
        "prefix": found["name"] if found["name"] is not None else found["other"]
    },
    r"--input-shape|say it, batch included": lambda _: {"input_shape": (1, 3)},
    r"--no-compare": lambda _: {"compare": False},
}


def _advised(message: str) -> list[dict[str, Any]]:
    """Return the keywords that a message advises, each piece of advice alone."""
    for pattern, choices in _SPOKEN.items():
        found = [choices(match) for match in re.finditer(pattern, message)]
        if found:
            return found
    return []


def _torch() -> Any:
    return pytest.importorskip("torch")


def _states(folder: Path, *names: str, more: dict[str, list[int]] | None = None) -> Path:
    """A state dict of layers of shape (2, 2) with these names, and tensors of other shapes."""
    torch = _torch()
    state = OrderedDict()
    for name in names:
        state[f"{name}.weight"] = torch.eye(2)
        state[f"{name}.bias"] = torch.ones(2)
    for name, shape in (more or {}).items():
        state[name] = torch.ones(shape)
    torch.save(state, folder / "net.pt")
    return folder / "net.pt"


def _safetensors(folder: Path, **shapes: tuple[int, int]) -> Path:
    numpy = pytest.importorskip("safetensors.numpy")
    arrays = {f"{name}.weight": np.ones(shape, np.float32) for name, shape in shapes.items()}
    numpy.save_file(arrays, folder / "net.safetensors")
    return folder / "net.safetensors"


def _onnx(folder: Path, operation: str, second: str = "", **choices: Any) -> Path:
    nodes = [node("Relu", "x", "h"), node(operation, "h", "y")]
    more = []
    if second:
        nodes.append(node(second, "h", "z"))
        more = ["z"]
    return write(folder, "net.onnx", model(nodes, [], more_outputs=more, **choices))


def _keras(folder: Path, activation: str) -> Path:
    """A .keras file of one layer with an activation."""
    h5py = pytest.importorskip("h5py")
    layer = {
        "class_name": "Dense",
        "config": {"name": "dense", "units": 2, "activation": activation, "use_bias": True},
    }
    inputs = {
        "class_name": "InputLayer",
        "config": {"name": "in", "batch_shape": [None, 3], "dtype": "float32"},
    }
    config = {"class_name": "Sequential", "config": {"name": "m", "layers": [inputs, layer]}}
    with h5py.File(folder / "weights.h5", "w") as file:
        file["layers/dense/vars/0"] = np.ones((3, 2), np.float32)
        file["layers/dense/vars/1"] = np.ones(2, np.float32)
    with zipfile.ZipFile(folder / "net.keras", "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.0.0"}))
        archive.write(folder / "weights.h5", "model.weights.h5")
    return folder / "net.keras"


def _module(*layers: str) -> Any:
    nn = _torch().nn
    made = {"Linear": lambda: nn.Linear(3, 3), "Softmax": lambda: nn.Softmax(dim=1)}
    return nn.Sequential(
        *(made[name]() if name in made else getattr(nn, name)() for name in layers)
    )


def _perceptron(activation: str) -> Any:
    """What a fitted classifier of scikit-learn looks like."""
    return SimpleNamespace(
        hidden_layer_sizes=(2,),
        activation="relu",
        solver="adam",
        fit=None,
        out_activation_=activation,
        coefs_=[np.ones((2, 2)), np.ones((2, 1))],
        intercepts_=[np.ones(2), np.ones(1)],
    )


_SOURCES: dict[str, tuple[Callable[[Path], Any], int]] = {
    "softmax": (lambda folder: _onnx(folder, "Softmax"), 1),
    "tails of two outputs": (lambda folder: _onnx(folder, "Softmax", "Sigmoid"), 1),
    "another output": (lambda folder: _onnx(folder, "Erf", "Neg"), 1),
    "another output, with a tail": (lambda folder: _onnx(folder, "Erf", "Tanh"), 1),
    "an open shape": (lambda folder: _onnx(folder, "Neg", shape=("n", "m")), 1),
    "a wrong tail": (lambda folder: _onnx(folder, "Erf"), 0),
    "keras softmax": (lambda folder: _keras(folder, "softmax"), 1),
    "keras elu": (lambda folder: _keras(folder, "elu"), 0),
    "module softmax": (lambda _: _module("Linear", "ReLU", "Linear", "Softmax"), 1),
    "module softmax inside": (lambda _: _module("Linear", "Softmax", "Linear"), 0),
    "module of open shape": (lambda _: _module("ReLU", "Linear"), 1),
    "scikit-learn": (lambda _: _perceptron("logistic"), 1),
    "scikit-learn, unknown": (lambda _: _perceptron("tanh"), 0),
    "two networks": (lambda folder: _states(folder, "a.0", "a.1", "b.0"), 3),
    "a network beside a convolution": (
        lambda folder: _states(folder, "fc.0", more={"conv.weight": [1, 1, 3, 3]}),
        1,
    ),
    "a network inside a convolution": (
        lambda folder: _states(folder, "net.fc", more={"net.conv.weight": [1, 1, 3, 3]}),
        0,
    ),
    "layers in a wrong order": (
        lambda folder: _states(folder, "in", more={"last.weight": [1, 2], "first.weight": [2, 3]}),
        1,
    ),
    "layers that never fit": (
        lambda folder: _states(folder, more={"a.weight": [4, 5], "b.weight": [6, 7]}),
        0,
    ),
    "layers without an order": (
        lambda folder: _safetensors(folder, zin=(3, 2), mid=(4, 3), aout=(1, 4)),
        1,
    ),
    "several networks without an order": (
        lambda folder: _safetensors(folder, q=(3, 2), target=(4, 2)),
        0,
    ),
}


@pytest.mark.parametrize("name", _SOURCES)
def test_advice_works(name: str, tmp_path: Path) -> None:
    make, count = _SOURCES[name]
    source = make(tmp_path)
    with pytest.raises(NetworkError) as caught:
        read(source)
    advised = _advised(str(caught.value))
    assert len(advised) == count, str(caught.value)
    for choices in advised:
        assert read(source, **choices).network.num_inputs > 0


def test_every_option_that_a_reader_names_is_known_here() -> None:
    """Options in the readers' texts are followed above, or in the tests that are named."""
    elsewhere = {
        "--normalisation",  # test_nnet.py: the advice about the normalisation
        "--read-limit",  # test_meter.py: what the refusal by a limit proposes
        "--json",  # not advice: what a command prints
        "--rounding",  # not advice: the heading of the rules
        "--prefix",
        "--saved-model",  # of the converter tf2onnx, which is not installed here
        "--output",
        "--tflite",
        "--numbers",  # of `polyrelu convert`, which writes
        "--domain",  # of `polyrelu audit`, which reads claims about a domain
    }
    spoken = " ".join(_SPOKEN)
    folder = Path(polyrelu.formats.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for option in re.findall(r"--[a-z]+(?:-[a-z]+)*", path.read_text(encoding="utf-8")):
            assert option in elsewhere or option in spoken, (path, option)


def test_reading_without_comparison_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A runtime that computes something else: the message says --no-compare, which reads it."""
    from polyrelu.formats.onnx import runtime

    def doubled(self: Any, inputs: Any) -> Any:
        return {name: 2 * value + 1 for name, value in original(self, inputs).items()}

    original = runtime.OnnxRuntime.run
    monkeypatch.setattr(runtime.OnnxRuntime, "run", doubled)
    path = _onnx(tmp_path, "Neg")
    with pytest.raises(NetworkFileError, match=r"--no-compare, compare=False read it") as caught:
        read(path)
    (choices,) = _advised(str(caught.value))
    assert read(path, **choices).network.num_inputs == 2


def test_a_description_of_layers_is_named(tmp_path: Path) -> None:
    document = {"class_name": "Sequential", "config": {"layers": [], "rate": 0.5}, "backend": "x"}
    (tmp_path / "net.json").write_text(json.dumps(document))
    with pytest.raises(NetworkFileError, match=r"Keras model without its weights .*model.to_json"):
        read(tmp_path / "net.json")
    (tmp_path / "net.json").write_text('{"class_name": 1}')
    with pytest.raises(NetworkFileError, match="expected an object with the keys"):
        read(tmp_path / "net.json")
