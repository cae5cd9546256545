"""The command `polyrelu fiber NET`."""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import UsageError, add_command, add_network, read_network
from polyrelu.cli.output import check_output, print_object, print_reading, reading, say_interrupted
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.fibers import Fiber
    from polyrelu.network import Network

__all__ = ["add_fiber"]

_REPORTS = (".txt", ".json", ".tex")
#: Seconds for the proof that a member computes the same function.
_PROOF_SECONDS = 60.0
_MOST_MEMBERS = 10_000
#: Whether networks are related is decided by invariants alone where a layer is wider: ties take
#: long.
_WIDE = 48


def add_fiber(commands: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "the networks of the same architecture that compute the same function: dimension, "
        "equations, members"
    )
    parser = add_command(commands, "fiber", _fiber, summary)
    add_network(parser)
    parser.add_argument(
        "--domain",
        default=None,
        help="for one hidden layer: where the functions have to agree (R^n, orthant, box:lo,hi or "
        "FILE.json)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the report here (.txt, .json or .tex)"
    )
    parser.add_argument(
        "--member", type=int, metavar="K", help="make a member of component K of the report"
    )
    parser.add_argument(
        "--sample", type=int, metavar="N", default=0, help="make N random members (of component K)"
    )
    parser.add_argument(
        "--to",
        metavar="FOLDER",
        help="write the members there, as member-0.json, …; with --onnx as member-0.onnx too",
    )
    parser.add_argument(
        "--onnx", action="store_true", help="with --to: ONNX files as well (extra `onnx`)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the random members")


def _fiber(options: argparse.Namespace, started: float) -> int:
    from polyrelu.complex import parse_domain
    from polyrelu.fibers import fiber
    from polyrelu.fibers.report import fiber_object
    from polyrelu.support.interrupts import deferred_interrupt

    _check(options)
    imported = read_network(options, options.network)
    network = imported.network
    domain = None if options.domain is None else parse_domain(options.domain, network.inputs)
    found = fiber(network, domain)
    shown = fiber_object(found) | {"membership": _membership(network), "hidden": _hidden(network)}
    shown["reason"] = _open(found, shown["membership"]) or None
    if options.member is not None and not 0 <= options.member < len(found.components):
        raise UsageError(
            f"--member {options.member}: the components are numbered 0 to "
            f"{len(found.components) - 1}"
        )
    with deferred_interrupt(say_interrupted) as interrupt:
        members = []
        for number, (component, other) in enumerate(_members(options, found)):
            if interrupt.requested:
                break
            members.append(_shown_member(options, network, domain, number, component, other))
    shown["members"] = members
    wanted = _wanted(options)
    if options.output is not None:
        _write_report(options, found, shown)
    if options.json:
        status = "undecided" if len(members) < wanted else "ok"
        print_object(
            options,
            status,
            started,
            domain=options.domain,
            **shown,
            output=options.output,
            **reading(imported),
        )
    else:
        print(_text(options, found, shown), end="")
        print_reading(imported)
        if len(members) < wanted:
            print("interrupted: some members are missing")
    return 3 if len(members) < wanted else 0


def _check(options: argparse.Namespace) -> None:
    if options.output is not None:
        check_output("-o", options.output, [options.network, *filter(None, [options.domain])])
        if Path(options.output).suffix not in _REPORTS:
            raise DomainError(
                f"-o {options.output}: reports are written as {', '.join(_REPORTS)}; choose one of "
                "these"
            )
    if not 0 <= options.sample <= _MOST_MEMBERS:
        raise UsageError(f"--sample {options.sample}: must be 0 to {_MOST_MEMBERS}")
    if options.to is None:
        if options.onnx:
            raise UsageError(
                "--onnx says in what form --to FOLDER writes members; give --to as well"
            )
        return
    if not _wanted(options):
        raise UsageError("--to FOLDER writes members; ask for some with --member K or --sample N")
    if not Path(options.to).is_dir():
        raise PolyreluError(f"--to {options.to}: there is no such folder")
    taken = [name for name in (options.network, options.domain, options.output) if name is not None]
    for number in range(_wanted(options)):
        for suffix in (".json", ".onnx") if options.onnx else (".json",):
            check_output("--to", str(_place(options, number, suffix)), taken)


def _wanted(options: argparse.Namespace) -> int:
    """How many members are asked for: --member alone is one, not a random one."""
    return int(options.sample or (options.member is not None))


def _place(options: argparse.Namespace, number: int, suffix: str) -> Path:
    return Path(options.to) / f"member-{number}{suffix}"


def _members(options: argparse.Namespace, found: Fiber) -> Any:
    """Pairs of a component's number and a member, one after the other."""
    rng = Random(options.seed)
    if not options.sample and options.member is not None:
        yield options.member, found.components[options.member].member()
    for _ in range(options.sample):
        number = rng.randrange(len(found.components)) if options.member is None else options.member
        yield number, found.components[number].member(rng)


