"""Random polyhedra as integer rows, mostly degenerate, reproducible from a `random.Random`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from polyrelu.exact import Polyhedron

__all__ = ["KINDS", "Description", "random_description", "redescribed"]

Row = tuple[int, ...]


class Description(NamedTuple):
    """Rows [a | c] for a·x ≤ c and a·x = c over `columns` coordinates."""

    columns: int
    inequalities: list[Row]
    equations: list[Row]

    def polyhedron(self) -> Polyhedron:
        """The polyhedron, by the public constructor."""
        matrix, right = (
            [row[:-1] for row in self.inequalities],
            [row[-1] for row in self.inequalities],
        )
        equations, equations_right = (
            [row[:-1] for row in self.equations],
            [row[-1] for row in self.equations],
        )
        return Polyhedron.from_constraints(matrix, right, equations, equations_right, self.columns)


def random_description(kind: str, rng: Random, columns: int | None = None) -> Description:
    """A description of one of the `KINDS` in R^1..R^4, or R^columns."""
    return _MAKERS[kind](rng, columns or rng.randint(1, 4))


def redescribed(old: Description, rng: Random) -> Description:
    """The same set by other rows: multiples, consequences, split equations, in another order."""
    inequalities, equations = list(old.inequalities), list(old.equations)
    for _ in range(rng.randint(0, 2) if equations else 0):  # a row operation
        i, k = rng.randrange(len(equations)), rng.randrange(len(equations))
        equations[i] = _sum(
            (rng.choice([-2, 3]), equations[i]), (rng.randint(-2, 2) * (i != k), equations[k])
        )
    if equations and rng.random() < 0.5:
        row = rng.choice(equations)
        equations.append(_sum((rng.randint(-2, 2), row)))
        inequalities += [row, _sum((-1, row))]
    if len(inequalities) > 1 and rng.random() < 0.8:  # a consequence, perhaps tight somewhere
        some = [
            (rng.randint(1, 3), row)
            for row in rng.sample(inequalities, rng.randint(1, min(3, len(inequalities))))
        ]
        consequence = _sum(*some, *((rng.randint(-2, 2), row) for row in equations))
        inequalities.append((*consequence[:-1], consequence[-1] + rng.choice([0, 0, 1])))
    inequalities = [_sum((rng.randint(1, 3), row)) for row in inequalities]
    rng.shuffle(inequalities)
    rng.shuffle(equations)
    return Description(old.columns, inequalities, equations)


def _sum(*terms: tuple[int, Row]) -> Row:
    return tuple(
        sum(column)
        for column in zip(*([f * entry for entry in row] for f, row in terms), strict=True)
    )


# -- kinds ---------------------------------------------------------------------------------------


def _small(rng: Random) -> int:
    return rng.choice([0, 0, 1, -1, 2, -3])


def _huge(rng: Random) -> int:
    return rng.randint(-(2**60), 2**60)


def _through(rng: Random, normals: Sequence[Sequence[int]], rooms: Sequence[int]) -> list[Row]:
    """Rows with these normals and the given slack at a random point."""
    centre = [rng.randint(-3, 3) for _ in range(4)]
    return [
        (*normal, sum(a * x for a, x in zip(normal, centre, strict=False)) + room)
        for normal, room in zip(normals, rooms, strict=True)
    ]


def _plain(
    rng: Random, columns: int, number: Callable[[Random], int], rooms: Sequence[int]
) -> list[Row]:
    size = rng.randint(0, 9)
    normals = [[number(rng) for _ in range(columns)] for _ in range(size)]
    return _through(rng, normals, [rng.choice(rooms) for _ in normals])


def _integers(rng: Random, columns: int) -> Description:
    return Description(columns, _plain(rng, columns, _small, [0, 1, 2, 5, -1]), [])


def _large(rng: Random, columns: int) -> Description:
    rows = _plain(rng, columns, _huge, [0, 1, 2**60, 2**61])
    return Description(columns, rows, rows[:1] if rng.random() < 0.2 else [])


def _nearly_parallel(rng: Random, columns: int) -> Description:
    """Pairs of 60-bit rows, parallel or opposite, that are equal in floats."""
    normals: list[list[int]] = []
    for _ in range(rng.randint(1, 4)):
        normal = [_huge(rng) for _ in range(columns)]
        sign = rng.choice([1, -1])
        normals += [normal, [sign * entry + rng.choice([0, 0, 1]) for entry in normal]]
    return Description(
        columns, _through(rng, normals, [rng.choice([0, 1, 2]) for _ in normals]), []
    )


def _box(rng: Random, columns: int) -> Description:
    """A box, some sides flat, and cuts."""
    units = [[sign * (i == j) for i in range(columns)] for j in range(columns) for sign in (1, -1)]
    cuts = [[_small(rng) for _ in range(columns)] for _ in range(rng.randint(0, 5))]
    rooms = [rng.choice([0, 1, 3, 3]) for _ in units] + [rng.choice([0, 1, 2]) for _ in cuts]
    return Description(columns, _through(rng, units + cuts, rooms), [])


def _repeated(rng: Random, columns: int) -> Description:
    """Rows again: the same, multiples, looser ones, opposite ones; zero rows."""
    rows = _plain(rng, columns, _small, [0, 1, 2])
    for row in list(rows):
        factor = rng.choice([1, 2, 5, -1, -1, -2])
        rows.append(
            (*(factor * entry for entry in row[:-1]), factor * row[-1] + rng.choice([0, 0, 1, 3]))
        )
    rows += [(*[0] * columns, rng.choice([0, 2])) for _ in range(rng.randint(0, 2))]
    rng.shuffle(rows)
    return Description(columns, rows, [])


def _equations(rng: Random, columns: int) -> Description:
    """Equations, some of them redundant or 0 = 0, and inequalities that may be constant on them."""
    size = rng.randint(1, columns + 1)
    normals = [[_small(rng) for _ in range(columns)] for _ in range(size + rng.randint(0, 5))]
    rows = _through(rng, normals, [0] * size + [rng.choice([0, 1, 4]) for _ in normals[size:]])
    equations, inequalities = rows[:size], rows[size:]
    equations += [
        _sum((rng.randint(-2, 2), a), (rng.randint(-2, 2), b))
        for a, b in [rng.choices(equations, k=2)]
    ]
    constant = rng.choice(equations)
    inequalities.append((*constant[:-1], constant[-1] + rng.choice([0, 1])))
    return Description(columns, inequalities, equations)


def _contradictory(rng: Random, columns: int) -> Description:
    """Empty by a combination of rows, by two equations, or by a zero row."""
    base = _equations(rng, columns) if rng.random() < 0.5 else _integers(rng, columns)
    inequalities, equations = list(base.inequalities), list(base.equations)
    chosen = rng.sample(inequalities, min(len(inequalities), rng.randint(0, 3)))
    total = _sum(*((rng.randint(1, 2), row) for row in chosen), (1, (0,) * (columns + 1)))
    wrong = (*(-entry for entry in total[:-1]), -total[-1] - rng.choice([1, 1, 3]))
    if equations and rng.random() < 0.5:
        equations.append((*equations[0][:-1], equations[0][-1] + 1))
    else:
        inequalities.insert(rng.randint(0, len(inequalities)), wrong)
    return Description(columns, inequalities, equations)


def _cone(rng: Random, columns: int) -> Description:
    """Everything through one point."""
    number = rng.choice([_small, _small, _huge])
    return Description(columns, _plain(rng, columns, number, [0]), [])


def _with_lines(rng: Random, columns: int) -> Description:
    """Normals from a subspace."""
    basis = [
        [_small(rng) for _ in range(columns)] for _ in range(rng.randint(1, max(1, columns - 1)))
    ]
    weights = [[rng.randint(-2, 2) for _ in basis] for _ in range(rng.randint(1, 7))]
    normals = [
        [sum(w * row[j] for w, row in zip(ws, basis, strict=True)) for j in range(columns)]
        for ws in weights
    ]
    rows = _through(rng, normals, [rng.choice([0, 0, 1, 2]) for _ in normals])
    return Description(columns, rows, rows[:1] if rng.random() < 0.2 else [])


def _point(rng: Random, columns: int) -> Description:
    """One point, or nearly: a simplicial cone and the negative sum of its rows."""
    normals = [[_small(rng) for _ in range(columns)] for _ in range(columns)]
    normals.append([-sum(column) for column in zip(*normals, strict=True)])
    return Description(
        columns, _through(rng, normals, [*[0] * columns, rng.choice([0, 0, 0, 1])]), []
    )


_MAKERS: dict[str, Callable[[Random, int], Description]] = {
    "integers": _integers,
    "60 bits": _large,
    "nearly parallel": _nearly_parallel,
    "box": _box,
    "repeated": _repeated,
    "equations": _equations,
    "contradictory": _contradictory,
    "cone": _cone,
    "lines": _with_lines,
    "point": _point,
}

KINDS = tuple(_MAKERS)
