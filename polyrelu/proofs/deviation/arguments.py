"""What the questions of this folder have in common: their arguments and limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import Polyhedron, to_fraction
from polyrelu.network import Network
from polyrelu.outcomes import NextStep
from polyrelu.proofs.deviation.problem import ExactPoint
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.larger_limits import limits_after
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.arguments import expect_integer, expect_list
from polyrelu.support.budget import ENDINGS, Budget

__all__ = [
    "bounded_coordinates",
    "chosen_outputs",
    "corners_of",
    "few_nodes",
    "not_negative",
    "until_limit",
]


def bounded_coordinates(domain: Polyhedron) -> DomainCoordinates:
    """Return the coordinates of a bounded domain, whose sides are among its inequalities."""
    found = DomainCoordinates.of(domain)
    free = [j for j in range(domain.ambient_dimension) if j not in _pivots(found.domain)]
    box = domain.bounding_box()
    if box is None:
        raise DomainError("the domain is unbounded; bounds need a bounded one, such as box:-1,1")
    lower: list[Fraction | None] = [None] * domain.ambient_dimension
    upper = list(lower)
    for j in free:
        lower[j], upper[j] = box[0][j], box[1][j]
    sides = Polyhedron.box(lower, upper)
    missing = tuple(row for row in sides.inequalities if row not in domain.inequalities)
    if not missing:
        return found
    whole = Polyhedron(
        domain.ambient_dimension, (*domain.inequalities, *missing), found.domain.equations
    )
    return DomainCoordinates.of(whole)


def _pivots(domain: Polyhedron) -> set[int]:
    """Return the columns with a pivot of equations in reduced echelon form."""
    return {next(j for j, entry in enumerate(row) if entry) for row in domain.equations}


def not_negative(number: object, name: str) -> Fraction:
    """Return an argument as a fraction that is not negative."""
    try:
        found = to_fraction(number)
    except (NetworkError, ArgumentError, TypeError, ValueError):
        raise ArgumentError(f"{name}: expected an exact number such as 1/100") from None
    if found < 0:
        raise ArgumentError(f"{name}: expected a number that is not negative, not {number}")
    return found


def chosen_outputs(outputs: Sequence[int] | None, network: Network) -> tuple[int, ...]:
    """Return the indices of the outputs that count, ascending."""
    if outputs is None:
        return tuple(range(network.num_outputs))
    found = sorted({expect_integer(i, "outputs") for i in expect_list(outputs, "outputs")})
    if not found or not 0 <= found[0] <= found[-1] < network.num_outputs:
        last = network.num_outputs - 1
        raise ArgumentError(f"outputs: expected indices from 0 to {last}")
    return tuple(found)


def corners_of(coordinates: DomainCoordinates) -> tuple[ExactPoint, ExactPoint]:
    """Return the corners of the box around a domain, in its coordinates."""
    size = coordinates.dimension
    lower, upper = [Fraction(0)] * size, [Fraction(0)] * size
    seen = set[tuple[int, bool]]()
    for form in coordinates.inequalities:
        if form is None or len(form.columns) > 1 + (form.columns[0] == 0):
            continue
        constant = form.numerators[0] if form.columns[0] == 0 else 0
        j, a = form.columns[-1] - 1, form.numerators[-1]
        end, is_upper = Fraction(-constant, a), a < 0
        place = upper if is_upper else lower
        better = min if is_upper else max
        place[j] = better(place[j], end) if (j, is_upper) in seen else end
        seen.add((j, is_upper))
    return tuple(lower), tuple(upper)


def few_nodes(price: float, budget: Budget) -> int:
    """Return how many nodes of a search that was not finished are kept, with a bound for each leaf.

    `price` is the work for a leaf. After a limit of time there is little time left for bounds.
    """
    work = SETTINGS.fallback_work
    if budget.seconds is not None:
        work = min(work, SETTINGS.fallback_share * 1_000 * budget.seconds)
    return 2 * max(1, int(work / price))


def longer_search(
    budget: Budget, why: str, call: str, command: tuple[str, ...]
) -> tuple[NextStep, ...]:
    """Return the step with more of the limit that ended a search: a call, and a command."""
    texts, arguments, options = limits_after(budget, why)
    if not texts:
        return ()
    purpose = f"allow {' and '.join(texts)}"
    return (NextStep(purpose, f"polyrelu.{call}{arguments})", (*command, *options)),)


def until_limit(work: Callable[[], None], budget: Budget) -> str | None:
    """Do some work; return in words which limit ended it, None if none did."""
    try:
        work()
    except ENDINGS as error:
        if (why := budget.reason_of(error)) is None:
            raise
        return why
    return None
