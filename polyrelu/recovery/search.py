"""The search for a network with one or two hidden layers that has the values of an oracle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.exact import RationalMatrix, solve
from polyrelu.exact.vectors import add_multiple
from polyrelu.network import Network, from_arrays
from polyrelu.recovery.choices import Choices
from polyrelu.recovery.first_layer import hyperplanes_of_layer_1
from polyrelu.recovery.inner_layer import Neuron, groupings, orientations, with_sides_of
from polyrelu.recovery.jumps import Hyperplane, Jump
from polyrelu.recovery.oracle import Oracle, QueriesSpentError, scaled
from polyrelu.recovery.outer_layer import outer_layer
from polyrelu.recovery.planes import (
    find_jumps,
    first_layers,
    hyperplanes_of,
)
from polyrelu.recovery.samples import first_difference, sample_points
from polyrelu.recovery.surfaces import Surface, follow, is_straight, look_at_pieces, signs_at
from polyrelu.recovery.two_layers import (
    TwoLayers,
    assembled,
    assembled_with_linear_part,
)
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Point, Vector

__all__ = ["ROUNDS", "Candidate", "Search"]

#: How many lines each round of the search adds.
ROUNDS = (1, 4, 5, 10, 20, 20)
#: On a domain a single hidden layer is tried again up to this number of lines.
_FEW_LINES = 20
#: The number of lines after which a network with a part that no surface shows is taken.
_PATIENCE = 10
#: The largest number of sets of hyperplanes that a round tries for layer 1.
_MAX_SETS = 12
#: The largest number of surfaces that are followed in a network with more layers.
_MAX_FOLLOWED = 12
#: The largest number of ways in which parts of surfaces are joined to neurons.
_MAX_GROUPINGS = 12
#: The largest numbers of orientations of layer 1, and of the last hidden layer, that are tried.
_MAX_INNER, _MAX_OUTER = 16, 4
#: The share of the queries that is kept for layer 1, in case no network is found: an eighth, or a
#: fourth if that is less than this number.
_KEPT = 2_000
#: A network is compared at all known points, and at this number of others.
_NUM_POINTS = 40


@dataclass(frozen=True)
class Candidate:
    """A network that has the values of the oracle at all points that were looked at.

    Attributes
    ----------
    network
        The network.
    has_direct_part
        Whether a part of it is linear in the outputs of layer 1, and no surface shows it.
    signs
        The equations for the sides of layer 1: their rank, and their solutions; for one hidden
        layer the equations for its neurons.
    unknown
        The weights that no value determines, as pairs (neuron of layer 2, neuron of layer 1).
    num_replaced
        How many neurons of layer 1 stand for others whose hyperplanes are not visible.
    """

    network: Network
    has_direct_part: bool
    signs: Choices
    unknown: tuple[tuple[int, int], ...] = ()
    num_replaced: int = 0


@dataclass
class Search:
    """A search, and what it has found so far.

    Attributes
    ----------
    oracle
        The function.
    jumps
        Jumps of the gradient at points of random lines.
    num_lines
        How many lines were looked at.
    planes
        The hyperplanes that nearly all lines meet in a jump.
    best
        The network that is returned if no better one is found.
    bad_points
        Points at which networks that were tried have other values; lines pass through them later.
    progress
        Called after each line.
    """

    oracle: Oracle
    progress: Progress | None = None
    jumps: list[Jump] = field(default_factory=list)
    num_lines: int = 0
    planes: list[Hyperplane] = field(default_factory=list)
    best: Candidate | None = None
    bad_points: list[Point] = field(default_factory=list)

    def run(self, rounds: Sequence[int] = ROUNDS) -> Candidate | None:
        """Look at more and more lines until a network is found; `best` if none is without doubt.

        `rounds` says how many lines are added before the next try.
        """
        for num_lines in rounds:
            self._look_at_lines(num_lines)
            groups = hyperplanes_of(self.oracle, self.jumps)
            if self.num_lines == 1 or self._may_be_missed():
                self.best = self._shallow([members[0] for _, members in groups])
                if self.best is not None:
                    return self.best
            if self.num_lines == 1:
                self._keep_queries()
            if self.num_lines == 1 or self.oracle.num_inputs == 1:
                continue
            candidate = self._two_layers(groups)
            if candidate is not None:
                self.best = candidate
                if not candidate.has_direct_part or self.num_lines >= _PATIENCE:
                    return candidate
        return self.best

    def _keep_queries(self) -> None:
        """Keep some of the queries for layer 1 of a network that is not found as a whole."""
        limit = self.oracle.max_queries
        if limit is not None and self.oracle.num_inputs > 1:
            self.oracle.num_kept = max(limit // 8, min(limit // 4, _KEPT))

    def _may_be_missed(self) -> bool:
        """Whether a line may miss a hyperplane of a single hidden layer, and lines are few yet."""
        return self.oracle.domain is not None and self.num_lines <= _FEW_LINES

    def _look_at_lines(self, count: int) -> None:
        """Look at more lines, some of them through points at which networks were wrong."""
        for _ in range(count):
            through = self.bad_points.pop() if self.bad_points else None
            self.jumps += find_jumps(self.oracle, self.planes, through)
            self.num_lines += 1
            report(
                self.progress,
                "looking for breakpoints on random lines",
                self.num_lines,
                None,
                "lines",
                {"queries": self.oracle.num_queries, "hyperplanes": len(self.planes)},
            )

    def _is_right(self, network: Network) -> bool:
        """Whether a network has the values of the oracle at all known points, and at others."""
        known = self.oracle.known_points()
        self.oracle.random.shuffle(known)
        others = sample_points(self.oracle, _NUM_POINTS, self.planes)
        points = [*known[:_NUM_POINTS], *others, *known[_NUM_POINTS:]]
        found = first_difference(self.oracle, network, points)
        if found is not None:
            self.bad_points = [*self.bad_points[-3:], found]
        return found is None

    def first_layer(self) -> tuple[list[Hyperplane], Choices]:
        """Return what is known of layer 1, whatever the depth: hyperplanes, and their sides.

        The sides are solved for from the surfaces that bend at these hyperplanes only.
        """
        self.oracle.num_kept = 0
        groups = hyperplanes_of(self.oracle, self.jumps)
        self.planes, surfaces = [], list[tuple[Surface, Point]]()
        with suppress(QueriesSpentError):
            for plane in hyperplanes_of_layer_1(self.oracle, groups, self.num_lines):
                self.planes.append(plane)
            for surface, point in self._straight_surfaces():
                surfaces.append((surface, point))
        neurons = next(groupings(self.oracle, surfaces, 1))
        return self.planes, orientations(self.oracle, self.planes, neurons, _MAX_INNER)

    def _straight_surfaces(self) -> Iterator[tuple[Surface, Point]]:
        """Yield surfaces that bend at the hyperplanes of layer 1 only."""
        oracle, planes, num_followed = self.oracle, self.planes, 0
        found = list[Surface]()
        for jump in self.jumps:
            signs = signs_at(planes, jump.point)
            if any(plane.agrees(jump.hyperplane, oracle) for plane in planes):
                continue
            if any(surface.has(oracle, jump, signs) for surface in found):
                continue
            start = Surface(jump.weight, {signs: jump.hyperplane})
            if num_followed == _MAX_FOLLOWED or not is_straight(oracle, planes, start):
                continue
            num_followed += 1
            surface = follow(oracle, planes, jump)
            if surface.lost is None:
                look_at_pieces(oracle, planes, surface)
            if surface.lost is None:
                found.append(surface)
                yield surface, jump.point

    # -- one hidden layer --------------------------------------------------------------------------

    def _shallow(self, jumps: Sequence[Jump]) -> Candidate | None:
        """Return a network with a hidden neuron for each jump on one line."""
        oracle, planes = self.oracle, [jump.hyperplane for jump in jumps]
        weights = [jump.weight for jump in jumps]
        points = sample_points(oracle, 2 * oracle.num_inputs + len(planes) + 4, planes)
        layer = outer_layer(
            oracle, lambda x: [plane.at(x) for plane in planes], weights, points, _MAX_INNER
        )
        for turned, bias in zip(layer.choices.solutions, layer.biases, strict=True):
            signs = [Fraction(1 - 2 * r) for r in turned]
            rows = [scaled(p.normal, s) for p, s in zip(planes, signs, strict=True)]
            biases = [-s * p.offset for p, s in zip(planes, signs, strict=True)]
            outgoing = [[weight[o] for weight in weights] for o in range(len(bias))]
            network = self._one_layer(rows, biases, outgoing, bias)
            if self._is_right(network):
                return Candidate(network, False, layer.choices)
        return self._with_linear_part(jumps, points)

    def _with_linear_part(self, jumps: Sequence[Jump], points: Sequence[Point]) -> Candidate | None:
        """Return a network with one more pair of neurons for each output that needs it.

        The sum over the jumps leaves an affine function, and a x = σ(a x) - σ(-a x).
        """
        planes = [jump.hyperplane for jump in jumps]
        rest = list[Vector]()
        for x in points:
            value = self.oracle(x)
            for jump in jumps:
                value = add_multiple(value, jump.weight, -max(jump.hyperplane.at(x), Fraction(0)))
            rest.append(value)
        matrix = RationalMatrix.from_rows([(*x, Fraction(1)) for x in points])
        found = solve(matrix, RationalMatrix.from_rows(rest)) if self.oracle.is_exact else None
        if found is None:
            return None
        *linear, bias = found.rows()
        rows = [plane.normal for plane in planes]
        biases = [-plane.offset for plane in planes]
        outgoing = [[jump.weight[o] for jump in jumps] for o in range(len(bias))]
        for o, row in enumerate(zip(*linear, strict=True)):
            if any(row):
                rows += [row, scaled(row, Fraction(-1))]
                biases += [Fraction(0)] * 2
                for k, entries in enumerate(outgoing):
                    entries += [Fraction(k == o), -Fraction(k == o)]
        network = self._one_layer(rows, biases, outgoing, bias)
        no_choice = Choices(len(planes), len(planes), (), True)
        return Candidate(network, False, no_choice) if self._is_right(network) else None

    def _one_layer(
        self,
        rows: Sequence[Vector],
        biases: Sequence[Fraction],
        outgoing: Sequence[Sequence[Fraction]],
        bias: Sequence[Fraction],
    ) -> Network:
        """Return a network with one hidden layer; a constant function has one neuron that is 0."""
        if not rows:
            zero = Fraction(0)
            rows, biases = [(zero,) * self.oracle.num_inputs], [zero]
            outgoing = [[zero] for _ in bias]
        return from_arrays([(rows, biases), (outgoing, bias)])

    # -- two hidden layers -------------------------------------------------------------------------

    def _two_layers(self, groups: list[tuple[Hyperplane, list[Jump]]]) -> Candidate | None:
        """Return a network whose layer 1 are hyperplanes that seem to be of layer 1."""
        waiting = first_layers(self.oracle, groups, self.num_lines)
        self.planes = waiting[0] if waiting else []
        tried = list[set[Hyperplane]]()
        while waiting and len(tried) < _MAX_SETS:
            planes = waiting.pop(0)
            if set(planes) in tried:
                continue
            tried.append(set(planes))
            surfaces, more = self._surfaces(planes, [plane for plane, _ in groups])
            waiting[:0] = [[*planes, plane] for plane in more]
            if surfaces is not None:
                found = next(self._with_layer_1(planes, surfaces), None)
                if found is not None:
                    self.planes = planes
                    return found
        return None

    def _with_layer_1(
        self, planes: list[Hyperplane], surfaces: Sequence[tuple[Surface, Point]]
    ) -> Iterator[Candidate]:
        """Yield networks with these hyperplanes as layer 1, and these surfaces."""
        for k, neurons in enumerate(groupings(self.oracle, surfaces, _MAX_GROUPINGS)):
            signs = orientations(self.oracle, planes, neurons, _MAX_INNER)
            for layers in self._assembled(planes, neurons, signs, with_linear_part=not k):
                if self._is_right(layers.network()):
                    yield Candidate(
                        layers.network(),
                        layers.has_direct_part,
                        signs,
                        layers.unknown,
                        layers.num_replaced,
                    )

    def _assembled(
        self,
        planes: list[Hyperplane],
        neurons: Sequence[Neuron],
        signs: Choices,
        with_linear_part: bool,
    ) -> Iterator[TwoLayers]:
        """Yield networks with these surfaces, at last some for neurons that are not visible."""
        samples = with_sides_of(planes, neurons, self._points(planes, neurons))
        for turned in signs.solutions:
            yield from assembled(self.oracle, planes, turned, neurons, samples, _MAX_OUTER)
        if with_linear_part and self.oracle.is_exact and neurons:
            yield from assembled_with_linear_part(self.oracle, planes, neurons, samples, 1)

    def _surfaces(
        self, planes: list[Hyperplane], others: Sequence[Hyperplane]
    ) -> tuple[list[tuple[Surface, Point]] | None, list[Hyperplane]]:
        """Return the surfaces of layer 2 through all other jumps; None if one ends somewhere.

        Then also other hyperplanes that may be of layer 1: a surface that bends nowhere,
        and hyperplanes between two points of a piece of which only one is visible.
        """
        oracle, found = self.oracle, list[tuple[Surface, Point]]()
        for jump in self.jumps:
            signs = signs_at(planes, jump.point)
            if any(plane.agrees(jump.hyperplane, oracle) for plane in planes):
                continue
            if any(surface.has(oracle, jump, signs) for surface, _ in found):
                continue
            surface = follow(oracle, planes, jump)
            bends = surface.bends.values()
            if bends and all(oracle.is_small(bend, Fraction(1)) for bend in bends):
                return None, [jump.hyperplane]
            if surface.lost is None:
                look_at_pieces(oracle, planes, surface)
            if surface.lost is not None:
                one, other = surface.lost
                self.bad_points = [*self.bad_points[-3:], other]
                return None, [plane for plane in others if plane.at(one) * plane.at(other) < 0]
            found.append((surface, jump.point))
        return found, []

    def _points(self, planes: list[Hyperplane], neurons: Sequence[Neuron]) -> list[Point]:
        """Return points at which the values are known, and others; twice as many as unknowns."""
        known = self.oracle.known_points()
        wanted = 2 * (len(planes) + 1) * (len(neurons) + 1)
        old = self.oracle.random.sample(known, min(len(known), 4 * wanted))
        return [*old, *sample_points(self.oracle, wanted, planes)]
