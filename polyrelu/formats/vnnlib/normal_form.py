"""A query turned into the property that it searches a counterexample to, in a normal form.

A query is a disjunction of cases, each a conjunction of constraints. Its property says that no case
holds anywhere: on the polyhedron of the inputs of a case, at least one of the constraints on its
outputs fails. A constraint that fails is a linear inequality again, so that the property is a list
of polyhedra, and for each of them a list of *clauses*, of which each holds at every point; a clause
holds where one of its rows does.

A strict constraint on inputs stands in the polyhedron as if it were not strict, and its negation is
one more row of each clause, so that polyhedra are closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats.vnnlib.query import (
    Conjunction,
    Constraint,
    Disjunction,
    Formula,
    Relation,
    VnnlibQuery,
    conjuncts,
    expanded,
)
from polyrelu.support.display import bracketed, count_text

__all__ = ["Clause", "ClauseRow", "Property", "PropertyPart", "property_of"]

#: Maximum number of cases of a query, and of constraints in all of them together.
_CASE_LIMIT, _CONSTRAINT_LIMIT = 10_000, 1_000_000
#: Maximum number of coefficients of all sets of inputs together, zeros included.
_ENTRY_LIMIT = 20_000_000
#: Where the counting of cases and constraints stops.
_COUNT_LIMIT = 10**18
#: Maximum number of networks of a property.
_MAX_NETWORKS = 2


@dataclass(frozen=True, slots=True, repr=False)
class ClauseRow:
    """A linear inequality Σ coefficient · value + constant > 0, or ≥ 0.

    Attributes
    ----------
    coefficients
        Pairs of the number of a value and its coefficient, not 0, in ascending order. Values are
        the outputs of the first network, the outputs of the second one, and the inputs.
    constant
        The constant term.
    is_strict
        Whether the inequality is > 0.
    line
        The line of the file where the constraint begins that the row is the negation of.

    Examples
    --------
    >>> above = ClauseRow(((0, Fraction(1)),), Fraction(-3), True, 1)
    >>> above.value([Fraction(3)]), above.holds([Fraction(3)])
    (Fraction(0, 1), False)
    """

    coefficients: tuple[tuple[int, Fraction], ...]
    constant: Fraction
    is_strict: bool
    line: int

    def value(self, values: Sequence[Fraction]) -> Fraction:
        """Return the left-hand side."""
        return sum((c * values[j] for j, c in self.coefficients), self.constant)

    def holds(self, values: Sequence[Fraction]) -> bool:
        """Return whether the inequality holds."""
        value = self.value(values)
        return value > 0 or (value == 0 and not self.is_strict)

    def __repr__(self) -> str:
        terms = " + ".join(f"{c}·v{j}" for j, c in self.coefficients[:4]) or "0"
        relation = ">" if self.is_strict else "≥"
        return bracketed(f"ClauseRow {terms} + {self.constant} {relation} 0")


@dataclass(frozen=True, slots=True, repr=False)
class Clause:
    """A disjunction of linear inequalities: it holds where one of its rows holds.

    Attributes
    ----------
    rows
        The rows, at least one.

    Examples
    --------
    >>> positive = ClauseRow(((0, Fraction(1)),), Fraction(0), True, 1)
    >>> Clause((positive,)).holds([Fraction(0)])
    False
    """

    rows: tuple[ClauseRow, ...]

    def holds(self, values: Sequence[Fraction]) -> bool:
        """Return whether one of the rows holds."""
        return any(row.holds(values) for row in self.rows)

    def value(self, values: Sequence[Fraction]) -> Fraction:
        """Return the largest left-hand side of the rows."""
        return max(row.value(values) for row in self.rows)

    def __repr__(self) -> str:
        return bracketed(f"Clause of {count_text([(len(self.rows), 'row')])}")


@dataclass(frozen=True, slots=True, repr=False)
class PropertyPart:
    """Clauses that hold at every point of a polyhedron.

    Attributes
    ----------
    domain
        A closed polyhedron of inputs, which may be empty.
    clauses
        The clauses, at least one.

    Examples
    --------
    >>> positive = ClauseRow(((0, Fraction(1)),), Fraction(0), True, 1)
    >>> PropertyPart(Polyhedron.universe(1), (Clause((positive,)),))
    <PropertyPart: 1 clause on a polyhedron in R^1>
    """

    domain: Polyhedron
    clauses: tuple[Clause, ...]

    def holds(self, values: Sequence[Fraction]) -> bool:
        """Return whether all clauses hold."""
        return all(clause.holds(values) for clause in self.clauses)

    def __repr__(self) -> str:
        clauses = count_text([(len(self.clauses), "clause")])
        place = f"a polyhedron in R^{self.domain.ambient_dimension}"
        return bracketed(f"PropertyPart: {clauses} on {place}")


@dataclass(frozen=True, repr=False)
class Property:
    """What a query searches a counterexample to: in each part, all clauses hold everywhere.

    Attributes
    ----------
    query
        The query.
    parts
        The parts; none if no case of the query can hold.

    Examples
    --------
    >>> from polyrelu.formats.vnnlib.query import DeclaredNetwork, Tensor
    >>> network = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> at_least_1 = Constraint(((1, Fraction(-1)),), Fraction(1), "<=", 1)
    >>> found = property_of(VnnlibQuery("y >= 1", "1.0", (network,), (at_least_1,)))
    >>> found.parts[0].clauses[0].rows
    (<ClauseRow -1·v0 + 1 > 0>,)
    """

    query: VnnlibQuery
    parts: tuple[PropertyPart, ...]

    @property
    def num_inputs(self) -> int:
        """The number of inputs, which all networks share."""
        return self.query.networks[0].num_inputs

    @property
    def num_rows(self) -> int:
        """The number of rows of all clauses."""
        return sum(len(clause.rows) for part in self.parts for clause in part.clauses)

    def __repr__(self) -> str:
        clauses = sum(len(part.clauses) for part in self.parts)
        counts = count_text(
            [(len(self.parts), "part"), (clauses, "clause"), (self.num_rows, "row")]
        )
        return bracketed(f"Property of {self.query.source}, {counts}")


def property_of(query: VnnlibQuery) -> Property:
    """Return the property that a query searches a counterexample to.

    Parameters
    ----------
    query
        What `read_vnnlib` returns, about one network, or two networks with equal inputs.

    Returns
    -------
    Property
        The property in its normal form.

    Raises
    ------
    DomainError
        The normal form would have more than 10,000 cases or 1,000,000 constraints, or its sets of
        inputs more than 50,000,000 coefficients; or the query is about three networks, or about
        two networks whose inputs are not equated one by one.

    Examples
    --------
    >>> from polyrelu.formats.vnnlib.query import DeclaredNetwork, Tensor
    >>> network = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> never = Constraint((), Fraction(1), "<=", 1)
    >>> property_of(VnnlibQuery("1 <= 0", "1.0", (network,), (never,))).parts[0].domain.is_empty()
    True
    """
    if len(query.networks) > _MAX_NETWORKS:
        raise DomainError(
            f"{query.source}: it declares {len(query.networks)} networks; properties are about one "
            "network or two"
        )
    common, others = list[Constraint](), list[Formula]()
    for part in conjuncts(query.assertions):
        is_common = isinstance(part, Constraint) and part.relation in ("<=", "==")
        if is_common and isinstance(part, Constraint) and not query.reads_outputs(part):
            common.append(part)
        else:
            others.append(part)
    rest = Conjunction(tuple(others))
    _check_size(query, rest)
    places = _places(query)
    parts: dict[tuple[Constraint, ...], dict[Clause, None]] = {}
    for case in map(list, expanded(rest)):
        inputs, clause = _split(query, case, places)
        parts.setdefault(inputs, {})[clause] = None
    num_rows = sum(len(common) + len(inputs) for inputs in parts)
    entries = num_rows * (query.networks[0].num_inputs + 1)
    if entries > _ENTRY_LIMIT:
        raise DomainError(
            f"{query.source}: {len(parts)} sets of inputs with {entries} coefficients, more than "
            f"the limit of {_ENTRY_LIMIT}; write a file for each part of the largest (or …)"
        )
    return Property(
        query,
        tuple(
            PropertyPart(query.polyhedron([*common, *inputs]), tuple(clauses))
            for inputs, clauses in parts.items()
        ),
    )


def _check_size(query: VnnlibQuery, formula: Formula) -> None:
    """Raise an error if a formula has too many cases, or too many constraints in them."""
    cases, constraints = _size(formula)
    for number, what, limit in (
        (cases, "cases", _CASE_LIMIT),
        (constraints, "constraints in its cases", _CONSTRAINT_LIMIT),
    ):
        if number > limit:
            shown = str(number) if number < _COUNT_LIMIT else "too many to count"
            raise DomainError(
                f"{query.source}: {shown} {what}, more than the limit of {limit}; write a file for "
                "each part of the largest (or …)"
            )


def _size(formula: Formula) -> tuple[int, int]:
    """Return the number of cases of a formula and of the constraints in all of them, cut off."""
    if isinstance(formula, Constraint):
        return (2, 2) if formula.relation == "!=" else (1, 1)
    sizes = list(map(_size, formula.parts))
    if isinstance(formula, Disjunction):
        cases, constraints = (sum(numbers) for numbers in zip(*sizes, strict=True))
        return min(cases, _COUNT_LIMIT), min(constraints, _COUNT_LIMIT)
    cases, constraints = 1, 0
    for more_cases, more_constraints in sizes:
        constraints = constraints * more_cases + more_constraints * cases
        cases *= more_cases
        cases, constraints = min(cases, _COUNT_LIMIT), min(constraints, _COUNT_LIMIT)
    return cases, constraints


def _places(query: VnnlibQuery) -> dict[int, int]:
    """Return the number among the values of a clause of each variable of a query."""
    inputs = query.input_places()
    num_outputs = sum(network.num_outputs for network in query.networks)
    places = {variable: num_outputs + place for variable, place in inputs.items()}
    outputs = [j for number in range(len(query.networks)) for j in query.outputs_of(number)]
    return places | {variable: place for place, variable in enumerate(outputs)}


def _split(
    query: VnnlibQuery, case: Sequence[Constraint], places: dict[int, int]
) -> tuple[tuple[Constraint, ...], Clause]:
    """Return the closed constraints on inputs of a case, and the clause that denies the others."""
    inputs: dict[Constraint, None] = {}
    rows: list[ClauseRow] = []
    for constraint in case:
        if not query.reads_outputs(constraint):
            inputs[replace(constraint, relation=_closed(constraint))] = None
            if constraint.relation != "<":
                continue
        rows += _denied(constraint, places)
    # A case that is about inputs alone is denied by no output: its clause never holds.
    never = ClauseRow((), Fraction(), True, case[0].line if case else 1)
    return tuple(inputs), Clause(tuple(dict.fromkeys(rows)) or (never,))


def _closed(constraint: Constraint) -> Relation:
    return "==" if constraint.relation == "==" else "<="


def _denied(constraint: Constraint, places: dict[int, int]) -> Iterator[ClauseRow]:
    """Yield the inequalities of which one holds where a constraint fails."""
    total: dict[int, Fraction] = {}
    for variable, coefficient in constraint.coefficients:
        place = places[variable]
        total[place] = total.get(place, Fraction()) + coefficient
    coefficients = tuple(sorted((j, c) for j, c in total.items() if c))
    signs: Iterable[int] = (1, -1) if constraint.relation == "==" else (1,)
    for sign in signs:
        yield ClauseRow(
            tuple((j, sign * c) for j, c in coefficients),
            sign * constraint.constant,
            constraint.relation != "<",
            constraint.line,
        )
