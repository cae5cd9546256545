"""Theorem D, what a search did not find: signs that may always be the same, for `one_sided` to prove.

A neuron without a zero that is known may be dead or linear. A neuron v at no known zero of which h is on may have one
sign wherever h is on. Around the ridges of the search the signs of all neurons are known; what they contradict is no
suspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from polyrelu.network import NeuronId
from polyrelu.proofs.deep.hypotheses import Missing
from polyrelu.proofs.deep.ridges import DeepNetwork, Ridge
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.refutations.one_sided_candidates import OneSidedCandidate

__all__ = ["suspects"]

#: At most so many sectors are looked at.
_SAMPLE = 20_000


def suspects(search: DeepSearch) -> list[OneSidedCandidate]:
    """What no ridge contradicts, early layers first, and neurons with one sign everywhere before pairs.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [2, 1]], [-3, 1]), ([[1, 2]], [0])])
    >>> search = DeepSearch(net)
    >>> _ = search.run(rounds=3)
    >>> for suspect in suspects(search):
    ...     print(suspect.neuron, suspect.sign, suspect.guard)
    NeuronId(layer=2, index=1) 1 None
    """
    on = _signs_around(search.space, search.ridges)
    if not len(on):
        return []
    missing = sorted(
        search.hypotheses.missing, key=lambda entry: (entry.layer, entry.other is not None)
    )
    return [suspect for entry in missing for suspect in _one_sign(search.space, on, entry)]


def _signs_around(space: DeepNetwork, ridges: Iterable[Ridge]) -> NDArray[np.bool_]:
    """Which neurons are on in two opposite sectors of each ridge, a row for each sector; if there are many, a part of
    them, evenly spread."""
    masks = [sector for ridge in ridges for sector in (ridge.sectors[0], ridge.sectors[-1])]
    step = -(-len(masks) // _SAMPLE) or 1
    return np.array([space.bits(mask) for mask in masks[::step]], dtype=bool)


def _one_sign(
    space: DeepNetwork, on: NDArray[np.bool_], missing: Missing
) -> Iterator[OneSidedCandidate]:
    if missing.neuron is None or missing.want not in ("piece", "on") or missing.neuron.layer == 1:
        return
    own = on[:, space.place(missing.neuron)]
    source: NeuronId | None = missing.other
    if source is not None:
        own = own[on[:, space.place(source)]]
    if len(own) and own.all() == own.any():
        yield OneSidedCandidate(missing.neuron, 1 if own[0] else -1, source)
