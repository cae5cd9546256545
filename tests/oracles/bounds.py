"""Whether claims about the values of networks of one input are true, without any relaxation.

The networks are affine between finitely many points, and so are all rows of a claim; between the
zeros of the rows as well, each row has one sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from polyrelu.network import Network, from_document

__all__ = ["is_true"]

F = Fraction
Values = dict[str, Sequence[Fraction]]


def is_true(claim: Any) -> bool | None:
    """Return whether a claim is true; None if its domain is not bounded."""
    f = from_document(claim["network"]["inline"])
    g = from_document(claim["other"]["inline"]) if "other" in claim else f
    ends = _segment(claim["domain"])
    if ends is None:
        return None
    low, high = ends
    if low > high:
        return False
    if claim["kind"] == "lipschitz":
        return _is_lipschitz(claim, f, low, high)
    boxes = [(F(box["lower"][0]), F(box["upper"][0])) for box in claim.get("except", [])]
    tests, conditions = _conditions(claim, f.num_outputs)
    points = _refined(f, g, low, high, [end for box in boxes for end in box], tests)
    inside = [x for x in points if not any(a <= x <= b for a, b in boxes)]
    everywhere = all(condition(_values(f, g, x)) for condition in conditions for x in inside)
    return everywhere and _is_reached(claim, [_values(f, g, x) for x in points])


def _is_lipschitz(claim: Any, f: Network, low: Fraction, high: Fraction) -> bool:
    """Whether the largest slope, squared for the 2-norm, is between the bounds."""
    points = sorted(_bends(f, {low, high}))
    slopes = [
        abs((f([y])[i] - f([x])[i]) / (y - x))
        for x, y in pairwise(points)
        for i in claim["outputs"]
    ]
    largest = max(slopes, default=F(0)) ** (2 if claim["norm"] == "2" else 1)
    return F(claim["at-least"]) <= largest <= F(claim["at-most"])


def _segment(domain: Any) -> tuple[Fraction, Fraction] | None:
    """Return the ends of a domain on the line; None if there is none."""
    lower, upper = list[Fraction](), list[Fraction]()
    rows = [(row, False) for row in domain["inequalities"]]
    for text, is_equation in [*rows, *((row, True) for row in domain["equations"])]:
        a, c = map(int, text.split(" "))
        if a == 0 and (c < 0 or (is_equation and c)):
            return F(1), F(0)
        if a > 0 or (a and is_equation):
            upper.append(F(c, a))
        if a < 0 or (a and is_equation):
            lower.append(F(c, a))
    return (max(lower), min(upper)) if lower and upper else None


def _values(f: Network, g: Network, x: Fraction) -> Values:
    return {"f": f([x]), "g": g([x]), "x": [x]}


Row = Callable[[Values], Fraction]
Condition = Callable[[Values], bool]


def _conditions(claim: Any, count: int) -> tuple[list[Row], list[Condition]]:
    """Return functions that are affine where the networks are, and what must hold everywhere."""
    if claim["kind"] == "range":
        return [], [_is_between(i, F(low[0]), F(high[1])) for i, low, high in claim["outputs"]]
    if claim["kind"] == "deviation":
        bound = F(claim["at-most"])
        return [], [_is_near(i, bound) for i in claim["outputs"]]
    if claim["kind"] == "same-decisions":
        return _decisions(F(claim["margin"]), count, -1 if "choose" in claim else 1)
    tests, conditions = list[Row](), list[Condition]()
    for clause in claim["clauses"]:
        rows = [(_row(row), row["is"] == "<0") for row in clause]
        tests += [row for row, _ in rows]
        conditions.append(_one_holds(rows))
    return tests, conditions


def _is_between(i: int, low: Fraction, high: Fraction) -> Condition:
    return lambda v: low <= v["f"][i] <= high


def _is_near(i: int, bound: Fraction) -> Condition:
    return lambda v: abs(v["f"][i] - v["g"][i]) <= bound


def _one_holds(rows: Sequence[tuple[Row, bool]]) -> Condition:
    return lambda v: any(row(v) < 0 if is_strict else row(v) <= 0 for row, is_strict in rows)


def _gap(key: str, i: int, j: int, margin: Fraction, sign: int) -> Row:
    return lambda v: sign * (v[key][i] - v[key][j]) - margin


def _decisions(margin: Fraction, count: int, sign: int) -> tuple[list[Row], list[Condition]]:
    """Where an output of f exceeds all others by more than the margin, so it does in g.

    With the sign -1, the outputs are taken times -1.
    """
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]

    def condition(v: Values) -> bool:
        for i in range(count):
            others = [j for j in range(count) if j != i]
            if all(sign * (v["f"][i] - v["f"][j]) > margin for j in others):
                return all(sign * (v["g"][i] - v["g"][j]) > 0 for j in others)
        return True

    tests = [_gap("f", i, j, margin, sign) for i, j in pairs]
    tests += [_gap("g", i, j, F(0), sign) for i, j in pairs]
    return tests, [condition]


def _row(row: Any) -> Row:
    entries = [(key, i, F(text)) for key in ("f", "g", "x") for i, text in row[key]]
    return lambda v: sum((a * v[key][i] for key, i, a in entries), F(row["constant"]))


def _refined(
    f: Network,
    g: Network,
    low: Fraction,
    high: Fraction,
    extra: Sequence[Fraction],
    tests: Sequence[Row],
) -> list[Fraction]:
    """Return all points where something changes, and one between any two neighbours.

    Points just beside an end of a box stand for the end, where the box does not count.
    """
    points = {low, high, *(x for x in extra if low <= x <= high)}
    for network in (f, g):
        points = _bends(network, points)
    order = sorted(points)
    for test in tests:
        values = [test(_values(f, g, x)) for x in order]
        for (x, y), (a, b) in zip(pairwise(order), pairwise(values), strict=True):
            if a * b < 0:
                points.add(x + (y - x) * a / (a - b))
    order = sorted(points)
    tiny = F(1, 10**40)
    beside = [x + (y - x) * t for x, y in pairwise(order) for t in (tiny, F(1, 2), 1 - tiny)]
    return [*order, *beside]


def _bends(network: Network, points: set[Fraction]) -> set[Fraction]:
    """Return points between which a network is affine."""
    found = set(points)
    for number in range(1, network.num_hidden_layers + 1):
        order = sorted(found)
        for entries in network.preactivations([[x] for x in order])[number - 1].rows():
            for (x, y), (a, b) in zip(pairwise(order), pairwise(entries), strict=True):
                if a * b < 0:
                    found.add(x + (y - x) * a / (a - b))
    return found


def _is_reached(claim: Any, values: Sequence[Values]) -> bool:
    """Whether values at points are as far out as claimed."""
    if claim["kind"] == "deviation":
        largest = max(abs(v["f"][i] - v["g"][i]) for v in values for i in claim["outputs"])
        return bool(largest >= F(claim["at-least"]))
    if claim["kind"] == "range":
        return all(
            min(v["f"][i] for v in values) <= F(low[1])
            and max(v["f"][i] for v in values) >= F(high[0])
            for i, low, high in claim["outputs"]
        )
    return True
