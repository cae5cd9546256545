"""Packed files, bytes and open files as sources of networks, and formats that a user names."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import ArgumentError, NetworkError, NetworkFileError, from_arrays, load, read, save
from polyrelu.formats import choices_of

NET = from_arrays([([[1, -1], [2, "1/2"]], [0, 1]), ([[1, 1]], ["1/4"])])


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    save(NET, tmp_path / "net.npz")
    return (tmp_path / "net.npz").read_bytes()


@pytest.mark.parametrize("ending", [".json", ".npz", ".nnet", ".onnx", ".pt"])
def test_packed_files(ending: str, tmp_path: Path) -> None:
    pytest.importorskip({".onnx": "onnx", ".pt": "torch"}.get(ending, "numpy"))
    save(NET, tmp_path / f"net{ending}")
    packed = tmp_path / f"net{ending}.gz"
    packed.write_bytes(gzip.compress((tmp_path / f"net{ending}").read_bytes()))
    found = read(packed)
    assert found.network == NET
    assert found.source == packed.name
    assert found.source_sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()
    plain = read(tmp_path / f"net{ending}")
    assert (found.format, found.notes, found.caveats) == (plain.format, plain.notes, plain.caveats)
    assert type(found.runtime) is type(plain.runtime)


def test_bytes_and_open_files(content: bytes, tmp_path: Path) -> None:
    packed = gzip.compress(content)
    for source, name in (
        (content, "npz"),
        (bytearray(content), ".npz"),
        (memoryview(content), "NPZ"),
        (io.BytesIO(content), "npz"),
        (packed, "npz.gz"),
        (io.BytesIO(packed), ".npz.gz"),
    ):
        assert load(source, format=name) == NET
    found = read(content, format="npz")
    assert found.source == ""
    assert found.source_sha256 == hashlib.sha256(content).hexdigest()
    with (tmp_path / "net.npz").open("rb") as file:
        found = read(file)
        assert not file.closed
    assert (found.network, found.source) == (NET, "net.npz")


def test_an_open_file_is_read_from_where_it_stands(content: bytes) -> None:
    stream = io.BytesIO(b"header" + content)
    stream.seek(6)
    assert load(stream, format="npz") == NET


def test_a_format_replaces_the_ending(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(content)
    assert load(tmp_path / "weights", format="npz") == NET
    (tmp_path / "weights.dat").write_bytes(gzip.compress(content))
    assert load(tmp_path / "weights.dat", format="npz.gz") == NET
    with pytest.raises(NetworkFileError, match=r"unknown ending '\.dat'; known are \.onnx"):
        load(tmp_path / "weights.dat")


def test_choices_of_packed_files(tmp_path: Path) -> None:
    assert choices_of("net.nnet.gz") == choices_of("net.nnet") == {"normalisation"}
    (tmp_path / "net.npz.gz").write_bytes(b"")
    with pytest.raises(NetworkFileError, match=r"net\.npz\.gz: --prefix .* nothing for a \.npz"):
        load(tmp_path / "net.npz.gz", prefix="x")


def test_sources_without_a_format(content: bytes) -> None:
    for source in (content, io.BytesIO(content)):
        with pytest.raises(NetworkError, match="do not say their format; say it, as in format='on"):
            load(source)
    with pytest.raises(NetworkError, match="format 'pdf': choose from onnx, npz, json"):
        load(content, format="pdf")
    with pytest.raises(ArgumentError, match="format: expected str, got int 3"):
        load(content, format=3)  # type: ignore[arg-type]


def test_errors_name_what_the_user_gave(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError, match=r"^bytes: not a readable \.npz archive"):
        load(content[:100], format="npz")
    packed = tmp_path / "net.npz.gz"
    packed.write_bytes(gzip.compress(content)[:-20])
    with pytest.raises(NetworkFileError, match=f"^{packed}: cannot read: damaged gzip file"):
        load(packed)
    packed.write_bytes(content)
    with pytest.raises(NetworkFileError, match="cannot read: Not a gzipped file"):
        load(packed)
    with pytest.raises(NetworkFileError, match=r"no such\.npz\.gz: cannot read: No such file"):
        load("no such.npz.gz")
    os.mkfifo(tmp_path / "pipe.npz.gz")
    with pytest.raises(NetworkFileError, match="not a regular file"):
        load(tmp_path / "pipe.npz.gz")
    with pytest.raises(ArgumentError, match="StringIO: its read\\(\\) gives str, not bytes"):
        load(io.StringIO("text"), format="npz")  # type: ignore[arg-type]


def test_unpacking_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of a gigabyte of zeros in a small file; nothing stays on the disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    piece = gzip.compress(bytes(2**24), compresslevel=1)
    bomb = tmp_path / "net.onnx.gz"
    bomb.write_bytes(piece * 17)
    assert bomb.stat().st_size < 2_000_000
    with pytest.raises(NetworkFileError, match=r"it unpacks to more than \d+ bytes"):
        load(bomb)
    assert list(tmp_path.iterdir()) == [bomb]


def test_temporary_files_are_gone(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    load(gzip.compress(content), format="npz.gz")
    with pytest.raises(NetworkFileError):
        load(content[:100], format="npz")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["", " "])
def test_empty_names(name: str) -> None:
    with pytest.raises(NetworkError, match=r"^an empty name; give .*, or example:digits$"):
        read(name)


@pytest.mark.parametrize("ending", ["", ".onnx", ".onnx.gz"])
def test_names_that_are_too_long(ending: str) -> None:
    with pytest.raises(NetworkFileError, match=r"cannot read: File name too long$"):
        read("x" * 300 + ending)


def test_folders_and_formats_of_tensorflow(tmp_path: Path) -> None:
    """The sentence names the command that makes a readable file."""
    with pytest.raises(NetworkFileError, match="cannot read: Is a directory"):
        load(tmp_path)
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(NetworkFileError) as error:
        load(tmp_path)
    command = f"python -m tf2onnx.convert --saved-model {tmp_path} --output net.onnx"
    assert "a SavedModel of TensorFlow, which TensorFlow alone reads" in str(error.value)
    assert command in str(error.value)
    for name, remedy in (("saved_model.pb", "--saved-model FOLDER"), ("a.tflite", "--tflite")):
        (tmp_path / name).touch()
        with pytest.raises(NetworkFileError, match=f"tf2onnx.convert {remedy}"):
            load(tmp_path / name)


# --- Short float types ----------------------------------------------------------------------------

WEIGHTS = np.array([[0.1, -0.2], [3.14159, 1e-3]], np.float32)
#: The bfloat16 numbers nearest to the weights.
ROUNDED = [["205/2048", "-205/1024"], ["201/64", "131/131072"]]


def onnx_of_bfloat16(element: Any) -> bytes:
    """An ONNX file with bfloat16 weights, whose input has a float type."""
    import ml_dtypes
    from onnx import TensorProto, helper

    raw = WEIGHTS.astype(ml_dtypes.bfloat16).tobytes()
    tensor = helper.make_tensor("W", TensorProto.BFLOAT16, [2, 2], raw, raw=True)
    nodes, name = [], "W"
    if element == TensorProto.FLOAT:
        nodes, name = [helper.make_node("Cast", ["W"], ["V"], to=element)], "V"
    nodes.append(helper.make_node("Gemm", ["x", name], ["z"], transB=1))
    nodes.append(helper.make_node("Relu", ["z"], ["y"]))
    ends = [helper.make_tensor_value_info(end, element, ["batch", 2]) for end in "xy"]
    graph = helper.make_graph(nodes, "short", ends[:1], ends[1:], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("element", ["FLOAT", "BFLOAT16"])
def test_bfloat16_in_onnx(element: str) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("ml_dtypes")
    found = read(onnx_of_bfloat16(getattr(onnx.TensorProto, element)), format="onnx")
    assert found.network == from_arrays([(ROUNDED, [0, 0])], "relu")


def test_bfloat16_in_npz(tmp_path: Path) -> None:
    """numpy forgets the name of the type, so nothing is guessed."""
    short = pytest.importorskip("ml_dtypes").bfloat16
    np.savez(tmp_path / "net.npz", W1=WEIGHTS.astype(short), b1=np.zeros(2))
    with pytest.raises(NetworkFileError, match=r"array 'W1': .* save it as float32"):
        load(tmp_path / "net.npz")
    np.savez(tmp_path / "net.npz", W1=WEIGHTS.astype(short).astype("float32"), b1=np.zeros(2))
    assert load(tmp_path / "net.npz") == from_arrays([(ROUNDED, [0, 0])])


@pytest.mark.parametrize(
    ("name", "start", "part"),
    [
        ("net.json.gz", b'{"format":"polyrelu-network","version":1,"inputs":1,"layers":[', b"[],"),
        ("net.eran.gz", b"ReLU\n[", b"[1],"),
        ("net.onnx.gz", b"\x3a\x80\x80\x80\x20", b"\x0a\x00"),
        ("net.nnet.gz", b"1,1,1,1,\n", b"0,"),
    ],
)
def test_small_packed_files_do_not_grow(
    name: str, start: bytes, part: bytes, tmp_path: Path
) -> None:
    """Some kilobytes that unpack to tens of megabytes are refused before they are parsed."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(start + part * (20_000_000 // len(part))))
    with pytest.raises(NetworkFileError, match="unpack"):
        load(path)
