"""The command `polyrelu complex NET`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command, add_network, read_network
from polyrelu.cli.output import check_output, print_object, print_reading, reading, say_interrupted
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.complex import PolyhedralComplex, RegionGraph
    from polyrelu.exact import Polyhedron
    from polyrelu.formats import Imported
    from polyrelu.network import Network

__all__ = ["add_complex"]

#: Up to so many regions the weights are computed without being asked for: they take about a
#: millisecond a region.
_WEIGHED = 5_000


def add_complex(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "complex", _complex, "all cells of the canonical polyhedral complex, exactly"
    )
    add_network(parser)
    parser.add_argument(
        "--domain",
        default="R^n",
        help="R^n (the default), orthant, box:lo,hi, 'box:lo0,hi0;lo1,hi1;…' (in quotes), "
        "slice:FILE for the line or "
        'plane through the points of {"points": …} (with "range": [[lo, hi], …] for a part of '
        "it), or FILE.json with "
        '{"A": …, "c": …} for A x ≤ c, also "E", "e" for E x = e, or with {"vertices": …, '
        '"rays": …, "lines": …}',
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the complex here (.json, .csv, .graphml, .gexf)",
    )
    parser.add_argument(
        "--regions-only",
        action="store_true",
        help="regions and their neighbours without faces, by linear programs: for many dimensions "
        "(-o without .json)",
    )
    parser.add_argument(
        "--breakpoints",
        action="store_true",
        help="gradient jumps and their balance, however many regions there are (without this "
        f"option up to {_WEIGHED})",
    )
    parser.add_argument(
        "--weights",
        metavar="FILE",
        help="write gradient jumps and tropical weights here (.json, .csv, or .graphml, .gexf for "
        "the dual graph)",
    )
    parser.add_argument(
        "--conditions",
        action="store_true",
        help="which conditions of the theorems on deep networks hold (generic, general, "
        "transparent, …), with evidence; for supertransversal, and so for generic, constraints of "
        "the domain count like neurons",
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        help="write a certificate that these are all regions, with a point inside each; for "
        "`polyrelu check`",
    )
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="check the finished complex against itself: Euler's relation, faces of faces, values "
        "at points inside",
    )


def _complex(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.support.interrupts import deferred_interrupt

    _check_outputs(options)
    imported = read_network(options, options.network)
    network = imported.network
    domain = parse_domain(options.domain, network.inputs)
    with deferred_interrupt(say_interrupted) as interrupt:
        cells, found = (_only_regions if options.regions_only else _all_cells)(
            options, network, domain
        )
    found |= dict.fromkeys(
        ("breakpoint_facets", "balanced", "weights", "conditions", "certificate")
    )
    missing = _missing(options, cells)
    if not missing:
        try:
            missing = (
                _asked_for(options)
                if interrupt.requested
                else _add_the_rest(options, cells, imported, found)
            )
        except KeyboardInterrupt:  # what is written stays, and is told
            missing = _asked_for(options) or "interrupted: the weights are missing"
    if options.json:
        shown = found | {"conditions": _as_json(found["conditions"]), "reason": missing or None}
        print_object(
            options, "undecided" if missing else "ok", started, **shown, **reading(imported)
        )
    else:
        print("\n".join(_lines(found)))
        print_reading(imported)
        if missing:
            print(missing)
    return 3 if missing else 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Options that do not fit together, and files that cannot be written, are found out before any
    work is done."""
    from polyrelu.breakpoints import BREAKPOINT_FORMATS
    from polyrelu.complex.export import FORMATS, REGION_FORMATS

    taken = [options.network, options.domain.removeprefix("slice:")]
    for option, key in (
        ("-o", "output"),
        ("--weights", "weights"),
        ("--certificate", "certificate"),
    ):
        name = getattr(options, key)
        if name is not None:
            check_output(option, name, taken)
            taken.append(name)
    for name in ("self_check", "breakpoints", "weights", "conditions"):
        if options.regions_only and getattr(options, name):
            raise DomainError(
                f"--{name.replace('_', '-')} is for a whole complex; leave out --regions-only"
            )
    if options.output is not None:
        what = "regions are" if options.regions_only else "a complex is"
        _check_suffix(
            "-o", options.output, what, REGION_FORMATS if options.regions_only else FORMATS
        )
    if options.weights is not None:
        _check_suffix("--weights", options.weights, "weights are", BREAKPOINT_FORMATS)


