"""The files of the corpus that the package ships: an index, and a line of JSON for each network.

`benchmarks/make_corpus.py` writes them. `polyrelu.corpus` has the answers in them; here are the
networks, so that ``corpus:`` and a name can stand wherever the name of a network file can.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from polyrelu.errors import NetworkFileError
from polyrelu.formats.examples import EXAMPLE_PREFIX

__all__ = ["CORPUS_PREFIX", "corpus_entry", "corpus_index", "corpus_record", "corpus_source"]

#: What stands before the name of a network of the corpus where a file name is expected.
CORPUS_PREFIX = "corpus:"


@cache
def corpus_index() -> dict[str, Any]:
    """Return the index: the version, and the entries by name, in order."""
    index = json.loads((_folder() / "index.json").read_text("utf-8"))
    return {**index, "entries": {entry["name"]: entry for entry in index["entries"]}}


def corpus_record(name: str) -> dict[str, Any]:
    """Return the network, the answers and the certificates of a name in the index."""
    kind = corpus_entry(name)["kind"]
    start = f'{{"name":{json.dumps(name)},'.encode()
    with (_folder() / f"{kind}.jsonl").open("rb") as file:
        line = next(line for line in file if line.startswith(start))
    record: dict[str, Any] = json.loads(line)
    return record


def corpus_source(name: str) -> str | bytes:
    """Return the network of a name as a native document, or as the name of an example."""
    document = corpus_record(name)["network"]
    return f"{EXAMPLE_PREFIX}{name}" if document is None else json.dumps(document).encode("ascii")


def corpus_entry(name: str) -> dict[str, Any]:
    """Return the entry of a name in the index."""
    known: dict[str, dict[str, Any]] = corpus_index()["entries"]
    if name in known:
        return known[name]
    guess = get_close_matches(name, known, 1)
    hint = f"did you mean {guess[0]}? " if guess else ""
    raise NetworkFileError(
        f"{CORPUS_PREFIX}{name[:80]}",
        "",
        f"no such network in the corpus; {hint}`polyrelu corpus list` lists all {len(known)}",
    )


def _folder() -> Traversable:
    return files("polyrelu") / "corpus" / "data"
