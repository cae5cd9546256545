"""Points whose values determine a network with one hidden layer, claim teaching-set."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from polyrelu.checking.arithmetic import common_denominator, dot, pivot_columns
from polyrelu.checking.meter import Meter, longest, require, well_formed
from polyrelu.checking.networks import Layer
from polyrelu.checking.pairs import scaled_point
from polyrelu.checking.text import RATIONAL, rationals
from polyrelu.checking.theorems import SUBSETS, Case, check_subset_sums, layers_of, theorem

# ==== 5.9 Teaching sets: theorem parallel-lines ====

#: Maximum number of lines times hidden neurons.
MAX_CROSSINGS = 10**6


class ParallelLines(NamedTuple):
    """The lines start + t direction, over one denominator."""

    scale: int
    direction: list[int]
    starts: list[list[int]]


@theorem(
    "parallel-lines",
    kind="teaching-set",
    page="theory/teaching.md",
    evidence={
        "lines": {"direction": [RATIONAL], "starts": [[RATIONAL]]},
        "jumps": {},
        "pieces": {"places": [[RATIONAL]]},
        "signs": SUBSETS,
    },
    says={
        "lines": "as many parallel lines as inputs, not in one hyperplane, meet every hyperplane",
        "jumps": "the jumps of the slopes at the hyperplanes are not 0, and pairwise different",
        "pieces": "on every line the breakpoints are different, and the points lie on the pieces "
        "as the theorem asks: two on each; one on both outer pieces of all lines but the first",
        "signs": "no nonempty set of neurons has linear parts with the sum 0",
    },
    optional=("signs",),
)
def parallel_lines(case: Case) -> None:
    """The values at the points determine the function, and with `signs` the parameters."""
    lower, upper = layers_of(case, 2)
    meter, size = case.meter, case.network.widths[0]
    evidence = case.hypothesis("lines")
    fact = f"{size} lines, all with {size} coordinates"
    rows = [evidence["direction"], *evidence["starts"]]
    require(len(rows) == size + 1, fact, f"{len(rows) - 1} lines")
    require({len(row) for row in rows} == {size}, fact, "another number of coordinates")
    message = f"beyond the limits: more than {MAX_CROSSINGS} points of lines and hyperplanes"
    well_formed(size * len(lower.rows) <= MAX_CROSSINGS, message)
    lines = read_parallel_lines([rationals(row, meter) for row in rows], meter)
    meter.pay(len(lower.rows) * (size + 1), lower.bits, longest([lines.direction]))
    slopes = [dot(row, lines.direction) for row in lower.rows]
    require(all(slopes), "lines that meet every hyperplane in one point", "a parallel one")
    check_jumps(case, slopes, upper)
    texts = case.hypothesis("pieces")["places"]
    require(len(texts) == size, f"places on {size} lines", f"{len(texts)} lines")
    count = 0
    for number, start in enumerate(lines.starts):
        places = rationals(texts[number], meter)
        check_places(places, crossings_of(lines, start, lower, slopes, meter), not number, meter)
        count += len(places)
    meter.step = "claim"
    require(case.claim["count"] == count, f"{count} points", str(case.claim["count"]))
    pins = "parameters" if "signs" in case.evidence else "function"
    require(case.claim["pins"] == pins, f"a claim about the {pins}", case.claim["pins"])
    if pins == "parameters":
        check_subset_sums(case.hypothesis("signs"), lower, upper, meter)


def read_parallel_lines(rows: list[list[Fraction]], meter: Meter) -> ParallelLines:
    """The lines as integers; no hyperplane contains them all."""
    scale = common_denominator((x for row in rows for x in row), "the lines' denominator", meter)
    direction, first, *others = (scaled_point(row, scale, meter) for row in rows)
    differences = [[a - b for a, b in zip(row, first, strict=True)] for row in others]
    meter.pay(len(first) * len(others), longest([first, *others]))
    is_spanning = len(pivot_columns([direction, *differences], meter)) == len(first)
    require(is_spanning, "lines that no hyperplane contains")
    return ParallelLines(scale, direction, [first, *others])


def check_jumps(case: Case, slopes: Sequence[int], upper: Layer) -> None:
    """The jumps v |w.d| are different from 0 and from each other."""
    case.hypothesis("jumps")
    case.meter.pay(2 * len(slopes) * len(upper.rows), longest([slopes]), upper.bits)
    jumps = [
        tuple(v * abs(slope) for v in column)
        for slope, column in zip(slopes, upper.columns(), strict=True)
    ]
    require(all(map(any, jumps)), "jumps that are not 0", "a neuron without outputs")
    require(len(set(jumps)) == len(jumps), "different jumps", "equal ones")


def crossings_of(
    lines: ParallelLines, start: Sequence[int], lower: Layer, slopes: Sequence[int], meter: Meter
) -> list[Fraction]:
    """Where a line meets the hyperplanes, in order."""
    bits = longest([start, [lines.scale]])
    meter.pay((len(start) + 2) * len(slopes), lower.bits, bits)
    total = lower.bits + bits + len(start).bit_length() + 1
    meter.pay_divisions(2 * len(slopes), total, longest([slopes]))
    meter.pay(len(slopes) * len(slopes).bit_length(), total, total)
    return sorted(
        Fraction(-dot(row, start) - b * lines.scale, slope)
        for row, b, slope in zip(lower.rows, lower.bias, slopes, strict=True)
    )


def check_places(
    places: Sequence[Fraction], breakpoints: Sequence[Fraction], is_first: bool, meter: Meter
) -> None:
    """The places on a line lie strictly inside of the pieces, as many as the theorem asks for."""
    bits = longest([[x.numerator, x.denominator] for x in (*places, *breakpoints)])
    meter.pay(2 * (len(places) + len(breakpoints)), bits, bits)
    fact = "different breakpoints on a line"
    require(all(s < t for s, t in pairwise(breakpoints)), fact, "two neurons are 0 at one point")
    outer, inner = 2 if is_first else 1, 2 * (len(breakpoints) - 1)
    fact = f"{2 * outer + inner} places on a line, in ascending order"
    require(len(places) == 2 * outer + inner, fact, f"{len(places)} places")
    require(all(s < t for s, t in pairwise(places)), fact, "another order")
    for k, t in enumerate(breakpoints):
        last = outer + 2 * k - 1
        fact = "two places on each piece, or one on an outer piece"
        require(places[last] < t < places[last + 1], fact, f"a piece beside breakpoint {k} without")
