"""The command `polyrelu equivalent A B`: whether two networks compute the same function."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.answers import print_answer
from polyrelu.cli.options import (
    NETWORK_HELP,
    add_command,
    add_limits,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import (
    check_output,
    print_reading,
    say_interrupted,
    show,
)
from polyrelu.cli.workers import WORKERS, add_workers, check_checkpoint, chosen_workers, with_kept
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.formats import FloatOutputs, Imported
    from polyrelu.outcomes import Equivalent, NotEquivalent, Undecided

__all__ = ["add_equivalent", "read_pair"]

#: Maximum number of outputs in floats that are printed for people.
_MAX_VALUES = 12
#: Rounded weights change outputs by less than their quotient by this number.
_SMALL = 1000
#: Hints about a normalisation that one of two networks has.
_ABOUT_NORMALISATION = {
    "left out": "{} has a normalisation, which is no part of the network; --normalisation inputs, "
    "outputs or both makes it one",
    "folded in": "the normalisation of {} is part of the network; --normalisation none leaves it "
    "out",
}
#: Options that go on where a next step is the same command.
_CONTINUED = ("domain", "seed", "budget", "time_limit", "memory_limit", "output", *WORKERS)


def add_equivalent(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "prove that two networks compute the same function on a domain, or find a point where they "
        "differ"
    )
    examples = (
        "equivalent example:twins-a example:twins-b -o equal.cert",
        "equivalent net.onnx net.json --domain 'box:0,1;-1,1'",
    )
    parser = add_command(subparsers, "equivalent", _run, summary, examples)
    parser.add_argument("network", metavar="NET", help=NETWORK_HELP)
    parser.add_argument("other", metavar="OTHER", help="the network to compare it with")
    parser.add_argument(
        "--domain",
        default="R^n",
        help="where the functions are compared: R^n (the default), orthant, box:lo,hi, "
        "'box:lo0,hi0;lo1,hi1;…', slice:FILE, FILE.json or FILE.vnnlib, as for "
        "`complex`",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CERT",
        help="write the certificate here (compressed if the name ends in .gz)",
    )
    add_seed(
        parser,
        "seed of the points tried (default 0); the same seed and budget give the same answer "
        "and certificate on every machine",
    )
    add_workers(parser)
    add_limits(
        parser,
        "work of the comparison, in units of about a millisecond (default: no limit)",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import next_texts, with_commands
    from polyrelu.formats import parse_domain
    from polyrelu.proofs import equivalent
    from polyrelu.support.interrupts import deferred_interrupt

    _check_options(options)
    pair = read_pair(options, read_network)
    domain = parse_domain(options.domain, pair[0].network.num_inputs)
    with deferred_interrupt(say_interrupted), ProgressLine() as line:
        outcome = equivalent(
            pair[0].network,
            pair[1].network,
            domain,
            seed=options.seed,
            budget=options.limits,
            progress=line.show,
            workers=chosen_workers(options),
            checkpoint=options.checkpoint,
        )
    outcome = with_commands(
        with_kept(outcome, options), options, [options.network, options.other], _CONTINUED
    )
    floats = _float_outputs(pair, outcome)
    written = _write_certificate(options, outcome, pair)
    answer = {**_answer(outcome, floats), "next": next_texts(outcome)}

    def print_text() -> None:
        """Print the outcome, with outputs in floats."""
        _print_text(options, outcome, floats, pair)

    return print_answer(options, outcome, started, answer, pair, written, print_text)


def _check_options(options: argparse.Namespace) -> None:
    """Raise an error for a file that cannot be written."""
    inputs = [options.network, options.other, options.domain.removeprefix("slice:")]
    if options.output is not None:
        check_output("-o", options.output, inputs)
    check_checkpoint(options, inputs)


def read_pair(
    options: argparse.Namespace, read: Callable[..., Imported]
) -> tuple[Imported, Imported]:
    """Read both networks by `read_network`.

    An option that means nothing for the format of one file is used for the other file only.
    """
    from polyrelu.formats import choices_of

    choices = [choices_of(options.network), choices_of(options.other)]
    unused = [frozenset(theirs - own) for own, theirs in (choices, reversed(choices))]
    first, second = (
        read(options, name, left)
        for name, left in zip((options.network, options.other), unused, strict=True)
    )
    return first, second


def _float_outputs(
    pair: tuple[Imported, Imported], outcome: Equivalent | NotEquivalent | Undecided
) -> dict[str, FloatOutputs]:
    """Return the outputs of the runtimes at a point where the networks differ."""
    from polyrelu.formats import float_outputs
    from polyrelu.outcomes import NotEquivalent

    if not isinstance(outcome, NotEquivalent):
        return {}
    return {
        name: float_outputs(imported, outcome.witness.x)
        for name, imported in zip("fg", pair, strict=True)
    }


def _write_certificate(
    options: argparse.Namespace,
    outcome: Equivalent | NotEquivalent | Undecided,
    pair: tuple[Imported, Imported],
) -> list[Path]:
    """Write the certificate, if there is one and it is wanted; return the files."""
    from polyrelu.outcomes import Undecided

    if options.output is None or isinstance(outcome, Undecided):
        return []
    second = {f"other-{key}": value for key, value in pair[1].provenance.items()}
    return outcome.with_provenance({**pair[0].provenance, **second}).save(options.output)


def _answer(
    outcome: Equivalent | NotEquivalent | Undecided, floats: dict[str, FloatOutputs]
) -> dict[str, Any]:
    """Return the entries of the JSON object about the outcome."""
    from polyrelu.outcomes import Equivalent, NotEquivalent, Undecided

    answer: dict[str, Any] = {
        "theorem": None,
        "hypotheses": [],
        "assumed": [],
        "witness": None,
        "floats": None,
    }
    if isinstance(outcome, Undecided):
        answer["reason"] = outcome.reason
    else:
        certificate = outcome.certificate
        answer["theorem"] = outcome.theorem
        answer["hypotheses"] = [hypothesis.to_json() for hypothesis in certificate.hypotheses]
        answer["statement"] = str(certificate.claim)
    if isinstance(outcome, NotEquivalent):
        answer["witness"] = outcome.witness.to_json()
        answer["floats"] = {name: outputs.to_json() for name, outputs in floats.items()}
    if isinstance(outcome, Equivalent):
        answer["tree_bytes"] = outcome.certificate.log.size
    if outcome.search is not None:
        answer |= outcome.search.to_json()
    return answer


def _print_text(
    options: argparse.Namespace,
    outcome: Equivalent | NotEquivalent | Undecided,
    floats: dict[str, FloatOutputs],
    pair: tuple[Imported, Imported],
) -> None:
    """Print the outcome for people."""
    from polyrelu.outcomes import NotEquivalent

    show(str(outcome))
    for name, outputs in floats.items():
        values = ", ".join(map(repr, outputs.values[:_MAX_VALUES]))
        show(f"{name}(x) in floats: {values} ({outputs.runtime})")
    for name, imported in zip((options.network, options.other), pair, strict=True):
        print_reading(imported, f"{Path(name).name}: ")
    if isinstance(outcome, NotEquivalent):
        hint = _normalisation_hint(options, outcome, pair) or _rounding_hint(pair)
        if hint:
            show(f"hint: {hint}")


def _normalisation_hint(
    options: argparse.Namespace, outcome: NotEquivalent, pair: tuple[Imported, Imported]
) -> str:
    """Return a hint if one network alone has a normalisation, and the difference is a large one.

    Rounded weights make small differences.
    """
    hints = [
        _ABOUT_NORMALISATION[name].format(Path(path).name)
        for path, imported in zip((options.network, options.other), pair, strict=True)
        if (name := _normalisation(imported)) is not None
    ]
    values = zip(outcome.witness.f, outcome.witness.g, strict=True)
    is_large = any(_SMALL * abs(f - g) > max(abs(f), abs(g)) for f, g in values)
    return hints[0] if len(hints) == 1 and is_large else ""


def _normalisation(imported: Imported) -> str | None:
    """Return whether the file's normalisation is `left out` or `folded in`; None without one."""
    if any(caveat.startswith("the normalisation of the header") for caveat in imported.caveats):
        return "left out"
    return "folded in" if "normalisation: " in imported.rounding else None


def _rounding_hint(pair: tuple[Imported, Imported]) -> str:
    """Return a hint if decimal text was read exactly; empty otherwise."""
    if not any("text: exact" in imported.rounding for imported in pair):
        return ""
    return (
        "decimal text was read exactly; --rounding text=float32 reads it as a float32 runtime does"
    )
