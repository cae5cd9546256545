"""The models in the configurations of Keras, as a list of uses of layers.

Here a Sequential or functional model becomes a list of uses, each with the uses whose results it
reads. A model within a model is a layer in the configuration; each of its uses is replaced by the
uses of its own layers, so that no later step sees inner models.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from polyrelu.errors import NetworkFileError
from polyrelu.formats.keras.operations import MODELS, KerasLayer, check_known
from polyrelu.formats.meter import need

__all__ = ["Input", "Model", "Place", "Use", "flat_model"]

#: A use of a layer: the names and the numbers of the uses of the models around it, from the outer
#: to the inner one, then the name of the layer and the number of its use.
Place: TypeAlias = tuple[tuple[str, int], ...]
#: A result of a use, by its number.
_Result: TypeAlias = tuple[Place, int]

#: What a layer and a use of it count for on the meter, in entries, since a small file can use inner
#: models often.
_ENTRIES_OF_LAYER, _ENTRIES_OF_USE = 200, 2000


@dataclass(frozen=True, slots=True)
class Use:
    """A layer applied to the results of other uses.

    Attributes
    ----------
    layer
        The layer.
    place
        The place of this use.
    reads
        The uses, or inputs of the model, whose results the layer reads.
    """

    layer: KerasLayer
    place: Place
    reads: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Input:
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

    @property
    def name(self) -> str:
        """The name of the input, empty if it has none."""
        return self.place[-1][0]


@dataclass(frozen=True, slots=True)
class Model:
    """A model without inner models.

    Attributes
    ----------
    inputs
        The inputs in order.
    uses
        The uses of layers, in the order of the file.
    outputs
        The uses whose results are the outputs, in order.
    names
        The name of the layer or of the inner model behind each output.
    """

    inputs: list[Input]
    uses: list[Use]
    outputs: list[Place]
    names: list[str]


def flat_model(path: Path, stored: dict[str, Any]) -> Model:
    """Return the model that a configuration describes, its inner models replaced by their layers.

    Entries that Keras does not write raise errors of Python, such as a `KeyError`.
    """
    flattening = _Flattening(path)
    inputs, outputs = flattening.model(stored["class_name"], stored["config"], _Around())
    uses = [
        Use(layer, place, tuple(map(flattening.maker, reads)))
        for layer, place, reads in flattening.uses
    ]
    names = [place[-1][0] for place, _ in outputs]
    return Model(inputs, uses, [flattening.maker(result) for result in outputs], names)


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a model.

    Attributes
    ----------
    place
        The use of the model; empty for the outermost model.
    models
        The classes and names of the model and of the models around it, without the outermost.
    given
        The results to which the model is applied; None for the outermost model.
    """

    place: Place = ()
    models: tuple[tuple[str, str], ...] = ()
    given: tuple[_Result, ...] | None = None


