"""What Keras files hold: the configuration as JSON, and the weights as numbers. No Python object is ever made of them.

``.h5``: one HDF5 file with the attribute ``model_config`` and a group for each layer, whose weights have names.
``.keras``: a zip archive with ``config.json``, ``metadata.json`` and ``model.weights.h5``; there the groups are called
after the class of the layer and a counter, and weights have numbers. Some versions wrote ``.keras`` files that are
HDF5; what is in the file decides.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.keras.hdf5 import Hdf5, read_hdf5
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


_CONFIG_LIMIT, _WEIGHTS_LIMIT = 2**26, 2**30

_REMEDY = "save the whole model: model.save('net.keras') or model.save('net.h5')"


class Weights(Protocol):
    """The stored weights by layer."""

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """The weights of a layer with these names, in this order; `NetworkError` if it does not have just these."""
        ...


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    format : the file format, such as ``keras 3.10.0, .keras``.
    model : class and configuration of the model.
    major : the first number of the version of Keras, None if the file does not say it.
    weights : the weights.
    """

    format: str
    model: dict[str, Any]
    major: int | None
    weights: Weights


# --- Whole files -----


def contents_of_h5(path: Path) -> Contents:
    """The contents of a whole-model HDF5 file."""
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
    """The contents of a .keras file."""
    with path.open("rb") as file:
        if file.read(4) == b"\x89HDF":
            return contents_of_h5(path)
    try:
        with zipfile.ZipFile(path) as archive:
            config = _member(path, archive, "config.json", _CONFIG_LIMIT).decode()
            metadata = _member(path, archive, "metadata.json", _CONFIG_LIMIT).decode()
            stored = _member(path, archive, "model.weights.h5", _WEIGHTS_LIMIT)
    except NetworkFileError:
        raise
    except Exception as error:  # the library raises nearly anything on damaged files
        raise NetworkFileError(
            path, "", f"not a readable .keras archive ({type(error).__name__})"
        ) from None
    model, version = _model(path, config), str(_model(path, metadata).get("keras_version", ""))
    weights = _numbered(read_hdf5(path, list(_CONTAINERS), stored), _kinds(model))
    return Contents(_format(version, ".keras"), model, _major(version), weights)


