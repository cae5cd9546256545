"""Completion of commands, options and file names in shells, as scripts that shtab writes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["SHELLS", "PrintCompletion"]

#: The shells for which there is a script.
SHELLS = ("bash", "zsh", "tcsh")
#: Names of values, as help shows them, that are files, and the name of those that are folders.
_FILES = frozenset({"CERT", "DOMAIN", "FILE", "NET", "OTHER"})
_FOLDER = "FOLDER"


class PrintCompletion(argparse.Action):
    """The option that prints the script of a shell and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Print the script."""
        print(_script(parser, str(values)))
        parser.exit()


def _script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script of a shell; values that are files or folders are completed as such."""
    import shtab

    for action in _actions(parser):
        name = action.metavar or action.dest.upper()
        if name in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif name == _FOLDER:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options and arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
