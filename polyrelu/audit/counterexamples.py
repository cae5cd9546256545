"""Counterexamples of verifiers: whether a query holds at them exactly, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.findings import Cause, Finding, Verdict, number_text
from polyrelu.audit.reports import AuditReport
from polyrelu.exact import FLOAT32
from polyrelu.formats import (
    Constraint,
    Counterexample,
    CounterexampleCheck,
    NetworkLike,
    VnnlibQuery,
    as_network,
    check_counterexample,
    read_counterexample,
    read_vnnlib,
)
from polyrelu.support.arguments import expect_list, expect_one_of

__all__ = ["audit_counterexamples"]


def audit_counterexamples(
    network: NetworkLike,
    query: VnnlibQuery | str | Path,
    counterexamples: Sequence[Counterexample | str | Path],
    *,
    max_findings: int = 100,
) -> AuditReport:
    """Decide exactly whether counterexamples satisfy a query.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    query
        What `polyrelu.formats.read_vnnlib` returns, or the name of a VNN-LIB file; one network.
    counterexamples
        What `polyrelu.formats.read_counterexample` returns, or names of such files.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each counterexample.

    Raises
    ------
    DomainError
        A file cannot be read, or a counterexample gives no value to an input.
    NetworkError
        The network cannot be read, or does not fit the query.

    Examples
    --------
    >>> from polyrelu.formats import DeclaredNetwork, Tensor
    >>> declared = DeclaredNetwork("", (Tensor("X", "Real", (1,)),), (Tensor("Y", "Real", (1,)),))
    >>> below = Constraint(((0, Fraction(1)),), Fraction(-1), "<=", 1)
    >>> above = Constraint(((1, Fraction(-1)),), Fraction(2), "<=", 2)
    >>> query = VnnlibQuery("x <= 1, y >= 2", "1.0", (declared,), (below, above))
    >>> found = Counterexample("found", {"X_0": Fraction(1.0000000001)})
    >>> print(audit_counterexamples([([[3]], [0])], query, [found]).findings[0])
    wrong counterexample: item 0: the assertion of line 1 fails
    witness: (562949953477607/562949953421312)
    distance from the box: about 1e-10
    cause: box edge: the nearest point of the box is a counterexample
    cause: rounded inputs: with inputs rounded to float32 it is a counterexample
    """
    expect_one_of(query, (VnnlibQuery, str, Path), "query", "read_vnnlib makes one")
    asked = query if isinstance(query, VnnlibQuery) else read_vnnlib(query)
    exact = as_network(network)
    given = [
        item if isinstance(item, Counterexample) else read_counterexample(item)
        for item in expect_list(counterexamples, "counterexamples")
    ]
    checks = [check_counterexample(asked, item, exact) for item in given]
    verdicts: list[Verdict] = ["right" if c.is_counterexample else "wrong" for c in checks]

    def explain(item: int) -> Finding:
        """Return the finding about an item."""
        check = checks[item]
        witness = tuple(given[item].values[asked.variables[k]] for k in asked.inputs_of(0))
        size, measure = _shortfall(check)
        causes = _causes(asked, given[item], exact, check)
        message = f"item {item}: {check.reason}"
        return Finding(
            "counterexample", "wrong", message, item, None, witness, size, measure, causes
        )

    rule = "a counterexample is right if all assertions hold exactly at its inputs"
    question = Question.of(max_findings=max_findings)
    return report_of("counterexamples", verdicts, explain, question, rule)


def _shortfall(check: CounterexampleCheck) -> tuple[Fraction | None, str]:
    """Return by how much a counterexample fails, and what this measures."""
    if check.input_margin is not None and check.input_margin < 0:
        return -check.input_margin, "distance from the box"
    if check.margin is not None and check.margin <= 0:
        return -check.margin, "missing margin"
    return None, ""


def _causes(
    query: VnnlibQuery, given: Counterexample, network: NetworkLike, check: CounterexampleCheck
) -> tuple[Cause, ...]:
    """Return what else would be a counterexample: a point of the box, or a float32 point."""
    causes = []
    places = query.inputs_of(0)
    if check.input_margin is not None and check.input_margin < 0:
        clipped = _clipped(query, given)
        if check_counterexample(query, clipped, network).is_counterexample:
            evidence = "the nearest point of the box is a counterexample"
            causes.append(Cause("box edge", evidence))
    rounded = dict(given.values)
    for place in places:
        name = query.variables[place]
        rounded[name] = FLOAT32.nearest(rounded[name])
    if rounded != given.values and all(abs(x) < 2**100 for x in rounded.values()):
        other = Counterexample(given.source, rounded)
        if check_counterexample(query, other, network).is_counterexample:
            evidence = "with inputs rounded to float32 it is a counterexample"
            causes.append(Cause("rounded inputs", evidence))
    if check.largest_difference and (check.input_margin or 0) >= 0:
        evidence = f"the file's outputs differ from the exact ones by up to {_shown(check)}"
        causes.append(Cause("outputs of a float runtime", evidence))
    return tuple(causes)


def _shown(check: CounterexampleCheck) -> str:
    return number_text(check.largest_difference or Fraction(0))


def _clipped(query: VnnlibQuery, given: Counterexample) -> Counterexample:
    """Return the counterexample with each input moved into the bounds of the query's assertions."""
    values = dict(given.values)
    inputs: Mapping[int, str] = {k: query.variables[k] for k in query.inputs_of(0)}
    for part in query.assertions:
        if not isinstance(part, Constraint) or len(part.coefficients) != 1:
            continue
        ((place, factor),) = part.coefficients
        if place not in inputs or part.relation not in ("<=", "==") or not factor:
            continue
        name, bound = inputs[place], -part.constant / factor
        if part.relation == "==" or factor > 0:
            values[name] = min(values[name], bound)
        if part.relation == "==" or factor < 0:
            values[name] = max(values[name], bound)
    return Counterexample(given.source, values)