@dataclass(slots=True)
class _Flattening:
    """The uses of layers found so far.

    Attributes
    ----------
    path
        The file.
    uses
        The layer, the place, and what it reads, for each use.
    outputs
        For each use of an inner model, the results in it that are its outputs.
    """

    path: Path
    uses: list[tuple[KerasLayer, Place, tuple[_Result, ...]]] = field(default_factory=list)
    outputs: dict[Place, list[_Result]] = field(default_factory=dict)

    def maker(self, result: _Result) -> Place:
        """Return the use of a layer that computes a result, which may be one of an inner model."""
        place, number = result
        while place in self.outputs:
            place, number = self.outputs[place][number]
        if number != 0:
            raise ValueError
        return place

    def model(self, kind: Any, config: Any, around: _Around) -> tuple[list[Input], list[_Result]]:
        """Add the uses in a model, and return its inputs, if it is the outermost, and outputs."""
        if kind == "Sequential":
            if isinstance(config, list):  # Keras 1 writes only the list of layers
                return self._sequential(config, None, around)
            return self._sequential(config["layers"], config.get("build_input_shape"), around)
        if kind in MODELS:
            return self._functional(config, around)
        raise NetworkFileError(
            self.path,
            f"model {str(kind)[:80]!r}",
            "only Sequential and Functional models are supported",
        )

    def _use(self, layer: KerasLayer, place: Place, reads: Iterable[_Result]) -> None:
        """Add a use of a layer; an inner model is replaced by its own layers."""
        need(entries=_ENTRIES_OF_USE)
        if layer.kind not in MODELS:
            self.uses.append((layer, place, tuple(reads)))
            return
        models = (*layer.models, (layer.kind, layer.name))
        inside = _Around(place, models, tuple(reads))
        self.outputs[place] = self.model(layer.kind, layer.config, inside)[1]

    def _layers(self, entries: list[Any], around: _Around) -> list[KerasLayer]:
        """Return the layers of a configuration, all of them known and with different names."""
        need(entries=_ENTRIES_OF_LAYER * len(entries))
        layers = [
            KerasLayer.of(entry, str(entry.get("name", "")), around.models) for entry in entries
        ]
        for layer in layers:
            check_known(self.path, layer)
        names = [layer.name for layer in layers]
        if not layers or len(set(names)) < len(names):
            raise NetworkFileError(
                self.path, "model configuration", "it has no layers, or two of one name"
            )
        return layers

    def _sequential(
        self, entries: list[Any], built: list[Any] | None, around: _Around
    ) -> tuple[list[Input], list[_Result]]:
        """Add a sequential model; `built` is the shape of its input, if the model was built."""
        layers = self._layers(entries, around)
        first, is_outermost = layers[0], around.given is None
        given = _shape_of_input(first.config)
        shape = given if given is not None or built is None else list(built)
        source = Input((("", 0),), shape, None)
        if first.kind == "InputLayer":
            source = Input(((first.name, 0),), shape, first.config.get("dtype"))
        before: _Result = (source.place, 0) if around.given is None else _only(around.given)
        for layer in layers:
            if layer.kind == "InputLayer" and layer is not first:
                raise NetworkFileError(self.path, layer.place, "it is not the first layer")
            if layer.kind == "InputLayer" and is_outermost:
                continue
            place = (*around.place, (layer.name, 0))
            self._use(layer, place, [before])
            before = (place, 0)
        return [source] if is_outermost else [], [before]

    def _functional(
        self, config: dict[str, Any], around: _Around
    ) -> tuple[list[Input], list[_Result]]:
        """Add a functional model."""
        layers = self._layers(config["layers"], around)
        nodes = {
            layer.name: entry["inbound_nodes"]
            for layer, entry in zip(layers, config["layers"], strict=True)
            if layer.kind != "InputLayer"
        }
        calls = {
            layer.name: [list(_arguments(self.path, layer, node)) for node in nodes[layer.name]]
            for layer in layers
            if layer.name in nodes
        }
        is_of_keras_3 = any(isinstance(node, dict) for found in nodes.values() for node in found)
        wanted, outputs = list(_references(config["input_layers"])), config["output_layers"]
        references = _Numbering(layers, calls, is_of_keras_3).apply(list(_references(outputs)))
        inputs = self._inputs(layers, wanted, around)
        for layer in layers:
            for number, reads in enumerate(calls.get(layer.name, ())):
                place = (*around.place, (layer.name, number))
                self._use(layer, place, [_inside(around, reference) for reference in reads])
        return inputs, [_inside(around, reference) for reference in references]

    def _inputs(
        self, layers: list[KerasLayer], wanted: list[_Reference], around: _Around
    ) -> list[Input]:
        """Return the inputs of the outermost model; the inputs of inner models become uses."""
        found = {layer.name: layer for layer in layers if layer.kind == "InputLayer"}
        if sorted(wanted) != sorted((name, 0, 0) for name in found):
            raise NetworkFileError(
                self.path, "model configuration", "its inputs are not its input layers"
            )
        inputs = [found[name] for name, _, _ in wanted]
        if around.given is None:
            return [
                Input(((i.name, 0),), _shape_of_input(i.config), i.config.get("dtype"))
                for i in inputs
            ]
        for layer, result in zip(inputs, around.given, strict=True):
            self._use(layer, (*around.place, (layer.name, 0)), [result])
        return []


