"""`load` and `read`: whatever a user has, a file by the ending of its name, or an object by its type."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.imported import Comparison, Draft, Imported
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.formats.runtimes.comparison import compared
from polyrelu.formats.sklearn import draft_of_mlp, is_mlp
from polyrelu.network import Network, from_arrays

__all__ = ["FORMATS", "choices_of", "load", "read"]

#: The readers by file ending: module and function. They are imported when a file of theirs is read.
FORMATS: dict[str, tuple[str, str]] = {
    ".onnx": ("onnx.reader", "read_onnx"),
    ".npz": ("npz", "read_npz"),
    ".json": ("native", "read_native"),
    **dict.fromkeys((".pt", ".pth", ".bin", ".zip"), ("torch.files", "read_torch")),
    ".safetensors": ("torch.files", "read_safetensors"),
    ".nnet": ("nnet", "read_nnet"),
    **dict.fromkeys((".h5", ".hdf5"), ("keras.reader", "read_h5")),
    ".keras": ("keras.reader", "read_keras"),
    ".mat": ("matlab.reader", "read_mat"),
}

#: What to do with endings that are not read.
_HINTS = {
    ".eran": "; export the network as ONNX",
    ".npy": "; save W1, b1, … with numpy.savez, W of shape (out, in)",
    ".pkl": "; a pickle can run any code and is never opened: save weights as .npz or .safetensors, or export ONNX",
}

_EXAMPLES = "example:"


def load(
    source: Any,
    *,
    prefix: str | None = None,
    rounding: str | Rounding = "",
    normalisation: str = "none",
    strip_tail: bool = False,
    input_shape: Iterable[int] | None = None,
    compare: bool = True,
) -> Network:
    """A network from a file, from a shipped example (``example:digits``), from an object, or from pairs (W, b).

    Parameters
    ----------
    source : a file name (see `FORMATS`), an object of PyTorch or scikit-learn, or pairs (W, b), W of shape (out, in).
    prefix : where a file holds several networks, the start of the names of the one wanted.
    rounding : rules for the steps that cannot be exact (`formats/options.py`), such as ``"text=float32"``.
    normalisation : ``none``, ``inputs``, ``outputs`` or ``both``: whether a file's own normalisation is part of the
        network.
    strip_tail : leave out a Softmax, Sigmoid, … after the last layer.
    input_shape : the shape of one sample, batch included as 1, where the source does not say it.
    compare : compare with the format's own runtime, where it is installed.

    Raises `NetworkFileError`, in one line, if the file is not a network that can be taken exactly.

    >>> str(load("example:digits").architecture)
    '64-32-16-10'
    """
    return read(
        source,
        prefix=prefix,
        rounding=rounding,
        normalisation=normalisation,
        strip_tail=strip_tail,
        input_shape=input_shape,
        compare=compare,
    ).network


def read(
    source: Any,
    *,
    prefix: str | None = None,
    rounding: str | Rounding = "",
    normalisation: str = "none",
    strip_tail: bool = False,
    input_shape: Iterable[int] | None = None,
    compare: bool = True,
) -> Imported:
    """The network of `load` together with what was read on the way."""
    if not isinstance(rounding, (str, Rounding)) or isinstance(input_shape, str):
        raise NetworkError(
            "rounding is text such as 'text=float32', input_shape a list of sizes such as [1, 3, 32, 32]"
        )
    options = ReadOptions(
        Rounding.parse(rounding) if isinstance(rounding, str) else rounding,
        prefix,
        normalisation,
        strip_tail,
        None if input_shape is None else tuple(int(size) for size in input_shape),
        compare,
    )
    if isinstance(source, str) and source.startswith(_EXAMPLES):
        return _example(source.removeprefix(_EXAMPLES), options)
    if isinstance(source, (str, Path)):
        return _read_file(Path(source), options)
    return _finished(type(source).__name__, _draft_of_object(source, options), options)


def _read_file(path: Path, options: ReadOptions) -> Imported:
    digest = _source_hash(path)
    place = FORMATS.get(path.suffix.lower())
    if place is None:
        hint = _HINTS.get(path.suffix.lower(), "")
        raise NetworkFileError(
            path, "", f"unknown ending {path.suffix!r}; known are {', '.join(FORMATS)}{hint}"
        )
    _check_options(path, place[0], options)
    reader: Callable[[Path, ReadOptions], Draft] = getattr(
        import_module(f"polyrelu.formats.{place[0]}"), place[1]
    )
    try:
        imported = _finished(path, reader(path, options), options)
    except NetworkFileError:
        raise
    except NetworkError as error:
        raise NetworkFileError(path, "", str(error)) from None
    return imported.with_source(path.name, digest)


#: Choices that mean something to some readers only; elsewhere they would be ignored in silence.
_CHOICES = {
    "prefix": ("torch.files",),
    "normalisation": ("nnet",),
    "input_shape": ("onnx.reader", "keras.reader"),
}


def choices_of(name: str) -> set[str]:
    """The keywords of `read` that mean something for the format of a file only, such as ``prefix``."""
    place = FORMATS.get(Path(name).suffix.lower())
    return {
        choice for choice, readers in _CHOICES.items() if place is not None and place[0] in readers
    }


def _check_options(path: Path, reader: str, options: ReadOptions) -> None:
    for name, readers in _CHOICES.items():
        if getattr(options, name) not in (None, "none") and reader not in readers:
            option = name.replace("_", "-")
            raise NetworkFileError(
                path,
                "",
                f"--{option} ({name}=) means nothing for a {path.suffix} file; leave it out",
            )


def _draft_of_object(source: Any, options: ReadOptions) -> Draft:
    torch = sys.modules.get("torch")  # who has a module has imported it
    if torch is not None and isinstance(source, torch.nn.Module):
        from polyrelu.formats.torch.reader import draft_of_module

        return draft_of_module(source, options)
    if is_mlp(source):
        return draft_of_mlp(source, options)
    if not isinstance(source, Iterable):
        kind = type(source).__name__
        raise NetworkError(
            f"{kind}: expected a file name, pairs (W, b), or an object of torch or scikit-learn"
        )
    pairs = list(source)
    if isinstance(source, Mapping) or not all(_is_pair(pair) for pair in pairs):
        kind = type(source).__name__
        remedy = "for a state dict pass the nn.Module, or save it to a file"
        raise NetworkError(f"{kind}: expected pairs (W, b), W of shape (out, in); {remedy}")
    return Draft("pairs (W, b)", network=from_arrays(pairs))


def _is_pair(entry: object) -> bool:
    return isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 2


def _finished(path: str | Path, draft: Draft, options: ReadOptions) -> Imported:
    """Put the operations into layers, and compare with the runtime."""
    comparison = Comparison(reason="not asked for")
    if draft.network is not None:
        network = draft.network
        if options.compare:
            comparison = Comparison(reason=str(draft.runtime))
    elif draft.graph is not None:
        lowered = lower(draft.graph)
        network = lowered.network
        draft.notes += lowered.notes
        if options.compare:
            comparison = compared(path, draft, draft.graph, lowered)
    return Imported(
        network,
        _plain(draft.format),
        tuple(map(_plain, draft.steps)),
        tuple(sorted(draft.dtypes)),
        rounding="; ".join(sorted(draft.rounding)) or "none",
        notes=tuple(map(_plain, dict.fromkeys(draft.notes))),
        caveats=tuple(map(_plain, dict.fromkeys(draft.caveats))),
        numbers=draft.numbers,
        comparison=comparison,
        graph=draft.graph,
        arithmetic=draft.arithmetic,
        bounded=frozenset(draft.bounded),
        runtime=draft.runtime,
        input_shapes=tuple(draft.input_shapes),
    )


def _plain(text: str) -> str:
    """Printable characters on one line, at most 500: names in a file are shown to people."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))[:500]


def _example(name: str, options: ReadOptions) -> Imported:
    folder = files("polyrelu") / "examples"
    resource = folder / f"{name}.npz"
    if not name.isidentifier() or not resource.is_file():
        known = ", ".join(
            sorted(
                _EXAMPLES + Path(entry.name).stem
                for entry in folder.iterdir()
                if entry.name.endswith(".npz")
            )
        )
        raise NetworkFileError(f"{_EXAMPLES}{name}", "", f"no such example; there are: {known}")
    with as_file(resource) as path:
        return _read_file(path, options)


def _source_hash(path: Path) -> str:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise NetworkFileError(path, "", "not a regular file")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise NetworkFileError(
            path, "", f"cannot read: {getattr(error, 'strerror', None) or error}"
        ) from None
