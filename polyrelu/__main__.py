"""The program `polyrelu`, which `python -m polyrelu` runs too: the command line, once it is loaded.

An installation without one of its packages is an error in one line, and Ctrl-C ends the program
silently until the command line takes over.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["entry"]


def entry() -> NoReturn:
    """Load the command line and run it."""
    try:
        from polyrelu.cli.main import entry as run
    except KeyboardInterrupt:
        os._exit(3)
    except ImportError as error:
        print(f"polyrelu: cannot start: {error}; install polyrelu again", file=sys.stderr)
        sys.exit(2)
    try:
        run()
    except KeyboardInterrupt:  # before the command line has taken over Ctrl-C
        os._exit(3)


if __name__ == "__main__":
    entry()
