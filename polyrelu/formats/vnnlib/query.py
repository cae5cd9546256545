"""A VNN-LIB query: declared networks, and assertions that are linear in inputs and outputs.

All variables of a query are numbered from 0: for each network, in the order of the file, the
entries of its inputs and then of its outputs, in row-major order. Assertions stay formulas, as
large as the file; `VnnlibQuery.cases` expands them, up to a limit, and `VnnlibQuery.domain` is the
polyhedron of the inputs where there is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Literal, TypeAlias

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.formats.vnnlib.syntax import at_line
from polyrelu.support.arguments import expect_count
from polyrelu.support.display import bracketed, count_text

__all__ = [
    "Case",
    "Conjunction",
    "Constraint",
    "DeclaredNetwork",
    "Disjunction",
    "Formula",
    "Relation",
    "Tensor",
    "VnnlibQuery",
    "conjuncts",
    "entry_names",
    "expanded",
]

Relation: TypeAlias = Literal["<=", "<", "==", "!="]

#: Maximum number of cases that `VnnlibQuery.domain` looks at.
_CASE_LIMIT = 1_000_000
#: Where the counting of cases stops.
_COUNT_LIMIT = 10**18
#: Maximum number of coefficients of a domain, zeros included.
_ENTRY_LIMIT = 20_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Tensor:
    """An input or output of a declared network.

    Attributes
    ----------
    name
        Its name; ``X`` and ``Y`` in version 1.
    element_type
        The type that the file gives, such as ``real`` or ``float32``.
    shape
        Its shape; () for a single number.

    Examples
    --------
    >>> Tensor("X", "real", (2, 3)).size
    6
    """

    name: str
    element_type: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return bracketed(f"Tensor {self.name} {self.element_type} {list(self.shape)}")


@dataclass(frozen=True, slots=True, repr=False)
class DeclaredNetwork:
    """A network that a query speaks about.

    Attributes
    ----------
    name
        Its name; empty in version 1.
    inputs, outputs
        Its inputs and outputs, in order.
    equal_to
        The declared network that this one is equal to; empty if there is none.
    isomorphic_to
        The declared network that has the same operations; empty if there is none.

    Examples
    --------
    >>> net = DeclaredNetwork("f", (Tensor("X", "real", (5,)),), (Tensor("Y", "real", ()),))
    >>> net.num_inputs, net.num_outputs
    (5, 1)
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    equal_to: str = ""
    isomorphic_to: str = ""

    @property
    def num_inputs(self) -> int:
        """The number of entries of all inputs."""
        return sum(tensor.size for tensor in self.inputs)

    @property
    def num_outputs(self) -> int:
        """The number of entries of all outputs."""
        return sum(tensor.size for tensor in self.outputs)

    def __repr__(self) -> str:
        counts = [(self.num_inputs, "input"), (self.num_outputs, "output")]
        return bracketed(f"DeclaredNetwork {self.name or '(unnamed)'}, {count_text(counts)}")


@dataclass(frozen=True, slots=True, repr=False)
class Constraint:
    """A linear constraint Σ coefficient · variable + constant (relation) 0.

    Attributes
    ----------
    coefficients
        Pairs of the number of a variable and its coefficient, not 0, in ascending order.
    constant
        The constant term.
    relation
        ``"<="``, ``"<"``, ``"=="`` or ``"!="``.
    line
        The line of the file where the constraint begins.

    Examples
    --------
    >>> at_most_3 = Constraint(((0, Fraction(1)),), Fraction(-3), "<=", 1)
    >>> at_most_3.value([Fraction(5)])
    Fraction(2, 1)
    """

    coefficients: tuple[tuple[int, Fraction], ...]
    constant: Fraction
    relation: Relation
    line: int

    def value(self, values: Sequence[Fraction]) -> Fraction:
        """Return the left-hand side for the values of all variables."""
        return sum((c * values[j] for j, c in self.coefficients), self.constant)

    def __repr__(self) -> str:
        terms = " + ".join(f"{c}·v{j}" for j, c in self.coefficients[:4]) or "0"
        return bracketed(f"Constraint {terms} + {self.constant} {self.relation} 0")


