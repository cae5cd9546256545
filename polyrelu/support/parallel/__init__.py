"""Work that splits into tasks: on one core, on several, or on a cluster, with a checkpoint.

A *task* is a small value that can be pickled; a function of a module turns a context, which all
tasks share, and a task into bytes. `run_tasks` returns the bytes in the order of the tasks, so that
a result depends neither on the number of workers nor on their speed. `Checkpoint` keeps the bytes
of tasks that are done, in an SQLite file. `TaskStream` is for searches, whose tasks depend on the
results of earlier ones.
"""

from polyrelu.support.parallel.checkpoint import Checkpoint
from polyrelu.support.parallel.choice import workers_for
from polyrelu.support.parallel.cluster import Cluster
from polyrelu.support.parallel.processes import Processes
from polyrelu.support.parallel.stream import Execution, TaskStream
from polyrelu.support.parallel.tasks import Serial, Task, TaskFunction, Workers, run_tasks

__all__ = [
    "Checkpoint",
    "Cluster",
    "Execution",
    "Processes",
    "Serial",
    "Task",
    "TaskFunction",
    "TaskStream",
    "Workers",
    "run_tasks",
    "workers_for",
]
