"""Tasks on a cluster of Dask workers.

The scheduler and the workers are trusted: whoever runs them can run any code here, and can send any
result. Certificates are checked by the checker all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from polyrelu.errors import PolyreluError
from polyrelu.support.parallel.batches import Batch, Batches, do_batch
from polyrelu.support.parallel.tasks import AHEAD, Numbered, TaskFunction

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Cluster"]

#: Seconds to wait for a scheduler that does not answer.
_PATIENCE = 10
#: Batches for each worker that are with the cluster at a time.
_BATCHES_PER_WORKER = 4


class Cluster:
    """Does tasks on the workers of a Dask scheduler, which has to run already.

    A task whose worker dies is begun again by the scheduler. TLS and everything else about the
    connection are set as Dask says, in its configuration. A process does one task at a time, so
    that further threads of a worker are of no use.

    Parameters
    ----------
    address
        The address of the scheduler, such as ``"tcp://10.0.0.1:8786"`` or ``"tls://…"``.

    Raises
    ------
    PolyreluError
        Dask is not installed, or the scheduler does not answer, or has no workers.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = self._connected()
        self.number = len(self._client.nthreads())
        if not self.number:
            self._client.close()
            raise PolyreluError(
                f"{address}: the scheduler has no workers; start some: dask worker {address} "
                "--nworkers -1 --nthreads 1"
            )

    def _connected(self) -> Client:
        """Return a connection to the scheduler."""
        try:
            from distributed import Client
        except ImportError:
            raise PolyreluError(
                "a cluster needs Dask; install it: pip install 'polyrelu[cluster]'"
            ) from None
        try:
            return Client(self.address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise PolyreluError(
                f"{self.address}: no scheduler of Dask answers ({reason}); start one with `dask "
                "scheduler` and workers with `dask worker ADDRESS --nworkers -1 --nthreads 1`"
            ) from None

    def __repr__(self) -> str:
        return f"<Cluster, {self.number} workers at {self.address}>"

    def results(
        self, function: TaskFunction, context: Any, tasks: Iterable[Numbered]
    ) -> Iterator[tuple[int, bytes]]:
        """See `Workers`."""
        from distributed import CancelledError, KilledWorker

        begun: dict[Future, Batch] = {}
        try:
            yield from self._results(function, context, Batches(tasks, self.number), begun)
        except (OSError, TimeoutError, CancelledError, KilledWorker) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise PolyreluError(
                f"{self.address}: the cluster failed ({reason}); with --checkpoint the same "
                "command goes on from there"
            ) from None
        finally:
            self._forget(begun)

    def _results(
        self,
        function: TaskFunction,
        context: Any,
        batches: Batches,
        begun: dict[Future, Batch],
    ) -> Iterator[tuple[int, bytes]]:
        """Yield results as batches end; `begun` has the batches that are with the cluster."""
        from distributed import as_completed

        if self._client.status == "closed":  # the connection of an earlier call
            self._client = self._connected()
        shared = self._client.scatter([context], broadcast=True, hash=False)[0]
        completed = as_completed(loop=self._client.loop)
        while True:
            while self._may_begin(begun) and (batch := batches.next()) is not None:
                future = self._client.submit(
                    do_batch, function, shared, batch.tasks, pure=False, priority=-batch.numbers[0]
                )
                begun[future] = batch
                completed.add(future)
            if not begun:
                return
            for future in completed.next_batch():
                results, batch = future.result(), begun.pop(future)
                batches.note(batch, len(results))
                yield from zip(batch.numbers, results, strict=False)

    def _may_begin(self, begun: dict[Future, Batch]) -> bool:
        """Whether the cluster wants a batch, and not too many results wait for an earlier one."""
        if len(begun) >= _BATCHES_PER_WORKER * self.number:
            return False
        places = [batch.place for batch in begun.values()]
        return not places or max(places) - min(places) < AHEAD * self.number

    def _forget(self, begun: dict[Future, Batch]) -> None:
        """Cancel the tasks that are not finished."""
        try:
            self._client.cancel(list(begun), force=True)
            self._client.close()
        except Exception:  # the scheduler is gone
            return
