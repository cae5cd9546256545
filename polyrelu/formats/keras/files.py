"""The content of Keras files: the configuration as JSON and the weights as arrays.

Here are the functions that open ``.h5`` and ``.keras`` files and find the weights of each layer, by
name or by number. The reader of models asks for weights through the protocol `Weights`, so it does
not depend on the kind of file. No Python object is ever constructed from the content of a file, and
sizes are checked before anything is unpacked.

A ``.h5`` file is an HDF5 file with the attribute ``model_config`` and a group for each layer, whose
weights have names. A ``.keras`` file is a zip archive with ``config.json``, ``metadata.json`` and
``model.weights.h5``; there each group has the name of the class of the layer and a counter, and
weights have numbers. Some versions wrote ``.keras`` files that are HDF5, so the content decides and
not the ending.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.keras.hdf5 import Hdf5, read_hdf5
from polyrelu.formats.meter import JSON_FACTOR, need
from polyrelu.support.typing import Array

__all__ = [
    "Contents",
    "NamedWeights",
    "NumberedWeights",
    "Weights",
    "contents_of_archive",
    "contents_of_h5",
    "shown",
]


#: Maximum number of bytes of the configuration, and of the weights.
_MAX_CONFIG_BYTES, _MAX_WEIGHTS_BYTES = 2**26, 2**30

_REMEDY = "save the whole model: model.save('net.keras') or model.save('net.h5')"


#: The classes and the names of an inner model and the models around it, the outer ones first.
Models: TypeAlias = Sequence[tuple[str, str]]


class Weights(Protocol):
    """The stored weights by layer."""

    def within(self, models: Models) -> Weights:
        """Return the weights of an inner model, or the same weights if there are no models.

        A `NetworkError` is raised if the file has no such model.
        """
        ...

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """Return the weights of a layer with these names, in this order.

        A `NetworkError` is raised if the layer has other weights.
        """
        ...


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of a file.

    Attributes
    ----------
    format
        The file format, such as ``keras 3.10.0, .keras``.
    model
        The class and the configuration of the model.
    major
        The first number of the version of Keras, None if the file does not say it.
    weights
        The weights by layer.
    """

    format: str
    model: dict[str, Any]
    major: int | None
    weights: Weights


# --- Files -----


def contents_of_h5(path: Path) -> Contents:
    """Read the content of an HDF5 file of a complete model."""
    file = read_hdf5(path, ["model_weights"])
    root = file.attributes[""]
    if not isinstance(root.get("model_config"), str):
        raise NetworkFileError(
            path, "", f"no model_config: weights alone, or not a file of Keras; {_REMEDY}"
        )
    version = str(root.get("keras_version", ""))
    weights = {}
    for layer in _names(file, "model_weights", "layer_names"):
        names = _names(file, f"model_weights/{layer}", "weight_names")
        weights[layer] = {name: file.array("model_weights", layer, name) for name in names}
    model = _model(path, root["model_config"])
    return Contents(_format(version, ".h5"), model, _major(version), NamedWeights(weights))


def contents_of_archive(path: Path) -> Contents:
    """Read the content of a .keras file."""
    with path.open("rb") as file:
        if file.read(4) == b"\x89HDF":
            return contents_of_h5(path)
    try:
        with zipfile.ZipFile(path) as archive:
            config = _member(path, archive, "config.json", _MAX_CONFIG_BYTES).decode()
            metadata = _member(path, archive, "metadata.json", _MAX_CONFIG_BYTES).decode()
            stored = _member(path, archive, "model.weights.h5", _MAX_WEIGHTS_BYTES)
    except NetworkError:
        raise
    except Exception as error:  # the library raises nearly anything on damaged files
        raise NetworkFileError(
            path, "", f"not a readable .keras archive ({type(error).__name__})"
        ) from None
    model, version = _model(path, config), str(_model(path, metadata).get("keras_version", ""))
    opened = read_hdf5(path, list(_CONTAINERS), stored)
    weights = NumberedWeights(_groups(opened), model)
    return Contents(_format(version, ".keras"), model, _major(version), weights)