def _member(path: Path, archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    if name not in archive.namelist():
        raise NetworkFileError(path, "", f"the archive has no {name}; {_REMEDY}")
    if (size := archive.getinfo(name).file_size) > limit:
        raise NetworkFileError(path, name, f"{size} bytes, more than {limit}")
    return archive.read(name)


def _model(path: Path, text: str) -> dict[str, Any]:
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
    found = re.match(r"([0-9]{1,3})\.", version, re.ASCII)
    return int(found[1]) if found else None


def _names(file: Hdf5, group: str, key: str) -> list[str]:
    """A list of names, which is cut into numbered pieces if it is long."""
    attributes = file.attributes.get(group, {})
    keys = [key] if key in attributes else [found for found in attributes if found.startswith(key)]
    pieces = sorted(keys, key=lambda found: int(found.removeprefix(key) or 0))
    return [str(name) for piece in pieces for name in attributes[piece] or []]


def shown(text: str) -> str:
    """Text of a file as part of a message."""
    return text[:80] if text[:80].isprintable() else ascii(text[:80])


# --- Weights by name -----

#: Names of weights in Keras 1, whose "std" is a variance.
_OLD_NAMES = {
    "W": "kernel",
    "b": "bias",
    "alphas": "alpha",
    "running_mean": "moving_mean",
    "running_std": "moving_variance",
}


@dataclass(frozen=True, slots=True)
class NamedWeights:
    """For each layer its weights by the names in the file, such as ``dense_1/kernel:0``, ``dense_1_W``."""

    arrays: dict[str, dict[str, Array]]

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """See `Weights`."""
        stored = self.arrays.get(name, {})
        found = {_short(name, full): array for full, array in stored.items()}
        if "depthwise_kernel" in wanted and "kernel" in found:  # so named by Keras 3
            found["depthwise_kernel"] = found.pop("kernel")
        if len(found) < len(stored) or set(found) != set(wanted):
            raise NetworkError(
                f"the file holds the weights {_listed(sorted(stored))}; expected {_listed(wanted)}"
            )
        return [found[weight] for weight in wanted]


def _short(layer: str, full: str) -> str:
    """The last part of a weight's name, without the counters that TensorFlow appends."""
    last = full.rsplit("/", 1)[-1].removeprefix(f"{layer}_").split(":")[0]
    last = re.sub(r"_[0-9]{1,9}$", "", last)
    return _OLD_NAMES.get(last, last)


def _listed(names: Sequence[str]) -> str:
    return shown(", ".join(names) or "none")


# --- Weights by number -----

#: Where the layers stand in the file; the second name is that of Keras 2.12.
_CONTAINERS = ("layers", "_layer_checkpoint_dependencies")

_PLACE = re.compile(rf"({'|'.join(_CONTAINERS)})/(?P<group>[^/]+)/vars(/(?P<number>[^/]+))?")


def _numbered(file: Hdf5, layers: list[tuple[str, str]]) -> NumberedWeights:
    """The arrays of each layer's group, and the layer's name if it is noted there."""
    arrays, names = dict[str, dict[str, Array]](), dict[str, str]()
    for place, attributes in file.attributes.items():
        found = _PLACE.fullmatch(place)
        if found and not found["number"]:
            arrays[found["group"]] = {}
            if isinstance(attributes.get("name"), str):
                names[found["group"]] = attributes["name"]
    for place, array in file.arrays.items():
        found = _PLACE.fullmatch(place)
        if found and found["number"]:
            arrays[found["group"]][found["number"]] = array
    groups = {
        group: [own[n] for n in sorted(own, key=lambda n: (len(n), n))]
        for group, own in arrays.items()
    }
    return NumberedWeights(groups, names, layers)


def _kinds(model: dict[str, Any]) -> list[tuple[str, str]]:
    """Class and name of each layer, in the order in which they were saved."""
    config = model.get("config")
    layers = config.get("layers") if isinstance(config, dict) else None
    found = []
    for layer in layers if isinstance(layers, list) else []:
        if isinstance(layer, dict) and isinstance(layer.get("config"), dict):
            found.append((str(layer.get("class_name")), str(layer["config"].get("name"))))
    return found


@dataclass(frozen=True, slots=True)
class NumberedWeights:
    """For each group, such as ``dense_1``, its weights in order; the first layer of a class has no number.

    Attributes
    ----------
    groups : the weights by group.
    names : the names of layers, where groups note them.
    layers : class and name of all layers in order.
    """

    groups: dict[str, list[Array]]
    names: dict[str, str]
    layers: list[tuple[str, str]]

    def of(self, kind: str, name: str, wanted: Sequence[str]) -> list[Array]:
        """See `Weights`."""
        mates = [other for other_kind, other in self.layers if other_kind == kind]
        pattern = re.compile(rf"{_snake_case(kind)}(_[0-9]{{1,9}})?", re.ASCII)
        groups = sorted(filter(pattern.fullmatch, self.groups), key=_counter(kind))
        if len(groups) != len(
            mates
        ):  # Keras 2.12 leaves numbers out, so that they are not looked at
            raise NetworkError(
                f"the file has weights for {len(groups)} layers of this class; expected {len(mates)}"
            )
        group = groups[mates.index(name)]
        if self.names.get(group, name) != name:
            raise NetworkError(f"its weights are said to be those of {self.names[group][:40]!r}")
        if len(self.groups[group]) != len(wanted):
            raise NetworkError(
                f"the file has {len(self.groups[group])} weights of it; expected {_listed(wanted)}"
            )
        return self.groups[group]


def _counter(kind: str) -> Callable[[str], int]:
    return lambda group: int(group.removeprefix(_snake_case(kind)).lstrip("_") or 0)


def _snake_case(kind: str) -> str:
    """The name of a class in the files: ``batch_normalization`` for ``BatchNormalization``."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
