"""The command `polyrelu complex NET`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.commands.common import (
    ProgressLine,
    add_command,
    add_network,
    check_output,
    print_object,
    print_reading,
    read_network,
    reading,
    say_interrupted,
)
from polyrelu.errors import DomainError, PolyreluError

if TYPE_CHECKING:
    from polyrelu.exact import Polyhedron
    from polyrelu.network import Network

__all__ = ["add_complex"]


def add_complex(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "complex", _complex, "all cells of the canonical polyhedral complex, exactly")
    add_network(parser)
    parser.add_argument(
        "--domain",
        default="R^n",
        help="R^n (the default), orthant, box:lo,hi, 'box:lo0,hi0;lo1,hi1;…' (in quotes), slice:FILE for the line or "
        'plane through the points of {"points": …}, or FILE.json with {"A": …, "c": …} for A x ≤ c, also "E", "e" for '
        'E x = e, or with {"vertices": …, "rays": …, "lines": …}',
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the complex here (.json, .csv or .graphml)")
    parser.add_argument(
        "--regions-only",
        action="store_true",
        help="regions and their neighbours without faces, by linear programs: for many dimensions (.csv or .graphml)",
    )
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="check the finished complex against itself: Euler's relation, faces of faces, values at points inside",
    )


def _complex(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.complex.export import FORMATS, REGION_FORMATS
    from polyrelu.interrupts import deferred_interrupt

    if options.output is not None:
        check_output("-o", options.output, [options.network])
        formats = REGION_FORMATS if options.regions_only else FORMATS
        if Path(options.output).suffix not in formats:
            what = "regions are" if options.regions_only else "a complex is"
            raise DomainError(f"-o {options.output}: {what} written as {', '.join(formats)}; choose one of these")
    if options.regions_only and options.self_check:
        raise DomainError("--self-check is for a whole complex; leave out --regions-only")
    imported = read_network(options, options.network)
    network = imported.network
    domain = parse_domain(options.domain, network.inputs)
    with deferred_interrupt(say_interrupted):
        found = (_only_regions if options.regions_only else _all_cells)(options, network, domain)
    complete = bool(found["complete"])
    if options.json:
        print_object(options, "ok" if complete else "undecided", started, **found, **reading(imported))
    else:
        print("\n".join(f"{key:<18}{_shown(value)}" for key, value in found.items() if value is not None))
        print_reading(imported)
        if not complete:
            missing = (
                "some regions are missing" if options.regions_only else "this is the complex of the neurons done so far"
            )
            print(f"interrupted: {missing}")
    return 0 if complete else 3


def _all_cells(options: argparse.Namespace, network: Network, domain: Polyhedron) -> dict[str, object]:
    from polyrelu.complex import canonical_complex, failed_checks
    from polyrelu.complex.export import save_complex

    neurons = sum(network.widths[1 : network.hidden_layers + 1])
    done = 0

    def show_neuron(layer: int, _: int, regions: int) -> None:
        nonlocal done
        done += layer > 0
        line.show(f"neuron {done} of {neurons} (layer {layer}), {regions} regions")

    with ProgressLine() as line:
        cells = canonical_complex(network, domain, show_neuron)
    if options.self_check and (failed := failed_checks(cells)):
        raise PolyreluError(f"a bug in polyrelu, please report it: {'; '.join(failed)}")
    if options.output is not None:
        with ProgressLine() as line:
            save_complex(cells, options.output, lambda done: line.show(f"writing region {done} of {cells.regions}"))
    return {
        "domain": options.domain,
        "dimension": cells.dimension,
        "f_vector": list(cells.f_vector),
        "regions": cells.regions,
        "bounded_regions": cells.bounded_regions,
        "lineality_dim": cells.lineality_dim,
        "complete": cells.complete,
        "neurons": len(cells.neurons),
        "decisions": cells.statistics.decisions,
        "exact_decisions": cells.statistics.exact_decisions,
        "self_check": "passed" if options.self_check else None,
        "output": options.output,
    }


def _only_regions(options: argparse.Namespace, network: Network, domain: Polyhedron) -> dict[str, object]:
    from polyrelu.complex import region_graph
    from polyrelu.complex.export import save_regions

    with ProgressLine() as line:
        regions = region_graph(network, domain, lambda done, seen: line.show(f"{done} regions done of {seen} seen"))
    if options.output is not None:
        save_regions(regions, options.output)
    return {
        "domain": options.domain,
        "dimension": regions.dimension,
        "regions": regions.regions,
        "bounded_regions": regions.bounded_regions,
        "adjacent_pairs": len(regions.adjacency),
        "lineality_dim": regions.lineality_dim,
        "complete": regions.complete,
        "neurons": regions.signs.shape[1],
        "output": options.output,
    }


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
