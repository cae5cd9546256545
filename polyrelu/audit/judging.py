"""Claimed items that are judged one by one: parts of a list are tasks.

A judge travels to other processes without what it has made from the claims and the network, which
they make again (`GroundTruth` too). So a verdict must not depend on what a judge saw before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from polyrelu.formats import Imported
from polyrelu.support.parallel import Execution
from polyrelu.support.parallel.wire import packed, understood, unpacked
from polyrelu.support.progress import Progress, report
from polyrelu.version import __version__

__all__ = ["ALONE", "Judge", "entries_of", "judged"]

#: This process, without a checkpoint.
ALONE = Execution()
#: Number of tasks that are one where this process does them all, since items share some work.
_AT_ONCE = 16


class Judge(Protocol):
    """Knows claimed items and judges them.

    Attributes
    ----------
    subject
        What is judged, in words.
    items_per_task
        Number of items that are judged together.
    """

    subject: str
    items_per_task: int

    def __len__(self) -> int:
        """Return the number of items."""

    def judge(self, items: range) -> Sequence[Any]:
        """Return what is found about some items, a value that JSON has for each."""


def judged(judge: Judge, execution: Execution, progress: Progress | None = None) -> list[Any]:
    """Return what a judge finds about each item, in their order."""
    count, found = len(judge), list[Any]()
    size = judge.items_per_task * (_AT_ONCE if execution.is_plain else 1)
    with execution.stream(_judge, judge, judge.subject) as stream:
        for start in range(0, count, size):
            stream.add(packed([start, min(start + size, count)]))
        while len(found) < count:
            part = unpacked(stream.take())
            with understood():
                if len(part) != min(size, count - len(found)):
                    raise ValueError("another number of items")
                found += part
            report(progress, f"comparing {judge.subject}", len(found), count, "items")
    return found


def _judge(judge: Judge, task: bytes) -> bytes:
    """Judge some items."""
    first, last = unpacked(task)
    return packed(list(judge.judge(range(first, last))))


def entries_of(
    question: str, imported: Imported, domain: str, claims: Mapping[str, Any]
) -> dict[str, str]:
    """Return what a checkpoint of an audit compares.

    Parameters
    ----------
    question
        What is asked.
    imported
        The network; bounds on rounding errors depend on its file, too.
    domain
        The hash of the domain.
    claims
        All claims and settings on which verdicts depend.
    """
    return {
        "question": question,
        "version": __version__,
        "network": imported.network.sha256,
        "file": imported.source_sha256,
        "domain": domain,
        "claims": _digest(claims),
    }


def _digest(value: Any) -> str:
    """Return a hash of nested lists, objects, arrays and numbers."""
    found = hashlib.sha256()
    _add(found, value)
    return found.hexdigest()


def _add(found: Any, value: Any) -> None:
    """Add a value to a hash; no two kinds of values begin in the same way."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"array {value.dtype.str} {value.shape}:".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, np.ndarray):
        found.update(f"objects {value.shape}:".encode())
        _add(found, value.ravel().tolist())
    elif isinstance(value, Mapping):
        found.update(f"mapping {len(value)}:".encode())
        for name in sorted(value):
            _add(found, name)
            _add(found, value[name])
    elif isinstance(value, list | tuple):
        found.update(f"list {len(value)}:".encode())
        for entry in value:
            _add(found, entry)
    else:
        text = f"{type(value).__name__} {value!r}"
        found.update(f"{len(text)} {text}:".encode())
