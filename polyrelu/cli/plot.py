"""The command `polyrelu plot NET`: a picture of a network, or a surface as a mesh."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrelu.cli.options import (
    UsageError,
    add_command,
    add_limits,
    add_network,
    add_reading,
    output_index,
    read_network,
)
from polyrelu.cli.output import (
    check_output,
    entry_lines,
    print_object,
    print_reading,
    reading,
    show,
)
from polyrelu.errors import DomainError
from polyrelu.support.limits import NUMBER
from polyrelu.support.progress import ProgressLine, ProgressStep

if TYPE_CHECKING:
    from polyrelu.exact import Polyhedron
    from polyrelu.formats import Slice
    from polyrelu.network import Network
    from polyrelu.support.progress import Progress

__all__ = ["add_plot"]

_MESH_FORMATS = (".ply", ".obj")
_FORMATS = (".png", ".svg", ".pdf", *_MESH_FORMATS)
#: Kinds of pictures, as in `polyrelu.plot.picture`, which is imported only when something is drawn.
_KINDS = ("graph", "complex", "layers", "zeros", "weights", "boundary", "level", "surface")


def add_plot(subparsers: Any) -> None:
    """Add the command to the parser."""
    summary = "a picture of a network in 1 to 3 dimensions, or a surface as a mesh"
    examples = (
        "plot example:bends -o bends.svg --box -2,2",
        "plot example:xor -o xor.png --what surface --box '-1,1;-1,1'",
    )
    parser = add_command(subparsers, "plot", _run, summary, examples)
    add_network(parser)
    parser.add_argument(
        "-o",
        dest="file",
        required=True,
        metavar="FILE",
        help="the picture (.png, .svg, .pdf), or the mesh of zeros, weights, boundary or level "
        "(.ply, .obj)",
    )
    parser.add_argument(
        "--what",
        choices=_KINDS,
        help="graph of an output (1 dimension); complex: all cells (2); layers: zero sets of the "
        "neurons, a panel for each layer (2 or 3); zeros: those of all layers in one; weights: "
        "breakpoint facets by tropical weight; boundary of decisions; level: where an output is "
        "--level; surface: graph of an output (2). By default graph, and layers in 2 and 3",
    )
    parser.add_argument(
        "--domain",
        default="R^n",
        help="R^n (the default) or any other of 1 to 3 dimensions, written as for `complex`; of "
        "many inputs slice:FILE, a slice through points, drawn in its coordinates s, t",
    )
    parser.add_argument(
        "--box",
        metavar="LO,HI",
        help="the frame of the picture along its axes, -2,2 or '-2,2;0,1' (in quotes); by default "
        "that of a bounded domain, otherwise -1,1",
    )
    parser.add_argument(
        "--output", default="0", metavar="K", help="which output, from 0; 0 is the default"
    )
    parser.add_argument("--level", metavar="C", help="for level: 2, 0.5 or -1/3; 0 is the default")
    add_limits(parser)
    add_reading(parser)


def _run(options: argparse.Namespace, started: float) -> int:
    from polyrelu.formats import parse_domain, parse_slice
    from polyrelu.topology import UnfinishedError

    suffix = _check_options(options)
    level = _level(options)
    output = output_index("--output", options.output, "; a file is -o FILE")
    box = _box(options.box)
    imported = read_network(options, options.network)
    parse = parse_slice if options.domain.startswith("slice:") else parse_domain
    domain = parse(options.domain, imported.network.num_inputs)
    draw = _write_mesh if suffix in _MESH_FORMATS else _write_picture
    try:
        with ProgressLine() as line:
            answer = draw(options, imported.network, domain, box, output, level, line.show)
    except UnfinishedError:  # after Ctrl-C: there is nothing to keep
        raise KeyboardInterrupt from None
    if options.json:
        print_object(options, "ok", started, **answer, **reading(imported))
    else:
        show(*entry_lines(answer))
        print_reading(imported)
    return 0


#: One interval for all axes, an interval for each of them, or none.
_Sides = list[tuple[Fraction, Fraction]] | tuple[Fraction, Fraction] | None


def _write_picture(
    options: argparse.Namespace,
    network: Network,
    domain: Polyhedron | Slice,
    box: _Sides,
    output: int,
    level: Fraction,
    progress: Progress,
) -> dict[str, object]:
    """Draw and write a picture, and return the entries of the JSON object."""
    from polyrelu.plot import picture

    drawn = picture(
        network,
        domain,
        what=options.what,
        box=box,
        output=output,
        level=level,
        progress=progress,
    )
    progress(ProgressStep(f"writing {options.file}", 0, 1, "files"))
    drawn.save(options.file)
    return {
        "domain": options.domain,
        "what": drawn.what,
        "axes": list(drawn.view.names),
        "box": _box_object(zip(drawn.view.lower, drawn.view.upper, strict=True)),
        **_asked(drawn.what, output, level),
        "drawn": drawn.counts,
        "file": options.file,
    }


def _write_mesh(
    options: argparse.Namespace,
    network: Network,
    domain: Polyhedron | Slice,
    box: _Sides,
    output: int,
    level: Fraction,
    progress: Progress,
) -> dict[str, object]:
    """Compute and write a mesh, and return the entries of the JSON object."""
    from polyrelu.formats import Slice
    from polyrelu.plot import save_mesh, surface
    from polyrelu.plot.slices import on_axes
    from polyrelu.plot.view import sides_of

    if options.what is None:
        raise DomainError(
            "a mesh is that of a surface; choose --what zeros, weights, boundary or level"
        )
    names: tuple[int | str, ...] | None = None
    if isinstance(domain, Slice):
        network, domain, names, _ = on_axes(network, domain)
    part = surface(
        network,
        domain,
        what=options.what,
        box=box,
        output=output,
        level=level,
        progress=progress,
    )
    progress(ProgressStep(f"writing {options.file}", 0, 1, "files"))
    mesh = save_mesh(part, options.file, names=names)
    counts = {
        "vertices": len(mesh.vertices),
        "faces": len(mesh.faces),
        "edges alone": len(mesh.edges),
    }
    return {
        "domain": options.domain,
        "what": options.what,
        "axes": list(mesh.axes),
        "box": None if box is None else _box_object(sides_of(box, len(mesh.axes))),
        **_asked(options.what, output, level),
        "drawn": counts,
        "file": options.file,
    }


def _box_object(sides: Iterable[tuple[Fraction, Fraction]]) -> list[list[str]]:
    """Return the pairs [low, high] of the axes."""
    return [[str(low), str(high)] for low, high in sides]


def _asked(what: str, output: int, level: Fraction) -> dict[str, object]:
    """Return output and level of the question, where the picture depends on them."""
    from polyrelu.exact import format_rational

    return {
        "output": output if what in ("graph", "surface", "weights", "level") else None,
        "level": format_rational(level) if what == "level" else None,
    }


def _check_options(options: argparse.Namespace) -> str:
    """Raise an error for a file that cannot be written; return its suffix."""
    check_output("-o", options.file, [options.network, options.domain.removeprefix("slice:")])
    suffix = Path(options.file).suffix
    if suffix not in _FORMATS:
        raise DomainError(
            f"-o {options.file}: a picture is written as .png, .svg, .pdf, a mesh as .ply, .obj"
        )
    return suffix


def _level(options: argparse.Namespace) -> Fraction:
    """Return the level, 0 by default."""
    if options.level is None:
        return Fraction()
    if options.what != "level":
        raise UsageError("--level: only for --what level")
    if not NUMBER.fullmatch(options.level):
        raise UsageError(
            f"--level {options.level[:40]!r}: expected an integer, a decimal or a fraction such as "
            "1/3"
        )
    return Fraction(options.level)


def _box(text: str | None) -> _Sides:
    """Return the box as exact numbers."""
    if text is None:
        return None
    sides = [side.split(",") for side in text.removeprefix("box:").split(";")]
    if any(
        len(side) != 2 or not all(NUMBER.fullmatch(entry.strip()) for entry in side)
        for side in sides
    ):
        raise UsageError(
            f"--box {text[:60]!r}: every side is two numbers lo,hi, sides are separated by ';'"
        )
    pairs = [(Fraction(low.strip()), Fraction(high.strip())) for low, high in sides]
    return pairs[0] if len(pairs) == 1 else pairs
