"""Lipschitz constants of outputs on a domain: bounds from both sides, with a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from polyrelu.errors import DomainError
from polyrelu.exact import decimal_above
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.outcomes import BoundStatistics, LipschitzBounds, Undecided
from polyrelu.proofs.deviation.arguments import (
    bounded_coordinates,
    chosen_outputs,
    longer_search,
    not_negative,
    until_limit,
)
from polyrelu.proofs.deviation.lipschitz import LipschitzSearch, Norm
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.provenance import with_sources
from polyrelu.support.arguments import expect_choice, expect_function
from polyrelu.support.budget import BudgetLike, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.progress import Progress

__all__ = ["lipschitz_bounds"]


def lipschitz_bounds(
    network: NetworkLike,
    domain: DomainLike,
    *,
    norm: Norm = "1",
    gap: object = Fraction(1, 100),
    outputs: Sequence[int] | None = None,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> LipschitzBounds | Undecided:
    """Bound the largest norm of a gradient of an output on a bounded domain.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    domain
        A bounded polyhedron with an interior, or the text of one such as ``"box:-1,1"``.
    norm
        The norm of gradients, ``"1"``, ``"2"`` or ``"inf"``. An output changes by at most the norm
        times the distance of two inputs in the dual norm: the largest entry for ``"1"``, the sum of
        the entries for ``"inf"``.
    gap
        How far the upper bound may be above the lower one, as a share of it.
    outputs
        The indices of the outputs that count; all by default.
    budget
        Units of work, or a `Budget` with all limits; None for no limit. Half of the work that is
        left once the bounds are within the gap is for the exact constant.
    time_limit
        Seconds; no limit by default.
    memory_limit
        MiB of the process; no limit by default.
    progress
        Called with a `polyrelu.support.ProgressStep` after each step.

    Returns
    -------
    LipschitzBounds or Undecided
        Bounds within the gap, with a certificate, of squares for the norm ``"2"``; or the reason
        why they are wider, with the bounds that were proved as `bounds`.

    Raises
    ------
    NetworkError
        The network cannot be read or is no plain stack.
    DomainError
        The domain is not understood, is empty or unbounded, has no interior or another dimension.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Examples
    --------
    >>> for norm in ("1", "2", "inf"):
    ...     print(norm, lipschitz_bounds("example:xor", "box:-1,1", norm=norm).at_most)
    1 4
    2 8
    inf 2
    """
    imported = as_imported(network)
    expect_function(progress, "progress")
    expect_choice(norm, ("1", "2", "inf"), "norm")
    net, share = imported.network, not_negative(gap, "gap")
    net.require_plain()
    coordinates = bounded_coordinates(as_domain(domain, net.num_inputs))
    if coordinates.domain.equations:
        raise DomainError("the domain has no interior, so that it has no gradients of the network")
    search = LipschitzSearch(net, coordinates, chosen_outputs(outputs, net), norm)
    limits = as_budget(budget, time_limit, memory_limit)
    with np.errstate(all="ignore"), deferred_interrupt() as interrupt:
        limits = limits.with_interrupt(interrupt)
        why = until_limit(lambda: search.run(share, limits, progress), limits)
        if why is None:
            trial = limits.trial(SETTINGS.exact_share)
            until_limit(lambda: search.run(Fraction(0), trial, progress), trial)
    given = "" if norm == "1" else f", norm={norm!r}"
    call = f"lipschitz_bounds(net, domain{given}"
    steps = longer_search(limits, why or "", call, ("range", "NET"))
    if not search.nodes:
        return Undecided(why or "", next=steps)
    found = _answer(search)
    if why is None:
        return with_sources(found, imported)
    return with_sources(Undecided(why, search=found.search, bounds=found, next=steps), imported)


def _answer(search: LipschitzSearch) -> LipschitzBounds:
    """Return the bounds so far; an upper bound that is not exact is a short decimal."""
    at_most = search.at_most
    if at_most > search.at_least:
        at_most = Fraction(decimal_above(at_most, digits=8))
    statistics = BoundStatistics(
        num_nodes=search.num_nodes, num_leaves=search.num_leaves, closed=1.0
    )
    return LipschitzBounds(search.certificate(at_most), search.at_least, at_most, statistics)
