"""`load` and `read`: networks from files, by their ending, and from objects, by their type.

This module chooses the reader, lowers the graph that the reader returns, and compares the result
with the format's own runtime. Readers are imported only when they are needed, so that no optional
package (onnx, torch, h5py) is imported for files of other formats.
"""

from __future__ import annotations

import operator
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from importlib.resources import as_file
from pathlib import Path
from typing import Any

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.corpus_files import CORPUS_PREFIX, corpus_source
from polyrelu.formats.examples import EXAMPLE_PREFIX, example_file, find_example
from polyrelu.formats.graph.lowering import lower
from polyrelu.formats.hints import with_working_hint
from polyrelu.formats.imported import Comparison, Draft, Imported
from polyrelu.formats.meter import metered
from polyrelu.formats.options import ReadOptions, Rounding
from polyrelu.formats.runtimes.comparison import compare_with_runtime
from polyrelu.formats.sklearn import draft_of_mlp, is_mlp
from polyrelu.formats.source_types import NetworkSource
from polyrelu.formats.sources import (
    ending_of,
    is_content,
    is_packed,
    plain_file,
    sha256_of_file,
)
from polyrelu.formats.unpacking import PACKED
from polyrelu.network import Network, from_arrays
from polyrelu.support.arguments import expect, expect_limit, expect_path

__all__ = ["FORMATS", "choices_of", "load", "read"]

#: The reader for each file ending: its module within `polyrelu.formats`, and its function there.
FORMATS: dict[str, tuple[str, str]] = {
    ".onnx": ("onnx.reader", "read_onnx"),
    ".npz": ("npz", "read_npz"),
    ".json": ("native", "read_native"),
    **dict.fromkeys((".pt", ".pth", ".bin", ".zip"), ("torch.files", "read_torch")),
    ".pt2": ("torch.exported.reader", "read_exported"),
    ".safetensors": ("torch.files", "read_safetensors"),
    ".nnet": ("nnet", "read_nnet"),
    ".eran": ("eran", "read_eran"),
    **dict.fromkeys((".h5", ".hdf5"), ("keras.reader", "read_h5")),
    ".keras": ("keras.reader", "read_keras"),
    ".mat": ("matlab.reader", "read_mat"),
}

#: Maximum number of weights, zeros included, of a network in a file. Its canonical text has at
#: least two bytes for each.
_TEXT_LIMIT = 4 * 10**9

#: Advice for endings that no reader takes, appended to the error message.
_HINTS = {
    ".npy": "; save W1, b1, … with numpy.savez, W of shape (out, in)",
    ".pkl": (
        "; a pickle can run any code and is never opened: save weights as .npz or .safetensors, "
        "or export ONNX"
    ),
    ".pb": (
        "; a graph of TensorFlow: python -m tf2onnx.convert --saved-model FOLDER --output net.onnx "
        "makes an ONNX file of the folder it stands in (pip install tf2onnx)"
    ),
    ".tflite": (
        "; python -m tf2onnx.convert --tflite net.tflite --output net.onnx makes an ONNX file of it"
    ),
    ".msgpack": "; weights of Flax: save them as .npz, as docs/how-to/jax.md shows",
}


def load(
    source: NetworkSource,
    *,
    format: str | None = None,
    prefix: str | None = None,
    rounding: str | Rounding = "",
    normalisation: str = "none",
    strip_tail: bool = False,
    input_shape: Iterable[int] | None = None,
    output_name: str | None = None,
    compare: bool = True,
    read_limit: float = 1.0,
) -> Network:
    """Return the exact network of a file, a shipped example, or an object.

    Parameters
    ----------
    source
        One of: the name of a file, whose ending is one of `FORMATS`, also packed (``.onnx.gz``);
        ``example:`` or ``corpus:`` and the name of a shipped network; a module of PyTorch; a fitted
        perceptron of scikit-learn; pairs (W, b), W of shape (out, in), b of shape (out,); or the
        content of a file, as bytes or as an open binary file.
    format
        The format of a file or of its content, as an ending: ``"onnx"``, ``"npz"``, ``"onnx.gz"``.
        By default the ending of the name says it; bytes have no name.
    prefix
        For files with several networks, the prefix of the names of the wanted network.
    rounding
        Rules for the steps that cannot be exact, such as ``"text=float32"``; see `Rounding`.
    normalisation
        ``none``, ``inputs``, ``outputs`` or ``both``: which of the file's own normalisations become
        part of the network.
    strip_tail
        Whether to leave out a Softmax, Sigmoid, … after the last layer.
    input_shape
        The shape of one sample, with 1 as batch size, if the source does not give it.
    output_name
        For ONNX files, the name of the value that becomes the output; by default all outputs are
        taken, one after the other.
    compare
        Whether to compare the network with the format's own runtime, if it is installed.
    read_limit
        How many times the usual amounts of memory and work the reading may take; ``math.inf`` is no
        limit. A small file that asks for much is refused otherwise.

    Returns
    -------
    Network
        The network, with exact rational weights.

    Raises
    ------
    NetworkFileError
        The file is not a network that can be taken exactly; the message has one line.
    NetworkError
        The object is not such a network, or a choice is not valid.

    See Also
    --------
    read : Returns the network with a record of what was read.

    Examples
    --------
    >>> str(load("example:digits").architecture)
    '64-32-16-10'
    """
    return read(
        source,
        format=format,
        prefix=prefix,
        rounding=rounding,
        normalisation=normalisation,
        strip_tail=strip_tail,
        input_shape=input_shape,
        output_name=output_name,
        compare=compare,
        read_limit=read_limit,
    ).network


