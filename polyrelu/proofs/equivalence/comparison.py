"""Two networks compared at points of a domain, and the refutation by a point where they differ.

Points that are chosen before any proof are the same for one seed, so they decide which point a
refutation shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from polyrelu.certificate import Certificate, Hypothesis, PairClaim
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.outcomes import Witness
from polyrelu.proofs.equivalence.ascent import ascent_points
from polyrelu.proofs.equivalence.witness import random_points, simplified
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import (
    DomainCoordinates,
    HomogeneousPoint,
    NodePolyhedron,
)
from polyrelu.support.budget import Budget, CertificateLimit, LimitReached
from polyrelu.support.limits import BIT_LIMIT
from polyrelu.support.prices import price_of_point
from polyrelu.support.typing import Point
from polyrelu.version import __version__

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """Numbers of points.

    Attributes
    ----------
    num_first_points
        Number of points at which the networks are evaluated before they are joined. These points
        cost less than the join, which has no price either.
    num_points
        Number of points that are evaluated before any proof is tried, the first ones included.
    max_simplified
        Maximum number of points of difference that are simplified, to keep the shortest.
    """

    num_first_points: int = 4
    num_points: int = 48
    max_simplified: int = 6


SETTINGS = ComparisonSettings()


class Comparison:
    """Two networks on a domain, compared at points.

    Parameters
    ----------
    first, second
        Networks with equally many inputs and outputs.
    seed
        Seed of the points.

    Attributes
    ----------
    coordinates
        The coordinates of the domain.
    root
        The domain in these coordinates.
    num_points
        Number of points at which the networks were compared so far.
    """

    coordinates: DomainCoordinates
    root: NodePolyhedron

    def __init__(self, first: Network, second: Network, seed: int) -> None:
        self._first, self._second, self._seed = first, second, seed
        self._joint: JointNetwork | None = None
        self._last_values: tuple[Point, tuple[Point, Point]] | None = None
        self._price = price_of_point(first.num_parameters + second.num_parameters)
        self.num_points = 0

    def set_domain(self, domain: Polyhedron) -> None:
        """Find coordinates of a domain; everything else asks for them."""
        self.coordinates = DomainCoordinates.of(domain)
        self.root = NodePolyhedron.at_root(self.coordinates)

    def use(self, joint: JointNetwork) -> None:
        """Compare the networks by their joint expression from now on, which is faster."""
        self._joint = joint

    def differ(self, point: HomogeneousPoint) -> bool:
        """Return whether the networks differ at a point."""
        self.num_points += 1
        if self._joint is not None:
            return self._joint.values_at(point)[1]
        f, g = self._values_at(self.coordinates.to_inputs(point))
        return f != g

    def differ_if_paid(self, point: HomogeneousPoint, budget: Budget) -> bool:
        """Return whether the networks differ at a point, after the price of a point is paid."""
        budget.spend(self._price)
        return self.differ(point)

    def _values_at(self, x: Point) -> tuple[Point, Point]:
        """Return the outputs of both networks; the last ones are kept."""
        if self._last_values is None or self._last_values[0] != x:
            self._last_values = x, (self._first(x), self._second(x))
        return self._last_values[1]

    # -- points that are tried -------------------------------------------------------------------

    def among_first_points(self, budget: Budget) -> list[HomogeneousPoint]:
        """Return points of difference if there is one among the first points."""
        points = self._points_of_domain()
        first = list(islice(points, SETTINGS.num_first_points))
        if not (found := self._differing(first, 1)):
            return []
        if not any(self.coordinates.to_inputs(found[0])):  # no point is shorter than 0
            return found
        others = islice(points, SETTINGS.num_points - SETTINGS.num_first_points)
        later = (*first[first.index(found[0]) + 1 :], *others)
        for point in later if SETTINGS.max_simplified > 1 else ():
            if self.differ_if_paid(point, budget):
                found.append(point)
            if len(found) == SETTINGS.max_simplified:
                break
        return found

    def tested_points(self, budget: Budget) -> list[HomogeneousPoint]:
        """Return the points of the domain that are evaluated before any proof."""
        found = []
        for point in islice(self._points_of_domain(), SETTINGS.num_points):
            budget.spend(self._price)
            found.append(point)
        return found

    def among_later_points(self, tested: Sequence[HomogeneousPoint]) -> list[HomogeneousPoint]:
        """Return points of difference among the tested points, without the first points."""
        return self._differing(tested[SETTINGS.num_first_points :], SETTINGS.max_simplified)

    def by_ascent(
        self, joint: JointNetwork, starts: Sequence[HomogeneousPoint], budget: Budget
    ) -> HomogeneousPoint | None:
        """Return a point of difference found by ascent, or None."""
        try:
            for point in ascent_points(joint, self.root, starts, self._seed):
                if self.differ_if_paid(point, budget):
                    return point
        except LimitReached:  # if the limit is the global one, the next check raises
            pass
        return None

    def _points_of_domain(self) -> Iterator[HomogeneousPoint]:
        """Yield the points of the domain that are evaluated before any proof, without end."""
        start = self.coordinates.to_coordinates(self.coordinates.inside)
        return random_points(self.root, start, self._seed)

    def _differing(self, points: Iterable[HomogeneousPoint], most: int) -> list[HomogeneousPoint]:
        """Return the first of some points where the networks differ."""
        return list(islice((point for point in points if self.differ(point)), most))

    # -- the refutation --------------------------------------------------------------------------

    def refutation(self, points: list[HomogeneousPoint]) -> tuple[Certificate, Witness]:
        """Return the refutation by the simplest of some points where the networks differ."""
        best = min(
            (
                self.coordinates.to_inputs(simplified(point, self._is_point_of_difference))
                for point in points
            ),
            key=_writing_length,
        )
        witness = Witness(best, *self._values_at(best))
        if _bits_of_longest((*witness.x, *witness.f, *witness.g)) > BIT_LIMIT:
            raise CertificateLimit(
                "the networks differ, but the point that was found, or its outputs, need numbers "
                f"of more than {BIT_LIMIT} bits, which a certificate cannot hold"
            )
        shown = witness.to_json()
        hypotheses = (
            Hypothesis("point", "point", {"x": shown["x"]}),
            Hypothesis("point", "values", {"f": shown["f"], "g": shown["g"]}),
        )
        claim = PairClaim("not-equivalent", self._first, self._second, self.coordinates.domain)
        unverified = {"tool": f"polyrelu {__version__}"}
        return Certificate(claim, "point", hypotheses, unverified), witness

    def _is_point_of_difference(self, point: HomogeneousPoint) -> bool:
        return self.root.contains(point) and self.differ(point)


def _writing_length(numbers: tuple[Fraction, ...]) -> tuple[int, int]:
    """Return a measure of written length: the largest denominator, the sum of all numerators."""
    return max(x.denominator for x in numbers), sum(abs(x.numerator) for x in numbers)


def _bits_of_longest(numbers: tuple[Fraction, ...]) -> int:
    """Return the number of bits of the longest numerator or denominator."""
    return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers)
