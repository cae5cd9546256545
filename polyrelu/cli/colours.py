"""Colours of the words that matter, for terminals; imported only when one of them shows something.

The text stays as it is: rich adds colours, and neither wraps lines nor reads markup in them.
"""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.theme import Theme

__all__ = ["print_coloured"]


class _Words(RegexHighlighter):
    """Words that begin lines: labels, and verdicts, also in brackets; the last match counts."""

    base_style = "polyrelu."
    highlights = [  # noqa: RUF012 - the base class declares it so
        r"(?m)^(?P<label>[a-z][a-z0-9_ ]*:) ",
        r"(?m)^(?P<label>[a-z][a-z0-9_]*)  ",
        r"(?m)^(?P<label>example:[\w-]+)",
        r"(?m)^ *\[?(?P<good>proved|accepted|verified|ok|holds)\b",
        r"(?m)^ *\[?(?P<bad>refuted|rejected|fails)\b",
        r"(?m)^ *\[?(?P<open>undecided|interrupted|unchecked)\b",
        r"(?m)(?:^|: )(?P<open>caution|no certificate)\b",
        r"(?m)^(?P<bad>polyrelu:)",
    ]


_THEME = Theme(
    {
        "polyrelu.good": "bold green",
        "polyrelu.bad": "bold red",
        "polyrelu.open": "bold yellow",
        "polyrelu.label": "cyan",
    }
)


def print_coloured(text: str, stream: TextIO) -> None:
    """Print a text with a newline on a terminal."""
    console = Console(file=stream, theme=_THEME, highlighter=_Words(), soft_wrap=True)
    console.print(text, markup=False, emoji=False)
