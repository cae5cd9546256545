"""Files of PyTorch and ``.safetensors`` files, opened without running code from the file.

Here are the functions that open ``.pt``, ``.pth``, ``.bin``, ``.zip`` and ``.safetensors`` files
and find the named tensors in them; `state_dict` makes a network of these. A file may come from an
untrusted source, so sizes are checked before anything is unpacked, and nearly every exception of a
library is caught and reported as an unreadable file.

A file of PyTorch is a pickle. It is read with ``weights_only``, which builds tensors and plain
containers and refuses everything else, so whole modules and TorchScript archives are refused.
Releases of torch before 2.10 can run code of a file in spite of ``weights_only`` (CVE-2025-32434,
CVE-2026-24747), so files are not read with these releases. An archive of Stable-Baselines3 is a zip
file that contains a file of PyTorch, ``policy.pth``; its pickled parts are not read.
"""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from polyrelu.errors import NetworkFileError
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.torch.state_dict import StateDict, draft_of_state
from polyrelu.formats.torch.tensors import StoredTensor, stored_tensor, widened
from polyrelu.support.limits import PARAMETER_LIMIT

__all__ = ["read_safetensors", "read_torch"]

#: The first release of torch whose ``weights_only`` is not known to run code.
_FIRST_SAFE_RELEASE = (2, 10)

#: Maximum number of bytes of a file, and of its unpacked content. Float64 weights with the two
#: moments of an optimizer take 24 bytes for each parameter.
_MAX_BYTES = 32 * PARAMETER_LIMIT

_REMEDY = (
    "save the weights alone, torch.save(model.state_dict(), …), or export ONNX (torch.onnx.export)"
)

#: Keys under which checkpoints keep the weights.
_CONTAINERS = ("state_dict", "model_state_dict", "model")
#: Maximum depth of these keys; a damaged file can contain itself.
_MAX_DEPTH = 3


# --- Files of PyTorch -----


def read_torch(path: Path, options: ReadOptions) -> Draft:
    """Read the network of a state dict; a file of several networks needs `ReadOptions.prefix`."""
    torch = _import_safe_torch(path)
    data, notes = _file_bytes(path), []
    members = _checked_member_names(path, data)
    if "policy.pth" in members:
        notes = _notes_of_archive(path, data, members)
        data = _member_bytes(path, data, "policy.pth")
        members = _checked_member_names(path, data)
    _check_archive_kind(path, members)
    return draft_of_state(_state(path, _load(path, torch, data), notes), options.prefix)


def _import_safe_torch(path: Path) -> Any:
    """Return the module torch, or raise an error if it is missing or too old to be safe."""
    try:
        import torch
    except ImportError:
        problem = (
            "reading files of PyTorch needs the package torch (the extra [torch]): "
            "pip install torch"
        )
        raise NetworkFileError(path, "", problem) from None
    release = tuple(int(part) for part in re.findall(r"[0-9]+", torch.__version__)[:2])
    if release < _FIRST_SAFE_RELEASE:
        raise NetworkFileError(
            path,
            "",
            f"torch {torch.__version__} can be made to run code that a file holds; update it "
            "(torch 2.10 or later), or save the weights as .safetensors",
        )
    return torch


def _file_bytes(path: Path) -> bytes:
    """Return the content of a file that is not too large."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _MAX_BYTES else b""
    except OSError as error:
        raise NetworkFileError(path, "", f"cannot read: {error.strerror or error}") from None
    if size > _MAX_BYTES:
        raise NetworkFileError(path, "", f"it has {size} bytes, more than {_MAX_BYTES}; {_REMEDY}")
    return data


def _checked_member_names(path: Path, data: bytes) -> list[str]:
    """Return the names in a zip file after a check of sizes and checksums; [] for other files.

    A few kilobytes can unpack to gigabytes of zeros, and torch does not verify checksums.
    """
    try:
        if not zipfile.is_zipfile(io.BytesIO(data)):
            if data.startswith(b"PK"):  # torch may take for a zip file what zipfile does not
                raise zipfile.BadZipFile
            return []
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            damaged = archive.testzip() if total <= _MAX_BYTES else None
    except Exception as error:  # zipfile raises nearly anything on damaged files
        raise _unreadable(path, error) from None
    if total > _MAX_BYTES:
        raise NetworkFileError(
            path, "", f"it unpacks to {total} bytes, more than {_MAX_BYTES}; {_REMEDY}"
        )
    if damaged is not None:
        raise NetworkFileError(
            path, "", f"damaged: the checksum of {damaged[:60]!r} does not fit its content"
        )
    return [entry.filename for entry in entries]


def _member_bytes(path: Path, data: bytes, name: str) -> bytes:
    """Return the content of one member of a zip file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.read(name)
    except Exception as error:  # also for unknown compression, passwords and wrong checksums
        raise _unreadable(path, error) from None


