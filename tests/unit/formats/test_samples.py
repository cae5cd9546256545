"""Files of samples, damaged and hostile ones included."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import DomainError
from polyrelu.formats import read_samples


def _written(folder: Path, **arrays: Any) -> Path:
    path = folder / "data.npz"
    np.savez(path, **arrays)
    return path


def test_images_as_keras_stores_them(tmp_path: Path) -> None:
    images = np.arange(24, dtype=np.uint8).reshape(6, 2, 2)
    path = _written(
        tmp_path, x_train=images, y_train=np.arange(6) % 3, x_test=images[:2], y_test=[[1], [2]]
    )
    found = read_samples(path, 4)
    assert found.training.tolist() == images.reshape(6, 4).tolist()
    assert found.test.dtype == np.float64
    assert found.test_labels is not None
    assert found.test_labels.tolist() == [1, 2]


def test_the_last_fifth_is_for_tests(tmp_path: Path) -> None:
    np.save(tmp_path / "points.npy", np.eye(11))
    found = read_samples(tmp_path / "points.npy", 11)
    assert (len(found.training), len(found.test), found.test_labels) == (9, 2, None)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y": [1]}, "no array x"),
        ({"x": np.eye(3), "z": [1]}, "an array 'z'"),
        ({"x": np.eye(3), "x_train": np.eye(3)}, "mean the same"),
        ({"x": np.eye(4)}, "has 3 inputs"),
        ({"x": [1.0, 2.0, 3.0]}, "has 3 inputs"),
        ({"x": np.full((3, 3), np.inf)}, "not a finite number"),
        ({"x": np.eye(3) * 1j}, "expected numbers"),
        ({"x": np.array([["a", "b", "c"]])}, "expected numbers"),
        ({"x": np.eye(3), "y": [1, 2]}, r"shape \(2,\) for 3 points"),
        ({"x": np.eye(3), "y": [0.0, 1.0, 2.0]}, "classes are integers"),
        ({"x": np.eye(3), "y": [0, 1, -2]}, "classes are integers"),
        ({"x": np.eye(3), "y_test": [1, 2, 3]}, "y_test without x_test"),
    ],
)
def test_wrong_arrays(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    path = _written(tmp_path, **arrays)
    with pytest.raises(DomainError, match=message) as caught:
        read_samples(path, 3)
    assert str(caught.value).count(str(path)) == 1


def test_hostile_files(tmp_path: Path) -> None:
    pickled = _written(tmp_path, x=np.array([{}], dtype=object))
    with pytest.raises(DomainError, match="not a readable"):
        read_samples(pickled, 3)
    (tmp_path / "cut.npz").write_bytes(pickled.read_bytes()[:50])
    (tmp_path / "words.npy").write_text("no array")
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
    bomb = (header % b"9999999999").ljust(127) + b"\n"
    (tmp_path / "bomb.npy").write_bytes(bomb)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("x.npy", bomb)
    for name in ("cut.npz", "words.npy", "bomb.npy", "bomb.npz", "none.npz", "points.csv"):
        with pytest.raises(DomainError, match=name):
            read_samples(tmp_path / name, 3)
