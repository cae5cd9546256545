"""Injectivity of ReLU layers and small networks from the definition, by PPL.

Two points x and y = x + v have equal outputs iff every row with w·v ≠ 0 is at most 0 at both. So
the layer is not injective iff for the set S of rows with w·v = 0 of some v ≠ 0 there are such x and
v. The oracle tries all these sets, the flats of the rows. It knows neither cells nor active rows.

For networks it tries all pairs of activation patterns, a polyhedron of pairs (x, y) for each.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

# Importing pplpy (through cysignals) replaces the handler of Ctrl-C.
_sigint_handler = signal.getsignal(signal.SIGINT)
from ppl import Linear_Expression, MIP_Problem  # noqa: E402

signal.signal(signal.SIGINT, _sigint_handler)

__all__ = ["is_injective", "is_injective_network"]

Row = Sequence[int]


def is_injective(
    rows: Sequence[Row], inequalities: Sequence[Row] = (), equations: Sequence[Row] = ()
) -> bool:
    """Whether x ↦ max(w·x + b, 0) over the rows [w | b] is injective on {a·x ≤ c, e·x = f}.

    The rows of the domain are [a | c] and [e | f], all of them integers.
    """
    size = len(rows[0]) - 1
    return not any(
        _has_pair(flat, rows, inequalities, equations, size)
        for flat in _flats(tuple(tuple(row[:-1]) for row in rows), size)
    )


@lru_cache(maxsize=16)
def _flats(vectors: tuple[tuple[int, ...], ...], size: int) -> list[frozenset[int]]:
    """The sets {j : w_j·v = 0} that v ≠ 0 can have: the closed sets of rank < size."""
    found = dict[frozenset[int], None]()
    for count in range(size):
        for chosen in combinations(range(len(vectors)), count):
            basis = [vectors[j] for j in chosen]
            if _rank(basis) == count:
                closed = (j for j, w in enumerate(vectors) if _rank([*basis, w]) == count)
                found[frozenset(closed)] = None
    return list(found)


def _has_pair(
    flat: frozenset[int],
    rows: Sequence[Row],
    inequalities: Sequence[Row],
    equations: Sequence[Row],
    size: int,
) -> bool:
    """Whether x and x + v of the domain have equal outputs, v ≠ 0 orthogonal to a flat."""
    problem = MIP_Problem(2 * size)
    zeros = [0] * size
    for j, (*w, b) in enumerate(rows):
        if j in flat:
            problem.add_constraint(Linear_Expression([*zeros, *w], 0) == 0)
        else:
            problem.add_constraint(Linear_Expression([*w, *zeros], b) <= 0)
            problem.add_constraint(Linear_Expression([*w, *w], b) <= 0)
    for *a, c in inequalities:
        problem.add_constraint(Linear_Expression([*a, *zeros], -c) <= 0)
        problem.add_constraint(Linear_Expression([*a, *a], -c) <= 0)
    for *e, f in equations:
        problem.add_constraint(Linear_Expression([*e, *zeros], -f) == 0)
        problem.add_constraint(Linear_Expression([*zeros, *e], 0) == 0)
    for k in range(size):  # with (x, v) also (x + v, -v) is a solution
        unit = [int(k == j) for j in range(size)]
        problem.set_objective_function(Linear_Expression([*zeros, *unit], 0))
        status = problem.solve()["status"]
        if status == "unfeasible":
            return False
        if status == "unbounded":
            return True
        value = problem.optimal_value()
        if Fraction(int(value.numerator), int(value.denominator)) > 0:
            return True
    return False


def is_injective_network(
    layers: Sequence[Sequence[Row]], last_is_relu: bool, inequalities: Sequence[Row] = ()
) -> bool:
    """Whether a plain stack of layers of rows [w | b] is injective on {a·x ≤ c}.

    All numbers are integers.
    """
    size = len(layers[0][0]) - 1
    start = [[int(i == j) for j in range(size + 1)] for i in range(size)]
    limits = [[*(-a for a in row[:-1]), row[-1]] for row in inequalities]
    pieces = list(_pieces(start, layers, last_is_relu, limits, size))
    return not any(_meet_apart(one, two, size) for one in pieces for two in pieces)


Piece = tuple[list[list[int]], list[list[int]]]


def _pieces(
    forms: list[list[int]],
    layers: Sequence[Sequence[Row]],
    last_is_relu: bool,
    limits: list[list[int]],
    size: int,
) -> Iterator[Piece]:
    """The output forms [w | b] and the constraints form ≥ 0 of each activation pattern."""
    if not layers:
        yield forms, limits
        return
    first, *rest = layers
    z = []
    for *w, b in first:
        row = [sum(a * form[k] for a, form in zip(w, forms, strict=True)) for k in range(size + 1)]
        row[-1] += b
        z.append(row)
    patterns = [[1] * len(z)] if not rest and not last_is_relu else product((0, 1), repeat=len(z))
    for pattern in patterns:
        is_cut = bool(rest) or last_is_relu
        cut = [[x if on else -x for x in row] for on, row in zip(pattern, z, strict=True)]
        here = [*limits, *cut] if is_cut else limits
        if _maximum(size, here, [], [0] * size) is not None:
            kept = [row if on else [0] * (size + 1) for on, row in zip(pattern, z, strict=True)]
            yield from _pieces(kept, rest, last_is_relu, here, size)


def _meet_apart(one: Piece, two: Piece, size: int) -> bool:
    """Whether x of one piece and y of another one have equal outputs, and x ≠ y."""
    zeros = [0] * size
    rows = [[*row[:-1], *zeros, row[-1]] for row in one[1]] + [[*zeros, *row] for row in two[1]]
    equations = [
        [*a[:-1], *(-x for x in b[:-1]), a[-1] - b[-1]] for a, b in zip(one[0], two[0], strict=True)
    ]
    for k in range(size):
        for sign in (1, -1):
            unit = [sign * int(k == j) for j in range(size)]
            found = _maximum(2 * size, rows, equations, [*unit, *(-x for x in unit)])
            if found is None:
                return False
            if found > 0:
                return True
    return False


def _maximum(
    size: int, rows: Sequence[Row], equations: Sequence[Row], objective: Row
) -> Fraction | float | None:
    """The maximum of an objective where rows [a | b] are ≥ 0 or = 0; None if nowhere."""
    problem = MIP_Problem(size)
    for *a, b in rows:
        problem.add_constraint(Linear_Expression(a, b) >= 0)
    for *a, b in equations:
        problem.add_constraint(Linear_Expression(a, b) == 0)
    problem.set_objective_function(Linear_Expression(list(objective), 0))
    status = problem.solve()["status"]
    if status == "unfeasible":
        return None
    if status == "unbounded":
        return float("inf")
    value = problem.optimal_value()
    return Fraction(int(value.numerator), int(value.denominator))


def _rank(rows: Sequence[Row]) -> int:
    """The rank, by elimination without divisions."""
    left, rank = [list(row) for row in rows], 0
    while left:
        pivot = left.pop()
        column = next((k for k, entry in enumerate(pivot) if entry), None)
        if column is None:
            continue
        rank += 1
        left = [
            [pivot[column] * a - row[column] * b for a, b in zip(row, pivot, strict=True)]
            if row[column]
            else row
            for row in left
        ]
    return rank
