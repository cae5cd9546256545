"""Counterexamples evaluated exactly: whether a query holds at a point, and by how much.

A verifier computes in floats. Here the network is evaluated in exact arithmetic at the inputs that
the verifier found, so that the answer is about the function of the exact weights: a float runtime
may satisfy a query at a point where this function does not, and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from polyrelu.errors import DomainError
from polyrelu.exact import decimal_above, decimal_below
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.formats.vnnlib import (
    Conjunction,
    Constraint,
    Counterexample,
    Disjunction,
    VnnlibQuery,
    read_counterexample,
    read_vnnlib,
)
from polyrelu.formats.vnnlib.query import conjuncts
from polyrelu.network import Network
from polyrelu.support.arguments import expect_one_of
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Point

__all__ = ["CounterexampleCheck", "check_counterexample", "networks_of"]

#: Significant digits of values and bounds in sentences.
_DIGITS = 17


@dataclass(frozen=True, slots=True, repr=False)
class CounterexampleCheck:
    """The result of `check_counterexample`.

    Attributes
    ----------
    is_counterexample
        Whether inputs and exact outputs satisfy all assertions of the query.
    margin
        By how much the outputs satisfy their constraints: the least slack of the inequalities in
        the best case of the query; negative where they fail. Cases that the inputs fail do not
        count. None if no inequality decides about the outputs: none reads them, the inputs fail
        every case, or they satisfy a case of a disjunction that asks nothing of the outputs.
    input_margin
        The same for the constraints on inputs alone: 0 on the boundary. None if there is none.
    outputs
        The exact outputs of each declared network.
    largest_difference
        The largest |output in the file - exact output|; None if the file has no outputs.
    reason
        The first assertion that fails, by its line; empty if all hold.
    failures
        A sentence for each constraint that fails outside of all (or …), with the amount.

    Examples
    --------
    >>> CounterexampleCheck(True, Fraction(1, 8), Fraction(0), ((Fraction(3),),), None, "")
    <CounterexampleCheck, a counterexample with margin 0.125>
    """

    is_counterexample: bool
    margin: Fraction | None
    input_margin: Fraction | None
    outputs: tuple[Point, ...]
    largest_difference: Fraction | None
    reason: str
    failures: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.is_counterexample:
            return f"no counterexample: {self.reason}"
        margin = "" if self.margin is None else f" with margin {decimal_below(self.margin)}"
        return f"a counterexample{margin}"

    def __repr__(self) -> str:
        return bracketed(f"CounterexampleCheck, {self}")


def check_counterexample(
    query: VnnlibQuery | str | Path,
    counterexample: Counterexample | str | Path,
    network: NetworkLike | Mapping[str, NetworkLike],
) -> CounterexampleCheck:
    """Decide exactly whether a counterexample satisfies a query.

    Parameters
    ----------
    query
        What `read_vnnlib` returns, or the name of a VNN-LIB file.
    counterexample
        What `read_counterexample` returns, or the name of such a file. Outputs in it are compared
        with the exact ones, and used for nothing else.
    network
        The network, as `polyrelu.load` takes it; where the query declares several, a mapping of
        their names to networks. Networks that the query declares equal to others may be left out.

    Returns
    -------
    CounterexampleCheck
        Whether the query holds at the inputs with the exact outputs, and with what margin.

    Raises
    ------
    DomainError
        A file cannot be read, or the counterexample gives no value to an input.
    NetworkError
        A network cannot be read, or has other numbers of inputs and outputs than the query says.
    ArgumentError
        An argument has a wrong type.

    Examples
    --------
    >>> from polyrelu.formats.vnnlib import DeclaredNetwork, Tensor
    >>> network = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> at_least_1 = Constraint(((1, Fraction(-1)),), Fraction(1), "<=", 1)
    >>> query = VnnlibQuery("y >= 1", "1.0", (network,), (at_least_1,))
    >>> found = check_counterexample(
    ...     query, Counterexample("example", {"X_0": Fraction(1, 2)}), [([[3]], [0])]
    ... )
    >>> found.is_counterexample, found.margin, found.outputs
    (True, Fraction(1, 2), ((Fraction(3, 2),),))
    """
    expect_one_of(query, (VnnlibQuery, str, Path), "query", "read_vnnlib makes one")
    expect_one_of(counterexample, (Counterexample, str, Path), "counterexample")
    asked = query if isinstance(query, VnnlibQuery) else read_vnnlib(query)
    given = (
        counterexample
        if isinstance(counterexample, Counterexample)
        else read_counterexample(counterexample)
    )
    values = [Fraction()] * len(asked.variables)
    outputs, differences = list[Point](), list[Fraction]()
    for number, exact in enumerate(networks_of(asked, network)):
        places = asked.inputs_of(number)
        for place in places:
            values[place] = _input(asked, given, place)
        outputs.append(exact([values[place] for place in places]))
        for place, value in zip(asked.outputs_of(number), outputs[-1], strict=True):
            values[place] = value
            if (stated := given.values.get(asked.variables[place])) is not None:
                differences.append(abs(stated - value))
    return _checked(asked, values, tuple(outputs), max(differences, default=None))


def networks_of(
    query: VnnlibQuery, given: NetworkLike | Mapping[str, NetworkLike]
) -> list[Network]:
    """Return the exact network of each declared network, as `check_counterexample` takes them."""
    by_name: dict[str, Network] = {}
    named: Mapping[str, NetworkLike] = (
        given if isinstance(given, Mapping) else {query.networks[0].name: given}
    )
    known = {declared.name for declared in query.networks}
    if unknown := [name for name in named if name not in known]:
        raise DomainError(f"{query.source}: it declares no network {str(unknown[0])[:40]!r}")
    for declared in query.networks:
        name = declared.name
        if name in named:
            by_name[name] = as_network(named[name])
        elif declared.equal_to:
            by_name[name] = by_name[declared.equal_to]
        else:
            raise DomainError(
                f"{query.source}: it declares {len(query.networks)} networks; give a mapping with "
                f"one for {name!r}"
            )
        sizes = (by_name[name].num_inputs, by_name[name].num_outputs)
        if sizes != (declared.num_inputs, declared.num_outputs):
            raise DomainError(
                f"{query.source}: the network has {sizes[0]} inputs and {sizes[1]} outputs, the "
                f"file declares {declared.num_inputs} and {declared.num_outputs}"
            )
    return list(by_name.values())


def _input(query: VnnlibQuery, given: Counterexample, place: int) -> Fraction:
    """Return the value of an input variable."""
    name = query.variables[place]
    if name not in given.values:
        raise DomainError(f"{given.source}: it gives no value to the input {name}")
    return given.values[name]


def _checked(
    query: VnnlibQuery,
    values: list[Fraction],
    outputs: tuple[Point, ...],
    difference: Fraction | None,
) -> CounterexampleCheck:
    """Evaluate all assertions."""
    evaluation = _Evaluation(query, values)
    failed = [part for part in query.assertions if not evaluation.holds(part)]
    whole = Conjunction(query.assertions)
    margin, input_margin = (evaluation.margin(whole, inputs=which) for which in (False, True))
    reason = "" if not failed else f"the assertion of line {_line(failed[0])} fails"
    return CounterexampleCheck(
        not failed,
        margin if isinstance(margin, Fraction) else None,
        input_margin if isinstance(input_margin, Fraction) else None,
        outputs,
        difference,
        reason,
        tuple(_failures(query, evaluation)),
    )


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """Truth and margins of formulas for the values of all variables."""

    query: VnnlibQuery
    values: list[Fraction]

    def holds(self, formula: Constraint | Conjunction | Disjunction) -> bool:
        """Whether a formula holds."""
        if isinstance(formula, Conjunction):
            return all(map(self.holds, formula.parts))
        if isinstance(formula, Disjunction):
            return any(map(self.holds, formula.parts))
        value = formula.value(self.values)
        return {"<=": value <= 0, "<": value < 0, "==": value == 0, "!=": value != 0}[
            formula.relation
        ]

    def margin(
        self, formula: Constraint | Conjunction | Disjunction, *, inputs: bool
    ) -> Fraction | float:
        """Return the slack of a formula in its constraints on inputs alone, or in all others.

        The other kind of constraints counts as infinite: positive where they hold. For the margin
        of the inputs they count as if they held.
        """
        if isinstance(formula, Conjunction):
            return min((self.margin(p, inputs=inputs) for p in formula.parts), default=math.inf)
        if isinstance(formula, Disjunction):
            return max((self.margin(p, inputs=inputs) for p in formula.parts), default=-math.inf)
        if self.query.reads_outputs(formula) == inputs:
            return math.inf if inputs or self.holds(formula) else -math.inf
        value = formula.value(self.values)
        if formula.relation == "==":
            return -abs(value) if value else math.inf
        return abs(value) if formula.relation == "!=" else -value


def _failures(query: VnnlibQuery, evaluation: _Evaluation) -> Iterator[str]:
    """Yield a sentence for each constraint that fails outside of all disjunctions."""
    for part in conjuncts(query.assertions):
        if evaluation.holds(part):
            continue
        if not isinstance(part, Constraint):
            yield f"line {_line(part)}: none of the cases of (or …) holds"
            continue
        excess = decimal_above(abs(part.value(evaluation.values)))
        if len(part.coefficients) != 1:
            amount = f"is missed by {excess}" if part.relation != "!=" else "is not met"
            yield f"line {part.line}: a linear constraint {amount}"
            continue
        ((variable, coefficient),) = part.coefficients
        bound, value = -part.constant / coefficient, evaluation.values[variable]
        yield (
            f"line {part.line}: {query.variables[variable]} = {_decimal(value)} is "
            f"{_beyond(value, bound)} the bound {_decimal(bound)}"
        )


def _beyond(value: Fraction, bound: Fraction) -> str:
    """Return how a value is related to the bound that it does not meet."""
    if value == bound:
        return "on"
    distance = decimal_above(abs(value - bound))
    return f"{distance} {'above' if value > bound else 'below'}"


def _decimal(value: Fraction) -> str:
    return decimal_below(value, digits=_DIGITS)


def _line(formula: Constraint | Conjunction | Disjunction) -> int:
    """Return the line where a formula begins."""
    while not isinstance(formula, Constraint):
        formula = formula.parts[0]
    return formula.line