def _check_archive_kind(path: Path, members: list[str]) -> None:
    """Refuse zip files that contain no state dict; torch reports what is wrong with other files."""
    if any(name.endswith("constants.pkl") or "/code/" in name for name in members):
        problem = (
            f"a TorchScript archive, which holds code; {_REMEDY} of the module it was made from"
        )
        raise NetworkFileError(path, "", problem)
    if members and not any(name.endswith("data.pkl") for name in members):
        shown = ", ".join(repr(name[:40]) for name in members[:6])
        raise NetworkFileError(
            path, "", f"a zip file without data.pkl or policy.pth; it holds {shown}"
        )


def _unreadable(path: Path, error: Exception) -> NetworkFileError:
    """Return the error for a file that a library cannot read."""
    return NetworkFileError(path, "", f"not a readable file of PyTorch ({type(error).__name__})")


def _load(path: Path, torch: Any, data: bytes) -> Any:
    """Return the unpickled content of a file.

    torch raises nearly any exception on damaged files, so nearly every exception is caught.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # see the docstring
        found = re.search(r"GLOBAL ([A-Za-z_]\w{0,40}(\.\w{1,40}){1,5})", str(error))
        if found is None:
            raise _unreadable(path, error) from None
        problem = f"it holds an object of {found[1]}, and reading that would run code; {_REMEDY}"
        raise NetworkFileError(path, "", problem) from None


# --- Checkpoints -----


def _state(path: Path, content: Any, notes: list[str]) -> StateDict:
    """Return the named tensors of a checkpoint and descriptions of its other entries."""
    tensors, others = _named_tensors(content)
    if not tensors:
        kind = type(content).__name__
        held = f"; it holds {', '.join(others[:6])}" if others else ""
        raise NetworkFileError(path, "", f"not a state dict, but {kind}{held}; {_REMEDY}")
    read = {name: _read(path, name, tensor) for name, tensor in tensors.items()}
    return StateDict(path, "state dict of PyTorch", read, True, tuple(others), tuple(notes))


def _named_tensors(content: Any, depth: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Return the tensors of a container by name, and descriptions of its other entries."""
    if isinstance(content, list):
        content = (
            content[0] if len(content) == 1 else {str(i): entry for i, entry in enumerate(content)}
        )
    if not isinstance(content, Mapping) or depth > _MAX_DEPTH:
        return {}, []
    known = [key for key in _CONTAINERS if isinstance(content.get(key), (Mapping, list))]
    if len(known) == 1:
        tensors, others = _named_tensors(content[known[0]], depth + 1)
        return tensors, others + [
            _description(key, entry) for key, entry in content.items() if key != known[0]
        ]
    tensors, others = {}, list[str]()
    for key, entry in content.items():
        if isinstance(key, str) and _is_tensor(entry):
            tensors[key] = entry
        elif isinstance(key, str) and isinstance(entry, Mapping) and _is_state(entry):
            tensors |= {f"{key}.{name}": tensor for name, tensor in entry.items()}
        else:
            others.append(_description(key, entry))
    return tensors, others


def _is_state(entry: Mapping[Any, Any]) -> bool:
    """Whether a mapping is not empty and contains named tensors only."""
    return bool(entry) and all(
        isinstance(name, str) and _is_tensor(tensor) for name, tensor in entry.items()
    )


