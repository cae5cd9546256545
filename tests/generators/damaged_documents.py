"""Good documents of every kind that is no network, damaged copies, and the command that reads them.

Certificates, checkpoints, claims, properties, counterexamples, domains, samples and breakpoints.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from polyrelu.cli.main import main
from tests.generators.damaged_files import any_damage
from tests.generators.files import ROOT

__all__ = ["DOCUMENTS", "Document", "damaged_documents", "good_documents"]

_QUERY = b"""(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(assert (>= X_0 0)) (assert (<= X_0 1)) (assert (>= X_1 0)) (assert (<= X_1 0.5))
(assert (or (and (>= Y_0 3)) (and (<= Y_0 -3))))
"""
_REGIONS = ["regions", "example:bends", "--domain", "box:-2,2", "--checkpoint"]
_IDENTIFY = [
    "identify",
    "example:bends",
    "--among",
    "transversal",
    "--budget",
    "200",
    "--checkpoint",
]


@dataclass(frozen=True)
class Document:
    """A kind of document.

    Attributes
    ----------
    ending, command
        The ending of its files, and the words that read one, whose name comes last.
    good
        Makes some good ones.
    beside
        Files that stand beside it.
    prefix
        What stands before the name in the command.
    """

    ending: str
    command: list[str]
    good: Callable[[], list[bytes]]
    beside: Mapping[str, bytes] = field(default_factory=dict)
    prefix: str = ""

    def words(self, path: Path) -> list[str]:
        """The command that reads a file."""
        places = [str(path.parent / word) if word in self.beside else word for word in self.command]
        return [*places, f"{self.prefix}{path}"]


def _certificates() -> list[bytes]:
    files = sorted((ROOT / "tests/certificates/valid").glob("*.json"))
    contents = [path.read_bytes() for path in files if path.stat().st_size < 40_000]
    return [content for content in contents if b'"claim"' in content and b'"file"' not in content]


def _written(*words: str, ending: str = ".json") -> list[bytes]:
    """What a command writes to the file whose name comes last."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{ending}")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main([*words, str(path)])
        return [path.read_bytes()]


def _claims() -> list[bytes]:
    head = {"format": "polyrelu claims", "version": 1, "tool": "fuzz", "domain": "box:0,1"}
    one = {"signs": [[1, -1], [1, 1]], "vertices": [["1/2", 0.5], [0, 1]], "ulps": 1}
    two = {"output_points": [[0, 0], [1, 1]], "output_values": [[0], [0]], "absolute": "1/1000"}
    return [json.dumps(head | claims).encode() for claims in (one, two)]


