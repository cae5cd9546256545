"""The native network format: canonical JSON with exact integers (FORMAT.md §2).

Reading is strict: only the JSON that FORMAT.md allows is accepted (ASCII without backslashes, no
duplicate keys, no floats, small counts), so that a file has one meaning for every reader, the
checker included. `writers/native.py` writes these files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.formats.options import ReadOptions
from polyrelu.network import from_document

__all__ = ["read_native"]

#: Maximum size of a file in bytes.
_SIZE_LIMIT = 2**30
#: Maximum number of bytes of a file that is searched for the layers of a Keras model.
_ARCHITECTURE_LIMIT = 2**24
#: Entries of the meter for a value of JSON, or a number in a row.
_ENTRIES_OF_VALUE = 3
#: Maximum number of digits of a JSON integer; exact numbers are strings.
_DIGIT_LIMIT = 9


def read_native(path: Path, options: ReadOptions | None = None) -> Draft:
    """Read the network of a native file."""
    if path.stat().st_size > _SIZE_LIMIT:
        raise NetworkFileError(path, "", "larger than 1 GiB")
    data = path.read_bytes()
    _count(data)
    try:
        network = from_document(_parse(path, data))
    except NetworkError:
        _check_not_keras(path)
        raise
    steps = [
        f"affine [{layer.width}, {' + '.join(str(block.shape[1]) for block in layer.blocks)}]"
        for layer in network.layers
    ]
    return Draft(
        "polyrelu native, version 1",
        network=network,
        steps=steps,
        dtypes={"exact rationals"},
        num_stored=network.num_parameters,
    )


def _count(data: bytes) -> None:
    """Ask the meter for the values and numbers of a JSON text, before it is parsed.

    Each one follows a comma, a colon, an opening bracket or a blank.
    """
    need(entries=_ENTRIES_OF_VALUE * sum(map(data.count, (b",", b":", b"[", b"{", b" "))))


def _parse(path: Path, data: bytes) -> Any:
    """Return the JSON document of a file, or raise a `NetworkFileError` that names the place."""
    if b"\\" in data:
        raise NetworkFileError(path, "JSON", "backslashes are not allowed")
    try:
        return json.loads(
            data.decode("ascii"),
            object_pairs_hook=_object_with_unique_keys,
            parse_int=_small_integer,
            parse_float=_refuse,
            parse_constant=_refuse,
        )
    except UnicodeDecodeError as error:
        raise NetworkFileError(path, f"byte {error.start}", "only ASCII is allowed") from None
    except json.JSONDecodeError as error:
        raise NetworkFileError(
            path, f"line {error.lineno}, column {error.colno}", error.msg
        ) from None
    except RecursionError:
        raise NetworkFileError(path, "", "nested too deeply") from None
    except NetworkError:
        raise
    except ValueError as error:
        raise NetworkFileError(path, "", f"not a network document: {error}") from None


def _check_not_keras(path: Path) -> None:
    """Refuse, by what it is, a file in which Keras describes the layers of a model."""
    if path.stat().st_size > _ARCHITECTURE_LIMIT:
        return
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return
    if isinstance(document, dict) and {"class_name", "config"} <= set(document):
        raise NetworkFileError(
            path,
            "",
            "the layers of a Keras model without its weights (model.to_json()); save the whole "
            "model: model.save('net.keras')",
        )


def _object_with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict[str, Any]()
    for key, value in pairs:
        if key in found:
            raise NetworkError(f"duplicate key {key[:40]!r}")
        found[key] = value
    return found


def _small_integer(text: str) -> int:
    """Return a nonnegative JSON integer, such as a version or an index."""
    return int(text) if text.isdigit() and len(text) <= _DIGIT_LIMIT else _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise NetworkError(
        f"{text[:40]!r} is not allowed; numbers are integers as text (FORMAT.md, section 1)"
    )
