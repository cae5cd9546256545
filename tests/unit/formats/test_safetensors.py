"""``.safetensors`` files: exact numbers of every type, the order of layers, damaged files."""

from __future__ import annotations

import json
import random
import struct
import sys
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.errors import NetworkFileError
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.torch.files import read_safetensors
from polyrelu.network import Network, from_arrays

safetensors_numpy: Any = pytest.importorskip("safetensors.numpy")

Array = NDArray[Any]


def _layers(*widths: int, start: str = "net.", step: int = 1) -> dict[str, Array]:
    """Weights and biases of layers start0, start1, …"""
    generator = np.random.default_rng(list(widths))
    arrays: dict[str, Array] = {}
    for i, (n, m) in enumerate(pairwise(widths)):
        arrays[f"{start}{step * i}.weight"] = generator.normal(size=(m, n)).astype(np.float32)
        arrays[f"{start}{step * i}.bias"] = generator.normal(size=m).astype(np.float32)
    return arrays


def _network(arrays: Mapping[str, Array]) -> Network:
    values = list(arrays.values())
    return from_arrays(list(zip(values[::2], values[1::2], strict=True)))


def _saved(folder: Path, arrays: Mapping[str, Array]) -> Path:
    path = folder / "net.safetensors"
    safetensors_numpy.save_file(dict(arrays), path)
    return path


def _raw(folder: Path, tensors: Mapping[str, tuple[str, list[int], bytes]]) -> Path:
    """The content of a file from the type, the shape and the bytes of each tensor."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {
            "dtype": kind,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    path = folder / "raw.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def _read(path: Path, prefix: str | None = None) -> Draft:
    return read_safetensors(path, ReadOptions(prefix=prefix))


def _refused(path: Path, says: str, prefix: str | None = None) -> None:
    with pytest.raises(NetworkFileError, match=says) as caught:
        _read(path, prefix)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600 + len(str(path))


def test_layers_are_taken_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """The format sorts by name, where 10 comes before 2; shapes would allow any order."""
    arrays = _layers(*[3] * 13, step=2)
    draft = _read(_saved(tmp_path, arrays))
    assert draft.network == _network(arrays)
    assert draft.format == "safetensors"
    assert draft.dtypes == {"float32"}
    assert draft.num_stored == 12 * 12
    assert draft.steps[-1] == "affine [3, 3] 'net.22'"
    assert "the order of the numbers in their names" in draft.caveats[0]


def test_layers_without_numbers_need_an_order(tmp_path: Path) -> None:
    arrays = _layers(3, 3, 3)
    names = ("input", "hidden")
    renamed = {
        key.replace("net.0", names[0]).replace("net.1", names[1]): array
        for key, array in arrays.items()
    }
    path = _saved(tmp_path, renamed)
    _refused(
        path,
        r"does not keep the order.*\('hidden', 'input'\); give the order.*such as "
        r"'hidden\.,input\.'",
    )
    assert _read(path, "input.,hidden.").network == _network(arrays)
    assert _read(path, "hidden.").network == _network(dict(list(arrays.items())[2:]))


def test_several_networks(tmp_path: Path) -> None:
    arrays = _layers(2, 3, 1, start="q.") | _layers(2, 4, 1, start="target.")
    path = _saved(tmp_path, arrays)
    _refused(
        path,
        r"several networks: prefix 'q\.' \(2-3-1\), prefix 'target\.' \(2-4-1\); "
        "choose one with --prefix",
    )
    draft = _read(path, "target.")
    assert draft.network == _network(_layers(2, 4, 1))
    assert "not read: 'q.0.bias' [3], 'q.0.weight' [3, 2]" in draft.caveats[-1]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("F64", "float64"),
        ("F32", "float32"),
        ("F16", "float16"),
        ("I8", "int8"),
        ("U16", "uint16"),
        ("I64", "int64"),
    ],
)
def test_numbers_are_exact(kind: str, dtype: str, tmp_path: Path) -> None:
    values = np.array([[3.7, 100.1, 1e-5, 0.0]]).astype(dtype)
    path = _raw(
        tmp_path, {"fc.weight": (kind, [1, 4], values.astype(f"<{values.dtype.str[1:]}").tobytes())}
    )
    draft = _read(path)
    assert draft.network is not None
    assert list(draft.network.weight(1).entries()) == [Fraction(v) for v in values[0].tolist()]
    assert draft.dtypes == {dtype}


def test_every_bfloat16_is_exact(tmp_path: Path) -> None:
    bits = np.arange(2**16, dtype=np.uint32) << 16
    exact = [
        Fraction(struct.unpack("<f", struct.pack("<I", int(b)))[0]) if (b >> 23) % 256 < 255 else 0
        for b in bits
    ]
    finite = np.where((bits >> 23) % 256 < 255, bits, 0)
    path = _raw(
        tmp_path, {"fc.weight": ("BF16", [256, 256], (finite >> 16).astype("<u2").tobytes())}
    )
    draft = _read(path)
    assert draft.network is not None
    assert list(draft.network.weight(1).entries()) == exact
    assert draft.dtypes == {"bfloat16"}


def test_types_that_are_not_read(tmp_path: Path) -> None:
    for kind in ("BOOL", "F8_E4M3", "F8_E5M2"):
        _refused(
            _raw(tmp_path, {"fc.weight": (kind, [1, 1], b"\1")}),
            f"tensor 'fc.weight': its type is {kind}, which",
        )
    weight = ("F32", [1, 1], b"\0" * 4)
    path = _raw(tmp_path, {"net.0.weight": weight, "mask.bits": ("BOOL", [1], b"\1")})
    assert "not read: 'mask.bits' [1]" in _read(path).caveats[-1]


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, "it holds no linear layer, a matrix named ….weight; it holds no tensors"),
        ({"conv.weight": np.zeros((1, 1, 2, 2))}, "convolution, whose stride and padding"),
        ({"0.weight": np.array([[1.0, np.nan]])}, r"layer 1, W: entry \[0, 1\] is nan"),
        (
            _layers(2, 3) | _layers(4, 1, start="net.1"),
            r"'net\.0\.weight' \[3, 2\] cannot be followed by",
        ),
    ],
)
def test_files_that_are_refused(arrays: dict[str, Array], says: str, tmp_path: Path) -> None:
    _refused(_saved(tmp_path, arrays), says)


def test_truncated_files_are_refused_at_every_length(tmp_path: Path) -> None:
    content = _saved(tmp_path, _layers(2, 3, 1)).read_bytes()
    for length in range(len(content)):
        path = tmp_path / "cut.safetensors"
        path.write_bytes(content[:length])
        _refused(path, "not a readable .safetensors file")


def test_damaged_files_give_a_network_or_one_line(tmp_path: Path) -> None:
    content, chance = _saved(tmp_path, _layers(2, 3, 1)).read_bytes(), random.Random(2)
    path = tmp_path / "damaged.safetensors"
    for _ in range(1000):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            _read(path)
        except NetworkFileError as error:
            assert str(error).isprintable()  # noqa: PT017


def test_the_package_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _saved(tmp_path, _layers(2, 3))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    _refused(
        path,
        r"needs the package safetensors \(the extra \[safetensors\]\): pip install safetensors",
    )
    _refused(tmp_path / "missing.safetensors", "needs the package")


def test_missing_files(tmp_path: Path) -> None:
    _refused(tmp_path / "missing.safetensors", "cannot read: No such file")
