"""The program `polyrelu` with a note in a file whenever a task is begun, for `benchmarks.kills`.

python -m benchmarks.logged_command FILE COMMAND …
"""

from __future__ import annotations

import sys

from benchmarks.kills import Logged
from polyrelu.support import parallel
from polyrelu.support.parallel import Workers


def main() -> None:
    """Replace the workers of the command by those that write notes, and run it."""
    _, log, *sys.argv[1:] = sys.argv
    choose = parallel.workers_for

    def chosen(jobs: int = 1, cluster: str | None = None) -> Workers:
        """Return the workers that the options name."""
        return Logged(choose(jobs, cluster), log)

    parallel.workers_for = chosen
    from polyrelu.__main__ import entry

    entry()


if __name__ == "__main__":
    main()
