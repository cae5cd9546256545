"""The command `polyrelu info NET`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import add_command, add_network, read_network
from polyrelu.cli.output import print_object

if TYPE_CHECKING:
    from polyrelu.formats import Imported
    from polyrelu.network import Network

__all__ = ["add_info"]


def add_info(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "info", _info, "say what was read from a network file")
    add_network(parser)
    parser.add_argument(
        "--native", metavar="FILE", help="write the exact network here, in the native .json format"
    )


def _info(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import save

    imported = read_network(options, options.network)
    network = imported.network
    if options.native:
        save(network, options.native)
    if options.json:
        print_object(options, "ok", started, **_info_object(imported))
        return 0
    lines = [
        ("file", options.network),
        ("format", imported.format),
        ("architecture", _shape(network)),
        ("parameters", str(network.parameters)),
        ("stored", f"{imported.numbers} numbers of the file"),
        ("weights", ", ".join(imported.dtypes) or "none"),
        ("rounding", imported.rounding),
        ("read", " > ".join(imported.steps)),
        *(("note", note) for note in imported.notes),
        *(("caution", caveat) for caveat in imported.caveats),
        ("compared", str(imported.comparison)),
        ("file sha256", imported.source_sha256),
        ("sha256", network.sha256),
    ]
    print("\n".join(f"{key:<13}{value}" for key, value in lines))
    return 0


def _shape(network: Network) -> str:
    if network.is_plain:
        return str(network.architecture)
    return f"{'-'.join(map(str, network.widths))} with connections that skip layers"


def _info_object(imported: Imported) -> dict[str, Any]:
    network = imported.network
    return {
        "architecture": list(network.widths) if network.is_plain else None,
        "last": network.last,
        "parameters": network.parameters,
        "sha256": network.sha256,
        "rounding": imported.rounding,
        "format": imported.format,
        "dtypes": list(imported.dtypes),
        "read": list(imported.steps),
        "notes": list(imported.notes),
        "caveats": list(imported.caveats),
        "widths": list(network.widths),
        "numbers": imported.numbers,
        "compared": _comparison(imported),
        "source_sha256": imported.source_sha256,
    }


def _comparison(imported: Imported) -> dict[str, Any]:
    found = imported.comparison
    if found.reason:
        return {"runtime": None, "reason": found.reason}
    return {
        "runtime": found.runtime,
        "points": found.points,
        "values": found.values,
        "worst": found.worst,
    }
