"""The next steps of an answer as command lines about the files that the user named."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from polyrelu.outcomes import (
    DecisionsOutcome,
    NextStep,
    PropertyOutcome,
    Proved,
    Refuted,
    Undecided,
)

__all__ = [
    "complex_steps",
    "fiber_steps",
    "next_texts",
    "steps_after_skipping",
    "with_commands",
]

_AnyAnswer: TypeAlias = Proved[Any] | Refuted | Undecided | PropertyOutcome | DecisionsOutcome
_Answer = TypeVar("_Answer", bound=_AnyAnswer)

#: Least dimension of a domain in which regions without faces are proposed.
_MANY_DIMENSIONS = 8
#: Largest dimension of a domain in which all cells are proposed in the place of regions alone.
_FEW_DIMENSIONS = 3
#: Domains that are not bounded.
_UNBOUNDED = ("R^n", "orthant")
#: Options that go on in steps with another command, by that command.
_SHARED = {"equivalent": ("domain",)}
#: Values of options that need not be written.
_IMPLIED = {
    "domain": "R^n",
    "gap": "1/100",
    "seed": 0,
    "margin": "0",
    "choose": "largest",
    "jobs": 1,
}
#: Options about the reading of networks, which every command has, with the values implied.
_READING = {
    "rounding": "",
    "normalisation": "none",
    "prefix": None,
    "input_shape": None,
    "output_name": None,
    "strip_tail": False,
    "no_compare": False,
    "read_limit": 1.0,
}


def with_commands(
    outcome: _Answer, options: argparse.Namespace, files: Sequence[str], own: Sequence[str] = ()
) -> _Answer:
    """Return an answer whose next steps are command lines.

    Parameters
    ----------
    outcome
        Any answer of a prover.
    options
        The command line that led to the answer.
    files
        The network files.
    own
        Names of the command's own options, which go on in steps with the same command.

    Returns
    -------
    Same type as outcome
        The answer.
    """
    if not outcome.next:
        return outcome
    is_written = getattr(options, "other", None) is not None
    wanted = [step for step in outcome.next if not (is_written and "--other" in step.command)]
    steps = tuple(_with_command(step, options, files, own) for step in wanted)
    changed: _Answer = replace(outcome, next=steps)
    return changed


def complex_steps(options: argparse.Namespace, dimension: int, is_complete: bool) -> list[str]:
    """Return the steps, in words, after `complex`: regions alone or a box if it has not finished.

    Regions alone take longer than the complex, so they are proposed where the complex may not fit
    into memory; in few dimensions the complex is proposed in their place.
    """
    if options.regions_only and dimension <= _FEW_DIMENSIONS:
        whole = NextStep(
            "compute all cells, which takes less time in few dimensions",
            "polyrelu.canonical_complex(net, domain)",
            ("complex", "NET"),
        )
        return [str(_with_command(whole, options, [options.network], ("domain",)))]
    if is_complete:
        return []
    steps = []
    if not options.regions_only and dimension >= _MANY_DIMENSIONS:
        steps.append(
            NextStep(
                "compute regions without their faces, in less memory though not in less time",
                "polyrelu.region_graph(net, domain)",
                ("complex", "NET", "--regions-only"),
            )
        )
    if options.domain == _IMPLIED["domain"]:
        steps.append(
            NextStep(
                "compute the part in a box",
                "polyrelu.canonical_complex(net, 'box:-1,1')",
                ("complex", "NET", "--domain", "box:-1,1"),
            )
        )
    own = ("domain", "regions_only")
    return [str(_with_command(step, options, [options.network], own)) for step in steps]


def fiber_steps(options: argparse.Namespace, is_known: bool) -> list[str]:
    """Return the step, in words, after `fiber` where other parameters may have the function."""
    if is_known or options.domain is not None:
        return []
    step = NextStep(
        "look for another network with the same function by further theorems, at any depth",
        "polyrelu.identify(net)",
        ("identify", "NET"),
    )
    return [str(_with_command(step, options, [options.network], ()))]


def steps_after_skipping(options: argparse.Namespace) -> tuple[NextStep, ...]:
    """Return the steps after a question that is not answered for a network that was read.

    They are about its file, on the bounded domain of the question if there is one; of two networks
    it can still be asked whether they are equal.
    """
    from polyrelu.proofs.next_steps import after_skipping

    domain, words = getattr(options, "domain", None), list[NextStep]()
    for step in after_skipping(options.skipping.network):
        if "--domain" in step.command and domain not in (None, *_UNBOUNDED):
            step = replace(step, command=(*step.command[:-1], domain))
        words.append(_with_command(step, options, [options.skipping_file], ()))
    if options.command == "deviation":
        equal = NextStep(
            "ask whether the networks are equal, which is answered for networks of all kinds",
            "polyrelu.equivalent(net, other, domain)",
            ("equivalent", "NET", "OTHER"),
        )
        files = [options.network, options.other]
        words.insert(0, _with_command(equal, options, files, ("domain",)))
    return tuple(words)


def next_texts(outcome: _AnyAnswer) -> list[str]:
    """Return the next steps of an answer in words, for the JSON object."""
    return [str(step) for step in outcome.next]


def _with_command(
    step: NextStep, options: argparse.Namespace, files: Sequence[str], own: Sequence[str]
) -> NextStep:
    is_same = step.command[0] == options.command
    wanted = own if is_same else _SHARED.get(step.command[0], ())
    names = [*_READING, *(name for name in own if name in wanted)]
    given: dict[str, str | list[str] | None] = {}
    for name in names:
        value = getattr(options, name, None)
        implied = (_READING | _IMPLIED).get(name)
        if value is not None and value is not False and value != implied:
            text = list(map(_text, value)) if isinstance(value, list) else _text(value)
            given[f"--{name.replace('_', '-')}"] = None if value is True else text
    return step.with_files(files, given)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
