"""Workers from the options of a command."""

from __future__ import annotations

from polyrelu.errors import ArgumentError
from polyrelu.support.arguments import expect_count
from polyrelu.support.parallel.cluster import Cluster
from polyrelu.support.parallel.processes import Processes
from polyrelu.support.parallel.tasks import Serial, Workers

__all__ = ["workers_for"]


def workers_for(jobs: int = 1, cluster: str | None = None) -> Workers:
    """Return what does the tasks of a command.

    Parameters
    ----------
    jobs
        Number of processes on this machine; 1 for this process alone.
    cluster
        Address of a scheduler of Dask, which replaces the processes.

    Raises
    ------
    ArgumentError
        The number of jobs is not positive, or there are jobs and a cluster.
    PolyreluError
        The cluster cannot be reached.

    Examples
    --------
    >>> workers_for(2)
    <Processes, 2>
    """
    expect_count(jobs, "jobs", 1)
    if cluster is not None and jobs != 1:
        raise ArgumentError("jobs: the cluster decides how many there are; leave this out")
    if cluster is not None:
        return Cluster(cluster)
    return Processes(jobs) if jobs > 1 else Serial()
