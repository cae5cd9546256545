"""Bounds on boxes by the compiled core, where it is installed.

The core bounds one box after the other and leaves neurons out that are off. Its floats do not
depend on the processor; floats of numpy differ from them by roundings.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu._core import chosen_engine, num_threads
from polyrelu.proofs.deviation.float_pair import FloatPair, Floats

__all__ = ["BoxBounder", "bounder_of"]

#: Bounds of all rows, joint and alone; slopes, scores and worst neurons of the wanted ones; which
#: boxes are open.
_Found: TypeAlias = tuple[Floats, Floats, Floats, Floats, NDArray[np.int32], NDArray[np.uint8]]


class BoxBounder(Protocol):
    """A pair with its rows in the core, see `polyrelu._core.compiled.BoxBounder`."""

    def bound(
        self,
        low: Floats,
        high: Floats,
        table: Floats,
        wanted: NDArray[np.uint8],
        is_joint: bool,
        signs: NDArray[np.int8] | None,
    ) -> _Found:
        """Bound rows on boxes; better bounds replace those in the table."""


def bounder_of(pair: FloatPair) -> BoxBounder | None:
    """Return the pair in the core, or None where numpy is to serve."""
    if chosen_engine().name != "compiled":
        return None
    if pair.in_core is None:
        pair.in_core = _in_core(pair)
    found: BoxBounder = pair.in_core
    return found


def _in_core(pair: FloatPair) -> BoxBounder:
    from polyrelu._core import compiled

    layers = [
        (
            pair.weights[m],
            pair.biases[m],
            pair.other_weights[m],
            pair.other_biases[m],
            pair.weight_changes[m],
            pair.bias_changes[m],
            None if (partners := pair.partners[m]) is None else partners.astype(np.int32),
        )
        for m in range(pair.depth)
    ]
    rows = pair.rows
    tables = rows.joint, rows.on_f, rows.on_g, rows.on_x, rows.constant
    is_short = pair.dtype == np.float32
    kind = compiled.ShortBoxBounder if is_short else compiled.BoxBounder
    return kind(pair.num_inputs, pair.is_single, layers, tables, num_threads())
