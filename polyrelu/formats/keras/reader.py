"""Keras models of versions 1 to 3, from ``.h5`` files of complete models and ``.keras`` archives.

Here is the walk from the configuration of a model to a `Draft`. Sequential and functional models
become a list of uses of layers, each with the uses whose results it reads, and
`polyrelu.formats.keras.operations` translates every use to operations of a graph. Keras itself is
not needed; whatever this reader does not know, such as other layers and models within models, must
be refused by name.

Several inputs are put one after the other, and so are several outputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.keras.files import Contents, contents_of_archive, contents_of_h5, shown
from polyrelu.formats.keras.operations import (
    MOVERS,
    KerasLayer,
    LayerCall,
    ModelReader,
    apply,
    check_known,
)
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import WIDTH_LIMIT

__all__ = ["read_h5", "read_keras"]

#: A use of a layer: its name, and the number of the use.
Place: TypeAlias = tuple[str, int]


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
        model = _model(path, contents.model)
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


# --- The configuration -----


@dataclass(frozen=True, slots=True)
class _Use:
    """A layer applied to the results of other uses.

    Attributes
    ----------
    layer
        The layer.
    place
        The name of the layer and the number of this use.
    reads
        The uses, or inputs of the model, whose results the layer reads.
    """

    layer: KerasLayer
    place: Place
    reads: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class _Input:
    """An input of the model.

    Attributes
    ----------
    place
        The name of the input, and 0.
    shape
        The shape with the batch; None for sizes that are not fixed.
    dtype
        The name of the number type, or None.
    """

    place: Place
    shape: list[Any] | None
    dtype: Any


@dataclass(frozen=True, slots=True)
class _Model:
    """The inputs, the uses of layers and the outputs of a model, in the order of the file."""

    inputs: list[_Input]
    uses: list[_Use]
    outputs: list[Place]


def _model(path: Path, stored: dict[str, Any]) -> _Model:
    """Return the model that a configuration describes."""
    kind, config = stored["class_name"], stored["config"]
    if kind == "Sequential":
        if isinstance(config, list):  # Keras 1 writes only the list of layers
            return _sequential(path, config, None)
        return _sequential(path, config["layers"], config.get("build_input_shape"))
    if kind in ("Functional", "Model"):
        return _functional(path, config)
    raise NetworkFileError(
        path, f"model {str(kind)[:80]!r}", "only Sequential and Functional models are supported"
    )


def _layers(path: Path, entries: list[Any]) -> list[KerasLayer]:
    """Return the layers of a configuration, all of them known and with different names."""
    layers = [KerasLayer.of(entry, str(entry.get("name", ""))) for entry in entries]
    for layer in layers:
        check_known(path, layer)
    names = [layer.name for layer in layers]
    if not layers or len(set(names)) < len(names):
        raise NetworkFileError(path, "model configuration", "it has no layers, or two of one name")
    return layers


def _sequential(path: Path, entries: list[Any], built: list[Any] | None) -> _Model:
    """Return a sequential model; `built` is the shape of its input, if the model was built."""
    layers = _layers(path, entries)
    first = layers[0]
    given = _shape_of_input(first.config)
    shape = given if given is not None or built is None else list(built)
    source = _Input(("", 0), shape, None)
    if first.kind == "InputLayer":
        source = _Input((first.name, 0), shape, first.config.get("dtype"))
    uses, before = [], source.place
    for layer in layers:
        if layer.kind == "InputLayer":
            if layer is first:
                continue
            raise NetworkFileError(path, layer.place, "it is not the first layer")
        uses.append(_Use(layer, (layer.name, 0), (before,)))
        before = (layer.name, 0)
    return _Model([source], uses, [before])


def _shape_of_input(config: dict[str, Any]) -> list[Any] | None:
    """Return the shape of an input with its batch, by the keys before and since Keras 3."""
    found = config.get("batch_shape", config.get("batch_input_shape"))
    return None if found is None else list(found)


def _functional(path: Path, config: dict[str, Any]) -> _Model:
    """Return a functional model."""
    layers, uses, inputs = _layers(path, config["layers"]), [], dict[Place, _Input]()
    for layer, entry in zip(layers, config["layers"], strict=True):
        if layer.kind == "InputLayer":
            place = (layer.name, 0)
            inputs[place] = _Input(place, _shape_of_input(layer.config), layer.config.get("dtype"))
            continue
        for number, node in enumerate(entry["inbound_nodes"]):
            uses.append(_Use(layer, (layer.name, number), tuple(_arguments(path, layer, node))))
    wanted = list(_places(config["input_layers"]))
    if sorted(wanted) != sorted(inputs):
        raise NetworkFileError(path, "model configuration", "its inputs are not its input layers")
    return _Model([inputs[place] for place in wanted], uses, list(_places(config["output_layers"])))


def _arguments(path: Path, layer: KerasLayer, node: Any) -> Iterator[Place]:
    """Yield the uses that a use reads: a list of tensors before Keras 3, then args and kwargs."""
    is_list = isinstance(node, list)
    keywords = [entry[3] for entry in node if len(entry) > 3] if is_list else [node["kwargs"]]
    for name, value in ((name, value) for entry in keywords for name, value in entry.items()):
        if value not in (None, False):
            problem = f"it is called with {name[:40]!r}, which is not supported"
            raise NetworkFileError(path, layer.place, problem)
    return _places(node if is_list else node["args"])


def _places(found: Any) -> Iterator[Place]:
    """Yield the places in nested lists of ``[layer, use, tensor]`` or of tensors of Keras 3."""
    if isinstance(found, dict):
        if found["class_name"] != "__keras_tensor__":
            raise ValueError
        yield from _places(found["config"]["keras_history"])
    elif not isinstance(found, list):
        raise ValueError
    elif len(found) >= 3 and isinstance(found[0], str):
        name, use, tensor = found[:3]
        if not isinstance(use, int) or tensor != 0:
            raise ValueError
        yield name, use
    else:
        for part in found:
            yield from _places(part)


# --- The walk -----


def _inputs(reader: ModelReader, model: _Model) -> dict[Place, Value]:
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
            else f" {entry.place[0]!r}, coordinates {first} to {first + value.size - 1},"
        )
        reader.draft.notes.append(
            f"input{where} of shape {list(value.shape)}, one sample (the batch is taken as 1)"
        )
        first += value.size
    reader.draft.input_shapes = shapes
    reader.draft.inputs = _named([entry.place for entry in model.inputs], values)
    return {entry.place: value for entry, value in zip(model.inputs, values, strict=True)}


def _input_shape(reader: ModelReader, entry: _Input, count: int) -> tuple[int, ...]:
    """Return the shape of one sample: the shape in the file with batch 1, or the user's shape.

    The shape of the user has to agree with all sizes that the file fixes.
    """
    place, stated = (
        f"input {entry.place[0][:80]!r}" if entry.place[0] else "input",
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


def _named(places: Iterable[Place], values: Iterable[Value]) -> list[tuple[str, int]]:
    """Return the name of the layer and the size of each value; nothing if a layer has no name."""
    named = [(place[0], value.size) for place, value in zip(places, values, strict=True)]
    return named if all(name for name, _ in named) else []


def _walk(reader: ModelReader, model: _Model, values: dict[Place, Value]) -> None:
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


def _last_uses(model: _Model) -> set[Place]:
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


def _finish(reader: ModelReader, model: _Model, values: dict[Place, Value]) -> None:
    """Set the outputs of the graph and the number type of the draft."""
    missing = next((place for place in model.outputs if place not in values), None)
    if missing is not None or not model.outputs:
        raise NetworkFileError(
            reader.path, "model configuration", "an output does not come from any layer"
        )
    outputs = [values[place] for place in model.outputs]
    if len(outputs) > 1:
        names = ", ".join(
            f"{place[0]!r} ({v.size})" for place, v in zip(model.outputs, outputs, strict=True)
        )
        reader.draft.notes.append(f"outputs one after the other: {names}")
    reader.graph.finish(outputs)
    reader.draft.outputs = _named(model.outputs, outputs)
    reader.draft.arithmetic = next(iter(reader.policies)) if len(reader.policies) == 1 else ""
    mixed = sorted(reader.policies - {"float32", "float64"})
    if mixed:
        reader.draft.notes.append(
            f"layers compute in {', '.join(mixed)}; the network is that of exact arithmetic"
        )
