"""Steps of a walk by the compiled core: the same steps as in numpy, with the same floats.

The arrays of `LocalForms` are shared: the core (`polyrelu/_core`) reads and writes their memory,
and Python reads the forms there when exact arithmetic has to decide a step.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from polyrelu._core import chosen_engine
from polyrelu.walks.affine_slice import AffineSlice
from polyrelu.walks.float_steps import FloatSteps, Leg, LegLimits, LineAhead, Step
from polyrelu.walks.float_weights import FloatWeights, weights_in_floats

if TYPE_CHECKING:
    from polyrelu._core.compiled import WalkWeights

__all__ = ["CompiledSteps", "steps_on"]


def steps_on(affine_slice: AffineSlice) -> FloatSteps:
    """Return float forms that make steps, by the engine that `chosen_engine` names."""
    is_compiled = chosen_engine().name == "compiled" and affine_slice.dimension in (1, 2)
    return (CompiledSteps if is_compiled else FloatSteps)(affine_slice)


class CompiledSteps(FloatSteps):
    """Local forms that make steps in the compiled core."""

    def __init__(self, affine_slice: AffineSlice) -> None:
        from polyrelu._core.compiled import Walker

        super().__init__(affine_slice)
        self._walker = Walker(
            _weights(weights_in_floats(affine_slice.network)),
            self.constants,
            self.constant_errors,
            self.columns,
            self.errors,
            self.signs,
        )
        self._scales = self.scales.tolist()

    def _refresh(self, first: int) -> None:
        self._walker.refresh(first - 1)
        self.num_flips = self._walker.num_flips

    def flip(self, place: int) -> None:
        """See `LocalForms`."""
        self._walker.flip(place)
        self.num_flips = self._walker.num_flips

    def next_step(self, line: LineAhead) -> Step | None:
        """See `FloatSteps`."""
        found = self._walker.next(*_numbers(line), line.ray, line.position, self._scales)
        return None if found is None else Step(*found)

    def run(self, line: LineAhead, limits: LegLimits) -> Leg:
        """See `FloatSteps`."""
        leg = Leg(
            *self._walker.run(
                *_numbers(line),
                line.position,
                self._scales,
                limits.most,
                -1 if limits.target is None else limits.target,
                None if limits.watched is None else limits.watched.view(np.uint8),
                limits.first,
            )
        )
        self.num_flips = self._walker.num_flips
        if len(leg.switched):
            line.back, line.position = int(leg.switched[-1]), leg.near[-1].tolist()
        return leg


def _numbers(line: LineAhead) -> tuple[int, int]:
    """Return the carrier and the neuron at the back, -1 for none."""
    return (
        -1 if line.carrier is None else line.carrier,
        -1 if line.back is None else line.back,
    )


@lru_cache(maxsize=2)
def _weights(weights: FloatWeights) -> WalkWeights:
    """Return the weights of a network in the core, shared by the last walks."""
    from polyrelu._core.compiled import WalkWeights

    return WalkWeights(
        [
            (
                layer.width,
                [(block.source - 1, block.weights, block.largest) for block in layer.blocks],
            )
            for layer in weights.layers
        ],
        [layer.rounding for layer in weights.layers],
    )
