"""The program `polyrelu` with a note in a file whenever a task is begun, for `benchmarks.kills`.

python -m benchmarks.logged_command FILE COMMAND …
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyrelu.support.parallel import Workers


def main() -> None:
    """Replace the workers of the command by those that write notes, and run it."""
    _, log, *sys.argv[1:] = sys.argv
    try:  # as polyrelu.__main__ does it
        from benchmarks.kills import Logged
        from polyrelu.__main__ import entry
        from polyrelu.support import parallel
    except KeyboardInterrupt:
        os._exit(3)
    choose = parallel.workers_for

    def chosen(jobs: int = 1, cluster: str | None = None) -> Workers:
        """Return the workers that the options name."""
        return Logged(choose(jobs, cluster), log)

    parallel.workers_for = chosen
    entry()


if __name__ == "__main__":
    main()
