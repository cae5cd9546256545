"""The command `polyrelu injective NET`: whether different inputs have different outputs."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from polyrelu.cli.options import (
    UsageError,
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
from polyrelu.cli.workers import (
    WORKERS,
    add_workers,
    check_checkpoint,
    chosen_workers,
    with_kept,
)
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.exact import Polyhedron
    from polyrelu.formats import Imported
    from polyrelu.outcomes import Injective, InverseLipschitz, NotInjective, Undecided
    from polyrelu.proofs import ExactConstant

    Answer: TypeAlias = Injective | InverseLipschitz | NotInjective | Undecided

__all__ = ["add_injective"]

#: The default of --budget, as in `proofs.injectivity`.
_BUDGET = 600_000
#: Options that go on where a next step is the same command.
_CONTINUED = (
    "layer",
    "lipschitz",
    "exact",
    "left_inverse",
    "domain",
    "seed",
    "budget",
    "time_limit",
    "memory_limit",
    *WORKERS,
    "output",
)


def add_injective(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "prove that different inputs have different outputs, or find two with equal ones"
    examples = (
        "injective example:digits --layer 1 --domain orthant",
        "injective net.onnx --domain box:-1,1 -o injective.cert.json",
    )
    parser = add_command(subparsers, "injective", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--layer",
        metavar="K",
        help="ask about the map of layer K alone, or of layers K-L (1-2: the first two), from 1; "
        "by default about the whole network",
    )
    parser.add_argument(
        "--domain",
        default="R^n",
        help="inputs of the first of the layers: R^n (the default), orthant, box:lo,hi, "
        "'box:lo0,hi0;lo1,hi1;…', slice:FILE, FILE.json or FILE.vnnlib, as for "
        "`complex`",
    )
    parser.add_argument(
        "--lipschitz",
        action="store_true",
        help="instead, bound the inverse Lipschitz constant (the least factor by which distances "
        "change) from both sides",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="with --lipschitz, for one ReLU layer of at most three inputs on R^n: compute the "
        "constant exactly as well (without a certificate)",
    )
    parser.add_argument(
        "--left-inverse",
        metavar="G",
        nargs="?",
        const="",
        help="instead, prove it by a network that maps the outputs back to the inputs: the one in "
        "the file G, or one that is searched; the certificate contains it",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CERT",
        help="write the certificate here",
    )
    add_seed(
        parser,
        "seed of the local search (default 0); the same seed and budget give the same answer "
        "and certificate on every machine",
    )
    add_limits(
        parser,
        f"work of the question, in units of about a millisecond (default {_BUDGET}; inf: no limit)",
    )
    parser.set_defaults(budget=_BUDGET)
    add_workers(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts, with_commands
    from polyrelu.formats import parse_domain
    from polyrelu.proofs.injectivity.parts import layer_range, part_of
    from polyrelu.support.interrupts import deferred_interrupt

    if options.lipschitz and options.left_inverse is not None:
        raise UsageError("--lipschitz and --left-inverse: two questions; ask one of them")
    if options.exact and not options.lipschitz:
        raise UsageError("--exact: an option of --lipschitz")
    if options.output is not None:
        inputs = [options.network, options.domain.removeprefix("slice:")]
        inputs += [options.left_inverse] if options.left_inverse else []
        check_output("-o", options.output, inputs)
    other = options.lipschitz or options.left_inverse is not None
    given = [name for name in WORKERS if getattr(options, name) not in (None, 1)]
    if given and other:
        raise UsageError(f"--{given[0]}: for the question without --lipschitz and --left-inverse")
    check_checkpoint(options, [options.network, options.domain.removeprefix("slice:")])
    imported = read_network(options, options.network)
    layers = layer_range(_layers(options.layer), imported.network.depth)
    num_inputs = part_of(imported.network, *layers).num_inputs
    domain = parse_domain(options.domain, num_inputs)
    exact = None
    with deferred_interrupt(say_interrupted), ProgressLine() as line:
        if options.exact:
            exact = _exact(options, imported, layers)
        outcome = _outcome(options, imported, domain, layers, line)
    outcome = with_kept(outcome, options)
    outcome = with_commands(outcome, options, [options.network], _CONTINUED)
    written = _write_certificate(options, outcome)
    cost = written_cost(options, written)
    if options.json:
        print_object(
            options,
            outcome.status,
            started,
            domain=options.domain,
            layers=list(layers),
            **_answer(outcome),
            **({"exact": exact and exact.to_json()} if options.exact else {}),
            next=next_texts(outcome),
            certificate=str(written[-1]) if written else None,
            files=[str(path) for path in written],
            check_cost=cost and cost.to_json(),
            **reading(imported),
        )
    else:
        show(str(outcome), *([str(exact)] if exact else []))
        print_reading(imported)
        lines = written_lines(options.output, written, cost, outcome.status == "refuted")
        if lines:
            show(*lines)
    return EXIT[outcome.status]


def _exact(
    options: argparse.Namespace, imported: Imported, layers: tuple[int, int]
) -> ExactConstant | None:
    """Return the exact constant, or None if a limit was reached."""
    from polyrelu.outcomes import Undecided
    from polyrelu.proofs import exact_inverse_lipschitz

    if layers[0] < layers[1] or options.domain not in ("R^n", ""):
        raise UsageError("--exact: one layer (--layer) on R^n")
    found = exact_inverse_lipschitz(imported, layer=layers[0], budget=options.limits)
    return None if isinstance(found, Undecided) else found


def _outcome(
    options: argparse.Namespace,
    imported: Imported,
    domain: Polyhedron,
    layers: tuple[int, int],
    line: ProgressLine,
) -> Answer:
    """Ask the question that the options choose."""
    from polyrelu.proofs import injective, inverse_lipschitz, left_inverse

    shared: dict[str, Any] = {"layers": layers, "seed": options.seed, "budget": options.limits}
    if options.left_inverse is not None:
        given = options.left_inverse
        inverse = read_network(options, given).network if given else None
        return left_inverse(imported, domain, inverse=inverse, **shared)
    if options.lipschitz:
        return inverse_lipschitz(imported, domain, progress=line.show, **shared)
    return injective(
        imported,
        domain,
        progress=line.show,
        workers=chosen_workers(options),
        checkpoint=options.checkpoint,
        **shared,
    )


def _layers(text: str | None) -> int | tuple[int, int] | None:
    """Return the layers of --layer."""
    if text is None:
        return None
    found = re.fullmatch("([0-9]{1,9})(?:-([0-9]{1,9}))?", text, re.ASCII)
    if found is None:
        raise UsageError(f"--layer {text[:40]!r}: expected a layer such as 2, or 1-3 for a part")
    return int(found[1]), int(found[2] or found[1])


def _write_certificate(options: argparse.Namespace, outcome: Answer) -> list[Path]:
    """Write the certificate, if there is one and it is wanted; return the files."""
    from polyrelu.outcomes import Undecided

    if options.output is None or isinstance(outcome, Undecided):
        return []
    return outcome.save(options.output)


def _answer(outcome: Answer) -> dict[str, Any]:
    """Return the entries of the JSON object about the outcome."""
    from polyrelu.exact import format_rational
    from polyrelu.outcomes import InverseLipschitz, NotInjective, Undecided

    answer: dict[str, Any] = {
        "theorem": outcome.theorem,
        "hypotheses": [],
        "assumed": [],
        "witness": None,
    }
    if isinstance(outcome, Undecided):
        answer |= {"reason": outcome.reason, "attempts": list(map(str, outcome.attempts))}
    else:
        hypotheses = outcome.certificate.hypotheses
        answer["statement"] = outcome.statement
        answer["hypotheses"] = [
            {key: value for key, value in hypothesis.to_json().items() if key != "evidence"}
            for hypothesis in hypotheses
        ]
    if isinstance(outcome, NotInjective):
        answer["witness"] = outcome.witness.to_json()
    if isinstance(outcome, InverseLipschitz):
        answer["witness"] = outcome.witness.to_json()
        answer["at_least"] = format_rational(outcome.at_least)
        answer["at_most"] = format_rational(outcome.at_most)
    if outcome.search is not None:
        answer |= outcome.search.to_json()
    return answer
