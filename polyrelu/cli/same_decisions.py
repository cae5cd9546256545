"""The command `polyrelu same-decisions A B`: whether two classifiers choose the same class."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.answers import print_answer
from polyrelu.cli.equivalent import read_pair
from polyrelu.cli.options import (
    NETWORK_HELP,
    add_command,
    add_limits,
    add_reading,
    add_seed,
    exact_number,
    read_network,
)
from polyrelu.cli.output import (
    check_output,
    say_interrupted,
)
from polyrelu.cli.workers import WORKERS, add_workers, check_checkpoint, chosen_workers, with_kept
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.formats import Imported
    from polyrelu.outcomes import DecisionsOutcome

__all__ = ["add_same_decisions"]

#: Options that go on where a next step is the same command.
_CONTINUED = (
    "domain",
    "margin",
    "choose",
    "seed",
    "budget",
    "time_limit",
    "memory_limit",
    "output",
    *WORKERS,
)


def add_same_decisions(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "prove that a classifier chooses the class that another one chooses, wherever it chooses "
        "one, or find a point where it does not"
    )
    examples = (
        "same-decisions example:digits example:digits -o same.cert",
        "same-decisions example:digits example:digits --domain box:7.9,8 --margin 1/100",
    )
    parser = add_command(subparsers, "same-decisions", _run, summary, examples)
    parser.add_argument("network", metavar="NET", help=NETWORK_HELP)
    parser.add_argument("other", metavar="OTHER", help="the network that should decide alike")
    parser.add_argument(
        "--domain",
        default="R^n",
        help="where the decisions are compared, written as for `complex` (default R^n)",
    )
    parser.add_argument(
        "--margin",
        default="0",
        help="compare them where the chosen output of NET differs from all others by more than "
        "this (default 0)",
    )
    parser.add_argument(
        "--choose",
        choices=("largest", "smallest"),
        default="largest",
        help="which output is the class that a network chooses (default largest); smallest for "
        "costs, as in ACAS Xu",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CERT",
        help="write the certificate here (compressed if the name ends in .gz)",
    )
    add_seed(
        parser,
        "seed of the points tried (default 0); the same seed and budget give the same answer",
    )
    add_workers(parser)
    add_limits(parser, "work of the search, in units of about a millisecond (default: no limit)")
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts, with_commands
    from polyrelu.exact import format_rational
    from polyrelu.formats import parse_domain
    from polyrelu.proofs import same_decisions
    from polyrelu.support.interrupts import deferred_interrupt

    if options.output is not None:
        inputs = [options.network, options.other, options.domain.removeprefix("slice:")]
        check_output("-o", options.output, inputs)
    check_checkpoint(options, [options.network, options.other])
    margin = exact_number(options.margin, "--margin")
    pair = read_pair(options, read_network)
    domain = parse_domain(options.domain, pair[0].network.num_inputs)
    with deferred_interrupt(say_interrupted), ProgressLine() as line:
        outcome = same_decisions(
            pair[0].network,
            pair[1].network,
            domain,
            margin=margin,
            choose=options.choose,
            seed=options.seed,
            budget=options.limits,
            workers=chosen_workers(options),
            checkpoint=options.checkpoint,
            progress=line.show,
        )
    outcome = with_kept(outcome, options)
    outcome = with_commands(outcome, options, [options.network, options.other], _CONTINUED)
    written = _write_certificate(options, outcome, pair)
    asked = {"margin": format_rational(margin), "choose": options.choose}
    answer = {**asked, **_answer(outcome), "next": next_texts(outcome)}
    return print_answer(options, outcome, started, answer, pair, written)


def _answer(outcome: DecisionsOutcome) -> dict[str, Any]:
    """Return the entries of the JSON object about an outcome."""
    from polyrelu.exact import format_rational
    from polyrelu.outcomes import DifferentDecisions, SameDecisions

    answer: dict[str, Any] = {
        "statement": outcome.statement,
        "classes": None,
        "factor": None,
        "witness": None,
        "best": None,
    }
    if isinstance(outcome, SameDecisions):
        answer["classes"] = list(outcome.classes)
        answer["factor"] = None if outcome.factor is None else format_rational(outcome.factor)
    if isinstance(outcome, DifferentDecisions):
        answer["witness"] = outcome.witness.to_json()
        answer["best"] = [list(outcome.first_best), list(outcome.second_best)]
    return answer


def _write_certificate(
    options: argparse.Namespace, outcome: DecisionsOutcome, pair: tuple[Imported, Imported]
) -> list[Path]:
    """Write the certificate, if there is one and it is wanted; return the files."""
    from polyrelu.outcomes import SameDecisions

    if options.output is None or not isinstance(outcome, SameDecisions):
        return []
    second = {f"other-{key}": value for key, value in pair[1].provenance.items()}
    return outcome.with_provenance({**pair[0].provenance, **second}).save(options.output)