def read(
    source: NetworkSource,
    *,
    format: str | None = None,
    prefix: str | None = None,
    rounding: str | Rounding = "",
    normalisation: str = "none",
    strip_tail: bool = False,
    input_shape: Iterable[int] | None = None,
    output_name: str | None = None,
    compare: bool = True,
    read_limit: float = 1.0,
) -> Imported:
    """Return the exact network of a file, an example or an object, with a record of the reading.

    Parameters
    ----------
    source
        One of: the name of a file, whose ending is one of `FORMATS`, also packed (``.onnx.gz``);
        ``example:`` or ``corpus:`` and the name of a shipped network; a module of PyTorch; a fitted
        perceptron of scikit-learn; pairs (W, b), W of shape (out, in), b of shape (out,); or the
        content of a file, as bytes or as an open binary file.
    format
        The format of a file or of its content, as an ending: ``"onnx"``, ``"npz"``, ``"onnx.gz"``.
        By default the ending of the name says it; bytes have no name.
    prefix
        For files with several networks, the prefix of the names of the wanted network.
    rounding
        Rules for the steps that cannot be exact, such as ``"text=float32"``; see `Rounding`.
    normalisation
        ``none``, ``inputs``, ``outputs`` or ``both``: which of the file's own normalisations become
        part of the network.
    strip_tail
        Whether to leave out a Softmax, Sigmoid, … after the last layer.
    input_shape
        The shape of one sample, with 1 as batch size, if the source does not give it.
    output_name
        For ONNX files, the name of the value that becomes the output; by default all outputs are
        taken, one after the other.
    compare
        Whether to compare the network with the format's own runtime, if it is installed.
    read_limit
        How many times the usual amounts of memory and work the reading may take; ``math.inf`` is no
        limit. A small file that asks for much is refused otherwise.

    Returns
    -------
    Imported
        The network with its source, the operations as read, and all roundings, notes and caveats.

    Raises
    ------
    NetworkFileError
        The file is not a network that can be taken exactly; the message has one line.
    NetworkError
        The object is not such a network, or a choice is not valid.

    See Also
    --------
    load : Returns the network alone.

    Examples
    --------
    >>> imported = read([([[1, 1]], ["1/3"])])
    >>> imported.format, str(imported.network.architecture)
    ('pairs (W, b)', '2-1')
    """
    options = ReadOptions(
        _as_rounding(rounding),
        None if prefix is None else expect(prefix, str, "prefix"),
        normalisation,
        expect(strip_tail, bool, "strip_tail"),
        None if input_shape is None else _as_shape(input_shape),
        expect(compare, bool, "compare"),
        None if output_name is None else expect(output_name, str, "output_name"),
        _as_limit(read_limit),
    )
    ending = "" if format is None else _as_ending(format)
    if isinstance(source, str) and source.startswith(EXAMPLE_PREFIX):
        return _example(source.removeprefix(EXAMPLE_PREFIX), options)
    if isinstance(source, str) and source.startswith(CORPUS_PREFIX):
        return _of_corpus(source.removeprefix(CORPUS_PREFIX), options)
    if isinstance(source, str | os.PathLike):
        if not str(source).strip():
            raise NetworkError("an empty name; give the name of a network file, or example:digits")
        path = Path(source)
        if (is_packed(path) and not ending) or ending.endswith(PACKED):
            return _read_content(path, ending, options)
        return _read_file(path, options, ending)
    if is_content(source):
        return _read_content(source, ending, options)
    kind = type(source).__name__
    try:
        return _import_draft(kind, _draft_of_object(source, options), options)
    except NetworkError as error:
        raise with_working_hint(error, options, partial(_draft_of_object, source)) from None


