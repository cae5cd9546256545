"""Functions for workers in other processes, which have to import them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from polyrelu.errors import DomainError
from polyrelu.formats import as_network


def squared(context: int, task: int) -> bytes:
    """Return a number."""
    return str(context * task**2).encode("ascii")


def unhurried(context: str, task: int) -> bytes:
    """Take longer for the first tasks than for the others; the context is the name of a folder.

    The first process that comes to task 5 is killed.
    """
    time.sleep(0.05 if task < 2 else 0)
    killed = Path(context) / "killed"
    if task == 5 and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return bytes([task])


def threads(context: bytes, task: int) -> bytes:
    """Return the process, and the number of threads that its libraries use; take some time."""
    time.sleep(0.02)
    return f"{os.getpid()} {os.environ['OMP_NUM_THREADS']}".encode("ascii")


def deadly(context: None, task: int) -> bytes:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def failing(context: None, task: int) -> bytes:
    """Raise an error that users can act on."""
    raise DomainError(f"task {task}: no such domain")


def failing_at(context: int, task: int) -> bytes:
    """Return the task; raise an error at that of the context."""
    return failing(None, task) if task == context else str(task).encode("ascii")


def described(file: Path, *, factor: int) -> dict[str, Any]:
    """Return a row about a network in a file."""
    network = as_network(file)
    return {"size": factor * network.num_parameters, "widths": list(network.widths)}


def total(item: Any) -> dict[str, Any]:
    """Return a row about an array, or about a folder of files with numbers."""
    if isinstance(item, Path):
        return {"total": sum(int(file.read_text()) for file in item.iterdir())}
    return {"total": int(item.sum())}
