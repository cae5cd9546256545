"""Tables as Parquet files, by Arrow, in pieces that are written as they come.

Exact numbers are texts such as "-3/4" in these files, because Parquet has no rational numbers and
its decimal and floating-point ones would round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from polyrelu.errors import PolyreluError

__all__ = ["Table", "import_arrow", "packed_table", "parquet_pieces", "unpacked_table"]

#: The names and kinds of the columns of a table. The kinds are "text", "truth", "integer" (32 or 64
#: bits: "large"), "float", "numbers" (a list of texts), "rows" (a list of these) and "integers".
Table = Mapping[str, str]


def import_arrow() -> Any:
    """Import Arrow with its module for Parquet.

    Raises
    ------
    PolyreluError
        It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise PolyreluError(
            "Parquet files need pyarrow; install it: pip install 'polyrelu[parquet]'"
        ) from None
    return pyarrow


def _schema(table: Table) -> Any:
    """Return the schema of Arrow of some columns."""
    arrow = import_arrow()
    types = {
        "text": arrow.string(),
        "truth": arrow.bool_(),
        "integer": arrow.int32(),
        "large": arrow.int64(),
        "float": arrow.float64(),
        "integers": arrow.list_(arrow.int64()),
        "numbers": arrow.list_(arrow.string()),
        "rows": arrow.list_(arrow.list_(arrow.string())),
    }
    return arrow.schema([(name, types[kind]) for name, kind in table.items()])


def packed_table(table: Table, columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as bytes, in the form in which Arrow sends tables.

    Examples
    --------
    >>> data = packed_table({"signs": "text"}, {"signs": ["+-", "++"]})
    >>> unpacked_table(data).to_pydict()
    {'signs': ['+-', '++']}
    """
    arrow, schema = import_arrow(), _schema(table)
    batch = arrow.RecordBatch.from_pydict({name: columns[name] for name in table}, schema)
    sink = arrow.BufferOutputStream()
    options = arrow.ipc.IpcWriteOptions(compression="zstd")
    with arrow.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpacked_table(data: bytes) -> Any:
    """Return the table of Arrow that `packed_table` made."""
    return import_arrow().ipc.open_stream(data).read_all()


def parquet_pieces(table: Table, parts: Iterable[Any]) -> Iterator[bytes]:
    """Yield a Parquet file, a group of rows for each part.

    Parameters
    ----------
    table
        The columns.
    parts
        Columns by their names, or tables of Arrow.

    Yields
    ------
    bytes
        The next piece of the file.
    """
    arrow, schema = import_arrow(), _schema(table)
    sink = _Pieces()
    with arrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for part in parts:
            if not isinstance(part, arrow.Table):
                part = arrow.Table.from_pydict(part, schema)
            writer.write_table(part)
            yield sink.taken()
    yield sink.taken()


class _Pieces:
    """A file to write to, from which the bytes so far can be taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> int:
        """Keep some bytes."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        data, self._parts = b"".join(self._parts), []
        return data
