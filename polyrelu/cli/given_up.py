"""Commands without an answer of their own, and the answer *undecided* in its place.

A limit or Ctrl-C has ended the command, or it does not cover networks of this kind.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace

from polyrelu.cli.output import EXIT, show, show_error

__all__ = [
    "finished_text",
    "interrupted_text",
    "larger_limit",
    "memory_ran_out",
    "report_given_up",
    "report_not_covered",
    "undecided_object",
    "why_ended",
    "with_more",
]

_NO_MEMORY = "the memory ran out; nothing was written"

#: The options of limits, by the begin of the reason that names them, and the least proposal.
_LIMITS = {"the time limit": ("--time-limit", 60), "the memory limit": ("--memory-limit", 1024)}
#: By how much larger the limit of the next step is.
_FACTOR = 10


def why_ended(options: argparse.Namespace) -> str:
    """Return in words why a computation ended early: a limit, or Ctrl-C."""
    return options.watch.reason or "interrupted"


def interrupted_text(options: argparse.Namespace) -> str:
    """Return what to say when Ctrl-C ended a command before it could give an answer."""
    kept = getattr(options, "checkpoint", None)
    if kept is None or not os.path.exists(kept):
        return "interrupted; nothing was written"
    return f"interrupted; {finished_text(kept)}"


def finished_text(checkpoint: str, more: str = "") -> str:
    """Return in words where finished work is kept; `more` says how the next command differs."""
    return f"finished tasks are in {checkpoint}; the same command{more} goes on from there"


def memory_ran_out(options: argparse.Namespace) -> str:
    """Return what to say when the memory ran out: a remedy that the command has."""
    smaller = ["network"]
    smaller += ["domain"] if hasattr(options, "domain") else []
    smaller += ["--budget"] if hasattr(options, "budget") else []
    *most, last = smaller
    named = f"{', '.join(most)} or {last}" if most else last
    return f"{_NO_MEMORY}; a smaller {named} takes less"


def larger_limit(options: argparse.Namespace) -> list[str]:
    """Return the command with more of the limit that ended it, in words; empty after Ctrl-C."""
    return _steps(options.given, why_ended(options))


def report_given_up(options: argparse.Namespace, limit: str | None) -> int:
    """Say which limit ended a command, and how to go on; Ctrl-C if it was none.

    The limit is an answer, on stdout. What Ctrl-C has ended is a line on stderr.
    """
    reason = interrupted_text(options) if limit is None else limit
    if limit is not None and not limit.startswith(_NO_MEMORY):
        reason = f"{limit}; nothing was written"
    steps = [] if limit is None else _steps(options.given, limit)
    if options.json:
        print(json.dumps(undecided_object(options.command, reason, steps)))
    elif limit is not None:
        show(f"undecided: {reason}", *(f"next: {step}" for step in steps))
    if limit is None:
        # another Ctrl-C may come while the colours are imported
        show_error(f"polyrelu: {reason}", is_plain=True)
    return EXIT["undecided"]


def report_not_covered(options: argparse.Namespace, problem: str) -> int:
    """Say that a question is not answered for networks of this kind, and what takes them."""
    from polyrelu.cli.next_steps import steps_after_skipping
    from polyrelu.cli.options import named_operations
    from polyrelu.outcomes import Undecided

    outcome = Undecided(named_operations(options, problem))
    if hasattr(options, "skipping"):
        outcome = replace(outcome, next=steps_after_skipping(options))
    if options.json:
        steps = list(map(str, outcome.next))
        print(json.dumps(undecided_object(options.command, outcome.reason, steps)))
    else:
        show(str(outcome))
    return EXIT["undecided"]


def undecided_object(
    command: str | None, reason: str, steps: Sequence[str] = ()
) -> dict[str, object]:
    """Return the JSON object of a command that was given up."""
    return {"command": command, "status": "undecided", "reason": reason, "next": list(steps)}


def _steps(given: Sequence[str], limit: str) -> list[str]:
    """Return the same command with more of the limit, if it is one."""
    for begin, (option, least) in _LIMITS.items():
        if limit.startswith(begin):
            words = ["polyrelu", *with_more(given, option, least)]
            return [f"allow more: {shlex.join(words)}"]
    return []


def with_more(given: Sequence[str], option: str, least: int) -> list[str]:
    """Return a command line with a larger value of an option, which may be abbreviated.

    The value is `least`, or ten times the one that was given.
    """
    words = list(given)
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if len(name) > 2 and option.startswith(name):
            old = value if equals else words[place + 1]
            more = f"{max(_FACTOR * float(old), least):g}"
            return [*words[:place], option, more, *words[place + 1 + (not equals) :]]
    return [*words, option, str(least)]
