"""The command `polyrelu range NET`: which values the outputs take on a domain."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.answers import print_answer
from polyrelu.cli.deviation import (
    add_search_options,
    check_output_indices,
    continued,
    decided_part,
)
from polyrelu.cli.options import UsageError, add_command, add_network, exact_number, read_network
from polyrelu.cli.output import (
    check_output,
    say_interrupted,
)
from polyrelu.cli.workers import WORKERS, check_checkpoint, chosen_workers, with_kept
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from pathlib import Path

    from polyrelu.formats import Imported
    from polyrelu.outcomes import LipschitzBounds, RangeBounds, Undecided

__all__ = ["add_range"]

#: Options that go on where a next step is the same command.
_CONTINUED = (
    "domain",
    "lipschitz",
    "gap",
    "output_index",
    "seed",
    "budget",
    "time_limit",
    "memory_limit",
    "output",
    *WORKERS,
)


def add_range(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "bound the values of each output on a domain, or their Lipschitz constant"
    examples = (
        "range example:xor --domain box:-1,1 -o range.cert",
        "range net.onnx --domain box:0,1 --lipschitz 1 --output-index 0",
    )
    parser = add_command(subparsers, "range", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--lipschitz",
        metavar="NORM",
        choices=("1", "2", "inf"),
        help="bound the Lipschitz constant of the outputs instead: the largest norm of a gradient, "
        "1, 2 (its square) or inf",
    )
    add_search_options(
        parser,
        "how far bounds may be apart: a share of the length of the range, or of the Lipschitz "
        "constant",
    )


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts, with_commands
    from polyrelu.formats import parse_domain
    from polyrelu.proofs import lipschitz_bounds, output_range
    from polyrelu.support.interrupts import deferred_interrupt

    if options.output is not None:
        inputs = [options.network, options.domain.removeprefix("slice:")]
        check_output("-o", options.output, inputs)
    _check_options(options)
    gap = exact_number(options.gap, "--gap")
    imported = read_network(options, options.network)
    check_output_indices(options, imported.network)
    domain = parse_domain(options.domain, imported.network.num_inputs)
    with deferred_interrupt(say_interrupted), ProgressLine() as line:
        common = {
            "gap": gap,
            "outputs": options.output_index,
            "budget": options.limits,
            "progress": line.show,
        }
        network, norm = imported.network, options.lipschitz
        outcome: RangeBounds | LipschitzBounds | Undecided
        if norm is None:
            outcome = output_range(
                network,
                domain,
                seed=options.seed,
                workers=chosen_workers(options),
                checkpoint=options.checkpoint,
                **common,
            )
        else:
            outcome = lipschitz_bounds(network, domain, norm=norm, **common)
    outcome = with_kept(outcome, options)
    outcome = with_commands(outcome, options, [options.network], continued(options, _CONTINUED))
    written = _write_certificate(options, outcome, imported)
    answer = {**_answer(outcome), "next": next_texts(outcome)}
    return print_answer(options, outcome, started, answer, [imported], written)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse options that the search for a Lipschitz constant does not have."""
    check_checkpoint(options, [options.network])
    given = options.jobs != 1 or options.dask is not None or options.checkpoint is not None
    if options.lipschitz is not None and given:
        raise UsageError(
            "--lipschitz works in one process, without a checkpoint; leave out --jobs, --dask and "
            "--checkpoint"
        )
    if options.lipschitz is not None and options.seed:
        raise UsageError("--lipschitz makes no random choices; leave out --seed")


def _write_certificate(
    options: argparse.Namespace,
    outcome: RangeBounds | LipschitzBounds | Undecided,
    imported: Imported,
) -> list[Path]:
    """Write the certificate, if there is one and it is wanted; return the files."""
    decided = decided_part(outcome)
    if options.output is None or decided is None:
        return []
    files: list[Path] = decided.with_provenance(imported.provenance).save(options.output)
    return files


def _answer(outcome: RangeBounds | LipschitzBounds | Undecided) -> dict[str, Any]:
    """Return the entries of the JSON object about the outcome."""
    from polyrelu.exact import format_rational
    from polyrelu.outcomes import LipschitzBounds, Undecided

    decided = decided_part(outcome)
    answer: dict[str, Any] = {"theorem": None, "ranges": [], "lipschitz": None}
    if isinstance(outcome, Undecided):
        answer["reason"] = outcome.reason
    if decided is not None:
        answer["theorem"], answer["statement"] = decided.theorem, decided.statement
        if isinstance(decided, LipschitzBounds):
            bounds = list(map(format_rational, (decided.at_least, decided.at_most)))
            answer["lipschitz"] = {"norm": decided.norm, "bounds": bounds}
        else:
            answer["ranges"] = [found.to_json() for found in decided.ranges]
        answer |= decided.search.to_json()
    return answer
