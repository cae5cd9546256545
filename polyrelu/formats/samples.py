"""Samples of data: points with or without classes, in an .npz archive or an .npy file.

Archives may be hostile: pickles are never read, and sizes are checked before arrays are loaded
(`npz.npz_arrays`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError, NetworkError
from polyrelu.formats.meter import metered
from polyrelu.formats.npz import npz_arrays
from polyrelu.formats.unpacking import TooLargeError
from polyrelu.support.arguments import expect_count, expect_path
from polyrelu.support.arrays import freeze_arrays
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array, Floats, Indices

__all__ = ["Samples", "read_samples"]

#: Names of the arrays, as polyrelu and as Keras call them.
_NAMES = (("x", "x_train"), ("y", "y_train"), ("x_test",), ("y_test",))
#: The share of points that become test points where a file does not say which they are.
_TEST_SHARE = 5


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Samples:
    """Points for training and for tests, with their classes.

    Attributes
    ----------
    training, test
        Points, shape (points, n_0).
    training_labels, test_labels
        The class of each point; None if the file has none.

    Examples
    --------
    >>> Samples(np.zeros((4, 2)), np.zeros((1, 2)))
    <Samples of 4 training points, 1 test point, no classes>
    """

    training: Floats
    test: Floats
    training_labels: Indices | None = None
    test_labels: Indices | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __repr__(self) -> str:
        counts = [(len(self.training), "training point"), (len(self.test), "test point")]
        classes = "no classes" if self.test_labels is None else "classes"
        return bracketed(f"Samples of {count_text(counts)}, {classes}")


def read_samples(path: str | Path, num_inputs: int) -> Samples:
    """Read points for training and for tests.

    Parameters
    ----------
    path
        Name of an ``.npz`` archive with an array ``x`` of points and perhaps ``y`` (their classes),
        ``x_test`` and ``y_test``; the names ``x_train`` and ``y_train`` are read as well. Or of an
        ``.npy`` file with points. Each point is an entry of the first axis. Without ``x_test`` the
        last fifth of the points are test points.
    num_inputs
        The number of coordinates of a point.

    Returns
    -------
    Samples
        The points as floats.

    Raises
    ------
    DomainError
        The file cannot be read, or its arrays have other shapes or entries.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "data.npz")
    ...     np.savez(file, x=np.eye(5), y=np.arange(5) % 2)
    ...     samples = read_samples(file, 5)
    >>> samples, samples.test_labels.tolist()
    (<Samples of 4 training points, 1 test point, classes>, [0])
    """
    file = expect_path(path, "path")
    size = expect_count(num_inputs, "num_inputs", 1)
    name = str(file)[:200]
    try:
        arrays = _arrays(file)
        return _samples(arrays, size)
    except (NetworkError, DomainError) as error:
        text = str(error)
        raise DomainError(text if name in text else f"{name}: {text}") from None
    except (OSError, ValueError, EOFError, TooLargeError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "too large"
        raise DomainError(f"{name}: cannot read: {' '.join(reason.split())[:300]}") from None


def _arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of a file by their names."""
    ending = path.suffix.lower()
    if ending == ".npz":
        with metered(path.stat().st_size):
            return npz_arrays(path, "x, y, x_test, y_test")
    if ending != ".npy":
        raise DomainError("samples are read from .npz and .npy files")
    header = np.load(path, mmap_mode="r", allow_pickle=False)
    if header.size > PARAMETER_LIMIT:
        raise DomainError(f"an array of {header.size} numbers, more than {PARAMETER_LIMIT}")
    return {"x": np.array(header)}


def _samples(arrays: dict[str, Array], size: int) -> Samples:
    """Return the samples of named arrays."""
    found = list[Array | None]()
    for names in _NAMES:
        given = [name for name in names if name in arrays]
        if len(given) > 1:
            raise DomainError(f"the arrays {' and '.join(given)} mean the same")
        found.append(arrays[given[0]] if given else None)
    known = {name for names in _NAMES for name in names}
    unknown = sorted(set(arrays) - known)
    if unknown:
        raise DomainError(
            f"it has an array {unknown[0][:40]!r}; known are {', '.join(sorted(known))}"
        )
    if found[0] is None:
        raise DomainError("it has no array x of points")
    training = _points(found[0], size, "x")
    labels = None if found[1] is None else _classes(found[1], len(training), "y")
    if found[2] is not None:
        test = _points(found[2], size, "x_test")
        test_labels = None if found[3] is None else _classes(found[3], len(test), "y_test")
        return Samples(training, test, labels, test_labels)
    if found[3] is not None:
        raise DomainError("it has an array y_test without x_test")
    cut = len(training) - len(training) // _TEST_SHARE
    parts = (None, None) if labels is None else (labels[:cut], labels[cut:])
    return Samples(training[:cut], training[cut:], *parts)


def _points(array: Array, size: int, name: str) -> Floats:
    """Return points as rows of finite floats."""
    if array.dtype.kind not in "fiub":
        raise DomainError(f"{name}: expected numbers, got entries of type {array.dtype}")
    if array.ndim < 2 or np.prod(array.shape[1:], dtype=object) != size:
        raise DomainError(
            f"{name}: shape {array.shape}; the network has {size} inputs, so that each entry of "
            "the first axis must have as many numbers"
        )
    points = array.reshape(len(array), size).astype(np.float64)
    if not np.isfinite(points).all():
        raise DomainError(f"{name}: a coordinate is not a finite number")
    return np.ascontiguousarray(points)


def _classes(array: Array, count: int, name: str) -> NDArray[np.int64]:
    """Return the classes of points."""
    flat = array.reshape(-1) if array.shape == (count, 1) else array
    if flat.shape != (count,):
        raise DomainError(f"{name}: shape {array.shape} for {count} points")
    if flat.dtype.kind not in "iub" or (flat.astype(np.int64) < 0).any():
        raise DomainError(f"{name}: classes are integers from 0")
    return flat.astype(np.int64)
