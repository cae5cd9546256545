"""What files say beside their weights: it is used, it is an error, or it stands in the cautions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import Undecided, equivalent, identify, simplify
from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats import read
from polyrelu.formats.settings import is_about_activations, parsed_activation, settings_of

_SIZES = (2, 3, 1)

#: W1 x + b1 at x = (1, 1) is (-2, 1, 0), so that the slope of the first neuron counts.
_W1, _B1 = [[-3.0, 0.5], [2.0, -1.5], [1.0, -1.0]], [0.5, 0.5, 0.0]
_W2, _B2 = [[4.0, 1.0, -2.0]], [0.25]


def _state() -> dict[str, Any]:
    torch = pytest.importorskip("torch")
    arrays = {"0.weight": _W1, "0.bias": _B1, "2.weight": _W2, "2.bias": _B2}
    return {name: torch.tensor(values) for name, values in arrays.items()}


def _saved(folder: Path, content: object) -> Path:
    torch = pytest.importorskip("torch")
    torch.save(content, folder / "net.pt")
    return folder / "net.pt"


def _value(path: Path, **choices: Any) -> Fraction:
    (value,) = read(path, **choices).network([1, 1])
    return value


# --- Slopes ---------------------------------------------------------------------------------------

_WITH_SLOPE: list[dict[str, Any]] = [
    {"negative_slope": 0.25},
    {"leaky_relu_slope": "0.25"},
    {"config": {"negativeSlope": 0.25, "activation": "leaky_relu"}},
    {"hyper_parameters": {"act": "LeakyReLU(negative_slope=0.25)"}},
    {"args": json.dumps({"activation": "nn.LeakyReLU(0.25)"})},
    {"layers": [{"act_fn": "lrelu", "slope": 0.25}]},
]


@pytest.mark.parametrize("entries", _WITH_SLOPE)
def test_a_slope_makes_a_leaky_relu(entries: dict[str, Any], tmp_path: Path) -> None:
    """At (1, 1): 4 · 0.25 · (-2) + 1 + 0.25, where the ReLU gives 1.25."""
    path = _saved(tmp_path, {"state_dict": _state(), **entries})
    assert _value(path) == Fraction(-3, 4)
    imported = read(path)
    assert imported.num_stored == 14
    assert imported.caveats[0].startswith("leaky ReLU of slope 0.25 between the linear layers, as")


def test_a_tensor_can_be_the_slope(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    for slopes in (torch.tensor(0.25), torch.tensor([0.25])):
        assert _value(_saved(tmp_path, {"negative_slope": slopes, **_state()})) == Fraction(-3, 4)
        content = {"negative_slope": slopes, "state_dict": _state()}
        assert _value(_saved(tmp_path, content)) == Fraction(-3, 4)


def test_a_slope_is_exact_or_the_decimal(tmp_path: Path) -> None:
    path = _saved(tmp_path, {"state_dict": _state(), "negative_slope": 0.1})
    assert _value(path) == Fraction(5, 4) - 8 * Fraction(0.1)
    assert _value(path, rounding="attributes=decimal") == Fraction(9, 20)
    assert read(path).rounding == "attributes: stored"


@pytest.mark.parametrize(
    "entries",
    [{}, {"negative_slope": 0}, {"negative_slope": 0.0, "activation": "relu"}, {"act": "nn.ReLU"}],
)
def test_relu_and_slope_zero_are_the_relu(entries: dict[str, Any], tmp_path: Path) -> None:
    path = _saved(tmp_path, {"state_dict": _state(), **entries})
    assert _value(path) == Fraction(5, 4)
    assert read(path).network.is_plain


# --- What contradicts -----------------------------------------------------------------------------

_CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"activation": "tanh"}, "its entry 'activation' says that the activation is 'tanh'; only"),
    ({"config": {"activation": "gelu"}}, "'config.activation' says that the activation is 'gelu'"),
    ({"hyper_parameters": {"act": "ELU"}}, "'hyper_parameters.act' says .* is 'ELU'"),
    ({"a": {"b": {"c": {"nonlinearity": "Softplus()"}}}}, "'a.b.c.nonlinearity' .* 'Softplus'"),
    ({"act_fn": "<class 'torch.nn.modules.activation.SiLU'>"}, "'act_fn' says .* is 'SiLU'"),
    ({"activation_fn": "<function <lambda> at 0x7f00>"}, "'activation_fn' says .* '<lambda>'"),
    ({"non_linearity": "tanh"}, "'non_linearity' says that the activation is 'tanh'"),
    ({"encoder_activation": "tanh"}, "'encoder_activation' says that the activation is 'tanh'"),
    ({"activation": "mine"}, "'activation' says that the activation is 'mine'"),
    (
        {"optimizer": {"state": {n: {"m": n, "v": n} for n in range(5000)}}, "c": {"act": "elu"}},
        "'c.act' says that the activation is 'elu'",
    ),
    ({"activation": "linear"}, "says that the activation is 'linear'"),
    ({"activations": ["relu", "relu", "relu"]}, "names 3 activations for 2 layers"),
    ({"activations": ["tanh", "linear"]}, "'activations' says that the activation is 'tanh'"),
    ({"activation": "leaky_relu"}, "says leaky_relu, but nothing says its slope"),
    ({"activation": "relu", "negative_slope": 0.5}, "says relu, and its entry 'negative_slope'"),
    ({"slope": 0.5, "config": {"negative_slope": 0.25}}, "say different slopes"),
    ({"negative_slope": float("inf")}, "is not a finite slope"),
    ({"residual": True}, "'residual' says True: the network has connections that skip layers"),
    ({"config": {"use_batch_norm": True}}, "the network has a batch normalisation"),
    ({"cfg": {"norm": "layer"}}, "says 'layer': the network has a normalisation"),
]


@pytest.mark.parametrize(("entries", "says"), _CONTRADICTIONS)
def test_entries_that_contradict_are_errors(
    entries: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(NetworkFileError, match=says) as caught:
        read(_saved(tmp_path, {"state_dict": _state(), **entries}))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "entries",
    [
        {"residual": False, "batch_norm": None, "layer_norm": "none"},
        {"act_dim": 4, "activation": "relu", "output_activation": "linear"},
        {"linear_layer_width": (2, 3, 1), "hidden_sizes": [3], "bias": True},
        {"activations": ["relu", "identity"]},
        {"activation": "relu, linear"},
        {"activation_checkpointing": "full"},
    ],
)
def test_entries_that_agree(entries: dict[str, Any], tmp_path: Path) -> None:
    path = _saved(tmp_path, {"state_dict": _state(), **entries})
    assert _value(path) == Fraction(5, 4)
    shown = [text for text in read(path).caveats if "not read" in text]
    others = {"act_dim": "act_dim 4", "activation_checkpointing": "activation_checkpointing 'full'"}
    expected = [f"entries that were not read: {others[name]}" for name in others if name in entries]
    assert shown == expected


def test_an_output_activation(tmp_path: Path) -> None:
    """The output at (-1, 1) is 4 · 4 + 0.25 - 2 · 0; at (1, -8) it is negative before a ReLU."""
    path = _saved(tmp_path, {"state_dict": _state(), "output_activation": "relu"})
    plain = _saved(_folder(tmp_path), _state())
    for x in ([-1, 1], [1, -8], [3, 0]):
        assert read(path).network(x) == tuple(max(y, Fraction()) for y in read(plain).network(x))
    squashed = _saved(tmp_path, {"state_dict": _state(), "final_act": "Tanh"})
    with pytest.raises(NetworkFileError, match=r"'Tanh' follows the last layer; .*; --strip-tail"):
        read(squashed)
    imported = read(squashed, strip_tail=True)
    assert imported.network == read(plain).network
    assert "the Tanh after the last layer (entry 'final_act') was stripped" in imported.caveats


def _folder(parent: Path) -> Path:
    (parent / "other").mkdir()
    return parent / "other"


# --- Cautions -------------------------------------------------------------------------------------


def test_other_entries_stand_in_every_certificate(tmp_path: Path) -> None:
    content = {"epoch": 7, "model": _state(), "scaler_mean": [0.5], "note": "trained with dropout"}
    path = _saved(tmp_path, content)
    imported = read(path)
    says = "entries that were not read: scaler_mean [0.5], epoch 7, note 'trained with dropout'"
    assert says in imported.caveats
    assert says in imported.provenance["caveats"]
    outcome = identify(path)
    assert not isinstance(outcome, Undecided)
    assert says in outcome.certificate.unverified["caveats"]
    assert outcome.certificate.unverified["source"] == "net.pt"
    pair = equivalent(path, imported.network)
    assert not isinstance(pair, Undecided)
    assert says in pair.certificate.unverified["caveats"]
    other = equivalent(imported.network, path)
    assert not isinstance(other, Undecided)
    assert says in other.certificate.unverified["other-caveats"]
    assert says in simplify(path).outcome.certificate.unverified["caveats"]
    assert "caveats" not in simplify(imported.network).outcome.certificate.unverified


def test_hostile_containers(tmp_path: Path) -> None:
    """Containers that contain themselves, are very deep, or hold very many entries."""
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"in": deep}
    many = dict.fromkeys(map(str, range(10**5)), 1)
    for entries in (loop, deep, many, {"text": "[" * 10**5}, {"x": {1: {2: None}}}):
        found = settings_of(entries, _SIZES)
        assert found.slope is None
        assert found.unread


def test_names_and_texts() -> None:
    yes = ["activation", "hidden_activation", "actFn", "act_fcns", "nonlinearity", "final_act"]
    no = ["action", "act_dim", "actor", "weights", "act_limit", "factory"]
    assert [name for name in [*yes, *no] if is_about_activations(name)] == yes
    assert parsed_activation("F.relu").is_relu
    assert parsed_activation("<function relu at 0x7f>").is_relu
    partial = "functools.partial(<class 'torch.nn.modules.activation.LeakyReLU'>, slope=0.2)"
    assert (parsed_activation(partial).is_leaky, parsed_activation(partial).slope) == (True, 0.2)
    assert parsed_activation("LeakyReLU").slope is None


def test_numpy_numbers_are_slopes() -> None:
    found = settings_of({"negative_slope": np.float64(0.5)}, _SIZES)
    assert found.slope == (0.5, "negative_slope")
    with pytest.raises(NetworkError, match="names 2 activations for 4 layers"):
        settings_of({"activations": ["relu", "relu"]}, (1, 2, 3, 4, 5))


# --- Other files ----------------------------------------------------------------------------------


def _safetensors(folder: Path, metadata: Mapping[str, str]) -> Path:
    numpy = pytest.importorskip("safetensors.numpy")
    arrays = {"0.weight": _W1, "0.bias": _B1, "2.weight": _W2, "2.bias": _B2}
    numpy.save_file(
        {name: np.array(values, np.float32) for name, values in arrays.items()},
        folder / "net.safetensors",
        dict(metadata),
    )
    return folder / "net.safetensors"


def test_metadata_of_safetensors(tmp_path: Path) -> None:
    assert _value(_safetensors(tmp_path, {"format": "pt"})) == Fraction(5, 4)
    assert _value(_safetensors(tmp_path, {"negative_slope": "0.25"})) == Fraction(-3, 4)
    config = json.dumps({"activation": "tanh"})
    for metadata, place in (({"activation": "tanh"}, ""), ({"config": config}, "config.")):
        with pytest.raises(NetworkFileError, match=f"'metadata.{place}activation' .* 'tanh'"):
            read(_safetensors(tmp_path, metadata))
    assert "not read: metadata dict" in read(_safetensors(tmp_path, {"by": "me"})).caveats[-1]


def _numbered(depth: int, in_order: Callable[[list[int]], list[int]]) -> dict[str, Any]:
    """Layers n of size 1, of weight n + 1 and bias n, in an order of the file."""
    torch = pytest.importorskip("torch")
    state = {}
    for n in in_order(list(range(depth))):
        state[f"net.{n}.weight"] = torch.tensor([[n + 1.0]])
        state[f"net.{n}.bias"] = torch.tensor([float(n)])
    return state


def _by_text(numbers: list[int]) -> list[int]:
    return sorted(numbers, key=str)


def test_names_in_the_order_of_the_alphabet_are_read_by_number(tmp_path: Path) -> None:
    """0, 1, 10, 11, 2, …: a file that sorted its names."""
    imported = read(_saved(tmp_path, _numbered(12, _by_text)))
    assert imported.network == read(_saved(tmp_path, _numbered(12, list))).network
    assert "since the file lists them in the order of the alphabet" in imported.caveats[0]
    backwards = read(_saved(tmp_path, _numbered(12, lambda numbers: numbers[::-1])))
    assert backwards.network != imported.network
    assert "the layers are not in the order of the numbers in their names" in backwards.caveats
