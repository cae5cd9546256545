"""Linear programs of chosen families and sizes, reproducible from a `random.Random`.

Tests and benchmarks share them. The package is not imported: the oracles read the same instances,
in plain integers and fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from random import Random
from typing import NamedTuple, Protocol, TypeVar

__all__ = [
    "ADVERSARIAL",
    "FAMILIES",
    "ORDINARY",
    "Instance",
    "Number",
    "Row",
    "boxed",
    "built",
    "make",
]

Number = int | Fraction
Bound = Number | None

_BITS = 30
_WEIGHT_BITS = 24
_LAYERS = 4
_HUGE = 400
_ZERO_ROW_SIDES: list[Number] = [0, 0, 1, Fraction(1, 3), 5]
_CONSTANT_ROW_ROOM: list[Number] = [0, 0, 0, 1, Fraction(1, 7), -1]
_ROOMS: list[Number] = [0, Fraction(1, 2**80), 1, 10**25, 2**400]


class Row(NamedTuple):
    """coefficients · x ≤ right, or = right."""

    coefficients: tuple[Number, ...]
    right: Number
    is_equation: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """A linear program: maximise objective · x over rows, numbered as listed, and bounds."""

    columns: int
    rows: tuple[Row, ...]
    lower: tuple[Bound, ...]
    upper: tuple[Bound, ...]
    objective: tuple[Number, ...]

    @property
    def inequalities(self) -> list[Row]:
        """The rows a·x ≤ c."""
        return [row for row in self.rows if not row.is_equation]

    @property
    def equations(self) -> list[Row]:
        """The rows a·x = c."""
        return [row for row in self.rows if row.is_equation]

    def without_bounds(self) -> Instance:
        """The same constraints with rows instead of bounds, equations where bounds are equal."""
        rows = list(self.rows)
        for j, (low, up) in enumerate(zip(self.lower, self.upper, strict=True)):
            unit = tuple(int(i == j) for i in range(self.columns))
            if low is not None and low == up:
                rows.append(Row(unit, low, True))
                continue
            if up is not None:
                rows.append(Row(unit, up))
            if low is not None:
                rows.append(Row(tuple(-a for a in unit), -low))
        return replace(
            self, rows=tuple(rows), lower=(None,) * self.columns, upper=(None,) * self.columns
        )


class Program(Protocol):
    """A program that takes the rows of an instance."""

    def add_inequalities(self, rows: Sequence[Sequence[object]], right: Sequence[object]) -> None:
        """Append rows x ≤ right."""

    def add_equations(self, rows: Sequence[Sequence[object]], right: Sequence[object]) -> None:
        """Append rows x = right."""


P = TypeVar("P", bound=Program)


def built(
    factory: Callable[[int, Sequence[object] | None, Sequence[object] | None], P],
    instance: Instance,
) -> P:
    """The instance as a program, its rows added in as few calls as their order allows."""
    has_bounds = any(bound is not None for bound in instance.lower + instance.upper)
    program = factory(
        instance.columns, *((instance.lower, instance.upper) if has_bounds else (None, None))
    )
    for is_equation, group in groupby(instance.rows, key=lambda row: row.is_equation):
        rows = list(group)
        add = program.add_equations if is_equation else program.add_inequalities
        add([row.coefficients for row in rows], [row.right for row in rows])
    return program


def make(family: str, rng: Random, rows: int, columns: int) -> Instance:
    """Make a random instance of a family with about `rows` rows and exactly `columns` columns."""
    return FAMILIES[family](rng, rows, columns)


def boxed(instance: Instance, size: Number) -> Instance:
    """The same rows in the box [-size, size]^n."""
    return replace(instance, lower=(-size,) * instance.columns, upper=(size,) * instance.columns)


# --- Parts --------------------------------------------------------------------------------------


def _integer(rng: Random, bits: int = _BITS) -> int:
    """A normal deviate times 2^bits."""
    return round(rng.gauss(0, 1) * (1 << bits))


def _vector(rng: Random, size: int, bits: int = _BITS) -> list[int]:
    return [_integer(rng, bits) for _ in range(size)]


def _small(rng: Random, size: int, largest: int = 3) -> list[int]:
    return [rng.randint(-largest, largest) for _ in range(size)]


def _dot(left: Iterable[Number], right: Iterable[Number]) -> Number:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _free(
    columns: int,
    table: Sequence[Sequence[Number]],
    right: Sequence[Number],
    objective: Sequence[Number],
) -> Instance:
    """Inequalities without bounds."""
    rows = tuple(Row(tuple(row), side) for row, side in zip(table, right, strict=True))
    return Instance(columns, rows, (None,) * columns, (None,) * columns, tuple(objective))


def _with_equations(instance: Instance, rng: Random, equations: list[Row]) -> Instance:
    """Equations put somewhere between the rows."""
    rows = list(instance.rows)
    for equation in equations:
        rows.insert(rng.randint(0, len(rows)), equation)
    return replace(instance, rows=tuple(rows))


def _rescaled(instance: Instance, rng: Random) -> Instance:
    """Every row times a positive rational number."""
    rows = []
    for row in instance.rows:
        factor = Fraction(rng.randint(1, 9), rng.randint(1, 9))
        rows.append(
            row._replace(
                coefficients=tuple(factor * a for a in row.coefficients), right=factor * row.right
            )
        )
    return replace(instance, rows=tuple(rows))


def _around(
    rng: Random, table: Sequence[Sequence[int]], point: Sequence[int], room: int
) -> list[int]:
    """Right-hand sides that leave every row up to `room` at the point."""
    return [int(_dot(row, point)) + rng.randint(0, room) for row in table]


# --- Ordinary families --------------------------------------------------------------------------


def _gaussian(rng: Random, m: int, n: int) -> Instance:
    """Gaussian rows; right-hand sides around a point, or any."""
    table = [_vector(rng, n) for _ in range(m)]
    if rng.random() < 0.5:
        point = _vector(rng, n, 2)
        right = [int(_dot(row, point)) + abs(_integer(rng)) for row in table]
    else:
        right = _vector(rng, m)
    return _free(n, table, right, _vector(rng, n))


def _gaussian_dyadic(rng: Random, m: int, n: int) -> Instance:
    """Gaussian rows as fractions over 2^30, in a box half of the time."""
    instance = _gaussian(rng, m, n)
    rows = tuple(
        Row(
            tuple(Fraction(a, 1 << _BITS) for a in row.coefficients),
            Fraction(row.right, 1 << _BITS),
        )
        for row in instance.rows
    )
    instance = replace(
        instance, rows=rows, objective=tuple(Fraction(a, 1 << _BITS) for a in instance.objective)
    )
    return boxed(instance, Fraction(rng.randint(1, 8), 2)) if rng.random() < 0.5 else instance


def _deep_network(rng: Random, m: int, n: int) -> Instance:
    """Sign conditions of a random four-layer network: at a point, or with some signs changed."""
    layers = min(_LAYERS, m)
    width = -(-m // layers)
    point, scale = _vector(rng, n, 20), 1 << 20
    flips = 0.0 if rng.random() < 0.5 else 0.07
    activations = [[int(i == j) for j in range(n)] + [0] for i in range(n)]
    table: list[list[int]] = []
    unit = 1
    for _ in range(layers):
        weights = [_vector(rng, len(activations), _WEIGHT_BITS) for _ in range(width)]
        preactivations = [
            [int(_dot(row, column)) for column in zip(*activations, strict=True)] for row in weights
        ]
        activations = []
        for row in preactivations:
            row[-1] += unit * _integer(rng, _WEIGHT_BITS)
            positive = (_dot(row[:-1], point) + row[-1] * scale > 0) != (rng.random() < flips)
            table.append([-a for a in row] if positive else row)
            activations.append(row if positive else [0] * (n + 1))
        unit <<= _WEIGHT_BITS
    table = table[:m]
    return _free(n, [row[:-1] for row in table], [-row[-1] for row in table], _vector(rng, n))


def _equations(rng: Random, m: int, n: int) -> Instance:
    """Gaussian inequalities and a few equations through a common point."""
    count = rng.randint(1, max(1, n // 3)) if n > 1 else 1
    point = _small(rng, n)
    table = [_vector(rng, n) for _ in range(max(1, m - count))]
    right = [int(_dot(row, point)) + abs(_integer(rng)) for row in table]
    normals = [_vector(rng, n) for _ in range(count)]
    equations = [Row(tuple(row), _dot(row, point), True) for row in normals]
    return _with_equations(_free(n, table, right, _vector(rng, n)), rng, equations)


def _bounds(rng: Random, m: int, n: int) -> Instance:
    """Gaussian rows, and on every column no bound, one or two, now and then the same twice."""
    instance = _gaussian(rng, m, n)
    lower: list[Bound] = []
    upper: list[Bound] = []
    for _ in range(n):
        low, kind = Fraction(rng.randint(-6, 2), rng.randint(1, 3)), rng.random()
        lower.append(low if kind > 0.3 else None)
        upper.append(
            low if kind > 0.93 else low + rng.randint(1, 4) if kind < 0.15 or kind > 0.5 else None
        )
    return replace(instance, lower=tuple(lower), upper=tuple(upper))


# --- Adversarial families -----------------------------------------------------------------------


def _small_integers(rng: Random, m: int, n: int) -> Instance:
    """Entries in {-1, 0, 1}, half of the time with opposite rows: everything is degenerate."""
    table = [_small(rng, n, 1) for _ in range(m)]
    right = [rng.randint(0, 1) if rng.random() < 0.9 else -1 for _ in range(m)]
    if rng.random() < 0.5:
        half = m // 2
        table[m - half :] = [[-a for a in row] for row in table[:half]]
        right[m - half :] = [-side for side in right[:half]]
    return _rescaled(_free(n, table, right, _small(rng, n)), rng)


def _sliver(width: int) -> Callable[[Random, int, int], Instance]:
    """Two opposite rows that leave a slab of width about 2^-width, or contradict by as much."""

    def maker(rng: Random, m: int, n: int) -> Instance:
        point = _small(rng, n)
        table = [[a << width for a in _vector(rng, n, 10)] for _ in range(max(m, 2))]
        right = [int(_dot(row, point)) + (abs(_integer(rng, 10)) << width) for row in table]
        table[1] = [-a for a in table[0]]
        right[0] = int(_dot(table[0], point)) + rng.choice([-1, 1])
        right[1] = -int(_dot(table[0], point))
        order = rng.sample(range(len(table)), len(table))
        return _free(n, [table[i] for i in order], [right[i] for i in order], _vector(rng, n, 10))

    return maker


def _near_duplicates(rng: Random, m: int, n: int) -> Instance:
    """A few rows times 2^60, each many times over with a little noise."""
    base = [_small(rng, n) for _ in range(max(2, min(m, n + 1) // 2))]
    sides = [rng.randint(-2, 3) for _ in base]
    table: list[list[int]] = []
    right: list[int] = []
    for _ in range(m):
        k, sign = rng.randrange(len(base)), rng.choice([1, 1, 1, -1])
        table.append([(sign * a << 60) + rng.randint(-3, 3) for a in base[k]])
        right.append((sign * sides[k] << 60) + rng.randint(-3, 3))
    return _free(n, table, right, _small(rng, n))


def _unbounded(rng: Random, m: int, n: int) -> Instance:
    """Every row is nonincreasing along one direction, and the objective increases along it."""
    direction = _small(rng, n)
    direction[rng.randrange(n)] = rng.choice([-1, 1])
    table = [_vector(rng, n, 8) for _ in range(m)]
    table = [[-a for a in row] if _dot(row, direction) > 0 else row for row in table]
    objective = _vector(rng, n, 8)
    if _dot(objective, direction) <= 0:
        objective = [a + (1 << 12) * d for a, d in zip(objective, direction, strict=True)]
    return _free(n, table, _around(rng, table, _small(rng, n), 1 << 8), objective)


def _empty(rng: Random, m: int, n: int) -> Instance:
    """Rows around a point, and a row that contradicts a positive combination of them by little."""
    table = [_vector(rng, n, 12) for _ in range(max(1, m - 1))]
    right = _around(rng, table, _small(rng, n), 1 << 12)
    chosen = rng.sample(range(len(table)), rng.randint(1, min(len(table), n + 1)))
    factors = [rng.randint(1, 1 << 12) for _ in chosen]
    columns = zip(*(table[i] for i in chosen), strict=True)
    total = [-int(_dot(factors, column)) for column in columns]
    gap = Fraction(1, rng.choice([1, 1 << 10, 1 << 90]))
    bound = -_dot(factors, [right[i] for i in chosen]) - gap
    return _free(n, [*table, total], [*right, bound], _vector(rng, n, 12))


def _zero_rows(rng: Random, m: int, n: int) -> Instance:
    """Among others rows 0 ≤ c, mostly with c ≥ 0, and columns without entries."""
    instance = _small_integers(rng, m, n)
    missing = rng.randrange(n) if rng.random() < 0.3 else -1
    rows: list[Row] = []
    for row in instance.rows:
        if rng.random() < 0.4:
            rows.append(Row((0,) * n, rng.choice(_ZERO_ROW_SIDES) if rng.random() < 0.95 else -1))
        else:
            entries = (0 if j == missing else a for j, a in enumerate(row.coefficients))
            rows.append(row._replace(coefficients=tuple(entries)))
    return replace(
        instance, rows=tuple(rows), objective=(0,) * n if rng.random() < 0.2 else instance.objective
    )


def _huge(rng: Random, m: int, n: int) -> Instance:
    """Entries between 2^-400 and 2^400, right-hand sides of any size."""

    def number(spread: int) -> Number:
        return _integer(rng, 10) * Fraction(2) ** rng.randint(-spread, spread)

    spread = rng.choice([40, 120, _HUGE])
    rows = []
    for _ in range(m):
        scale = Fraction(2) ** rng.randint(-spread, spread)
        mixed = rng.random() < 0.3
        coefficients = tuple(
            number(spread) if mixed else _integer(rng, 10) * scale for _ in range(n)
        )
        side = number(spread)
        rows.append(Row(coefficients, side if rng.random() < 0.5 else -side if side < 0 else side))
    instance = Instance(
        n, tuple(rows), (None,) * n, (None,) * n, tuple(number(spread) for _ in range(n))
    )
    return (
        boxed(instance, Fraction(2) ** rng.randint(0, spread)) if rng.random() < 0.5 else instance
    )


def _odd_equations(rng: Random, m: int, n: int) -> Instance:
    """Redundant and contradictory equations, and inequalities that are constant on them."""
    instance = _small_integers(rng, max(1, m - 3), n)
    point = _small(rng, n)
    normals = [_small(rng, n) for _ in range(rng.randint(1, max(1, n - 1)))]
    equations = [Row(tuple(row), _dot(row, point), True) for row in normals]
    factors = _small(rng, len(normals))
    combination = tuple(_dot(factors, column) for column in zip(*normals, strict=True))
    value = _dot(combination, point)
    equations.append(Row(combination, value if rng.random() < 0.9 else value + 1, True))
    rows = [
        row._replace(right=_dot(row.coefficients, point) + rng.randint(0, 2))
        for row in instance.rows
    ]
    rows.append(Row(combination, value + rng.choice(_CONSTANT_ROW_ROOM)))
    instance = _with_equations(replace(instance, rows=tuple(rows)), rng, equations)
    if rng.random() < 0.4:
        lower = tuple(x - rng.randint(0, 2) if rng.random() < 0.5 else None for x in point)
        upper = tuple(x + rng.randint(0, 2) if rng.random() < 0.5 else None for x in point)
        instance = replace(instance, lower=lower, upper=upper)
    return _rescaled(instance, rng)


def _odd_bounds(rng: Random, m: int, n: int) -> Instance:
    """Small integers with bounds that meet, now and then cross, and touch the rows."""
    instance = _small_integers(rng, m, n)
    lower: list[Bound] = []
    upper: list[Bound] = []
    for _ in range(n):
        low, kind = rng.randint(-1, 1), rng.random()
        lower.append(low if kind > 0.25 else None)
        upper.append(low + rng.choice([0, 1, 1, 2]) if kind < 0.15 or kind > 0.5 else None)
    if rng.random() < 0.08:
        lower[0], upper[0] = Fraction(1), 1 - Fraction(1, 1 << rng.choice([1, 60, 300]))
    return replace(instance, lower=tuple(lower), upper=tuple(upper))


def _tight_bounds(rng: Random, m: int, n: int) -> Instance:
    """Bounds that floats cannot tell apart, and bounds that floats or HiGHS take for infinite."""
    instance = _small_integers(rng, m, n)
    lower: list[Bound] = []
    upper: list[Bound] = []
    point: list[Fraction] = []
    for _ in range(n):
        low = rng.choice(
            [Fraction(1), Fraction(-3), Fraction(10) ** 25, Fraction(2) ** 400, Fraction(1, 3)]
        )
        width = rng.choice(
            [Fraction(1, 2**60), Fraction(1, 2**200), Fraction(1), Fraction(10) ** 22]
        )
        kind = rng.random()
        lower.append(low if kind < 0.8 else None)
        upper.append(low + width if kind > 0.2 else None)
        point.append(low + width / rng.randint(1, 3))
    if rng.random() < 0.7:
        rows = [
            row._replace(right=_dot(row.coefficients, point) + rng.choice(_ROOMS))
            for row in instance.rows
        ]
    else:
        rows = [
            row._replace(right=row.right * rng.choice([1, 10**25, 2**400])) for row in instance.rows
        ]
    return replace(instance, rows=tuple(rows), lower=tuple(lower), upper=tuple(upper))


def _klee_minty(rng: Random, m: int, n: int) -> Instance:
    """A Klee-Minty cube, which makes simplex methods visit all corners, with redundant sums."""
    table = [[2 << (j - i) if i < j else int(i == j) for i in range(n)] for j in range(n)]
    right = [5 ** (j + 1) for j in range(n)]
    for _ in range(max(0, m - n)):
        i, k = rng.randrange(n), rng.randrange(n)
        table.append([a + b for a, b in zip(table[i], table[k], strict=True)])
        right.append(right[i] + right[k])
    instance = _free(n, table, right, [1 << (n - 1 - j) for j in range(n)])
    return replace(instance, lower=(0,) * n)


def _cone(rng: Random, m: int, n: int) -> Instance:
    """All facets through one rational point; the objective is sometimes a combination of them."""
    point = [Fraction(rng.randint(-9, 9), rng.randint(1, 7)) for _ in range(n)]
    axis = _vector(rng, n, 8)
    table = [_vector(rng, n, 8) for _ in range(m)]
    if rng.random() < 0.7:  # otherwise the point is usually all there is
        table = [[-a for a in row] if _dot(row, axis) > 0 else row for row in table]
    objective = _vector(rng, n, 8)
    if rng.random() < 0.6:
        factors = [rng.randint(0, 3) for _ in table]
        objective = [int(_dot(factors, column)) for column in zip(*table, strict=True)]
    return _free(n, table, [_dot(row, point) for row in table], objective)


def _flat(rng: Random, m: int, n: int) -> Instance:
    """Rows around a point, and one opposite to a positive combination of those that meet there."""
    point = [Fraction(rng.randint(-5, 5), rng.randint(1, 3)) for _ in range(n)]
    table = [_vector(rng, n, 6) for _ in range(max(1, m - 1))]
    meeting = rng.randint(1, min(len(table), n))
    right = [
        _dot(row, point) + (0 if i < meeting else rng.randint(0, 99)) for i, row in enumerate(table)
    ]
    factors = [rng.randint(1, 5) for _ in range(meeting)]
    total = [-int(_dot(factors, column)) for column in zip(*table[:meeting], strict=True)]
    return _free(n, [*table, total], [*right, _dot(total, point)], _vector(rng, n, 6))


def _hilbert(rng: Random, m: int, n: int) -> Instance:
    """Rows of a Hilbert matrix and their opposites: nearly singular in floats."""
    shift = rng.randint(1, 3)
    table = [
        [Fraction(rng.choice([1, -1]) if i % 3 == 2 else 1, i + j + shift) for j in range(n)]
        for i in range(m)
    ]
    table = [[-a for a in row] if i % 2 else row for i, row in enumerate(table)]
    right = [Fraction(rng.randint(-1, 9), 1 << rng.randint(0, 30)) for _ in range(m)]
    return _free(n, table, right, _small(rng, n))


#: Well-conditioned numbers of usual sizes in general position.
ORDINARY: dict[str, Callable[[Random, int, int], Instance]] = {
    "gaussian": _gaussian,
    "gaussian dyadic": _gaussian_dyadic,
    "deep network": _deep_network,
    "equations": _equations,
    "bounds": _bounds,
}

#: Everything that misleads floating point or the simplex method.
ADVERSARIAL: dict[str, Callable[[Random, int, int], Instance]] = {
    "small integers": _small_integers,
    "sliver 20": _sliver(20),
    "sliver 70": _sliver(70),
    "sliver 200": _sliver(200),
    "near duplicates": _near_duplicates,
    "unbounded": _unbounded,
    "empty": _empty,
    "zero rows": _zero_rows,
    "huge": _huge,
    "odd equations": _odd_equations,
    "odd bounds": _odd_bounds,
    "tight bounds": _tight_bounds,
    "klee-minty": _klee_minty,
    "cone": _cone,
    "flat": _flat,
    "hilbert": _hilbert,
}

FAMILIES = ORDINARY | ADVERSARIAL