def _is_tensor(entry: Any) -> bool:
    """Whether an object is a tensor of PyTorch."""
    import torch

    return isinstance(entry, torch.Tensor)


def _description(key: object, entry: Any) -> str:
    """Return the key of an entry with the shape of a tensor or the name of another type."""
    kind = str(list(entry.shape)) if _is_tensor(entry) else type(entry).__name__
    return f"{str(key)[:40]!r} {kind}"


def _read(path: Path, name: str, tensor: Any) -> StoredTensor:
    """Return a tensor as it is stored, or raise an error that names it."""
    try:
        return stored_tensor(tensor)
    except Exception as error:  # a damaged file can raise nearly anything here
        raise NetworkFileError(
            path, f"tensor {name[:60]!r}", f"not readable ({type(error).__name__})"
        ) from None


# --- Archives of Stable-Baselines3 -----

#: The module of the policies A2C and PPO, whose activation function is Tanh by default.
_TANH_POLICIES = "stable_baselines3.common.policies"


def _notes_of_archive(path: Path, data: bytes, members: list[str]) -> list[str]:
    """Return notes on the activation function named in ``data``; refuse all others than ReLU."""
    notes = ["policy.pth of an archive of Stable-Baselines3"]
    if "data" not in members:
        return notes
    try:
        settings = json.loads(_member_bytes(path, data, "data"))
        choices, policy = str(settings.get("policy_kwargs")), settings["policy_class"]["__module__"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return notes
    found = re.search(r"activation_fn': [^,]{0,80}\.(\w+)", choices)
    if (found and found[1] != "ReLU") or (not found and policy == _TANH_POLICIES):
        activation = found[1] if found else "Tanh, as this policy's are by default"
        problem = (
            f"its activation functions are {activation}; only ReLU networks can be taken from "
            "weights alone"
        )
        raise NetworkFileError(path, "data", problem)
    if found:
        notes.append("the archive says that its activation functions are ReLU")
    return notes


# --- .safetensors -----

#: The name and the numpy code of each number type of the format, which is little-endian; bfloat16
#: is read as integers and then widened.
_TYPES = {
    "F64": ("float64", "<f8"),
    "F32": ("float32", "<f4"),
    "F16": ("float16", "<f2"),
    "BF16": ("bfloat16", "<u2"),
    **{
        f"{letter}{8 * size}": (f"{name}{8 * size}", f"<{letter.lower()}{size}")
        for letter, name in (("I", "int"), ("U", "uint"))
        for size in (1, 2, 4, 8)
    },
}


def read_safetensors(path: Path, options: ReadOptions) -> Draft:
    """Read the network of a ``.safetensors`` file, whose tensors are named as in a state dict."""
    try:
        import safetensors
    except ImportError:
        problem = (
            "reading .safetensors needs the package safetensors (the extra [safetensors]): "
            "pip install safetensors"
        )
        raise NetworkFileError(path, "", problem) from None
    data, deserialize = _file_bytes(path), cast(Any, safetensors.deserialize)
    try:
        tensors = {
            str(name): _tensor(entry)
            for name, entry in sorted(deserialize(data), key=lambda pair: str(pair[0]))
        }
    except Exception as error:  # a damaged file can raise nearly anything here
        reason = "".join(letter if letter.isprintable() else " " for letter in str(error))[:100]
        raise NetworkFileError(path, "", f"not a readable .safetensors file ({reason})") from None
    return draft_of_state(StateDict(path, "safetensors", tensors, False), options.prefix)


def _tensor(entry: Mapping[str, Any]) -> StoredTensor:
    """Return a tensor of a ``.safetensors`` file as it is stored."""
    shape, kind = tuple(int(size) for size in entry["shape"]), str(entry["dtype"])
    if kind not in _TYPES:
        return StoredTensor(shape, kind, f"its type is {kind}, which is not supported")
    name, code = _TYPES[kind]
    array = np.frombuffer(entry["data"], dtype=code).reshape(shape)
    return StoredTensor(shape, name, widened(array) if kind == "BF16" else array)