def _member(path: Path, archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return the content of a member of an archive, of at most `limit` bytes."""
    if name not in archive.namelist():
        raise NetworkFileError(path, "", f"the archive has no {name}; {_REMEDY}")
    if (size := archive.getinfo(name).file_size) > limit:
        raise NetworkFileError(path, name, f"{size} bytes, more than {limit}")
    need(unpacked=size)
    return archive.read(name)


def _model(path: Path, text: str) -> dict[str, Any]:
    """Return the JSON object in a text, which may take many times the memory of the text."""
    need(unpacked=JSON_FACTOR * len(text))
    try:
        model = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NetworkFileError(path, "model configuration", f"not readable JSON: {error}") from None
    if not isinstance(model, dict):
        raise NetworkFileError(path, "model configuration", "expected a JSON object")
    return model


def _format(version: str, ending: str) -> str:
    return f"keras {shown(version)}, {ending}" if version else f"keras, {ending}"


def _major(version: str) -> int | None:
    """Return the first number of a version, None if there is none."""
    found = re.match(r"([0-9]{1,3})\.", version, re.ASCII)
    return int(found[1]) if found else None


def _names(file: Hdf5, group: str, key: str) -> list[str]:
    """Return a list of names; a long list is stored in numbered attributes."""
    attributes = file.attributes.get(group, {})
    keys = [key] if key in attributes else [found for found in attributes if found.startswith(key)]
    pieces = sorted(keys, key=lambda found: int(found.removeprefix(key) or 0))
    return [str(name) for piece in pieces for name in attributes[piece] or []]


def shown(text: str) -> str:
    """Return text from a file as part of a message, shortened and printable."""
    return text[:80] if text[:80].isprintable() else ascii(text[:80])


# --- Weights by name -----

#: Names of weights in Keras 1 and since; the "std" of Keras 1 is a variance.
_OLD_NAMES = {
    "W": "kernel",
    "b": "bias",
    "alphas": "alpha",
    "running_mean": "moving_mean",
    "running_std": "moving_variance",
}


@dataclass(frozen=True, slots=True)
class NamedWeights:
    """The weights of each layer by their names in the file: ``dense_1/kernel:0``, ``dense_1_W``."""

    arrays: dict[str, dict[str, Array]]

    def within(self, models: Models) -> Weights:
        """Return the weights of an inner model, as `Weights` describes."""
        if not models:
            return self
        return InnerNamedWeights(self.arrays.get(models[0][1], {}), models[-1][1])

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """Return the weights of a layer, as `Weights` describes."""
        return _wanted(name, self.arrays.get(name, {}), wanted)


@dataclass(frozen=True, slots=True)
class InnerNamedWeights:
    """The weights of an inner model, ``dense_1/kernel:0`` or ``block/dense_1/kernel``.

    Attributes
    ----------
    arrays
        All weights of the outermost of the inner models around it, by their names.
    model
        The name of the inner model.
    """

    arrays: dict[str, Array]
    model: str

    def within(self, models: Models) -> Weights:
        """Return the same weights; `NamedWeights` goes in all the way."""
        return self

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """Return the weights of a layer, as `Weights` describes.

        Keras names weights by the layer, and by the model if that built the layer.
        """
        own = (self.model, name)
        places = {tuple(full.split("/")[:-1]) for full in self.arrays}
        by_model = [place for place in places if place[-2:] == own]
        by_layer = [place for place in places if place == (name,)]
        others = [place for place in places if place[-1:] == (name,)]
        found = by_model or by_layer or others
        if len(found) > 1:
            raise NetworkError(f"the file holds the weights of {len(found)} layers of this name")
        stored = {
            full: array
            for full, array in self.arrays.items()
            if tuple(full.split("/")[:-1]) in found
        }
        return _wanted(name, stored, wanted)


def _wanted(name: str, stored: dict[str, Array], wanted: Sequence[str]) -> list[Array]:
    """Return weights of a layer in the wanted order; it must have these and no others."""
    found = {_short_name(name, full): array for full, array in stored.items()}
    if "depthwise_kernel" in wanted and "kernel" in found:  # the name in Keras 3
        found["depthwise_kernel"] = found.pop("kernel")
    if len(found) < len(stored) or set(found) != set(wanted):
        raise NetworkError(
            f"the file holds the weights {_listed(sorted(stored))}; expected {_listed(wanted)}"
        )
    return [found[weight] for weight in wanted]


def _short_name(layer: str, full: str) -> str:
    """Return the last part of the name of a weight, without the counters that TensorFlow adds."""
    last = full.rsplit("/", 1)[-1].removeprefix(f"{layer}_").split(":")[0]
    last = re.sub(r"_[0-9]{1,9}$", "", last)
    return _OLD_NAMES.get(last, last)


def _listed(names: Sequence[str]) -> str:
    return shown(", ".join(names) or "none")


# --- Weights by number -----

#: The groups that contain the layers; Keras 2.12 uses the second name.
_CONTAINERS = ("layers", "_layer_checkpoint_dependencies")


@dataclass(slots=True)
class Group:
    """The group of a layer or of a model, such as ``dense_1``.

    Attributes
    ----------
    arrays
        The weights, by their numbers.
    name
        The name of the layer, if it is recorded.
    layers
        The groups of the layers of a model.
    """

    arrays: dict[str, Array] = field(default_factory=dict)
    name: str | None = None
    layers: dict[str, Group] = field(default_factory=dict)

    @property
    def weights(self) -> list[Array]:
        """The weights in order."""
        return [self.arrays[n] for n in sorted(self.arrays, key=lambda n: (len(n), n))]


def _groups(file: Hdf5) -> Group:
    """Return the groups of all layers, ``layers/sequential/layers/dense/vars/0``, as a tree."""
    root = Group()
    for place, attributes in file.attributes.items():
        *around, last = place.split("/")
        if last == "vars" and (group := _group_at(root, around)) is not None:
            name = attributes.get("name")
            group.name = name if isinstance(name, str) else None
    for place, array in file.arrays.items():
        *around, last, number = ["", *place.split("/")]
        if last == "vars" and (group := _group_at(root, around[1:])) is not None:
            group.arrays[number] = array
    return root


def _group_at(root: Group, path: list[str]) -> Group | None:
    """Return the group at a path, made if it is new; None if layers have no weights there."""
    if len(path) % 2 or not path or any(part not in _CONTAINERS for part in path[::2]):
        return None
    for part in path[1::2]:
        root = root.layers.setdefault(part, Group())
    return root


@dataclass(frozen=True, slots=True)
class NumberedWeights:
    """The weights of each group, such as ``dense_1``, by number.

    The group of the first layer of a class has no counter in its name.

    Attributes
    ----------
    group
        The group of the model.
    model
        The class and the configuration of the model.
    """

    group: Group
    model: dict[str, Any]

    def within(self, models: Models) -> Weights:
        """Return the weights of an inner model, as `Weights` describes."""
        inner = self
        for kind, name in models:
            layers = _layers_of(inner.model)
            entry = next(found for found in layers if _class_and_name(found) == (kind, name))
            inner = NumberedWeights(inner._group_of(kind, name), entry)
        return inner

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """Return the weights of a layer, as `Weights` describes."""
        weights = self._group_of(kind, name).weights
        if len(weights) != len(wanted):
            raise NetworkError(
                f"the file has {len(weights)} weights of it; expected {_listed(wanted)}"
            )
        return weights

    def _group_of(self, kind: str, name: str) -> Group:
        """Return the group of a layer."""
        layers = map(_class_and_name, _layers_of(self.model))
        of_class = [other for other_kind, other in layers if other_kind == kind]
        pattern = re.compile(rf"{_snake_case(kind)}(_[0-9]{{1,9}})?", re.ASCII)
        groups = sorted(filter(pattern.fullmatch, self.group.layers), key=_counter_of(kind))
        # the position counts and not the counter, since Keras 2.12 leaves counters out
        if len(groups) != len(of_class):
            raise NetworkError(
                f"the file has weights for {len(groups)} layers of this class; expected "
                f"{len(of_class)}"
            )
        found = self.group.layers[groups[of_class.index(name)]]
        if found.name not in (None, name):
            raise NetworkError(f"its weights are said to be those of {found.name[:40]!r}")
        return found


def _layers_of(model: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the descriptions of the layers of a model, in the order in which they were saved."""
    config = model.get("config")
    layers = config.get("layers") if isinstance(config, dict) else None
    return [
        layer
        for layer in (layers if isinstance(layers, list) else [])
        if isinstance(layer, dict) and isinstance(layer.get("config"), dict)
    ]


def _class_and_name(layer: dict[str, Any]) -> tuple[str, str]:
    """Return the class and the name of a layer in the configuration of a model."""
    return str(layer.get("class_name")), str(layer["config"].get("name"))


def _counter_of(kind: str) -> Callable[[str], int]:
    """Return the function that maps a group of a class to its counter."""
    return lambda group: int(group.removeprefix(_snake_case(kind)).lstrip("_") or 0)


def _snake_case(kind: str) -> str:
    """Return the name of a class in files: ``batch_normalization`` for ``BatchNormalization``."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
