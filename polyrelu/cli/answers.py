"""How commands with a certificate end: the answer is printed, and the exit status returned."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.output import (
    EXIT,
    print_object,
    print_reading,
    reading,
    show,
    written_cost,
    written_lines,
)

if TYPE_CHECKING:
    from polyrelu.formats import Imported

__all__ = ["print_answer"]


def print_answer(
    options: argparse.Namespace,
    outcome: Any,
    started: float,
    answer: dict[str, Any],
    read: Sequence[Imported],
    written: Sequence[Path],
    print_text: Callable[[], None] | None = None,
) -> int:
    """Print an answer, how networks were read and which files were written.

    `answer` has entries of the JSON object, `written` the files, the certificate last. Networks
    have the names `network` and `other` among the options. `print_text` prints the answer in words
    in place of this function.
    """
    cost = written_cost(options, written)
    if options.json:
        how = reading(read[0]) if len(read) == 1 else {"reading": [reading(one) for one in read]}
        print_object(
            options,
            outcome.status,
            started,
            domain=options.domain,
            **answer,
            certificate=str(written[-1]) if written else None,
            files=[str(path) for path in written],
            check_cost=cost and cost.to_json(),
            **how,
        )
        return EXIT[outcome.status]
    if print_text is None:
        show(str(outcome))
        _print_readings(options, read)
    else:
        print_text()
    lines = written_lines(options.output, written, cost, outcome.status == "refuted")
    if lines:
        show(*lines)
    return EXIT[outcome.status]


def _print_readings(options: argparse.Namespace, read: Sequence[Imported]) -> None:
    """Print how networks were read; two of them are named."""
    if len(read) == 1:
        print_reading(read[0])
        return
    for name, imported in zip((options.network, options.other), read, strict=True):
        print_reading(imported, f"{Path(name).name}: ")
