"""What a query says and what it probably means: contradictions and missing bounds, in words.

A file that asks for an impossible point describes no counterexample, and its property holds
whatever the networks compute. Verifiers that answer such a file have proved nothing about the
networks, so the contradiction is found here, by exact linear programs, and named by its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import Infeasible, LinearProgram, Optimal
from polyrelu.formats.vnnlib.normal_form import Clause, ClauseRow, Property, PropertyPart

__all__ = ["Doubts", "doubts_about"]

#: Maximum number of lines, and of names of inputs, that a sentence lists.
_MAX_LISTED = 5


@dataclass(frozen=True, slots=True)
class Doubts:
    """The parts of a property that are about nothing, and sentences about it.

    Attributes
    ----------
    parts
        The parts of the property that are left: their domains are not empty, and each of their
        clauses can fail if the outputs are arbitrary.
    sentences
        What is doubtful about the query, for people.
    """

    parts: tuple[PropertyPart, ...]
    sentences: tuple[str, ...]


def doubts_about(asked: Property) -> Doubts:
    """Return the parts of a property that are about the networks, and what is doubtful.

    Parameters
    ----------
    asked
        What `property_of` returns.
    """
    filled = [part for part in asked.parts if not part.domain.is_empty()]
    sentences = [*_about_empty_domains(asked, len(asked.parts) - len(filled))]
    impossible: dict[Clause, None] = {}
    parts = []
    for part in filled:
        bounds = _sides(part, sum(network.num_outputs for network in asked.query.networks))
        never = [clause for clause in part.clauses if _cannot_fail(clause.rows, bounds)]
        impossible |= dict.fromkeys(never)
        left = tuple(clause for clause in part.clauses if clause not in never)
        if left:
            parts.append(PropertyPart(part.domain, left))
    sentences += _about_impossible_cases(list(impossible), asked)
    sentences += _about_missing_bounds(asked, filled)
    return Doubts(tuple(parts), tuple(sentences))


def _about_empty_domains(asked: Property, num_empty: int) -> Iterable[str]:
    if num_empty and num_empty == len(asked.parts):
        yield (
            "no input satisfies the constraints on inputs: they contradict each other, so the "
            "property holds whatever the networks compute; look for bounds that are exchanged"
        )
    elif num_empty:
        yield (
            f"{num_empty} of {len(asked.parts)} sets of inputs are empty: the constraints on "
            "inputs contradict each other there"
        )


def _about_impossible_cases(clauses: Sequence[Clause], asked: Property) -> Iterable[str]:
    """Yield a sentence about the cases of a query whose constraints contradict each other."""
    if not clauses:
        return
    lines: set[int] = set()
    for clause in clauses:
        own = _lines_of_contradictions(clause)
        lines |= own or {row.line for row in clause.rows}
    total = sum(len(part.clauses) for part in asked.parts)
    is_all = len(clauses) == total or all(
        clause in clauses for part in asked.parts for clause in part.clauses
    )
    what = "so the file describes no counterexample" if is_all else "so this case never holds"
    joined = ", and join these assertions by (or …) as well" if len(lines) > 1 else ""
    yield (
        f"{_listed(sorted(lines))}: the constraints contradict each other whatever the networks "
        f"compute, {what}; if one of them is enough for a counterexample, as in |difference| > "
        f"bound, write (or …) in the place of (and …){joined}"
    )


def _lines_of_contradictions(clause: Clause) -> set[int]:
    """Return the lines whose own constraints contradict each other."""
    by_line: dict[int, list[ClauseRow]] = {}
    for row in clause.rows:
        by_line.setdefault(row.line, []).append(row)
    return {line for line, rows in by_line.items() if _cannot_fail(rows, {})}


def _about_missing_bounds(asked: Property, parts: Sequence[PropertyPart]) -> Iterable[str]:
    """Yield a sentence about inputs that have no bounds at all."""
    if not parts:
        return
    first = asked.query.inputs_of(0)
    free = [
        asked.query.variables[first[j]]
        for j in range(asked.num_inputs)
        if not any(row[j] for row in (*parts[0].domain.inequalities, *parts[0].domain.equations))
    ]
    if free:
        names = ", ".join(free[:_MAX_LISTED]) + (", …" if len(free) > _MAX_LISTED else "")
        verb = "has no bound" if len(free) == 1 else "have no bounds"
        yield f"{names} {verb}: the property is about all real values there"


def _sides(part: PropertyPart, num_outputs: int) -> dict[int, tuple[Fraction | None, ...]]:
    """Return lower and upper bounds of inputs that single rows of a domain give, by value."""
    found: dict[int, list[Fraction | None]] = {}
    for row in part.domain.inequalities:
        used = [j for j, entry in enumerate(row[:-1]) if entry]
        if len(used) == 1:
            bound = Fraction(row[-1], row[used[0]])
            sides = found.setdefault(num_outputs + used[0], [None, None])
            side = int(row[used[0]] > 0)
            known = sides[side]
            sides[side] = bound if known is None else (max, min)[side](known, bound)
    return {place: tuple(sides) for place, sides in found.items()}


def _cannot_fail(rows: Sequence[ClauseRow], bounds: dict[int, tuple[Fraction | None, ...]]) -> bool:
    """Whether one of the rows holds for all values within bounds, if values were independent.

    All rows fail somewhere if and only if the largest t with value ≤ 0 for strict rows and value +
    t ≤ 0 for the others is positive.
    """
    places = sorted({place for row in rows for place, _ in row.coefficients})
    column = {place: j for j, place in enumerate(places)}
    sides = [bounds.get(place, (None, None)) for place in places]
    program = LinearProgram(
        len(places) + 1, [*(low for low, _ in sides), 0], [*(high for _, high in sides), 1]
    )
    table = []
    for row in rows:
        entries = [Fraction()] * (len(places) + 1)
        for place, coefficient in row.coefficients:
            entries[column[place]] = coefficient
        entries[-1] = Fraction(not row.is_strict)
        table.append(entries)
    program.add_inequalities(table, [-row.constant for row in rows])
    answer = program.maximize([*[0] * len(places), 1])
    if isinstance(answer, Infeasible):
        return True
    return isinstance(answer, Optimal) and answer.value == 0


def _listed(lines: Sequence[int]) -> str:
    """Return some numbers of lines in words.

    >>> _listed([3]), _listed([3, 5, 6, 7, 8, 9, 12])
    ('line 3', 'lines 3, 5, 6, 7, 8, …')
    """
    shown = ", ".join(map(str, lines[:_MAX_LISTED])) + (", …" if len(lines) > _MAX_LISTED else "")
    return f"line{'s' * (len(lines) > 1)} {shown}"
