"""One question about many things, such as all networks in a folder, as a table."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from polyrelu.errors import ArgumentError, DomainError, PolyreluError
from polyrelu.support.arguments import expect_function, expect_path
from polyrelu.support.parallel.stream import Execution
from polyrelu.support.parallel.tasks import Workers
from polyrelu.support.parquet import parquet_pieces
from polyrelu.support.progress import Progress, report
from polyrelu.support.text_files import write_all
from polyrelu.version import __version__

__all__ = ["CampaignFunction", "Row", "campaign", "save_rows"]

#: A row of a table: names and values that JSON has.
Row: TypeAlias = dict[str, Any]
#: A function at the top level of a module, from an item and settings to a row.
CampaignFunction: TypeAlias = Callable[..., Mapping[str, Any]]

#: The columns of the name of an item, and of the error instead of an answer.
_NAME, _ERROR = "name", "error"


def campaign(
    function: CampaignFunction,
    items: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    *,
    workers: Workers | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Ask one question about many items, and return a row for each, in their order.

    Parameters
    ----------
    function
        A function at the top level of a module. It takes an item, and the settings by their names,
        and returns a row with values that JSON has.
    items
        The items by their names: files (as `Path`), networks, or other values whose `repr` is the
        same for equal values only.
    settings
        Values that JSON has, the same ones for all items.
    workers
        Who does the work; None for this process. Each item is one task.
    checkpoint
        A file that keeps the rows. Rows of items that are in it and did not change are not computed
        again. Items that are files or folders are compared by what is in them, all others by their
        pickles.
    progress
        Called with a `polyrelu.support.ProgressStep` after each item.

    Returns
    -------
    list of dict
        The rows, each with the name first. An item that ends in a `PolyreluError` has a row with
        the text of this error.

    Raises
    ------
    DomainError
        The checkpoint belongs to another function or to other settings.
    ArgumentError
        An item cannot be pickled, and so not be compared.
    PolyreluError
        The checkpoint cannot be used.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> def size(network, *, unit):
    ...     return {"parameters": network.num_parameters / unit}
    >>> campaign(size, {"small": from_arrays([([[1, 2]], [0])])}, {"unit": 2})
    [{'name': 'small', 'parameters': 1.5}]
    """
    expect_function(function, "function")
    expect_function(progress, "progress")
    chosen = dict(settings or {})
    question = {
        "question": "campaign",
        "version": __version__,
        "function": f"{_module_of(function)}.{function.__qualname__}",
        "settings": json.dumps(chosen, sort_keys=True),
    }
    rows = list[Row]()
    with (
        Execution.opened(workers, checkpoint, question) as execution,
        execution.stream(_answer, (function, chosen, dict(items))) as stream,
    ):
        for name, item in items.items():
            digest = None if checkpoint is None else _digest(name, item)
            stream.add(json.dumps([name, digest]).encode("ascii"))
        for name in items:
            rows.append(_row(name, stream.take()))
            report(progress, "asking", len(rows), len(items), "items")
    return rows


def _module_of(function: CampaignFunction) -> str:
    """Return the module of a function, also of one in the program that runs."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if function.__module__ == "__main__" and spec is not None:
        return str(spec.name)
    return function.__module__


def _answer(context: tuple[CampaignFunction, Row, Mapping[str, Any]], task: bytes) -> bytes:
    """Return the row of an item, as a function of a task."""
    function, settings, items = context
    name, _ = json.loads(task)
    try:
        row = dict(function(items[name], **settings))
    except PolyreluError as error:
        row = {_ERROR: str(error)}
    return json.dumps(row).encode("ascii")


def _row(name: str, data: bytes) -> Row:
    """Return a row from what `_answer` gave, which may come from a file."""
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise DomainError("the checkpoint has a row that is none; delete the file and begin again")
    return {_NAME: name} | row


def _digest(name: str, item: Any) -> str:
    """Return a hash that tells an item from a later one of the same name."""
    if isinstance(item, Path):
        files = sorted(item.rglob("*")) if item.is_dir() else [item]
        found = [[str(file.relative_to(item)), _digest_of_file(file)] for file in files]
        return hashlib.sha256(json.dumps(found).encode("ascii")).hexdigest()
    if isinstance(known := getattr(item, "sha256", None), str):
        return known
    try:
        return hashlib.sha256(pickle.dumps(item, protocol=5)).hexdigest()
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ArgumentError(
            f"items: {name!r} cannot be compared with what the checkpoint knows ({error}); give a "
            "file, or a value that can be pickled"
        ) from None


def _digest_of_file(file: Path) -> str:
    """Return the hash of a file; of what cannot be read the function says what is wrong."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return "none"


def save_rows(rows: Sequence[Mapping[str, Any]], name: str | Path) -> None:
    """Write rows as a table: .json, .csv or .parquet; completely or not at all.

    Parameters
    ----------
    rows
        The rows. A column that a row does not have is empty there.
    name
        The file. Lists and objects are written as JSON within CSV and Parquet, and columns with
        values of several kinds as texts.

    Raises
    ------
    DomainError
        The file has another ending.
    PolyreluError
        The file cannot be written, or pyarrow is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_rows([{"name": "a", "regions": 7}, {"name": "b"}], f"{folder}/table.csv")
    ...     print(Path(f"{folder}/table.csv").read_text().rstrip())
    name,regions
    a,7
    b,
    """
    path = expect_path(name, "name")
    writers: dict[str, Callable[[Sequence[Mapping[str, Any]]], Iterable[bytes]]] = {
        ".json": _json_pieces,
        ".csv": _csv_pieces,
        ".parquet": _parquet_pieces,
    }
    if path.suffix not in writers:
        raise DomainError(f"{name}: a table is written as {', '.join(writers)}; choose one of them")
    write_all([(path, writers[path.suffix](rows))])


def _json_pieces(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    yield json.dumps([dict(row) for row in rows], indent=2).encode("ascii") + b"\n"


def _csv_pieces(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the file as CSV."""
    names, text = _columns(rows), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_text(row.get(name)) for name in names])
    yield text.getvalue().encode("utf-8")


def _parquet_pieces(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Return the pieces of the file in Parquet; columns of mixed values are texts."""
    kinds = {name: _kind(row.get(name) for row in rows) for name in _columns(rows)}
    columns = {
        name: [row.get(name) if kind != "text" else _text(row.get(name)) for row in rows]
        for name, kind in kinds.items()
    }
    return parquet_pieces(kinds, [columns])


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of all columns, in the order in which they come."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _kind(values: Iterable[Any]) -> str:
    """Return the kind of a column of Parquet that holds some values, apart from None."""
    present = [value for value in values if value is not None]
    for kind, wanted in {"truth": bool, "large": int, "float": float}.items():
        if present and all(type(value) is wanted for value in present):
            is_small = kind != "large" or max(map(abs, present)) < 2**63
            return kind if is_small else "text"
    return "text"


def _text(value: Any) -> str | None:
    """Return a value as a text; None stays None, which is an empty field."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
