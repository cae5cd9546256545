"""A fiber to read: as text, as a JSON object, as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polyrelu.fibers.network_fiber import Fiber, FiberComponent
from polyrelu.textfiles import wrapped

__all__ = ["COMPLETE", "fiber_latex", "fiber_object", "fiber_text"]

COMPLETE = {
    "all": "complete: every parameter of the architecture with this function is in one of the components",
    "simple": "complete among parameters with one neuron on each visible hyperplane and no neurons that cancel",
    "generic": "complete among generic parameters (three-layer symmetries, section 6), if the network is",
    "part": "a part of the fiber: other parameters may have the function as well",
}

#: So many components are shown as text, and in LaTeX; JSON has all.
_SHOWN = 24
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
            {"layer": part.layer, "label": part.label, "dimension": part.dimension} for part in fiber.components
        ],
    }


def fiber_text(fiber: Fiber) -> str:
    """A report in words."""
    count = len(fiber.components)
    lines = [
        str(fiber.network),
        wrapped(COMPLETE[fiber.complete]),
        f"dimension {fiber.dimension}, {count} component{'s' if count != 1 else ''}, up to permutation and scaling:",
    ]
    lines += [f"  {k}: {_described(part)}" for k, part in enumerate(fiber.components[:_SHOWN])]
    if count > _SHOWN:
        lines.append(f"  … and {count - _SHOWN} more")
    return "\n".join(lines)


def fiber_latex(fiber: Fiber) -> str:
    """A report with the equations of the first components, as a part of a LaTeX document (amsmath)."""
    lines = [
        f"% {fiber.network}",
        r"\section*{Fiber}",
        f"Dimension ${fiber.dimension}$, ${len(fiber.components)}$ components, up to permutation and positive scaling.",
        f"The list is {_escaped(COMPLETE[fiber.complete])}.",
    ]
    for number, part in enumerate(fiber.components[:_SHOWN]):
        lines += _component_latex(number, part)
    return "\n".join(lines) + "\n"


def _component_latex(number: int, part: FiberComponent) -> Iterator[str]:
    yield rf"\subsection*{{Component {number}: {_escaped(_described(part))}}}"
    size = part.unknowns
    if size > _UNKNOWNS:
        yield f"{size} unknowns; the equations are left out."
        return
    found = part.conditions()
    yield found.parameters_latex()
    if found.equations or found.inequalities:
        yield "subject to"
        yield found.to_latex()


def _described(part: FiberComponent) -> str:
    return f"layer {part.layer}: {part.label}; dimension {part.dimension}"


def _escaped(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, "\\" + sign)
    return text
