"""What the benchmark scripts share: where results go, CPU seconds of a command, the machine."""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "cpu_seconds", "write_results"]

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, results: dict[str, Any]) -> None:
    """Write ``results/name.json`` and print it."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"python": platform.python_version(), "machine": platform.machine(), **results}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    print(text)


def cpu_seconds(arguments: list[str], allowed: tuple[int, ...] = (0,)) -> float:
    """User plus system seconds of ``python arguments…``; any exit status that is not allowed is an error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        raise RuntimeError(f"{arguments} ended with {done.returncode}: {done.stderr[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
