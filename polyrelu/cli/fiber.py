"""The command `polyrelu fiber NET`: the networks with the same architecture and function.

Besides the report the command makes members of the fiber, and proves for each of them that it
computes the same function, by the prover `equivalent`, which shares nothing with the construction.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from polyrelu.cli.given_up import larger_limit, why_ended
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
    check_output,
    print_object,
    print_reading,
    reading,
    say_interrupted,
    show,
)
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.progress import ProgressLine, ProgressStep

if TYPE_CHECKING:
    from polyrelu.fibers import Fiber
    from polyrelu.network import Network
    from polyrelu.support.budget import Budget

__all__ = ["add_fiber"]

_REPORT_FORMATS = (".txt", ".json", ".tex")
#: Units of work for the list of components, and for each proof of equality: about a minute.
_WORK = 60_000
#: Maximum number of members of the option --sample.
_MAX_MEMBERS = 10_000
#: Maximum width of layers up to which it is decided whether a member is related to the network. In
#: wider networks invariants alone may show that it is not, because ties take long.
_MAX_RELATED_WIDTH = 48


def add_fiber(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "the networks of the same architecture that compute the same function: dimension, "
        "equations, members"
    )
    examples = (
        "fiber example:hidden",
        "fiber example:hidden --sample 2 --to . --seed 1",
    )
    parser = add_command(subparsers, "fiber", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "--domain",
        default=None,
        help="for one hidden layer: where the functions have to agree (R^n, orthant, box:lo,hi or "
        "FILE.json, FILE.vnnlib)",
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
    add_seed(parser, "seed of the random members")
    add_limits(
        parser,
        "work of the list of components, and of the proof for each member, in units of about a "
        f"millisecond (default {_WORK})",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.cli.next_steps import fiber_steps
    from polyrelu.fibers import fiber as compute_fiber
    from polyrelu.formats import parse_domain
    from polyrelu.support.interrupts import deferred_interrupt

    _check_options(options)
    imported = read_network(options, options.network)
    network = imported.network
    domain = None if options.domain is None else parse_domain(options.domain, network.num_inputs)
    fiber = compute_fiber(network, domain, budget=_work(options))
    answer = _answer(fiber)
    steps = fiber_steps(options, is_known=fiber.complete in ("all", "generic"))
    if options.member is not None and not 0 <= options.member < len(fiber.components):
        last = len(fiber.components) - 1
        raise UsageError(f"--member {options.member}: the components are numbered 0 to {last}")
    with deferred_interrupt(say_interrupted) as interrupt:
        members = []
        for number, (component, other) in enumerate(_members(options, fiber)):
            if interrupt.requested:
                break
            members.append(_prove_and_write(options, network, domain, number, component, other))
    answer["members"] = members
    is_complete, cut = len(members) >= _num_wanted(options), ""
    if not is_complete:
        cut = f"{why_ended(options)}: some members are missing"
        steps = [*larger_limit(options), *steps]
    if options.output is not None:
        _write_report(options, fiber, answer)
    if options.json:
        print_object(
            options,
            "ok" if is_complete else "undecided",
            started,
            domain=options.domain or "R^n",
            **answer | {"reason": "; ".join(filter(None, [answer["reason"], cut])) or None},
            output=options.output,
            next=steps,
            **reading(imported),
        )
    else:
        show(_report_text(options, fiber, answer).removesuffix("\n"))
        print_reading(imported)
        print("".join(f"{line}\n" for line in _closing_lines(options, steps)), end="")
        if not is_complete:
            show(f"undecided: {cut}")
    return 0 if is_complete else 3


def _answer(fiber: Fiber) -> dict[str, Any]:
    """Return the entries of the JSON object about the fiber, without members."""
    from polyrelu.fibers.report import fiber_object

    network = fiber.network
    membership = _membership(network)
    more = {"membership": membership, "hidden": _hidden(network)}
    return fiber_object(fiber) | more | {"reason": _open_question(fiber, membership) or None}


def _check_options(options: argparse.Namespace) -> None:
    """Raise an error for options that do not fit together, and files that cannot be written."""
    if options.output is not None:
        check_output("-o", options.output, [options.network, *filter(None, [options.domain])])
        if Path(options.output).suffix not in _REPORT_FORMATS:
            raise DomainError(
                f"-o {options.output}: reports are written as {', '.join(_REPORT_FORMATS)}; "
                "choose one of these"
            )
    if not 0 <= options.sample <= _MAX_MEMBERS:
        raise UsageError(f"--sample {options.sample}: must be 0 to {_MAX_MEMBERS}")
    if options.to is None:
        if options.onnx:
            raise UsageError(
                "--onnx says in what form --to FOLDER writes members; give --to as well"
            )
        return
    if not _num_wanted(options):
        raise UsageError("--to FOLDER writes members; ask for some with --member K or --sample N")
    if not os.path.isdir(options.to):
        raise PolyreluError(f"--to {options.to}: there is no such folder; make it first")
    taken = [name for name in (options.network, options.domain, options.output) if name is not None]
    for number in range(_num_wanted(options)):
        for suffix in (".json", ".onnx") if options.onnx else (".json",):
            check_output("--to", str(_member_path(options, number, suffix)), taken)


def _num_wanted(options: argparse.Namespace) -> int:
    """Return the number of members that are wanted; --member alone wants one."""
    return int(options.sample or (options.member is not None))


def _member_path(options: argparse.Namespace, number: int, suffix: str) -> Path:
    """Return the path of the file of a member."""
    return Path(options.to) / f"member-{number}{suffix}"


def _members(options: argparse.Namespace, fiber: Fiber) -> Iterator[tuple[int, Network]]:
    """Yield members one by one, each with the number of its component."""
    rng = Random(options.seed)
    if not options.sample and options.member is not None:
        yield options.member, fiber.components[options.member].member()
    for _ in range(options.sample):
        number = rng.randrange(len(fiber.components)) if options.member is None else options.member
        yield number, fiber.components[number].member(seed=rng.getrandbits(64))


def _budget_of_proof(options: argparse.Namespace) -> Budget:
    budget: Budget = options.limits.apart(_work(options))
    return budget


def _work(options: argparse.Namespace) -> float:
    """Return the units of work for the list of components, and for each proof."""
    return _WORK if options.budget is None else float(options.budget)


def _prove_and_write(
    options: argparse.Namespace,
    network: Network,
    domain: Any,
    number: int,
    component: int,
    other: Network,
) -> dict[str, Any]:
    """Prove that a member has the same function, write it, and return its entry of the answer."""
    from polyrelu.outcomes import Equivalent, NotEquivalent
    from polyrelu.proofs import equivalent

    with ProgressLine() as line:

        def show(step: ProgressStep) -> None:
            """Show a step with the number of the member it belongs to."""
            line.show(replace(step, stage=f"member {number}: {step.stage}"))

        show(ProgressStep("proving equality", 0, None, "nodes"))
        outcome = equivalent(
            network, other, domain, budget=_budget_of_proof(options), progress=show
        )
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
        **_write_member(options, other, number),
    }


def _related(network: Network, other: Network) -> bool | None:
    """Return whether the networks are related by permutation and scaling; None if unknown."""
    from polyrelu.symmetry import first_difference, related

    if max(network.widths[1:-1]) <= _MAX_RELATED_WIDTH:
        return related(network, other)
    return False if first_difference(network, other) is not None else None


def _write_member(options: argparse.Namespace, other: Network, number: int) -> dict[str, Any]:
    """Write a member, and return the entries about its files."""
    from polyrelu.exact import format_rational
    from polyrelu.formats import save

    if options.to is None:
        return {"files": [], "onnx_rounding": None}
    path = _member_path(options, number, ".json")
    save(other, path)
    if not options.onnx:
        return {"files": [str(path)], "onnx_rounding": None}
    from polyrelu.formats import save_onnx

    exported = save_onnx(other, _member_path(options, number, ".onnx"))
    return {
        "files": [str(path), *map(str, exported.files)],
        "onnx_rounding": format_rational(exported.largest_difference),
    }


def _membership(network: Network) -> str | None:
    """Return the status of the network's membership in the generic class, where it is defined."""
    from polyrelu.proofs.membership import generic_membership, has_generic_class

    return str(generic_membership(network)["status"]) if has_generic_class(network) else None


