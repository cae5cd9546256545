"""`python -m polyrelu`: the command line."""

from polyrelu.cli.main import entry

if __name__ == "__main__":
    entry()
