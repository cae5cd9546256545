"""The walks of a search for ridges: how planes are laid, and what is done with what walks meet.

`search` decides which neuron a walk is for and of which kind it is. Each kind is a generator here:
it yields orders for walks, is sent what each of them met, and returns in the end whether more walks
of this kind may help. Floats choose the planes; the signs of a walk are exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from functools import cached_property
from random import Random
from typing import TypeAlias

import numpy as np

from polyrelu.proofs.deep.findings import Findings
from polyrelu.proofs.deep.neuron_evidence import NeuronEvidence, bits_of
from polyrelu.proofs.deep.newton import CommonZeros
from polyrelu.proofs.deep.planes import (
    Location,
    Plane,
    integer_direction,
    random_unit_vector,
    rounded_point,
    unit_vector,
)
from polyrelu.proofs.deep.planes_inside import PlanesInside
from polyrelu.proofs.deep.ridges import Piece, Ridge
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.deep.walk_targets import WalkTargets
from polyrelu.proofs.deep.walk_tasks import Step, WalkOrder
from polyrelu.proofs.interior import UNSTRETCHED, Interior, Stretch
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_cell, price_of_ray, price_of_samples
from polyrelu.support.typing import Floats

__all__ = ["WalkMaker", "Walks", "Ways"]

#: The steps of each way of a walk.
Ways: TypeAlias = list[list[Step | None]]
#: Orders for walks, which are sent what was met, and in the end whether more of them may help.
Walks: TypeAlias = Generator[WalkOrder, Ways, bool]


class WalkMaker:
    """Makes the walks of a search, and adds what they meet to its findings.

    Parameters
    ----------
    findings
        What the search has found so far.
    interior
        The domain of the search; None for R^n. Walks start inside of it and end where they leave
        it.
    random
        The source of all random choices.

    Attributes
    ----------
    budget
        What pays for the walks.
    random_tries
        For each neuron number the number of walks in random planes.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.proofs.deep.ridges import DeepNetwork
    >>> first, second = ([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2])
    >>> net = DeepNetwork.of(from_arrays([first, second, ([[1, 2]], [0])]))
    >>> maker = WalkMaker(Findings(net), None, Random(0))
    >>> order = next(maker.in_random_plane(3))
    >>> order.neuron, order.reverses
    (3, (False, True))
    """

    def __init__(self, findings: Findings, interior: Interior | None, random: Random) -> None:
        self.budget = Budget()
        self.random_tries: defaultdict[int, int] = defaultdict(int)
        self._findings, self._random = findings, random
        self._network, self._planes = findings.deep_network, findings.planes
        self._families = findings.families
        self._num_parameters = self._network.network.num_parameters
        self._cell_price = price_of_cell(self._num_parameters)
        self._inside = None if interior is None else PlanesInside(self._network, interior)
        self._climbed: set[Piece] = set()

    @cached_property
    def _common_zeros(self) -> CommonZeros:
        return CommonZeros(self._network.network)

    def in_random_plane(self, neuron: int) -> Walks:
        """Walk both ways along a bent hyperplane in a random plane."""
        self.random_tries[neuron] += 1
        if self._inside is None:
            plane = self._random_plane(neuron)
        else:
            plane = self._inside.plane(neuron, self._random, self._random_point)
        number = self._planes.add(plane)
        if number is None:
            return True
        self.budget.pay(price_of_ray(self._num_parameters))
        ways = (False, True)
        met = yield WalkOrder(plane, neuron, None, ways, SETTINGS.random_walk_cells)
        for steps in met:
            self._take(number, neuron, steps)
        return True

    def _random_plane(self, neuron: int) -> Plane:
        """Return a plane through a random point of R^n.

        The first direction is the sum of the direction in which the affine form of the neuron at
        the point decreases in size, and of a shorter random vector. The second one is random.
        """
        x = self._random_point()
        form = self._network.float_form(neuron, self._network.float_mask(x))
        towards = (
            -np.sign(form @ np.append(x, 1.0))
            * form[:-1]
            / (float(np.linalg.norm(form[:-1])) or 1.0)
        )
        size = SETTINGS.random_direction_size
        second = tuple(self._random.randint(-size, size) for _ in x)
        noise = SETTINGS.random_plane_noise * self._random_unit_vector(len(x))
        return Plane(rounded_point(x), (integer_direction(towards + noise), second))

    def _plane(self, x: Floats, first: Floats, second: Floats) -> Plane:
        """Return the plane through a point along two directions, with few digits."""
        if self._inside is not None:
            return self._inside.laid(x, first, second)
        return Plane(rounded_point(x), (integer_direction(first), integer_direction(second)))

    def _random_point(self) -> Floats:
        """Return a random point at a random scale, or a point near a known piece."""
        if self._findings.first_piece and self._random.random() < SETTINGS.known_ridge_share:
            neuron = self._random.choice(list(self._findings.first_piece))
            mask = self._random.choice(self._families.pieces[neuron])
            return self._findings.near(Piece(neuron, mask))
        if self._inside is not None:
            return self._inside.random_point(self._random)
        # some zeros lie far out, so that scales grow with the number of walks
        lowest, highest = SETTINGS.scale_exponents
        highest += min(SETTINGS.scale_growth, self._findings.walks // SETTINGS.walks_per_scale)
        scale = 2.0 ** self._random.randint(lowest, highest)
        steps, unit = SETTINGS.coordinate_steps, SETTINGS.coordinate_unit
        return np.array(
            [
                scale * self._random.randint(-steps, steps) * unit
                for _ in range(self._network.network.num_inputs)
            ]
        )

    def _random_unit_vector(self, size: int) -> Floats:
        return random_unit_vector(self._random, size)

    def starting_piece(self, neuron: int, masks: Sequence[int], targets: int) -> Piece:
        """Return a piece of a neuron: of some random ones, the one nearest to a zero of a target.

        `masks` has the masks of the neuron's pieces, and `targets` is the mask of the target
        neurons. If it is 0, one random piece is returned.
        """
        count = SETTINGS.compared_pieces if targets else 1
        pieces = dict.fromkeys(Piece(neuron, self._random.choice(masks)) for _ in range(count))
        if not targets:
            return next(iter(pieces))
        return min(pieces, key=lambda piece: self._targets(piece, targets).distances.min())

    def towards(self, piece: Piece, targets: int) -> Walks:
        """Walk along the bent hyperplane of a neuron, from a known piece, towards target neurons.

        The walk heads for the nearest zero of a target neuron or for the zeros of several together;
        in a random direction if `targets`, a mask, is 0.
        """
        stretch = self._stretch(piece)
        normal = stretch.pull(self._network.float_form(*piece)[:-1])
        along, limit = self._random_unit_vector(len(normal)), SETTINGS.aimed_walk_cells
        if targets:
            goals = self._targets(piece, targets)
            count = len(goals.values)
            together = count > 1 and self._random.random() < SETTINGS.together_share
            towards = goals.to_several(len(normal) - 1) if together else goals.to_nearest()
            limit += SETTINGS.cells_per_target * count if together else 0
            along = unit_vector(towards) + self._random.choice(SETTINGS.aim_noises) * along
        directions = stretch.push(along), stretch.push(normal)
        plane = self._plane(self._findings.near(piece), *directions)
        number = self._planes.add(plane)
        if number is not None:
            (steps,) = yield WalkOrder(plane, piece.neuron, piece, (False,), limit)
            self._take(number, piece.neuron, steps)
        return True

    def _targets(self, piece: Piece, targets: int) -> WalkTargets:
        """Return values and gradients, at a piece, of the neurons in the mask `targets`.

        On a domain, the gradients are in stretched coordinates (`Interior.stretch`).
        """
        network, x = self._network, np.append(self._findings.near(piece), 1.0)
        layer, stretch = network.layer_of[piece.neuron] - 1, self._stretch(piece)
        normal = stretch.pull(network.float_form(*piece)[:-1])
        rows = [network.index_in_layer(h) for h in bits_of(targets)]
        forms = network.float_forms(layer, piece.mask)[rows]
        gradients = stretch.pull(forms[:, :-1])
        across = np.outer(gradients @ normal / (normal @ normal or 1), normal)
        return WalkTargets(forms @ x, gradients - across)

    def _stretch(self, piece: Piece) -> Stretch:
        """Return the coordinates near a piece in which all walls of the domain are far enough."""
        if self._inside is None:
            return UNSTRETCHED
        return self._inside.interior.stretch(self._findings.near(piece))

    def at_common_zeros(self, neuron: int, evidence: NeuronEvidence | None) -> Walks:
        """Walk at zeros of a neuron, and of one of those before it that are active at no piece."""
        network, neurons = self._network, [self._network.neuron_id(neuron)]
        if evidence is not None:
            before = network.mask_before(neuron)
            missing = before & ~self._families.active[neuron] or before & ~evidence.num_active
            if missing:
                neurons.append(network.neuron_id(self._random.choice(list(bits_of(missing)))))
        points = np.array([self._random_point() for _ in range(SETTINGS.newton_points)])
        self.budget.pay(price_of_samples(self._num_parameters))
        zeros = self._common_zeros.near(neurons, points)
        for x in zeros[: SETTINGS.newton_walks]:
            gradients = [self._common_zeros.gradient(other, x) for other in neurons]
            with np.errstate(all="ignore"):
                normal = unit_vector(gradients[0])
                along = self._random_unit_vector(len(x))
                if len(gradients) > 1:
                    along = unit_vector(gradients[1] - (gradients[1] @ normal) * normal)
                start = x - SETTINGS.newton_start * (1 + np.abs(x).max()) * normal
            if not np.isfinite([start, normal, along]).all():
                continue
            plane = self._plane(start, normal, along)
            number = self._planes.add(plane)
            if number is not None:
                limit = SETTINGS.aimed_walk_cells
                for steps in (yield WalkOrder(plane, neuron, None, (False, True), limit)):
                    self._take(number, neuron, steps)
        return True

    def climb_once(self, piece: Piece) -> Walks:
        """Climb from the family of a piece, once, if its layer is not the last hidden one."""
        root, layer = self._families.root(piece), self._network.layer_of[piece.neuron]
        if root not in self._climbed and layer < self._network.depth - 1:
            self._climbed.add(root)
            yield from self.climb(root)
        return True

    def climb(self, root: Piece) -> Walks:
        """Climb from crossings of a family with the next layer, in the plane of each crossing.

        Return whether a climb reached the last hidden layer.
        """
        masks = set(self._families.growing_family(root).masks)
        crossings = [
            ridge
            for ridge in self._findings.steps_up(root.neuron)
            if ridge.ray(ridge.u, True).mask in masks
        ]
        last, count = self._network.depth - 1, min(len(crossings), SETTINGS.climb_starts)
        for ridge in self._random.sample(crossings, count):
            step: Ridge | None = ridge
            while step is not None and self._network.layer_of[step.v] < last:
                step = yield from self._next_step_up(step)
            if step is not None:
                return True
        return False

    def _next_step_up(self, ridge: Ridge) -> Generator[WalkOrder, Ways, Ridge | None]:
        """Walk along the later neuron of a ridge to a crossing with the layer after it."""
        number = self._findings.ridges[ridge].plane
        found = yield from self._step_up_in(number, ridge)
        if found is None and self._inside is not None:
            # both ways along the later neuron may lead to one side of the first axis
            point, (first, second) = self._planes.all[number]
            turned = self._planes.add(Plane(point, (second, first)))
            assert turned is not None
            found = yield from self._step_up_in(turned, ridge)
        return found

    def _step_up_in(self, number: int, ridge: Ridge) -> Generator[WalkOrder, Ways, Ridge | None]:
        """Walk both ways along the later neuron of a ridge, in a plane."""
        plane, limit = self._planes.all[number], SETTINGS.climb_cells
        for reverse in (False, True):
            (steps,) = yield WalkOrder(plane, ridge.v, ridge, (reverse,), limit)
            found = self._take(number, ridge.v, steps, self._is_step_up_from(ridge.v))
            if found is not None:
                return found
        return None

    def _is_step_up_from(self, neuron: int) -> Callable[[Ridge], bool]:
        """Return the decision whether a ridge joins a neuron to one of the next layer."""
        return lambda met: met.u == neuron and self._findings.leads_up(met)

    def _take(
        self,
        number: int,
        neuron: int,
        steps: Sequence[Step | None],
        is_enough: Callable[[Ridge], bool] | None = None,
    ) -> Ridge | None:
        """Pay for a walk along a neuron in a plane, and add the ridges that it met.

        Return the first ridge that is enough; what comes after it is left out.
        """
        for step in steps:
            self.budget.pay(self._cell_price)
            if step is None:
                break
            if step.middle is not None:
                # the middle is a better location for the piece than a ridge at its end
                piece = Piece(neuron, step.mask)
                self._findings.relocate(piece, Location(number, *step.middle))
            if step.ridge is not None:
                self._findings.add(step.ridge, Location(number, *step.end))
                if is_enough is not None and is_enough(step.ridge):
                    return step.ridge
        return None
