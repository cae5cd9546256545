"""PyTorch: state dicts, modules that are compared exactly with PyTorch, and refusals.

Weights and inputs of most modules are multiples of 1/8, so float32 does not round and equality is
exact.
"""

from __future__ import annotations

import io
import json
import operator
import os
import pickle
import random
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats import read
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.lowering import Lowered, lower
from polyrelu.formats.imported import Comparison, Draft
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.formats.runtimes.comparison import compare_with_runtime
from polyrelu.formats.torch import files as torch_file, operations as torch_operations
from polyrelu.formats.torch.files import read_torch
from polyrelu.formats.torch.reader import draft_of_module
from polyrelu.network import Network, from_arrays
from tests.generators.campaigns import case
from tests.generators.files import NETS as _NETS

torch: Any = pytest.importorskip("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional

# --- State dicts -----


def _tensor(*shape: int, seed: int = 0, dtype: Any = None) -> Any:
    """A tensor of multiples of 1/8 between -2 and 2."""
    generator = torch.Generator().manual_seed(seed + 100 * sum(shape))
    return (torch.randint(-16, 17, shape, generator=generator) / 8).to(dtype or torch.float32)


def _state(*widths: int, start: str = "", step: int = 1, dtype: Any = None) -> dict[str, Any]:
    """A state dict of linear layers start0, start1, …"""
    state = {}
    for i, (n, m) in enumerate(pairwise(widths)):
        state[f"{start}{step * i}.weight"] = _tensor(m, n, seed=i, dtype=dtype)
        state[f"{start}{step * i}.bias"] = _tensor(m, seed=i, dtype=dtype)
    return state


def _network(state: Mapping[str, Any]) -> Network:
    """The network of weights and biases in turn."""
    arrays = [tensor.to(torch.float64).numpy() for tensor in state.values()]
    return from_arrays(list(zip(arrays[::2], arrays[1::2], strict=True)))


def _saved(folder: Path, content: Any, name: str = "net.pt", **options: Any) -> Path:
    path = folder / name
    torch.save(content, path, **options)
    return path


def _read(path: Path, prefix: str | None = None) -> Draft:
    return read_torch(path, ReadOptions(prefix=prefix))


def _refused(path: Path, says: str, prefix: str | None = None) -> None:
    with pytest.raises(NetworkFileError, match=says) as caught:
        _read(path, prefix)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600 + len(str(path))
    assert caught.value.path == path


_NET = _state(3, 4, 5, 2, start="net.", step=2)

_CONTAINERS: dict[str, Any] = {
    "a state dict": _NET,
    "an ordered one": OrderedDict(_NET),
    "state_dict": {"state_dict": _NET, "epoch": 3},
    "model": {
        "model": _NET,
        "optimizer": {"state": {0: {"step": torch.tensor(1.0)}}, "param_groups": []},
    },
    "model_state_dict": {"model_state_dict": OrderedDict(_NET), "loss": 0.5},
    "a list in state_dict": {"state_dict": [_NET], "err": 0.1},
    "a list": [_NET],
    "nested": {"model": {"state_dict": _NET}},
    "DataParallel": {f"module.{name}": tensor for name, tensor in _NET.items()},
    "parameters": {name: nn.Parameter(tensor) for name, tensor in _NET.items()},
}


_OTHER_ENTRIES = {
    "state_dict": "not read: epoch 3",
    "model": "not read: optimizer dict",
    "model_state_dict": "not read: loss 0.5",
    "a list in state_dict": "not read: err 0.1",
}


@pytest.mark.parametrize("name", _CONTAINERS)
@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_containers_of_state_dicts(name: str, new: bool, tmp_path: Path) -> None:
    path = _saved(tmp_path, _CONTAINERS[name], _use_new_zipfile_serialization=new)
    draft = _read(path)
    assert draft.network == _network(_NET)
    assert draft.format == "state dict of PyTorch"
    assert draft.dtypes == {"float32"}
    assert draft.num_stored == 3 * 4 + 4 + 4 * 5 + 5 + 5 * 2 + 2
    assert draft.steps == [
        "affine [4, 3] 'net.0'",
        "affine [5, 4] 'net.2'",
        "affine [2, 5] 'net.4'",
    ]
    assert draft.runtime == "a state dict holds no function"
    assert len(draft.caveats) == 1 + (name in _OTHER_ENTRIES)
    assert draft.caveats[-1].endswith(_OTHER_ENTRIES.get(name, "the file's order"))
    says = "ReLU between the linear layers, the last one affine, and the file's order"
    assert draft.caveats[0] == f"assumed, since a state dict records neither: {says}"


_prune: Any = pytest.importorskip("torch.nn.utils.prune")


@pytest.mark.parametrize(
    ("made", "undone", "says"),
    [
        (
            torch.nn.utils.weight_norm,
            torch.nn.utils.remove_weight_norm,
            r"weight normalisation: torch\.nn\.utils\.remove_weight_norm\(layer\) makes",
        ),
        (
            torch.nn.utils.spectral_norm,
            torch.nn.utils.remove_spectral_norm,
            r"spectral normalisation: torch\.nn\.utils\.remove_spectral_norm\(layer\)",
        ),
        (
            lambda layer: _prune.l1_unstructured(layer, "weight", 2),
            lambda layer: _prune.remove(layer, "weight"),
            r"pruning: torch\.nn\.utils\.prune\.remove\(layer, 'weight'\) makes",
        ),
        *(
            (
                getattr(torch.nn.utils.parametrizations, kind),
                lambda layer: torch.nn.utils.parametrize.remove_parametrizations(layer, "weight"),
                r"parametrised: torch\.nn\.utils\.parametrize\.remove_parametrizations\(layer, 'w",
            )
            for kind in ("weight_norm", "spectral_norm", "orthogonal")
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bare", [True, False])
def test_computed_weights_are_named_and_the_remedy_works(
    made: Any, undone: Any, says: str, bare: bool, tmp_path: Path
) -> None:
    """The layer alone, and beside a plain layer."""
    layer = nn.Linear(3, 4)
    module = layer if bare else nn.Sequential(nn.Linear(3, 3), nn.ReLU(), layer)
    made(layer)
    with pytest.raises(NetworkFileError, match=says):
        _read(_saved(tmp_path, module.state_dict()))
    undone(layer)
    state = module.state_dict()
    order = sorted(state, key=lambda name: (name.rpartition(".")[0], name.endswith("bias")))
    path = _saved(tmp_path, {name: state[name] for name in order})
    assert _read(path).network == _network({name: state[name] for name in order})


def test_other_entries_are_noted(tmp_path: Path) -> None:
    state = _NET | {"lyapunov.R": _tensor(2, 2), "limit": _tensor(3)}
    draft = _read(_saved(tmp_path, {"state_dict": state, "epoch": 3, "lower": _tensor(2)}))
    assert draft.caveats[-2:] == [
        "tensors that were not read: 'lyapunov.R' [2, 2], 'limit' [3]",
        "entries that were not read: epoch 3, lower [2]",
    ]


def test_the_wrapper_of_data_parallel_is_noted(tmp_path: Path) -> None:
    assert "'module.'" in _read(_saved(tmp_path, _CONTAINERS["DataParallel"])).notes[0]


@pytest.mark.parametrize(
    "names", [("fc1", "fc2"), ("layers.0", "layers.1"), ("a.b.in", "a.b.out"), ("0", "10")]
)
def test_layers_with_one_parent_are_found(names: tuple[str, str], tmp_path: Path) -> None:
    tensors_ = _state(3, 4, 2).values()
    keys = [f"{name}.{last}" for name in names for last in ("weight", "bias")]
    state = dict(zip(keys, tensors_, strict=True))
    assert _read(_saved(tmp_path, state)).network == _network(state)


def test_a_single_layer(tmp_path: Path) -> None:
    state = {"weight": _tensor(2, 3), "bias": _tensor(2)}
    draft = _read(_saved(tmp_path, state))
    assert draft.network == _network(state)
    assert draft.steps == ["affine [2, 3] ''"]


def test_a_missing_bias_is_zero(tmp_path: Path) -> None:
    state = {name: tensor for name, tensor in _NET.items() if name != "net.2.bias"}
    draft = _read(_saved(tmp_path, state))
    assert draft.network == _network(
        {n: torch.zeros(5) if n == "net.2.bias" else t for n, t in _NET.items()}
    )
    assert draft.num_stored == sum(tensor.numel() for tensor in state.values())
    assert "layers without a bias, taken as zeros: 'net.2'" in draft.notes


def test_the_file_order_counts_and_another_one_is_noted(tmp_path: Path) -> None:
    state = {
        f"{i}.{last}": _tensor(3, *((3,) if last == "weight" else ()), seed=i)
        for i in (1, 0)
        for last in ("weight", "bias")
    }
    draft = _read(_saved(tmp_path, state))
    assert draft.network == _network(state)
    assert "the layers are not in the order of the numbers in their names" in draft.caveats


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8"])
def test_numbers_are_exact(name: str, tmp_path: Path) -> None:
    dtype = getattr(torch, name)
    weight = torch.tensor([[0.1, -3.7, 1e-6]]).to(dtype)
    if dtype.is_floating_point:
        weight = torch.cat(
            [
                weight,
                torch.tensor(
                    [[torch.finfo(dtype).max, torch.finfo(dtype).tiny, -0.0]], dtype=dtype
                ),
            ]
        )
    draft = _read(_saved(tmp_path, {"fc.weight": weight}))
    assert draft.network is not None
    assert list(draft.network.weight(1).entries()) == [
        Fraction(float(v)) for v in weight.reshape(-1)
    ]
    assert draft.dtypes == {name}
    assert draft.arithmetic == name


def test_every_bfloat16_is_exact(tmp_path: Path) -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    values = (bits.astype(np.uint32) << 16).view(np.float32)
    bits[~np.isfinite(values)] = 0
    weight = torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).reshape(64, 1024)
    draft = _read(_saved(tmp_path, {"fc.weight": weight}))
    values[~np.isfinite(values)] = 0
    assert draft.network == from_arrays(
        [(values.astype(np.float64).reshape(64, 1024), np.zeros(64))]
    )


def test_tensors_that_are_views(tmp_path: Path) -> None:
    weight = _tensor(6, 8)[::2, 1::3].T
    assert _read(
        _saved(tmp_path, {"weight": weight, "bias": _tensor(3)[:1].expand(3)})
    ).network == _network({"weight": weight, "bias": _tensor(3)[:1].expand(3)})


def _relocated(path: Path, device: str) -> None:
    """Rewrite a file such that its tensors seem to come from another device."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    (name,) = [name for name in members if name.endswith("data.pkl")]
    assert b"X\x03\0\0\0cpu" in members[name]
    members[name] = members[name].replace(
        b"X\x03\0\0\0cpu", b"X%c\0\0\0" % len(device) + device.encode()
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_tensors_saved_on_a_gpu(tmp_path: Path) -> None:
    path = _saved(tmp_path, _NET)
    _relocated(path, "cuda:0")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError):
            torch.load(path, weights_only=True)
    assert _read(path).network == _network(_NET)


# --- Prefixes -----

_SEVERAL = {
    **_state(3, 4, 2, start="actor.net.", step=2),
    **_state(3, 5, 1, start="critic.net.", step=2),
    "critic.R": _tensor(2, 2),
    "log_std": _tensor(2),
}


def test_several_networks_are_listed(tmp_path: Path) -> None:
    path = _saved(tmp_path, _SEVERAL)
    _refused(
        path,
        r"several networks: prefix 'actor\.' \(3-4-2\), prefix 'critic\.net\.' \(3-5-1\); "
        "choose one",
    )
    separate = {"policy": _state(3, 4, 2), "value": _state(3, 5, 1)}
    _refused(
        _saved(tmp_path, separate),
        r"prefix 'policy\.' \(3-4-2\), prefix 'value\.' \(3-5-1\); choose one",
    )
    whole = _saved(tmp_path, separate)
    assert (
        _read(whole, "policy").network == _read(whole, "policy.").network
    )  # a path without its dot
    _refused(
        _saved(tmp_path, [_state(2, 3), _state(4, 1)]),
        r"prefix '0\.' \(2-3\), prefix '1\.' \(4-1\)",
    )
    body = _state(3, 4, 4, start="body.") | {"head.weight": _tensor(2, 4)}
    _refused(
        _saved(tmp_path, body),
        r"prefix '' \(3-4-4-2\), prefix 'body\.' \(3-4-4\), prefix 'head\.' \(4-2\); choose",
    )


def test_a_prefix_chooses(tmp_path: Path) -> None:
    path = _saved(tmp_path, _SEVERAL)
    critic = _read(path, "critic.net")
    assert critic.network == _network(_state(3, 5, 1))
    assert "'actor.net.0.weight' [4, 3]" in critic.caveats[-1]
    assert "'log_std' [2]" in critic.caveats[-1]
    parts = {**_state(3, 4, start="a."), **_state(2, 3, start="b.")}
    assert _read(_saved(tmp_path, parts), " b., a.").network == _network(
        _state(2, 3) | _state(3, 4, start="a.")
    )
    every = _state(3, 4, start="a.") | _state(4, 2, start="b.")
    assert _read(_saved(tmp_path, every), "").network == _network(every)


@pytest.mark.parametrize(
    ("prefix", "says"),
    [
        ("nothing", r"no linear layer's name starts with 'nothing'; prefix 'actor\.' \(3-4-2\)"),
        ("critic", r"tensor 'critic\.R' \[2, 2\] is not the weight or bias of a linear layer"),
        ("", r"tensor 'critic\.R' \[2, 2\]"),
        (
            "actor,critic.net",
            r"'actor\.net\.2\.weight' \[2, 4\] cannot be followed by "
            r"'critic\.net\.0\.weight' \[5, 3\]",
        ),
        ("actor.net.0,actor", r"chooses the layer 'actor\.net\.0' twice"),
    ],
)
def test_prefixes_that_do_not_choose_a_network(prefix: str, says: str, tmp_path: Path) -> None:
    _refused(_saved(tmp_path, _SEVERAL), says, prefix)


# --- What a state dict does not say -----

_CONV = {"features.0.weight": _tensor(4, 3, 2, 2), "features.0.bias": _tensor(4)}
_NORM = {f"bn.{name}": _tensor(4) for name in ("weight", "bias", "running_mean", "running_var")}
_EXPANDED = torch.zeros(1).expand(10**5, 10**5)


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (
            {"0.weight": _tensor(4, 3, 2), "3.weight": _tensor(2, 4)},
            r"'0\.weight' \[4, 3, 2\] is of a convol.*stride",
        ),
        (
            _CONV | _state(4, 2, start="fc."),
            r"convolution.*; prefix 'fc\.' reads the linear layers there alone",
        ),
        (_CONV, "convolution, whose stride and padding"),
        (
            _NORM | _state(3, 4, 2, start="fc"),
            r"'bn\.weight' \[4\] belongs to a batch normalisation, whose ε",
        ),
        (_state(3, 4, 2, start="fc.") | _NORM, "batch normalisation"),
        (
            _NET | {"net.1.weight": _tensor(4)},
            r"'net\.1\.weight' \[4\] is of a normalisation or of PReLU",
        ),
        (
            _NET | {"acts.0.weight": _tensor(1)},
            r"'acts\.0\.weight' \[1\] is of a normalisation or of PReLU",
        ),
        (_NET | {"net.scale": _tensor(1)}, r"'net\.scale' \[1\] is not the weight or bias"),
        (_NET | {"net.0.bias": _tensor(3)}, r"'net\.0\.bias' \[3\] does not fit"),
        (
            _state(3, 4) | _state(5, 2, start="1"),
            r"'0\.weight' \[4, 3\] cannot be followed by '10\.weight' \[2, 5\]",
        ),
        ({"fc.weight": torch.tensor([[1.0, float("nan")]])}, r"layer 1, W: entry \[0, 1\] is nan"),
        ({"fc.weight": torch.tensor([[1.0, float("-inf")]])}, "is -inf"),
        ({"fc.weight": torch.tensor([[True]])}, r"tensor 'fc\.weight': its type is bool"),
        ({"fc.weight": torch.tensor([[1j]])}, r"tensor 'fc\.weight': its type is complex64"),
        ({"fc.weight": torch.eye(3).to_sparse()}, r"tensor 'fc\.weight': a sparse or quantised"),
        (
            {"fc.weight": torch.empty(2, 2, device="meta")},
            r"tensor 'fc\.weight': it has a shape, but no numbers",
        ),
        ({"fc.weight": _EXPANDED}, "more than 30000000"),
        (
            {f"{i}.weight": torch.zeros(1).expand(4000, 4000) for i in range(2)},
            "more than 30000000 weights",
        ),
        ({"fc.weight": torch.zeros(0, 3)}, "layer 1"),
        (
            {"lstm.weight_ih_l0": _tensor(4, 3)},
            r"it holds no linear layer.*'lstm\.weight_ih_l0' \[4, 3\]",
        ),
        ({"x" * 999: _tensor(3)}, "it holds no linear layer"),
        ({}, "not a state dict, but dict"),
        ({"state_dict": {}}, "not a state dict, but dict"),
        (
            {"epoch": 3, "loss": 1.5},
            "not a state dict, but dict; it holds 'epoch' int, 'loss' float",
        ),
        (_tensor(2, 2), "not a state dict, but Tensor"),
        ([1, 2], "not a state dict, but list"),
        (None, "not a state dict, but NoneType"),
    ],
)
def test_state_dicts_that_are_refused(state: Any, says: str, tmp_path: Path) -> None:
    _refused(_saved(tmp_path, state), says)


def test_a_container_that_holds_itself(tmp_path: Path) -> None:
    content: dict[str, Any] = {}
    content["state_dict"] = content
    _refused(_saved(tmp_path, content), "not a state dict")


def test_a_part_of_a_larger_network_on_request(tmp_path: Path) -> None:
    path = _saved(tmp_path, _CONV | _state(4, 2, start="fc."))
    assert _read(path, "fc.").network == _network(_state(4, 2))


# --- Files that hold code, or are damaged -----


class _Evil:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (self.target,))


@pytest.mark.parametrize("how", ["zip", "legacy", "pickle", "archive"])
def test_no_code_of_a_file_is_run(how: str, tmp_path: Path) -> None:
    target, path = tmp_path / "made", tmp_path / "net.pt"
    content = _NET | {"evil": _Evil(str(target))}
    if how == "pickle":
        path.write_bytes(pickle.dumps({"evil": _Evil(str(target))}))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=how != "legacy")
    if how == "archive":
        with zipfile.ZipFile(tmp_path / "policy.zip", "w") as archive:
            archive.writestr("policy.pth", path.read_bytes())
        path = tmp_path / "policy.zip"
    says = r"holds an object of \w+\.mkdir.*run code; save the weights alone"
    _refused(path, "not a readable file" if how == "pickle" else says)
    assert not target.exists()


def test_whole_modules_are_refused(tmp_path: Path) -> None:
    _refused(
        _saved(tmp_path, nn.Linear(2, 2)),
        r"object of torch\.nn\.modules\.linear\.Linear.*state_dict\(\).*onnx",
    )


@pytest.mark.filterwarnings("ignore")
def test_torchscript_is_refused(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2)), tmp_path / "net.pt")
    _refused(tmp_path / "net.pt", "a TorchScript archive, which holds code")


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_truncated_files_are_refused(new: bool, tmp_path: Path) -> None:
    content = _saved(tmp_path, _state(2, 3, 1), _use_new_zipfile_serialization=new).read_bytes()
    for length in range(0, len(content), 5):
        path = tmp_path / "cut.pt"
        path.write_bytes(content[:length])
        _refused(
            path, "not a readable file of PyTorch|holds an object of"
        )  # half a name is another name


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_damaged_files_give_a_network_or_one_line(new: bool, tmp_path: Path) -> None:
    content = _saved(tmp_path, _state(2, 3, 1), _use_new_zipfile_serialization=new).read_bytes()
    whole, chance, path = _network(_state(2, 3, 1)), random.Random(3), tmp_path / "damaged.pt"
    for _ in range(400):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            draft = _read(path)
        except NetworkFileError as error:
            assert str(error).isprintable()  # noqa: PT017
        else:
            assert not new or draft.network == whole  # zip files have checksums


def test_checksums_are_looked_at(tmp_path: Path) -> None:
    path = _saved(tmp_path, {"fc.weight": torch.tensor([[1.5]])})
    path.write_bytes(
        path.read_bytes().replace(np.float32(1.5).tobytes(), np.float32(2.5).tobytes())
    )
    assert torch.load(path, weights_only=True)["fc.weight"] == 2.5
    _refused(path, "damaged: the checksum of 'net/data/0' does not fit")


def test_files_that_unpack_to_gigabytes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_file, "_MAX_BYTES", 10**6)
    with zipfile.ZipFile(tmp_path / "net.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("net/data.pkl", b"")
        archive.writestr("net/data/0", bytes(10**6 + 1))
    _refused(
        tmp_path / "net.zip",
        "it unpacks to 1000001 bytes, more than 1000000; save the weights alone",
    )


def test_files_of_gigabytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    with path.open("wb") as file:
        file.truncate(10**9)  # takes no room on disk
    _refused(path, "it has 1000000000 bytes, more than 960000000; save the weights alone")


def test_missing_files_and_other_zip_files(tmp_path: Path) -> None:
    _refused(tmp_path / "missing.pt", "cannot read: No such file")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme", "hello")
    _refused(tmp_path / "other.zip", "a zip file without data.pkl or policy.pth; it holds 'readme'")


def test_torch_is_needed_and_must_be_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _saved(tmp_path, _NET)
    monkeypatch.setattr(torch, "__version__", "2.9.1+cu128")
    _refused(path, r"torch 2\.9\.1\+cu128 can be made to run code that a file holds; update it")
    monkeypatch.setitem(sys.modules, "torch", None)
    _refused(path, r"needs the package torch \(the extra \[torch\]\): pip install torch")


# --- Archives of Stable-Baselines3 -----


def _archive(folder: Path, said: str | None, state: Mapping[str, Any] = _NET) -> Path:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    with zipfile.ZipFile(folder / "agent.zip", "w") as archive:
        archive.writestr("policy.pth", buffer.getvalue())
        archive.writestr("policy.optimizer.pth", b"never looked at")
        if said is not None:
            archive.writestr("data", said)
    return folder / "agent.zip"


_POLICY = '{"policy_class": {"__module__": "stable_baselines3.%s.policies"}, "policy_kwargs": {%s}}'
_ACTIVATION = '"activation_fn": "<class \'torch.nn.modules.activation.%s\'>", "net_arch": [4]'


@pytest.mark.parametrize("said", [None, "", "{}", "[]", "null", "[" * 10**5, _POLICY % ("dqn", "")])
def test_archives_of_stable_baselines(said: str | None, tmp_path: Path) -> None:
    draft = _read(_archive(tmp_path, said))
    assert draft.network == _network(_NET)
    assert "policy.pth of an archive of Stable-Baselines3" in draft.notes


def test_activations_that_an_archive_names(tmp_path: Path) -> None:
    _refused(
        _archive(tmp_path, _POLICY % ("common", "")),
        "data: its activation functions are Tanh, as this policy's",
    )
    _refused(
        _archive(tmp_path, _POLICY % ("dqn", _ACTIVATION % "ELU")),
        r"its entry 'policy_kwargs.activation_fn' says that the activation is 'ELU'; only",
    )
    for text in ("{'activation_fn': <class 'torch.nn.Tanh'>}", "dict(activation_fn=nn.Tanh)"):
        said = json.dumps({"policy_kwargs": text})
        _refused(_archive(tmp_path, said), "'policy_kwargs.activation_fn' says .* 'Tanh'")
    assert any(
        "applies Tanh after its last layer" in caveat
        for caveat in _read(_archive(tmp_path, _POLICY % ("td3", ""))).caveats
    )
    assert any(
        "not known (module 'own.policies')" in caveat
        for caveat in _read(
            _archive(tmp_path, '{"policy_class": {"__module__": "own.policies"}}')
        ).caveats
    )
    caveats = _read(_archive(tmp_path, _POLICY % ("common", _ACTIVATION % "ReLU"))).caveats
    assert "as the file says ('policy_kwargs.activation_fn' ReLU)" in caveats[0]


# --- Files from elsewhere -----


_ELSEWHERE: list[tuple[str, str | None, str]] = [
    ("sdf_bunny_2d_2x50.bin", None, "2-50-50-1"),
    ("sdf_bunny_2d_4x32.bin", None, "2-32-32-32-32-1"),
    ("sdf_bunny_3d_8x32.bin", None, "3-32-32-32-32-32-32-32-32-1"),
    ("relucent_d4_w8_nh4.pt", None, "4-8-8-8-8-1"),
    ("lyap_pvtol.pth", None, "6-8-2"),
    ("lyap_pendulum_of.pth", None, r"several networks: .*prefix 'lyapunov\.net\.' \(4-16-16-8-1\)"),
    ("lyap_pendulum_of.pth", "observer.", "3-16-16-8-2"),
    ("sb3_dqn_cartpole.zip", None, r"prefix 'q_net\.' \(4-256-256-2\), prefix 'q_net_target\.'"),
    ("sb3_dqn_cartpole.zip", "q_net.", "4-256-256-2"),
    ("lirpa_mnist_cnn_small.pth", None, r"'conv1\.weight' \[8, 1, 4, 4\] is of a convolution"),
    ("oval_cifar_deep.pth", None, r"'0\.weight' \[8, 3, 4, 4\] is of a convolution"),
]


@pytest.mark.parametrize(("name", "prefix", "expected"), _ELSEWHERE)
def test_files_from_elsewhere(name: str, prefix: str | None, expected: str) -> None:
    path = _NETS / name
    if not path.is_file():
        pytest.skip("the collection of networks is not here")
    if "networks" in expected or "'" in expected:
        _refused(path, expected, prefix)
        return
    draft = _read(path, prefix)
    assert draft.network is not None
    assert str(draft.network.architecture) == expected


# --- Modules: exact agreement -----


def _module(forward: Callable[..., Any], **parts: Any) -> Any:
    """A module with a given forward; parts are layers, parameters, or tensors as buffers."""
    made = type("Made", (nn.Module,), {"forward": forward})()
    for name, part in parts.items():
        if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
            made.register_buffer(name, part)
        else:
            setattr(made, name, part)
    return made


def _batch_norm(layer: Any) -> Any:
    """A batch normalisation with exact roots and factors of every sign."""
    squares = torch.tensor([0.25, 4.0, 1.0, 16.0])[: layer.num_features]
    layer.eps = 1 / 16
    layer.running_var.copy_(squares - layer.eps)
    layer.running_mean.copy_(_tensor(layer.num_features))
    if layer.weight is not None:
        layer.weight.data.copy_(torch.tensor([-0.75, 0.0, 2.0, 1.0])[: layer.num_features])
        layer.bias.data.copy_(_tensor(layer.num_features, seed=1))
    return layer


def _dyadic(module: Any) -> Any:
    """The module in evaluation mode, with multiples of 1/8 as parameters."""
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    for number, part in enumerate(module.modules()):
        if isinstance(part, norms):
            _batch_norm(part)
            continue
        for parameter in part.parameters(recurse=False):
            parameter.data.copy_(_tensor(*parameter.shape, seed=number))
    return module.eval()


def _chain(*layers: Any) -> Callable[[], Any]:
    return lambda: nn.Sequential(*layers)


Case = tuple[Callable[[], Any], tuple[int, ...]]

_LAYERS: dict[str, Case] = {
    "linear": (_chain(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (1, 3)),
    "linear without bias": (
        _chain(nn.Linear(3, 3, bias=False), nn.ReLU(inplace=True), nn.Linear(3, 2)),
        (1, 3),
    ),
    "linear on more dimensions": (_chain(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2)), (1, 2, 3)),
    "linear on a vector": (_chain(nn.Linear(3, 3), nn.ReLU()), (3,)),
    "a layer used twice": (lambda: nn.Sequential(*[nn.Linear(3, 3), nn.ReLU()] * 2), (1, 3)),
    "identity and dropout": (
        _chain(nn.Identity(), nn.Dropout(0.5), nn.Linear(3, 2), nn.AlphaDropout()),
        (1, 3),
    ),
    "leaky relu": (_chain(nn.Linear(3, 4), nn.LeakyReLU(0.25)), (1, 3)),
    "relu6": (_chain(nn.Linear(3, 8), nn.ReLU6()), (1, 3)),
    "hardtanh": (_chain(nn.Linear(3, 8), nn.Hardtanh(-1.5, 0.25), nn.Linear(8, 2)), (1, 3)),
    "prelu": (_chain(nn.Linear(3, 4), nn.PReLU()), (1, 3)),
    "prelu per channel": (_chain(nn.Conv1d(2, 3, 2), nn.PReLU(3)), (1, 2, 3)),
    "prelu per channel, as many as places": (_chain(nn.Conv1d(2, 3, 2), nn.PReLU(3)), (1, 2, 4)),
    "prelu per feature": (_chain(nn.Linear(3, 4), nn.PReLU(4)), (1, 3)),
    "flatten is in the order of the channels": (
        _chain(nn.Conv2d(2, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2)),
        (1, 2, 3, 4),
    ),
    "flatten of some dimensions": (
        _chain(nn.Flatten(2), nn.Linear(6, 2), nn.Flatten(-2, -1)),
        (1, 2, 3, 2),
    ),
    "flatten of the batch": (_chain(nn.Flatten(0), nn.Linear(12, 2)), (1, 2, 3, 2)),
    "unflatten": (_chain(nn.Linear(3, 12), nn.Unflatten(1, (2, 3, 2)), nn.Conv2d(2, 1, 2)), (1, 3)),
    "conv1d": (_chain(nn.Conv1d(2, 3, 3, stride=2, padding=2, dilation=2)), (1, 2, 6)),
    "conv2d": (
        _chain(nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(1, 0), groups=2)),
        (1, 2, 4, 3),
    ),
    "conv2d of a sample": (_chain(nn.Conv2d(2, 3, 2), nn.MaxPool2d(2)), (2, 3, 4)),
    "conv2d of a batch": (_chain(nn.Conv2d(1, 2, 2)), (2, 1, 3, 3)),
    "conv2d same, even kernel": (
        _chain(nn.Conv2d(1, 2, (2, 4), padding="same", dilation=(1, 1))),
        (1, 1, 3, 4),
    ),
    "conv2d valid": (_chain(nn.Conv2d(1, 2, 2, padding="valid", bias=False)), (1, 1, 3, 3)),
    "conv3d": (_chain(nn.Conv3d(1, 2, 2, padding=(1, 0, 0))), (1, 1, 2, 3, 2)),
    "conv transpose 1d": (
        _chain(nn.ConvTranspose1d(2, 3, 3, stride=3, padding=1, output_padding=2)),
        (1, 2, 3),
    ),
    "conv transpose 2d with groups": (
        _chain(
            nn.ConvTranspose2d(
                4, 6, (2, 3), stride=2, padding=(0, 1), output_padding=1, groups=2, dilation=(2, 1)
            )
        ),
        (1, 4, 2, 3),
    ),
    "conv transpose 3d without bias": (
        _chain(nn.ConvTranspose3d(1, 2, 2, bias=False)),
        (1, 1, 2, 1, 2),
    ),
    "max pool with padding": (_chain(nn.MaxPool2d(3, stride=2, padding=1)), (1, 2, 4, 5)),
    "max pool with padding of what is negative": (
        lambda: _module(
            lambda self, x: self.pool(x - 8), pool=nn.MaxPool2d(3, stride=2, padding=1)
        ),
        (1, 2, 4, 5),
    ),
    "max pool, rounded up": (_chain(nn.MaxPool2d(2, ceil_mode=True)), (1, 1, 3, 5)),
    "max pool, rounded up, with padding": (
        _chain(nn.MaxPool2d(2, 2, padding=1, ceil_mode=True)),
        (1, 1, 3, 4),
    ),
    "max pool, rounded up, no window in the padding": (
        _chain(nn.MaxPool1d(2, 3, 1, ceil_mode=True)),
        (1, 1, 5),
    ),
    "max pool with dilation": (_chain(nn.MaxPool2d(2, stride=1, dilation=2)), (1, 1, 4, 3)),
    "max pool 1d": (_chain(nn.MaxPool1d(3)), (1, 2, 7)),
    "max pool 3d": (_chain(nn.MaxPool3d((1, 2, 2))), (1, 1, 2, 2, 2)),
    "average pool counts its padding": (_chain(nn.AvgPool2d(2, stride=1, padding=1)), (1, 2, 2, 3)),
    "average pool without its padding": (
        _chain(nn.AvgPool2d(2, stride=1, padding=1, count_include_pad=False)),
        (1, 1, 2, 3),
    ),
    "average pool, rounded up": (_chain(nn.AvgPool2d(2, padding=1, ceil_mode=True)), (1, 1, 3, 4)),
    "average pool, rounded up, without its padding": (
        _chain(nn.AvgPool2d(2, padding=1, ceil_mode=True, count_include_pad=False)),
        (1, 1, 3, 4),
    ),
    "average pool 1d": (_chain(nn.AvgPool1d(4, 1)), (1, 2, 6)),
    "average pool 3d": (_chain(nn.AvgPool3d(2)), (1, 1, 2, 4, 2)),
    "adaptive average pool": (
        _chain(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)),
        (1, 3, 2, 4),
    ),
    "adaptive average pool to more": (_chain(nn.AdaptiveAvgPool2d((None, 2))), (1, 2, 3, 4)),
    "adaptive average pool 1d": (_chain(nn.AdaptiveAvgPool1d(3)), (1, 2, 6)),
    "adaptive average pool 3d": (_chain(nn.AdaptiveAvgPool3d(1)), (1, 1, 2, 1, 2)),
    "zero padding": (_chain(nn.ZeroPad2d((1, 0, 2, 1)), nn.Conv2d(1, 1, 2)), (1, 1, 2, 2)),
    "zero padding keeps ReLUs": (
        _chain(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.ZeroPad1d(1), nn.ReLU()),
        (1, 1, 3),
    ),
    "constant padding": (
        _chain(nn.ConstantPad1d((1, 2), -0.5), nn.ReLU(), nn.Conv1d(1, 2, 3)),
        (1, 1, 3),
    ),
    "constant padding 3d": (_chain(nn.ConstantPad3d((0, 1, 1, 0, 0, 1), 2)), (1, 1, 1, 2, 1)),
    "batch norm after linear": (
        _chain(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)),
        (1, 3),
    ),
    "batch norm before linear": (_chain(nn.BatchNorm1d(4), nn.Linear(4, 3), nn.ReLU()), (1, 4)),
    "batch norm after relu": (
        _chain(nn.Linear(2, 4), nn.ReLU(), nn.BatchNorm1d(4), nn.ReLU()),
        (1, 2),
    ),
    "batch norm 1d on places": (
        _chain(nn.Conv1d(1, 4, 1), nn.BatchNorm1d(4), nn.ReLU()),
        (1, 1, 3),
    ),
    "batch norm 2d": (
        _chain(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten()),
        (1, 1, 3, 2),
    ),
    "batch norm 3d, not affine": (
        _chain(nn.BatchNorm3d(2, affine=False), nn.ReLU()),
        (1, 2, 1, 2, 2),
    ),
}


def _residual(self: Any, x: Any) -> Any:
    y = F.relu(self.first(x))
    return self.second(y) + x - 0.5 * torch.cat([y[:, 1:3], x[:, :1]], dim=1)


def _views(self: Any, x: Any) -> Any:
    y = x.view(x.size(0), -1, 2).transpose(1, 2).permute(0, 2, 1).unsqueeze(1).squeeze()
    return self.layer(y.reshape(1, x.shape[1]) + x.flatten(1).contiguous())


def _indices(self: Any, x: Any) -> Any:
    y = self.layer(x)
    return y[0, -1] - y[..., 1:6:2] + y[:, None, 0, None][:, 0] * 2


def _extremes(self: Any, x: Any) -> Any:
    y = self.layer(x)
    z = torch.minimum(y, x) + torch.maximum(y, self.shift) - torch.max(x, -y)
    return (
        z
        + torch.clamp(x, -1, 0.5)
        + y.clamp(min=0.25)
        + abs(x)
        + torch.abs(y)
        + torch.clip(y, max=1)
    )


def _arithmetic(self: Any, x: Any) -> Any:
    y = (2 - x) * self.shift / 4 + -x
    y = torch.sub(torch.add(y, x), torch.mul(x, 0.5)) - (1 - self.shift)
    return (
        F.linear(y, self.weight * self.mask, self.shift[:2])
        + (x @ self.weight.t() - self.shift[:2] / 2).sum()
    )


def _sums(self: Any, x: Any) -> Any:
    y = self.layer(x)
    return (
        y.mean(dim=(2, 3))
        + y.sum((2, 3))
        + torch.mean(y, -1, keepdim=True).squeeze(-1).sum(2)
        + x.mean()
    )


def _functions(self: Any, x: Any) -> Any:
    y = F.leaky_relu(F.conv2d(x, self.kernel, None, 1, 1), 0.5)
    z = (
        F.max_pool2d(y, 2)
        + F.avg_pool2d(y, 2)
        - F.hardtanh(F.max_pool2d(y, 2, ceil_mode=True), -2.0, 1.0)
    )
    z = F.pad(F.relu6(z), (1, 0), value=0.5) + F.adaptive_avg_pool2d(y, 1)
    return torch.flatten(F.dropout(F.prelu(z, self.slope), training=self.training), 1)


def _in_place(self: Any, x: Any) -> Any:
    y = self.layer(x)
    y = F.relu(y, inplace=True).relu_()
    y += x
    return self.act(y)


_FORWARDS: dict[str, Case] = {
    "a residual block and a concatenation": (
        lambda: _module(_residual, first=nn.Linear(3, 4), second=nn.Linear(4, 3)),
        (1, 3),
    ),
    "views": (lambda: _module(_views, layer=nn.Linear(6, 2)), (1, 6)),
    "indices": (lambda: _module(_indices, layer=nn.Linear(3, 7)), (1, 3)),
    "extremes": (lambda: _module(_extremes, layer=nn.Linear(3, 3), shift=_tensor(3)), (1, 3)),
    "arithmetic": (
        lambda: _module(
            _arithmetic,
            shift=_tensor(3),
            weight=nn.Parameter(_tensor(2, 3)),
            mask=_tensor(2, 3, seed=5),
        ),
        (1, 3),
    ),
    "sums": (lambda: _module(_sums, layer=nn.Conv2d(1, 2, 1)), (1, 1, 2, 4)),
    "functions": (
        lambda: _module(_functions, kernel=_tensor(2, 1, 3, 3), slope=_tensor(2)),
        (1, 1, 4, 4),
    ),
    "writing in place where it does no harm": (
        lambda: _module(_in_place, layer=nn.Linear(3, 3), act=nn.ReLU(inplace=True)),
        (1, 3),
    ),
    "a tensor made in forward": (
        lambda: _module(lambda self, x: F.relu(x - torch.tensor([1.0, 0.5]))),
        (1, 2),
    ),
    "several outputs": (
        lambda: _module(
            lambda self, x: (self.a(x), self.b(x).relu()), a=nn.Linear(2, 3), b=nn.Linear(2, 1)
        ),
        (1, 2),
    ),
    "an output that is the input": (lambda: _module(lambda self, x: x), (1, 2)),
    "default arguments": (
        lambda: _module(
            lambda self, x, mask=None, times=2: x * times if mask is None else x * mask
        ),
        (1, 2),
    ),
    "a constant layer beside": (
        lambda: _module(
            lambda self, x: self.a(x) + self.a(self.b), a=nn.Linear(2, 2), b=_tensor(1, 2)
        ),
        (1, 2),
    ),
    "something that is not used": (
        lambda: _module(
            lambda self, x: (torch.sigmoid(self.a(x)), self.a(x))[1], a=nn.Linear(2, 2)
        ),
        (1, 2),
    ),
    "numbers alone": (lambda: _module(lambda self, x: torch.relu(x) + torch.ones(2).sum()), (1, 2)),
    "a list of layers": (
        lambda: _module(
            lambda self, x: self.all[1](self.all[0](x).relu()),
            all=nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 1)]),
        ),
        (1, 2),
    ),
}

_CASES = _LAYERS | _FORWARDS


def _drafted(
    module: Any, shape: Sequence[int] | None = None, **options: Any
) -> tuple[Draft, Lowered]:
    draft = draft_of_module(
        module, ReadOptions(input_shape=None if shape is None else tuple(shape), **options)
    )
    assert draft.graph is not None
    return draft, lower(draft.graph)


def _compared(draft: Draft, lowered: Lowered) -> Comparison:
    assert draft.graph is not None
    comparison = compare_with_runtime("Module", draft, draft.graph, lowered)
    assert not comparison.reason
    return comparison


def _flat(result: Any) -> list[float]:
    parts = result if isinstance(result, tuple) else [result]
    return [float(entry) for part in parts for entry in part.detach().reshape(-1)]


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("modules", [list(_CASES)], ids=["all"])
def test_modules_compute_what_torch_computes(modules: list[str]) -> None:
    for name in modules:
        with case(name):
            _computes_what_torch_computes(name)


def _computes_what_torch_computes(name: str) -> None:
    make, shape = _CASES[name]
    module = _dyadic(make())
    draft, lowered = _drafted(module, shape)
    for seed in range(5):
        x = _tensor(*shape, seed=seed) - (
            3 if seed == 4 else 0
        )  # the last one is negative everywhere
        exact = lowered.network([Fraction(float(v)) for v in x.reshape(-1)])
        assert [float(v) for v in exact] == _flat(module(x))
    assert draft.rounding == set()
    assert _compared(draft, lowered).num_values >= 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("modules", [list(_LAYERS)], ids=["all"])
def test_modules_with_any_weights_agree_within_the_rounding_bound(
    modules: list[str], dtype: Any
) -> None:
    for name in modules:
        with case(name, dtype):
            _agrees_within_the_rounding_bound(name, dtype)


def _agrees_within_the_rounding_bound(name: str, dtype: Any) -> None:
    torch.manual_seed(5)
    make, shape = _LAYERS[name]
    module = make()
    for parameter in module.parameters():
        parameter.data.normal_()
    for part in module.modules():
        if hasattr(part, "running_var"):
            part.running_var.uniform_(0.01, 4)
            part.running_mean.normal_()
            part.eps = 1e-5
    draft, lowered = _drafted(module.to(dtype).eval(), shape)
    if list(module.parameters()):
        assert draft.arithmetic == str(dtype).removeprefix("torch.")
    assert draft.dtypes <= {draft.arithmetic}
    assert _compared(draft, lowered).worst < 1
    is_normalised = "batch norm" in name
    assert draft.rounding == (
        {"attributes: stored", "batchnorm: float64"} if is_normalised else set()
    )


def _traced(*calls: tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]) -> Any:
    """A module that applies functions to the input and earlier results and returns the last."""
    graph = torch.fx.Graph()
    nodes = [graph.placeholder("x")]
    for function, arguments in calls:
        nodes.append(graph.call_function(function, arguments(*nodes)))
    graph.output(nodes[-1])
    return torch.fx.GraphModule(nn.Module(), graph)


def test_operators_that_write_in_place() -> None:
    """They become ordinary operations, and later nodes read the new value."""
    halved = (operator.mul, lambda x: (x, 0.5))
    module = _traced(
        halved, (operator.iadd, lambda x, y: (y, x)), (operator.isub, lambda x, y, z: (y, 1))
    )
    draft, lowered = _drafted(module, (1, 2))
    _compared(draft, lowered)
    assert list(lowered.network([2, -4])) == [2, -7]
    with pytest.raises(NetworkError, match="cannot be traced"):
        _drafted(
            _traced((operator.setitem, lambda x: (x, 0, 1.0)), (operator.neg, lambda x, y: (x,))),
            (1, 2),
        )


def test_hardsigmoid() -> None:
    draft, lowered = _drafted(nn.Sequential(nn.Linear(1, 1), nn.Hardsigmoid()))
    _compared(draft, lowered)
    draft, lowered = _drafted(nn.Hardsigmoid(), (1, 1))
    points = {-4: 0, -3: 0, 0: Fraction(1, 2), 1: Fraction(2, 3), 3: 1, 5: 1}
    assert {x: next(iter(lowered.network([x]))) for x in points} == points


def test_what_is_noted() -> None:
    draft, lowered = _drafted(
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2)).eval()
    )
    assert draft.format.startswith("module of PyTorch 2")
    assert draft.steps == ["Linear [1, 4]", "ReLU [1, 4]", "Dropout [1, 4]", "Linear [1, 2]"]
    assert draft.input_shapes == [(1, 3)]
    assert draft.num_stored == 3 * 4 + 4 + 4 * 2 + 2
    assert draft.notes == ["input of shape [1, 3], one sample", "Dropout does nothing at inference"]
    assert str(lowered.network.architecture) == "3-4-2"
    several = _CASES["several outputs"]
    assert (
        "outputs one after the other: 'a' (3), 'relu' (1)"
        in _drafted(several[0](), several[1])[0].notes
    )
    assert _compared(draft, lowered).runtime == f"torch {torch.__version__}"


def test_weights_that_are_used_twice_count_once() -> None:
    assert _drafted(nn.Sequential(*[nn.Linear(3, 3), nn.ReLU()] * 2))[0].num_stored == 12


def test_float_attributes() -> None:
    layer = nn.LeakyReLU(0.1)
    draft, lowered = _drafted(layer, (1, 1))
    assert list(lowered.network([-1])) == [Fraction(-0.1)]
    assert draft.rounding == {"attributes: stored"}
    _compared(draft, lowered)
    draft, lowered = _drafted(layer, (1, 1), rounding=Rounding(attributes="decimal"))
    assert list(lowered.network([-1])) == [Fraction(-1, 10)]
    assert draft.rounding == {"attributes: decimal"}
    _compared(draft, lowered)


def test_inverse_roots_are_rounded_by_the_rule() -> None:
    layer = nn.BatchNorm1d(1, eps=0.5).eval()
    layer.running_var.fill_(1.5)
    draft, lowered = _drafted(layer, (1, 1), rounding=Rounding(batchnorm="float32"))
    assert list(lowered.network([1])) == [Fraction(float(np.float32(np.sqrt(0.5))))]
    assert draft.rounding == {"batchnorm: float32"}
    assert "BatchNorm1d: 1 of 1 factors 1/√(var+ε) are rounded" in draft.notes


@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        ((nn.Linear(5, 2),), (1, 5)),
        ((nn.Dropout(), nn.Identity(), nn.Flatten(), nn.Linear(6, 2)), (1, 6)),
        ((nn.Linear(5, 5), nn.Linear(5, 2)), (1, 5)),
    ],
)
def test_the_input_shape_is_that_of_a_linear_layer(
    layers: tuple[Any, ...], shape: tuple[int, ...]
) -> None:
    assert _drafted(nn.Sequential(*layers))[0].input_shapes == [shape]


def test_the_input_shape_of_functions() -> None:
    flat = _module(lambda self, x: self.layer(torch.flatten(x, 1)), layer=nn.Linear(6, 2))
    assert _drafted(flat)[0].input_shapes == [(1, 6)]
    parallel = _module(lambda self, x: torch.relu(x) + self.layer(x), layer=nn.Linear(4, 4))
    assert _drafted(parallel)[0].input_shapes == [(1, 4)]


# --- The module stays as it is -----


def test_a_module_in_training_mode_is_read_at_inference_and_left_as_it_is() -> None:
    module = _dyadic(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.ReLU()))
    module.train()
    module[2].eval()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    draft, lowered = _drafted(module)
    _compared(draft, lowered)
    assert [part.training for part in module.modules()] == [True, True, True, False, True]
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert (
        "the module is in training mode; what is read is what it computes at inference"
        in draft.caveats
    )
    x = _tensor(1, 3)
    assert [float(v) for v in lowered.network([float(v) for v in x[0]])] == _flat(module.eval()(x))


def test_nothing_is_left_on_the_module() -> None:
    def forward(self: Any, x: Any) -> Any:
        self.last = x
        return x - torch.tensor([1.0, 2.0])

    module = _module(forward, last=None)
    before = dict(vars(module))
    draft, _ = _drafted(module, (1, 2))
    assert draft.num_stored == 2
    assert vars(module) == before


def test_wrapped_modules() -> None:
    module = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    plain = _drafted(module)[1].network
    assert _drafted(nn.DataParallel(module))[1].network == plain
    assert _drafted(torch.compile(module))[1].network == plain
    assert _drafted(torch.fx.symbolic_trace(module))[1].network == plain


# --- The last layer -----

_TAILS: dict[str, Callable[[], Any]] = {
    "a layer": lambda: nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1)),
    "a view after it": lambda: nn.Sequential(nn.Linear(2, 3), nn.LogSoftmax(dim=1), nn.Flatten()),
    "a function": lambda: _module(
        lambda self, x: torch.sigmoid(self.layer(x)), layer=nn.Linear(2, 3)
    ),
    "another": lambda: _module(
        lambda self, x: F.log_softmax(self.layer(x), dim=1), layer=nn.Linear(2, 3)
    ),
    "a method": lambda: _module(
        lambda self, x: self.layer(x).tanh().view(-1), layer=nn.Linear(2, 3)
    ),
}


@pytest.mark.parametrize("name", _TAILS)
def test_a_last_layer_can_be_left_out(name: str) -> None:
    module = _TAILS[name]()
    with pytest.raises(
        NetworkError, match="not supported; strip_tail=True leaves it out after the last layer"
    ):
        read(module)
    draft, lowered = _drafted(module, strip_tail=True)
    assert str(lowered.network.architecture) == "2-3"
    assert any("after the last layer was stripped" in caveat for caveat in draft.caveats)
    assert _compared(draft, lowered).num_values == 1


def test_a_softmax_in_the_middle_stays() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1), nn.Linear(3, 1))
    with pytest.raises(NetworkError, match=r"node '_1' \(Softmax\)"):
        draft_of_module(module, ReadOptions(strip_tail=True))


# --- What is refused -----


def _hooked() -> Any:
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda *_: None)
    return nn.Sequential(layer)


def _replaced() -> Any:
    layer = nn.Linear(2, 2)
    layer.forward = lambda x: 2 * x
    return nn.Sequential(layer)


def _branch(self: Any, x: Any) -> Any:
    return x if x.sum() > 0 else -x


def _of(forward: Callable[..., Any], **parts: Any) -> Callable[[], Any]:
    return lambda: _module(forward, **parts)


_REFUSED: dict[str, tuple[Callable[[], Any], tuple[int, ...] | None, str]] = {
    "sigmoid": (
        _chain(nn.Linear(2, 2), nn.Sigmoid(), nn.Linear(2, 2)),
        None,
        r"node '_1' \(Sigmoid\): .*supported",
    ),
    "gelu": (_chain(nn.GELU()), (1, 2), r"\(GELU\): this operation is not supported$"),
    "layer norm": (_chain(nn.LayerNorm(2)), (1, 2), r"\(LayerNorm\)"),
    "lstm": (_chain(nn.LSTM(2, 2)), (1, 2), r"\(LSTM\)"),
    "no shape": (_chain(nn.ReLU()), None, r"shape of one sample is not known.*input_shape="),
    "no shape of a convolution": (
        _chain(nn.Conv2d(1, 1, 1)),
        None,
        "shape of one sample is not known",
    ),
    "shapes that do not fit": (
        _chain(nn.Linear(3, 2)),
        (1, 4),
        r"node '_0' \(Linear\): cannot multiply shapes",
    ),
    "channels that do not fit": (
        _chain(nn.Conv1d(3, 2, 1)),
        (1, 2, 4),
        r"\(Conv1d\): a kernel of shape \[2, 3, 1\]",
    ),
    "too few dimensions": (
        _chain(nn.Conv2d(3, 2, 1)),
        (3, 4),
        r"\(Conv2d\): its input has shape \[3, 4\]",
    ),
    "padding mode": (
        _chain(nn.Conv1d(1, 1, 3, padding=1, padding_mode="circular")),
        (1, 1, 4),
        "mode 'circular'",
    ),
    "reflection": (_chain(nn.ReflectionPad1d(1)), (1, 1, 4), r"\(ReflectionPad1d\)"),
    "negative padding": (_chain(nn.ZeroPad1d(-1)), (1, 1, 4), r"padding \[-1, -1\]"),
    "return_indices": (_chain(nn.MaxPool1d(2, return_indices=True)), (1, 1, 4), "return_indices"),
    "divisor_override": (
        _chain(nn.AvgPool2d(2, divisor_override=3)),
        (1, 1, 4, 4),
        "divisor_override",
    ),
    "a window too large": (
        _chain(nn.MaxPool1d(5)),
        (1, 1, 4),
        r"\(MaxPool1d\): a window of size 5",
    ),
    "adaptive pooling": (
        _chain(nn.AdaptiveAvgPool1d(3)),
        (1, 1, 4),
        r"output size \[3\] does not divide",
    ),
    "no statistics": (
        _chain(nn.BatchNorm1d(2, track_running_stats=False)),
        (1, 2),
        "track_running_stats=False",
    ),
    "batch norm of a picture": (
        _chain(nn.BatchNorm1d(2)),
        (1, 2, 3, 3),
        r"\(BatchNorm1d\): its input has shape",
    ),
    "slopes": (_chain(nn.PReLU(3)), (1, 2), "3 slopes for 2 channels"),
    "nan": (lambda: _filled(nn.Linear(2, 2), float("nan")), None, r"\(Linear\): .*nan"),
    "infinity": (lambda: _filled(nn.Linear(2, 2), float("inf")), None, r"\(Linear\): .*inf"),
    "hooks": (_hooked, None, r"module '0' \(Linear\): it has forward hooks"),
    "weight norm": (lambda: nn.utils.weight_norm(nn.Linear(2, 2)), None, "forward hooks"),
    "parametrized": (
        lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)),
        None,
        "remove_parametrizations",
    ),
    "forward on the object": (_replaced, None, r"module '0' \(Linear\): its forward was replaced"),
    "lazy": (
        lambda: nn.Sequential(nn.LazyLinear(2)),
        (1, 2),
        "no values yet; call the module once",
    ),
    "meta": (lambda: nn.Linear(2, 2, device="meta"), (1, 2), "a shape, but no numbers"),
    "a quantised type": (_chain(nn.Embedding(3, 2)), (1, 2), r"\(Embedding\)"),
    "a branch": (
        _of(_branch),
        (1, 2),
        r"cannot be traced \(symbolically traced variables.*torch\.onnx\.export",
    ),
    "two inputs": (
        _of(lambda self, x, y: x + y),
        (1, 2),
        r"forward takes more than one input \(y\)",
    ),
    "any inputs": (_of(lambda self, *x: x[0]), (1, 2), "forward takes more than one input"),
    "a dictionary": (_of(lambda self, x: {"y": x}), (1, 2), "forward returns dict"),
    "nothing": (_of(lambda self, x: None), (1, 2), "forward returns NoneType"),
    "a number": (_of(lambda self, x: x.size(1)), (1, 2), "forward returns int"),
    "a product": (
        _of(lambda self, x: x * x),
        (1, 2),
        r"node 'mul' \(mul\): a product of two values",
    ),
    "a matrix product": (
        _of(lambda self, x: x @ x.t()),
        (1, 2),
        r"\(matmul\): a product of two values",
    ),
    "a quotient": (_of(lambda self, x: 1 / x), (1, 2), r"\(truediv\): division by a value"),
    "division by zero": (_of(lambda self, x: x / 0), (1, 2), "division by a constant that is 0"),
    "a power": (_of(lambda self, x: x**2), (1, 2), r"\(pow\): this operation is not supported"),
    "a maximum over a dimension": (
        _of(lambda self, x: torch.max(x, 1)[0]),
        (1, 2),
        r"\(max\): only the maximum or",
    ),
    "alpha": (_of(lambda self, x: torch.add(x, x, alpha=2)), (1, 2), "alpha is not supported"),
    "an unknown argument": (
        _of(lambda self, x: x.sum(dtype=torch.float64)),
        (1, 2),
        "called with arguments",
    ),
    "an index": (_of(lambda self, x: x[:, [0, 1]]), (1, 2), "only numbers and slices"),
    "an index too large": (_of(lambda self, x: x[5]), (1, 2), "called with arguments"),
    "an empty slice": (_of(lambda self, x: x[:, 2:]), (1, 2), "nothing is left"),
    "a view of another size": (
        _of(lambda self, x: x.view(3)),
        (1, 2),
        r"\(view\): cannot reshape 2 entries to \[3\]",
    ),
    "dropout that is always on": (
        _of(lambda self, x: F.dropout(x)),
        (1, 2),
        r"\(dropout\): with training=True",
    ),
    "a limit that is a tensor": (_of(lambda self, x: torch.clamp(x, x)), (1, 2), r"\(clamp\)"),
    "the type of a tensor": (
        _of(lambda self, x: x.to(x.dtype)),
        (1, 2),
        "attribute 'dtype' of a tensor",
    ),
    "a value that is overwritten": (
        _of(lambda self, x: (lambda y: F.relu(y, inplace=True) + y)(self.a(x)), a=nn.Linear(2, 2)),
        None,
        r"node 'add' \(add\): it reads the value of node 'a', which node 'relu' \(relu\) "
        r"changed in place; write the operation without inplace=True",
    ),
    "a view that is overwritten": (
        _of(lambda self, x: (lambda y: (y[:, :1], F.relu_(y))[0])(self.a(x)), a=nn.Linear(2, 2)),
        None,
        r"\(relu_\) changed in place",
    ),
    "an input that is overwritten": (
        lambda: _module(lambda self, x: self.act(x) + x, act=nn.LeakyReLU(0.5, inplace=True)),
        (1, 2),
        "in place",
    ),
    "writing that nobody reads": (
        _of(lambda self, x: (x.tanh_(), x)[1]),
        (1, 2),
        r"node 'x', which node 'tanh_' \(tanh_\) changed in place",
    ),
}


def _filled(module: Any, value: float) -> Any:
    module.weight.data[0, 1] = value
    return module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _REFUSED)
def test_modules_that_are_refused(name: str) -> None:
    make, shape, says = _REFUSED[name]
    with pytest.raises(NetworkError, match=says) as caught:
        draft_of_module(make(), ReadOptions(input_shape=shape))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.filterwarnings("ignore")
def test_torchscript_modules_are_refused() -> None:
    traced = torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2))
    with pytest.raises(NetworkError, match="a TorchScript module cannot be traced"):
        draft_of_module(traced, ReadOptions())


# --- The comparison finds mistakes -----


def _flatten_channels_last(step: Any, layer: Any, x: Any) -> Any:
    order = np.moveaxis(tensors.indices(x.shape), 1, -1)
    return tensors.take_entries(step.graph, x, order.reshape(x.shape[0], -1))


def _max_pool_with_zeros(step: Any, layer: Any, x: Any) -> Any:
    pads = [(layer.padding, layer.padding)] * 2
    table = np.pad(tensors.indices(x.shape), [(0, 0), (0, 0), *pads], constant_values=-1)
    padded = tensors.take_entries(step.graph, x, table)
    return tensors.max_pool(
        step.graph, padded, tensors.plain_window([layer.kernel_size] * 2, [layer.stride] * 2)
    )


def _batch_norm_without_epsilon(step: Any, layer: Any, x: Any) -> Any:
    scale, bias, mean = (step.tensor(t) for t in (layer.weight, layer.bias, layer.running_mean))
    roots = step.reader.options.rounding.roots
    return tensors.batch_norm(
        step.graph, x, scale, bias, mean, step.tensor(layer.running_var), Fraction(0), roots
    )[0]


def _transposed_linear(step: Any, layer: Any, x: Any) -> Any:
    return tensors.matmul(step.graph, x, step.tensor(layer.weight), step.tensor(layer.bias))


def _prelu_along_the_last_axis(step: Any, layer: Any, x: Any) -> Any:
    return tensors.leaky_relu(step.graph, x, step.tensor(layer.weight))


_BROKEN: dict[str, tuple[Callable[..., Any], str]] = {
    "Flatten": (_flatten_channels_last, "flatten is in the order of the channels"),
    "MaxPool2d": (_max_pool_with_zeros, "max pool with padding of what is negative"),
    "BatchNorm1d": (_batch_norm_without_epsilon, "batch norm before linear"),
    "Linear": (_transposed_linear, "a layer used twice"),
    "PReLU": (_prelu_along_the_last_axis, "prelu per channel, as many as places"),
    "ReLU6": (lambda step, layer, x: tensors.relu(step.graph, x), "relu6"),
}


@pytest.mark.parametrize("layer", _BROKEN)
def test_the_comparison_finds_a_broken_reader(layer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, case = _BROKEN[layer]
    make, shape = _CASES[case]
    monkeypatch.setitem(torch_operations.LAYERS, layer, broken)
    draft, lowered = _drafted(_dyadic(make()), shape)
    with pytest.raises(NetworkFileError, match="the file is not read as its runtime does"):
        _compared(draft, lowered)


def test_the_comparison_finds_a_trace_that_is_another_function() -> None:
    """A module that counts its calls, and computes another function at each of them."""

    def forward(self: Any, x: Any) -> Any:
        self.calls = getattr(self, "calls", 0) + 1
        return x * self.calls

    draft, lowered = _drafted(_module(forward), (1, 2))
    with pytest.raises(NetworkFileError, match=r"value 'forward\(\)'"):
        _compared(draft, lowered)


def test_what_cannot_be_compared_says_why() -> None:
    draft, lowered = _drafted(nn.Linear(2, 2).to(torch.bfloat16))
    assert draft.dtypes == {"bfloat16"}
    assert draft.graph is not None
    reason = compare_with_runtime("Module", draft, draft.graph, lowered).reason
    assert "no rounding bound is known for bfloat16" in reason
    mixed = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())
    assert _drafted(mixed)[0].arithmetic == ""