@dataclass(frozen=True, slots=True, repr=False)
class Conjunction:
    """A formula that holds where all its parts hold.

    Attributes
    ----------
    parts
        Constraints, conjunctions and disjunctions.

    Examples
    --------
    >>> Conjunction(())
    <Conjunction of 0 parts>
    """

    parts: tuple[Formula, ...]

    def __repr__(self) -> str:
        return bracketed(f"Conjunction of {len(self.parts)} parts")


@dataclass(frozen=True, slots=True, repr=False)
class Disjunction:
    """A formula that holds where one of its parts holds.

    Attributes
    ----------
    parts
        Constraints, conjunctions and disjunctions.

    Examples
    --------
    >>> Disjunction(())
    <Disjunction of 0 parts>
    """

    parts: tuple[Formula, ...]

    def __repr__(self) -> str:
        return bracketed(f"Disjunction of {len(self.parts)} parts")


Formula: TypeAlias = Constraint | Conjunction | Disjunction


@dataclass(frozen=True, slots=True, repr=False)
class Case:
    """One case of a query: constraints that hold together.

    Attributes
    ----------
    inputs
        The constraints on inputs alone.
    outputs
        The constraints that read an output.

    Examples
    --------
    >>> Case((), ())
    <Case of 0 constraints on inputs, 0 that read outputs>
    """

    inputs: tuple[Constraint, ...]
    outputs: tuple[Constraint, ...]

    def __repr__(self) -> str:
        numbers = f"{len(self.inputs)} constraints on inputs, {len(self.outputs)}"
        return bracketed(f"Case of {numbers} that read outputs")


