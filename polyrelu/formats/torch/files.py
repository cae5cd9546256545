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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.settings import is_about_activations
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
    data, archive = _file_bytes(path), _Archive()
    members = _checked_member_names(path, data)
    if "policy.pth" in members:
        archive = _archive(path, data, members)
        data = _member_bytes(path, data, "policy.pth")
        members = _checked_member_names(path, data)
    _check_archive_kind(path, members)
    draft = draft_of_state(_state(path, _load(path, torch, data), archive), options)
    draft.caveats += archive.cautions
    return draft


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
            need(unpacked=total)
            damaged = archive.testzip() if total <= _MAX_BYTES else None
    except NetworkError:
        raise
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


def _state(path: Path, content: Any, archive: _Archive) -> StateDict:
    """Return the named tensors of a checkpoint and its other entries."""
    tensors, others = _named_tensors(content)
    if not tensors:
        kind = type(content).__name__
        shown = ", ".join(_description(key, entry) for key, entry in list(others.items())[:6])
        held = f"; it holds {shown}" if others else ""
        raise NetworkFileError(path, "", f"not a state dict, but {kind}{held}; {_REMEDY}")
    read = {name: _read(path, name, tensor) for name, tensor in tensors.items()}
    entries = {**others, **archive.entries}
    return StateDict(path, "state dict of PyTorch", read, True, entries, tuple(archive.notes))


def _named_tensors(content: Any, depth: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors of a container by name, and its other entries."""
    if isinstance(content, list):
        content = (
            content[0] if len(content) == 1 else {str(i): entry for i, entry in enumerate(content)}
        )
    if not isinstance(content, Mapping) or depth > _MAX_DEPTH:
        return {}, {}
    known = [key for key in _CONTAINERS if isinstance(content.get(key), (Mapping, list))]
    if len(known) == 1:
        tensors, others = _named_tensors(content[known[0]], depth + 1)
        own = {str(key): entry for key, entry in content.items() if key != known[0]}
        return tensors, {**others, **own}
    tensors, others = {}, {}
    for key, entry in content.items():
        if isinstance(key, str) and _is_tensor(entry):
            tensors[key] = entry
        elif isinstance(key, str) and isinstance(entry, Mapping) and _is_state(entry):
            tensors |= {f"{key}.{name}": tensor for name, tensor in entry.items()}
        else:
            others[str(key)] = entry
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
    need(unpacked=tensor.numel() * tensor.element_size())  # with stride 0 a number is repeated
    try:
        return stored_tensor(tensor)
    except Exception as error:  # a damaged file can raise nearly anything here
        raise NetworkFileError(
            path, f"tensor {name[:60]!r}", f"not readable ({type(error).__name__})"
        ) from None


# --- Archives of Stable-Baselines3 -----

#: The modules of policies whose activation function is Tanh by default, such as those for PPO.
_TANH_POLICIES = (
    "stable_baselines3.common.policies",
    "sb3_contrib.common.maskable.policies",
    "sb3_contrib.common.recurrent.policies",
)


#: The module of the policies TD3 and DDPG, whose actors end in Tanh, and of SAC, whose actor does
#: too when it acts.
_SQUASHED_POLICIES = (
    "stable_baselines3.td3.policies",
    "stable_baselines3.sac.policies",
    "sb3_contrib.tqc.policies",
)
#: The modules of other policies, whose activation function is ReLU by default.
_RELU_POLICIES = ("stable_baselines3.dqn.policies", "sb3_contrib.qrdqn.policies")


@dataclass(frozen=True, slots=True)
class _Archive:
    """What an archive of Stable-Baselines3 says beside its weights.

    Attributes
    ----------
    notes
        Notes for the draft.
    cautions
        Cautions for the draft.
    entries
        The settings of the policy.
    """

    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    entries: dict[str, Any] = field(default_factory=dict)


def _archive(path: Path, data: bytes, members: list[str]) -> _Archive:
    """Return what the member ``data`` says about the policy; refuse policies with Tanh."""
    archive = _Archive(["policy.pth of an archive of Stable-Baselines3"])
    try:
        settings = json.loads(_member_bytes(path, data, "data")) if "data" in members else None
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        archive.cautions.append("the archive says nothing about its policy in the member 'data'")
        return archive
    given = settings.get("policy_kwargs")
    chosen = given if isinstance(given, dict) else _settings_in_text(str(given)) if given else {}
    chosen = {key: value for key, value in chosen.items() if key not in _PICKLED}
    policy = settings.get("policy_class")
    module = str(policy.get("__module__")) if isinstance(policy, dict) else ""
    names_activation = any(map(is_about_activations, chosen))
    if module not in (*_TANH_POLICIES, *_SQUASHED_POLICIES, *_RELU_POLICIES):
        archive.cautions.append(
            f"what the class of the policy computes is not known (module {module[:80]!r})"
        )
    if module in _TANH_POLICIES and not names_activation:
        problem = (
            "its activation functions are Tanh, as this policy's are by default; only networks "
            "with ReLU or leaky ReLU can be taken from weights"
        )
        raise NetworkFileError(path, "data", problem)
    if module in _SQUASHED_POLICIES:
        archive.cautions.append(
            "the actor of this policy applies Tanh after its last layer, which is not read"
        )
    archive.entries["policy_kwargs"] = chosen
    return archive


def _settings_in_text(text: str) -> dict[str, Any]:
    """Return the activation that a text of Python names, and the text itself."""
    found = re.search(
        r"activation_fn['\"]?\s*[:=]\s*([^,}()]{1,200}(?:\([^()]*\))?)", text[: 10**5]
    )
    return {"text": text} | ({"activation_fn": found[1]} if found else {})


#: Keys of settings that hold a pickle and its type.
_PICKLED = (":type:", ":serialized:")


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
    state = StateDict(path, "safetensors", tensors, False, {"metadata": _metadata(data)})
    return draft_of_state(state, options)


def _metadata(data: bytes) -> dict[str, Any]:
    """Return the texts that a ``.safetensors`` file holds beside its tensors.

    The library has read the header, which is JSON after eight bytes with its length.
    """
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    found = header.get("__metadata__")
    pairs = found.items() if isinstance(found, dict) else ()
    return {key: text for key, text in pairs if key != "format"}  # a library: "pt"


def _tensor(entry: Mapping[str, Any]) -> StoredTensor:
    """Return a tensor of a ``.safetensors`` file as it is stored."""
    shape, kind = tuple(int(size) for size in entry["shape"]), str(entry["dtype"])
    if kind not in _TYPES:
        return StoredTensor(shape, kind, f"its type is {kind}, which is not supported")
    name, code = _TYPES[kind]
    array = np.frombuffer(entry["data"], dtype=code).reshape(shape)
    return StoredTensor(shape, name, widened(array) if kind == "BF16" else array)