def _open_question(fiber: Fiber, membership: str | None) -> str:
    """Return in words what is unknown; nothing for a complete list of a generic network."""
    if fiber.complete != "generic":
        return fiber.reason
    if membership == "refuted":
        return "the network itself is not generic, so other parameters may have its function"
    return (
        "" if membership == "verified" else "whether the network itself is generic is not decided"
    )


def _hidden(network: Network) -> list[dict[str, Any]]:
    """Return the hidden hyperplanes of all layers, with their possible translations."""
    from polyrelu.exact import format_rational
    from polyrelu.fibers import hidden_hyperplane

    hyperplanes = (hidden_hyperplane(network, layer) for layer in range(1, network.depth))
    return [
        {
            "layer": hyperplane.layer,
            "neuron": hyperplane.neuron,
            "least_shift": format_rational(hyperplane.least_shift),
            "flippable": list(hyperplane.flippable),
        }
        for hyperplane in hyperplanes
        if hyperplane is not None
    ]


def _write_report(options: argparse.Namespace, fiber: Fiber, answer: dict[str, Any]) -> None:
    """Write the report in the format of the file's suffix."""
    from polyrelu.fibers.report import fiber_latex, latex_document
    from polyrelu.support.text_files import layout, write_all

    path, num_components = Path(options.output), len(fiber.components)
    if path.suffix == ".json":
        document = {"format": "polyrelu-fiber", "version": 1, "network": fiber.network.sha256}
        text = layout({**document, "domain": options.domain or "R^n", **answer})
    elif path.suffix == ".tex":
        text = latex_document(fiber_latex(fiber, _remarks(options, answer)))
    else:
        text = _report_text(options, fiber, answer, num_components)
    write_all([(path, [text.encode()])])  # reports contain characters such as ≥


