"""The command `polyrelu topology NET`: Betti numbers of sets that an output defines."""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from polyrelu.cli.given_up import larger_limit, why_ended
from polyrelu.cli.options import (
    UsageError,
    add_command,
    add_limits,
    add_network,
    add_reading,
    output_index,
    read_network,
)
from polyrelu.cli.output import entry_lines, print_object, print_reading, reading, show
from polyrelu.support.limits import NUMBER
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.complex import Subcomplex
    from polyrelu.exact import Polyhedron
    from polyrelu.network import Network
    from polyrelu.support.progress import Progress

__all__ = ["add_topology"]


def add_topology(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "Betti numbers of a level set, decision boundary or decision region, exactly"
    examples = (
        "topology example:bends --level -1/2",
        "topology example:xor --boundary --domain box:-2,2",
    )
    parser = add_command(subparsers, "topology", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--domain", default="R^n", help="R^n (the default) or any other, written as for `complex`"
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--level",
        metavar="C",
        help="where the output is C: 2, 0.5 or -1/3",
    )
    which.add_argument("--sublevel", metavar="C", help="where the output is at most C")
    which.add_argument("--superlevel", metavar="C", help="where the output is at least C")
    which.add_argument(
        "--boundary",
        action="store_true",
        help="where the largest output is attained at least twice; of a single output, where it is "
        "0",
    )
    which.add_argument(
        "--class",
        dest="label",
        metavar="K",
        help="where output K is the largest, K from 0 to the number of outputs - 1; of a single "
        "output f, class 0 is where f ≤ 0 and class 1 where f ≥ 0 (`label` in --json)",
    )
    parser.add_argument(
        "--output",
        metavar="K",
        help="which output a level is meant of, K from 0 to the number of outputs - 1; 0 is the "
        "default",
    )
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import parse_domain
    from polyrelu.support.interrupts import deferred_interrupt
    from polyrelu.topology import UnfinishedError

    asked = _asked(options)
    imported = read_network(options, options.network)
    network = imported.network
    domain = parse_domain(options.domain, network.num_inputs)
    answer: dict[str, object] = {"domain": options.domain, **asked}
    try:
        with deferred_interrupt(_say_stopping), ProgressLine() as line:
            part = _part(asked, network, domain, line.show)
    except UnfinishedError:
        is_complete = False
        answer |= dict.fromkeys(_HOMOLOGY_KEYS)
    else:
        is_complete = True
        answer |= _homology(part)
    answer["complete"] = is_complete
    reason = "" if is_complete else f"{why_ended(options)}: nothing is known of the set"
    steps = [] if is_complete else larger_limit(options)
    if options.json:
        status = "ok" if is_complete else "undecided"
        answer |= {"reason": reason or None, "next": steps}
        print_object(options, status, started, **answer, **reading(imported))
    else:
        words = {"label": f"class (0 to {max(network.num_outputs, 2) - 1})"}
        show(*entry_lines({words.get(key, key): value for key, value in answer.items()}))
        print_reading(imported)
        if not is_complete:
            show(f"undecided: {reason}", *(f"next: {step}" for step in steps))
    return 0 if is_complete else 3


def _say_stopping() -> None:
    """Answer the first Ctrl-C: without the last neurons nothing is known of the set."""
    print(
        "interrupted; stopping after this neuron (Ctrl-C again: at once)",
        file=sys.stderr,
        flush=True,
    )


def _asked(options: argparse.Namespace) -> dict[str, object]:
    """Return the question that the options ask, by the keys of the JSON object."""
    asked: dict[str, object] = {"set": "boundary", "output": None, "level": None, "label": None}
    for name in ("level", "sublevel", "superlevel"):
        if (text := getattr(options, name)) is not None:
            output = output_index("--output", options.output or "0")
            return asked | {"set": name, "output": output, "level": _number(name, text)}
    if options.output is not None:
        raise UsageError("--output: only for --level, --sublevel and --superlevel")
    if options.boundary:
        return asked
    return asked | {"set": "class", "label": output_index("--class", options.label)}


def _number(name: str, text: str) -> str:
    """Return a number that an option gives, written as p or p/q."""
    from polyrelu.exact import format_rational

    if not NUMBER.fullmatch(text):
        raise UsageError(
            f"--{name} {text[:40]!r}: expected an integer, a decimal such as 0.25 or a fraction "
            "such as 1/3"
        )
    return format_rational(Fraction(text))


def _part(
    asked: dict[str, Any], network: Network, domain: Polyhedron, progress: Progress
) -> Subcomplex:
    """Compute the set in question."""
    from polyrelu import topology

    if asked["set"] == "boundary":
        return topology.decision_boundary(network, domain, progress=progress)
    if asked["set"] == "class":
        return topology.decision_region(network, asked["label"], domain, progress=progress)
    sets = {
        "level": topology.level_set,
        "sublevel": topology.sublevel_set,
        "superlevel": topology.superlevel_set,
    }
    found = sets[asked["set"]]
    return found(network, asked["level"], domain, output=asked["output"], progress=progress)


#: The entries of the JSON object that are null after Ctrl-C.
_HOMOLOGY_KEYS = (
    "dimension",
    "f_vector",
    "components",
    "betti_q",
    "betti_gf2",
    "torsion",
    "euler",
    "euler_compact",
    "lineality_dim",
)


def _homology(part: Subcomplex) -> dict[str, object]:
    """Return size and homology of a set, for the JSON object."""
    from polyrelu.topology import homology

    groups = homology(part)
    values = (
        part.dimension,
        list(part.f_vector),
        groups.betti[0],
        list(groups.betti),
        list(groups.betti_mod_2),
        [list(divisors) for divisors in groups.torsion],
        groups.euler_characteristic,
        groups.euler_with_compact_support,
        part.cells.lineality_dim,
    )
    return dict(zip(_HOMOLOGY_KEYS, values, strict=True))
