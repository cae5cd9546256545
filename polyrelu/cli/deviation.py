"""The command `polyrelu deviation A B`: how far two networks are from each other."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from polyrelu.cli.answers import print_answer
from polyrelu.cli.equivalent import read_pair
from polyrelu.cli.options import (
    NETWORK_HELP,
    UsageError,
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
    from collections.abc import Sequence

    from polyrelu.formats import Imported
    from polyrelu.network import Network
    from polyrelu.outcomes import DeviationBounds, DeviationExceeded, RangeBounds, Undecided

    Answer: TypeAlias = DeviationBounds | DeviationExceeded | Undecided
    Decided: TypeAlias = DeviationBounds | DeviationExceeded | RangeBounds

__all__ = [
    "add_deviation",
    "add_search_options",
    "check_output_indices",
    "continued",
    "decided_part",
]

#: The default of --budget, as in `proofs.deviation`.
_BUDGET = 600_000
#: Options that go on where a next step is the same command.
_CONTINUED = (
    "domain",
    "at_most",
    "gap",
    "output_index",
    "seed",
    "budget",
    "time_limit",
    "memory_limit",
    "output",
    *WORKERS,
)


def add_deviation(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "bound the largest difference of two networks on a domain, from both sides"
    examples = (
        "deviation example:twins-a example:twins-b --domain box:-1,1 -o deviation.cert",
        "deviation net.onnx quantised.onnx --domain box:0,1 --at-most 1/100",
    )
    parser = add_command(subparsers, "deviation", _run, summary, examples)
    parser.add_argument("network", metavar="NET", help=NETWORK_HELP)
    parser.add_argument("other", metavar="OTHER", help="the network to compare it with")
    parser.add_argument(
        "--at-most",
        metavar="NUMBER",
        help="prove that no difference exceeds this number, or find a point where one does",
    )
    add_search_options(parser, "without --at-most, how far bounds may be apart: a share of them")


def add_search_options(parser: argparse.ArgumentParser, gap: str) -> None:
    """Add the options that `deviation` and `range` share; `gap` is what --gap means."""
    parser.add_argument(
        "--domain",
        required=True,
        help="a bounded domain: box:lo,hi, 'box:lo0,hi0;lo1,hi1;…', slice:FILE, FILE.json or "
        "FILE.vnnlib, as for `complex`",
    )
    parser.add_argument(
        "--gap",
        metavar="SHARE",
        default="1/100",
        help=f"{gap} (default 1/100)",
    )
    parser.add_argument(
        "--output-index",
        metavar="I",
        type=int,
        action="append",
        help="count this output only, from 0; may be given several times (default: all outputs)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CERT",
        help="write the certificate here (compressed if the name ends in .gz)",
    )
    add_seed(parser, "seed of the points that are tried (default 0)")
    add_workers(parser)
    add_limits(
        parser,
        f"work of the question, in units of about a millisecond (default {_BUDGET}; inf: no limit)",
    )
    parser.set_defaults(budget=_BUDGET)
    add_reading(parser)


def check_output_indices(options: argparse.Namespace, network: Network) -> None:
    """Refuse indices that no output of the network has."""
    last = network.num_outputs - 1
    for index in options.output_index or ():
        if not 0 <= index <= last:
            raise UsageError(f"--output-index {index}: expected an index from 0 to {last}")


def continued(options: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Return the options that go on in next steps; a budget that was not given does not."""
    return [name for name in names if name != "budget" or options.budget != _BUDGET]


def decided_part(outcome: Any) -> Any:
    """Return the answer, or the part of an open question that was decided; None without one."""
    from polyrelu.outcomes import Undecided

    return outcome.bounds if isinstance(outcome, Undecided) else outcome


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts, with_commands
    from polyrelu.formats import parse_domain
    from polyrelu.proofs import deviation
    from polyrelu.support.interrupts import deferred_interrupt

    if options.output is not None:
        inputs = [options.network, options.other, options.domain.removeprefix("slice:")]
        check_output("-o", options.output, inputs)
    check_checkpoint(options, [options.network, options.other])
    limit = None if options.at_most is None else exact_number(options.at_most, "--at-most")
    gap = exact_number(options.gap, "--gap")
    pair = read_pair(options, read_network)
    check_output_indices(options, pair[0].network)
    domain = parse_domain(options.domain, pair[0].network.num_inputs)
    with deferred_interrupt(say_interrupted), ProgressLine() as line:
        outcome = deviation(
            pair[0].network,
            pair[1].network,
            domain,
            at_most=limit,
            gap=gap,
            outputs=options.output_index,
            seed=options.seed,
            budget=options.limits,
            workers=chosen_workers(options),
            checkpoint=options.checkpoint,
            progress=line.show,
        )
    files, outcome = [options.network, options.other], with_kept(outcome, options)
    outcome = with_commands(outcome, options, files, continued(options, _CONTINUED))
    written = _write_certificate(options, outcome, pair)
    answer = {**_answer(outcome), "next": next_texts(outcome)}
    return print_answer(options, outcome, started, answer, pair, written)


def _write_certificate(
    options: argparse.Namespace, outcome: Answer, pair: tuple[Imported, Imported]
) -> list[Path]:
    """Write the certificate, if there is one and it is wanted; return the files."""
    decided = decided_part(outcome)
    if options.output is None or decided is None:
        return []
    second = {f"other-{key}": value for key, value in pair[1].provenance.items()}
    notes = {**pair[0].provenance, **second}
    files: list[Path] = decided.with_provenance(notes).save(options.output)
    return files


def _answer(outcome: Answer) -> dict[str, Any]:
    """Return the entries of the JSON object about the outcome."""
    from polyrelu.exact import format_rational
    from polyrelu.outcomes import DeviationBounds, Undecided

    decided = decided_part(outcome)
    answer: dict[str, Any] = {
        "theorem": None,
        "at_least": None,
        "at_most": None,
        "covered": None,
        "open_boxes": [],
        "witness": None,
    }
    if isinstance(outcome, Undecided):
        answer["reason"] = outcome.reason
    if decided is not None:
        answer["theorem"], answer["statement"] = decided.theorem, decided.statement
        answer["witness"] = decided.witness.to_json()
        answer["at_least"] = format_rational(decided.certificate.claim.at_least)
        answer |= decided.search.to_json()
    if isinstance(decided, DeviationBounds):
        answer["at_most"] = format_rational(decided.at_most)
        answer["covered"] = format_rational(decided.covered)
        answer["open_boxes"] = [box.to_json() for box in decided.open_boxes]
        answer["values_seen"] = list(map(format_rational, decided.values_seen))
    return answer