def _check_suffix(option: str, name: str, what: str, formats: Sequence[str]) -> None:
    if Path(name).suffix not in formats:
        raise DomainError(
            f"{option} {name}: {what} written as {', '.join(formats)}; choose one of these"
        )


def _add_the_rest(
    options: argparse.Namespace,
    cells: PolyhedralComplex | RegionGraph,
    imported: Imported,
    found: dict[str, Any],
) -> str:
    """Weights, conditions and certificate; what of them is missing, in words."""
    from polyrelu.complex import PolyhedralComplex

    if isinstance(cells, PolyhedralComplex):
        if options.breakpoints or options.weights is not None or cells.regions <= _WEIGHED:
            found |= _weights(options, cells)
        if options.conditions:
            found |= _conditions(cells)
    if options.certificate is None:
        return ""
    missing = _certify(options, cells, imported)
    found["certificate"] = None if missing else options.certificate
    return missing


def _asked_for(options: argparse.Namespace) -> str:
    """What an interruption after the complex was done leaves out of what was asked for, in words."""
    names = [
        name
        for name in ("breakpoints", "weights", "conditions", "certificate")
        if getattr(options, name)
    ]
    return f"interrupted: {', '.join(names)} may be missing" if names else ""


def _missing(options: argparse.Namespace, cells: PolyhedralComplex | RegionGraph) -> str:
    """What an interrupted computation lacks, in words."""
    if cells.complete:
        return ""
    what = (
        "some regions are missing"
        if options.regions_only
        else "this is the complex of the neurons done so far"
    )
    return f"interrupted: {what}"


def _certify(
    options: argparse.Namespace, cells: PolyhedralComplex | RegionGraph, imported: Imported
) -> str:
    """Write the certificate of the regions; if there is none, why."""
    from polyrelu.outcomes import Undecided
    from polyrelu.proofs import certify_regions

    with ProgressLine() as line:
        listed = certify_regions(
            cells,
            progress=lambda work: line.show(
                f"certificate: region {work.leaves} of {cells.regions}"
            ),
        )
    if isinstance(listed, Undecided):
        return f"no certificate: {listed.reason}"
    listed.with_provenance(imported.provenance).save(options.certificate)
    return ""


def _all_cells(
    options: argparse.Namespace, network: Network, domain: Polyhedron
) -> tuple[PolyhedralComplex, dict[str, Any]]:
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
            save_complex(
                cells,
                options.output,
                lambda done: line.show(f"writing region {done} of {cells.regions}"),
            )
    return cells, {
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


def _weights(options: argparse.Namespace, cells: PolyhedralComplex) -> dict[str, Any]:
    """The number of visible facets, whether the weights are balanced, and where they are written."""
    from polyrelu.breakpoints import breakpoint_complex, save_breakpoints, unbalanced_ridge

    breakpoints = breakpoint_complex(cells)
    ridge = unbalanced_ridge(breakpoints)
    if ridge is not None:  # the theorem says that there is none
        where = f"cell {ridge.index} of dimension {ridge.dimension}"
        raise PolyreluError(
            f"a bug in polyrelu, please report it: the weights do not cancel around {where}"
        )
    if options.weights is not None:
        save_breakpoints(breakpoints, options.weights)
    return {
        "breakpoint_facets": int(breakpoints.visible.sum()),
        "balanced": True,
        "weights": options.weights,
    }


def _conditions(cells: PolyhedralComplex) -> dict[str, Any]:
    """The conditions by their names."""
    from polyrelu.conditions import conditions

    return {"conditions": {condition.name: condition for condition in conditions(cells)}}


def _only_regions(
    options: argparse.Namespace, network: Network, domain: Polyhedron
) -> tuple[RegionGraph, dict[str, Any]]:
    from polyrelu.complex import region_graph
    from polyrelu.complex.export import save_regions

    with ProgressLine() as line:
        regions = region_graph(
            network, domain, lambda done, seen: line.show(f"{done} regions done of {seen} seen")
        )
    if options.output is not None:
        save_regions(regions, options.output)
    return regions, {
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


def _as_json(conditions: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return (
        None
        if conditions is None
        else {name: condition.to_json() for name, condition in conditions.items()}
    )


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    """What was found as text, a condition a line."""
    for key, value in found.items():
        if key == "conditions" and value is not None:
            yield from (
                f"{name:<18}{condition.status}: {condition.detail}"
                for name, condition in value.items()
            )
        elif value is not None:
            yield f"{key:<18}{_shown(value)}"


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