def _archive(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


_POINTS = np.random.default_rng(0).random((20, 2))
DOCUMENTS = {
    "certificate, checked": Document(".json", ["check"], _certificates),
    "certificate, shown": Document(".json", ["show"], _certificates),
    "checkpoint of regions": Document(".db", _REGIONS, lambda: _written(*_REGIONS, ending=".db")),
    "checkpoint of a search": Document(
        ".db", _IDENTIFY, lambda: _written(*_IDENTIFY, ending=".db")
    ),
    "property": Document(".vnnlib", ["verify", "--budget", "50", "example:xor"], lambda: [_QUERY]),
    "counterexample": Document(
        ".txt",
        ["verify", "example:xor", "query.vnnlib", "--against"],
        lambda: [b"sat\n((X_0 0.5)\n (X_1 2)\n (Y_0 -1.25))\n"],
        {"query.vnnlib": _QUERY},
    ),
    "claims": Document(".json", ["audit", "example:xor", "--against"], _claims),
    "claims, table": Document(
        ".csv",
        ["audit", "example:xor", "--against"],
        lambda: [b"count,value\nregions,7\n", b"s_0,s_1\n1,-1\n1,1\n", b"x_0,x_1,y_0\n0.5,1/2,1\n"],
    ),
    "claims, archive": Document(
        ".npz",
        ["audit", "example:xor", "--against"],
        lambda: [_archive(signs=np.array([[1, -1], [1, 1]])), _archive(vertices=_POINTS)],
    ),
    "samples": Document(
        ".npz",
        ["attributes", "example:xor", "--clusters", "2", "--data"],
        lambda: [_archive(x=_POINTS), _archive(x=_POINTS, y=np.arange(20) % 2)],
    ),
    "domain": Document(
        ".json",
        ["regions", "example:bends", "--domain"],
        lambda: [
            b'{"vertices": [["0", "0"], ["1", "1/2"], ["0", "2"]]}',
            b'{"A": [["1", "0"], ["-1", "3/4"]], "c": ["2", "2"]}',
        ],
    ),
    "slice": Document(
        ".json",
        ["regions", "example:bends", "--domain"],
        lambda: [b'{"points": [["0", "0"], ["1", "1/2"]]}'],
        prefix="slice:",
    ),
    "breakpoints": Document(
        ".json",
        ["recover"],
        lambda: _written("complex", "example:bends", "--weights"),
    ),
}


@lru_cache
def good_documents(kind: str) -> list[bytes]:
    """The contents of good documents of a kind."""
    return DOCUMENTS[kind].good()


def damaged_documents(kind: str, number: int, seed: int) -> Iterator[bytes]:
    """Yield damaged documents of a kind."""
    chance = random.Random(f"{kind} {seed}")
    for _ in range(number):
        content = chance.choice(good_documents(kind))
        if content.startswith(b"SQLite format") and chance.random() < 0.6:
            yield _changed_database(chance, content)
        elif DOCUMENTS[kind].ending == ".json" and chance.random() < 0.5:
            yield _changed_json(chance, content)
        else:
            yield any_damage(chance, content)


#: What stands in place of an entry of a JSON document.
_ABSURD = (
    *("null", "true", "-1", "0", "1e999", "-1e-400", "NaN", "1.5", '"1/0"', '"9/-3"', "{}", "[]"),
    *('""', '"a"', '"\\u0000"', "[[[[]]]]", str(10**30), "9" * 5000, f'"{"9" * 70000}"'),
    *(f'"1e{10**9}"', "[" * 5000 + "]" * 5000, "[0" + ",0" * 9999 + "]", '"1/' + "7" * 3000 + '"'),
)


def _changed_json(chance: random.Random, content: bytes) -> bytes:
    """Return lines of JSON with an entry that is absurd, missing, doubled or exchanged."""
    lines = content.splitlines() if _is_lines(content) else [content]
    place = chance.randrange(len(lines))
    document = json.loads(lines[place])
    holders = list(_holders(document))
    if holders:
        holder = chance.choice(holders)
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        change = chance.randrange(8)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif change == 2:
            holder[key] = chance.choice([*holders[0], 0]) if isinstance(holders[0], dict) else 0
        else:
            holder[key] = "ABSURD"
    text = json.dumps(document).replace('"ABSURD"', chance.choice(_ABSURD))
    lines[place] = text.encode()
    return b"\n".join(lines)


def _is_lines(content: bytes) -> bool:
    first = content.split(b"\n", 1)[0]
    with contextlib.suppress(ValueError):
        return isinstance(json.loads(first), dict)
    return False


def _holders(value: Any) -> Iterator[Any]:
    """Yield all lists and objects of a document that are not empty."""
    if isinstance(value, dict | list) and value:
        yield value
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _holders(entry)


_STATEMENTS = (
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 0",
    "CREATE TABLE more (x)",
    "CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT x FROM c",
    "CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END",
    "CREATE INDEX i ON results (length(data))",
    "DROP TABLE question",
    "DELETE FROM question WHERE name = 'version'",
    "INSERT INTO question VALUES ('more', 'x')",
    "UPDATE question SET value = zeroblob(1000000)",
    "UPDATE results SET task = -task - 1",
    "UPDATE results SET task = 9223372036854775807 - task",
    "UPDATE results SET data = zeroblob(50000000)",
    "UPDATE results SET data = NULL",
    "DROP TABLE results; CREATE VIEW results AS SELECT 0 AS task, 'x' AS data, 'y' AS digest",
    "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = 'CREATE TABLE results (task)' "
    "WHERE name = 'results'",
    "PRAGMA encoding = 'UTF-16'; PRAGMA page_size = 65536; PRAGMA journal_mode = DELETE; VACUUM",
)


def _changed_database(chance: random.Random, content: bytes) -> bytes:
    """Return a database with other tables, or with results of somebody else and right digests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "work.db")
        path.write_bytes(content)
        connection = sqlite3.connect(path)
        with contextlib.suppress(sqlite3.Error):
            if chance.random() < 0.5:
                connection.executescript(chance.choice(_STATEMENTS))
            else:
                _change_result(chance, connection)
        connection.close()
        return path.read_bytes()


def _change_result(chance: random.Random, connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT task, data FROM results").fetchall()
    task, data = chance.choice(rows)
    numbers = " ".join(str(chance.choice([0, 1, -5, 10**6, 10**25])) for _ in range(3))
    paths = chance.choice(["", "0", "0.0.0", "1.2.3.4", "-1", "99999999999", "0 " * 5000])
    bomb = zlib.compress(bytes(chance.choice([0, 100, 3 * 10**7])))
    data = chance.choice(
        [any_damage(chance, data), f"{numbers}\n{paths}\n".encode() + bomb, bomb, b""]
    )
    digest = hashlib.sha256(b"%d:%s" % (task, data)).digest()[:16]
    row = (data, digest, task)
    connection.execute("UPDATE results SET data = ?, digest = ? WHERE task = ?", row)
    connection.commit()