def _closing_lines(options: argparse.Namespace, steps: list[str]) -> list[str]:
    """Return lines about the report's file, about members that have no files, and next steps."""
    lines = [] if options.output is None else [f"report: {options.output}"]
    if _num_wanted(options) and options.to is None:
        lines.append("no member was written: --to FOLDER writes them (--to . into this folder)")
    return [*lines, *(f"next: {step}" for step in steps)]


def _report_text(
    options: argparse.Namespace, fiber: Fiber, answer: dict[str, Any], components: int | None = None
) -> str:
    """Return the report for people; `components` limits the number of components listed."""
    from polyrelu.fibers.report import fiber_text
    from polyrelu.support.text_files import wrapped

    body = fiber_text(fiber) if components is None else fiber_text(fiber, components)
    return "\n".join([body, *map(wrapped, _remarks(options, answer))]) + "\n"


def _remarks(options: argparse.Namespace, answer: dict[str, Any]) -> list[str]:
    """Return remarks on domain, open questions, hidden hyperplanes and members, a line each."""
    from polyrelu.certificate import number_text

    lines = [] if options.domain is None else [f"domain: {options.domain}"]
    if answer["reason"]:
        lines.append(f"open: {answer['reason']}")
    for hyperplane in answer["hidden"]:
        layer, neuron = hyperplane["layer"], hyperplane["neuron"]
        lines.append(
            f"layer {layer + 1} hides neuron {neuron} of layer {layer}: its bias may be raised by "
            f"every t ≥ {number_text(hyperplane['least_shift'])}"
        )
    return [
        *lines,
        *(_member_line(number, member) for number, member in enumerate(answer["members"])),
    ]


def _member_line(number: int, member: dict[str, Any]) -> str:
    """Return the remark on a member."""
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
