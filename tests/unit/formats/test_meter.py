"""The meter of a file: small files that ask for much are refused before they get it."""

from __future__ import annotations

import gzip
import math
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest

from polyrelu.cli.main import main
from polyrelu.errors import NetworkError, NetworkFileError, PolyreluError
from polyrelu.formats import read
from polyrelu.formats.meter import (
    LIMITS,
    Limit,
    Limits,
    Meter,
    allow_file,
    metered,
    need,
    remaining,
)
from tests.generators.bombs import BOMBS
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.guarded import read_guarded
from tests.generators.onnx_files import constant, model, node, write

_LIMITS = Limits(entries=Limit(10, 1), products=Limit(0, 2), unpacked=Limit(5, 0))


def test_amounts_add_up_to_the_limit_of_the_size() -> None:
    meter = Meter(3, _LIMITS)
    meter.need("entries", 6)
    meter.need("entries", 7)
    assert meter.remaining("entries") == 0
    with pytest.raises(NetworkError, match=r"more than 13 entries .* a file of 3 bytes; export"):
        meter.need("entries", 1)
    assert [meter.remaining(kind) for kind in ("products", "unpacked")] == [6, 5]


def test_outside_of_a_file_nothing_is_counted() -> None:
    need(entries=10**12)
    assert remaining("unpacked", 7) == 7


def test_meters_of_files_within_files() -> None:
    with metered(0) as outer:
        need(entries=5)
        with metered(0):
            need(entries=7)
        need(entries=1, products=2)
        assert outer.used == {"entries": 6, "products": 2, "unpacked": 0}


def test_another_file_counts_once() -> None:
    with metered(100) as meter:
        allow_file("a", 50)
        allow_file("a", 50)
        allow_file("b", 1)
        assert meter.size == 151


def test_what_the_steps_of_a_file_ask_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The product of two layers without a ReLU between them is asked for before it is made."""
    nodes = [node("MatMul", ["x", "a"], "h"), node("MatMul", ["h", "b"], "y")]
    weights = [constant(name, np.ones((32, 32))) for name in "ab"]
    path = write(tmp_path, "net.onnx", model(nodes, weights, (1, 32)))
    asked = list[tuple[str, int]]()
    monkeypatch.setattr(Meter, "need", lambda self, kind, amount: asked.append((kind, amount)))
    read(path)
    assert ("products", 32**3 // 16) in asked
    assert sum(amount for kind, amount in asked if kind == "entries") > 3 * 32 * 32


def test_a_network_as_large_as_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large weights are no bomb, whatever the base of the limits is."""
    small = Limits(Limit(0, LIMITS.entries.per_byte), Limit(0, LIMITS.products.per_byte))
    monkeypatch.setattr(Meter, "__init__", partialmethod(Meter.__init__, limits=small))
    weight = np.random.default_rng(0).normal(size=(700, 700)).astype(np.float32)
    nodes = [node("MatMul", ["x", "a"], "h"), node("Relu", ["h"], "y")]
    path = write(tmp_path, "net.onnx", model(nodes, [constant("a", weight)], (1, 700)))
    assert read(path, compare=False).num_stored == weight.size


def test_a_user_raises_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal names an option, and a keyword of Python, with which the file is read."""
    monkeypatch.setattr(Meter, "__init__", partialmethod(Meter.__init__, limits=_LIMITS))
    nodes = [node("Relu", ["x"], "h"), node("Relu", ["h"], "y")]
    path = write(tmp_path, "net.onnx", model(nodes, [], (1, 300)))
    with pytest.raises(NetworkFileError, match=r"--read-limit inf \(read_limit=inf\)$"):
        read(path)
    assert read(path, read_limit=math.inf).network.num_inputs == 300
    assert read(path, read_limit=100).network.num_inputs == 300
    assert main(["info", str(path)]) == 2
    assert "--read-limit inf" in capsys.readouterr().err
    assert main(["info", str(path), "--read-limit", "inf"]) == 0
    capsys.readouterr()
    for wrong in (0, -1, math.nan, None, "2"):
        with pytest.raises(PolyreluError, match=r"read.limit"):
            read(path, read_limit=wrong)  # type: ignore[arg-type]


def test_a_packed_file_that_unpacks_to_much(tmp_path: Path) -> None:
    """What the refusal proposes, a higher limit or gunzip, works."""
    text = b"// " + b" " * 10**7 + b"\n1,1,1,1,\n1,1,\n0,\n0,\n0,\n0,\n0,\n2,\n3,\n"
    path = write(tmp_path, "net.nnet.gz", gzip.compress(text))
    with pytest.raises(NetworkFileError, match=r"unpacks to more than .*; unpack it .* gunzip"):
        read(path)
    network = read(path, read_limit=math.inf).network
    assert read(write(tmp_path, "net.nnet", text)).network == network
    assert [list(row) for row in network.evaluate([[1]])] == [[5]]


#: The bombs that only look like bombs.
_READ = {
    (".onnx", "a dead node"),
    (".onnx", "many readers of a value"),
    (".nnet", "long numbers"),
    (".eran", "small numbers"),
    (".pt2", "3,000 operations"),
    (".keras", "9,000 layers"),
}
#: Bombs that are refused at once.
_FAST = [
    (".onnx", "eight convolutions"),
    (".json", "a row of 400,000 numbers"),
    (".mat", "cells in cells"),
    (".onnx", "added constants"),
    (".onnx", "a doubled constant"),
    (".npz", "a text of 400 million letters"),
    (".json.gz", "lists"),
    (".json.gz", "keys"),
    (".json.gz", "rows"),
]


#: Bombs that take more than two seconds of CPU, of kinds that others have too.
_LONG = {
    (".onnx", "many absolute values"),
    (".onnx", "many ReLUs"),
    (".onnx", "many flattenings"),
    (".onnx", "a chain of sums"),
    (".onnx", "long numbers"),
    (".onnx", "many readers of a value"),
    (".eran", "45,000 layers"),
}


@pytest.mark.parametrize(
    "bombs", few_some_and_all(_FAST[:4], [one for one in BOMBS if one not in _LONG], list(BOMBS))
)
def test_bombs(bombs: list[tuple[str, str]], tmp_path: Path) -> None:
    """A bomb is refused in one line with exit status 2, or read, within 30 s and 2 GB."""
    for ending, name in bombs:
        path = write(tmp_path, f"bomb{ending}", BOMBS[ending, name]())
        with case(ending, name):
            assert path.stat().st_size <= 10**6
            (outcome,) = read_guarded([path])
            assert outcome.is_fine, outcome
            assert outcome.kind == ("read" if (ending, name) in _READ else "refused"), outcome
            assert outcome.megabytes < 2000


def test_external_data_that_is_read_again_and_again(tmp_path: Path) -> None:
    from onnx import TensorProto

    (tmp_path / "weights.bin").write_bytes(bytes(4 * 10**6))
    tensors = []
    for number in range(300):
        tensor = TensorProto(name=f"w{number}", data_type=1, dims=[10**6], data_location=1)
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "weights.bin"
        tensors.append(tensor)
    path = write(tmp_path, "net.onnx", model([node("Relu", ["x"], "y")], tensors))
    with pytest.raises(NetworkFileError, match="unpacked bytes, too many for a file of"):
        read(path)
