"""The command `polyrelu verify NET PROPERTY`: whether a property of VNN-LIB holds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import (
    NETWORK_HELP,
    UsageError,
    add_command,
    add_limits,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import (
    EXIT,
    EXIT_STATUS,
    check_output,
    print_object,
    print_reading,
    reading,
    say_interrupted,
    show,
    written_cost,
    written_lines,
)
from polyrelu.cli.workers import WORKERS, add_workers, check_checkpoint, chosen_workers, with_kept
from polyrelu.support.check_cost import CheckCost, check_command, largest_cost
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from fractions import Fraction

    from polyrelu.formats import CounterexampleCheck, Imported, VnnlibQuery
    from polyrelu.outcomes import PropertyOutcome

__all__ = ["add_verify"]

#: Options that go on where a next step is the same command.
_CONTINUED = ("seed", "budget", "time_limit", "memory_limit", "result", "output", *WORKERS)


#: What exit statuses mean.
_STATUSES = (
    f"{EXIT_STATUS} With --against: 1 the file has a counterexample, 3 it has none, 2 error."
)


def add_verify(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "prove that a property (VNN-LIB 1 or 2) holds for one network or two, or find an exact "
        "counterexample"
    )
    examples = (
        "verify net.onnx property.vnnlib -o proof.cert",
        "verify net.onnx property.vnnlib --time-limit 100 --result result.txt",
    )
    parser = add_command(subparsers, "verify", _run, summary, examples, _STATUSES)
    parser.add_argument(
        "networks",
        metavar="NET",
        nargs="+",
        help=f"{NETWORK_HELP}; for a property of two networks both of them, in the order of the "
        "property",
    )
    parser.add_argument(
        "property",
        metavar="PROPERTY",
        help="VNN-LIB file (.vnnlib or .vnnlib.gz) that says what a counterexample is",
    )
    parser.add_argument(
        "--against",
        metavar="FILE",
        help="check the counterexample of another verifier exactly, in the form of VNN-COMP or of "
        "VNN-LIB 2, and search for nothing: status 1 if it is one, 3 if it is none",
    )
    parser.add_argument(
        "--result",
        metavar="FILE",
        help="write the answer here in the form of VNN-COMP: unsat, unknown, timeout, or sat with "
        "the counterexample",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CERT",
        help="write the certificate here (compressed if the name ends in .gz); if the inputs lie "
        "in several sets, one for each: proof.1.cert, proof.2.cert, … for -o proof.cert",
    )
    add_seed(
        parser,
        "seed of the points tried (default 0); the same seed and budget give the same answer",
    )
    add_workers(parser)
    add_limits(parser, "work of the search, in units of about a millisecond (default: no limit)")
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts
    from polyrelu.formats import read_vnnlib

    _check_options(options)
    query = read_vnnlib(options.property)
    imported = [read_network(options, name) for name in options.networks]
    networks = _named(query, imported)
    if options.against is not None:
        return _check(options, started, query, networks)
    outcome = _outcome(options, query, networks)
    written = _write_certificates(options, outcome, imported)
    cost = _check_cost(options, outcome, written)
    caution = _write_result(options, outcome, query, networks)
    if options.json:
        print_object(
            options,
            outcome.status,
            started,
            property=options.property,
            **_answer(outcome),
            next=next_texts(outcome),
            certificate=str(written[-1]) if written else None,
            check_cost=cost and cost.to_json(),
            files=[str(path) for path in written],
            result=options.result,
            reading=[reading(one) for one in imported],
        )
    else:
        show(str(outcome), *caution)
        for name, one in zip(options.networks, imported, strict=True):
            print_reading(one, f"{Path(name).name}: ")
        lines = _written_lines(options, outcome, written, cost)
        if lines:
            show(*lines)
    return EXIT[outcome.status]


def _outcome(
    options: argparse.Namespace, query: VnnlibQuery, networks: Mapping[str, Imported]
) -> PropertyOutcome:
    """Return the answer of the search, with what to try next."""
    from polyrelu.cli.next_steps import with_commands
    from polyrelu.proofs import verify
    from polyrelu.support.interrupts import deferred_interrupt

    with deferred_interrupt(say_interrupted), ProgressLine() as line:
        outcome = verify(
            networks,
            query,
            seed=options.seed,
            budget=options.limits,
            workers=chosen_workers(options),
            checkpoint=options.checkpoint,
            progress=line.show,
        )
    return with_commands(with_kept(outcome, options), options, options.networks, _CONTINUED)


def _check_options(options: argparse.Namespace) -> None:
    """Raise an error for a file that cannot be written, or for options that exclude each other."""
    inputs = [*options.networks, options.property]
    misplaced = next((name for name in options.networks if ".vnnlib" in Path(name).suffixes), None)
    if misplaced is not None:
        raise UsageError(
            f"{misplaced}: name the network files first, and the property last, in the place of "
            f"{options.property}"
        )
    for option, name in (("-o", options.output), ("--result", options.result)):
        if name is not None and options.against is not None:
            raise UsageError(f"{option} writes what a search finds; --against searches for nothing")
        if name is not None:
            check_output(option, name, inputs)
    check_checkpoint(options, inputs)


def _named(query: VnnlibQuery, imported: Sequence[Imported]) -> Mapping[str, Imported]:
    """Return the networks by their names in the query."""
    own = [declared.name for declared in query.networks if not declared.equal_to]
    names = [declared.name for declared in query.networks]
    chosen = own if len(imported) == len(own) else names
    if len(imported) != len(chosen):
        raise UsageError(
            f"{query.source} is about {len(own)} network{'s' * (len(own) != 1)}, "
            f"{len(imported)} given; name the network files first, in the order of the property, "
            "then the property"
        )
    return dict(zip(chosen, imported, strict=True))


# -- The answer ------------------------------------------------------------------------------------


def _answer(outcome: PropertyOutcome) -> dict[str, Any]:
    """Return the entries of the JSON object about an outcome."""
    from polyrelu.outcomes import PropertyFails, PropertyUndecided

    answer: dict[str, Any] = {
        "statement": outcome.statement,
        "cautions": list(outcome.doubts),
        "counterexample": None,
        "margin": [None, None],
    }
    if isinstance(outcome, PropertyFails):
        answer["counterexample"] = {
            name: _text(value) for name, value in outcome.counterexample.values.items()
        }
        answer["margin"] = [_text(outcome.check.margin), None]
    elif isinstance(outcome, PropertyUndecided):
        answer["margin"] = list(map(_text, outcome.margin))
    return answer


def _text(number: Fraction | None) -> str | None:
    from polyrelu.exact import format_rational

    return None if number is None else format_rational(number)


def _write_certificates(
    options: argparse.Namespace, outcome: PropertyOutcome, imported: Sequence[Imported]
) -> list[Path]:
    """Write the certificates, if there are some and they are wanted; return the files."""
    from polyrelu.outcomes import PropertyHolds

    if options.output is None or not isinstance(outcome, PropertyHolds):
        return []
    notes = dict(imported[0].provenance)
    for one in imported[1:]:
        notes |= {f"other-{key}": value for key, value in one.provenance.items()}
    return outcome.with_provenance(notes).save(options.output)


def _check_cost(
    options: argparse.Namespace, outcome: PropertyOutcome, written: Sequence[Path]
) -> CheckCost | None:
    """Return the cost of the check of the certificate that costs most."""
    from polyrelu.outcomes import PropertyHolds

    if not written or not isinstance(outcome, PropertyHolds):
        return None
    certificates = outcome.certificate_paths(options.output)
    beside = [path for path in written if path not in certificates]
    return largest_cost(
        written_cost(options, [*beside, path], share=len(certificates)) for path in certificates
    )


def _written_lines(
    options: argparse.Namespace,
    outcome: PropertyOutcome,
    written: Sequence[Path],
    cost: CheckCost | None,
) -> list[str]:
    """Return the lines about certificates."""
    from polyrelu.outcomes import PropertyHolds

    if options.output is not None and outcome.status == "refuted":
        return ["no certificate was written: the counterexample can be evaluated by itself"]
    if options.output is not None and outcome.status == "proved" and not written:
        return ["no certificate was written: there is nothing that could satisfy the query"]
    if isinstance(outcome, PropertyHolds) and len(outcome.certificates) > 1 and written:
        certificates = outcome.certificate_paths(options.output)
        names = " ".join(map(str, certificates))
        beside = [path for path in written if path not in certificates]
        return [
            f"certificates: {names} (check them: {check_command(certificates, cost)})",
            *(f"network file: {path} (keep it beside the certificates)" for path in beside),
            *(cost.lines() if cost else []),
        ]
    return written_lines(options.output, written, cost)


def _write_result(
    options: argparse.Namespace,
    outcome: PropertyOutcome,
    query: VnnlibQuery,
    networks: Mapping[str, Imported],
) -> list[str]:
    """Write the answer in the form of VNN-COMP; return a caution if its point is a rounded one."""
    from polyrelu.formats import check_counterexample, counterexample_text
    from polyrelu.outcomes import PropertyFails, PropertyHolds
    from polyrelu.support.text_files import write_all

    if options.result is None:
        return []
    path, caution = Path(options.result), list[str]()
    if isinstance(outcome, PropertyFails):
        write_all([(path, counterexample_text(query, outcome.counterexample.values))])
        check = check_counterexample(query, path, networks)
        if not check.is_counterexample:
            caution = [f"caution: {path} has rounded inputs, which are {check}"]
    elif isinstance(outcome, PropertyHolds):
        write_all([(path, "unsat")])
    else:
        write_all([(path, "timeout" if "time limit" in outcome.reason else "unknown")])
    return caution


# -- Counterexamples of others ---------------------------------------------------------------------


def _check(
    options: argparse.Namespace,
    started: float,
    query: VnnlibQuery,
    networks: Mapping[str, Imported],
) -> int:
    """Check a counterexample of another verifier, and print the result."""
    from polyrelu.formats import check_counterexample

    check = check_counterexample(query, options.against, networks)
    status = "refuted" if check.is_counterexample else "undecided"
    if options.json:
        print_object(
            options,
            status,
            started,
            property=options.property,
            against=options.against,
            is_counterexample=check.is_counterexample,
            failures=list(check.failures),
            margin=_text(check.margin),
            input_margin=_text(check.input_margin),
            largest_difference=_text(check.largest_difference),
            outputs=[[_text(value) for value in outputs] for outputs in check.outputs],
        )
    else:
        show(*_check_lines(options, check))
    return EXIT[status]


def _check_lines(options: argparse.Namespace, check: CounterexampleCheck) -> list[str]:
    """Return the result of a check for people."""
    from polyrelu.exact import decimal_above, decimal_below

    lines = [f"{options.against}: {check}", *check.failures]
    if check.input_margin is not None:
        where = "inside" if check.input_margin >= 0 else "outside"
        lines.append(f"inputs: {where}, margin {decimal_below(check.input_margin)}")
    if check.margin is not None:
        lines.append(f"outputs, computed exactly: margin {decimal_below(check.margin)}")
    if check.largest_difference is not None:
        difference = decimal_above(check.largest_difference)
        lines.append(f"outputs in the file: at most {difference} away from the exact ones")
    return lines
