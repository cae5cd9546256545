"""A fiber to read: as text, as a JSON object, as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from polyrelu.errors import DomainError
from polyrelu.fibers.network import Fiber, FiberComponent
from polyrelu.support.text_files import wrapped

__all__ = ["COMPLETE", "fiber_latex", "fiber_object", "fiber_text"]

COMPLETE = {
    "all": "complete: every parameter of the architecture with this function is in one of the components",
    "simple": "complete among parameters with one neuron on each visible hyperplane and no neurons that cancel",
    "generic": "complete among generic parameters (three-layer symmetries, section 6), if the network is",
    "part": "a part of the fiber: other parameters may have the function as well",
}

#: So many components are shown on a terminal, and written in LaTeX; JSON has all.
_SHOWN, _WRITTEN = 24, 256
#: Hyperplanes are listed up to so many, with so many numbers.
_NORMALS = 8
#: Equations are written out up to so many unknowns.
_UNKNOWNS = 240


def fiber_object(fiber: Fiber) -> dict[str, Any]:
    """What JSON outputs have: dimension, completeness, and the components in order.

    >>> from polyrelu.fibers import fiber
    >>> from polyrelu.network import from_arrays
    >>> fiber_object(fiber(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])))["dimension"]
    0
    """
    return {
        "dimension": fiber.dimension,
        "complete": fiber.complete,
        "reason": fiber.reason or None,
        "count": len(fiber.components),
        "components": [
            {"layer": part.layer, "label": part.label, "dimension": part.dimension}
            for part in fiber.components
        ],
    }


def fiber_text(fiber: Fiber, shown: int = _SHOWN) -> str:
    """A report in words, with so many components."""
    count = len(fiber.components)
    lines = [
        str(fiber.network),
        wrapped(COMPLETE[fiber.complete]),
        f"dimension {_size(fiber.dimension)}, {count} component{'s' * (count != 1)}, up to permutation and scaling:",
    ]
    lines += [f"  {k}: {_described(part)}" for k, part in enumerate(fiber.components[:shown])]
    if count > shown:
        lines.append(f"  … and {count - shown} more")
    lines += _hyperplane_lines(fiber)
    return "\n".join(lines)


def _hyperplane_lines(fiber: Fiber) -> Iterator[str]:
    """Which hyperplanes the numbers in the labels mean, where this is short."""
    listed = {part.layer: part.normals for part in fiber.components if part.normals}
    for layer, normals in listed.items():
        if max(len(normals), len(normals[0])) > _NORMALS:
            continue
        rows = "; ".join(f"{k}: [{' '.join(map(str, row))}]" for k, row in enumerate(normals))
        yield wrapped(f"hyperplanes of layer {layer} by [w b] as u enters it, w·u + b = 0: {rows}")


def fiber_latex(fiber: Fiber, remarks: Sequence[str] = ()) -> str:
    r"""A report with the equations of the components, to be put into a LaTeX document (``\usepackage{amsmath}``).

    Parameters
    ----------
    remarks : lines of prose that follow the list's description.
    """
    lines = [
        "% needs \\usepackage{amsmath}; \\allowdisplaybreaks lets long displays go on",
        r"\section*{Fiber}",
        f"{_escaped(str(fiber.network))}.",
        f"Dimension {_size(fiber.dimension)}, components: {len(fiber.components)}, up to permutation and scaling.",
        f"The list is {_escaped(COMPLETE[fiber.complete])}.",
        *map(_escaped, remarks),
    ]
    for number, part in enumerate(fiber.components[:_WRITTEN]):
        lines += _component_latex(number, part)
    if len(fiber.components) > _WRITTEN:
        lines.append(f"{len(fiber.components) - _WRITTEN} more components are left out.")
    return "\n".join(lines) + "\n"


def _component_latex(number: int, part: FiberComponent) -> Iterator[str]:
    yield rf"\subsection*{{Component {number}: {_escaped(_described(part))}}}"
    size = part.unknowns
    if size > _UNKNOWNS:
        yield f"{size} unknowns; the equations are left out."
        return
    try:
        found = part.conditions()
    except DomainError as error:
        yield f"The equations are left out: {_escaped(str(error))}."
        return
    yield found.parameters_latex()
    if found.equations or found.inequalities:
        yield "subject to"
        yield found.to_latex()


def _described(part: FiberComponent) -> str:
    return f"layer {part.layer}: {part.label}; dimension {_size(part.dimension)}"


def _size(dimension: int | None) -> str:
    return "not known" if dimension is None else str(dimension)


def _escaped(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, "\\" + sign)
    return (
        text.replace("≥", r"$\geq$")
        .replace("…", r"\dots")
        .replace("^", r"\^{}")
        .replace("·", r"$\cdot$")
    )