@dataclass(frozen=True, repr=False)
class VnnlibQuery:
    """The content of a VNN-LIB file; `read_vnnlib` makes one.

    Attributes
    ----------
    source
        Name of the file, for errors.
    version
        The version that the file gives, such as ``"2.0"``; ``"1.0"`` where it gives none.
    networks
        The declared networks, in order.
    assertions
        Formulas that all have to hold.

    Examples
    --------
    >>> network = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> below = Constraint(((0, Fraction(1)),), Fraction(-1), "<=", 1)
    >>> query = VnnlibQuery("example", "1.0", (network,), (below,))
    >>> query.variables, query.domain().inequalities
    (('X_0', 'Y_0'), ((1, 1),))
    """

    source: str
    version: str
    networks: tuple[DeclaredNetwork, ...]
    assertions: tuple[Formula, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables as files write them: ``X_0``, or in version 2 ``X[0,2]``."""
        return tuple(
            name
            for network in self.networks
            for tensor in (*network.inputs, *network.outputs)
            for name in entry_names(tensor, is_first_version=self.version.startswith("1"))
        )

    def inputs_of(self, network: int) -> range:
        """Return the numbers of the variables that are inputs of a network, counted from 0."""
        before = sum(n.num_inputs + n.num_outputs for n in self.networks[:network])
        return range(before, before + self.networks[network].num_inputs)

    def outputs_of(self, network: int) -> range:
        """Return the numbers of the variables that are outputs of a network, counted from 0."""
        first = self.inputs_of(network).stop
        return range(first, first + self.networks[network].num_outputs)

    def reads_outputs(self, constraint: Constraint) -> bool:
        """Return whether a constraint reads an output of a network."""
        return not all(self._is_input[j] for j, _ in constraint.coefficients)

    def cases(self, limit: int = 10_000) -> tuple[Case, ...]:
        """Return the query as a disjunction of cases, each a conjunction of linear constraints.

        A constraint with ``!=`` becomes two cases with ``<``. More cases than `limit` are a
        `DomainError`.
        """
        formula = Conjunction(self.assertions)
        number = _num_cases(formula)
        if number > expect_count(limit, "limit", 1):
            counted = f"{number} cases" if number < _COUNT_LIMIT else "too many cases to count"
            raise DomainError(f"{self.source}: {counted}, more than the limit of {limit}")
        return tuple(self._case(constraints) for constraints in expanded(formula))

    def domain(self) -> Polyhedron:
        """Return the polyhedron of all inputs that satisfy the constraints on inputs alone.

        Networks whose inputs are equated one by one have one domain. A `DomainError` says why
        there is none: the inputs lie in a union of polyhedra, a constraint is strict, or the
        networks have different inputs.
        """
        rows: list[Constraint] = []
        for part in conjuncts(self.assertions):
            rows += self._constraints_on_inputs(part)
        return self.polyhedron(rows)

    def polyhedron(self, constraints: Sequence[Constraint]) -> Polyhedron:
        """Return the polyhedron of the inputs that satisfy constraints on inputs alone.

        A `DomainError` names a constraint that is strict, or says that the networks have different
        inputs.
        """
        size = self.networks[0].num_inputs
        found = _Rows.of(self.source, constraints, self.input_places(), size)
        if found.num_rows * (size + 1) > _ENTRY_LIMIT:
            raise DomainError(
                f"{self.source}: a domain of {found.num_rows} rows for {size} inputs, more than "
                f"{_ENTRY_LIMIT} coefficients"
            )
        return found.polyhedron(size)

    def input_places(self) -> dict[int, int]:
        """Return the coordinate that each input variable is; those that are equated share one.

        A `DomainError` says that the networks have different inputs.
        """
        first = self.inputs_of(0)
        places = {variable: j for j, variable in enumerate(first)}
        equated = {
            frozenset(j for j, _ in part.coefficients)
            for part in conjuncts(self.assertions)
            if isinstance(part, Constraint) and _is_equation_of_two(part)
        }
        for number, network in enumerate(self.networks[1:], 1):
            inputs = self.inputs_of(number)
            is_shared = len(inputs) == len(first) and all(
                frozenset((a, b)) in equated for a, b in zip(first, inputs, strict=True)
            )
            if not is_shared:
                raise DomainError(
                    f"{self.source}: the networks {self.networks[0].name} and {network.name} do "
                    "not have equal inputs, entry by entry, so there is no single domain"
                )
            places |= {variable: j for j, variable in enumerate(inputs)}
        return places

    def __repr__(self) -> str:
        counts = [(len(self.networks), "network"), (len(self.assertions), "assertion")]
        return bracketed(f"VnnlibQuery {self.source}, version {self.version}, {count_text(counts)}")

    # -- Cases and domains -------------------------------------------------------------------------

    @cached_property
    def _is_input(self) -> tuple[bool, ...]:
        flags: list[bool] = []
        for network in self.networks:
            flags += [True] * network.num_inputs + [False] * network.num_outputs
        return tuple(flags)

    def _case(self, constraints: Iterable[Constraint]) -> Case:
        chosen = list(constraints)
        return Case(
            tuple(c for c in chosen if not self.reads_outputs(c)),
            tuple(c for c in chosen if self.reads_outputs(c)),
        )

    def _constraints_on_inputs(self, part: Formula) -> tuple[Constraint, ...]:
        """Return the constraints on inputs alone of a conjunct, the same in all its cases."""
        if isinstance(part, Constraint):
            return () if self.reads_outputs(part) else (part,)
        if all(self.reads_outputs(constraint) for constraint in _constraints(part)):
            return ()
        line = next(_constraints(part)).line
        if _num_cases(part) > _CASE_LIMIT:
            raise at_line(self.source, line, f"more than {_CASE_LIMIT} cases")
        found = {
            tuple(sorted((c.coefficients, c.constant, c.relation, 0) for c in case.inputs)): case
            for case in map(self._case, expanded(part))
        }
        if len(found) > 1:
            raise at_line(
                self.source,
                line,
                f"the inputs lie in a union of {len(found)} sets; a domain is one polyhedron, so "
                "write a file for each",
            )
        return next(iter(found.values())).inputs if found else ()


@dataclass(slots=True)
class _Rows:
    """Bounds of coordinates, and other rows, of a polyhedron.

    Attributes
    ----------
    lower, upper
        The bounds of each coordinate, None where there is none.
    inequalities, equations
        Pairs of sparse coefficients and a right-hand side.
    """

    lower: list[Fraction | None]
    upper: list[Fraction | None]
    inequalities: list[tuple[dict[int, Fraction], Fraction]]
    equations: list[tuple[dict[int, Fraction], Fraction]]

    @classmethod
    def of(
        cls, source: str, constraints: Sequence[Constraint], places: dict[int, int], size: int
    ) -> _Rows:
        """Return the rows of constraints on inputs alone."""
        rows = cls([None] * size, [None] * size, [], [])
        for constraint in constraints:
            if constraint.relation in ("<", "!="):
                problem = f"a domain is closed, so {constraint.relation} cannot bound inputs"
                raise at_line(source, constraint.line, f"{problem}; write <=")
            total: dict[int, Fraction] = {}
            for variable, coefficient in constraint.coefficients:
                place = places[variable]
                total[place] = total.get(place, Fraction()) + coefficient
            total = {place: coefficient for place, coefficient in total.items() if coefficient}
            rows._add(total, -constraint.constant, constraint.relation)
        return rows

    def _add(self, row: dict[int, Fraction], right: Fraction, relation: Relation) -> None:
        if relation == "==":
            if row or right:
                self.equations.append((row, right))
        elif len(row) == 1:
            ((place, coefficient),) = row.items()
            bound = right / coefficient
            if coefficient > 0:
                known = self.upper[place]
                self.upper[place] = bound if known is None else min(known, bound)
            else:
                known = self.lower[place]
                self.lower[place] = bound if known is None else max(known, bound)
        elif row or right < 0:
            self.inequalities.append((row, right))

    @property
    def num_rows(self) -> int:
        """The number of inequalities and equations."""
        bounds = [bound for bound in (*self.lower, *self.upper) if bound is not None]
        return len(bounds) + len(self.inequalities) + len(self.equations)

    def polyhedron(self, size: int) -> Polyhedron:
        """Return the polyhedron of the rows."""
        box = Polyhedron.box(self.lower, self.upper)
        if not self.inequalities and not self.equations:
            return box
        zero = Fraction()  # one object for all of them
        matrices = [
            [[row.get(j, zero) for j in range(size)] for row, _ in rows]
            for rows in (self.inequalities, self.equations)
        ]
        right, equal = ([side for _, side in rows] for rows in (self.inequalities, self.equations))
        return box.intersect(
            Polyhedron.from_constraints(matrices[0], right, matrices[1], equal, size)
        )


def entry_names(tensor: Tensor, *, is_first_version: bool = False) -> Iterator[str]:
    """Yield the names of the entries of a tensor in row-major order."""
    if is_first_version:
        yield from (f"{tensor.name}_{j}" for j in range(tensor.size))
    elif not tensor.shape:
        yield tensor.name
    else:
        for place in product(*map(range, tensor.shape)):
            yield f"{tensor.name}[{','.join(map(str, place))}]"


def conjuncts(parts: Iterable[Formula]) -> Iterator[Formula]:
    """Yield the parts of a conjunction, and of conjunctions in it."""
    for part in parts:
        if isinstance(part, Conjunction):
            yield from conjuncts(part.parts)
        else:
            yield part


def _constraints(formula: Formula) -> Iterator[Constraint]:
    """Yield all constraints of a formula."""
    if isinstance(formula, Constraint):
        yield formula
    else:
        for part in formula.parts:
            yield from _constraints(part)


def _is_equation_of_two(constraint: Constraint) -> bool:
    """Whether a constraint says that two variables are equal."""
    coefficients = [c for _, c in constraint.coefficients]
    return (
        constraint.relation == "=="
        and not constraint.constant
        and len(coefficients) == 2
        and sum(coefficients) == 0
    )


def _num_cases(formula: Formula) -> int:
    """Return the number of cases of a formula, at most `_COUNT_LIMIT`."""
    if isinstance(formula, Constraint):
        return 2 if formula.relation == "!=" else 1
    is_product = isinstance(formula, Conjunction)
    total = int(is_product)
    for number in map(_num_cases, formula.parts):
        total = min(total * number if is_product else total + number, _COUNT_LIMIT)
    return total


def expanded(formula: Formula) -> Iterator[tuple[Constraint, ...]]:
    """Yield the constraints of each case of a formula."""
    if isinstance(formula, Disjunction):
        for part in formula.parts:
            yield from expanded(part)
    elif isinstance(formula, Conjunction):
        choices = [list(expanded(part)) for part in formula.parts]
        for chosen in product(*choices):
            yield tuple(constraint for part in chosen for constraint in part)
    elif formula.relation == "!=":
        for sign in (1, -1):
            coefficients = tuple((j, sign * c) for j, c in formula.coefficients)
            yield (Constraint(coefficients, sign * formula.constant, "<", formula.line),)
    else:
        yield (formula,)