def _shown_member(
    options: argparse.Namespace,
    network: Network,
    domain: Any,
    number: int,
    component: int,
    other: Network,
) -> dict[str, Any]:
    """Prove that a member has the function, by a route that knows nothing of fibers; then write it."""
    from polyrelu.outcomes import Equivalent, NotEquivalent
    from polyrelu.proofs import equivalent

    with ProgressLine() as line:
        line.show(f"member {number}: proving that the function is the same")
        outcome = equivalent(network, other, domain, time_limit=_PROOF_SECONDS)
    if isinstance(outcome, NotEquivalent):
        raise PolyreluError(
            f"a bug in polyrelu, please report it: member {number} of component {component} differs"
        )
    route = outcome.search.route if isinstance(outcome, Equivalent) else None
    return {
        "component": component,
        "sha256": other.sha256,
        "same_function": outcome.status,
        "route": route,
        "related": _related(network, other),
        **_written(options, other, number),
    }


def _related(network: Network, other: Network) -> bool | None:
    """Whether the networks are the same up to permutation and scaling; None if that is not known."""
    from polyrelu.symmetry import first_difference, related

    if max(network.widths[1:-1]) <= _WIDE:
        return related(network, other)
    return False if first_difference(network, other) is not None else None


def _written(options: argparse.Namespace, other: Network, number: int) -> dict[str, Any]:
    from polyrelu.exact import format_rational
    from polyrelu.formats import save

    if options.to is None:
        return {"files": [], "onnx_rounding": None}
    path = _place(options, number, ".json")
    save(other, path)
    if not options.onnx:
        return {"files": [str(path)], "onnx_rounding": None}
    from polyrelu.formats import save_onnx

    exported = save_onnx(other, _place(options, number, ".onnx"))
    return {
        "files": [str(path), *map(str, exported.files)],
        "onnx_rounding": format_rational(exported.largest_difference),
    }


def _membership(network: Network) -> str | None:
    """What is known of the network's own membership in the generic class, where it is defined."""
    from polyrelu.proofs.membership import generic_membership, has_generic_class

    return str(generic_membership(network)["status"]) if has_generic_class(network) else None


def _open(found: Fiber, membership: str | None) -> str:
    """What is not known of the list, in words; nothing if it is complete for a network that is
    generic."""
    if found.complete != "generic":
        return found.reason
    if membership == "refuted":
        return "the network itself is not generic, so other parameters may have its function"
    return (
        "" if membership == "verified" else "whether the network itself is generic is not decided"
    )


def _hidden(network: Network) -> list[dict[str, Any]]:
    """The hidden hyperplanes of all layers, and how far they can be translated."""
    from polyrelu.exact import format_rational
    from polyrelu.fibers import hidden_hyperplane

    found = (hidden_hyperplane(network, layer) for layer in range(1, network.depth))
    return [
        {
            "layer": one.layer,
            "neuron": one.neuron,
            "least_shift": format_rational(one.least_shift),
            "flippable": list(one.flippable),
        }
        for one in found
        if one is not None
    ]


def _write_report(options: argparse.Namespace, found: Fiber, shown: dict[str, Any]) -> None:
    from polyrelu.fibers.report import fiber_latex
    from polyrelu.support.text_files import layout, write_all

    path, everything = Path(options.output), len(found.components)
    if path.suffix == ".json":
        document = {"format": "polyrelu-fiber", "version": 1, "network": found.network.sha256}
        text = layout({**document, "domain": options.domain, **shown})
    elif path.suffix == ".tex":
        text = fiber_latex(found, _remarks(options, shown))
    else:
        text = _text(options, found, shown, everything)
    write_all([(path, [text.encode()])])  # reports have signs such as ≥


def _text(
    options: argparse.Namespace, found: Fiber, shown: dict[str, Any], components: int | None = None
) -> str:
    from polyrelu.fibers.report import fiber_text
    from polyrelu.support.text_files import wrapped

    body = fiber_text(found) if components is None else fiber_text(found, components)
    return "\n".join([body, *map(wrapped, _remarks(options, shown))]) + "\n"


def _remarks(options: argparse.Namespace, shown: dict[str, Any]) -> list[str]:
    """What else there is to say, a line each."""
    from polyrelu.certificate import number_text

    lines = [] if options.domain is None else [f"domain: {options.domain}"]
    if shown["reason"]:
        lines.append(f"open: {shown['reason']}")
    for one in shown["hidden"]:
        lines.append(
            f"layer {one['layer'] + 1} hides neuron {one['neuron']} of layer {one['layer']}: its "
            f"bias may be raised by every t ≥ {number_text(one['least_shift'])}"
        )
    return [
        *lines,
        *(_member_line(number, member) for number, member in enumerate(shown["members"])),
    ]


def _member_line(number: int, member: dict[str, Any]) -> str:
    same = (
        f"{member['same_function']} by {member['route']}"
        if member["route"]
        else member["same_function"]
    )
    kind = "the network permuted and scaled, " if member["related"] else ""
    files = f", {' '.join(member['files'])}" if member["files"] else ""
    rounded = member["onnx_rounding"] not in (None, "0")
    moved = (
        f" (the ONNX file is rounded: its numbers are up to {member['onnx_rounding']} away)"
        if rounded
        else ""
    )
    return (
        f"member {number}, of component {member['component']}: {kind}the same function, "
        f"{same}{files}{moved}"
    )
