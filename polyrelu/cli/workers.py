"""The options of commands whose work splits into tasks: jobs, a cluster, a checkpoint."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from polyrelu.cli.given_up import finished_text
from polyrelu.cli.options import UsageError
from polyrelu.cli.output import check_output

if TYPE_CHECKING:
    from polyrelu.support.parallel import Workers

__all__ = [
    "WORKERS",
    "add_checkpoint",
    "add_workers",
    "check_checkpoint",
    "chosen_workers",
    "kept_text",
    "with_kept",
]

#: Names of the options, which go on where a next step is the same command.
WORKERS = ("jobs", "dask", "checkpoint")

_Answer = TypeVar("_Answer")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="work in N processes of this machine; the result is the same (1)",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="work on the cluster of the Dask scheduler at this address, such as tcp://host:8786; "
        "the result is the same",
    )
    add_checkpoint(parser)


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add the option of a checkpoint alone, for work that does not split."""
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="keep what is done in this file, and go on from there if it exists",
    )


def chosen_workers(options: argparse.Namespace) -> Workers:
    """Return the workers that the options name."""
    from polyrelu.support.parallel import workers_for

    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs}: must be 1 or more")
    if options.dask is not None and options.jobs != 1:
        raise UsageError("--dask: the cluster decides how many jobs there are; leave out --jobs")
    return workers_for(options.jobs, options.dask)


def check_checkpoint(options: argparse.Namespace, taken: Sequence[str]) -> None:
    """Refuse a checkpoint that cannot be written, or would overwrite a file of the command."""
    if options.checkpoint is not None:
        output = getattr(options, "output", None)
        written = [output] if output is not None else []
        check_output("--checkpoint", options.checkpoint, [*taken, *written])


def with_kept(outcome: _Answer, options: argparse.Namespace) -> _Answer:
    """Return an answer that says where the work is kept, if it is open."""
    answer: Any = outcome
    if options.checkpoint is None or answer.status != "undecided":
        return outcome
    more = " with a larger budget" if "units of work" in answer.reason else ""
    kept = finished_text(options.checkpoint, more)
    changed: _Answer = replace(answer, reason=f"{answer.reason}: {kept}")
    return changed


def kept_text(options: argparse.Namespace) -> str:
    """Return in words what an interrupted command has kept."""
    if options.checkpoint is None:
        return "nothing was written; with --checkpoint FILE the work done would be kept"
    return finished_text(options.checkpoint)
