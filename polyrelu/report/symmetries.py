"""The symmetries of a network and the fiber: all parameters with the same function."""

from __future__ import annotations

import math

from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron
from polyrelu.fibers import Fiber, fiber
from polyrelu.fibers.network import dimension_text
from polyrelu.fibers.report import COMPLETE
from polyrelu.report.question import OpenEnd, Part, Question, sentence
from polyrelu.support.document import Block, Paragraph, Table
from polyrelu.symmetry import hidden_neurons

__all__ = ["symmetry_part"]

_TITLE = "Symmetries and fiber"
#: The share of the budget.
_SHARE = 0.1
#: Maximum number of components that are listed.
_MAX_LISTED = 20
#: Number of digits from which a number is rounded.
_DIGITS = 12


def symmetry_part(question: Question) -> Part:
    """Return the part about permutations, scalings and the fiber."""
    network = question.network
    intro = Paragraph(_trivial_symmetries(network.widths[1 : network.depth]))
    try:
        found = fiber(network, _domain(question), budget=question.share(_SHARE).work)
    except NetworkError as error:
        end = OpenEnd("which other parameters have the same function", str(error))
        blocks: tuple[Block, ...] = (intro, Paragraph(sentence(str(error)), "undecided", "open"))
        return Part(_TITLE, f"undecided: {error}", blocks, {"fiber": None}, (end,))
    blocks = (intro, *_hidden(question), *_described(found))
    answers = {
        "fiber": {
            "dimension": found.dimension,
            "complete": found.complete,
            "components": len(found.components),
        }
    }
    ends: tuple[OpenEnd, ...] = ()
    if found.complete == "part":
        reason = found.reason or "the list of components is a part of the fiber"
        ends = (OpenEnd("which other parameters have the same function", reason),)
    return Part(_TITLE, repr(found)[1:-1], blocks, answers, ends)


def _trivial_symmetries(hidden: tuple[int, ...]) -> str:
    """Return a sentence on hidden layers of some widths; a ReLU at the outputs makes none."""
    if not hidden:
        return "Without hidden neurons a network has no symmetries."
    size = sum(math.lgamma(width + 1) for width in hidden) / math.log(10)
    orders = math.prod(math.factorial(width) for width in hidden) if size < _DIGITS else 0
    count = f"{orders} orders" if orders else f"about 10^{size:.0f} orders"
    if orders == 1:
        count = "one order"
    return (
        f"Every network has the trivial symmetries: {count} of its hidden neurons, and "
        f"a positive factor for each of the {sum(hidden)} hidden neurons."
    )


def _domain(question: Question) -> Polyhedron | None:
    """Return the domain where a fiber takes one: one hidden layer with an affine output."""
    takes_one = question.network.depth == 2 and question.network.last == "affine"
    return question.domain if takes_one else None


def _hidden(question: Question) -> tuple[Block, ...]:
    """Return a sentence on hidden hyperplanes."""
    network = question.network
    found = []
    for layer in range(1, network.num_hidden_layers):
        if neurons := hidden_neurons(network, layer):
            names = ", ".join(map(str, neurons[:_MAX_LISTED]))
            found.append(f"layer {layer + 1} hides neuron {names} of layer {layer}")
    if not found:
        return (Paragraph("No layer hides a hyperplane of the layer before it."),)
    return (Paragraph(f"{sentence('; '.join(found))} Their hyperplanes can be translated."),)


def _described(found: Fiber) -> tuple[Block, ...]:
    """Return the fiber in words, with a table of its components."""
    rows = [
        (str(k), str(part.layer), part.label, dimension_text(part.dimension))
        for k, part in enumerate(found.components[:_MAX_LISTED])
    ]
    if (more := len(found) - len(rows)) > 0:
        rows.append(("…", "", f"{more} more", ""))
    least = "at least " if found.complete == "part" and found.dimension is not None else ""
    size = f"{least}{dimension_text(found.dimension)}"
    text = (
        f"Up to these symmetries, the fiber has dimension {size}. "
        f"The list below is {COMPLETE[found.complete]}."
    )
    table = Table(("component", "layer", "parameters", "dimension"), tuple(rows))
    return Paragraph(text), table
