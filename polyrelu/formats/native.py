"""The native format: JSON with exact integers (FORMAT.md §2), the canonical one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.network import Network, from_document, to_document
from polyrelu.support.text_files import layout, write_all

__all__ = ["read_native", "save"]

_SIZE_LIMIT = 2**30


def save(network: Network, path: str | Path) -> None:
    """Write a network in the native format; the file's name must end in .json.

    >>> import tempfile, os
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([["1/3"]], [0])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, os.path.join(folder, "net.json"))
    ...     read_native(Path(folder) / "net.json").network == net
    True
    """
    if Path(path).suffix.lower() != ".json":
        raise NetworkFileError(
            path, "", "native network files end in .json; `load` goes by the ending"
        )
    write_all([(Path(path), layout(to_document(network)))])


def read_native(path: Path, options: ReadOptions | None = None) -> Draft:
    """The network of a native file."""
    if path.stat().st_size > _SIZE_LIMIT:
        raise NetworkFileError(path, "", "larger than 1 GiB")
    network = from_document(_parse(path))
    steps = [
        f"affine [{layer.width}, {' + '.join(str(block.shape[1]) for block in layer.blocks)}]"
        for layer in network.layers
    ]
    return Draft(
        "polyrelu native, version 1",
        network=network,
        steps=steps,
        dtypes={"exact rationals"},
        numbers=network.parameters,
    )


def _parse(path: Path) -> Any:
    data = path.read_bytes()
    if b"\\" in data:
        raise NetworkFileError(path, "JSON", "backslashes are not allowed")
    try:
        return json.loads(
            data.decode("ascii"),
            object_pairs_hook=_unique,
            parse_int=_count,
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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise NetworkError(
            f"duplicate key {next(key for key in keys if keys.count(key) > 1)[:40]!r}"
        )
    return dict(pairs)


def _count(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 10 else _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise NetworkError(
        f"{text[:40]!r} is not allowed; numbers are integers as text (FORMAT.md, section 1)"
    )
