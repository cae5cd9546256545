"""The command `polyrelu topology NET`."""

from __future__ import annotations

import argparse
import re
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import UsageError, add_command, add_network, read_network
from polyrelu.cli.output import print_object, print_reading, reading
from polyrelu.support.limits import NUMBER
from polyrelu.support.progress import ProgressLine, neuron_progress

if TYPE_CHECKING:
    from polyrelu.complex import Subcomplex
    from polyrelu.exact import Polyhedron
    from polyrelu.network import Network
    from polyrelu.support.progress import Progress

__all__ = ["add_topology"]


def add_topology(commands: Any) -> None:
    """Add the command to the parser."""
    summary = "Betti numbers of a level set, decision boundary or decision region, exactly"
    parser = add_command(commands, "topology", _topology, summary)
    add_network(parser)
    parser.add_argument(
        "--domain", default="R^n", help="R^n (the default) or any other, written as for `complex`"
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--level",
        metavar="C",
        help="where the output is C: 2, 0.5 or 1/3; negative ones as --level=-1",
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
        help="where output K, from 0, is the largest; of a single output, 0: where it is ≤ 0, 1: "
        "where it is ≥ 0",
    )
    parser.add_argument(
        "--output", metavar="K", help="which output a level is meant of, from 0; 0 is the default"
    )


def _topology(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.support.interrupts import deferred_interrupt
    from polyrelu.topology import UnfinishedError

    question = _question(options)
    imported = read_network(options, options.network)
    network = imported.network
    domain = parse_domain(options.domain, network.inputs)
    found: dict[str, object] = {"domain": options.domain, **question}
    try:
        with deferred_interrupt(_say_stopping), ProgressLine() as line:
            part = _part(question, network, domain, neuron_progress(line))
    except UnfinishedError:
        found |= dict.fromkeys(_FOUND) | {"complete": False}
    else:
        found |= _found(part) | {"complete": True}
    complete = bool(found["complete"])
    if options.json:
        print_object(
            options, "ok" if complete else "undecided", started, **found, **reading(imported)
        )
    else:
        print(
            "\n".join(
                f"{key:<18}{_shown(value)}" for key, value in found.items() if value is not None
            )
        )
        print_reading(imported)
        if not complete:
            print("interrupted: nothing is known of the set")
    return 0 if complete else 3


def _say_stopping() -> None:
    """Answer the first Ctrl-C; without the last neurons nothing is known, so that there is nothing
    to keep."""
    print(
        "interrupted; stopping after this neuron (Ctrl-C again: at once)",
        file=sys.stderr,
        flush=True,
    )


def _question(options: argparse.Namespace) -> dict[str, object]:
    """What is asked for, by the keys of ``--json``."""
    question: dict[str, object] = {"set": "boundary", "output": None, "level": None, "label": None}
    for name in ("level", "sublevel", "superlevel"):
        if (text := getattr(options, name)) is not None:
            output = _index("--output", options.output or "0")
            return question | {"set": name, "output": output, "level": _number(name, text)}
    if options.output is not None:
        raise UsageError("--output: only for --level, --sublevel and --superlevel")
    if options.boundary:
        return question
    return question | {"set": "class", "label": _index("--class", options.label)}


def _index(option: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text, re.ASCII):
        raise UsageError(f"{option} {text[:40]!r}: expected the number of an output, from 0")
    return int(text)


def _number(name: str, text: str) -> str:
    """A number as people write it, as ``p`` or ``p/q``."""
    from polyrelu.exact import format_rational

    if not NUMBER.fullmatch(text):
        raise UsageError(
            f"--{name} {text[:40]!r}: expected an integer, a decimal such as 0.25 or a fraction "
            "such as 1/3"
        )
    return format_rational(Fraction(text))


def _part(
    question: dict[str, Any], network: Network, domain: Polyhedron, progress: Progress
) -> Subcomplex:
    from polyrelu import topology

    if question["set"] == "boundary":
        return topology.decision_boundary(network, domain, progress)
    if question["set"] == "class":
        return topology.decision_region(network, question["label"], domain, progress)
    sets = {
        "level": topology.level_set,
        "sublevel": topology.sublevel_set,
        "superlevel": topology.superlevel_set,
    }
    return sets[question["set"]](network, question["level"], question["output"], domain, progress)


#: The keys of ``--json`` that are null after Ctrl-C.
_FOUND = (
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


def _found(part: Subcomplex) -> dict[str, object]:
    from polyrelu.topology import homology

    found = homology(part)
    values = (
        part.dimension,
        list(part.f_vector),
        found.betti[0],
        list(found.betti),
        list(found.betti_mod_2),
        [list(divisors) for divisors in found.torsion],
        found.euler_characteristic,
        found.euler_with_compact_support,
        part.cells.lineality_dim,
    )
    return dict(zip(_FOUND, values, strict=True))


def _shown(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    return " ".join(
        str(entry) if not isinstance(entry, list) else _shown(entry) or "-" for entry in value
    )
