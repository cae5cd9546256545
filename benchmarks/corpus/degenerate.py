"""Degenerate networks: what float tools with tolerances, and rules of thumb, get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from benchmarks.corpus.specimen import Pair, Specimen, layered

__all__ = ["degenerate"]

_PLANE = ([[1, 0], [0, 1]], [0, 0])
_ONES = ([[1, 1, 1]], [0])

#: Networks of a family: name, layers, sentence.
_Rows = tuple[tuple[str, list[Pair], str], ...]

_CONCURRENT: _Rows = (
    (
        "concurrent-3",
        [([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 2, -3]], [1])],
        "Three lines through the origin: six regions instead of the seven of general position.",
    ),
    (
        "concurrent-5",
        [
            ([[1, 0], [0, 1], [1, 1], [1, -1], [1, 2]], [-1, 0, -1, -1, -1]),
            ([[1, 2, -3, 1, 1]], [0]),
        ],
        "Five lines through the point (1, 0).",
    ),
    (
        "concurrent-two-points",
        [
            ([[1, 0], [0, 1], [1, 1], [1, -1]], [0, 0, 0, -1]),
            ([[1, -2, 1, 3]], [0]),
        ],
        "Four lines, three of them through the origin.",
    ),
    (
        "concurrent-4-planes",
        [([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [0, 0, 0, 0]), ([[1, 2, 3, -4]], [0])],
        "Four planes through the origin of R^3.",
    ),
    (
        "pencil",
        [([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], [0, 0, 0, -1]), ([[1, 1, -1, 1]], [0])],
        "Three planes of R^3 through one line, and one across: vertices of degree 7.",
    ),
    (
        "braid",
        [
            ([[1, -1, 0], [0, 1, -1], [1, 0, -1]], [0, 0, 0]),
            ([[1, 1, 1]], [0]),
        ],
        "The planes x_i = x_j: six regions that contain a line, and no vertex.",
    ),
    (
        "coordinate-4",
        [
            ([[int(i == j) for j in range(4)] for i in range(4)], [0, 0, 0, 0]),
            ([[1, 1, -1, -1]], [0]),
        ],
        "The four coordinate hyperplanes of R^4: 16 orthants.",
    ),
    (
        "bent-through-crossing",
        [_PLANE, ([[1, 1], [1, -1]], [0, 0]), ([[1, 1]], [0])],
        "The zero sets of layer 2 pass through the crossing of the lines of layer 1, where one "
        "neuron is 0 on an open region.",
    ),
    (
        "bent-touches-crossing",
        [([[1, 0], [0, 1], [-1, -1]], [0, 0, 1]), ([[1, 1, 1]], [-1]), ([[1]], [0])],
        "The neuron of layer 2 is 0 on a whole triangle, and positive around it.",
    ),
)

_PARALLEL: _Rows = (
    (
        "parallel-2",
        [([[1, 0], [1, 0], [0, 1]], [0, -1, 0]), ([[1, -1, 1]], [0])],
        "Two parallel lines and one across.",
    ),
    (
        "parallel-4",
        [([[1, 1]] * 4, [0, 1, "1/2", -1]), ([[1, -2, 1, 1]], [0])],
        "Four parallel lines: five strips, no vertex.",
    ),
    (
        "parallel-opposite",
        [([[1, 2], [-1, -2], [2, -1]], [0, 1, 0]), _ONES],
        "Parallel lines with opposite normals.",
    ),
    (
        "parallel-scaled",
        [([[1, 2], [3, 6], [0, 1]], [0, 1, 1]), ([[3, -1, 1]], [0])],
        "Parallel lines with normals (1, 2) and (3, 6); the jumps are -1 and 3 times (1, 2).",
    ),
    (
        "parallel-slabs",
        [([[0, 0, 1], [0, 0, 1], [0, 0, 2]], [0, -1, 1]), ([[1, 1, -1]], [0])],
        "Three parallel planes of R^3: four slabs that contain a plane.",
    ),
    (
        "parallel-deep",
        [([[1, 1]], [0]), ([[1], [1]], [-1, -2]), ([[1, -1]], [0])],
        "Parallel lines in two layers: four strips, two of them of width 1/√2.",
    ),
)

_DUPLICATE: _Rows = (
    (
        "duplicate-neuron",
        [([[1, 1], [1, 1], [1, -1]], [0, 0, 0]), ([[1, 2, 1]], [0])],
        "A neuron twice.",
    ),
    (
        "duplicate-scaled",
        [([[1, 1], [2, 2], [1, -1]], [1, 2, 0]), ([[1, 2, 1]], [0])],
        "A neuron and twice the neuron.",
    ),
    (
        "duplicate-opposite",
        [([[1, 1], [-1, -1], [1, -1]], [1, -1, 0]), ([[1, 2, 1]], [0])],
        "One line twice, with opposite signs: |x + y + 1| in part.",
    ),
    (
        "duplicate-cancelling",
        [([[1, 1], [2, 2], [1, -1]], [1, 2, 0]), ([[2, -1, 1]], [0])],
        "Two neurons on one line whose bends cancel: the line is invisible.",
    ),
    (
        "duplicate-half-cancelling",
        [([[1, 1], [-1, -1], [1, -1]], [1, -1, 0]), ([[1, -1, 1]], [0])],
        "σ(t) - σ(-t) = t: a line without a bend.",
    ),
    (
        "duplicate-layer-2",
        [_PLANE, ([[1, 1], [2, 2]], [-1, -2]), ([[1, 1]], [0])],
        "A neuron of layer 2 and twice the neuron.",
    ),
    (
        "duplicate-across-layers",
        [([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [1, 1]], [0, -1]), ([[1, 1]], [0])],
        "A neuron of layer 2 that is neuron 0 of layer 1 again: on half of the plane it is 0.",
    ),
    (
        "duplicate-on-half",
        [([[1, 0], [0, 1]], [-1, -1]), ([[1, -1]], [0]), ([[1]], [0])],
        "A neuron of layer 2 whose zero set contains a quadrant and a half-line.",
    ),
)

_ZERO: _Rows = (
    (
        "zero-row-positive",
        [([[1, 1], [0, 0], [1, -1]], [0, 2, 0]), _ONES],
        "A neuron without weights and with a positive bias: a constant.",
    ),
    (
        "zero-row-negative",
        [([[1, 1], [0, 0], [1, -1]], [0, -2, 0]), _ONES],
        "A neuron without weights and with a negative bias: never active.",
    ),
    (
        "zero-row-zero",
        [([[1, 1], [0, 0], [1, -1]], [0, 0, 0]), _ONES],
        "A neuron without weights and bias: its sign is 0 everywhere, on open regions too.",
    ),
    (
        "zero-input",
        [([[1, 0], [2, 0]], [0, 1]), ([[1, 1]], [0])],
        "An input that is not used: every region contains a line.",
    ),
    (
        "zero-output-weight",
        [([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 0, 1]], [0])],
        "A neuron that the output does not use: its line is not a bend.",
    ),
    (
        "zero-everything",
        [([[0, 0], [0, 0]], [0, 0]), ([[0, 0]], [0])],
        "All weights are 0.",
    ),
    (
        "zero-function",
        [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1]], [0]), ([[1]], [0])],
        "σ(-σ(x) - σ(y)) is 0 everywhere.",
    ),
)

_DEAD: _Rows = (
    (
        "dead-layer-2",
        [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1], [1, 1]], [-1, -1]), ([[1, 1]], [0])],
        "A neuron of layer 2 that is never active.",
    ),
    (
        "dead-last-layer",
        [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1], [-2, 0]], [-1, -1]), ([[1, 1]], [3])],
        "A whole layer that is never active: a constant function with four regions.",
    ),
    (
        "dead-on-box",
        [([[1, 0], [0, 1], [1, 1]], [0, 0, -5]), _ONES],
        "A neuron that is active, but not on the box [-2, 2]².",
    ),
    (
        "active-on-box",
        [([[1, 0], [0, 1], [1, 1]], [0, 0, 5]), _ONES],
        "A neuron that is active on the whole box [-2, 2]².",
    ),
    (
        "always-active",
        [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [0])],
        "A neuron of layer 2 that is always active.",
    ),
    (
        "zero-at-one-point",
        [
            ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 0, 0]),
            ([[1, 1, 1, 1]], [0]),
            ([[1]], [0]),
        ],
        "A neuron of layer 2, |x| + |y|, that is 0 at one point only.",
    ),
)

_EDGES: _Rows = (
    (
        "edge-of-box",
        [([[1, 0], [0, 1]], [-2, 0]), ([[1, 1]], [0])],
        "The line x = 2 is an edge of the box [-2, 2]².",
    ),
    (
        "edges-all",
        [([[1, 0], [-1, 0], [0, 1], [0, -1]], [-2, -2, -2, -2]), ([[1, 1, 1, 1]], [0])],
        "All edges of the box [-2, 2]² lie on lines of neurons; inside all of them are off.",
    ),
    (
        "corner-of-box",
        [([[1, 1], [1, -1]], [-4, 0]), ([[1, 1]], [0])],
        "A line that meets the box [-2, 2]² in one corner, and one through two corners.",
    ),
    (
        "concurrent-at-corner",
        [([[1, 1], [1, 2], [2, 1]], [-4, -6, -6]), _ONES],
        "Three lines through the corner (2, 2) of the box.",
    ),
)


def degenerate() -> Iterator[Specimen]:
    """Yield all degenerate networks."""
    for family, rows in (
        ("concurrent", _CONCURRENT),
        ("parallel", _PARALLEL),
        ("duplicate", _DUPLICATE),
        ("zero", _ZERO),
        ("dead", _DEAD),
        ("box", _EDGES),
    ):
        for name, layers, sentence in rows:
            yield Specimen(name, "degenerate", layered(*layers), sentence, tags=(family,))
    yield from _slivers()


def _slivers() -> Iterator[Specimen]:
    """Yield networks with regions of width 2^-k."""
    for k in (10, 20, 30, 40, 50, 60):
        width = Fraction(1, 2**k)
        yield _sliver(
            f"sliver-strip-{k}",
            f"Two parallel lines at distance 2^-{k}.",
            ([[1, 0], [1, 0], [0, 1]], [0, -width, 0]),
            ([[1, -1, 1]], [0]),
        )
    for k in (10, 30, 60):
        width = Fraction(1, 2**k)
        yield _sliver(
            f"sliver-triangle-{k}",
            f"Three lines that bound a triangle with legs of length 2^-{k}.",
            ([[1, 0], [0, 1], [1, 1]], [0, 0, -width]),
            ([[1, 1, 1]], [0]),
        )
        yield _sliver(
            f"sliver-wedge-{k}",
            f"Two lines through the origin with slopes 0 and 2^-{k}: a thin wedge.",
            ([[0, 1], [-width, 1], [1, 0]], [0, 0, -1]),
            ([[1, -1, 1]], [0]),
        )
        yield _sliver(
            f"sliver-layer-2-{k}",
            f"A neuron of layer 2 that is active on a strip of width 2^-{k} only.",
            ([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]),
            ([[-1, -1, 0], [0, 0, 1]], [width / 2, -1]),
            ([[2**k, 1]], [0]),
        )
    for k in (30, 60):
        width = Fraction(1, 2**k)
        yield _sliver(
            f"sliver-simplex-{k}",
            f"Four planes of R^3 that bound a tetrahedron with legs of length 2^-{k}.",
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [0, 0, 0, -width]),
            ([[1, 1, 1, 1]], [0]),
        )
        yield _sliver(
            f"sliver-line-{k}",
            f"Breakpoints 0 and 2^-{k} of a function of one input: a step.",
            ([[1], [1]], [0, -width]),
            ([[2**k, -(2**k)]], [0]),
        )
    yield _sliver(
        "sliver-far",
        "Two almost parallel lines that cross at distance 2^40.",
        ([[0, 1], [Fraction(1, 2**40), 1], [1, 0]], [0, -1, 0]),
        ([[1, 1, 1]], [0]),
    )
    yield _sliver(
        "sliver-float32",
        "Two parallel lines at distance 2^-25 beside 1, which are one line in float32.",
        ([[1, 0], [1, 0], [0, 1]], [-1, -1 - Fraction(1, 2**25), 0]),
        ([[1, -1, 1]], [0]),
    )


def _sliver(name: str, sentence: str, *layers: Any) -> Specimen:
    return Specimen(name, "degenerate", layered(*layers), sentence, tags=("sliver",))
