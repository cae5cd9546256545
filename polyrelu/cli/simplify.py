"""The command `polyrelu simplify NET`: the same function with fewer neurons, and its proof."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import (
    add_command,
    add_limits,
    add_network,
    add_reading,
    add_seed,
    read_network,
)
from polyrelu.cli.output import (
    check_output,
    check_written_ending,
    print_object,
    print_reading,
    reading,
    show,
    written_cost,
    written_lines,
)
from polyrelu.errors import CertificateError
from polyrelu.support.check_cost import CheckCost
from polyrelu.support.progress import ProgressLine

if TYPE_CHECKING:
    from polyrelu.network import Network
    from polyrelu.proofs import Simplified

__all__ = ["add_simplify"]


def add_simplify(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = (
        "leave out dead, duplicate, linear and unused neurons, and prove that the function stays"
    )
    examples = (
        "simplify example:digits -o small.json",
        "simplify net.onnx -o small.json --certificate equal.cert.gz",
    )
    parser = add_command(subparsers, "simplify", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the smaller network here (.json, .onnx, .npz, .nnet or .pt); if no neuron can "
        "be left out, the given one",
    )
    parser.add_argument(
        "--certificate",
        metavar="CERT",
        help="write the certificate that both networks are equivalent here; for `polyrelu check`",
    )
    parser.add_argument(
        "--domain",
        default="R^n",
        help="where the function stays: R^n (the default), orthant, box:lo,hi, "
        "'box:lo0,hi0;lo1,hi1;…', slice:FILE, FILE.json or FILE.vnnlib, as for "
        "`complex`",
    )
    add_seed(
        parser,
        "seed of the points at which neurons are looked at (default 0); the same seed gives "
        "the same network",
    )
    add_limits(
        parser,
        "work of all searches and proofs together, in units of about a millisecond (default: no "
        "limit); less work may remove fewer neurons",
    )
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import parse_domain
    from polyrelu.proofs import simplify

    _check_files(options)
    imported = read_network(options, options.network)
    domain = parse_domain(options.domain, imported.network.num_inputs)
    with ProgressLine() as line:
        found = simplify(
            imported.network,
            domain,
            seed=options.seed,
            budget=options.budget,
            progress=line.show,
        )
    caution = "" if options.output is None else _write_network(found.network, options.output)
    files: list[Path] = []
    if options.certificate is not None:
        files = found.outcome.with_provenance(imported.provenance).save(options.certificate)
    cost = written_cost(options, files)
    if options.json:
        print_object(
            options,
            found.outcome.status,
            started,
            **_answer(options, found),
            caution=caution or None,
            certificate=str(files[-1]) if files else None,
            files=[str(path) for path in files],
            check_cost=cost and cost.to_json(),
            **reading(imported),
        )
    else:
        show(str(found))
        print_reading(imported)
        lines = _written_lines(options, found, caution, files, cost)
        print("".join(f"{line}\n" for line in lines), end="")
    return 0


def _check_files(options: argparse.Namespace) -> None:
    """Raise an error for outputs that cannot be written or would overwrite a file in use."""
    domain = options.domain.removeprefix("slice:")
    outputs = [("-o", options.output), ("--certificate", options.certificate)]
    for option, name in outputs:
        if name is not None:
            check_output(option, name, [options.network, domain])
    if options.output is not None:
        check_written_ending("-o", options.output)
    if None not in (options.output, options.certificate) and (
        os.path.realpath(options.output) == os.path.realpath(options.certificate)
    ):
        raise CertificateError(
            f"--certificate {options.certificate}: the network is to be written to this file; "
            "choose two names"
        )


def _write_network(network: Network, name: str) -> str:
    """Write the network; return a caution if the file does not hold exactly its numbers."""
    from polyrelu.formats import save

    written = save(network, name)
    if written.exact:
        return ""
    return (
        f"{name} holds the nearest {written.numbers} numbers, at most "
        f"{float(written.largest_difference):.3g} away; the proof is about the exact ones, "
        "which -o FILE.json keeps"
    )


def _answer(options: argparse.Namespace, found: Simplified) -> dict[str, Any]:
    """Return the entries of the JSON object about the result."""
    network = found.network
    return {
        "domain": options.domain,
        "widths": list(network.widths),
        "parameters": network.num_parameters,
        "sha256": network.sha256,
        "removed": [
            {"layer": neuron.layer, "index": neuron.index, "reason": reason}
            for neuron, reason in found.removed
        ],
        "is_smallest": found.is_smallest,
        "statement": str(found.outcome.certificate.claim),
        "output": options.output,
    }


def _written_lines(
    options: argparse.Namespace,
    found: Simplified,
    caution: str,
    files: list[Path],
    cost: CheckCost | None,
) -> list[str]:
    """Return lines of text about the files that were written."""
    unchanged = "" if found.removed else " (the given network, with no neuron left out)"
    lines = [] if options.output is None else [f"network: {options.output}{unchanged}"]
    lines += [f"caution: {caution}"] if caution else []
    return lines + written_lines(options.certificate, files, cost)
