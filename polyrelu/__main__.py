"""`python -m polyrelu`: the command line."""

import sys

from polyrelu.cli import main

if __name__ == "__main__":
    sys.exit(main())
