"""A cluster of Dask on this machine, in processes whose CPU seconds are counted one by one.

Scheduler and workers are started by the commands that users type, and counted from when they are
ready. The workers are held by a *nanny*, a process of Dask that starts them again if they die.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["LocalCluster", "local_cluster"]

_PATIENCE = 60


@dataclass(frozen=True)
class LocalCluster:
    """A scheduler and its workers.

    Attributes
    ----------
    address
        Where the scheduler listens.
    """

    address: str
    _client: Any

    def cpu_seconds(self) -> dict[str, list[float]]:
        """Return the CPU seconds of all processes so far, by what they are."""
        of_workers = self._client.run(time.process_time)
        of_nannies = self._client.run(time.process_time, nanny=True)
        return {
            "main process": [time.process_time()],
            "scheduler": [self._client.run_on_scheduler(time.process_time)],
            "nannies": [max(of_nannies.values())],  # all of them in one process
            "workers": [of_workers[worker] for worker in sorted(of_workers)],
        }


@contextmanager
def local_cluster(num_workers: int) -> Iterator[LocalCluster]:
    """Start a scheduler and workers with one thread each, for the time of a block."""
    from distributed import Client

    with ExitStack() as stack:
        file = Path(stack.enter_context(TemporaryDirectory()), "scheduler.json")
        words = ["--scheduler-file", str(file), "--no-dashboard"]
        stack.enter_context(_process("scheduler", "--host", "127.0.0.1", "--port", "0", *words))
        workers = ["--nworkers", str(num_workers), "--nthreads", "1"]
        stack.enter_context(_process("worker", *workers, *words))
        while not file.exists():
            time.sleep(0.1)
        client = Client(scheduler_file=str(file), timeout=_PATIENCE, set_as_default=False)
        stack.enter_context(client)
        client.wait_for_workers(num_workers, timeout=_PATIENCE)
        client.run(_prepare)
        yield LocalCluster(client.scheduler.address, client)


@contextmanager
def _process(*words: str) -> Iterator[None]:
    """Run a command of Dask for the time of a block."""
    command = [sys.executable, "-m", "dask", *words]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def _prepare() -> None:
    """Import what the tasks need, which counts as starting a worker."""
    import polyrelu.complex.region_stream  # noqa: F401
