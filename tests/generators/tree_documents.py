"""Tree files as lists of JSON values (header, nodes, footer), and ways to change and write them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from polyrelu.network import from_document

__all__ = ["Document", "changed", "mutants", "with_count", "written"]

Document = list[Any]  # header, nodes, footer


def written(document: Document) -> bytes:
    """The file, its footer made anew."""
    body = b"".join(json.dumps(value).encode() + b"\n" for value in document[:-1])
    footer = (
        {**document[-1], "sha256": hashlib.sha256(body).hexdigest()}
        if isinstance(document[-1], dict)
        else document[-1]
    )
    return body + json.dumps(footer).encode() + b"\n"


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _variants(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from {value + 1, max(value - 1, 0), 0, 10**9 - 1} - {value}
    elif isinstance(value, str):
        yield from {"0", "1", "-1", "1/3", "+", "-", "equal", "1000", f"{value}0"} - {value}
    elif isinstance(value, list):
        yield from ([], value[:-1], [*value, *value[-1:]], value[::-1])
    elif isinstance(value, dict):
        yield {}
        for key in value:
            yield {k: v for k, v in value.items() if k != key}


def changed(document: Document, path: tuple[Any, ...], value: Any) -> Document:
    copied = copy.deepcopy(document)
    inner: Any = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


def with_count(document: Document) -> Document:
    """The right number of nodes, and the right hashes of the networks."""
    fixed = copy.deepcopy(document)
    if isinstance(fixed[-1], dict) and "nodes" in fixed[-1]:
        fixed[-1]["nodes"] = len(fixed) - 2
    try:
        for key in {"network", "other"} & fixed[0]["claim"].keys():
            reference = fixed[0]["claim"][key]
            reference["sha256"] = from_document(reference["inline"]).sha256
    except Exception:  # a mutant that is no network any more
        pass
    return fixed


def mutants(document: Document) -> Iterator[Document]:
    """Each entry changed in several ways, each line dropped, doubled or replaced by another."""
    for path, value in _places(document):
        if path:
            yield from (changed(document, path, new) for new in _variants(value))
    for k in range(1, len(document) - 1):
        yield from (document[:k] + document[k + 1 :], document[: k + 1] + document[k:])
        others = (
            [*document[:k], document[j], *document[k + 1 :]] for j in range(1, len(document) - 1)
        )
        yield from (mutant for mutant in others if mutant != document)
