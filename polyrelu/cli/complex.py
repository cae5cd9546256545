"""The command `polyrelu complex NET`: all cells, or all regions, with what depends on them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.given_up import larger_limit, why_ended
from polyrelu.cli.options import (
    add_command,
    add_limits,
    add_network,
    add_reading,
    read_network,
)
from polyrelu.cli.output import (
    check_output,
    entry_lines,
    print_object,
    print_reading,
    reading,
    say_interrupted,
    show,
    written_cost,
)
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.check_cost import check_command
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.complex import PolyhedralComplex, RegionGraph
    from polyrelu.exact import Polyhedron
    from polyrelu.formats import Imported
    from polyrelu.network import Network
    from polyrelu.support.interrupts import Interrupt

__all__ = ["add_complex"]


def add_complex(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "all cells of the canonical polyhedral complex, exactly"
    examples = (
        "complex example:bends --domain box:-2,2",
        "complex net.onnx -o cells.json --weights weights.csv",
    )
    parser = add_command(subparsers, "complex", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--domain",
        default="R^n",
        help="R^n (the default), orthant, box:lo,hi, 'box:lo0,hi0;lo1,hi1;…' (in quotes), "
        "slice:FILE for the line or "
        'plane through the points of {"points": …} (with "range": [[lo, hi], …] for a part of '
        "it), or FILE.json with "
        '{"A": …, "c": …} for A x ≤ c, also "E", "e" for E x = e, or with {"vertices": …, '
        '"rays": …, "lines": …}, or FILE.vnnlib (.gz) for the inputs of a VNN-LIB query',
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the complex here (.json, .csv, .parquet, .graphml, .gexf; .polymake and .sage "
        "are scripts for these programs)",
    )
    parser.add_argument(
        "--regions-only",
        action="store_true",
        help="regions and their neighbours without faces, by linear programs: slower, in less "
        "memory, for domains of many dimensions (-o without .json)",
    )
    _add_derived(parser)
    add_limits(
        parser,
        "work of the proof for --certificate, in units of about a millisecond (default: no limit)",
    )
    add_reading(parser)


def _add_derived(parser: argparse.ArgumentParser) -> None:
    """Add the options about what is derived from the cells."""
    parser.add_argument(
        "--breakpoints",
        action=argparse.BooleanOptionalAction,
        help="count the gradient jumps and check their balance (the default), or do not",
    )
    parser.add_argument(
        "--weights",
        metavar="FILE",
        help="write gradient jumps and tropical weights here (.json, .csv, .parquet, or .graphml, "
        ".gexf for the dual graph)",
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
        help="write a certificate that these are all cells, by the vertices; with --regions-only "
        "that these are all regions, with a point inside each; for `polyrelu check`",
    )
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="check the finished complex against itself: Euler's relation, faces of faces, values "
        "at points inside",
    )


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import complex_steps
    from polyrelu.formats import parse_domain
    from polyrelu.support.interrupts import deferred_interrupt

    _check_options(options)
    imported = read_network(options, options.network)
    network = imported.network
    domain = parse_domain(options.domain, network.num_inputs)
    compute = _only_regions if options.regions_only else _all_cells
    with deferred_interrupt(say_interrupted) as interrupt:
        cells, answer = compute(options, network, domain)
    answer |= dict.fromkeys(
        ("breakpoint_facets", "balanced", "weights", "conditions", "certificate", "check_cost")
    )
    missing = _missing_cells(options, cells) or _missing_results(options, interrupt)
    try:
        _check_and_write(options, cells, answer)
        missing = missing or _add_results(options, cells, imported, answer)
    except KeyboardInterrupt:  # files that are written already stay
        missing = _missing_after_interrupt(options, answer, missing)
    steps = complex_steps(options, cells.dimension, is_complete=not missing)
    steps = [*(larger_limit(options) if missing else []), *steps]
    if options.json:
        status = "undecided" if missing else "ok"
        entries = answer | {
            "conditions": _conditions_object(answer["conditions"]),
            "check_cost": answer["check_cost"] and answer["check_cost"].to_json(),
            "reason": missing or None,
            "next": steps,
        }
        print_object(options, status, started, **entries, **reading(imported))
    else:
        show(*_lines(answer))
        print_reading(imported)
        if missing:
            show(missing)
        for step in steps:
            print(f"next: {step}")
    return 3 if missing else 0


def _check_options(options: argparse.Namespace) -> None:
    """Raise an error for options that do not fit together, and files that cannot be written."""
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
    if options.weights is not None and options.breakpoints is False:
        raise DomainError("--weights writes the breakpoints; leave out --no-breakpoints")
    if options.output is not None:
        what = "regions are" if options.regions_only else "a complex is"
        _check_suffix(
            "-o", options.output, what, REGION_FORMATS if options.regions_only else FORMATS
        )
    if options.weights is not None:
        _check_suffix("--weights", options.weights, "weights are", BREAKPOINT_FORMATS)


def _check_suffix(option: str, name: str, what: str, formats: Sequence[str]) -> None:
    """Raise an error if the suffix of a file is not one of the formats."""
    if Path(name).suffix not in formats:
        raise DomainError(
            f"{option} {name}: {what} written as {', '.join(formats)}; choose one of these"
        )


def _add_results(
    options: argparse.Namespace,
    cells: PolyhedralComplex | RegionGraph,
    imported: Imported,
    answer: dict[str, Any],
) -> str:
    """Add weights, conditions and certificate to the answer; return in words what is missing."""
    from polyrelu.complex import PolyhedralComplex

    if isinstance(cells, PolyhedralComplex):
        if options.breakpoints is not False:
            answer |= _weights(options, cells)
        if options.conditions:
            answer |= _conditions(cells)
    if options.certificate is None:
        return ""
    missing, written = _write_certificate(options, cells, imported)
    answer["certificate"] = options.certificate if written else None
    answer["check_cost"] = written_cost(options, written)
    return missing


def _missing_results(options: argparse.Namespace, interrupt: Interrupt) -> str:
    """Return in words what Ctrl-C before the last cut was done leaves out of a whole complex."""
    names = _wanted(options) if interrupt.requested else []
    return f"{why_ended(options)}: {', '.join(names)} may be missing" if names else ""


def _missing_after_interrupt(
    options: argparse.Namespace, answer: Mapping[str, Any], missing: str
) -> str:
    """Return in words what is missing after Ctrl-C when the cells were done."""
    if options.self_check and answer["self_check"] is None:
        reason = "the self-check is not finished"
    elif options.output is not None and answer["output"] is None:
        reason = f"{options.output} is not written"
    elif names := _wanted(options):
        reason = f"{', '.join(names)} may be missing"
    else:
        reason = "the weights are missing"
    return f"{missing}; {reason}" if missing else f"{why_ended(options)}: {reason}"


def _wanted(options: argparse.Namespace) -> list[str]:
    """Return the options about what is derived from the cells that are given."""
    return [
        name
        for name in ("breakpoints", "weights", "conditions", "certificate")
        if getattr(options, name)
    ]


def _missing_cells(options: argparse.Namespace, cells: PolyhedralComplex | RegionGraph) -> str:
    """Return in words what an interrupted complex lacks."""
    if cells.complete:
        return ""
    what = (
        "some regions are missing"
        if options.regions_only
        else "this is the complex of the neurons done so far"
    )
    return f"{why_ended(options)}: {what}"


def _write_certificate(
    options: argparse.Namespace, cells: PolyhedralComplex | RegionGraph, imported: Imported
) -> tuple[str, list[Path]]:
    """Write the certificate of the cells; return why there is none, and the files."""
    from polyrelu.complex import PolyhedralComplex
    from polyrelu.outcomes import ComplexListed, RegionsListed, Undecided
    from polyrelu.proofs import certify_complex, certify_regions

    outcome: ComplexListed | RegionsListed | Undecided
    with ProgressLine() as line:
        if isinstance(cells, PolyhedralComplex):
            outcome = certify_complex(cells, budget=options.limits, progress=line.show)
        else:
            outcome = certify_regions(cells, budget=options.limits, progress=line.show)
    if isinstance(outcome, Undecided):
        return f"no certificate: {outcome.reason}", []
    return "", outcome.with_provenance(imported.provenance).save(options.certificate)


def _all_cells(
    options: argparse.Namespace, network: Network, domain: Polyhedron
) -> tuple[PolyhedralComplex, dict[str, Any]]:
    """Compute the complex; return it with its entries of the JSON object."""
    from polyrelu.complex import canonical_complex

    with ProgressLine() as line:
        cells = canonical_complex(network, domain, progress=line.show)
    return cells, {
        "domain": options.domain,
        "dimension": cells.dimension,
        "f_vector": list(cells.f_vector),
        "regions": cells.num_regions,
        "bounded_regions": cells.num_bounded_regions,
        "lineality_dim": cells.lineality_dim,
        "complete": cells.complete,
        "neurons": len(cells.neurons),
        "decisions": cells.statistics.num_decisions,
        "exact_decisions": cells.statistics.num_exact_decisions,
        "self_check": None,
        "output": None,
    }


def _weights(options: argparse.Namespace, cells: PolyhedralComplex) -> dict[str, Any]:
    """Compute, check and write the weights; return their entries of the JSON object."""
    from polyrelu.breakpoints import breakpoint_complex, save_breakpoints, unbalanced_ridge

    breakpoints = breakpoint_complex(cells)
    ridge = unbalanced_ridge(breakpoints)
    if ridge is not None:  # contradicts the balancing theorem
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
    """Return the conditions by their names."""
    from polyrelu.conditions import conditions

    return {"conditions": {condition.name: condition for condition in conditions(cells)}}


def _only_regions(
    options: argparse.Namespace, network: Network, domain: Polyhedron
) -> tuple[RegionGraph, dict[str, Any]]:
    """Compute regions and neighbours; return them with their entries of the JSON object."""
    from polyrelu.complex import region_graph

    with ProgressLine() as line:
        regions = region_graph(network, domain, progress=line.show)
    return regions, {
        "domain": options.domain,
        "dimension": regions.dimension,
        "regions": regions.num_regions,
        "bounded_regions": regions.num_bounded_regions,
        "adjacent_pairs": len(regions.adjacency()),
        "lineality_dim": regions.lineality_dim,
        "complete": regions.complete,
        "neurons": len(regions.neurons),
        "output": None,
    }


def _check_and_write(
    options: argparse.Namespace,
    cells: PolyhedralComplex | RegionGraph,
    answer: dict[str, Any],
) -> None:
    """Check and write the cells as the options ask, and note in the answer what is done."""
    from polyrelu.complex import PolyhedralComplex, failed_checks, save_complex, save_regions

    if options.self_check and isinstance(cells, PolyhedralComplex):
        if failed := failed_checks(cells):
            raise PolyreluError(f"a bug in polyrelu, please report it: {'; '.join(failed)}")
        answer["self_check"] = "passed"
    if options.output is None:
        return
    with ProgressLine() as line:
        if isinstance(cells, PolyhedralComplex):
            save_complex(cells, options.output, progress=line.show)
        else:
            save_regions(cells, options.output, progress=line.show)
    answer["output"] = options.output


def _conditions_object(conditions: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the conditions as the JSON object has them."""
    if conditions is None:
        return None
    return {name: condition.to_json() for name, condition in conditions.items()}


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answer as lines of text, each condition on a line."""
    for key, value in answer.items():
        if key == "conditions" and value is not None:
            for name, condition in value.items():
                yield f"{name:<18}{condition.status}: {condition.detail}"
        elif key == "certificate" and value is not None:
            command = check_command([value], answer["check_cost"])
            yield f"{key:<18}{value} (check it: {command})"
        elif key == "check_cost" and value is not None:
            yield from value.lines()
        else:
            yield from entry_lines({key: value})