def _only(given: Sequence[_Result]) -> _Result:
    """Return the only result to which a sequential model is applied."""
    (result,) = given
    return result


def _shape_of_input(config: dict[str, Any]) -> list[Any] | None:
    """Return the shape of an input with its batch, by the keys before and since Keras 3."""
    found = config.get("batch_shape", config.get("batch_input_shape"))
    return None if found is None else list(found)


# --- References -----

#: The name of a layer in the same model, the number of its use, and the number of the result.
_Reference: TypeAlias = tuple[str, int, int]


def _inside(around: _Around, reference: _Reference) -> _Result:
    """Return the result that a reference in a model means."""
    name, use, number = reference
    return (*around.place, (name, use)), number


def _arguments(path: Path, layer: KerasLayer, node: Any) -> Iterator[_Reference]:
    """Yield what a use reads: a list of tensors before Keras 3, then args and kwargs."""
    is_list = isinstance(node, list)
    keywords = [entry[3] for entry in node if len(entry) > 3] if is_list else [node["kwargs"]]
    for name, value in ((name, value) for entry in keywords for name, value in entry.items()):
        is_empty = value in (None, False) or (
            isinstance(value, list) and all(entry is None for entry in value)
        )
        if not is_empty:
            problem = f"it is called with {name[:40]!r}, which is not supported"
            raise NetworkFileError(path, layer.place, problem)
    return _references(node if is_list else node["args"])


def _references(found: Any) -> Iterator[_Reference]:
    """Yield the references in nested lists of ``[layer, use, result]`` or of Keras 3's tensors."""
    if isinstance(found, dict):
        if found["class_name"] != "__keras_tensor__":
            raise ValueError
        yield from _references(found["config"]["keras_history"])
    elif not isinstance(found, list):
        raise ValueError
    elif len(found) >= 3 and isinstance(found[0], str):
        name, use, number = found[:3]
        if not all(isinstance(entry, int) and entry >= 0 for entry in (use, number)):
            raise ValueError
        yield name, use, number
    else:
        for part in found:
            yield from _references(part)


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The numbers of uses of inner models, which Keras counts from 0 or from 1.

    A functional model has a use of its own before any other model uses it. Before Keras 3 this
    moves the numbers of all uses of inner models with a known input by 1. Since Keras 3 it moves
    only the numbers of functional models among the outputs. Every use that Keras writes is referred
    to, so that the numbers themselves show where they begin.

    Attributes
    ----------
    layers
        The layers of a functional model.
    calls
        What each use of each layer reads.
    is_of_keras_3
        Whether uses are written as Keras 3 does.
    """

    layers: list[KerasLayer]
    calls: dict[str, list[list[_Reference]]]
    is_of_keras_3: bool

    def apply(self, outputs: list[_Reference]) -> list[_Reference]:
        """Let all calls count uses from 0, and return the outputs with such numbers."""
        models = [layer for layer in self.layers if layer.kind in MODELS]
        everywhere, at_the_end = dict[str, int](), dict[str, int]()
        if self.is_of_keras_3:
            at_the_end = {model.name: 1 for model in models if model.kind != "Sequential"}
        else:
            numbers = self._numbers(outputs)
            everywhere = {model.name: min(numbers[model.name], default=0) for model in models}
            at_the_end = everywhere
        for uses in self.calls.values():
            uses[:] = [_shifted(reads, everywhere) for reads in uses]
        shifted = _shifted(outputs, at_the_end)
        numbers = self._numbers(shifted)
        if any(numbers[m.name] != set(range(len(self.calls[m.name]))) for m in models):
            raise ValueError
        return shifted

    def _numbers(self, outputs: list[_Reference]) -> dict[str, set[int]]:
        """Return the numbers of uses of each layer to which something refers."""
        found = defaultdict[str, set[int]](set)
        reads = [reads for uses in self.calls.values() for reads in uses]
        for name, use, _ in (reference for part in [*reads, outputs] for reference in part):
            found[name].add(use)
        return found


def _shifted(references: list[_Reference], shifts: dict[str, int]) -> list[_Reference]:
    return [(name, use - shifts.get(name, 0), number) for name, use, number in references]
