"""Points at which chosen neurons of two consecutive layers have the wanted signs.

Points are moved, many at once, by an ascent on floats (`ascent`): while some neurons are kept
active, more and more of the wanted neurons of layer ℓ-1 become active, and neurons of layer ℓ get
their wanted signs. No more neurons shall be active in layer ℓ-1 than in each earlier layer, because
otherwise their gradients are dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deep.ascent import Here, corrected, pull, shortfall, units
from polyrelu.proofs.deep.orthant import NeuronPerPoint, Orthant
from polyrelu.support.typing import Floats

__all__ = ["SIGNS", "SignAims"]


@dataclass(frozen=True, slots=True)
class SignSettings:
    """How points are pulled; what every ascent needs stands in `ascent`.

    Attributes
    ----------
    least_active
        Least number of active neurons of layer ℓ-1.
    reward
        What a wanted sign of layer ℓ counts, where an active neuron counts its weight.
    wanted_pull, own_pull
        How strongly the wanted neurons of layer ℓ-1 are pulled, and neurons of layer ℓ to their
        signs.
    spare, short_pull, other_pull
        Layers between layer 1 and layer ℓ-1 are pulled strongly if they have fewer active neurons
        than layer ℓ-1 and this many more, and weakly otherwise.
    """

    least_active: int = 3
    reward: float = 30.0
    wanted_pull: float = 2.0
    own_pull: float = 2.0
    spare: int = 4
    short_pull: float = 3.0
    other_pull: float = 0.2


#: The settings of every ascent to signs.
SIGNS = SignSettings()


@dataclass(frozen=True, slots=True, eq=False)
class SignAims:
    """What an ascent to signs looks for at each of its points.

    A point counts if its guards are active, with some neurons of layer ℓ-1, but not with more than
    are active in each layer between the first and that one. The best one has the most weight of
    active neurons and rewards for wanted signs.

    Attributes
    ----------
    layer
        A layer ℓ ≥ 3.
    guards
        Neurons that stay active.
    weights
        How much each active neuron of layer ℓ-1 counts, a row for each point.
    signs
        The wanted signs of neurons of layer ℓ, a row for each point; 0 where any will do.
    """

    layer: int
    guards: Sequence[NeuronPerPoint]
    weights: Floats
    signs: Floats

    def gains(self, values: Sequence[Floats]) -> Floats:
        """Return how good points are; -1 where a point does not count."""
        before, own = values[self.layer - 2], values[self.layer - 1]
        num_active, everywhere = np.count_nonzero(before > 0, axis=1), np.arange(len(before))
        counts = num_active >= SIGNS.least_active
        for below in values[1 : self.layer - 2]:
            counts &= num_active <= np.count_nonzero(below > 0, axis=1)
        for layer, guards in self.guards:
            counts &= values[layer - 1][everywhere, guards] > 0
        num_right = np.count_nonzero(self.signs * own > 0, axis=1)
        gains = ((before > 0) * self.weights).sum(axis=1) + SIGNS.reward * num_right
        return np.where(counts, gains, -1.0)

    def directions(self, orthant: Orthant, here: Here) -> Floats:
        """Return the gradients of the wanted neurons and signs, and of layers with too few."""
        before, own = here.values[self.layer - 2], here.values[self.layer - 1]
        strengths = pull(before, self.weights > 0) * self.weights
        wanted = units(orthant.gradients(here.slopes, self.layer - 1, strengths))
        found, num_active = SIGNS.wanted_pull * wanted, np.count_nonzero(before > 0, axis=1)
        for number in range(2, self.layer - 1):
            below = here.values[number - 1]
            strengths = pull(below, np.ones(below.shape, dtype=np.bool_))
            is_short = num_active > np.count_nonzero(below > 0, axis=1) - SIGNS.spare
            factors = np.where(is_short, SIGNS.short_pull, SIGNS.other_pull)[:, None]
            found = found + factors * units(orthant.gradients(here.slopes, number, strengths))
        if self.signs.any():
            strengths = self.signs * pull(self.signs * own, self.signs != 0)
            towards = units(orthant.gradients(here.slopes, self.layer, strengths))
            found = found + SIGNS.own_pull * towards
        return np.asarray(found, dtype=np.float64)

    def moved(self, orthant: Orthant, here: Here, move: Floats) -> Floats:
        """Return the points after a move, with corrections towards active guards."""
        for guards in self.guards:
            lacking = shortfall(here.values, guards)
            move = move + corrected(orthant, here, (guards, lacking), move, both_ways=False)
        return np.asarray(here.points + move, dtype=np.float64)
