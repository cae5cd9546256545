"""Planes for a search on a domain: through points inside, towards zeros of a neuron.

On R^n a plane through any point in any direction will do. On a domain the walls are near: in many
dimensions a random direction leaves a box at once. So directions lead to other points of the domain
or are short towards near walls.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

from polyrelu.proofs.deep.planes import (
    Plane,
    integer_direction,
    random_unit_vector,
    rounded_point,
    unit_vector,
)
from polyrelu.proofs.deep.ridges import DeepNetwork
from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.proofs.interior import Interior
from polyrelu.support.typing import Floats

__all__ = ["PlanesInside"]


class PlanesInside:
    """Chooses planes through the interior of a domain.

    Parameters
    ----------
    deep_network
        The network.
    interior
        The domain.

    Attributes
    ----------
    interior
        The domain.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [1]), ([[1]], [0])])
    >>> interior = Interior(Polyhedron.box([-1, -1], [1, 1]))
    >>> planes, random = PlanesInside(DeepNetwork.of(net, "transversal"), interior), Random(0)
    >>> point = planes.plane(0, random, lambda: planes.random_point(random)).point
    >>> all(abs(x) < 1 for x in point)
    True
    """

    def __init__(self, deep_network: DeepNetwork, interior: Interior) -> None:
        self._network, self.interior = deep_network, interior

    def random_point(self, random: Random) -> Floats:
        """Return a random point inside the domain."""
        rng = np.random.default_rng(random.getrandbits(64))
        return np.asarray(self.interior.points(rng, 1)[0])

    def laid(self, x: Floats, first: Floats, second: Floats) -> Plane:
        """Return the plane through a point along two directions, with few digits."""
        size = SETTINGS.direction_size_on_domain
        directions = integer_direction(first, size), integer_direction(second, size)
        return Plane(rounded_point(x, self.interior.point_digits), directions)

    def plane(self, neuron: int, random: Random, point: Callable[[], Floats]) -> Plane:
        """Return a plane through a random point, towards a zero of a neuron.

        The first direction leads to another random point, down the gradient of the neuron with some
        noise, as in R^n, or towards a point of the domain where it has the other sign. The second
        one is random. Both are short towards near walls.

        Parameters
        ----------
        neuron
            The number of the neuron.
        random
            The source of random choices.
        point
            Draws the point.
        """
        if random.random() < SETTINGS.three_points_share:
            plane = self._through_points(neuron, random)
            if plane is not None:
                return plane
        x = point()
        if random.random() < SETTINGS.approach_chance:
            x, towards = self._approach(neuron, x)
            stretch = self.interior.stretch(x)
        else:
            stretch, network = self.interior.stretch(x), self._network
            form = network.float_form(neuron, network.float_mask(x))
            downwards = -np.sign(form @ np.append(x, 1.0)) * unit_vector(stretch.pull(form[:-1]))
            noise = SETTINGS.random_plane_noise * random_unit_vector(random, len(x))
            towards = stretch.push(downwards + noise)
        return self.laid(x, towards, stretch.push(random_unit_vector(random, len(x))))

    def _through_points(self, neuron: int, random: Random) -> Plane | None:
        """Return a plane through three random points, with both signs of a neuron; None if none.

        The triangle of the points lies in the domain, so that walks in it may be long.
        """
        rng = np.random.default_rng(random.getrandbits(64))
        points, network = self.interior.points(rng, SETTINGS.compared_points), self._network
        active = np.array([network.float_mask(x) >> neuron & 1 for x in points], dtype=bool)
        if active.all() or not active.any():
            return None
        x, other = points[np.argmax(active)], points[np.argmin(active)]
        return self.laid(x, other - x, points[-1] - x)

    def _approach(self, neuron: int, x: Floats) -> tuple[Floats, Floats]:
        """Return a point and a displacement towards a point where a neuron has the other sign.

        From the given point some steps are made where one does not suffice.
        """
        network, sign, towards = self._network, 0.0, np.zeros(len(x))
        for _ in range(SETTINGS.approach_steps):
            form = network.float_form(neuron, network.float_mask(x))
            here = float(form @ np.append(x, 1.0))
            if here * sign < 0:  # the zero lies between the last point and this one
                return x - towards, towards
            sign = float(np.sign(here))
            towards = self.interior.farthest(x, -sign * form[:-1]) - x
            if float(form @ np.append(x + towards, 1.0)) * sign < 0:
                return x, towards
            towards *= SETTINGS.approach_share
            x = x + towards
        return x - towards, towards
