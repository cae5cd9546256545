"""`python -m polyrelu`: the command line."""

from polyrelu.cli import entry

if __name__ == "__main__":
    entry()
