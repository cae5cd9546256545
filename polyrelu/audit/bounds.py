"""Bounds of outputs, Lipschitz constants and certified radii: refuted by a point, or proved.

A bound is *wrong* if an exact point violates it, *right* if the exact complex or proved interval
arithmetic shows that none does, and *not refuted* otherwise. Bounds are compared as they are: a
bound that is one unit in the last place too small is wrong.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.extremes import Extreme, largest
from polyrelu.audit.findings import Cause, Finding, Verdict, number_text
from polyrelu.audit.ground_truth import GroundTruth, NetworkOrTruth
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import as_numbers, entry, floats_of, is_finite
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron
from polyrelu.formats import DomainLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.support.typing import Array

__all__ = ["audit_bounds", "network_and_domain"]

_RULE = "a bound is right if it holds at every point of the domain, without any tolerance"


def network_and_domain(network: NetworkOrTruth, domain: DomainLike) -> tuple[Network, Polyhedron]:
    """Return the network and the domain that arguments stand for."""
    if isinstance(network, GroundTruth):
        return network.network, network.domain if domain is None else as_domain(
            domain, network.network.num_inputs
        )
    exact = as_network(network)
    return exact, as_domain(domain, exact.num_inputs)


def audit_bounds(
    network: NetworkOrTruth,
    lower: object = None,
    upper: object = None,
    domain: DomainLike = None,
    *,
    max_findings: int = 100,
) -> AuditReport:
    """Decide whether bounds of the outputs hold on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    lower, upper
        A bound for each output, shape (n_L,), minus or plus infinity for none; None for no bounds.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space.
    max_findings
        Maximum number of findings that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each finite bound, first the lower ones.

    Raises
    ------
    DomainError
        The domain cannot be read, or is empty.
    ArgumentError
        The numbers of bounds and outputs differ, or a bound is no number.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[0.1, 0.1]], [0])])
    >>> print(audit_bounds(net, [0], [0.09999999999999999], "box:-1,1").findings[0])
    wrong bound: the upper bound 0.09999999999999999 of output 0 is too small
    witness: (1)
    excess: about 1.38778e-17
    cause: last place: the next float64 is a bound
    """
    question = Question.of(max_findings=max_findings)
    exact, polyhedron = network_and_domain(network, domain)
    claims = [
        *_claims(lower, -1, exact.num_outputs, "lower"),
        *_claims(upper, 1, exact.num_outputs, "upper"),
    ]
    rows = [[sign * (j == k) for j in range(exact.num_outputs)] for k, sign, _ in claims]
    found = largest(exact, rows, polyhedron)
    verdicts = [
        _verdict(extreme, sign * entry(value))
        for extreme, (_, sign, value) in zip(found, claims, strict=True)
    ]

    def explain(item: int) -> Finding:
        """Return the finding about an item."""
        k, sign, value = claims[item]
        return _explained(found[item], k, sign, value, item, verdicts[item])

    return report_of("output bounds", verdicts, explain, question, _RULE)


def _claims(
    bounds: object, sign: int, outputs: int, name: str
) -> list[tuple[int, int, float | Fraction]]:
    """Return output, sign and value of each finite bound."""
    if bounds is None:
        return []
    table: Array = as_numbers(bounds, 1, name)
    if len(table) != outputs:
        raise ArgumentError(f"{name}: {len(table)} bounds for {outputs} outputs")
    floats = floats_of(table)
    if (np.isnan(floats) | (~is_finite(table) & (floats == -sign * np.inf))).any():
        raise ArgumentError(f"{name}: a bound is NaN, or infinite on the wrong side")
    return [(k, sign, table[k]) for k in np.flatnonzero(is_finite(table)).tolist()]


def _verdict(extreme: Extreme, bound: Fraction) -> Verdict:
    """Return whether sup ≤ bound."""
    if extreme.slope is not None or (extreme.value is not None and extreme.value > bound):
        return "wrong"
    return "right" if extreme.upper is not None and extreme.upper <= bound else "not refuted"


def _explained(
    extreme: Extreme, k: int, sign: int, value: float | Fraction, item: int, verdict: Verdict
) -> Finding:
    """Return the finding about a bound that is not right."""
    side = "upper" if sign > 0 else "lower"
    bound = sign * entry(value)
    name = f"the {side} bound {value} of output {k}"
    if verdict == "not refuted":
        known = "nothing" if extreme.upper is None else number_text(sign * extreme.upper)
        best = (
            "" if extreme.value is None else f"; the output is {number_text(sign * extreme.value)}"
        )
        message = f"{name}: interval arithmetic proves {known}{best} at the witness"
        return Finding("bound", verdict, message, item, None, extreme.point)
    wrong = "small" if sign > 0 else "large"
    if extreme.slope is not None:
        message = f"{name} is violated: the output is unbounded along {extreme.slope}"
        return Finding("bound", verdict, message, item, None, extreme.point)
    assert extreme.value is not None  # the verdict is wrong because of it
    message = f"{name} is too {wrong}"
    causes = _last_place(extreme, sign, value)
    excess = extreme.value - bound
    return Finding("bound", verdict, message, item, None, extreme.point, excess, "excess", causes)


def _last_place(extreme: Extreme, sign: int, value: float | Fraction) -> tuple[Cause, ...]:
    """Return the cause of a bound that is one unit in the last place away from a right one."""
    if isinstance(value, Fraction) or extreme.upper is None:
        return ()
    for name, kind in (("float64", np.float64), ("float32", np.float32)):
        number = kind(value)
        after = float(np.nextafter(number, kind(sign * np.inf)))
        if float(number) == value and sign * Fraction(after) >= extreme.upper:
            return (Cause("last place", f"the next {name} is a bound"),)
    return ()
