"""The cells of the domain or slice that a report shows: counts, pictures, topology, certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np

from polyrelu.breakpoints import breakpoint_complex, unbalanced_ridge
from polyrelu.complex import PolyhedralComplex, canonical_complex, linear_regions
from polyrelu.complex.payment import PaidCuts
from polyrelu.errors import PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.plot.canvas import lay_out, rendered
from polyrelu.plot.picture import KINDS, Picture, boundary_picture, in_frame, picture_of
from polyrelu.plot.view import View, window
from polyrelu.proofs import certify_complex
from polyrelu.report.claims import certificate_blocks
from polyrelu.report.question import Part, Question, sentence
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.display import count_text
from polyrelu.support.document import Block, Image, Paragraph, facts
from polyrelu.topology import decision_boundary, homology

__all__ = ["cells_part", "topology_part"]

#: The frame of a picture.
Box: TypeAlias = tuple[Fraction, Fraction]

#: Shares of the budget.
_CELLS, _BOUNDARY, _CERTIFICATE = 0.3, 0.1, 0.1
#: Maximum number of regions that are drawn, by dimension.
_DRAWN = {1: 100_000, 2: 20_000, 3: 1_500}
#: Maximum number of regions whose list gets a certificate.
_CERTIFIED = 2_000
#: Maximum number of regions times parameters for which regions are merged, and weights computed.
_MERGED, _WEIGHED = 10**8, 5 * 10**8
#: Sides of the frames of a random slice that are tried, and units of work of each attempt.
_SIZES = tuple(3 * Fraction(1, 4) ** k for k in range(6))
_SMALL = 400.0
#: The coordinates s = t of the middle between three points.
_MIDDLE = Fraction(1, 3)
#: Names of cells by dimension.
_NAMES = ("vertex", "edge", "polygon", "solid")

#: What the pictures show.
_CAPTIONS = {
    "graph": "The graph of output 0; dots are where its slope changes.",
    "layers": "The zero sets of the neurons, a panel for each layer; earlier layers in grey.",
    "weights": "The facets at which the gradient of output 0 jumps, coloured by tropical weight.",
    "boundary": "The regions of the classes, and the boundary between them.",
}


@dataclass(frozen=True, slots=True)
class _Shown:
    """A network and the part of its domain whose cells are listed, in the same coordinates."""

    network: Network
    domain: Polyhedron
    view: View

    @classmethod
    def of(cls, question: Question, box: Box | None) -> _Shown:
        """Return what a report shows; a slice is cut by the frame of its picture."""
        assert question.shown is not None
        network, part, view = in_frame(question.network, question.shown, box)
        if box is not None:
            cut = window(part)[1]
            view = replace(view, lower=cut.lower, upper=cut.upper)
        if network is not question.network:
            return cls(network, part, view)
        return cls(network, question.shown_polyhedron, view)


def shown_complex(question: Question) -> tuple[_Shown, PolyhedralComplex]:
    """Return the complex of what is shown; on a random slice, in a frame with few cells.

    Raises
    ------
    LimitReached
        The share of the budget is used up.
    """
    budget, box = question.share(_CELLS), None
    for size in _SIZES if question.is_random else ():
        box = (_MIDDLE - size / 2, _MIDDLE + size / 2)
        shown = _Shown.of(question, box)
        try:
            return shown, _complex(question, shown, budget.part(_SMALL))
        except WorkLimit:
            continue
    shown = _Shown.of(question, box)
    return shown, _complex(question, shown, budget)


def _complex(question: Question, shown: _Shown, budget: Budget) -> PolyhedralComplex:
    """Return a complete complex, or raise `LimitReached`."""
    paid = PaidCuts(budget, shown.view.dimension, question.progress)
    cells = canonical_complex(shown.network, shown.domain, progress=paid)
    budget.check_others()
    if not cells.complete:
        raise KeyboardInterrupt
    return cells


def cells_part(question: Question) -> Part:
    """Return the part about cells, gradient jumps and their pictures."""
    title = "Cells and pictures"
    if question.shown is None:
        return _nothing_shown(title)
    shown, cells = shown_complex(question)
    rows = list(_counts(cells))
    blocks: list[Block] = [
        Paragraph(f"{question.shown_text}; frame: {shown.view.caption}. All numbers are exact."),
        facts(rows),
        *_pictures(question, cells, _framed(cells, shown.view)),
    ]
    if shown.network is question.network and cells.num_regions <= _CERTIFIED:
        listed = certify_complex(cells, budget=question.share(_CERTIFICATE))
        command = ["complex", question.name, "--domain", question.domain_text]
        command += ["--certificate", f"{question.stem}.cells.cert.json"]
        if listed.status == "proved":
            blocks.append(Paragraph("The certificate proves that these are all cells."))
        blocks += certificate_blocks(question, listed, "cells", command)
    answers = {"regions": cells.num_regions, "f_vector": list(cells.f_vector)}
    return Part(title, rows[0][1], tuple(blocks), answers)


def topology_part(question: Question) -> Part:
    """Return the part about the decision boundary."""
    title, network = "Topology of the decision boundary", question.network
    if question.shown is None:
        return _nothing_shown(title)
    shown, _ = shown_complex(question)
    paid = PaidCuts(question.share(_BOUNDARY), shown.view.dimension, question.progress)
    boundary = decision_boundary(shown.network, shown.domain, progress=paid)
    groups = homology(boundary)
    said = str(groups) if any(boundary.f_vector) else "the set is empty"
    what = (
        "where the output is 0"
        if network.num_outputs == 1
        else "where the largest output is attained at least twice"
    )
    cells = [(n, _NAMES[k]) for k, n in enumerate(boundary.f_vector) if n]
    rows = [
        ("cells", count_text(cells) or "none"),
        ("components", str(groups.betti[0]) if groups.betti else "0"),
        ("Betti numbers", " ".join(map(str, groups.betti))),
        ("homology", said),
        ("Euler characteristic", str(groups.euler_characteristic)),
    ]
    blocks: list[Block] = [
        Paragraph(f"The set {what}. {question.shown_text}."),
        facts(rows),
    ]
    if "boundary" in _kinds(shown.view.dimension):
        view = _framed(boundary.cells, shown.view)
        make = partial(boundary_picture, boundary, network.num_outputs, view)
        blocks += _picture(question, boundary.cells, "boundary", make)
    answers = {"boundary_betti": list(groups.betti)}
    return Part(title, said, tuple(blocks), answers)


def _nothing_shown(title: str) -> Part:
    """Return the part where neither cells nor pictures were asked for."""
    said = "nothing is shown: the domain is a single point"
    return Part(title, said, (Paragraph(sentence(said)),), {})


def _counts(cells: PolyhedralComplex) -> Iterator[tuple[str, str]]:
    """Yield numbers of cells and gradient jumps; products of large matrices are left out."""
    names = (*_NAMES[: cells.dimension], "region")
    yield "cells", count_text(zip(cells.f_vector, names, strict=False))
    yield "bounded regions", str(cells.num_bounded_regions)
    if cells.lineality_dim:
        yield "dimension of the lines in every cell", str(cells.lineality_dim)
    size = cells.num_regions * cells.network.num_parameters
    if size <= _MERGED:
        yield "regions after merging equal affine maps", str(len(linear_regions(cells)))
    if size > _WEIGHED:
        return
    jumps = breakpoint_complex(cells)
    yield "facets at which the gradient jumps", str(int(jumps.visible.sum()))
    if unbalanced_ridge(jumps) is not None:
        raise PolyreluError("a bug in polyrelu, please report it: the weights do not cancel")
    yield "gradient jumps", "they cancel around every cell of codimension 2"


def _kinds(dimension: int) -> tuple[str, ...]:
    """Return the kinds of pictures of a dimension that reports have."""
    return tuple(name for name in _CAPTIONS if dimension in KINDS[name])


def _pictures(question: Question, cells: PolyhedralComplex, view: View) -> Iterator[Block]:
    """Yield the pictures of a complex."""
    size = cells.num_regions * cells.network.num_parameters
    for what in _kinds(view.dimension):
        is_empty = what == "layers" and not cells.network.num_hidden_layers
        is_large = what == "weights" and size > _WEIGHED
        if what != "boundary" and not is_empty and not is_large:
            yield from _picture(question, cells, what, partial(picture_of, cells, what, view))


def _picture(
    question: Question, cells: PolyhedralComplex, what: str, make: Callable[[], Picture]
) -> Iterator[Block]:
    """Yield a picture, or a sentence that says why there is none."""
    limit = _DRAWN[cells.dimension]
    if cells.num_regions > limit:
        yield Paragraph(f"No picture ({what}): more than {limit} regions are not drawn.")
        return
    question.limits.check_others()
    try:
        figure = make().figure
        lay_out(figure)
    except PolyreluError as error:
        yield Paragraph(f"No picture ({what}): {error}.")
        return
    name = f"{question.stem}.{what}"
    yield Image(name, partial(rendered, figure), _CAPTIONS[what])


def _framed(cells: PolyhedralComplex, view: View) -> View:
    """Return a frame around most vertices of an unbounded complex; others keep their frame.

    The frame depends on floats, and nothing but the picture depends on the frame.
    """
    if bool(cells.bounded.all()) or cells.lineality_dim or not cells.size(0):
        return view
    points = np.array([[float(x) for x in cells.vertex(i)] for i in range(cells.size(0))])
    lower, upper = list(view.lower), list(view.upper)
    for axis in range(view.dimension):
        low, high = np.quantile(points[:, axis], [0.1, 0.9])
        margin = max(high - low, 1.0) * 0.4
        lower[axis] = type(lower[axis])(int(np.floor(low - margin)))
        upper[axis] = type(upper[axis])(int(np.ceil(high + margin)))
    return replace(view, lower=tuple(lower), upper=tuple(upper))
