"""Keras models of versions 1 to 3, from ``.h5`` files of complete models and ``.keras`` archives.

Here is the walk from the configuration of a model to a `Draft`: `polyrelu.formats.keras.model`
gives a list of uses of layers, each with the uses whose results it reads, and
`polyrelu.formats.keras.operations` translates every use to operations of a graph. Keras itself is
not needed; whatever this reader does not know, such as other layers, must be refused by name.

Several inputs are put one after the other, and so are several outputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.keras.files import Contents, contents_of_archive, contents_of_h5, shown
from polyrelu.formats.keras.model import Input, Model, Place, flat_model
from polyrelu.formats.keras.operations import MOVERS, LayerCall, ModelReader, apply
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = ["read_h5", "read_keras"]


def read_h5(path: Path, options: ReadOptions) -> Draft:
    """Return the operations of an HDF5 file of a complete model.

    A `NetworkFileError` names the first layer that cannot be read.
    """
    return _draft(path, contents_of_h5(path), options)


def read_keras(path: Path, options: ReadOptions) -> Draft:
    """Return the operations of a .keras file.

    A `NetworkFileError` names the first layer that cannot be read.
    """
    return _draft(path, contents_of_archive(path), options)


def _draft(path: Path, contents: Contents, options: ReadOptions) -> Draft:
    """Return the operations of a model."""
    try:
        model = flat_model(path, contents.model)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, NetworkError):
            raise
        raise NetworkFileError(path, "model configuration", "not one that Keras writes") from None
    draft = Draft(contents.format, Graph(), runtime="Keras is not used for comparison")
    reader = ModelReader(
        path, draft, draft.graph or Graph(), options, contents.weights, contents.major
    )
    values = _inputs(reader, model)
    _walk(reader, model, values)
    _finish(reader, model, values)
    return draft


# --- The walk -----


def _inputs(reader: ModelReader, model: Model) -> dict[Place, Value]:
    """Create the inputs of the graph, with a note on each."""
    shapes = [_input_shape(reader, entry, len(model.inputs)) for entry in model.inputs]
    try:
        values = reader.graph.inputs(shapes)
    except NetworkError as error:
        raise NetworkFileError(reader.path, "input", str(error)) from None
    first = 0
    for entry, value in zip(model.inputs, values, strict=True):
        where = (
            ""
            if len(values) == 1
            else f" {entry.name!r}, coordinates {first} to {first + value.size - 1},"
        )
        reader.draft.notes.append(
            f"input{where} of shape {list(value.shape)}, one sample (the batch is taken as 1)"
        )
        first += value.size
    reader.draft.input_shapes = shapes
    reader.draft.inputs = _named([entry.name for entry in model.inputs], values)
    return {entry.place: value for entry, value in zip(model.inputs, values, strict=True)}


def _input_shape(reader: ModelReader, entry: Input, count: int) -> tuple[int, ...]:
    """Return the shape of one sample: the shape in the file with batch 1, or the user's shape.

    The shape of the user has to agree with all sizes that the file fixes.
    """
    place, stated = (
        f"input {entry.name[:80]!r}" if entry.name else "input",
        shown(str(entry.shape)),
    )
    if entry.dtype not in (None, "float16", "bfloat16", "float32", "float64"):
        raise NetworkFileError(
            reader.path, place, f"its type is {shown(str(entry.dtype))}; expected a float type"
        )
    given = reader.options.input_shape
    if given is not None and count > 1:
        raise NetworkFileError(
            reader.path, place, f"an input shape was given, but there are {count} inputs"
        )
    stored = given if entry.shape is None else (1, *entry.shape[1:])
    shape = given if given is not None else stored
    if shape is None or not all(
        isinstance(size, int) and 1 <= size <= WIDTH_LIMIT for size in shape
    ):
        problem = (
            f"shape {stated} is not fixed after the batch dimension; say it with --input-shape"
        )
        raise NetworkFileError(reader.path, place, problem)
    fits = stored is not None and len(stored) == len(shape)
    if not fits or any(
        known not in (None, size) for known, size in zip(stored or (), shape, strict=False)
    ):
        raise NetworkFileError(
            reader.path,
            place,
            f"the input shape {list(shape)} was given; the file says {stated} (batch: 1)",
        )
    if math.prod(shape) > WIDTH_LIMIT:
        raise NetworkFileError(
            reader.path, place, f"shape {list(shape)} has more than {WIDTH_LIMIT} entries"
        )
    return shape


def _named(names: Iterable[str], values: Iterable[Value]) -> list[tuple[str, int]]:
    """Return the name of the layer and the size of each value; nothing if a layer has no name."""
    named = [(name, value.size) for name, value in zip(names, values, strict=True)]
    return named if all(name for name, _ in named) else []


def _walk(reader: ModelReader, model: Model, values: dict[Place, Value]) -> None:
    """Translate every use as soon as the values that it reads are known.

    The order of the file is not enough: a layer that is used twice may stand before a layer whose
    result its second use reads.
    """
    last, waiting = _last_uses(model), model.uses
    while waiting:
        later = []
        for use in waiting:
            if all(place in values for place in use.reads):
                call = LayerCall(
                    reader, use.layer, [values[place] for place in use.reads], use.place in last
                )
                values[use.place] = apply(call)
            else:
                later.append(use)
        if len(later) == len(waiting):
            raise NetworkFileError(
                reader.path, later[0].layer.place, "what it reads does not come from an input"
            )
        waiting = later


def _last_uses(model: Model) -> set[Place]:
    """Return the uses whose results reach an output and nothing else.

    Between such a use and the output there are only operations that move entries.
    """
    makers = {use.place: use for use in model.uses}
    readers = Counter([place for use in model.uses for place in use.reads] + model.outputs)
    found, waiting = set[Place](), list(model.outputs)
    while waiting:
        use = makers.get(waiting.pop())
        if use is None or readers[use.place] > 1:
            continue
        found.add(use.place)
        if use.layer.kind in MOVERS:
            waiting += use.reads
    return found


def _finish(reader: ModelReader, model: Model, values: dict[Place, Value]) -> None:
    """Set the outputs of the graph and the number type of the draft."""
    missing = next((place for place in model.outputs if place not in values), None)
    if missing is not None or not model.outputs:
        raise NetworkFileError(
            reader.path, "model configuration", "an output does not come from any layer"
        )
    outputs = [values[place] for place in model.outputs]
    if len(outputs) > 1:
        names = ", ".join(
            f"{name!r} ({v.size})" for name, v in zip(model.names, outputs, strict=True)
        )
        reader.draft.notes.append(f"outputs one after the other: {names}")
    reader.graph.finish(outputs)
    reader.draft.outputs = _named(model.names, outputs)
    reader.draft.arithmetic = next(iter(reader.policies)) if len(reader.policies) == 1 else ""
    mixed = sorted(reader.policies - {"float32", "float64"})
    if mixed:
        reader.draft.notes.append(
            f"layers compute in {', '.join(mixed)}; the network is that of exact arithmetic"
        )
