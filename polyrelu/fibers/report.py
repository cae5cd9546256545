"""Reports on a fiber: as text, as a JSON object and as LaTeX.

Here is the translation of a `Fiber` into the outputs of the command `polyrelu fiber`. The text and
LaTeX reports leave out what is too long to read; the JSON object contains all components. The keys
and the layout of the JSON object are part of the schema `fiber.schema.json` and do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from polyrelu.errors import DomainError
from polyrelu.fibers.network import Fiber, FiberComponent, dimension_text
from polyrelu.support.display import escaped_latex
from polyrelu.support.text_files import wrapped

__all__ = ["COMPLETE", "fiber_latex", "fiber_object", "fiber_text", "latex_document"]

#: Sentences for the values of `Fiber.complete`.
COMPLETE = {
    "all": (
        "complete: every parameter of the architecture with this function is in one of the "
        "components"
    ),
    "simple": (
        "complete among parameters with one neuron on each visible hyperplane and no neurons that "
        "cancel"
    ),
    "generic": (
        "complete among generic parameters (three-layer symmetries, section 6), if the network "
        "is generic"
    ),
    "part": "a part of the fiber: other parameters may have the function as well",
}


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """Limits on the length of reports.

    Attributes
    ----------
    max_shown
        Maximum number of components in the text report.
    max_written
        Maximum number of components in the LaTeX report.
    max_normals
        Maximum number of hyperplanes, and of entries of each, that the text report lists.
    max_unknowns
        Maximum number of unknowns of a component whose equations the LaTeX report prints.
    """

    max_shown: int = 24
    max_written: int = 256
    max_normals: int = 8
    max_unknowns: int = 240


_SETTINGS = ReportSettings()


def fiber_object(fiber: Fiber) -> dict[str, Any]:
    """Return a JSON object with the dimension, the completeness and the components in order.

    Parameters
    ----------
    fiber
        The fiber.

    Returns
    -------
    dict
        A JSON object, a part of the outputs of the command `fiber`.

    Examples
    --------
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


def fiber_text(fiber: Fiber, shown: int = _SETTINGS.max_shown) -> str:
    """Return a report in words that lists at most `shown` components."""
    count = len(fiber.components)
    lines = [
        str(fiber.network),
        wrapped(COMPLETE[fiber.complete]),
        f"dimension {_whole_dimension(fiber)}, {count} {'known ' * (fiber.complete == 'part')}"
        f"component{'s' * (count != 1)}, up to permutation and scaling:",
    ]
    lines += [f"  {k}: {_component_line(part)}" for k, part in enumerate(fiber.components[:shown])]
    if count > shown:
        lines.append(f"  … and {count - shown} more")
    lines += _hyperplane_lines(fiber)
    return "\n".join(lines)


def _hyperplane_lines(fiber: Fiber) -> Iterator[str]:
    """Yield the hyperplanes to which the numbers in the labels refer, if they are few and short."""
    listed = {part.layer: part.normals for part in fiber.components if part.normals}
    for layer, normals in listed.items():
        if max(len(normals), len(normals[0])) > _SETTINGS.max_normals:
            continue
        rows = "; ".join(f"{k}: [{' '.join(map(str, row))}]" for k, row in enumerate(normals))
        yield wrapped(f"hyperplanes of layer {layer} by [w b] as u enters it, w·u + b = 0: {rows}")


def fiber_latex(fiber: Fiber, remarks: Sequence[str] = ()) -> str:
    r"""Return a LaTeX report with the equations of the components.

    The document that includes it needs ``\usepackage{amsmath}``; ``\allowdisplaybreaks`` lets long
    displays go on. `latex_document` makes a document of it.

    Parameters
    ----------
    fiber
        The fiber.
    remarks
        Lines of prose that follow the description of the list.

    Returns
    -------
    str
        The LaTeX source of a section.
    """
    lines = [
        r"\section*{Fiber}",
        f"{escaped_latex(str(fiber.network))}.",
        f"Dimension {_whole_dimension(fiber)}, components: {len(fiber.components)}, up to "
        "permutation and scaling.",
        f"The list is {escaped_latex(COMPLETE[fiber.complete])}.",
        *(f"\n{escaped_latex(remark)}." for remark in remarks),
    ]
    limit = _SETTINGS.max_written
    for number, part in enumerate(fiber.components[:limit]):
        lines += _component_latex(number, part)
    if len(fiber.components) > limit:
        lines.append(f"{len(fiber.components) - limit} more components are left out.")
    return "\n".join(lines) + "\n"


def latex_document(section: str) -> str:
    """Return a document that LaTeX compiles as it is."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage{amsmath}",
            r"\allowdisplaybreaks",
            r"\begin{document}",
            section.removesuffix("\n"),
            r"\end{document}",
            "",
        ]
    )


def _component_latex(number: int, part: FiberComponent) -> Iterator[str]:
    """Yield the lines of a subsection for one component."""
    yield rf"\subsection*{{Component {number}: {escaped_latex(_component_line(part))}}}"
    size = part.num_unknowns
    if size > _SETTINGS.max_unknowns:
        yield f"{size} unknowns; the equations are left out."
        return
    try:
        conditions = part.conditions()
    except DomainError as error:
        yield f"The equations are left out: {escaped_latex(str(error))}."
        return
    yield conditions.parameters_latex()
    if conditions.equations or conditions.inequalities:
        yield "subject to"
        yield conditions.to_latex()


def _component_line(part: FiberComponent) -> str:
    """Return the layer, the label and the dimension of a component in one line."""
    return f"layer {part.layer}: {part.label}; dimension {dimension_text(part.dimension)}"


def _whole_dimension(fiber: Fiber) -> str:
    """Return the dimension of a fiber; a part of a fiber gives a lower bound."""
    known = fiber.complete != "part" or fiber.dimension is None
    return f"{'' if known else 'at least '}{dimension_text(fiber.dimension)}"
