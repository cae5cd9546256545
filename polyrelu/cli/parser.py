"""The parser of the command line: help with examples, and errors that suggest what was meant.

Errors of usage are errors of the package: one line, or one JSON object. A word with a typing error
gets the nearest word that would have been right.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from polyrelu.errors import PolyreluError

__all__ = ["Parser", "UsageError", "nearest"]


#: Options of most commands, which stand before the command by mistake.
_OF_COMMANDS = ("--json", "-o", "--output", "--domain")


class UsageError(PolyreluError):
    """A command line that is not understood."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks most like a word with a typing error, if one does.

    >>> nearest("identfy", ["info", "identify"]), nearest("fly", ["info", "identify"])
    ('identify', None)
    """
    from difflib import get_close_matches  # only errors need it

    return next(iter(get_close_matches(word, list(known), 1)), None)


class _HelpFormatter(argparse.HelpFormatter):
    """A formatter that wraps each line of a text; lines of examples stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(
            f"{indent}{line}" if line.startswith("  ") else textwrap.fill(line, width)
            for line in lines
        )


class Parser(argparse.ArgumentParser):
    """The parser of the program, or of one command."""

    def __init__(self, **choices: Any) -> None:
        super().__init__(**choices, formatter_class=_HelpFormatter)
        # "-2,2" and "-1/2" are values, as from Python 3.14 on.
        self._negative_number_matcher = re.compile(r"-\.?[0-9]")
        self._given: list[str] = []

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse all arguments; one that is left over is an error of this parser."""
        self._given = list(args or ())
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a text; other than in argparse, an error of printing is an error."""
        if message:
            (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        """Raise a usage error; an unknown option is named before what its absence entails."""
        for word in self._own_words():
            if self._is_unknown(word):
                option = word.partition("=")[0]
                raise UsageError(f"unknown option {option}{self._remedy(option)}")
        raise UsageError(f"{message}; see {self.prog} --help")

    def _own_words(self) -> list[str]:
        """Return the words given that may be options of this parser."""
        words = self._given[: self._given.index("--")] if "--" in self._given else self._given
        if self._subparsers is None:
            return words
        command = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
        return words[:command]

    def _is_unknown(self, word: str) -> bool:
        """Return whether a word looks like an option and is none, nor the start of one."""
        if len(word) < 2 or word[0] != "-" or " " in word:
            return False
        if self._negative_number_matcher.match(word):
            return False
        start = word.partition("=")[0] if word.startswith("--") else word[:2]
        return not any(option.startswith(start) for option in self._option_string_actions)

    def _remedy(self, option: str) -> str:
        """Return what to write in place of an unknown option, or where to look."""
        if self._subparsers is not None and option in _OF_COMMANDS:
            return f" here; options of a command stand after it: {self.prog} COMMAND {option}"
        if option == "--box" and "--domain" in self._option_string_actions:
            return "; write a box as --domain box:-1,1"
        guess = nearest(option, self._option_string_actions)
        if guess is not None:
            return f"; did you mean {guess}? See {self.prog} --help"
        return f"; see {self.prog} --help"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error, with the nearest choice, for a value that is no choice of an action."""
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        guess = nearest(str(value), known)
        hint = f"; did you mean {guess}?" if guess else ""
        listed = f"choose from {', '.join(known)}"
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, f"unknown command {value!r}{hint} ({listed})")
        raise argparse.ArgumentError(action, f"invalid choice: {value!r}{hint} ({listed})")