def _as_rounding(rounding: object) -> Rounding:
    if isinstance(rounding, str):
        return Rounding.parse(rounding)
    if isinstance(rounding, Rounding):
        return rounding
    raise NetworkError("rounding is text such as 'text=float32'")


def _as_limit(factor: object) -> float:
    expect_limit(factor, "read_limit")
    if factor is None:
        raise NetworkError("read_limit is a number above 0; math.inf is no limit")
    return float(factor)  # type: ignore[arg-type]


def _as_shape(sizes: Iterable[int]) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, sizes))
    except TypeError:
        raise NetworkError("input_shape is a list of sizes such as [1, 3, 32, 32]") from None


def _as_ending(format_: str) -> str:
    """Return the format that a user names as an ending, which may end in .gz."""
    ending = f".{expect(format_, str, 'format').lower().removeprefix('.')}"
    if ending.removesuffix(PACKED) not in FORMATS:
        known = ", ".join(known[1:] for known in FORMATS)
        raise NetworkError(f"format {format_[:40]!r}: choose from {known}, each also with .gz")
    return ending


def _read_content(source: Any, ending: str, options: ReadOptions) -> Imported:
    """Read a packed file, or the content of a file, from a temporary file."""
    with plain_file(source, ending, options.read_limit) as file:
        try:
            imported = _read_file(file.path, options, size=file.size)
        except NetworkFileError as error:
            raise NetworkFileError(file.shown, error.place, error.problem) from None
        return imported.with_source(file.source, file.sha256)


def _read_file(
    path: Path, options: ReadOptions, ending: str = "", size: int | None = None
) -> Imported:
    """Read a file with the reader of its ending, or of the ending that the user gives.

    `size` is the number of bytes of the packed file, if it was packed; what may be asked for while
    it is read depends on it (`meter`).
    """
    if _is_saved_model(path):
        raise NetworkFileError(
            path,
            "",
            "a SavedModel of TensorFlow, which TensorFlow alone reads; pip install tf2onnx and "
            f"python -m tf2onnx.convert --saved-model {shlex.quote(str(path))} --output net.onnx "
            "make an ONNX file of it",
        )
    digest = sha256_of_file(path)
    place = FORMATS.get(ending or path.suffix.lower())
    if place is None:
        hint = _HINTS.get(path.suffix.lower(), "")
        raise NetworkFileError(
            path, "", f"unknown ending {path.suffix!r}; known are {', '.join(FORMATS)}{hint}"
        )
    _check_options(path, place[0], options)
    reader: Callable[[Path, ReadOptions], Draft] = getattr(
        import_module(f"polyrelu.formats.{place[0]}"), place[1]
    )
    size = size if size is not None else path.stat().st_size
    try:
        with metered(size, options.read_limit):
            imported = _import_draft(path, reader(path, options), options)
    except NetworkError as error:
        with metered(size, options.read_limit):
            hinted = with_working_hint(error, options, partial(reader, path))
        raise _as_file_error(path, hinted) from None
    return imported.with_source(path.name, digest)


def _is_saved_model(path: Path) -> bool:
    """Return whether a path is the folder of a SavedModel of TensorFlow."""
    return any(os.path.isfile(f"{path}/saved_model.{ending}") for ending in ("pb", "pbtxt"))


def _as_file_error(path: Path, error: NetworkError) -> NetworkFileError:
    return error if isinstance(error, NetworkFileError) else NetworkFileError(path, "", str(error))


def _check_text(network: Network) -> None:
    """Refuse a network whose canonical text, which names it, would be too long to be hashed."""
    if network.num_parameters > _TEXT_LIMIT:
        raise NetworkError(
            f"the network has {network.num_parameters} weights, most of them 0; at most "
            f"{_TEXT_LIMIT} can be written in the text whose hash names a network"
        )


#: For each keyword of `read` that only some readers use, the modules of these readers. For other
#: readers the keyword is an error, so that no choice is ignored in silence.
_READERS_OF_CHOICE = {
    "prefix": ("torch.files",),
    "normalisation": ("nnet",),
    "input_shape": ("onnx.reader", "keras.reader"),
    "output_name": ("onnx.reader",),
}


