"""The command `polyrelu recover`: a network from values of its function, or from its weights."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.given_up import with_more
from polyrelu.cli.options import (
    UsageError,
    add_command,
    add_limits,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import (
    EXIT,
    check_output,
    check_written_ending,
    print_object,
    show,
    written_cost,
    written_lines,
)
from polyrelu.cli.workers import add_checkpoint, check_checkpoint
from polyrelu.errors import DomainError
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.outcomes import TeachingSet
    from polyrelu.recovery import Recovery

__all__ = ["add_recover"]

#: The default of --queries, as in `recovery`.
_QUERIES = 200_000
#: Files of breakpoints are read up to this size, in bytes.
_SIZE_LIMIT = 1 << 26


def add_recover(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "rebuild a network from values of its function, or from its weighted breakpoints"
    examples = (
        "recover --oracle example:xor --domain box:-1,1 --certificate again.cert.json",
        "recover --oracle example:xor --teach points.cert.json",
    )
    parser = add_command(subparsers, "recover", _run, summary, examples)
    parser.add_argument(
        "weights",
        nargs="?",
        metavar="WEIGHTS",
        help="a JSON file of breakpoints, which `polyrelu complex --weights` writes",
    )
    parser.add_argument(
        "--oracle",
        dest="network",
        metavar="NET",
        help="instead, a network that is asked for its values only; what is recovered is compared "
        "with it by a proof",
    )
    parser.add_argument(
        "--domain",
        default="R^n",
        help="where --oracle may be asked: R^n (the default), orthant, box:lo,hi, "
        "'box:lo0,hi0;lo1,hi1;…', FILE.json or FILE.vnnlib, as for `complex`",
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=_QUERIES,
        metavar="N",
        help=f"ask for at most so many values (default {_QUERIES})",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the recovered network here (.json, .onnx, .npz, .nnet or .pt)",
    )
    parser.add_argument(
        "--certificate",
        metavar="CERT",
        help="write the certificate that it computes the function of --oracle here",
    )
    parser.add_argument(
        "--teach",
        metavar="CERT",
        help="instead of a search, write a certificate with points whose values determine the "
        "network --oracle, among all with one hidden layer that is not wider",
    )
    add_seed(parser, "seed of the random lines and points (default 0)")
    add_checkpoint(parser)
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import save
    from polyrelu.outcomes import Equivalent, NotEquivalent

    if (options.weights is None) == (options.network is None):
        raise UsageError("recover takes either a file of breakpoints or --oracle NET; give one")
    if options.certificate is not None and options.network is None:
        raise UsageError("--certificate needs --oracle, a network to compare with")
    if options.checkpoint is not None and (options.network is None or options.teach is not None):
        raise UsageError("--checkpoint keeps the values of --oracle that a search asks for")
    if options.teach is not None:
        return _teach(options, started)
    inputs = [name for name in (options.weights, options.network) if name is not None]
    for option, name in (("-o", options.output), ("--certificate", options.certificate)):
        if name is not None:
            check_output(option, name, inputs)
    if options.output is not None:
        check_written_ending("-o", options.output)
    check_checkpoint(options, [*inputs, *filter(None, [options.certificate])])
    found = _found(options)
    files = list[Path]()
    if options.output is not None and found.network is not None:
        save(found.network, options.output)
    outcome = found.outcome
    if options.certificate is not None and isinstance(outcome, Equivalent | NotEquivalent):
        files = outcome.save(options.certificate)
    cost = written_cost(options, files)
    if options.json:
        answer = _answer(options, found, files) | {"check_cost": cost and cost.to_json()}
        print_object(options, found.status, started, **answer)
    else:
        show(f"{found.status}. {found}")
        lines = [f"next: {step}" for step in _next_steps(options, found)]
        lines += [f"written: {options.output}"] if options.output and found.network else []
        lines += written_lines(options.certificate, files, cost)
        if lines:
            show(*lines)
    return EXIT[found.status]


def _teach(options: argparse.Namespace, started: float) -> int:
    """Find points that determine the network, and write the certificate."""
    from polyrelu.outcomes import TeachingSet
    from polyrelu.proofs import teaching_set

    if options.network is None:
        raise UsageError("--teach needs --oracle, the network that the points determine")
    if (options.domain, options.certificate) != ("R^n", None):
        raise UsageError("--teach is about R^n, and is the certificate itself; leave out others")
    for option, name in (("-o", options.output), ("--teach", options.teach)):
        if name is not None:
            check_output(option, name, [options.network])
    known = read_network(options, options.network).network
    outcome, files = teaching_set(known, seed=options.seed), list[Path]()
    taught = outcome if isinstance(outcome, TeachingSet) else None
    if taught is not None:
        files = taught.save(options.teach)
        if options.output is not None:
            _save_recovered(taught, options.output)
    cost = written_cost(options, files)
    if options.json:
        answer = {
            "statement": outcome.statement,
            "missing": [],
            "next": [],
            "network": None if taught is None else str(known.architecture),
            "sha256": None if taught is None else known.sha256,
            "queries": 0 if taught is None else len(taught.points),
            "lines": 0 if taught is None else len(taught.starts),
            "hyperplanes": known.widths[1],
            "sign_rank": None,
            "sign_solutions": None,
            "has_the_parameters": None if taught is None else taught.pins == "parameters",
            "output": options.output if files else None,
            "certificate": str(files[-1]) if files else None,
            "files": [str(path) for path in files],
            "check_cost": cost and cost.to_json(),
        }
        print_object(options, outcome.status, started, **answer)
    else:
        show(str(outcome))
        show(*written_lines(options.teach, files, cost))
    return EXIT[outcome.status]


def _save_recovered(outcome: TeachingSet, output: str) -> None:
    """Write the network that the values at the points determine."""
    from polyrelu.formats import save
    from polyrelu.recovery import recover_taught

    network = recover_taught(outcome)
    assert network is not None
    save(network, output)


def _found(options: argparse.Namespace) -> Recovery:
    """Recover what the options say."""
    from polyrelu.formats import parse_domain
    from polyrelu.recovery import recover, recover_weights

    with ProgressLine() as line:
        if options.network is None:
            document = _document(options.weights)
            try:
                return recover_weights(
                    document, seed=options.seed, max_queries=options.queries, progress=line.show
                )
            except DomainError as error:
                raise DomainError(f"{options.weights}: {error}") from None
        imported = read_network(options, options.network)
        return recover(
            imported.network,
            parse_domain(options.domain, imported.network.num_inputs),
            seed=options.seed,
            max_queries=options.queries,
            progress=line.show,
            checkpoint=options.checkpoint,
        )


def _next_steps(options: argparse.Namespace, found: Recovery) -> list[str]:
    """Return in words what may help where nothing is proved."""
    if found.status != "undecided":
        return []
    if found.network is None and found.num_queries >= options.queries:
        words = with_more(options.given, "--queries", 10 * options.queries)
        return [f"ask for more values: {shlex.join(['polyrelu', *words])}"]
    if found.network is not None and options.network is None and options.output is not None:
        command = f"polyrelu equivalent {shlex.quote(options.output)} NET"
        return [f"compare it with a network NET that you have: {command}"]
    return []


def _document(name: str) -> dict[str, Any]:
    """Return the object in a JSON file."""
    try:
        with Path(name).open("rb") as file:
            content = file.read(_SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DomainError(f"{name}: cannot read: {reason}") from None
    if len(content) > _SIZE_LIMIT:
        raise DomainError(f"{name}: more than {_SIZE_LIMIT} bytes; use the Python functions")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "no text" if isinstance(error, UnicodeDecodeError) else str(error)[:80]
        raise DomainError(
            f"{name}: not a JSON file of breakpoints ({reason}); `polyrelu complex NET --weights "
            "FILE` writes one, and --oracle NET takes a network"
        ) from None
    if not isinstance(document, dict):
        raise DomainError(f"{name}: expected an object with the keys of a file of breakpoints")
    return document


def _answer(options: argparse.Namespace, found: Recovery, files: list[Path]) -> dict[str, Any]:
    """Return the entries of the JSON object."""
    network = found.network
    return {
        "statement": found.statement,
        "missing": list(found.missing),
        "next": _next_steps(options, found),
        "network": None if network is None else str(network.architecture),
        "sha256": None if network is None else network.sha256,
        "queries": found.num_queries,
        "lines": found.num_lines,
        "hyperplanes": len(found.hyperplanes),
        "sign_rank": None if found.signs is None else found.signs.rank,
        "sign_solutions": None if found.signs is None else len(found.signs.solutions),
        "has_the_parameters": found.has_the_parameters,
        "output": options.output if network is not None else None,
        "certificate": str(files[-1]) if files else None,
        "files": [str(path) for path in files],
    }
