"""Claimed bounds of the difference of two networks, as tools for quantised copies report them."""

from __future__ import annotations

from polyrelu.audit.bounds import network_and_domain
from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.findings import Finding, Verdict, number_text
from polyrelu.audit.ground_truth import NetworkOrTruth
from polyrelu.audit.reports import AuditReport
from polyrelu.errors import ArgumentError
from polyrelu.exact import Rational, to_fraction
from polyrelu.formats import DomainLike, NetworkLike
from polyrelu.outcomes import DeviationBounds, DeviationExceeded
from polyrelu.proofs.deviation.deviation import deviation
from polyrelu.support.budget import BudgetLike

__all__ = ["audit_deviation"]

_RULE = "a bound is right if no output differs by more at a point of the domain"


def audit_deviation(
    network: NetworkOrTruth,
    other: NetworkLike,
    at_most: Rational,
    domain: DomainLike = None,
    *,
    budget: BudgetLike = 60_000,
) -> AuditReport:
    """Decide whether a bound of the difference of two networks holds on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    other
        The network that it is compared with.
    at_most
        The bound that is claimed of |f_i(x) - g_i(x)|, for all outputs i and points x.
    domain
        A bounded polyhedron, or a text such as ``"box:-1,1"``; None for the domain of a
        `GroundTruth`.
    budget
        Units of work, or a `Budget`; a bound that is neither proved nor refuted with it is *not
        refuted*.

    Returns
    -------
    AuditReport
        One verdict.

    Raises
    ------
    NetworkError
        The networks have other numbers of inputs or outputs, or are no plain stacks.
    DomainError
        The domain is unbounded or empty.
    ArgumentError
        The bound is negative, or no number.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> copy = from_arrays([([[1], ["-7/8"]], [0, 0]), ([[1, 1]], [0])])
    >>> audit_deviation(net, copy, "1/8", "box:-1,1").verdicts
    ('right',)
    >>> print(audit_deviation(net, copy, 0.1, "box:-1,1").findings[0])
    wrong deviation: the bound 0.1 is too small
    witness: (-1)
    excess: about 0.025
    """
    bound = to_fraction(at_most)
    if bound < 0:
        raise ArgumentError("at_most: a bound of a difference is 0 or more")
    exact, polyhedron = network_and_domain(network, domain)
    found = deviation(exact, other, polyhedron, at_most=bound, budget=budget)
    verdict: Verdict = "not refuted"
    if isinstance(found, DeviationBounds):
        verdict = "right"
    elif isinstance(found, DeviationExceeded):
        verdict = "wrong"

    def explain(_: int) -> Finding:
        """Return the finding about the bound."""
        if isinstance(found, DeviationExceeded):
            f, g, x = found.witness.f, found.witness.g, found.witness.x
            excess = max(abs(a - b) for a, b in zip(f, g, strict=True)) - bound
            message = f"the bound {at_most} is too small"
            return Finding("deviation", verdict, message, 0, None, x, excess, "excess")
        known = getattr(found, "bounds", None)
        proved = number_text(known.at_most) if isinstance(known, DeviationBounds) else "nothing"
        point = known.witness.x if isinstance(known, DeviationBounds) else None
        message = f"the bound {at_most}: the search proves {proved} only"
        return Finding("deviation", verdict, message, 0, None, point)

    return report_of("deviations", [verdict], explain, Question(), _RULE)