def choices_of(name: str | Path) -> set[str]:
    """Return the format-specific keywords of `read` that apply to a file, such as ``prefix``.

    Parameters
    ----------
    name
        Name of the file; only its ending matters.

    Returns
    -------
    set of str
        The keywords among ``prefix``, ``normalisation``, ``input_shape`` and ``output_name`` that
        the reader of the file uses. The other keywords of `read` apply to all formats.

    Examples
    --------
    >>> choices_of("network.nnet"), choices_of("network.npz")
    ({'normalisation'}, set())
    """
    place = FORMATS.get(ending_of(expect_path(name, "name")))
    return {
        choice
        for choice, readers in _READERS_OF_CHOICE.items()
        if place is not None and place[0] in readers
    }


def _check_options(path: Path, reader: str, options: ReadOptions) -> None:
    """Raise an error if the user made a choice that the reader does not use."""
    for name, readers in _READERS_OF_CHOICE.items():
        if getattr(options, name) not in (None, "none") and reader not in readers:
            option = name.replace("_", "-")
            raise NetworkFileError(
                path,
                "",
                f"--{option} ({name}=) means nothing for a {path.suffix} file; leave it out",
            )


def _draft_of_object(source: Any, options: ReadOptions) -> Draft:
    """Return the draft of a module of PyTorch, a perceptron of scikit-learn, or pairs (W, b)."""
    torch = sys.modules.get("torch")  # a user who has a module has imported torch
    if torch is not None and isinstance(source, torch.nn.Module):
        from polyrelu.formats.torch.reader import draft_of_module

        return draft_of_module(source, options)
    if is_mlp(source):
        return draft_of_mlp(source, options)
    kind = type(source).__name__
    try:
        pairs = list(source)
    except TypeError:
        raise NetworkError(
            f"{kind}: expected a file name, pairs (W, b), or an object of torch or scikit-learn"
        ) from None
    if isinstance(source, Mapping) or not all(_is_pair(pair) for pair in pairs):
        remedy = "for a state dict pass the nn.Module, or save it to a file"
        raise NetworkError(f"{kind}: expected pairs (W, b), W of shape (out, in); {remedy}")
    return Draft("pairs (W, b)", network=from_arrays(pairs))


def _is_pair(entry: object) -> bool:
    return isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 2


def _import_draft(path: str | Path, draft: Draft, options: ReadOptions) -> Imported:
    """Lower the operations of a draft to layers, and compare them with the runtime."""
    comparison = Comparison(reason="not asked for")
    if draft.network is not None:
        network = draft.network
        if options.compare:
            comparison = Comparison(reason=str(draft.runtime))
    elif draft.graph is not None:
        lowered = lower(draft.graph)
        network = lowered.network
        _check_text(network)
        draft.notes += lowered.notes
        if options.compare:
            comparison = compare_with_runtime(path, draft, draft.graph, lowered)
    return Imported(
        network,
        _printable(draft.format),
        tuple(map(_printable, draft.steps)),
        tuple(sorted(draft.dtypes)),
        rounding="; ".join(sorted(draft.rounding)) or "none",
        notes=tuple(map(_printable, dict.fromkeys(draft.notes))),
        caveats=tuple(map(_printable, dict.fromkeys(draft.caveats))),
        num_stored=draft.num_stored,
        comparison=comparison,
        graph=draft.graph,
        arithmetic=draft.arithmetic,
        bounded=frozenset(draft.bounded),
        runtime=draft.runtime,
        input_shapes=tuple(draft.input_shapes),
        inputs=tuple(draft.inputs),
        outputs=tuple(draft.outputs),
    )


def _printable(text: str) -> str:
    """Return text on one line of at most 500 printable characters.

    Texts contain names from files, which may hold control characters, and are shown to users.
    """
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))[:500]


def _example(name: str, options: ReadOptions) -> Imported:
    """Read a shipped example."""
    example = find_example(name)
    if example.file.startswith(CORPUS_PREFIX):
        return _of_corpus(example.file.removeprefix(CORPUS_PREFIX), options)
    with as_file(example_file(example)) as path:
        return _read_file(path, options)


def _of_corpus(name: str, options: ReadOptions) -> Imported:
    """Read a network of the shipped corpus."""
    source = corpus_source(name)
    if isinstance(source, str):
        return _example(source.removeprefix(EXAMPLE_PREFIX), options)
    imported = _read_content(source, ".json", options)
    return imported.with_source(f"{name}.json", sha256(source).hexdigest())
