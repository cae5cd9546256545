"""Claims about values of networks as clauses of linear rows, and their points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.checking.arithmetic import check_indices, common_denominator
from polyrelu.checking.meter import Meter, quote, require
from polyrelu.checking.networks import Network
from polyrelu.checking.pairs import Domain, outputs
from polyrelu.checking.text import rational, rationals
from polyrelu.checking.theorems import Case

# -- Clauses


class ClauseRow(NamedTuple):
    """A row of a claim times `scale`, which makes its coefficients integers."""

    f: tuple[tuple[int, int], ...]
    g: tuple[tuple[int, int], ...]
    x: tuple[tuple[int, int], ...]
    constant: Fraction
    is_strict: bool
    scale: int = 1

    def holds(self, value: Fraction) -> bool:
        """Whether a row with this largest value holds."""
        return value < 0 if self.is_strict else value <= 0


Clauses = list[list[ClauseRow]]


def clauses_of(case: Case, domain: Domain) -> Clauses:
    """What the claim says at every point, and its conditions on numbers."""
    claim, meter = case.claim, case.meter
    meter.step = "claim"
    if claim["kind"] == "deviation":
        return clauses_of_deviation(claim, case.network, meter)
    if claim["kind"] == "range":
        return clauses_of_range(claim, case.network, meter)
    if claim["kind"] == "same-decisions":
        return clauses_of_decisions(claim, case.network, meter)
    other = case.other if "other" in claim else None
    require(bool(claim["clauses"]), "a clause", "none")
    require(all(claim["clauses"]), "clauses that have rows", "one without")
    return [
        [read_row(row, case.network, other, len(domain.inputs), meter) for row in clause]
        for clause in claim["clauses"]
    ]


def clauses_of_deviation(claim: Any, f: Network, meter: Meter) -> Clauses:
    """f_i - g_i and g_i - f_i are at most the bound."""
    listed = claim["outputs"]
    require(bool(listed), "an output", "none")
    check_indices(listed, f.widths[-1], "outputs")
    bound, found = rational(claim["at-most"], meter), Clauses()
    meter.hold(40 * len(listed))
    for i in listed:
        for s in (1, -1):
            found.append([ClauseRow(((i, s),), ((i, -s),), (), -bound, is_strict=False)])
    return found


def clauses_of_range(claim: Any, f: Network, meter: Meter) -> Clauses:
    """p - f_i and f_i - s are at most 0."""
    entries, found = claim["outputs"], Clauses()
    require(bool(entries), "an output", "none")
    check_indices([i for i, _, _ in entries], f.widths[-1], "outputs")
    meter.hold(40 * len(entries))
    for i, low, high in entries:
        least, most = rational(low[0], meter), rational(high[1], meter)
        found.append([ClauseRow(((i, -1),), (), (), least, is_strict=False)])
        found.append([ClauseRow(((i, 1),), (), (), -most, is_strict=False)])
    return found


def clauses_of_decisions(claim: Any, f: Network, meter: Meter) -> Clauses:
    """Where output i of f exceeds all others by more than the margin, g_j < g_i for all j.

    With `choose`, the same is said of the negatives of all outputs: the smallest one is chosen.
    """
    sign = -1 if "choose" in claim else 1
    count, margin = f.widths[-1], rational(claim["margin"], meter)
    require(count > 1, "two outputs or more", str(count))
    require(margin >= 0, "a margin that is not negative", quote(claim["margin"]))
    meter.units(400 * count * count * count)
    meter.hold(20 * count * count + count * count * count)
    clear = {
        (i, k): ClauseRow(((i, sign), (k, -sign)), (), (), -margin, is_strict=False)
        for i in range(count)
        for k in range(count)
        if k != i
    }
    found = Clauses()
    for i in range(count):
        rows = [clear[i, k] for k in range(count) if k != i]
        for j in range(count):
            if j != i:
                less = ClauseRow((), ((j, sign), (i, -sign)), (), Fraction(0), is_strict=True)
                found.append([*rows, less])
    return found


def read_row(row: Any, f: Network, g: Network | None, num_inputs: int, meter: Meter) -> ClauseRow:
    """A row of the claim holds, over a common denominator of its coefficients."""
    sizes = {"f": f.widths[-1], "g": g.widths[-1] if g else 0, "x": num_inputs}
    read = dict[str, list[tuple[int, Fraction]]]()
    for key, size in sizes.items():
        check_indices([i for i, _ in row[key]], size, f"indices of {key}")
        read[key] = [(i, rational(text, meter)) for i, text in row[key]]
    numbers = [x for pairs in read.values() for _, x in pairs]
    scale = common_denominator(numbers, "a common denominator of a row", meter)
    meter.pay(len(numbers) + 1, scale.bit_length(), scale.bit_length())
    meter.hold(40 + 10 * len(numbers))
    f_row, g_row, x_row = (tuple((i, int(x * scale)) for i, x in read[key]) for key in sizes)
    constant = rational(row["constant"], meter) * scale
    return ClauseRow(f_row, g_row, x_row, constant, row["is"] == "<0", scale)


# -- Points


def check_points(case: Case, domain: Domain) -> None:
    """The points belong to the domain, and have the values that the claim needs."""
    claim, meter, kind = case.claim, case.meter, case.claim["kind"]
    points = [rationals(point, meter) for point in case.hypothesis("points")]
    count = 2 * len(claim["outputs"]) if kind == "range" else 1
    require(len(points) == count, f"{count} points", str(len(points)))
    for x in points:
        domain.check_point(x, meter)
    if kind == "deviation":
        bound, listed = rational(claim["at-least"], meter), claim["outputs"]
        f, g = (outputs(network, points[0], meter) for network in (case.network, case.other))
        reached = max(abs(f[i] - g[i]) for i in listed)
        require(reached >= bound, f"a difference of at least {quote(claim['at-least'])}", "less")
    if kind == "range":
        values = [outputs(case.network, x, meter) for x in points]
        for (i, low, high), least, most in zip(
            claim["outputs"], values[::2], values[1::2], strict=True
        ):
            fits = least[i] <= rational(low[1], meter) and most[i] >= rational(high[0], meter)
            require(fits, "values of the outputs at the points as claimed", f"output {i}")
