"""Results of tasks in an SQLite file, so that work goes on after whatever ended it.

A file belongs to one *question*: names and values that determine all tasks and results, such as the
hash of the network, the domain and the settings. It is refused for any other question, with the
name of what differs. SQLite writes each result completely or not at all, also when the process is
killed or the disk is full. A result in a file is believed, as the output of this program would be;
a certificate that is made from it is not believed by the checker.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType

from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.arguments import expect_path

__all__ = ["Checkpoint"]

#: What SQLite keeps in the header of our files: "poly" as an integer, and the version.
_APPLICATION, _VERSION = 0x706F6C79, 1
_TABLES = (
    "CREATE TABLE question (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE results (task INTEGER PRIMARY KEY, data BLOB NOT NULL, digest BLOB NOT NULL)",
)
#: Largest number of tasks, and of bytes of a result, that are read from a file.
_MAX_TASKS, _MAX_BYTES = 10**8, 1 << 30
#: Number of characters of a value that an error shows, and of differences.
_SHOWN, _MAX_SAID = 24, 6
_HASH = re.compile("[0-9a-f]{64}")
_HEADER = b"SQLite format 3\x00"
#: The byte 18 of files that are written through a log.
_HAS_LOG = 2


class Checkpoint:
    """A file with the results of the tasks that are done.

    Parameters
    ----------
    path
        The file, which is made if it does not exist.
    question
        Names and values that determine the tasks and their results.

    Raises
    ------
    DomainError
        The file is no checkpoint of this version, or one of another question.
    PolyreluError
        The file cannot be opened or written, or another process uses it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Checkpoint(f"{folder}/work.checkpoint", {"network": "a1"}) as checkpoint:
    ...         checkpoint.add(4, b"result")
    ...     with Checkpoint(f"{folder}/work.checkpoint", {"network": "a1"}) as checkpoint:
    ...         print(checkpoint.done(), checkpoint.result(4))
    {4} b'result'
    """

    def __init__(self, path: str | Path, question: Mapping[str, str]) -> None:
        self.path = expect_path(path, "checkpoint")
        self._check_header()
        with self._errors():
            # SQLite takes ":memory:" and "file:..." for files only if they are absolute.
            name = os.path.abspath(self.path)
            self._connection = sqlite3.connect(name, timeout=0, isolation_level=None)
        try:
            with self._errors():
                self._prepare(question)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, for another process to use it."""
        self._connection.close()

    def done(self) -> set[int]:
        """Return the numbers of the tasks whose results are in the file."""
        with self._errors():
            rows = self._connection.execute("SELECT task FROM results LIMIT ?", (_MAX_TASKS,))
            return {number for (number,) in rows}

    def result(self, task: int) -> bytes:
        """Return the result of a task that is done."""
        with self._errors():
            query = "SELECT data, digest FROM results WHERE task = ? AND length(data) <= ?"
            row = self._connection.execute(query, (task, _MAX_BYTES)).fetchone()
        if row is None or not isinstance(row[0], bytes) or _digest(task, row[0]) != row[1]:
            raise self._not_ours("a result is missing or damaged")
        return row[0]

    def add(self, task: int, data: bytes) -> None:
        """Keep the result of a task; after this, only the loss of the file can lose it."""
        with self._errors():
            row = (task, data, _digest(task, data))
            self._connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", row)

    # -- opening -----------------------------------------------------------------------------------

    def _check_header(self) -> None:
        """Refuse a file of another kind, which SQLite would not always do."""
        try:
            with self.path.open("rb") as file:
                start = file.read(len(_HEADER) + 3)
        except FileNotFoundError:
            return
        except OSError as error:
            raise PolyreluError(f"{self.path}: cannot read: {error.strerror or error}") from None
        if not start:
            return
        # A file of ours has a log of writes from its first byte on. SQLite would give another
        # database one, before anything in it could be compared.
        if not start.startswith(_HEADER) or start[-1] != _HAS_LOG:
            raise self._not_ours("another format")

    def _prepare(self, question: Mapping[str, str]) -> None:
        """Make the tables, or compare what is in them, and lock the file."""
        run = self._connection.execute
        run("PRAGMA trusted_schema = OFF")
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")  # a write need not wait for the disk
        run("PRAGMA synchronous = NORMAL")
        run("BEGIN EXCLUSIVE")
        if not run("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            run(f"PRAGMA application_id = {_APPLICATION}")
            run(f"PRAGMA user_version = {_VERSION}")
            for table in _TABLES:
                run(table)
            self._connection.executemany("INSERT INTO question VALUES (?, ?)", question.items())
        else:
            self._compare(question)
        run("COMMIT")

    def _compare(self, question: Mapping[str, str]) -> None:
        run = self._connection.execute
        if run("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise self._not_ours("another format")
        if run("PRAGMA user_version").fetchone()[0] != _VERSION:
            raise self._not_ours("of another version of polyrelu")
        found = {text for (text,) in run("SELECT sql FROM sqlite_master LIMIT 9") if text}
        if found != set(_TABLES):
            raise self._not_ours("other tables")
        rows = run("SELECT name, value FROM question LIMIT 99").fetchall()
        if not all(isinstance(entry, str) for row in rows for entry in row):
            raise self._not_ours("an entry of another kind")
        if dict(rows) != dict(question):
            raise DomainError(f"{self.path}: {_difference(dict(rows), question)}")

    def _not_ours(self, reason: str) -> DomainError:
        return DomainError(
            f"{self.path}: not a checkpoint ({reason}); delete it or name another file"
        )

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite into ours."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise PolyreluError(
                    f"{self.path}: another process uses this checkpoint; wait for it or name "
                    "another file"
                ) from None
            raise PolyreluError(f"{self.path}: cannot use the checkpoint: {error}") from None
        except (sqlite3.DatabaseError, UnicodeError) as error:
            raise self._not_ours(" ".join(str(error).split())[:100]) from None


def _digest(task: int, data: bytes) -> bytes:
    """Return what shows damage of a row; SQLite has no sums of its own."""
    return hashlib.sha256(b"%d:%s" % (task, data)).digest()[:16]


def _difference(found: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Return in words why a file belongs to another question, and what can be done."""
    names = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    if "question" in names:  # the other entries need not mean the same
        names = ["question"]
    said = [_one_difference(name, found.get(name, ""), wanted.get(name, "")) for name in names]
    return (
        f"a checkpoint of other work ({'; '.join(said[:_MAX_SAID])}); name another file, or give "
        "what this one was made with"
    )


def _one_difference(name: str, found: str, wanted: str) -> str:
    """Return what differs; hashes would tell a reader nothing."""
    if any(map(_HASH.fullmatch, (found, wanted))):
        return f"another {_short(name)}"
    return f"{_short(name)}: {_short(found)} in place of {_short(wanted)}"


def _short(value: str) -> str:
    """Return the start of a value."""
    if not value:
        return "nothing"
    shown = "".join(c if c.isprintable() else "?" for c in value[:_SHOWN])
    return shown if len(value) <= _SHOWN else f"{shown}…"
