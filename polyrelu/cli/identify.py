"""The command `polyrelu identify NET`: whether the function determines the parameters."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import (
    add_command,
    add_limits,
    add_network,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import (
    EXIT,
    check_output,
    print_object,
    print_reading,
    reading,
    say_interrupted,
    show,
    written_cost,
    written_lines,
)
from polyrelu.cli.workers import add_workers, check_checkpoint, chosen_workers
from polyrelu.errors import CertificateError
from polyrelu.support.check_cost import CheckCost
from polyrelu.support.display import count_text
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.progress import ProgressLine, ProgressStep

if TYPE_CHECKING:
    from polyrelu.exact import Polyhedron
    from polyrelu.formats import Imported
    from polyrelu.network import Network
    from polyrelu.outcomes import Outcome, PartlyIdentifiable

__all__ = ["add_identify"]

#: Options that go on where a next step is the same command.
_CONTINUED = (
    "domain",
    "among",
    "seed",
    "budget",
    "time_limit",
    "memory_limit",
    "jobs",
    "dask",
    "checkpoint",
    "output",
    "other",
)


def add_identify(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "prove or refute that the function determines the parameters, up to permutation and "
        "positive scaling"
    )
    examples = (
        "identify example:digits -o digits.cert.json",
        "identify example:hidden --other other.json",
    )
    parser = add_command(subparsers, "identify", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="CERT",
        help="write the certificate here; if undecided, that of what is proved in part",
    )
    parser.add_argument(
        "--among",
        choices=["all", "regular", "sparse", "transversal", "generic"],
        help="class of competitors (all contains every other one; regular and sparse contain "
        "transversal, which contains generic); by default that of the first "
        "theorem that applies",
    )
    parser.add_argument(
        "--domain",
        default="R^n",
        help="where the functions agree, outside of which competitors may differ: R^n (default), "
        "orthant, box:lo,hi, box:lo0,hi0;lo1,hi1;…, or a JSON or VNN-LIB file; with an interior",
    )
    parser.add_argument(
        "--other", metavar="FILE", help="if refuted, write the other network here (native .json)"
    )
    parser.add_argument(
        "--functional-dimension",
        action="store_true",
        help="also bound the functional dimension, the rank of the derivatives by the parameters "
        "(`polyrelu dimension` writes its certificate)",
    )
    _add_search(parser)
    add_reading(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options about the search of ridges."""
    add_seed(
        parser,
        "seed of the searches (default 0); the same seed and budget give the same answer "
        "and certificate on every machine",
    )
    add_limits(
        parser,
        "most work that the search of networks with two or more hidden layers may take, in units "
        "of about a millisecond (default 60000; inf: until it finds nothing new; 0: no search); "
        "if it is not enough, the answer is undecided",
    )
    add_workers(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts, with_commands
    from polyrelu.formats import parse_domain
    from polyrelu.proofs.identify import SETTINGS

    _check_files(options)
    if options.budget is None:
        options.limits.work = SETTINGS.budget
    imported = read_network(options, options.network)
    domain = parse_domain(options.domain, imported.network.num_inputs)
    outcome, last_step = _search(options, imported.network, domain)
    outcome = with_commands(_named(outcome, imported), options, [options.network], _CONTINUED)
    written = _write_files(options, outcome, imported.provenance)
    cost = written_cost(options, _without_other(options, written))
    if options.json:
        print_object(
            options,
            outcome.status,
            started,
            certificate=str(written[-1]) if written and options.output else None,
            files=[str(path) for path in written],
            check_cost=cost and cost.to_json(),
            **_answer(outcome, options.domain),
            **_dimension(outcome),
            next=next_texts(outcome),
            **reading(imported),
        )
    else:
        show(str(outcome))
        print_reading(imported)
        lines = [
            *_written_lines(options, outcome, written, cost),
            *_checkpoint_lines(options, last_step),
        ]
        if lines:
            show(*lines)
    return EXIT[outcome.status]


def _named(outcome: Outcome, imported: Imported) -> Outcome:
    """Return the outcome with the operations named because of which no theorem applies."""
    from polyrelu.outcomes import Undecided
    from polyrelu.proofs.identify import NOT_PLAIN

    if not isinstance(outcome, Undecided) or outcome.reason != NOT_PLAIN:
        return outcome
    names = imported.skipping or ("connections that skip layers",)
    reason = (
        f"no theorem here proves that networks with {' and '.join(names)} are identifiable, except "
        "stacks of leaky ReLUs of one slope that is positive and not 1, and no other network with "
        "the same function was found (the commands complex, topology, plot, equivalent and "
        "runtime-error take them)"
    )
    return replace(outcome, reason=reason)


def _search(
    options: argparse.Namespace, network: Network, domain: Polyhedron
) -> tuple[Outcome, ProgressStep | None]:
    """Return the outcome, and the last step of the search of ridges if there was one."""
    from polyrelu.proofs import identify

    steps: list[ProgressStep] = []

    def interrupted() -> None:
        """Raise an interrupt before the search of ridges, which alone has something to keep."""
        if not steps:
            raise KeyboardInterrupt
        say_interrupted()

    with deferred_interrupt(interrupted), ProgressLine() as line:

        def progress(step: ProgressStep) -> None:
            """Show a step, and keep it: Ctrl-C before the first one ends the command."""
            steps[:] = [step]
            line.show(step)

        outcome = identify(
            network,
            domain,
            among=options.among,
            seed=options.seed,
            budget=options.limits,
            checkpoint=options.checkpoint,
            workers=chosen_workers(options),
            functional_dimension=options.functional_dimension,
            progress=progress,
        )
    return outcome, steps[0] if steps else None


def _check_files(options: argparse.Namespace) -> None:
    """Raise an error for outputs that cannot be written or would overwrite a file in use."""
    kept = [] if options.checkpoint is None else [options.checkpoint]
    inputs = [options.network, options.domain.removeprefix("slice:")]
    for option, name in (("-o", options.output), ("--other", options.other)):
        if name is not None:
            check_output(option, name, [*inputs, *kept])
    if options.other is not None and Path(options.other).suffix.lower() != ".json":
        raise CertificateError(
            f"--other {options.other}: the other network is written exactly, as .json; `polyrelu "
            "convert` writes other formats"
        )
    if (
        options.output
        and options.other
        and os.path.realpath(options.output) == os.path.realpath(options.other)
    ):
        raise CertificateError(
            f"--other {options.other}: the certificate is to be written to this file; choose two "
            "names"
        )
    check_checkpoint(options, inputs)


def _write_files(
    options: argparse.Namespace, outcome: Outcome, provenance: dict[str, str]
) -> list[Path]:
    """Write certificate and other network, both or none; return the files, the certificate last."""
    from polyrelu.formats import save
    from polyrelu.outcomes import NotIdentifiable, Undecided

    also = (
        {Path(options.other): outcome.other}
        if options.other and isinstance(outcome, NotIdentifiable)
        else {}
    )
    proved = outcome.part if isinstance(outcome, Undecided) else outcome
    if options.output and proved is not None:
        return proved.with_provenance(provenance).certificate.save(options.output, also=also)
    for path, network in also.items():
        save(network, path)
    return list(also)


def _without_other(options: argparse.Namespace, written: Sequence[Path]) -> list[Path]:
    """Return the files of the certificate, the certificate last."""
    return [path for path in written if path != Path(options.other or "")]


def _written_lines(
    options: argparse.Namespace, outcome: Outcome, written: list[Path], cost: CheckCost | None
) -> list[str]:
    """Return lines of text about the files that were written."""
    lines = written_lines(options.output, _without_other(options, written), cost)
    if options.other:
        refuted = outcome.status == "refuted"
        lines.append(
            f"other network: {options.other}"
            if refuted
            else "no other network was written: not refuted"
        )
    return lines


def _part_object(part: PartlyIdentifiable | None) -> dict[str, Any] | None:
    """Return what was proved in part, for the JSON object."""
    if part is None:
        return None
    certificate = part.certificate
    return {
        "theorem": certificate.theorem,
        "competitors": certificate.claim.among,
        **{
            key: value
            for key, value in certificate.claim.terms().items()
            if key in ("layers", "neurons")
        },
        "statement": str(certificate.claim),
    }


def _checkpoint_lines(options: argparse.Namespace, last_step: ProgressStep | None) -> list[str]:
    """Return lines of text about the file of the search."""
    if options.checkpoint is None:
        return []
    if last_step is None:
        return [f"no walk was made: nothing new for {options.checkpoint}"]
    ridges = count_text([(int(last_step.details["ridges"]), "ridge")])
    return [
        f"search kept: {options.checkpoint} ({ridges}; the same command, also with a "
        "larger budget, goes on from there)"
    ]


def _dimension(outcome: Outcome) -> dict[str, Any]:
    """Return the entry of the JSON object about the functional dimension, if it was asked for."""
    bound = outcome.dimension
    if bound is None:
        return {}
    bounds = {"at_least": bound.at_least, "at_most": bound.at_most}
    return {"functional_dimension": bounds}


def _answer(outcome: Outcome, domain: str) -> dict[str, Any]:
    """Return the entries of the JSON object about the outcome."""
    from polyrelu.outcomes import Identifiable, NotIdentifiable, Undecided

    if isinstance(outcome, Undecided):
        attempts = [
            {"theorem": attempt.theorem, "reason": attempt.reason, "missing": list(attempt.missing)}
            for attempt in outcome.attempts
        ]
        return {
            "theorem": None,
            "competitors": None,
            "domain": domain,
            "hypotheses": [],
            "assumed": [],
            "reason": outcome.reason,
            "attempts": attempts,
            "part": _part_object(outcome.part),
        }
    certificate, claim = outcome.certificate, outcome.certificate.claim
    answer: dict[str, Any] = {
        "theorem": certificate.theorem,
        "competitors": claim.among,
        "domain": domain,
        "hypotheses": [hypothesis.to_json() for hypothesis in certificate.hypotheses],
        "assumed": [],
        "membership": outcome.membership if isinstance(outcome, Identifiable) else "verified",
        "statement": str(certificate.claim),
    }
    if isinstance(outcome, NotIdentifiable):
        answer |= {"why": outcome.explanation, "other_sha256": outcome.other.sha256}
    return answer
